"""Runs a check and sorts what it found: the part that `check`, `fix`, `baseline` and `verify` share."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from analyzer.config import load
from analyzer.flags import read_database
from rules.check import check
from rules.finding import Coverage, Finding, Report, Severity
from rules.markers import declared
from rules.policy import Override
from vt_lint import baseline
from vt_lint.exit import Fault
from vt_lint.outcome import Outcome
from vt_lint.settings import evidence_of, policy_of
from vt_lint.since import exported

if TYPE_CHECKING:
    from runtime_check.evidence import Recorded

Progress = Callable[[int, int, str], None]
"""Called with how much is done, of how much, and of what."""


@dataclass(frozen=True)
class Request:
    """What to check: `paths` are relative to `root` (none: all of it), `profiles` empty for those of the
    tree, `jobs` None for one worker a core; `policy` goes before that of the settings."""

    root: Path
    paths: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    jobs: int | None = None
    cache: bool = True
    policy: tuple[Override, ...] = ()

    @property
    def whole(self) -> bool:
        """True if every file is looked at under every profile."""
        return not self.paths and not self.profiles


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Yield a callback that draws a bar on standard error, or None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def advance(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=what)

        yield advance


def report(request: Request) -> Report:
    """Check the tree that `request` names, under its own settings."""
    return _report(request, request.root)


def _report(request: Request, settings: Path) -> Report:
    config = load(settings)
    replaced = {(o.marker, o.device) for o in request.policy}
    with progress_bar() as progress:
        return check(
            request.root,
            config=config,
            paths=request.paths,
            profiles=request.profiles or None,
            jobs=request.jobs,
            cache=request.cache,
            progress=progress,
            overrides=(
                *request.policy,
                *(o for o in policy_of(config) if (o.marker, o.device) not in replaced),
            ),
        )


def outcome(
    request: Request,
    *,
    fail_on: Severity = Severity.WARNING,
    markers: frozenset[str] = frozenset(),
    accepted: Path | None = None,
    since: str = "",
    evidence: Sequence[Path] = (),
) -> Outcome:
    """Check, then take out what a comment, the baseline file `accepted` or the revision `since` accounts for.
    Fixes that the files `evidence`, or those of the settings, prove are marked as verified.

    Raises `Fault` for an unknown marker or revision and for a baseline that is missing or wrong, and
    `VerifyError` for evidence that is.
    """
    began = time.perf_counter()
    entries = baseline.load(accepted) if accepted else ()
    records = recorded(request.root, evidence)
    found, notes = with_evidence(request, _as_fixed(report(request), request.root), records)
    _known(markers, request.root, found)
    chosen = [f for f in found.findings if not markers or f.marker in markers]
    suppressed = tuple(f for f in chosen if f.suppressed)
    counted, covered = baseline.split((f for f in chosen if not f.suppressed), entries)
    existing: list[Finding] = []
    repaired: list[Finding] = []
    if since:
        before = [
            f
            for f in report_of(request, since).findings
            if not f.suppressed and (not markers or f.marker in markers)
        ]
        known = {f.fingerprint for f in before}
        existing = [f for f in counted if f.fingerprint in known]
        counted = [f for f in counted if f.fingerprint not in known]
        present = {f.fingerprint for f in found.findings}
        repaired = [f for f in before if f.fingerprint not in present]
    return Outcome(
        root=request.root,
        report=found,
        fail_on=fail_on,
        findings=tuple(counted),
        suppressed=suppressed,
        accepted=tuple(covered),
        stale=tuple(baseline.gone(found, entries)) if request.whole else (),
        since=since,
        existing=tuple(existing),
        repaired=tuple(repaired),
        evidence=notes,
        seconds=time.perf_counter() - began,
        peak_bytes=max(_peak_bytes(), round(found.stats.get("peak_worker_mb", 0) * 2**20)),
    )


def _as_fixed(found: Report, root: Path) -> Report:
    """Return `found` with the fixes that `fix` makes of cuts."""
    if not any(f.rule == "VT003" and f.severity is not Severity.NOTE for f in found.findings):
        return found
    from codemods.fix import at_whole_groups

    return at_whole_groups(found, root, declared(load(root).extra))


def recorded(root: Path, given: Sequence[Path]) -> tuple[Recorded, ...]:
    """Read the evidence files `given`, else those of the settings. Raises `VerifyError` for a wrong one."""
    files = given or evidence_of(load(root), root)
    if not files:
        return ()
    from runtime_check.evidence import read_evidence

    return tuple(read_evidence(path) for path in files)


def with_evidence(
    request: Request, found: Report, records: Sequence[Recorded]
) -> tuple[Report, tuple[str, ...]]:
    """Return `found` with the fixes marked that `records` prove, and a line for each that proves less than all."""
    if not records:
        return found, ()
    from vt_lint.fixing import Texts, marked, planned, proved

    whole = found if request.whole else report(replace(request, paths=(), profiles=()))
    plans = [
        ("vt-lint fix", planned(whole, request.root)),
        ("vt-lint fix --latent", planned(whole, request.root, latent=True)),
    ]
    marks, notes = proved(Texts(request.root), plans, records)
    safe, latent = marks
    return msgspec.structs.replace(found, findings=marked(found.findings, latent | safe)), notes


def report_of(request: Request, rev: str) -> Report:
    """Check the tree as it was at git revision `rev`, under the settings of now. Raises `Fault`."""
    database, _ = read_database(request.root, load(request.root).database)
    with exported(request.root, rev, database.path if database else "") as old:
        paths = tuple(path for path in request.paths if (old / path).exists())
        if request.paths and not paths:
            return Report(str(old), (), Coverage(0, 0, 0), ())
        return _report(replace(request, root=old, paths=paths), request.root)


def _known(markers: frozenset[str], root: Path, found: Report) -> None:
    names = {m.name for m in declared(load(root).extra)} | {f.marker for f in found.findings if f.marker}
    if unknown := sorted(markers - names):
        raise Fault(f"--marker {unknown[0]}: no such marker; there are {', '.join(sorted(names))}")


def _peak_bytes() -> int:
    """Return the resident memory of this run's largest process, 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # not a POSIX system
        return 0
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak if sys.platform == "darwin" else peak * 1024
