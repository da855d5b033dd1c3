"""A marker is carried to a device none of whose kernels honours it.

## What it does
Where a device test or a constant narrows an arm, asks whether each marker carried there is honoured by a kernel of
every device of the arm, by the honours matrix, or refused on the others; a whole copy that is moved to another
device carries all it has. Also reports a policy field that lets a marker be set on any device, beside one that asks
for the device.

## Why is this bad?
The flag arrives and nobody reads it: the kernel of that device reads the rewritten bytes as plain ones.

## Example
```cpp
if (!is_cuda(d)) { Tensor t = MakeTensor(...); t.repacked = w.repacked; return t; }  // also Vulkan, Metal, ...
```

## Use instead
```cpp
if (d.type == DeviceType::kCPU) { Tensor t = MakeTensor(...); t.repacked = w.repacked; return t; }
VT_CHECK(!w.repacked, "repacked: only a CPU kernel reads it");
```

## Fix safety
Safe: the check added fires only for a marked weight on a device that would misread it. To narrow a policy field by the
device that its sibling asks for is unsafe: weights keep another layout from then on.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import ir
from analyzer.domain import Obligation, Site
from analyzer.walk import walk
from rules.analysis import Analysis, Draft

CODE = "VT002"
NAME = "marker-on-wrong-device"
SUMMARY = "carried to, or not refused on, a device none of whose kernels honours it"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each marker carried on a narrowed arm beyond the devices that honour it."""
    seen: dict[tuple[object, ...], frozenset[str]] = {}
    first: dict[tuple[object, ...], Obligation] = {}
    for obligation in analysis.facts.obligations.values():
        honoured = analysis.honours(obligation.marker)
        if obligation.outcome != "carried" or not obligation.narrowed or obligation.via or not honoured:
            continue
        beyond = obligation.devices - honoured
        if not beyond or not obligation.insert_after and obligation.site.callee:
            continue  # a device-blind helper carried it: its caller cannot put it right
        key: tuple[object, ...] = (obligation.site, obligation.marker, obligation.source)
        seen[key] = seen.get(key, frozenset()) | obligation.devices
        first.setdefault(key, obligation)
    for key in sorted(seen, key=lambda k: (first[k].site.path, first[k].site.span.begin, first[k].marker)):
        obligation, devices = first[key], seen[key]
        names = ", ".join(sorted(devices - analysis.honours(obligation.marker)))
        yield Draft(
            rule=CODE, site=obligation.site, marker=obligation.marker, devices=devices, source=obligation.source,
            message=f"{obligation.marker} is carried where {names} runs, and no kernel there honours it",
            source_span=obligation.source_span, source_type=obligation.source_type, narrowed=True,
            insert_after=obligation.insert_after, action="refuse",
        )  # fmt: skip
    yield from _ungated_producers(analysis)


def _ungated_producers(analysis: Analysis) -> Iterator[Draft]:
    """A policy field that lets a marker be set, decided without asking for the device, beside one that asks."""
    guards: dict[tuple[str, int, str], frozenset[object]] = {}
    for write in analysis.facts.marker_writes:
        if write.value == "true":
            key = (write.path, write.span.begin, write.marker)
            guards[key] = guards.get(key, write.guards) & write.guards  # what holds on every path to it
    gates: dict[str, str] = {}
    for (_, _, marker), atoms in sorted(guards.items(), key=lambda g: (len(g[1]), g[0])):
        for atom in atoms:
            path = atom[1] if isinstance(atom, tuple) else ()
            if isinstance(path, tuple) and len(path) >= 2 and isinstance(path[-1], str):
                gates.setdefault(path[-1], marker)
    if not gates:
        return
    for function in analysis.functions(lambda face: face.decides):
        stores = [
            n for n in walk(function.body)
            if isinstance(n, ir.Assign) and isinstance(n.target, ir.Field) and n.target.type == "bool"
            and n.target.owner not in analysis.program.carriers
        ]  # fmt: skip
        asking = [s for s in stores if _asks_device(s.value, analysis)]
        for store in stores:
            assert isinstance(store.target, ir.Field)
            gated = gates.get(store.target.name)
            siblings = [
                s for s in asking if isinstance(s.target, ir.Field) and s.target.owner == store.target.owner
            ]
            if gated is None or store in asking or not siblings or isinstance(store.value, ir.Lit):
                continue
            site = Site(function.sym, function.path, store.span, "producer", store.span)
            honoured = analysis.honours(gated)
            yield Draft(
                rule=CODE, site=site, marker=gated, devices=frozenset(analysis.program.devices) - honoured,
                source=(store.target.name,), action="narrow", condition=_device_test(siblings[0].value, analysis),
                why="the field beside it asks for the device",
                message=f"{store.target.name} lets {gated} be set on any device, unlike the field beside it",
            )  # fmt: skip


def _device_test(x: ir.Expr, analysis: Analysis) -> ir.Span | str:
    """The comparison with a device in the value that asks for one."""
    tests = [n for n in walk(x) if isinstance(n, ir.Binary) and n.op == "==" and _asks_device(n, analysis)]
    return tests[0].span if len(tests) == 1 else ""


def _asks_device(x: object, analysis: Analysis) -> bool:
    return any(
        isinstance(n, ir.Name)
        and n.kind == "enum"
        and n.name.rpartition("::")[0] in analysis.program.device_enums
        for n in walk(x)
    )
