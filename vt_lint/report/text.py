"""The report for people: one block a construction, with its code, its markers and what to do about each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from rules import unanalysed_candidate
from rules.finding import Finding, Severity
from rules.registry import RULES
from vt_lint.outcome import RANK, Outcome, closing_line
from vt_lint.report.source import Source

COLOUR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
FRAME_LINES = 6
CONTEXT_LINES = 2
WITNESS_HOPS = 4
"""A longer witness is cut to one hop less, so that never a single hop is left out."""


def render(outcome: Outcome, *, show: Severity = Severity.WARNING, colour: bool = False) -> str:
    """Return the report as text, with ANSI colours when `colour` is true.

    Constructions with a finding at or above `show` (warning or note) are blocks; of the others, only the
    number of notes is told.
    """
    return "\n".join(_Writer(outcome, show, colour).lines())


class _Writer:
    def __init__(self, outcome: Outcome, show: Severity, colour: bool) -> None:
        self._outcome = outcome
        self._show = show
        self._colour = colour
        self._source = Source(outcome.root)

    def lines(self) -> Iterator[str]:
        outcome = self._outcome
        told = [f for f in outcome.findings if f.rule != unanalysed_candidate.CODE]  # see the tail
        for group in _constructions(told):
            if any(self._shown(f) for f in group):
                yield from self._block(group)
                yield ""
        yield from self._tail(told)

    def _shown(self, f: Finding) -> bool:
        return RANK[f.severity] >= RANK[self._show]

    def _block(self, group: list[Finding]) -> Iterator[str]:
        group = sorted(group, key=lambda f: (-RANK[f.severity], f.rule, f.marker))
        first = group[0]
        place = first.place
        severity = self._paint(first.severity.value, first.severity)
        yield f"{severity}: {self._bold(_headline(group))}"
        yield f"  --> {place.path}:{place.line}:{place.column} in {first.function}"
        yield from self._frame(first)
        widths = [
            max(len(cell[i]) for cell in map(_cells, group))
            for i in range(4)  # all columns but the last
        ]
        for f in group:
            *cells, todo = _cells(f)
            padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
            padded[3] = self._paint(padded[3], f.severity)
            yield f"  {'  '.join(padded)}  {todo}"
        yield from self._witnesses(group)
        related = sum(1 for f in self._outcome.suppressed if f.construction == first.construction)
        if related:
            yield f"  {related} more of this construction suppressed by a comment"

    def _frame(self, f: Finding) -> Iterator[str]:
        place = f.place
        last = min(place.end_line, place.line + FRAME_LINES - 1)
        numbers = range(max(1, place.line - CONTEXT_LINES), last + 1)
        shown = [(n, text) for n in numbers if (text := self._source.line(place.path, n)) is not None]
        if not shown:
            return
        gutter = len(str(last))
        yield f"{'':{gutter}} |"
        for number, text in shown:
            yield f"{number:>{gutter}} | {text.expandtabs(4)}".rstrip()
            if number < place.line:
                continue
            begin = place.column - 1 if number == place.line else 0
            end = place.end_column - 1 if number == place.end_line else len(text)
            begin = max(begin, len(text) - len(text.lstrip()))
            pad = len(text[:begin].expandtabs(4))
            width = max(1, len(text[:end].expandtabs(4)) - pad)
            yield f"{'':{gutter}} | {'':{pad}}{self._paint('^' * width, f.severity)}"
        if last < place.end_line:
            yield f"{'':{gutter}} | ... {_count(place.end_line - last, 'line')} more"
        if place.macro:
            yield f"{'':{gutter}} = this code is in a macro body: it is shown, never edited"

    def _witnesses(self, group: list[Finding]) -> Iterator[str]:
        """How a marked weight gets here, once a marker and only for what counts."""
        counted = [f for f in group if self._shown(f) and f.witness]
        for f in {f.marker: f for f in reversed(counted)}.values():
            yield f"  how a weight with {f.marker} gets here:"
            cut = len(f.witness) if len(f.witness) <= WITNESS_HOPS else WITNESS_HOPS - 1
            for hop in f.witness[:cut]:
                yield f"    {hop.path}:{hop.line}  {hop.note}"
            if rest := len(f.witness) - cut:
                yield f"    and {rest} more: vt-lint trace {f.marker}"

    def _tail(self, told: list[Finding]) -> Iterator[str]:
        outcome = self._outcome
        for u in outcome.report.coverage.unanalysed:
            yield f"{self._paint('unanalysed', Severity.ERROR)}: {u.path}:{u.line}: {u.reason}"
        yield from (f"note: {note}" for note in (*outcome.report.notes, *outcome.evidence))
        for e in outcome.stale:
            yield (
                f"{self._paint('baseline', Severity.ERROR)}: {e.path}: {e.rule} {e.marker} in {e.function} "
                "is fixed: drop its entry with `vt-lint baseline prune`"
            )
        by_level = [(s, sum(1 for f in told if f.severity is s)) for s in COLOUR]
        found = ", ".join(self._paint(_count(n, s.value), s) for s, n in by_level if n) or "no findings"
        extra = [
            (len(outcome.suppressed), "suppressed by a comment"),
            (len(outcome.accepted), "in the baseline"),
            (len(outcome.existing), f"also in {outcome.since}"),
            (len(outcome.repaired), f"repaired since {outcome.since}"),
        ]
        yield "; ".join([found, *(f"{n} {what}" for n, what in extra if n)])
        fixable = [f.fix for f in outcome.failing if f.fix and f.fix.safety == "safe"]
        if fixable:
            proved = sum(1 for fix in fixable if fix.verified)
            verified = f", {proved} of them verified" if proved else ""
            yield (
                f"{len(fixable)} with a safe fix{verified}: see it with `vt-lint fix`, write it with "
                "`vt-lint fix --apply`"
            )
        notes = sum(1 for f in told if f.severity is Severity.NOTE)
        if notes and self._show is not Severity.NOTE:
            yield (
                f"{_count(notes, 'note')} (latent losses, no marked weight gets there today): "
                "--show note lists them"
            )
        yield closing_line(outcome)

    def _paint(self, text: str, severity: Severity) -> str:
        return click.style(text, fg=COLOUR[severity], bold=True) if self._colour else text

    def _bold(self, text: str) -> str:
        return click.style(text, bold=True) if self._colour else text


def _constructions(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings grouped by construction, in the order of their places."""
    order = sorted(findings, key=lambda f: (f.place.path, f.place.begin, f.place.line, f.construction))
    return [list(group) for _, group in groupby(order, key=lambda f: f.construction)]


def _headline(group: list[Finding]) -> str:
    first = group[0]
    if len({f.message for f in group if (f.rule, f.severity) == (first.rule, first.severity)}) == 1:
        return first.message
    (name,) = (rule.name for rule in RULES if rule.code == first.rule)
    markers = _count(len({f.marker for f in group}), "marker")
    return f"{name}: {markers} of `{first.source}` ({first.source_type})"


def _cells(f: Finding) -> tuple[str, str, str, str, str]:
    devices = "+".join(f.devices) or "any"
    return f.rule, f.marker, devices, f.verdict.value, _todo(f)


def _todo(f: Finding) -> str:
    """Return what to do about `f`: the fix in words, else what the rule said."""
    if f.fix is None:
        return f.reason or f.message
    advice = {
        "propagate": "carry it",
        "refuse": "refuse it here",
        "both": f"carry it, and refuse it {f.fix.refused_where}",
        "clear": "clear it",
        "require": f"check that `{f.fix.condition}`",
        "narrow": f"add `&& {f.fix.condition}`",
        "answer": f"set it to `{f.fix.condition}`",
    }.get(f.fix.action)
    if advice is None:  # to be decided by a person
        return f.fix.why or f.message
    how = "" if f.fix.safety == "safe" else f" ({f.fix.safety})"
    if f.fix.verified:
        how += f" (verified on {'+'.join(f.fix.verified)})"
    return f"{advice}{how}" + (f": {f.fix.why}" if f.fix.why else "")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
