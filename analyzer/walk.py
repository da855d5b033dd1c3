"""Walks over lowered bodies, and what a plain walk can tell."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import ir
from analyzer.program import Program, bare, is_byte_pointer, is_scalar

COPIES = frozenset(
    {"memcpy", "memmove", "copy", "copy_n", "__builtin_memcpy", "__builtin_memmove", "uninitialized_copy"}
)
"""Functions of the language's libraries that copy bytes."""


def walk(node: object) -> Iterator[ir.Node]:
    """Every expression and statement under `node`, itself first, without recursion into lambdas' own functions."""
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, ir.Node):
            yield here
            for name in _CHILDREN[type(here)]:
                value = getattr(here, name)
                if value is not None:
                    stack.append(value)
        elif isinstance(here, tuple):
            stack.extend(here)


def children(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes directly under `node`, in the order of its fields."""
    for name in _CHILDREN[type(node)]:
        value = getattr(node, name)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, ir.Node):
                yield child


# Fields of a node that can hold nodes, or tuples of them.
_CHILDREN: dict[type, tuple[str, ...]] = {
    kind: tuple(
        name
        for name, hint in kind.__annotations__.items()
        if any(word in str(hint) for word in ("Expr", "Stmt", "Var", "Case"))
    )
    for kind in (
        ir.Name, ir.This, ir.Field, ir.Call, ir.Unary, ir.Binary, ir.Assign, ir.Cond, ir.Lit, ir.Init, ir.Index,
        ir.Cast, ir.Lambda, ir.New, ir.ThrowExpr, ir.Other, ir.Var, ir.Do, ir.Block, ir.If, ir.Loop, ir.Each,
        ir.Return, ir.Jump, ir.Case, ir.Switch, ir.Try,
    )
}  # fmt: skip


def literal(init: ir.Expr | None) -> str:
    """The literal that an initialiser is, as written; empty for anything else."""
    while isinstance(init, (ir.Cast, ir.Init)):
        init = init.x if isinstance(init, ir.Cast) else (init.items[0] if init.items else None)
    return init.value if isinstance(init, ir.Lit) else ""


def byte_stores(
    function: ir.Function, program: Program
) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    """Storage fields `(carrier, field)` that `function` stores to: with the carrier's own bytes, and with others.

    A store counts as the carrier's own bytes when the stored expression, or a buffer it was copied into in the same
    function, mentions a storage field of a carrier."""
    stores = [
        node
        for node in walk(function.body)
        if isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Field)
        and node.target.owner in program.carriers
        and node.target.name in program.carriers[node.target.owner].storage
    ]  # fmt: skip
    own: set[tuple[str, str]] = set()
    fresh: set[tuple[str, str]] = set()
    carrying = _carrying_locals(function, program) if stores else set()
    for store in stores:
        assert isinstance(store.target, ir.Field)
        key = (store.target.owner, store.target.name)
        if _uses_bytes(store.value, program, carrying):
            own.add(key)
        elif not _is_empty(store.value):
            fresh.add(key)
    return frozenset(own), frozenset(fresh)


def fresh_fields(
    program: Program, own: frozenset[tuple[str, str]], fresh: frozenset[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Storage fields that the tree only ever fills with values computed anew (an upcast copy, a scratch buffer), so
    that a view over them is no view over the carrier's marked bytes. `own`, `fresh`: what `byte_stores` says of all
    functions together; a field that is never stored to keeps the benefit of no doubt."""
    return frozenset(k for k in fresh - own if _is_memo(program, k))


def _is_memo(program: Program, key: tuple[str, str]) -> bool:
    """A mutable memo beside the real storage: a carrier's first storage field is never one."""
    carrier = program.carriers[key[0]]
    return key[1] != carrier.storage[0] and "shared_ptr" in next(
        m.type for m in carrier.members if m.name == key[1]
    )


def _is_empty(value: ir.Expr) -> bool:
    return (
        isinstance(value, ir.Lit)
        or isinstance(value, (ir.Call, ir.Init))
        and not getattr(value, "args", getattr(value, "items", ()))
    )


def _carrying_locals(function: ir.Function, program: Program) -> set[str]:
    carrying: set[str] = set()
    for _ in range(2):
        for node in walk(function.body):
            if isinstance(node, ir.Var) and node.init is not None and not is_scalar(node.type):
                if _is_bytes_type(node.type, program) and _uses_bytes(node.init, program, carrying):
                    carrying.add(node.sym)
            elif isinstance(node, ir.Call) and len(node.args) >= 2:
                if any(_uses_bytes(a, program, carrying) for a in node.args):
                    for argument in node.args:
                        for name in walk(argument):
                            if isinstance(name, ir.Name) and name.kind == "local":
                                carrying.add(name.sym)
    return carrying


def _is_bytes_type(type_text: str, program: Program) -> bool:
    base = bare(type_text)
    return (
        is_byte_pointer(type_text)
        or base.startswith("std::")
        and "float" not in base
        or base in program.carriers
    )


def _uses_bytes(value: ir.Expr, program: Program, carrying: set[str]) -> bool:
    for node in walk(value):
        if isinstance(node, ir.Field) and node.owner in program.carriers:
            if node.name in program.carriers[node.owner].storage:
                return True
        elif isinstance(node, ir.Name) and node.sym in carrying:
            return True
    return False


def handles_carriers(body: ir.Stmt | None, program: Program) -> bool:
    """Does the body name a member of a carrier, declare one, or call something that takes or gives one?"""
    carriers = program.carriers
    for node in walk(body):
        if isinstance(node, ir.Field):
            if node.owner in carriers or program.carrier_of(node.type):
                return True
        elif isinstance(node, ir.Var):
            if program.carrier_of(node.type):
                return True
        elif isinstance(node, ir.Call):
            if program.carrier_of(node.type):
                return True
            if node.name.rpartition("::")[2] in COPIES:
                return True
    return False
