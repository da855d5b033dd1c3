"""Results kept between runs: the same facts as without, after any edit, and nothing run that a file says."""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import time
from pathlib import Path

import msgspec
import pytest

from analyzer import copies, memo
from analyzer.interp import driver, interpret, running
from analyzer.interp.share import Board
from analyzer.memo import Memo
from analyzer.program import Reader, link
from analyzer.summary import Facts
from rules.markers import MARKERS
from tests.flow.trees import facts, with_edit

HELPER = """
#pragma once
namespace vllm {
inline vt::Tensor Make(const u8* p) { vt::Tensor t; t.data = const_cast<u8*>(p); return t; }
inline vt::Tensor Resident(const OwnedTensor& w) {
  vt::Tensor t = Make(w.bytes.data());
  t.repacked = w.repacked;
  return t;
}
}
"""
MODEL = """
#include "helper.h"
namespace vllm {
vt::Tensor Forward(const OwnedTensor& w) { return Resident(w); }
bool Plain(const OwnedTensor& w) { return !w.repacked && !w.q8_0_aligned; }
}
"""
OTHER = """
namespace vllm {
int Unrelated(const OwnedTensor& w) { return w.rank; }
}
"""
FILES = {"helper.h": HELPER, "model.cpp": MODEL, "other.cpp": OTHER}
EDITS = {
    "nothing": ("", "", ""),
    "a line that moves what follows": ("helper.h", "namespace vllm {", "\nnamespace vllm {"),
    "a marker is lost": ("helper.h", "  t.repacked = w.repacked;\n", ""),
    "a callee sets a marker": ("helper.h", "return t; }", "t.q8_0_aligned = true; return t; }"),
    "a caller refuses": ("model.cpp", "return Resident(w);", "if (w.q8_0_aligned) throw 1; return Resident(w);"),
    "the only caller is gone": ("model.cpp", "return Resident(w);", "return {};"),
    "a new function": ("other.cpp", "int Un", "bool More(const OwnedTensor& w) { return w.repacked; }\nint Un"),
}  # fmt: skip


def edited(edit: str) -> dict[str, str]:
    return with_edit(FILES, EDITS[edit])


def run(files: dict[str, str], kept: Memo | None = None) -> Facts:
    """Interpret a tree, with results from earlier runs if there are some."""
    found = interpret(link(facts(files), tuple(m.name for m in MARKERS)), MARKERS, kept)
    if kept is not None:
        kept.save()
    return found


@pytest.mark.parametrize("edit", EDITS)
def test_kept_results_change_no_fact(edit: str, tmp_path: Path) -> None:
    path = tmp_path / "memo"
    run(FILES, Memo(path))
    assert run(edited(edit), Memo(path)) == run(edited(edit))
    assert run(FILES, Memo(path)) == run(FILES)


@pytest.mark.parametrize("steps", [1, 99])
def test_reading_ahead_changes_no_fact(steps: int, tmp_path: Path) -> None:
    path = tmp_path / "memo"
    run(FILES, Memo(path))
    ahead = Memo(path)
    read = len(list(itertools.islice(ahead.read_ahead(Reader()), steps)))
    assert read == min(steps, len(list(Memo(path).read_ahead(Reader()))))
    assert run(edited("a caller refuses"), ahead) == run(edited("a caller refuses"))


@pytest.mark.parametrize(
    ("edit", "again"),
    [("nothing", 0), ("a new function", 2), ("a caller refuses", 2), ("a marker is lost", 2)],
)
def test_only_what_an_edit_reaches_is_run_again(
    edit: str, again: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(FILES, Memo(tmp_path / "memo"))
    made: list[bytes] = []
    monkeypatch.setattr(Memo, "keep", lambda _, key, __: made.append(key))
    run(edited(edit), Memo(tmp_path / "memo"))
    assert len(made) == again  # the function itself, what is below it in the file, and its callers


@pytest.mark.parametrize("dies", [False, True])
def test_helping_processes_change_no_fact(dies: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_WORTH", 0)
    parent, serve = os.getpid(), copies._help
    if dies:
        monkeypatch.setattr(copies, "_help", lambda *a: os._exit(1) if os.getpid() != parent else serve(*a))
    with running(link(facts(FILES), tuple(m.name for m in MARKERS)), MARKERS, jobs=3) as interpreter:
        assert interpreter.board is not None
        assert interpreter.run() == run(FILES)


def test_a_machine_of_many_cores_changes_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_WORTH", 0)
    with running(link(facts(FILES), tuple(m.name for m in MARKERS)), MARKERS, jobs=300) as interpreter:
        assert interpreter.board is not None
        assert interpreter.run() == run(FILES)


KEYS = [b"%d" % n for n in range(40)]


def result(key: bytes) -> bytes:
    return key * 3 + b"%d" % os.getpid()


def test_each_process_makes_what_no_other_does_and_has_it_all() -> None:
    board = Board(KEYS, 2)

    def work(_: int) -> dict[bytes, bytes]:
        has = {}
        for key in KEYS:
            known = board.take(key)
            if known is None:
                time.sleep(0.001)  # others come by
                known = result(key)
                board.give(key, known)
            has[key] = known
        return has

    def help_out(number: int) -> None:
        work(number)

    with board.helped(help_out):
        while not any(map(board.is_taken, KEYS)):
            pass
        found = work(0)
    makers = {data.removeprefix(key * 3) for key, data in found.items()}
    assert all(data.startswith(key * 3) for key, data in found.items())
    assert makers - {b"%d" % os.getpid()}, "nobody helped"


def test_what_a_dead_process_had_taken_is_made_by_who_needs_it() -> None:
    board = Board(KEYS, 1)

    def die(_: int) -> None:
        assert board.take(KEYS[7]) is None
        os._exit(1)

    with board.helped(die):
        while not board.is_taken(KEYS[7]):
            time.sleep(0.001)
        assert board.take(KEYS[7]) is None


def test_what_a_process_gives_before_it_ends_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board(KEYS, 1)
    with board.helped(lambda _: board.give(KEYS[7], b"made") if board.take(KEYS[7]) is None else None):
        board._copies[0].join()
        looks = iter([0])  # the first look came before
        place = Board._place
        monkeypatch.setattr(Board, "_place", lambda self, at: next(looks, place(self, at)))
        assert board.take(KEYS[7]) == b"made"


class Trap:
    """What a poisoned file would hold: reading it as any pickle would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


def test_a_poisoned_file_runs_nothing_and_changes_nothing(tmp_path: Path) -> None:
    path, sprung = tmp_path / "memo", tmp_path / "sprung"
    run(FILES, Memo(path))
    head = len(memo._MAGIC) + 32
    kept = msgspec.msgpack.decode(path.read_bytes()[head:], type=memo._File)
    trap = pickle.dumps(Trap(sprung))
    kept.results = dict.fromkeys(kept.results, trap)
    payload = msgspec.msgpack.encode(kept)
    path.write_bytes(memo._MAGIC + hashlib.sha256(payload).digest() + payload)
    assert run(FILES, Memo(path)) == run(FILES)
    assert not sprung.exists()
    pickle.loads(trap)
    assert sprung.exists(), "the trap is none"


@pytest.mark.parametrize("damage", [b"", b"vt-lint summaries 1\n", b"nonsense"])
def test_a_damaged_file_is_as_good_as_none(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memo"
    run(FILES, Memo(path))
    path.write_bytes(damage or path.read_bytes()[:-1])
    assert run(FILES, Memo(path)) == run(FILES)
