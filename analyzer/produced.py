"""What a weight is like where a producer marks it: facts that hold for every weight with a marker.

`o.dtype = kF16; o.nk = nk; if (rewrite && nk) { ...; o.elem_kn_repacked = true; }` says that only float16 weights with
`nk` have the marker, so code behind a test of another dtype, or of `!w.nk`, never meets one. The declaration of a
marker says what its rewrite could be applied to, the producers of a tree what it is applied to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from analyzer import ir
from analyzer.dtypes import speaks_of
from analyzer.markers import Marker
from analyzer.program import Program, bare, device_name
from analyzer.walk import children, literal, walk

Test = tuple[ir.Sym, str, bool]
"""A variable, its member (empty: itself), and what it was found to be."""


class Made(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One statement that sets `marker`. `dtypes`: enumerators in lower case that the weight can have there, empty where
    that cannot be told; `flags`: boolean members `(carrier, name, value)` that are known there."""

    marker: str
    dtypes: tuple[str, ...]
    flags: tuple[tuple[str, str, bool], ...]


def produced(function: ir.Function, program: Program) -> tuple[Made, ...]:
    """The statements of `function` that set a marker, other than to false or to a copy, on a carrier that owns its
    bytes."""
    assigns = [n for n in walk(function.body) if isinstance(n, ir.Assign)]
    if not any(_marks(assign, program) for assign in assigns):
        return ()
    return tuple(sorted(_Reader(program, assigns).read(function.body), key=repr))


def dtypes_of(marker: Marker, made: Iterable[Made]) -> frozenset[str]:
    """The dtypes, as the declaration of `marker` spells them, of the weights that have it; those that are declared
    where a producer does not tell. Empty: any dtype."""
    mine = [one for one in made if one.marker == marker.name]
    told = frozenset(d for d in marker.dtypes for one in mine for word in one.dtypes if speaks_of(word, d))
    return told if told and all(one.dtypes for one in mine) else frozenset(marker.dtypes)


def flags_of(marker: str, made: Iterable[Made]) -> Mapping[tuple[str, str], bool]:
    """The boolean members `(carrier, name)` with the value that every weight with `marker` has there."""
    mine = [frozenset(one.flags) for one in made if one.marker == marker]
    common = frozenset.intersection(*mine) if mine else frozenset()
    return {(carrier, name): value for carrier, name, value in sorted(common)}


class _Reader:
    """One function, read in the order of its statements."""

    def __init__(self, program: Program, assigns: list[ir.Assign]) -> None:
        self._program = program
        self._found: set[Made] = set()
        self._stores: dict[tuple[ir.Sym, str], list[ir.Expr]] = {}
        self._changed: set[ir.Sym] = set()
        for assign in assigns:
            if isinstance(assign.target, ir.Name):
                self._changed.add(assign.target.sym)
            elif (place := _member(assign.target))[0]:
                self._stores.setdefault(place, []).append(assign.value)

    def read(self, body: ir.Stmt | None) -> set[Made]:
        self._visit(body, frozenset(), frozenset())
        return self._found

    def _visit(
        self, node: object, stored: frozenset[tuple[ir.Sym, str]], tests: frozenset[Test]
    ) -> tuple[frozenset[tuple[ir.Sym, str]], frozenset[Test]]:
        """Read `node`. `stored`: members stored to on every way here; `tests`: what held on every way here. Both are
        returned as they are behind `node`."""
        if isinstance(node, ir.Assign):
            if _marks(node, self._program):
                self._note(node, stored, tests)
            stored |= {_member(node.target)}
        elif isinstance(node, ir.Block):
            for inner in node.body:
                stored, tests = self._visit(inner, stored, tests)
        elif isinstance(node, ir.Do):
            stored, _ = self._visit(node.x, stored, tests)
        elif isinstance(node, ir.Loop) and node.once:
            return self._visit(node.body, stored, tests)
        elif isinstance(node, ir.If):
            self._visit(node.then, stored, tests | frozenset(self._holds(node.test, True)))
            self._visit(node.other, stored, tests | frozenset(self._holds(node.test, False)))
            if node.other is None and _leaves(node.then):
                tests |= frozenset(self._holds(node.test, False))
        elif isinstance(node, ir.Node):
            for child in children(node):
                self._visit(child, stored, tests)
        return stored, tests

    def _holds(self, test: ir.Expr, value: bool) -> Iterator[Test]:
        """What is known when `test` comes out as `value`."""
        if isinstance(test, ir.Cast):
            yield from self._holds(test.x, value)
        elif isinstance(test, ir.Unary) and test.op == "!":
            yield from self._holds(test.x, not value)
        elif isinstance(test, ir.Binary) and test.op == ("&&" if value else "||"):
            yield from self._holds(test.a, value)
            yield from self._holds(test.b, value)
        elif isinstance(test, ir.Name) and test.sym not in self._changed:
            yield test.sym, "", value
        elif (place := _member(test))[0] and len(self._stores.get(place, ())) <= 1:
            yield *place, value

    def _note(self, assign: ir.Assign, stored: frozenset[tuple[ir.Sym, str]], tests: frozenset[Test]) -> None:
        assert isinstance(assign.target, ir.Field)
        variable, marker = _member(assign.target)
        carrier = self._program.carriers[assign.target.owner]
        dtypes: tuple[str, ...] = ()
        flags: list[tuple[str, str, bool]] = []
        for member in carrier.members if variable else ():
            values = self._stores.get((variable, member.name), [])
            certain = (variable, member.name) in stored
            if "dtype" in member.name.lower() and certain:
                words = {_enumerator(value) for value in values}
                dtypes = tuple(sorted(words)) if "" not in words else ()
            elif bare(member.type) == "bool" and member.name not in carrier.markers:
                known = {self._value(value, tests) for value in values} if certain else set()
                known |= {value for sym, name, value in tests if (sym, name) == (variable, member.name)}
                if len(known) == 1 and None not in known:
                    flags += [(carrier.name, member.name, bool(value)) for value in known]
        self._found.add(Made(marker, dtypes, tuple(sorted(flags))))

    def _value(self, value: ir.Expr, tests: frozenset[Test]) -> bool | None:
        text = literal(value)
        if text in ("true", "false"):
            return text == "true"
        while isinstance(value, ir.Cast):
            value = value.x
        if isinstance(value, ir.Name):
            return next((found for sym, name, found in sorted(tests) if (sym, name) == (value.sym, "")), None)
        return None


def _marks(assign: ir.Assign, program: Program) -> bool:
    target = assign.target
    carrier = program.carriers.get(target.owner) if isinstance(target, ir.Field) else None
    if carrier is None or carrier.view or not isinstance(target, ir.Field):
        return False
    copied = any(isinstance(n, ir.Field) and n.name == target.name for n in walk(assign.value))
    return target.name in carrier.markers and not copied and literal(assign.value) not in ("false", "0")


def _member(target: ir.Expr) -> tuple[ir.Sym, str]:
    """The variable and the member of it that `target` is; two empty words for anything else."""
    if isinstance(target, ir.Field) and isinstance(target.base, ir.Name):
        return target.base.sym, target.name
    return "", ""


def _leaves(stmt: ir.Stmt | None) -> bool:
    """Does control never go on behind it, as plain reading tells?"""
    if isinstance(stmt, ir.Block):
        return any(_leaves(inner) for inner in stmt.body)
    return isinstance(stmt, ir.Return) or isinstance(stmt, ir.Do) and isinstance(stmt.x, ir.ThrowExpr)


def _enumerator(value: ir.Expr) -> str:
    return device_name(value.name) if isinstance(value, ir.Name) and value.kind == "enum" else ""
