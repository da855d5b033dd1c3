"""Reports of `trace`: for people, for programs, and as a page with the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from rules.finding import Hop
from rules.trace import Consumer, Loss, MarkerTrace, Trace
from vt_lint.report import flow
from vt_lint.report.source import Source

QUIET = frozenset({"DEAD", "LOUD"})
"""Verdicts that need no path: nothing gets there, or a check stops it."""
_ENDS = {"honours": "honoured", "refuses": "refused"}


def as_json(trace: Trace) -> str:
    """Return the records of `rules.trace` as JSON."""
    return msgspec.json.format(msgspec.json.encode(trace), indent=1).decode()


def text(trace: Trace) -> str:
    """Return a section a marker: producers, weights, losses with their paths, and kernels."""
    lines: list[str] = []
    for marker in trace.markers:
        lines += [_summary(marker), f"  {marker.what}", "", *_marker(marker)]
    if any(loss.verdict == "DEAD" for m in trace.markers for loss in m.losses):
        lines += ["DEAD takes for granted:", *(f"  {what}" for what in trace.assumptions), ""]
    seconds = trace.seconds.get("total", 0.0)
    profiles = "+".join(trace.profiles) or "none"
    lines.append(f"profiles {profiles}, {trace.unanalysed} candidates unanalysed, {seconds:.1f} s")
    return "\n".join(lines)


def html(trace: Trace, root: Path) -> str:
    """Return the map of the routes as a page; code is read from the tree at `root`."""
    routes = [route for marker in trace.markers for route in _routes(marker)]
    names = ", ".join(m.marker for m in trace.markers)
    summary = ". ".join(_summary(m) for m in trace.markers)
    return flow.page(f"{names} in {root.name}", summary, routes, Source(root))


def _summary(marker: MarkerTrace) -> str:
    verdicts = Counter(loss.verdict for loss in marker.losses)
    losses = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items()) or "none"
    misread = sum(c.misread for c in marker.consumers)
    return (
        f"{marker.marker}: {len(marker.producers)} producers, {len(marker.fields)} weights, "
        f"losses: {losses}; {len(marker.consumers)} kernel operands, {misread} of them can be misread"
    )


def _marker(m: MarkerTrace) -> Iterator[str]:
    yield "set at"
    for p in m.producers:
        guards = f" when {' and '.join(p.guards)}" if p.guards else ""
        aside = "" if p.counts else " (feeds no weight of a user)"
        yield f"  {p.path}:{p.line}  {p.verdict}  {p.function}{guards}{_why(p.reason)}{aside}"
    yield "weights that have it"
    for f in m.fields:
        yield f"  {f.path}:{f.line}  {f.verdict}  {f.name}{_why(f.reason)}"
    yield "lost at"
    for loss in m.losses:
        where = "+".join(loss.devices) or "any device"
        why = "" if loss.verdict == "DEAD" else _why(loss.reason)
        yield f"  {loss.path}:{loss.line}  {loss.verdict} on {where}  {loss.rule} {loss.function}{why}"
        if loss.fields:
            yield f"    from {', '.join(loss.fields)}"
        if loss.verdict not in QUIET:
            yield from _steps(loss.hops)
    yield "kernels"
    for c in m.consumers:
        how = f"; arrives {c.arrives}" if c.arrives else ""
        misread = "; can be MISREAD" if c.misread else ""
        where = f"{c.path}:{c.line}  {c.device or 'any device'} {c.operator} {c.function}"
        yield f"  {where}  {c.outcome} {c.operand} ({c.read_at.path}:{c.read_at.line}){how}{misread}"
        if c.misread:
            yield from _steps(c.hops)
    for title, spots in (("carried at", m.copies), ("tested at", m.tests), ("not followed", m.stops)):
        if spots:
            yield title
            yield from (f"  {s.path}:{s.line}  {s.function}: {s.what}" for s in spots)
    for t in m.targets:
        yield f"into {t.function}"
        yield f"  {t.path}:{t.line}  {t.verdict}  {t.operand}{_why(t.reason)}"
        yield from _steps(t.hops)
    yield ""


def _why(reason: str) -> str:
    return f": {reason}" if reason else ""


def _steps(hops: Iterable[Hop]) -> Iterator[str]:
    return (f"      {hop.path}:{hop.line}  {hop.note}" for hop in hops)


def _routes(m: MarkerTrace) -> Iterator[flow.Route]:
    for loss in m.losses:
        yield from _ways(m, loss, loss.devices, "dead" if loss.verdict == "DEAD" else "lost", "is lost here")
    for c in m.consumers:
        if c.arrives:
            end = "misread" if c.misread else _ENDS.get(c.outcome, "refused")
            yield from _ways(m, c, (c.device,) if c.device else (), end, f"{c.outcome} it, as {c.operand}")


def _ways(
    m: MarkerTrace, x: Loss | Consumer, devices: tuple[str, ...], end: str, note: str
) -> Iterator[flow.Route]:
    """Yield a route for each weight that gets to `x`, or the one that passes through none."""
    fields = {f.name: f.hops for f in m.fields}
    ways: list[tuple[tuple[str, ...], tuple[Hop, ...]]] = [
        ((v.model,), (*fields.get(v.field, ()), *v.hops)) for v in x.via
    ]
    for models, hops in ways or [((), x.hops)]:
        yield flow.Route(
            marker=m.marker,
            verdict=x.verdict,
            end=end,
            devices=devices,
            models=models,
            where=x.function,
            why=x.reason,
            hops=(
                *_until_lost(hops),
                Hop(x.path, x.line, f"{x.function.rpartition('::')[2]}: {m.marker} {note}"),
            ),
        )


def _until_lost(hops: Iterable[Hop]) -> list[Hop]:
    """Return the steps before the loss, those on one line as one. Callers that pass it on come after it."""
    found: list[Hop] = []
    for hop in hops:
        if "without restoring" in hop.note:
            break
        if found and (found[-1].path, found[-1].line) == (hop.path, hop.line):
            found[-1] = Hop(hop.path, hop.line, f"{found[-1].note}; {hop.note}")
        else:
            found.append(hop)
    return found
