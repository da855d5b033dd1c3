"""Compiler flags of each file: from the compile database, from a neighbour in it, or inferred from the tree.

Flags are kept root-independent: a path inside the tree starts with `{tree}`, so that facts can be shared
between checkouts; `expand` puts the root back.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from analyzer.scan import Scan
from analyzer.tree import Tree

TREE = "{tree}"
_DEFAULT_STANDARD = "c++20"


class Flags(msgspec.Struct, frozen=True, array_like=True):
    """`args`: for libclang, without the file's name. `origin`: `database`, `sibling` or `inferred`.
    `dropped`: flags of the database that were left out because libclang has no use for them or does not know
    them."""

    args: tuple[str, ...]
    origin: str
    dropped: tuple[str, ...] = ()


def expand(args: Iterable[str], root: Path | str) -> list[str]:
    """Return `args` with the tree's root in place of its stand-in."""
    return [arg.replace(TREE, str(root)) for arg in args]


# Flags that say where outputs go or how code is generated; no declaration depends on them.
_IGNORED = re.compile(
    r"-(c|S|E|M|MM|MD|MMD|MP|pipe|g\w*|O\w*|flto\S*|fno-lto|rdynamic|shared|static|Winvalid-pch|w|W\S*|pedantic\S*"
    r"|fdiagnostics\S*|fcolor-diagnostics|ffunction-sections|fdata-sections|fPIC|fPIE|fpic|fpie|save-temps\S*"
    r"|fstack-\S*|fno-stack-\S*|fsanitize\S*|fno-sanitize\S*|fprofile\S*|ftest-coverage|fmodules-ts|fmodule-mapper\S*"
    r"|fdeps-format\S*|mllvm|fuse-ld\S*|ffile-prefix-map\S*|fmacro-prefix-map\S*|fdebug-prefix-map\S*"
    r"|fno-omit-frame-pointer|fomit-frame-pointer|fvisibility\S*|pthread)$"
)
_IGNORED_WITH_VALUE = frozenset(
    {"-o", "-MF", "-MT", "-MQ", "-include-pch", "-arch", "-mllvm", "-Xlinker", "-Xassembler"}
)
_PATH_VALUE = (
    "-I",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-F",
    "-iframework",
    "-isysroot",
)
_KEPT = re.compile(
    r"-(std=\S+|m\S+|f\S+|ansi|nostdinc\S*|nostdlibinc|x\S*|stdlib=\S+|target=\S+)$|--(target=\S+|sysroot=\S+)$"
)
_GCC_ONLY = re.compile(
    r"-f(no-)?(gnu-unique|var-tracking\S*|ipa-\S+|tree-\S+|reorder-functions|aggressive-loop-\S+|cx-\S+|conserve-stack"
    r"|implicit-constexpr|concepts\S*|modules\S*|lto-\S+|ext-numeric-literals|stack-reuse\S*|early-inlining|cprop\S*"
    r"|dump-\S+|no-gcse|gcse\S*|plugin\S*|max-errors\S*)|-m(tune-ctrl|no-fancy-math)\S*"
)

# nvcc's spelling -> clang's; the value follows as the next word or after `=`.
_NVCC_VALUE = {
    "-isystem": "-isystem",
    "--system-include": "-isystem",
    "--include-path": "-I",
    "--pre-include": "-include",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--std": "-std=",
}
_NVCC_DROPPED_VALUE = frozenset({
    "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-ccbin",
    "--compiler-bindir", "-Xptxas", "--ptxas-options", "-Xfatbin", "-Xlinker", "--linker-options", "-Xnvlink",
    "-t", "--threads", "-diag-suppress", "--diag-suppress", "-Xcudafe", "-maxrregcount", "--maxrregcount",
    "-default-stream", "--default-stream", "--options-file", "-odir", "-dir", "-cudart", "--cudart",
    "-Werror", "--Werror", "-Xarchive", "-nvlink-options", "--split-compile", "-split-compile",
})  # fmt: skip
_NVCC_DROPPED = re.compile(
    r"(-forward-unknown\S*|--forward-unknown\S*|--expt-\S+|-expt-\S+|--extended-lambda|-extended-lambda|-rdc=\S*"
    r"|--relocatable-device-code=\S*|-dc|--device-c|-lineinfo|--generate-line-info|--use_fast_math|-use_fast_math"
    r"|--ftz=\S*|--fmad=\S*|--prec-\S+|-G|--device-debug|--compress\S*|-restrict|--keep|-dlto|-res-usage|-ewp)$"
)
_HOST_OPTIONS = ("-Xcompiler", "--compiler-options")


def _response(words: list[str], directory: Path, depth: int = 0) -> list[str]:
    """Replace `@file` by the words of that file."""
    done: list[str] = []
    for word in words:
        if word.startswith("@") and depth < 8:
            try:
                text = (directory / word[1:]).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                done.append(word)
                continue
            done += _response(shlex.split(text), directory, depth + 1)
        else:
            done.append(word)
    return done


def _nvcc_words(words: list[str], dropped: list[str]) -> list[str]:
    """Translate nvcc's own flags to clang's; what has no counterpart goes to `dropped`."""
    done: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, value = word.partition("=")
        following = words[at + 1] if at + 1 < len(words) else ""
        if name in _HOST_OPTIONS:
            done += (value if equals else following).split(",")
            at += 1 if equals else 2
        elif name in _NVCC_DROPPED_VALUE:
            dropped.append(word if equals else f"{word} {following}".rstrip())
            at += 1 if equals else 2
        elif name in _NVCC_VALUE and (equals or name != "-isystem"):
            joined = _NVCC_VALUE[name]
            text = value if equals else following
            done += [joined + text] if joined in ("-I", "-D", "-U", "-std=") else [joined, text]
            at += 1 if equals else 2
        elif name == "--options-file" or _NVCC_DROPPED.match(word):
            dropped.append(word)
            at += 1
        elif word == "-x":
            at += 2  # the language is chosen from the file's extension
        else:
            done.append(word)
            at += 1
    return done


def _portable(path: str, directory: Path, root: Path) -> str:
    full = os.path.normpath(directory / path)
    relative = os.path.relpath(full, root)
    return (
        full
        if relative.startswith("..")
        else (TREE if relative == "." else f"{TREE}/{PurePosixPath(relative)}")
    )


def translate(words: list[str], directory: Path, root: Path, source: str) -> Flags:
    """Turn one command line of a compile database into libclang's flags.

    `words` starts with the compiler; relative paths are relative to `directory`; `source` is the file's name
    as written in the entry.
    """
    dropped: list[str] = []
    words = _response(words, directory)
    while words and PurePosixPath(words[0]).name in ("ccache", "sccache", "distcc", "icecc"):
        words = words[1:]
    compiler = PurePosixPath(words[0].replace("\\", "/")).name if words else ""
    rest = words[1:]
    if "nvcc" in compiler:
        rest = _nvcc_words(rest, dropped)
    args: list[str] = []
    at = 0
    while at < len(rest):
        word = rest[at]
        following = rest[at + 1] if at + 1 < len(rest) else ""
        at += 1
        if word == "--" or word == source or not word.startswith("-"):
            if word not in ("--", source):
                dropped += (
                    []
                    if os.path.normpath(directory / word) == os.path.normpath(directory / source)
                    else [word]
                )
        elif word in _IGNORED_WITH_VALUE:
            at += 1
            if word not in ("-o", "-MF", "-MT", "-MQ"):
                dropped.append(f"{word} {following}")
        elif word in ("-D", "-U"):
            args.append(word + following)
            at += 1
        elif word in ("-x", "-Xclang", "-target"):
            at += 1
            args += ["-target", following] if word == "-target" else []
            dropped += [f"{word} {following}"] if word == "-Xclang" else []
        elif word in _PATH_VALUE:
            args += [word, _portable(following, directory, root)]
            at += 1
        elif word.startswith(("-D", "-U")):
            args.append(word)
        elif word.startswith(_PATH_VALUE):
            option = max((each for each in _PATH_VALUE if word.startswith(each)), key=len)
            args += [option, _portable(word[len(option) :].removeprefix("="), directory, root)]
        elif _IGNORED.match(word):
            continue
        elif _KEPT.match(word) and not _GCC_ONLY.match(word) and not word.startswith("-x"):
            args.append(word)
        else:
            dropped.append(word)
    return Flags(tuple(args), "database", tuple(dropped))


class Database(msgspec.Struct, frozen=True):
    """A compile database: root-relative path of a file -> its flags (of its first entry)."""

    path: str
    entries: Mapping[str, Flags]


def _find_database(root: Path, name: str) -> Path | None:
    if name:
        return root / name
    found = [root / "compile_commands.json", *sorted(root.glob("build*/compile_commands.json"))]
    return next((path for path in found if path.is_file()), None)


def database_state(root: Path, name: str = "") -> str:
    """Return a digest of the compile database that `read_database` would read, empty if there is none."""
    path = _find_database(root, name)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path else ""
    except OSError:
        return "unreadable"


def read_database(root: Path, name: str = "") -> tuple[Database | None, str]:
    """Read the compile database of the tree at `root`: file `name`, else `compile_commands.json` at the root
    or in a `build*` folder.

    Returns (None, one line why) for one that cannot be used and (None, "") where there is none.
    """
    path = _find_database(root, name)
    if path is None:
        return None, ""
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    remedy = "flags are inferred instead; run CMake again to repair it"
    try:
        rows = json.loads(path.read_bytes())
    except OSError as error:
        return None, f"{shown}: cannot read: {error.strerror}; {remedy}"
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        return None, f"{shown}: not valid JSON: {error}; {remedy}"
    if not isinstance(rows, list):
        return None, f"{shown}: not a list of entries; {remedy}"
    entries: dict[str, Flags] = {}
    bad = 0
    for row in rows:
        entry = _entry(row, path.parent)
        if entry is None:
            bad += 1
            continue
        words, directory, source = entry
        full = os.path.relpath(os.path.normpath(directory / source), root)
        if not full.startswith("..") and full not in entries:
            entries[PurePosixPath(full).as_posix()] = translate(words, directory, root, source)
    note = f"{shown}: {bad} of {len(rows)} entries lack a file or a command and were skipped" if bad else ""
    if not entries:
        return None, note or (f"{shown}: no entry is about a file of this tree; {remedy}")
    return Database(shown, entries), note


def _entry(row: Any, base: Path) -> tuple[list[str], Path, str] | None:
    if not isinstance(row, dict) or not isinstance(row.get("file"), str):
        return None
    words = row.get("arguments")
    if not isinstance(words, list):
        try:
            words = shlex.split(row["command"])
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
    if not words or not all(isinstance(word, str) for word in words):
        return None
    return words, base / str(row.get("directory", ".")), row["file"]


def include_dirs(tree: Tree, scans: Mapping[str, Scan], is_system: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the root-relative folders that make the tree's own include directives resolvable.

    Each directive that does not resolve beside its file votes for every folder below which the tree has a
    file of that name; the folder with most votes wins and what it resolves is settled, until nothing is left.
    Names in `is_system` (standard headers, headers served by the analyser) do not vote.
    """
    paths = {file.path for file in tree.files if not file.template}
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    system = frozenset(is_system)
    wanted: Counter[str] = Counter()
    for file in tree.files:
        if file.vendored or file.path not in scans:
            continue
        folder = file.path.rpartition("/")[0]
        for include in scans[file.path].includes:
            beside = os.path.normpath(f"{folder}/{include.spelling}" if folder else include.spelling)
            if include.spelling not in system and (include.angled or beside not in paths):
                wanted[include.spelling] += 1
    votes: dict[str, dict[str, int]] = {}
    for spelling, count in wanted.items():
        for path in by_name.get(spelling.rsplit("/", 1)[-1], ()):
            if path == spelling or path.endswith("/" + spelling):
                votes.setdefault(path[: -len(spelling)].rstrip("/"), {})[spelling] = count
    chosen: list[str] = []
    while votes:
        # Fewest parts first among equals: the folder that a person would have named.
        best = min(votes, key=lambda folder: (-sum(votes[folder].values()), folder.count("/"), folder))
        settled = set(votes.pop(best))
        chosen.append(best)
        for folder in list(votes):
            for spelling in settled & votes[folder].keys():
                del votes[folder][spelling]
            if not votes[folder]:
                del votes[folder]
    return tuple(chosen)


def standard(root: Path) -> str:
    """Return the C++ standard that the root `CMakeLists.txt` sets, as `c++17`; `c++20` when it sets none."""
    try:
        text = (root / "CMakeLists.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _DEFAULT_STANDARD
    found = re.search(r"CMAKE_CXX_STANDARD\s+(\d+)|cxx_std_(\d+)", text)
    return f"c++{found.group(1) or found.group(2)}" if found else _DEFAULT_STANDARD


def inferred(root: Path, tree: Tree, scans: Mapping[str, Scan], is_system: Iterable[str] = ()) -> Flags:
    """Return flags for every file of a tree without a compile database."""
    dirs = include_dirs(tree, scans, is_system)
    args = [f"-std={standard(root)}"]
    for folder in dirs:
        args += ["-I", f"{TREE}/{folder}" if folder else TREE]
    return Flags(tuple(args), "inferred")


def _nearness(path: str, other: str) -> int:
    """How many folders two files share."""
    shared = 0
    for part, its in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if part != its:
            break
        shared += 1
    return shared


class FlagTable:
    """Flags for any file of a tree."""

    def __init__(self, database: Database | None, fallback: Flags) -> None:
        self._entries = dict(database.entries) if database else {}
        self._fallback = fallback
        self._common = self._most_common()

    def _most_common(self) -> Flags:
        """The flags that most C++ entries share, with the include folders of all the others: for headers."""
        cpp = [flags for path, flags in self._entries.items() if not path.endswith((".cu", ".c"))]
        if not cpp:
            return self._fallback
        best = Counter(flags.args for flags in cpp).most_common(1)[0][0]
        args = list(best)
        known = {best[at + 1] for at, arg in enumerate(best) if arg in _PATH_VALUE and at + 1 < len(best)}
        for flags in cpp:
            for at, arg in enumerate(flags.args):
                if arg in ("-I", "-isystem") and flags.args[at + 1] not in known:
                    known.add(flags.args[at + 1])
                    args += [arg, flags.args[at + 1]]
        return Flags(tuple(args), "sibling")

    def headers(self) -> Flags:
        """Return the flags with which headers are analysed."""
        return self._common

    def of(self, path: str) -> Flags:
        """Return the flags of root-relative `path`."""
        own = self._entries.get(path)
        if own is not None:
            return own
        suffix = PurePosixPath(path).suffix
        near = [other for other in self._entries if PurePosixPath(other).suffix == suffix]
        if not near:
            return self._common
        best = max(near, key=lambda other: (_nearness(path, other), other))
        return Flags(self._entries[best].args, "sibling") if _nearness(path, best) else self._common
