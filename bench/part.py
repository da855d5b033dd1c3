"""A part of a tree: all of its files but some translation units, as hard links, and what a command on it costs."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from analyzer import config, tree
from analyzer.program import is_test_path

UNITS = (".cpp", ".cc", ".cxx")


class Cost(msgspec.Struct, frozen=True):
    """What a command took: seconds by the clock, and of all processors together with those of its children."""

    wall: float
    processor: float


class Ran(msgspec.Struct, frozen=True):
    """A command that has ended."""

    output: str
    errors: str
    cost: Cost


def files_of(root: Path) -> list[str]:
    """Return the C++ files of the tree's own, relative to `root`."""
    found = tree.list_files(root, config.load(root).exclude)
    return [file.path for file in found.files if not file.vendored]


def units_of(names: Sequence[str], count: int | None = None) -> list[str]:
    """Return `count` translation units evenly spread over those of `names` (None: all); tests and examples are none."""
    every = [name for name in names if name.endswith(UNITS) and not is_test_path(name)]
    wanted = len(every) if count is None else min(count, len(every))
    return [every[at * len(every) // wanted] for at in range(wanted)]


def link(source: Path, target: Path, names: Sequence[str], units: Sequence[str]) -> None:
    """Fill the new folder `target` with the tree `source`, without those translation units of `names` that are not in
    `units`, and without its repository."""
    gone = {name for name in names if name.endswith(UNITS)} - set(units)

    def ignore(folder: str, entries: list[str]) -> set[str]:
        inside = Path(folder).relative_to(source).as_posix()
        return {e for e in entries if e == ".git" or (e if inside == "." else f"{inside}/{e}") in gone}

    def copy(one: str, other: str) -> None:
        try:
            os.link(one, other)
        except OSError:  # another file system, or one without links
            shutil.copyfile(one, other)

    shutil.copytree(source, target, ignore=ignore, copy_function=copy, symlinks=True)


def run(command: Sequence[str], cwd: Path, environment: dict[str, str] | None = None) -> Ran:
    """Run `command` and tell its cost, that of every process it started included."""
    _adopt()
    before = processor_seconds()
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, check=False, text=True, errors="replace", env=environment
    )
    wall = time.perf_counter() - started
    with contextlib.suppress(ChildProcessError):
        while True:  # workers that outlived it
            os.wait()
    return Ran(done.stdout, done.stderr, Cost(wall, processor_seconds() - before))


def processor_seconds() -> float:
    """Return the processor time of all processes below this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _adopt() -> None:
    """Become the parent of processes whose own has ended (PR_SET_CHILD_SUBREAPER of prctl(2), Linux): the time of
    those that nobody waits for is lost."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def check(root: Path, jobs: int, cache: Path, *more: str) -> Ran:
    """Run `vt-lint check` on the tree at `root` with its cache below `cache`."""
    here = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(p for p in (here, os.environ.get("PYTHONPATH", "")) if p)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": path}
    command = [sys.executable, "-m", "vt_lint", "check", "--tree", str(root), "-j", str(jobs), *more]
    return run(command, root, environment)
