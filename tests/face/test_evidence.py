from __future__ import annotations

import dataclasses
import json
import re

import pytest

from runtime_check.model import (
    BuildRecord,
    Evidence,
    Group,
    Judgement,
    Observation,
    Outcome,
    Status,
    Timing,
)
from vt_lint.report import evidence as report

BROKEN = Observation("c1", Outcome.RAN, marked=True, total=192, nonfinite=57, differing=190, error=None)
SAME = Observation("c1", Outcome.RAN, marked=True, total=192, error=0.0043, plain_error=0.0043)
THREW = Observation("c2", Outcome.THREW, message="repacked <weight> | cannot be staged")


@pytest.fixture
def evidence() -> Evidence:
    carried = Judgement(
        "vt::Resident", "repacked", "cpu", "carried", Status.PASSED, "same bits", (BROKEN,), (SAME,)
    )
    refused = Judgement(
        "vt::Resident", "repacked", "cuda", "refused", Status.NOT_RUN, "no device", (), (THREW,)
    )
    return Evidence(
        target="i8mm",
        tree_name="engine",
        revision="abc",
        patch_sha256="12ab",
        tree_digest="34cd",
        toolchain={"compiler": "g++ 12"},
        device={"cpu": "qemu"},
        commands=("cmake -S . -B build",),
        builds=(BuildRecord("before", 41, 41, 0, 30.0),),
        groups=(Group(0, "vt::Resident", "repacked", "cpu", "cpu", "carried", True, True, ()),),
        judgements=(carried, refused),
        timings=(Timing("vt::Resident", "repacked", 1, 4096, 4096, 20.0, 10.0, 0.4, 0.8, 4000.0),),
        not_probed=("vt::Slice: needs a queue",),
        notes=("before and after share 40 objects",),
        seconds=12.3,
        exit_code=3,
    )


def test_text_shows_the_fault_before_and_the_proof_after(evidence: Evidence) -> None:
    lines = report.text(evidence).splitlines()
    (proof,) = (line for line in lines if line.startswith("passed"))
    assert "57 of 192 not finite" in proof
    assert "bit-identical, error 4.30e-03" in proof
    assert lines[-1] == "1 passed, 1 not run on i8mm, 12.3 s"
    assert "not probed: vt::Slice: needs a queue" in lines


def test_what_was_not_run_does_not_look_passed(evidence: Evidence) -> None:
    assert "verified" not in report.text(evidence)
    assert json.loads(report.as_json(evidence))["verified"] == [
        {"helper": "vt::Resident", "marker": "repacked", "device": "cpu"}
    ]


def test_markdown_cells_cannot_break_their_table(evidence: Evidence) -> None:
    rows = [line for line in report.markdown(evidence).splitlines() if line.startswith("| not run")]
    assert len(rows) == 1
    assert r"repacked <weight> \| cannot be staged" in rows[0]


def test_the_page_loads_nothing_and_escapes_what_a_probe_said(evidence: Evidence) -> None:
    page = report.page(evidence)
    assert not re.search(r"(?:src|href)=|url\(|<script|@import", page)
    assert "repacked &lt;weight&gt;" in page
    assert page.count("<svg") == 2


def test_a_run_without_results_says_so(evidence: Evidence) -> None:
    nothing = dataclasses.replace(evidence, judgements=(), timings=())
    for form in ("text", "json", "markdown", "html"):
        assert report.render(nothing, form)
    assert "nothing was run" in report.text(nothing)
