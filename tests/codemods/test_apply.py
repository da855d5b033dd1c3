"""Writing and patches, on the file system and with git."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codemods.apply import ApplyError, patch, write
from codemods.edit import Edit, digest


def edits(path: Path, *changes: tuple[int, int, str]) -> dict[str, tuple[Edit, ...]]:
    sha = digest(path.read_bytes())
    return {str(path): tuple(Edit(str(path), b, e, t, sha) for b, e, t in changes)}


def test_keeps_mode_bits_and_leaves_no_temporary(tmp_path: Path) -> None:
    file = tmp_path / "a.h"
    file.write_bytes(b"one\n")
    file.chmod(0o754)
    write(edits(file, (0, 3, "two")))
    assert file.read_bytes() == b"two\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert list(tmp_path.iterdir()) == [file]


def test_a_changed_file_stops_everything(tmp_path: Path) -> None:
    a, b = tmp_path / "a.h", tmp_path / "b.h"
    a.write_bytes(b"a\n")
    b.write_bytes(b"b\n")
    planned = edits(a, (0, 1, "x")) | edits(b, (0, 1, "y"))
    b.write_bytes(b"changed\n")
    with pytest.raises(ApplyError, match=r"b\.h: changed since it was read; nothing was written"):
        write(planned)
    assert a.read_bytes() == b"a\n"


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a.h"
    file.write_bytes(b"a\n")
    planned = edits(file, (0, 1, "x"))
    file.unlink()
    with pytest.raises(ApplyError, match=r"^\S*a\.h: No such file or directory; nothing was written$"):
        write(planned)


def test_a_kill_leaves_old_or_new(tmp_path: Path) -> None:
    """Kill a process that rewrites a file over and over: what is left is always one of the two whole
    texts."""
    file = tmp_path / "a.h"
    old, new = b"a" * 200_000, b"b" * 200_000
    file.write_bytes(old)
    program = (
        "import sys\nfrom codemods.apply import write\nfrom codemods.edit import Edit, digest\n"
        "path = sys.argv[1]\nprint('on', flush=True)\n"
        "while True:\n"
        "    data = open(path, 'rb').read()\n"
        "    text = 'b' * 200000 if data[:1] == b'a' else 'a' * 200000\n"
        "    write({path: (Edit(path, 0, len(data), text, digest(data)),)})\n"
    )
    for pause in (0.0, 0.003, 0.011, 0.02):
        with subprocess.Popen(
            [sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pause)
            os.kill(process.pid, signal.SIGKILL)
        assert file.read_bytes() in (old, new)


FILES = {
    "plain": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "no last newline": (b"a\nb", b"a\nb\nc"),
    "last newline added": (b"a\nb", b"a\nb\n"),
    "crlf": (b"a\r\nb\r\nc\r\n", b"a\r\nx\r\nb\r\nc\r\n"),
    "lone cr": (b"a\rb\nc\n", b"a\rb\nd\n"),
    "bom": (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nc\n"),
    "not utf-8": (b"\xff\nb\n", b"\xff\nc\n"),
    "far apart": (b"x\n" * 40, b"y\n" + b"x\n" * 38 + b"z\n"),
    "insert at the top": (b"a\n", b"new\na\n"),
    "form feed": (b"a\x0cb\nc\n", b"a\x0cb\nd\n"),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", ["a.h", "with space.h", 'deep/\u00fc"q.h'])
def test_git_applies_the_patch(tmp_path: Path, kind: str, name: str) -> None:
    old, new = FILES[kind]
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(old)
    text = patch(name, old, new)
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=text, cwd=tmp_path, check=True)
    assert file.read_bytes() == new


def test_no_change_is_no_patch() -> None:
    assert patch("a.h", b"a\n", b"a\n") == b""
