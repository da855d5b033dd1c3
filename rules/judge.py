"""Judge collected facts: link, interpret, follow, run every rule, number and suppress."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from analyzer import ir
from analyzer.collect import Collected
from analyzer.copies import beside
from analyzer.domain import Path as Lvalue
from analyzer.flow import Flow, producing
from analyzer.honours import NOT_APPLICABLE, operands
from analyzer.honours import matrix as matrix_of
from analyzer.interp import running
from analyzer.markers import Marker
from analyzer.memo import Memo
from analyzer.program import Program, Reader, link
from analyzer.summary import Dispatch, Facts
from analyzer.units import Parsed
from rules import policy, suppression_without_reason, unanalysed_candidate, unused_suppression
from rules.analysis import Analysis, declared_devices
from rules.finding import Finding, Hop, Judged, Place, Severity, Unanalysed, Verdict
from rules.finish import Finisher
from rules.registry import RULES
from rules.suppress import Allow, allows
from rules.texts import Texts


@dataclass(frozen=True)
class Prepared:
    """What a judgement needs of earlier runs, and of files that are parsed before others."""

    memo: Memo
    reader: Reader = field(default_factory=Reader)

    def steps(self, known: Iterable[Parsed]) -> Iterator[None]:
        """Read ahead, step by step, as far as there is time."""
        for each in known:
            self.reader.read(each.facts)
            yield
        yield from self.memo.read_ahead(self.reader)


def judge_facts(
    tree: Path,
    collected: Collected,
    markers: tuple[Marker, ...],
    overrides: tuple[policy.Override, ...],
    *,
    complete: bool,
    prepared: Prepared,
    jobs: int | None = 1,
) -> tuple[Judged, dict[str, float], Analysis]:
    """Return every finding of the tree, the seconds of each phase, and what the rules looked at. `complete`: every
    profile ran, so an unused suppression can be told. `prepared`: results of functions from earlier runs; new ones are
    added and saved. `jobs`: processes to interpret in, None: one for each core."""
    began = time.perf_counter()
    program = link((each.facts for each in collected.parsed), tuple(m.name for m in markers), prepared.reader)
    linked = time.perf_counter()
    analysis, _ = analyse(program, markers, prepared.memo, jobs)
    followed = time.perf_counter()
    with beside(prepared.memo.save, jobs) as saved:
        judged = _judged(tree, collected, overrides, complete, program, analysis)
        saved()
    ended = time.perf_counter()
    seconds = {"link": linked - began, "flow": followed - linked, "rules": ended - followed}
    return judged, seconds, analysis


def _judged(
    tree: Path,
    collected: Collected,
    overrides: tuple[policy.Override, ...],
    complete: bool,
    program: Program,
    analysis: Analysis,
) -> Judged:
    left = tuple(
        Unanalysed(f.path, f.span.line, f"{f.name}: {why}")
        for sym, why in sorted(analysis.facts.gave_up.items())
        if (f := program.function(sym)) is not None
    )
    unread = (*(Unanalysed(u.path, u.line, u.reason) for u in collected.unanalysed), *left)
    return Judged(report_findings(analysis, Texts(tree), overrides, complete, unread), left)


def analyse(
    program: Program, markers: tuple[Marker, ...], memo: Memo | None = None, jobs: int | None = 1
) -> tuple[Analysis, Flow]:
    """Interpret a linked program and decide what is live."""
    memo = memo or Memo()
    with running(program, markers, memo, jobs) as interpreter:
        streams = producing(program, memo)
        with beside(lambda: operands(streams, markers), jobs) as reading:
            streams.follow()
            facts = interpreter.run()
            matrix = matrix_of(streams, reading())
    assumed = declared_devices(markers, program)

    @functools.cache
    def honoured(marker: str) -> frozenset[str]:
        return matrix.devices(marker) or assumed(marker)

    @functools.cache
    def judge(
        function: ir.Sym, path: Lvalue, marker: str, devices: frozenset[str]
    ) -> tuple[Verdict, str, tuple[Hop, ...]]:
        verdict, reason, hops = streams.verdict(function, path, marker, devices)
        return Verdict(verdict), reason, tuple(Hop(h[0], h[1], h[2]) for h in hops)

    named = {m.name: m for m in markers}
    known = {p.marker for p in streams.producers}

    def marked(function: ir.Sym, path: Lvalue, marker: str) -> bool:
        return marker not in known or streams.state(streams.node(function, path), marker)[0]

    excused = frozenset((c.symbol, c.marker) for c in matrix.cells if c.outcome == NOT_APPLICABLE)
    kernels: dict[ir.Sym, frozenset[str]] = {}
    for cell in matrix.cells:
        if cell.device:
            kernels[cell.symbol] = kernels.get(cell.symbol, frozenset()) | {cell.device}
    registered = frozenset(entry.function for entry in streams.links.registrations)
    kept_out = _kept_out(sorted({c.symbol for c in matrix.cells}), streams, facts)
    faces = memo.faces(program)
    return Analysis(
        program, facts, named, honoured, judge, marked, excused, kernels, registered, kept_out, faces, matrix
    ), streams


def _kept_out(
    kernels: Iterable[ir.Sym], streams: Flow, facts: Facts
) -> dict[tuple[ir.Sym, ir.Sym, str], tuple[tuple[str, int], ...]]:
    """Parameters of kernels, with a marker, that no dispatcher passes marked: it refuses the marker or tests the
    dtype, or it is a kernel itself and hands on a parameter that is kept out of it. Where all refuse it, their calls
    (path, line)."""
    calls: dict[tuple[ir.Sym, ir.Sym, str], list[tuple[ir.Sym, int, int, Dispatch]]] = {}
    for kernel in kernels:
        callers = streams.links.callers(kernel)
        known = [
            (c.function, c.call.span.line, d)
            for c in callers
            if (d := facts.dispatched.get((c.function, c.call.span.begin)))
        ]
        for function in streams.program.variants.get(kernel, ()) if known else ():
            for position, parameter in enumerate(function.params):
                carrier = streams.program.carrier_of(parameter.type)
                for marker in carrier.markers if carrier is not None else ():
                    calls[kernel, parameter.sym, marker] = [(c, line, position, d) for c, line, d in known]
    kept = set(calls)
    while True:
        met = {
            (kernel, parameter, marker)
            for kernel, parameter, marker in kept
            for caller, _, position, dispatch in calls[kernel, parameter, marker]
            if (position, marker) not in dispatch.never
            and not any(at == position and (caller, own, marker) in kept for at, own in dispatch.passes)
        }
        if not met:
            break
        kept -= met
    found: dict[tuple[ir.Sym, ir.Sym, str], tuple[tuple[str, int], ...]] = {}
    for key in sorted(kept):
        refusing = {
            (head.path, line)
            for caller, line, position, dispatch in calls[key]
            if (position, key[2]) in dispatch.refused and (head := streams.program.head(caller)) is not None
        }
        whole = all((position, key[2]) in dispatch.refused for _, _, position, dispatch in calls[key])
        found[key] = tuple(sorted(refusing)) if whole else ()
    return found


def report_findings(
    analysis: Analysis,
    texts: Texts,
    overrides: tuple[policy.Override, ...],
    complete: bool,
    unanalysed: Iterable[Unanalysed],
) -> tuple[Finding, ...]:
    """Run every rule and finish its drafts: place, verdict, fix, suppression. `complete`: every rule and profile ran
    over the whole tree, so an unused suppression can be told."""
    finisher = Finisher(analysis, texts, overrides)
    found: list[Finding] = []
    for rule in RULES:
        if rule.check is not None:
            for draft in rule.check(analysis):
                made = finisher.finish(draft)
                if made is not None:
                    found.append(made)
    for item in unanalysed:
        found.append(_run_finding(unanalysed_candidate.CODE, item.path, item.line, item.reason))
    found = _number(_told_once(found, finisher.parts.values()))
    comments = [a for path in texts.commented(analysis.program) for a in allows(path, texts.bytes(path))]
    found, used = _suppress(found, comments)
    for allow in comments:
        if not allow.valid:
            found.append(
                _run_finding(
                    suppression_without_reason.CODE,
                    allow.path,
                    allow.comment_line,
                    "an allow comment names a rule and gives a reason, or it suppresses nothing",
                    allow,
                )
            )
        elif complete and allow not in used:
            found.append(
                _run_finding(
                    unused_suppression.CODE,
                    allow.path,
                    allow.comment_line,
                    f"no finding of {allow.rule} here any more",
                    allow,
                )
            )
    return tuple(
        sorted(found, key=lambda f: (f.place.path, f.place.line, f.place.column, f.rule, f.marker, f.source))
    )


def _told_once(found: list[Finding], parts: Iterable[list[tuple[int, str]]]) -> list[Finding]:
    """An upload is a note where the view of the uploaded bytes is reported for the same weight and devices; of the
    `parts` of a kernel that read one operand (line of the call, construction), the one it calls first is reported."""
    views = {
        (f.place.path, f.function, f.source, f.marker): f
        for f in found
        if f.rule == "VT001" and f.severity is not Severity.NOTE
    }
    first = {construction: min(part) for part in parts for _, construction in part}
    result = []
    for finding in found:
        view = views.get((finding.place.path, finding.function, finding.source, finding.marker))
        uploads = finding.site is not None and finding.site.form in ("upload", "copy-bytes")
        line, construction = first.get(finding.construction, (0, finding.construction))
        if view is not None and uploads and set(finding.devices) <= set(view.devices):
            reason = f"the view of these bytes says so, {view.place.path}:{view.place.line}"
            finding = msgspec.structs.replace(finding, severity=Severity.NOTE, reason=reason)
        elif construction != finding.construction and finding.severity is not Severity.NOTE:
            place = f"{finding.place.path}:{line}"
            reason = f"its kernel calls another part that reads them first, {place}: that one is reported"
            finding = msgspec.structs.replace(finding, severity=Severity.NOTE, reason=reason)
        result.append(finding)
    return result


def _run_finding(rule: str, path: str, line: int, message: str, allow: Allow | None = None) -> Finding:
    begin, end = (allow.begin, allow.end) if allow is not None else (0, 0)
    return Finding(
        rule=rule, place=Place(path, line, 1, line, 1, begin, end), function="", marker=allow.marker if allow else "",
        devices=(), source="", source_type="", severity=Severity.WARNING if allow else Severity.NOTE,
        verdict=Verdict.UNKNOWN,
            message=message, construction=f"{path}:{line}:{rule}", fingerprint="",
    )  # fmt: skip


def _number(found: list[Finding]) -> list[Finding]:
    """Give fingerprints: no line number, an ordinal to tell repetitions apart."""
    seen: dict[tuple[str, ...], int] = {}
    result = []
    for finding in sorted(found, key=lambda f: (f.place.path, f.place.begin, f.place.line, f.rule, f.marker)):
        site = finding.site
        key = (
            finding.rule,
            finding.place.path,
            finding.function,
            finding.marker,
            finding.source,
            site.form if site else "",
        )
        ordinal = seen.get(key, 0)
        seen[key] = ordinal + 1
        digest = hashlib.sha256("\0".join((*key, str(ordinal))).encode()).hexdigest()[:16]
        result.append(msgspec.structs.replace(finding, fingerprint=digest))
    return result


def _suppress(found: list[Finding], comments: list[Allow]) -> tuple[list[Finding], set[Allow]]:
    used: set[Allow] = set()
    by_place: dict[tuple[str, int], list[Allow]] = {}
    for allow in comments:
        if allow.valid:
            by_place.setdefault((allow.path, allow.line), []).append(allow)
    result = []
    for finding in found:
        lines = range(finding.place.line, max(finding.place.line, finding.place.end_line) + 1)
        match = next(
            (
                a for line in lines for a in by_place.get((finding.place.path, line), ())
                if a.rule == finding.rule and a.marker in ("", finding.marker)
            ),
            None,
        )  # fmt: skip
        if match is not None:
            used.add(match)
            finding = msgspec.structs.replace(finding, suppressed=match.reason)
        result.append(finding)
    return result, used
