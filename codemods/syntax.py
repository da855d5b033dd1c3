"""One source file as the codemods see it: bytes, hash and a tree-sitter tree to find statements in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import tree_sitter
import tree_sitter_cpp
from tree_sitter import Node

from codemods.edit import digest

_LANGUAGE = tree_sitter.Language(tree_sitter_cpp.language())
_BLOCKS = frozenset({"compound_statement", "case_statement"})
_PREPROCESSOR = frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"})
_HEADED = frozenset(
    {
        "if_statement",
        "else_clause",
        "for_statement",
        "for_range_loop",
        "while_statement",
        "do_statement",
        "labeled_statement",
    }
)
_LABELS = frozenset({"case_statement", "labeled_statement"})
_WORD = re.compile(rb"[A-Za-z_]\w*")


class Source:
    """A C++ file. `path` is real, `name` relative to the tree root with forward slashes, offsets are in
    bytes."""

    def __init__(self, path: Path, name: str, data: bytes) -> None:
        self.path = str(path)
        self.name = name
        self.data = data
        self.sha = digest(data)
        self.newline = "\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else "\n"

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree."""
        return tree_sitter.Parser(_LANGUAGE).parse(self.data).root_node

    def text(self, begin: int, end: int) -> str:
        """Bytes `[begin, end)`, decoded; what is not UTF-8 is escaped."""
        return self.data[begin:end].decode(errors="surrogateescape")

    def line_start(self, offset: int) -> int:
        """Offset of the first byte of the line that `offset` is on."""
        return self.data.rfind(b"\n", 0, offset) + 1

    def indent(self, offset: int) -> str:
        """Leading blanks of the line that `offset` is on."""
        begin = self.line_start(offset)
        line = self.data[begin:offset]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def first_on_line(self, offset: int) -> bool:
        """True if only blanks precede `offset` on its line."""
        return not self.data[self.line_start(offset) : offset].removeprefix(b"\xef\xbb\xbf").strip()

    def node(self, begin: int, end: int) -> Node:
        """The smallest named node that covers `[begin, end)`, widened to the largest with just these
        bytes."""
        found = self.root.named_descendant_for_byte_range(begin, end) or self.root
        while found.parent and (found.parent.start_byte, found.parent.end_byte) == (
            found.start_byte,
            found.end_byte,
        ):
            if is_statement(found):
                break
            found = found.parent
        return found

    def statement(self, begin: int, end: int) -> Node | None:
        """The innermost statement that covers `[begin, end)`; None outside a function's body."""
        found: Node | None = self.node(begin, end)
        while found and not is_statement(found):
            found = found.parent
        return found

    def statement_at(self, offset: int) -> Node | None:
        """The innermost statement that begins at, contains or follows `offset` within its block."""
        data = self.data
        while offset < len(data) and data[offset : offset + 1].isspace():
            offset += 1
        found = self.statement(offset, offset + 1)
        node = self.root.descendant_for_byte_range(offset, offset + 1)
        if node is not None and node.type == "comment":  # a comment belongs to the statement after it
            after = node.next_named_sibling
            while after is not None and after.type == "comment":
                after = after.next_named_sibling
            if after is not None and is_statement(after):
                return after
        return found


def is_statement(node: Node) -> bool:
    """True if `node` is a statement of a block or the unbraced body of a control statement."""
    parent = node.parent
    if parent is None or node.type == "compound_statement" and parent.type not in _BLOCKS:
        return False
    if not (node.type.endswith("_statement") or node.type in ("declaration", "for_range_loop")):
        return False
    if parent.type in _BLOCKS or parent.type in _PREPROCESSOR:
        return enclosing(node, "function_definition", "lambda_expression") is not None
    return is_braceless(node)


def is_braceless(node: Node) -> bool:
    """True if `node` is the unbraced body of an `if`, `else` or loop, or stands after a `goto` label."""
    parent = node.parent
    if parent is None or parent.type not in _HEADED or node.type == "compound_statement":
        return False
    if parent.type in ("else_clause", "labeled_statement"):
        return node == parent.named_children[-1]
    return node in (parent.child_by_field_name("body"), parent.child_by_field_name("consequence"))


def under_label(node: Node) -> bool:
    """True if a declaration put before `node` could be jumped over by a later label."""
    return node.parent is not None and node.parent.type in _LABELS


def after_macro(source: Source, node: Node) -> bool:
    """True if what stands right before the statement `node` looks like a call without its `;`: a macro, which
    may expand to an `if` or a loop."""
    ahead = node.prev_sibling
    while ahead is not None and ahead.type == "comment":
        ahead = ahead.prev_sibling
    if ahead is None or is_braceless(node) or not ahead.is_named:
        return False
    return source.data[ahead.end_byte - 1 : ahead.end_byte] == b")"


def enclosing(node: Node, *types: str) -> Node | None:
    """The nearest proper ancestor of one of `types`."""
    found = node.parent
    while found and found.type not in types:
        found = found.parent
    return found


def function(node: Node) -> Node:
    """The outermost function definition around `node`, or `node`'s outermost ancestor."""
    result = node
    found: Node | None = node
    while found:
        if found.type == "function_definition":
            result = found
        found = found.parent
    return result


def words(source: Source, node: Node) -> frozenset[str]:
    """Every identifier-like word in the text of `node`, comments and strings included."""
    return frozenset(w.decode() for w in _WORD.findall(source.data[node.start_byte : node.end_byte]))


def walk(node: Node) -> Iterator[Node]:
    """`node` and every named node below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += current.named_children


def ancestors(node: Node, until: Node) -> Iterator[Node]:
    """The proper ancestors of `node` up to, not including, `until`."""
    found = node.parent
    while found and found != until:
        yield found
        found = found.parent


def following(node: Node) -> Iterator[Node]:
    """The statements after `node` in its block."""
    found = node.next_named_sibling
    while found:
        if found.type != "comment":
            yield found
        found = found.next_named_sibling


def assignment(source: Source, node: Node) -> tuple[str, Node] | None:
    """For a statement `left = right;` the text of `left`, blanks removed, and `right`."""
    if node.type != "expression_statement" or not node.named_children:
        return None
    inner = node.named_children[0]
    left, right, op = (inner.child_by_field_name(x) for x in ("left", "right", "operator"))
    if inner.type != "assignment_expression" or not left or not right or not op or op.type != "=":
        return None
    return re.sub(r"\s+", "", source.text(left.start_byte, left.end_byte)), right


def errors(root: Node) -> int:
    """How many pieces of the file tree-sitter could not parse."""
    count = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            count += 1
        if node.has_error:
            stack += node.children
    return count
