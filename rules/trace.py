"""The whole story of a marker in a tree: where it is set, which weights have it, where it is lost, who reads
it.

The record types are the JSON of `vt-lint trace --format json`; `version` rises on a breaking change.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import msgspec

from analyzer.cache import default_folder
from analyzer.collect import Collected, collect
from analyzer.collector import no_collector
from analyzer.config import Config, SetupError
from analyzer.domain import Path as Lvalue
from analyzer.flow import DEAD, Flow, Spread, classify
from analyzer.gates import Gate, describe
from analyzer.honours import HONOURS, IGNORES, Cell, Matrix, honours
from analyzer.markers import Marker
from analyzer.memo import Memo, memo_file
from analyzer.program import Head, Program, link
from rules.finding import Finding, Hop
from rules.judge import analyse, report_findings
from rules.markers import declared
from rules.texts import Texts

Progress = Callable[[int, int, str], None]

_CALLED = " passes it on without restoring "
"""In the witness of a finding: the callers that do not put it right. They come after the route to it."""

_LOSS_RULES = frozenset({"VT001", "VT002", "VT003", "VT004", "VT005", "VT007", "VT008"})


class Spot(msgspec.Struct, frozen=True):
    """One place, and what is there."""

    path: str
    line: int
    function: str
    what: str


class Producer(msgspec.Struct, frozen=True):
    """A statement that sets the marker on a weight that owns its bytes. `guards`: what must hold
    in every case; `verdict`: can that
    be; `counts`: false for tests, examples and benchmarks, which feed no weight of a user."""

    path: str
    line: int
    function: str
    carrier: str
    guards: tuple[str, ...]
    verdict: str
    reason: str
    counts: bool


class Field(msgspec.Struct, frozen=True):
    """A member of a weight struct (`Record::name`) that a marked weight reaches. `model`: the name of the
    file that declares the record. `producers`: indexes into the marker's producers."""

    name: str
    model: str
    path: str
    line: int
    verdict: str
    reason: str
    producers: tuple[int, ...]
    hops: tuple[Hop, ...]


class Via(msgspec.Struct, frozen=True):
    """A member whose weight gets to a place, and the hops from the member on."""

    field: str
    model: str
    hops: tuple[Hop, ...]


class _Fed(msgspec.Struct, frozen=True, kw_only=True):
    """A place that weights get to."""

    via: tuple[Via, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The members whose weight gets here."""
        return tuple(v.field for v in self.via)

    @property
    def models(self) -> tuple[str, ...]:
        """The models these members are of, each once."""
        return tuple(sorted({v.model for v in self.via}))


class Loss(_Fed, frozen=True):
    """A place that loses or misuses the marker. `via`: the members whose weight gets there; empty where
    none does, or where it comes without passing through a member. `hops`: one route in full, from the
    producer."""

    rule: str
    path: str
    line: int
    function: str
    form: str
    source: str
    source_type: str
    devices: tuple[str, ...]
    verdict: str
    reason: str
    message: str
    hops: tuple[Hop, ...]


class Consumer(_Fed, frozen=True):
    """A kernel. `outcome`: `honours`, `refuses`, `ignores` or `n/a` (dtype). `arrives`: how marked bytes
    can get to the operand: `marked`, `unmarked` (lost on the way), `both`, or empty. `misread`: rewritten
    bytes can be read as plain here."""

    device: str
    operator: str
    function: str
    path: str
    line: int
    operand: str
    outcome: str
    read_at: Hop
    arrives: str
    misread: bool
    verdict: str
    reason: str
    hops: tuple[Hop, ...]


class Target(_Fed, frozen=True):
    """The answer to `--to`: one carrier parameter of the function asked about."""

    function: str
    path: str
    line: int
    operand: str
    verdict: str
    reason: str
    hops: tuple[Hop, ...]


class MarkerTrace(msgspec.Struct, frozen=True):
    """All of one marker. `stops`: edges that could not be followed, and members that nothing reads."""

    marker: str
    what: str
    producers: tuple[Producer, ...]
    fields: tuple[Field, ...]
    copies: tuple[Spot, ...]
    losses: tuple[Loss, ...]
    consumers: tuple[Consumer, ...]
    tests: tuple[Spot, ...]
    targets: tuple[Target, ...] = ()
    stops: tuple[Spot, ...] = ()


class Trace(msgspec.Struct, frozen=True):
    """The result of `trace`. `assumptions` are those of every DEAD."""

    version: int
    tree: str
    profiles: tuple[str, ...]
    devices: tuple[str, ...]
    markers: tuple[MarkerTrace, ...]
    carriers: tuple[str, ...]
    assumptions: tuple[str, ...]
    unanalysed: int
    seconds: dict[str, float]


def trace(
    tree: Path,
    *,
    config: Config,
    markers: Sequence[str] = (),
    source: str = "",
    target: str = "",
    partial: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Follow `markers` (all declared ones when empty) through the tree.

    `source`: only what the weight member `Record::field` feeds; `target`: only routes into that function.
    Raises `SetupError` for a name that the tree does not have and when the run cannot start."""
    known = declared(config.extra)
    unknown = sorted(set(markers) - {m.name for m in known})
    if unknown:
        raise SetupError(f"no marker {unknown[0]!r}: there are {', '.join(sorted(m.name for m in known))}")
    began = time.perf_counter()
    collected = collect(
        tree, config, markers=[m.name for m in known], jobs=jobs, cache=default_folder(), progress=progress
    )
    parsed_at = time.perf_counter()
    memo = Memo(memo_file(default_folder()))
    with no_collector():
        program = link((each.facts for each in collected.parsed), tuple(m.name for m in known))
        analysis, flow = analyse(program, known, memo, jobs)
        memo.save()
        found = report_findings(analysis, Texts(tree), (), False, ())
        flow_at = time.perf_counter()
        chosen = tuple(m for m in known if not markers or m.name in markers)
        traced = build(
            program, flow, chosen, found, analysis.matrix, source=source, target=target, partial=partial
        )
    return Trace(
        version=1,
        tree=str(tree),
        profiles=tuple(p.name for p in collected.profiles),
        devices=tuple(program.devices),
        markers=traced,
        carriers=tuple(sorted(program.carriers)),
        assumptions=assumptions(collected),
        unanalysed=len(collected.unanalysed),
        seconds={
            "facts": parsed_at - began,
            "flow": flow_at - parsed_at,
            "total": time.perf_counter() - began,
        },
    )


def assumptions(collected: Collected) -> tuple[str, ...]:
    """What every DEAD takes for granted."""
    out = [
        "no code outside this tree calls its functions or sets a marker",
        "weights are members of structs, and a member is the same for all instances",
        "tests, examples and benchmarks feed no weight of a user",
    ]
    failed = sorted({p.path for p in collected.parsed if p.failed})
    if failed:
        out.append(f"{len(failed)} files that could not be parsed do not take part ({failed[0]}, ...)")
    return tuple(out)


def build(
    program: Program,
    flow: Flow,
    markers: Iterable[Marker],
    findings: Iterable[Finding] = (),
    matrix: Matrix | None = None,
    *,
    source: str = "",
    target: str = "",
    partial: bool = False,
) -> tuple[MarkerTrace, ...]:
    """Trace `markers` through a linked program; `findings` are the places that lose one, `matrix` is the honours matrix
    if it is known."""
    chosen = tuple(markers)
    if matrix is None:
        matrix = honours(flow, chosen)
    builder = _Builder(program, flow, matrix, tuple(findings), source, target, partial)
    return tuple(builder.marker(m) for m in chosen)


Feeds: TypeAlias = dict[Field, Spread]
"""What the weight of each member reaches."""


class _Builder:
    def __init__(
        self,
        program: Program,
        flow: Flow,
        matrix: Matrix,
        findings: tuple[Finding, ...],
        source: str,
        target: str,
        partial: bool,
    ) -> None:
        self.program = program
        self.flow = flow
        self.matrix = matrix
        self.findings = findings
        self.source = self.field_node(source) if source else ""
        self.targets = self.functions(target) if target else ()
        self.partial = partial
        self.by_name: dict[str, list[Head]] = {}
        for each in program.bodies():
            self.by_name.setdefault(each.head.name, []).append(each.head)

    # ------------------------------------------------------------------------------------------------ names

    def field_node(self, name: str) -> str:
        fields = {
            f"{record.name}::{member.name}"
            for record in self.program.records.values()
            for member in record.members
            if self.flow.graph.carries(member.type) == "carrier"
        }
        found = sorted(f for f in fields if f == name or f.endswith(f"::{name}"))
        if len(found) == 1:
            return f"#{found[0]}"
        if found:
            raise SetupError(f"--from {name}: several members are called so: {', '.join(found[:5])}")
        raise SetupError(f"--from {name}: no such member of a weight struct{_near(name, fields)}")

    def functions(self, name: str) -> tuple[Head, ...]:
        every = [each.head for each in self.program.bodies() if not each.head.parent]
        found = [f for f in every if f.name == name] or [f for f in every if f.name.endswith(f"::{name}")]
        if not found:
            raise SetupError(f"--to {name}: no such function{_near(name, {f.name for f in every})}")
        return tuple(found)

    # ----------------------------------------------------------------------------------------------- marker

    def marker(self, marker: Marker) -> MarkerTrace:
        name = marker.name
        producers = self.producers(name)
        fields = self.fields(name)
        feeds = {f: self.flow.spread_from(f"#{f.name}", name) for f in fields}
        losses = [self.loss(f, feeds) for f in self.findings if f.marker == name and f.rule in _LOSS_RULES]
        consumers = [self.consumer(c, name, feeds) for c in self.matrix.of(name)]
        targets: list[Target] = []
        for function in self.targets:
            targets += self.target(function, name, feeds)
        if self.source:
            shown = self.source[1:]
            fields = [f for f in fields if f.name == shown]
            losses = [x for x in losses if any(v.field == shown for v in x.via)]
            consumers = [x for x in consumers if any(v.field == shown for v in x.via)]
            targets = [x for x in targets if any(v.field == shown for v in x.via)]
        if self.targets:
            names = {f.name for f in self.targets}
            losses = [x for x in losses if x.function in names]
            consumers = [x for x in consumers if x.function in names]
        return MarkerTrace(
            marker=name,
            what=marker.what,
            producers=tuple(producers),
            fields=tuple(fields),
            copies=tuple(
                Spot(c.path, c.span.line, c.name, f"{c.carrier}.{name} is set from another carrier's")
                for c in sorted(self.flow.copies, key=lambda c: (c.path, c.span.begin))
                if c.marker == name
            ),
            losses=tuple(sorted(losses, key=lambda x: (_ORDER.index(x.verdict), x.path, x.line, x.source))),
            consumers=tuple(consumers),
            tests=self.tests(name),
            targets=tuple(targets),
            stops=self.stops(name, feeds) if self.partial else (),
        )

    def producers(self, marker: str) -> list[Producer]:
        out = []
        seen = set()
        for p in sorted(self.flow.graph.producers, key=lambda p: (p.path, p.span.begin)):
            if p.marker != marker or (p.path, p.span.begin) in seen:
                continue
            seen.add((p.path, p.span.begin))
            gates = self.flow.conditions.holds(p.cond, p.function)
            words = (
                sorted(_guard(g, self.flow) for g in frozenset[Gate].intersection(*gates)) if gates else []
            )
            settled = self.flow.conditions.settle(gates)
            verdict, reason = (
                classify(settled, frozenset()) if settled else (DEAD, "its guard is never true in this tree")
            )
            out.append(
                Producer(
                    p.path,
                    p.span.line,
                    p.name,
                    p.carrier,
                    tuple(words),
                    verdict,
                    reason,
                    p in self.flow.producers,
                )
            )
        return out

    def fields(self, marker: str) -> list[Field]:
        out = []
        numbers: dict[tuple[str, int], int] = {}
        for p in self.producers(marker):
            numbers[p.path, p.line] = len(numbers)
        for name in self.flow.fields(marker):
            node = f"#{name}"
            verdict, reason, hops = self.flow.verdict_at(node, marker, frozenset())
            record, _, member = name.rpartition("::")
            known = self.program.records.get(record)
            line = next((m.line for m in known.members if m.name == member), 0) if known is not None else 0
            path = known.path if known is not None else ""
            reached = {
                numbers[r.producer.path, r.producer.span.line] for r in self.flow.reaches(node, marker)
            }
            out.append(
                Field(name, _model(path), path, line, verdict, reason, tuple(sorted(reached)), _hops(hops))
            )
        return out

    def fed_by(self, nodes: set[str], feeds: Feeds) -> tuple[Via, ...]:
        found = []
        for field, spread in feeds.items():
            if f"#{field.name}" in nodes:
                found.append(Via(field.name, field.model, ()))
                continue
            node = next((n for n in sorted(nodes) if n in spread.by_node), None)
            if node is not None:
                found.append(Via(field.name, field.model, _hops(spread.witness(spread.by_node[node][0]))))
        return tuple(found)

    # ---------------------------------------------------------------------------------- losses and consumers

    def loss(self, f: Finding, feeds: Feeds) -> Loss:
        dead = f.verdict.value == DEAD
        return Loss(
            rule=f.rule,
            path=f.place.path,
            line=f.place.line,
            function=f.function,
            form=f.site.form if f.site else "",
            source=f.source,
            source_type=f.source_type,
            devices=f.devices,
            verdict=f.verdict.value,
            reason=f.reason,
            message=f.message,
            hops=tuple(takewhile(lambda hop: _CALLED not in hop.note, f.witness)),
            via=() if dead else self.fed_by(self.nodes_of(f), feeds),
        )

    def nodes_of(self, f: Finding) -> set[str]:
        """The carrier parameters and locals of the finding's function that its source's name can mean."""
        nodes: set[str] = set()
        head = f.source.lstrip("*&(").split(".")[0].split("->")[0].split("[")[0]
        for function in self.by_name.get(f.function, ()):
            if function.path != f.place.path:
                continue
            for parameter in function.params:
                if parameter.name == head:
                    nodes.add(self.flow.links.canonical.get(parameter.sym, parameter.sym))
            if not head or head == "this":
                nodes.add(f"@{function.sym}")
            if not nodes:
                nodes |= {n for n in self.flow.graph.locals(function.sym) if n.endswith(f":{head}")}
        member = f.source.replace("->", ".").rpartition(".")[2].strip("*&() ").partition("[")[0]
        return nodes or set(self.flow.graph.members(member))

    def consumer(self, cell: Cell, marker: str, feeds: Feeds) -> Consumer:
        function = self.program.heads[cell.symbol][0].head
        symbol = next(p.sym for p in function.params if p.name == cell.operand)
        node = self.flow.links.canonical[symbol]
        verdict, reason, hops = self.flow.verdict_at(
            node, marker, frozenset({cell.device} if cell.device else ())
        )
        marked, plain = self.flow.state(node, marker)
        arrives = "both" if marked and plain else "marked" if marked else "unmarked" if plain else ""
        misread = verdict != DEAD and (
            cell.outcome == IGNORES and bool(arrives) or cell.outcome == HONOURS and plain
        )
        return Consumer(
            device=cell.device,
            operator=cell.operator,
            function=cell.function,
            path=cell.path,
            line=cell.line,
            operand=cell.operand,
            outcome=cell.outcome,
            read_at=Hop(*cell.read_at, cell.note or cell.outcome),
            arrives=arrives,
            misread=misread,
            verdict=verdict,
            reason=reason,
            hops=_hops(hops),
            via=self.fed_by({node}, feeds),
        )

    def target(self, function: Head, marker: str, feeds: Feeds) -> list[Target]:
        out = []
        places: list[tuple[str, Lvalue]] = [
            (p.name, (p.sym,)) for p in function.params if self.program.carrier_of(p.type)
        ]
        if function.owner in self.program.carriers:
            places.append(("this", ("this",)))
        for name, path in places:
            verdict, reason, hops = self.flow.verdict(function.sym, path, marker, frozenset())
            fed = self.fed_by({self.flow.node(function.sym, path)}, feeds)
            out.append(
                Target(
                    function.name,
                    function.path,
                    function.span.line,
                    name,
                    verdict,
                    reason,
                    _hops(hops),
                    via=fed,
                )
            )
        return out

    # ------------------------------------------------------------------------------------------------ spots

    def tests(self, marker: str) -> tuple[Spot, ...]:
        copies = {(c.path, c.span.line) for c in self.flow.copies}
        spots = set()
        for sym, reads in self.flow.links.marker_reads():
            function = self.program.head(sym)
            for read in reads:
                if (
                    read.name == marker
                    and function is not None
                    and (function.path, read.span.line) not in copies
                ):
                    spots.add(
                        Spot(function.path, read.span.line, function.name, f"{read.owner}.{marker} is tested")
                    )
        return tuple(sorted(spots, key=lambda s: (s.path, s.line)))

    def stops(self, marker: str, feeds: Feeds) -> tuple[Spot, ...]:
        out = []
        for field, spread in feeds.items():
            if not any(
                entry is not None or node[:1] in "#=" for _, entry, node, _ in spread.beyond(f"#{field.name}")
            ):
                what = "a marked weight is stored here and nothing reads it"
                out.append(Spot(field.path, field.line, field.name, what))
        for why, path, line, function in self.flow.given_up(marker):
            out.append(Spot(path, line, function, why))
        return tuple(sorted(set(out), key=lambda s: (s.path, s.line, s.what)))


_ORDER = ("LIVE", "GATED", "UNKNOWN", "LOUD", "DEAD")


def _guard(gate: tuple[object, ...], flow: Flow) -> str:
    if gate[0] == "param":
        name = flow.links.names.get(str(gate[1]), "?")
        return f"parameter {name} is {'true' if gate[2] else 'false'}"
    return describe(gate)


def _hops(hops: Iterable[tuple[str, int, str]]) -> tuple[Hop, ...]:
    return tuple(Hop(path, line, note) for path, line, note in hops)


def _model(path: str) -> str:
    return PurePosixPath(path).stem.removesuffix("_weights")


def _near(name: str, names: Iterable[str]) -> str:
    every = sorted(names)
    by_last = {n.rpartition("::")[2]: n for n in every}
    close = difflib.get_close_matches(name, every, 1)
    close = close or [by_last[n] for n in difflib.get_close_matches(name.rpartition("::")[2], by_last, 1)]
    return f"; did you mean {close[0]}?" if close else ""
