"""A view or owner is made over a weight's bytes, and a marker is neither carried nor refused.

## What it does
Looks at every construction of a carrier from the bytes of another carrier: a factory call, field stores, a borrow
between owners, an aggregate, a copy, a view that is pointed elsewhere. For each marker of the source and each path
it asks whether the marker reaches the new carrier or is known to be false. What the function returns may still be
put right by its callers: then every one of them must. Where all of them refuse a marked weight first, or never pass
one, the loss is a note: it waits for the next caller.

## Why is this bad?
The rewrite keeps dtype, shape and byte count, so nothing fails: a kernel reads rewritten bytes as plain ones and
gives NaN or finite nonsense.

## Example
```cpp
Tensor view(const OwnedTensor& w) {
  return MakeTensor(w.bytes.data(), w.dtype, Device::kCPU, {w.shape[0], w.shape[1]});
}
```

## Use instead
```cpp
Tensor view(const OwnedTensor& w) {
  Tensor t = MakeTensor(w.bytes.data(), w.dtype, Device::kCPU, {w.shape[0], w.shape[1]});
  t.repacked = w.repacked;                                    // a CPU kernel honours it
  VT_CHECK(!w.q8_0_aligned, "q8_0_aligned: no CPU kernel reads it");
  return t;
}
```

## Fix safety
Safe: carrying a marker that is false and checking one that is false change nothing for an unmarked weight.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.domain import Site
from rules.analysis import NEVER_MARKED, Analysis, Draft, Group, constructions

CODE = "VT001"
NAME = "marker-dropped"
SUMMARY = "neither carried nor refused on some path"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each marker lost at a construction that no test of the marker guards."""
    for group in constructions(analysis):
        if group.outcome not in ("dropped", "missing") or analysis.is_tested(group):
            continue
        source = analysis.name_of(group.source)
        if group.outcome == "missing":
            message = f"{source} may be {group.marker}, and what is made of it here has no such field"
        else:
            message = f"{group.marker} of {source} is neither carried nor refused"
        if group.part:
            message += "; this is a part of it"
        latent = ""
        honoured = analysis.honours(group.marker)
        if group.carried_elsewhere and group.narrowed and honoured and not group.devices & honoured:
            latent = "the function carries it on the devices that honour it"
        yield analysis.draft(CODE, group, message, latent=latent)
        yield from _at_callers(analysis, group)


def _at_callers(analysis: Analysis, group: Group) -> Iterator[Draft]:
    """The users of an accessor of the weight itself: they take the view for the weight, so each is told."""
    function = analysis.program.function(group.site.function)
    if function is None or function.is_constructor or function.owner not in analysis.program.carriers:
        return
    told = {caller.via[0] for caller in group.callers}
    passed_on = [caller for caller in group.passed_on if caller.via[0] not in told]
    for caller in (*group.callers, *passed_on):
        sym, path, span, source = caller.via[0]
        site = Site(sym, path, span, "view", span, callee=function.name)
        yield Draft(
            rule=CODE, site=site, marker=group.marker, devices=caller.devices, source=source,
            source_type=group.source_type, narrowed=caller.narrowed, action="display",
            message=f"{function.name} does not carry {group.marker}, and nothing here restores or refuses it",
            latent=NEVER_MARKED if caller in passed_on else "",
        )  # fmt: skip
