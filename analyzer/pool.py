"""Worker processes for the parses of a run."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from analyzer import units
from analyzer.units import Job, Parsed

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what)."""

Made = TypeVar("Made")


def end_with_parent() -> None:
    """Make this worker end when the run is killed; it would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Group(msgspec.Struct, frozen=True):
    """Parses that share one precompiled header. `prefix`: its include lines. `key`: names it; the same for
    the same flags and header contents. `worth`: they are many enough to build it, if it is not there."""

    key: str
    prefix: tuple[str, ...]
    args: tuple[str, ...]
    jobs: tuple[Job, ...]
    worth: bool = True


class Pool:
    """Processes that may crash without losing the run, or the `executor` of someone else: a cluster."""

    def __init__(self, jobs: int, executor: Executor | None = None) -> None:
        self._jobs = jobs
        self._given = executor
        self._executor: Executor | None = None

    @property
    def local(self) -> bool:
        """Do the workers see this machine's files, precompiled headers among them?"""
        return self._given is None

    @property
    def executor(self) -> Executor:
        """The processes; started when first needed."""
        if self._given is not None:
            return self._given
        if self._executor is None:
            self._executor = self._start(self._jobs)
        return self._executor

    @staticmethod
    def _context() -> BaseContext:
        context = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        # Workers start with everything imported.
        context.set_forkserver_preload(["__main__", "analyzer.units"])
        return context

    def _start(self, jobs: int) -> Executor:
        # Not `max_tasks_per_child`: with it the executor of Python 3.11 to 3.14 can wait for ever
        # (python/cpython#115634). Workers give memory back after each unit instead.
        return ProcessPoolExecutor(jobs, self._context(), end_with_parent)

    def prepare(self) -> None:
        """Start the process that starts the workers: there will be work for them."""
        if self._given is None and sys.platform == "linux":
            from multiprocessing import forkserver

            self._context()
            forkserver.ensure_running()

    def map(self, work: Callable[[Sequence[str]], list[Made]], items: Sequence[str]) -> list[Made]:
        """Apply `work` to slices of `items`, here when there are few."""
        if len(items) <= 24:
            return work(items) if items else []
        slices = self._jobs * 4
        parts = [items[at::slices] for at in range(slices) if items[at::slices]]
        return [made for part in self.executor.map(work, parts) for made in part]

    def restart(self) -> None:
        """Replace all processes, after one has died."""
        self.close()

    def alone(self, job: Job) -> list[Parsed]:
        """Run `job` in a process of its own."""
        with self._start(1) as executor:
            try:
                return executor.submit(units.run, job).result()
            except BrokenProcessPool:
                return [units.failure(path, job, "clang crashed on this file") for path in job.wanted]

    def close(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


class Run:
    """Jobs and groups on a pool. `folder`: of precompiled headers; `kept`: the next run finds them there."""

    def __init__(self, pool: Pool, folder: Path, kept: bool, progress: Progress | None) -> None:
        self._pool = pool
        self._folder = folder
        self._kept = kept
        self._progress = progress
        self._results: list[Parsed] = []
        self._parsing: dict[Future[list[Parsed]], Job] = {}
        self._building: dict[Future[int], tuple[Path, Group]] = {}
        self._total = 0
        self._done = 0

    def add(self, jobs: Iterable[Job]) -> None:
        """Start `jobs`."""
        for job in jobs:
            self._total += 1
            self._parsing[self._pool.executor.submit(units.run, job)] = job

    def add_group(self, group: Group) -> None:
        """Start `group`: its jobs follow when the header is there."""
        if not self._pool.local:
            self.add(group.jobs)
            return
        target = self._folder / f"{group.key}.pch"
        if target.is_file():
            os.utime(target)  # the cache keeps what was used last
            self._add_with(target, group.jobs)
            return
        if not (group.worth or self._kept):  # to build one takes as long as one parse without
            self.add(group.jobs)
            return
        header = self._folder / f"{group.key}.h"
        _write(header, "".join(group.prefix).encode())
        self._total += len(group.jobs)
        future = self._pool.executor.submit(units.build_pch, str(header), group.args, str(target))
        self._building[future] = (target, group)

    def _add_with(self, pch: Path, jobs: Iterable[Job]) -> None:
        self.add(msgspec.structs.replace(job, pch=str(pch)) for job in jobs)

    def finish(self, meanwhile: Iterator[None] | None = None) -> list[Parsed]:
        """Wait for everything and return the results, in no particular order. `meanwhile`: steps of something else to
        do until then; those that are left are not done."""
        while self._parsing or self._building:
            waiting: list[Future[Any]] = [*self._parsing, *self._building]
            for _ in meanwhile or ():
                if any(future.done() for future in waiting):
                    break
            finished, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            try:
                for future in finished:
                    self._take(future)
            except BrokenProcessPool:
                self._recover()
        results, self._results = self._results, []
        return results

    def _take(self, future: Future[Any]) -> None:
        made = future.result()
        if future in self._building:
            target, group = self._building.pop(future)
            self._total -= len(group.jobs)
            if made == 0:
                self._add_with(target, group.jobs)
            else:
                self.add(group.jobs)
        else:
            job = self._parsing.pop(future)
            self._results += made
            self._tick(job)

    def _tick(self, job: Job) -> None:
        self._done += 1
        if self._progress:
            self._progress(self._done, self._total, job.main)

    def _recover(self) -> None:
        """A process died: parse what was under way one by one, each in a process of its own."""
        jobs = [*self._parsing.values(), *(job for _, group in self._building.values() for job in group.jobs)]
        self._parsing, self._building = {}, {}
        self._pool.restart()
        for job in jobs:
            self._results += self._pool.alone(job)
            self._tick(job)


def _write(path: Path, data: bytes) -> None:
    """Write a file that other runs may write at the same time: all of it or nothing."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    os.replace(temporary, path)
