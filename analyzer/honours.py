"""The honours matrix: which kernels read a marker on which operand, refuse it, or read the operand as plain.

A kernel is a function registered for an operator and a device, or one in a device source file that takes a
view. An operand is followed from the kernel through whole-object copies and into callees; what counts is
what happens to its marker on the way: a branch that goes on with the marker set *honours* it, a branch
that throws or returns failure *refuses* it, and bytes read with no test at all *ignore* it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from analyzer import ir
from analyzer.dtypes import speaks_of
from analyzer.events import leaves
from analyzer.flow import Flow
from analyzer.gates import Frame
from analyzer.keys import is_multiple
from analyzer.links import Node
from analyzer.markers import Marker
from analyzer.program import Carrier, Head, device_name, is_test_path
from analyzer.valueflow import BYTES, FLAG
from analyzer.walk import literal, walk

HONOURS, REFUSES, IGNORES, NOT_APPLICABLE = "honours", "refuses", "ignores", "n/a"

_SOURCE_DEVICE = {".cu": "cuda", ".cuh": "cuda", ".hip": "rocm", ".mm": "metal"}
_MAX_VISITED = 400


@dataclass(frozen=True)
class Cell:
    """What one kernel does with one marker of one operand, and where that was read."""

    marker: str
    device: str
    operator: str
    function: str
    symbol: ir.Sym
    path: str
    line: int
    operand: str
    outcome: str
    read_at: tuple[str, int]
    note: str = ""
    whole_groups: bool = False
    """It refuses a number of rows that is no multiple of the marker's row group."""


@dataclass(frozen=True)
class Matrix:
    """All cells, and which markers have a kernel."""

    cells: tuple[Cell, ...]

    def devices(self, marker: str) -> frozenset[str]:
        """The devices with at least one kernel that honours `marker`."""
        return frozenset(
            c.device for c in self.cells if c.marker == marker and c.outcome == HONOURS and c.device
        )

    def whole_groups(self, marker: str) -> frozenset[str]:
        """The devices where every kernel that honours `marker` refuses a part of a row group."""
        honouring = [c for c in self.cells if c.marker == marker and c.outcome == HONOURS]
        return self.devices(marker) - {c.device for c in honouring if not c.whole_groups}

    def of(self, marker: str, device: str = "") -> tuple[Cell, ...]:
        """The cells of `marker` (on `device`)."""
        return tuple(c for c in self.cells if c.marker == marker and (not device or c.device == device))


@dataclass(frozen=True)
class _Read:
    """One read of a marker in one function: how it is used."""

    node: Node
    marker: str
    refuses: bool
    copies: bool
    line: int


@dataclass(frozen=True)
class Operand:
    """One operand of a kernel, at `node`: its cells, by any of `markers`. `slot`: what tells it from other operands of
    its operator. `tested`: it can come to a test of a marker that something depends on."""

    slot: tuple[str, int | Node]
    node: Node
    markers: tuple[str, ...]
    cells: tuple[Cell, ...]
    tested: bool


def honours(flow: Flow, markers: Iterable[Marker] = ()) -> Matrix:
    """Return the matrix of the tree behind `flow`. `markers`: their `dtypes` rule kernels of other dtypes
    out."""
    return matrix(flow, operands(flow, markers))


def operands(flow: Flow, markers: Iterable[Marker] = ()) -> tuple[Operand, ...]:
    """Return what can be in the matrix. No weight has to be followed for that: see `honours` for `markers`."""
    return tuple(_Reader(flow, {m.name: m for m in markers}).operands())


def matrix(flow: Flow, found: Iterable[Operand]) -> Matrix:
    """Return the matrix of those operands that are weights. Of most kernels no operand is one: an activation is never
    marked."""
    found = tuple(found)
    weights = {
        each.slot
        for each in found
        if each.tested or any(any(flow.state(each.node, marker)) for marker in each.markers)
    }
    kept = {cell for each in found if each.slot in weights for cell in each.cells}
    return Matrix(
        tuple(sorted(kept, key=lambda c: (c.marker, c.device, c.operator, c.path, c.line, c.operand)))
    )


class _Reader:
    def __init__(self, flow: Flow, markers: dict[str, Marker]) -> None:
        self.program = flow.program
        self.conditions = flow.conditions
        self.links = flow.links
        self.graph = flow.graph
        self.markers = markers
        self.reads: dict[ir.Sym, list[_Read]] = {}
        self.dtypes: dict[ir.Sym, dict[Node, set[str]]] = {}
        self.at_calls: dict[tuple[ir.Sym, int], tuple[frozenset[str], frozenset[str]]] = {}
        self.devices: dict[ir.Sym, set[str]] = {}
        for entry in self.links.registrations:
            if entry.devices:
                self.devices.setdefault(entry.function, set()).update(entry.devices)

    def operands(self) -> Iterator[Operand]:
        # Which function can come to a test of a marker is cheap to tell.
        testing = self.graph.may_reach(self.links.readers())
        for symbol, device, operator in self.kernels():
            function = self.program.head(symbol)
            if function is None or not self.links.has_body(symbol):
                continue
            for position, parameter in enumerate(function.params):
                carrier = self.program.carrier_of(parameter.type)
                if (
                    carrier is None
                    or not parameter.type.startswith("const ")
                    and parameter.type.endswith(("&", "*"))
                ):
                    continue
                node = self.links.canonical[parameter.sym]
                cells = tuple(self.cells(function, parameter, carrier, device, operator))
                tested = symbol in testing and any(c.outcome in (HONOURS, REFUSES) for c in cells)
                slot = (operator, position if operator else node)
                yield Operand(slot, node, carrier.markers, cells, tested)

    def cells(
        self, function: Head, parameter: ir.Param, carrier: Carrier, device: str, operator: str
    ) -> Iterator[Cell]:
        """The cells of one operand."""
        for marker in carrier.markers:
            cell = self.cell(function, parameter, marker, device, operator)
            if cell is not None:
                yield cell

    def kernels(self) -> Iterator[tuple[ir.Sym, str, str]]:
        """`(function, device, operator)` of every kernel."""
        seen: set[tuple[ir.Sym, str, str]] = set()
        by_file: dict[str, str] = {}
        for entry in self.links.registrations:
            if is_test_path(entry.path):
                continue
            for device in sorted(entry.devices):
                by_file.setdefault(entry.path, device)
                for operator in sorted(entry.operators) or [""]:
                    key = (entry.function, device, operator.rpartition("::")[2])
                    if key not in seen:
                        seen.add(key)
                        yield key
        registered = {symbol for symbol, _, _ in seen}
        for symbol in sorted(self.program.heads):
            function = self.program.head(symbol)
            if function is None or symbol in registered or function.parent or not self.links.has_body(symbol):
                continue
            suffix = function.path[function.path.rfind(".") :]
            if suffix in _SOURCE_DEVICE and not is_test_path(function.path):
                yield symbol, by_file.get(function.path, _SOURCE_DEVICE[suffix]), ""

    def cell(
        self, function: Head, parameter: ir.Param, marker: str, device: str, operator: str
    ) -> Cell | None:
        start = self.links.canonical[parameter.sym]
        outcome, place, line, dtypes, whole_groups = self.follow(start, marker, device)
        if not outcome:
            return None
        declared = self.markers.get(marker)
        note = ""
        if outcome == IGNORES and declared is not None and declared.dtypes:
            let_through, barred = self.dtypes_at_calls(
                function.sym, self.links.positions(function.sym)[parameter.sym]
            )
            dtypes = dtypes or let_through
            if dtypes and not any(speaks_of(dtype, each) for dtype in dtypes for each in declared.dtypes):
                outcome, note = NOT_APPLICABLE, f"its operands are {', '.join(sorted(dtypes))}"
            if barred and all(any(speaks_of(dtype, each) for dtype in barred) for each in declared.dtypes):
                outcome, note = NOT_APPLICABLE, f"its dispatcher keeps out {', '.join(sorted(barred))}"
        return Cell(
            marker,
            device,
            operator,
            function.name,
            function.sym,
            function.path,
            function.span.line,
            parameter.name,
            outcome,
            (place, line),
            note,
            whole_groups,
        )

    def follow(self, start: Node, marker: str, device: str) -> tuple[str, str, int, frozenset[str], bool]:
        """What becomes of the operand at node `start`: outcome (empty: its bytes are never read), place,
        dtypes, and whether parts of a row group are refused."""
        declared = self.markers.get(marker)
        group = declared.row_group if declared is not None else 0
        honoured: tuple[str, int] | None = None
        seen = {start}
        stack = [start]
        read_bytes: tuple[str, int] | None = None
        refused: tuple[str, int] | None = None
        home = self.path_of(self.graph.owner(start))
        dtypes: set[str] = set()
        while stack and len(seen) < _MAX_VISITED:
            node = stack.pop()
            owner = self.graph.owner(node)
            for read in self.reads_in(owner):
                if read.node == node and read.marker == marker and not read.copies:
                    path = self.program.heads[owner][0].head.path
                    if not read.refuses:
                        honoured = honoured or (self.path_of(owner), read.line)
                        if not group or self.refuses_parts(owner, node, group):
                            return HONOURS, *honoured, frozenset(), bool(group)
                    refused = refused or (path, read.line)
            dtypes |= self.dtypes_of(owner, node)
            for use in self.graph.uses(node):
                if use.mode == BYTES:
                    own = use.path == home
                    if read_bytes is None or own and read_bytes[0] != home:
                        read_bytes = (use.path, use.line)
                elif use.mode == FLAG:
                    if use.marker == marker and use.target not in seen:
                        seen.add(use.target)
                        stack.append(use.target)
                elif use.kind == "edge" and not use.target.startswith("#"):
                    if use.target not in seen:
                        seen.add(use.target)
                        stack.append(use.target)
                elif use.kind == "argument" and use.caller is not None:
                    for target in self.links.targets(use.caller.call, use.function):
                        if self.devices.get(target, {device}).isdisjoint({device}):
                            continue  # it hands the work to another device's kernel
                        inner = self.links.parameter_node(target, use.position)
                        if inner is not None and inner not in seen:
                            seen.add(inner)
                            stack.append(inner)
        if honoured is not None:
            return HONOURS, *honoured, frozenset(), False
        if refused is not None:
            return REFUSES, *refused, frozenset(), False
        if read_bytes is not None:
            return IGNORES, *read_bytes, frozenset(dtypes), False
        return "", "", 0, frozenset(), False

    def refuses_parts(self, symbol: ir.Sym, node: Node, group: int) -> bool:
        """Does the function throw on a number of rows of the operand that is no multiple of `group`?"""
        for variant in self.program.variants.get(symbol, ()):
            rows = {s.sym for s in walk(variant.body) if isinstance(s, ir.Var) and self.is_rows(s.init, node)}
            for test in _checked(variant.body):
                for e in walk(test):
                    if not isinstance(e, ir.Binary) or e.op != "%":
                        continue
                    if (
                        self.is_rows(e.a, node) or isinstance(e.a, ir.Name) and e.a.sym in rows
                    ) and self.is_multiple(e.b, group):
                        return True
        return False

    def is_rows(self, e: ir.Expr | None, node: Node) -> bool:
        """`operand.shape[0]`"""
        return (
            isinstance(e, ir.Index)
            and isinstance(e.index, ir.Lit)
            and e.index.value == "0"
            and isinstance(e.base, ir.Field)
            and "shape" in e.base.name
            and self.links.node_key(e.base.base) == node
        )

    def is_multiple(self, e: ir.Expr, group: int) -> bool:
        """A constant that is a multiple of `group`."""
        if isinstance(e, ir.Name) and e.sym in self.program.globals:
            text = literal(self.program.globals[e.sym].init)
        else:
            text = literal(e)
        return is_multiple(text, group)

    def path_of(self, function: ir.Sym) -> str:
        known = self.program.head(function)
        return known.path if known is not None else ""

    # ------------------------------------------------------------------------------------------------ reads

    def reads_in(self, symbol: ir.Sym) -> list[_Read]:
        known = self.reads.get(symbol)
        if known is None:
            known = []
            for variant in self.program.variants[symbol] if self.links.reads_markers(symbol) else ():
                if variant.body is not None:
                    self.scan(variant.body, variant.sym, known)
            self.reads[symbol] = known
        return known

    def scan(self, s: object, function: ir.Sym, out: list[_Read]) -> None:
        if isinstance(s, ir.If):
            self.test(s, function, out)
            self.scan(s.then, function, out)
            self.scan(s.other, function, out)
            self.scan(s.init, function, out)
            return
        if (
            isinstance(s, ir.Assign)
            and isinstance(s.target, ir.Field)
            and s.target.name in self.program.markers
        ):
            for read in self.marker_fields(s.value):
                out.append(
                    _Read(
                        self.links.node_key(read.base),
                        read.name,
                        False,
                        read.name == s.target.name,
                        read.span.line,
                    )
                )
            return
        if isinstance(s, ir.Field) and s.name in self.program.markers and s.owner in self.program.carriers:
            out.append(_Read(self.links.node_key(s.base), s.name, False, False, s.span.line))
            return
        if isinstance(s, ir.Node):
            for name in s.__struct_fields__[1:]:
                value = getattr(s, name)
                if isinstance(value, ir.Node):
                    self.scan(value, function, out)
                elif isinstance(value, tuple):
                    for item in value:
                        if isinstance(item, ir.Node):
                            self.scan(item, function, out)

    def marker_fields(self, e: object) -> Iterator[ir.Field]:
        if isinstance(e, ir.Field) and e.name in self.program.markers and e.owner in self.program.carriers:
            yield e
        elif isinstance(e, ir.Node):
            for name in e.__struct_fields__[1:]:
                value = getattr(e, name)
                for item in value if isinstance(value, tuple) else (value,):
                    if isinstance(item, ir.Node):
                        yield from self.marker_fields(item)

    def test(self, s: ir.If, function: ir.Sym, out: list[_Read]) -> None:
        fields = list(self.marker_fields(s.test))
        if not fields:
            return
        yes, no = self.conditions.truth(s.test, Frame(function))
        for read in fields:
            key = self.links.node_key(read.base)
            gate = ("marker", key, read.name, True)
            fails = any(gate in g for g in yes) and not any(gate in g for g in no) and _fails(s.then)
            fails = (
                fails or any(gate in g for g in no) and not any(gate in g for g in yes) and _fails(s.other)
            )
            out.append(_Read(key, read.name, fails, False, read.span.line))

    # ----------------------------------------------------------------------------------------------- dtypes

    def dtypes_of(self, symbol: ir.Sym, node: Node) -> frozenset[str]:
        """Enumerators that the function compares the operand's dtype with."""
        known = self.dtypes.get(symbol)
        if known is None:
            known = self.dtypes[symbol] = {}
            for variant in self.program.variants.get(symbol, ()):
                for e in walk(variant.body):
                    if isinstance(e, ir.Binary) and e.op in ("==", "!="):
                        for a, b in ((e.a, e.b), (e.b, e.a)):
                            if _is_dtype(a) and isinstance(b, ir.Name) and b.kind == "enum":
                                found = known.setdefault(self.links.node_key(a.base), set())
                                found.add(device_name(b.name))
                    elif isinstance(e, ir.Switch) and _is_dtype(e.x):
                        known.setdefault(self.links.node_key(e.x.base), set()).update(_labels(e))
        return frozenset(known.get(node, ()))

    def dtypes_at_calls(self, symbol: ir.Sym, position: int) -> tuple[frozenset[str], frozenset[str]]:
        """Dtypes that the dispatchers of a kernel have let through when they call it, and those that every one of them
        keeps out."""
        known = self.at_calls.get((symbol, position))
        if known is not None:
            return known
        let_through: set[str] = set()
        every: list[set[str]] = []
        for caller in self.links.callers(symbol):
            argument = caller.argument(position)
            barred: set[str] = set()
            cond = caller.cond if argument is not None else None
            node = self.links.node_key(argument) if argument is not None else ""
            while cond is not None:
                let_through |= self.admitted(cond.test, cond.value, node)
                test, value = cond.test, cond.value
                while isinstance(test, ir.Unary) and test.op == "!":
                    test, value = test.x, not value
                if not value and (
                    isinstance(test, ir.Call) or isinstance(test, ir.Binary) and test.op == "=="
                ):
                    barred |= self.admitted(test, True, node)
                cond = cond.above
            every.append(barred)
        found = frozenset(let_through), frozenset(set.intersection(*every)) if every else frozenset()
        self.at_calls[symbol, position] = found
        return found

    def admitted(self, test: ir.Expr, value: bool, node: Node) -> set[str]:
        """The dtypes of the operand at `node` that `test` being `value` lets through, empty where it says
        nothing."""
        if isinstance(test, ir.Unary) and test.op == "!":
            return self.admitted(test.x, not value, node)
        if isinstance(test, ir.Binary) and test.op == ("&&" if value else "||"):
            return self.admitted(test.a, value, node) | self.admitted(test.b, value, node)
        if isinstance(test, ir.Binary) and test.op == ("==" if value else "!="):
            return self.compared(test, node)
        if isinstance(test, ir.Call) and value and len(test.args) == 1 and self.is_dtype(test.args[0], node):
            found: set[str] = set()
            for target in self.links.targets(test, ""):
                for variant in self.program.variants.get(target, ()):
                    for e in walk(variant.body):
                        if isinstance(e, ir.Switch):
                            found |= _labels(e)
                        elif (
                            isinstance(e, ir.Binary)
                            and e.op == "=="
                            and isinstance(e.b, ir.Name)
                            and e.b.kind == "enum"
                        ):
                            found.add(device_name(e.b.name))
            return found
        return set()

    def compared(self, e: ir.Binary, node: Node) -> set[str]:
        for a, b in ((e.a, e.b), (e.b, e.a)):
            if self.is_dtype(a, node) and isinstance(b, ir.Name) and b.kind == "enum":
                return {device_name(b.name)}
        return set()

    def is_dtype(self, e: ir.Expr, node: Node) -> bool:
        return _is_dtype(e) and self.links.node_key(e.base) == node


def _is_dtype(e: ir.Expr) -> TypeGuard[ir.Field]:
    return isinstance(e, ir.Field) and "type" in e.name


def _labels(switch: ir.Switch) -> set[str]:
    found: set[str] = set()
    for case in walk(switch.body):
        if isinstance(case, ir.Case):
            found |= {device_name(v.name) for v in case.values if isinstance(v, ir.Name)}
    return found


def _checked(body: ir.Stmt | None) -> Iterator[ir.Expr]:
    """The conditions that make a function throw or report failure, and the arguments of statements that are calls:
    a check may be a function."""
    for s in walk(body):
        if isinstance(s, ir.If) and (_fails(s.then) or _fails(s.other)):
            yield s.test
        elif isinstance(s, ir.Do) and isinstance(s.x, ir.Call):
            yield from s.x.args[:1]


def _fails(s: ir.Stmt | None) -> bool:
    """The branch throws, ends the process or reports failure: what a refusal does."""
    if s is None or not leaves(s):
        return False
    last: ir.Stmt | None = s
    while isinstance(last, ir.Block):
        last = last.body[-1] if last.body else None
    if isinstance(last, ir.Return):
        return isinstance(last.x, ir.Lit) and last.x.value in ("false", "nullptr", "0")
    return not isinstance(last, ir.Jump)
