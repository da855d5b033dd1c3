"""Reports of `verify`: text, JSON, and Markdown or a self-contained HTML page to put in a pull request."""

from __future__ import annotations

import dataclasses
import html
import json
import math
from collections.abc import Iterable, Sequence

from runtime_check.model import Evidence, Judgement, Observation, Outcome, Status, Timing

HEAD = ("result", "helper", "marker", "arm", "expected", "before", "after", "why")
CELL = 44
"""Width of a column on a terminal."""
TIMES = ("helper", "marker", "M", "N", "K", "plain", "marked", "speed-up", "bandwidth share")


def render(evidence: Evidence, form: str) -> str:
    """Return `evidence` as `text`, `json`, `markdown` or `html`."""
    return {"text": text, "json": as_json, "markdown": markdown, "html": page}[form](evidence)


def as_json(evidence: Evidence) -> str:
    """Return every field as JSON, with `version` and the list of what was proved."""
    proved = [{"helper": h, "marker": m, "device": d} for h, m, d in sorted(evidence.verified)]
    return json.dumps({"version": 1, **dataclasses.asdict(evidence), "verified": proved}, indent=1)


def text(evidence: Evidence) -> str:
    """Return the report for a terminal: what was built and run, a line a judgement, and the count."""
    lines = [f"{name}: {value}" for name, value in _facts(evidence)]
    lines += ["", *_aligned([HEAD, *(_narrow(_row(j)) for j in evidence.judgements)])]
    if evidence.timings:
        lines += ["", *_aligned([TIMES, *map(_time, evidence.timings)])]
    lines += ["", *_remarks(evidence), _closing(evidence)]
    return "\n".join(lines)


def markdown(evidence: Evidence) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    lines = [f"### vt-lint verify: {_closing(evidence)}", ""]
    lines += [f"- {name}: `{value}`" for name, value in _facts(evidence)]
    lines += ["", *_table(HEAD, map(_row, evidence.judgements))]
    if evidence.timings:
        lines += ["", *_table(TIMES, map(_time, evidence.timings))]
    lines += ["", *(f"- {line}" for line in _remarks(evidence))]
    commands = "\n".join(evidence.commands)
    lines += ["<details><summary>commands</summary>", "", "```", commands, "```", "</details>"]
    return "\n".join(lines)


def page(evidence: Evidence) -> str:
    """Return the report as one HTML page that loads nothing."""
    facts = "".join(f"<dt>{html.escape(n)}<dd><code>{html.escape(v)}</code>" for n, v in _facts(evidence))
    body = [
        f"<h1>vt-lint verify: {html.escape(_closing(evidence))}</h1>",
        f"<dl>{facts}</dl>",
        _html_table(HEAD, map(_row, evidence.judgements)),
        _error_plot(evidence.judgements),
        _html_table(TIMES, map(_time, evidence.timings)) if evidence.timings else "",
        _time_plot(evidence.timings) if evidence.timings else "",
        "<ul>" + "".join(f"<li>{html.escape(line)}" for line in _remarks(evidence)) + "</ul>",
        f"<h2>Commands</h2><pre>{html.escape(chr(10).join(evidence.commands))}</pre>",
    ]
    title = f"vt-lint verify {evidence.tree_name}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style>{''.join(body)}</html>"
    )


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#1b1b1b}"
    "h1{font-size:1.3em}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em}dd{margin:0}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}pre{white-space:pre-wrap}"
    "table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:.25em .6em;text-align:left}td:first-child{font-weight:600}"
    ".passed{background:#e3f4e3}.failed{background:#fbe0e0}.not{background:#f3f3f3}"
    "svg{font:12px system-ui,sans-serif;display:block;margin:1em 0}"
)


def _facts(evidence: Evidence) -> list[tuple[str, str]]:
    facts = [
        ("target", evidence.target),
        ("tree", f"{evidence.tree_name} at {evidence.revision or 'no revision'}"),
        ("sources", f"sha256 {evidence.tree_digest}"),
        ("patch", f"sha256 {evidence.patch_sha256}" if evidence.patch_sha256 else "none: the tree as it is"),
        *evidence.toolchain.items(),
        *((f"device {name}", value) for name, value in evidence.device.items()),
    ]
    facts += [
        (
            f"build {b.side}",
            f"{b.objects} objects, {b.compiled} compiled, {b.reused} reused, {b.seconds:.1f} s",
        )
        for b in evidence.builds
    ]
    return facts + ([("bundle", evidence.bundle_id)] if evidence.bundle_id else [])


def _closing(evidence: Evidence) -> str:
    counts = [(sum(j.status is s for j in evidence.judgements), s.value) for s in Status]
    said = ", ".join(f"{n} {what}" for n, what in counts if n) or "nothing was run"
    return f"{said} on {evidence.target}, {evidence.seconds:.1f} s"


def _remarks(evidence: Evidence) -> list[str]:
    return [*(f"not probed: {line}" for line in evidence.not_probed), *evidence.notes]


def _row(j: Judgement) -> tuple[str, ...]:
    return j.status.value, j.helper, j.marker, j.arm, j.expected, _seen(j.before), _seen(j.after), j.reason


def _narrow(row: Sequence[str]) -> list[str]:
    """Shorten what a probe threw; the last cell says why it passed or not and stays whole."""
    return [*(cell if len(cell) <= CELL else f"{cell[: CELL - 3]}..." for cell in row[:-1]), row[-1]]


def _seen(observations: Sequence[Observation]) -> str:
    """Return the worst case of one side in words."""
    if not observations:
        return ""
    worst = max(observations, key=_badness)
    if worst.outcome is not Outcome.RAN:
        return ": ".join(filter(None, (worst.outcome.value, worst.message)))
    if worst.nonfinite:
        return f"{worst.nonfinite} of {worst.total} not finite"
    error = "" if worst.error is None else f"error {worst.error:.2e}"
    return (
        f"bit-identical, {error}"
        if not worst.differing
        else f"{worst.differing} of {worst.total} differ, {error}"
    )


def _badness(o: Observation) -> tuple[int, int, float]:
    """What a reader should see first: failures, then wrong numbers; a shape that declined the layout last."""
    rank = {Outcome.DECLINED: 0, Outcome.RAN: 1}.get(o.outcome, 2)
    return rank, o.nonfinite, o.error or 0.0


def _time(t: Timing) -> tuple[str, ...]:
    shape = (str(t.m), str(t.n), str(t.k))
    times = (f"{t.plain_us:.1f} us", f"{t.marked_us:.1f} us", f"{t.ratio:.2f}x")
    return t.helper, t.marker, *shape, *times, f"{t.plain_share:.0%} / {t.marked_share:.0%}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [line(head), line("---" for _ in head), *map(line, rows)]


def _html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Iterable[str], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(cell)}" for cell in cells)

    body = "".join(f'<tr class="{row[0].split()[0]}">{line(row, "td")}' for row in rows)
    return f"<table><tr>{line(head, 'th')}{body}</table>"


def _error_plot(judgements: Iterable[Judgement]) -> str:
    """Relative error before and after, on a logarithmic scale; what is not finite fills the scale."""
    bars = []
    for j in judgements:
        for side, seen, colour in (("before", j.before, "#c0392b"), ("after", j.after, "#2e7d32")):
            ran = [o for o in seen if o.outcome is Outcome.RAN]
            if ran:
                worst = max(ran, key=_badness)
                value = math.inf if worst.nonfinite or worst.error is None else worst.error
                label = "not finite" if math.isinf(value) else f"{value:.1e}"
                bars.append((f"{j.helper} {j.marker} {j.arm}, {side}", _log_share(value), label, colour))
    return _plot("Relative error against a float64 product (logarithmic, 1e-8 to 1e8)", bars)


def _log_share(value: float) -> float:
    return 1.0 if math.isinf(value) else min(1.0, max(0.0, (math.log10(max(value, 1e-8)) + 8) / 16))


def _time_plot(timings: Sequence[Timing]) -> str:
    longest = max(max(t.plain_us, t.marked_us) for t in timings)
    bars = []
    for t in timings:
        name = f"{t.marker} M={t.m} N={t.n} K={t.k}"
        bars.append((f"{name}, plain", t.plain_us / longest, f"{t.plain_us:.1f} us", "#777"))
        bars.append(
            (f"{name}, marked", t.marked_us / longest, f"{t.marked_us:.1f} us ({t.ratio:.2f}x)", "#1565c0")
        )
    return _plot("Time of one product", bars)


def _plot(title: str, bars: Sequence[tuple[str, float, str, str]]) -> str:
    """Return a bar chart: a name, a share of the width, a label and a colour for each bar."""
    if not bars:
        return ""
    names = 7 * max(len(name) for name, *_ in bars)
    rows = ""
    for y, (name, share, label, colour) in zip(range(0, 18 * len(bars), 18), bars, strict=True):
        length = max(1, round(300 * share))
        rows += (
            f'<text x="{names}" y="{y + 13}" text-anchor="end">{html.escape(name)}</text>'
            f'<rect x="{names + 8}" y="{y + 2}" width="{length}" height="14" fill="{colour}"/>'
            f'<text x="{names + 14 + length}" y="{y + 13}">{html.escape(label)}</text>'
        )
    size = f'width="{names + 460}" height="{18 * len(bars)}"'
    return f"<h2>{html.escape(title)}</h2><svg {size} role='img'>{rows}</svg>"
