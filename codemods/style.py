"""How a file is written: indent unit, brace habit, line width, and the check it refuses bad input with."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from tree_sitter import Node

from codemods.syntax import Source, enclosing

WIDTH = 100
"""Line width where no `.clang-format` says otherwise."""

_SKIPPED = frozenset({".git", "build", "third_party", "node_modules"})
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\([ \t]*(\w+)[ \t]*,[ \t]*(?:\w+|\.\.\.)[ \t]*\)"
    rb"((?:[^\n]*\\\r?\n)*[^\n]*)",
    re.MULTILINE,
)
_FUNCTION = re.compile(
    rb"\bvoid\s+(\w+)\(\s*bool\s+\w*\s*,\s*(?:const\s+char\s*\*|std::string_view|const\s+std::string\s*&)\s*\w*\s*\)"
)
_FATAL = re.compile(rb"\bthrow\b|abort|terminate|__builtin_trap|fatal|fail|die\b|exit\b", re.IGNORECASE)
_CHECK_NAME = re.compile(r"CHECK|ASSERT|REQUIRE|ENSURE|ENFORCE|VERIFY", re.IGNORECASE)
_PREFIX = re.compile(r'"(\w[\w.:/ -]{0,40}): ')


class Style(msgspec.Struct, frozen=True):
    """`unit`: one level of indent. `allman`: an opening brace stands on its own line. `width`: columns, 0
    for no limit. `check`: the name of a two-argument check `check(condition, "message")` that is visible
    here and stops the run when the condition is false; empty if there is none. `prefix`: what the file's
    messages begin with (`"loader"` for `"loader: ..."`), `"@"` for the name of the function, empty for
    none."""

    unit: str
    allman: bool
    width: int
    check: str
    prefix: str


class Tree:
    """The files of a source tree, found once: resolves includes and finds `.clang-format`."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._bytes: dict[Path, bytes] = {}
        self._named: dict[str, list[Path]] = {}
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
            for name in sorted(files):
                self._named.setdefault(name, []).append(Path(folder, name))

    def read(self, path: Path) -> bytes:
        """The bytes of `path`, read once; empty if it cannot be read, for then it declares nothing."""
        if path not in self._bytes:
            try:
                self._bytes[path] = path.read_bytes()
            except OSError:
                self._bytes[path] = b""
        return self._bytes[path]

    def sources(self) -> Iterator[Path]:
        """Every C, C++ and CUDA file."""
        for name, paths in self._named.items():
            if name.endswith((".h", ".hpp", ".cuh", ".cpp", ".cc", ".cxx", ".cu", ".inl")):
                yield from paths

    def visible(self, path: Path) -> tuple[Path, ...]:
        """`path` and every file of the tree it includes, directly or not, nearest first."""
        seen = {path: None}
        queue = [path]
        while queue:
            current = queue.pop(0)
            for raw in _INCLUDE.findall(self.read(current)):
                found = self._resolve(current, os.fsdecode(raw))
                if found is not None and found not in seen:
                    seen[found] = None
                    queue.append(found)
        return tuple(seen)

    def _resolve(self, includer: Path, name: str) -> Path | None:
        beside = Path(os.path.normpath(includer.parent / name))
        named = self._named.get(os.path.basename(name), [])
        if beside in named:
            return beside
        suffix = tuple(p for p in Path(name).parts if p not in ("..", "."))
        return next((p for p in named if p.parts[-len(suffix) :] == suffix), None)

    def clang_format(self, path: Path) -> str:
        """The text of the nearest `.clang-format` from `path`'s folder up to the root, else empty."""
        for folder in path.parents:
            candidate = folder / ".clang-format"
            if candidate.is_file():
                return candidate.read_text(errors="replace")
            if folder == self.root:
                break
        return ""


def style_of(source: Source, tree: Tree, check: str = "") -> Style:
    """Return the style of `source`. `check` names the check to use where the file and its includes have
    none."""
    layout = tree.clang_format(Path(source.path))
    limit = re.search(r"^ColumnLimit:\s*(\d+)", layout, re.MULTILINE)
    calls = tuple(_checks(source))
    name = _visible_check(source, tree, calls) or check
    prefix = _message_prefix([message for called, message in calls if called == name])
    word = re.escape(prefix).encode()
    if prefix.isidentifier() and re.search(
        rb"\b(?:class|struct)\s+%b\b|\b%b\s*\(" % (word, word), source.data
    ):
        prefix = "@"  # what one class or function says of itself is not what the file says
    return Style(
        unit=_unit(source, layout),
        allman=len(re.findall(rb"\n[ \t]*\{[ \t]*\r?\n", source.data))
        > len(re.findall(rb"\)[^\n{;]*\{[ \t]*\r?\n", source.data)),
        width=int(limit[1]) if limit else WIDTH,
        check=name,
        prefix=prefix,
    )


def _unit(source: Source, layout: str) -> str:
    lines = source.data.splitlines()
    if sum(x.startswith(b"\t") for x in lines) > sum(x.startswith(b"  ") for x in lines):
        return "\t"
    width = re.search(r"^IndentWidth:\s*(\d+)", layout, re.MULTILINE)
    if width:
        return " " * int(width[1])
    steps: Counter[int] = Counter()
    for above, below in pairwise(lines):
        if above.rstrip().endswith(b"{") and below.strip():
            step = len(below) - len(below.lstrip(b" ")) - (len(above) - len(above.lstrip(b" ")))
            steps[step] += step > 0
    common = steps.most_common(1)
    return " " * (common[0][0] if common and common[0][1] else 2)


def _checks(source: Source) -> Iterator[tuple[str, str]]:
    """Name and message text of each statement that calls something with a condition and a string."""
    for match in re.finditer(rb"(?:\w+::)*\w+\s*\(", source.data):
        if not _CHECK_NAME.search(match[0].decode(errors="replace")):
            continue
        node = source.root.named_descendant_for_byte_range(match.start(), match.end())
        call = (
            node
            if node is not None and node.type == "call_expression"
            else node and enclosing(node, "call_expression")
        )
        if call is None or not call.parent or call.parent.type != "expression_statement":
            continue
        arguments = call.child_by_field_name("arguments")
        given = [x for x in arguments.named_children if x.type != "comment"] if arguments else []
        if call.start_byte == match.start() and len(given) == 2 and _is_text(source, given[1]):
            name = source.text(match.start(), match.end()).rstrip("( \t\r\n")
            yield name, source.text(given[1].start_byte, given[1].end_byte)


def _is_text(source: Source, node: Node) -> bool:
    text = source.text(node.start_byte, node.end_byte)
    return text.startswith(('"', "std::string("))


def _visible_check(source: Source, tree: Tree, calls: Sequence[tuple[str, str]]) -> str:
    used = Counter(name for name, _ in calls)
    defined = list(dict.fromkeys(_defined(source, tree)))
    for name, _ in used.most_common():
        # A function whose definition is not seen may want something else than a condition first (a status code,
        # of which zero is good): only a macro is trusted unseen.
        if name in defined or name.isupper() and not any(d.rpartition("::")[2] == name for d in defined):
            return name
    return defined[0] if defined else ""


def _defined(source: Source, tree: Tree) -> Iterator[str]:
    """Names of the checks defined in or above `source`: macros that stop the run, functions of (bool,
    text)."""
    for path in tree.visible(Path(source.path)):
        data = tree.read(path)
        for name, condition, body in _MACRO.findall(data):
            if re.search(rb"!\s*\(?\s*" + condition + rb"\b", body) and _FATAL.search(body):
                yield name.decode()
        for match in _FUNCTION.finditer(data):
            yield _qualified(Source(path, path.name, data), match)


def _qualified(source: Source, match: re.Match[bytes]) -> str:
    name = match[1].decode()
    node = source.root.named_descendant_for_byte_range(match.start(1), match.end(1))
    outer = node and enclosing(node, "namespace_definition")
    while outer:
        label = outer.child_by_field_name("name")
        if label:
            name = f"{source.text(label.start_byte, label.end_byte)}::{name}"
        outer = enclosing(outer, "namespace_definition")
    return name


def _message_prefix(messages: Sequence[str]) -> str:
    found = [m[1] if (m := _PREFIX.match(text)) else "" for text in messages]
    if not found:
        return "@"
    common, count = Counter(found).most_common(1)[0]
    if count * 2 > len(found) and " " not in common:
        return common
    return "" if found.count("") * 2 > len(found) else "@"
