"""What the interpreter keeps: summaries of functions for their callers, and the facts for the rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from analyzer import ir
from analyzer.domain import Obj, Obligation, Path, Ptr, Site, Value
from analyzer.formula import Atom

MAX_CASES = 16
"""Cases of a function that are kept apart."""
MAX_VIA = 4
"""Calls an obligation is passed on through before it counts as nobody's."""


class Dead(Exception):  # noqa: N818 - the end of a path, no error
    """The path being run cannot go on: it throws, returns to nobody or contradicts itself."""


class Case(msgspec.Struct, frozen=True, gc=False):
    """One way a function can return: what its callers may assume, its value, and what it did to its parameters."""

    known: tuple[tuple[Atom, bool], ...]
    devices: frozenset[str]
    value: Value
    objects: tuple[tuple[Path, Obj], ...] = ()
    content: tuple[tuple[Path, Ptr], ...] = ()


class Summary(msgspec.Struct, frozen=True, gc=False):
    """What callers need to know of a function. `reads` / `writes`: paths of byte pointers it dereferences."""

    cases: tuple[Case, ...] = ()
    opens: tuple[Obligation, ...] = ()
    reads: frozenset[Path] = frozenset()
    writes: frozenset[Path] = frozenset()
    known_body: bool = True


class MarkerWrite(msgspec.Struct, frozen=True, gc=False):
    """A store of a marker field: `value` is `true`, `false`, `copy` or `other`."""

    function: ir.Sym
    path: str
    span: ir.Span
    object: Path
    marker: str
    value: str
    carrier: str
    local: bool = False
    guards: frozenset[Atom] = frozenset()


class BytesWrite(msgspec.Struct, frozen=True, gc=False):
    """Bytes of the carrier at `object` are written: `replace` (new content for all of them), `rewrite` (in place,
    by a callee), `store` (some of them). `origins`: carriers that the new content came from."""

    site: Site
    object: Path
    carrier: str
    kind: str
    origins: frozenset[Path]
    devices: frozenset[str]
    known: tuple[tuple[str, bool], ...]
    local: bool
    callee: str = ""


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """A call through a pointer. `never`: arguments (position, marker) that are not marked on any path to it;
    `refused`: those of them that a test keeps out; `passes`: those that are parameters of the calling function as they
    came (position, symbol)."""

    never: frozenset[tuple[int, str]]
    refused: frozenset[tuple[int, str]]
    passes: frozenset[tuple[int, ir.Sym]]


@dataclass
class Facts:
    """Everything the interpreter saw, over all functions. `plain_callers`: losses that a caller does not meet, since
    what it passes is never marked; `restored`: those that a caller puts right; `refused_before`: those that a caller
    refuses first, with the calls (path, line); `never_met`: those behind a dtype test of a caller that no producer's
    weight passes, likewise; `dispatched`: calls through pointers, by function and begin; `answers`: whether a
    predicate (function) can say yes of a parameter with a marker, and where it would; `demands`: what a marker of
    something has to be behind a check of the function, and where that is."""

    obligations: dict[tuple[object, ...], Obligation] = field(default_factory=dict)
    callers: dict[ir.Sym, set[ir.Sym]] = field(default_factory=dict)
    marker_writes: set[MarkerWrite] = field(default_factory=set)
    byte_writes: dict[tuple[object, ...], BytesWrite] = field(default_factory=dict)
    tests: dict[ir.Sym, set[tuple[Path, str]]] = field(default_factory=dict)
    resolves: dict[ir.Sym, set[tuple[Path, str]]] = field(default_factory=dict)
    plain_callers: set[tuple[Site, str]] = field(default_factory=set)
    restored: set[tuple[Site, str]] = field(default_factory=set)
    refused_before: dict[tuple[Site, str], set[tuple[str, int]]] = field(default_factory=dict)
    never_met: dict[tuple[Site, str], set[tuple[str, int]]] = field(default_factory=dict)
    carried_by_call: set[tuple[ir.Sym, Path, str]] = field(default_factory=set)
    retagged: set[Site] = field(default_factory=set)
    cached_views: set[tuple[Site, str, Path]] = field(default_factory=set)
    gave_up: dict[ir.Sym, str] = field(default_factory=dict)
    dispatched: dict[tuple[ir.Sym, int], Dispatch] = field(default_factory=dict)
    answers: set[tuple[ir.Sym, Path, str, bool, ir.Span]] = field(default_factory=set)
    demands: set[tuple[ir.Sym, Path, str, bool, ir.Span]] = field(default_factory=set)

    def add(self, other: Facts) -> None:
        """Take over what was seen elsewhere: in another function, so no key means something else here."""
        self.obligations.update(other.obligations)
        self.byte_writes.update(other.byte_writes)
        for sym, callers in other.callers.items():
            self.callers.setdefault(sym, set()).update(callers)
        for sym, tested in other.tests.items():
            self.tests.setdefault(sym, set()).update(tested)
        for sym, resolved in other.resolves.items():
            self.resolves.setdefault(sym, set()).update(resolved)
        for loss, calls in other.refused_before.items():
            self.refused_before.setdefault(loss, set()).update(calls)
        for loss, calls in other.never_met.items():
            self.never_met.setdefault(loss, set()).update(calls)
        self.marker_writes |= other.marker_writes
        self.plain_callers |= other.plain_callers
        self.carried_by_call |= other.carried_by_call
        self.retagged |= other.retagged
        self.restored |= other.restored
        self.cached_views |= other.cached_views
        self.gave_up |= other.gave_up
        self.dispatched |= other.dispatched
        self.answers |= other.answers
        self.demands |= other.demands


def merge(a: Summary, b: Summary) -> Summary:
    """What callers of either may meet."""
    return Summary(
        tuple(dict.fromkeys(a.cases + b.cases))[:MAX_CASES],
        ordered((*a.opens, *b.opens)),
        a.reads | b.reads,
        a.writes | b.writes,
    )


def ordered(opens: Iterable[Obligation]) -> tuple[Obligation, ...]:
    """Each once, in an order that does not depend on the run."""
    unique = dict.fromkeys(opens)
    return tuple(sorted(unique, key=lambda o: (o.site.path, o.site.span.begin, o.marker, o.order, o.source)))


def few(cases: list[Case]) -> tuple[Case, ...]:
    """Cases that callers cannot tell apart become one: what either leaves open stays open."""
    distinct: dict[object, Case] = {}
    for case in cases:
        value = case.value
        shape: object = (
            (value.carrier, value.markers, value.device, value.reshaped) if isinstance(value, Obj) else value
        )
        key = (shape, case.objects, case.devices, frozenset(k for k in case.known if k[0][0] == "m"))
        first = distinct.get(key)
        distinct[key] = case if first is None else _joined(first, case)
    return tuple(distinct.values())[:MAX_CASES]


def _joined(a: Case, b: Case) -> Case:
    known = tuple(k for k in a.known if k in b.known)
    content = dict(a.content)
    for path, held in b.content:
        content[path] = held.join(content.get(path, Ptr()))
    value = a.value
    if isinstance(value, Obj) and isinstance(b.value, Obj):
        value = replace(value, storage=value.storage.join(b.value.storage), open=value.open | b.value.open)
    return Case(known, a.devices, value, a.objects, tuple(sorted(content.items())))
