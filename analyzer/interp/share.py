"""Functions run in copies of this process. A function's result is kept under a key of all it depends on, so it does
not matter which process made it; functions that more than one of them needs are run more than once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence

from analyzer import ir
from analyzer.copies import end, start
from analyzer.memo import Memo
from analyzer.program import Head

_WORTH = 50_000
"""Bytes of C++ that take longer to run than a process to start."""

Work = Callable[[Sequence[ir.Sym]], None]


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

    started = [start(functools.partial(run, part)) for part in parts]

    def join() -> None:
        for _, answer in started:
            with contextlib.suppress(EOFError, OSError):
                memo.adopt(answer.recv_bytes())

    try:
        yield join
    finally:
        for one in started:
            end(*one)
