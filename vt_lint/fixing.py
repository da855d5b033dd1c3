"""The fix of a tree under its settings, and which parts of it evidence proves."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from analyzer.config import load
from codemods.edit import Edit
from codemods.fix import FixPlan, fix_until_stable, plan, plan_each
from rules.finding import Finding, Report
from rules.markers import Marker, declared
from runtime_check import Recorded
from runtime_check.evidence import plain
from runtime_check.model import Expected, Status
from vt_lint.settings import check_of

Marks = dict[tuple[str, int], tuple[str, ...]]
"""The devices on which the fix of a finding is proved, by fingerprint and offset."""


def _settings(root: Path) -> tuple[tuple[Marker, ...], str]:
    """The markers and the fallback check that the settings of a tree name."""
    config = load(root)
    return declared(config.extra), check_of(config)


def planned(found: Report, root: Path, *, unsafe: bool = False, latent: bool = False) -> FixPlan:
    """Plan the fix of the findings of `found`, a report on the tree at `root`, under its settings.

    Raises `codemods.apply.ApplyError`, and `SetupError` for wrong settings."""
    markers, macro = _settings(root)
    return plan(found, root, unsafe=unsafe, latent=latent, markers=markers, check=macro)


def write_fix(
    check: Callable[[], Report], root: Path, *, unsafe: bool, latent: bool
) -> tuple[Report, tuple[FixPlan, ...]]:
    """Check, fix and write as `codemods.fix.fix_until_stable`, under the settings of the tree at `root`.

    Raises what that does, and `SetupError` for wrong settings."""
    markers, macro = _settings(root)
    return fix_until_stable(check, root, unsafe=unsafe, latent=latent, markers=markers, check_name=macro)


def edits(found: Report, root: Path) -> dict[tuple[str, int], tuple[Edit, ...]]:
    """Return the edits that fix each finding with a safe fix by itself, by fingerprint and offset.

    Raises as `planned`."""
    markers, macro = _settings(root)
    made = plan_each(found, root, markers=markers, check=macro)
    return {(f.fingerprint, f.place.begin): own for findings, own in made for f in findings}


def expectation(finding: Finding, device: str) -> Expected | None:
    """What the fixed code has to do with the marker on `device`, None where the fix is of another kind."""
    fix = finding.fix
    if fix is None or fix.action not in ("propagate", "refuse", "both"):
        return None
    groups = fix.action == "both" and not fix.refuse_devices or fix.safety == "unsafe"
    if finding.rule == "VT003" and groups and finding.site is not None and finding.site.form != "reshape":
        return "whole groups"  # a layout with row groups: one that has none is refused whole, which is safe
    return "refused" if fix.action == "refuse" or device in fix.refuse_devices else "carried"


class Texts:
    """SHA-256 of the files of a tree by relative path, as they were at the first look."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._known: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """Return the digest of `path` in hexadecimal, empty for a file that cannot be read."""
        if path not in self._known:
            try:
                self._known[path] = sha256((self._root / path).read_bytes()).hexdigest()
            except OSError:
                self._known[path] = ""
        return self._known[path]

    def once_fixed(self, plan: FixPlan) -> Callable[[str], str]:
        """Return the same for the tree with `plan` written."""
        new = {path: sha256(data).hexdigest() for path, data in plan.files.items()}
        return lambda path: new.get(os.path.realpath(self._root / path)) or self(path)


def proved(
    texts: Texts, plans: Sequence[tuple[str, FixPlan]], records: Iterable[Recorded]
) -> tuple[tuple[Marks, ...], tuple[str, ...]]:
    """Return which fixes of each of `plans`, named by its command, `records` prove, and a line for each
    record that proves less than all.

    A record counts for a plan only if both its sides were built from the very texts of now and of the plan."""
    notes: list[str] = []
    taken: list[list[Recorded]] = [[] for _ in plans]
    for record in records:
        reasons = [_other_text(record, texts, plan, command) for command, plan in plans]
        fits = [at for at, reason in enumerate(reasons) if not reason]
        for at in fits:
            taken[at].append(record)
        if not fits:
            notes.append(f"evidence {record.name} proves nothing here: {reasons[0]}")
            continue
        if fits[0] > 0:
            notes.append(f"evidence {record.name} is of what `{plans[fits[0]][0]}` writes")
        open_ = [p for p in record.proofs if p.status is not Status.PASSED]
        if open_:
            counts = Counter(p.status.value for p in open_)
            said = ", ".join(f"{count} {status}" for status, count in counts.items())
            notes.append(f"evidence {record.name}: {said} of {len(record.proofs)}; they prove nothing")
    marks = tuple(
        {(f.fingerprint, f.place.begin): devices for f in plan.fixed if (devices := _devices(f, own))}
        for (_, plan), own in zip(plans, taken, strict=True)
    )
    return marks, tuple(notes)


def marked(findings: Iterable[Finding], marks: Marks) -> tuple[Finding, ...]:
    """Return `findings` with the fixes that `marks` has marked as verified."""
    return tuple(
        msgspec.structs.replace(f, fix=msgspec.structs.replace(f.fix, verified=devices))
        if f.fix is not None and (devices := marks.get((f.fingerprint, f.place.begin)))
        else f
        for f in findings
    )


def holds(record: Recorded, texts: Texts) -> bool:
    """True if the tree is just what the fixed side of `record` was built from."""
    return bool(record.after) and all(texts(path) == sha for path, sha in record.after.items())


def _other_text(record: Recorded, texts: Texts, plan: FixPlan, command: str) -> str:
    """Why `record` is not of this tree and `plan`; empty if it is."""
    if not record.before or not record.after:
        return "it has one side only, so no fault was reproduced"
    for path, sha in record.before.items():
        if texts(path) != sha:
            if holds(record, texts):
                return "this tree has the fix that it is of already"
            return f"{path} is not the file that was built; run `vt-lint verify` again"
    fixed = texts.once_fixed(plan)
    for path, sha in record.after.items():
        if fixed(path) != sha:
            return f"`{command}` makes another {path} than was built; run `vt-lint verify` again"
    return ""


def _devices(finding: Finding, records: Iterable[Recorded]) -> tuple[str, ...]:
    """The devices on which `records` prove the fix of `finding`: of those it carries on and of those it
    refuses on, one each at least, and none on which it failed."""
    about = [
        proof
        for record in records
        for proof in record.proofs
        if (proof.path, proof.helper, proof.marker)
        == (finding.place.path, plain(finding.function), finding.marker)
        and proof.path in record.before
        and proof.path in record.after
        and proof.device in finding.devices
    ]
    if any(p.status in (Status.FAILED, Status.NOT_FIXED) for p in about):
        return ()
    passed = {
        p.device for p in about if p.status is Status.PASSED and p.expected == expectation(finding, p.device)
    }
    wanted = {expectation(finding, device) for device in finding.devices}
    if None in wanted or wanted != {expectation(finding, device) for device in passed}:
        return ()
    return tuple(sorted(passed))
