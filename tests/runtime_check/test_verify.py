"""What a user sees of a check: what passes, what fails, what says that it was not run."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer import ir
from runtime_check import (
    Evidence,
    HelperUnderTest,
    VerifyError,
    VerifyOptions,
    read_evidence,
    render_html,
    render_json,
    render_markdown,
    render_text,
    verify,
)
from runtime_check.build import file_digest
from runtime_check.judge import judge, void_reason
from runtime_check.model import Case, Group, Observation, Outcome, Status
from runtime_check.target import read_lines

from .conftest import CARRIED, HELPER

pytestmark = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("cmake")), reason="needs g++ and CMake to build the tree"
)
Make = Callable[..., VerifyOptions]


def check(options: VerifyOptions) -> Evidence:
    return verify(options, progress=lambda _: None)


def refused(options: VerifyOptions) -> VerifyError:
    with pytest.raises(VerifyError) as caught:
        check(options)
    assert "\n" not in caught.value.message
    return caught.value


def only(evidence: Evidence) -> tuple[str, str]:
    (judgement,) = evidence.judgements
    return judgement.status.value, judgement.reason


def test_carried_marker_is_bit_identical_and_fault_reproduces_before(options: Make) -> None:
    evidence = check(options())
    assert evidence.exit_code == 0
    assert only(evidence)[0] == "passed"
    (judgement,) = evidence.judgements
    assert all(o.differing > 0 and o.error is not None and o.error > 0.1 for o in judgement.before)
    assert all(o.differing == 0 and o.error is not None and o.error < 1e-6 for o in judgement.after)
    assert {(o.case.rsplit("/", 1)[-1]) for o in judgement.after} >= {
        "m1-n64-k256",
        "m64-n64-k256",
        "m3-n33-k64",
    }
    assert evidence.exit_code == 0


def test_evidence_names_the_text_that_was_built(options: Make, tree: Path, tmp_path: Path) -> None:
    file = tmp_path / "evidence.json"
    file.write_text(render_json(check(options())))
    recorded = read_evidence(file)
    (proof,) = recorded.proofs
    assert (proof.path, proof.helper, proof.device) == ("include/helper.h", "mini::Resident", "cpu")
    assert proof.status is Status.PASSED
    assert set(recorded.before) == set(recorded.after) >= {"include/mini.h", "src/gemm.cpp", "CMakeLists.txt"}
    differing = {path for path, sha in recorded.before.items() if recorded.after[path] != sha}
    assert differing == {"include/helper.h"}
    assert recorded.before["include/helper.h"] == file_digest(tree / "include/helper.h")
    file.write_text(file.read_text().replace('"passed"', '"failed"'))
    with pytest.raises(VerifyError, match="was changed after it was written"):
        read_evidence(file)


def test_unfixed_tree_fails(options: Make) -> None:
    evidence = check(options(HELPER + "// unchanged\n"))
    assert evidence.exit_code == 1
    assert "differ from the plain weight" in only(evidence)[1]


def test_a_fix_that_was_not_written_for_it_is_unsafe_is_told_from_one_that_fails(options: Make) -> None:
    left = HelperUnderTest("mini::Resident", "include/helper.h", unfixed=frozenset({"swapped"}))
    other = HelperUnderTest("mini::Other", "include/helper.h", unfixed=frozenset({"swapped"}))
    evidence = check(options(HELPER + "// unchanged\n", helpers=(left, other)))
    assert evidence.exit_code == 1  # the fault is there
    status, reason = only(evidence)
    assert status == "not fixed"
    assert reason.startswith("the fix is unsafe and was not applied: ")
    assert "1 not fixed" in render_text(evidence)


def test_fault_that_does_not_reproduce_before_fails(options: Make, tree: Path) -> None:
    (tree / "include/helper.h").write_text(CARRIED)
    evidence = check(options(CARRIED + "// same\n"))
    assert evidence.exit_code == 1
    assert "before: the fault reproduced in only 0 of 10 cases" in only(evidence)[1]


def test_refusal_must_name_the_marker(options: Make, tree: Path) -> None:
    config = tree / ".vt-lint.toml"
    config.write_text(config.read_text().replace('cpu = "carried"', 'cpu = "refused"'))
    throw = '  if (w.swapped) throw std::runtime_error("{}");\n  View v{{'
    named = HELPER.replace("  View v{", throw.format("swapped: no kernel reads this layout"))
    assert check(options(named)).exit_code == 0
    unnamed = check(options(HELPER.replace("  View v{", throw.format("unswappedness is not supported"))))
    assert unnamed.exit_code == 1
    assert "does not name the marker" in only(unnamed)[1]


def test_what_the_product_refuses_by_itself_got_through_the_helper(options: Make, tree: Path) -> None:
    config = tree / ".vt-lint.toml"
    config.write_text(config.read_text().replace('cpu = "carried"', 'cpu = "refused"'))
    gemm = tree / "src/gemm.cpp"
    throw = '  if (b.swapped) throw std::runtime_error("no such layout");\n'
    gemm.write_text(gemm.read_text().replace("  const float* w =", throw + "  const float* w ="))
    (tree / "include/helper.h").write_text(CARRIED)
    refusing = HELPER.replace("  View v{", '  if (w.swapped) throw std::runtime_error("swapped");\n  View v{')
    evidence = check(options(refusing))
    assert evidence.exit_code == 0
    assert "fault reproduced in 10 of 10 cases" in only(evidence)[1]


def test_a_row_slice_is_probed_between_groups_and_inside_of_them(options: Make, tree: Path) -> None:
    config = tree / ".vt-lint.toml"
    text = config.read_text().replace('call = "mini::Resident(w)"', 'call = "mini::Resident(w, row0, rows)"')
    text = text.replace('cpu = "carried"', 'cpu = "whole groups"').replace(
        'kind = "f32"', 'kind = "f32"\nrow_group = 4\neligible = "n % 4 == 0"'
    )
    config.write_text(text.replace('faulty = { swapped = ["cpu"] }\n', ""))
    slice_ = """\
#pragma once
#include "mini.h"
namespace mini {
inline View Resident(const Weight& w, int64_t row0, int64_t rows) {
  if (w.swapped && (COND)) throw std::runtime_error("swapped: a group of its rows would be cut");
  return View{const_cast<uint8_t*>(w.bytes.data()) + row0 * w.k * 4, rows, w.k, w.swapped};
}
}
"""
    (tree / "include/helper.h").write_text(slice_.replace("COND", "false"))
    exact = check(options(slice_.replace("COND", "row0 % 4 || rows % 4")))
    assert only(exact)[0] == "passed"
    assert only(exact)[1].startswith(
        "bit-identical to the plain weight in 6 of 18 cases; refused by name in 12 of 18"
    )
    assert only(check(options(slice_.replace("COND", "true"))))[0] == "passed"
    for too_little in ("row0 % 4", "rows % 4"):
        status, reason = only(check(options(slice_.replace("COND", too_little))))
        assert status == "failed"
        assert "must be refused, but the outcome is 'ran'" in reason


def test_a_refusal_that_stood_there_has_words_of_its_own(options: Make, tree: Path) -> None:
    config = tree / ".vt-lint.toml"
    text = config.read_text().replace('cpu = "carried"', 'cpu = "refused"')
    config.write_text(text.replace('faulty = { swapped = ["cpu"] }\n', ""))
    throw = HELPER.replace(
        "  View v{", '  if (w.swapped) throw std::runtime_error("h.h:9: no kernel reads it");\n  View v{'
    )
    (tree / "include/helper.h").write_text(throw)
    kept = check(options(throw.replace("h.h:9:", "h.h:12:")))
    assert only(kept) == ("passed", "refused as before in 10 of 10 cases, no bytes uploaded")
    reworded = check(options(throw.replace("no kernel", "nobody")))
    assert "does not name the marker" in only(reworded)[1]


def test_only_what_a_patch_touches_is_recompiled(options: Make) -> None:
    check(options())
    evidence = check(options(CARRIED + "// another comment\n"))
    before, after = evidence.builds
    assert before.compiled == 0
    assert (after.compiled, after.reused) == (1, after.objects - 1)


def test_sources_nobody_needs_are_not_built(options: Make) -> None:
    evidence = check(options())
    assert evidence.builds[0].objects == 3  # the probe, the root, and the layout that the linker missed


def test_patch_and_revision_name_the_sides(options: Make, tree: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
            cwd=tree,
            check=True,
            capture_output=True,
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "faulty")
    (tree / "include/helper.h").write_text(CARRIED)
    diff = subprocess.run(["git", "diff"], cwd=tree, check=True, capture_output=True, text=True).stdout
    by_revision = check(options(after_files={}, before_rev="HEAD"))
    assert by_revision.exit_code == 0
    git("checkout", "-q", "include/helper.h")
    patch = tmp_path / "fix.patch"
    patch.write_text(diff)
    by_patch = check(options(after_files={}, patch=patch))
    assert by_patch.exit_code == 0
    assert len(by_patch.patch_sha256) == 64
    assert (tree / "include/helper.h").read_text() == HELPER.lstrip("\n")
    assert refused(options(after_files={}, before_rev="nonsense")).exit_code == 2
    patch.write_text(diff.replace("return v;", "return w;"))
    assert "does not apply" in refused(options(after_files={}, patch=patch)).message


def test_nothing_but_the_work_folder_is_written(options: Make, tree: Path) -> None:
    def listing() -> dict[str, float]:
        return {str(p): p.stat().st_mtime_ns for p in tree.rglob("*")}

    before = listing()
    check(options())
    assert listing() == before


def _facts(*functions: tuple[str, str]) -> tuple[ir.FileFacts, ...]:
    """Functions of one parameter in the helper's file, by name and its type."""
    span = ir.Span(0, 1, 1)
    made = tuple(
        ir.Function(
            name,
            name,
            "include/helper.h",
            span,
            (ir.Param("p", "p", type_),),
            "mini::View",
            ir.Block(span, ()),
        )
        for name, type_ in functions
    )
    return (ir.FileFacts("include/helper.h", "cpu", "", functions=made),)


def _helper(name: str) -> HelperUnderTest:
    claim = {"swapped": frozenset({"cpu"})}
    return HelperUnderTest(name, "include/helper.h", {"swapped": {"cpu": "carried"}}, claim)


def test_helpers_of_findings_are_called_by_their_signature(options: Make, tree: Path) -> None:
    config = tree / ".vt-lint.toml"
    config.write_text(config.read_text().replace('call = "mini::Resident(w)"\n', ""))
    evidence = check(
        options(
            helpers=(_helper("mini::(anonymous namespace)::Resident"), _helper("mini::Odd")),
            facts=_facts(("mini::Resident", "const mini::Weight &"), ("mini::Odd", "Queue *")),
        )
    )
    assert evidence.exit_code == 0
    assert only(evidence)[0] == "passed"
    assert evidence.not_probed == (
        "mini::Odd (include/helper.h): no argument known for parameter 'Queue * p'; give it in [verify.argument]",
    )


def test_a_call_that_does_not_compile_is_listed_and_the_others_run(options: Make) -> None:
    facts = _facts(("mini::Missing", "const mini::Weight &"))
    evidence = check(options(helpers=(_helper("mini::Missing"),), facts=facts))
    assert evidence.exit_code == 0
    assert only(evidence)[0] == "passed"
    (listed,) = evidence.not_probed
    assert "mini::Missing (include/helper.h): a call made from its signature does not compile" in listed


def test_a_call_that_shows_only_a_part_decides_nothing(options: Make, tree: Path) -> None:
    first_half = """namespace mini {
inline View Half(const Weight& w) {
  View v{const_cast<uint8_t*>(w.bytes.data()) + 4, w.n, w.k};
  v.swapped = w.swapped;
  return v;
}
}
"""
    (tree / "include/helper.h").write_text((HELPER + first_half).lstrip("\n"))
    facts = _facts(("mini::Half", "const mini::Weight &"))
    evidence = check(options(CARRIED + first_half, helpers=(_helper("mini::Half"),), facts=facts))
    assert evidence.exit_code == 3
    half = next(j for j in evidence.judgements if j.helper == "mini::Half")
    assert half.status is Status.NOT_RUN
    assert "the call does not show the whole weight" in half.reason


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('weight = "mini::Weight"\n', "", "'weight' is missing"),
        ("[verify]", "[verify]\nfoo = 1", "unknown key 'foo'"),
        ('kind = "f32"', 'kind = "q4"', "kind 'q4' is not declared"),
        (
            'roots = ["src/gemm.cpp"]\n[verify.target.i8mm]',
            'roots = ["src/no.cpp"]\n[verify.target.i8mm]',
            "src/no.cpp",
        ),
        ("[verify]", "[verify", "not valid TOML"),
        ('cpu = "carried"', 'cpu = "kept"', "'carried', 'refused' or 'whole groups'"),
    ],
)
def test_wrong_profile_is_one_line_and_exit_2(
    options: Make, tree: Path, old: str, new: str, text: str
) -> None:
    config = tree / ".vt-lint.toml"
    config.write_text(config.read_text().replace(old, new, 1))
    error = refused(options())
    assert error.exit_code == 2
    assert text in error.message


def test_compile_error_shows_the_compilers_own_first_line(options: Make) -> None:
    error = refused(options(HELPER.replace("return v;", "return nothing;")))
    assert error.exit_code == 1
    assert re.search(r"after: does not compile: include/helper\.h:\d+:\d+: error: .nothing.", error.message)


def test_probe_that_hangs_is_stopped_and_named(options: Make) -> None:
    evidence = check(
        options(
            HELPER.replace("  return v;", "  for (volatile bool on = true; on;) {}\n  return v;"),
            run_timeout_s=2.0,
        )
    )
    assert evidence.exit_code == 1
    assert "timed-out: no answer in 2 s" in only(evidence)[1]


def test_probe_that_crashes_is_named(options: Make) -> None:
    evidence = check(
        options(HELPER.replace("  return v;", "  if (w.swapped) __builtin_trap();\n  return v;"))
    )
    assert evidence.exit_code == 1
    assert re.search(r"Resident/swapped/host/m1-n64-k256: crashed: SIG(ILL|TRAP)", only(evidence)[1])


def test_out_of_memory_is_not_run(options: Make) -> None:
    text = '  if (w.swapped) throw std::runtime_error("cudaMalloc: out of memory");\n  return v;'
    evidence = check(options(HELPER.replace("  return v;", text)))
    assert evidence.exit_code == 3
    assert only(evidence)[0] == "not run"
    assert "out of memory" in only(evidence)[1]


def test_interrupted_build_resumes(options: Make, tmp_path: Path) -> None:
    fresh = options(work=tmp_path / "fresh", jobs=1)

    def interrupt(line: str) -> None:
        if re.fullmatch(r"before: 1/\d+ objects", line):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(fresh, progress=interrupt)
    before = check(fresh).builds[0]
    assert before.reused >= 1
    assert before.compiled < before.objects


def fake(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def linked(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).symlink_to(str(shutil.which(name)))


def test_full_disk_seen_by_the_compiler(
    options: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'case "$*" in *gemm.cpp*) echo "fatal error: x.o: No space left on device"; exit 1;; esac'
    fake(tmp_path / "bin", "full-g++", f'{script}\nexec {shutil.which("g++")} "$@"')
    monkeypatch.setenv("CXX", str(tmp_path / "bin/full-g++"))
    error = refused(options(work=tmp_path / "fresh"))
    assert error.exit_code == 3
    assert "no space left" in error.message


def test_full_disk_seen_by_us(options: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    made = options(work=tmp_path / "fresh")
    monkeypatch.setattr(Path, "write_bytes", full)
    error = refused(made)
    assert error.exit_code == 3
    assert "no space left" in error.message


def test_missing_cross_compiler(options: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(tmp_path / "bin", "cmake")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    error = refused(options(target="i8mm"))
    assert error.exit_code == 3
    assert "g++ is not installed" in error.message
    assert "apt-get install" in error.message


@pytest.mark.parametrize(
    ("release", "text"), [("11.0", "is CUDA 11.0; this tree needs 12.0"), ("", "did not report")]
)
def test_old_or_broken_nvcc(
    options: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, text: str
) -> None:
    fake(tmp_path / "bin", "nvcc", f'echo "Cuda compilation tools, release {release}, V"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    error = refused(options(target="cuda"))
    assert error.exit_code == 3
    assert text in error.message


def test_missing_nvcc(options: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(tmp_path / "bin", "cmake", "g++", "nm")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "nowhere"))
    error = refused(options(target="cuda"))
    assert error.exit_code == 3
    assert "nvcc is not installed" in error.message


# bundles


@pytest.fixture
def bundle(options: Make, tmp_path: Path) -> tuple[VerifyOptions, Path]:
    made = options(bundle=tmp_path / "bundle")
    evidence = check(made)
    assert evidence.exit_code == 0
    assert evidence.judgements == ()
    return made, tmp_path / "bundle"


def run_bundle(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "run.sh"], cwd=folder, capture_output=True, text=True, check=False)


def test_bundle_runs_elsewhere_and_is_judged_here(bundle: tuple[VerifyOptions, Path], tmp_path: Path) -> None:
    made, folder = bundle
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere")
    assert run_bundle(elsewhere).returncode == 0
    evidence = check(replace(made, bundle=None, collect=elsewhere / "results.txt"))
    assert evidence.exit_code == 0
    assert only(evidence)[0] == "passed"
    assert evidence.bundle_id


def test_tampered_program_does_not_run(bundle: tuple[VerifyOptions, Path]) -> None:
    _, folder = bundle
    program = next((folder / "bin").iterdir())
    program.write_bytes(program.read_bytes() + b"\0")
    done = run_bundle(folder)
    assert done.returncode == 3
    assert done.stderr == f"run.sh: bin/{program.name} does not match the manifest; copy the bundle again\n"


def test_results_of_another_bundle_tree_or_program_are_refused(
    bundle: tuple[VerifyOptions, Path], tree: Path
) -> None:
    made, folder = bundle
    run_bundle(folder)
    results = folder / "results.txt"
    collect = replace(made, bundle=None, collect=results)
    good = results.read_text()
    results.write_text(re.sub(r'"bundle": "\w+"', '"bundle": "0123abcd"', good))
    assert "another bundle" in refused(collect).message
    results.write_text(re.sub(r'"sha256": "\w', '"sha256": "g', good))
    assert "is not the one in the manifest" in refused(collect).message
    results.write_text("hello\n")
    assert refused(collect).exit_code == 2
    results.write_text(good)
    (tree / "src/gemm.cpp").write_text("// changed\n" + (tree / "src/gemm.cpp").read_text())
    error = refused(collect)
    assert (error.exit_code, "another tree: src/gemm.cpp" in error.message) == (3, True)


def test_results_cut_short_are_not_run(bundle: tuple[VerifyOptions, Path]) -> None:
    made, folder = bundle
    run_bundle(folder)
    results = folder / "results.txt"
    results.write_text("\n".join(results.read_text().splitlines()[:8]) + "\n")
    assert check(replace(made, bundle=None, collect=results)).exit_code == 3


# reports


def test_reports_agree_and_name_no_folder_of_this_machine(options: Make, tree: Path, work: Path) -> None:
    evidence = check(options())
    data = json.loads(render_json(evidence))
    assert data["version"] == 1
    assert data["judgements"][0]["status"] == "passed"
    texts = [render_text(evidence), render_json(evidence), render_markdown(evidence), render_html(evidence)]
    for text in texts:
        assert "mini::Resident" in text
        assert str(tree.parent) not in text
        assert str(work) not in text
    page = texts[3]
    assert "<svg" in page
    assert not re.search(r"(?:src|href)=|https?://", page)


# devices


def group() -> Group:
    case = Case("h/m/cuda/m1-n64-k256", 1, 64, 256, 1, False)
    return Group(0, "h.h", "h", "m", "cuda", "cuda", "carried", True, True, False, (case,))


def test_no_device_is_not_run() -> None:
    out = '{"environment": {"arch": "x86_64", "no_device": "no CUDA-capable device is detected"}}\n'
    result = read_lines(group(), out, "", 0, "")
    judgement = judge(group(), "q8_0", result.observations, result.observations)
    assert judgement.status is Status.NOT_RUN
    assert "no CUDA-capable device is detected" in judgement.reason


def test_silence_is_never_a_pass() -> None:
    result = read_lines(group(), "", "", 0, "")
    assert judge(group(), "q8_0", None, result.observations).status is Status.NOT_RUN
    assert void_reason("cuda", result)


@pytest.mark.parametrize("field", ["nonfinite", "differing"])
def test_one_wrong_output_fails(field: str) -> None:
    good = Observation(group().cases[0].id, Outcome.RAN, total=64, error=0.005)
    bad = replace(good, **{field: 1})
    assert judge(group(), "q8_0", [bad], [good]).status is (
        Status.PASSED if field == "differing" else Status.FAILED
    )
    assert judge(group(), "q8_0", [replace(good, differing=9)], [bad]).status is Status.FAILED
    assert (
        judge(group(), "q8_0", [replace(good, differing=9)], [replace(good, error=0.03)]).status
        is Status.FAILED
    )
