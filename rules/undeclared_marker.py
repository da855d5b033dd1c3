"""A carrier has a layout field that no marker declaration names.

## What it does
Reports a boolean member that an owner and a view both have under the same name, as the markers do, and that is no
declared marker.

## Why is this bad?
Every other rule follows declared markers only: an undeclared one is lost in silence.

## Example
```cpp
struct Tensor { void* data; bool repacked; bool rows8_packed; };
struct OwnedTensor { Bytes bytes; bool repacked; bool rows8_packed; };
```

## Use instead
Declare it: `vt-lint rules add-marker rows8_packed`, or a `[[marker]]` table in `.vt-lint.toml`.

## Fix safety
No fix: what the layout survives is a decision.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import ir
from analyzer.domain import Site
from analyzer.program import bare
from rules.analysis import Analysis, Draft
from rules.finding import Verdict

CODE = "VT010"
NAME = "undeclared-marker"
SUMMARY = "a carrier has a layout field that no marker declaration names"
FIXABLE = False


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each boolean that views and owners share."""
    carriers = sorted(analysis.program.carriers.values(), key=lambda c: c.name)
    views = [c for c in carriers if c.view]
    owners = [c for c in carriers if not c.view and not c.inner]
    for view in views:
        for member in view.members:
            if bare(member.type) != "bool" or member.name in analysis.markers:
                continue
            owner = next(
                (
                    o
                    for o in owners
                    if any(m.name == member.name and bare(m.type) == "bool" for m in o.members)
                ),
                None,
            )
            if owner is None:
                continue
            span = ir.Span(0, 0, member.line)
            yield Draft(
                rule=CODE, site=Site("", view.path, span, "declaration", span), marker=member.name,
                devices=frozenset(), source=(view.name, member.name), source_type=view.name, action="display",
                verdict=Verdict.UNKNOWN,
                message=f"{view.name} and {owner.name} both have {member.name}, and no declaration says what it means",
            )  # fmt: skip
