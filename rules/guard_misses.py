"""A check of the marker exists, but it does not cover this use.

## What it does
Reports a loss (as VT001) or a blind read (as VT007) in a function that does test the marker of this very source:
after the use, on another path, with the wrong polarity (a test that admits the marker refuses nothing), or as one
of several alternatives. Also a check that lets one weight through only with the marker that its like are refused
for, and one that every weight of the tree fails.

## Why is this bad?
The reader sees a guard and stops looking.

## Example
```cpp
if (fast) VT_CHECK(!w.repacked, "plain rows");
return MakeTensor(w.bytes.data(), w.dtype, dev, shape);   // the other path is not checked
```

## Use instead
```cpp
VT_CHECK(!w.repacked, "plain rows");
return MakeTensor(w.bytes.data(), w.dtype, dev, shape);
```

## Fix safety
Safe: the check is repeated where it dominates the use; it changes nothing for an unmarked weight.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import ir
from analyzer.domain import Path, Site
from analyzer.walk import walk
from rules.analysis import Analysis, Draft, Group
from rules.finding import Verdict

CODE = "VT004"
NAME = "guard-misses"
SUMMARY = "a check exists but does not dominate the use, has the wrong polarity, or covers only some paths"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each loss or blind read beside a test of the same marker of the same source."""
    seen: set[tuple[object, ...]] = set()
    for group in analysis.groups:
        key = (group.site.function, group.source, group.marker)
        if group.is_read and key in seen:
            continue
        if group.outcome not in ("dropped", "missing") or not analysis.is_tested(group):
            continue
        if group.is_read and (
            group.site.form in ("copy-bytes", "upload", "pointer")
            or analysis.is_resolved(group)
            and not _leaves_before(analysis, group)
        ):
            continue
        if group.is_read:
            seen.add(key)
        source = analysis.name_of(group.source)
        verb = "read" if group.is_read else "used"
        yield analysis.draft(
            CODE,
            group,
            f"{group.marker} of {source} is tested in this function, but not where its bytes are {verb}",
            action="refuse" if group.is_read else "",
        )
    yield from _turned_round(analysis)


def _turned_round(analysis: Analysis) -> Iterator[Draft]:
    """Checks that let only marked weights through, where the function keeps a marked one out of their like (in the
    same condition, or of another member of the same object), or where no marked weight comes."""
    by_function: dict[tuple[ir.Sym, str], list[tuple[Path, bool, ir.Span]]] = {}
    for function, path, marker, value, span in analysis.facts.demands:
        by_function.setdefault((function, marker), []).append((path, value, span))
    for (function, marker), asked in sorted(by_function.items(), key=lambda one: one[0]):
        head = analysis.program.head(function)
        if head is None:
            continue
        kept_out = [(p, s) for p, value, s in asked if not value]
        refused = {path for path, _ in kept_out}
        for path, span in sorted((p, s) for p, value, s in asked if value and p not in refused):
            like = [
                other for other, at in kept_out
                if other != path and len(other) == len(path)
                and (at == span or len(path) > 1 and other[0] == path[0])
            ]  # fmt: skip
            message = f"this check lets {analysis.name_of(path)} through only if it is {marker}"
            latent = ""
            if like:
                message += f", and {analysis.name_of(min(like))} only if it is not"
            elif not analysis.marked(function, path, marker):
                latent = "it stops every weight of this tree: none that gets here is marked"
            else:
                continue
            yield Draft(
                rule=CODE, site=Site(function, head.path, span, "check", span), marker=marker,
                devices=frozenset(analysis.program.devices), source=path, action="display", message=message,
                latent=latent, verdict=Verdict.LOUD if latent else None,
            )  # fmt: skip


def _leaves_before(analysis: Analysis, group: Group) -> bool:
    """Is the read in a branch that leaves the function and asks for the marker no more?"""
    function = analysis.program.function(group.site.function)
    begin = group.site.span.begin
    for node in walk(function.body if function is not None else None):
        for arm in (node.then, node.other) if isinstance(node, ir.If) else ():
            if arm is None or not arm.span.begin <= begin < arm.span.end:
                continue
            last = arm.body[-1] if isinstance(arm, ir.Block) and arm.body else arm
            asked = (
                n
                for n in walk(arm)
                if isinstance(n, ir.Field) and n.name == group.marker and n.span.begin > begin
            )
            if isinstance(last, ir.Return) and not any(asked):
                return True
    return False
