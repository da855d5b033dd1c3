"""A hand-made tree and report, so that the face is tested without the analyser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from rules.finding import (
    Coverage,
    Finding,
    Fix,
    Hop,
    Place,
    Report,
    Severity,
    Site,
    Unanalysed,
    Verdict,
)
from vt_lint.outcome import Outcome

CODE = """\
Tensor Resident(const OwnedTensor& w, Device dev) {
  if (dev.type == DeviceType::kCPU) {
    return Wrap(w.bytes.data(), w.dtype, /*größe=*/w.shape, w.rank);
  }
  return Upload(w);
}
"""
CALL = "Wrap(w.bytes.data(), w.dtype, /*größe=*/w.shape, w.rank)"
BEGIN = CODE.encode().index(b"Wrap(")
END = BEGIN + len(CALL.encode())


def place(line: int = 3, begin: int = BEGIN, path: str = "src/resident.h") -> Place:
    """The call of Wrap: columns are in characters, offsets in bytes, of which `ö` and `ß` have two."""
    return Place(path, line, 12, line, 12 + len(CALL), begin, begin + END - BEGIN)


def finding(
    marker: str = "repacked",
    *,
    rule: str = "VT001",
    severity: Severity = Severity.ERROR,
    verdict: Verdict = Verdict.LIVE,
    where: Place | None = None,
    construction: str = "c1",
    fix: Fix | None = None,
    witness: tuple[Hop, ...] = (),
    suppressed: str = "",
) -> Finding:
    return Finding(
        rule=rule,
        place=where or place(),
        function="vt::Resident",
        marker=marker,
        devices=("cpu",),
        source="w",
        source_type="vt::OwnedTensor",
        severity=severity,
        verdict=verdict,
        message=f"`{marker}` of `w` is neither carried nor refused",
        construction=construction,
        fingerprint=f"{rule}:{marker}:{construction}",
        witness=witness,
        fix=fix,
        suppressed=suppressed,
    )


def report(*findings: Finding, unanalysed: tuple[Unanalysed, ...] = ()) -> Report:
    seen = Coverage(files=4, candidates=9, analysed=9 - len(unanalysed), unanalysed=unanalysed)
    return Report("tree", ("cpu", "cuda"), seen, findings, {"parse": 1.5})


def outcome(
    root: Path, *findings: Finding, unanalysed: tuple[Unanalysed, ...] = (), **more: object
) -> Outcome:
    given = report(*findings, unanalysed=unanalysed)
    counted = tuple(f for f in findings if not f.suppressed)
    hidden = tuple(f for f in findings if f.suppressed)
    fields = {"fail_on": Severity.WARNING, "findings": counted, "suppressed": hidden, "seconds": 2.0, **more}
    return Outcome(root=root, report=given, **fields)  # type: ignore[arg-type]


def lost(**fix: Any) -> Finding:
    """A lost marker with a safe fix."""
    begin = CODE.encode().index(b"return Wrap")
    site = Site(
        "factory",
        statement=(begin, END + 1),
        statement_kind="return",
        dest_type="Tensor",
        source_text="w",
        insert_before=begin,
    )
    fixed = msgspec.structs.replace(Fix("propagate", why="a kernel of cpu reads it"), **fix)
    return msgspec.structs.replace(finding(fix=fixed), site=site)


def check_until_fixed(root: Path, **_options: Any) -> Report:
    """Stands for `rules.check.check`: `lost()` is found until the code copies the marker."""
    return report(*([] if "w.repacked" in (root / "src/resident.h").read_text() else [lost()]))
