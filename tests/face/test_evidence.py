"""A fix is verified by evidence of this very text alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runtime_check import Evidence, render_json
from runtime_check.model import BuildRecord, Group, Judgement, Status
from tests.face.made import CODE, check_until_fixed, lost, report
from vt_lint import checking, cli
from vt_lint.exit import Exit

PATH = "src/resident.h"
FIXED = """\
Tensor Resident(const OwnedTensor& w, Device dev) {
  if (dev.type == DeviceType::kCPU) {
    Tensor t = Wrap(w.bytes.data(), w.dtype, /*größe=*/w.shape, w.rank);
    t.repacked = w.repacked;
    return t;
  }
  return Upload(w);
}
"""
Write = Callable[..., Path]


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.fixture(autouse=True)
def tree_with_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost marker with a safe fix; it is found until the code copies the marker."""
    monkeypatch.setattr(checking, "check", check_until_fixed)


@pytest.fixture
def evidence(tmp_path: Path) -> Write:
    """Write evidence of one judgement about the fix of `vt::Resident`."""

    def write(status: Status = Status.PASSED, **changes: Any) -> Path:
        judgement = Judgement(PATH, "vt::Resident", "repacked", "host", "cpu", "carried", status, "", (), ())
        about = {k: changes.pop(k) for k in list(changes) if k in Judgement.__dataclass_fields__}
        judgement = replace(judgement, **about)
        group = Group(
            0, judgement.path, judgement.helper, judgement.marker, "host", judgement.device,
            judgement.expected, True, True, False, (),
        )  # fmt: skip
        made = Evidence(
            target="cpu", tree_name="engine", revision="", patch_sha256="", tree_digest="", toolchain={},
            device={}, commands=(), builds=(BuildRecord("after", 1, 1, 0, 1.0),), groups=(group,),
            judgements=(judgement,), timings=(), not_probed=(), notes=(), seconds=1.0, exit_code=0,
            inputs={"before": {PATH: _sha(CODE)}, "after": {PATH: _sha(FIXED)}},
        )  # fmt: skip
        file = tmp_path / "evidence.json"
        file.write_text(render_json(replace(made, **changes)))
        return file

    return write


def _check(tree: Path, file: Path, capsys: pytest.CaptureFixture[str], form: str = "json") -> tuple[Any, str]:
    assert cli.run(["check", "--tree", str(tree), "--evidence", str(file), "--format", form]) == Exit.FINDINGS
    shown = capsys.readouterr()
    return (json.loads(shown.out) if form != "text" else shown.out), shown.err


class TestCheck:
    def test_json_says_that_it_is_verified_and_where(
        self, tree: Path, evidence: Write, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (found,) = _check(tree, evidence(), capsys)[0]["findings"]
        assert found["fix"] == {
            "action": "propagate", "safety": "safe", "verified": True, "verified_on": ["cpu"],
        }  # fmt: skip

    def test_text_and_sarif_say_it_too(
        self, tree: Path, evidence: Write, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text, _ = _check(tree, evidence(), capsys, "text")
        assert "carry it (verified on cpu): a kernel of cpu reads it" in text
        assert "1 with a safe fix, 1 of them verified" in text
        (result,) = _check(tree, evidence(), capsys, "sarif")[0]["runs"][0]["results"]
        assert result["properties"]["fix"]["verified"] is True

    def test_the_settings_can_name_it(
        self, tree: Path, evidence: Write, capsys: pytest.CaptureFixture[str]
    ) -> None:
        evidence().rename(tree / "proof.json")
        (tree / ".vt-lint.toml").write_text('evidence = ["proof.json"]\n')
        cli.run(["check", "--tree", str(tree), "--format", "json"])
        (found,) = json.loads(capsys.readouterr().out)["findings"]
        assert found["fix"]["verified"]

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"status": Status.FAILED}, "1 failed of 1"),
            ({"status": Status.NOT_RUN}, "1 not run of 1"),
            ({"marker": "q8_0_aligned"}, ""),
            ({"device": "cuda"}, ""),
            ({"expected": "refused"}, ""),
            ({"helper": "vt::Other"}, ""),
            ({"path": "src/other.h"}, ""),
            ({"inputs": {"before": {PATH: "0"}, "after": {PATH: _sha(FIXED)}}}, "src/resident.h is not the file"),
            ({"inputs": {"before": {PATH: _sha(CODE)}, "after": {PATH: _sha(CODE)}}}, "makes another src/resident.h"),
            ({"inputs": {"after": {PATH: _sha(FIXED)}}}, "one side only"),
            ({"inputs": {"before": {"a.h": ""}, "after": {"a.h": ""}}}, ""),
        ],
    )  # fmt: skip
    def test_evidence_of_anything_else_marks_nothing(
        self,
        tree: Path,
        evidence: Write,
        capsys: pytest.CaptureFixture[str],
        changes: dict[str, Any],
        said: str,
    ) -> None:
        log, err = _check(tree, evidence(**changes), capsys)
        assert log["findings"][0]["fix"]["verified"] is False
        notes = [line for line in err.splitlines() if line.startswith("note: evidence evidence.json")]
        assert len(notes) == bool(said)
        assert all(said in note for note in notes)

    def test_a_fix_that_also_refuses_needs_a_device_of_each_kind(
        self, tree: Path, evidence: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mixed = msgspec.structs.replace(
            lost(action="both", refuse_devices=("vulkan",)), devices=("cpu", "vulkan")
        )
        carried = msgspec.structs.replace(lost(), devices=("cpu", "cuda"))
        for made, verified in ((mixed, []), (carried, ["cpu"])):
            monkeypatch.setattr(checking, "check", lambda _root, made=made, **_: report(made))
            (found,) = _check(tree, evidence(), capsys)[0]["findings"]
            assert found["fix"]["verified_on"] == verified

    def test_a_changed_file_is_one_line_and_2(
        self, tree: Path, evidence: Write, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = evidence(Status.FAILED)
        file.write_text(file.read_text().replace('"failed"', '"passed"'))
        for text in (file.read_text(), "{}", "[", '{"version": 1, "judgements": []}'):
            file.write_text(text)
            assert cli.run(["check", "--tree", str(tree), "--evidence", str(file)]) == Exit.USAGE
            err = capsys.readouterr().err
            assert err.count("\n") == 1
            assert "evidence.json" in err


class TestFix:
    def test_the_summary_says_it(
        self, tree: Path, evidence: Write, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.run(["fix", "--tree", str(tree), "--evidence", str(evidence())]) == Exit.OK
        assert "repacked carried (verified on cpu): a kernel of cpu reads it" in capfd.readouterr().err

    def test_what_is_written_is_what_was_built(
        self, tree: Path, evidence: Write, capfd: pytest.CaptureFixture[str]
    ) -> None:
        args = ["fix", "--tree", str(tree), "--evidence", str(evidence()), "--apply"]
        assert cli.run(args) == Exit.OK
        assert "(verified on cpu)" in capfd.readouterr().err
        assert (tree / PATH).read_text(encoding="utf-8") == FIXED
        assert cli.run(args) == Exit.OK
        assert "has the fix that it is of already" in capfd.readouterr().err
