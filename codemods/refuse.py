"""Refuse a marker: a check by name, before the use and before any upload."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codemods.before_use import before_use
from codemods.construction import CannotFixError, Construction, Refusal
from codemods.context import Context
from codemods.edit import Edit
from codemods.move_check import move_check, packed
from codemods.spell import check
from codemods.statement import Place
from codemods.syntax import function
from rules.finding import Finding

_NOEXCEPT = re.compile(r"\bnoexcept\b(?!\s*\(\s*false\s*\))")
_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_PLAIN = ("read", "typed", "copyout")


def refuse(context: Context, construction: Construction, statement: Node) -> list[Edit]:
    """The edits that put the construction's checks before the statement its site names, else before
    `statement`.

    Raises `CannotFixError` where no check is visible or none may throw."""
    edits: list[Edit] = []
    lines: dict[int, tuple[Place, list[str]]] = {}
    for condition, refusal, at in targets(context, construction, statement):
        at = context.lifted(condition, at)
        if context.checked(condition, at):
            continue
        if _stands(context, condition, at):
            raise CannotFixError(f"`{condition}` is checked before it already")
        place = Place(context.source, context.style, at)
        moved = move_check(context, place, condition) if refusal.finding.rule == "VT004" else None
        if moved is not None:
            edits += [*place.wrap(), *moved]
        else:
            text = check_lines(context, construction, [refusal], place.indent, at)
            lines.setdefault(at.start_byte, (place, []))[1].extend(text)
    for place, own in lines.values():
        edits += [*place.wrap(), *place.before(own)]
    return edits


def targets(context: Context, construction: Construction, statement: Node) -> list[tuple[str, Refusal, Node]]:
    """For each marker to be refused the condition that has to hold, and the statement to check it before."""
    return [
        (_condition(construction, r), r, before_use(context.source, construction, statement, r.cut))
        for r in construction.refusals
    ]


def _stands(context: Context, condition: str, at: Node) -> bool:
    """Is there a check of just `condition` ahead of `at`, in its block or in one around it?"""
    wanted = packed(f"{context.style.check}({condition},")
    node: Node | None = at
    while node is not None and node.type != "function_definition":
        ahead = node.prev_named_sibling
        while ahead is not None:
            text = context.source.text(ahead.start_byte, ahead.end_byte)
            if ahead.type == "expression_statement" and packed(text).startswith(wanted):
                return True
            ahead = ahead.prev_named_sibling
        node = node.parent
    return False


def check_lines(
    context: Context, construction: Construction, refusals: Sequence[Refusal], indent: str, at: Node
) -> list[str]:
    """The text of the checks, each for a line that begins with `indent`. Raises `CannotFixError` as `refuse`
    does."""
    if refusals:
        may_refuse(context, at)
    return [check(context.style, _condition(construction, r), _message(context, r), indent) for r in refusals]


def may_refuse(context: Context, at: Node) -> None:
    """Raises `CannotFixError` unless a check is visible and the function around `at` may throw."""
    body = function(at)
    declarator = body.child_by_field_name("declarator")
    block = body.child_by_field_name("body")
    head = context.source.text(body.start_byte, block.start_byte if block else body.end_byte)
    if not context.style.check:
        raise CannotFixError(
            "no two-argument check is visible in this file; name one with `check` in the [fix] table of .vt-lint.toml"
        )
    if _DEVICE.search(head):
        raise CannotFixError("device code cannot throw; check before the launch")
    if declarator is not None and _NOEXCEPT.search(head) and not context.unsafe:
        raise CannotFixError("the function is noexcept, a refusal would end the program")


def _condition(construction: Construction, refusal: Refusal) -> str:
    unmarked = f"!{construction.marker(refusal.finding.marker)}"
    return " || ".join((unmarked, *refusal.unless))


def _message(context: Context, refusal: Refusal) -> str:
    finding = refusal.finding
    what = context.what.get(finding.marker, "")
    text = f"{prefix(context, finding)}{finding.marker} weight"
    text += (f" ({what})" if what else "") + f": {_reason(refusal)}"
    switch = context.switches.get(finding.marker)
    return text + (f"; {switch}=0 turns the rewrite off" if switch else "")


def prefix(context: Context, finding: Finding) -> str:
    """What the message of a check begins with, in the habit of the file."""
    word = context.style.prefix
    if word == "@":
        word = re.sub(r"(::lambda#\d+)+$", "", finding.function).rpartition("::")[2]
    return f"{word}: " if word else ""


def _reason(refusal: Refusal) -> str:
    finding = refusal.finding
    if refusal.cut:
        return "a group of its rows would be cut"
    form = finding.site.form if finding.site else ""
    if form == "reshape":
        return "the layout is tied to the shape"
    if form == "slice" or finding.rule == "VT003":
        return "the layout cannot be cut"
    if form in _PLAIN or finding.rule == "VT009":
        return "its bytes are read as plain here"
    why = finding.fix.why.partition(" (policy")[0] if finding.fix else ""
    return why or f"no kernel of {', '.join(refusal.devices)} reads it"
