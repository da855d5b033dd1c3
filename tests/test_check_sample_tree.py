"""`vt-lint check` on the sample tree: what its README says is wrong, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rules.check
from analyzer import copies

ROOT = Path(__file__).resolve().parents[1]
TREE = ROOT / "samples" / "vt_tree"
RULES = frozenset({"VT001", "VT002", "VT003", "VT004", "VT005", "VT006"})

SHARED = ("include/vllm/models/resident_weight.h", "vllm::dense_attn::ResidentWeight")
RESHAPE = ("include/vllm/models/device_glue.h", "vllm::dense_attn::Reshape")
VIEW = ("src/vllm/weights.cpp", "vllm::OwnedTensor::View")
PRIVATE = ("src/vllm/models/osprey.cpp", "vllm::(anonymous)::ResidentWeight")
STAGED = ("src/vllm/models/basalt.cpp", "vllm::(anonymous)::StageRows")
ROWS = ("src/vllm/models/tern.cpp", "vllm::(anonymous)::ExpertRows")
FORWARD = ("src/vllm/models/tern.cpp", "vllm::TernForward")
FP4 = ("src/vllm/models/tern.cpp", "vllm::Nvfp4ToFloats")
BAND = ("src/vllm/models/tern.cpp", "vllm::(anonymous)::ExpertBand")

MATTERS = {
    ("VT001", *SHARED, "repacked", "LIVE"),
    ("VT001", *SHARED, "elem_kn_repacked", "GATED"),
    ("VT003", *STAGED, "repacked", "LIVE"),
    ("VT003", *STAGED, "q8_0_aligned", "GATED"),
    ("VT003", *ROWS, "repacked", "LIVE"),
    ("VT006", *SHARED, "repacked", "LIVE"),
    ("VT006", *SHARED, "elem_kn_repacked", "GATED"),
}
NOTES = {
    ("VT001", *SHARED, "q8_0_aligned", "DEAD"),
    ("VT001", *RESHAPE, "repacked", "DEAD"),
    ("VT001", *RESHAPE, "q8_0_aligned", "DEAD"),
    ("VT001", *RESHAPE, "elem_kn_repacked", "DEAD"),
    ("VT001", *VIEW, "elem_kn_repacked", "DEAD"),
    ("VT001", *FORWARD, "elem_kn_repacked", "DEAD"),
    ("VT001", *PRIVATE, "q8_0_aligned", "DEAD"),
    ("VT003", *ROWS, "q8_0_aligned", "DEAD"),
    ("VT001", *BAND, "repacked", "LOUD"),
    ("VT001", *BAND, "q8_0_aligned", "LOUD"),
    ("VT001", *BAND, "elem_kn_repacked", "DEAD"),
    ("VT001", *FP4, "repacked", "DEAD"),
    ("VT001", *FP4, "q8_0_aligned", "DEAD"),
    ("VT001", *FP4, "elem_kn_repacked", "DEAD"),
}


def check(cache: Path, *options: str, tree: Path = TREE) -> bytes:
    """The JSON of a check of the sample tree, or a copy of it, with its facts kept in `cache`."""
    done = subprocess.run(
        [sys.executable, "-m", "vt_lint", "check", "--tree", str(tree), "--format", "json", *options],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def cold(cache: Path) -> bytes:
    return check(cache, "-j", "2")


@pytest.fixture(scope="module")
def found(cold: bytes) -> set[tuple[Any, ...]]:
    return {
        (f["severity"] == "note", f["rule"], f["path"], f["function"], f["marker"], f["verdict"])
        for f in json.loads(cold)["findings"]
        if f["rule"] in RULES
    }


def test_every_loss_that_matters_is_found_and_nothing_else(found: set[tuple[Any, ...]]) -> None:
    assert {tuple(row) for latent, *row in found if not latent} == MATTERS


def test_every_latent_loss_is_a_note_and_nothing_else(found: set[tuple[Any, ...]]) -> None:
    assert {tuple(row) for latent, *row in found if latent} == NOTES


def test_all_of_the_tree_was_analysed(cold: bytes) -> None:
    coverage = json.loads(cold)["coverage"]
    assert coverage["unanalysed"] == []
    assert coverage["analysed"] == coverage["candidates"] > 40


def test_neither_the_cache_nor_the_number_of_workers_changes_a_byte(cache: Path, cold: bytes) -> None:
    assert check(cache, "-j", "1") == cold  # facts from the cache
    assert check(cache, "-j", "1", "--no-cache") == cold


def test_where_nothing_has_changed_no_facts_are_read(cache: Path, cold: bytes, tmp_path: Path) -> None:
    kept = Path(shutil.copytree(cache, tmp_path / "cache"))
    (facts,) = kept.glob("vt-lint/*.facts")
    facts.write_bytes(b"")
    assert check(kept) == cold
    assert facts.read_bytes() == b""  # and none were made


def test_what_a_process_that_dies_was_at_is_done_by_who_needs_it(
    cache: Path,
    cold: bytes,  # noqa: ARG001 (fills the cache)
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Path(shutil.copytree(cache, tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    whole = rules.check.check(TREE)
    for each in (*kept.glob("vt-lint/reports/*"), *kept.glob("vt-lint/*.memo")):
        each.unlink()
    parent = os.getpid()

    def die(*_: object) -> None:
        assert os.getpid() != parent
        os._exit(1)

    monkeypatch.setattr(copies, "_help", die)
    again = rules.check.check(TREE, jobs=2)
    assert "rules" in again.seconds
    assert again.findings == whole.findings


def phases(tree: Path, cache: Path) -> set[str]:
    """What the time of a check is spent on."""
    command = [sys.executable, "-m", "vt_lint", "check", "--tree", str(tree), "--stats"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return {line.split()[0] for line in done.stderr.splitlines()}


def lines(report: bytes, path: str) -> set[int]:
    """The lines of `path` that have findings."""
    return {each["line"] for each in json.loads(report)["findings"] if each["path"] == path}


def test_only_what_has_a_say_is_judged_anew(cache: Path, cold: bytes, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    check(cache, tree=tree)
    (tree / "src" / "clock.cpp").write_text("long seconds(long ms) { return ms / 1000; }\n")
    assert "rules" not in phases(tree, cache)
    weights = tree / VIEW[0]
    weights.write_text(f"static const int kMore = 1;\n{weights.read_text()}")
    assert "rules" in phases(tree, cache)
    assert "rules" not in phases(tree, cache)
    assert lines(check(cache, tree=tree), VIEW[0]) == {line + 1 for line in lines(cold, VIEW[0])}
    weights.write_text(f"static const int kLess = 1;\n{weights.read_text()}")
    assert check(cache, "-j", "2", tree=tree) == check(cache, "-j", "1", "--no-cache", tree=tree)


def test_after_an_edit_of_layout_the_same_is_told_of_other_places(
    cache: Path, cold: bytes, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    check(cache, tree=tree)
    producer = "src/vllm/gguf_loader.cpp"  # named in the reasons of findings elsewhere
    for path in {SHARED[0], RESHAPE[0], VIEW[0], STAGED[0], ROWS[0], producer}:
        laid_out: list[str] = []
        for number, line in enumerate((tree / path).read_text().splitlines()):
            laid_out += ["", "  /* more", "     room */"] if number % 3 == 0 else []
            laid_out.append(f"  {line} " if number % 2 else line)
        (tree / path).write_text("\n".join(laid_out) + "  // the end\n")
    assert "rules" not in phases(tree, cache)
    moved = check(cache, tree=tree)
    assert lines(moved, SHARED[0]).isdisjoint(lines(cold, SHARED[0]))
    assert moved == check(cache, "--no-cache", tree=tree)


def test_a_comment_that_may_quiet_a_finding_is_more_than_layout(
    cache: Path,
    cold: bytes,  # noqa: ARG001 (fills the cache)
    tmp_path: Path,
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    check(cache, tree=tree)
    weights = tree / VIEW[0]
    weights.write_text(f"{weights.read_text()}\n// vt-lint: allow VT001 -- nothing is here\n")
    assert "rules" in phases(tree, cache)


PLUGIN = """#include "vllm/models/resident_weight.h"
#include "vllm/gguf_loader.h"

namespace vllm {
using Projection = std::vector<float> (*)(dense_attn::Dev, const OwnedTensor&);
Projection FromPlugin(const char* name);  // of a library that is loaded when it is asked for
void Offer(const char* name, Projection f);

std::vector<float> Own(dense_attn::Dev d, const OwnedTensor& w) {
  const vt::Tensor t = dense_attn::MakeTensor(const_cast<uint8_t*>(w.bytes.data()), w.dtype, d.q.device,
                                              {w.shape[0], w.shape[1]});
  return {t.Ptr<const float>()[0]};
}
void OfferOwn() { Offer("kestrel", &Own); }

std::vector<float> KestrelForward(dense_attn::Dev d, const GgufFile& file, const LoadPolicy& policy) {
  const OwnedTensor w = LoadMatmulWeight(file, policy, "projection", 8, 64);
  return FromPlugin("kestrel")(d, w);
}
}  // namespace vllm
"""


def test_where_a_weight_goes_through_what_cannot_be_followed_it_is_unknown_and_says_where(
    tmp_path: Path, cache: Path
) -> None:
    """The fifth verdict: a model whose projection another library chooses."""
    tree = tmp_path / "vt_tree"
    shutil.copytree(TREE, tree)
    (tree / "src" / "vllm" / "models" / "kestrel.cpp").write_text(PLUGIN, encoding="utf-8")
    found = [f for f in json.loads(check(cache, tree=tree))["findings"] if f["function"] == "vllm::Own"]
    assert {(f["marker"], f["verdict"], f["severity"]) for f in found} == {
        ("repacked", "UNKNOWN", "warning"),
        ("elem_kn_repacked", "UNKNOWN", "warning"),
        ("q8_0_aligned", "DEAD", "note"),
    }
    assert all("kestrel.cpp:18" in f["reason"] for f in found if f["verdict"] == "UNKNOWN")
