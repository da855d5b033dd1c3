"""One check from options to evidence."""

from __future__ import annotations

import concurrent.futures
import errno
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from runtime_check import bundle as bundles
from runtime_check.build import Builder, configure, disk_full
from runtime_check.call import Signatures
from runtime_check.errors import EXIT_NOT_RUN, EXIT_USAGE, ProbeError, VerifyError
from runtime_check.judge import conclude, not_run, void_reason
from runtime_check.model import BuildRecord, Evidence, Group, Outcome, VerifyOptions
from runtime_check.probe import Plan, plan
from runtime_check.profile import Profile, load_profile, target_config
from runtime_check.sides import Side, Sides, prepare
from runtime_check.target import RunResult, Toolchain, run_group, toolchain

Progress = Callable[[str], None]


def verify(options: VerifyOptions, *, progress: Callable[[str], None]) -> Evidence:
    """Build the probes of both sides, run them, and judge what they print.

    With ``options.bundle`` the programs are written there instead of being run; with ``options.collect`` the
    results of such a bundle are judged and nothing is built.

    Args:
        options: what to verify.
        progress: called with one line for each step.

    Returns:
        Evidence whose ``exit_code`` is 0 (all proved), 1 (a judgement failed) or 3 (something was not run).

    Raises:
        VerifyError: a wrong option or profile, or a step that could not be done.
    """
    started = time.monotonic()
    try:
        (options.work / "logs").mkdir(parents=True, exist_ok=True)
        return _verify(options, progress, started)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise disk_full(options.work) from error
        raise VerifyError(
            f"{Path(error.filename or options.work).name}: {error.strerror or error}"
        ) from error


def _verify(options: VerifyOptions, progress: Progress, started: float) -> Evidence:
    if options.collect is not None:
        return bundles.collect(options, started)
    profile = load_profile(options.tree, options.config)
    config = target_config(profile, options.target)
    chain = toolchain(options, config)
    signatures = Signatures(options.facts)
    sides = prepare(options)
    left_out: dict[tuple[str, str], str] = {}
    while True:
        todo = plan(profile, options.helpers, options.target, options.timing, signatures, left_out)
        if not todo.groups:
            reason = todo.not_probed[0] if todo.not_probed else "the profile and the findings name no helper"
            raise VerifyError(f"nothing to verify on target {options.target}: {reason}", EXIT_USAGE)
        if not left_out:
            _announce(options, todo, sides, chain, progress)
        try:
            built = _build(options, profile, todo, sides, chain, progress)
            break
        except ProbeError as error:
            left_out |= _uncallable(todo, error, sides.sides[0].label)
            progress(error.message)
    programs, records, inputs, commands = built
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    base = Evidence(
        target=options.target,
        tree_name=options.tree.resolve().name,
        revision=sides.revision,
        patch_sha256=sides.patch_sha256,
        tree_digest=digest,
        toolchain=chain.versions,
        device={},
        commands=tuple(commands),
        builds=tuple(records),
        groups=todo.groups,
        judgements=(),
        timings=(),
        not_probed=todo.not_probed,
        notes=(),
        seconds=0.0,
        exit_code=EXIT_NOT_RUN,
        inputs=inputs,
    )
    kinds = {m.name: m.kind for m in profile.markers.values()}
    if options.bundle is not None:
        # Exactly one side is the working tree itself; its files are what --collect can compare.
        own = next(side.label for side in sides.sides if not side.changed)
        return bundles.write(options, base, kinds, todo, programs, inputs[own], started)
    return _run(options, base, kinds, todo, programs, chain, sides, progress, started)


def _announce(options: VerifyOptions, todo: Plan, sides: Sides, chain: Toolchain, progress: Progress) -> None:
    where = (
        "written to a bundle"
        if options.bundle
        else " ".join(["run", *(Path(w).name if w.startswith("/") else w for w in chain.runner)])
    )
    progress(
        f"will build {len(todo.units)} probe(s), {len(todo.groups)} groups of cases, for {options.target} "
        f"from {options.tree.name} ({', '.join(s.label for s in sides.sides)}) in {options.work}; "
        f"they will be {where}"
    )


_Built = tuple[dict[str, dict[str, Path]], list[BuildRecord], dict[str, Mapping[str, str]], list[str]]
"""By side: programs by unit, what the build did, and its inputs; and the commands."""


def _build(
    options: VerifyOptions,
    profile: Profile,
    todo: Plan,
    sides: Sides,
    chain: Toolchain,
    progress: Progress,
) -> _Built:
    config = target_config(profile, options.target)
    work = options.work.resolve()
    programs: dict[str, dict[str, Path]] = {}
    records: list[BuildRecord] = []
    inputs: dict[str, Mapping[str, str]] = {}
    commands: list[str] = []
    for side in sides.sides:
        flags = configure(side, chain, config.cmake, work, options.build_timeout_s, progress)
        if flags.line not in commands:
            commands.append(flags.line)
        builder = Builder(
            side,
            flags,
            chain,
            work,
            extra_flags=config.flags,
            defines=profile.defines,
            closure=profile.closure,
            libraries=config.libraries,
            jobs=options.jobs,
            timeout_s=options.build_timeout_s,
            progress=progress,
        )
        programs[side.label], record = builder.build(todo.units, config.roots)
        records.append(record)
        inputs[side.label] = builder.inputs
        progress(
            f"{side.label}: {record.objects} objects, {record.compiled} compiled, {record.reused} reused, "
            f"{record.seconds:.1f} s"
        )
    return programs, records, inputs, commands


def _uncallable(todo: Plan, error: ProbeError, first: str) -> dict[tuple[str, str], str]:
    """The helpers that a probe's error is about, with it as the reason, where each of them is called as its
    signature says. Raises ``error`` where one is called as the profile says, or where the side ``first``, of
    which it was made, compiles."""
    (unit,) = (u for u in todo.units if u.name == error.unit)
    wanted = unit.groups_at(error.lines)
    about = [group for group in todo.groups if group.index in wanted]
    side, _, reason = error.message.partition(": ")
    if side != first or not all(group.derived for group in about):
        raise error
    return {(group.path, group.helper): f"a call made from its signature {reason}" for group in about}


def _run(
    options: VerifyOptions,
    base: Evidence,
    kinds: Mapping[str, str],
    todo: Plan,
    programs: Mapping[str, Mapping[str, Path]],
    chain: Toolchain,
    sides: Sides,
    progress: Progress,
    started: float,
) -> Evidence:
    results: dict[str, dict[int, RunResult]] = {side.label: {} for side in sides.sides}
    unit_of = {index: unit for unit in todo.units for index in unit.groups}

    def run_one(job: tuple[Side, Group]) -> RunResult:
        side, group = job
        if chain.runnable:
            return RunResult({}, not_run(group, chain.runnable))
        unit = unit_of[group.index]
        program = programs[side.label][unit.name]
        result = run_group(program, group, chain, options.run_timeout_s, options.work)
        void = void_reason(options.target, result)
        if void:
            return replace(result, observations=not_run(group, void))
        proved = all(o.outcome in (Outcome.RAN, Outcome.DECLINED) for o in result.observations)
        if side is sides.sides[-1] and group.index in unit.timed and proved:
            timed = run_group(program, group, chain, options.run_timeout_s, options.work, timed=True)
            result = replace(result, timings=timed.timings, timing_problem=timed.problem)
        return result

    jobs = [(side, group) for side in sides.sides for group in todo.groups]
    # One process at a time has the device to itself, or its times would mean nothing.
    workers = 1 if options.target == "cuda" else max(1, options.jobs)
    with concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool:
        for (side, group), result in zip(jobs, pool.map(run_one, jobs), strict=True):
            progress(f"{side.label}: ran {group.helper} {group.marker} on {group.arm}")
            results[side.label][group.index] = result
    return conclude(base, kinds, results, started)
