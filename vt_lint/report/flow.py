"""A self-contained HTML page of marker flow: a map from producers to kernels, and every route in full.

The map is drawn by a script in the page from data in the page; nothing is loaded. Without scripts the routes
remain. `#verdict=LIVE&step=a.cpp:3` after the address opens it filtered, at a step.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from rules.finding import Hop
from vt_lint.report.source import Source

FRAME = 4
"""Lines of code shown on either side of a step."""


@dataclass(frozen=True)
class Route:
    """One way of a marked weight. `end` is what happens at its last step: `lost`, `dead` (it would be lost,
    but none gets there), `honoured`, `refused` or `misread`. `models` are those it belongs to, `why` is the
    reason for the verdict."""

    marker: str
    verdict: str
    end: str
    devices: tuple[str, ...]
    models: tuple[str, ...]
    where: str
    why: str
    hops: tuple[Hop, ...]


def page(title: str, summary: str, routes: Sequence[Route], source: Source) -> str:
    """Return the page. Code of each step is read from `source` and put into it."""
    data = json.dumps(
        {"routes": [_data(r) for r in routes], "code": _code(routes, source)}, separators=(",", ":")
    )
    template = files("vt_lint.report").joinpath("flow.html").read_text(encoding="utf-8")
    # `</script>` inside of a string would end the element, so no `<` is left in the data.
    parts = {
        "title": html.escape(title),
        "summary": html.escape(summary),
        "data": data.replace("<", "\\u003c"),
        "routes": "\n".join(_listed(r) for r in routes),
    }
    for name, text in parts.items():
        template = template.replace(f"<!--{name}-->", text)
    return template


def _data(route: Route) -> dict[str, Any]:
    return {
        "marker": route.marker,
        "verdict": route.verdict,
        "end": route.end,
        "devices": route.devices,
        "models": route.models,
        "where": route.where,
        "why": route.why,
        "hops": [[f"{h.path}:{h.line}", h.note] for h in route.hops],
    }


def _code(routes: Sequence[Route], source: Source) -> dict[str, list[tuple[int, str]]]:
    places = {(h.path, h.line) for route in routes for h in route.hops}
    return {
        f"{path}:{line}": [
            (n, text)
            for n in range(max(1, line - FRAME), line + FRAME + 1)
            if (text := source.line(path, n)) is not None
        ]
        for path, line in sorted(places)
    }


def _listed(route: Route) -> str:
    head = f"{route.marker} on {'+'.join(route.devices) or 'any device'}: {route.where}"
    steps = "".join(
        f"<li><code>{html.escape(h.path)}:{h.line}</code> {html.escape(h.note)}" for h in route.hops
    )
    return (
        f'<details data-end="{html.escape(route.end)}"><summary><b class="{html.escape(route.verdict)}">'
        f"{html.escape(route.verdict)}</b> {html.escape(head)}</summary>"
        f"<p>{html.escape(route.why)}</p><ol>{steps}</ol></details>"
    )
