"""The sample tree on an emulated Arm core with i8mm, before and after a fix by hand of its shared helper."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime_check import VerifyError, VerifyOptions, verify
from runtime_check.model import Status
from vt_lint.probing import facts

pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in ("cmake", "aarch64-linux-gnu-g++", "qemu-aarch64")),
    reason="needs a cross compiler and an emulator for aarch64",
)

SAMPLE = Path(__file__).parents[2] / "samples" / "vt_tree"
HELPER = "include/vllm/models/resident_weight.h"
EDITS = [
    (
        "    return MakeTensor(const_cast<uint8_t*>(w.bytes.data()), w.dtype, d.q.device, shape);\n",
        "  {\n"
        '    VT_CHECK(!w.q8_0_aligned, "q8_0_aligned: no CPU kernel reads this layout");\n'
        "    vt::Tensor t = MakeTensor(const_cast<uint8_t*>(w.bytes.data()), w.dtype, d.q.device, shape);\n"
        "    t.repacked = w.repacked;\n"
        "    t.elem_kn_repacked = w.elem_kn_repacked;\n"
        "    return t;\n"
        "  }\n"
        '  VT_CHECK(!w.repacked, "repacked: only a CPU kernel reads this layout");\n'
        '  VT_CHECK(!w.elem_kn_repacked, "elem_kn_repacked: only a CPU kernel reads this layout");\n'
        "  VT_CHECK(!w.q8_0_aligned || GetPlatform(d.q.device.type).is_cuda(),\n"
        '           "q8_0_aligned: only a CUDA kernel reads this layout");\n',
    ),
]


def test_sample_tree_before_and_after(tmp_path: Path) -> None:
    text = (SAMPLE / HELPER).read_text()
    for old, new in EDITS:
        assert text.count(old) == 1
        text = text.replace(old, new)
    options = VerifyOptions(
        tree=SAMPLE,
        target="i8mm",
        work=tmp_path / "work",
        after_files={HELPER: text.encode()},
        facts=facts(SAMPLE, 1),
    )
    evidence = verify(options, progress=lambda _: None)
    shared = {(j.marker, j.arm): j for j in evidence.judgements if j.helper.startswith("vllm::dense_attn::")}
    assert len(shared) == 6
    assert all(j.status is Status.PASSED for j in shared.values())
    repacked = shared[("repacked", "cpu")]
    assert any(o.nonfinite for o in repacked.before)
    assert not any(o.differing for o in repacked.after)
    assert sum(o.outcome.value == "declined" for o in repacked.after) == 4  # rows not a multiple of four
    # The private helper was not fixed, and that shows.
    private = [
        j for j in evidence.judgements if j.helper == "vllm::ResidentWeight" and j.marker == "q8_0_aligned"
    ]
    assert {j.status for j in private} == {Status.FAILED}
    assert evidence.device["i8mm"] == "True"
    assert evidence.exit_code == 1


def test_emulator_without_i8mm_voids_the_run(options: Callable[..., VerifyOptions]) -> None:
    evidence = verify(options(target="i8mm", emulator_cpu="cortex-a57"), progress=lambda _: None)
    assert evidence.exit_code == 3
    assert "does not report i8mm" in evidence.judgements[0].reason


def test_missing_emulator_builds_and_says_not_run(
    options: Callable[..., VerifyOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    names = (
        "cmake",
        "make",
        "sh",
        "aarch64-linux-gnu-g++",
        "aarch64-linux-gnu-nm",
        "aarch64-linux-gnu-c++filt",
    )
    for name in (
        *names,
        "aarch64-linux-gnu-gcc",
        "aarch64-linux-gnu-ar",
        "aarch64-linux-gnu-ranlib",
        "uname",
    ):
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"needs {name}")
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    try:
        evidence = verify(options(target="i8mm"), progress=lambda _: None)
    except VerifyError as error:
        pytest.fail(error.message)
    assert evidence.exit_code == 3
    assert "qemu-aarch64 is not installed" in evidence.judgements[0].reason
