"""Results kept between runs: the same findings as without, after any edit, and nothing run that a file says."""

from __future__ import annotations

import hashlib
import pickle
import shutil
from pathlib import Path

import msgspec
import pytest

from analyzer import memo
from analyzer.memo import Memo
from rules.check import check
from rules.finding import Finding

TREE = Path(__file__).resolve().parents[2] / "samples" / "vt_tree"
SHARED = "include/vllm/models/resident_weight.h"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(TREE, tmp_path / "tree"))


def findings(tree: Path, *, cache: bool) -> tuple[Finding, ...]:
    return check(tree, cache=cache, jobs=1).findings


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_kept_results_give_the_same_findings_after_each_edit(tree: Path) -> None:
    assert findings(tree, cache=True) == findings(tree, cache=False)
    source = tree / SHARED
    original = source.read_text()
    name = "inline vt::Tensor ResidentWeight("
    for old, new in (
        (name, f"// a line that moves what follows\n{name}"),
        (name, f"inline bool Unused() {{ return true; }}\n{name}"),
    ):
        edit(source, old, new)
        assert findings(tree, cache=True) == findings(tree, cache=False)
    source.write_text(original)
    assert findings(tree, cache=True) == findings(tree, cache=False)


def test_an_edit_of_a_callee_reaches_its_callers(tree: Path) -> None:
    findings(tree, cache=True)
    edit(tree / "src/vt/tensor.cpp", "return t;", "t.repacked = true;\n  return t;")
    assert findings(tree, cache=True) == findings(tree, cache=False)


def test_only_what_an_edit_reaches_is_run_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    keep = Memo.keep

    def counted(self: Memo, key: bytes, result: memo.Result) -> None:
        made.append(key)
        keep(self, key, result)

    monkeypatch.setattr(Memo, "keep", counted)
    findings(tree, cache=True)
    everything = len(made)
    made.clear()
    with (tree / "src/vllm/models/harrier.cpp").open("a") as source:
        source.write("\nnamespace { bool Last() { return true; } }\n")
    findings(tree, cache=True)
    assert len(made) < everything / 4


class Trap:
    """What a poisoned cache would hold: reading it calls `touch`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path(self.path),)  # type: ignore[return-value]


def test_a_poisoned_file_runs_nothing_and_changes_nothing(tree: Path, tmp_path: Path) -> None:
    findings(tree, cache=True)
    path = tmp_path / "cache/vt-lint/summaries.memo"
    data = path.read_bytes()
    head = len(memo._MAGIC) + 32
    kept = msgspec.msgpack.decode(data[head:], type=memo._File)
    trap = pickle.dumps(Trap(str(tmp_path / "sprung")))
    kept.results = dict.fromkeys(kept.results, trap)
    payload = msgspec.msgpack.encode(kept)
    path.write_bytes(memo._MAGIC + hashlib.sha256(payload).digest() + payload)
    with (tree / "src/vllm/models/harrier.cpp").open("a") as source:
        source.write("\n")
    assert findings(tree, cache=True) == findings(tree, cache=False)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("damage", [b"", b"vt-lint summaries 1\n", b"nonsense"])
def test_a_damaged_file_is_as_good_as_none(tree: Path, tmp_path: Path, damage: bytes) -> None:
    findings(tree, cache=True)
    path = tmp_path / "cache/vt-lint/summaries.memo"
    path.write_bytes(damage)
    with (tree / "src/vllm/models/harrier.cpp").open("a") as source:
        source.write("\n")
    assert findings(tree, cache=True) == findings(tree, cache=False)
