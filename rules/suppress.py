"""`// vt-lint: allow(VT001 repacked) reason`, read from comment tokens.

A comment after code speaks for its line; one on a line of its own for the next line that has code. It names one rule
and, if it likes, one marker, and must give a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_ALLOW = re.compile(r"vt-lint:\s*allow\s*\(([^)]*)\)\s*(.*?)\s*(?:\*/)?\s*$", re.DOTALL)
_HINT = b"vt-lint:"


class Allow(msgspec.Struct, frozen=True):
    """One allow comment. `line`: the line it speaks for. `begin`, `end`: bytes of the comment."""

    path: str
    line: int
    comment_line: int
    rule: str
    marker: str
    reason: str
    begin: int
    end: int

    @property
    def valid(self) -> bool:
        """It names a rule and gives a reason."""
        return bool(re.fullmatch(r"VT\d{3}", self.rule) and self.reason)


def allows(path: str, text: bytes) -> Iterator[Allow]:
    """Every allow comment of a file. Costs nothing for a file without one."""
    if _HINT not in text:
        return
    import tree_sitter  # only the few files that have a comment pay for it
    import tree_sitter_cpp

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
    lines = text.split(b"\n")
    stack = [parser.parse(text).root_node]
    comments = []
    while stack:
        node = stack.pop()
        if node.type == "comment":
            comments.append(node)
        else:
            stack.extend(node.children)
    commented = {line for c in comments for line in range(c.start_point[0], c.end_point[0] + 1)}
    for node in sorted(comments, key=lambda n: n.start_byte):
        found = _ALLOW.search((node.text or b"").decode("utf-8", "replace"))
        if found is None:
            continue
        words = found.group(1).replace(",", " ").split()
        row = node.start_point[0]
        speaks_for = row
        if not lines[row][: node.start_point[1]].strip():
            speaks_for = row + 1
            while speaks_for < len(lines) and (
                not lines[speaks_for].strip() or speaks_for in commented and not _code(lines[speaks_for])
            ):
                speaks_for += 1
        yield Allow(
            path, speaks_for + 1, row + 1, words[0] if words else "", words[1] if len(words) > 1 else "",
            found.group(2), node.start_byte, node.end_byte,
        )  # fmt: skip


def _code(line: bytes) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith((b"//", b"/*", b"*"))
