"""From a tree to facts: choose the files worth parsing, parse them in worker processes, keep what was learnt."""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import msgspec

from analyzer import flags as flag_module
from analyzer import ir, profiles as profile_module, scan as scan_module, stubs, toolchain, units
from analyzer import tree as tree_module
from analyzer.candidates import Candidate, candidates
from analyzer.config import Config, SetupError
from analyzer.flags import Flags, FlagTable
from analyzer.profiles import Profile
from analyzer.scan import Scan
from analyzer.tree import SourceFile, Tree
from analyzer.units import Job, Parsed

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what)."""

_UMBRELLA = "vt-lint-headers.cpp"
_PCH_MIN_USERS = 6
_PCH_SHARE = 0.04


def carriers(scans: Mapping[str, Scan], markers: frozenset[str]) -> frozenset[str]:
    """Return the names of the records that have one of `markers` as a member."""
    return frozenset(
        record.name for found in scans.values() for record in found.records if not markers.isdisjoint(record.members)
    )


def holders(scans: Mapping[str, Scan], seed: frozenset[str]) -> frozenset[str]:
    """Return `seed` and the names of the records that have a member of such a type, at any depth."""
    records = [record for found in scans.values() for record in found.records]
    found = set(seed)
    while True:
        more = {record.name for record in records if record.name not in found and not found.isdisjoint(record.types)}
        if not more:
            return frozenset(found)
        found |= more


class _Text(msgspec.Struct, frozen=True, array_like=True):
    """What reading one file gave."""

    path: str
    sha: str
    scan: Scan


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _scan_files(root: str, paths: Sequence[str]) -> list[_Text]:
    texts = []
    for path in paths:
        try:
            data = _read(f"{root}/{path}")
        except OSError as error:
            texts.append(_Text(path, "", Scan(bad=f"cannot read: {error.strerror}")))
            continue
        texts.append(_Text(path, hashlib.sha256(data).hexdigest(), scan_module.scan(data)))
    return texts


def _find_candidates(root: str, paths: Sequence[str], words: frozenset[str]) -> list[tuple[str, bool, list[Candidate]]]:
    encoded = frozenset(word.encode() for word in words)
    found = []
    for path in paths:
        data = _read(f"{root}/{path}")
        mentions = not encoded.isdisjoint(scan_module.identifiers(data))
        found.append((path, mentions, candidates(data, encoded) if mentions else []))
    return found


class Unanalysed(msgspec.Struct, frozen=True, array_like=True):
    """A candidate, or a file (`line` 0), that no parse covered."""

    path: str
    line: int
    reason: str


class Collected(msgspec.Struct, frozen=True):
    """The facts of a tree. `parsed`: one item for each parse of each file, facts still encoded. `files`: C++ files
    looked at. `candidates`, `unanalysed`: see `analyzer.candidates`. `notes`: one line for each thing a user should
    know. `stats`: seconds by phase, and counts."""

    root: Path
    profiles: tuple[Profile, ...]
    parsed: tuple[Parsed, ...]
    files: int
    candidates: int
    unanalysed: tuple[Unanalysed, ...]
    notes: tuple[str, ...]
    stats: dict[str, float]

    def facts(self) -> list[ir.FileFacts]:
        """Decode the facts, sorted by path and profile."""
        return [ir.decode(each.facts) for each in self.parsed]


class _Pool:
    """Worker processes that are replaced after some tasks (libclang's memory only grows), and survive a crash."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self.executor: Executor = self._start(jobs)

    @staticmethod
    def _start(jobs: int) -> Executor:
        context = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        if sys.version_info >= (3, 11):
            return ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=60)
        return ProcessPoolExecutor(jobs, mp_context=context)

    def restart(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._start(self._jobs)

    def alone(self, job: Job) -> list[Parsed]:
        """Run `job` in a process of its own."""
        with self._start(1) as executor:
            try:
                return executor.submit(units.run, job).result()
            except BrokenProcessPool:
                return [units.failure(path, job, "clang crashed on this file") for path in job.wanted]

    def close(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)


def _chunks(items: Sequence[str], count: int) -> list[Sequence[str]]:
    return [items[at::count] for at in range(count) if items[at::count]]


class _Plan:
    """Which parses a tree needs."""

    def __init__(self, tree: Tree, scans: Mapping[str, Scan], config: Config, notes: list[str]) -> None:
        self.tree = tree
        self.scans = scans
        self.config = config
        self.root = str(tree.root)
        self.tools = toolchain.find()
        self.served = frozenset(stubs.headers())
        spelled = frozenset(include.spelling for found in scans.values() for include in found.includes)
        system = frozenset(name for name in spelled if self.tools.has_header(name))
        by_name: dict[str, list[str]] = {}
        for file in tree.files:
            by_name.setdefault(file.path.rsplit("/", 1)[-1], []).append(file.path)
        in_tree = frozenset(
            name
            for name in spelled
            if any(f"/{path}".endswith(f"/{name.lstrip('./')}") for path in by_name.get(name.rsplit("/", 1)[-1], ()))
        )
        self.resolves = system | in_tree | self.served
        database, note = flag_module.read_database(tree.root, config.database)
        notes += [note] if note else []
        self.flags = FlagTable(database, flag_module.inferred(tree.root, tree, scans, system | self.served))
        self.profiles = profile_module.find(tree, scans, config, self.resolves)

    def args(self, own: Flags, profile: Profile, path: str) -> list[str]:
        """The complete command line of one file."""
        found = self.scans.get(path)
        missing = profile_module.unavailable(found, self.resolves) if found else frozenset()
        cuda = path.endswith((".cu", ".cuh"))
        language = ["-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib"] if cuda else ["-x", "c++"]
        own_args = [arg for arg in own.args if not (profile.target and arg.startswith("-m"))]
        return [
            *self.tools.args(profile.target),
            *language,
            *flag_module.expand(own_args, self.root),
            *(flag for flag in profile.flags if not (flag[:2] == "-D" and flag[2:].split("=")[0] in missing)),
            *self.config.flags,
            *(["-include", f"{stubs.FOLDER}/cuda_runtime.h"] if cuda else []),
            *("-idirafter", stubs.FOLDER, "-ferror-limit=0", "-fno-spell-checking", "-w"),
        ]

    def takes(self, profile: Profile, path: str) -> bool:
        """Does `path` look different under `profile` than under the first one, or is that the first one?"""
        base = self.profiles[0]
        if path.endswith((".cu", ".cuh")):
            device = next((each for each in self.profiles if each.name == profile_module.CUDA), base)
            return profile is device
        if profile is base or profile.only is None:
            return True
        found = self.scans[path]
        return not profile.only.isdisjoint(found.tested)


def _prefix(plan: _Plan, paths: Sequence[str], args: Sequence[str]) -> list[str]:
    """Include lines of the headers that many of `paths` include, unconditionally and by a name that resolves from
    anywhere."""
    counts: dict[str, int] = {}
    for path in paths:
        for include in plan.scans[path].includes:
            if not include.needs:
                counts[include.spelling] = counts.get(include.spelling, 0) + 1
    folders = [args[at + 1] for at, arg in enumerate(args) if arg in ("-I", "-isystem")]
    least = max(3, int(len(paths) * _PCH_SHARE))

    def shared(name: str) -> bool:
        return plan.tools.has_header(name) or any(os.path.isfile(f"{folder}/{name}") for folder in folders)

    return sorted(f"#include <{name}>\n" for name, count in counts.items() if count >= least and shared(name))


class _Run:
    """One run of the parses of a plan on a pool."""

    def __init__(self, pool: _Pool, folder: str, progress: Progress | None) -> None:
        self.pool = pool
        self.folder = folder
        self.progress = progress
        self.results: list[Parsed] = []
        self.waiting: dict[Future[list[Parsed]], Job] = {}
        self.building: dict[Future[int], tuple[str, list[Job]]] = {}
        self.total = 0
        self.done = 0

    def add(self, job: Job) -> None:
        self.total += 1
        self.waiting[self.pool.executor.submit(units.run, job)] = job

    def add_group(self, root: str, jobs: list[Job], prefix: list[str], args: Sequence[str]) -> None:
        """Parse `jobs`, which share `args`, on top of one precompiled header made of the lines `prefix`."""
        name = hashlib.sha256(repr((prefix, args)).encode()).hexdigest()[:24]
        header = f"{self.folder}/{name}.h"
        Path(header).write_text("".join(prefix), encoding="utf-8")
        self.total += len(jobs)
        target = f"{self.folder}/{name}.pch"
        self.building[self.pool.executor.submit(units.build_pch, root, header, list(args), target)] = (target, jobs)

    def finish(self) -> list[Parsed]:
        """Wait for everything; results in no particular order."""
        while self.waiting or self.building:
            finished, _ = concurrent.futures.wait(
                [*self.waiting, *self.building], return_when=concurrent.futures.FIRST_COMPLETED
            )
            try:
                for future in finished:
                    self._take(future)
            except BrokenProcessPool:
                self._recover()
        return self.results

    def _take(self, future: Future[list[Parsed]] | Future[int]) -> None:
        if future in self.building:
            errors = future.result()
            target, jobs = self.building.pop(future)  # type: ignore[arg-type]
            self.total -= len(jobs)
            for job in jobs:
                self.add(msgspec.structs.replace(job, pch=target) if errors == 0 else job)
            return
        results = future.result()
        job = self.waiting.pop(future)  # type: ignore[arg-type]
        self.results += results  # type: ignore[arg-type]
        self._tick(job)

    def _tick(self, job: Job) -> None:
        self.done += 1
        if self.progress:
            self.progress(self.done, self.total, job.main)

    def _recover(self) -> None:
        """A worker died: parse what was under way one by one, each in its own process."""
        jobs = [*self.waiting.values(), *(job for _, group in self.building.values() for job in group)]
        self.waiting, self.building = {}, {}
        self.pool.restart()
        for job in jobs:
            self.results += self.pool.alone(job)
            self._tick(job)


def _unit_jobs(
    plan: _Plan, chosen: Sequence[SourceFile], profile: Profile, found: Mapping[str, Sequence[Candidate]]
) -> tuple[list[Job], list[Job]]:
    """The parses of one profile: (units that may share a precompiled header, all others)."""
    shared: list[Job] = []
    single: list[Job] = []
    headers: list[str] = []
    for file in chosen:
        if not plan.takes(profile, file.path):
            continue
        if file.suffix in tree_module.HEADERS and file.suffix != ".cuh":
            headers.append(file.path)
            continue
        own = plan.flags.of(file.path)
        text = plan.scans[file.path]
        job = Job(
            root=plan.root,
            main=file.path,
            profile=profile.name,
            args=tuple(plan.args(own, profile, file.path)),
            wanted=(file.path,),
            origin=own.origin,
            dropped=own.dropped,
            retry_without=tuple(sorted(text.tested.intersection(profile.defines))),
            arms=tuple((each.begin, each.end) for each in found.get(file.path, ()) if each.arm),
        )
        alone = text.late_define or text.computed or file.suffix not in tree_module.UNITS or bool(profile.target)
        (single if alone else shared).append(job)
    if headers:
        own = plan.flags.headers()
        single.insert(
            0,
            Job(
                root=plan.root,
                main=_UMBRELLA,
                profile=profile.name,
                args=tuple(plan.args(own, profile, _UMBRELLA)),
                wanted=tuple(headers),
                headers=tuple(headers),
                origin=own.origin,
                dropped=own.dropped,
            ),
        )
    return shared, single


def _retry_headers(plan: _Plan, results: list[Parsed], profiles: Mapping[str, Profile]) -> list[Job]:
    """Headers that did badly under the umbrella, each as a unit of its own."""
    jobs = []
    for result in results:
        if not result.path.endswith((".h", ".hh", ".hpp", ".hxx")) or not (result.failed or result.errors):
            continue
        own = plan.flags.headers()
        profile = profiles[result.profile]
        jobs.append(
            Job(
                root=plan.root,
                main=result.path,
                profile=result.profile,
                args=tuple(plan.args(own, profile, result.path)),
                wanted=(result.path,),
                origin=own.origin,
                dropped=own.dropped,
                retry_without=tuple(sorted(plan.scans[result.path].tested.intersection(profile.defines))),
            )
        )
    return jobs


def collect(
    root: Path,
    config: Config,
    *,
    markers: Iterable[str],
    profiles: Sequence[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Collected:
    """Analyse the tree at `root` and return its facts.

    `markers`: names of the layout markers; they decide which files are worth parsing. `profiles`: names of the
    profiles to run; None: all. `jobs`: worker processes; None: one for each core.

    Raises `SetupError` when the tree has no C++ file, a profile does not exist or the toolchain is incomplete.
    """
    marker_names = frozenset(markers)
    count = jobs or os.cpu_count() or 1
    stats: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        stats[name] = now - clock
        clock = now

    tree = tree_module.list_files(root.resolve(), config.exclude)
    if not any(not file.vendored for file in tree.files):
        raise SetupError(f"{root}: no C++ file below this folder")
    notes = list(tree.notes)
    lap("list")
    pool = _Pool(count)
    try:
        paths = [file.path for file in tree.files]
        texts = {
            text.path: text
            for chunk in pool.executor.map(functools.partial(_scan_files, str(tree.root)), _chunks(paths, count * 4))
            for text in chunk
        }
        scans = {path: text.scan for path, text in texts.items() if not text.scan.bad}
        notes += [f"{path}: {text.scan.bad}" for path, text in sorted(texts.items()) if text.scan.bad]
        lap("scan")
        plan = _Plan(tree, scans, config, notes)
        lap("plan")
        wanted = _selected(plan.profiles, profiles)
        words = holders(scans, carriers(scans, marker_names)) | marker_names
        readable = [
            file.path
            for file in tree.files
            if not file.vendored and file.suffix not in tree_module.FRAGMENTS and file.suffix != ".c" and texts[file.path].sha
        ]
        looked = [
            row
            for chunk in pool.executor.map(
                functools.partial(_find_candidates, str(tree.root), words=words), _chunks(readable, count * 4)
            )
            for row in chunk
        ]
        mentioned = {path for path, mentions, _ in looked if mentions}
        found = {path: each for path, _, each in looked if each}
        chosen = [file for file in tree.files if file.path in mentioned and file.path in scans]
        lap("candidates")
        with tempfile.TemporaryDirectory(prefix="vt-lint-") as folder:
            run = _Run(pool, folder, progress)
            rest: list[Job] = []
            for profile in wanted:
                shared, single = _unit_jobs(plan, chosen, profile, found)
                groups: dict[tuple[str, ...], list[Job]] = {}
                for job in shared:
                    groups.setdefault(job.args, []).append(job)
                for args, group in groups.items():
                    prefix = _prefix(plan, [job.main for job in group], args) if len(group) >= _PCH_MIN_USERS else []
                    if prefix:
                        run.add_group(plan.root, group, prefix, args)
                    else:
                        rest += group
                rest = [*single, *rest]
            for job in rest:
                run.add(job)
            results = run.finish()
            lap("parse")
            by_name = {profile.name: profile for profile in wanted}
            again = {(job.main, job.profile): job for job in _retry_headers(plan, results, by_name)}
            if again:
                kept = [result for result in results if (result.path, result.profile) not in again]
                run.results = []
                for job in again.values():
                    run.add(job)
                results = [*kept, *run.finish()]
            lap("retry")
    finally:
        pool.close()
    results.sort(key=lambda each: (each.path, [profile.name for profile in wanted].index(each.profile)))
    unanalysed = _uncovered(found, results, texts)
    lap("cover")
    stats["peak_worker_mb"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    stats["parses"] = len(results)
    return Collected(
        root=tree.root,
        profiles=tuple(wanted),
        parsed=tuple(results),
        files=sum(not file.vendored for file in tree.files),
        candidates=sum(map(len, found.values())),
        unanalysed=tuple(unanalysed),
        notes=tuple(notes),
        stats=stats,
    )


def _selected(found: Sequence[Profile], names: Sequence[str] | None) -> list[Profile]:
    known = {profile.name: profile for profile in found}
    for name in names or ():
        if name not in known:
            raise SetupError(f"no profile {name!r} here; there are: {', '.join(known)}")
    return [profile for profile in found if names is None or profile.name in names]


def _uncovered(
    found: Mapping[str, Sequence[Candidate]], results: Sequence[Parsed], texts: Mapping[str, _Text]
) -> list[Unanalysed]:
    """The candidates that no parse covered, with the reason."""
    by_path: dict[str, list[Parsed]] = {}
    for result in results:
        by_path.setdefault(result.path, []).append(result)
    missed = []
    for path, each in sorted(found.items()):
        for candidate in each:
            reason = _why_uncovered(candidate, by_path.get(path, []), texts[path])
            if reason:
                missed.append(Unanalysed(path, candidate.line, f"{candidate.what}: {reason}"))
    return missed


def _why_uncovered(candidate: Candidate, parses: Sequence[Parsed], text: _Text) -> str:
    reasons: list[str] = [text.scan.bad] if text.scan.bad else []
    at = candidate.begin
    for parse in parses:
        if parse.failed:
            reasons.append(parse.failed)
        else:
            around = [body for body in parse.bodies if body.begin <= at < body.end]
            if not around or (candidate.arm and candidate.begin not in parse.arms):
                guard = f" ({candidate.guard})" if candidate.guard else ""
                reasons.append(f"left out by the preprocessor in every profile{guard}" if guard else "not seen by clang")
            elif all(body.errors for body in around):
                cause = f" (missing header, line {parse.missing[0]})" if parse.missing else ""
                reasons.append(f"clang reports {around[0].errors} errors in it{cause}")
            else:
                return ""
    return reasons[0] if reasons else "read under no profile"
