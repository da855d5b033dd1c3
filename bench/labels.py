"""Label files and what a report says about their rows: shared by the measurements of this folder.

A label file has one JSON object a line: `file`, `line`, `also_lines`, `function`, `form`, `severity`, `note`
and `markers`, a label for each marker (`dropped`, `propagated`, `refused`, `resolved`, `not_applicable`). A
file of benign lines has `file`, `line` and `label`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rules.finding import Report

NEAR = 3
"""A finding meets a label when it is at most this many lines away."""

LOUD = ("error", "warning")


class Row(msgspec.Struct, frozen=True):
    """One labelled line. `markers` are the labels of the code as written, `effective_markers` what holds once
    the helpers above it are counted, `syntactic_markers` what can be told without knowing values."""

    file: str
    line: int
    function: str = ""
    form: str = ""
    severity: str = ""
    note: str = ""
    label: str = ""
    also_lines: list[int] | None = None
    markers: dict[str, str] = {}
    effective_markers: dict[str, str] | None = None
    syntactic_markers: dict[str, str] | None = None
    unsure: bool = False

    @property
    def lines(self) -> tuple[int, ...]:
        """The line and those of the sibling statements of the same site."""
        return (self.line, *(self.also_lines or ()))

    def labels(self, kind: str) -> dict[str, str]:
        """The label of each marker; `kind`: `markers`, `effective_markers` or `syntactic_markers`."""
        return {**self.markers, **(getattr(self, kind) or {})}

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


class Said(msgspec.Struct, frozen=True):
    """What of a finding counts here: where it is, and the lines that its witness passes."""

    rule: str
    path: str
    line: int
    end_line: int
    function: str
    marker: str
    severity: str
    message: str
    witness: tuple[tuple[str, int], ...] = ()

    def near(self, row: Row) -> bool:
        """Whether it is within `NEAR` lines of the row or of its siblings."""
        return self.path == row.file and any(
            self.line - NEAR <= line <= self.end_line + NEAR for line in row.lines
        )

    def on(self, row: Row) -> bool:
        """Whether it is on the very lines of the row."""
        return self.path == row.file and any(self.line <= line <= self.end_line for line in row.lines)

    def passes(self, row: Row) -> bool:
        """Whether its witness goes through the row."""
        return any(path == row.file and line in row.lines for path, line in self.witness)


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Read label files. Raises `ValueError` naming file and line for what is no label."""
    rows: list[Row] = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                try:
                    rows.append(msgspec.json.decode(line, type=Row))
                except (msgspec.DecodeError, msgspec.ValidationError) as error:
                    raise ValueError(f"{path}:{number}: not a label: {error}") from error
    return rows


def said_by_json(text: str) -> list[Said]:
    """The findings of a saved `vt-lint check --format json`, suppressed ones left out.

    Raises `ValueError` when it is none.
    """
    try:
        document = json.loads(text)
        return [_said(entry) for entry in document["findings"] if not entry.get("suppressed")]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"not a report of `vt-lint check --format json`: {error!r}") from error


def _said(entry: dict[str, Any]) -> Said:
    return Said(
        rule=entry["rule"],
        path=entry["path"],
        line=entry["line"],
        end_line=entry.get("end_line", entry["line"]),
        function=entry["function"],
        marker=entry["marker"],
        severity=entry["severity"],
        message=entry["message"],
        witness=tuple((hop["path"], hop["line"]) for hop in entry.get("witness", ())),
    )


def said_by(report: Report) -> list[Said]:
    """The findings of a report, suppressed ones left out."""
    return [
        Said(
            rule=finding.rule,
            path=finding.place.path,
            line=finding.place.line,
            end_line=finding.place.end_line,
            function=finding.function,
            marker=finding.marker,
            severity=finding.severity.value,
            message=finding.message,
            witness=tuple((hop.path, hop.line) for hop in finding.witness),
        )
        for finding in report.findings
        if not finding.suppressed
    ]


def meets(said: Said, row: Row, marker: str) -> bool:
    """Whether a finding is the answer to a marker that the row calls dropped."""
    return said.marker == marker and (said.near(row) or said.passes(row))


class Agreement(msgspec.Struct, frozen=True):
    """`met` and `missed`: the dropped markers of the rows. `false_alarms`: loud findings on benign lines.
    `surprises`: loud findings on a site whose label for that marker is not `dropped`."""

    met: tuple[tuple[Row, str], ...]
    missed: tuple[tuple[Row, str], ...]
    false_alarms: tuple[tuple[Row, Said], ...]
    surprises: tuple[tuple[Row, str, Said], ...]
    unlabelled: tuple[Said, ...]


def compare(said: Sequence[Said], rows: Sequence[Row], benign: Sequence[Row], kind: str) -> Agreement:
    """Hold findings against labels; `kind` as in `Row.labels`."""
    by_path: dict[str, list[Said]] = {}
    for one in said:
        by_path.setdefault(one.path, []).append(one)
    met: list[tuple[Row, str]] = []
    missed: list[tuple[Row, str]] = []
    surprises: list[tuple[Row, str, Said]] = []
    dropped: dict[tuple[str, str], list[Row]] = {}
    used: set[Said] = set()
    for row in rows:
        for marker, label in row.labels(kind).items():
            if label != "dropped":
                continue
            dropped.setdefault((row.file, marker), []).append(row)
            answers = [one for one in said if meets(one, row, marker)]
            (met if answers else missed).append((row, marker))
            used.update(answers)
    for row in rows:
        # A row that counts as dropped under any reading is no surprise.
        readings = [row.labels(name) for name in ("markers", "effective_markers", "syntactic_markers")]
        for one in by_path.get(row.file, []):
            if one.severity not in LOUD or one.marker not in row.markers or not one.on(row):
                continue
            used.add(one)
            if any(reading.get(one.marker) == "dropped" for reading in readings):
                continue
            if not any(one.near(other) for other in dropped.get((row.file, one.marker), [])):
                surprises.append((row, one.marker, one))
    false_alarms: list[tuple[Row, Said]] = []
    for row in benign:
        for one in by_path.get(row.file, []):
            if one.on(row) and one.severity in LOUD:
                used.add(one)
                near_a_drop = any(one.near(other) for other in dropped.get((row.file, one.marker), []))
                if not near_a_drop:
                    false_alarms.append((row, one))
    unlabelled = tuple(one for one in said if one not in used and one.severity in LOUD)
    return Agreement(tuple(met), tuple(missed), tuple(false_alarms), tuple(surprises), unlabelled)
