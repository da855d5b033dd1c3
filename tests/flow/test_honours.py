"""The honours matrix of small trees."""

from __future__ import annotations

import pytest

from analyzer.honours import Cell, Matrix, honours
from rules.markers import MARKERS
from rules.matrix import build
from tests.flow.trees import follow

TREE = """
namespace vt {
typedef void (*Gemm)(Tensor&, const Tensor&, const Tensor&);
void Plain(Tensor& o, const Tensor& a, const Tensor& b) {
  memcpy(o.data, b.data, 4);
  memcpy(o.data, a.data, 4);
}
bool Interleaved(const Tensor& w) { return w.repacked; }
void Host(Tensor& o, const Tensor& a, const Tensor& b) {
  if (Interleaved(b)) { o.rank = 1; return; }
  Plain(o, a, b);
}
void Card(Tensor& o, const Tensor& a, const Tensor& b) {
  Tensor copy = b;
  if (copy.q8_0_aligned) { o.rank = 2; return; }
  Plain(o, a, b);
}
void Strict(Tensor& o, const Tensor& a, const Tensor& b) {
  if (b.q8_0_aligned) throw 1;
  Plain(o, a, b);
}
struct AtStart {
  AtStart() {
    RegisterOp(OpId::kMatmul, DeviceType::kCPU, reinterpret_cast<void*>(static_cast<Gemm>(&Host)));
    RegisterOp(OpId::kMatmul, DeviceType::kCUDA, reinterpret_cast<void*>(static_cast<Gemm>(&Card)));
    RegisterOp(OpId::kEmbed, DeviceType::kCUDA, reinterpret_cast<void*>(static_cast<Gemm>(&Strict)));
  }
};
}
"""


@pytest.fixture(scope="module")
def found() -> Matrix:
    return honours(follow(TREE), MARKERS)


def cell(found: Matrix, marker: str, function: str, operand: str) -> Cell:
    (one,) = [
        c for c in found.cells if (c.marker, c.function, c.operand) == (marker, f"vt::{function}", operand)
    ]
    return one


def test_a_read_in_a_callee_counts_for_the_kernel(found: Matrix) -> None:
    assert cell(found, "repacked", "Host", "b").outcome == "honours"
    assert found.devices("repacked") == {"cpu"}


def test_a_read_of_a_copy_counts(found: Matrix) -> None:
    assert cell(found, "q8_0_aligned", "Card", "b").outcome == "honours"
    assert found.devices("q8_0_aligned") == {"cuda"}


def test_a_throw_on_the_marker_is_a_refusal(found: Matrix) -> None:
    assert cell(found, "q8_0_aligned", "Strict", "b").outcome == "refuses"


def test_bytes_read_without_a_test_ignore_the_marker(found: Matrix) -> None:
    ignoring = cell(found, "q8_0_aligned", "Host", "b")
    assert ignoring.outcome == "ignores"
    assert (
        "memcpy" in TREE.splitlines()[ignoring.read_at[1] - 1]
        or "Plain" in TREE.splitlines()[ignoring.read_at[1] - 1]
    )


def test_activations_are_no_rows_of_the_matrix(found: Matrix) -> None:
    assert not [c for c in found.cells if c.operand == "a"]


def test_the_policy_follows_from_the_kernels(found: Matrix) -> None:
    made = build(found, MARKERS, ("cpu", "cuda"))
    actions = {(p.marker, p.device): (p.action, p.declared) for p in made.policy}
    assert actions["repacked", "cpu"] == ("propagate", False)
    assert actions["repacked", "cuda"] == ("refuse", False)
    assert actions["q8_0_aligned", "cuda"] == ("propagate", False)
    assert actions["elem_kn_repacked", "cpu"] == ("propagate", True)


MUTANTS = [
    ("the host kernel stops reading", "return w.repacked;", "return w.rank == 1;", "repacked", set()),
    (
        "a second device learns to",
        "if (copy.q8_0_aligned)",
        "if (copy.q8_0_aligned || copy.repacked)",
        "repacked",
        {"cpu", "cuda"},
    ),
    (
        "a refusal becomes work",
        "if (b.q8_0_aligned) throw 1;",
        "if (b.q8_0_aligned) { o.rank = 3; }",
        "q8_0_aligned",
        {"cuda"},
    ),
    (
        "work becomes a refusal",
        "if (copy.q8_0_aligned) { o.rank = 2; return; }",
        "if (copy.q8_0_aligned) throw 2;",
        "q8_0_aligned",
        set(),
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "marker", "want"), [m[1:] for m in MUTANTS], ids=[m[0] for m in MUTANTS]
)
def test_mutants(old: str, new: str, marker: str, want: set[str]) -> None:
    assert TREE.count(old) == 1
    assert honours(follow(TREE.replace(old, new)), MARKERS).devices(marker) == want


def test_a_dtype_that_no_dispatcher_lets_through_is_not_applicable() -> None:
    tree = """
    namespace w { enum class DType { kF32, kF16, kBF16, kQ8_0 };
      struct View {
        void* data = nullptr; DType dtype; int rank = 0; bool repacked = false; bool elem_kn_repacked = false;
      };
      struct Owned { vllm::Bytes bytes; DType dtype; bool repacked = false; };
      bool Blocks(DType t) { return t == DType::kQ8_0; }
      void Floats(View& o, const View& b) { if (b.elem_kn_repacked) { o.rank = 1; } memcpy(o.data, b.data, 4); }
      void At() { vt::RegisterOp(vt::OpId::kMatmul, vt::DeviceType::kCPU, reinterpret_cast<void*>(&Floats)); }
      typedef void (*Gemm)(View&, const View&);
      void Go(View& o, const View& b, vt::DeviceType d) {
        if (Blocks(b.dtype)) throw 1;
        reinterpret_cast<Gemm>(vt::GetOp(vt::OpId::kMatmul, d))(o, b);
      }
    }
    """
    (one,) = [c for c in honours(follow(tree), MARKERS).cells if c.marker == "repacked"]
    assert (one.outcome, one.note) == ("n/a", "its dispatcher keeps out q8_0")
