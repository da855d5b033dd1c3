"""`return test ? a : b;` becomes an `if` with two returns, so that each arm can carry or refuse on its
own."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from codemods.construction import CannotFixError, Construction
from codemods.context import Context
from codemods.edit import Edit
from codemods.propagate import arm_lines, whole_value
from codemods.refuse import check_lines
from codemods.statement import Place
from codemods.syntax import Source, ancestors


def conditional_of(source: Source, construction: Construction, statement: Node) -> Node | None:
    """The conditional operator one of whose arms holds the construction, if there is one in `statement`."""
    inner = source.node(construction.begin, construction.end)
    for node in ancestors(inner, statement):
        if node.type == "conditional_expression" and inner != node.child_by_field_name("condition"):
            return node
        inner = node
    return None


def split_return(
    context: Context, constructions: Sequence[Construction], statement: Node, operator: Node
) -> list[Edit]:
    """The edits that split `statement` and fix `constructions`, the arms of `operator`.

    Raises `CannotFixError` unless the statement returns the operator and each construction is a whole arm."""
    source, style = context.source, context.style
    test, yes, no = (operator.child_by_field_name(x) for x in ("condition", "consequence", "alternative"))
    if (
        statement.type != "return_statement"
        or whole_value(operator).parent != statement
        or not (test and yes and no)
    ):
        raise CannotFixError("inside a conditional operator that is not returned as it is")
    if b"//" in source.data[statement.start_byte : statement.end_byte]:
        raise CannotFixError("inside a conditional operator with a comment in it")
    place = Place(source, style, statement)
    inner = place.indent + style.unit
    arms: dict[int, Construction] = {}
    for construction in constructions:
        value = whole_value(source.node(construction.begin, construction.end))
        if value.start_byte not in (yes.start_byte, no.start_byte):
            raise CannotFixError("part of an arm of a conditional operator")
        arms[value.start_byte] = construction
    bodies = []
    for value, indent in ((yes, inner), (no, place.indent)):
        own = arms.get(value.start_byte)
        checks = check_lines(context, own, own.refusals, indent, statement) if own else []
        bodies.append(arm_lines(context, own, value, indent, checks))
    condition = source.text(test.start_byte, test.end_byte)
    condition = condition if test.type == "parenthesized_expression" else f"({condition})"
    brace = f"\n{place.indent}{{" if style.allman else " {"
    first = "".join(f"\n{inner}{line}" for line in bodies[0])
    second = f"\n{place.indent}".join(bodies[1])
    text = f"if {condition}{brace}{first}\n{place.indent}}}\n{place.indent}{second}"
    return [*place.wrap(), place.edit(statement.start_byte, statement.end_byte, text)]
