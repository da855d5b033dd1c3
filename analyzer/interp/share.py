"""Work done in copies of this process, while it does something else. A function's result is kept under a key of all it
depends on, so it does not matter which process made it; functions that more than one of them needs are run more than
once."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import TypeVar

from analyzer import ir
from analyzer.memo import Memo
from analyzer.pool import end_with_parent
from analyzer.program import Head

_WORTH = 50_000
"""Bytes of C++ that take longer to run than a process to start."""

Work = Callable[[Sequence[ir.Sym]], None]
Made = TypeVar("Made")


def ways(jobs: int | None) -> int:
    """Return how many processes to use: `jobs`, or one for each core; 1 where a process cannot be copied."""
    return (jobs or os.cpu_count() or 1) if sys.platform == "linux" else 1


def size(head: Head) -> int:
    """How many bytes a function has."""
    return head.span.end - head.span.begin


def split(heads: Sequence[Head], parts: int, ahead: int) -> list[list[ir.Sym]]:
    """Deal functions out in `parts` of about the same size, the first less by `ahead` bytes; the functions of a file
    together, since they share callees."""
    sizes: dict[str, int] = {}
    for head in heads:
        sizes[head.path] = sizes.get(head.path, 0) + size(head)
    if sum(sizes.values()) < _WORTH:
        parts = 1
    filled = [ahead] + [0] * (parts - 1)
    part_of: dict[str, int] = {}
    for path in sorted(sizes, key=lambda path: (-sizes[path], path)):
        part = part_of[path] = filled.index(min(filled))
        filled[part] += sizes[path]
    dealt: list[list[ir.Sym]] = [[] for _ in range(parts)]
    for head in heads:
        dealt[part_of[head.path]].append(head.sym)
    return dealt


@contextlib.contextmanager
def helpers(parts: Sequence[Sequence[ir.Sym]], work: Work, memo: Memo) -> Iterator[Callable[[], None]]:
    """Do `work` on each of `parts` in a copy of this process; the function that this gives waits for them, and then
    `memo` has what they kept. One that dies is as good as none: its results are made where they are asked for."""

    def run(part: Sequence[ir.Sym]) -> bytes:
        work(part)
        return memo.news()

    started = [_start(functools.partial(run, part)) for part in parts]

    def join() -> None:
        for _, answer in started:
            with contextlib.suppress(EOFError, OSError):
                memo.adopt(answer.recv_bytes())

    try:
        yield join
    finally:
        for one in started:
            _end(*one)


@contextlib.contextmanager
def beside(work: Callable[[], Made], jobs: int | None) -> Iterator[Callable[[], Made]]:
    """Do `work` in a copy of this process, if there may be two; the function that this gives waits for what it
    returns. If the copy dies, or there is none, the work is done then."""
    if ways(jobs) < 2:
        yield work
        return
    process, answer = _start(lambda: pickle.dumps(work(), protocol=5))

    def join() -> Made:
        try:
            made: Made = pickle.loads(answer.recv_bytes())  # from a copy of this very process
        except (EOFError, OSError):
            return work()
        return made

    try:
        yield join
    finally:
        _end(process, answer)


def _start(work: Callable[[], bytes]) -> tuple[ForkProcess, Connection]:
    """Start a copy of this process that does `work` and sends what that returns."""
    context = multiprocessing.get_context("fork")  # not everywhere, but see `ways`
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_help, args=(work, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _end(process: ForkProcess, answer: Connection) -> None:
    answer.close()
    process.kill()
    process.join()


def _help(work: Callable[[], bytes], answer: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the run that is interrupted says so, not its copies
    end_with_parent()
    made = work()
    with contextlib.suppress(OSError):
        answer.send_bytes(made)
