"""The abstract interpreter: what a function does with the markers of the carriers it handles, path by path.

Structured and disjunctive: a state per set of tested conditions that matters, joined where nothing differs. A
choice inside an expression (a `?:`, a callee with several outcomes) is explored by running the statement again
with the choices prescribed. Callees are applied by their summaries, so a constructor, a helper that carries
markers, a predicate or a check is known by what its body does and never by its name; where there is no body, by
its signature.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from analyzer import formula as fm
from analyzer import ir
from analyzer.binding import Binding
from analyzer.domain import (
    WHOLE,
    Bool,
    Closure,
    Dev,
    Many,
    Obj,
    Obligation,
    Open,
    Origin,
    Path,
    Ptr,
    Ref,
    Site,
    State,
    Value,
)  # fmt: skip
from analyzer.dtypes import Predicates, speaks_of
from analyzer.formula import Atom, Formula
from analyzer.keys import (
    asks_a_dtype,
    leaves,
    mentions_only,
    mentions_symbol,
    names_of,
    short,
    speaks,
    worth_knowing,
)
from analyzer.markers import Marker
from analyzer.memo import Memo, Result, Unit, keys
from analyzer.produced import dtypes_of, flags_of
from analyzer.program import (
    Carrier,
    Head,
    Program,
    bare,
    device_name,
    is_byte_pointer,
    is_mutable_reference,
    is_pointer,
    is_scalar,
)  # fmt: skip
from analyzer.summary import (
    MAX_VIA,
    BytesWrite,
    Case,
    Dead,
    Dispatch,
    Facts,
    MarkerWrite,
    Summary,
    few,
    merge,
    ordered,
)
from analyzer.walk import COPIES, children, fresh_fields, literal, walk

_MAX_STATES = 4
_MAX_CHOICES = 8
_MAX_NESTED = 60
_CONDITION = "a condition"

# What an assert calls is not among them: a release build has no asserts.
_NORETURN = frozenset(
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
_CONTAINERS = ("std::vector<", "std::basic_string<", "std::deque<", "std::array<")
_STREAMS = frozenset({"std::cerr", "std::clog", "std::cout"})
_PASS_THROUGH = frozenset(
    {"move", "forward", "as_const", "ref", "cref", "addressof", "to_address", "get", "value", "launder"}
)
_ACCESSORS = frozenset(
    {"data", "get", "begin", "end", "cbegin", "cend", "rbegin", "front", "back", "at", "c_str", "subspan",
     "first", "last",     "value", "lock", "span"}
)  # fmt: skip
_PART_ACCESSORS = frozenset({"end", "cend", "back", "subspan", "last"})
_REPLACERS = frozenset({"assign", "swap", "reset", "operator="})
_GROWERS = frozenset(
    {"push_back", "emplace_back", "insert", "emplace", "push", "try_emplace", "insert_or_assign"}
)
_SIZERS = frozenset(
    {"size", "empty", "length", "capacity", "use_count", "has_value", "resize", "reserve", "clear", "count"}
)
_GPU = re.compile(r"^(cuda|gpu|hip|rocm|vulkan|metal|xpu|sycl|musa|npu|tpu|accelerator)$")
_RAW = frozenset({"void", "char", "unsigned char", "signed char", "std::byte"})
_REFUSES = re.compile(r"^(throw|fail|fatal|panic|die|abort|raise|refuse|reject)", re.IGNORECASE)
_MAP = re.compile(r"^std::(unordered_)?map<")
_IS_DEVICE = re.compile(r"^(?:is_?|on_?|use_?|Is|On|Use)([A-Za-z]+)$")


def interpret(program: Program, markers: Iterable[Marker], memo: Memo | None = None) -> Facts:
    """Run every function of `program` that can touch a carrier, or take its result from `memo`. Deterministic: neither
    the order of files nor what was kept matters."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 6000))  # callees are run inside their callers
    try:
        return _Interpreter(program, {m.name: m for m in markers}, memo or Memo()).run()
    finally:
        sys.setrecursionlimit(limit)


class _Interpreter:
    def __init__(self, program: Program, markers: dict[str, Marker], memo: Memo) -> None:
        self.program = program
        self.markers = {name: markers[name] for name in program.markers if name in markers}
        self.memo = memo
        known = keys(program, self.markers, memo)
        self.units = known.units
        self.handling = known.handling
        self.result = Result()
        self.results: dict[ir.Sym, Result] = {}
        self.everywhere = frozenset(program.devices) or frozenset({"cpu", "cuda"})
        self.summaries: dict[ir.Sym, Summary] = {}
        self.running: set[ir.Sym] = set()
        self.relevant: dict[ir.Sym, bool] = {}
        self.asking: dict[ir.Sym, bool] = {}
        self.named: dict[ir.Sym, set[ir.Sym]] = {}
        self.ending: dict[ir.Sym, bool] = {}
        self.buffers: dict[str, bool] = {}
        self.predicates = Predicates(program)
        self.answered: dict[object, bool] = {}
        self.fresh_fields = fresh_fields(program, known.own, known.fresh)
        self.dtypes = {m.name: dtypes_of(m, known.produced) for m in self.markers.values()}
        self.flags = {name: flags_of(name, known.produced) for name in self.markers}

    def run(self) -> Facts:
        for sym, variants in sorted(self.program.heads.items()):
            head = self.program.head(sym)
            if head is None or head.parent or not any(v.has_body for v in variants):
                continue
            if self.is_relevant(head):
                self.summary(sym)
        facts = Facts()
        for _, result in sorted(self.results.items()):
            facts.add(result.facts)
        facts.summaries = self.summaries
        return facts

    def is_relevant(self, function: ir.Function | Head) -> bool:
        """Can running this body say anything about a carrier or raw bytes a caller may pass?"""
        found = self.relevant.get(function.sym)
        if found is None:
            found = any(self.program.carrier_of(p.type) for p in function.params)
            found = (
                found
                or bool(self.program.carrier_of(function.result))
                or function.owner in self.program.carriers
            )
            found = found or function.sym in self.handling
            self.relevant[function.sym] = found
        return found

    def holds_raw_bytes(self, type_text: str) -> bool:
        program = self.program
        if not type_text or program.carrier_of(type_text):
            return False
        if is_byte_pointer(type_text):
            return True
        base = bare(type_text)
        if re.match(r"^std::(vector|span|unique_ptr|shared_ptr|array|deque)<", base):
            return not program.is_container_of_carriers(type_text) and _holds_scalars(base)
        return any(
            base == bare(m.type)
            for c in program.carriers.values()
            for m in c.members
            if m.name in c.storage and not is_pointer(m.type)
        )

    def named_in(self, sym: ir.Sym) -> set[ir.Sym]:
        """Everything that the body of a lambda names, with those in it."""
        found = self.named.get(sym)
        if found is None:
            found = self.named[sym] = set()
            for variant in self.program.variants.get(sym, ()):
                for node in walk(variant.body):
                    if isinstance(node, ir.Name):
                        found.add(node.sym)
                    elif isinstance(node, ir.Lambda):
                        found |= self.named_in(node.sym)
        return found

    def asks_device(self, function: ir.Function) -> bool:
        """A predicate over the device: its body names one."""
        found = self.asking.get(function.sym)
        if found is None:
            found = bare(function.result) == "bool" and any(
                isinstance(n, ir.Name)
                and n.kind == "enum"
                and n.name.rpartition("::")[0] in self.program.device_enums
                or isinstance(n, ir.Call)
                and _IS_DEVICE.match(n.name.rpartition("::")[2])
                for n in walk(function.body)
            )
            self.asking[function.sym] = found
        return found

    def never_returns(self, function: ir.Function) -> bool:
        """The body ends in a throw or a call that does not come back, and returns nowhere."""
        found = self.ending.get(function.sym)
        if found is None:
            found = self.ending[function.sym] = _never_returns(function)
        return found

    def summary(self, sym: ir.Sym) -> Summary:
        """The summary of a function. Those that call each other in a circle are run together, in a fixed order, so
        that it does not matter from where the circle is entered."""
        self.result.asked.add(sym)
        known = self.summaries.get(sym)
        if known is not None:
            return known
        unit = self.units.get(sym)
        if unit is None or sym in self.running or len(self.running) > _MAX_NESTED:
            return Summary(known_body=False)
        if self.running.isdisjoint(unit.members):
            kept = self.memo.result(unit.key)
            if kept is not None:
                self.results[unit.members[0]] = kept
                self.summaries.update(kept.summaries)
                for other in sorted(kept.asked):
                    self.summary(other)
            else:
                self.run_unit(unit)
        elif not self.run_function(sym):
            return Summary(known_body=False)
        return self.summaries.get(sym) or Summary(known_body=False)

    def run_unit(self, unit: Unit) -> None:
        outer, self.result = self.result, Result()
        for member in unit.members:
            if member not in self.summaries:
                self.run_function(member)
        self.results[unit.members[0]] = self.result
        self.memo.keep(unit.key, self.result)
        self.result = outer

    def run_function(self, sym: ir.Sym) -> bool:
        variants = [v for v in self.program.variants.get(sym, ()) if v.body is not None]
        if not variants:
            return False
        self.running.add(sym)
        try:
            merged: Summary | None = None
            for variant in variants:
                one = Runner(self, variant).summarise()
                merged = one if merged is None else merge(merged, one)
        except RecursionError:
            self.result.facts.gave_up[sym] = "nested too deeply to follow"
            merged = Summary(known_body=False)
        finally:
            self.running.discard(sym)
        assert merged is not None
        self.summarised(sym, merged)
        return True

    def summarised(self, sym: ir.Sym, summary: Summary) -> None:
        """Keep the summary of a function, or of a lambda in it, with the result that is being made."""
        self.summaries[sym] = self.result.summaries[sym] = summary


class Runner:
    """One function variant (or lambda in its context) being run."""

    def __init__(self, interp: _Interpreter, function: ir.Function, outer: Runner | None = None) -> None:
        self.interp = interp
        self.program = interp.program
        self.facts = interp.result.facts
        self.function = function
        self.outer = outer
        self.param_syms = {p.sym for p in function.params} | {"this"}
        if outer is not None:
            self.param_syms |= outer.param_syms
        self.choices: tuple[int, ...] = ()
        self.log: list[tuple[int, int]] = []
        self.returns: list[tuple[State, Value, ir.Span]] = []
        self.breaks: list[list[State]] = []
        self.continues: list[list[State]] = []
        self.opens: dict[tuple[object, ...], Obligation] = {}
        self.reads: set[Path] = set()
        self.writes: set[Path] = set()
        self.statement: ir.Span = function.span
        self.statement_kind = "expression"
        self.braceless = False
        self.dest = ("", "")
        self.conditional = 0
        self.checking = False
        self.locals: dict[ir.Sym, str] = {p.sym: p.type for p in function.params}
        self.names: dict[ir.Sym, str] = {p.sym: p.name for p in function.params}
        self.closures: set[object] = set()
        self.steps = 0

    # ---------------------------------------------------------------------------------------------- driving

    def summarise(self, entry: State | None = None) -> Summary:
        state = entry.copy() if entry is not None else State(self.interp.everywhere)
        body = self.function.body
        assert body is not None
        made = self.program.carrier_of(self.function.owner) if self.function.is_constructor else None
        if made is not None and entry is None:  # nothing is marked yet, whatever the callers have
            state.objects["this",] = Obj(made.name, markers=tuple((m, fm.FALSE) for m in made.markers))
        states = [state]
        for init in self.function.inits:
            states = self.simple(states, init.span, "expression", lambda st, init=init: self.eval(init, st))  # type: ignore[misc]
        for end in self.execute(body, states):
            self.returns.append(
                (end, None, ir.Span(self.function.span.end, self.function.span.end, self.function.span.line))
            )
        cases: dict[tuple[object, ...], Case] = {}
        for end, value, span in self.returns:
            self.statement = span
            case = self.leave(end, value)
            cases.setdefault((case.value, case.objects, case.known, case.devices, case.content), case)
        return Summary(
            few(list(cases.values())),
            ordered(self.opens.values()),
            frozenset(self.reads),
            frozenset(self.writes),
        )

    def leave(self, state: State, value: Value) -> Case:
        """Close a path: settle the carriers that die here, keep what callers can see."""
        if (
            isinstance(value, Ref)
            and self.program.carrier_of(self.function.result)
            and not _by_reference(self.function.result)
        ):
            value = self.load(state, value)
        for path, obj in sorted(state.objects.items()):
            if not self.is_local(path) and not obj.done and obj.site is not None and obj.filled:
                self.settle(state, path, obj)
            elif self.is_local(path) and not obj.done:
                if value is not obj and not (
                    isinstance(value, Obj) and obj.site is not None and value.site == obj.site
                ):
                    self.settle(state, path, obj)
        if isinstance(value, Obj):
            value = replace(self.settle(state, (), value, returned=True), last_store=0, done=True)
        elif isinstance(value, Ptr):
            if is_pointer(self.function.result) and not self.function.parent:
                self.read(value, self.statement, state, kind="pointer")
            elif _is_container(self.function.result) and not self.function.parent:
                self.read(value, self.statement, state, kind="copyout")
            value = self.outlasting(self.resolve(value, state))
        if isinstance(value, Ptr):
            value = self.stamped(value, state)
        elif isinstance(value, Bool) and bare(self.function.result) == "bool" and not self.function.parent:
            self.answer(state, value.formula)
        known = tuple(sorted(((a, v) for a, v in state.known.items() if self.visible(a)), key=repr))
        objects = tuple(
            (p, replace(o, last_store=0, done=True))
            for p, o in sorted(state.objects.items()) if p[0] in self.param_syms and not self.by_value(p)
        )  # fmt: skip
        content = tuple(
            (p, self.stamped(c, state)) for p, c in sorted(state.content.items()) if p[0] in self.param_syms
        )
        return Case(known, state.devices, value, objects, content)

    def answer(self, state: State, formula: Formula) -> None:
        """Note with which markers of its parameters a predicate can say yes, and with which it cannot."""
        yes = state.copy()
        if not _imply(yes.known, formula, True):
            return
        if all(atom[0] == "m" for atom in yes.known):
            return  # it asks for nothing but layouts: that is its subject
        for parameter in self.function.params:
            carrier = self.program.carrier_of(parameter.type)
            path = (parameter.sym,)
            for marker in carrier.markers if carrier is not None else ():
                answer = yes.known.get(("m", path, marker))
                if answer is not False and (answer or self.excluded(yes, path, marker)):
                    continue
                self.facts.answers.add((self.function.sym, path, marker, answer is None, self.statement))

    def stamped(self, ptr: Ptr, state: State) -> Ptr:
        """The same bytes, with what a dtype test on this path says they are not."""
        origins = set()
        for origin in ptr.origins:
            carrier = self.program.carriers.get(origin.carrier)
            markers = carrier.markers if carrier is not None else ()
            never = frozenset(m for m in markers if self.excluded(state, origin.path, m))
            origins.add(origin if never <= origin.never else replace(origin, never=origin.never | never))
        return Ptr(frozenset(origins), ptr.buffers)

    def outlasting(self, ptr: Ptr) -> Ptr:
        """What a pointer says to callers: buffers of this function alone only where there is nothing else."""
        lasting = frozenset(b for b in ptr.buffers if b[0][0] in self.param_syms)
        return Ptr(ptr.origins, lasting) if lasting or ptr.origins else ptr

    def by_value(self, path: Path) -> bool:
        type_text = self.locals.get(path[0], "")
        return path[0] != "this" and len(path) == 1 and not (type_text.rstrip().endswith(("&", "*")))

    def visible(self, atom: Atom) -> bool:
        if atom[0] == "m":
            return atom[1][0] in self.param_syms
        return atom[0] == "e" and speaks(atom[1]) and mentions_only(atom[1], self.param_syms)

    def is_local(self, path: Path) -> bool:
        return path[0] not in self.param_syms or self.by_value(path)

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

    def simple(
        self, states: list[State], span: ir.Span, kind: str, action: Callable[[State], Value]
    ) -> list[State]:
        """Run one statement on each state, exploring the choices inside it."""
        outer = (self.statement, self.statement_kind)
        self.statement, self.statement_kind = span, kind
        result = [state for state, _ in self.explore(states, action)]
        self.statement, self.statement_kind = outer
        for state in result:
            temporary = [p for p in state.objects if p[0].startswith("tmp@")]
            if temporary:
                held = {v.path for v in state.variables.values() if isinstance(v, Ref)}
                for path in temporary:
                    if path not in held:
                        del state.objects[path]
        return self.join(result)

    def explore(self, states: list[State], action: Callable[[State], Value]) -> list[tuple[State, Value]]:
        found: list[tuple[State, Value]] = []
        saved = (self.choices, self.log)
        for state in states:
            pending: list[tuple[int, ...]] = [()]
            runs = alive = 0
            while pending and alive < _MAX_CHOICES and runs < 8 * _MAX_CHOICES:
                runs += 1
                self.choices = pending.pop()
                self.log = []
                trial = state.copy()
                try:
                    value = action(trial)
                except Dead:
                    pass
                else:
                    alive += 1
                    found.append((trial, value))
                taken = tuple(c for c, _ in self.log)
                for position in range(len(self.choices), len(self.log)):
                    for alternative in range(1, self.log[position][1]):
                        pending.append((*taken[:position], alternative))
            if pending and not alive:  # too many ways to try: go on without what was asked
                found.append((state.copy(), None))
        self.choices, self.log = saved
        return found

    def choose(self, count: int) -> int:
        position = len(self.log)
        taken = self.choices[position] if position < len(self.choices) else 0
        self.log.append((taken, count))
        return taken

    def join(self, states: list[State]) -> list[State]:
        """Drop differences that cannot matter: states equal but for opaque conditions become one."""
        if len(states) < 2:
            return states
        merged: list[tuple[State, dict[Atom, bool]]] = []
        for state in states:
            told = {a: v for a, v in state.known.items() if a[0] != "e"}
            # They share most of their values: to compare them is cheaper than to hash all of them.
            first = next((s for s, known in merged if known == told and s.same(state)), None)
            if first is None:
                merged.append((state, told))
            else:
                first.known = {a: v for a, v in first.known.items() if state.known.get(a) == v}
                first.narrowed = first.narrowed and state.narrowed
                first.device_of = first.device_of if first.device_of == state.device_of else ""
                first.resolved &= state.resolved
                first.dispatched |= state.dispatched
        result = [state for state, _ in merged]
        if len(result) > _MAX_STATES:
            result = self.squeeze(result)
        return result

    def squeeze(self, states: list[State]) -> list[State]:
        """Too many states: merge those that agree on devices and markers, joining what their carriers are."""
        groups: dict[object, State] = {}
        for state in states:
            key: object = (state.devices, frozenset((a, v) for a, v in state.known.items() if a[0] == "m"))
            if len(groups) >= _MAX_STATES:
                key = state.devices if any(k == state.devices for k in groups) else next(iter(groups))
            first = groups.get(key)
            if first is None:
                groups[key] = state
                continue
            first.known = {a: v for a, v in first.known.items() if state.known.get(a) == v}
            first.devices |= state.devices
            first.narrowed = first.narrowed and state.narrowed
            first.device_of = first.device_of if first.device_of == state.device_of else ""
            first.resolved &= state.resolved
            first.dispatched |= state.dispatched
            for path in set(first.objects) | set(state.objects):
                a, b = first.objects.get(path), state.objects.get(path)
                if a is None or b is None or a == b:
                    if a is None and b is not None:
                        first.objects[path] = b
                    continue
                if b.site is not None and b.site != a.site and not b.done and self.is_local(path):
                    self.settle(state, path, b)  # its site would be lost in the other's
                markers = tuple((k, fm.one_of(v, b.marker(k) or v)) for k, v in a.markers)
                first.objects[path] = replace(
                    a, storage=a.storage.join(b.storage), markers=markers, site=a.site or b.site, open=a.open | b.open,
                    done=a.done and b.done,
                )  # fmt: skip
            for symbol, value in state.variables.items():
                mine = first.variables.get(symbol)
                if mine != value:
                    if isinstance(mine, Ptr) and isinstance(value, Ptr):
                        first.variables[symbol] = mine.join(value)
                    elif isinstance(mine, Bool) and isinstance(value, Bool):
                        first.variables[symbol] = Bool(fm.one_of(mine.formula, value.formula))
                    elif mine is None:
                        first.variables[symbol] = value
            for path, held in state.content.items():
                first.content[path] = held.join(first.content.get(path, Ptr()))
        return list(groups.values())

    # ------------------------------------------------------------------------------------------- statements

    def return_(self, stmt: ir.Return, states: list[State]) -> None:
        outer = (self.statement, self.statement_kind)
        self.statement, self.statement_kind = stmt.span, "return"
        x = stmt.x
        if x is not None:
            if isinstance(x, ir.Init) and not self.program.carrier_of(x.type) and len(x.items) == 1:
                x = x.items[0]
            bool_result = bare(self.function.result) == "bool" or not self.function.result

            def action(state: State) -> Value:
                if bool_result and _is_boolean(x, self.program):
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
                and not _is_borrowing(var.type)
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

    def bind(self, state: State, path: Path, carrier: Carrier, value: Value) -> None:
        """Give a carrier lvalue its value."""
        if isinstance(value, Many) or value is None:
            obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        elif isinstance(value, Obj):
            obj = self.convert(value, carrier)
            self.consume(state, value)
        elif isinstance(value, Ref):
            obj = self.convert(self.load(state, value), carrier)
            if obj.site is None and not self.is_local(value.path) or value.path not in state.objects:
                obj = replace(obj, whole_copy=value.path)
            else:
                self.consume(state, obj)
        else:
            obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
            if isinstance(value, Ptr):
                obj = replace(obj, storage=value)
        state.objects[path] = replace(obj, done=False)

    def convert(self, obj: Obj, carrier: Carrier) -> Obj:
        if obj.carrier == carrier.name:
            return obj
        return replace(
            obj, carrier=carrier.name, markers=tuple((m, obj.marker(m) or fm.FALSE) for m in carrier.markers)
        )

    def consume(self, state: State, obj: Obj) -> None:
        """A local carrier was copied on: whoever holds the copy answers for it."""
        for path, known in list(state.objects.items()):
            if known.site is not None and known.site == obj.site and not known.done and self.is_local(path):
                state.objects[path] = replace(known, done=True)

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

    def demand(self, asked: Formula, value: bool) -> None:
        """Note what the markers have to be where a check of `asked` is passed as `value`."""
        certain: dict[Atom, bool] = {}
        if _imply(certain, asked, value):
            self.facts.demands.update(
                (self.function.sym, atom[1], atom[2], known, self.statement)
                for atom, known in certain.items() if atom[0] == "m"
            )  # fmt: skip

    def only_leaves(self, stmt: ir.Stmt) -> bool:
        """The statement only refuses: it throws, calls what never returns, or returns nothing, false or null."""
        if isinstance(stmt, ir.Block):
            return 0 < len(stmt.body) <= 3 and self.only_leaves(stmt.body[-1])
        if isinstance(stmt, ir.Do):
            return isinstance(stmt.x, ir.ThrowExpr) or isinstance(stmt.x, ir.Call) and self.ends(stmt.x)
        if isinstance(stmt, ir.Return):
            return stmt.x is None or isinstance(stmt.x, ir.Lit)
        return False

    def ends(self, x: ir.Call) -> bool:
        """A call that does not come back: by its body, or by its name where there is none."""
        last = x.name.rpartition("::")[2]
        function = self.program.function(x.callee) if x.callee else None
        if function is not None and function.body is not None:
            return self.interp.never_returns(function)
        return last in _NORETURN or bare(x.type) == "void" and bool(_REFUSES.match(last))

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

    # ------------------------------------------------------------------------------------------- conditions

    def test(self, x: ir.Expr, state: State) -> Formula:
        """The formula of a condition."""
        if isinstance(x, ir.Lit):
            if x.kind == "bool":
                return fm.TRUE if x.value == "true" else fm.FALSE
            return fm.atom("e", ("lit", x.value))
        if isinstance(x, ir.Unary) and x.op == "!":
            return fm.negate(self.test(x.x, state))
        if isinstance(x, ir.Binary):
            if x.op == "&&" or x.op == "&" and _is_boolean(x.a, self.program):
                return fm.both(self.test(x.a, state), self.test(x.b, state))
            if x.op == "||" or x.op == "|" and _is_boolean(x.a, self.program):
                return fm.either(self.test(x.a, state), self.test(x.b, state))
            if x.op in ("==", "!="):
                found = self.equality(x, state)
                return fm.negate(found) if x.op == "!=" else found
        if isinstance(x, ir.Cond):
            test = self.test(x.test, state)
            return fm.either(
                fm.both(test, self.test(x.yes, state)), fm.both(fm.negate(test), self.test(x.no, state))
            )
        if isinstance(x, ir.Cast):
            return self.test(x.x, state)
        if isinstance(x, ir.Other) and len(x.items) == 1:
            return self.test(x.items[0], state)
        if isinstance(x, ir.Call):
            predicate = self.predicate(x)
            if predicate is not None:
                return predicate
            value = self.eval(x, state)
            if isinstance(value, Bool):
                return value.formula
            return fm.atom("e", self.key(x, state))
        value = self.eval(x, state)
        if isinstance(value, Bool):
            return value.formula
        return fm.atom("e", self.key(x, state))

    def device_constant(self, x: ir.Expr) -> str:
        if isinstance(x, ir.Cast):
            return self.device_constant(x.x)
        if (
            isinstance(x, ir.Name)
            and x.kind == "enum"
            and x.name.rpartition("::")[0] in self.program.device_enums
        ):
            return device_name(x.name)
        return ""

    def device_operand(self, x: ir.Expr) -> bool:
        if isinstance(x, ir.Field):
            return self.program.is_device(x.type)
        if isinstance(x, ir.Name):
            return self.program.is_device(self.locals.get(x.sym, ""))
        if isinstance(x, ir.Call):
            return self.program.is_device(x.type)
        return isinstance(x, ir.Cast) and self.device_operand(x.x)

    def equality(self, x: ir.Binary, state: State) -> Formula:
        for constant, other in ((x.a, x.b), (x.b, x.a)):
            name = self.device_constant(constant)
            if name and name in self.interp.everywhere:
                value = self.eval(other, state)
                if isinstance(value, Dev):
                    if len(value.names) == 1:
                        return fm.TRUE if name in value.names else fm.FALSE
                return fm.atom("dev", frozenset({name}), self.interp.everywhere - {name}, _root(other))
            if isinstance(constant, ir.Lit) and constant.kind == "bool":
                f = self.test(other, state)
                return f if constant.value == "true" else fm.negate(f)
        if _is_boolean(x.a, self.program) and _is_boolean(x.b, self.program):
            a, b = self.test(x.a, state), self.test(x.b, state)
            return fm.either(fm.both(a, b), fm.both(fm.negate(a), fm.negate(b)))
        self.eval(x.a, state)
        self.eval(x.b, state)
        a_key, b_key = self.key(x.a, state), self.key(x.b, state)
        if a_key == b_key:
            return fm.TRUE
        first, second = sorted((a_key, b_key), key=repr)
        return fm.atom("e", ("==", first, second))

    def predicate(self, x: ir.Call) -> Formula | None:
        """`is_cpu()` and its kind: by body when there is one that tests the device, else by name."""
        last = x.name.rpartition("::")[2]
        found = _IS_DEVICE.match(last)
        if found is None:
            return None
        word = found.group(1).lower()
        everywhere = self.interp.everywhere
        aliases = {"host": "cpu"}
        word = aliases.get(word, word)
        if word in everywhere:
            return fm.atom("dev", frozenset({word}), everywhere - {word})
        if _GPU.match(word):
            return fm.atom("dev", everywhere - {"cpu"}, everywhere)
        if word == "cpu":
            return fm.atom("dev", everywhere & {"cpu"}, everywhere - {"cpu"})
        return None

    def assume(
        self, state: State, f: Formula, polarity: bool, resolving: bool = False, told: bool = False
    ) -> None:
        """Restrict `state` to where `f` is `polarity`. `told`: a callee says so, this function tests nothing. Raises
        Dead when it cannot be."""
        head = f[0]
        if not told:
            # All that it asks: an operand may not be come to, where two markers exclude each other.
            asked = {a[1:] for a in fm.atoms(f) if a[0] == "m"}
            if asked:
                self.facts.tests.setdefault(self.function.sym, set()).update(asked)
        if head == "c":
            if f[1] is not polarity:
                raise Dead
        elif head == "!":
            self.assume(state, f[1], not polarity, resolving, told)
        elif head == "a":
            self.assume_atom(state, f[1], polarity, resolving, told)
        elif head == "any":
            members = sorted(f[1], key=repr)
            self.assume(state, members[self.choose(len(members))], polarity, resolving, told)
        elif (head == "&") is polarity:
            self.assume(state, f[1], polarity, resolving, told)
            self.assume(state, f[2], polarity, resolving, told)
        elif self.choose(2) == 0:
            self.assume(state, f[1], polarity, resolving, told)
        else:
            self.assume(state, f[1], not polarity, resolving, told)
            self.assume(state, f[2], polarity, resolving, told)

    def assume_atom(self, state: State, key: Atom, polarity: bool, resolving: bool, told: bool) -> None:
        if key[0] == "dev":
            asked = key[3] if len(key) > 3 else ""
            left = state.devices & (key[1] if polarity else key[2])
            if left:
                state.devices, state.narrowed = left, True
                state.device_of = state.device_of or asked
            elif not asked or not state.device_of or asked == state.device_of:
                raise Dead
            return  # of another object (a function may use two queues): it says nothing about this one
        if key[0] == "m" and not told:
            if polarity and resolving:
                self.facts.resolves.setdefault(self.function.sym, set()).add((key[1], key[2]))
                state.resolved |= {(key[1], key[2])}
            elif not polarity and not self.checking:
                state.dispatched |= {(key[1], key[2])}
        if key[0] == "m" and polarity and self.has_another(state, key[1], key[2]):
            raise Dead
        known = state.known.get(key)
        if known is None:
            if key[0] != "e" or not self.checking or worth_knowing(key[1]):
                state.known[key] = polarity
        elif known is not polarity:
            raise Dead

    def key(self, x: ir.Expr, state: State) -> object:
        """The structure of an expression, aliases resolved, for telling whether two conditions are the same."""
        if isinstance(x, ir.Name):
            value = state.variables.get(x.sym)
            if isinstance(value, Ref):
                return value.path
            return x.name if x.kind == "enum" else (x.sym or x.name,)
        if isinstance(x, ir.This):
            return ("this",)
        if isinstance(x, ir.Field):
            base = self.key(x.base, state)
            return (*base, x.name) if isinstance(base, tuple) else (base, x.name)
        if isinstance(x, ir.Lit):
            return ("lit", x.value)
        if isinstance(x, (ir.Unary,)):
            return self.key(x.x, state) if x.op in ("*", "&") else (x.op, self.key(x.x, state))
        if isinstance(x, ir.Binary):
            return (x.op, self.key(x.a, state), self.key(x.b, state))
        if isinstance(x, ir.Cast):
            return self.key(x.x, state)
        if isinstance(x, ir.Index):
            base = self.key(x.base, state)
            index = self.key(x.index, state)
            return (*base, f"[{short(index)}]") if isinstance(base, tuple) else ("[]", base, index)
        if isinstance(x, ir.Call):
            base = self.key(x.base, state) if x.base is not None else ()
            return ("call", x.name, base, tuple(self.key(a, state) for a in x.args))
        if isinstance(x, ir.Init):
            return ("init", *(self.key(i, state) for i in x.items))
        if isinstance(x, ir.Other) and len(x.items) == 1:
            return self.key(x.items[0], state)
        return ("at", x.span.begin)

    # ------------------------------------------------------------------------------------------ expressions

    def eval(self, x: ir.Expr, state: State) -> Value:
        if isinstance(x, ir.Name):
            return self.name(x, state)
        if isinstance(x, ir.Field):
            return self.field_(x, state)
        if isinstance(x, ir.Call):
            return self.call(x, state)
        if isinstance(x, ir.This):
            return state.variables.get("this") or Ref(("this",), self.function.owner, x.span)
        if isinstance(x, ir.Assign):
            return self.assign(x, state)
        if isinstance(x, ir.Unary):
            return self.unary(x, state)
        if isinstance(x, ir.Binary):
            return self.binary(x, state)
        if isinstance(x, ir.Cond):
            test = self.test(x.test, state)
            first = self.choose(2) == 0
            self.assume(state, test, first, resolving=not _is_assert(x.no))
            self.conditional += 1
            value = self.eval(x.yes if first else x.no, state)
            self.conditional -= 1
            return value
        if isinstance(x, ir.Cast):
            value = self.eval(x.x, state)
            carrier = self.program.carriers.get(bare(x.type))
            if isinstance(value, Many) and carrier is not None:
                return self.aggregate_of(x, carrier, value, state)
            if (
                isinstance(value, Ptr)
                and is_pointer(x.type)
                and bare(x.type) not in _RAW
                and not x.span.macro
            ):
                self.read(value, x.span, state, kind="typed")
            return value
        if isinstance(x, ir.Lit):
            return Bool(fm.TRUE if x.value == "true" else fm.FALSE) if x.kind == "bool" else None
        if isinstance(x, ir.Init):
            return self.init(x, state)
        if isinstance(x, ir.Index):
            return self.index(x, state)
        if isinstance(x, ir.Lambda):
            return self.closure(x, state)
        if isinstance(x, ir.ThrowExpr):
            if x.x is not None:
                self.eval(x.x, state)
            raise Dead
        if isinstance(x, ir.New):
            values = [self.eval(a, state) for a in x.args]
            if self.program.carrier_of(x.type) and values:
                return values[0]
            buffers = [v for v in values if isinstance(v, Ptr)]
            if buffers:
                return buffers[0]
            return (
                Ptr(frozenset(), frozenset({((f"new@{x.span.begin}",), WHOLE)}))
                if is_byte_pointer(x.type)
                else None
            )
        for item in x.items:
            self.eval(item, state)
        return None

    def name(self, x: ir.Name, state: State) -> Value:
        if x.kind == "enum":
            device = self.device_constant(x)
            return Dev(frozenset({device})) if device else None
        if x.kind == "function":
            return Closure(x.sym) if x.sym else None
        value = state.variables.get(x.sym)
        if value is not None:
            return Ref(value.path, value.type, x.span) if isinstance(value, Ref) else value
        type_text = self.locals.get(x.sym, "")
        if not type_text and x.sym in self.program.globals:
            type_text = self.program.globals[x.sym].type
        if not type_text and self.outer is not None:
            type_text = self.outer.type_of_local(x.sym)
        path = (x.sym,)
        if self.program.carrier_of(type_text) or path in state.objects:
            return Ref(path, type_text, x.span)
        if bare(type_text) == "bool" and not is_pointer(type_text):
            return Bool(fm.atom("e", path))
        if self.program.is_device(type_text):
            return None
        if self.is_buffer(type_text):
            return Ptr(frozenset(), frozenset({(path, WHOLE)}))
        if type_text and is_scalar(type_text):
            return None
        return Ref(path, type_text, x.span)

    def type_of_local(self, sym: ir.Sym) -> str:
        found = self.locals.get(sym, "")
        return found or (self.outer.type_of_local(sym) if self.outer is not None else "")

    def is_buffer(self, type_text: str) -> bool:
        """A type that holds or points to raw bytes and is no carrier."""
        found = self.interp.buffers.get(type_text)
        if found is None:
            found = self.interp.buffers[type_text] = self.interp.holds_raw_bytes(type_text)
        return found

    def load(self, state: State, ref: Ref) -> Obj:
        """The carrier at an lvalue: as stored on this path, else as its own, unknown, source."""
        known = state.objects.get(ref.path)
        if known is not None:
            return known
        carrier = self.program.carrier_of(ref.type)
        if carrier is None:
            carrier = self.carrier_at(ref.path)
        if carrier is None:
            return Obj("")
        return Obj(
            carrier.name,
            storage=Ptr(frozenset({Origin(ref.path, carrier.name, span=ref.span)})),
            markers=tuple((m, fm.atom("m", ref.path, m)) for m in carrier.markers),
            whole_copy=ref.path,
        )

    def carrier_at(self, path: Path) -> Carrier | None:
        if len(path) == 1:
            type_text = self.type_of_local(path[0])
            if path[0] == "this":
                type_text = self.function.owner
            return self.program.carrier_of(type_text)
        return None

    def field_(self, x: ir.Field, state: State) -> Value:
        base = self.eval(x.base, state)
        carrier = self.program.carriers.get(x.owner)
        if isinstance(base, Obj):  # a member of a temporary
            temporary = (f"tmp@{x.base.span.begin}",)
            state.objects[temporary] = base
            base = Ref(temporary, base.carrier, x.base.span)
        if not isinstance(base, Ref):
            if bare(x.type) == "bool":
                return Bool(fm.atom("e", self.key(x, state)))
            if isinstance(base, Ptr) and self.is_buffer(x.type):
                return base
            if isinstance(base, Ptr) and self.through_pointer(x.base):
                self.read(base, x.span, state)  # `blocks[i].scale`: bytes taken as a record
            return None
        if carrier is not None:
            return self.carrier_member(x, base, carrier, state)
        path: Path = (*base.path, x.name)
        if path in state.objects or self.program.carrier_of(x.type):
            alias = state.variables.get("\0".join(path))
            return alias if isinstance(alias, Ref) else Ref(path, x.type, x.span)
        if bare(x.type) == "bool" and not is_pointer(x.type):
            return Bool(fm.atom("e", path))
        if self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({(path, WHOLE)}))
        if is_scalar(x.type):
            return None
        if self.program.is_device(x.type):
            return None
        return Ref(path, x.type, x.span)

    def through_pointer(self, x: ir.Expr) -> bool:
        """Does `x.member` follow a raw pointer, rather than look into an object that owns bytes?"""
        if isinstance(x, ir.Name):
            return is_pointer(self.type_of_local(x.sym))
        if isinstance(x, ir.Field):
            return is_pointer(x.type)
        return not isinstance(x, ir.This)

    def carrier_member(self, x: ir.Field, base: Ref, carrier: Carrier, state: State) -> Value:
        if x.name in carrier.markers:
            value = self.load(state, Ref(base.path, carrier.name, base.span)).marker(x.name)
            return Bool(value if value is not None else fm.FALSE)
        if x.name in carrier.storage:
            inner = self.program.carrier_of(x.type)
            own = (*base.path, x.name)
            if own in state.content:
                return state.content[own]
            if inner is not None:
                return Ref(own, x.type, x.span)
            if (carrier.name, x.name) in self.interp.fresh_fields:
                return Ptr(frozenset(), frozenset({(own, WHOLE)}))
            obj = self.load(state, Ref(base.path, carrier.name, base.span))
            storage = obj.storage
            if not storage.origins and not storage.buffers:  # a fresh owner's own bytes
                return Ptr(frozenset({Origin(base.path, carrier.name, span=base.span)}))
            if obj.whole_copy is not None or not obj.filled:
                storage = Ptr(frozenset(replace(o, span=base.span) for o in storage.origins), storage.buffers)
            return storage
        path = (*base.path, x.name)
        if bare(x.type) == "bool" and not is_pointer(x.type):
            return Bool(fm.atom("e", path))
        obj_here = state.objects.get(base.path)
        if obj_here is not None and obj_here.device is not None and "device" in x.name.lower():
            return Dev(obj_here.device)
        if is_scalar(x.type) or self.program.is_device(x.type):
            return None
        if self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({(path, WHOLE)}))
        return Ref(path, x.type, x.span)

    def unary(self, x: ir.Unary, state: State) -> Value:
        if x.op == "!":
            return Bool(self.test(x, state))
        if x.op == "&":
            inner = x.x
            if isinstance(inner, ir.Index):
                return self.index(inner, state, address=True)
            return self.eval(inner, state)
        value = self.eval(x.x, state)
        if x.op == "*":
            if isinstance(value, Ptr):
                self.read(value, x.span, state)
                return None
            return value
        if x.op in ("++", "--") and isinstance(value, Ptr) and isinstance(x.x, ir.Name):
            state.variables[x.x.sym] = value.cut()
            return value
        return None

    def binary(self, x: ir.Binary, state: State) -> Value:
        if x.op in ("&&", "||", "==", "!=", "<", ">", "<=", ">="):
            if x.op in ("<", ">", "<=", ">="):
                self.eval(x.a, state)
                self.eval(x.b, state)
                return Bool(fm.atom("e", self.key(x, state)))
            return Bool(self.test(x, state))
        a = self.eval(x.a, state)
        b = self.eval(x.b, state)
        for value, other in ((a, x.b), (b, x.a)):
            if isinstance(value, Ptr) and x.op in ("+", "-"):
                return value if self.is_zero(other, state) else value.cut(self.factors(other, state))
        return None

    def factors(self, x: ir.Expr, state: State) -> frozenset[object]:
        """Keys of the numbers that the value of `x` is a multiple of."""
        if isinstance(x, ir.Cast):
            return self.factors(x.x, state)
        if isinstance(x, ir.Other) and len(x.items) == 1:
            return self.factors(x.items[0], state)
        if isinstance(x, ir.Binary) and x.op == "*":
            return self.factors(x.a, state) | self.factors(x.b, state)
        return frozenset({self.key(x, state)})

    def is_zero(self, x: ir.Expr, state: State) -> bool:
        if isinstance(x, ir.Lit):
            return x.value in ("0", "0u", "0ul", "0L")
        if isinstance(x, ir.Cast):
            return self.is_zero(x.x, state)
        if isinstance(x, ir.Binary) and x.op == "*":
            return self.is_zero(x.a, state) or self.is_zero(x.b, state)
        key = self.key(x, state)
        return any(
            v and a[0] == "e" and isinstance(a[1], tuple) and len(a[1]) == 3 and a[1][0] == "=="
            and key in a[1] and ("lit", "0") in a[1]
            for a, v in state.known.items()
        )  # fmt: skip

    def index(self, x: ir.Index, state: State, address: bool = False) -> Value:
        base = self.eval(x.base, state)
        self.eval(x.index, state)
        if isinstance(base, Ptr):
            if address:
                return base if self.is_zero(x.index, state) else base.cut()
            if not x.type or is_scalar(x.type):
                self.read(base, x.span, state)
                return None
            return base.cut()
        if isinstance(base, Many):
            return base.items[0] if base.items else None
        if isinstance(base, Ref):
            if bare(x.type) == "bool" and not is_pointer(x.type):
                return Bool(fm.atom("e", self.key(x, state)))
            path = (*base.path, f"[{short(self.key(x.index, state))}]")
            if self.is_buffer(x.type):
                return Ptr(frozenset(), frozenset({(path, WHOLE)}))
            if is_scalar(x.type):
                return None
            return Ref(path, x.type, x.span)
        return None

    def init(self, x: ir.Init, state: State) -> Value:
        carrier = self.program.carriers.get(bare(x.type))
        if carrier is None:
            values = tuple(self.eval(i, state) for i in x.items)
            if x.fields and bare(x.type) in self.program.records:
                for value, item in zip(values, x.items, strict=False):
                    self.into_plain(value, item.span, state, bare(x.type))
            return Many(values)
        if len(x.items) == 1 and not x.fields:
            value = self.eval(x.items[0], state)
            if isinstance(value, (Obj, Ref)):
                return value
        values = tuple(self.eval(i, state) for i in x.items)
        if not values:
            return Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        return self.aggregate(x, carrier, values, x.fields or tuple(m.name for m in carrier.members), state)

    def aggregate_of(self, x: ir.Cast, carrier: Carrier, value: Many, state: State) -> Value:
        names = tuple(m.name for m in carrier.members)
        return self.aggregate(x, carrier, value.items, names, state)

    def aggregate(
        self, x: ir.Node, carrier: Carrier, values: tuple[Value, ...], names: tuple[str, ...],
        state: State,
    ) -> Value:  # fmt: skip
        obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        held = Ptr()
        for position, value in enumerate(values):
            name = names[position] if position < len(names) else ""
            if name in carrier.markers:
                f = (
                    value.formula
                    if isinstance(value, Bool)
                    else fm.atom("e", ("init", position, x.span.begin))
                )
                obj = obj.with_marker(name, f)
            elif name in carrier.storage:
                if isinstance(value, Ptr):
                    held = held.join(value)
                elif isinstance(value, (Ref, Obj)) and carrier.inner:
                    inner = self.load(state, value) if isinstance(value, Ref) else value
                    held = held.join(inner.storage)
            elif isinstance(value, Dev):
                obj = replace(obj, device=value.names)
        if held.origins or held.buffers:
            obj = replace(obj, storage=held, site=self.site(x.span, "aggregate"), filled=True)
        return obj

    def assign(self, x: ir.Assign, state: State) -> Value:
        target = x.target
        while isinstance(target, ir.Cast):
            target = target.x
        if isinstance(target, ir.Field):
            carrier = self.program.carriers.get(target.owner)
            if carrier is not None:
                return self.assign_member(x, target, carrier, state)
        chained = isinstance(x.value, ir.Assign)
        is_bool = (
            isinstance(target, (ir.Name, ir.Field))
            and bare(target.type if isinstance(target, ir.Field) else self.type_of_local(target.sym))
            == "bool"
        )
        value: Value = (
            Bool(self.test(x.value, state)) if is_bool and not chained else self.eval(x.value, state)
        )
        if isinstance(target, ir.Name):
            self.forget(state, target.sym)
            carrier = self.program.carriers.get(bare(self.type_of_local(target.sym)))
            type_text = self.type_of_local(target.sym)
            if carrier is not None and not is_pointer(type_text):
                alias = state.variables.get(target.sym)
                path = alias.path if isinstance(alias, Ref) else (target.sym,)
                self.assign_whole(state, path, carrier, value)
            elif self.is_buffer(type_text):
                if isinstance(value, Ptr) and target.sym in self.param_syms and type_text.endswith("&"):
                    self.read(value, x.span, state, kind="copyout")
                self.assign_buffer(x, state, (target.sym,), type_text, value)
            elif x.op == "=":
                if value is None:
                    state.variables.pop(target.sym, None)
                else:
                    state.variables[target.sym] = value
            return value
        if isinstance(target, ir.Index):
            base = self.eval(target.base, state)
            self.eval(target.index, state)
            if isinstance(base, Ptr):
                if isinstance(value, Ptr) and is_scalar(target.type):  # an address into a table of numbers
                    self.read(value, x.span, state)
                    value = None
                self.write(base, x.span, state, "store", value)
                return value
            if isinstance(target.base, ir.Field) and target.base.owner in self.program.carriers:
                self.shape_store(target.base, x, state)
        place = self.eval(target, state) if not isinstance(target, ir.Index) else self.index(target, state)
        if isinstance(place, Ref):
            carrier = self.program.carrier_of(place.type)
            if carrier is not None and not is_pointer(place.type):
                self.assign_whole(state, place.path, carrier, value)
            elif isinstance(value, Ref) and is_pointer(place.type):
                state.variables["\0".join(place.path)] = value
            else:
                self.escape(value, x.span, state)
        elif isinstance(place, Ptr):
            if isinstance(target, ir.Unary):
                self.write(place, x.span, state, "store", value)
            elif isinstance(target, ir.Field):  # one of several members of an owner of bytes
                self.into_plain(value, x.span, state, target.owner)
                for path, _ in place.buffers:
                    if isinstance(value, Ptr):
                        state.content[path] = value.join(state.content.get(path, Ptr()))
            else:
                for path, _ in place.buffers:
                    state.content[path] = value if isinstance(value, Ptr) else Ptr()
        elif isinstance(target, ir.Field):
            self.into_plain(value, x.span, state, target.owner)
        return value

    def assign_buffer(self, x: ir.Assign, state: State, path: Path, type_text: str, value: Value) -> None:
        known = state.variables.get(path[0])
        if x.op in ("+=", "-="):
            if isinstance(known, Ptr):
                state.variables[path[0]] = known if self.is_zero(x.value, state) else known.cut()
            return
        held = value if isinstance(value, Ptr) else Ptr()
        if is_pointer(type_text) or _is_borrowing(type_text):
            state.variables[path[0]] = (
                held if isinstance(value, Ptr) else Ptr(frozenset(), frozenset({(path, WHOLE)}))
            )
            return
        if isinstance(known, Ptr) and not (
            known.buffers == {(path, WHOLE)} or not known.buffers
        ):  # a reference
            for buffer, _ in known.buffers:
                state.content[buffer] = held
            return
        state.content[path] = held

    def forget(self, state: State, sym: ir.Sym) -> None:
        """A variable changes: conditions about its old value say nothing any more."""
        stale = [
            a
            for a in state.known
            if a[0] == "e" and mentions_symbol(a[1], sym) or a[0] == "m" and a[1][0] == sym
        ]
        for atom in stale:
            del state.known[atom]

    def assign_whole(self, state: State, path: Path, carrier: Carrier, value: Value) -> None:
        if isinstance(value, Ref) and value.path == path:
            return
        for atom in [a for a in state.known if a[0] == "m" and a[1] == path]:
            del state.known[atom]
        self.bind(
            state, path, carrier, value
        )  # settled when the function ends: the next lines may still mark it

    def assign_member(self, x: ir.Assign, target: ir.Field, carrier: Carrier, state: State) -> Value:
        base = self.eval(target.base, state)
        if target.name in carrier.markers:
            value: Value = (
                self.eval(x.value, state)
                if isinstance(x.value, ir.Assign)
                else Bool(self.test(x.value, state))
            )
            if isinstance(base, Ref) and isinstance(value, Bool):
                literal = isinstance(x.value, (ir.Lit, ir.Assign))
                self.set_marker(base, target, carrier, value.formula, state, x.span, literal)
            return value
        value = self.eval(x.value, state)
        if not isinstance(base, Ref):
            return value
        if target.name in carrier.storage:
            self.set_storage(x, base, target, carrier, value, state)
            return value
        obj = state.objects.get(base.path)
        if obj is not None:
            obj = replace(obj, last_store=x.span.end)
            if (
                isinstance(value, Dev)
                and self.program.is_device(target.type)
                or isinstance(value, Dev)
                and "device" in target.name
            ):
                obj = replace(obj, device=value.names)
            elif "device" in target.name and not isinstance(value, Dev):
                obj = replace(obj, device=None)
            state.objects[base.path] = obj
        return value

    def shape_store(self, array: ir.Field, x: ir.Assign, state: State) -> None:
        base = self.eval(array.base, state)
        if not isinstance(base, Ref):
            return
        obj = state.objects.get(base.path)
        if obj is None or obj.done:
            return
        obj = replace(obj, last_store=x.span.end)
        index = x.target.index if isinstance(x.target, ir.Index) else None
        if "shape" in array.name and isinstance(index, ir.Lit) and index.value == "0" and x.op == "=":
            obj = replace(obj, rows=self.key(x.value, state))
        if obj.whole_copy is not None and not obj.filled and "shape" in array.name:
            source = (*obj.whole_copy, array.name)
            key = self.key(x.value, state)
            if not (isinstance(key, tuple) and key[:-1] == source) and not obj.reshaped:
                obj = replace(
                    obj,
                    reshaped=True,
                    site=obj.site or self.site(x.span, "reshape", self.spelling(array.base)),
                )
        state.objects[base.path] = obj

    def reshapes(self, x: ir.Call, storage: Ptr, state: State) -> bool:
        """Are the dimensions given to a factory those of the source, multiplied, divided or in another order?"""
        for argument in x.args:
            while (
                isinstance(argument, ir.Cast)
                or isinstance(argument, ir.Call)
                and argument.kind == "ctor"
                and argument.args
            ):
                argument = argument.x if isinstance(argument, ir.Cast) else argument.args[0]
            if not isinstance(argument, ir.Init):
                continue
            given = [self.key(item, state) for item in argument.items]
            for origin in storage.origins:
                own = [_dimension_of(key, origin.path) for key in given]
                if None not in own and own != sorted(own, key=str):
                    return True
                if any(
                    isinstance(k, tuple) and k[0] in ("*", "/") and _has_dimension(k, origin.path)
                    for k in given
                ):
                    return True
        return False

    def set_marker(
        self,
        base: Ref,
        target: ir.Field,
        carrier: Carrier,
        f: Formula,
        state: State,
        span: ir.Span,
        literal: bool,
    ) -> None:
        reduced = fm.reduce(f, state.known)
        word = "other"
        if reduced == fm.TRUE:
            word = "true" if f == fm.TRUE and literal else "copy"
        elif reduced == fm.FALSE:
            word = "false"
        elif any(a[0] == "m" for a in fm.atoms(f)):
            word = "copy"
        self.facts.marker_writes.add(
            MarkerWrite(
                self.function.sym, self.function.path, span, base.path, target.name, word, carrier.name,
                self.is_local(base.path), frozenset(a for a, v in state.known.items() if v and a[0] == "e"),
            )
        )  # fmt: skip
        obj = self.load(state, Ref(base.path, carrier.name, base.span))
        state.known.pop(("m", base.path, target.name), None)
        state.objects[base.path] = replace(obj.with_marker(target.name, f), last_store=span.end)
        state.resolved -= {(base.path, target.name)}

    def set_storage(
        self, x: ir.Assign, base: Ref, target: ir.Field, carrier: Carrier, value: Value, state: State
    ) -> None:
        own = (*base.path, target.name)
        if (carrier.name, target.name) in self.interp.fresh_fields:
            return
        if isinstance(value, (Ref, Obj)) and carrier.inner:
            inner = self.load(state, value) if isinstance(value, Ref) else value
            value = inner.storage
        held = value if isinstance(value, Ptr) else Ptr()
        held = self.resolve(held, state)
        obj = self.load(state, Ref(base.path, carrier.name, base.span))
        local = self.is_local(base.path) and base.path in state.objects
        same = any(o.path == base.path for o in held.origins)
        if same and not local:
            if not any(o.part for o in held.origins if o.path == base.path):
                state.content[own] = held
                return
        if local or base.path in state.objects and obj.whole_copy is None:
            whole = all(not o.part for o in held.origins)
            made_elsewhere = obj.whole_copy is not None or bool(obj.open) or obj.filled and not obj.filled_by
            form = "retag" if made_elsewhere or target.name in obj.filled_by else "fields"
            if not held.origins and not held.buffers and obj.storage.origins:
                return  # e.g. a keep-alive handle next to the real pointer
            joined = held if not obj.filled or form == "retag" else obj.storage.join(held)
            if (
                obj.whole_copy is not None
                and whole
                and held.origins
                and {o.path for o in held.origins} <= {o.path for o in obj.storage.origins}
            ):
                state.objects[base.path] = replace(obj, storage=held, filled=True, last_store=x.span.end)
                if obj.site is None:
                    return
            if not held.origins and obj.storage.origins and obj.filled:
                return
            if form == "retag":
                self.facts.retagged |= {left.site for left in obj.open}
            keep = obj.site if obj.site is not None and obj.filled and form == "fields" else None
            state.objects[base.path] = replace(
                obj, storage=joined, filled=True, last_store=x.span.end, open=frozenset(),
                filled_by=(*obj.filled_by, target.name),
                site=keep or self.site(x.span, form, self.spelling(target.base), carrier.name), whole_copy=None,
            )  # fmt: skip
            return
        if not held.origins and not held.buffers:
            return
        # bytes of somebody else's carrier are replaced
        self.note_write(base.path, carrier, "replace", x.span, held, state)
        state.objects[base.path] = replace(
            obj, storage=Ptr(frozenset({Origin(base.path, carrier.name)})),
        )  # fmt: skip
        if held.origins and not same:
            made = Obj(
                carrier.name, storage=held, markers=state.objects[base.path].markers, filled=True,
                site=self.site(x.span, "borrow", self.spelling(target.base), carrier.name), last_store=x.span.end,
            )  # fmt: skip
            state.objects[base.path] = made

    def spelling(self, x: ir.Expr) -> str:
        """How the code names a simple object expression; empty for anything else."""
        if isinstance(x, ir.Name):
            return x.name
        if isinstance(x, ir.Field):
            base = self.spelling(x.base) if not isinstance(x.base, ir.This) else "this"
            if base == "this":
                return x.name
            return f"{base}.{x.name}" if base else ""
        if isinstance(x, ir.Unary) and x.op == "*":
            return self.spelling(x.x)
        return "this" if isinstance(x, ir.This) else ""

    def resolve(self, ptr: Ptr, state: State) -> Ptr:
        """Follow buffers to what was copied into them."""
        origins = set(ptr.origins)
        buffers: set[tuple[Path, str]] = set()
        for path, part in ptr.buffers:
            held = state.content.get(path)
            if held is not None and (held.origins or held.buffers):
                inner = held if not part else held.cut()
                origins |= inner.origins
                buffers |= inner.buffers
            buffers.add((path, part))
        return Ptr(frozenset(origins), frozenset(buffers))

    def site(
        self,
        span: ir.Span,
        form: str,
        dest: str = "",
        dest_type: str = "",
        callee: str = "",
        x: ir.Call | None = None,
    ) -> Site:
        name, type_text = self.dest
        sym = ""
        if x is not None:
            callee, sym, dest_type = x.name, x.callee, dest_type or bare(x.type)
        return Site(
            function=self.function.sym, path=self.function.path, span=span, form=form, statement=self.statement,
            statement_kind=self.statement_kind, braceless=self.braceless, dest=dest or name,
            dest_type=dest_type or bare(type_text), callee=callee, in_lambda=bool(self.function.parent),
            conditional=self.conditional > 0, callee_sym=sym,
        )  # fmt: skip

    # -------------------------------------------------------------------------------------------- byte sinks

    def read(self, ptr: Ptr, span: ir.Span, state: State, callee: str = "", kind: str = "read") -> None:
        """Bytes are read for their values, by this function or by a callee that knows nothing of markers."""
        ptr = self.resolve(ptr, state)
        for path, _ in ptr.buffers:
            if path[0] in self.param_syms and kind == "read":
                self.reads.add(path)
        if not ptr.origins:
            return
        site = self.site(span, kind, callee=callee)
        for origin in sorted(ptr.origins, key=lambda o: o.order):
            self.oblige(state, site, origin)

    def write(self, ptr: Ptr, span: ir.Span, state: State, kind: str, value: Value, callee: str = "") -> None:
        """Bytes are written through a pointer."""
        held = value if isinstance(value, Ptr) else Ptr()
        held = self.resolve(held, state)
        for path, _ in ptr.buffers:
            if path[0] in self.param_syms:
                self.writes.add(path)
            if kind != "store" or held.origins:
                known = state.content.get(path, Ptr())
                state.content[path] = known.join(held) if kind == "store" else held
        for origin in sorted(ptr.origins, key=lambda o: o.order):
            carrier = self.program.carriers.get(origin.carrier)
            if carrier is None:
                continue
            obj = state.objects.get(origin.path)
            fresh_local = obj is not None and self.is_local(origin.path) and obj.whole_copy is None
            if fresh_local and obj is not None and held.origins:
                outside = frozenset(o for o in held.origins if o.path != origin.path)
                if outside and obj.filled and obj.site is not None and obj.site.form == "copy":
                    state.objects[origin.path] = replace(obj, storage=obj.storage.join(Ptr(outside)))
                    continue
                if outside and not obj.filled:
                    state.objects[origin.path] = replace(
                        obj, storage=Ptr(outside), filled=True, last_store=self.statement.end,
                        site=self.site(span, "copy", self.names.get(origin.path[0], ""), carrier.name),
                    )  # fmt: skip
                    continue
            self.note_write(origin.path, carrier, kind, span, held, state, callee)

    def note_write(
        self,
        path: Path,
        carrier: Carrier,
        kind: str,
        span: ir.Span,
        held: Ptr,
        state: State,
        callee: str = "",
    ) -> None:
        if kind == "replace" and not held.origins and not held.buffers:
            return  # emptied, not filled
        site = self.site(span, "write", callee=callee)
        state.written |= {(path, span.begin)}
        obj = state.objects.get(path)
        known: dict[str, bool] = {}
        for marker in carrier.markers:
            fact = state.known.get(("m", path, marker))
            if fact is None and obj is not None:
                value = fm.reduce(obj.marker(marker) or fm.FALSE, state.known)
                fact = value[1] if value[0] == "c" else None
            if fact is not None:
                known[marker] = fact
        local = self.is_local(path) and (obj is not None and obj.whole_copy is None)
        record = BytesWrite(
            site, path, carrier.name, kind, frozenset(o.path for o in held.origins), state.devices,
            tuple(sorted(known.items())), local, callee,
        )  # fmt: skip
        self.facts.byte_writes.setdefault((site, path, record.known, kind), record)

    def into_plain(self, value: Value, span: ir.Span, state: State, owner: str) -> None:
        """A pointer or copy of bytes goes into a record that has no markers."""
        if owner.startswith(("std::pair", "std::tuple")):
            return  # a key made of an address
        if isinstance(value, Ptr) and owner not in self.program.carriers:
            held = self.resolve(value, state)
            if held.origins:
                site = self.site(span, "into", callee=owner)
                for origin in sorted(held.origins, key=lambda o: o.order):
                    self.oblige(state, site, origin)
        else:
            self.escape(value, span, state)

    def escape(self, value: Value, span: ir.Span, state: State) -> None:
        """A carrier leaves this function's hands: its obligations fall due."""
        if isinstance(value, Ref):
            obj = state.objects.get(value.path)
            if (
                obj is not None
                and not obj.done
                and (self.is_local(value.path) or value.path[0].startswith("tmp@"))
            ):
                self.settle(state, value.path, obj)
                if value.path in state.objects:
                    state.objects[value.path] = replace(obj, done=True)
        elif isinstance(value, Obj):
            if not value.done:
                self.settle(state, (), value)
        elif isinstance(value, Many):
            for item in value.items:
                self.escape(item, span, state)

    # ------------------------------------------------------------------------------------------- obligations

    def settle(self, state: State, path: Path, obj: Obj, returned: bool = False) -> Obj:
        """Judge every marker of what a carrier was made from. Returns the carrier with what stays open."""
        opens: set[Open] = set(obj.open) if returned else set()
        if not returned:
            for left in sorted(obj.open, key=lambda o: (o.source, o.marker)):
                self.settle_open(state, obj, left)
        else:
            for left in sorted(obj.open, key=lambda o: (o.source, o.marker)):
                if self.discharged(state, left.source, left.marker, obj.marker(left.marker)):
                    opens.discard(left)
                    line = left.via[-1][2].line if left.via else self.statement.line
                    self.note_not_met(state, left.site, left.source, left.marker, line)
                else:
                    self.settle_open(state, obj, left, returned=True)
        if (
            obj.site is None or obj.site.function != self.function.sym
        ):  # made by a callee: its open ones say it all
            return replace(obj, open=frozenset(opens))
        self.note_cache(obj)
        storage = self.resolve(obj.storage, state)
        opened = {(o.source, o.marker) for o in obj.open}
        for origin in sorted(storage.origins, key=lambda o: o.order):
            carrier = self.program.carriers.get(origin.carrier)
            if carrier is None or origin.path == path:
                continue
            part = bool(origin.part) or obj.reshaped
            made = self.program.carriers.get(obj.carrier)
            inner = (
                made is not None and made.inner
            )  # the carrier inside keeps its own; only re-declared ones are owed
            for marker in made.markers if inner and made is not None else carrier.markers:
                if (origin.path, marker) in opened and obj.site.callee_sym and obj.open:
                    continue
                found = self.judge(state, origin, marker, obj.marker(marker), part, obj.device)
                for devices, outcome, foreign in found:
                    if outcome == "part" and not obj.reshaped and obj.rows in origin.steps:
                        outcome = "rows"
                    self.record(state, obj, origin, marker, devices, outcome, part, foreign, returned)
                    if returned and outcome == "dropped":
                        opens.add(Open(obj.site, marker, origin.path, devices))
        if not storage.origins and obj.device is not None:
            self.settle_copied(state, obj)
        return replace(obj, open=frozenset(opens), storage=storage)

    def settle_copied(self, state: State, obj: Obj) -> None:
        """Judge the markers that a carrier over bytes of its own, on a device that is known, has from another."""
        for marker, value in obj.markers:
            copied = {a[1] for a in fm.atoms(value) if a[0] == "m" and a[2] == marker}
            for source in sorted(copied):
                origin = Origin(source, obj.carrier)
                for devices, outcome, _ in self.judge(state, origin, marker, value, False, obj.device):
                    if outcome == "carried":
                        self.record(state, obj, origin, marker, devices, outcome, False, "")

    def note_cache(self, obj: Obj) -> None:
        """A view over an entry of a map, with a marker that is not part of the map's key."""
        entries = [
            (path, step) for path, _ in obj.storage.buffers for step in path[1:]
            if step.startswith("[") and _MAP.match(self.container_type(path))
        ]  # fmt: skip
        for path, step in entries:
            for marker, f in obj.markers:
                names = {marker}
                for atom in fm.atoms(f):
                    if atom[0] == "e":
                        names |= {str(part).rpartition(":")[2] for part in leaves(atom)}
                if any(True for _ in fm.atoms(f)) and not any(
                    n and n in step.strip("[]").split(",") for n in names
                ):
                    assert obj.site is not None
                    self.facts.cached_views.add((obj.site, marker, path))

    def container_type(self, path: Path) -> str:
        text = self.type_of_local(path[0])
        if not text and path[0] in self.program.globals:
            text = self.program.globals[path[0]].type
        for step in path[1:]:
            if step.startswith("["):
                break
            record = (
                self.program.records.get(bare(text))
                if text
                else self.program.records.get(self.function.owner)
            )
            text = next((m.type for m in record.members if m.name == step), "") if record is not None else ""
        return bare(text)

    def settle_open(self, state: State, obj: Obj, left: Open, returned: bool = False) -> None:
        if self.discharged(state, left.source, left.marker, obj.marker(left.marker)):
            line = left.via[-1][2].line if left.via else self.statement.line
            self.note_not_met(state, left.site, left.source, left.marker, line)
            return
        self.export(
            Obligation(
                site=left.site, marker=left.marker, source=left.source, source_span=None, source_type="",
                devices=(left.devices or state.devices), narrowed=state.narrowed, outcome="dropped",
                pending=self.is_callers(left.source), function=self.function.sym, via=left.via,
            ),
            carried_by_value=returned,
        )  # fmt: skip

    def note_not_met(self, state: State, site: Site, source: Path, marker: str, line: int) -> None:
        """A caller does not meet a loss of its callee: say why, where a reader of the callee should know."""
        if self.taken_care(state, source, marker) or (source, marker) in state.dispatched:
            return
        if any(state.known.get(("m", name, marker)) is False for name in names_of(source)):
            self.facts.refused_before.setdefault((site, marker), set()).add((self.function.path, line))
        elif self.known_false(state, source, marker) or self.never_met(state, source, marker):
            self.facts.plain_callers.add((site, marker))  # nobody looked: it is plain as made here
            if not self.known_false(state, source, marker) and not self.excluded(state, source, marker):
                self.facts.never_met.setdefault((site, marker), set()).add((self.function.path, line))
        else:
            self.facts.restored.add((site, marker))

    def is_callers(self, source: Path) -> bool:
        return source[0] in self.param_syms and not source[0].startswith("tmp@")

    def discharged(self, state: State, source: Path, marker: str, value: Formula | None) -> bool:
        key = ("m", source, marker)
        if self.known_false(state, source, marker) or (source, marker) in state.resolved:
            return True
        if self.never_met(state, source, marker):
            return True
        if value is None:
            return False
        return fm.reduce(value, {**state.known, key: True}) == fm.TRUE

    def taken_care(self, state: State, path: Path, marker: str) -> bool:
        """A branch on the marker took care of the bytes at `path`, or of all that a view made here shows."""
        if (path, marker) in state.resolved:
            return True
        obj = state.objects.get(path) if self.is_local(path) else None
        return (
            obj is not None
            and bool(obj.storage.origins)
            and all((origin.path, marker) in state.resolved for origin in obj.storage.origins)
        )

    def known_false(self, state: State, source: Path, marker: str) -> bool:
        for name in names_of(source):
            if state.known.get(("m", name, marker)) is False:
                return True
            if self.has_another(state, name, marker):
                return True
        obj = state.objects.get(source)
        if obj is None or obj.site is not None and (obj.whole_copy is not None or obj.storage.origins):
            return False
        value = obj.marker(marker)
        return value is not None and fm.reduce(value, state.known) == fm.FALSE

    def has_another(self, state: State, path: Path, marker: str) -> bool:
        """Is it known to have another marker? The bytes of a weight have one layout."""
        return any(state.known.get(("m", path, other)) for other in self.interp.markers if other != marker)

    def excluded(self, state: State, source: Path, marker: str) -> bool:
        """A dtype test on this path that the marker's rewrite never meets."""
        declared = self.interp.markers.get(marker)
        return declared is not None and self.none_admitted(state, source, frozenset(declared.dtypes))

    def never_met(self, state: State, source: Path, marker: str) -> bool:
        """A test on this path, of the dtype or of a boolean member, that no weight passes which a producer of this tree
        marks. It acquits the caller of a loss, not the loss itself: that is still told of, as a note."""
        for (_, member), value in self.interp.flags.get(marker, {}).items():
            if any(state.known.get(("e", (*name, member))) is (not value) for name in names_of(source)):
                return True
        return self.none_admitted(state, source, self.interp.dtypes.get(marker, frozenset()))

    def none_admitted(self, state: State, source: Path, possible: frozenset[str]) -> bool:
        if not possible:
            return False
        asked = tuple((a[1], v) for a, v in state.known.items() if a[0] == "e" and asks_a_dtype(a[1]))
        if not asked:
            return False
        question = (asked, source, possible)
        known = self.interp.answered.get(question)
        if known is None:
            known = self.interp.answered[question] = not self.all_admitted(*question)
        return known

    def all_admitted(
        self, asked: tuple[tuple[Any, bool], ...], source: Path, possible: frozenset[str]
    ) -> frozenset[str]:
        """Those of `possible` that the answers of all these tests leave."""
        sources = names_of(source)
        for key, value in asked:  # `a.dtype == b.dtype`: what is known of the one holds for the other
            if value and key[0] == "==" and any(_is_dtype_of(side, sources) for side in key[1:]):
                sources += [
                    side[:-1] for side in key[1:] if isinstance(side, tuple) and side[:-1] not in sources
                ]
        for key, value in asked:
            possible = self.admitted(key, value, sources, possible)
        return possible

    def admitted(
        self, key: tuple[object, ...], value: bool, sources: Sequence[Path], dtypes: frozenset[str]
    ) -> frozenset[str]:
        """Those of `dtypes` for which a condition can be `value`; all of them when it is not about `sources`."""
        if key[:1] == ("==",) and any(_is_dtype_of(side, sources) for side in key[1:]):
            named = [device_name(side) for side in key[1:] if isinstance(side, str)]
            hit = frozenset(d for d in dtypes if any(speaks_of(name, d) for name in named))
            return dtypes if not named else hit if value else dtypes - hit
        if key[:1] == ("call",) and isinstance(key[3], tuple):
            for position, argument in enumerate(key[3]):
                if _is_dtype_of(argument, sources):
                    outcomes = self.interp.predicates.outcomes
                    return frozenset(d for d in dtypes if value in outcomes(str(key[1]), position, d))
        return dtypes

    def judge(
        self, state: State, origin: Origin, marker: str, value: Formula | None, part: bool,
        device: frozenset[str] | None, read: bool = False,
    ) -> list[tuple[frozenset[str], str, str]]:  # fmt: skip
        devices = state.devices & device if device else state.devices
        devices = devices or (device or state.devices)
        source = origin.path
        if self.known_false(state, source, marker):
            rest = fm.reduce(value, state.known) if value is not None else fm.FALSE
            others = sorted(
                {a[1] for a in fm.atoms(rest) if a[0] == "m" and a[2] == marker and a[1] != source}
            )
            if others:
                return [(devices, "foreign", ".".join(self.names.get(o, o) for o in others[0]))]
            return [(devices, "refused", "")]
        if (source, marker) in state.resolved:
            return [(devices, "resolved", "")]
        if read and any(state.known.get(("m", name, marker)) for name in names_of(source)):
            return [(devices, "resolved", "")]  # a reader that asks for the layout
        if marker in origin.never or self.excluded(state, source, marker):
            return [(devices, "impossible", "")]
        if value is None:
            return [(devices, "missing" if not read else "dropped", "")]
        key = ("m", source, marker)
        assumed = {**state.known, key: True}
        f = fm.reduce(value, assumed)
        tests = [a for a in fm.atoms(f) if a[0] == "dev"]
        if tests:
            result: list[tuple[frozenset[str], str, str]] = []
            for polarity, left in ((True, tests[0][1]), (False, tests[0][2])):
                narrowed = state.copy()
                narrowed.devices = devices & left
                if narrowed.devices:
                    fixed = fm.reduce(value, {tests[0]: polarity})
                    result += self.judge(narrowed, origin, marker, fixed, part, device)
            return result
        carries = any(a == key for a in fm.atoms(value))
        source_obj = state.objects.get(source)
        if not carries and source_obj is not None:
            own = source_obj.marker(marker)
            carries = own is not None and own == value and own not in (fm.TRUE, fm.FALSE)
            if carries:
                f = fm.TRUE
        if f == fm.TRUE and carries:
            if part and not self.survives(state, marker):
                return [(devices, "part", "")]
            return [(devices, "carried", "")]
        if f == fm.TRUE:
            if state.known.get(key) is True:
                return [(devices, "carried", "")]
            return [(devices, "literal", "")]
        others = sorted({a[1] for a in fm.atoms(value) if a[0] == "m" and a[1] != source})
        if others and not carries:
            return [(devices, "foreign", ".".join(self.names.get(o, o) for o in others[0]))]
        if value[0] in ("a", "!", "&", "|") and f != fm.FALSE and not carries:
            return [(devices, "foreign", _CONDITION)]
        return [(devices, "dropped", "")]

    def survives(self, state: State, marker: str) -> bool:
        """Is the cut on this path known to be a multiple of the layout's row group?"""
        group = self.interp.markers[marker].row_group if marker in self.interp.markers else 0
        if not group:
            return False
        for atom, value in state.known.items():
            if atom[0] == "e" and value and isinstance(atom[1], tuple) and atom[1][:1] == ("==",):
                for side in atom[1][1:]:
                    if isinstance(side, tuple) and side[:1] == ("%",) and isinstance(side[2], tuple):
                        number = side[2][1] if side[2][:1] == ("lit",) else self.constant(side[2])
                        if (
                            number
                            and str(number).rstrip("uUlL").isdigit()
                            and int(str(number).rstrip("uUlL")) % group == 0
                        ):
                            return True
        return False

    def constant(self, key: object) -> str:
        if isinstance(key, tuple) and len(key) == 1 and key[0] in self.program.globals:
            return literal(self.program.globals[key[0]].init)
        return ""

    def oblige(self, state: State, site: Site, origin: Origin) -> None:
        carrier = self.program.carriers.get(origin.carrier)
        if carrier is None:
            return
        for marker in carrier.markers:
            for devices, outcome, _ in self.judge(
                state, origin, marker, None, bool(origin.part), None, read=True
            ):
                made = Obj("", site=site)
                self.record(state, made, origin, marker, devices, outcome, bool(origin.part), "")

    def record(
        self, state: State, obj: Obj, origin: Origin, marker: str, devices: frozenset[str], outcome: str, part: bool,
        foreign: str, returned: bool = False,
    ) -> None:  # fmt: skip
        assert obj.site is not None
        # Nobody puts the marker of another object right; what a parameter says, or a constructor leaves alone, is
        # the caller's to answer for.
        callers_may = outcome in ("dropped", "missing", "part", "rows") or foreign in (_CONDITION, "this")
        self.export(
            Obligation(
                site=obj.site, marker=marker, source=origin.path, source_span=origin.span, source_type=origin.carrier,
                devices=devices, narrowed=state.narrowed or obj.device is not None, outcome=outcome, part=part,
                pending=callers_may and self.is_callers(origin.path), function=self.function.sym,
                insert_after=obj.last_store, foreign=foreign,
            ),
            carried_by_value=returned and outcome == "dropped",
        )  # fmt: skip

    def export(self, obligation: Obligation, carried_by_value: bool = False) -> None:
        """Keep an obligation. One that callers may meet goes into the summary, unless the returned value takes it."""
        key = (
            obligation.site, obligation.marker, obligation.source, obligation.devices, obligation.outcome,
            obligation.via, obligation.part,
        )  # fmt: skip
        self.facts.obligations.setdefault(key, obligation)
        if carried_by_value:
            return
        if (
            obligation.pending
            and obligation.outcome in ("dropped", "part", "rows", "missing")
            and len(obligation.via) < MAX_VIA
        ):
            self.opens.setdefault(key, obligation)

    # ------------------------------------------------------------------------------------------------- calls

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
        if last in _NORETURN or _REFUSES.match(last) and self.ends(x):
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

    def memory(self, x: ir.Call, args: list[Value], state: State) -> tuple[bool, Value]:
        """Copies and allocations, by their signatures: what a back end does inside moves bytes, it reads none."""
        function = self.program.function(x.callee) if x.callee else None
        if function is None:
            return False, None
        types = [p.type for p in function.params]
        pointers = [
            (a, t) for a, t in zip(args, types, strict=False) if isinstance(a, Ptr) and is_byte_pointer(t)
        ]
        if len(pointers) == 2 and is_copy_signature(types):
            (first, kind), (second, _) = pointers
            dest, source = (first, second) if is_mutable_reference(kind) else (second, first)
            self.copy_bytes(x, dest, source, state)
            return True, None
        carriers = any(
            isinstance(a, Obj) or isinstance(a, Ref) and self.program.carrier_of(a.type) for a in args
        )
        if bare(x.type) == "void" and is_pointer(x.type) and not pointers and not carriers:
            return True, Ptr(frozenset(), frozenset({((f"call@{x.span.begin}",), WHOLE)}))
        return False, None

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
            if not _is_borrowing(x.type):
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

    def standard(
        self, x: ir.Call, last: str, base: Value, args: list[Value], state: State
    ) -> tuple[bool, Value]:
        """Functions of the standard library, and calls that could not be resolved, by what their names mean."""
        if last in _PASS_THROUGH and len(args) == 1 and base is None:
            return True, args[0]
        if last in COPIES and len(args) >= 2:
            self.copy_call(x, last, args, state)
            return True, args[0]
        if last in ("make_shared", "make_unique", "make_optional") and args:
            carriers = [a for a in args if isinstance(a, (Obj, Ref))]
            return True, carriers[0] if carriers else args[0]
        if last == "swap" and len(args) == 2:
            self.swap(x, args, state)
            return True, None
        if last in (
            "min",
            "max",
            "printf",
            "fprintf",
            "to_string",
            "abs",
            "sort",
            "fill",
            "fill_n",
            "any_of",
            "all_of",
        ):
            return True, None
        if last in _GROWERS:
            for value in args:
                self.escape(value, x.span, state)
                if isinstance(value, Ptr) and isinstance(base, Ref):
                    self.into_plain(value, x.span, state, "")
            return True, None
        if isinstance(base, Ref) and last in (
            "at",
            "front",
            "back",
            "value",
            "get",
            "operator*",
            "find",
            "emplace",
            "begin",
            "end",
        ):
            carrier_type = x.type
            if self.program.carrier_of(carrier_type) or not is_scalar(carrier_type):
                if last in ("get", "value"):
                    return True, replace(base, span=x.span)
                return True, Ref(
                    (*base.path, "[*]" if last != "at" else f"[{short(self.key(x.args[0], state))}]"),
                    carrier_type,
                    x.span,
                )
        return False, None

    def copy_call(self, x: ir.Call, last: str, args: list[Value], state: State) -> None:
        if last in ("copy", "copy_n", "uninitialized_copy") and len(args) >= 3:
            source, dest = args[0], args[2]
        else:
            dest, source = args[0], args[1]
        if isinstance(dest, Ptr):
            self.copy_bytes(x, dest, source if isinstance(source, Ptr) else Ptr(), state)
        elif isinstance(source, Ptr):
            self.read(source, x.span, state, x.name)

    def copy_bytes(self, x: ir.Call, dest: Ptr, source: Ptr, state: State) -> None:
        """`source`'s bytes go to `dest`. Into a buffer they stay those bytes; a reader of markers is still owed."""
        held = self.stamped(self.resolve(source, state), state)
        passed_on = any(
            path[0] in self.param_syms for path, _ in dest.buffers
        )  # a copy for the caller to judge
        for path, _ in source.buffers:
            if path[0] in self.param_syms and not passed_on:
                self.reads.add(path)
        self.write(dest, x.span, state, "store" if dest.origins else "replace", held, x.name)
        outside = dest.buffers and not all(self.is_local((b[0][0],)) for b in dest.buffers)
        if held.origins:
            fresh = any(path[0].startswith(("call@", "new@")) for path, _ in dest.buffers)
            form = "copyout" if outside or not dest.buffers else "upload" if fresh else "copy-bytes"
            site = self.site(x.span, form, callee=x.name)
            if not dest.origins:
                for origin in sorted(held.origins, key=lambda o: o.order):
                    self.oblige(state, site, origin)

    def swap(self, x: ir.Call, args: list[Value], state: State) -> None:
        for argument in x.args:
            inner: ir.Expr = argument
            while isinstance(inner, (ir.Index, ir.Cast)):
                inner = inner.base if isinstance(inner, ir.Index) else inner.x
            if (
                isinstance(inner, ir.Field)
                and inner.owner in self.program.carriers
                and isinstance(argument, ir.Index)
            ):
                base = self.eval(inner.base, state)
                if isinstance(base, Ref):
                    obj = self.load(state, replace(base, type=inner.owner))
                    if obj.site is None and obj.whole_copy is not None and self.is_local(base.path):
                        state.objects[base.path] = replace(
                            obj,
                            reshaped=True,
                            site=self.site(x.span, "reshape", self.spelling(inner.base), inner.owner),
                        )
        first, second = args
        if isinstance(first, Ptr) and isinstance(second, Ptr):
            a, b = self.resolve(first, state), self.resolve(second, state)
            self.write(first, x.span, state, "replace", b)
            self.write(second, x.span, state, "replace", a)

    def on_buffer(self, x: ir.Call, last: str, base: Ptr, args: list[Value], state: State) -> Value:
        """A method of an object that owns or borrows bytes."""
        if last in _REPLACERS:
            value = next((a for a in args if isinstance(a, Ptr)), Ptr())
            if last == "reset":
                if not args:
                    return None
            self.write(base, x.span, state, "replace", value, x.name)
            self.copied_out(base, value, x, state)
            if last == "swap" and isinstance(value, Ptr):
                self.write(value, x.span, state, "replace", base, x.name)
            return None
        if last in _GROWERS:
            grown = next((a for a in args if isinstance(a, Ptr)), None)
            if grown is not None:
                self.write(base, x.span, state, "store", grown, x.name)
                self.copied_out(base, grown, x, state)
            return None
        if last in _SIZERS or is_scalar(x.type) and last not in ("at", "front", "back"):
            return None
        if last in ("at", "front", "back", "operator[]") and is_scalar(x.type):
            self.read(base, x.span, state)
            return None
        if last in _ACCESSORS or not is_scalar(x.type):
            if any(isinstance(a, Ptr) for a in args):
                held = next(a for a in args if isinstance(a, Ptr))
                if self.is_buffer(x.type) and not base.origins:
                    return held
            moved = last in _PART_ACCESSORS or bool(args) and is_byte_pointer(x.type)
            return base.cut() if moved else base
        return None

    def copied_out(self, dest: Ptr, source: Ptr, x: ir.Call, state: State) -> None:
        """Bytes go into a container of the caller's."""
        if not dest.origins and any(path[0] in self.param_syms for path, _ in dest.buffers):
            self.read(source, x.span, state, x.name, kind="copyout")

    def unknown(self, x: ir.Call, base: Value, args: list[Value], state: State) -> Value:
        """A callee without a body: judged by its signature."""
        function = self.program.function(x.callee) if x.callee else None
        types = [p.type for p in function.params] if function is not None else []
        last = x.name.rpartition("::")[2]
        pointers = [(i, a) for i, a in enumerate(args) if isinstance(a, Ptr)]
        result = self.program.carriers.get(bare(x.type))
        takes_carrier = (
            isinstance(base, Ref)
            and self.program.carrier_of(base.type) is not None
            or any(
                isinstance(a, Obj)
                or isinstance(a, Ref)
                and (a.path in state.objects or self.program.carrier_of(a.type))
                for a in args
            )
        )
        if self.is_check(x, function, args):
            outer, self.checking = self.checking, True
            try:
                asked = self.test(x.args[0], state)
                self.demand(asked, True)
                self.assume(state, asked, True)
            finally:
                self.checking = outer
            return None
        if result is not None and not is_pointer(x.type) and pointers and not takes_carrier:
            obj = Obj(result.name, markers=tuple((m, fm.FALSE) for m in result.markers))
            device = next((a.names for a in args if isinstance(a, Dev)), None)
            held = Ptr()
            for _, pointer in pointers:
                held = held.join(pointer)
            return replace(
                obj, storage=self.resolve(held, state), device=device, filled=True, last_store=0,
                site=self.site(x.span, "factory", x=x),
            )  # fmt: skip
        markers_passed = any(
            isinstance(a, Bool) and any(k[0] == "m" for k in fm.atoms(a.formula)) for a in args
        )
        judged = markers_passed or takes_carrier
        written: list[Ptr] = []
        readable: list[Ptr] = []
        for position, pointer in pointers:
            writes = position < len(types) and is_mutable_reference(types[position])
            (written if writes else readable).append(pointer)
        if written and readable:
            if len(written) == 1 and len(readable) == 1 and is_copy_signature(types):
                self.copy_bytes(x, written[0], readable[0], state)
            else:
                for pointer in written:
                    if pointer.origins:
                        self.write(pointer, x.span, state, "store", Ptr(), x.name)
                for pointer in () if judged else readable:
                    self.read(pointer, x.span, state, x.name)
        elif written:
            for pointer in written:
                self.write(pointer, x.span, state, "rewrite", self.resolve(pointer, state), x.name)
        elif not judged and result is None and not is_pointer(x.type) and not self.is_buffer(x.type):
            for pointer in readable:
                self.read(pointer, x.span, state, x.name)
        mutable_carriers = [
            a for i, a in enumerate(args)
            if isinstance(a, Ref) and self.program.carrier_of(a.type or "")
            and (i >= len(types) or is_mutable_reference(types[i]))
        ]  # fmt: skip
        if mutable_carriers and readable and function is None and x.target is not None:
            for ref in mutable_carriers:
                carrier = self.program.carrier_of(ref.type)
                if carrier is not None and not carrier.view:
                    self.note_write(ref.path, carrier, "store", x.span, Ptr(), state, "a callee")
        for value in args:
            self.escape(value, x.span, state)
        if isinstance(base, Ref) and base.path in state.objects and last not in _SIZERS:
            self.escape(base, x.span, state)
        if result is not None and not is_pointer(x.type):
            return Obj(
                result.name,
                markers=tuple((m, fm.atom("e", ("unknown", x.span.begin, m))) for m in result.markers),
            )
        if pointers and (is_byte_pointer(x.type) or self.is_buffer(x.type)):
            return pointers[0][1]
        if is_byte_pointer(x.type) or self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({((f"call@{x.span.begin}",), WHOLE)}))
        if bare(x.type) == "bool":
            return Bool(fm.atom("e", self.key(x, state)))
        if self.program.carrier_of(x.type):
            return Ref((f"call@{x.span.begin}",), x.type, x.span)
        return None

    def is_check(self, x: ir.Call, function: ir.Function | None, args: list[Value]) -> bool:
        """A declared-only `void f(bool, message)`."""
        if not args or bare(x.type) != "void" or not isinstance(args[0], Bool):
            return False
        if function is None or not function.params or bare(function.params[0].type) != "bool":
            return False
        return len(function.params) == 1 or any(
            "char" in p.type or "string" in p.type for p in function.params[1:]
        )

    def closure(self, x: ir.Lambda, state: State) -> Value:
        function = self.program.function(x.sym)
        if function is None or function.body is None:
            return None
        seen = (x.sym, self.seen_by(x.sym, state))
        if seen in self.closures:
            return Closure(x.sym)
        self.closures.add(seen)
        run = Runner(self.interp, function, self)
        entry = state.copy()
        entry.written = frozenset()
        summary = run.summarise(entry)
        known = self.interp.summaries.get(x.sym)
        self.interp.summarised(x.sym, summary if known is None else merge(known, summary))
        for key, obligation in run.opens.items():
            if obligation.source[0] not in {p.sym for p in function.params}:
                self.opens.setdefault(key, obligation)
        return Closure(x.sym)

    def seen_by(self, sym: ir.Sym, state: State) -> object:
        """What of a state a lambda written in it can see: a lambda in a loop need not be run for every difference."""
        roots = {"this", *self.interp.named_in(sym)}
        waiting = list(roots)
        while waiting:
            root = waiting.pop()
            held: list[Value] = [state.variables.get(root), state.content.get((root,))]
            held += [obj for path, obj in state.objects.items() if path[0] == root]
            for value in held:
                found = set(_roots(value)) | (
                    self.interp.named_in(value.sym) if isinstance(value, Closure) else set()
                )
                waiting += found - roots
                roots |= found
        return (
            frozenset((p, o) for p, o in state.objects.items() if p[0] in roots),
            frozenset((s, v) for s, v in state.variables.items() if s.partition("\0")[0] in roots),
            frozenset((p, c) for p, c in state.content.items() if p[0] in roots),
            frozenset((a, v) for a, v in state.known.items() if not roots.isdisjoint(leaves(a))),
            frozenset(r for r in state.resolved | state.dispatched if r[0][0] in roots),
            state.devices,
        )

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

    def opaque(self, x: ir.Call, state: State) -> Value:
        if bare(x.type) == "bool":
            return Bool(fm.atom("e", self.key(x, state)))
        carrier = self.program.carriers.get(bare(x.type))
        if carrier is not None and not is_pointer(x.type):
            if x.type.rstrip().endswith("&"):
                return Ref((f"call@{x.span.begin}",), x.type, x.span)
            return Obj(
                carrier.name,
                markers=tuple((m, fm.atom("e", ("call", x.span.begin, m))) for m in carrier.markers),
            )
        if self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({((f"call@{x.span.begin}",), WHOLE)}))
        return Ref((f"call@{x.span.begin}",), x.type, x.span) if x.type and not is_scalar(x.type) else None

    def pass_opens(self, summary: Summary, bound: Binding, x: ir.Call, state: State) -> None:
        for left in summary.opens:
            where = bound.path(left.source)
            if where is None:  # handed over in a way that is not followed: nobody is known to check it
                via = (*left.via, (self.function.sym, self.function.path, x.span, left.source))
                self.export(replace(left, pending=False, function=self.function.sym, via=via))
                continue
            if where[0].startswith("tmp@") and where in state.objects:
                value = state.objects[where].marker(left.marker)
                if value is not None and fm.reduce(value, state.known) == fm.FALSE:
                    continue
            if (
                self.taken_care(state, where, left.marker)
                or self.known_false(state, where, left.marker)
                or self.never_met(state, where, left.marker)
            ):
                self.note_not_met(state, left.site, where, left.marker, x.span.line)
                continue
            devices = left.devices & state.devices or left.devices
            deep = len(where) > 2
            self.export(
                replace(
                    left, source=where, devices=devices, pending=self.is_callers(where) and not deep,
                    function=self.function.sym, via=(*left.via, (self.function.sym, self.function.path, x.span, where)),
                )
            )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- helpers


def _roots(value: Value) -> Iterator[str]:
    """The variables that a value leads to."""
    if isinstance(value, Ref):
        yield value.path[0]
    elif isinstance(value, Obj):
        yield from _roots(value.storage)
        if value.whole_copy is not None:
            yield value.whole_copy[0]
    elif isinstance(value, Ptr):
        yield from (o.path[0] for o in value.origins)
        yield from (path[0] for path, _ in value.buffers)
    elif isinstance(value, Many):
        for item in value.items:
            yield from _roots(item)


def _by_reference(type_text: str) -> bool:
    return type_text.rstrip().endswith(("&", "*"))


def _is_borrowing(type_text: str) -> bool:
    base = bare(type_text)
    return is_pointer(type_text) or base.startswith(
        ("std::span<", "std::shared_ptr<", "std::unique_ptr<", "__gnu_cxx::")
    )


def _holds_scalars(base: str) -> bool:
    return bool(re.search(r"<(?:const )?(?:void|unsigned char|char|signed char|short|unsigned short|int|unsigned int|"
                          r"long|unsigned long|float|double|std::byte)\b", base))  # fmt: skip


def is_copy_signature(types: list[str]) -> bool:
    """`(..., void *dst, const void *src, size)`: bytes go from one pointer to the other, untouched."""
    out = [t for t in types if is_byte_pointer(t) and is_mutable_reference(t)]
    into = [t for t in types if is_byte_pointer(t) and not is_mutable_reference(t)]
    sizes = [
        t
        for t in types
        if bare(t) in ("unsigned long", "unsigned long long", "long", "unsigned int", "int")
        and not is_pointer(t)
    ]
    return (
        len(out) == 1
        and len(into) == 1
        and len(sizes) == 1
        and bare(out[0]) in ("void", bare(into[0]), "unsigned char", "char")
    )


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


def _dimension_of(key: object, path: Path) -> str | None:
    """`[1]` for the key of `path.shape[1]`."""
    here = len(path)
    if (
        not isinstance(key, tuple)
        or len(key) != here + 2
        or key[:here] != path
        or "shape" not in str(key[here])
    ):
        return None
    return str(key[-1])


def _has_dimension(key: object, path: Path) -> bool:
    return _dimension_of(key, path) is not None or (
        isinstance(key, tuple) and any(_has_dimension(part, path) for part in key)
    )


def _imply(known: dict[Atom, bool], formula: Formula, value: bool) -> bool:
    """Add what certainly holds where `formula` is `value`; False where it cannot be."""
    head = formula[0]
    if head == "c":
        return formula[1] is value
    if head == "!":
        return _imply(known, formula[1], not value)
    if head == "a":
        return known.setdefault(formula[1], value) is value
    if head in ("&", "|") and (head == "&") is value:
        return _imply(known, formula[1], value) and _imply(known, formula[2], value)
    return True


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


def _is_dtype_of(key: object, sources: Sequence[Path]) -> bool:
    return isinstance(key, tuple) and key[:-1] in sources and "dtype" in str(key[-1]).lower()


def _is_boolean(x: ir.Expr, program: Program) -> bool:
    if isinstance(x, ir.Lit):
        return x.kind == "bool"
    if isinstance(x, ir.Unary):
        return x.op == "!"
    if isinstance(x, ir.Binary):
        return (
            x.op in ("&&", "||", "==", "!=", "<", ">", "<=", ">=")
            or x.op in ("&", "|")
            and _is_boolean(x.a, program)
        )
    if isinstance(x, ir.Field):
        return bare(x.type) == "bool" and not is_pointer(x.type)
    if isinstance(x, ir.Call):
        return bare(x.type) == "bool" and not is_pointer(x.type)
    if isinstance(x, ir.Cast):
        return bare(x.type) == "bool"
    if isinstance(x, ir.Cond):
        return _is_boolean(x.yes, program) and _is_boolean(x.no, program)
    return isinstance(x, ir.Name)


def _is_stub(function: ir.Function) -> bool:
    """Takes bytes and does nothing: what a build without some device puts in the place of the real one."""
    return (
        isinstance(function.body, ir.Block)
        and not function.body.body
        and not function.inits
        and not function.parent
        and any(is_byte_pointer(p.type) for p in function.params)
    )


def _root(x: ir.Expr) -> str:
    """The variable whose member, or whose itself, an expression is; empty for anything else."""
    while isinstance(x, (ir.Field, ir.Cast)):
        x = x.base if isinstance(x, ir.Field) else x.x
    return x.sym if isinstance(x, ir.Name) and x.kind in ("param", "local") else ""


def _is_container(type_text: str) -> bool:
    """An object that owns bytes, by value."""
    return bare(type_text).startswith(_CONTAINERS) and not type_text.rstrip().endswith(("&", "*"))


def _only_says(stmt: ir.Stmt) -> bool:
    """Does a branch nothing but print or log: calls that are given text and numbers alone?"""
    body = stmt.body if isinstance(stmt, ir.Block) else (stmt,)
    return bool(body) and all(isinstance(inner, ir.Do) and _is_message(inner.x) for inner in body)


def _is_assert(x: ir.Expr) -> bool:
    return isinstance(x, ir.Call) and x.name.startswith("__assert")


def _is_message(x: ir.Expr) -> bool:
    if isinstance(x, ir.Binary) and x.op == "<<":
        return isinstance(x.a, ir.Name) and x.a.name in _STREAMS or _is_message(x.a)
    if not isinstance(x, ir.Call) or x.base is not None or bare(x.type) not in ("void", "int"):
        return False
    texts = [a for a in x.args if isinstance(a, ir.Lit) and a.kind == "str"]
    return bool(texts) and all(
        not isinstance(n, (ir.Field, ir.Lambda, ir.This)) for a in x.args for n in walk(a)
    )


def _never_returns(function: ir.Function) -> bool:
    """The body ends in a throw or a call that does not come back, and returns nowhere."""
    body = function.body
    if not isinstance(body, ir.Block) or not body.body or any(isinstance(n, ir.Return) for n in walk(body)):
        return False
    last = body.body[-1]
    return isinstance(last, ir.Do) and (
        isinstance(last.x, ir.ThrowExpr)
        or isinstance(last.x, ir.Call)
        and last.x.name.rpartition("::")[2] in _NORETURN
    )
