"""What a `check` came to, once suppressions, the baseline and `--since` have had their say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rules.finding import Finding, Report, Severity
from vt_lint.baseline import Entry
from vt_lint.exit import Exit

RANK: dict[Severity, int] = {Severity.NOTE: 0, Severity.WARNING: 1, Severity.ERROR: 2}


@dataclass(frozen=True)
class Outcome:
    """The findings of `report`, sorted by what becomes of them.

    `findings` are the ones that count; `suppressed` those with a comment in the source; `accepted` pairs a
    finding with the baseline entry that covers it; `stale` are entries whose finding is gone. With `since`,
    `existing` are findings that the revision has too and `repaired` those that only the revision has.
    `evidence` has a line for each evidence file that says what it does not prove of this tree. `seconds` is
    wall time, `peak_bytes` the memory of the largest process.
    """

    root: Path
    report: Report
    fail_on: Severity
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...] = ()
    accepted: tuple[tuple[Finding, Entry], ...] = ()
    stale: tuple[Entry, ...] = ()
    since: str = ""
    existing: tuple[Finding, ...] = ()
    repaired: tuple[Finding, ...] = ()
    evidence: tuple[str, ...] = ()
    seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings at or above `fail_on`."""
        return tuple(f for f in self.findings if RANK[f.severity] >= RANK[self.fail_on])

    @property
    def exit_code(self) -> Exit:
        """Unanalysed code outranks findings: their list is then not known to be whole."""
        if self.report.coverage.unanalysed:
            return Exit.UNANALYSED
        return Exit.FINDINGS if self.failing or self.stale else Exit.OK


def closing_line(outcome: Outcome) -> str:
    """Return the line that ends every run: what was looked at, for how long, and what was not."""
    seen = outcome.report.coverage
    peak = f", peak {outcome.peak_bytes / 2**20:.0f} MiB a process" if outcome.peak_bytes else ""
    profiles = "+".join(outcome.report.profiles) or "none"
    return (
        f"{seen.files} files, profiles {profiles}, {seen.candidates} candidates, "
        f"{seen.analysed} analysed, {len(seen.unanalysed)} unanalysed, {outcome.seconds:.1f} s{peak}"
    )
