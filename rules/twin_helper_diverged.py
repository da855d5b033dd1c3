"""Two helpers of the same name and purpose treat a marker differently.

## What it does
Compares functions of the same name in different scopes that make a carrier from a carrier of the same type, marker
by marker. Where one carries or refuses and the other does neither, the latter is reported.

## Why is this bad?
The repair was made in one copy. Every caller of the other keeps the fault, and reads as if it were repaired.

## Example
A private `Resident(w)` that carries `repacked`, and a shared `Resident(w)` in a header that does not.

## Use instead
One helper; or the same treatment of each marker in both.

## Fix safety
No fix of its own: VT001 at the same place has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rules.analysis import Analysis, Draft, Group, constructions
from rules.finding import Hop

CODE = "VT006"
NAME = "twin-helper-diverged"
SUMMARY = "two near-identical helpers treat a marker differently"
FIXABLE = False

_GOOD = frozenset({"carried", "refused", "resolved"})


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each marker that a twin of the losing helper carries or refuses everywhere."""
    program = analysis.program
    twins: dict[tuple[str, str, str], set[str]] = {}
    handled: dict[tuple[str, str], set[str]] = {}
    lost: dict[tuple[str, str], list[Group]] = {}
    for obligation in analysis.facts.obligations.values():
        if obligation.via or obligation.site.form in ("read", "copyout", "copy-bytes"):
            continue
        handled.setdefault((obligation.site.function, obligation.marker), set()).add(
            "good" if obligation.outcome in _GOOD else "bad" if obligation.outcome != "impossible" else "good"
        )
    for group in constructions(analysis):
        if group.outcome == "dropped":
            lost.setdefault((group.site.function, group.marker), []).append(group)
    for sym, _ in handled:
        function = program.function(sym)
        if function is None or function.parent or not function.params:
            continue
        last = function.name.rpartition("::")[2]
        source = next((c.name for p in function.params if (c := program.carrier_of(p.type)) is not None), "")
        if source:
            twins.setdefault((last, function.result, source), set()).add(sym)
    for members in (twins[k] for k in sorted(twins)):
        if len(members) < 2:
            continue
        for sym in sorted(members):
            for marker in program.markers:
                groups = lost.get((sym, marker))
                if not groups:
                    continue
                better = [t for t in sorted(members) if t != sym and handled.get((t, marker)) == {"good"}]
                if not better:
                    continue
                twin = program.function(better[0])
                assert twin is not None
                message = f"{twin.name} in {twin.path} carries or refuses {marker}; its twin here does not"
                hop = Hop(twin.path, twin.span.line, f"the twin that handles {marker}")
                yield replace(analysis.draft(CODE, groups[0], message, action="display"), witness=(hop,))
