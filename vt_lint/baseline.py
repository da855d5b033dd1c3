"""The baseline: known findings by fingerprint, each with a reason, in a JSON file.

A fingerprint holds no line number, so code may move. An entry whose finding is gone makes `check` fail until
it is pruned: what was once repaired cannot come back unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from rules.finding import Finding, Report
from vt_lint.exit import Fault


class Entry(msgspec.Struct, frozen=True):
    """One accepted finding. All but `fingerprint` and `reason` are there for the reader of the file."""

    fingerprint: str
    rule: str
    path: str
    function: str
    marker: str
    reason: str


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: `version` rises on a breaking change."""

    version: int
    entries: tuple[Entry, ...]


def load(path: Path) -> tuple[Entry, ...]:
    """Read the entries of `path`. Raises `Fault` when it is missing, malformed or an entry has no reason."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except FileNotFoundError:
        raise Fault(
            f"{path}: no such baseline; make one with `vt-lint baseline create --reason TEXT`"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Fault(f"{path}: not a baseline: {error}") from None
    if found.version != 1:
        raise Fault(f"{path}: baseline version {found.version}, this vt-lint reads version 1")
    for entry in found.entries:
        if not entry.reason.strip():
            raise Fault(
                f"{path}: {entry.rule} {entry.marker} in {entry.function} has no reason: say why it may stay"
            )
    return found.entries


def save(path: Path, entries: Iterable[Entry]) -> None:
    """Write `entries` to `path`, sorted, one field a line, so that its diffs can be read."""
    order = sorted(entries, key=lambda e: (e.path, e.function, e.rule, e.marker, e.fingerprint))
    text = msgspec.json.format(msgspec.json.encode(Baseline(1, tuple(order))), indent=2)
    path.write_bytes(text + b"\n")


def entry(finding: Finding, reason: str) -> Entry:
    """Return the entry that accepts `finding` for `reason`."""
    return Entry(
        finding.fingerprint,
        finding.rule,
        finding.place.path,
        finding.function,
        finding.marker,
        reason.strip(),
    )


def split(
    findings: Iterable[Finding], entries: Sequence[Entry]
) -> tuple[list[Finding], list[tuple[Finding, Entry]]]:
    """Return the findings that no entry covers, and those that one does, with it."""
    known = {e.fingerprint: e for e in entries}
    new: list[Finding] = []
    accepted: list[tuple[Finding, Entry]] = []
    for finding in findings:
        if finding.fingerprint in known:
            accepted.append((finding, known[finding.fingerprint]))
        else:
            new.append(finding)
    return new, accepted


def gone(report: Report, entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries whose finding `report`, of a whole tree, no longer has.

    Files that could not be analysed prove nothing, so their entries stay.
    """
    present = {f.fingerprint for f in report.findings if not f.suppressed}
    unread = {u.path for u in report.coverage.unanalysed}
    return [e for e in entries if e.fingerprint not in present and e.path not in unread]
