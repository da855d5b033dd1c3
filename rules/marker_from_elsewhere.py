"""A marker's value comes from somewhere else than the object whose bytes these are.

## What it does
Reports a new carrier whose marker is a literal, a condition, or the marker of another object than the one the bytes
come from; a literal `true` stored by a function that rewrites no bytes; and shape arrays of a carrier that are
filled from a container of unchecked length, beside the markers they could overrun.

## Why is this bad?
The marker says what somebody wished. It must say what the bytes are.

## Example
```cpp
Tensor t = MakeTensor(fresh.bytes.data(), ...);
t.repacked = old.repacked;
```

## Use instead
```cpp
t.repacked = fresh.repacked;
```

## Fix safety
Safe where the source has the marker: it is copied from there. A container of unchecked length gets a check of it,
which is safe too.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import ir
from analyzer.domain import Site
from analyzer.summary import MarkerWrite
from analyzer.walk import walk
from rules.analysis import Analysis, Draft
from rules.finding import Verdict

CODE = "VT005"
NAME = "marker-from-elsewhere"
SUMMARY = "a literal, or the marker of another object than the one whose bytes these are"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield drafts for foreign and literal values, and for marks set where nothing was rewritten."""
    for group in analysis.groups:
        if group.outcome == "foreign":
            source = analysis.name_of(group.source)
            yield analysis.draft(
                CODE, group, f"{group.marker} is taken from {group.foreign}, the bytes from {source}"
            )
        elif group.outcome == "literal":
            source = analysis.name_of(group.source)
            yield analysis.draft(CODE, group, f"{group.marker} is set by hand over the bytes of {source}")
    yield from _marks_without_rewrite(analysis)
    yield from _unbounded_shapes(analysis)


def _marks_without_rewrite(analysis: Analysis) -> Iterator[Draft]:
    rewritten = {(w.site.function, w.object) for w in analysis.facts.byte_writes.values()}
    for write in sorted(analysis.facts.marker_writes, key=lambda w: (w.path, w.span.begin, w.marker)):
        carrier = analysis.program.carriers.get(write.carrier)
        if write.value != "true" or carrier is None or carrier.view or write.local:
            continue
        if (write.function, write.object) in rewritten or _after_asking(analysis, write):
            continue  # rewritten here, or by the call whose success is tested
        site = Site(write.function, write.path, write.span, "mark", write.span)
        asked = _not_listened_to(analysis, write)
        yield Draft(
            rule=CODE, site=site, marker=write.marker, devices=frozenset(analysis.program.devices),
            source=write.object, source_type=write.carrier, action="answer" if asked else "display", condition=asked,
            why="the call ahead says whether it rewrote the bytes" if asked else "",
            message=f"{write.marker} is set to true, and this function rewrites no bytes of "
            f"{analysis.name_of(write.object)}: set it beside the rewrite, when that succeeded",
        )  # fmt: skip


def _not_listened_to(analysis: Analysis, write: MarkerWrite) -> ir.Span | str:
    """The last call ahead of the store that gets the object and whose boolean answer nobody looks at."""
    function = analysis.program.function(write.function)
    calls = [
        node.x.span for node in walk(function.body if function is not None else None)
        if isinstance(node, ir.Do) and isinstance(node.x, ir.Call) and node.x.type == "bool"
        and node.span.end <= write.span.begin
        and any(isinstance(n, ir.Name) and n.sym == write.object[0] for a in node.x.args for n in walk(a))
    ]  # fmt: skip
    return max(calls, key=lambda span: span.begin, default="")


def _after_asking(analysis: Analysis, write: MarkerWrite) -> bool:
    """The store is under an `if` that asks a call which got the object: its answer is why."""
    function = analysis.program.function(write.function)
    for node in walk(function.body) if function is not None else ():
        if isinstance(node, ir.If) and any(
            arm is not None and arm.span.begin <= write.span.begin < arm.span.end
            for arm in (node.then, node.other)
        ):
            for call in walk(node.test):
                if isinstance(call, ir.Call) and any(
                    isinstance(n, ir.Name) and n.sym == write.object[0] for a in call.args for n in walk(a)
                ):
                    return True
    return False


def _unbounded_shapes(analysis: Analysis) -> Iterator[Draft]:
    carriers = analysis.program.carriers
    for function in analysis.functions(lambda face: face.fills):
        nodes = list(walk(function.body))
        sizes = [
            n for n in nodes
            if isinstance(n, ir.Call) and n.name.endswith("::size")
            and isinstance(n.base, ir.Name) and n.base.kind == "param"
        ]  # fmt: skip
        if not sizes or not isinstance(sizes[0].base, ir.Name):
            continue
        bounded = any(
            isinstance(n, ir.Binary) and n.op in ("<", "<=", ">", ">=", "==", "!=")
            and any(isinstance(s, ir.Call) and s in sizes for side in (n.a, n.b) for s in walk(side))
            and any(_is_constant(s) for side in (n.a, n.b) for s in walk(side))
            for n in nodes
        )  # fmt: skip
        if bounded:
            continue
        for node in nodes:
            if not (isinstance(node, ir.Assign) and isinstance(node.target, ir.Index)):
                continue
            array = node.target.base
            if (
                isinstance(array, ir.Field)
                and array.owner in carriers
                and "[" in array.type
                and not isinstance(node.target.index, ir.Lit)
            ):
                carrier = carriers[array.owner]
                marker = next((m.name for m in carrier.members if m.name in carrier.markers), "")
                if not marker or not _filled_from(node, sizes, array.name):
                    continue
                site = Site(function.sym, function.path, node.span, "shape", node.span)
                extent = array.type.rpartition("[")[2].rstrip("]")
                yield Draft(
                    rule=CODE, site=site, marker=marker, devices=frozenset(analysis.program.devices),
                    source=(array.name,),
                    source_type=array.owner, verdict=Verdict.UNKNOWN,
                    action="require", condition=f"{sizes[0].base.name}.size() <= {extent}",
                    why=f"{array.name} holds {extent} dimensions",
                    latent="needs an oversized shape",
                    message=f"{array.name} is filled from a container of unchecked length: one entry too many lands on "
                    f"{marker}",
                )  # fmt: skip
                break


def _is_constant(x: ir.Node) -> bool:
    return isinstance(x, ir.Lit) or isinstance(x, ir.Name) and x.kind in ("global", "enum")


def _filled_from(store: ir.Assign, sizes: list[ir.Call], array: str) -> bool:
    """Does the stored value, or the count the loop runs to, come from the sized parameter?"""
    params = {s.base.sym for s in sizes if isinstance(s.base, ir.Name)}
    return any(isinstance(n, ir.Name) and n.sym in params for n in walk(store.value)) or array == "stride"
