"""Boolean formulas over what a branch can test: markers, device sets, and anything else by its structure.

A formula is a nested tuple: `("c", bool)`, `("a", atom)`, `("!", f)`, `("&", f, g)`, `("|", f, g)` and
`("any", frozenset)` for a value that is one of several. An atom is a tuple whose first item is its kind:
`("m", path, marker)`, `("dev", positive, negative[, variable])` (device sets left on each outcome) or `("e", key)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Formula: TypeAlias = tuple[Any, ...]
Atom: TypeAlias = tuple[Any, ...]

TRUE: Formula = ("c", True)
FALSE: Formula = ("c", False)


def atom(*key: Any) -> Formula:
    """The formula that is one atom."""
    return ("a", key)


def negate(f: Formula) -> Formula:
    """`!f`, folded."""
    if f[0] == "c":
        return FALSE if f[1] else TRUE
    if f[0] == "!":
        return f[1]  # type: ignore[no-any-return]
    return ("!", f)


def both(f: Formula, g: Formula) -> Formula:
    """`f && g`, folded."""
    if f[0] == "c":
        return g if f[1] else FALSE
    if g[0] == "c":
        return f if g[1] else FALSE
    return f if f == g else ("&", f, g)


def either(f: Formula, g: Formula) -> Formula:
    """`f || g`, folded."""
    if f[0] == "c":
        return TRUE if f[1] else g
    if g[0] == "c":
        return TRUE if g[1] else f
    return f if f == g else ("|", f, g)


def one_of(f: Formula, g: Formula) -> Formula:
    """A value that is `f` on some paths and `g` on others."""
    if f == g:
        return f
    members = (f[1] if f[0] == "any" else frozenset({f})) | (g[1] if g[0] == "any" else frozenset({g}))
    return ("any", members)


def atoms(f: Formula) -> Iterator[Atom]:
    """Every atom of `f`."""
    if f[0] == "a":
        yield f[1]
    elif f[0] == "any":
        for member in f[1]:
            yield from atoms(member)
    elif f[0] != "c":
        for part in f[1:]:
            yield from atoms(part)


def replace(f: Formula, change: Callable[[Atom], Formula]) -> Formula:
    """`f` with every atom replaced by a formula."""
    head = f[0]
    if head == "a":
        return change(f[1])
    if head == "c":
        return f
    if head == "!":
        return negate(replace(f[1], change))
    if head == "&":
        return both(replace(f[1], change), replace(f[2], change))
    if head == "|":
        return either(replace(f[1], change), replace(f[2], change))
    result: Formula | None = None
    for member in sorted(f[1], key=repr):
        changed = replace(member, change)
        result = changed if result is None else one_of(result, changed)
    return result if result is not None else FALSE


def reduce(f: Formula, known: Mapping[Atom, bool]) -> Formula:
    """`f` with known atoms folded in."""

    def fold(key: Atom) -> Formula:
        value = known.get(key)
        return ("a", key) if value is None else TRUE if value else FALSE

    return replace(f, fold)
