"""Targets: which compilers build them, and how their programs run here."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime_check.errors import VerifyError
from runtime_check.model import Group, Observation, Outcome, Target, Timing, VerifyOptions
from runtime_check.profile import TargetConfig


@dataclass(frozen=True)
class Toolchain:
    """Compilers of a target and the prefix that runs its programs.

    Attributes:
        cxx: C++ compiler.
        cmake: arguments that select it.
        nm: symbol lister of the same binary utilities.
        runner: words before the program's name; empty to run it directly.
        runnable: why programs cannot run here; empty where they can.
        cuda: root of the CUDA toolkit, for the cuda target.
        versions: tool -> first line of its version.
        link: flags added to every link.
        compile: flags added to every probe.
    """

    cxx: str
    cmake: tuple[str, ...]
    nm: str
    runner: tuple[str, ...]
    runnable: str
    versions: Mapping[str, str]
    link: tuple[str, ...]
    compile: tuple[str, ...] = ()
    cuda: Path | None = None


def _which(name: str, purpose: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise VerifyError(
            f"{name} is not installed; it is needed to {purpose} (Debian: apt-get install {package})"
        )
    return found


def _version(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise VerifyError(f"{command[0]}: cannot be run: {error}") from error
    lines = [line for line in (done.stdout or done.stderr).splitlines() if line.strip()]
    return lines[0].strip() if lines else "unknown"


def _host_has_i8mm() -> bool:
    if platform.machine() != "aarch64":
        return False
    try:
        return " i8mm" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


def toolchain(options: VerifyOptions, config: TargetConfig) -> Toolchain:
    """Find the tools of ``options.target``.

    Raises:
        VerifyError: a compiler is missing or too old (exit 3).
    """
    target: Target = options.target
    _which("cmake", "read the tree's compiler flags", "cmake")
    versions = {"cmake": _version(["cmake"])}
    if target == "i8mm":
        native = platform.machine() == "aarch64"
        cxx = _which("g++" if native else "aarch64-linux-gnu-g++", "build for Arm", "g++-aarch64-linux-gnu")
        versions["compiler"] = _version([cxx])
        runner: tuple[str, ...] = ()
        runnable = ""
        if not _host_has_i8mm():
            emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
            if emulator is None:
                runnable = "qemu-aarch64 is not installed (Debian: apt-get install qemu-user)"
            else:
                versions["emulator"] = _version([emulator])
                runner = (emulator, "-cpu", options.emulator_cpu)
        cmake = (
            ()
            if native
            else (
                "-DCMAKE_SYSTEM_NAME=Linux",
                "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
                f"-DCMAKE_CXX_COMPILER={cxx}",
                f"-DCMAKE_C_COMPILER={re.sub(r'g[+][+]$', 'gcc', cxx)}",
            )
        )
        return Toolchain(cxx, cmake, re.sub(r"g[+][+]$", "nm", cxx), runner, runnable, versions, ("-static",))
    cxx = _which(os.environ.get("CXX", "g++"), "build for this machine", "g++")
    versions["compiler"] = _version([cxx])
    nm = _which("nm", "read symbols", "binutils")
    if target == "cpu":
        return Toolchain(cxx, (f"-DCMAKE_CXX_COMPILER={cxx}",), nm, (), "", versions, ())
    return _cuda(config, cxx, nm, versions)


def _cuda(config: TargetConfig, cxx: str, nm: str, versions: dict[str, str]) -> Toolchain:
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = shutil.which("nvcc") or shutil.which(f"{home}/bin/nvcc")
    if nvcc is None:
        raise VerifyError("nvcc is not installed; install the CUDA toolkit, or build the bundle where it is")
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=60, check=False)
    match = re.search(r"release (\d+)\.(\d+)", done.stdout)
    if match is None:
        raise VerifyError(f"{nvcc}: did not report its release; is it CUDA's compiler?")
    release = (int(match.group(1)), int(match.group(2)))
    versions["nvcc"] = f"CUDA {release[0]}.{release[1]}"
    wanted = tuple(int(part) for part in [*config.min_nvcc.split("."), "0"][:2])
    if release < wanted:
        raise VerifyError(
            f"nvcc is CUDA {release[0]}.{release[1]}; this tree needs {config.min_nvcc} or newer"
        )
    root = _cuda_root(Path(nvcc))
    libraries = next(
        (p for p in (root / "lib64", root / "targets/x86_64-linux/lib") if p.is_dir()), root / "lib64"
    )
    return Toolchain(
        cxx=cxx,
        cmake=(f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CUDA_COMPILER={nvcc}"),
        nm=nm,
        runner=(),
        runnable="",
        versions=versions,
        link=(
            "-static-libstdc++",
            "-static-libgcc",
            f"-L{libraries}",
            "-lcudart_static",
            "-ldl",
            "-lrt",
            "-lpthread",
        ),
        compile=("-DVT_PROBE_CUDA", f"-isystem{root / 'include'}"),
        cuda=root,
    )


def _cuda_root(nvcc: Path) -> Path:
    # nvcc on PATH may be a link or a wrapper script; its dry run prints the toolkit it uses.
    done = subprocess.run(
        [str(nvcc), "--dryrun", "-x", "cu", "-c", "/dev/null"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    match = re.search(r"^#\$ TOP=(.+)$", done.stderr, re.M)
    return Path(match.group(1).strip()).resolve() if match else nvcc.resolve().parent.parent


@dataclass(frozen=True)
class RunResult:
    """Output of one group's process.

    Attributes:
        problem: why the process did not end as it should; empty where it did.
        timing_problem: the same of the process that timed the group.
    """

    environment: Mapping[str, Any]
    observations: tuple[Observation, ...]
    timings: tuple[Timing, ...] = ()
    problem: str = ""
    timing_problem: str = ""


def run_group(
    program: Path, group: Group, chain: Toolchain, timeout_s: float, cwd: Path, timed: bool = False
) -> RunResult:
    """Run ``group`` (its timing when ``timed``) in its own process group and read its lines."""
    index = group.index + (1000 if timed else 0)
    command = [*chain.runner, str(program), str(index)]
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise VerifyError(f"{program.name}: cannot be run: {error.strerror}") from error
    timed_out = False
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    return read_lines(
        group, out, err, process.returncode, f"no answer in {timeout_s:g} s" if timed_out else ""
    )


def read_lines(group: Group, out: str, err: str, code: int, timed_out: str) -> RunResult:
    """Turn a probe's output into one observation for each case of ``group``; a missing case is no pass."""
    environment: dict[str, Any] = {}
    seen: dict[str, Observation] = {}
    timings: list[Timing] = []
    started = ""
    setup_failed = ""
    for line in out.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict):
            continue
        if "environment" in record:
            environment = record["environment"]
        elif "start" in record:
            started = record["start"]
        elif "setup_failed" in record:
            setup_failed = record["setup_failed"]
        elif "timing" in record:
            timings.append(_timing(group, record))
        elif "case" in record and record["case"] not in seen:
            seen[record["case"]] = _observation(record)
    reason, outcome = "", Outcome.NOT_RUN
    if environment.get("no_device"):
        reason = f"no device: {environment['no_device']}"
    elif timed_out:
        outcome, reason = Outcome.TIMED_OUT, timed_out
    elif setup_failed:
        reason = setup_failed
    elif code != 0:
        outcome = Outcome.CRASHED
        name = (
            signal.Signals(-code).name
            if code < 0 and -code in signal.valid_signals()
            else f"exit status {code}"
        )
        last = [text for text in err.splitlines() if text.strip()]
        reason = f"{name}{': ' + last[-1].strip() if last else ''}"
    observations = []
    for case in group.cases:
        if case.id in seen:
            observations.append(seen[case.id])
        elif case.id == started or not started or outcome is Outcome.NOT_RUN:
            observations.append(
                Observation(case.id, outcome, message=reason or "the probe printed no result")
            )
        else:
            observations.append(
                Observation(case.id, Outcome.NOT_RUN, message=f"not reached: {reason} in {started}")
            )
    return RunResult(environment, tuple(observations), tuple(timings), reason)


def _observation(record: Mapping[str, Any]) -> Observation:
    try:
        outcome = Outcome(record.get("outcome", ""))
    except ValueError:
        return Observation(str(record["case"]), Outcome.NOT_RUN, message="the probe's line could not be read")
    return Observation(
        case=str(record["case"]),
        outcome=outcome,
        where=str(record.get("where", "")),
        message=str(record.get("message", "")),
        marked=bool(record.get("marked", False)),
        uploaded=int(record.get("uploaded", 0)),
        total=int(record.get("total", 0)),
        nonfinite=int(record.get("nonfinite", 0)),
        differing=int(record.get("differing", 0)),
        error=record.get("error"),
        plain_error=record.get("plain_error"),
    )


def _timing(group: Group, record: Mapping[str, Any]) -> Timing:
    return Timing(
        helper=group.helper,
        marker=group.marker,
        m=int(record["m"]),
        n=int(record["n"]),
        k=int(record["k"]),
        plain_us=float(record["plain_us"]),
        marked_us=float(record["marked_us"]),
        plain_share=float(record["plain_share"] or 0.0),
        marked_share=float(record["marked_share"] or 0.0),
        bandwidth_gbs=float(record["bandwidth_gbs"]),
    )
