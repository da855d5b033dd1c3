"""What a parse depends on of each file that it may include, by name: a function of a namespace matters to those alone
who mention it."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Collection, Iterable, Mapping

from analyzer.includes import IncludeGraph
from analyzer.scan import Scan, word_number


class Depends:
    """`shas`: content hashes by path. `vendored`: files of others, which put together names of their own only."""

    def __init__(
        self,
        graph: IncludeGraph,
        scans: Mapping[str, Scan],
        shas: Mapping[str, str],
        vendored: Collection[str] = (),
    ) -> None:
        self._graph = graph
        self._scans = scans
        self._shas = shas
        # By the number of a word, its bit in a set: of the functions, and of the macros that can make such a name.
        names = {name for scan in scans.values() for name, _ in scan.interface.functions}
        makers = {
            each.macro
            for scan in scans.values()
            for each in scan.pasting
            if any(
                name.startswith(begin) and name.endswith(end) for begin, end in each.ends for name in names
            )
        }
        functions = {_number(name): 1 << at for at, name in enumerate(names)}
        pasting = {_number(macro): 1 << at for at, macro in enumerate(makers)}
        self._all = (1 << len(names)) - 1
        self._mentions: dict[str, int] = {}
        self._declared: dict[str, list[tuple[int, str]]] = {}
        self._makes: dict[str, int] = {}
        self._pastes: dict[str, int] = {}
        self._shared: dict[tuple[str, int], str] = {}
        for path, scan in scans.items():
            words = scan.numbers()
            own = pasting.keys() & {_number(each.macro) for each in scan.pasting}
            used = pasting.keys() & words if path not in vendored else set()
            self._mentions[path] = _union(functions, functions.keys() & words)
            self._makes[path] = _union(pasting, own)
            self._pastes[path] = _union(pasting, used if scan.pastes else used - own)
            self._declared[path] = [
                (functions[_number(name)], f"{name}={of_it}") for name, of_it in scan.interface.functions
            ]

    def of(self, path: str) -> list[tuple[str, str]]:
        """Return, for every file that parsing `path` may read, a digest of what matters of it."""
        files = self._graph.closure(path)
        once = twice = 0  # a name that matters is in two files at least: it is declared in one of them
        made = pasted = 0
        for each in files:
            mentioned = self._mentions.get(each, 0)
            twice |= once & mentioned
            once |= mentioned
            made |= self._makes.get(each, 0)
            pasted |= self._pastes.get(each, 0)
        if made & pasted:
            twice = self._all  # a macro can make any name
        return sorted((each, self._part(each, twice)) for each in files)

    def _part(self, path: str, wanted: int) -> str:
        scan = self._scans.get(path)
        if scan is None or not scan.interface.shared:
            return self._shas.get(path, "")
        declared = self._declared[path]
        mask = 0
        for bit, _ in declared:
            mask |= bit & wanted
        found = self._shared.get((path, mask))
        if found is None:
            parts = [scan.interface.shared, *(text for bit, text in declared if bit & mask)]
            found = self._shared[path, mask] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return found


def _number(word: str) -> int:
    return word_number(word.encode())


def _union(bits: Mapping[int, int], words: Iterable[int]) -> int:
    return functools.reduce(operator.or_, (bits[word] for word in words), 0)
