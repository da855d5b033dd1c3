"""Indexes over a whole program: who calls what, what is stored where, what a pointer to a function may be.

The tables are made from faces (`analyzer.faces`), which are kept between runs. A body is read only when a question
leads into it: `Links.part` has what its statements say, and every answer that is about several functions is put
together in their order, so that it does not matter what was asked before.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from analyzer import ir
from analyzer.events import Cond, Events, events
from analyzer.faces import Face, is_factory, place
from analyzer.program import Program, bare, device_name, is_mutable_reference, is_test_path

_NO_END = 1 << 62
_Key = TypeVar("_Key")

Node = str
"""Where a value can be: a variable's symbol, `#Record::field`, `@this of a method` or a call's result."""

_FUNCTION_TYPE = re.compile(r"\(\*|\(&|std::function|\(lambda|std::move_only_function")


class Caller:
    """One call. `arguments` are those of the callee's parameters, without a method's object."""

    __slots__ = ("arguments", "base", "call", "cond", "function", "node", "path", "unknown")

    def __init__(
        self,
        function: ir.Sym,
        path: str,
        call: ir.Call | ir.New,
        cond: Cond | None,
        arguments: tuple[ir.Expr, ...],
    ) -> None:
        self.function = function
        self.path = path
        self.call = call
        self.cond = cond
        self.arguments = arguments
        self.base = call.base if isinstance(call, ir.Call) else None
        self.node: Node = f"({path}:{call.span.begin}:{call.span.end}"
        self.unknown = ""

    def argument(self, position: int) -> ir.Expr | None:
        """The argument for a parameter, None where the default applies."""
        return self.arguments[position] if 0 <= position < len(self.arguments) else None


class Registration:
    """A function stored under enumerators: `operators` are those that name no device, `devices` those that
    do."""

    __slots__ = ("devices", "function", "line", "operators", "path")

    def __init__(
        self, operators: frozenset[str], devices: frozenset[str], function: ir.Sym, path: str, line: int
    ) -> None:
        self.operators = operators
        self.devices = devices
        self.function = function
        self.path = path
        self.line = line


@dataclass
class Part:
    """What the bodies of one function (all its forms) say, or the initialiser of a global. `owner`: its variables.
    `named_calls`: positions in `calls` by the declared callee, where the program has it; `pointer_calls`: by the number
    of arguments, of those through a value; `other_calls`: of others that do not say what they call. `open_variables`,
    `open_fields`: those that others may write. `stub`: one form is a bare `return false`."""

    bodies: list[tuple[ir.Function, Events]] = field(default_factory=list)
    types: dict[ir.Sym, str] = field(default_factory=dict)
    owner: dict[ir.Sym, ir.Sym] = field(default_factory=dict)
    ranges: dict[ir.Sym, ir.Expr] = field(default_factory=dict)
    calls: list[Caller] = field(default_factory=list)
    named_calls: dict[ir.Sym, list[int]] = field(default_factory=dict)
    pointer_calls: dict[int, list[int]] = field(default_factory=dict)
    other_calls: list[int] = field(default_factory=list)
    variable_stores: dict[ir.Sym, list[tuple[ir.Expr, Cond | None]]] = field(default_factory=dict)
    open_variables: set[ir.Sym] = field(default_factory=set)
    field_stores: dict[tuple[str, str], list[tuple[ir.Sym, ir.Expr, Cond | None]]] = field(
        default_factory=dict
    )
    open_fields: set[tuple[str, str]] = field(default_factory=set)
    returns: list[tuple[ir.Expr, Cond | None]] = field(default_factory=list)
    reads: list[ir.Field] = field(default_factory=list)
    stub: bool = False


class Links:
    """The tables. `using`: who names a member; `marking`: who stores a marker.

    Functions with a body, and after them the initialisers of globals, are numbered in a fixed order (`order`)."""

    def __init__(self, program: Program, faces: Mapping[ir.Sym, Sequence[Face]]) -> None:
        self.program = program
        self.order: list[ir.Sym] = []
        self.names: dict[ir.Sym, str] = {}
        self.parameter_owner: dict[ir.Sym, tuple[ir.Sym, int]] = {}
        self.canonical: dict[ir.Sym, ir.Sym] = {}
        self.escaping: set[ir.Sym] = set()
        self.registry: dict[str, list[Registration]] = {}
        self.registrations: list[Registration] = []
        self.constructors: dict[str, list[ir.Sym]] = {}
        self.by_signature: dict[str, list[ir.Sym]] = {}
        self.caller_of: dict[int, Caller] = {}
        self.open_records: dict[str, str] = {}
        self._reading: set[int] = set()
        self.marking: list[int] = []
        self.device_enumerators = frozenset(_enumerators(program))
        self._number: dict[ir.Sym, int] = {}
        self._types: dict[ir.Sym, str] = {}
        self._positions: dict[ir.Sym, dict[ir.Sym, int]] = {}
        self._by_name: dict[str, list[ir.Sym]] = {}
        self._lambdas: dict[ir.Sym, list[ir.Sym]] = {}
        self._spans: dict[str, tuple[list[tuple[int, int, int]], list[int]]] = {}
        self._numbers: dict[ir.Sym, Sequence[int]] = {}
        self._stores: dict[ir.Sym, list[tuple[ir.Expr, Cond | None]]] = {}
        self._elsewhere: dict[ir.Sym, list[int]] = {}
        self._naming: dict[ir.Sym, list[int]] = {}
        self.using: dict[tuple[str, str], list[int]] = {}
        self._storing: dict[tuple[str, str], list[int]] = {}
        self._mentioning: dict[ir.Sym, list[int]] = {}
        self._pointing: dict[int, list[int]] = {}
        self._depending: dict[str, list[int]] = {}
        self._making: list[int] = []
        self._parts: dict[int, Part] = {}
        self._callers: dict[ir.Sym, list[Caller]] = {}
        self._targets: dict[int, tuple[ir.Sym, ...]] = {}
        self._resolving: set[object] = set()
        self._declare()
        self._index(faces)

    # ------------------------------------------------------------------------------------------------ tables

    def _declare(self) -> None:
        program = self.program
        for sym, variants in program.heads.items():
            first = variants[0].head
            last = first.name.rpartition("::")[2]
            if first.owner and last == first.owner.rpartition("::")[2]:
                self.constructors.setdefault(first.owner, []).append(sym)
            if not any(v.has_body for v in variants):
                for type_text in (
                    first.result,
                    first.owner,
                    *(p.type for p in first.params if is_mutable_reference(p.type)),
                ):
                    self.open_records.setdefault(bare(type_text), first.name)
            self._by_name.setdefault(last, []).append(sym)
            positions = self._positions.setdefault(sym, {})
            for variant in variants:
                for at, parameter in enumerate(variant.head.params):
                    self._types[parameter.sym] = parameter.type
                    self.names[parameter.sym] = parameter.name
                    self.parameter_owner[parameter.sym] = (sym, at)
                    positions[parameter.sym] = at
                    self.canonical[parameter.sym] = (
                        first.params[at].sym if at < len(first.params) else parameter.sym
                    )
        for variable in program.globals.values():
            self._types[variable.sym] = variable.type
            self.names[variable.sym] = variable.name

    def _index(self, faces: Mapping[ir.Sym, Sequence[Face]]) -> None:
        program = self.program
        spans: dict[str, list[tuple[int, int, int]]] = {}
        self._bodies = {
            sym: [v for v in variants if v.has_body] for sym, variants in sorted(program.heads.items())
        }
        # Of functions by symbol, of globals as they come.
        self._bodies |= {each.head.sym: [each] for each in program.values()}
        self._bodies = {sym: variants for sym, variants in self._bodies.items() if variants}
        for at, (sym, variants) in enumerate(self._bodies.items()):
            self.order.append(sym)
            self._number[sym] = at
            parent = variants[0].head.parent
            if parent:
                self._lambdas.setdefault(parent, []).append(sym)
            for variant in variants:
                head = variant.head
                spans.setdefault(head.path, []).append((head.span.begin, head.span.end, at))
            for face in faces[sym]:
                self._take_face(at, variants[0].head.path, face)
        for path, found in spans.items():
            found.sort()
            self._spans[path] = found, list(itertools.accumulate((end for _, end, _ in found), max))

    def _take_face(self, at: int, path: str, face: Face) -> None:
        heads = self.program.heads
        _note(self._naming, face.calls, at)
        _note(self._mentioning, face.globals, at)
        _note(self.using, face.fields, at)
        _note(self._storing, face.stores, at)
        _note(self._depending, face.dependent, at)
        _note(self._elsewhere, face.elsewhere, at)
        _note(self._pointing, (count for callee, count in face.pointers if callee not in heads), at)
        if face.reads:
            self._reading.add(at)
        for wanted, numbers in ((face.makes, self._making), (face.marks, self.marking)):
            if wanted and (not numbers or numbers[-1] != at):
                numbers.append(at)
        for sym in face.escapes:
            if sym in heads and sym not in self.escaping:
                self.escaping.add(sym)
                signature = ", ".join(p.type for p in heads[sym][0].head.params)
                self.by_signature.setdefault(signature, []).append(sym)
        for each in face.registers:
            operators = frozenset(e for e in each.enumerators if e not in self.device_enumerators)
            devices = frozenset(device_name(e) for e in each.enumerators if e in self.device_enumerators)
            for sym in each.functions:
                if sym in heads:
                    entry = Registration(operators, devices, sym, path, each.line)
                    self.registrations.append(entry)
                    for operator in operators:
                        self.registry.setdefault(operator, []).append(entry)

    def marker_reads(self) -> Iterator[tuple[ir.Sym, list[ir.Field]]]:
        """The functions that read a marker of a carrier, each with the places."""
        for at in sorted(self._reading):
            reads = self.part(at).reads
            if reads:
                yield self.order[at], reads

    def part(self, at: int) -> Part:
        """What the function with number `at` says."""
        known = self._parts.get(at)
        if known is None:
            known = self._parts[at] = Part()
            for variant in self._bodies[self.order[at]]:
                function = variant.function
                self._take(known, function, events(function, frozenset(self.program.markers)))
        return known

    def number(self, sym: ir.Sym) -> int | None:
        """The number of function `sym`, None if it has no body."""
        return self._number.get(sym)

    def has_body(self, sym: ir.Sym) -> bool:
        """Is there a body of function `sym`?"""
        return sym in self._number

    def reads_markers(self, sym: ir.Sym) -> bool:
        """Does function `sym` read a marker of a carrier?"""
        return self._number.get(sym) in self._reading

    def readers(self) -> list[ir.Sym]:
        """The functions that read a marker of a carrier."""
        return [self.order[at] for at in sorted(self._reading)]

    def part_of(self, sym: ir.Sym) -> Part | None:
        """What function `sym` says, None if it has no body."""
        at = self._number.get(sym)
        return None if at is None else self.part(at)

    def parts_with(self, symbol: ir.Sym) -> Iterator[Part]:
        """The parts that can speak of a variable."""
        return map(self.part, self.numbers_with(symbol))

    def numbers_with(self, symbol: ir.Sym) -> Sequence[int]:
        """The functions whose statements can name a variable: that of a parameter or local with the lambdas in it, and
        whoever mentions a global."""
        known = self._numbers.get(symbol)
        if known is None:
            found = {*self._mentioning.get(symbol, ())}
            for at in self._elsewhere.get(symbol, ()):
                found.update(self.frame(self.order[at]))
            own = self._number.get(f"{symbol}=")
            if own is not None:
                found.add(own)
            owner = self.parameter_owner.get(symbol)
            if owner is not None:
                found.update(self.frame(owner[0]))
            path, offset = place(symbol)
            if offset >= 0:
                found.update(self.numbers_at(path, offset))
            known = self._numbers[symbol] = tuple(sorted(found))
        return known

    def numbers_at(self, path: str, offset: int) -> set[int]:
        """The functions around a byte of a file, and the lambdas in them."""
        return {n for at in self._around(path, offset) for n in self.frame(self.order[at])}

    def _around(self, path: str, offset: int) -> list[int]:
        spans, ends = self._spans.get(path, ((), ()))
        at = bisect.bisect_right(spans, (offset, _NO_END, 0)) - 1
        found = []
        while at >= 0 and ends[at] > offset:  # of those that begin no later, some end later
            _, end, number = spans[at]
            if offset < end:
                found.append(number)
            at -= 1
        return found

    def frame(self, function: ir.Sym) -> list[int]:
        """A function, if it has a body, and the lambdas in it at any depth."""
        own = self._number.get(function)
        found = [] if own is None else [own]
        for inner in self._lambdas.get(function, ()):
            found += self.frame(inner)
        return found

    def _take(self, part: Part, function: ir.Function, found: Events) -> None:
        sym = function.sym
        quiet = is_test_path(function.path)
        part.bodies.append((function, found))
        for var, cond in found.variables:
            part.types[var.sym] = var.type
            if not var.static and var.sym != sym[:-1]:
                part.owner[var.sym] = sym
            if var.init is not None:
                part.variable_stores.setdefault(var.sym, []).append((var.init, cond))
        for each, _ in found.ranges:
            part.types[each.var.sym] = each.var.type
            part.owner[each.var.sym] = sym
            part.ranges[each.var.sym] = each.range
        for assign, cond in found.assigns:
            target = assign.target
            if isinstance(target, ir.Name):
                if assign.op == "=":
                    part.variable_stores.setdefault(target.sym, []).append((assign.value, cond))
                else:
                    part.open_variables.add(target.sym)
            elif isinstance(target, ir.Field) and not quiet:
                if assign.op == "=":
                    part.field_stores.setdefault((target.owner, target.name), []).append(
                        (sym, assign.value, cond)
                    )
                else:
                    part.open_fields.add((target.owner, target.name))
        for init, cond in found.inits:
            if init.fields and not quiet:
                for name, item in zip(init.fields, init.items, strict=False):
                    part.field_stores.setdefault((bare(init.type), name), []).append((sym, item, cond))
        for address in found.addresses:
            _open(part, address)
        if len(found.returns) == 1 and not function.params and _is_false(found.returns[0][0].x):
            part.stub = True
        for returned, cond in found.returns:
            if returned.x is not None:
                part.returns.append((returned.x, cond))
        part.reads += [e for e in found.reads if e.owner in self.program.carriers]
        for call, cond in found.calls:
            caller = Caller(sym, function.path, call, cond, call.args)
            if not isinstance(call, ir.Call):
                part.other_calls.append(len(part.calls))
            elif call.callee in self.program.heads or call.callee in self.program.overriders:
                part.named_calls.setdefault(call.callee, []).append(len(part.calls))
            elif call.target is not None and not self._with_overriders(call.callee):
                part.pointer_calls.setdefault(len(call.args), []).append(len(part.calls))
            elif not call.callee or call.target is not None or is_factory(call.name):
                part.other_calls.append(len(part.calls))
            part.calls.append(caller)
            self.caller_of[id(call)] = caller
            if isinstance(call, ir.Call) and call.callee:
                variants = self.program.heads.get(call.callee)
                if variants:
                    for parameter, argument in zip(variants[0].head.params, call.args, strict=False):
                        if is_mutable_reference(parameter.type):
                            _open(part, argument)

    # ------------------------------------------------------------------------------------------ small facts

    def type_of(self, symbol: ir.Sym) -> str:
        """The declared type of a variable or parameter."""
        known = self._types.get(symbol)
        if known is None:
            known = ""
            for part in self.parts_with(symbol):
                known = part.types.get(symbol, known)
            self._types[symbol] = known
        return known

    def positions(self, function: ir.Sym) -> dict[ir.Sym, int]:
        """The parameters of all variants of a function, with their positions."""
        return self._positions.get(function, {})

    def is_stub(self, function: ir.Sym) -> bool:
        """A question without parameters that some view of the code answers with a bare `return false`."""
        part = self.part_of(function)
        return part is not None and part.stub

    def owner_of_parameter(self, symbol: ir.Sym) -> tuple[ir.Sym, int] | None:
        """The function a parameter belongs to, and its position."""
        return self.parameter_owner.get(symbol)

    def default(self, function: ir.Sym, position: int) -> ir.Expr | None:
        """The default argument of a parameter."""
        for variant in self.program.heads.get(function, ()):
            params = variant.head.params
            if position < len(params) and params[position].default is not None:
                return params[position].default
        return None

    def callers(self, function: ir.Sym) -> list[Caller]:
        """Every known call of `function`, those in tests only when there is no other."""
        found = self.all_callers(function)
        return [c for c in found if not is_test_path(c.path)] or found

    def all_callers(self, function: ir.Sym) -> list[Caller]:
        """Every known call of `function`."""
        known = self._callers.get(function)
        if known is None:
            known = self._callers[function] = []
            by_name = {function, *self._bases(function)}
            arities = {len(v.head.params) for v in self.program.heads.get(function, ())}
            for at in sorted(self.may_call(function)):
                part = self.part(at)
                positions = set(part.other_calls)
                for sym in by_name:
                    positions.update(part.named_calls.get(sym, ()))
                for arity in arities:
                    positions.update(part.pointer_calls.get(arity, ()))
                for position in sorted(positions):
                    caller = part.calls[position]
                    if function in self.targets(caller.call, caller.function):
                        known.append(caller)
        return known

    def _bases(self, function: ir.Sym) -> set[ir.Sym]:
        """The methods that `function` overrides, directly or not."""
        found: set[ir.Sym] = set()
        wanted = [function]
        while wanted:
            for variant in self.program.heads.get(wanted.pop(), ())[:1]:
                more = set(variant.head.overrides) - found
                found |= more
                wanted += more
        return found

    def may_call(self, function: ir.Sym, *, by_name: bool = False) -> set[int]:
        """The functions that can have a call of `function`, told from outside; `by_name`: one that names it."""
        variants = self.program.heads.get(function)
        if not variants:
            return set()
        first = variants[0].head
        found = self._may_name(function)
        if by_name:
            return found
        found.update(self._depending.get(first.name.rpartition("::")[2], ()))
        if function in self.escaping or first.parent:
            for variant in variants:
                found.update(self._pointing.get(len(variant.head.params), ()))
        if function in self.constructors.get(first.owner, ()):
            found.update(self._making)
        return found

    def _may_name(self, function: ir.Sym) -> set[int]:
        """The functions that name `function`, or one that it overrides; for a lambda those of its frame."""
        found: set[int] = set()
        for sym in (function, *self._bases(function)):
            found.update(self._naming.get(sym, ()))
        head = self.program.head(function)
        if head is not None and head.parent:
            found.update(self.frame(self.frame_of(function)))
        return found

    def parameter_node(self, function: ir.Sym, position: int) -> Node | None:
        """The node of a parameter; position -1 is the object of a method."""
        if position < 0:
            return f"@{function}"
        variants = self.program.heads.get(function)
        if not variants or position >= len(variants[0].head.params):
            return None
        return variants[0].head.params[position].sym

    def guesses(self, call: ir.Call | ir.New) -> list[ir.Sym]:
        """Every function used as a value whose signature fits a call that could not be followed."""
        if isinstance(call, ir.New) or call.target is None:
            return []
        target = call.target
        text = self.type_of(target.sym) if isinstance(target, ir.Name) else getattr(target, "type", "")
        signature = re.search(r"\(\*\)\((.*)\)$", text) or re.search(r"function<[^(]*\((.*)\)>$", text)
        return self.by_signature.get(signature.group(1), []) if signature else []

    def returns(self, function: ir.Sym) -> list[tuple[ir.Expr, Cond | None]]:
        """Every value a function returns, over all its bodies."""
        part = self.part_of(function)
        return [] if part is None else part.returns

    def stores_to_variable(self, symbol: ir.Sym) -> list[tuple[ir.Expr, Cond | None]] | None:
        """Every value given to a local variable, None when something else may write it."""
        if any(symbol in part.open_variables for part in self.parts_with(symbol)):
            return None
        return self._variable_stores(symbol) or None

    def _variable_stores(self, symbol: ir.Sym) -> list[tuple[ir.Expr, Cond | None]]:
        known = self._stores.get(symbol)
        if known is None:
            known = self._stores[symbol] = [
                store for part in self.parts_with(symbol) for store in part.variable_stores.get(symbol, ())
            ]
        return known

    def values_of_variable(self, symbol: ir.Sym) -> list[ir.Expr]:
        """Every value seen to be given to a local variable, whatever else may write it."""
        return [value for value, _ in self._variable_stores(symbol)]

    def calls_in(self, found: Events) -> list[Caller]:
        """The calls of one body."""
        return [self.caller_of[id(call)] for call, _ in found.calls]

    def is_open(self, call: ir.Call | ir.New) -> bool:
        """A call of code of the tree that has no body here, or through a pointer nobody could follow."""
        return bool(self.why_open(call))

    def why_open(self, call: ir.Call | ir.New) -> str:
        """Why the callee is not known, empty where it is known or is a library function."""
        if isinstance(call, ir.New):
            return ""
        if call.callee in self.program.heads:
            return f"{call.name} has no body in the files read"
        if call.target is not None and not (call.callee and "operator()" not in call.name):
            text = (
                self.type_of(call.target.sym)
                if isinstance(call.target, ir.Name)
                else getattr(call.target, "type", "")
            )
            return (
                "a call through a pointer that could not be followed" if _FUNCTION_TYPE.search(text) else ""
            )
        return ""

    def stores_to_field(self, owner: str, name: str) -> list[tuple[ir.Sym, ir.Expr, Cond | None]] | None:
        """Every value given to a data member anywhere, None when something else may write it."""
        key = (owner, name)
        if any(key in self.part(at).open_fields for at in self._storing.get(key, ())):
            return None
        return self._field_stores(key) or None

    def _field_stores(self, key: tuple[str, str]) -> list[tuple[ir.Sym, ir.Expr, Cond | None]]:
        found = [
            store for at in self._storing.get(key, ()) for store in self.part(at).field_stores.get(key, ())
        ]
        record = self.program.records.get(key[0])
        members = record.members if record is not None else ()
        return found + [("", m.init, None) for m in members if m.name == key[1] and m.init is not None]

    def frame_of(self, function: ir.Sym) -> ir.Sym:
        """The function a lambda is written in, at any depth; else the function itself."""
        seen = function
        while True:
            known = self.program.head(seen)
            if known is None or not known.parent:
                return seen
            seen = known.parent

    def node_key(self, e: ir.Expr) -> Node:
        """The node of a simple lvalue, else an empty string."""
        while isinstance(e, (ir.Cast, ir.Unary)):
            e = e.x
        if isinstance(e, ir.Name):
            return self.canonical.get(e.sym, e.sym)
        if isinstance(e, ir.Field):
            return self.node_key(e.base) if e.owner in self.program.carriers else f"#{e.owner}::{e.name}"
        return ""

    # ------------------------------------------------------------------------------------- call resolution

    def direct_targets(self, e: ir.Call) -> list[ir.Sym]:
        """The bodies a call can reach by its declared callee, an override of it or a lambda held in a
        variable."""
        found = self._with_overriders(e.callee)
        if not found:
            target = e.target
            if isinstance(target, ir.Lambda):
                return [target.sym]
            if isinstance(target, ir.Name):
                for value, _ in self._variable_stores(target.sym):
                    if isinstance(value, ir.Lambda):
                        found.append(value.sym)
        return found

    def _with_overriders(self, callee: ir.Sym) -> list[ir.Sym]:
        found: list[ir.Sym] = []
        if not callee:
            return found
        stack = [callee]
        while stack:
            sym = stack.pop()
            if sym in self._number and sym not in found:
                found.append(sym)
            stack += [s for s in self.program.overriders.get(sym, ()) if s not in found]
        return found

    def targets(self, call: ir.Call | ir.New, function: ir.Sym) -> tuple[ir.Sym, ...]:
        """Every function with a body that `call` can run."""
        known = self._targets.get(id(call))
        if known is None:
            known = tuple(self._find_targets(call, function))
            self._targets[id(call)] = known
        return known

    def _find_targets(self, call: ir.Call | ir.New, function: ir.Sym) -> list[ir.Sym]:
        if isinstance(call, ir.New):
            return self._constructors(bare(call.type), len(call.args))
        found = self._with_overriders(call.callee)
        if found or call.callee in self.program.heads:
            return found
        if is_factory(call.name):
            return self._constructors(
                _made(call, self.type_of(call.base.sym) if isinstance(call.base, ir.Name) else ""),
                len(call.args),
            )
        if call.target is not None:
            return sorted(self.function_values(call.target, 0))
        return [] if call.callee else self._named_so(call, function)

    def _named_so(self, call: ir.Call, function: ir.Sym) -> list[ir.Sym]:
        """In a template, a call whose arguments have dependent types names no declaration yet: the
        functions of that name that it can mean, those of the same file first."""
        found = []
        for sym in self._by_name.get(call.name.rpartition("::")[2], ()):
            known = self.program.head(sym)
            if sym in self._number and known is not None and len(known.params) == len(call.args):
                if bool(known.owner) == (call.base is not None):
                    found.append(sym)
        here = self.program.head(function)
        near = [s for s in found if here is not None and self.program.heads[s][0].head.path == here.path]
        return near or (found if len(found) == 1 else [])

    def _constructors(self, record: str, arity: int) -> list[ir.Sym]:
        found = []
        for sym in self.constructors.get(record, ()):
            known = self.program.head(sym)
            if sym in self._number and known is not None and len(known.params) >= arity:
                found.append(sym)
        return found

    def function_values(self, e: ir.Expr, depth: int) -> frozenset[ir.Sym]:
        """The functions that a pointer, `std::function` or lambda expression may be."""
        if depth > 12:
            return frozenset()
        if isinstance(e, (ir.Cast, ir.Unary)):
            return self.function_values(e.x, depth + 1)
        if isinstance(e, ir.Lambda):
            return frozenset({e.sym})
        if isinstance(e, ir.Name):
            if e.kind == "function":
                return frozenset({e.sym}) if e.sym in self.program.heads else frozenset()
            return self._held(("v", e.sym), e.sym, depth)
        if isinstance(e, ir.Field):
            key = ("f", e.owner, e.name)
            if key in self._resolving:
                return frozenset()
            self._resolving.add(key)
            found = frozenset[str]().union(
                *(self.function_values(v, depth + 1) for _, v, _ in self._field_stores((e.owner, e.name)))
            )
            self._resolving.discard(key)
            return found
        if isinstance(e, ir.Cond):
            return self.function_values(e.yes, depth + 1) | self.function_values(e.no, depth + 1)
        if isinstance(e, ir.Index):
            return self.function_values(e.base, depth + 1)
        if isinstance(e, ir.Init):
            return frozenset[str]().union(*(self.function_values(i, depth + 1) for i in e.items))
        if isinstance(e, ir.Call):
            return self._looked_up(e, depth)
        if isinstance(e, ir.Other):
            return frozenset[str]().union(*(self.function_values(i, depth + 1) for i in e.items))
        return frozenset()

    def _held(self, key: object, symbol: ir.Sym, depth: int) -> frozenset[ir.Sym]:
        if key in self._resolving:
            return frozenset()
        self._resolving.add(key)
        found = frozenset[str]().union(
            *(self.function_values(v, depth + 1) for v, _ in self._variable_stores(symbol))
        )
        owner = self.parameter_owner.get(symbol)
        if owner is not None and _FUNCTION_TYPE.search(self.type_of(symbol)):
            for argument in self._arguments_of(*owner):
                found |= self.function_values(argument, depth + 1)
        self._resolving.discard(key)
        return found

    def _arguments_of(self, function: ir.Sym, position: int) -> Iterator[ir.Expr]:
        """What calls that name `function` itself pass for a parameter."""
        for at in sorted(self._may_name(function)):
            for caller in self.part(at).calls:
                call = caller.call
                if isinstance(call, ir.Call) and position < len(call.args) and self._names(call, function):
                    yield call.args[position]

    def _names(self, call: ir.Call, function: ir.Sym) -> bool:
        if call.callee in self.program.heads:
            return call.callee == function
        return function in self.direct_targets(call)

    def _looked_up(self, e: ir.Call, depth: int) -> frozenset[ir.Sym]:
        operators, devices = self._enum_arguments(e.args)
        found = {
            r.function
            for operator in operators
            for r in self.registry.get(operator, ())
            if not devices or not r.devices or devices & r.devices
        }
        if found or e.kind == "ctor" and "function" in e.name:
            return (
                frozenset(found)
                if found
                else frozenset[str]().union(*(self.function_values(a, depth + 1) for a in e.args))
            )
        if e.callee in self.program.heads:
            key = ("r", e.callee)
            if key in self._resolving:
                return frozenset()
            self._resolving.add(key)
            returned = frozenset[str]().union(
                *(self.function_values(v, depth + 1) for v, _ in self.returns(e.callee))
            )
            self._resolving.discard(key)
            return returned
        if e.base is not None:
            return self.function_values(e.base, depth + 1)
        return frozenset[str]().union(*(self.function_values(a, depth + 1) for a in e.args))

    # --------------------------------------------------------------------------------------------- registry

    def _enum_arguments(self, args: Iterable[ir.Expr]) -> tuple[frozenset[str], frozenset[str]]:
        operators: set[str] = set()
        devices: set[str] = set()
        for argument in args:
            while isinstance(argument, ir.Cast):
                argument = argument.x
            if isinstance(argument, ir.Name) and argument.kind == "enum":
                (devices if argument.name in self.device_enumerators else operators).add(argument.name)
            elif isinstance(argument, (ir.Call, ir.Init)):
                inner = self._enum_arguments(
                    argument.args if isinstance(argument, ir.Call) else argument.items
                )
                if isinstance(argument, ir.Init):
                    operators |= inner[0]
                    devices |= inner[1]
        return frozenset(operators), frozenset(device_name(d) for d in devices)


def _note(table: dict[_Key, list[int]], names: Iterable[_Key], at: int) -> None:
    for name in names:
        known = table.setdefault(name, [])
        if not known or known[-1] != at:
            known.append(at)


def _open(part: Part, e: ir.Expr) -> None:
    if isinstance(e, ir.Name):
        if e.kind in ("local", "global"):
            part.open_variables.add(e.sym)
    elif isinstance(e, ir.Field):
        part.open_fields.add((e.owner, e.name))


def _is_false(e: ir.Expr | None) -> bool:
    return isinstance(e, ir.Lit) and e.value == "false"


def _enumerators(program: Program) -> Iterator[str]:
    """The device enumerators as they are spelled in `ir.Name`, of scoped and of plain enumerations."""
    for enum, names in program.device_enums.items():
        for name in names:
            yield f"{enum}::{name}"
            yield f"{enum.rpartition('::')[0]}::{name}".removeprefix("::")


def _made(call: ir.Call, container: str) -> str:
    """The record that a factory or an emplacing member makes."""
    for text in (call.type, container):
        argument = re.search(r"<(?:const )?([\w:()]+)", text)
        if argument:
            return bare(argument.group(1))
        if text and "<" not in text and text != "void":
            return bare(text)
    return ""
