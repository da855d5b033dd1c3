"""Work done in a copy of this process, while it does something else. The copy has everything this process has, and
nothing of what it makes but its answer comes back."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import TypeVar

from analyzer.pool import end_with_parent

Made = TypeVar("Made")


def ways(jobs: int | None) -> int:
    """Return how many processes to use: `jobs`, or one for each core; 1 where a process cannot be copied."""
    return (jobs or os.cpu_count() or 1) if sys.platform == "linux" else 1


@contextlib.contextmanager
def beside(
    work: Callable[[], Made], jobs: int | None, free: Callable[[], None] | None = None
) -> Iterator[Callable[[], Made]]:
    """Do `work` in a copy of this process, if there may be two; the function that this gives waits for what it
    returns. If the copy dies, or there is none, the work is done then. `free`: lets go here of what the copy has."""
    if ways(jobs) < 2:
        yield work
        return
    process, reply = start(lambda: pickle.dumps(work(), protocol=5))
    if free is not None:
        free()

    def join() -> Made:
        try:
            made: Made = pickle.loads(reply.recv_bytes())  # from a copy of this very process
        except (EOFError, OSError):
            return work()
        return made

    try:
        yield join
    finally:
        end(process, reply)


def start(work: Callable[[], bytes]) -> tuple[ForkProcess, Connection]:
    """Start a copy of this process that does `work` and sends what that returns."""
    context = multiprocessing.get_context("fork")  # not everywhere, but see `ways`
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_help, args=(work, theirs))
    process.start()
    theirs.close()
    return process, ours


def end(process: ForkProcess, answer: Connection) -> None:
    """End a copy, done or not."""
    answer.close()
    process.kill()
    process.join()


def _help(work: Callable[[], bytes], answer: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the run that is interrupted says so, not its copies
    end_with_parent()
    made = work()
    with contextlib.suppress(OSError):
        answer.send_bytes(made)
