"""Where a check has to stand: before the use, before an upload of the same bytes, and outside of a loop."""

from __future__ import annotations

import re

from tree_sitter import Node

from codemods.construction import CannotFixError, Construction
from codemods.order import LOOPS, always, changed, may_be_null
from codemods.syntax import Source, is_braceless, is_statement

_LEAVES = ("return_statement", "throw_statement", "break_statement", "continue_statement", "goto_statement")


_BYTES = r"(?:\.|->)(?:data\b|\w+(?:\.|->|\())"
"""Behind the spelling of a weight: its pointer, or what a container among its members says of itself."""


def before_use(source: Source, construction: Construction, statement: Node) -> Node:
    """The statement to put the construction's checks before: the one its site names, else `statement`, or the
    loop around it, or the upload ahead of it in the same block.

    Raises `CannotFixError` if the weight cannot be asked there: it is declared later, or may be null."""
    wanted = construction.site.insert_before
    found = source.statement_at(wanted) if wanted else None
    names = set(re.findall(r"[A-Za-z_]\w*", construction.source))
    pointed = may_be_null(construction.source) or construction.site.member_op == "->"
    if found is None:
        outer = statement if pointed else outside_loops(names, statement)
        found = _before_upload(source, construction, names, outer) if names else statement
    if _around(found, statement) and names & changed(found, construction.begin):
        found = statement
    if _around(found, statement):
        value = source.node(construction.begin, construction.end)
        if names & changed(found, construction.begin):
            raise CannotFixError(
                f"`{construction.source}` is declared in the statement that has to be stopped"
            )
        if pointed and not always(found, value):
            raise CannotFixError(f"`{construction.source}` may be null ahead of the condition")
    if pointed and found != statement and _guards(source, found, names):
        raise CannotFixError(f"`{construction.source}` may be null ahead of the statement that uses it first")
    return found


def _around(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _guards(source: Source, statement: Node, names: set[str]) -> bool:
    """Is `statement` run under a condition that speaks of one of `names`?"""
    head = statement.child_by_field_name("condition")
    return head is not None and bool(
        names & set(re.findall(r"\w+", source.text(head.start_byte, head.end_byte)))
    )


def outside_loops(names: set[str], statement: Node) -> Node:
    """The outermost loop that runs `statement` in each of its turns and leaves the weight alone."""
    result = node = statement
    while node.parent is not None:
        block = node.parent if node.parent.type == "compound_statement" else node
        loop = block.parent
        if loop is None or loop.type not in LOOPS or loop.child_by_field_name("body") != block:
            break
        if names & changed(loop):
            break
        result = node = loop
    return result


def _before_upload(source: Source, construction: Construction, names: set[str], statement: Node) -> Node:
    """The first of the statements right ahead of `statement` that pass the source's bytes to a call.

    Goes back no further than a statement that may leave the block, changes the weight or speaks of its
    markers."""
    result = statement
    if is_braceless(statement):
        return result
    markers = {f.marker for f in construction.findings}
    moved = re.compile(r"\([^()]*(?<![\w.>])" + re.escape(construction.source) + _BYTES)
    ahead = statement.prev_named_sibling
    while ahead is not None and (is_statement(ahead) or ahead.type == "comment"):
        if ahead.type != "comment":
            text = source.text(ahead.start_byte, ahead.end_byte)
            if markers & set(re.findall(r"\w+", text)) or _leaves(ahead) or names & changed(ahead):
                break
            if moved.search(text):
                result = ahead
        ahead = ahead.prev_named_sibling
    return result


def _leaves(node: Node) -> bool:
    """May control leave the block of `node` from inside it? Lambdas have a flow of their own."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in _LEAVES:
            return True
        if current.type != "lambda_expression":
            stack += current.named_children
    return False
