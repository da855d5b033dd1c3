"""From a draft to a finding: its place, verdict, severity, the facts a fix needs, and the policy's action."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from analyzer import domain, ir
from analyzer.program import bare, device_name
from analyzer.walk import walk
from rules import policy
from rules.analysis import READS, Analysis, Draft
from rules.bytes_read_blind import is_live
from rules.finding import Finding, Fix, Hop, Severity, Site, Verdict
from rules.texts import Texts

_SEVERITY = {
    Verdict.LIVE: Severity.ERROR, Verdict.GATED: Severity.ERROR, Verdict.UNKNOWN: Severity.WARNING,
    Verdict.LOUD: Severity.NOTE, Verdict.DEAD: Severity.NOTE,
}  # fmt: skip


def _construction(site: domain.Site) -> str:
    return f"{site.path}:{site.span.begin}:{site.span.end}"


_WORST = tuple(_SEVERITY)
_PART = "a part of a kernel: no caller that leaves the marker to it gets a marked weight"


class Finisher:
    """Completes drafts of one analysis."""

    def __init__(self, analysis: Analysis, texts: Texts, overrides: tuple[policy.Override, ...]) -> None:
        self.analysis = analysis
        self.texts = texts
        self.overrides = overrides
        self.parts: dict[tuple[ir.Sym, str], list[tuple[int, str]]] = {}
        """Readers that are parts of a kernel, by kernel and marker: the line of its call, and their construction."""
        self._tests: dict[ir.Sym, tuple[tuple[str, str], ...]] = {}
        self.uploads: dict[ir.Sym, set[tuple[tuple[str, ...], int]]] = {}
        for obligation in analysis.facts.obligations.values():
            if obligation.site.form in ("copy-bytes", "upload"):
                found = self.uploads.setdefault(obligation.site.function, set())
                found.add((obligation.source, obligation.site.span.begin))

    def finish(self, draft: Draft) -> Finding | None:
        """Return the finding, or None for a reader that no marked weight can reach with its marker."""
        analysis, site = self.analysis, draft.site
        draft = self._on_its_devices(draft)
        verdict, reason, witness = self._verdict(draft)
        carrier = analysis.program.carriers.get(draft.source_type)
        of_view = carrier is not None and carrier.view and site.form in READS and self._is_operand(draft)
        if of_view and site.form != "into":
            if (site.function, draft.marker) in analysis.excused:
                return None  # its operands have no dtype that is ever marked so
            if (site.function, draft.source[0], draft.marker) in analysis.kept_out:
                return None  # whoever dispatches to it passes nothing marked
            if site.function not in analysis.kernels:
                reached = is_live(verdict) and analysis.marked(site.function, draft.source, draft.marker)
                if not reached and draft.rule != "VT004" and not self._is_left_by_a_kernel(draft):
                    return None  # nothing marked is here, and no kernel leaves it to this part of it
                if not analysis.facts.callers.get(site.function):
                    own = (site.function, draft.marker)
                    self.parts.setdefault(own, []).append((site.span.line, _construction(site)))
                elif not draft.latent:
                    verdict, reason, witness = self._at_callers(draft)
                    if not is_live(verdict):
                        draft = replace(draft, latent=_PART)
        severity = Severity.NOTE if draft.latent else _SEVERITY[verdict]
        if (site.function, draft.marker) in analysis.excused:
            severity, reason = Severity.NOTE, f"its operands have no dtype that is ever {draft.marker}"

        source = self._source_text(draft)
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
            construction=_construction(site),
            fingerprint="",
            reason=draft.latent or reason,
            witness=(*witness, *self._taken(draft), *draft.witness),
            site=self._site(draft, source),
            fix=self._fix(draft),
        )

    def _at_callers(self, draft: Draft) -> tuple[Verdict, str, tuple[Hop, ...]]:
        """The worst verdict of the callers that are the last to look at the marker and do not."""
        analysis, marker = self.analysis, draft.marker
        found: list[tuple[Verdict, str, tuple[Hop, ...], ir.Sym, int]] = [(Verdict.DEAD, "", (), "", 0)]
        for function, source, line in self._last_to_look(draft):
            if analysis.marked(function, source, marker):
                devices = analysis.runs_on(function) & draft.devices or draft.devices
                found.append((*analysis.judge(function, source, marker, devices), function, line))
        verdict, reason, witness, function, line = min(found, key=lambda one: (_WORST.index(one[0]), one[3:]))
        if function:
            self.parts.setdefault((function, marker), []).append((line, _construction(draft.site)))
        return verdict, reason, witness

    def _is_left_by_a_kernel(self, draft: Draft) -> bool:
        """Is a kernel that could get the layout the last to look at the marker, and does not?"""
        return any(function in self.analysis.kernels for function, _, _ in self._last_to_look(draft))

    def _last_to_look(self, draft: Draft) -> Iterator[tuple[ir.Sym, domain.Path, int]]:
        """The draft's outermost callers, a lambda as the function around it, but for those that are passed nothing
        with the marker."""
        analysis, marker = self.analysis, draft.marker
        for function, source, line in draft.outermost:
            function = analysis.written_in(function)
            if (function, marker) in analysis.excused or (function, source[0], marker) in analysis.kept_out:
                continue
            yield function, source, line

    def _taken(self, draft: Draft) -> tuple[Hop, ...]:
        """Where the pointer to the bytes was taken, when that is not where they are read."""
        span, site = draft.source_span, draft.site
        if site.form not in READS or span is None or span.macro or not 0 < span.line < site.span.line:
            return ()
        name = self._source_text(draft) or self.analysis.name_of(draft.source)
        return (Hop(site.path, span.line, f"a pointer to the bytes of {name} is taken here"),)

    def _is_operand(self, draft: Draft) -> bool:
        """Is the source a view that the function was handed or made, and not one that lies in a weight struct?"""
        variants = self.analysis.program.variants.get(draft.site.function, ())
        root = draft.source[0]
        return len(draft.source) < 2 or not any(p.sym == root for f in variants for p in f.params)

    def _on_its_devices(self, draft: Draft) -> Draft:
        """A kernel runs where it is registered, device code on its device."""
        known = self.analysis.runs_on(draft.site.function)
        if not known and draft.site.path.endswith((".cu", ".cuh")):
            known = frozenset({"cuda", "gpu"}) & frozenset(self.analysis.program.devices)
        narrowed = draft.devices & known
        return replace(draft, devices=narrowed) if narrowed else draft

    def _verdict(self, draft: Draft) -> tuple[Verdict, str, tuple[Hop, ...]]:
        if draft.verdict is not None:
            return draft.verdict, "", ()
        if draft.rule == "VT008" and draft.source_type == "":
            return Verdict.UNKNOWN, "cached bytes are not followed", ()
        if not draft.site.function:
            return Verdict.UNKNOWN, "", ()
        return self.analysis.judge(draft.site.function, draft.source, draft.marker, draft.devices)

    def _source_text(self, draft: Draft) -> str:
        if draft.source_span is not None and draft.source_span.end > draft.source_span.begin:
            text = self.texts.text(draft.site.path, draft.source_span.begin, draft.source_span.end)
            if len(text) < 80 and "\n" not in text:
                return text
        return ""

    def _fix(self, draft: Draft) -> Fix:
        analysis, site = self.analysis, draft.site
        macro = site.span.macro
        if draft.action == "display":
            return Fix("display", "display")
        if draft.action == "clear":
            return Fix(
                "clear",
                "display" if macro else "unsafe",
                why="the bytes are new: no old layout may be claimed",
            )
        if draft.action in ("require", "narrow", "answer"):
            where = draft.condition
            if not isinstance(where, str):
                where = self.texts.text(site.path, where.begin, where.end) if not where.macro else ""
            # The others keep a layout, or its marker, from weights that had it; a check stops what never worked.
            safety = "safe" if draft.action == "require" else "unsafe"
            shown = macro or not where or "\n" in where
            return Fix(draft.action, "display" if shown else safety, condition=where, why=draft.why)
        honoured = analysis.honours(draft.marker)
        everywhere = frozenset(analysis.program.devices)
        safety = "display" if macro else "safe"
        if draft.action == "refuse":
            if self._needs_a_look(draft):
                safety = "display" if macro else "unsafe"
            if draft.rule == "VT002" and honoured & draft.devices:
                beyond = tuple(sorted(draft.devices - honoured))
                return Fix("both", safety, beyond, f"no kernel of {', '.join(beyond)} reads {draft.marker}")
            return Fix("refuse", safety, why=f"{draft.marker} is not what this code reads")
        if self._is_reshape(draft):
            return Fix("refuse", safety, why=f"{draft.marker} describes the old shape")
        if draft.part or not draft.has_marker:
            fix = policy.decide(draft.marker, draft.devices or frozenset({"cpu"}), honoured, part=True)
        elif (
            not draft.narrowed and draft.devices >= everywhere or site in analysis.facts.retagged
        ) and not self.overrides:
            fix = Fix("propagate", why="no device is decided here: the marker goes where the bytes go")
        else:
            fix = policy.decide(draft.marker, draft.devices, honoured, overrides=self.overrides)
        return msgspec.structs.replace(fix, safety=safety)

    def _needs_a_look(self, draft: Draft) -> bool:
        """Refusing could take a path away that works: whole row groups may be cut, and a reader of views may be
        reached past a caller that looked."""
        marker = self.analysis.markers.get(draft.marker)
        carrier = self.analysis.program.carriers.get(draft.source_type)
        of_view = carrier is not None and carrier.view and draft.site.form in READS
        return of_view or draft.rule == "VT003" and marker is not None and marker.row_group > 0

    def _is_reshape(self, draft: Draft) -> bool:
        """A view made anew of a view, in a shape that is not taken from it."""
        source = self.analysis.program.carriers.get(draft.source_type)
        if (
            source is None
            or not source.view
            or draft.site.form != "factory"
            or draft.site.dest_type not in ("", source.name)
        ):
            return False
        text = self.texts.text(draft.site.path, draft.site.span.begin, draft.site.span.end)
        return ".shape" not in text and "->shape" not in text

    def _site(self, draft: Draft, source: str) -> Site:
        site = draft.site
        function = self.analysis.program.function(site.function) if site.function else None
        return Site(
            form=site.form,
            statement=(site.statement.begin, site.statement.end),
            statement_kind=site.statement_kind,
            dest=site.dest,
            dest_type=site.dest_type,
            source_text=source if source != "this" else "",
            member_op=self._member_operator(draft, source),
            insert_before=self._insert_before(draft, function),
            insert_after=draft.insert_after if draft.insert_after > site.span.end else 0,
            braceless=site.braceless,
            in_lambda=site.in_lambda,
            conditional=site.conditional,
            callee=site.callee,
            dest_has_marker=draft.has_marker,
            device_tests=self._device_tests(function),
        )

    def _member_operator(self, draft: Draft, source: str) -> str:
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

    def _insert_before(self, draft: Draft, function: ir.Function | None) -> int:
        """Before an upload of the same bytes that runs ahead of the construction, in the same block."""
        if function is None or function.body is None:
            return 0
        uploads = [
            begin for source, begin in self.uploads.get(draft.site.function, ())
            if source == draft.source and begin < draft.site.span.begin
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

    def _device_tests(self, function: ir.Function | None) -> tuple[tuple[str, str], ...]:
        if function is None:
            return ()
        if function.sym not in self._tests:
            self._tests[function.sym] = self._find_device_tests(function)
        return self._tests[function.sym]

    def _find_device_tests(self, function: ir.Function) -> tuple[tuple[str, str], ...]:
        program = self.analysis.program
        types = {p.sym: p.type for p in function.params}
        for node in walk(function.body):
            enum = ""
            if isinstance(node, ir.Field) and program.is_device(node.type):
                enum = node.type
            elif (
                isinstance(node, ir.Name)
                and node.kind == "param"
                and program.is_device(types.get(node.sym, ""))
            ):
                enum = types[node.sym]
            if not enum or node.span.macro or node.span.end <= node.span.begin:
                continue
            text = self.texts.text(function.path, node.span.begin, node.span.end)
            if "\n" in text or len(text) > 60:
                continue
            name = bare(enum)
            return tuple((device_name(e), f"{text} == {name}::{e}") for e in program.device_enums[name])
        return ()
