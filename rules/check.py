"""From a tree to a report: facts, program, obligations, verdicts, rules, suppressions."""

from __future__ import annotations

import bisect
import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from analyzer import ir
from analyzer.collect import Collected, collect
from analyzer.config import Config, load
from analyzer.domain import Path as Lvalue
from analyzer.flow import Flow, flow
from analyzer.honours import honours
from analyzer.interp import interpret, walk
from analyzer.markers import Marker
from analyzer.program import Program, device_name, link
from rules import policy, suppression_without_reason, unanalysed_candidate, unused_suppression
from rules.analysis import READS, Analysis, Draft, declared_devices
from rules.bytes_read_blind import is_live
from rules.finding import Coverage, Finding, Fix, Hop, Place, Report, Severity, Site, Unanalysed, Verdict
from rules.markers import declared
from rules.registry import RULES
from rules.suppress import Allow, allows

Progress = Callable[[int, int, str], None]

_SEVERITY = {
    Verdict.LIVE: Severity.ERROR, Verdict.GATED: Severity.ERROR, Verdict.UNKNOWN: Severity.WARNING,
    Verdict.LOUD: Severity.NOTE, Verdict.DEAD: Severity.NOTE,
}  # fmt: skip
_RANK = {Verdict.LIVE: 0, Verdict.GATED: 1, Verdict.UNKNOWN: 2, Verdict.LOUD: 3, Verdict.DEAD: 4}


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
    settings = config if config is not None else load(tree)
    markers = declared(settings.extra)
    began = time.perf_counter()
    collected = collect(
        tree, settings, markers=[m.name for m in markers], profiles=profiles, jobs=jobs, progress=progress
    )
    facts_at = time.perf_counter()
    facts = collected.facts()
    program = link(facts, tuple(m.name for m in markers))
    link_at = time.perf_counter()
    analysis, streams = analyse(program, markers)
    flow_at = time.perf_counter()
    texts = _Texts(tree)
    everything = profiles is None
    findings = report_findings(analysis, texts, tuple(overrides), paths, everything and not paths, collected.unanalysed)
    del streams
    ended = time.perf_counter()
    wanted = {f.place.path for f in findings}
    return Report(
        tree=str(tree),
        profiles=tuple(p.name for p in collected.profiles),
        coverage=_coverage(collected, paths),
        findings=findings,
        seconds={
            "facts": facts_at - began, "link": link_at - facts_at, "flow": flow_at - link_at, "rules": ended - flow_at,
            "total": ended - began,
        },
        notes=collected.notes,
        hashes={path: hashlib.sha256(texts.bytes(path)).hexdigest() for path in sorted(wanted)},
        stats=collected.stats,
    )  # fmt: skip


def analyse(program: Program, markers: tuple[Marker, ...]) -> tuple[Analysis, Flow]:
    """Interpret a linked program and decide what is live."""
    facts = interpret(program, markers)
    streams = flow(program)
    matrix = honours(streams, markers)
    assumed = declared_devices(markers, program)

    def honoured(marker: str) -> frozenset[str]:
        return matrix.devices(marker) or assumed(marker)

    def judge(function: ir.Sym, path: Lvalue, marker: str, devices: frozenset[str]) -> tuple[Verdict, str, tuple[Hop, ...]]:
        verdict, reason, hops = streams.verdict(function, path, marker, devices)
        return Verdict(verdict), reason, tuple(Hop(h[0], h[1], h[2]) for h in hops)

    named = {m.name: m for m in markers}
    return Analysis(program, facts, named, honoured, judge), streams


def report_findings(
    analysis: Analysis,
    texts: _Texts,
    overrides: tuple[policy.Override, ...],
    paths: tuple[str, ...],
    complete: bool,
    unanalysed: Iterable[Unanalysed],
) -> tuple[Finding, ...]:
    """Run every rule and finish its drafts: place, verdict, fix, suppression. `complete`: every rule and profile ran
    over the whole tree, so an unused suppression can be told."""
    finisher = _Finisher(analysis, texts, overrides)
    found: list[Finding] = []
    for rule in RULES:
        if rule.check is not None:
            for draft in rule.check(analysis):
                if not paths or _under(draft.site.path, paths):
                    made = finisher.finish(draft)
                    if made is not None:
                        found.append(made)
    for item in unanalysed:
        if not paths or _under(item.path, paths):
            found.append(_run_finding(unanalysed_candidate.CODE, item.path, item.line, item.reason))
    found = _number(found)
    comments = [a for path in texts.commented(analysis) if not paths or _under(path, paths) for a in allows(path, texts.bytes(path))]
    found, used = _suppress(found, comments)
    for allow in comments:
        if not allow.valid:
            found.append(_run_finding(suppression_without_reason.CODE, allow.path, allow.comment_line, "an allow comment names a rule and gives a reason, or it suppresses nothing", allow))
        elif complete and allow not in used:
            found.append(_run_finding(unused_suppression.CODE, allow.path, allow.comment_line, f"no finding of {allow.rule} here any more", allow))
    return tuple(sorted(found, key=lambda f: (f.place.path, f.place.line, f.place.column, f.rule, f.marker, f.source)))


def _under(path: str, paths: tuple[str, ...]) -> bool:
    return any(path == p or path.startswith(p.rstrip("/") + "/") or p in (".", "") for p in paths)


def _coverage(collected: Collected, paths: tuple[str, ...]) -> Coverage:
    left = tuple(
        Unanalysed(u.path, u.line, u.reason) for u in collected.unanalysed if not paths or _under(u.path, paths)
    )
    return Coverage(collected.files, collected.candidates, collected.candidates - len(left), left)


class _Texts:
    """Bytes and line starts of the files that findings are in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._bytes: dict[str, bytes] = {}
        self._starts: dict[str, list[int]] = {}

    def bytes(self, path: str) -> bytes:
        data = self._bytes.get(path)
        if data is None:
            try:
                data = (self.root / path).read_bytes()
            except OSError:
                data = b""
            self._bytes[path] = data
        return data

    def text(self, path: str, begin: int, end: int) -> str:
        return self.bytes(path)[begin:end].decode("utf-8", "replace")

    def place(self, path: str, span: ir.Span) -> Place:
        if not span.end:
            return Place(path, span.line, 1, span.line, 1, 0, 0, span.macro)
        line, column = self.position(path, span.begin)
        end_line, end_column = self.position(path, span.end)
        return Place(path, line, column, end_line, end_column, span.begin, span.end, span.macro)

    def position(self, path: str, offset: int) -> tuple[int, int]:
        starts = self._starts.get(path)
        if starts is None:
            data = self.bytes(path)
            starts = [0]
            at = data.find(b"\n")
            while at >= 0:
                starts.append(at + 1)
                at = data.find(b"\n", at + 1)
            self._starts[path] = starts
        row = bisect.bisect_right(starts, offset) - 1
        return row + 1, len(self.text(path, starts[row], offset)) + 1

    def commented(self, analysis: Analysis) -> list[str]:
        return sorted(p for p in analysis.program.profiles if b"vt-lint:" in self.bytes(p))


class _Finisher:
    def __init__(self, analysis: Analysis, texts: _Texts, overrides: tuple[policy.Override, ...]) -> None:
        self.analysis = analysis
        self.texts = texts
        self.overrides = overrides

    def finish(self, draft: Draft) -> Finding | None:
        analysis, site = self.analysis, draft.site
        verdict, reason, witness = self.verdict(draft)
        carrier = analysis.program.carriers.get(draft.source_type)
        of_view = carrier is not None and carrier.view and site.form in READS
        if of_view and draft.rule != "VT004" and not is_live(verdict):
            return None  # a kernel that reads an operand no marked weight reaches
        severity = Severity.NOTE if draft.latent else _SEVERITY[verdict]
        source = self.source_text(draft)
        return Finding(
            rule=draft.rule,
            place=self.texts.place(site.path, site.span),
            function=analysis.function_name(site.function) if site.function else draft.source_type,
            marker=draft.marker,
            devices=tuple(sorted(draft.devices)),
            source=source or analysis.name_of(draft.source),
            source_type=draft.source_type,
            severity=severity,
            verdict=verdict,
            message=draft.message,
            construction=f"{site.path}:{site.span.begin}:{site.span.end}",
            fingerprint="",
            reason=draft.latent or reason,
            witness=(*witness, *draft.witness),
            site=self.site(draft, source),
            fix=self.fix(draft),
        )

    def verdict(self, draft: Draft) -> tuple[Verdict, str, tuple[Hop, ...]]:
        if draft.verdict is not None:
            return draft.verdict, "", ()
        if draft.rule == "VT008" and draft.source_type == "":
            return Verdict.UNKNOWN, "cached bytes are not followed", ()
        if not draft.site.function:
            return Verdict.UNKNOWN, "", ()
        return self.analysis.judge(draft.site.function, draft.source, draft.marker, draft.devices)

    def source_text(self, draft: Draft) -> str:
        if draft.source_span is not None and draft.source_span.end > draft.source_span.begin:
            text = self.texts.text(draft.site.path, draft.source_span.begin, draft.source_span.end)
            if len(text) < 80 and "\n" not in text:
                return text
        return ""

    def fix(self, draft: Draft) -> Fix:
        analysis, site = self.analysis, draft.site
        macro = site.span.macro
        if draft.action == "display":
            return Fix("display", "display")
        if draft.action == "clear":
            return Fix("clear", "display" if macro else "unsafe", why="the bytes are new: no old layout may be claimed")
        honoured = analysis.honours(draft.marker)
        everywhere = frozenset(analysis.program.devices)
        safety = "display" if macro else "safe"
        if draft.action == "refuse":
            if draft.rule == "VT002" and honoured & draft.devices:
                beyond = tuple(sorted(draft.devices - honoured))
                return Fix("both", safety, beyond, f"no kernel of {', '.join(beyond)} reads {draft.marker}")
            return Fix("refuse", safety, why=f"{draft.marker} is not what this code reads")
        if self.is_reshape(draft):
            return Fix("refuse", safety, why=f"{draft.marker} describes the old shape")
        if draft.part or not draft.has_marker:
            fix = policy.decide(draft.marker, draft.devices or frozenset({"cpu"}), honoured, part=True)
        elif (not draft.narrowed and draft.devices >= everywhere or site in analysis.facts.retagged) and not self.overrides:
            fix = Fix("propagate", why="no device is decided here: the marker goes where the bytes go")
        else:
            fix = policy.decide(draft.marker, draft.devices, honoured, overrides=self.overrides)
        return msgspec.structs.replace(fix, safety=safety)

    def is_reshape(self, draft: Draft) -> bool:
        """A view made anew of a view, in a shape that is not taken from it."""
        source = self.analysis.program.carriers.get(draft.source_type)
        if source is None or not source.view or draft.site.form != "factory" or draft.site.dest_type not in ("", source.name):
            return False
        text = self.texts.text(draft.site.path, draft.site.span.begin, draft.site.span.end)
        return ".shape" not in text and "->shape" not in text

    def site(self, draft: Draft, source: str) -> Site:
        site = draft.site
        function = self.analysis.program.function(site.function) if site.function else None
        return Site(
            form=site.form,
            statement=(site.statement.begin, site.statement.end),
            statement_kind=site.statement_kind,
            dest=site.dest,
            dest_type=site.dest_type,
            source_text=source if source != "this" else "",
            member_op=self.member_operator(draft, source),
            insert_before=self.insert_before(draft, function),
            insert_after=draft.insert_after if draft.insert_after > site.span.end else 0,
            braceless=site.braceless,
            in_lambda=site.in_lambda,
            conditional=site.conditional,
            callee=site.callee,
            dest_has_marker=draft.has_marker,
            device_tests=self.device_tests(function),
        )

    def member_operator(self, draft: Draft, source: str) -> str:
        if not source or source == "this":
            return ""
        function = self.analysis.program.function(draft.site.function)
        if function is not None and source.isidentifier():
            for param in function.params:
                if param.name == source:
                    return "->" if param.type.rstrip().endswith("*") else "."
        if source.startswith("*"):
            return "*"
        return "."

    def insert_before(self, draft: Draft, function: ir.Function | None) -> int:
        """Before an upload of the same bytes that runs ahead of the construction, in the same block."""
        if function is None or function.body is None:
            return 0
        uploads = [
            o.site.span.begin for o in self.analysis.facts.obligations.values()
            if o.site.function == draft.site.function and o.site.form == "copy-bytes" and o.source == draft.source
            and o.site.span.begin < draft.site.span.begin
        ]  # fmt: skip
        if not uploads:
            return 0
        for block in walk(function.body):
            if isinstance(block, ir.Block) and not block.decl:
                holding = [s for s in block.body if s.span.begin <= draft.site.span.begin < s.span.end]
                ahead = [s for s in block.body for u in uploads if s.span.begin <= u < s.span.end]
                if holding and ahead and ahead[0] is not holding[0]:
                    return ahead[0].span.begin
        return 0

    def device_tests(self, function: ir.Function | None) -> tuple[tuple[str, str], ...]:
        if function is None:
            return ()
        program = self.analysis.program
        types = {p.sym: p.type for p in function.params}
        for node in walk(function.body):
            enum = ""
            if isinstance(node, ir.Field) and program.is_device(node.type):
                enum = node.type
            elif isinstance(node, ir.Name) and node.kind == "param" and program.is_device(types.get(node.sym, "")):
                enum = types[node.sym]
            if not enum or node.span.macro or node.span.end <= node.span.begin:
                continue
            text = self.texts.text(function.path, node.span.begin, node.span.end)
            if "\n" in text or len(text) > 60:
                continue
            from analyzer.program import bare

            name = bare(enum)
            return tuple(
                (device_name(e), f"{text} == {name}::{e}") for e in program.device_enums[name]
            )
        return ()


def _run_finding(rule: str, path: str, line: int, message: str, allow: Allow | None = None) -> Finding:
    begin, end = (allow.begin, allow.end) if allow is not None else (0, 0)
    return Finding(
        rule=rule, place=Place(path, line, 1, line, 1, begin, end), function="", marker=allow.marker if allow else "",
        devices=(), source="", source_type="", severity=Severity.WARNING if allow else Severity.NOTE, verdict=Verdict.UNKNOWN,
        message=message, construction=f"{path}:{line}:{rule}", fingerprint="",
    )  # fmt: skip


def _number(found: list[Finding]) -> list[Finding]:
    """Give fingerprints: no line number, an ordinal to tell repetitions apart."""
    seen: dict[tuple[str, ...], int] = {}
    result = []
    for finding in sorted(found, key=lambda f: (f.place.path, f.place.begin, f.place.line, f.rule, f.marker)):
        site = finding.site
        key = (finding.rule, finding.place.path, finding.function, finding.marker, finding.source, site.form if site else "")
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
