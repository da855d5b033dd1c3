from __future__ import annotations

from pathlib import Path

import msgspec

from rules.finding import Severity, Unanalysed
from tests.face.made import finding, outcome, place
from vt_lint.report import github


def test_each_finding_annotates_its_line_in_the_repository(tree: Path) -> None:
    first = github.render(outcome(tree, finding())).splitlines()[0]
    assert first == (
        "::error file=engine/src/resident.h,line=3,endLine=3,col=12,endColumn=68,title=VT001 repacked LIVE"
        "::`repacked` of `w` is neither carried nor refused"
    )


def test_notes_are_notices_and_unanalysed_code_warns(tree: Path) -> None:
    lines = github.render(
        outcome(tree, finding(severity=Severity.NOTE), unanalysed=(Unanalysed("src/x.mm", 4, "no parser"),))
    ).splitlines()
    assert lines[0].startswith("::notice ")
    assert lines[1] == "::warning file=engine/src/x.mm,line=4,title=VT902 unanalysed-candidate::no parser"


def test_what_would_end_a_command_is_escaped(tree: Path) -> None:
    odd = finding(where=msgspec.structs.replace(place(), path="a,b:c.h"))
    odd = msgspec.structs.replace(odd, message="100%\nnext")
    first = github.render(outcome(tree, odd)).splitlines()[0]
    assert "file=engine/a%2Cb%3Ac.h," in first
    assert first.endswith("::100%25%0Anext")


def test_a_range_over_lines_has_no_columns(tree: Path) -> None:
    long = msgspec.structs.replace(place(), end_line=5)
    assert ",endLine=5,title=" in github.render(outcome(tree, finding(where=long)))
