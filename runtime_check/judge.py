"""Judgement: what the two sides of a group must show."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from runtime_check.errors import EXIT_FAILED, EXIT_NOT_RUN, EXIT_OK
from runtime_check.model import Case, Evidence, Group, Judgement, Observation, Outcome, Status, Timing
from runtime_check.target import RunResult

# Relative Frobenius error allowed against the float64 product. Q8_0 rounds both operands to 127 steps of each
# block's largest value: uniform operands give 0.4 % each, so 2 % leaves room, far below a layout fault.
TOLERANCE: Final[Mapping[str, float]] = {"q8_0": 2e-2, "bf16": 1e-2, "f16": 2e-3, "f32": 1e-4}

_UNDECIDED: Final = (Outcome.NOT_RUN, Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.PLAIN_FAILED)


def judge(
    group: Group,
    kind: str,
    before: Sequence[Observation] | None,
    after: Sequence[Observation],
) -> Judgement:
    """Judge one group. ``before`` is None where only one side was built."""
    stood = {o.case: _said(o) for o in before or () if o.outcome is Outcome.THREW}
    status, reason = _after(group, kind, after, stood)
    unusable = _unusable(group, kind, [*(before or ()), *after]) if group.derived else ""
    if unusable:
        status, reason = Status.NOT_RUN, unusable
    if before is not None and status is not Status.NOT_RUN:
        reproduced, why = _before(group, before)
        if reproduced is not Status.PASSED and (status is Status.PASSED or reproduced is Status.NOT_RUN):
            status, reason = reproduced, why
        elif status is Status.PASSED and why:
            reason = f"{why}; {reason}"
    if group.unfixed and status is Status.FAILED:
        status, reason = Status.NOT_FIXED, f"the fix is unsafe and was not applied: {reason}"
    return Judgement(
        group.path,
        group.helper,
        group.marker,
        group.arm,
        group.device,
        group.expected,
        status,
        reason,
        tuple(before or ()),
        tuple(after),
    )


def void_reason(target: str, result: RunResult) -> str:
    """Why a run on ``target`` proves nothing; empty where it does."""
    environment = result.environment
    if not environment:
        seen = result.observations[0].message if result.observations else ""
        return f"the probe ended before it reported its processor: {seen}"
    if environment.get("no_device"):
        return f"no device: {environment['no_device']}"
    if target == "i8mm" and not environment.get("i8mm", False):
        return "the processor or emulator does not report i8mm; use an emulator with -cpu max"
    return ""


def _pairs(group: Group, seen: Sequence[Observation]) -> list[tuple[Case, Observation]]:
    by_id = {o.case: o for o in seen}
    return [
        (c, by_id.get(c.id, Observation(c.id, Outcome.NOT_RUN, message="no result"))) for c in group.cases
    ]


def _undecided(case: Case, seen: Observation) -> tuple[Status, str] | None:
    if seen.outcome not in _UNDECIDED:
        return None
    out_of_memory = re.search(r"out of memory|bad_alloc", seen.message, re.I)
    text = f"{case.id}: {seen.outcome.value}: {seen.message}"
    if seen.outcome is Outcome.NOT_RUN or out_of_memory:
        return Status.NOT_RUN, text
    return Status.FAILED, text


def _declined(group: Group, pairs: Sequence[tuple[Case, Observation]]) -> tuple[Status, str] | None:
    # A layout that no shape takes is not live here, and a run without it proves nothing.
    taken = [o for c, o in pairs if not c.declines]
    if taken and all(o.outcome is Outcome.DECLINED for o in taken):
        return Status.NOT_RUN, f"the layout {group.marker} is not active on this machine"
    for case, seen in pairs:
        if case.declines and seen.outcome is not Outcome.DECLINED:
            return Status.FAILED, f"{case.id}: the rewriter must decline this shape, and did not"
        if not case.declines and seen.outcome is Outcome.DECLINED:
            return Status.FAILED, f"{case.id}: the rewriter declined a shape that the layout takes"
    return None


def _unusable(group: Group, kind: str, seen: Sequence[Observation]) -> str:
    """Why a call made from the signature says nothing: with it not even a plain weight gives its product."""
    advice = "spell 'call' in a [[verify.helper]] table"
    for observation in seen:
        if observation.outcome is Outcome.PLAIN_FAILED:
            return f"the plain weight is refused too ({observation.message}); {advice}"
        error = observation.plain_error
        ended = observation.outcome in (Outcome.RAN, Outcome.THREW)
        if group.decided_by_gemm and ended and (error is None or error > TOLERANCE[kind]):
            return f"the call does not show the whole weight (error {error} of the plain product); {advice}"
    return ""


def _said(seen: Observation) -> str:
    """The message of an exception; the lines it names move with a fix."""
    return re.sub(r":\d+", "", seen.message)


def _after(
    group: Group, kind: str, after: Sequence[Observation], stood: Mapping[str, str]
) -> tuple[Status, str]:
    pairs = _pairs(group, after)
    problems = [p for case, seen in pairs if (p := _undecided(case, seen)) is not None]
    for wanted in (Status.FAILED, Status.NOT_RUN):
        for status, text in problems:
            if status is wanted:
                return status, text
    problem = _declined(group, pairs)
    if problem is not None:
        return problem
    active = [(c, o) for c, o in pairs if not c.declines]
    for case, seen in active:
        text = _wrong(group, kind, case, seen, stood)
        if text:
            out_of_memory = re.search(r"out of memory|bad_alloc", seen.message, re.I)
            return (Status.NOT_RUN if out_of_memory else Status.FAILED), f"{case.id}: {text}"
    refused = sum(o.outcome is Outcome.THREW for _, o in active)
    carried = len(active) - refused
    said = []
    if carried:
        said.append(f"bit-identical to the plain weight in {carried} of {len(active)} cases")
    if refused:
        how = "refused as before" if _as_before(group, active, stood) else "refused by name"
        said.append(f"{how} in {refused} of {len(active)} cases, no bytes uploaded")
    return Status.PASSED, "; ".join(said)


def _as_before(group: Group, active: Sequence[tuple[Case, Observation]], stood: Mapping[str, str]) -> bool:
    thrown = [o for _, o in active if o.outcome is Outcome.THREW]
    return all(stood.get(o.case) == _said(o) and group.marker not in o.message for o in thrown)


def _wrong(group: Group, kind: str, case: Case, seen: Observation, stood: Mapping[str, str]) -> str:
    """What is wrong with what was seen of a case that the layout takes; empty if it is as it has to be. ``stood``:
    what was thrown before the fix, by case."""
    refusable = group.expected == "refused" or case.cut
    # Whoever refuses a part that he could have shown loses speed, and no numbers.
    refused = group.expected == "whole groups" and seen.outcome is Outcome.THREW
    return _refusal(group, seen, stood) if refusable or refused else _carriage(kind, seen)


def _refusal(group: Group, seen: Observation, stood: Mapping[str, str]) -> str:
    if seen.outcome is not Outcome.THREW:
        return f"must be refused, but the outcome is '{seen.outcome.value}' {seen.message}".rstrip()
    if seen.where != "helper":
        return f"must be refused by the helper, but the {seen.where} threw: {seen.message}"
    named = re.search(rf"\b{re.escape(group.marker)}\b", seen.message) is not None
    if not named and stood.get(seen.case) != _said(seen):  # a check that stood there has words of its own
        return f"the refusal does not name the marker: {seen.message}"
    if seen.uploaded:
        return f"refused only after {seen.uploaded} bytes were uploaded"
    return ""


def _carriage(kind: str, seen: Observation) -> str:
    if seen.outcome is not Outcome.RAN:
        return f"must be carried, but the outcome is '{seen.outcome.value}' {seen.message}".rstrip()
    if seen.nonfinite:
        return f"{seen.nonfinite} of {seen.total} outputs are not finite"
    if seen.differing:
        return f"{seen.differing} of {seen.total} outputs differ from the plain weight's"
    if seen.error is None or seen.error > TOLERANCE[kind]:
        return f"error {seen.error} against float64 exceeds {TOLERANCE[kind]}"
    return ""


def _before(group: Group, before: Sequence[Observation]) -> tuple[Status, str]:
    pairs = _pairs(group, before)
    if not group.faulty_before:
        return Status.PASSED, ""
    shown = 0
    wanted = 0
    for case, seen in pairs:
        # A whole group is shown as it is, and a kernel may refuse the number of rows by itself.
        if case.declines or (group.expected == "whole groups" and case.cut != "start"):
            continue
        wanted += 1
        if seen.outcome is Outcome.NOT_RUN:
            return Status.NOT_RUN, f"before: {case.id}: {seen.message}"
        if _faulty(group, seen):
            shown += 1
    if shown == wanted:
        return Status.PASSED, f"before: fault reproduced in {shown} of {wanted} cases"
    return Status.FAILED, f"before: the fault reproduced in only {shown} of {wanted} cases"


def _faulty(group: Group, seen: Observation) -> bool:
    if seen.outcome is Outcome.CRASHED:
        return True
    if group.decided_by_gemm:
        # A product may see by its shape that the part is none; the helper let it through all the same.
        stopped = seen.outcome is Outcome.THREW and seen.where == "product"
        return stopped or seen.outcome is Outcome.RAN and seen.differing > 0
    return seen.outcome is Outcome.PASSED_THROUGH and (seen.uploaded > 0 or not seen.marked)


def not_run(group: Group, reason: str) -> tuple[Observation, ...]:
    """Observations that say why no case of ``group`` was run."""
    return tuple(Observation(case.id, Outcome.NOT_RUN, message=reason) for case in group.cases)


def conclude(
    base: Evidence,
    kinds: Mapping[str, str],
    results: Mapping[str, Mapping[int, RunResult]],
    started: float,
    bundle_id: str = "",
) -> Evidence:
    """Judge every group of ``base`` by ``results`` (side -> group index -> result)."""
    judgements: list[Judgement] = []
    environment: Mapping[str, Any] = {}
    timings: list[Timing] = []
    notes = [] if "before" in results else ["one side only: no before, so no fault was reproduced"]
    for group in base.groups:
        before = results["before"][group.index].observations if "before" in results else None
        after = results["after"][group.index]
        judgements.append(judge(group, kinds[group.marker], before, after.observations))
        environment = after.environment or environment
        timings += after.timings
        if after.timing_problem:
            notes.append(f"timing of {group.helper} {group.marker} is incomplete: {after.timing_problem}")
    statuses = {j.status for j in judgements}
    code = EXIT_NOT_RUN if Status.NOT_RUN in statuses else EXIT_OK
    if statuses & {Status.FAILED, Status.NOT_FIXED}:
        code = EXIT_FAILED
    return replace(
        base,
        device={key: str(value) for key, value in environment.items()},
        judgements=tuple(judgements),
        timings=tuple(timings),
        notes=tuple(notes),
        seconds=time.monotonic() - started,
        exit_code=code,
        bundle_id=bundle_id,
    )
