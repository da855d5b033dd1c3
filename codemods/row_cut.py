"""Where a row slice begins and how many rows it has, read back from the code that makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from codemods.syntax import Source, assignment, function, walk

_CASTS = re.compile(r"(?:static|reinterpret|const)_cast\s*<")
_VALUES = frozenset(
    {"identifier", "field_expression", "field_identifier", "number_literal", "binary_expression",
     "parenthesized_expression", "subscript_expression", "subscript_argument_list"}
)  # fmt: skip
"""What a number may be made of to be asked again elsewhere: it calls nothing and changes nothing."""


def row_cut(source: Source, statement: Node, group: int) -> tuple[str, ...]:
    """The C++ spelling of numbers that are all multiples of `group` exactly if the rows that `statement`, a store
    `view.data = pointer + row * row_bytes;`, cuts off begin at a whole group and are whole groups.

    Empty where the code does not say so: `row_bytes` has to be a call of a dtype and the number of columns."""
    stored = assignment(source, statement)
    if stored is None or not re.search(r"(?:\.|->)data$", stored[0]):
        return ()
    view = re.sub(r"(?:\.|->)data$", "", stored[0])
    offset = _offset(source, stored[1])
    if offset is None:
        return ()
    factors = [_bare(source, f) for f in _factors(source, offset)]
    columns = {
        "".join(_text(source, value).split()) for value in _stores(source, statement, f"{view}.shape[1]")
    }
    strides = [f for f in factors if _is_row_size(source, statement, f, columns)]
    index = [f for f in factors if f not in strides]
    if len(strides) != 1 or not index or not all(_is_plain(f) for f in index):
        return ()
    counts = [_bare(source, value) for value in _stores(source, statement, f"{view}.shape[0]")]
    if len(counts) > 1 or not all(_is_plain(c) for c in counts):
        return ()
    spelled = [_text(source, f) for f in index]
    wanted = [_text(source, c) for c in counts if not _is_multiple(_text(source, c), group)]
    # A multiple of the number of rows is a multiple of whatever that is one of.
    whole = any(_is_multiple(s, group) or s in wanted for s in spelled)
    first = [] if whole else [_product(index, spelled)]
    return tuple(
        dict.fromkeys(
            [*first, *(_product([c], [_text(source, c)]) for c in counts if _text(source, c) in wanted)]
        )
    )


def _text(source: Source, node: Node) -> str:
    return " ".join(source.text(node.start_byte, node.end_byte).split())


def _bare(source: Source, node: Node) -> Node:
    """`node` without the parentheses and casts around it."""
    while True:
        inner: Node | None = None
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            inner = node.named_children[0]
        elif node.type == "cast_expression":
            inner = node.child_by_field_name("value")
        elif node.type == "call_expression" and _CASTS.match(_text(source, node)):
            given = node.child_by_field_name("arguments")
            inner = given.named_children[0] if given is not None and given.named_child_count == 1 else None
        if inner is None:
            return node
        node = inner


def _operands(source: Source, node: Node, operator: str) -> tuple[Node, Node] | None:
    bare = _bare(source, node)
    if bare.type != "binary_expression":
        return None
    left, right, op = (bare.child_by_field_name(x) for x in ("left", "right", "operator"))
    return (
        (left, right)
        if left is not None and right is not None and op is not None and op.type == operator
        else None
    )


def _offset(source: Source, value: Node) -> Node | None:
    """What is added to a pointer in `value`."""
    sides = _operands(source, value, "+")
    if sides is None:
        return None
    pointers = [side for side in sides if re.search(r"(?:\.|->)data\b", _text(source, side))]
    return next((s for s in sides if s != pointers[0]), None) if len(pointers) == 1 else None


def _factors(source: Source, node: Node) -> Iterator[Node]:
    sides = _operands(source, node, "*")
    for side in sides or ():
        yield from _factors(source, side)
    if sides is None:
        yield node


def _is_row_size(source: Source, statement: Node, factor: Node, columns: set[str]) -> bool:
    """Is `factor` a call of a dtype and a number of columns, or a local that has the value of one?"""
    call = _bare(source, _initial(source, statement, factor))
    given = call.child_by_field_name("arguments") if call.type == "call_expression" else None
    if given is None or given.named_child_count != 2:
        return False
    texts = ["".join(_text(source, _initial(source, statement, a)).split()) for a in given.named_children]
    names = ["".join(_text(source, a).split()) for a in given.named_children]
    dtypes = [i for i, text in enumerate(texts) if re.search(r"(?:\.|->)dtype$", text)]
    if len(dtypes) != 1:
        return False
    other = 1 - dtypes[0]
    return names[other] in columns or re.search(r"(?:\.|->)shape\[1\]$", texts[other]) is not None


def _initial(source: Source, statement: Node, value: Node) -> Node:
    """What a local that is never assigned was made of; `value` itself if it is none."""
    if value.type != "identifier":
        return value
    name = _text(source, value)
    found: list[Node] = []
    for node in walk(function(statement)):
        if node.type == "init_declarator" and _names(source, node.child_by_field_name("declarator"), name):
            made = node.child_by_field_name("value")
            found += [made] if made is not None else []
        elif node.type == "assignment_expression" and _names(source, node.child_by_field_name("left"), name):
            return value
    return found[0] if len(found) == 1 else value


def _names(source: Source, node: Node | None, name: str) -> bool:
    return node is not None and node.type == "identifier" and _text(source, node) == name


def _stores(source: Source, statement: Node, left: str) -> list[Node]:
    """The values that `left` is given in the block of `statement`."""
    block = statement.parent
    stored = [assignment(source, each) for each in block.named_children] if block is not None else []
    return [value for each in stored if each is not None and each[0] == left for value in (each[1],)]


def _is_plain(node: Node) -> bool:
    return all(each.type in _VALUES for each in walk(node))


def _is_multiple(text: str, group: int) -> bool:
    digits = text.rstrip("uUlLzZ")
    return digits.isdigit() and int(digits) % group == 0


def _product(nodes: list[Node], spelled: list[str]) -> str:
    if len(nodes) > 1:
        parts = [
            f"({s})" if n.type == "binary_expression" else s for n, s in zip(nodes, spelled, strict=True)
        ]
        return f"({' * '.join(parts)})"
    return f"({spelled[0]})" if nodes[0].type == "binary_expression" else spelled[0]
