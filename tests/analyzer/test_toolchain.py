from pathlib import Path

import pytest

from analyzer import toolchain
from analyzer.config import SetupError


def test_the_headers_match_libclangs_major_version() -> None:
    tools = toolchain.find()
    assert Path(tools.resource_dir).name == tools.version.split(".")[0]
    assert tools.has_header("vector")
    assert tools.has_header("stddef.h")
    assert not tools.has_header("no/such/header.h")


def test_a_missing_resource_folder_names_the_command_that_repairs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(toolchain.RESOURCE_DIR_VARIABLE, raising=False)
    with pytest.raises(SetupError, match="pip install 'libclang==") as caught:
        toolchain.find_resource_dir("4.0.0")
    assert "\n" not in str(caught.value)


def test_an_override_without_headers_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(toolchain.RESOURCE_DIR_VARIABLE, str(tmp_path))
    with pytest.raises(SetupError, match=r"no include/stddef\.h"):
        toolchain.find_resource_dir("18.1.1")


def test_a_known_toolchain_is_taken_until_its_files_change(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = toolchain.find()
    assert toolchain.find(tools) is tools
    monkeypatch.setenv(toolchain.RESOURCE_DIR_VARIABLE, tools.resource_dir)
    again = toolchain.find(tools)
    assert again is not tools
    assert again.fingerprint == tools.fingerprint


def test_a_machine_without_cpp_headers_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "_PROBE", "#include <no_such_standard_header>\n")
    with pytest.raises(SetupError, match="apt-get install g"):
        toolchain.find()
