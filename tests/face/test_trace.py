from __future__ import annotations

import json
from pathlib import Path

import pytest

from rules.finding import Hop
from rules.matrix import Matrix, Policy, Row
from rules.trace import Consumer, Field, Loss, MarkerTrace, Producer, Trace, Via
from vt_lint.report import matrix, trace

SET = Hop("src/resident.h", 1, "repacked is set here")
PASSED = Hop("src/resident.h", 2, "passed to vt::Resident")


def _loss(verdict: str, hops: tuple[Hop, ...]) -> Loss:
    return Loss(
        rule="VT001",
        path="src/resident.h",
        line=3,
        function="vt::Resident",
        form="factory",
        source="w",
        source_type="vt::OwnedTensor",
        devices=("cpu",),
        verdict=verdict,
        reason="in the default environment",
        message="lost",
        hops=hops,
        via=(Via("vt::Layer::q_proj", "tern", (PASSED,)),) if verdict == "LIVE" else (),
    )


@pytest.fixture
def found() -> Trace:
    kernel = Consumer(
        device="cpu",
        operator="MatmulBT",
        function="vt::Gemm",
        path="src/gemm.cpp",
        line=9,
        operand="b",
        outcome="honours",
        read_at=Hop("src/gemm.cpp", 11, "tested"),
        arrives="marked",
        misread=False,
        verdict="LIVE",
        reason="",
        hops=(SET, PASSED),
        via=(),
    )
    stored = Field("vt::Layer::q_proj", "tern", "src/resident.h", 1, "LIVE", "", (0,), (SET,))
    marker = MarkerTrace(
        marker="repacked",
        what="rows interleaved",
        producers=(
            Producer("src/resident.h", 1, "vt::Load", "vt::OwnedTensor", ("x is true",), "LIVE", "", True),
        ),
        fields=(stored,),
        copies=(),
        losses=(_loss("LIVE", (SET, PASSED)), _loss("DEAD", (PASSED,))),
        consumers=(kernel,),
        tests=(),
    )
    return Trace(
        1, "engine", ("cpu",), ("cpu",), (marker,), ("vt::OwnedTensor",), ("nothing else",), 0, {"total": 2.0}
    )


def test_a_live_loss_has_its_path_and_a_dead_one_its_assumptions(found: Trace) -> None:
    shown = trace.text(found)
    assert (
        "LIVE on cpu  VT001 vt::Resident: in the default environment\n    from vt::Layer::q_proj\n" in shown
    )
    assert shown.count("src/resident.h:2  passed to vt::Resident") == 1
    assert "DEAD takes for granted:\n  nothing else" in shown


def test_says_who_sets_the_marker_when_and_which_kernel_reads_it(found: Trace) -> None:
    shown = trace.text(found)
    assert "src/resident.h:1  LIVE  vt::Load when x is true" in shown
    assert "cpu MatmulBT vt::Gemm  honours b (src/gemm.cpp:11); arrives marked" in shown


def test_json_is_the_record_itself(found: Trace) -> None:
    document = json.loads(trace.as_json(found))
    assert document["version"] == 1
    assert [loss["verdict"] for loss in document["markers"][0]["losses"]] == ["LIVE", "DEAD"]


def test_the_map_ends_at_the_loss_or_the_kernel(found: Trace, tree: Path) -> None:
    page = trace.html(found, tree)
    for end in ("lost", "dead", "honoured"):
        assert page.count(f'data-end="{end}"') == 1
    assert "Resident: repacked is lost here" in page


def test_matrix_says_where_it_was_read_and_what_follows() -> None:
    row = Row(
        "repacked", "cpu", "MatmulBT", "vt::Gemm", "b", "honours", "src/gemm.cpp", 9, "src/gemm.cpp", 11
    )
    found = Matrix((row,), (Policy("repacked", "cuda", "refuse", "no kernel of cuda reads repacked"),))
    assert matrix.text(found).splitlines() == [
        "repacked",
        "  cpu      reads it      MatmulBT vt::Gemm, as b  (src/gemm.cpp:11)",
        "  on cuda: refuse, no kernel of cuda reads repacked",
    ]
    assert json.loads(matrix.as_json(found))["version"] == 1
