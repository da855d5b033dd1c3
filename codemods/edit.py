"""Edits as data: collected over all files and profiles, merged once, applied by `codemods.apply` alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import msgspec


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replace bytes `[begin, end)` of the file `path` (a real path) by `text`, if the file still has
    `sha`.

    Edits at one point are written in order of `rank`, then in the order they were collected. Line ends in
    `text` are already those of the file; `text` is encoded as UTF-8."""

    path: str
    begin: int
    end: int
    text: str
    sha: str
    rank: int = 0


class Group(msgspec.Struct, frozen=True):
    """Edits that make sense only together. `label` names them in messages."""

    label: str
    edits: tuple[Edit, ...]


class Merged(msgspec.Struct, frozen=True):
    """What is left to apply, by path and in file order, and the groups that were left out with the label
    of the group each one collided with."""

    edits: dict[str, tuple[Edit, ...]]
    skipped: tuple[tuple[Group, str], ...]


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def overlap(a: Edit, b: Edit) -> bool:
    """True if `a` and `b` cannot both be applied: their ranges share bytes, or one inserts inside the
    other's range.

    Two insertions at one point, and an insertion at either end of a replaced range, do not overlap."""
    if a.path != b.path:
        return False
    if a.begin == a.end or b.begin == b.end:
        point, other = (a, b) if a.begin == a.end else (b, a)
        return other.begin < point.begin < other.end
    return a.begin < b.end and b.begin < a.end


def merge(groups: Iterable[Group]) -> Merged:
    """Merge `groups`: identical edits collapse, and a group that overlaps an earlier one, or itself, is
    left out whole."""
    kept: dict[str, list[tuple[Edit, str]]] = {}
    skipped: list[tuple[Group, str]] = []
    for group in groups:
        fresh = [e for e in dict.fromkeys(group.edits) if all(e != k for k, _ in kept.get(e.path, ()))]
        rival = next((label for e in fresh for k, label in kept.get(e.path, ()) if overlap(e, k)), None)
        if any(overlap(a, b) for i, a in enumerate(fresh) for b in fresh[:i]):
            rival = group.label
        if rival is not None:
            skipped.append((group, rival))
            continue
        for e in fresh:
            kept.setdefault(e.path, []).append((e, group.label))
    ordered = {
        path: tuple(e for e, _ in sorted(edits, key=lambda x: (x[0].begin, x[0].end, x[0].rank)))
        for path, edits in sorted(kept.items())
    }
    return Merged(ordered, tuple(skipped))


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return `data` with `edits` (of one file, in file order, free of overlaps) applied."""
    out: list[bytes] = []
    at = 0
    for e in edits:
        out += (data[at : e.begin], e.text.encode(errors="surrogateescape"))
        at = e.end
    out.append(data[at:])
    return b"".join(out)
