"""What every rule sees: the program, what the interpreter found, grouped, and the policy's questions answered."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer import ir
from analyzer.domain import Obligation, Path, Site
from analyzer.markers import Marker
from analyzer.summary import MAX_VIA, Facts
from rules.finding import Hop, Verdict

if TYPE_CHECKING:  # the rules' names and texts are asked for without a program
    from analyzer.faces import Face
    from analyzer.honours import Matrix
    from analyzer.program import Program

BAD = frozenset({"dropped", "missing", "part", "rows", "foreign", "literal"})
READS = frozenset({"read", "typed", "pointer", "upload", "into", "copyout", "copy-bytes"})
_MADE_UP = re.compile(r"(?:tmp|call|new)@")
"""Begins what the interpreter calls a value that has no name, by where it stands."""
Judge = Callable[[ir.Sym, Path, str, frozenset[str]], tuple[Verdict, str, tuple[Hop, ...]]]


@dataclass(frozen=True)
class Draft:
    """A finding before it has a place in a text, a verdict and a fix. `action` overrides the policy's, with the
    `condition` that it may need: C++ text, or where that stands in the file of the site; `outermost`:
    each caller that is the last to put it right and does not: its function, the source there, the line of the call."""

    rule: str
    site: Site
    marker: str
    devices: frozenset[str]
    source: Path
    message: str
    source_span: ir.Span | None = None
    source_type: str = ""
    witness: tuple[Hop, ...] = ()
    part: bool = False
    narrowed: bool = False
    has_marker: bool = True
    insert_after: int = 0
    action: str = ""
    latent: str = ""
    verdict: Verdict | None = None
    outermost: tuple[tuple[ir.Sym, Path, int], ...] = ()
    condition: str | ir.Span = ""
    why: str = ""


NEVER_MARKED = (
    "every caller passes a weight that is plain as made in sight, or of a dtype that is never marked so"
)


@dataclass(frozen=True)
class Group:
    """All paths of one site that do the same wrong thing with one marker of one source. `callers`: those that are
    the last to put it right and do not; `passed_on`: those that leave it to callers which never pass a marked one;
    `refused`: the calls (path, line) that refuse a marked one first, where there are no others; `never_met`: those
    behind a dtype test that the producers of this tree never meet."""

    site: Site
    marker: str
    outcome: str
    source: Path
    source_span: ir.Span | None
    source_type: str
    devices: frozenset[str]
    narrowed: bool
    part: bool
    insert_after: int
    foreign: str
    callers: tuple[Obligation, ...]
    carried_elsewhere: bool
    plain: bool = False
    passed_on: tuple[Obligation, ...] = ()
    refused: tuple[tuple[str, int], ...] = ()
    never_met: tuple[tuple[str, int], ...] = ()

    @property
    def is_read(self) -> bool:
        """Bytes are moved or read here; no carrier is made."""
        return self.site.form in READS

    def witness(self, program: Program) -> tuple[Hop, ...]:
        """The calls through which nobody discharged it, nearest first, each once."""
        hops: dict[tuple[str, int], Hop] = {}
        for caller in self.callers:
            for sym, path, span, _ in caller.via:
                function = program.head(sym)
                name = function.name if function is not None else sym
                note = f"{name} passes it on without restoring {self.marker}"
                hops.setdefault((path, span.line), Hop(path, span.line, note))
        for path, line in self.never_met:
            note = f"a dtype test before this call lets nothing through that is ever {self.marker}"
            hops.setdefault((path, line), Hop(path, line, note))
        return tuple(hops.values())


@dataclass
class _Ends:
    """The obligations that one site leaves to callers: those that nobody further out can discharge, in order, the
    others, and of all, those of kernels that are passed nothing marked."""

    final: list[Obligation] = field(default_factory=list)
    inner: list[Obligation] = field(default_factory=list)
    kept_out: list[Obligation] = field(default_factory=list)


@dataclass
class Analysis:
    """One tree, linked and interpreted. `judge` answers whether a marked weight can be somewhere, `marked` whether
    its marker can still be with it; `excused`: kernels `(function, marker)` whose dtypes the marker never has;
    `kernels`: the devices each runs on; `registered`: those that a table calls; `kept_out`: their parameters
    `(function, parameter, marker)` that nobody who dispatches to them passes marked, and the calls if they refuse it;
    `faces`: see `analyzer.faces`; `matrix`: what the kernels do with the markers."""

    program: Program
    facts: Facts
    markers: dict[str, Marker]
    honoured: Callable[[str], frozenset[str]]
    judge: Judge
    marked: Callable[[ir.Sym, Path, str], bool]
    excused: frozenset[tuple[ir.Sym, str]] = frozenset()
    kernels: dict[ir.Sym, frozenset[str]] = field(default_factory=dict)
    registered: frozenset[ir.Sym] = frozenset()
    kept_out: Mapping[tuple[ir.Sym, ir.Sym, str], tuple[tuple[str, int], ...]] = field(default_factory=dict)
    faces: Mapping[ir.Sym, tuple[Face, ...]] = field(default_factory=dict)
    matrix: Matrix = field(default_factory=lambda: Matrix(()))

    def functions(self, wanted: Callable[[Face], bool]) -> Iterator[ir.Function]:
        """The functions with such a face, in a stable order; to look into all of them takes long."""
        for sym, faces in sorted(self.faces.items()):
            if any(map(wanted, faces)):
                yield from (v.function for v in self.program.heads.get(sym, ()) if v.has_body)

    @functools.cached_property
    def groups(self) -> list[Group]:
        """Every wrong outcome that its callers do not put right, in the order of the files."""
        own: dict[tuple[Site, str, str, Path], list[Obligation]] = {}
        through: dict[tuple[Site, str], list[Obligation]] = {}
        carried: set[tuple[ir.Sym, Path, str]] = set()
        for obligation in self.facts.obligations.values():
            if obligation.outcome not in BAD:
                if obligation.outcome == "carried" and not obligation.via:
                    carried.add((obligation.site.function, obligation.source, obligation.marker))
            elif obligation.via:
                through.setdefault((obligation.site, obligation.marker), []).append(obligation)
            else:
                own.setdefault(
                    (obligation.site, obligation.marker, obligation.outcome, obligation.source), []
                ).append(obligation)
        ends: dict[tuple[Site, str], _Ends] = {}
        found: list[Group] = []
        for (site, marker, outcome, source), obligations in own.items():
            end = ends.get((site, marker))
            if end is None:
                end = ends[site, marker] = self._ends(through.get((site, marker), ()))
            callers = tuple(end.final)
            kept = [*(o for o in obligations if self.is_kept_out(o)), *end.kept_out]
            calls = [self.kept_out[o.function, o.source[0], marker] for o in kept]
            plain = (site, marker) in self.facts.plain_callers or not all(calls)
            refused = self.facts.refused_before.get((site, marker), set()).union(*calls)
            if (site, marker) in self.facts.restored or site in self.facts.retagged:
                refused = set()  # a caller puts it right, or gives it other bytes
            open_ = bool(callers) or any(self.final(o) for o in obligations)
            if not open_ and not plain and not refused:
                continue
            first = min(obligations, key=lambda o: (sorted(o.devices), o.insert_after))
            found.append(
                Group(
                    site=site, marker=marker, outcome=outcome, source=source, source_span=first.source_span,
                    source_type=first.source_type, devices=frozenset().union(*(o.devices for o in obligations)),
                    narrowed=any(o.narrowed for o in obligations), part=any(o.part for o in obligations),
                    insert_after=max(o.insert_after for o in obligations), foreign=first.foreign, callers=callers,
                    carried_elsewhere=(site.function, source, marker) in carried,
                    plain=plain and not open_,
                    refused=() if open_ or plain else tuple(sorted(refused)),
                    never_met=tuple(sorted(self.facts.never_met.get((site, marker), ()))),
                    passed_on=tuple(sorted((o for o in end.inner if len(o.via) == 1), key=_order)) if plain else (),
                )
            )  # fmt: skip
        return sorted(found, key=lambda g: (g.site.path, g.site.span.begin, g.marker, g.outcome, g.source))

    def _ends(self, through: Iterable[Obligation]) -> _Ends:
        ends = _Ends()
        for obligation in through:
            kept_out = self.is_kept_out(obligation)
            if kept_out:
                ends.kept_out.append(obligation)
            (ends.final if self.final(obligation, kept_out) else ends.inner).append(obligation)
        ends.final.sort(key=_order)
        return ends

    @functools.cached_property
    def _runs_on(self) -> dict[ir.Sym, frozenset[str]]:
        """The devices of functions that nothing but kernels calls, directly or not: those of these kernels."""
        known = dict(self.kernels)
        callers = {sym: set(found) for sym, found in self.facts.callers.items()}
        for function in (each.head for each in self.program.bodies()):
            if function.parent:  # a lambda runs where it is written
                callers[function.sym] = callers.get(function.sym, set()) | {function.parent}
        ahead = {sym for sym in callers if sym not in known}
        while True:  # the largest set that is called from within itself and from kernels only
            outside = {s for s in ahead if any(c not in ahead and c not in known for c in callers[s])}
            if not outside:
                break
            ahead -= outside
        changed = True
        while changed:
            changed = False
            for sym in sorted(ahead):
                found = frozenset().union(*(known.get(c, frozenset()) for c in callers[sym]))
                if found != known.get(sym, frozenset()):
                    known[sym] = found
                    changed = True
        return known

    def runs_on(self, function: ir.Sym) -> frozenset[str]:
        """The devices that `function` is a kernel of, or a part of a kernel; empty where that cannot be told."""
        return self._runs_on.get(function, frozenset())

    def final(self, obligation: Obligation, kept_out: bool | None = None) -> bool:
        """Nobody further out can discharge it: no caller is known, or a table of kernels calls it too."""
        if not obligation.pending or len(obligation.via) >= MAX_VIA:
            return True
        if self.is_kept_out(obligation) if kept_out is None else kept_out:
            return False
        return self._is_outermost(obligation.function)

    @functools.cached_property
    def _is_outermost(self) -> Callable[[ir.Sym], bool]:
        """Is no caller of a function known, or does a table of kernels call it too?"""
        callers = self.facts.callers

        @functools.cache
        def is_outermost(function: ir.Sym) -> bool:
            around = self.written_in(function)
            return around in self.registered or not (callers.get(function) or callers.get(around))

        return is_outermost

    def written_in(self, function: ir.Sym) -> ir.Sym:
        """The function that a lambda is written in, itself for any other."""
        while (lowered := self.program.head(function)) is not None and lowered.parent:
            function = lowered.parent
        return function

    def is_kept_out(self, obligation: Obligation) -> bool:
        """Whoever dispatches to this kernel passes nothing marked."""
        return (obligation.function, obligation.source[0], obligation.marker) in self.kept_out

    def is_tested(self, group: Group) -> bool:
        """Does the function test this marker of this source anywhere?"""
        return (group.source, group.marker) in self.facts.tests.get(group.site.function, ())

    def is_resolved(self, group: Group) -> bool:
        """Does the function branch on this marker of this source, with work under the branch?"""
        return (group.source, group.marker) in self.facts.resolves.get(group.site.function, ())

    def function_name(self, sym: ir.Sym) -> str:
        """The qualified name of a function."""
        function = self.program.head(sym)
        return function.name if function is not None else sym

    def honours(self, marker: str) -> frozenset[str]:
        """Devices of this tree with a kernel that honours `marker`."""
        return (
            self.honoured(marker) & frozenset(self.program.devices)
            if self.program.devices
            else self.honoured(marker)
        )

    def draft(self, rule: str, group: Group, message: str, **more: object) -> Draft:
        """A draft about a group."""
        if group.refused:
            path, line = group.refused[0]
            more["latent"] = f"every caller refuses it first, as before the call in {path}:{line}"
            more["verdict"] = Verdict.LOUD
        elif group.plain and not more.get("latent"):
            more["latent"] = NEVER_MARKED
        return Draft(
            rule=rule, site=group.site, marker=group.marker, devices=group.devices, source=group.source,
            message=message,
            source_span=group.source_span, source_type=group.source_type, witness=group.witness(self.program),
            part=group.part or group.outcome in ("part", "rows"), narrowed=group.narrowed,
            has_marker=group.outcome != "missing", insert_after=group.insert_after,
            outermost=tuple((o.function, o.source, o.via[-1][2].line) for o in group.callers),
            **more,  # type: ignore[arg-type]
        )  # fmt: skip

    def name_of(self, source: Path) -> str:
        """A source path in words: the names without their symbols."""
        root = "(temporary)" if _MADE_UP.match(source[0]) else source[0].rpartition(":")[2] or source[0]
        words = [root, *source[1:]]
        return ".".join(words).replace(".[", "[")


def _order(obligation: Obligation) -> tuple[object, Path]:
    return obligation.order, obligation.source


def declared_devices(markers: Iterable[Marker], program: Program) -> Callable[[str], frozenset[str]]:
    """The declared devices of each marker in the tree's own names (`cuda` is `gpu` where the tree says so)."""
    table: dict[str, frozenset[str]] = {}
    known = frozenset(program.devices)
    for marker in markers:
        names = set()
        for device in marker.devices:
            if device in known or not known:
                names.add(device)
            elif device == "cuda" and "gpu" in known:
                names.add("gpu")
            elif device == "cpu" and "host" in known:
                names.add("host")
        table[marker.name] = frozenset(names)
    return lambda name: table.get(name, frozenset())


def constructions(analysis: Analysis) -> Iterator[Group]:
    """Groups where a carrier is made (not where bytes are read or moved)."""
    for group in analysis.groups:
        if not group.is_read:
            yield group
