"""The fix of the sample tree is text that was read by a person; a change of it has to be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from vt_lint import cli

REVIEWED = Path(__file__).with_name("sample_tree.patch")
SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "vt_tree"


def test_the_patch_is_the_reviewed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "made.patch"
    cli.run(["fix", "--tree", str(SAMPLE), "--patch", str(made)])
    again = f"read it, then keep it: vt-lint fix --tree samples/vt_tree --patch {REVIEWED.name}"
    assert made.read_text(encoding="utf-8") == REVIEWED.read_text(encoding="utf-8"), again
