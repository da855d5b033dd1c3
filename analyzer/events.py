"""What happens in a function body, in order, each with the conditions it stands under.

The whole-program passes need no paths: they need every call, assignment, declaration and return once, and the
conditions that must have held. Those are the tests of the enclosing branches, the negated tests of earlier
branches that left the function, and the operands of `&&`, `||` and `?:` around an expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from analyzer import ir

_NORETURN = frozenset({"abort", "exit", "_exit", "terminate", "quick_exit"})


class Cond:
    """`test` was `value`, and everything in `above` held too."""

    __slots__ = ("above", "test", "value")

    def __init__(self, above: Cond | None, test: ir.Expr, value: bool) -> None:
        self.above = above
        self.test = test
        self.value = value


@dataclass(slots=True)
class Events:
    """The events of one function body. Nested expressions come before what they are part of. `reads`: uses
    of the data members asked for."""

    calls: list[tuple[ir.Call | ir.New, Cond | None]] = field(default_factory=list)
    assigns: list[tuple[ir.Assign, Cond | None]] = field(default_factory=list)
    variables: list[tuple[ir.Var, Cond | None]] = field(default_factory=list)
    ranges: list[tuple[ir.Each, Cond | None]] = field(default_factory=list)
    returns: list[tuple[ir.Return, Cond | None]] = field(default_factory=list)
    inits: list[tuple[ir.Init, Cond | None]] = field(default_factory=list)
    addresses: list[ir.Expr] = field(default_factory=list)
    reads: list[ir.Field] = field(default_factory=list)


def events(function: ir.Function, members: frozenset[str] = frozenset()) -> Events:
    """Return what happens in `function`, its constructor initialisers included; `members`: see
    `Events.reads`."""
    walk = _Walk(members)
    for init in function.inits:
        walk.expr(init, None)
    if function.body is not None:
        walk.stmt(function.body, None)
    return walk.out


def of_expression(x: ir.Expr) -> Events:
    """Return what happens in one expression (the initialiser of a global)."""
    walk = _Walk(frozenset())
    walk.expr(x, None)
    return walk.out


class _Walk:
    """Visits every expression once. Handlers are looked up by class: a large tree has millions of nodes."""

    def __init__(self, members: frozenset[str]) -> None:
        self.out = Events()
        self.members = members

    # ------------------------------------------------------------------------------------------- statements

    def stmt(self, s: ir.Stmt | None, cond: Cond | None) -> Cond | None:
        """Visit `s` under `cond`; return what holds after it."""
        handler = _STATEMENTS.get(type(s))
        return cond if handler is None else handler(self, s, cond)

    def do(self, s: ir.Do, cond: Cond | None) -> Cond | None:
        self.expr(s.x, cond)
        return cond

    def block(self, s: ir.Block, cond: Cond | None) -> Cond | None:
        entry = cond
        for inner in s.body:
            cond = self.stmt(inner, entry if type(inner) is ir.Case else cond)
        return cond

    def var(self, s: ir.Var, cond: Cond | None) -> Cond | None:
        if s.init is not None:
            self.expr(s.init, cond)
        self.out.variables.append((s, cond))
        return cond

    def branch(self, s: ir.If, cond: Cond | None) -> Cond | None:
        self.stmt(s.init, cond)
        self.expr(s.test, cond)
        yes_leaves, no_leaves = leaves(s.then), s.other is not None and leaves(s.other)
        self.stmt(s.then, Cond(cond, s.test, True))
        self.stmt(s.other, Cond(cond, s.test, False))
        if yes_leaves != no_leaves:
            return Cond(cond, s.test, no_leaves)
        return cond

    def give(self, s: ir.Return, cond: Cond | None) -> Cond | None:
        if s.x is not None:
            self.expr(s.x, cond)
        self.out.returns.append((s, cond))
        return cond

    def loop(self, s: ir.Loop, cond: Cond | None) -> Cond | None:
        self.stmt(s.init, cond)
        inside = cond
        if s.test is not None:
            self.expr(s.test, cond)
            if not s.first:
                inside = Cond(cond, s.test, True)
        after = self.stmt(s.body, inside)
        if s.once and not _jumps(s.body):
            return after  # the do { } while (0) around the body of a check macro
        if s.step is not None:
            self.expr(s.step, cond)
        return cond

    def each(self, s: ir.Each, cond: Cond | None) -> Cond | None:
        self.expr(s.range, cond)
        self.out.ranges.append((s, cond))
        self.stmt(s.body, cond)
        return cond

    def switch(self, s: ir.Switch, cond: Cond | None) -> Cond | None:
        self.expr(s.x, cond)
        self.stmt(s.body, cond)
        return cond

    def case(self, s: ir.Case, cond: Cond | None) -> Cond | None:
        return self.stmt(s.body, cond)

    def attempt(self, s: ir.Try, cond: Cond | None) -> Cond | None:
        self.stmt(s.body, cond)
        for handler in s.handlers:
            self.stmt(handler, cond)
        return cond

    # ------------------------------------------------------------------------------------------ expressions

    def expr(self, e: ir.Expr, cond: Cond | None) -> None:
        handler = _EXPRESSIONS.get(type(e))
        if handler is not None:
            handler(self, e, cond)

    def field(self, e: ir.Field, cond: Cond | None) -> None:
        if e.name in self.members:
            self.out.reads.append(e)
        self.expr(e.base, cond)

    def call(self, e: ir.Call, cond: Cond | None) -> None:
        if e.base is not None:
            self.expr(e.base, cond)
        if e.target is not None:
            self.expr(e.target, cond)
        for argument in e.args:
            self.expr(argument, cond)
        self.out.calls.append((e, cond))

    def binary(self, e: ir.Binary, cond: Cond | None) -> None:
        self.expr(e.a, cond)
        if e.op == "&&":
            cond = Cond(cond, e.a, True)
        elif e.op == "||":
            cond = Cond(cond, e.a, False)
        self.expr(e.b, cond)

    def unary(self, e: ir.Unary, cond: Cond | None) -> None:
        if e.op == "&":
            self.out.addresses.append(e.x)
        self.expr(e.x, cond)

    def assign(self, e: ir.Assign, cond: Cond | None) -> None:
        self.expr(e.target.base if type(e.target) is ir.Field else e.target, cond)
        self.expr(e.value, cond)
        self.out.assigns.append((e, cond))

    def index(self, e: ir.Index, cond: Cond | None) -> None:
        self.expr(e.base, cond)
        self.expr(e.index, cond)

    def cast(self, e: ir.Cast, cond: Cond | None) -> None:
        self.expr(e.x, cond)

    def choice(self, e: ir.Cond, cond: Cond | None) -> None:
        self.expr(e.test, cond)
        self.expr(e.yes, Cond(cond, e.test, True))
        self.expr(e.no, Cond(cond, e.test, False))

    def init(self, e: ir.Init, cond: Cond | None) -> None:
        for item in e.items:
            self.expr(item, cond)
        self.out.inits.append((e, cond))

    def new(self, e: ir.New, cond: Cond | None) -> None:
        for argument in e.args:
            self.expr(argument, cond)
        self.out.calls.append((e, cond))

    def other(self, e: ir.Other, cond: Cond | None) -> None:
        for item in e.items:
            self.expr(item, cond)


_EXPRESSIONS: dict[type, Callable[[_Walk, Any, Cond | None], None]] = {
    ir.Field: _Walk.field,
    ir.Call: _Walk.call,
    ir.Binary: _Walk.binary,
    ir.Unary: _Walk.unary,
    ir.Assign: _Walk.assign,
    ir.Index: _Walk.index,
    ir.Cast: _Walk.cast,
    ir.Cond: _Walk.choice,
    ir.Init: _Walk.init,
    ir.New: _Walk.new,
    ir.Other: _Walk.other,
}
_STATEMENTS: dict[type, Callable[[_Walk, Any, Cond | None], Cond | None]] = {
    ir.Do: _Walk.do,
    ir.Block: _Walk.block,
    ir.Var: _Walk.var,
    ir.If: _Walk.branch,
    ir.Return: _Walk.give,
    ir.Loop: _Walk.loop,
    ir.Each: _Walk.each,
    ir.Switch: _Walk.switch,
    ir.Case: _Walk.case,
    ir.Try: _Walk.attempt,
}


def _jumps(s: ir.Stmt | None) -> bool:
    if isinstance(s, ir.Jump):
        return True
    if isinstance(s, ir.Block):
        return any(_jumps(inner) for inner in s.body)
    return isinstance(s, ir.If) and (_jumps(s.then) or _jumps(s.other))


def leaves(s: ir.Stmt | None) -> bool:
    """True when `s` never goes on to the statement after it in its block."""
    if isinstance(s, (ir.Return, ir.Jump)):
        return True
    if isinstance(s, ir.Do):
        return (
            isinstance(s.x, ir.ThrowExpr)
            or isinstance(s.x, ir.Call)
            and s.x.name.rpartition("::")[2] in _NORETURN
        )
    if isinstance(s, ir.Block):
        return any(leaves(inner) for inner in s.body)
    if isinstance(s, ir.If):
        return s.other is not None and leaves(s.then) and leaves(s.other)
    if isinstance(s, ir.Loop):
        return s.once and leaves(s.body)
    if isinstance(s, ir.Try):
        return leaves(s.body) and all(leaves(handler) for handler in s.handlers)
    return False
