"""What the producers of a tree say about a loss decides how loud it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import rules.check
from rules.finding import Finding
from tests.rules.snippets import PRELUDE, ROOT

LOADER = """
#include "prelude.h"
bool Wanted();
void Rewrite(uint8_t* bytes);
Weight Load(const uint8_t* src, size_t n, DType given) {
  Weight w;
  %s
  w.bytes.assign(src, src + n);
  if (Wanted()) {
    Rewrite(w.bytes.data());
    w.elem_kn_repacked = true;
  }
  return w;
}
void Part(const Weight& w, const float* x, float* out) {
  RawGemv(w.bytes.data(), w.shape[0], w.shape[1], x, out);
}
void Run(const uint8_t* src, const float* x, float* out) {
  Weight w = Load(src, 64, DType::kF32);
  if (w.dtype != DType::kBF16) return;
  Part(w, x, out);
}
"""


def read_in_part(tree: Path, text: str) -> list[Finding]:
    shutil.copyfile(ROOT / PRELUDE, tree / PRELUDE)
    (tree / "main.cpp").write_text(text, encoding="utf-8")
    findings = rules.check.check(tree, cache=False).findings
    return [f for f in findings if f.function == "Part" and f.marker == "elem_kn_repacked"]


@pytest.mark.parametrize(
    ("stores", "severity"),
    [
        ("w.dtype = DType::kF16;", "note"),
        ("w.dtype = DType::kBF16;", "error"),
        ("w.dtype = given;", "error"),
        ("", "error"),
        ("if (n > 8) w.dtype = DType::kF16;", "error"),
        ("w.dtype = DType::kF16; if (n > 8) { w.dtype = DType::kF32; }", "note"),
        ("w.dtype = DType::kF16; if (n > 8) { w.dtype = DType::kBF16; }", "error"),
    ],
)
def test_a_dtype_test_of_a_caller_acquits_where_no_producer_meets_it(
    tmp_path: Path, stores: str, severity: str
) -> None:
    """The declaration of the marker allows three dtypes; what counts is what the loaders of the tree give."""
    (found,) = read_in_part(tmp_path, LOADER % stores)
    assert found.severity.value == severity
    assert severity == "error" or any("lets nothing through" in hop.note for hop in found.witness)


def test_a_layout_read_by_several_parts_of_a_kernel_is_told_once(tmp_path: Path) -> None:
    text = (ROOT / "VT009" / "parts_of_a_kernel.cpp").read_text(encoding="utf-8")
    shutil.copyfile(ROOT / PRELUDE, tmp_path / PRELUDE)
    (tmp_path / "main.cpp").write_text(text, encoding="utf-8")
    found = [
        f
        for f in rules.check.check(tmp_path, cache=False).findings
        if f.marker == "q8_0_aligned" and f.function in ("Blocks", "Tail")
    ]
    assert {f.function: f.severity.value for f in found} == {"Blocks": "warning", "Tail": "note"}
    assert {f.devices for f in found} == {("cpu",)}, "a part runs where its kernel runs"


ROWS = """
#include "prelude.h"
enum class OpCode { kGemm };
using GemmFn = void (*)(float*, const View&, const View&);
void RegisterOp(OpCode op, Device device, GemmFn fn);
inline constexpr int kRowsOfAGroup = 4;
void Interleaved(float* out, const View& x, const View& w) {
  SNIPPET_CHECK(w.repacked, "an interleaved weight");
  const int64_t rows = w.shape[0];
  %s
  const auto* q = static_cast<const uint8_t*>(w.data);
  out[0] = q[rows];
}
void Gemm(float* out, const View& x, const View& w) {
  if (w.repacked) {
    Interleaved(out, x, w);
    return;
  }
  out[0] = 0;
}
static const bool registered = (RegisterOp(OpCode::kGemm, Device::kCPU, &Gemm), true);
void Tower(float* out, const View& x, const View& tower, int64_t e, int64_t n) {
  SNIPPET_CHECK(tower.device == Device::kCPU, "a kernel of the CPU");
  const size_t row_bytes = RowBytes(tower.dtype, x.shape[1]);
  View w{};
  w.data = static_cast<uint8_t*>(tower.data) + %s * row_bytes;
  w.dtype = tower.dtype;
  w.repacked = tower.repacked;
  w.shape[0] = n;
  w.shape[1] = x.shape[1];
  Gemm(out, x, w);
}
"""
FULL = 'SNIPPET_CHECK(rows % 4 == 0, "a part of a group");'


@pytest.mark.parametrize(
    ("asked", "offset", "severity"),
    [
        (FULL, "static_cast<size_t>(e) * n", "note"),
        (FULL, "(n * e)", "note"),
        ('Require(w.shape[0] % kRowsOfAGroup == 0, "a part of a group");', "e * n", "note"),
        ("if (rows % 8 != 0) throw 1;", "e * n", "note"),
        ("", "e * n", "warning"),
        ('SNIPPET_CHECK(rows % 2 == 0, "pairs");', "e * n", "warning"),
        ('SNIPPET_CHECK(x.shape[0] % 4 == 0, "of something else");', "e * n", "warning"),
        (FULL, "e", "warning"),
        (FULL, "(e + n)", "warning"),
    ],
)
def test_rows_at_a_multiple_of_their_number_are_whole_groups_if_the_kernel_asks(
    tmp_path: Path, asked: str, offset: str, severity: str
) -> None:
    shutil.copyfile(ROOT / PRELUDE, tmp_path / PRELUDE)
    (tmp_path / "main.cpp").write_text(ROWS % (asked, offset), encoding="utf-8")
    (found,) = [f for f in rules.check.check(tmp_path, cache=False).findings if f.rule == "VT003"]
    assert (found.severity.value, found.verdict.value) == (
        severity,
        "LOUD" if severity == "note" else "UNKNOWN",
    )


TABLE = """
#include "prelude.h"
void Pair(float* out, const View& a, const View& b) {
  if (b.q8_0_aligned) throw 1;
  const auto* q = static_cast<const uint8_t*>(b.data);
  out[0] = q[0];
}
void PairLaunch(float* out, const View& a, const View& b) { Pair(out, a, b); }
struct Table {
  void (*pair)(float*, const View&, const View&);
};
static const Table table = {&PairLaunch};
const Table* Kernels() { return &table; }
void Run(const Weight& w, const View& x, float* out) {
  const bool plain = w.rank == 2 && !w.q8_0_aligned%s;
  if (!plain) return;
  View b = ViewOver(HostBytes(w), w.dtype, Device::kCUDA, DimsOf(w));
  b.repacked = w.repacked;
  Kernels()->pair(out, x, b);
}
Weight Load(const uint8_t* src, size_t n) {
  Weight w;
  w.bytes.assign(src, src + n);
  InterleaveRows(w.bytes.data(), 4, 32);
  w.repacked = true;
  return w;
}
void Model(const uint8_t* src, const View& x, float* out) { Run(Load(src, 64), x, out); }
"""


@pytest.mark.parametrize(("asked", "verdict"), [("", "LIVE"), (" && !w.repacked", "LOUD")])
def test_a_layout_that_the_caller_of_a_table_keeps_out_is_loud(
    tmp_path: Path, asked: str, verdict: str
) -> None:
    shutil.copyfile(ROOT / PRELUDE, tmp_path / PRELUDE)
    (tmp_path / "kernels.cu").write_text(TABLE % asked, encoding="utf-8")
    (found,) = [
        f
        for f in rules.check.check(tmp_path, cache=False).findings
        if (f.rule, f.function, f.marker) == ("VT009", "Pair", "repacked")
    ]
    assert found.verdict.value == verdict
    assert (verdict == "LOUD") is ("kernels.cu:19" in found.reason)


LAMBDAS = """
#include "prelude.h"
void Each(const Weight& w, const float* x, float* out) {
  auto first = [&] { RawGemv(w.bytes.data(), w.shape[0], w.shape[1], x, out); };
  auto second = [&] { RawGemv(w.bytes.data(), 1, w.shape[1], x, out); };
  first();
  second();
}
"""


def test_a_baseline_knows_a_loss_in_a_lambda_wherever_it_stands(tmp_path: Path) -> None:
    shutil.copyfile(ROOT / PRELUDE, tmp_path / PRELUDE)
    prints: list[list[tuple[str, str]]] = []
    for text in (LAMBDAS, LAMBDAS.replace("void Each", "int more = 1;\n\nvoid Each")):
        (tmp_path / "main.cpp").write_text(text, encoding="utf-8")
        findings = rules.check.check(tmp_path, cache=False).findings
        prints.append([(f.function, f.fingerprint) for f in findings if "lambda" in f.function])
    assert prints[0] == prints[1]
    assert {name for name, _ in prints[0]} == {"Each::lambda#1", "Each::lambda#2"}
