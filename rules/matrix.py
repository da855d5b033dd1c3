"""`vt-lint matrix`: which kernel of which device reads which marker, and what follows for code that
carries it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from analyzer.cache import default_folder
from analyzer.collect import collect
from analyzer.config import Config
from analyzer.flow import flow
from analyzer.honours import Matrix as Honours
from analyzer.honours import honours
from analyzer.markers import Marker
from analyzer.program import link
from rules.markers import declared
from rules.policy import decide

Progress = Callable[[int, int, str], None]


class Row(msgspec.Struct, frozen=True):
    """What one kernel does with one marker of one operand. `outcome`: `honours`, `refuses`, `ignores` or
    `n/a` (its dtypes exclude the layout). `path`, `line`: the kernel; `read_path`, `read_line`: where that
    was read."""

    marker: str
    device: str
    op: str
    kernel: str
    operand: str
    outcome: str
    path: str
    line: int
    read_path: str
    read_line: int
    note: str = ""


class Policy(msgspec.Struct, frozen=True):
    """What code that runs on `device` has to do with `marker`: `propagate` or `refuse`. `declared`: no
    kernel of the tree says so, the marker's declaration does."""

    marker: str
    device: str
    action: str
    why: str
    declared: bool = False


class Matrix(msgspec.Struct, frozen=True):
    """The honours matrix and the policy derived from it."""

    rows: tuple[Row, ...]
    policy: tuple[Policy, ...]


def matrix(
    tree: Path, *, config: Config, jobs: int | None = None, progress: Progress | None = None
) -> Matrix:
    """Read the matrix of the tree at `tree`. Raises `SetupError` when the run cannot start."""
    markers = declared(config.extra)
    collected = collect(
        tree, config, markers=[m.name for m in markers], jobs=jobs, cache=default_folder(), progress=progress
    )
    program = link((each.facts for each in collected.parsed), tuple(m.name for m in markers))
    return build(honours(flow(program), markers), markers, program.devices)


def build(found: Honours, markers: tuple[Marker, ...], devices: tuple[str, ...]) -> Matrix:
    """Put a matrix and the policy that follows from it on each of `devices` into the form of the report."""
    rows = tuple(
        Row(
            c.marker,
            c.device,
            c.operator,
            c.function,
            c.operand,
            c.outcome,
            c.path,
            c.line,
            *c.read_at,
            c.note,
        )
        for c in found.cells
    )
    policy = []
    for marker in markers:
        honoured = found.devices(marker.name)
        for device in sorted(set(devices)):
            fix = decide(marker.name, frozenset({device}), honoured or frozenset(marker.devices))
            why = (
                fix.why
                if honoured
                else f"no kernel here reads {marker.name}; its declaration says {', '.join(marker.devices)}"
            )
            policy.append(Policy(marker.name, device, fix.action, why, not honoured))
    return Matrix(rows, tuple(policy))
