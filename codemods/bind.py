"""Name a source that is itself a temporary, so that its bytes and its markers are read from one object."""

from __future__ import annotations

import re

import msgspec
from tree_sitter import Node

from codemods.construction import CannotFixError, Construction
from codemods.context import Context
from codemods.edit import Edit
from codemods.order import hoistable
from codemods.statement import Place

_PURE = re.compile(r"(?:\.|->)(?:get|value|front|back|at)\s*\([^()]*\)")


def is_temporary(source: str) -> bool:
    """True if reading `source` twice could give two objects or do something twice: it calls a function."""
    return re.search(r"[\w>\])]\s*\(", _PURE.sub("", source)) is not None


def bind_source(
    context: Context, construction: Construction, statement: Node
) -> tuple[Construction, list[Edit]]:
    """Return the construction with its source bound to a new local, and the edits that do so.

    Raises `CannotFixError` if the source's text is not found once in the construction, or cannot be evaluated
    before."""
    source = context.source
    spelled = construction.source
    text = source.data[construction.begin : construction.end]
    raw = spelled.encode(errors="surrogateescape")
    if text.count(raw) != 1:
        raise CannotFixError(f"the source is a temporary, `{spelled}`, that cannot be named first")
    begin = construction.begin + text.index(raw)
    hoistable(statement, source.node(begin, begin + len(raw)))
    place = Place(source, context.style, statement)
    name = context.local(statement, "src")
    edits = [
        *place.wrap(),
        *place.before([f"auto&& {name} = {spelled};"]),
        place.edit(begin, begin + len(raw), name),
    ]
    return msgspec.structs.replace(construction, source=name, renamed=(spelled, name)), edits
