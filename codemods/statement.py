"""Put lines before and after one statement, adding the braces and line breaks that this needs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codemods.edit import Edit
from codemods.style import Style
from codemods.syntax import Source, is_braceless, under_label

_OPEN, _LINES, _CLOSE = -1, 0, 1
_BLANKS = re.compile(rb"[ \t]*")
_HEADS = frozenset({"condition_clause", ")", ":", "else", "do"})
"""What stands right before the body of a control statement, a `case` or a label."""


class Place:
    """Where `statement` stands: its indent, and what its surroundings need before lines can be added.

    `indent` is the indent of the statement's own line once it has a line of its own."""

    def __init__(self, source: Source, style: Style, statement: Node) -> None:
        self.source, self.style, self.statement = source, style, statement
        self.braceless = is_braceless(statement)
        begin = statement.start_byte
        self.own_line = source.first_on_line(begin)
        parent = statement.parent
        self._outer = source.indent(parent.start_byte if parent else begin)
        if self.own_line or (
            parent is not None
            and parent.type == "compound_statement"
            and _line(source, parent) != _line(source, statement)
        ):
            self.indent = source.indent(begin)
        else:
            self.indent = self._outer + style.unit
        if parent is not None and parent.type == "labeled_statement" and self.own_line:
            self._outer = self.indent
        # One that gets a block among others of its `case` is moved in.
        among = under_label(statement) and not self.braceless and statement.type != "declaration"
        self._moved_in = among and self.own_line and not self._headed
        if self._moved_in:
            self._outer = self.indent
            self.indent += style.unit

    def edit(self, begin: int, end: int, text: str, rank: int = _LINES) -> Edit:
        """An edit of this file; LF in `text` becomes the file's own line end."""
        source = self.source
        return Edit(source.path, begin, end, text.replace("\n", source.newline), source.sha, rank)

    def wrap(self) -> list[Edit]:
        """The edits that give the statement a block, or lines, of its own. After a label it gets a block
        too, so that no later label jumps over a new local."""
        if self.braceless or (under_label(self.statement) and self.statement.type != "declaration"):
            return self._block()
        edits: list[Edit] = []
        if not self.own_line:
            edits += [self._blank_before(f"\n{self.indent}"), *self._shifted()]
        edits += self._break_after()
        return edits

    def before(self, lines: Sequence[str]) -> list[Edit]:
        """Insert `lines` before the statement, and before the comment that stands right above it."""
        at = self.start
        return [self.edit(at, at, "".join(f"{line}\n{self.indent}" for line in lines))] if lines else []

    def after(self, lines: Sequence[str]) -> list[Edit]:
        """Insert `lines` after the statement and the comment that ends its line."""
        at = self.end
        return [self.edit(at, at, "".join(f"\n{self.indent}{line}" for line in lines))] if lines else []

    @property
    def start(self) -> int:
        """Where lines before the statement go."""
        node, source = self.statement, self.source
        if not self.own_line or self.braceless or under_label(node):
            return node.start_byte
        while (
            (above := node.prev_sibling) is not None
            and above.type == "comment"
            and source.first_on_line(above.start_byte)
            and source.data[above.end_byte : node.start_byte].count(b"\n") == 1
        ):
            node = above
        return node.start_byte

    @property
    def end(self) -> int:
        """Where lines after the statement go."""
        data, at = self.source.data, self.statement.end_byte
        line_end = data.find(b"\n", at)
        line_end = len(data) if line_end < 0 else line_end
        rest = data[at:line_end].strip()
        if rest.startswith(b"//") or (rest.startswith(b"/*") and rest.endswith(b"*/")):
            return at + len(data[at:line_end].rstrip())
        return at

    @property
    def _head(self) -> Node | None:
        """What stands right before the statement, comments left out."""
        head = self.statement.prev_sibling
        while head is not None and head.type == "comment":
            head = head.prev_sibling
        return head

    @property
    def _headed(self) -> bool:
        head = self._head
        return head is not None and head.type in _HEADS

    def _blank_before(self, text: str, rank: int = _OPEN) -> Edit:
        data, begin = self.source.data, self.statement.start_byte
        at = len(data[:begin].rstrip(b" \t"))
        return self.edit(at, begin, text, rank)

    def _shifted(self) -> list[Edit]:
        """The edits that move the other lines of the statement along with its first one."""
        source, begin = self.source, self.statement.start_byte
        starts = [at for at in _line_starts(self.statement, source) if not self._fixed(at)]
        blanks = [_blanks(source, at) for at in starts]
        old = source.indent(begin)
        column = begin - source.line_start(begin)
        if not self.own_line and starts and all(len(b) >= column and "\t" not in b for b in blanks):
            old = " " * column  # aligned with something in the first line, not with its begin
        return [
            self.edit(at, at + len(old), self.indent)
            for at, found in zip(starts, blanks, strict=True)
            if found.startswith(old) and old != self.indent
        ]

    def _fixed(self, at: int) -> bool:
        """Is the line at `at` no code, so that its blanks are not ours to change?"""
        node = self.source.root.descendant_for_byte_range(at, at)
        while node is not None and node != self.statement:
            if node.type == "raw_string_literal":
                return True
            node = node.parent
        rest = self.source.data[at : at + 200].lstrip(b" \t")
        return rest[:1] in (b"#", b"\r", b"\n")

    def _break_after(self, outer: str | None = None) -> list[Edit]:
        """A line break after the statement, if code follows it on its line."""
        data, end = self.source.data, self.statement.end_byte
        stop = end + len(data[end:]) - len(data[end:].lstrip(b" \t"))
        if self.end != end or data[stop : stop + 1] in (b"\n", b"\r", b""):
            return []
        closing = data[stop : stop + 1] == b"}"
        indent = self._outer if closing else (self.indent if outer is None else outer)
        return [self.edit(end, stop, f"\n{indent}", _CLOSE)]

    def _block(self) -> list[Edit]:
        data, statement = self.source.data, self.statement
        head = self._head
        start = head.end_byte if head is not None else statement.start_byte
        headed = self._headed
        outer = self._outer if headed or self._moved_in else self.indent
        brace = " {" if headed and not self.style.allman else f"\n{outer}{{"
        edits: list[Edit] = []
        if self.own_line:
            edits.append(self.edit(start, start, brace, _OPEN))
            if self._moved_in:
                edits.append(self.edit(statement.start_byte, statement.start_byte, self.style.unit, _OPEN))
                edits += self._shifted()
        else:
            edits += [self._blank_before(f"{brace}\n{self.indent}"), *self._shifted()]
        following, end = statement.next_sibling, self.end
        if (
            following is not None
            and following.type in ("else_clause", "while")
            and not data[end : following.start_byte].strip()
        ):
            joint = f"\n{outer}" if self.style.allman else " "
            edits.append(self.edit(end, following.start_byte, f"\n{outer}}}{joint}", _CLOSE))
            return edits
        edits.append(self.edit(end, end, f"\n{outer}}}", _CLOSE))
        edits += self._break_after(outer)
        return edits


def _line(source: Source, node: Node) -> int:
    return source.line_start(node.start_byte)


def _line_starts(node: Node, source: Source) -> list[int]:
    """The offsets in `node` at which a line begins."""
    data, at = source.data, node.start_byte
    found = []
    while (at := data.find(b"\n", at, node.end_byte) + 1) > 0:
        found.append(at)
    return found


def _blanks(source: Source, at: int) -> str:
    found = _BLANKS.match(source.data, at)
    return found[0].decode() if found else ""
