"""Bytes, lines and columns of the files that findings are in."""

from __future__ import annotations

import bisect
from pathlib import Path

from analyzer import ir
from analyzer.program import Program
from rules.finding import Place


class Texts:
    """Bytes and line starts of the files that findings are in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._bytes: dict[str, bytes] = {}
        self._starts: dict[str, list[int]] = {}

    def bytes(self, path: str) -> bytes:
        """The file's bytes; empty when it cannot be read any more."""
        data = self._bytes.get(path)
        if data is None:
            try:
                data = (self.root / path).read_bytes()
            except OSError:
                data = b""
            self._bytes[path] = data
        return data

    def text(self, path: str, begin: int, end: int) -> str:
        """The bytes `[begin, end)` as text."""
        return self.bytes(path)[begin:end].decode("utf-8", "replace")

    def place(self, path: str, span: ir.Span) -> Place:
        """A span with lines and columns."""
        if not span.end:
            return Place(path, span.line, 1, span.line, 1, 0, 0, span.macro)
        line, column = self.position(path, span.begin)
        end_line, end_column = self.position(path, span.end)
        return Place(path, line, column, end_line, end_column, span.begin, span.end, span.macro)

    def position(self, path: str, offset: int) -> tuple[int, int]:
        """1-based line and column of a byte offset."""
        line = self.line(path, offset)
        return line, len(self.text(path, self._starts[path][line - 1], offset)) + 1

    def line(self, path: str, offset: int) -> int:
        """1-based line of a byte offset."""
        starts = self._starts.get(path)
        if starts is None:
            data = self.bytes(path)
            starts = [0]
            at = data.find(b"\n")
            while at >= 0:
                starts.append(at + 1)
                at = data.find(b"\n", at + 1)
            self._starts[path] = starts
        return bisect.bisect_right(starts, offset)

    def commented(self, program: Program) -> list[str]:
        """Analysed files that speak to vt-lint in a comment."""
        return sorted(p for p in program.profiles if b"vt-lint:" in self.bytes(p))
