"""Statements: each turns the states before it into those behind it."""

from __future__ import annotations

from analyzer import ir
from analyzer.domain import WHOLE, Bool, Many, Obj, Path, Ptr, Ref, State, Value
from analyzer.formula import Atom
from analyzer.interp.conditions import is_boolean
from analyzer.interp.expressions import Expressions
from analyzer.interp.stores import is_borrowing
from analyzer.program import bare, is_pointer, is_scalar
from analyzer.walk import walk

_STREAMS = frozenset({"std::cerr", "std::clog", "std::cout"})


class Statements(Expressions):
    """Execution of statements."""

    def execute(self, stmt: ir.Stmt | None, states: list[State]) -> list[State]:
        if stmt is None or not states:
            return states
        self.steps += 1
        if self.steps > 20000:
            self.facts.gave_up[self.function.sym] = "function too large to follow"
            return []
        if isinstance(stmt, ir.Block):
            for inner in stmt.body:
                states = self.execute(inner, states)
                if not states:
                    break
            return states if stmt.decl or stmt is self.function.body else self.close(stmt, states)
        if isinstance(stmt, ir.Var):
            self.locals[stmt.sym] = stmt.type
            self.names[stmt.sym] = stmt.name
            return self.simple(states, stmt.span, "declare", lambda st: self.declare(stmt, st))
        if isinstance(stmt, ir.Do):
            return self.simple(states, stmt.span, "expression", lambda st: self.eval(stmt.x, st))
        if isinstance(stmt, ir.Return):
            self.return_(stmt, states)
            return []
        if isinstance(stmt, ir.If):
            return self.if_(stmt, states)
        if isinstance(stmt, ir.Loop):
            return self.loop(stmt, states)
        if isinstance(stmt, ir.Each):
            return self.each(stmt, states)
        if isinstance(stmt, ir.Switch):
            return self.switch(stmt, states)
        if isinstance(stmt, ir.Case):
            return self.execute(stmt.body, states)
        if isinstance(stmt, ir.Jump):
            target = (
                self.breaks if stmt.kind == "break" else self.continues if stmt.kind == "continue" else []
            )
            if target:
                target[-1].extend(states)
            return []
        if isinstance(stmt, ir.Try):
            after = self.execute(stmt.body, [s.copy() for s in states])
            for handler in stmt.handlers:
                after = after + self.execute(handler, [s.copy() for s in states])
            return self.join(after)
        return states

    def close(self, block: ir.Block, states: list[State]) -> list[State]:
        """Locals of a block die with it: their obligations fall due, and they keep no two states apart."""
        dying = [
            v.sym
            for s in block.body
            if isinstance(s, ir.Block) and s.decl
            for v in s.body
            if isinstance(v, ir.Var)
        ]
        if not dying:
            return states
        for state in states:
            for sym in dying:
                obj = state.objects.get((sym,))
                if obj is not None and not obj.done:
                    self.settle(state, (sym,), obj)
                state.objects.pop((sym,), None)
                state.variables.pop(sym, None)
        return self.join(states)

    def return_(self, stmt: ir.Return, states: list[State]) -> None:
        outer = (self.statement, self.statement_kind)
        self.statement, self.statement_kind = stmt.span, "return"
        x = stmt.x
        if x is not None:
            if isinstance(x, ir.Init) and not self.program.carrier_of(x.type) and len(x.items) == 1:
                x = x.items[0]
            bool_result = bare(self.function.result) == "bool" or not self.function.result

            def action(state: State) -> Value:
                if bool_result and is_boolean(x, self.program):
                    return Bool(self.test(x, state))
                return self.eval(x, state)

            for state, value in self.explore(states, action):
                self.returns.append((state, value, stmt.span))
        else:
            for state in states:
                self.returns.append((state, None, stmt.span))
        self.statement, self.statement_kind = outer

    def declare(self, var: ir.Var, state: State) -> Value:
        carrier = self.program.carriers.get(bare(var.type))
        by_value = carrier is not None and not is_pointer(var.type) and not var.type.rstrip().endswith("&")
        outer = self.dest
        self.dest = (var.name, var.type)
        value: Value = None
        if var.init is not None:
            if bare(var.type) == "bool" and not is_pointer(var.type):
                value = Bool(self.test(var.init, state)) if not var.static else None
            else:
                value = self.eval(var.init, state)
        self.dest = outer
        path = (var.sym,)
        if by_value and carrier is not None:
            self.bind(state, path, carrier, value)
            return None
        if self.is_buffer(var.type):
            held = value if isinstance(value, Ptr) else Ptr()
            if (
                not is_pointer(var.type)
                and not var.type.rstrip().endswith("&")
                and not is_borrowing(var.type)
            ):
                state.content[path] = held
                value = Ptr(frozenset(), frozenset({(path, WHOLE)}))
            state.variables[var.sym] = (
                value if isinstance(value, Ptr) else Ptr(frozenset(), frozenset({(path, WHOLE)}))
            )
            return None
        if isinstance(value, Obj):  # a reference or pointer bound to a temporary
            state.objects[path] = value
            value = Ref(path, var.type)
        if value is not None:
            state.variables[var.sym] = value
        return None

    def if_(self, stmt: ir.If, states: list[State]) -> list[State]:
        if stmt.init is not None:
            states = self.execute(stmt.init, states)
        yes: list[State] = []
        no: list[State] = []
        outer = (self.statement, self.statement_kind, self.checking)
        then_ends = self.only_leaves(stmt.then)
        only_said = _only_says(stmt.then)
        other_ends = stmt.other is not None and self.only_leaves(stmt.other)
        self.statement, self.statement_kind = stmt.test.span, "expression"
        for polarity, sink, opposite_leaves in ((True, yes, other_ends), (False, no, then_ends)):
            self.checking = opposite_leaves

            def action(state: State, polarity: bool = polarity) -> Value:
                asked = self.test(stmt.test, state)
                if self.checking:
                    self.demand(asked, polarity)
                self.assume(state, asked, polarity, resolving=not self.checking and not only_said)
                return None

            sink.extend(state for state, _ in self.explore(states, action))
        self.statement, self.statement_kind, self.checking = outer
        after = self.branch(stmt.then, self.join(yes))
        if stmt.other is not None:
            after = after + self.branch(stmt.other, self.join(no))
        else:
            after = after + no
        return self.join(after)

    def only_leaves(self, stmt: ir.Stmt) -> bool:
        """The statement only refuses: it throws, calls what never returns, or returns nothing, false or null."""
        if isinstance(stmt, ir.Block):
            return 0 < len(stmt.body) <= 3 and self.only_leaves(stmt.body[-1])
        if isinstance(stmt, ir.Do):
            return isinstance(stmt.x, ir.ThrowExpr) or isinstance(stmt.x, ir.Call) and self.ends(stmt.x)
        if isinstance(stmt, ir.Return):
            return stmt.x is None or isinstance(stmt.x, ir.Lit)
        return False

    def branch(self, stmt: ir.Stmt, states: list[State]) -> list[State]:
        outer = self.braceless
        self.braceless = not isinstance(stmt, ir.Block) or stmt.decl
        result = self.execute(stmt, states)
        self.braceless = outer
        return result

    def loop(self, stmt: ir.Loop, states: list[State]) -> list[State]:
        if stmt.init is not None:
            states = self.execute(stmt.init, states)
        if stmt.once:
            return self.execute(stmt.body, states)
        self.breaks.append([])
        self.continues.append([])
        entered = [s.copy() for s in states]
        if stmt.test is not None and not stmt.first:
            test = stmt.test
            entered = self.simple(entered, test.span, "expression", lambda st: self.eval(test, st))
        after = self.branch(stmt.body, entered)
        after = after + self.continues.pop()
        if not self.breaks[-1]:
            self.for_all(stmt, after, states)
        if stmt.step is not None:
            step = stmt.step
            after = self.simple(after, step.span, "expression", lambda st: self.eval(step, st))
        after = after + self.breaks.pop()
        return self.join(after if stmt.first else after + states)

    def for_all(self, stmt: ir.Loop, after: list[State], never_entered: list[State]) -> None:
        """What every round leaves true of the element at its index holds for all elements behind the loop."""
        own = {n.name for part in (stmt.init, stmt.body) for n in walk(part) if isinstance(n, ir.Var)}
        learned: dict[Atom, bool] = {}
        for atom, value in after[0].known.items() if after and own else ():
            if all(state.known.get(atom) is value for state in after):
                general = _at_any(atom, own)
                if general != atom:
                    learned[general] = value  # type: ignore[index]
        for state in (*after, *never_entered) if learned else ():
            for atom, value in learned.items():
                state.known.setdefault(atom, value)

    def each(self, stmt: ir.Each, states: list[State]) -> list[State]:
        self.locals[stmt.var.sym] = stmt.var.type
        self.names[stmt.var.sym] = stmt.var.name
        result: list[State] = []
        self.breaks.append([])
        self.continues.append([])
        for state, value in self.explore(states, lambda st: self.eval(stmt.range, st)):
            if isinstance(value, Many) and value.items:
                current = [state]
                for item in value.items:
                    for one in current:
                        one.variables[stmt.var.sym] = item
                    current = self.branch(stmt.body, current) + self.continues[-1]
                    self.continues[-1] = []
                result.extend(current)
                continue
            element = (*value.path, "[*]") if isinstance(value, Ref) else (stmt.var.sym,)
            carrier = self.program.carriers.get(bare(stmt.var.type))
            if carrier is not None and not stmt.var.type.rstrip().endswith(("&", "*")):
                self.bind(state, (stmt.var.sym,), carrier, Ref(element, stmt.var.type))
            elif isinstance(value, Ptr):
                state.variables[stmt.var.sym] = None
                if is_scalar(stmt.var.type):
                    self.read(value, stmt.range.span, state)
            else:
                state.variables[stmt.var.sym] = Ref(element, stmt.var.type)
            never_entered = state.copy()
            after = self.branch(stmt.body, [state]) + self.continues[-1]
            self.continues[-1] = []
            for atom, known in after[0].known.items() if after else ():
                if _is_within(atom[1], element) and all(s.known.get(atom) is known for s in after):
                    never_entered.known.setdefault(
                        atom, known
                    )  # true of all elements of a list that has none
            result += [*after, never_entered]
        self.continues.pop()
        result.extend(self.breaks.pop())
        return self.join(result)

    def switch(self, stmt: ir.Switch, states: list[State]) -> list[State]:
        body = stmt.body.body if isinstance(stmt.body, ir.Block) else (stmt.body,)
        labels: list[tuple[list[ir.Case], int]] = []
        flat: list[ir.Stmt] = []
        for inner in body:
            group: list[ir.Case] = []
            while isinstance(inner, ir.Case):
                group.append(inner)
                if inner.body is None:
                    break
                inner = inner.body
            if group:
                labels.append((group, len(flat)))
            if not isinstance(inner, ir.Case):
                flat.append(inner)
        self.breaks.append([])
        after: list[State] = []
        default = False
        on_device = self.device_operand(stmt.x)
        seen: frozenset[str] = frozenset()
        for group, start in labels:
            end_of_default = any(not c.values for c in group)
            default = default or end_of_default
            entry = [s.copy() for s in states]
            if on_device:
                names = frozenset(n for c in group for v in c.values if (n := self.device_constant(v)))
                if end_of_default:
                    listed = frozenset(
                        n for g, _ in labels for c in g for v in c.values if (n := self.device_constant(v))
                    )
                    names = (self.interp.everywhere - listed) | names
                seen |= names
                entry = [s for s in entry if s.devices & names]
                for state in entry:
                    state.devices &= names
                    state.narrowed = True
            else:
                for state in entry:
                    for case in group:
                        for value in case.values:
                            key = self.key(stmt.x, state)
                            state.known[("e", ("==", key, self.key(value, state)))] = True
            for inner in flat[start:]:
                entry = self.execute(inner, entry)
                if not entry:
                    break
            after.extend(entry)
        after.extend(self.breaks.pop())
        if not default:
            rest = [s.copy() for s in states]
            if on_device:
                rest = [s for s in rest if s.devices - seen]
                for state in rest:
                    state.devices -= seen
                    state.narrowed = True
            after.extend(rest)
        return self.join(after)


def _is_within(key: object, element: Path) -> bool:
    """Is the key, or a part of it, `element` or a member of it?"""
    return isinstance(key, tuple) and (
        key[: len(element)] == element or any(_is_within(part, element) for part in key)
    )


def _at_any(key: object, names: set[str]) -> object:
    """The key with indices that are one of `names` read as any index."""
    if isinstance(key, tuple):
        return tuple(_at_any(part, names) for part in key)
    return "[*]" if isinstance(key, str) and key[:1] == "[" and key[1:-1] in names else key


def _only_says(stmt: ir.Stmt) -> bool:
    """Does a branch nothing but print or log: calls that are given text and numbers alone?"""
    body = stmt.body if isinstance(stmt, ir.Block) else (stmt,)
    return bool(body) and all(isinstance(inner, ir.Do) and _is_message(inner.x) for inner in body)


def _is_message(x: ir.Expr) -> bool:
    if isinstance(x, ir.Binary) and x.op == "<<":
        return isinstance(x.a, ir.Name) and x.a.name in _STREAMS or _is_message(x.a)
    if not isinstance(x, ir.Call) or x.base is not None or bare(x.type) not in ("void", "int"):
        return False
    texts = [a for a in x.args if isinstance(a, ir.Lit) and a.kind == "str"]
    return bool(texts) and all(
        not isinstance(n, (ir.Field, ir.Lambda, ir.This)) for a in x.args for n in walk(a)
    )
