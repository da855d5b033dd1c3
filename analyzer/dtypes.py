"""What a predicate over an enumeration says of each enumerator, read off its body.

`is_block_quant(DType)` decides whether a marker's rewrite can have met a weight, and its name says nothing. It is
run here for one enumerator: labels, comparisons and calls with the same argument are decided, all else may be
either.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from analyzer import ir
from analyzer.program import Program, Variant, bare, device_name

_EITHER = frozenset({True, False})
_DEPTH = 4


def speaks_of(enumerator: str, dtype: str) -> bool:
    """Does an enumerator in lower case (`q8_0`, `ggml_q8_0`) name this dtype?"""
    return enumerator == dtype or enumerator.endswith(f"_{dtype}")


class Predicates:
    """The functions of a program that take an enumerator and answer yes or no, by qualified name."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[str, int, str], frozenset[bool]] = {}

    @functools.cached_property
    def _named(self) -> Mapping[str, list[Variant]]:
        found: dict[str, list[Variant]] = {}
        for variant in self._program.bodies():
            if any(bare(p.type) in self._program.enums for p in variant.head.params):
                found.setdefault(variant.head.name, []).append(variant)
        return found

    def outcomes(self, name: str, position: int, dtype: str) -> frozenset[bool]:
        """What a call of `name` can give when its argument at `position` (from 0) is of `dtype`, in lower case.

        Null is False, an address True. A function without a body can give either."""
        key = (name, position, dtype)
        if key not in self._known:
            self._known[key] = _EITHER  # a predicate that calls itself
            self._known[key] = self._outcomes(name, position, dtype, _DEPTH)
        return self._known[key]

    def _outcomes(self, name: str, position: int, dtype: str, depth: int) -> frozenset[bool]:
        found: set[bool] = set()
        for variant in self._named.get(name, ()):
            if position >= len(variant.head.params):
                continue
            parameter = variant.head.params[position]
            enum = self._program.enums.get(bare(parameter.type))
            for enumerator in enum.enumerators if enum is not None else ():
                word = device_name(enumerator)
                if speaks_of(word, dtype):
                    found |= _Run(self, {parameter.sym: word}, depth).of(variant.function)
        return frozenset(found) or _EITHER

    def nested(self, call: ir.Call, position: int, word: str, depth: int) -> frozenset[bool]:
        """The same for a call inside a predicate."""
        return self._outcomes(call.name, position, word, depth - 1) if depth > 0 else _EITHER


class _Run:
    """One predicate run with its parameter known: `words` gives the enumerators that symbols stand for."""

    def __init__(self, predicates: Predicates, words: dict[ir.Sym, str], depth: int) -> None:
        self._predicates = predicates
        self._words = words
        self._depth = depth
        self._truths: dict[ir.Sym, frozenset[bool]] = {}
        self._returned: set[bool] = set()

    def of(self, function: ir.Function) -> frozenset[bool]:
        self._execute(function.body)
        return frozenset(self._returned)

    def _execute(self, stmt: ir.Stmt | None) -> bool:
        """Run `stmt`; can control go on behind it?"""
        if isinstance(stmt, ir.Block):
            return all(self._execute(inner) for inner in stmt.body)
        if isinstance(stmt, ir.Var):
            if stmt.init is not None:
                self._truths[stmt.sym] = self._truth(stmt.init)
                word = self._word(stmt.init)
                if word:
                    self._words[stmt.sym] = word
        elif isinstance(stmt, ir.Return):
            self._returned |= self._truth(stmt.x) if stmt.x is not None else _EITHER
            return False
        elif isinstance(stmt, ir.If):
            self._execute(stmt.init)
            test = self._truth(stmt.test)
            goes_on = [
                self._execute(arm) for arm, taken in ((stmt.then, True), (stmt.other, False)) if taken in test
            ]
            return any(goes_on)
        elif isinstance(stmt, ir.Switch):
            return self._switch(stmt)
        elif isinstance(stmt, (ir.Loop, ir.Each)):
            self._execute(stmt.body)
        elif isinstance(stmt, ir.Case):
            return self._execute(stmt.body)
        elif isinstance(stmt, ir.Do) and isinstance(stmt.x, ir.Assign) and isinstance(stmt.x.target, ir.Name):
            self._truths.pop(stmt.x.target.sym, None)
            self._words.pop(stmt.x.target.sym, None)
        elif isinstance(stmt, ir.Do):
            return not isinstance(stmt.x, ir.ThrowExpr)
        elif isinstance(stmt, ir.Jump):
            return False
        return True

    def _switch(self, stmt: ir.Switch) -> bool:
        word = self._word(stmt.x)
        body = stmt.body.body if isinstance(stmt.body, ir.Block) else (stmt.body,)
        default = -1
        entry = -1
        for position, inner in enumerate(body):
            while isinstance(inner, ir.Case):
                if not inner.values:
                    default = position
                elif word and any(self._word(value) == word for value in inner.values):
                    entry = position
                if inner.body is None:
                    break
                inner = inner.body
        if not word:
            for inner in body:
                self._execute(inner)
            return True
        start = entry if entry >= 0 else default
        if start < 0:
            return True
        for inner in body[start:]:
            if _is_break(inner):
                return True
            if not self._execute(inner):
                return False
        return True

    def _word(self, x: ir.Expr) -> str:
        """The enumerator that `x` is, in lower case; empty when it may be any."""
        while isinstance(x, ir.Cast):
            x = x.x
        if isinstance(x, ir.Name):
            return device_name(x.name) if x.kind == "enum" else self._words.get(x.sym, "")
        return ""

    def _truth(self, x: ir.Expr) -> frozenset[bool]:
        """What `x` can be as a condition."""
        if isinstance(x, ir.Lit):
            if x.kind in ("bool", "null", "int"):
                return frozenset({x.value not in ("false", "nullptr", "NULL", "0")})
        elif isinstance(x, ir.Name):
            return self._truths.get(x.sym, _EITHER)
        elif isinstance(x, ir.Cast):
            return self._truth(x.x)
        elif isinstance(x, ir.Unary) and x.op == "!":
            return frozenset(not value for value in self._truth(x.x))
        elif isinstance(x, ir.Unary) and x.op == "&":
            return frozenset({True})
        elif isinstance(x, ir.Cond):
            test = self._truth(x.test)
            return frozenset().union(
                *(self._truth(arm) for arm, on in ((x.yes, True), (x.no, False)) if on in test)
            )
        elif isinstance(x, ir.Binary):
            return self._binary(x)
        elif isinstance(x, ir.Call):
            for position, argument in enumerate(x.args):
                word = self._word(argument)
                if word and not (isinstance(argument, ir.Name) and argument.kind == "enum"):
                    return self._predicates.nested(x, position, word, self._depth)
        return _EITHER

    def _binary(self, x: ir.Binary) -> frozenset[bool]:
        if x.op == "&&":
            return frozenset(a and b for a in self._truth(x.a) for b in self._truth(x.b))
        if x.op == "||":
            return frozenset(a or b for a in self._truth(x.a) for b in self._truth(x.b))
        if x.op in ("==", "!="):
            a, b = self._word(x.a), self._word(x.b)
            if a and b:
                return frozenset({(a == b) is (x.op == "==")})
            for null, other in ((x.a, x.b), (x.b, x.a)):
                if isinstance(null, ir.Lit) and null.kind == "null":
                    return frozenset(value is (x.op == "!=") for value in self._truth(other))
        return _EITHER


def _is_break(stmt: ir.Stmt) -> bool:
    while isinstance(stmt, ir.Case) and stmt.body is not None:
        stmt = stmt.body
    return isinstance(stmt, ir.Jump) and stmt.kind == "break"
