"""Evidence as text, JSON, Markdown, and HTML with its plots inside; none names a folder of this machine."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from runtime_check.evidence import FORMAT_VERSION, identity
from runtime_check.model import BuildRecord, Evidence, Judgement, Observation, Outcome, Status, Timing


def render_json(evidence: Evidence) -> str:
    """Evidence as a JSON document; ``version`` rises with a breaking change, ``id`` is the digest of the rest."""
    data = asdict(evidence)
    data.pop("groups")
    groups = {(g.path, g.helper, g.marker, g.arm): g for g in evidence.groups}
    for record, judgement in zip(data["judgements"], evidence.judgements, strict=True):
        group = groups[(judgement.path, judgement.helper, judgement.marker, judgement.arm)]
        record["status"] = judgement.status.value
        record["faulty_before"] = group.faulty_before
        for side in ("before", "after"):
            for seen in record[side]:
                seen["outcome"] = Outcome(seen["outcome"]).value
    for record, timing in zip(data["timings"], evidence.timings, strict=True):
        record["ratio"] = timing.ratio
    document = {"version": FORMAT_VERSION, **data}
    return json.dumps({**document, "id": identity(document)}, indent=1, sort_keys=True) + "\n"


def render_text(evidence: Evidence) -> str:
    """Evidence for a terminal: one line for each helper, marker and arm, then a summary line."""
    lines = []
    for judgement in evidence.judgements:
        lines.append(f"{judgement.status.value:8} {_title(judgement)}: {judgement.reason}")
        lines += [f"         {side}: {text}" for side, text in _summaries(judgement)]
    for timing in evidence.timings:
        lines.append(f"timing   {_timing(timing)}")
    lines += [f"not probed: {text}" for text in evidence.not_probed]
    lines += [f"note: {text}" for text in evidence.notes]
    for build in evidence.builds:
        lines.append(f"build {build.side}: {_build(build)}")
    lines.append(_summary_line(evidence))
    return "\n".join(lines) + "\n"


def render_markdown(evidence: Evidence) -> str:
    """Evidence for a pull request."""
    lines = [f"### Runtime check, target `{evidence.target}`: {_verdict(evidence)}", ""]
    lines += [f"- {name}: {value}" for name, value in _facts(evidence)]
    lines += [
        "",
        "| result | helper | marker | arm | must be | before | after |",
        "|---|---|---|---|---|---|---|",
    ]
    for judgement in evidence.judgements:
        sides = dict(_summaries(judgement))
        cells = [
            f"**{judgement.status.value}**",
            f"`{judgement.helper}`",
            f"`{judgement.marker}`",
            judgement.arm,
            judgement.expected,
            sides.get("before", ""),
            sides.get("after", ""),
        ]
        lines.append(f"| {' | '.join(c.replace('|', '/') for c in cells)} |")
    problems = [j for j in evidence.judgements if j.status is not Status.PASSED]
    if problems:
        lines += ["", *(f"- {_title(j)}: {j.reason}" for j in problems)]
    if evidence.timings:
        lines += [
            "",
            f"Time of one product through the helper, device events, median; copy bandwidth "
            f"{evidence.timings[0].bandwidth_gbs:.0f} GB/s.",
            "",
            "| M | N | K | plain, us | marked, us | plain / marked | bandwidth plain | bandwidth marked |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {t.m} | {t.n} | {t.k} | {t.plain_us:.1f} | {t.marked_us:.1f} | {t.ratio:.2f} | "
            f"{t.plain_share:.1%} | {t.marked_share:.1%} |"
            for t in evidence.timings
        ]
    lines += ["", *(f"- not probed: {text}" for text in evidence.not_probed)]
    lines += [f"- {text}" for text in evidence.notes]
    return "\n".join(lines).rstrip() + "\n"


def render_html(evidence: Evidence) -> str:
    """Evidence as one HTML file that loads nothing."""
    body = [f"<h1>Runtime check, target {_e(evidence.target)}: {_e(_verdict(evidence))}</h1>", "<dl>"]
    body += [f"<dt>{_e(name)}</dt><dd>{_e(value)}</dd>" for name, value in _facts(evidence)]
    body.append("</dl><h2>Results</h2>")
    rows = []
    for judgement in evidence.judgements:
        sides = dict(_summaries(judgement))
        rows.append(
            f'<tr class="{judgement.status.name.lower()}"><td>{_e(judgement.status.value)}</td>'
            + "".join(
                f"<td>{_e(cell)}</td>"
                for cell in (
                    judgement.helper,
                    judgement.marker,
                    judgement.arm,
                    judgement.expected,
                    sides.get("before", ""),
                    sides.get("after", ""),
                    judgement.reason,
                )
            )
            + "</tr>"
        )
    body.append(_table(("result", "helper", "marker", "arm", "must be", "before", "after", "reason"), rows))
    body.append("<h2>Error against float64</h2>")
    body.append(_error_plot(evidence.judgements))
    if evidence.timings:
        body.append("<h2>Time of one product through the helper</h2>")
        body.append(_timing_plot(evidence.timings))
        body.append(
            _table(
                ("M", "N", "K", "plain, us", "marked, us", "plain / marked", "share, plain", "share, marked"),
                [
                    "<tr>" + "".join(f"<td>{_e(c)}</td>" for c in _timing_cells(t)) + "</tr>"
                    for t in evidence.timings
                ],
            )
        )
    body.append("<h2>Cases</h2>")
    body.append(
        _table(
            (
                "side",
                "case",
                "outcome",
                "not finite",
                "differing",
                "error",
                "plain error",
                "uploaded",
                "message",
            ),
            [
                "<tr>" + "".join(f"<td>{_e(c)}</td>" for c in (side, *_case_cells(seen))) + "</tr>"
                for j in evidence.judgements
                for side, observations in (("before", j.before), ("after", j.after))
                for seen in observations
            ],
        )
    )
    body += [f"<p>Not probed: {_e(text)}</p>" for text in evidence.not_probed]
    body += [f"<p>{_e(text)}</p>" for text in evidence.notes]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Runtime check</title><style>'
        "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;color:#1b1f24}"
        "table{border-collapse:collapse;width:100%;font-size:13px;display:block;overflow-x:auto}"
        "td,th{border-bottom:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}"
        "dt{font-weight:600;float:left;clear:left}dd{margin:0 0 .25rem 11rem;overflow-wrap:anywhere}"
        ".passed td:first-child{color:#116329}.failed td:first-child{color:#a40e26}"
        ".not_run td:first-child,.not_fixed td:first-child{color:#7d4e00}td:first-child{font-weight:600}"
        "</style></head><body>" + "\n".join(body) + "</body></html>\n"
    )


def _e(value: str) -> str:
    return html.escape(value, quote=True)


def _table(heads: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{_e(h)}</th>" for h in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _title(judgement: Judgement) -> str:
    return f"{judgement.helper} {judgement.marker} on {judgement.arm}"


def _verdict(evidence: Evidence) -> str:
    if evidence.bundle_id and not evidence.judgements:
        return "bundle written, nothing run yet"
    counts = {status: sum(j.status is status for j in evidence.judgements) for status in Status}
    return (
        ", ".join(f"{count} {status.value}" for status, count in counts.items() if count) or "nothing judged"
    )


def _summary_line(evidence: Evidence) -> str:
    cases = sum(len(j.before) + len(j.after) for j in evidence.judgements)
    return f"{evidence.target}: {_verdict(evidence)}; {cases} cases, {evidence.seconds:.1f} s"


def _facts(evidence: Evidence) -> list[tuple[str, str]]:
    facts = [
        ("tree", f"{evidence.tree_name}, {evidence.revision}"),
        ("patch", evidence.patch_sha256 or "none"),
        ("inputs", evidence.tree_digest),
    ]
    facts += [(name, value) for name, value in sorted(evidence.toolchain.items())]
    facts += [(name, value) for name, value in sorted(evidence.device.items())]
    facts += [("command", text) for text in evidence.commands]
    for build in evidence.builds:
        text = _build(build)
        if build.trapped:
            text += f"; not built, and trapped if called: {', '.join(build.trapped)}"
        facts.append((f"build {build.side}", text))
    if evidence.bundle_id:
        facts.append(("bundle", evidence.bundle_id))
    return facts


def _build(build: BuildRecord) -> str:
    return f"{build.objects} objects, {build.compiled} compiled, {build.reused} reused, {build.seconds:.1f} s"


def _summaries(judgement: Judgement) -> list[tuple[str, str]]:
    found = []
    for side, observations in (("before", judgement.before), ("after", judgement.after)):
        if observations:
            found.append((side, _summary(observations)))
    return found


def _summary(observations: Sequence[Observation]) -> str:
    ran = [o for o in observations if o.outcome is Outcome.RAN]
    parts = []
    if ran:
        finite = [o.error for o in ran if o.error is not None]
        text = f"{sum(o.differing for o in ran)} of {sum(o.total for o in ran)} outputs differ"
        nonfinite = sum(o.nonfinite for o in ran)
        if nonfinite:
            text += f", {nonfinite} not finite"
        if finite:
            text += f", error up to {max(finite):.2g}"
        parts.append(text)
    for outcome, text in (
        (Outcome.PASSED_THROUGH, "let through, uploaded, marker lost"),
        (Outcome.THREW, "refused"),
        (Outcome.DECLINED, "declined"),
    ):
        count = sum(o.outcome is outcome for o in observations)
        if count:
            parts.append(f"{count} {text}")
    other = [
        o
        for o in observations
        if o.outcome not in (Outcome.RAN, Outcome.PASSED_THROUGH, Outcome.THREW, Outcome.DECLINED)
    ]
    if other:
        parts.append(f"{len(other)} {other[0].outcome.value}")
    return "; ".join(parts)


def _case_cells(seen: Observation) -> tuple[str, ...]:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.3g}"

    return (
        seen.case,
        seen.outcome.value,
        str(seen.nonfinite),
        f"{seen.differing} of {seen.total}",
        number(seen.error),
        number(seen.plain_error),
        str(seen.uploaded),
        seen.message,
    )


def _timing_cells(timing: Timing) -> tuple[str, ...]:
    return (
        str(timing.m),
        str(timing.n),
        str(timing.k),
        f"{timing.plain_us:.1f}",
        f"{timing.marked_us:.1f}",
        f"{timing.ratio:.2f}",
        f"{timing.plain_share:.1%}",
        f"{timing.marked_share:.1%}",
    )


def _timing(timing: Timing) -> str:
    return (
        f"{timing.helper} {timing.marker} M={timing.m} N={timing.n} K={timing.k}: "
        f"plain {timing.plain_us:.1f} us ({timing.plain_share:.1%} of {timing.bandwidth_gbs:.0f} GB/s), "
        f"marked {timing.marked_us:.1f} us ({timing.marked_share:.1%}), plain / marked {timing.ratio:.2f}"
    )


def _error_plot(judgements: Sequence[Judgement]) -> str:
    rows = [j for j in judgements if any(o.outcome is Outcome.RAN for o in (*j.before, *j.after))]
    if not rows:
        return "<p>No product was computed.</p>"
    left, width, step = 330, 620, 24
    low, high = -8.0, 8.0

    def place(error: float | None) -> float:
        exponent = high if error is None else math.log10(max(error, 1e-8))
        return left + (min(max(exponent, low), high) - low) / (high - low) * width

    parts = []
    for exponent in range(int(low), int(high) + 1, 2):
        x = place(10.0**exponent)
        label = "not finite" if exponent == high else f"1e{exponent}"
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{20 + step * len(rows)}" stroke="#d0d7de"/>'
            f'<text x="{x:.1f}" y="{36 + step * len(rows)}" text-anchor="middle">{label}</text>'
        )
    for index, judgement in enumerate(rows):
        y = 24 + step * index
        label = f"{judgement.helper.rsplit('::', 1)[-1]} {judgement.marker} {judgement.arm}"
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{_e(label)}</text>')
        for observations, colour, shift in (
            (judgement.before, "#cf222e", -4),
            (judgement.after, "#1a7f37", 4),
        ):
            parts += [
                f'<circle cx="{place(o.error):.1f}" cy="{y + shift}" r="3.5" fill="{colour}"/>'
                for o in observations
                if o.outcome is Outcome.RAN
            ]
    height = 60 + step * len(rows)
    return (
        f'<svg viewBox="0 0 {left + width + 40} {height}" role="img" font-size="11" '
        f'aria-label="relative error of every case">{"".join(parts)}'
        f'<text x="{left}" y="{height - 6}"><tspan fill="#cf222e">before</tspan> '
        '<tspan fill="#1a7f37">after</tspan>, relative Frobenius error, logarithmic</text></svg>'
    )


def _timing_plot(timings: Sequence[Timing]) -> str:
    left, width, step = 330, 560, 34
    longest = max(max(t.plain_us, t.marked_us) for t in timings)
    shortest = min(min(t.plain_us, t.marked_us) for t in timings)
    low, high = math.floor(math.log10(shortest)), math.ceil(math.log10(longest))
    span = max(1, high - low)
    parts = []
    for index, timing in enumerate(timings):
        y = 8 + step * index
        label = f"{timing.marker} M={timing.m} N={timing.n} K={timing.k}"
        parts.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{_e(label)}</text>')
        for value, colour, shift in ((timing.plain_us, "#8c959f", 0), (timing.marked_us, "#0969da", 13)):
            length = (math.log10(value) - low) / span * width
            parts.append(
                f'<rect x="{left}" y="{y + shift}" width="{length:.1f}" height="11" fill="{colour}"/>'
                f'<text x="{left + length + 5:.1f}" y="{y + shift + 9}">{value:.1f} us</text>'
            )
    height = 40 + step * len(timings)
    return (
        f'<svg viewBox="0 0 {left + width + 90} {height}" role="img" font-size="11" '
        f'aria-label="time of a product">{"".join(parts)}<text x="{left}" y="{height - 8}">'
        '<tspan fill="#57606a">plain</tspan> <tspan fill="#0969da">marked</tspan>, logarithmic</text></svg>'
    )
