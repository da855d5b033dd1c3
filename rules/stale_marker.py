"""Bytes change and the marker does not, or the other way round.

## What it does
Reports an owner whose bytes are replaced or partly overwritten with plain ones while a marker may still be true; an
in-place rewrite after which no marker is set; one marker set for two different rewrites; and a view over a cache
entry with a marker that is not part of the cache's key. Where a function handles some markers of the owner, it is
held to those; where it handles none, to all.

## Why is this bad?
A marker describes bytes. When they part, every later check and kernel is right about the wrong thing.

## Example
```cpp
void reload(OwnedTensor& w, const std::vector<uint8_t>& plain) { w.bytes = plain; }
```

## Use instead
```cpp
w.bytes = plain;
w.repacked = w.q8_0_aligned = w.elem_kn_repacked = false;
w.d_dev.reset();
```

## Fix safety
Unsafe: clearing a marker is right only when the new bytes are plain, which the code cannot prove.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.domain import Path
from analyzer.summary import BytesWrite
from rules.analysis import Analysis, Draft

CODE = "VT008"
NAME = "stale-marker"
SUMMARY = "bytes replaced and the marker kept; bytes rewritten and no marker set; a cache keyed without it"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield drafts for each way bytes and marker can part."""
    facts = analysis.facts
    writes: dict[tuple[object, ...], list[BytesWrite]] = {}
    for write in facts.byte_writes.values():
        writes.setdefault((write.site, write.object, write.kind), []).append(write)
    rewriters = _rewriters(analysis)
    for key in sorted(
        writes, key=lambda k: (writes[k][0].site.path, writes[k][0].site.span.begin, str(k[2]))
    ):
        first = writes[key][0]
        if analysis.program.carriers[first.carrier].view:
            continue  # an output, not a weight
        own = first.object in first.origins
        if first.kind == "rewrite" or own:
            if own and first.kind == "replace" or first.callee in rewriters:
                yield from _unmarked_rewrite(analysis, first, rewriters.get(first.callee))
        elif not first.local and not first.origins:
            yield from _stale(analysis, writes[key])
    yield from _two_rewriters(analysis)
    for site, marker, path in sorted(facts.cached_views, key=lambda c: (c[0].path, c[0].span.begin, c[1])):
        yield Draft(
            rule=CODE, site=site, marker=marker, devices=frozenset(analysis.program.devices), source=path[:1],
            action="display", message=f"the entry comes from a cache whose key does not hold {marker}: "
            "a hit may give bytes of the other layout",
        )  # fmt: skip


def _marker_lines(analysis: Analysis, function: str, owner: Path) -> dict[str, int]:
    """Where the function last stores each marker of an object."""
    found: dict[str, int] = {}
    for write in analysis.facts.marker_writes:
        if write.function == function and write.object == owner:
            found[write.marker] = max(found.get(write.marker, 0), write.span.begin)
    return found


def _stale(analysis: Analysis, writes: list[BytesWrite]) -> Iterator[Draft]:
    first = writes[0]
    carrier = analysis.program.carriers[first.carrier]
    stored = _marker_lines(analysis, first.site.function, first.object)
    tested = {m for s, m in analysis.facts.tests.get(first.site.function, ()) if s == first.object}
    aware = set(stored) | tested | {m for w in writes for m, _ in w.known}
    for marker in carrier.markers:
        if aware and marker not in aware:
            continue
        if stored.get(marker, 0) > first.site.span.begin:
            continue
        if all(dict(w.known).get(marker) is False for w in writes):
            continue
        owner = analysis.name_of(first.object)
        by = f" by {first.callee}" if first.callee and first.kind == "store" else ""
        yield Draft(
            rule=CODE, site=first.site, marker=marker, devices=first.devices, source=first.object,
            source_type=first.carrier, action="clear",
            message=f"bytes of {owner} are written{by}, and {marker} may still say the old layout",
        )  # fmt: skip


def _unmarked_rewrite(analysis: Analysis, write: BytesWrite, meant: str | None) -> Iterator[Draft]:
    stored = _marker_lines(analysis, write.site.function, write.object)
    carrier = analysis.program.carriers[write.carrier]
    if stored or write.local:
        return
    for marker in (meant,) if meant else carrier.markers:
        yield Draft(
            rule=CODE, site=write.site, marker=marker, devices=write.devices, source=write.object,
            source_type=write.carrier, action="display",
            message=f"bytes of {analysis.name_of(write.object)} are rewritten and no marker says so",
        )  # fmt: skip


def _rewriters(analysis: Analysis) -> dict[str, str]:
    """Callees after which the same function sets a marker of the same object to true: what they write is that
    layout."""
    found: dict[str, str] = {}
    marked = {(w.function, w.object): w.marker for w in analysis.facts.marker_writes if w.value == "true"}
    for write in analysis.facts.byte_writes.values():
        marker = marked.get((write.site.function, write.object))
        if marker and write.kind == "rewrite" and write.callee:
            found.setdefault(write.callee, marker)
    return found


def _two_rewriters(analysis: Analysis) -> Iterator[Draft]:
    used: dict[tuple[str, Path], dict[str, BytesWrite]] = {}
    for write in analysis.facts.byte_writes.values():
        if write.kind == "rewrite" and write.callee:
            used.setdefault((write.site.function, write.object), {})[write.callee] = write
    for (function, owner), callees in sorted(used.items()):
        marks = [
            w for w in analysis.facts.marker_writes
            if w.function == function and w.object == owner and w.value == "true"
        ]  # fmt: skip
        if len(callees) < 2 or len({w.marker for w in marks}) != 1:
            continue
        last = max(callees.values(), key=lambda w: w.site.span.begin)
        marker = marks[0].marker
        yield Draft(
            rule=CODE, site=last.site, marker=marker, devices=last.devices, source=owner, source_type=last.carrier,
            action="display", message=f"{marker} is set for the layouts of {' and '.join(sorted(callees))} alike: "
            "one marker cannot tell them apart",
        )  # fmt: skip
