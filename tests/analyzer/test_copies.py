"""Work that another process may do comes to the same as doing it here, whatever becomes of that process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analyzer.copies import beside


@pytest.mark.parametrize("jobs", [1, 2, None])
def test_the_answer_is_that_of_the_work(jobs: int | None) -> None:
    known = {"a": 1}
    with beside(lambda: {**known, "b": 2}, jobs) as join:
        known["a"] = 3 if jobs == 1 else 1  # a copy has what was there when it started
        assert join() == {**known, "b": 2}


def test_work_of_a_copy_that_dies_is_done_here() -> None:
    parent = os.getpid()

    def work() -> int:
        if os.getpid() != parent:
            os._exit(9)
        return os.getpid()

    with beside(work, 2) as join:
        assert join() == parent


def test_a_copy_can_make_copies() -> None:
    def outer() -> int:
        with beside(lambda: 20, 2) as join:
            return join() + 1

    with beside(outer, 2) as join:
        assert join() == 21


def test_a_failure_is_told_here() -> None:
    def work() -> None:
        raise LookupError("nothing here")

    with pytest.raises(LookupError, match="nothing here"), beside(work, 2) as join:
        join()


def test_work_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    def work() -> None:
        (tmp_path / "pid").write_text(str(os.getpid()))
        os.read(os.pipe()[0], 1)  # for ever

    with beside(work, 2):
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            pass
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
