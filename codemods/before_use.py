"""Where a check has to stand: before the use, before an upload of the same bytes, and outside of a loop."""

from __future__ import annotations

import re

from tree_sitter import Node

from codemods.construction import Construction
from codemods.syntax import Source, is_braceless, is_statement

_LOOPS = ("for_statement", "for_range_loop", "while_statement", "do_statement")
_LEAVES = ("return_statement", "throw_statement", "break_statement", "continue_statement", "goto_statement")


_BYTES = r"(?:\.|->)(?:data\b|\w+(?:\.|->|\())"
"""Behind the spelling of a weight: its pointer, or what a container among its members says of itself."""
_DECLARATORS = (
    "init_declarator",
    "declaration",
    "parameter_declaration",
    "reference_declarator",
    "pointer_declarator",
    "structured_binding_declarator",
    "for_range_loop",
)


def before_use(source: Source, construction: Construction, statement: Node) -> Node:
    """The statement to put the construction's checks before: the one its site names, else `statement`, or the
    loop around it, or the upload ahead of it in the same block."""
    wanted = construction.site.insert_before
    named = source.statement_at(wanted) if wanted else None
    if named is not None:
        return named
    names = set(re.findall(r"[A-Za-z_]\w*", construction.source))
    if not names:
        return statement
    return _before_upload(source, construction, names, outside_loops(names, statement))


def outside_loops(names: set[str], statement: Node) -> Node:
    """The outermost loop that runs `statement` in each of its turns and leaves the weight alone."""
    result = node = statement
    while node.parent is not None:
        block = node.parent if node.parent.type == "compound_statement" else node
        loop = block.parent
        if loop is None or loop.type not in _LOOPS or loop.child_by_field_name("body") != block:
            break
        if names & _changed(loop):
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
            if markers & set(re.findall(r"\w+", text)) or _leaves(ahead) or names & _changed(ahead):
                break
            if moved.search(text):
                result = ahead
        ahead = ahead.prev_named_sibling
    return result


def _changed(node: Node) -> set[str]:
    """The names that `node` declares or gives another value."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        parent = current.parent
        stack += current.named_children
        if current.type != "identifier" or parent is None or current.text is None:
            continue
        declared = parent.type in _DECLARATORS and current in parent.children_by_field_name("declarator")
        inside = parent.type in ("reference_declarator", "structured_binding_declarator")
        assigned = parent.type == "assignment_expression" and current == parent.child_by_field_name("left")
        if declared or inside or assigned or parent.type == "update_expression":
            found.add(current.text.decode(errors="replace"))
    return found


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
