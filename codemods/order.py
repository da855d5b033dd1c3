"""What may be evaluated earlier than where it stands, so that a weight that is not marked is treated as before."""

from __future__ import annotations

import re

from tree_sitter import Node

from codemods.construction import CannotFixError
from codemods.syntax import ancestors, is_statement, walk

LOOPS = ("for_statement", "for_range_loop", "while_statement", "do_statement")
_DECLARATORS = (
    "init_declarator",
    "declaration",
    "parameter_declaration",
    "reference_declarator",
    "pointer_declarator",
    "structured_binding_declarator",
    "for_range_loop",
)
_UNEVALUATED = ("sizeof_expression", "decltype", "alignof_expression", "noexcept")
_SEQUENCED = (
    "call_expression",
    "comma_expression",
    "condition_clause",
    "declaration",
    "for_statement",
    "initializer_list",
)
_ACTS = ("call_expression", "assignment_expression", "update_expression", "new_expression")


def changed(node: Node, before: int | None = None) -> set[str]:
    """The names that `node` declares or gives another value, in its text ahead of offset `before`."""
    found: set[str] = set()
    for current in walk(node):
        parent = current.parent
        if current.type != "identifier" or parent is None or current.text is None:
            continue
        if before is not None and current.end_byte > before:
            continue
        declared = parent.type in _DECLARATORS and current in parent.children_by_field_name("declarator")
        inside = parent.type in ("reference_declarator", "structured_binding_declarator")
        assigned = parent.type == "assignment_expression" and current == parent.child_by_field_name("left")
        if declared or inside or assigned or parent.type == "update_expression":
            found.add(current.text.decode(errors="replace"))
    return found


def names(node: Node) -> set[str]:
    """The variables that `node` reads: its plain identifiers but for the functions that it calls."""
    return {
        current.text.decode(errors="replace")
        for current in walk(node)
        if current.type == "identifier"
        and current.text is not None
        and not (
            current.parent is not None
            and current.parent.type == "call_expression"
            and current == current.parent.child_by_field_name("function")
        )
    }


def may_be_null(spelled: str) -> bool:
    """True if a member of `spelled` is reached through a pointer or an index, which need not be valid."""
    return re.search(r"->|\[|\*", re.sub(r"^(?:this->|\(\*this\)\.)", "", spelled)) is not None


def always(statement: Node, value: Node) -> bool:
    """Is `value` evaluated whenever `statement` begins?"""
    try:
        _unconditional(statement, value)
    except CannotFixError:
        return False
    return True


def hoistable(statement: Node, value: Node) -> None:
    """Raise `CannotFixError` if `value` cannot be evaluated before `statement`: not always, not once, or not
    without what the statement does ahead of it."""
    _unconditional(statement, value)
    used = names(value)
    inner = value
    for node in (*ancestors(value, statement), statement):
        ahead = [child for child in node.named_children if child.end_byte <= inner.start_byte]
        if any(used & changed(child) for child in ahead):
            raise CannotFixError("it needs what the same statement sets up ahead of it")
        if _in_order(node) and any(used & _acted_on(child) for child in ahead):
            raise CannotFixError("something of the same statement has to be done ahead of it")
        if node != statement:
            inner = node
    if statement.type in LOOPS and not _once(statement, inner):
        raise CannotFixError("evaluated anew in each turn of a loop")
    if any(child.type == "storage_class_specifier" for child in statement.children):
        raise CannotFixError("a static local gets its value once")


def _unconditional(statement: Node, value: Node) -> None:
    inner = value
    for node in (*ancestors(value, statement), statement):
        if node.type == "conditional_expression" and inner != node.child_by_field_name("condition"):
            raise CannotFixError("inside a conditional operator")
        if node.type == "binary_expression" and inner == node.child_by_field_name("right"):
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type in ("&&", "||", "and", "or"):
                raise CannotFixError("evaluated only if the left operand allows it")
        if node.type in _UNEVALUATED:
            raise CannotFixError("not evaluated here")
        if node.type == "optional_parameter_declaration":
            raise CannotFixError("the default of a parameter")
        inner = node


def _in_order(node: Node) -> bool:
    """Are the parts of `node` evaluated from left to right?"""
    operator = node.child_by_field_name("operator")
    if node.type == "binary_expression":
        return operator is not None and operator.type in ("<<", ">>")
    return node.type in _SEQUENCED


def _acted_on(node: Node) -> set[str]:
    """The variables of the calls and changes in `node`."""
    return {name for current in walk(node) if current.type in _ACTS for name in names(current)}


def _once(loop: Node, part: Node) -> bool:
    if loop.type == "for_range_loop":
        return part == loop.child_by_field_name("right")
    initializer = loop.child_by_field_name("initializer")
    return loop.type == "for_statement" and part == initializer and not is_statement(part)
