"""Carry markers to the carrier that is being made, whatever shape of code makes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codemods.construction import CannotFixError, Construction
from codemods.context import Context
from codemods.edit import Edit
from codemods.order import hoistable
from codemods.spell import layout
from codemods.statement import Place
from codemods.syntax import Source, ancestors, assignment, following

_RETURNS = ("return_statement", "co_return_statement")
_READS = ("read", "typed", "copyout", "copy-bytes", "upload")
_OWNING = ("borrow", "copy", "aggregate")


def propagate(context: Context, construction: Construction, statement: Node) -> list[Edit]:
    """The edits that copy every marker to be carried, for the construction inside `statement`.

    Raises `CannotFixError` for shapes that have no safe edit."""
    if not construction.carried:
        return []
    if not construction.site.dest_has_marker:
        raise CannotFixError("the type that is made here has no such field")
    if construction.site.form in _READS:
        raise CannotFixError("bytes are read here, and no carrier is made that could have the marker")
    source = context.source
    value = whole_value(source.node(construction.begin, construction.end))
    if statement.type in _RETURNS and value.parent == statement:
        return _named_return(context, construction, statement, value)
    declarator = _declarator(value, statement)
    dest = construction.site.dest
    if not dest and declarator is not None:
        dest = _declared_name(source, declarator)
    stored = assignment(source, statement)
    if not dest and stored is not None and stored[1] == value:
        dest = stored[0]
    if not dest:
        return _bound_first(context, construction, statement, value)
    edits = _unconst(context, statement, dest) if statement.type == "declaration" else []
    return edits + _after(context, construction, statement, dest)


def carry_lines(construction: Construction, dest: str) -> list[str]:
    """`dest.marker = source.marker;` for each marker to be carried."""
    return [f"{construction.marker(m, dest)} = {construction.marker(m)};" for m in construction.carried]


def whole_value(node: Node) -> Node:
    """Widen an expression over the parentheses around it."""
    while node.parent is not None and node.parent.type == "parenthesized_expression":
        node = node.parent
    return node


def _bare(node: Node) -> Node:
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def typed(source: Source, construction: Construction, value: Node) -> str:
    """The type of a local for the construction's value: the shortest spelling that the file uses, else
    `auto`. Raises `CannotFixError` if `auto` would not do."""
    parts = construction.site.dest_type.split("::")
    spellings = ("::".join(parts[i:]) for i in reversed(range(len(parts))))
    made = next((s for s in spellings if s and _uses_type(source, s)), "auto")
    if made == "auto" and value.type == "initializer_list":
        raise CannotFixError("the type of a braced initialiser is not spelled here")
    return made


def _uses_type(source: Source, spelled: str) -> bool:
    """Does the file name a type just so?"""
    for match in re.finditer(rb"(?<![\w:.])" + re.escape(spelled.encode()) + rb"\b", source.data):
        node = source.root.named_descendant_for_byte_range(match.end() - 1, match.end())
        if node is not None and node.type == "type_identifier":
            return True
    return False


def _named_return(context: Context, construction: Construction, statement: Node, value: Node) -> list[Edit]:
    place = Place(context.source, context.style, statement)
    name = context.local(statement, "t")
    keyword = context.source.text(statement.children[0].start_byte, statement.children[0].end_byte)
    head = f"{typed(context.source, construction, value)} {name} = "
    text = layout(context.source, context.style, _bare(value), place.indent, head, "", construction.renamed)
    edits = [*place.wrap(), place.edit(statement.start_byte, value.end_byte, text)]
    return edits + place.after([*carry_lines(construction, name), f"{keyword} {name};"])


def _after(context: Context, construction: Construction, statement: Node, dest: str) -> list[Edit]:
    source = context.source
    last = _last_store(source, construction, statement, dest)
    place = Place(source, context.style, last)
    edits: list[Edit] = []
    lines: list[str] = []
    refused = {r.finding.marker for r in construction.refusals}
    for marker in construction.carried:
        left, right = construction.marker(marker, dest), construction.marker(marker)
        wrong = _store(source, statement, left)
        if wrong is not None:
            if source.text(wrong.start_byte, wrong.end_byte) == right:
                if marker in refused:
                    continue  # carried where it is read: what is missing is the check
                raise CannotFixError(f"`{left} = {right};` is there already")
            edits.append(place.edit(wrong.start_byte, wrong.end_byte, right))
        else:
            lines.append(f"{left} = {right};")
    if lines:
        edits += [*place.wrap(), *place.after(lines)]
    return edits


def _store(source: Source, statement: Node, left: str) -> Node | None:
    """The right-hand side of the first `left = ...;` from `statement` on in its block."""
    for candidate in (statement, *following(statement)):
        stored = assignment(source, candidate)
        if stored is not None and stored[0] == left:
            return stored[1]
    return None


def _last_store(source: Source, construction: Construction, statement: Node, dest: str) -> Node:
    """The statement after which `dest` has got all its fields: as the site says, else the last of the run
    of stores to its fields that follows `statement`."""
    offset = construction.site.insert_after
    if offset:
        found = source.statement(offset - 1, offset)
        outer = {(n.start_byte, n.end_byte, n.type) for n in (statement, *ancestors(statement, source.root))}
        while found is not None and found.start_byte >= statement.start_byte:
            parent = found.parent
            if (
                found == statement
                or parent is None
                or (parent.start_byte, parent.end_byte, parent.type) in outer
            ):
                return found
            found = parent
    last = statement
    stores = re.compile(re.escape(dest) + r"(?:\.|->)\w+")
    for candidate in following(statement):
        body = candidate
        while body.type in ("for_statement", "for_range_loop") and (
            inner := body.child_by_field_name("body")
        ):
            body = inner
        stored = assignment(source, body)
        if stored is None or not stores.match(stored[0]):
            break
        last = candidate
    return last


def _declarator(value: Node, statement: Node) -> Node | None:
    """The declarator in `statement` that `value` initialises, as `= value`, `(value)` or `{value}`."""
    parent = value.parent
    if (
        parent is not None
        and parent.type in ("argument_list", "initializer_list")
        and parent.named_child_count == 1
    ):
        parent = parent.parent
    if statement.type == "declaration" and parent is not None and parent.type == "init_declarator":
        return parent
    return None


def _declared_name(source: Source, declarator: Node) -> str:
    inner = declarator.child_by_field_name("declarator")
    while inner is not None and inner.type == "reference_declarator":
        inner = inner.named_children[-1]
    if inner is None or inner.type != "identifier":
        raise CannotFixError("the new carrier's declarator is not a plain name")
    return source.text(inner.start_byte, inner.end_byte)


def _unconst(context: Context, statement: Node, dest: str) -> list[Edit]:
    """Make the local assignable: `const T t` and `const T& t` become `T t`."""
    source = context.source
    place = Place(source, context.style, statement)
    edits: list[Edit] = []
    for child in statement.children:
        word = source.text(child.start_byte, child.end_byte)
        if child.type == "storage_class_specifier" or word == "constexpr":
            raise CannotFixError(f"a {word} local gets its value once")
        if child.type == "type_qualifier" and word == "const":
            after = child.next_sibling
            edits.append(place.edit(child.start_byte, after.start_byte if after else child.end_byte, ""))
    if not edits:
        return []
    for child in statement.children:
        inner = child.child_by_field_name("declarator") if child.type == "init_declarator" else None
        if inner is not None and inner.type == "reference_declarator" and inner.children[0].type == "&":
            if _declared_name(source, child) == dest:
                edits.append(place.edit(inner.children[0].start_byte, inner.children[0].end_byte, ""))
    return edits


def _bound_first(context: Context, construction: Construction, statement: Node, value: Node) -> list[Edit]:
    """Name a temporary before the statement that uses it."""
    source = context.source
    hoistable(statement, value)
    place = Place(source, context.style, statement)
    name = context.local(statement, "t")
    head = f"{typed(context.source, construction, value)} {name} = "
    made = layout(source, context.style, _bare(value), place.indent, head, rename=construction.renamed)
    lines = [made, *carry_lines(construction, name)]
    use = f"std::move({name})" if construction.site.form in _OWNING else name
    if source.data[value.start_byte - 1 : value.start_byte].isalnum():  # `throw(x)` becomes `throw t`
        use = f" {use}"
    edits = [*place.wrap(), *place.before(lines)]
    return [*edits, place.edit(value.start_byte, value.end_byte, use)]


def arm_lines(
    context: Context, construction: Construction | None, value: Node, indent: str, checks: Sequence[str]
) -> list[str]:
    """The body of one arm of a `return` that was a conditional operator."""
    source, style = context.source, context.style
    if construction is None or not construction.carried:
        return [*checks, layout(source, style, value, indent, "return ")]
    name = context.local(value, "t")
    head = f"{typed(context.source, construction, value)} {name} = "
    made = layout(source, style, value, indent, head)
    return [*checks, made, *carry_lines(construction, name), f"return {name};"]
