"""The stable JSON of `check`. It holds no time, so equal trees give equal bytes."""

from __future__ import annotations

import json
from typing import Any

from rules.finding import Finding
from vt_lint import __version__
from vt_lint.outcome import Outcome


def render(outcome: Outcome) -> str:
    """Return the outcome as one JSON document, without what a comment or the baseline accepts."""
    report = outcome.report
    seen = report.coverage
    document = {
        "version": 1,
        "tool": {"name": "vt-lint", "version": __version__},
        "tree": report.tree,
        "profiles": list(report.profiles),
        "coverage": {
            "files": seen.files,
            "candidates": seen.candidates,
            "analysed": seen.analysed,
            "unanalysed": [{"path": u.path, "line": u.line, "reason": u.reason} for u in seen.unanalysed],
        },
        "findings": [finding(f) for f in outcome.findings],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def finding(f: Finding) -> dict[str, Any]:
    """Return one finding in the form of the JSON report."""
    return {
        "rule": f.rule,
        "path": f.place.path,
        "line": f.place.line,
        "column": f.place.column,
        "end_line": f.place.end_line,
        "end_column": f.place.end_column,
        "function": f.function,
        "marker": f.marker,
        "devices": list(f.devices),
        "source": f.source,
        "source_type": f.source_type,
        "severity": f.severity.value,
        "verdict": f.verdict.value,
        "message": f.message,
        "reason": f.reason,
        "witness": [{"path": h.path, "line": h.line, "note": h.note} for h in f.witness],
        "fix": fix(f),
        "fingerprint": f.fingerprint,
    }


def fix(f: Finding) -> dict[str, Any] | None:
    """Return the fix of `f`, None where none is known. `verified_on`: the devices that a runtime check saw."""
    if f.fix is None:
        return None
    return {
        "action": f.fix.action,
        "safety": f.fix.safety,
        "verified": bool(f.fix.verified),
        "verified_on": list(f.fix.verified),
    }
