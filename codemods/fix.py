"""From a report to edits, and from edits to a tree that checks clean."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from tree_sitter import Node

from codemods import apply
from codemods.ask import ask
from codemods.bind import bind_source, is_temporary
from codemods.clear import clear, clear_lines
from codemods.conditional import conditional_of, split_return
from codemods.construction import CannotFixError, Construction
from codemods.context import Context
from codemods.edit import Edit, Group, apply_edits, digest, merge
from codemods.propagate import carry_lines, propagate
from codemods.refuse import refuse, targets
from codemods.row_cut import row_cut
from codemods.style import Tree, style_of
from codemods.switches import find_switches
from codemods.syntax import Source, after_macro, errors, function
from rules.finding import Finding, Fix, Report, Severity
from rules.markers import MARKERS, Marker
from rules.policy import Override, decide

PASSES = 4
"""How often a tree is fixed and checked again before the fixes are taken not to converge."""

_ACTIONS = ("propagate", "refuse", "both", "clear", "require", "narrow", "answer")


class FixError(Exception):
    """Fixing did not come to an end; the message is one line."""


class Skipped(msgspec.Struct, frozen=True):
    """Findings of one construction that get no edit: why, and the lines to write by hand where they are
    known."""

    findings: tuple[Finding, ...]
    reason: str
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = self.findings[0]
        names = ", ".join(dict.fromkeys(f.marker for f in self.findings))
        shown = "".join(f"\n    {line}" for line in self.lines)
        where = f"{first.place.path}:{first.place.line} {first.function}"
        return f"{where}: {names} not edited: {self.reason}{shown}"


class FixPlan(msgspec.Struct, frozen=True):
    """What `fix` would do.

    `patch` is accepted by `git apply` at the tree's root. `edits` go by real path; `files` holds the planned
    bytes by real path, to be parsed again before they are written. `groups` pairs the findings of each
    construction with the edits that fix them."""

    patch: bytes
    edits: dict[str, tuple[Edit, ...]]
    files: dict[str, bytes]
    groups: tuple[tuple[tuple[Finding, ...], tuple[Edit, ...]], ...]
    skipped: tuple[Skipped, ...]

    @property
    def fixed(self) -> tuple[Finding, ...]:
        """The findings that the edits fix."""
        return tuple(f for findings, _ in self.groups for f in findings)

    @property
    def summary(self) -> tuple[str, ...]:
        """A line for each marker of each construction: what was decided and why."""
        return tuple(map(describe, self.fixed))

    def apply(self) -> tuple[str, ...]:
        """Write the edits and return the real paths written. Raises `codemods.apply.ApplyError`; then no
        file is half written."""
        return apply.write(self.edits)


def plan(
    report: Report,
    tree: Path,
    *,
    unsafe: bool = False,
    latent: bool = False,
    overrides: Iterable[Override] = (),
    markers: Sequence[Marker] = MARKERS,
    check: str = "",
) -> FixPlan:
    """Return the edits that fix the findings of `report`, made on the tree at `tree`.

    Constructions whose findings are all notes (no marked weight gets there today) are left alone without
    `latent`; beside a graver finding of the same construction a note is fixed too. Fixes marked `display`,
    and without `unsafe` those marked `unsafe`, are skipped with their text. `overrides` replace the policy
    for the findings they name, where the finding says which devices honour the marker. `check` names the
    two-argument check to refuse with in files that see none. Raises `codemods.apply.ApplyError` if a file
    cannot be read or is not the one that was checked."""
    files = Tree(tree)
    by_file = _by_file(report, list(overrides), latent=latent)
    switches = find_switches(map(files.read, files.sources()), [m.name for m in markers]) if by_file else {}
    groups: dict[str, tuple[Group, tuple[Finding, ...]]] = {}
    skipped: list[Skipped] = []
    names: dict[str, str] = {}
    for path, findings in sorted(by_file.items()):
        source = _source(files.root, path, report.hashes.get(path))
        if source.path in names:  # the same file under another name
            findings = [f for f in findings if (f.fingerprint, f.place.begin) not in _seen(groups.values())]
        names.setdefault(source.path, path)
        context = Context(source, style_of(source, files, check), markers, switches, unsafe=unsafe)
        made: list[tuple[Group, tuple[Finding, ...]]] = []
        for own, outcome in _fixes(context, findings, findings):
            if isinstance(outcome, Skipped):
                skipped.append(outcome)
            else:
                made.append((Group(str(len(groups) + len(made)), tuple(outcome)), own))
        all_sound = _sound(source, [group for group, _ in made])
        for group, own in made:
            if all_sound or _sound(source, [group]):
                groups[group.label] = (group, own)
            else:
                skipped.append(_skip(own, "the edited file would not parse"))
    merged = merge(group for group, _ in groups.values())
    for group, rival in merged.skipped:
        other = groups[rival][1][0].place
        reason = f"its edit overlaps that of {other.path}:{other.line}; run the command again"
        skipped.append(Skipped(groups.pop(group.label)[1], reason))
    contents = apply.edited(merged.edits)
    patch = b"".join(apply.patch(names[p], old, new) for p, (old, new) in sorted(contents.items()))
    return FixPlan(
        patch=patch,
        edits=merged.edits,
        files={p: new for p, (old, new) in contents.items() if new != old},
        groups=tuple((own, group.edits) for group, own in groups.values()),
        skipped=tuple(skipped),
    )


def plan_each(
    report: Report, tree: Path, *, markers: Sequence[Marker] = MARKERS, check: str = ""
) -> tuple[tuple[tuple[Finding, ...], tuple[Edit, ...]], ...]:
    """Return for each construction with a safe fix its findings and the edits, in file order, that fix it by
    itself: unlike those of `plan` they count on no check that another construction's fix brings.

    `markers` and `check` are as for `plan`. Raises `codemods.apply.ApplyError` as `plan` does."""
    files = Tree(tree)
    by_file = _by_file(report, (), latent=True)
    switches = find_switches(map(files.read, files.sources()), [m.name for m in markers]) if by_file else {}
    made: list[tuple[tuple[Finding, ...], tuple[Edit, ...]]] = []
    for path, findings in sorted(by_file.items()):
        source = _source(files.root, path, report.hashes.get(path))
        style = style_of(source, files, check)
        constructions: dict[str, list[Finding]] = {}
        for finding in findings:
            constructions.setdefault(finding.construction, []).append(finding)
        for own in constructions.values():
            context = Context(source, style, markers, switches)
            for fixed, outcome in _fixes(context, own, findings):
                if isinstance(outcome, Skipped) or not _sound(source, [Group("", tuple(outcome))]):
                    continue
                merged = merge([Group("", tuple(outcome))])
                if not merged.skipped:
                    made.append((fixed, merged.edits[source.path]))
    return tuple(made)


def fix_until_stable(
    check: Callable[[], Report],
    tree: Path,
    *,
    unsafe: bool = False,
    latent: bool = False,
    overrides: Sequence[Override] = (),
    markers: Sequence[Marker] = MARKERS,
    check_name: str = "",
) -> tuple[Report, tuple[FixPlan, ...]]:
    """Check, fix and write until nothing is left to fix; return the last report and all plans made.

    Raises `FixError` if a written file can no longer be analysed or if edits are still planned after `PASSES`
    passes, and `codemods.apply.ApplyError` if a file cannot be written."""
    plans: list[FixPlan] = []
    unread: set[tuple[str, str]] | None = None
    written: dict[str, tuple[bytes, bytes]] = {}
    while True:
        report = check()
        broken = [
            u for u in report.coverage.unanalysed if unread is not None and (u.path, u.reason) not in unread
        ]
        if broken:
            first = broken[0]
            apply.restore(written)
            raise FixError(f"{first.path}:{first.line}: {first.reason} once fixed; this pass is taken back")
        unread = {(u.path, u.reason) for u in report.coverage.unanalysed}
        plans.append(
            plan(
                report,
                tree,
                unsafe=unsafe,
                latent=latent,
                overrides=overrides,
                markers=markers,
                check=check_name,
            )
        )
        if not plans[-1].files:
            return report, tuple(plans)
        if len(plans) > PASSES:
            left = "; ".join(plans[-1].summary[:3])
            raise FixError(f"{tree}: still not stable after {PASSES} passes, left as it is: {left}")
        written = apply.edited(plans[-1].edits)
        plans[-1].apply()


def _by_file(report: Report, overrides: Sequence[Override], *, latent: bool) -> dict[str, list[Finding]]:
    """The findings to fix, by file: without `latent` none of constructions that only notes speak of."""
    by_file: dict[str, list[Finding]] = {}
    grave = {f.construction for f in report.findings if f.severity is not Severity.NOTE and not f.suppressed}
    for finding in report.findings:
        if (
            finding.fix is not None
            and finding.fix.action in _ACTIONS
            and finding.site
            and not finding.suppressed
            and (latent or finding.construction in grave)
        ):
            by_file.setdefault(finding.place.path, []).append(_overridden(finding, overrides))
    return by_file


def _source(root: Path, path: str, sha: str | None) -> Source:
    real = Path(os.path.realpath(root / path))
    try:
        data = real.read_bytes()
    except OSError as error:
        raise apply.ApplyError(f"{path}: {error.strerror}; nothing was written") from error
    if sha and sha != digest(data):
        raise apply.ApplyError(
            f"{path}: changed since it was checked; nothing was written, run the command again"
        )
    return Source(real, path, data)


def _overridden(finding: Finding, overrides: Sequence[Override]) -> Finding:
    fix = finding.fix
    own = [o for o in overrides if o.marker == finding.marker]
    if (
        fix is None
        or not own
        or fix.action in ("clear", "require", "narrow", "answer")
        or not finding.devices
    ):
        return finding
    part = finding.rule == "VT003" or (finding.site is not None and finding.site.form in ("slice", "reshape"))
    honours = (
        frozenset(finding.devices) - frozenset(fix.refuse_devices) if fix.action != "refuse" else frozenset()
    )
    said = decide(finding.marker, frozenset(finding.devices), honours, part=part, overrides=own)
    return msgspec.structs.replace(
        finding,
        fix=msgspec.structs.replace(
            fix, action=said.action, refuse_devices=said.refuse_devices, why=said.why
        ),
    )


_Outcome = tuple[tuple[Finding, ...], "list[Edit] | Skipped"]


def _fixes(
    context: Context, findings: Sequence[Finding], everything: Sequence[Finding]
) -> Iterable[_Outcome]:
    """Edits or the reason for none, for each construction of `findings` in order of the file, of which
    `everything` are all."""
    constructions: dict[tuple[str, str, str], list[Finding]] = {}
    left: dict[tuple[str, str], list[Finding]] = {}
    cuts: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}
    for finding in findings:
        finding, cut = _at_whole_groups(context.source, context.row_groups, finding)
        reason = _ineligible(context, finding) or _kept_below(context, finding, everything)
        if reason:
            left.setdefault((finding.construction, reason), []).append(finding)
        elif finding.site is not None:
            key = (finding.construction, finding.site.source_text, finding.site.form)
            constructions.setdefault(key, []).append(finding)
            cuts[finding.construction, finding.marker] = context.row_groups.get(finding.marker, 0), cut
    for (_, reason), skipped in left.items():
        yield tuple(skipped), _skip(tuple(skipped), reason)
    split: dict[int, list[Construction]] = {}
    ready: list[tuple[Construction, Node]] = []
    for own in sorted(constructions.values(), key=_order):
        construction = Construction(
            tuple(own), "", cuts={f.marker: cuts[f.construction, f.marker] for f in own}
        )
        statement = context.source.statement(construction.begin, construction.end)
        try:
            if statement is None:
                raise CannotFixError("not a statement of a function's body")
            if statement.has_error or after_macro(context.source, statement):
                raise CannotFixError("in or behind a macro that may be a condition of it")
            construction = _spelled(context.source, construction, statement)
            if conditional_of(context.source, construction, statement) is not None:
                split.setdefault(statement.start_byte, []).append(construction)
                continue
            for condition, _, at in targets(context, construction, statement):
                context.want(condition, at)
        except CannotFixError as why:
            yield construction.findings, _skip(construction.findings, str(why))
            continue
        ready.append((construction, statement))
    for construction, statement in ready:
        yield construction.findings, _attempt(context, construction, statement)
    for arms in split.values():
        own_findings = tuple(f for c in arms for f in c.findings)
        try:
            yield own_findings, _split(context, arms)
        except CannotFixError as why:
            yield own_findings, _skip(own_findings, str(why))


def _spelled(source: Source, construction: Construction, statement: Node) -> Construction:
    """Give the construction the spelling of its source: its site's, else the finding's where the function
    has it.

    Raises `CannotFixError` if there is none."""
    first, site = construction.findings[0], construction.site
    if first.fix is not None and first.fix.condition:
        return construction  # it says all that is to be written
    if site.source_text or first.source in ("", "this", "*this"):
        return msgspec.structs.replace(construction, source=site.source_text)
    body = function(statement)
    text = source.text(body.start_byte, body.end_byte)
    if re.search(rf"(?<![\w.>]){re.escape(first.source)}\b", text) is None:
        raise CannotFixError(f"the source, {first.source}, has no spelling here")
    arrow = re.search(rf"(?<![\w.>]){re.escape(first.source)}->", text) is not None
    site = msgspec.structs.replace(site, source_text=first.source, member_op="->" if arrow else ".")
    own = tuple(msgspec.structs.replace(f, site=site) for f in construction.findings)
    return msgspec.structs.replace(construction, findings=own, source=first.source)


def _order(findings: Sequence[Finding]) -> tuple[int, int]:
    first = findings[0]
    before = first.site.insert_before if first.site else 0
    return before or first.place.begin, first.place.begin


def _attempt(context: Context, construction: Construction, statement: Node) -> list[Edit] | Skipped:
    planned = len(context.checks)
    try:
        edits: list[Edit] = []
        if is_temporary(construction.source):
            construction, edits = bind_source(context, construction, statement)
        edits += refuse(context, construction, statement)
        edits += propagate(context, construction, statement)
        edits += clear(context, construction, statement)
        edits += ask(context, construction, statement)
        return _outermost(edits)
    except CannotFixError as why:
        del context.checks[planned:]
        return _skip(construction.findings, str(why))


def _outermost(edits: Sequence[Edit]) -> list[Edit]:
    """Leave out the renaming of a source, and other indents, inside text that is written anew with them in it."""

    def is_inside(e: Edit, o: Edit) -> bool:
        if e.begin == e.end:
            return o.begin < e.begin < o.end and not e.text.strip()
        return o.begin <= e.begin and e.end <= o.end and o.end - o.begin > e.end - e.begin

    return [e for e in edits if not any(is_inside(e, o) for o in edits)]


def _split(context: Context, arms: Sequence[Construction]) -> list[Edit]:
    statement = context.source.statement(arms[0].begin, arms[0].end)
    assert statement is not None
    operators = [conditional_of(context.source, c, statement) for c in arms]
    first = operators[0]
    if first is None or any(o != first for o in operators) or any(is_temporary(c.source) for c in arms):
        raise CannotFixError("inside a conditional operator")
    return split_return(context, arms, statement, first)


def _ineligible(context: Context, finding: Finding) -> str:
    assert finding.fix is not None
    if finding.place.macro:
        return "in the body of a macro"
    if finding.fix.safety == "display":
        return "no place in the code where an edit is known to be right"
    if finding.fix.safety == "unsafe" and not context.unsafe:
        return "unsafe, allow it with --unsafe"
    return ""


def at_whole_groups(report: Report, tree: Path, markers: Sequence[Marker] = MARKERS) -> Report:
    """Return `report` with the fixes, above notes, that `plan` would make of a cut that the code spells: carried for
    whole groups of rows, refused for other parts. Files that cannot be read leave theirs as they are."""
    row_groups = {m.name: m.row_group for m in markers if m.row_group}
    sources: dict[str, Source | None] = {}
    findings = []
    for finding in report.findings:
        path = finding.place.path
        if finding.rule == "VT003" and finding.marker in row_groups and finding.severity is not Severity.NOTE:
            if path not in sources:
                sources[path] = None
                with contextlib.suppress(apply.ApplyError):
                    sources[path] = _source(tree, path, report.hashes.get(path))
            if (source := sources.get(path)) is not None:
                finding, _ = _at_whole_groups(source, row_groups, finding)
        findings.append(finding)
    return msgspec.structs.replace(report, findings=tuple(findings))


def _at_whole_groups(
    source: Source, row_groups: Mapping[str, int], finding: Finding
) -> tuple[Finding, tuple[str, ...]]:
    """`finding` with a fix that lets whole row groups of its layout through, and the numbers to ask for, where the
    code says which rows it cuts off; else as it is."""
    fix, place = finding.fix, finding.place
    group = row_groups.get(finding.marker, 0)
    part = finding.rule == "VT003" and fix is not None and fix.action == "refuse"
    whole = fix is not None and fix.action == "both" and not fix.refuse_devices
    statement = source.statement(place.begin, place.end)
    if not group or not (part or whole) or place.macro or statement is None:
        return finding, ()
    cut = row_cut(source, statement, group)
    if part and cut:
        why = f"it describes groups of {group} rows"
        finding = msgspec.structs.replace(finding, fix=Fix("both", "safe", why=why))
    return finding, cut


def _kept_below(context: Context, finding: Finding, findings: Sequence[Finding]) -> str:
    """Why a move of bytes is not to be refused: what is made of them further down carries the marker."""
    site, begin = finding.site, finding.place.begin
    if site is None or site.form not in ("copy-bytes", "upload"):
        return ""
    statement = context.source.statement(begin, finding.place.end)
    body = function(statement) if statement is not None else None
    stored = rf"[.>]{finding.marker}\s*=\s*{re.escape(finding.source)}(?:\.|->){finding.marker}\s*;"
    later = any(
        f.marker == finding.marker
        and f.source == finding.source
        and f.function == finding.function
        and f.place.begin > begin
        and f.fix is not None
        and f.fix.action in ("propagate", "both")
        for f in findings
    )
    if later or (body is not None and re.search(stored, context.source.text(begin, body.end_byte))):
        return "what is made of these bytes below carries the marker"
    return ""


def _skip(findings: tuple[Finding, ...], reason: str) -> Skipped:
    site = findings[0].site
    construction = Construction(findings, (site.source_text if site else "") or findings[0].source)
    lines = carry_lines(construction, construction.site.dest or "t")
    lines += [f"// refuse {construction.marker(m)}" for m in _refused(findings)]
    lines += clear_lines(construction)
    return Skipped(findings, reason, tuple(lines))


def _refused(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f.marker for f in findings if f.fix and f.fix.action in ("refuse", "both")))


def _seen(groups: Iterable[tuple[Group, tuple[Finding, ...]]]) -> set[tuple[str, int]]:
    return {(f.fingerprint, f.place.begin) for _, own in groups for f in own}


def _sound(source: Source, groups: Sequence[Group]) -> bool:
    """True if the file with the edits of `groups` has no more syntax errors than before."""
    merged = merge(groups).edits.get(source.path, ())
    after = Source(Path(source.path), source.name, apply_edits(source.data, merged))
    return errors(after.root) <= errors(source.root)


def describe(finding: Finding) -> str:
    """Say in one line what the fix of `finding` does and why, and where that is proved."""
    fix = finding.fix
    assert fix is not None
    done = {
        "propagate": "carried",
        "refuse": f"refused on {', '.join(finding.devices)}",
        "both": f"carried, and refused {fix.refused_where}",
        "clear": "cleared",
        "require": f"safe once `{fix.condition}` is checked",
        "narrow": f"set only where `{fix.condition}`",
        "answer": f"set to what `{fix.condition}` says",
    }[fix.action]
    why = f": {fix.why}" if fix.why else ""
    proved = f" (verified on {', '.join(fix.verified)})" if fix.verified else ""
    return (
        f"{finding.place.path}:{finding.place.line} {finding.function}: {finding.marker} {done}{proved}{why}"
    )
