"""Clear a marker that no longer describes the bytes."""

from __future__ import annotations

from tree_sitter import Node

from codemods.construction import Construction
from codemods.context import Context
from codemods.edit import Edit
from codemods.statement import Place


def clear(context: Context, construction: Construction, statement: Node) -> list[Edit]:
    """The edits that set each stale marker to false after `statement`."""
    lines = clear_lines(construction)
    if not lines:
        return []
    place = Place(context.source, context.style, statement)
    return [*place.wrap(), *place.after(lines)]


def clear_lines(construction: Construction) -> list[str]:
    """`owner.marker = false;` for each stale marker of the carrier that got new bytes."""
    owner = construction.site.dest or None
    return [f"{construction.marker(m, owner)} = false;" for m in construction.cleared]
