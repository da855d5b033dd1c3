"""The include graph of a tree, read from the text: which files can a unit depend on?

It is an over-approximation on purpose: a directive leads to *every* file of the tree whose path ends in the
name as spelled, whatever the include folders and conditionals say. So a file that is created later and would
shadow another one changes the graph, and nothing that clang may open is left out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from analyzer.scan import Scan
from analyzer.tree import TEMPLATE


class IncludeGraph:
    """Edges between files of one tree, all by root-relative path."""

    def __init__(self, paths: Iterable[str], scans: Mapping[str, Scan]) -> None:
        self._scans = scans
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(posixpath.basename(path.removesuffix(TEMPLATE)), []).append(path)
        self._targets: dict[str, tuple[str, ...]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._headers = tuple(
            path
            for path in scans
            if posixpath.splitext(path)[1] in (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc")
        )

    def targets(self, spelling: str) -> tuple[str, ...]:
        """Return the files that `#include` of `spelling` may mean."""
        found = self._targets.get(spelling)
        if found is None:
            parts = [part for part in spelling.split("/") if part not in (".", "..")]
            tail = "/" + "/".join(parts)
            candidates = self._by_name.get(parts[-1], ()) if parts else ()
            found = self._targets[spelling] = tuple(
                path for path in candidates if f"/{path.removesuffix(TEMPLATE)}".endswith(tail)
            )
        return found

    def closure(self, path: str) -> frozenset[str]:
        """Return every file that parsing `path` may read, `path` included. One with a computed include may
        read every header."""
        found = self._closures.get(path)
        if found is not None:
            return found
        seen = {path}
        stack = [path]
        while stack:
            scan = self._scans.get(stack.pop())
            if scan is None:
                continue
            if scan.computed:
                seen.update(self._headers)
            for include in scan.includes:
                for target in self.targets(include.spelling):
                    if target not in seen:
                        known = self._closures.get(target)
                        if known is not None:
                            seen |= known
                        else:
                            seen.add(target)
                            stack.append(target)
        result = self._closures[path] = frozenset(seen)
        return result
