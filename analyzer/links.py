"""Indexes over a whole program: who calls what, what is stored where, what a pointer to a function may be.

One pass over all bodies; everything else is answered from the tables it leaves.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from analyzer import ir
from analyzer.events import Cond, Events, events, of_expression
from analyzer.program import Program, bare, device_name, is_mutable_reference

Node = str
"""Where a value can be: a variable's symbol, `#Record::field`, `@this of a method` or a call's result."""

_TEST_FOLDERS = frozenset(
    {
        "test",
        "tests",
        "testing",
        "unittest",
        "unittests",
        "example",
        "examples",
        "bench",
        "benchmark",
        "benchmarks",
    }
)
_FACTORY = re.compile(
    r"(?:^|::)(?:make_unique|make_shared|emplace_back|emplace|construct|emplace_front|allocate_shared)$"
)
_FUNCTION_TYPE = re.compile(r"\(\*|\(&|std::function|\(lambda|std::move_only_function")


@functools.cache
def is_test_path(path: str) -> bool:
    """Tests, examples and benchmarks: they call the code, but no user's process runs them."""
    parts = PurePosixPath(path).parts
    return any(part.lower() in _TEST_FOLDERS for part in parts[:-1]) or parts[-1].startswith("test_")


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


class Links:
    """The tables."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bodies: list[tuple[ir.Function, Events]] = []
        self.types: dict[ir.Sym, str] = {}
        self.names: dict[ir.Sym, str] = {}
        self.parameter_owner: dict[ir.Sym, tuple[ir.Sym, int]] = {}
        self.canonical: dict[ir.Sym, ir.Sym] = {}
        self.escaping: set[ir.Sym] = set()
        self.registry: dict[str, list[Registration]] = {}
        self.registrations: list[Registration] = []
        self.constructors: dict[str, list[ir.Sym]] = {}
        self.by_signature: dict[str, list[ir.Sym]] = {}
        self._positions: dict[ir.Sym, dict[ir.Sym, int]] = {}
        self._variable_stores: dict[ir.Sym, list[tuple[ir.Expr, Cond | None]]] = {}
        self._open_variables: set[ir.Sym] = set()
        self._field_stores: dict[tuple[str, str], list[tuple[ir.Sym, ir.Expr, Cond | None]]] = {}
        self._open_fields: set[tuple[str, str]] = set()
        self._returns: dict[ir.Sym, list[tuple[ir.Expr, Cond | None]]] = {}
        self._stubs: set[ir.Sym] = set()
        self._by_name: dict[str, list[ir.Sym]] = {}
        self._callers: dict[ir.Sym, list[Caller]] = {}
        self.calls: list[Caller] = []
        self.caller_of: dict[int, Caller] = {}
        self._targets: dict[int, tuple[ir.Sym, ...]] = {}
        self._resolving: set[object] = set()
        self.device_enumerators = frozenset(_enumerators(program))
        self.open_records: dict[str, str] = {}
        self._scan()
        self._register()
        self.marker_reads: dict[ir.Sym, list[ir.Field]] = {}
        for function, found in self.bodies:
            reads = [e for e in found.reads if e.owner in program.carriers]
            if reads:
                self.marker_reads.setdefault(function.sym, []).extend(reads)
        for caller in self.calls:
            for target in self.targets(caller.call, caller.function):
                self._callers.setdefault(target, []).append(caller)

    # ------------------------------------------------------------------------------------------ first pass

    def _scan(self) -> None:
        program = self.program
        for sym, variants in program.variants.items():
            first = variants[0]
            if first.owner and first.name.rpartition("::")[2] == first.owner.rpartition("::")[2]:
                self.constructors.setdefault(first.owner, []).append(sym)
            if all(v.body is None for v in variants):
                for type_text in (
                    first.result,
                    first.owner,
                    *(p.type for p in first.params if is_mutable_reference(p.type)),
                ):
                    self.open_records.setdefault(bare(type_text), first.name)
            self._by_name.setdefault(first.name.rpartition("::")[2], []).append(sym)
            positions = self._positions.setdefault(sym, {})
            for function in variants:
                for at, parameter in enumerate(function.params):
                    self.types[parameter.sym] = parameter.type
                    self.names[parameter.sym] = parameter.name
                    self.parameter_owner[parameter.sym] = (sym, at)
                    positions[parameter.sym] = at
                    self.canonical[parameter.sym] = (
                        first.params[at].sym if at < len(first.params) else parameter.sym
                    )
        for variable in program.globals.values():
            self.types[variable.sym] = variable.type
            self.names[variable.sym] = variable.name
        members = frozenset(program.markers)
        for function in program.functions():
            found = events(function, members)
            self.bodies.append((function, found))
            self._take(function, found)
        for variable in program.globals.values():
            if variable.init is not None:
                self._global(variable)
        for record in program.records.values():
            for member in record.members:
                if member.init is not None:
                    self._field_stores.setdefault((record.name, member.name), []).append(
                        ("", member.init, None)
                    )

    def _global(self, variable: ir.Global) -> None:
        assert variable.init is not None
        function = ir.Function(f"{variable.sym}=", variable.name, variable.path, variable.span, (), "", None)
        found = of_expression(variable.init)
        found.variables.append(
            (ir.Var(variable.span, variable.sym, variable.name, variable.type, variable.init), None)
        )
        self.bodies.append((function, found))
        self._take(function, found)

    def _take(self, function: ir.Function, found: Events) -> None:
        sym = function.sym
        quiet = is_test_path(function.path)
        for var, cond in found.variables:
            self.types[var.sym] = var.type
            self.names[var.sym] = var.name
            if var.init is not None:
                self._variable_stores.setdefault(var.sym, []).append((var.init, cond))
        for each, _ in found.ranges:
            self.types[each.var.sym] = each.var.type
            self.names[each.var.sym] = each.var.name
        for assign, cond in found.assigns:
            target = assign.target
            if isinstance(target, ir.Name):
                if assign.op == "=":
                    self._variable_stores.setdefault(target.sym, []).append((assign.value, cond))
                else:
                    self._open_variables.add(target.sym)
            elif isinstance(target, ir.Field) and not quiet:
                if assign.op == "=":
                    self._field_stores.setdefault((target.owner, target.name), []).append(
                        (sym, assign.value, cond)
                    )
                else:
                    self._open_fields.add((target.owner, target.name))
        for init, cond in found.inits:
            if init.fields and not quiet:
                for name, item in zip(init.fields, init.items, strict=False):
                    self._field_stores.setdefault((bare(init.type), name), []).append((sym, item, cond))
        for address in found.addresses:
            self._opened(address)
        if len(found.returns) == 1 and not function.params and _is_false(found.returns[0][0].x):
            self._stubs.add(sym)
        for returned, cond in found.returns:
            if returned.x is not None:
                self._returns.setdefault(sym, []).append((returned.x, cond))
        for call, cond in found.calls:
            caller = Caller(sym, function.path, call, cond, call.args)
            self.calls.append(caller)
            self.caller_of[id(call)] = caller
            if isinstance(call, ir.Call) and call.callee:
                variants = self.program.variants.get(call.callee)
                if variants:
                    for parameter, argument in zip(variants[0].params, call.args, strict=False):
                        if is_mutable_reference(parameter.type):
                            self._opened(argument)

    def _opened(self, e: ir.Expr) -> None:
        if isinstance(e, ir.Name):
            if e.kind in ("local", "global"):
                self._open_variables.add(e.sym)
        elif isinstance(e, ir.Field):
            self._open_fields.add((e.owner, e.name))

    # ------------------------------------------------------------------------------------------ small facts

    def type_of(self, symbol: ir.Sym) -> str:
        """The declared type of a variable or parameter."""
        return self.types.get(symbol, "")

    def positions(self, function: ir.Sym) -> dict[ir.Sym, int]:
        """The parameters of all variants of a function, with their positions."""
        return self._positions.get(function, {})

    def is_stub(self, function: ir.Sym) -> bool:
        """A question without parameters that some view of the code answers with a bare `return false`."""
        return function in self._stubs

    def owner_of_parameter(self, symbol: ir.Sym) -> tuple[ir.Sym, int] | None:
        """The function a parameter belongs to, and its position."""
        return self.parameter_owner.get(symbol)

    def default(self, function: ir.Sym, position: int) -> ir.Expr | None:
        """The default argument of a parameter."""
        for variant in self.program.variants.get(function, ()):
            if position < len(variant.params) and variant.params[position].default is not None:
                return variant.params[position].default
        return None

    def callers(self, function: ir.Sym) -> list[Caller]:
        """Every known call of `function`, those in tests only when there is no other."""
        found = self._callers.get(function, [])
        return [c for c in found if not is_test_path(c.path)] or found

    def all_callers(self, function: ir.Sym) -> list[Caller]:
        """Every known call of `function`."""
        return self._callers.get(function, [])

    def parameter_node(self, function: ir.Sym, position: int) -> Node | None:
        """The node of a parameter; position -1 is the object of a method."""
        if position < 0:
            return f"@{function}"
        variants = self.program.variants.get(function)
        if not variants or position >= len(variants[0].params):
            return None
        return variants[0].params[position].sym

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
        return self._returns.get(function, [])

    def stores_to_variable(self, symbol: ir.Sym) -> list[tuple[ir.Expr, Cond | None]] | None:
        """Every value given to a local variable, None when something else may write it."""
        return None if symbol in self._open_variables else self._variable_stores.get(symbol)

    def values_of_variable(self, symbol: ir.Sym) -> list[ir.Expr]:
        """Every value seen to be given to a local variable, whatever else may write it."""
        return [value for value, _ in self._variable_stores.get(symbol, ())]

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
        if call.callee in self.program.variants:
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
        return None if (owner, name) in self._open_fields else self._field_stores.get((owner, name))

    def frame_of(self, function: ir.Sym) -> ir.Sym:
        """The function a lambda is written in, at any depth; else the function itself."""
        seen = function
        while True:
            known = self.program.function(seen)
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
                for value, _ in self._variable_stores.get(target.sym, ()):
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
            function = self.program.function(sym)
            if function is not None and function.body is not None and sym not in found:
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
        if found or call.callee in self.program.variants:
            return found
        if _FACTORY.search(call.name):
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
            known = self.program.function(sym)
            if known is not None and known.body is not None and len(known.params) == len(call.args):
                if bool(known.owner) == (call.base is not None):
                    found.append(sym)
        here = self.program.function(function)
        near = [s for s in found if here is not None and self.program.variants[s][0].path == here.path]
        return near or (found if len(found) == 1 else [])

    def _constructors(self, record: str, arity: int) -> list[ir.Sym]:
        found = []
        for sym in self.constructors.get(record, ()):
            variant = self.program.function(sym)
            if variant is not None and variant.body is not None and len(variant.params) >= arity:
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
                return frozenset({e.sym}) if e.sym in self.program.variants else frozenset()
            return self._held(("v", e.sym), e.sym, depth)
        if isinstance(e, ir.Field):
            key = ("f", e.owner, e.name)
            if key in self._resolving:
                return frozenset()
            self._resolving.add(key)
            found = frozenset[str]().union(
                *(
                    self.function_values(v, depth + 1)
                    for _, v, _ in self._field_stores.get((e.owner, e.name), ())
                )
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
            *(self.function_values(v, depth + 1) for v, _ in self._variable_stores.get(symbol, ()))
        )
        owner = self.parameter_owner.get(symbol)
        if owner is not None and _FUNCTION_TYPE.search(self.type_of(symbol)):
            for argument in self._arguments_of(*owner):
                found |= self.function_values(argument, depth + 1)
        self._resolving.discard(key)
        return found

    def _arguments_of(self, function: ir.Sym, position: int) -> Iterator[ir.Expr]:
        """What calls that name `function` itself pass for a parameter."""
        for call in self._named_calls().get(function, ()):
            if position < len(call.args):
                yield call.args[position]

    @functools.cache  # noqa: B019 - one table for each of the few Links objects of a run
    def _named_calls(self) -> dict[ir.Sym, list[ir.Call]]:
        found: dict[ir.Sym, list[ir.Call]] = {}
        for caller in self.calls:
            call = caller.call
            if isinstance(call, ir.Call):
                names = [call.callee] if call.callee in self.program.variants else self.direct_targets(call)
                for name in names:
                    found.setdefault(name, []).append(call)
        return found

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
        if e.callee in self.program.variants:
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

    def _register(self) -> None:
        """Find functions that are stored under enumerators, and every function used as a value."""
        for function, found in self.bodies:
            held: dict[ir.Sym, set[ir.Sym]] = {}
            for assign, _ in found.assigns:
                if isinstance(assign.target, ir.Field) and isinstance(assign.target.base, ir.Name):
                    for value in _named_functions(assign.value):
                        held.setdefault(assign.target.base.sym, set()).add(value)
            for call, _ in found.calls:
                self._registered(function, call.args, call.span.line, held, isinstance(call, ir.Call))
            for init, _ in found.inits:
                self._registered(function, init.items, init.span.line, held, False)
            for values in (
                *(a.value for a, _ in found.assigns),
                *(v.init for v, _ in found.variables if v.init is not None),
            ):
                self._escape(values)
            for returned, _ in found.returns:
                if returned.x is not None:
                    self._escape(returned.x)

    def _escape(self, e: ir.Expr) -> None:
        for sym in _named_functions(e):
            if sym in self.program.variants and sym not in self.escaping:
                self.escaping.add(sym)
                function = self.program.variants[sym][0]
                self.by_signature.setdefault(", ".join(p.type for p in function.params), []).append(sym)

    def _registered(
        self,
        function: ir.Function,
        args: tuple[ir.Expr, ...],
        line: int,
        held: dict[ir.Sym, set[ir.Sym]],
        call: bool,
    ) -> None:
        functions: list[ir.Sym] = []
        for argument in args:
            functions += _named_functions(argument)
            if call and isinstance(argument, ir.Name) and argument.sym in held:
                functions += sorted(held[argument.sym])
            self._escape(argument)
        functions = [f for f in functions if f in self.program.variants]
        if not functions:
            return
        operators, devices = self._enum_arguments(args)
        if not operators and not devices:
            return
        for sym in functions:
            entry = Registration(operators, devices, sym, function.path, line)
            self.registrations.append(entry)
            for operator in operators:
                self.registry.setdefault(operator, []).append(entry)


def _is_false(e: ir.Expr | None) -> bool:
    return isinstance(e, ir.Lit) and e.value == "false"


def _enumerators(program: Program) -> Iterator[str]:
    """The device enumerators as they are spelled in `ir.Name`, of scoped and of plain enumerations."""
    for enum, names in program.device_enums.items():
        for name in names:
            yield f"{enum}::{name}"
            yield f"{enum.rpartition('::')[0]}::{name}".removeprefix("::")


_FUNCTION_SHAPES = frozenset({ir.Name, ir.Lambda, ir.Cast, ir.Unary, ir.Call})


def _named_functions(e: ir.Expr) -> list[ir.Sym]:
    if type(e) not in _FUNCTION_SHAPES:  # asked of every value in the tree
        return []
    while isinstance(e, (ir.Cast, ir.Unary)):
        e = e.x
    if isinstance(e, ir.Name):
        return [e.sym] if e.kind == "function" and e.sym else []
    if isinstance(e, ir.Lambda):
        return [e.sym]
    if isinstance(e, ir.Call) and e.kind == "ctor" and len(e.args) == 1:
        return _named_functions(e.args[0])
    return []


def _made(call: ir.Call, container: str) -> str:
    """The record that a factory or an emplacing member makes."""
    for text in (call.type, container):
        argument = re.search(r"<(?:const )?([\w:()]+)", text)
        if argument:
            return bare(argument.group(1))
        if text and "<" not in text and text != "void":
            return bare(text)
    return ""
