"""Where a check has to stand: before the use, before an upload of the same bytes, and outside of a loop."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codemods.construction import CannotFixError, Construction
from codemods.order import LOOPS, always, changed, may_be_null
from codemods.syntax import Source, function, is_braceless, is_statement, walk, words

_LEAVES = ("return_statement", "throw_statement", "break_statement", "continue_statement", "goto_statement")


_BYTES = r"(?:\.|->)(?:data\b|\w+(?:\.|->|\())"
"""Behind the spelling of a weight: its pointer, or what a container among its members says of itself."""


def before_use(
    source: Source, construction: Construction, statement: Node, numbers: Sequence[str] = ()
) -> Node:
    """The statement to put the construction's checks before: the one its site names, else `statement`, or the
    loop around it, or the statement ahead of it that passes the source on. `numbers` are asked there too.

    Raises `CannotFixError` if the weight cannot be asked there: it is declared later, or may be null."""
    wanted = construction.site.insert_before
    found = source.statement_at(wanted) if wanted else None
    names = set(re.findall(r"[A-Za-z_]\w*", " ".join([construction.source, *numbers])))
    pointed = _pointed(construction) or any(map(may_be_null, numbers))
    if found is None:
        found = statement if pointed else outside_loops(names, statement)
    if names:
        found = _before_upload(source, construction, names, found)
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


def _pointed(construction: Construction) -> bool:
    """Is the source reached through a pointer or an index, which need not be valid everywhere?"""
    return may_be_null(construction.source) or construction.site.member_op == "->"


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
    """The first of the statements that run ahead of `statement` and pass the source, or its bytes, to a call.

    Goes back no further than a statement that may leave the block, changes the source or speaks of its markers.
    Goes out of a branch only for the head of its `if`, or for a declaration, whose local the branch alone
    uses: what else a function has passed on before it branches is not for the branch to refuse."""
    markers = {f.marker for f in construction.findings}
    result = node = statement
    branch: Node | None = None
    while True:
        ahead = None if is_braceless(node) or node.type == "case_statement" else node.prev_named_sibling
        while ahead is not None and (is_statement(ahead) or ahead.type == "comment"):
            if ahead.type != "comment":
                if markers & words(source, ahead) or _leaves(ahead) or names & changed(ahead):
                    return result
                if _passes_on(source, construction, ahead) and _serves(source, ahead, branch):
                    result = ahead
            ahead = ahead.prev_named_sibling
        outer, arm = _statement_around(node)
        if outer is None or outer.type in LOOPS or arm.type == "catch_clause":
            return result
        if outer.type == "case_statement":
            branch = outer
        elif outer.type in ("if_statement", "switch_statement"):
            branch = arm if outer.type == "if_statement" else branch
            head = outer.child_by_field_name("condition")
            if (
                head is None
                or names & changed(head)
                or markers & words(source, head)
                or _pointed(construction)
            ):
                return result
            if _passes_on(source, construction, head) and _serves(source, head, branch):
                result = outer
        node = outer


def _statement_around(node: Node) -> tuple[Node | None, Node]:
    """The statement that has `node` in it, None if that is outside of the function, and its child around `node`."""
    arm, outer = node, node.parent
    while outer is not None and not is_statement(outer):
        if outer.type in ("function_definition", "lambda_expression"):
            return None, arm
        arm, outer = outer, outer.parent
    return outer, arm


def _passes_on(source: Source, construction: Construction, statement: Node) -> bool:
    """Is the construction's source, or what points to its bytes, an argument of some call in `statement`?"""
    spelled, pointed = construction.source, _pointed(construction)
    text = source.text(statement.start_byte, statement.end_byte)
    if re.search(r"\([^()]*(?<![\w.>])" + re.escape(spelled) + _BYTES, text):
        return True
    argument = re.compile(r"(?:[\s(&*]|std::(?:move|c?ref)\b)*" + re.escape(spelled) + r"[\s)]*")
    for node in walk(statement):
        parent = node.parent
        if node.type not in ("argument_list", "initializer_list") or parent is None:
            continue
        # A single initialiser is a copy, which leaves the bytes alone.
        if parent.type != "call_expression" and node.named_child_count < 2:
            continue
        for value in node.named_children:
            text = source.text(value.start_byte, value.end_byte)
            if not argument.fullmatch(text):
                continue
            # A pointer that is handed on unread may be null, and so may what a condition keeps from being read.
            if not pointed or may_be_null(text) and always(statement, value):
                return True
    return False


def _serves(source: Source, statement: Node, branch: Node | None) -> bool:
    """Does `statement`, or the head of one, declare one local that is used in `branch` alone? Without a branch
    any statement does."""
    if branch is None:
        return True
    made = changed(statement)
    if len(made) != 1 or statement.type not in ("declaration", "condition_clause"):
        return False
    stack = [function(statement)]
    while stack:
        node = stack.pop()
        if node in (statement, branch):
            continue
        if node.type == "identifier" and source.text(node.start_byte, node.end_byte) in made:
            return False
        stack += node.named_children
    return True


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
