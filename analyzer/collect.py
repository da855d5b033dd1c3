"""From a tree to facts: choose the files worth parsing, parse them in worker processes, keep the results."""

from __future__ import annotations

import functools
import hashlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

import msgspec

from analyzer import cache as cache_module
from analyzer import ir, syntax, toolchain
from analyzer import scan as scan_module
from analyzer.cache import FileState, Pack, RunRecord, Store, Unsaved, digest
from analyzer.candidates import Candidate
from analyzer.config import Config, SetupError
from analyzer.depends import Depends
from analyzer.flags import database_state
from analyzer.includes import IncludeGraph
from analyzer.plan import Plan, is_header, portable
from analyzer.pool import Pool, Progress, Run
from analyzer.profiles import Profile
from analyzer.scan import Scan
from analyzer.selection import Looked, choose, holders, look, may_choose
from analyzer.toolchain import Toolchain
from analyzer.tree import FRAGMENTS, HEADERS, SYNTAX_ONLY, SourceFile, Tree, list_files
from analyzer.units import Job, Parsed, stamps

__all__ = ["Collected", "Progress", "Unanalysed", "collect"]

_RUNS_KEPT = 4

Meanwhile = Callable[[Iterable[Parsed]], Iterator[None]]


class Unanalysed(msgspec.Struct, frozen=True, array_like=True):
    """A candidate, or a file (`line` 0), that no parse covered."""

    path: str
    line: int
    reason: str


class Collected(msgspec.Struct, frozen=True, array_like=True):
    """The facts of a tree. `parsed`: one item for each parse of each file, sorted by path and profile, facts
    still encoded. `files`: C++ files looked at. `candidates`, `unanalysed`: see `analyzer.candidates`.
    `notes`: one line for each thing a user should know. `keys`: of the items of `parsed`, even if these are left out.
    `digest`: two runs with the same one have the same facts but for where things stand (`analyzer.layout`), with the
    same `keys` there too. `stats`: seconds by phase, and counts."""

    root: str
    profiles: tuple[Profile, ...]
    parsed: tuple[Parsed, ...]
    files: int
    candidates: int
    unanalysed: tuple[Unanalysed, ...]
    notes: tuple[str, ...]
    keys: tuple[str, ...] = ()
    digest: str = ""
    stats: dict[str, float] = {}

    def facts(self) -> list[ir.FileFacts]:
        """Decode the facts."""
        return [ir.decode(each.facts) for each in self.parsed]


class _Text(msgspec.Struct, frozen=True, array_like=True):
    """What reading one file gave; `sha` is empty for one that cannot be read."""

    path: str
    sha: str
    scan: Scan


def _scan_files(root: str, paths: Sequence[str]) -> list[_Text]:
    texts = []
    for path in paths:
        try:
            data = Path(root, path).read_bytes()
        except OSError as error:
            texts.append(_Text(path, "", Scan(bad=f"cannot read: {error.strerror}")))
        else:
            suffix = os.path.splitext(path)[1].lower()
            found = scan_module.scan(data, header=suffix in HEADERS, records=suffix not in (".c", *FRAGMENTS))
            texts.append(_Text(path, hashlib.sha256(data).hexdigest(), found))
    return texts


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _look_at(root: str, paths: Sequence[str], words: frozenset[str]) -> list[tuple[str, Looked]]:
    return [(path, look(Path(root, path).read_bytes(), words)) for path in paths]


def _lower_syntax(
    root: str, paths: Sequence[str], profile: str, found: Mapping[str, Sequence[Candidate]]
) -> list[Parsed]:
    return [
        syntax.parse(
            path, Path(root, path).read_bytes(), profile, [each.begin for each in found.get(path, ())]
        )
        for path in paths
    ]


class _MadeOf(msgspec.Struct, frozen=True):
    """What a result is made of: the content of a file, what it depends on of others, and how it is parsed."""

    sha: str
    job: Job
    depends: list[tuple[str, str]]
    options: list[object]

    def key(self, toolchain: str) -> str:
        """The key of the result."""
        options = [self.sha, *self.options, self.job.arms]
        return cache_module.result_key(self.job.main, self.depends, toolchain, options)

    def code(self, toolchain: str, code: str) -> str:
        """The same, of the file's `code` in place of its content."""
        depends = [(path, code if part == self.sha else part) for path, part in self.depends]
        options = [code, *self.options, len(self.job.arms)]
        return cache_module.result_key(self.job.main, depends, toolchain, options)


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now


class _Collection:
    """One call of `collect`."""

    def __init__(
        self,
        tree: Tree,
        config: Config,
        markers: frozenset[str],
        names: Sequence[str] | None,
        pool: Pool,
        pack: Pack,
        tools: Toolchain,
        clock: _Clock,
        progress: Progress | None,
        shard: tuple[int, int] | None,
        meanwhile: Meanwhile | None = None,
    ) -> None:
        self.tree = tree
        self.root = str(tree.root)
        self.config = config
        self.markers = markers
        self.names = names
        self.pool = pool
        self.pack = pack
        self.tools = tools
        self.clock = clock
        self.progress = progress
        self.shard = shard
        self.meanwhile = meanwhile
        self.notes = list(tree.notes)
        self.shas: dict[str, str] = {}
        self.known_keys: set[str] = set()
        self.made_of: dict[str, _MadeOf] = {}

    def read(self, taken_ns: int) -> bool:
        """Learn the content hash of every file, reading only what may have changed. Was there such a file?"""
        known = {file.path: self.pack.sha_of(file) for file in self.tree.files}
        self.shas = {path: sha or _hash(self.tree.root / path) for path, sha in known.items()}
        self.pack.files = {
            file.path: FileState(file.size, file.mtime_ns, file.inode, self.shas[file.path])
            for file in self.tree.files
            if self.shas[file.path]
        }
        self.pack.taken_ns = taken_ns
        self.clock.lap("read")
        return not all(known.values())

    def run_key(self) -> str:
        """Everything that the result depends on, but for headers outside the tree."""
        own = msgspec.to_builtins(msgspec.structs.replace(self.config, extra={}))
        database = database_state(self.tree.root, self.config.database)
        vendored = [file.path for file in self.tree.files if file.vendored]
        machine = (self.tools.fingerprint, self.tools.x86)
        settings = (own, sorted(self.markers), self.names, database, self._build())
        return digest(
            cache_module.version(), machine, settings, sorted(self.shas.items()), vendored, self.tree.notes
        )

    def _build(self) -> list[str]:
        """Content of the CMake files: they name the standard and the feature macros."""
        return [digest(Path(self.root, path).read_bytes()) for path in self.tree.build_files]

    def known(self, key: str) -> Collected | None:
        """The result of an earlier run with the same inputs, if all of it is still there and true."""
        summary = self.summary(key)
        if summary is None:
            return None
        parsed = [self._result(each) for each in self.pack.runs[key].keys]
        kept = tuple(each for each in parsed if each is not None)
        return msgspec.structs.replace(summary, parsed=kept) if len(kept) == len(parsed) else None

    def summary(self, key: str) -> Collected | None:
        """The result of an earlier run with the same inputs, if it is still true, without its facts."""
        record = self.pack.runs.get(key)
        if record is None or any(self.tools.has_header(name) for name in record.unresolved):
            return None
        if record.outside != stamps(path for path, _, _ in record.outside):
            return None
        try:
            summary = msgspec.msgpack.decode(record.summary, type=Collected)
        except msgspec.DecodeError:
            return None
        return msgspec.structs.replace(summary, root=self.root)

    def _result(self, key: str) -> Parsed | None:
        raw = self.pack.results.get(key)
        if raw is None:
            return None
        parsed = msgspec.msgpack.decode(raw, type=Parsed)
        return parsed if parsed.outside == stamps(path for path, _, _ in parsed.outside) else None

    def scans(self) -> dict[str, Scan]:
        """The scan of every file that can be used."""
        unread: list[str] = []
        scans: dict[str, Scan] = {}
        kept: dict[str, msgspec.Raw] = {}
        for path, sha in self.shas.items():
            raw = self.pack.scans.get(sha)
            if raw is None:
                unread.append(path)
            else:
                kept[sha] = raw
                scans[path] = msgspec.msgpack.decode(raw, type=Scan)
        for text in self.pool.map(functools.partial(_scan_files, self.root), unread):
            scans[text.path] = text.scan
            if text.sha:
                kept[text.sha] = msgspec.Raw(msgspec.msgpack.encode(text.scan))
        self.pack.scans = kept
        self.notes += [f"{path}: {scan.bad}" for path, scan in sorted(scans.items()) if scan.bad]
        return {path: scans[path] for path in sorted(scans) if not scans[path].bad}

    def look(self, words: frozenset[str]) -> dict[str, Looked]:
        """Which words occur where."""
        about = digest(sorted(words))[:12]
        found: dict[str, Looked] = {}
        unread: list[str] = []
        for file in self.tree.files:
            sha = self.shas[file.path]
            if not sha or not may_choose(file):
                continue
            known = self.pack.looked.get(f"{about}:{sha}")
            if known is None:
                unread.append(file.path)
            else:
                found[file.path] = known
        found.update(self.pool.map(functools.partial(_look_at, self.root, words=words), unread))
        self.pack.looked = {f"{about}:{self.shas[path]}": each for path, each in found.items()}
        return found

    def collect(self, folder: Path, kept: bool) -> tuple[Collected, RunRecord]:
        """Do the work; `folder` is for precompiled headers, which are `kept` in it."""
        scans = self.scans()
        self.clock.lap("scan")
        graph = IncludeGraph([file.path for file in self.tree.files], scans)
        holding = holders(scans, graph, self.markers)
        looked = self.look(self.markers.union(holding))
        self.clock.lap("search")
        plan = Plan(self.tree, scans, self.config, self.tools, graph, self.notes)
        profiles = _selected(plan.profiles, self.names)
        chosen = choose(self.tree.files, scans, looked, graph, self.markers, holding)
        found = self._candidates(chosen, looked)
        self.clock.lap("plan")
        run = Run(self.pool, folder, kept, self.progress)
        keyed = self._parse(plan, profiles, chosen, found, graph, run)
        order = {profile.name: at for at, profile in enumerate(profiles)}
        rows = sorted(keyed.items(), key=lambda row: (row[1].path, order[row[1].profile]))
        results = tuple(result for _, result in rows)
        self.notes += dict.fromkeys(f"{r.path}: {r.failed}" for r in results if r.failed)
        self.notes += [
            f"{r.path}:{each} is not found"
            for r in results
            if r.profile == profiles[0].name
            for each in r.missing
        ]
        collected = Collected(
            root=self.root,
            profiles=tuple(profiles),
            parsed=results,
            files=sum(not file.vendored for file in self.tree.files),
            candidates=sum(map(len, found.values())),
            unanalysed=tuple(_uncovered(found, results, scans)),
            notes=tuple(self.notes),
        )
        self.clock.lap("cover")
        summary = msgspec.msgpack.encode(msgspec.structs.replace(collected, parsed=(), root=""))
        outside = tuple(sorted({stamp for result in results for stamp in result.outside}))
        tools = self.tools.fingerprint
        code = digest(
            [
                self.made_of[key].code(tools, each.code) if each.code and key in self.made_of else key
                for key, each in rows
            ],
            [(each.path, each.reason) for each in collected.unanalysed],
        )
        return collected, RunRecord(tuple(key for key, _ in rows), summary, plan.unresolved, outside, code)

    def _mine(self, path: str) -> bool:
        """Is `path` in this run's part?"""
        if self.shard is None:
            return True
        part, parts = self.shard
        return int(digest(path), 16) % parts == part - 1

    def _candidates(
        self, chosen: Sequence[SourceFile], looked: Mapping[str, Looked]
    ) -> dict[str, tuple[Candidate, ...]]:
        """Candidates of the chosen files, and of those that could not be read as text."""
        taken = {file.path for file in chosen}
        unusable = {
            file.path
            for file in self.tree.files
            if file.path not in taken
            and file.path in looked
            and not self.markers.isdisjoint(looked[file.path].words)
        }
        return {path: looked[path].candidates for path in sorted(taken | unusable) if looked[path].candidates}

    def _parse(
        self,
        plan: Plan,
        profiles: Sequence[Profile],
        chosen: Sequence[SourceFile],
        found: Mapping[str, Sequence[Candidate]],
        graph: IncludeGraph,
        run: Run,
    ) -> dict[str, Parsed]:
        """Results by key: from the cache, or made now."""
        times = {file.path: (file.size, file.mtime_ns) for file in self.tree.files}
        keyed: dict[str, Parsed] = {}
        keys: dict[tuple[str, str], str] = {}
        vendored = {file.path for file in self.tree.files if file.vendored}
        depends = Depends(graph, plan.scans, self.shas, vendored)
        umbrellas: list[tuple[Profile, list[Job], list[Job]]] = []
        for profile in profiles:
            todo: list[Job] = []
            wanted = plan.jobs(chosen, profile, found)
            for job in wanted:
                made_of = _MadeOf(self.shas[job.main], job, depends.of(job.main), portable(job, self.tools))
                key = made_of.key(self.tools.fingerprint)
                self.made_of[key] = made_of
                keys[job.main, profile.name] = key
                known = self._result(key)
                if known is not None:
                    keyed[key] = known
                elif self._mine(job.main):
                    todo.append(job)
            todo.sort(
                key=lambda job: -times[job.main][0]
            )  # the longest first: no worker waits for it at the end
            groups, single = plan.groups([job for job in wanted if not is_header(job.main)], todo, times)
            for group in groups:
                run.add_group(group)
            headers = [job for job in todo if is_header(job.main)]
            everything = [job for job in wanted if is_header(job.main)]
            if len(headers) > 1:
                run.add([plan.umbrella(headers, everything, profile)])
                umbrellas.append((profile, headers, []))
            elif headers:
                run.add(headers)
                umbrellas.append((profile, headers, everything))
            run.add(single)
        self.known_keys |= keyed.keys()
        results = run.finish(self.meanwhile(keyed.values()) if self.meanwhile else None)
        self.clock.lap("parse")
        bad = {(each.path, each.profile) for each in results if each.failed or each.errors}
        for profile, headers, everything in umbrellas:
            again = [job for job in headers if (job.main, profile.name) in bad]
            # One that is incomplete by itself is read after the others, one that suffers from them, alone.
            run.add([plan.umbrella(again, everything, profile)] if again and everything else again)
        context = {
            (job.main, profile.name) for profile, headers, rest in umbrellas if rest for job in headers
        }
        better = {
            (each.path, each.profile): each
            for each in run.finish()
            if (each.path, each.profile) not in context or not (each.failed or each.errors)
        }
        results = [better.get((each.path, each.profile), each) for each in results]
        self.clock.lap("retry")
        keyed.update((keys[each.path, each.profile], each) for each in results)
        texts = {
            digest(cache_module.version(), file.path, self.shas[file.path], profiles[0].name): file.path
            for file in chosen
            if file.suffix in SYNTAX_ONLY
        }
        made = {key: each for key in texts if (each := self._result(key)) is not None}
        self.known_keys |= made.keys()
        by_path = {path: key for key, path in texts.items()}
        for each in self.pool.map(
            functools.partial(_lower_syntax, self.root, profile=profiles[0].name, found=found),
            [path for key, path in texts.items() if key not in made],
        ):
            made[by_path[each.path]] = each
        keyed |= made
        self.clock.lap("syntax")
        return keyed


def collect(
    root: Path,
    config: Config,
    *,
    markers: Iterable[str],
    profiles: Sequence[str] | None = None,
    jobs: int | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    shard: tuple[int, int] | None = None,
    facts: bool = True,
    meanwhile: Meanwhile | None = None,
    later: Callable[[Unsaved], None] | None = None,
) -> Collected:
    """Analyse the tree at `root` and return its facts.

    `markers`: names of the layout markers; they decide which files are worth parsing. `profiles`: names of
    the profiles to run; None: all. `jobs`: worker processes; None: one for each core. `cache`: the folder
    where facts are kept between runs (`analyzer.cache.default_folder`); None: they are not. `executor`: where
    the work is done instead, on machines that have the tree and the toolchain at the same place. `shard`: (i,
    n), parse the i-th of n parts only, counted from 1; what that gives is in the cache, for
    `analyzer.cache.Store.merge`, and the returned facts are incomplete. `facts`: False if `parsed` may be missing
    where nothing has changed since an earlier run. `meanwhile`: gives steps of something else to do while the first
    parses run, from the results that are known already. `later`: takes the facts that are to be kept, to be saved when
    there is time; None: they are before this returns.

    Raises `SetupError` when the tree has no C++ file, a profile does not exist or the toolchain is
    incomplete.
    """
    clock = _Clock()
    taken_ns = time.time_ns()
    tree = list_files(root.resolve(), config.exclude)
    if not any(not file.vendored for file in tree.files):
        raise SetupError(f"{root}: no C++ file below this folder")
    clock.lap("list")
    store = Store(cache, tree.root) if cache else None
    pool = Pool(jobs or os.cpu_count() or 1, executor)
    asked = frozenset(markers)
    head = store.head() if store and not facts else None
    if head is not None:
        tools = toolchain.find(head.toolchain)
        clock.lap("load")
        work = _Collection(tree, config, asked, profiles, pool, head, tools, clock, progress, shard)
        if not work.read(taken_ns) and (same := work.summary(key := work.run_key())) is not None:
            clock.lap("reuse")
            parses = len(head.runs[key].keys)
            return _finished(same, head.runs[key], clock, parses)
    pack = store.load(tree.files) if store else Pack()
    tools = toolchain.find(pack.toolchain)
    clock.lap("load")
    try:
        work = _Collection(
            tree, config, asked, profiles, pool, pack, tools, clock, progress, shard, meanwhile
        )
        news = work.read(taken_ns)
        key = work.run_key()
        collected = work.known(key)
        if collected is not None:
            clock.lap("reuse")
            if store and (news or store.borrowed):
                store.save(pack, pack.runs[key].keys)
                clock.lap("save")
            return _finished(collected, pack.runs[key], clock, len(collected.parsed))
        pool.prepare()
        with tempfile.TemporaryDirectory(prefix="vt-lint-") as scratch:
            kept = store.pch_folder() if store else None
            collected, record = work.collect(kept or Path(scratch), kept is not None)
        if store:
            # A part is no whole run: only its results are kept.
            runs = {} if shard else {key: record}
            for each, parsed in zip(record.keys, collected.parsed, strict=True):
                if each in work.known_keys:
                    pack.results[each] = pack.results.pop(each)
                else:
                    pack.results[each] = msgspec.Raw(msgspec.msgpack.encode(parsed))
            pack.version = cache_module.version()
            pack.toolchain = tools
            pack.runs = dict(list(pack.runs.items())[1 - _RUNS_KEPT :]) | runs
            (later or Unsaved.save)(Unsaved(store, pack, record.keys))
            clock.lap("save")
    finally:
        pool.close()
    return _finished(collected, record, clock, len(work.known_keys))


def _finished(collected: Collected, record: RunRecord, clock: _Clock, hits: int) -> Collected:
    parses = len(record.keys)
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    stats = {
        **clock.laps,
        "parses": float(parses),
        "cache_hits": float(hits),
        "peak_worker_mb": max((each.peak_mb for each in collected.parsed), default=0.0)
        if hits < parses
        else 0.0,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
    }
    return msgspec.structs.replace(collected, keys=record.keys, digest=record.code, stats=stats)


def _selected(found: Sequence[Profile], names: Sequence[str] | None) -> list[Profile]:
    known = {profile.name: profile for profile in found}
    for name in names or ():
        if name not in known:
            raise SetupError(f"no profile {name!r} in this tree; there are: {', '.join(known)}")
    return [profile for profile in found if names is None or profile.name in names]


def _uncovered(
    found: Mapping[str, Sequence[Candidate]], results: Sequence[Parsed], scans: Mapping[str, Scan]
) -> list[Unanalysed]:
    """The candidates that no parse covered, with the reason."""
    by_path: dict[str, list[Parsed]] = {}
    for result in results:
        by_path.setdefault(result.path, []).append(result)
    missed = []
    for path, each in sorted(found.items()):
        for candidate in each:
            reason = _why_uncovered(candidate, by_path.get(path, [])) if path in scans else "not UTF-8"
            if reason:
                missed.append(Unanalysed(path, candidate.line, f"{candidate.what}: {reason}"))
    return missed


def _why_uncovered(candidate: Candidate, parses: Sequence[Parsed]) -> str:
    """Why no parse covers `candidate`; empty if one does."""
    reasons: list[str] = []
    for parse in parses:
        if parse.failed:
            reasons.append(parse.failed)
            continue
        around = [body for body in parse.bodies if body.begin <= candidate.begin < body.end]
        if not around or (candidate.arm and candidate.begin not in parse.arms):
            guarded = f"left out by the preprocessor in every profile ({candidate.guard})"
            reasons.append(guarded if candidate.guard else "not seen by clang")
        elif all(body.errors for body in around):
            cause = f" (line {parse.missing[0]} is not found)" if parse.missing else ""
            reasons.append(f"clang reports errors in it{cause}")
        else:
            return ""
    return reasons[0] if reasons else "read under no profile"
