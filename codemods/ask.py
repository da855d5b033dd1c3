"""Ask for a condition that the rule names: in a check at the top of the function, in what is stored, or by storing
it."""

from __future__ import annotations

from tree_sitter import Node

from codemods.construction import CannotFixError, Construction
from codemods.context import Context
from codemods.edit import Edit
from codemods.refuse import may_refuse, prefix
from codemods.spell import check
from codemods.statement import Place
from codemods.syntax import assignment, function
from rules.finding import Finding

_LOOSER = ("conditional_expression", "assignment_expression", "comma_expression")


def ask(context: Context, construction: Construction, statement: Node) -> list[Edit]:
    """The edits that make the construction's conditions hold: see `rules.finding.Fix.condition`.

    Raises `CannotFixError` where no check is visible or may throw, or `statement` is no plain store."""
    edits: list[Edit] = []
    for finding in construction.findings:
        if finding.fix is not None and finding.fix.action == "require":
            edits += _require(context, finding, finding.fix.condition, statement)
        elif finding.fix is not None and finding.fix.action == "narrow":
            edits += _narrow(context, finding.fix.condition, statement)
        elif finding.fix is not None and finding.fix.action == "answer":
            edits += _answer(context, finding.fix.condition, statement)
    return edits


def _require(context: Context, finding: Finding, condition: str, statement: Node) -> list[Edit]:
    block = function(statement).child_by_field_name("body")
    first = next((n for n in block.named_children if n.type != "comment"), None) if block else None
    if first is None:
        raise CannotFixError("not in the body of a function")
    may_refuse(context, first)
    if context.checked(condition, first):
        return []
    place = Place(context.source, context.style, first)
    message = prefix(context, finding) + (finding.fix.why if finding.fix is not None else "")
    return [*place.wrap(), *place.before([check(context.style, condition, message, place.indent)])]


def _narrow(context: Context, condition: str, statement: Node) -> list[Edit]:
    source = context.source
    stored = assignment(source, statement)
    if stored is None:
        raise CannotFixError(f"`{condition}` has to hold too, and this is no plain store")
    value = stored[1]
    operator = value.child_by_field_name("operator")
    looser = value.type in _LOOSER or (operator is not None and operator.type == "||")
    edit = Place(source, context.style, statement).edit
    opening = [edit(value.start_byte, value.start_byte, "(")] if looser else []
    closing = ")" if looser else ""
    return [*opening, edit(value.end_byte, value.end_byte, f"{closing} && {condition}")]


def _answer(context: Context, call: str, statement: Node) -> list[Edit]:
    """Store what the statement right ahead, a call, says."""
    source = context.source
    stored, ahead = assignment(source, statement), statement.prev_sibling
    if stored is None or ahead is None or source.text(ahead.start_byte, ahead.end_byte) != f"{call};":
        raise CannotFixError(f"the answer of `{call}` is not at hand here")
    edit = Place(source, context.style, statement).edit
    value = stored[1]
    return [
        edit(ahead.start_byte, statement.start_byte, ""),
        edit(value.start_byte, value.end_byte, call),
    ]
