"""A kernel or predicate branches on some markers of an operand and treats the others as plain.

## What it does
Reports a function that reads the bytes of a view, tests one of its markers, and lets another through untested; and a
predicate that says no to one layout and asks for more than layouts, but says yes to another one.

## Why is this bad?
It looks as if the kernel knew about layouts. It knows about one of them.

## Example
```cpp
if (b.repacked) return GemmRepacked(out, a, b);
return GemmPlain(out, a, b.data);        // q8_0_aligned bytes read as plain
```

## Use instead
```cpp
VT_CHECK(!b.q8_0_aligned, "q8_0_aligned: the CUDA GEMM reads it");
```

## Fix safety
Safe: the check fires only for a marked weight that this kernel would misread. What a predicate says is for a person to
change.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import ir
from analyzer.domain import Path, Site
from rules.analysis import Analysis, Draft
from rules.bytes_read_blind import is_consumer

CODE = "VT009"
NAME = "consumer-ignores-marker"
SUMMARY = "a kernel or predicate branches on some markers and treats the others as plain"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each marker a layout-aware reader forgets."""
    seen: set[tuple[object, ...]] = set()
    for group in analysis.groups:
        if (group.site.function, group.source, group.marker) in seen:
            continue
        if (
            group.is_read
            and group.site.form != "pointer"
            and group.outcome in ("dropped", "missing")
            and not analysis.is_tested(group)
        ):
            if is_consumer(analysis, group):
                seen.add((group.site.function, group.source, group.marker))
                source = analysis.name_of(group.source)
                yield analysis.draft(
                    CODE,
                    group,
                    f"this reader of {source} tests other markers but not {group.marker}",
                    action="refuse",
                )
    yield from _predicates(analysis)


def _predicates(analysis: Analysis) -> Iterator[Draft]:
    """A test of more than layouts that keeps a layout out, and does not ask for another."""
    yes: dict[tuple[ir.Sym, Path], dict[str, ir.Span]] = {}
    no: dict[tuple[ir.Sym, Path], set[str]] = {}
    for function, path, marker, says_yes, span in sorted(
        analysis.facts.answers, key=lambda a: (a[0], a[1], a[4].begin)
    ):
        if says_yes:
            yes.setdefault((function, path), {}).setdefault(marker, span)
        else:
            no.setdefault((function, path), set()).add(marker)
    for (function, path), kept_out in sorted(no.items()):
        let_in = yes.get((function, path), {})
        head = analysis.program.head(function)
        if head is None or kept_out <= set(let_in):
            continue
        for marker in sorted(set(let_in) - kept_out):
            if (path, marker) in analysis.facts.tests.get(function, ()):
                continue
            span = let_in[marker]
            source = analysis.name_of(path)
            carrier = next(
                (analysis.program.carrier_of(p.type) for p in head.params if p.sym == path[0]), None
            )
            yield Draft(
                rule=CODE, site=Site(function, head.path, span, "predicate", span), marker=marker,
                devices=frozenset(analysis.program.devices), source=path, action="display",
                source_type=carrier.name if carrier is not None else "",
                message=f"it keeps {source} out that is {' or '.join(sorted(kept_out))}, and lets {marker} in",
            )  # fmt: skip
