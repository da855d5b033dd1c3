from __future__ import annotations

import json
from pathlib import Path

import pytest

from rules.finding import Unanalysed
from tests.face.made import finding, place, report
from vt_lint import baseline
from vt_lint.exit import Fault


def test_an_entry_survives_its_code_moving(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    baseline.save(file, [baseline.entry(finding(), "old model")])
    moved = finding(where=place(line=90, begin=4000))
    new, accepted = baseline.split([moved, finding("q8_0_aligned")], baseline.load(file))
    assert [f.marker for f in new] == ["q8_0_aligned"]
    assert [(f, e.reason) for f, e in accepted] == [(moved, "old model")]


def test_what_is_fixed_is_gone_but_not_what_could_not_be_read() -> None:
    entries = [baseline.entry(finding(), "a"), baseline.entry(finding(where=place(path="x.mm")), "b")]
    assert baseline.gone(report(), entries) == entries
    assert baseline.gone(report(finding()), entries) == []
    assert baseline.gone(report(unanalysed=(Unanalysed("x.mm", 1, "no parser"),)), entries) == entries[:1]


def test_a_finding_that_gets_a_comment_needs_no_entry() -> None:
    entries = [baseline.entry(finding(), "a")]
    assert baseline.gone(report(finding(suppressed="why")), entries) == entries


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    baseline.save(file, [baseline.entry(finding(), " ")])
    with pytest.raises(Fault, match=r"VT001 repacked in vt::Resident has no reason"):
        baseline.load(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a baseline"),
        ('{"version": 1}', "not a baseline"),
        ('{"version": 2, "entries": []}', "baseline version 2"),
    ],
)
def test_a_malformed_file_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(Fault, match=message):
        baseline.load(file)


def test_the_file_reads_well_in_a_diff(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    second = finding(where=place(path="src/z.h"), construction="c2")
    baseline.save(file, [baseline.entry(second, "b"), baseline.entry(finding(), "a")])
    text = file.read_text()
    assert [e["path"] for e in json.loads(text)["entries"]] == ["src/resident.h", "src/z.h"]
    assert text.endswith("}\n")
    assert len(text.splitlines()) > 14
