import json
import shlex
from pathlib import Path

import pytest

from analyzer.flags import (
    Database,
    Flags,
    FlagTable,
    expand,
    include_dirs,
    inferred,
    read_database,
    standard,
    translate,
)
from analyzer.scan import scan
from analyzer.tree import list_files

ROOT = Path("/tree")


def args(command: str, directory: Path = ROOT / "build", source: str = "/tree/src/a.cpp") -> Flags:
    return translate(shlex.split(command), directory, ROOT, source)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "g++ -DA -D B=2 -UC -std=gnu++20 -c /tree/src/a.cpp -o a.o",
            ("-DA", "-DB=2", "-UC", "-std=gnu++20"),
        ),
        ("g++ -I../include -isystem /opt/x/include", ("-I", "{tree}/include", "-isystem", "/opt/x/include")),
        ("g++ -isystem=/opt/x", ("-isystem", "/opt/x")),
        ("ccache clang++ -mavx2 -mfma -O3 -g -fPIC", ("-mavx2", "-mfma")),
        ("g++ -include ../pre.h -include-pch old.gch -Winvalid-pch", ("-include", "{tree}/pre.h")),
        ("g++ -Wall -Werror -Wno-maybe-uninitialized -MD -MF a.d -MT a.o", ()),
        ("clang++ --target=aarch64-linux-gnu --sysroot=/s", ("--target=aarch64-linux-gnu", "--sysroot=/s")),
    ],
)
def test_a_host_command_line_keeps_what_decides_the_code(command: str, expected: tuple[str, ...]) -> None:
    assert args(command).args == expected


def test_nvcc_is_translated_and_what_is_dropped_is_listed() -> None:
    found = args(
        "/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DGPU --define-macro X=1"
        " -isystem=/cuda/include"
        ' "--generate-code=arch=compute_90a,code=[sm_90a]" -Xcompiler=-fPIC,-mavx2 --expt-relaxed-constexpr'
        " --std=c++20 -x cu -rdc=true -c ../src/a.cu -o a.o -I../include",
        source="../src/a.cu",
    )
    assert found.args == (
        *("-DGPU", "-DX=1", "-isystem", "/cuda/include", "-mavx2", "-std=c++20", "-I", "{tree}/include"),
    )
    assert found.dropped == (
        "-forward-unknown-to-host-compiler",
        "--generate-code=arch=compute_90a,code=[sm_90a]",
        "--expt-relaxed-constexpr",
        "-rdc=true",
    )


def test_an_unknown_flag_is_dropped_and_listed() -> None:
    assert args("g++ -fipa-pta --no-such-flag -DA") == Flags(
        ("-DA",), "database", ("-fipa-pta", "--no-such-flag")
    )


def test_response_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "more.rsp").write_text("-DFROM_FILE -Iinc")
    found = translate(["g++", "@more.rsp", "@gone.rsp"], tmp_path, tmp_path, "a.cpp")
    assert found.args == ("-DFROM_FILE", "-I", "{tree}/inc")
    assert found.dropped == ("@gone.rsp",)


def test_the_database_of_a_build_folder_is_found(tmp_path: Path) -> None:
    build = tmp_path / "build-x"
    build.mkdir()
    rows = [
        {"directory": str(build), "file": "../src/a.cpp", "command": "g++ -DA -c ../src/a.cpp"},
        {"directory": str(build), "file": str(tmp_path / "src/b.cpp"), "arguments": ["g++", "-DB"]},
        {"directory": str(build), "file": "/elsewhere/c.cpp", "command": "g++"},
        {"directory": str(build)},
    ]
    (build / "compile_commands.json").write_text(json.dumps(rows))
    database, note = read_database(tmp_path)
    assert database is not None
    assert {path: flags.args for path, flags in database.entries.items()} == {
        "src/a.cpp": ("-DA",),
        "src/b.cpp": ("-DB",),
    }
    assert note == "build-x/compile_commands.json: 1 of 4 entries lack a file or a command and were skipped"


@pytest.mark.parametrize("text", ["[{", "{}", "[]", "\xff", '[{"file": 3}]'])
def test_a_broken_database_is_one_line_and_no_end(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_bytes(text.encode("latin-1"))
    database, note = read_database(tmp_path)
    assert database is None
    assert note.startswith("compile_commands.json: ")
    assert "\n" not in note


def test_no_database_is_no_note(tmp_path: Path) -> None:
    assert read_database(tmp_path) == (None, "")


def test_each_file_says_how_its_flags_were_found() -> None:
    entries = {"src/x/a.cpp": Flags(("-DX",), "database"), "src/y/b.cpp": Flags(("-I", "/y"), "database")}
    table = FlagTable(Database("compile_commands.json", entries), Flags((), "inferred"))
    assert table.of("src/x/a.cpp") == Flags(("-DX",), "database")
    assert table.of("src/y/new.cpp") == Flags(("-I", "/y"), "sibling")
    assert table.headers() == Flags(("-DX", "-I", "/y"), "sibling")
    assert FlagTable(None, Flags(("-DZ",), "inferred")).of("any.cpp").origin == "inferred"


def tree_of(root: Path, files: dict[str, str]) -> Flags:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    tree = list_files(root, ("third_party",))
    scans = {file.path: scan((root / file.path).read_bytes()) for file in tree.files}
    assert include_dirs(tree, scans, {"vector"})
    return inferred(root, tree, scans, {"vector"})


def test_include_folders_are_inferred_from_the_directives(tmp_path: Path) -> None:
    found = tree_of(
        tmp_path,
        {
            "include/proj/a.h": '#include "proj/b.h"\n',
            "include/proj/b.h": "",
            "src/core/c.cpp": (
                '#include "proj/a.h"\n#include "core/d.h"\n#include "beside.h"\n#include <vector>\n'
            ),
            "src/core/d.h": "",
            "src/core/beside.h": "",
            "third_party/json/json.hpp": "",
            "src/e.cpp": "#include <json/json.hpp>\n",
            "odd/vector": "",
        },
    )
    assert found.origin == "inferred"
    assert found.args == (
        "-std=c++20",
        "-I",
        "{tree}/include",
        "-I",
        "{tree}/src",
        "-I",
        "{tree}/third_party",
    )
    assert expand(found.args, "/r")[2] == "/r/include"


def test_the_standard_is_that_of_cmake(tmp_path: Path) -> None:
    assert standard(tmp_path) == "c++20"
    (tmp_path / "CMakeLists.txt").write_text("set(CMAKE_CXX_STANDARD 23)\n")
    assert standard(tmp_path) == "c++23"
