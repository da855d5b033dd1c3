"""What linking needs to know of one function without looking into it: what it names, calls, stores and registers.

A face depends on the function and the carriers alone, so it is kept between runs, and the tables of a program are
made from faces; a body is decoded only when something that was asked leads into it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from analyzer import ir
from analyzer.events import Events, events
from analyzer.produced import Made, produced
from analyzer.program import Program, bare, is_scalar, is_test_path
from analyzer.walk import byte_stores, handles_carriers, walk

_FUNCTION_SHAPES = frozenset({ir.Name, ir.Lambda, ir.Cast, ir.Unary, ir.Call})


class Registered(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Functions handed over together with enumerators, and the line."""

    functions: tuple[ir.Sym, ...]
    enumerators: tuple[str, ...]
    line: int


class Face(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One function from outside.

    `calls`: functions that it names; `globals`: variables; `fields`: data members `(owner, name)` that may hold more
    than a number; `stores`: those that it stores to or opens to others. `pointers`: the calls through a value, by the
    declared callee (or nothing) and the number of arguments; `dependent`: last names of callees that no declaration is
    known of; `makes`: it calls constructors by `new` or a factory. `escapes`: functions used as values; `registers`:
    those with enumerators beside them. `elsewhere`: variables whose declaration is not inside the function's own
    bytes. `own`, `fresh`: storage fields it fills (`analyzer.walk.byte_stores`). `handles`: the body handles a carrier
    (`analyzer.walk.handles_carriers`). `reads`, `marks`: it reads, and it stores, a marker. `fills`: it stores to an
    element of an array in a carrier; `decides`: to a boolean member of another record, from an expression with an
    enumerator in it. `produced`: see `analyzer.produced.produced`.
    """

    calls: tuple[ir.Sym, ...]
    globals: tuple[ir.Sym, ...]
    own: tuple[tuple[str, str], ...]
    fresh: tuple[tuple[str, str], ...]
    handles: bool
    produced: tuple[Made, ...]
    fields: tuple[tuple[str, str], ...]
    stores: tuple[tuple[str, str], ...]
    pointers: tuple[tuple[ir.Sym, int], ...]
    dependent: tuple[str, ...]
    makes: bool
    escapes: tuple[ir.Sym, ...]
    registers: tuple[Registered, ...]
    elsewhere: tuple[ir.Sym, ...]
    reads: bool
    marks: bool
    fills: bool
    decides: bool


def face(function: ir.Function, program: Program) -> Face:
    """Return the face of `function`, which has a body, or the made-up one of a global's initialiser."""
    calls: dict[ir.Sym, None] = {}  # of a set, a dict keeps the order
    names: dict[ir.Sym, None] = {}
    fields: dict[tuple[str, str], None] = {}
    pointers: dict[tuple[ir.Sym, int], None] = {}
    dependent: dict[str, None] = {}
    makes = reads = False
    for part in (function.body, *function.inits, *(p.default for p in function.params)):
        for node in walk(part):
            if isinstance(node, ir.Name):
                if node.kind == "function":
                    calls[node.sym] = None
                elif node.kind == "global":
                    names[node.sym] = None
            elif isinstance(node, ir.Lambda):
                calls[node.sym] = None
            elif isinstance(node, ir.New):
                makes = True
            elif isinstance(node, ir.Field):
                if node.owner in program.carriers:
                    reads = reads or node.name in program.markers
                elif node.owner and not (node.type and is_scalar(node.type)):
                    fields[node.owner, node.name] = None
            elif isinstance(node, ir.Call):
                if node.callee:
                    calls[node.callee] = None
                if is_factory(node.name):
                    makes = True
                elif node.target is not None:
                    pointers[node.callee, len(node.args)] = None
                elif not node.callee:
                    dependent[node.name.rpartition("::")[2]] = None
    seen = events(function)
    own, fresh = byte_stores(function, program)
    return Face(
        calls=tuple(calls),
        globals=tuple(names),
        own=tuple(sorted(own)),
        fresh=tuple(sorted(fresh)),
        handles=handles_carriers(function.body, program),
        produced=() if is_test_path(function.path) else produced(function, program),
        fields=tuple(fields),
        stores=tuple(dict.fromkeys(_stores(seen))),
        pointers=tuple(pointers),
        dependent=tuple(dependent),
        makes=makes,
        escapes=tuple(dict.fromkeys(_escapes(seen))),
        registers=tuple(_registers(seen)),
        elsewhere=tuple(_elsewhere(function, seen)),
        reads=reads,
        marks=any(
            isinstance(a.target, ir.Field)
            and a.target.owner in program.carriers
            and a.target.name in program.markers
            for a, _ in seen.assigns
        ),
        fills=any(
            isinstance(a.target, ir.Index)
            and isinstance(a.target.base, ir.Field)
            and a.target.base.owner in program.carriers
            for a, _ in seen.assigns
        ),
        decides=any(
            isinstance(a.target, ir.Field)
            and a.target.type == "bool"
            and a.target.owner not in program.carriers
            and any(isinstance(n, ir.Name) and n.kind == "enum" for n in walk(a.value))
            for a, _ in seen.assigns
        ),
    )


def _stores(seen: Events) -> Iterator[tuple[str, str]]:
    """Members stored to, and those that others may write: their address is taken, or they are an argument."""
    for assign, _ in seen.assigns:
        if isinstance(assign.target, ir.Field):
            yield assign.target.owner, assign.target.name
    for init, _ in seen.inits:
        for name in init.fields:
            yield bare(init.type), name
    for e in (*seen.addresses, *(a for call, _ in seen.calls for a in call.args)):
        if isinstance(e, ir.Field):
            yield e.owner, e.name


def _escapes(seen: Events) -> Iterator[ir.Sym]:
    """Functions used as values."""
    for values in (
        *(call.args for call, _ in seen.calls),
        *(init.items for init, _ in seen.inits),
        (assign.value for assign, _ in seen.assigns),
        (var.init for var, _ in seen.variables if var.init is not None),
        (returned.x for returned, _ in seen.returns if returned.x is not None),
    ):
        for value in values:
            yield from named_functions(value)


def _registers(seen: Events) -> Iterator[Registered]:
    """Calls and braced lists with a function and an enumerator; the function may be in a member of an argument."""
    held: dict[ir.Sym, set[ir.Sym]] = {}
    for assign, _ in seen.assigns:
        if isinstance(assign.target, ir.Field) and isinstance(assign.target.base, ir.Name):
            for value in named_functions(assign.value):
                held.setdefault(assign.target.base.sym, set()).add(value)
    for call, _ in seen.calls:
        functions: list[ir.Sym] = []
        for argument in call.args:
            functions += named_functions(argument)
            if isinstance(call, ir.Call) and isinstance(argument, ir.Name):
                functions += sorted(held.get(argument.sym, ()))
        yield from _registered(functions, call.args, call.span.line)
    for init, _ in seen.inits:
        yield from _registered(
            [f for item in init.items for f in named_functions(item)], init.items, init.span.line
        )


def _registered(functions: list[ir.Sym], args: tuple[ir.Expr, ...], line: int) -> Iterator[Registered]:
    enumerators = tuple(dict.fromkeys(_enumerators(args))) if functions else ()
    if enumerators:
        yield Registered(tuple(functions), enumerators, line)


def _elsewhere(function: ir.Function, seen: Events) -> Iterator[ir.Sym]:
    for var in (*(v for v, _ in seen.variables), *(each.var for each, _ in seen.ranges)):
        path, at = place(var.sym)
        if f"{var.sym}=" == function.sym:
            continue  # the global itself
        if path != function.path or not function.span.begin <= at < function.span.end:
            yield var.sym


def place(sym: ir.Sym) -> tuple[str, int]:
    """File and offset of the declaration of a local variable, parameter or lambda; -1 where `sym` is of something
    else."""
    path, _, rest = sym.rpartition(":")[0].rpartition(":")
    return (path, int(rest)) if rest.isdecimal() else ("", -1)


def named_functions(e: ir.Expr) -> list[ir.Sym]:
    """The functions that `e` is when it is one by name, or a lambda."""
    if type(e) not in _FUNCTION_SHAPES:  # asked of every value in the tree
        return []
    while isinstance(e, (ir.Cast, ir.Unary)):
        e = e.x
    if isinstance(e, ir.Name):
        return [e.sym] if e.kind == "function" and e.sym else []
    if isinstance(e, ir.Lambda):
        return [e.sym]
    if isinstance(e, ir.Call) and e.kind == "ctor" and len(e.args) == 1:
        return named_functions(e.args[0])
    return []


def is_factory(name: str) -> bool:
    """Does a function of this name make an object of its arguments, as `make_unique` and `emplace_back` do?"""
    return name.rpartition("::")[2] in _FACTORIES


_FACTORIES = frozenset(
    {"make_unique", "make_shared", "emplace_back", "emplace", "construct", "emplace_front", "allocate_shared"}
)


def _enumerators(args: tuple[ir.Expr, ...]) -> Iterator[str]:
    """Enumerators among `args` and in braced lists among them."""
    for argument in args:
        while isinstance(argument, ir.Cast):
            argument = argument.x
        if isinstance(argument, ir.Name) and argument.kind == "enum":
            yield argument.name
        elif isinstance(argument, ir.Init):
            yield from _enumerators(argument.items)
