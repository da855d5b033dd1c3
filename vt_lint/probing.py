"""Which functions a runtime check has to probe, and what is known of how to call them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analyzer import ir
from analyzer.cache import default_folder
from analyzer.collect import collect
from analyzer.config import load
from codemods.fix import Skipped
from rules.finding import Finding, Verdict
from rules.markers import declared
from rules.matrix import Policy
from runtime_check import HelperUnderTest
from runtime_check.call import Signatures
from runtime_check.evidence import plain
from runtime_check.model import Expected
from vt_lint.exit import Fault
from vt_lint.fixing import expectation

_HUNK = re.compile(rb"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_FILE = re.compile(rb"^--- (?:a/)?([^\t\r\n]+)")


def facts(root: Path, jobs: int | None) -> tuple[ir.FileFacts, ...]:
    """Return the facts of the tree at `root`: from the cache, if it was just checked."""
    config = load(root)
    names = [marker.name for marker in declared(config.extra)]
    return tuple(collect(root, config, markers=names, jobs=jobs, cache=default_folder()).facts())


def helpers(findings: Iterable[Finding]) -> tuple[HelperUnderTest, ...]:
    """Return the functions that lose a marker, with what their fix claims on each device.

    The fault has to show before the fix where a marked weight gets through, so not behind a check (LOUD).
    """
    expect: dict[tuple[str, str], dict[str, dict[str, Expected]]] = defaultdict(dict)
    faulty: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(dict)
    begin: dict[tuple[str, str], int] = {}
    for f in findings:
        helper = (f.function, f.place.path)
        for device in () if f.suppressed else f.devices:
            wanted = expectation(f, device)
            if wanted is None:
                continue
            begin.setdefault(helper, f.place.begin)
            expect[helper].setdefault(f.marker, {})[device] = wanted
            if f.verdict is not Verdict.LOUD:
                faulty[helper].setdefault(f.marker, set()).add(device)
    return tuple(
        HelperUnderTest(
            name=name,
            path=path,
            expect=markers,
            faulty={m: frozenset(devices) for m, devices in faulty[name, path].items()},
            begin=begin[name, path],
        )
        for (name, path), markers in expect.items()
    )


def unfixed(skipped: Iterable[Skipped]) -> tuple[HelperUnderTest, ...]:
    """Return the functions that keep losing a marker because its fix is unsafe."""
    markers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for finding in (f for s in skipped for f in s.findings):
        if finding.fix is not None and finding.fix.safety == "unsafe":
            markers[finding.function, finding.place.path].add(finding.marker)
    return tuple(HelperUnderTest(name, path, unfixed=frozenset(own)) for (name, path), own in markers.items())


def twins(findings: Iterable[Finding], known: Sequence[ir.FileFacts]) -> tuple[HelperUnderTest, ...]:
    """Return the functions that VT006 names as the better twin, with what its own losses say of the other: the two
    have to do the same."""
    lost = list(findings)
    own = {(helper.name, helper.path): helper.expect for helper in helpers(lost)}
    functions = {
        (function.path, function.span.line): function
        for file in known
        for function in file.functions
        if function.body is not None
    }
    expect: dict[tuple[str, str], dict[str, Mapping[str, Expected]]] = defaultdict(dict)
    begin: dict[tuple[str, str], int] = {}
    for f in lost:
        for hop in f.witness if f.rule == "VT006" else ():
            twin = functions.get((hop.path, hop.line))
            if twin is not None and twin.name.rpartition("::")[2] == f.function.rpartition("::")[2]:
                key = (twin.name, twin.path)
                expect[key][f.marker] = own.get((f.function, f.place.path), {}).get(f.marker, {})
                begin[key] = twin.span.begin
    return tuple(
        HelperUnderTest(name=name, path=path, expect=markers, begin=begin[name, path])
        for (name, path), markers in expect.items()
    )


def named(
    names: Iterable[str], known: Sequence[ir.FileFacts], policy: Iterable[Policy]
) -> tuple[HelperUnderTest, ...]:
    """Return every function of one of `names`, qualified or not, with what `policy` says of each marker on each
    device. Raises `Fault` for a name that no function has."""
    expect: dict[str, dict[str, Expected]] = defaultdict(dict)
    for row in policy:
        expect[row.marker][row.device] = "carried" if row.action == "propagate" else "refused"
    found: dict[tuple[str, str], HelperUnderTest] = {}
    for name in names:
        wanted = f"::{plain(name)}"
        own = {
            (f.name, f.path): HelperUnderTest(f.name, f.path, expect, begin=f.span.begin)
            for file in known
            for f in file.functions
            if f.body is not None and f"::{plain(f.name)}".endswith(wanted)
        }
        if not own:
            raise Fault(f"--helper {name}: no function of the tree has that name")
        found |= own
    return tuple(found.values())


def fixed_by(
    patch: bytes, findings: Iterable[Finding], known: Sequence[ir.FileFacts], root: Path
) -> tuple[Finding, ...]:
    """Return the findings of functions whose text `patch`, a unified diff of the tree at `root`, changes."""
    changed = _changed_lines(patch)
    signatures = Signatures(known)
    found = []
    for f in findings:
        lines = changed.get(f.place.path)
        if not lines:
            continue
        first, last = f.place.line, f.place.end_line
        for function in signatures.find(HelperUnderTest(f.function, f.place.path, begin=f.place.begin))[:1]:
            text = (root / f.place.path).read_bytes()
            first = function.span.line
            last = text.count(b"\n", 0, function.span.end) + 1
        if any(first <= line <= last for line in lines):
            found.append(f)
    return tuple(found)


def _changed_lines(patch: bytes) -> Mapping[str, set[int]]:
    """The lines of each file's old text that are removed, or before which lines are added."""
    changed: dict[str, set[int]] = {}
    lines: set[int] = set()
    at = 0
    for line in patch.split(b"\n"):
        if match := _FILE.match(line):
            lines = changed.setdefault(match[1].decode(errors="surrogateescape"), set())
        elif match := _HUNK.match(line):
            at = int(match[1])
        elif line.startswith(b"-"):
            lines.add(at)
            at += 1
        elif line.startswith(b"+") and not line.startswith(b"+++ "):
            lines.add(at)
        elif line.startswith(b" "):
            at += 1
    return changed
