"""Results of the interpreter kept between runs, so that only what an edit can reach is run again.

A function's result depends on its own facts, on those of everything it can call, and on the carriers and markers of
the tree; its key is a digest of all of that (functions that call each other in a circle share one). A result under
the same key is the result, whichever run or machine made it. The file holds nothing that is run: records are read by
an unpickler that makes the interpreter's own value types and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import pickle
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from analyzer import domain, ir, summary
from analyzer.cache import code_digest, read_sealed, write_sealed
from analyzer.copies import beside
from analyzer.faces import Face, face
from analyzer.markers import Marker
from analyzer.produced import Made
from analyzer.program import Program, Reader, Variant
from analyzer.summary import Facts, Summary
from analyzer.walk import literal

_MAGIC = b"vt-lint summaries 1\n"
_MAX_BYTES = 64 << 20
"""Results of earlier states, and of other trees, are kept up to this size: a run has all of them in memory."""
_MANY = 500
"""Faces that take longer to make than a process to start."""
_VALUES = {
    (kind.__module__, kind.__qualname__): kind
    for kind in (
        ir.Span, domain.Origin, domain.Ptr, domain.Site, domain.Open, domain.Obj, domain.Ref, domain.Bool,
        domain.Closure, domain.Dev, domain.Many, domain.Obligation, summary.Case, summary.Summary,
        summary.MarkerWrite, summary.BytesWrite, summary.Dispatch, summary.Facts, frozenset, set,
    )
}  # fmt: skip


_encoder = msgspec.msgpack.Encoder(order="deterministic")


@dataclass
class Result:
    """What running one function gave: its summary and those of the lambdas in it, facts for the rules, and whose
    summaries it asked for."""

    summaries: dict[ir.Sym, Summary] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    asked: set[ir.Sym] = field(default_factory=set)


class _File(msgspec.Struct, array_like=True):
    """`results`: first the `used` ones of the run that wrote it. `decoded`: functions that it looked into."""

    version: str = ""
    faces: dict[bytes, Face] = {}
    results: dict[bytes, bytes] = {}
    used: int = 0
    decoded: list[bytes] = []


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        kind = _VALUES.get((module, name))
        if kind is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no value of the interpreter")
        return kind


class Memo:
    """Kept results. `path`: the file; None: nothing is kept. A damaged file, or one of another version
    of the analyser, is as good as none."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._file = _read(path) if path is not None else _File()
        self._used: dict[bytes, bytes] = {}
        self._read: dict[bytes, Result] = {}
        self._faces: dict[bytes, Face] = {}
        self._program: Program | None = None
        self._of: dict[ir.Sym, tuple[Face, ...]] = {}
        self._changed = False

    def result(self, key: bytes) -> Result | None:
        """Return what is kept under `key`."""
        data = self._used.get(key) or self._file.results.get(key)
        if data is None:
            return None
        made = self._read.pop(key, None) or _decoded(data)
        if made is not None:
            self._used[key] = data
        return made

    def read_ahead(self, reader: Reader) -> Iterator[None]:
        """Decode what the run that wrote the file used, one result after the other, and then the functions that it
        looked into, if `reader` has read them: this one will ask for most."""
        for key in itertools.islice(self._file.results, self._file.used):
            made = _decoded(self._file.results[key])
            if made is not None:
                self._read[key] = made
            yield
        for digest in self._file.decoded:
            reader.decode(digest)
            yield

    def forget_all_but(self, keys: Container[bytes]) -> None:
        """Drop what was decoded ahead under other keys: nobody will ask for it."""
        self._read = {key: result for key, result in self._read.items() if key in keys}

    def keep(self, key: bytes, result: Result) -> bytes:
        """Keep `result` under `key`; return it as it is kept."""
        data = pickle.dumps((result.summaries, result.facts, result.asked), protocol=5)
        self.adopt(key, data)
        return data

    def has(self, key: bytes) -> bool:
        """Is there something under `key`?"""
        return key in self._used or key in self._file.results

    def adopt(self, key: bytes, kept: bytes) -> None:
        """Keep what another process kept."""
        self._used[key] = kept
        self._changed = True

    def faces(self, program: Program) -> Mapping[ir.Sym, tuple[Face, ...]]:
        """Return the faces of every function that has a body, one for each form, and under `sym=` those of the
        initialisers of globals; made now where there are none."""
        if self._program is not program:
            about = _about(program)
            self._program, self._of = program, {}
            for sym, variants in program.heads.items():
                made = tuple(self._face(v.digest + about, v, program) for v in variants if v.has_body)
                if made:
                    self._of[sym] = made
            for value in program.values():
                self._of[value.head.sym] = (self._face(value.digest + about, value, program),)
        return self._of

    def _face(self, key: bytes, variant: Variant, program: Program) -> Face:
        found = self._file.faces.get(key)
        if found is None:
            found = self._file.faces[key] = face(variant.read(), program)
            self._changed = True
        self._faces[key] = found
        return found

    def make_faces(self, program: Program, jobs: int | None) -> None:
        """Make the faces of `program` that are missing, in more than one process if they are many."""
        about = _about(program)
        missing = [v for v in program.bodies() if v.digest + about not in self._file.faces]
        if len(missing) < _MANY:
            return
        half = missing[::2]

        def faces_of_half() -> bytes:
            return msgspec.msgpack.encode([face(each.read(), program) for each in half])

        with beside(faces_of_half, jobs) as join:
            for each in missing[1::2]:
                self._face(each.digest + about, each, program)
            made = msgspec.msgpack.decode(join(), type=list[Face])
        for each, its in zip(half, made, strict=True):
            self._file.faces[each.digest + about] = its

    def save(self) -> None:
        """Write what this run used, and, while there is room, what earlier states of the tree did. A folder that
        cannot be written to costs time, not the result."""
        if self._path is None or not self._changed:
            return
        room = _MAX_BYTES - sum(map(len, self._used.values()))
        kept = dict(self._used)
        for key, data in self._file.results.items():
            room -= 0 if key in kept else len(data)
            if room < 0:
                break
            kept.setdefault(key, data)
        every = self._program.heads.values() if self._program is not None else ()
        decoded = [each.digest for variants in every for each in variants if each.is_decoded]
        payload = msgspec.msgpack.encode(_File(_version(), self._faces, kept, len(self._used), decoded))
        with contextlib.suppress(OSError):
            write_sealed(self._path, _MAGIC, payload)


def memo_file(folder: Path) -> Path:
    """Return where results are kept below the cache folder: those of all trees, copies of one tree share theirs."""
    return folder / "summaries.memo"


def _read(path: Path) -> _File:
    payload = read_sealed(path, _MAGIC)
    if payload is None:
        return _File()
    try:
        found = msgspec.msgpack.decode(payload, type=_File)
    except msgspec.DecodeError:
        return _File()
    return found if found.version == _version() else _File()


def _decoded(data: bytes) -> Result | None:
    try:
        return Result(*_Unpickler(io.BytesIO(data)).load())
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError):
        return None


def _version() -> str:
    """What the results depend on besides their keys."""
    return code_digest("analyzer")


# ---------------------------------------------------------------------------------------------------------- keys


@dataclass(frozen=True)
class Unit:
    """Functions that are run together: one, or a circle of calls. `members` are sorted."""

    key: bytes
    members: tuple[ir.Sym, ...]


@dataclass(frozen=True)
class Keys:
    """The units of a program by function, the functions that handle a carrier, the storage fields that functions fill
    with their carrier's own bytes, and with others, and what they are like where their markers are set."""

    units: Mapping[ir.Sym, Unit]
    handling: frozenset[ir.Sym]
    own: frozenset[tuple[str, str]]
    fresh: frozenset[tuple[str, str]]
    produced: frozenset[Made]


def keys(program: Program, markers: Mapping[str, Marker], memo: Memo) -> Keys:
    """Return the key of every function of `program`."""
    own: set[tuple[str, str]] = set()
    fresh: set[tuple[str, str]] = set()
    weights: set[Made] = set()
    handling: set[ir.Sym] = set()
    digests: dict[ir.Sym, bytes] = {}
    calls: dict[ir.Sym, list[ir.Sym]] = {}
    faces = memo.faces(program)
    for sym, variants in program.heads.items():
        parts = [variant.digest for variant in variants]
        called: dict[ir.Sym, None] = {}
        for own_face in faces.get(sym, ()):
            own.update(own_face.own)
            fresh.update(own_face.fresh)
            weights.update(own_face.produced)
            if own_face.handles:
                handling.add(sym)
            for name in own_face.globals:
                known = program.globals.get(name)
                if known is not None:
                    parts.append(_encoder.encode((name, known.type, literal(known.init))))
            for callee in own_face.calls:
                called[callee] = None
                overriders = program.overriders.get(callee, ())
                called.update(dict.fromkeys(overriders))
                parts.extend(o.encode() for o in overriders)
        digests[sym] = b"\0".join(parts)
        calls[sym] = [c for c in called if c in program.heads]
    environment = hashlib.blake2b(
        _encoder.encode(
            (
                _version(),
                _carriers(program),
                sorted(markers.items()),
                program.markers,
                sorted(program.device_enums.items()),
                sorted((name, e.enumerators) for name, e in program.enums.items()),
                sorted(own),
                sorted(fresh),
                sorted(weights, key=repr),
            )
        ),
        digest_size=32,
    ).digest()
    units: dict[ir.Sym, Unit] = {}
    for circle in _circles(calls):
        members = tuple(sorted(circle))
        made = hashlib.blake2b(environment, digest_size=20)
        for member in members:
            made.update(member.encode() + b"\0" + digests[member])
        outside = {units[c].key for m in members for c in calls[m] if c not in circle}
        for key in sorted(outside):
            made.update(key)
        unit = Unit(made.digest(), members)
        for member in members:
            units[member] = unit
    return Keys(units, frozenset(handling), frozenset(own), frozenset(fresh), frozenset(weights))


def _about(program: Program) -> bytes:
    """A digest of what faces depend on besides their functions."""
    return hashlib.blake2b(_encoder.encode((program.markers, _carriers(program))), digest_size=16).digest()


def _carriers(program: Program) -> list[object]:
    """What results depend on of the carriers."""
    return [
        (c.name, c.markers, c.storage, c.view, c.inner, [(m.name, m.type) for m in c.members])
        for _, c in sorted(program.carriers.items())
    ]


def _circles(calls: Mapping[ir.Sym, Iterable[ir.Sym]]) -> Iterator[set[ir.Sym]]:
    """The strongly connected components, callees first (Tarjan 1972, without recursion)."""
    index: dict[ir.Sym, int] = {}
    low: dict[ir.Sym, int] = {}
    stack: list[ir.Sym] = []
    on_stack: set[ir.Sym] = set()
    for root in calls:
        if root in index:
            continue
        work: list[tuple[ir.Sym, Iterator[ir.Sym]]] = []

        def enter(sym: ir.Sym, work: list[tuple[ir.Sym, Iterator[ir.Sym]]] = work) -> None:
            index[sym] = low[sym] = len(index)
            stack.append(sym)
            on_stack.add(sym)
            work.append((sym, iter(calls[sym])))

        enter(root)
        while work:
            sym, rest = work[-1]
            for callee in rest:
                if callee not in index:
                    enter(callee)
                    break
                if callee in on_stack:
                    low[sym] = min(low[sym], index[callee])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[sym])
                if low[sym] == index[sym]:
                    circle: set[ir.Sym] = set()
                    while sym not in circle:
                        member = stack.pop()
                        on_stack.discard(member)
                        circle.add(member)
                    yield circle
