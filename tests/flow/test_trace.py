"""`trace` over a small tree: its records, filters and what it says of a name that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.config import SetupError
from rules.judge import analyse, report_findings
from rules.markers import MARKERS
from rules.texts import Texts
from rules.trace import MarkerTrace, build
from tests.flow.test_flow import LOADER
from tests.flow.test_honours import TREE as KERNELS
from tests.flow.trees import follow

CALLS = """
namespace vt { void Matmul(Tensor& o, const Tensor& a, const Tensor& b, DeviceType d) {
  reinterpret_cast<Gemm>(GetOp(OpId::kMatmul, d))(o, a, b); } }
namespace vllm { void Forward(Swift& s, vt::Tensor& x, vt::Tensor& out) {
  vt::Matmul(out, x, View(s.q), vt::DeviceType::kCPU); } }
"""


def traced(source: str = "", target: str = "", partial: bool = False) -> dict[str, MarkerTrace]:
    flow = follow(LOADER + KERNELS + CALLS)
    analysis, streams = analyse(flow.program, MARKERS)
    found = report_findings(analysis, Texts(Path("/nowhere")), (), False, ())
    made = build(flow.program, streams, MARKERS, found, source=source, target=target, partial=partial)
    return {m.marker: m for m in made}


@pytest.fixture(scope="module")
def whole() -> dict[str, MarkerTrace]:
    return traced(partial=True)


def test_producers_say_what_guards_them(whole: dict[str, MarkerTrace]) -> None:
    (producer,) = whole["q8_0_aligned"].producers
    assert producer.guards == ("parameter align is true",)
    assert producer.verdict == "GATED"
    assert "VT_ALIGN" in producer.reason


def test_fields_losses_and_kernels_hang_together(whole: dict[str, MarkerTrace]) -> None:
    repacked = whole["repacked"]
    assert {f.name for f in repacked.fields} >= {"vllm::Swift::q", "vllm::Swift::k"}
    (loss,) = [x for x in repacked.losses if x.function == "vllm::View" and x.rule == "VT001"]
    assert loss.verdict == "LIVE"
    assert "vllm::Swift::q" in loss.fields
    assert loss.hops[0].note == "repacked is set here"
    (kernel,) = [c for c in repacked.consumers if c.function == "vt::Host"]
    assert (kernel.outcome, kernel.arrives, kernel.misread) == ("honours", "unmarked", True)


def test_a_dead_loss_has_no_route(whole: dict[str, MarkerTrace]) -> None:
    (loss,) = [x for x in whole["q8_0_aligned"].losses if x.function == "vllm::View" and x.rule == "VT001"]
    assert (loss.verdict, loss.fields, loss.hops) == ("DEAD", (), ())


def test_partial_says_which_members_nothing_reads(whole: dict[str, MarkerTrace]) -> None:
    assert "vllm::Swift::k" in {s.function for s in whole["repacked"].stops}


def test_from_keeps_what_one_member_feeds() -> None:
    repacked = traced(source="Heron::norm")["repacked"]
    assert [f.name for f in repacked.fields] == ["vllm::Heron::norm"]
    assert {x.function for x in repacked.losses} == {"vllm::View"}
    assert not repacked.consumers


def test_to_answers_for_the_parameters_of_a_function() -> None:
    (target,) = [t for t in traced(target="View")["repacked"].targets if t.operand == "w"]
    assert target.verdict == "LIVE"
    assert target.fields == ("vllm::Heron::norm", "vllm::Swift::q")


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("Swift::kk", "", "did you mean vllm::Swift::k?"),
        ("", "Vieww", "did you mean"),
        ("w", "", "no such member"),
    ],
)
def test_a_wrong_name_gets_one_line(source: str, target: str, said: str) -> None:
    if source == "w":
        source = "Nobody::nothing"
    with pytest.raises(SetupError, match=said.replace("?", r"\?")):
        traced(source=source, target=target)
