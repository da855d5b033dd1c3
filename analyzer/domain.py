"""Values and states of the abstract interpreter, and what it reports.

A *path* names an lvalue: the symbol of a variable (`this` for the object of a method) and the members and index
keys that follow it. Pointers and smart pointers are named like what they point to.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from analyzer.formula import Atom, Formula
from analyzer.ir import Span, Sym

Path: TypeAlias = tuple[str, ...]

Via: TypeAlias = "tuple[Sym, str, Span, Path]"
"""A call an obligation came through: the calling function, its file, the call, and the source as it names it."""

WHOLE = ""
PART = "part"


class Origin(msgspec.Struct, frozen=True, gc=False, eq=False):
    """Storage of the carrier at `path`: all of it or a part. `span` is where the code names that carrier. `never`:
    markers that the bytes cannot have here, by a dtype test on the way. `steps`: keys of the numbers that the part's
    offset is a multiple of."""

    path: Path
    carrier: str
    part: str = WHOLE
    never: frozenset[str] = frozenset()
    steps: frozenset[object] = frozenset()
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is Origin and (
            (self.path, self.carrier, self.part, self.never, self.steps)
            == (other.path, other.carrier, other.part, other.never, other.steps)
        )

    def __hash__(self) -> int:
        return hash((self.path, self.carrier, self.part, self.never, self.steps))

    @property
    def order(self) -> tuple[Path, str, list[str]]:
        """A key to sort by."""
        return self.path, self.part, sorted(self.never)


class Ptr(msgspec.Struct, frozen=True, gc=False):
    """A pointer to, or an object that owns or borrows, bytes. `buffers` are storages that are no carrier's."""

    origins: frozenset[Origin] = frozenset()
    buffers: frozenset[tuple[Path, str]] = frozenset()

    def cut(self, steps: frozenset[object] = frozenset()) -> Ptr:
        """The same bytes from an offset that is a multiple of each of `steps`."""
        return Ptr(
            frozenset(
                replace(o, part=PART, steps=o.steps & steps if o.part else steps) for o in self.origins
            ),
            frozenset((b, PART) for b, _ in self.buffers),
        )

    def join(self, other: Ptr) -> Ptr:
        """Either of the two."""
        return Ptr(self.origins | other.origins, self.buffers | other.buffers)


class Site(msgspec.Struct, frozen=True, gc=False, eq=False):
    """Where a carrier is made, or bytes are read or written. Spans are byte ranges in the file of `function`.

    `form`: `factory`, `fields`, `borrow`, `copy`, `slice`, `reshape`, `aggregate`, `retag`, `read`, `write`."""

    function: Sym
    path: str
    span: Span
    form: str
    statement: Span
    statement_kind: str = "expression"
    braceless: bool = False
    dest: str = ""
    dest_type: str = ""
    callee: str = ""
    in_lambda: bool = False
    conditional: bool = False
    callee_sym: str = ""

    def __eq__(self, other: object) -> bool:
        return self is other or type(other) is Site and self._compared == other._compared

    def __hash__(self) -> int:
        # A part of what is compared: it is often asked.
        return hash((self.span.begin, self.path, self.form, self.dest))

    @property
    def _compared(self) -> tuple[object, ...]:
        return (
            self.span, self.form, self.path, self.function, self.statement, self.statement_kind, self.braceless,
            self.dest, self.dest_type, self.callee, self.in_lambda, self.conditional,
        )  # fmt: skip


class Open(msgspec.Struct, frozen=True, gc=False, eq=False):
    """An obligation that a callee left to its callers: `site` dropped `marker` of the carrier at `source`."""

    site: Site
    marker: str
    source: Path
    devices: frozenset[str] = frozenset()
    via: tuple[Via, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is Open and (
            (self.site, self.marker, self.source, self.via)
            == (other.site, other.marker, other.source, other.via)
        )

    def __hash__(self) -> int:
        return hash((self.site, self.marker, self.source, self.via))


class Obj(msgspec.Struct, frozen=True, dict=True):
    """The state of one carrier: the bytes it views, and a formula for each of its markers. `rows`: the key of the
    number that its first dimension was given."""

    carrier: str
    storage: Ptr = Ptr()
    markers: tuple[tuple[str, Formula], ...] = ()
    site: Site | None = None
    open: frozenset[Open] = frozenset()
    device: frozenset[str] | None = None
    whole_copy: Path | None = None
    reshaped: bool = False
    filled: bool = False
    done: bool = False
    last_store: int = 0
    filled_by: tuple[str, ...] = ()
    rows: object = None

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(
                (self.carrier, self.storage, self.markers, self.site, self.open, self.device, self.done)
            )
            self.__dict__["_hash"] = known
        return known

    def marker(self, name: str) -> Formula | None:
        """The formula of marker `name`, None where the carrier has no such field."""
        for known, value in self.markers:
            if known == name:
                return value
        return None

    def with_marker(self, name: str, value: Formula) -> Obj:
        """The same carrier with marker `name` set."""
        return replace(self, markers=tuple((k, value if k == name else v) for k, v in self.markers))


class Ref(msgspec.Struct, frozen=True, gc=False, eq=False):
    """An lvalue (or a pointer to one) of class type."""

    path: Path
    type: str = ""
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is Ref and (self.path, self.type) == (other.path, other.type)

    def __hash__(self) -> int:
        return hash((self.path, self.type))


class Bool(msgspec.Struct, frozen=True, gc=False):
    """A boolean value."""

    formula: Formula


class Closure(msgspec.Struct, frozen=True, gc=False):
    """A lambda: the summary of its body in the state where it was written."""

    sym: Sym
    run: int = 0


class Dev(msgspec.Struct, frozen=True, gc=False):
    """A device value known to be one of `names`."""

    names: frozenset[str]


class Many(msgspec.Struct, frozen=True, gc=False):
    """A braced list of values."""

    items: tuple[Value, ...]


Value: TypeAlias = Ptr | Obj | Ref | Bool | Closure | Dev | Many | None


class State:
    """One path's knowledge: local carriers, aliases and booleans, buffer contents, tested conditions, devices.
    `device_of`: the variable whose device was tested; `resolved`: markers that a branch with work under it takes care
    of; `dispatched`: those that are false here since such a branch takes the marked ones."""

    __slots__ = (
        "content", "device_of", "devices", "dispatched", "known", "narrowed", "objects", "resolved", "variables",
        "written",
    )  # fmt: skip

    def __init__(self, devices: frozenset[str]) -> None:
        self.objects: dict[Path, Obj] = {}
        self.variables: dict[Sym, Value] = {}
        self.content: dict[Path, Ptr] = {}
        self.known: dict[Atom, bool] = {}
        self.devices = devices
        self.narrowed = False
        self.device_of = ""
        self.resolved: frozenset[tuple[Path, str]] = frozenset()
        self.dispatched: frozenset[tuple[Path, str]] = frozenset()
        self.written: frozenset[tuple[Path, int]] = frozenset()

    def same(self, other: State) -> bool:
        """Do both know the same of carriers, aliases, buffers and devices?"""
        return (
            self.devices == other.devices
            and self.written == other.written
            and self.variables == other.variables
            and self.objects == other.objects
            and self.content == other.content
        )

    def copy(self) -> State:
        """An independent copy."""
        other = State(self.devices)
        other.objects = dict(self.objects)
        other.variables = dict(self.variables)
        other.content = dict(self.content)
        other.known = dict(self.known)
        other.narrowed = self.narrowed
        other.device_of = self.device_of
        other.resolved = self.resolved
        other.dispatched = self.dispatched
        other.written = self.written
        return other


class Obligation(msgspec.Struct, frozen=True, gc=False):
    """What one path does with one marker at one site.

    `outcome`: `carried`, `refused`, `impossible`, `resolved`, `dropped`, `part` (kept on a part or a reshaped
    carrier), `rows` (kept on a part that begins at a multiple of its own number of rows), `foreign` (the marker of
    another object), `literal` (a constant true), `missing` (the sink has no such field). `pending`: the source is the
    callers' to check. `tested`: the function tests this marker of this source somewhere. `via`: call sites that the
    obligation came through, innermost first."""

    site: Site
    marker: str
    source: Path
    source_span: Span | None
    source_type: str
    devices: frozenset[str]
    narrowed: bool
    outcome: str
    part: bool = False
    pending: bool = False
    tested: bool = False
    function: Sym = ""
    via: tuple[Via, ...] = ()
    insert_after: int = 0
    foreign: str = ""

    @property
    def order(self) -> tuple[tuple[str, int], ...]:
        """A key to sort by the calls it came through."""
        return tuple((sym, span.begin) for sym, _, span, _ in self.via)
