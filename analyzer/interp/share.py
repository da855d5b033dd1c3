"""Running part of a program in copies of this process. A result is kept under a key of all it depends on, so it does
not matter which process made it; functions that more than one of them needs are run more than once."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection

from analyzer import ir
from analyzer.memo import Memo
from analyzer.pool import end_with_parent
from analyzer.program import Head

_WORTH = 50_000
"""Bytes of C++ that take longer to run than a process to start."""

Work = Callable[[Sequence[ir.Sym]], None]


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
    started = []
    for part in parts:
        context = multiprocessing.get_context("fork")  # not everywhere, but see `ways`
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_help, args=(part, work, memo, theirs), daemon=True)
        process.start()
        theirs.close()
        started.append((process, ours))

    def join() -> None:
        for _, ours in started:
            with contextlib.suppress(EOFError, OSError):
                memo.adopt(ours.recv_bytes())

    try:
        yield join
    finally:
        for process, ours in started:
            ours.close()
            process.kill()
            process.join()


def _help(part: Sequence[ir.Sym], work: Work, memo: Memo, answer: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the run that is interrupted says so, not its copies
    end_with_parent()
    work(part)
    with contextlib.suppress(OSError):
        answer.send_bytes(memo.news())
