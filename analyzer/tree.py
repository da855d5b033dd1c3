"""The C++ files of a tree."""

from __future__ import annotations

import errno
import fnmatch
import os
import subprocess
from pathlib import Path

import msgspec

from analyzer.config import FILE_NAME, SetupError

UNITS = frozenset({".c", ".cc", ".cpp", ".cxx"})
CUDA_UNITS = frozenset({".cu"})
HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".cuh"})
FRAGMENTS = frozenset({".inc", ".inl", ".ipp", ".tpp"})
"""Text that units include in the middle: never analysed alone."""
SYNTAX_ONLY = frozenset({".mm", ".hip"})
"""What clang does not parse here: read with tree-sitter."""

TEMPLATE = ".in"
"""Ends the name of a header that the build makes from a template (`version.h.in`)."""

_ALL = UNITS | CUDA_UNITS | HEADERS | FRAGMENTS | SYNTAX_ONLY
_INCLUDED = HEADERS | FRAGMENTS
_ROOT_SIGNS = (FILE_NAME, "compile_commands.json", ".git")


class SourceFile(msgspec.Struct, frozen=True, array_like=True):
    """One file: root-relative path with forward slashes, and what tells that it has not changed since.
    `vendored` files lie in an excluded folder: units may include them, nothing in them is analysed."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    vendored: bool = False

    @property
    def suffix(self) -> str:
        """The extension, in lower case, with its dot; that of the result for a template."""
        return _suffix(self.path)

    @property
    def template(self) -> bool:
        """Is this what the build makes a header from?"""
        return self.path.endswith(TEMPLATE)


class Tree(msgspec.Struct, frozen=True):
    """The C++ files below `root`, sorted by path. `build_files`: its CMake files. `notes`: one line for each
    thing that could not be read."""

    root: Path
    files: tuple[SourceFile, ...]
    build_files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _suffix(path: str) -> str:
    return os.path.splitext(path.removesuffix(TEMPLATE))[1].lower()


def find_root(start: Path) -> Path:
    """Return the nearest folder from `start` upward that has `.vt-lint.toml`, `compile_commands.json` or
    `.git`; `start` itself (its folder, for a file) when none has.

    Raises `SetupError` when `start` does not exist.
    """
    if not start.exists():
        raise SetupError(f"{start}: no such file or folder")
    start = start.resolve()
    base = start if start.is_dir() else start.parent
    for folder in (base, *base.parents):
        if any((folder / sign).exists() for sign in _ROOT_SIGNS):
            return folder
    return base


def _ignored(root: Path) -> frozenset[str]:
    """Root-relative paths that git ignores (folders without what is below them); empty outside a git
    checkout."""
    command = [
        "git",
        "-C",
        str(root),
        "ls-files",
        "-z",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
    ]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    names = frozenset(name.rstrip("/") for name in os.fsdecode(done.stdout).split("\0") if name)
    # A root that is itself inside an ignored folder is what the user asked for.
    return frozenset() if done.returncode != 0 or names & {".", ""} else names


def _is_loop(link: str) -> bool:
    try:
        target = os.path.realpath(link, strict=True)
    except OSError as error:
        return error.errno == errno.ELOOP
    return f"{os.path.realpath(os.path.dirname(link))}/".startswith(f"{target}/")


def _matches(path: str, name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatch(path if "/" in pattern else name, pattern.rstrip("/")) for pattern in patterns)


def list_files(root: Path, exclude: tuple[str, ...]) -> Tree:
    """List the C++ files below `root`.

    Build folders (with a `CMakeCache.txt`), `.git`, symbolic links and what git ignores are left out. Files
    in folders that `exclude` names are listed as `vendored`, if others can include them.

    Raises `SetupError` when `root` is no folder that can be read.
    """
    ignored = _ignored(root)
    files: list[SourceFile] = []
    notes: list[str] = []
    build_files: list[str] = []
    stack = [("", False)]
    while stack:
        folder, vendored = stack.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError as error:
            if not folder:
                raise SetupError(f"{root}: cannot read: {error.strerror}") from error
            notes.append(f"{folder}: cannot read: {error.strerror}")
            continue
        if folder and any(entry.name == "CMakeCache.txt" for entry in entries):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name == ".git" or path in ignored:
                continue
            if entry.is_symlink():
                if _is_loop(entry.path):
                    notes.append(f"{path}: symbolic link loop, not followed")
            elif entry.is_dir():
                stack.append((path, vendored or _matches(path, entry.name, exclude)))
            elif entry.name == "CMakeLists.txt" or entry.name.endswith(".cmake"):
                build_files += [] if vendored else [path]
            elif _suffix(path) in (_INCLUDED if vendored else _ALL):
                stat = entry.stat()
                files.append(SourceFile(path, stat.st_size, stat.st_mtime_ns, stat.st_ino, vendored))
    files.sort(key=lambda file: file.path)
    return Tree(root, tuple(files), tuple(sorted(build_files)), tuple(sorted(notes)))
