"""Move a check that comes too late in front of the use that it should have stopped."""

from __future__ import annotations

import re

from codemods.context import Context
from codemods.edit import Edit
from codemods.spell import moved
from codemods.statement import Place
from codemods.syntax import following


def move_check(context: Context, place: Place, condition: str) -> list[Edit] | None:
    """The edits that move a later check of exactly `condition`, in the same block as `place`, before it.

    None if there is no such check: then the check has to be repeated."""
    source = context.source
    wanted = packed(f"{context.style.check}({condition},")
    for statement in following(place.statement):
        if not packed(source.text(statement.start_byte, statement.end_byte)).startswith(wanted):
            continue
        late = Place(source, context.style, statement)
        if not late.own_line or not place.own_line or late.braceless or place.braceless:
            return None
        begin = source.line_start(late.start)
        end = source.data.find(b"\n", late.end) + 1 or len(source.data)
        text = source.text(late.start, late.end).replace("\r\n", "\n")
        return [*place.before([moved(text, late.indent, place.indent)]), late.edit(begin, end, "")]
    return None


def packed(text: str) -> str:
    """`text` without its blanks."""
    return re.sub(r"\s+", "", text)
