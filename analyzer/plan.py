"""Which parses a tree needs, and with which command lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from analyzer import flags as flag_module
from analyzer import profiles as profile_module
from analyzer import stubs
from analyzer.cache import digest
from analyzer.candidates import Candidate
from analyzer.config import Config
from analyzer.flags import Flags, FlagTable
from analyzer.includes import IncludeGraph
from analyzer.pool import Group
from analyzer.profiles import Profile
from analyzer.scan import Scan
from analyzer.toolchain import Toolchain
from analyzer.tree import CUDA_UNITS, HEADERS, SYNTAX_ONLY, TEMPLATE, UNITS, SourceFile, Tree
from analyzer.units import Job

UMBRELLA = "vt-lint-headers.cpp"
"""Name of the unit, in memory, that includes headers; no such file exists."""

_PCH_MIN_USERS = 6
_PCH_SHARE = 0.04
_PCH_FOREIGN = 2
"""So many users are enough for a header from outside the tree: it is large, and its names are its own."""
# Intrinsics need their target features; units of a project get them per file, from its build.
_X86_INTRINSICS = frozenset({"immintrin.h", "x86intrin.h", "emmintrin.h", "avxintrin.h"})
_X86_FLAGS = ("-march=icelake-server",)


class Plan:
    """The parses of one tree. `notes` gets a line for each thing that the user should know."""

    def __init__(
        self,
        tree: Tree,
        scans: Mapping[str, Scan],
        config: Config,
        tools: Toolchain,
        graph: IncludeGraph,
        notes: list[str],
    ) -> None:
        self._root = str(tree.root)
        self._foreign = frozenset(file.path for file in tree.files if file.vendored)
        self.scans = scans
        self._config = config
        self._tools = tools
        self._graph = graph
        spelled = {include.spelling for found in scans.values() for include in found.includes}
        system = {name for name in spelled if tools.has_header(name)}
        served = frozenset(stubs.headers())
        self._resolves = frozenset(system | served | {name for name in spelled if graph.targets(name)})
        real = {name for name in spelled if any(not path.endswith(TEMPLATE) for path in graph.targets(name))}
        made = sorted(self._resolves - system - served - real)
        self._generated = tuple((name, graph.targets(name)[0]) for name in made)
        self.unresolved = tuple(sorted(spelled - self._resolves))
        database, note = flag_module.read_database(tree.root, config.database)
        notes += [note] if note else []
        self._flags = FlagTable(database, flag_module.inferred(tree.root, tree, scans, system | served))
        self.profiles = profile_module.find(tree, scans, config, self._resolves)

    def _args(self, own: Flags, profile: Profile, path: str) -> tuple[str, ...]:
        """The complete command line of one file."""
        found = self.scans.get(path)
        missing = profile_module.unavailable(found, self._resolves) if found else frozenset()
        cuda = path.endswith((".cu", ".cuh"))
        language = ["-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib"] if cuda else ["-x", "c++"]
        flags = [arg for arg in own.args if not (profile.target and arg.startswith("-m"))]
        if found and own.origin == "inferred" and not profile.target and self._tools.x86:
            flags += _X86_FLAGS if any(each.spelling in _X86_INTRINSICS for each in found.includes) else ()
        return (
            *self._tools.args(profile.target),
            *language,
            *flag_module.expand(flags, self._root),
            *(flag for flag in profile.flags if not (flag[:2] == "-D" and flag[2:].split("=")[0] in missing)),
            *self._config.flags,
            *(["-include", f"{stubs.FOLDER}/cuda_runtime.h"] if cuda else []),
            *("-idirafter", stubs.FOLDER, "-idirafter", stubs.GENERATED),
            *("-ferror-limit=0", "-fno-spell-checking", "-w"),
        )

    def _takes(self, profile: Profile, path: str) -> bool:
        """Is `profile` the first one, or does `path` look different under it?"""
        base = self.profiles[0]
        if path.endswith((".cu", ".cuh")):
            return profile is next((each for each in self.profiles if each.name == profile_module.CUDA), base)
        return profile is base or profile.only is None or not profile.only.isdisjoint(self.scans[path].tested)

    def jobs(
        self, chosen: Iterable[SourceFile], profile: Profile, found: Mapping[str, Sequence[Candidate]]
    ) -> list[Job]:
        """Return one job for each of the `chosen` files that `profile` concerns; `found` are their
        candidates."""
        return [
            self._job(file.path, profile, found.get(file.path, ()))
            for file in chosen
            if file.suffix not in SYNTAX_ONLY and self._takes(profile, file.path)
        ]

    def _job(self, path: str, profile: Profile, found: Sequence[Candidate]) -> Job:
        header = path.endswith(tuple(HEADERS)) and not path.endswith(".cuh")
        own = self._flags.headers() if header else self._flags.of(path)
        return Job(
            root=self._root,
            main=path,
            profile=profile.name,
            args=self._args(own, profile, path),
            wanted=(path,),
            origin=own.origin,
            dropped=own.dropped,
            retry_without=tuple(sorted(self.scans[path].tested.intersection(profile.defines))),
            arms=tuple((each.begin, each.end) for each in found if each.arm),
            generated=self._generated,
            known=(
                self._root,
                stubs.VIRTUAL,
                self._tools.resource_dir,
                *self._tools.cxx_dirs,
                *self._tools.c_dirs,
            ),
        )

    def umbrella(self, jobs: Sequence[Job], context: Sequence[Job], profile: Profile) -> Job:
        """Return one job that does the work of `jobs`, which are about headers, in a single parse.

        It includes the headers of `context` too: what a header gives must not depend on which are wanted.
        """
        return Job(
            root=self._root,
            main=UMBRELLA,
            profile=profile.name,
            args=self._args(self._flags.headers(), profile, UMBRELLA),
            wanted=tuple(job.main for job in jobs),
            headers=tuple(sorted({job.main for job in (*jobs, *context)})),
            origin=jobs[0].origin,
            dropped=jobs[0].dropped,
            known=jobs[0].known,
            generated=self._generated,
            each_arms=tuple((job.main, job.arms) for job in jobs if job.arms),
        )

    def groups(
        self,
        wanted: Iterable[Job],
        jobs: Iterable[Job],
        stamps: Mapping[str, tuple[int, int]],
    ) -> tuple[list[Group], list[Job]]:
        """Sort `jobs` into groups that share a precompiled header, and others. `wanted`: these and the jobs whose
        results are known; they have a say in what the header holds, so that it serves the next run too.
        `stamps`: size and time of files."""
        rest: list[Job] = []
        shared: dict[tuple[str, ...], list[Job]] = {}
        todo = {job.main for job in jobs}
        for job in wanted:
            text = self.scans[job.main]
            suffix = os.path.splitext(job.main)[1].lower()
            # A unit with errors is parsed again without the header; and clang can crash on errors with one.
            errs = any(each.spelling not in self._resolves and not each.needs for each in text.includes)
            alone = errs or text.late_define or text.computed or suffix not in UNITS | CUDA_UNITS
            (rest if alone else shared.setdefault(job.args, [])).append(job)
        groups = []
        for args, members in shared.items():
            users = tuple(job for job in members if job.main in todo)
            prefix = (
                self._prefix([job.main for job in members], args)
                if users and len(members) >= _PCH_MIN_USERS
                else ()
            )
            if prefix:
                key = self._pch_key(prefix, args, stamps)
                groups.append(Group(key, prefix, args, users, len(users) >= _PCH_MIN_USERS))
            else:
                rest += users
        return groups, [job for job in rest if job.main in todo]

    def _prefix(self, paths: Sequence[str], args: Sequence[str]) -> tuple[str, ...]:
        """Include lines of the headers that many of `paths` include, unconditionally and by a name that
        resolves from anywhere."""
        counts: dict[str, int] = {}
        for path in paths:
            for name in {include.spelling for include in self.scans[path].includes if not include.needs}:
                counts[name] = counts.get(name, 0) + 1
        folders = [args[at + 1] for at, arg in enumerate(args) if arg in ("-I", "-isystem")]
        least = max(_PCH_FOREIGN, int(len(paths) * _PCH_SHARE))
        return tuple(
            f"#include <{name}>\n"
            for name, count in sorted(counts.items())
            if count >= (_PCH_FOREIGN if self._is_foreign(name) else least)
            and (
                self._tools.has_header(name) or any(os.path.isfile(f"{folder}/{name}") for folder in folders)
            )
        )

    def _is_foreign(self, name: str) -> bool:
        targets = self._graph.targets(name)
        return self._foreign.issuperset(targets) if targets else self._tools.has_header(name)

    def _pch_key(
        self, prefix: Sequence[str], args: Sequence[str], stamps: Mapping[str, tuple[int, int]]
    ) -> str:
        """clang refuses a precompiled header whose inputs have another size or time, so these are in its
        name."""
        read: set[str] = set()
        for line in prefix:
            for target in self._graph.targets(line[len("#include <") : -2]):
                read |= self._graph.closure(target)
        inputs = sorted((path, stamps.get(path)) for path in read)
        return digest(prefix, args, inputs, self._tools.stamp)


def is_header(path: str) -> bool:
    """Is `path` a header that the umbrella unit takes? CUDA headers are units of their own."""
    return path.endswith(tuple(HEADERS - {".cuh"}))


def portable(job: Job, tools: Toolchain) -> list[object]:
    """Return what distinguishes `job` but for its arms, without the places of this machine."""
    here = [(job.root, "{tree}"), (tools.resource_dir, "{resource}")]
    args = list(job.args)
    for place, name in here:
        args = [arg.replace(place, name) for arg in args]
    return [job.profile, args, job.origin, job.dropped, job.retry_without]
