"""Lines of the tree's files as a reader sees them, and where the tree is in its repository."""

from __future__ import annotations

from pathlib import Path, PurePosixPath


class Source:
    """Lines of files under `root`, each file read once. Bytes that are not UTF-8 show as U+FFFD."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[bytes]] = {}

    def _lines(self, path: str) -> list[bytes]:
        if path not in self._files:
            try:
                self._files[path] = (self._root / path).read_bytes().split(b"\n")
            except OSError:  # the report stands without its code frame
                self._files[path] = []
        return self._files[path]

    def region(self, path: str, begin: int, end: int) -> dict[str, int]:
        """Return bytes `[begin, end)` of `path` as lines and columns from 1, columns in code points."""
        start_line, start_column = self._position(path, begin)
        end_line, end_column = self._position(path, end)
        return {
            "startLine": start_line,
            "startColumn": start_column,
            "endLine": end_line,
            "endColumn": end_column,
        }

    def _position(self, path: str, offset: int) -> tuple[int, int]:
        lines = self._lines(path)
        for number, line in enumerate(lines, 1):
            if offset <= len(line) or number == len(lines):
                return number, len(line[:offset].decode(errors="replace")) + 1
            offset -= len(line) + 1
        return 1, 1

    def line(self, path: str, number: int) -> str | None:
        """Return line `number` (from 1) of `path` without its line end, or None where there is none."""
        lines = self._lines(path)
        return lines[number - 1].rstrip(b"\r").decode(errors="replace") if 0 < number <= len(lines) else None


def repository_path(root: Path, path: str) -> str:
    """Return `path`, relative to the tree `root`, relative to the git repository that the tree is in."""
    top = next((d for d in (root, *root.parents) if (d / ".git").exists()), root)
    return str(PurePosixPath(root.relative_to(top).as_posix()) / path)
