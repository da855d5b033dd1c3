"""Which environment variable turns a marker's rewrite off, when the tree says so near the marker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

_READ = re.compile(rb'[Ee]nv\w*\s*\(\s*"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"')
_NAME = re.compile(rb"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_NEAR = 2
"""Lines around a mention of the marker that count as near."""


def find_switches(files: Iterable[bytes], markers: Collection[str]) -> Mapping[str, str]:
    """Return for each marker the environment variable that comments and messages name most often near it.

    `files` are the tree's sources. A name counts only if some `getenv`-like call reads it. A marker with
    no name near it, or with two named equally often, is left out."""
    texts = list(files)
    known = {m for text in texts for m in _READ.findall(text)}
    votes: dict[str, Counter[str]] = {m: Counter() for m in markers}
    for text in texts:
        named = [m for m in markers if m.encode() in text]
        if not named or not known.intersection(_NAME.findall(text)):
            continue
        lines = text.splitlines()
        for marker in named:
            word = re.compile(rb"\b" + marker.encode() + rb"\b")
            near = {
                n
                for i, line in enumerate(lines)
                if word.search(line)
                for n in range(max(0, i - _NEAR), min(len(lines), i + _NEAR + 1))
            }
            votes[marker].update(n.decode() for i in near for n in _NAME.findall(lines[i]) if n in known)
    result: dict[str, str] = {}
    for marker, found in votes.items():
        best = found.most_common(2)
        if best and (len(best) == 1 or best[0][1] > best[1][1]):
            result[marker] = best[0][0]
    return result
