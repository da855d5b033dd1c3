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
