"""Bundles: programs built here, run where the hardware is, judged here again.

A bundle's runner needs a POSIX shell and one of ``sha256sum``, ``shasum`` or ``openssl``. Hashes guard
against mix-ups and damage, not against someone who rewrites a results file on purpose.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import Any

from runtime_check.build import file_digest
from runtime_check.errors import EXIT_OK, EXIT_USAGE, VerifyError
from runtime_check.judge import conclude, not_run, void_reason
from runtime_check.model import BuildRecord, Case, Evidence, Group, VerifyOptions
from runtime_check.probe import Plan
from runtime_check.target import RunResult, read_lines

_VERSION = 3


def write(
    options: VerifyOptions,
    base: Evidence,
    kinds: Mapping[str, str],
    todo: Plan,
    programs: Mapping[str, Mapping[str, Path]],
    inputs: Mapping[str, str],
    started: float,
) -> Evidence:
    """Write the bundle to ``options.bundle``.

    Args:
        inputs: relative path -> digest of the working tree's files that the programs were built from.

    Raises:
        VerifyError: the folder exists and is not a bundle (exit 2).
    """
    assert options.bundle is not None
    folder = options.bundle
    if folder.exists() and any(folder.iterdir()) and not (folder / "manifest.json").is_file():
        raise VerifyError(
            f"--bundle {folder.name}: the folder holds something else; name an empty one", EXIT_USAGE
        )
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    lines: list[str] = []
    for side, by_unit in programs.items():
        for unit in todo.units:
            name = f"bin/{side}-{unit.name}"
            shutil.copy2(by_unit[unit.name], folder / name)
            files[name] = file_digest(folder / name)
            lines += [f"run {side}/{index} {name} {index}" for index in unit.groups]
            if side == list(programs)[-1]:
                lines += [f"run timing/{index} {name} {1000 + index}" for index in unit.timed]
    manifest: dict[str, Any] = {
        "version": _VERSION,
        "evidence": asdict(base),
        "kinds": dict(kinds),
        "files": files,
        "inputs": dict(inputs),
    }
    identity = hashlib.sha256(_canonical(manifest).encode()).hexdigest()
    text = _canonical({**manifest, "id": identity})
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")
    known = options.work / "bundles"
    known.mkdir(exist_ok=True)
    (known / f"{identity}.json").write_text(text + "\n", encoding="utf-8")
    runner = (resources.files("runtime_check") / "templates" / "run.sh.in").read_text(encoding="utf-8")
    script = (
        runner.replace("@ID@", identity)
        .replace("@TARGET@", options.target)
        .replace("@TIMEOUT@", str(int(options.run_timeout_s)))
        .replace("@CHECKS@", "\n".join(f"check {name} {digest}" for name, digest in files.items()))
        .replace("@RUNS@", "\n".join(lines))
    )
    (folder / "run.sh").write_text(script, encoding="utf-8")
    (folder / "run.sh").chmod(0o755)
    note = f"bundle written; run 'sh run.sh' in it on a {options.target} machine, then --collect its results"
    return replace(
        base, notes=(note,), seconds=time.monotonic() - started, exit_code=EXIT_OK, bundle_id=identity
    )


def collect(options: VerifyOptions, started: float) -> Evidence:
    """Judge the results file ``options.collect`` of a bundle written from this tree.

    Raises:
        VerifyError: the file is not such a results file, or is one of another bundle, tree or patch (exit 3).
    """
    assert options.collect is not None
    name = options.collect.name
    try:
        lines = options.collect.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise VerifyError(f"--collect {name}: cannot be read: {error.strerror}", EXIT_USAGE) from error
    header = _record(lines[0]) if lines else {}
    identity = str(header.get("bundle", ""))
    if not identity:
        raise VerifyError(f"--collect {name}: not a results file of a bundle's run.sh", EXIT_USAGE)
    manifest = _manifest(options, identity, name)
    _check_tree(options, manifest, name)
    base = _evidence(manifest["evidence"])
    if base.target != options.target:
        raise VerifyError(f"--collect {name}: made for target {base.target}, not {options.target}")
    outputs, programs = _split(lines[1:])
    for program, digest in manifest["files"].items():
        if programs.get(program) != digest:
            raise VerifyError(
                f"--collect {name}: {program} that ran is not the one in the manifest; run it again"
            )
    labels = [b.side for b in base.builds]
    results: dict[str, dict[int, RunResult]] = {label: {} for label in labels}
    for group in base.groups:
        for label in labels:
            result = _result(group, outputs.get(f"{label}/{group.index}", ("", 0, "")))
            void = void_reason(base.target, result)
            results[label][group.index] = (
                replace(result, observations=not_run(group, void)) if void else result
            )
        if f"timing/{group.index}" in outputs:
            timed = _result(group, outputs[f"timing/{group.index}"])
            results[labels[-1]][group.index] = replace(
                results[labels[-1]][group.index], timings=timed.timings, timing_problem=timed.problem
            )
    return conclude(base, manifest["kinds"], results, started, identity)


def _result(group: Group, output: tuple[str, int, str]) -> RunResult:
    text, code, last = output
    # The shell reports a signal as 128 and its number, and timeout(1) a program that it ended as 124.
    limit = "ran past its limit" if code == 124 else ""
    return read_lines(group, text, last, 128 - code if code > 128 else code, limit)


def _canonical(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _manifest(options: VerifyOptions, identity: str, name: str) -> dict[str, Any]:
    candidates = [options.work / "bundles" / f"{identity}.json"] if identity.isalnum() else []
    if options.bundle is not None:
        candidates.insert(0, options.bundle / "manifest.json")
    for path in candidates:
        if not path.is_file():
            continue
        manifest = _record(path.read_text(encoding="utf-8"))
        body = {key: value for key, value in manifest.items() if key != "id"}
        if manifest.get("id") != hashlib.sha256(_canonical(body).encode()).hexdigest():
            raise VerifyError(f"{path.name}: was changed after it was written; write the bundle again")
        if manifest["id"] == identity and manifest.get("version") == _VERSION:
            return manifest
    raise VerifyError(
        f"--collect {name}: results of another bundle ({identity[:12]}); name that one with --bundle"
    )


def _check_tree(options: VerifyOptions, manifest: Mapping[str, Any], name: str) -> None:
    for path, digest in manifest["inputs"].items():
        file = options.tree / path
        if not file.is_file() or file_digest(file) != digest:
            raise VerifyError(
                f"--collect {name}: results of another tree: {path} is not the file that was built"
            )
    patch = manifest["evidence"]["patch_sha256"]
    if options.patch is not None and hashlib.sha256(options.patch.read_bytes()).hexdigest() != patch:
        raise VerifyError(f"--collect {name}: results of another patch than {options.patch.name}")


def _split(lines: list[str]) -> tuple[dict[str, tuple[str, int, str]], dict[str, str]]:
    outputs: dict[str, tuple[str, int, str]] = {}
    programs: dict[str, str] = {}
    current: list[str] = []
    for line in lines:
        record = _record(line)
        if "run" in record and "exit" in record:
            outputs[str(record["run"])] = (
                "\n".join(current),
                int(record["exit"]),
                str(record.get("stderr", "")),
            )
            current = []
        elif "program" in record:
            programs[str(record["program"])] = str(record.get("sha256", ""))
        else:
            current.append(line)
    return outputs, programs


def _evidence(data: Mapping[str, Any]) -> Evidence:
    groups = tuple(
        Group(**{**group, "cases": tuple(Case(**case) for case in group["cases"])})
        for group in data["groups"]
    )
    builds = tuple(BuildRecord(**{**build, "trapped": tuple(build["trapped"])}) for build in data["builds"])
    tuples = {key: tuple(data[key]) for key in ("commands", "not_probed", "notes")}
    return Evidence(**{**data, **tuples, "groups": groups, "builds": builds, "judgements": (), "timings": ()})
