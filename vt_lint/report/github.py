"""Workflow commands of GitHub Actions: each finding becomes an annotation of the changed lines.

The form is documented under "Workflow commands for GitHub Actions" at docs.github.com.
"""

from __future__ import annotations

from rules import unanalysed_candidate
from rules.finding import Severity
from vt_lint.outcome import Outcome, closing_line
from vt_lint.report.source import repository_path

LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(outcome: Outcome) -> str:
    """Return one workflow command a finding and a file that was not analysed, then the closing line."""
    lines = []
    for f in outcome.findings:
        if f.rule == unanalysed_candidate.CODE:
            continue  # told below, with what the coverage says of it
        place = f.place
        where = {
            "file": repository_path(outcome.root, place.path),
            "line": place.line,
            "endLine": place.end_line,
            "col": place.column,
            "endColumn": place.end_column,
            "title": " ".join(filter(None, (f.rule, f.marker, f.verdict.value))),
        }
        if place.end_line != place.line:  # columns of a range over several lines are refused by GitHub
            del where["col"], where["endColumn"]
        lines.append(_command(LEVEL[f.severity], where, f.message))
    for u in outcome.report.coverage.unanalysed:
        where = {
            "file": repository_path(outcome.root, u.path),
            "line": u.line,
            "title": f"{unanalysed_candidate.CODE} {unanalysed_candidate.NAME}",
        }
        lines.append(_command("warning", where, u.reason))
    lines.append(closing_line(outcome))
    return "\n".join(lines)


def _command(level: str, properties: dict[str, object], message: str) -> str:
    fields = ",".join(
        f"{name}={_escape(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
    )
    return f"::{level} {fields}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
