import subprocess
from pathlib import Path

import pytest

from analyzer.config import EXCLUDE, Config, SetupError, load
from analyzer.tree import find_root, list_files


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("int x;\n")


def listed(root: Path) -> list[str]:
    return [file.path for file in list_files(root, EXCLUDE).files if not file.vendored]


def test_cpp_files_are_listed_in_order_and_others_are_not(tmp_path: Path) -> None:
    write(tmp_path, "src/b.cpp", "src/a.cu", "include/a.h", "README.md", "shader.metal", "x.mm", "y.hip")
    assert listed(tmp_path) == ["include/a.h", "src/a.cu", "src/b.cpp", "x.mm", "y.hip"]


def test_build_folders_are_left_out_by_their_cmake_cache(tmp_path: Path) -> None:
    write(tmp_path, "a.cpp", "out/generated.cpp")
    (tmp_path / "out" / "CMakeCache.txt").write_text("")
    assert listed(tmp_path) == ["a.cpp"]


def test_excluded_folders_serve_headers_only(tmp_path: Path) -> None:
    write(tmp_path, "src/a.cpp", "third_party/json/json.hpp", "sub/vendor/v.h", "build-x/b.cpp")
    tree = list_files(tmp_path, EXCLUDE)
    assert {file.path: file.vendored for file in tree.files} == {
        "src/a.cpp": False,
        "third_party/json/json.hpp": True,
        "sub/vendor/v.h": True,
    }


def test_an_exclude_with_a_slash_names_one_folder(tmp_path: Path) -> None:
    write(tmp_path, "a/gen/x.cpp", "b/gen/x.cpp")
    tree = list_files(tmp_path, ("a/gen",))
    assert [file.path for file in tree.files if not file.vendored] == ["b/gen/x.cpp"]


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, "a.cpp", "scratch/b.cpp", "c.gen.cpp")
    (tmp_path / ".gitignore").write_text("scratch/\n*.gen.cpp\n")
    assert listed(tmp_path) == ["a.cpp"]


def test_a_symbolic_link_loop_is_one_note(tmp_path: Path) -> None:
    write(tmp_path, "src/a.cpp")
    (tmp_path / "src" / "loop").symlink_to(tmp_path / "src")
    (tmp_path / "self.cpp").symlink_to("self.cpp")
    tree = list_files(tmp_path, EXCLUDE)
    assert [file.path for file in tree.files] == ["src/a.cpp"]
    assert tree.notes == (
        "self.cpp: symbolic link loop, not followed",
        "src/loop: symbolic link loop, not followed",
    )


@pytest.mark.parametrize("sign", [".vt-lint.toml", "compile_commands.json", ".git"])
def test_the_root_is_the_nearest_folder_with_a_sign(tmp_path: Path, sign: str) -> None:
    write(tmp_path, "top/mid/low/a.cpp")
    (tmp_path / "top" / ".git").mkdir()
    mark = tmp_path / "top" / "mid" / sign
    mark.mkdir() if sign == ".git" else mark.write_text("")
    assert find_root(tmp_path / "top/mid/low/a.cpp") == tmp_path / "top/mid"
    assert find_root(tmp_path / "top") == tmp_path / "top"


def test_a_start_that_does_not_exist_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no such file or folder"):
        find_root(tmp_path / "nowhere")


def test_settings_default_and_are_read(tmp_path: Path) -> None:
    assert load(tmp_path) == Config()
    (tmp_path / ".vt-lint.toml").write_text(
        'exclude = ["gen"]\n[[profile]]\nname = "gpu"\ndefines = ["GPU"]\n[policy]\nx = 1\n'
    )
    config = load(tmp_path)
    assert config.exclude == ("gen",)
    assert config.profile[0].name == "gpu"
    assert config.extra == {"policy": {"x": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exclude = ]", "not valid TOML.*line 1"),
        ('exclude = "x"', "exclude"),
        ('[[profile]]\nname = "a"\ncolour = "red"', "colour"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / ".vt-lint.toml").write_text(text)
    with pytest.raises(SetupError, match=message) as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)
