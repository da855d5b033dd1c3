"""Calls: constructors, and callees applied by their summaries."""

from __future__ import annotations

import re

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import Bool, Closure, Obj, Path, Ptr, Ref, State, Value
from analyzer.interp.binding import Binding
from analyzer.interp.externals import Externals
from analyzer.interp.stores import is_borrowing
from analyzer.keys import leaves
from analyzer.program import Carrier, bare, is_byte_pointer
from analyzer.summary import Dead, Dispatch, Summary
from analyzer.walk import COPIES, children

# What an assert calls is not among them: a release build has no asserts.
NORETURN = frozenset(
    {
        "abort",
        "exit",
        "_exit",
        "terminate",
        "quick_exit",
        "unreachable",
        "__builtin_unreachable",
    }
)
_REFUSES = re.compile(r"^(throw|fail|fatal|panic|die|abort|raise|refuse|reject)", re.IGNORECASE)


class Calls(Externals):
    """Calls and constructions."""

    def call(self, x: ir.Call, state: State) -> Value:
        last = x.name.rpartition("::")[2]
        if x.kind == "ctor":
            return self.construct(x, state)
        if x.target is not None:
            target = self.eval(x.target, state)
            args = [self.eval(a, state) for a in x.args]
            if isinstance(target, Closure):
                return self.apply(target.sym, None, x, args, state)
            self.note_dispatch(x, args, state)
            return self.unknown(x, None, args, state)
        base = self.eval(x.base, state) if x.base is not None else None
        if isinstance(base, Obj):
            path: Path = (f"tmp@{x.base.span.begin}" if x.base is not None else "tmp@",)
            state.objects[path] = base
            base = Ref(path, base.carrier, x.span)
        args = [self.eval(a, state) for a in x.args]
        if last in NORETURN or _REFUSES.match(last) and self.ends(x):
            raise Dead
        if isinstance(base, Ptr):
            return self.on_buffer(x, last, base, args, state)
        std = x.name.startswith("std::") or x.name in COPIES or not x.callee
        if std:
            handled, value = self.standard(x, last, base, args, state)
            if handled:
                return value
        handled, value = self.memory(x, args, state)
        if handled:
            return value
        targets = [x.callee, *self.program.overriders.get(x.callee, ())] if x.callee else []
        bodies = [t for t in targets if (f := self.program.function(t)) is not None and f.body is not None]
        if len(bodies) == 1:
            return self.apply(bodies[0], base, x, args, state)
        if len(bodies) > 1:
            return self.apply(bodies[self.choose(min(len(bodies), 3))], base, x, args, state)
        return self.unknown(x, base, args, state)

    def ends(self, x: ir.Call) -> bool:
        """A call that does not come back: by its body, or by its name where there is none."""
        last = x.name.rpartition("::")[2]
        function = self.program.function(x.callee) if x.callee else None
        if function is not None and function.body is not None:
            return self.interp.never_returns(function)
        return last in NORETURN or bare(x.type) == "void" and bool(_REFUSES.match(last))

    def note_dispatch(self, x: ir.Call, args: list[Value], state: State) -> None:
        """What a call through a pointer never passes: a check in front of a table of kernels serves all of them."""
        never: set[tuple[int, str]] = set()
        refused: set[tuple[int, str]] = set()
        passes: set[tuple[int, ir.Sym]] = set()
        for position, value in enumerate(args):
            carrier = self.program.carrier_of(value.type) if isinstance(value, Ref) else None
            if carrier is None or not isinstance(value, Ref):
                continue
            if value.path[1:] == () and value.path[0] in self.param_syms:
                passes.add((position, value.path[0]))
            shown = state.objects.get(value.path)
            origins = shown.storage.origins if shown is not None and shown.site is not None else frozenset()
            paths = [origin.path for origin in origins] or [value.path]
            for marker in carrier.markers:
                if all(self.known_false(state, p, marker) or self.excluded(state, p, marker) for p in paths):
                    never.add((position, marker))
                if all(state.known.get(("m", p, marker)) is False for p in paths):
                    refused.add((position, marker))
        key = (self.function.sym, x.span.begin)
        made = Dispatch(frozenset(never), frozenset(refused), frozenset(passes))
        known = self.facts.dispatched.get(key, made)
        self.facts.dispatched[key] = Dispatch(
            known.never & made.never, known.refused & made.refused, known.passes & made.passes
        )

    def construct(self, x: ir.Call, state: State) -> Value:
        carrier = self.program.carriers.get(bare(x.type))
        args = [self.eval(a, state) for a in x.args]
        if carrier is not None:
            if not x.args:
                return Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
            function = self.program.function(x.callee)
            if function is not None and function.body is not None:
                return self.run_constructor(x, carrier, args, state)
            held = [a for a in args if isinstance(a, Ptr)]
            obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
            if held:
                obj = replace(obj, storage=held[0], site=self.site(x.span, "factory", x=x), filled=True)
            return obj
        if self.program.is_container_of_carriers(x.type):
            for value in args:
                self.escape(value, x.span, state)
            return args[0] if len(args) == 1 and isinstance(args[0], (Obj, Ref)) else None
        held = [a for a in args if isinstance(a, Ptr)]
        if held and self.is_buffer(x.type):
            first = held[0]
            if not is_borrowing(x.type):
                first = self.resolve(first, state)
            return first
        function = self.program.function(x.callee)
        if function is not None and function.body is not None:
            path = (f"tmp@{x.span.begin}",)
            self.apply(x.callee, Ref(path, x.type, x.span), x, args, state)
            return Ref(path, x.type, x.span)
        for value, argument in zip(args, x.args, strict=False):
            if isinstance(value, Ptr):
                self.into_plain(value, argument.span, state, bare(x.type))
            else:
                self.escape(value, x.span, state)
        return None

    def run_constructor(self, x: ir.Call, carrier: Carrier, args: list[Value], state: State) -> Value:
        path = (f"tmp@{x.span.begin}",)
        state.objects[path] = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        self.apply(x.callee, Ref(path, carrier.name, x.span), x, args, state)
        return state.objects.get(path, Obj(carrier.name))

    def apply(self, sym: ir.Sym, base: Value, x: ir.Call, args: list[Value], state: State) -> Value:
        """Apply a callee's summary to the arguments."""
        function = self.program.function(sym)
        if function is None or function.body is None or _is_stub(function):
            return self.unknown(x, base, args, state)
        if self.interp.never_returns(function):
            raise Dead
        if not function.parent and not self.matters(function, base, args, state):
            for value in args:
                self.escape(value, x.span, state)
            return self.opaque(x, state)
        summary = self.interp.summary(sym)
        if not summary.known_body:
            for value in args:
                self.escape(value, x.span, state)
            return self.opaque(x, state)
        self.facts.callers.setdefault(sym, set()).add(self.function.sym)
        for parameter, value in zip(function.params, args, strict=False):
            if isinstance(value, Closure) and _always_calls(function.body, parameter.sym):
                self.ran(value, state)
        bound = Binding(self, function, base, args, x, state)
        self.pass_opens(summary, bound, x, state)
        for path in sorted(summary.reads):
            value = bound.pointer(path)
            if value is not None and self.resolve(value, state).origins:
                self.read(value, x.span, state, function.name)
            elif value is not None:
                self.reads |= {b for b, _ in value.buffers if b[0] in self.param_syms}
        for path in sorted(summary.writes):
            value = bound.pointer(path)
            if value is not None:
                if value.origins:
                    kind = "rewrite" if path in summary.reads else "store"
                    self.write(
                        value,
                        x.span,
                        state,
                        kind,
                        self.resolve(value, state) if kind == "rewrite" else Ptr(),
                        function.name,
                    )
                self.writes |= {b for b, _ in value.buffers if b[0] in self.param_syms}
        touched = bound.touched(summary)
        for value in bound.handed(base):
            if value.path not in touched:
                self.escape(value, x.span, state)
        cases = [c for c in summary.cases if (c.devices & state.devices) and bound.consistent(c, state)]
        if not cases:
            if not summary.cases and self.interp.never_returns(function):
                raise Dead
            if not summary.cases:  # too much to explore: nothing is known of what it does
                return self.opaque(x, state)
            cases = list(summary.cases)
        case = cases[self.choose(len(cases))] if len(cases) > 1 else cases[0]
        if case.devices != self.interp.everywhere and len(summary.cases) > 1:
            state.devices &= case.devices
            state.narrowed = True
        for atom, polarity in case.known:
            self.assume(state, bound.formula(("a", atom)), polarity, told=not bound.spells(atom))
        for path, obj in case.objects:
            where = bound.path(path)
            if where is not None:
                made = bound.object(obj, x)
                if where in state.objects or not self.is_local(where):
                    state.objects[where] = replace(made, done=False, last_store=self.statement.end)
        for path, held in case.content:
            where = bound.path(path)
            target = bound.pointer(path)
            new = bound.held(held)
            if len(path) == 1 and target is not None and target.buffers and new.origins:
                self.copy_bytes(x, target, new, state)
            elif target is not None and target.buffers:
                for buffer, _ in target.buffers:
                    state.content[buffer] = new
            elif where is not None:
                state.content[where] = new
            if len(path) == 1 and target is not None and target.origins and new.origins:
                self.write(target, x.span, state, "replace", new, function.name)
        result = bound.value(case.value, x)
        if self.is_buffer(x.type) and not (isinstance(result, Ptr) and (result.origins or result.buffers)):
            held = Ptr()  # an owner of bytes made from pointers: it holds what they point to
            for value in args:
                held = held.join(value) if isinstance(value, Ptr) else held
            return held
        return result

    def ran(self, closure: Closure, state: State) -> None:
        """What holds after every run of a lambda, now that it was run."""
        summary, function = self.interp.summaries.get(closure.sym), self.program.function(closure.sym)
        if summary is None or function is None or not summary.cases:
            return
        own = {p.sym for p in function.params}
        for atom, value in sorted(set.intersection(*(set(case.known) for case in summary.cases)), key=repr):
            if own.isdisjoint(leaves(atom)):
                self.assume(state, ("a", atom), value, told=True)

    def matters(self, function: ir.Function, base: Value, args: list[Value], state: State) -> bool:
        """Can what the callee does say anything about a carrier, raw bytes or the device?"""
        if self.interp.is_relevant(function) or self.interp.asks_device(function):
            return True
        if args and isinstance(args[0], Bool) and bare(function.result) == "void":
            return True  # it may be a check
        if any(isinstance(v, Bool) and any(a[0] != "e" for a in fm.atoms(v.formula)) for v in args):
            return True
        return any(
            isinstance(v, (Obj, Ptr))
            or isinstance(v, Ref)
            and (v.path in state.objects or self.program.carrier_of(v.type))
            for v in (base, *args)
        )

    def pass_opens(self, summary: Summary, bound: Binding, x: ir.Call, state: State) -> None:
        here = (self.function.sym, self.function.path, x.span)
        met: dict[tuple[Path, str], bool] = {}  # many are of one marker of one weight
        for left in summary.opens:
            where = bound.path(left.source)
            if where is None:  # handed over in a way that is not followed: nobody is known to check it
                via = (*left.via, (*here, left.source))
                self.export(replace(left, pending=False, function=self.function.sym, via=via))
                continue
            if where[0].startswith("tmp@") and where in state.objects:
                value = state.objects[where].marker(left.marker)
                if value is not None and fm.reduce(value, state.known) == fm.FALSE:
                    continue
            asked = (where, left.marker)
            if asked not in met:
                met[asked] = not (
                    self.taken_care(state, *asked)
                    or self.known_false(state, *asked)
                    or self.never_met(state, *asked)
                )
            if not met[asked]:
                self.note_not_met(state, left.site, where, left.marker, x.span.line)
                continue
            devices = left.devices & state.devices or left.devices
            deep = len(where) > 2
            self.export(
                replace(
                    left, source=where, devices=devices, pending=self.is_callers(where) and not deep,
                    function=self.function.sym, via=(*left.via, (*here, where)),
                )
            )  # fmt: skip


def _always_calls(stmt: ir.Stmt | None, sym: ir.Sym) -> bool:
    """Is the callable called whatever happens, as far as a look at the outermost statements tells?"""
    if isinstance(stmt, ir.Block):
        return any(_always_calls(inner, sym) for inner in stmt.body)
    waiting: list[object] = [
        stmt.x if isinstance(stmt, (ir.Do, ir.Return)) else stmt.init if isinstance(stmt, ir.Var) else None
    ]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.Call) and isinstance(node.target, ir.Name) and node.target.sym == sym:
            return True
        sure = isinstance(node, ir.Node) and not isinstance(node, (ir.Cond, ir.Lambda))
        if sure and not (isinstance(node, ir.Binary) and node.op in ("&&", "||")):
            waiting += children(node)  # type: ignore[arg-type]
    return False


def _is_stub(function: ir.Function) -> bool:
    """Takes bytes and does nothing: what a build without some device puts in the place of the real one."""
    return (
        isinstance(function.body, ir.Block)
        and not function.body.body
        and not function.inits
        and not function.parent
        and any(is_byte_pointer(p.type) for p in function.params)
    )
