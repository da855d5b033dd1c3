"""A layout with row groups survives a cut between groups: the check asks for just that, if the code says where."""

from __future__ import annotations

import msgspec
import pytest

from rules.finding import Fix
from rules.markers import Marker
from tests.codemods.conftest import Case

MARKERS = [
    Marker("repacked", "rows interleaved", ("cpu",), row_group=4),
    Marker("aligned", "split", ("gpu",)),
]
PRELUDE = """\
using size = unsigned long;
struct Rows { char* data; int dtype; int shape[2]; bool repacked = false, aligned = false; };
size Stride(int dtype, int columns);
size Width(int dtype);
int Next();
"""
STORE = "t.data = "
CUTS = {
    "a parameter": (
        "t.data = w.data + static_cast<size>(row) * Stride(w.dtype, w.shape[1]);",
        "row % 4 == 0",
    ),
    "and a number of rows": (
        "t.data = w.data + row * Stride(w.dtype, w.shape[1]);\n  t.shape[0] = n;",
        "(row % 4 == 0 && n % 4 == 0)",
    ),
    "a local stride": (
        "const size bytes = Stride(w.dtype, k);\n  t.data = (w.data + (size)row * bytes);\n  t.shape[1] = k;",
        "row % 4 == 0",
    ),
    "stride and columns are locals": (
        "const int wide = w.shape[1];\n  size bytes = Stride(w.dtype, wide);\n  t.data = bytes * row + w.data;",
        "row % 4 == 0",
    ),
    "a multiple of the number of rows": (
        "t.data = w.data + static_cast<size>(row) * n * Stride(w.dtype, w.shape[1]);\n  t.shape[0] = n;",
        "n % 4 == 0",
    ),
    "a product": (
        "t.data = w.data + row * n * Stride(w.dtype, w.shape[1]);",
        "(row * n) % 4 == 0",
    ),
    "a sum": (
        "t.data = w.data + (row + n) * Stride(w.dtype, w.shape[1]);\n  t.shape[0] = n - row;",
        "((row + n) % 4 == 0 && (n - row) % 4 == 0)",
    ),
    "a number that is whole": (
        "t.data = w.data + row * Stride(w.dtype, w.shape[1]);\n  t.shape[0] = 8;",
        "row % 4 == 0",
    ),
}
UNKNOWN = {
    "an offset in elements": "t.data = w.data + row * Width(w.dtype);",
    "an offset in bytes": "t.data = w.data + row;",
    "a stride of another shape": "t.data = w.data + row * Stride(w.dtype, n);",
    "a stride that changes": "size s = Stride(w.dtype, w.shape[1]);\n  s += 1;\n  t.data = w.data + row * s;",
    "a row that is called for": "t.data = w.data + Next() * Stride(w.dtype, w.shape[1]);",
    "a number of rows that is called for":
        "t.data = w.data + row * Stride(w.dtype, w.shape[1]);\n  t.shape[0] = Next();",
    "two steps": "t.data = w.data + row * Stride(w.dtype, w.shape[1]) + n;",
}  # fmt: skip


def cut(case: Case, body: str, marker: str = "repacked") -> None:
    case.write(
        f"{PRELUDE}Rows f(const Rows& w, int row, int n, int k) {{\n  Rows t = w;\n  {body}\n  return t;\n}}\n"
    )
    (store,) = (line.strip().rstrip(";") for line in body.splitlines() if STORE in line)
    case.find(store, marker, "refuse", rule="VT003", safety="unsafe", form="retag", dest="t")


@pytest.mark.parametrize("name", CUTS)
def test_a_cut_between_groups_goes_through(case: Case, name: str) -> None:
    body, condition = CUTS[name]
    cut(case, body)
    text = case.fixed(markers=MARKERS)
    assert f"Require(!w.repacked || {condition},\n" in text
    assert "a group of its rows would be cut" in text
    assert ".repacked = " not in text  # the copy has it already
    case.compiles()


@pytest.mark.parametrize("name", UNKNOWN)
def test_where_the_code_does_not_say_the_fix_stays_unsafe(case: Case, name: str) -> None:
    cut(case, UNKNOWN[name])
    assert "unsafe" in case.skipped(markers=MARKERS)


def test_a_layout_without_row_groups_is_refused_whole(case: Case) -> None:
    cut(case, CUTS["a parameter"][0], "aligned")
    assert "Require(!w.aligned," in case.fixed(markers=MARKERS, unsafe=True)


def test_the_check_stands_where_its_numbers_are_known(case: Case) -> None:
    case.write(
        f"{PRELUDE}void f(Rows* to, const Rows& w, const int* ids, int count) {{\n"
        "  for (int i = 0; i < count; ++i) {\n"
        "    const int e = ids[i];\n"
        "    Rows t = w;\n"
        "    t.data = w.data + e * Stride(w.dtype, w.shape[1]);\n"
        "    to[i] = t;\n"
        "  }\n"
        "}\n"
    )
    store = "t.data = w.data + e * Stride(w.dtype, w.shape[1])"
    case.find(store, "repacked", "refuse", rule="VT003", safety="unsafe", form="retag", dest="t")
    case.find(store, "aligned", "refuse", rule="VT003", form="retag", dest="t")
    text = case.fixed(markers=MARKERS)
    assert (
        text.index("!w.aligned")
        < text.index("for (")
        < text.index("int e")
        < text.index("!w.repacked || e % 4 == 0")
    )
    case.compiles()


def test_the_summary_says_where_it_is_refused(case: Case) -> None:
    cut(case, CUTS["a parameter"][0])
    (line,) = case.plan(markers=MARKERS).summary
    said = "carried, and refused where a group of its rows would be cut"
    assert line.endswith(f"repacked {said}: it describes groups of 4 rows")


def test_a_part_that_drops_the_marker_gets_it_where_the_policy_says_so(case: Case) -> None:
    cut(case, CUTS["a parameter"][0])
    (finding,) = case.findings
    case.findings = [msgspec.structs.replace(finding, rule="VT001", fix=Fix("both"))]
    text = case.fixed(markers=MARKERS)
    assert text.index("Require(!w.repacked || row % 4 == 0,") < text.index("t.repacked = w.repacked;")
