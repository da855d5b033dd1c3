"""Fixes that ask for a condition which the rule names, in a check or in what is stored."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codemods.fix import fix_until_stable
from rules.check import check
from tests.rules.snippets import PRELUDE, ROOT


def fixed(tree: Path, text: str, *, unsafe: bool = False) -> tuple[str, list[str], list[str]]:
    """What `fix` makes of a file, the rules that still report something, and what was not edited."""
    shutil.copyfile(ROOT / PRELUDE, tree / PRELUDE)
    path = tree / "main.cpp"
    path.write_text(text, encoding="utf-8")
    report, plans = fix_until_stable(
        lambda: check(tree, jobs=1, cache=False), tree, latent=True, unsafe=unsafe
    )
    return (
        path.read_text(encoding="utf-8"),
        [f.rule for f in report.findings],
        list(map(str, plans[-1].skipped)),
    )


def test_a_shape_of_unknown_length_is_asked_for_its_length_first(tmp_path: Path) -> None:
    text = (ROOT / "VT005" / "shape_larger_than_the_arrays.cpp").read_text(encoding="utf-8")
    after, left, _ = fixed(tmp_path, text)
    check_line = '  Ensure(dims.size() <= 4, "stride holds 4 dimensions");\n'
    assert after == text.replace("  View v;\n", check_line + "  View v;\n", 1)
    assert left == []


STORED = "keep_quantised && HostHasInt8Mma()"
PLAN = (ROOT / "VT002" / "producer_asks_the_host_only.cpp").read_text(encoding="utf-8").replace(STORED, "%s")


@pytest.mark.parametrize(
    ("stored", "narrowed"),
    [
        (
            "keep_quantised && HostHasInt8Mma()",
            "keep_quantised && HostHasInt8Mma() && target == Device::kCPU",
        ),
        ("keep_quantised || want_transpose", "(keep_quantised || want_transpose) && target == Device::kCPU"),
        (
            "want_transpose ? true : keep_quantised",
            "(want_transpose ? true : keep_quantised) && target == Device::kCPU",
        ),
        ("HostHasInt8Mma()", "HostHasInt8Mma() && target == Device::kCPU"),
    ],
)
def test_a_policy_asks_for_the_device_that_its_sibling_asks_for(
    tmp_path: Path, stored: str, narrowed: str
) -> None:
    after, left, skipped = fixed(tmp_path, PLAN % stored, unsafe=True)
    assert after == PLAN % narrowed
    assert "VT002" not in left
    assert not any("VT002" in reason for reason in skipped)


def test_a_narrower_policy_is_no_safe_fix(tmp_path: Path) -> None:
    """Weights that had the layout on another device lose it: a person decides."""
    after, left, skipped = fixed(tmp_path, PLAN % "keep_quantised || want_transpose")
    assert after == PLAN % "keep_quantised || want_transpose"
    assert "VT002" in left
    assert any("--unsafe" in reason for reason in skipped)


def test_a_marker_is_set_to_what_the_rewrite_says(tmp_path: Path) -> None:
    text = (ROOT / "VT005" / "without_the_rewrite.cpp").read_text(encoding="utf-8")
    old = "  TryInterleave(w, scratch);\n  w.repacked = true;"
    after, left, skipped = fixed(tmp_path, text, unsafe=True)
    assert after == text.replace(old, "  w.repacked = TryInterleave(w, scratch);")
    assert (left, skipped) == ([], [])


def test_an_answer_that_is_not_at_hand_is_told_of_and_not_edited(tmp_path: Path) -> None:
    text = (ROOT / "VT005" / "without_the_rewrite.cpp").read_text(encoding="utf-8")
    text = text.replace("scratch);\n  w.repacked", "scratch);\n  scratch[0] = 0;\n  w.repacked")
    after, left, skipped = fixed(tmp_path, text, unsafe=True)
    assert after == text
    assert left == ["VT005"]
    assert "the answer of `TryInterleave(w, scratch)` is not at hand here" in skipped[0]
