"""Functions run in copies of this process, each once. A result depends on what its key tells, so it does not matter
which process made it; whoever needs one that another is at waits for it. Nobody waits in a circle: functions that call
each other are one unit."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.context import ForkProcess

from analyzer.copies import end, start

MOST = 64
"""Processes, this one among them: with more, each waits more than it runs; the number of one has to fit in a byte."""
_PAUSE = 0.0005
"""Seconds between looks at what another process does."""
_PLACE = struct.Struct("=Q")


class Board:
    """Who runs what, and what came of it, for this process and its copies. `keys`: of what is to be run."""

    def __init__(self, keys: Sequence[bytes], copies: int) -> None:
        self._at = {key: at for at, key in enumerate(keys)}
        self._lock = os.memfd_create("vt-lint")  # a lock on a file ends with its holder
        self._takers = mmap.mmap(-1, len(keys) + 1)  # by key: the number of a process, from 1
        # By key: where the result is in the taker's file, from 1.
        self._places = mmap.mmap(-1, _PLACE.size * (len(keys) + 1))
        self._files = [os.memfd_create("vt-lint") for _ in range(copies + 1)]
        self._own = 1
        self._end = 0
        self._copies: list[ForkProcess] = []

    def take(self, key: bytes) -> bytes | None:
        """Return the result of another process, waiting for it; None if this one has to make it, now."""
        at = self._at.get(key)
        if at is None:
            return None
        while not (place := self._place(at)):
            fcntl.lockf(self._lock, fcntl.LOCK_EX)
            taker = self._takers[at]  # it may have given the result and ended by now
            free = not self._place(at) and (taker in (0, self._own) or self._is_dead(taker))
            if free:
                self._takers[at] = self._own
            fcntl.lockf(self._lock, fcntl.LOCK_UN)
            if free:
                return None
            time.sleep(_PAUSE)
        file = self._files[self._takers[at] - 1]
        (size,) = _PLACE.unpack(os.pread(file, _PLACE.size, place - 1))
        return os.pread(file, size, place - 1 + _PLACE.size)

    def give(self, key: bytes, result: bytes) -> None:
        """Let others have a result."""
        at = self._at.get(key)
        if at is not None:
            os.pwrite(self._files[self._own - 1], _PLACE.pack(len(result)) + result, self._end)
            _PLACE.pack_into(self._places, at * _PLACE.size, self._end + 1)
            self._end += _PLACE.size + len(result)

    def is_taken(self, key: bytes) -> bool:
        """Is another process at it?"""
        at = self._at.get(key)
        return at is not None and self._takers[at] not in (0, self._own) and not self._place(at)

    def _place(self, at: int) -> int:
        place: int = _PLACE.unpack_from(self._places, at * _PLACE.size)[0]
        return place

    def _is_dead(self, taker: int) -> bool:
        """Only the process that made the copies can tell; without it, they end."""
        return self._own == 1 and taker > 1 and not self._copies[taker - 2].is_alive()

    @contextlib.contextmanager
    def helped(self, work: Callable[[int], None]) -> Iterator[None]:
        """Do `work` in the copies too, which are given their number."""

        def run(copy: int) -> bytes:
            self._own = copy + 1
            work(copy)
            return b""

        started = [start(functools.partial(run, copy)) for copy in range(1, len(self._files))]
        self._copies = [process for process, _ in started]
        try:
            yield
        finally:
            for one in started:
                end(*one)
            for file in (self._lock, *self._files):
                os.close(file)
