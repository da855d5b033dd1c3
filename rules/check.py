"""From a tree to a report: facts, program, obligations, verdicts, rules, suppressions.

The report of a whole tree is kept with the facts, under everything it was made from, layout apart: a run over a tree
whose code has not changed reads it back, tells it anew where comments or blank lines came or went (`rules.moved`), and
links nothing.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from analyzer import cache as cache_module
from analyzer.collect import Collected, collect
from analyzer.collector import no_collector
from analyzer.config import Config, load
from analyzer.copies import beside
from analyzer.units import Parsed
from rules import policy
from rules.finding import Coverage, Judged, Report, Unanalysed
from rules.markers import declared

if TYPE_CHECKING:
    from analyzer.markers import Marker
    from rules.judge import Prepared

Progress = Callable[[int, int, str], None]

_MAGIC = b"vt-lint report 1\n"
_KEPT = 24
"""Reports kept of a folder, the most recent ones."""


@no_collector()
def check(
    tree: Path,
    *,
    config: Config | None = None,
    paths: tuple[str, ...] = (),
    profiles: Sequence[str] | None = None,
    jobs: int | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    overrides: Iterable[policy.Override] = (),
) -> Report:
    """Analyse `tree` and report what the rules find, in the files under `paths` (relative; all when empty).

    The whole tree is read whatever `paths` says: a verdict needs the program. Raises `analyzer.config.SetupError`
    when the run cannot start; a file that cannot be analysed is listed in the report's coverage."""
    gc.collect()  # what an earlier run in this process left is in cycles
    settings = config if config is not None else load(tree)
    markers = declared(settings.extra)
    folder = cache_module.default_folder() if cache else None
    said = tuple(overrides)
    began = time.perf_counter()
    waiting = _Waiting(folder)
    gather = functools.partial(
        collect,
        tree,
        settings,
        markers=[m.name for m in markers],
        profiles=profiles,
        jobs=jobs,
        cache=folder,
        progress=progress,
        meanwhile=waiting.steps,
        later=waiting.unsaved.append,
    )
    collected = gather(facts=False)
    key = (
        cache_module.digest(
            collected.digest, markers, said, profiles is None, cache_module.code_digest("analyzer", "rules")
        )
        if collected.digest
        else ""
    )
    kept = _kept(folder, key)
    if kept is not None and folder is not None and kept.keys != collected.keys:
        results = waiting.results() or cache_module.Store(folder, tree.resolve()).load().results
        with beside(waiting.save, jobs) as saved:
            kept = _moved(kept, collected, tree, results)
            saved()
        waiting.unsaved.clear()
        if kept is not None:
            _keep(folder, key, msgspec.msgpack.encode(kept))
    if kept is None and not collected.parsed:
        collected = gather()
    facts_at = time.perf_counter()
    seconds: dict[str, float] = {}
    if kept is None:
        judging = _Judging(gather, collected, waiting, tree, markers, said, profiles is None, jobs)
        collected = msgspec.structs.replace(collected, parsed=())  # they are freed where they are not needed
        encoded, seconds = judging.run()
        _keep(folder, key, encoded)
        kept = msgspec.msgpack.decode(encoded, type=Judged)
    waiting.save()
    findings = kept.findings
    if paths:
        findings = tuple(f for f in findings if _under(f.place.path, paths) and f.rule != "VT900")
    texts = {f.place.path for f in findings}
    return Report(
        tree=str(tree),
        profiles=tuple(p.name for p in collected.profiles),
        coverage=_coverage(collected, kept.left, paths),
        findings=findings,
        seconds={"facts": facts_at - began, **seconds, "total": time.perf_counter() - began},
        notes=collected.notes,
        hashes={path: _sha(tree / path) for path in sorted(texts)},
        stats=collected.stats,
    )


class _Waiting:
    """What can be done while something else is waited for. `unsaved`: what is to be kept below `folder`."""

    def __init__(self, folder: Path | None) -> None:
        self.unsaved: list[cache_module.Unsaved] = []
        self._folder = folder
        self._prepared: Prepared | None = None

    def prepared(self) -> Prepared:
        """Return what a judgement needs of earlier runs."""
        if self._prepared is None:
            from analyzer.memo import Memo, memo_file
            from rules.judge import Prepared

            self._prepared = Prepared(Memo(memo_file(self._folder) if self._folder is not None else None))
        return self._prepared

    def steps(self, known: Iterable[Parsed]) -> Iterator[None]:
        """Prepare a judgement, step by step."""
        yield
        yield from self.prepared().steps(known)

    def forget(self) -> None:
        """Drop what a judgement needs."""
        self._prepared = None

    def results(self) -> Mapping[str, msgspec.Raw]:
        """Return what is not kept yet, with what was kept before."""
        return self.unsaved[-1].pack.results if self.unsaved else {}

    def save(self) -> None:
        """Keep what is not kept yet."""
        while self.unsaved:
            self.unsaved.pop().save()


@dataclass
class _Judging:
    """The judgement of a run, in a copy of this process if there may be one."""

    gather: Callable[[], Collected]
    collected: Collected
    waiting: _Waiting
    tree: Path
    markers: tuple[Marker, ...]
    said: tuple[policy.Override, ...]
    complete: bool
    jobs: int | None
    held: list[object] = field(default_factory=list)

    def run(self) -> tuple[bytes, dict[str, float]]:
        """Return what is to be kept, and the seconds of each phase. What the run has to save is saved meanwhile."""
        self.waiting.prepared()
        with beside(self._judge, self.jobs, self._free) as judged:
            self.waiting.save()
            return judged()

    def _free(self) -> None:
        self.collected = msgspec.structs.replace(self.collected, parsed=())
        self.waiting.forget()

    def _judge(self) -> tuple[bytes, dict[str, float]]:
        # The interpreter and the flow: only when something has to be judged.
        from rules.judge import judge_facts

        self.waiting.unsaved.clear()  # of a copy: it is saved there, and is much
        if not self.collected.parsed:  # the copy died
            self.collected = self.gather()
        found, seconds, analysis = judge_facts(
            self.tree,
            self.collected,
            self.markers,
            self.said,
            complete=self.complete,
            prepared=self.waiting.prepared(),
            jobs=self.jobs,
        )
        self.held.append(analysis)  # to free it takes time, and a copy ends anyway
        return msgspec.msgpack.encode(msgspec.structs.replace(found, keys=self.collected.keys)), seconds


def _sha(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _kept(folder: Path | None, key: str) -> Judged | None:
    if folder is None or not key:
        return None
    payload = cache_module.read_sealed(folder / "reports" / key, _MAGIC)
    try:
        return None if payload is None else msgspec.msgpack.decode(payload, type=Judged)
    except msgspec.DecodeError:
        return None


def _moved(
    kept: Judged, collected: Collected, tree: Path, results: Mapping[str, msgspec.Raw]
) -> Judged | None:
    """`kept`, of code that has only been laid out anew since, as of the facts of now; None if that cannot be told.
    `results`: facts by key, those of both among them."""
    from rules.moved import told_anew
    from rules.texts import Texts

    changed = [pair for pair in zip(kept.keys, collected.keys, strict=True) if pair[0] != pair[1]]

    def result(key: str) -> Parsed:
        return msgspec.msgpack.decode(results[key], type=Parsed)

    if not all(key in results for pair in changed for key in pair):
        return None  # too long ago
    told = told_anew(kept, [(result(old), result(new)) for old, new in changed], Texts(tree))
    return msgspec.structs.replace(told, keys=collected.keys) if told is not None else None


def _keep(folder: Path | None, key: str, encoded: bytes) -> None:
    if folder is None or not key:
        return
    reports = folder / "reports"
    try:
        cache_module.write_sealed(reports / key, _MAGIC, encoded)
        old = sorted(reports.iterdir(), key=lambda p: p.stat().st_mtime_ns, reverse=True)[_KEPT:]
        for path in old:
            path.unlink(missing_ok=True)
    except OSError:
        return  # a full disk or a read-only home costs time, not the result


def _under(path: str, paths: tuple[str, ...]) -> bool:
    return any(path == p or path.startswith(p.rstrip("/") + "/") or p in (".", "") for p in paths)


def _coverage(collected: Collected, unfollowed: tuple[Unanalysed, ...], paths: tuple[str, ...]) -> Coverage:
    unread = tuple(Unanalysed(u.path, u.line, u.reason) for u in collected.unanalysed)
    left = tuple(u for u in (*unread, *unfollowed) if not paths or _under(u.path, paths))
    return Coverage(collected.files, collected.candidates, collected.candidates - len(left), left)
