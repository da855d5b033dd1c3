"""Tells a kept report anew after edits of layout: the findings are the same and stand elsewhere."""

from __future__ import annotations

import functools
import itertools
import operator
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from analyzer import ir
from analyzer.units import Parsed
from rules import unanalysed_candidate
from rules.finding import Finding, Hop, Judged, Place, Site, Unanalysed
from rules.texts import Texts


def told_anew(kept: Judged, changed: Iterable[tuple[Parsed, Parsed]], texts: Texts) -> Judged | None:
    """Return `kept`, of the first ones of the `changed` results, as of the second ones. None if that cannot be told."""
    moves: dict[str, _Moves] = {}
    pairs = list(changed)
    paths = {new.path for _, new in pairs}
    if any(f.rule == unanalysed_candidate.CODE and f.place.path in paths for f in kept.findings):
        return None  # found in text that no facts tell of
    for old, new in pairs:
        if b"vt-lint" in texts.bytes(new.path):
            return None  # a comment to this program counts by where it stands
        if old.facts == new.facts:
            continue
        if new.path not in moves:
            moves[new.path] = _Moves(functools.partial(texts.line, new.path))
        if not moves[new.path].add(ir.decode(old.facts), ir.decode(new.facts)):
            return None
    teller = _Teller(moves, texts)
    try:
        findings = tuple(teller.finding(each) for each in kept.findings)
        left = tuple(teller.unanalysed(each) for each in kept.left)
    except KeyError:
        return None
    return Judged(findings, left, kept.keys)


class _Moves:
    """Where what was in one text of a file is in another one with the same code. A place that is not known raises
    `KeyError`. `line_of`: the line of a byte of the new text."""

    def __init__(self, line_of: Callable[[int], int]) -> None:
        self._line_of = line_of
        self._lines: dict[int, int] = {}
        self._offsets: dict[int, int] = {}

    def line(self, line: int) -> int:
        """Where a line is now."""
        return self._lines[line]

    def offset(self, offset: int) -> int:
        """Where a byte at which something begins or ends is now."""
        return self._offsets[offset]

    def add(self, old: ir.FileFacts, new: ir.FileFacts) -> bool:
        """Learn from the facts of both. False if they are not of the same code after all."""
        for before, now in itertools.zip_longest(_places(old), _places(new)):
            if before is None or now is None:
                return False
            if not before.own or not now.own or now.end and self._line_of(now.begin) != now.line:
                continue  # a default argument, say, stands in another file
            if self._lines.setdefault(before.line, now.line) != now.line:
                return False
            for offset, offset_now in ((before.begin, now.begin), (before.end, now.end)):
                if now.end and self._offsets.setdefault(offset, offset_now) != offset_now:
                    return False
        return True


class _Place(typing.NamedTuple):
    """A line that is told of, and the bytes of what begins there, if these are told. `own`: it is in the function, or
    whatever tells of it."""

    line: int
    begin: int = 0
    end: int = 0
    own: bool = True


def _places(facts: ir.FileFacts) -> Iterator[_Place]:
    """Every place that is told of, in order."""
    tops: list[ir.Function | ir.Record | ir.Global | ir.Enum] = [
        *facts.functions,
        *facts.records,
        *facts.globals,
        *facts.enums,
    ]
    for top in tops:
        around = None if isinstance(top, ir.Enum) else top.span
        stack: list[object] = [top]
        while stack:
            item = stack.pop()
            if isinstance(item, ir.Span):
                own = around is None or around.begin <= item.begin and item.end <= around.end
                yield _Place(item.line, item.begin, item.end, own) if item.end else _Place(item.line)
            elif isinstance(item, tuple):
                stack.extend(item)
            elif isinstance(item, msgspec.Struct):
                if isinstance(item, ir.Member | ir.Enum):
                    yield _Place(item.line)
                stack.extend(_parts(type(item))(item))


@functools.cache
def _parts(kind: type[msgspec.Struct]) -> Callable[[object], tuple[object, ...]]:
    """What gives those members of a record of facts that have places in them."""
    hints = typing.get_type_hints(kind)
    names = [name for name in kind.__struct_fields__ if hints[name] not in (str, int, bool, float)]
    if len(names) < 2:
        return lambda item: tuple(getattr(item, name) for name in names)
    return operator.attrgetter(*names)


class _Teller:
    def __init__(self, moves: Mapping[str, _Moves], texts: Texts) -> None:
        self.moves = moves
        self.texts = texts
        paths = "|".join(re.escape(path) for path in sorted(moves, key=len, reverse=True))
        self.mention = re.compile(rf"(?<![\w./-])({paths}):(\d+)(?!\d)")

    def line(self, path: str, line: int) -> int:
        return self.moves[path].line(line) if path in self.moves else line

    def words(self, text: str) -> str:
        """A text that may tell of places, as `path:line`."""
        return self.mention.sub(lambda m: f"{m[1]}:{self.line(m[1], int(m[2]))}", text)

    def finding(self, finding: Finding) -> Finding:
        moves = self.moves.get(finding.place.path)
        place, site, construction = finding.place, finding.site, finding.construction
        if moves is not None:
            place = self.place(place, moves)
            site = _site(site, moves) if site is not None else None
            construction = self.construction(finding, moves)
        return msgspec.structs.replace(
            finding,
            place=place,
            site=site,
            construction=construction,
            message=self.words(finding.message),
            reason=self.words(finding.reason),
            witness=tuple(
                Hop(hop.path, self.line(hop.path, hop.line), self.words(hop.note)) for hop in finding.witness
            ),
        )

    def place(self, place: Place, moves: _Moves) -> Place:
        line = moves.line(place.line)
        span = ir.Span(0, 0, line, place.macro)
        if place.end:
            span = ir.Span(moves.offset(place.begin), moves.offset(place.end), line, place.macro)
        return self.texts.place(place.path, span)

    def construction(self, finding: Finding, moves: _Moves) -> str:
        path = finding.place.path
        first, second = finding.construction[len(path) + 1 :].split(":")
        if second == finding.rule:
            return f"{path}:{moves.line(int(first))}:{second}"
        return f"{path}:{moves.offset(int(first))}:{moves.offset(int(second))}"

    def unanalysed(self, each: Unanalysed) -> Unanalysed:
        return Unanalysed(each.path, self.line(each.path, each.line), self.words(each.reason))


def _site(site: Site, moves: _Moves) -> Site:
    def offset(at: int) -> int:
        return moves.offset(at) if at else 0

    return msgspec.structs.replace(
        site,
        statement=(offset(site.statement[0]), offset(site.statement[1])),
        insert_before=offset(site.insert_before),
        insert_after=offset(site.insert_after),
    )
