from __future__ import annotations

import json
from pathlib import Path

from rules.finding import Fix, Hop, Unanalysed
from tests.face.made import finding, outcome
from vt_lint import __version__
from vt_lint.report import json as report


def test_has_exactly_the_published_fields(tree: Path) -> None:
    found = finding(fix=Fix("propagate"), witness=(Hop("a.cpp", 1, "sets it"),))
    document = json.loads(
        report.render(outcome(tree, found, unanalysed=(Unanalysed("x.mm", 4, "no parser"),)))
    )
    assert document == {
        "version": 1,
        "tool": {"name": "vt-lint", "version": __version__},
        "tree": "tree",
        "profiles": ["cpu", "cuda"],
        "coverage": {
            "files": 4,
            "candidates": 9,
            "analysed": 8,
            "unanalysed": [{"path": "x.mm", "line": 4, "reason": "no parser"}],
        },
        "findings": [
            {
                "rule": "VT001",
                "path": "src/resident.h",
                "line": 3,
                "column": 12,
                "end_line": 3,
                "end_column": 68,
                "function": "vt::Resident",
                "marker": "repacked",
                "devices": ["cpu"],
                "source": "w",
                "source_type": "vt::OwnedTensor",
                "severity": "error",
                "verdict": "LIVE",
                "message": "`repacked` of `w` is neither carried nor refused",
                "reason": "",
                "witness": [{"path": "a.cpp", "line": 1, "note": "sets it"}],
                "fix": {
                    "action": "propagate",
                    "safety": "safe",
                    "verified": False,
                    "verified_on": [],
                },
                "fingerprint": "VT001:repacked:c1",
            }
        ],
    }


def test_what_is_unknown_is_null_or_empty_never_absent(tree: Path) -> None:
    (found,) = json.loads(report.render(outcome(tree, finding())))["findings"]
    assert found["fix"] is None
    assert found["witness"] == []


def test_equal_findings_give_equal_bytes_however_long_it_took(tree: Path) -> None:
    slow = outcome(tree, finding(), seconds=60.0, peak_bytes=2**30)
    assert report.render(outcome(tree, finding())) == report.render(slow)


def test_suppressed_findings_are_left_out(tree: Path) -> None:
    assert json.loads(report.render(outcome(tree, finding(suppressed="why"))))["findings"] == []
