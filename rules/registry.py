"""The one list of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

from rules import (
    bytes_read_blind,
    consumer_ignores_marker,
    guard_misses,
    marker_dropped,
    marker_from_elsewhere,
    marker_on_part,
    stale_marker,
    suppression_without_reason,
    twin_helper_diverged,
    unanalysed_candidate,
    undeclared_marker,
    unused_suppression,
    wrong_device,
)  # fmt: skip
from rules.analysis import Analysis, Draft


@dataclass(frozen=True)
class Rule:
    """One rule. `doc` is its module's docstring, with the sections that `vt-lint explain` prints. `check` is None
    for the rules about the run itself (VT9xx), which `rules.check` applies last."""

    code: str
    name: str
    summary: str
    doc: str
    fixable: bool
    check: Callable[[Analysis], Iterator[Draft]] | None


def _rule(module: ModuleType) -> Rule:
    return Rule(
        module.CODE, module.NAME, module.SUMMARY, (module.__doc__ or "").strip(), module.FIXABLE,
        getattr(module, "check", None),
    )  # fmt: skip


RULES: tuple[Rule, ...] = tuple(
    _rule(module)
    for module in (
        marker_dropped,
        wrong_device,
        marker_on_part,
        guard_misses,
        marker_from_elsewhere,
        twin_helper_diverged,
        bytes_read_blind,
        stale_marker,
        consumer_ignores_marker,
        undeclared_marker,
        unused_suppression,
        suppression_without_reason,
        unanalysed_candidate,
    )
)
