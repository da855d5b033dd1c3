"""`vt-lint check` and its peers on the same files in the same run: time as a ratio, and what each finds.

    python -m bench.peers --tree DIR [--truth FILE...] [--benign FILE...] [--define MACRO...] [--limit N]

A peer gets the question that it can express: clang-tidy one trivial check (the price of parsing), and
clang-query, semgrep and ast-grep "a call that makes a view from a pointer". A hit of theirs counts for every
marker of the row it is on. What is not installed is listed as not run. Exit: 0, or 2 when the tree or a label
file cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from analyzer import config, tree
from bench.labels import Row, Said, compare, read_rows, said_by_json
from bench.mutants import carriers_in, factories_in, parse
from rules.markers import MARKERS

TRIVIAL_CHECK = "modernize-use-nullptr"
UNITS = (".cpp", ".cc", ".cxx")

_HIT = re.compile(r"^(/[^:\n]+):(\d+):\d+: ", re.MULTILINE)

Line = tuple[str, int]


class Task(msgspec.Struct, frozen=True):
    """What is asked: a tree, its translation units, the names of its view factories, the number of processes,
    and compiler flags."""

    root: Path
    units: tuple[str, ...]
    factories: tuple[str, ...]
    jobs: int
    flags: tuple[str, ...]


class Outcome(msgspec.Struct, frozen=True):
    """A run: its seconds (none: not run, `note` says why) and what it reports."""

    label: str
    seconds: float | None = None
    said: tuple[Said, ...] = ()
    note: str = ""


class Peer(msgspec.Struct, frozen=True):
    """A program that may be there: its names, best first, and what it finds with the task."""

    label: str
    programs: tuple[str, ...]
    find: Callable[[str, Task], list[Line]]


def _output(command: Sequence[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False, text=True, errors="replace")
    return done.stdout


def _each_unit(task: Task, command: Callable[[str], list[str]]) -> list[Line]:
    with ThreadPoolExecutor(task.jobs) as pool:
        outputs = pool.map(lambda unit: _output(command(unit), task.root), task.units)
        return sorted(
            {(os.path.relpath(m[1], task.root), int(m[2])) for out in outputs for m in _HIT.finditer(out)}
        )


def clang_tidy(program: str, task: Task) -> list[Line]:
    # The findings of the trivial check are beside the point: what counts is the time.
    _each_unit(
        task, lambda unit: [program, f"--checks=-*,{TRIVIAL_CHECK}", str(task.root / unit), "--", *task.flags]
    )
    return []


def clang_query(program: str, task: Task) -> list[Line]:
    names = ", ".join(f'"{name}"' for name in task.factories)
    matcher = f"match callExpr(callee(functionDecl(hasAnyName({names}))))"
    return _each_unit(
        task,
        lambda unit: [
            program,
            "-c",
            "set output diag",
            "-c",
            matcher,
            str(task.root / unit),
            "--",
            *task.flags,
        ],
    )


def semgrep(program: str, task: Task) -> list[Line]:
    patterns = [{"pattern": f"{scope}{name}(...)"} for name in task.factories for scope in ("", "$SCOPE::")]
    rule = {
        "id": "view",
        "languages": ["cpp"],
        "severity": "INFO",
        "message": "view",
        "pattern-either": patterns,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"rules": [rule]}, file)
        file.flush()
        command = [program, "scan", "--metrics=off", "--disable-version-check", "--no-git-ignore", "--json"]
        command += ["--jobs", str(task.jobs), "--max-target-bytes=0", "--config", file.name, *task.units]
        results = json.loads(_output(command, task.root) or "{}").get("results", [])
    return [(str(hit["path"]), int(hit["start"]["line"])) for hit in results]


def ast_grep(program: str, task: Task) -> list[Line]:
    callee = {"field": "function", "regex": f"(^|::|\\.)({'|'.join(task.factories)})$"}
    rule = {"id": "view", "language": "cpp", "rule": {"kind": "call_expression", "has": callee}}
    command = [
        program,
        "scan",
        "--json=stream",
        "--threads",
        str(task.jobs),
        "--inline-rules",
        json.dumps(rule),
    ]
    lines = _output([*command, *task.units], task.root).splitlines()
    hits = [json.loads(line) for line in lines if line.startswith("{")]
    return [(str(hit["file"]), int(hit["range"]["start"]["line"]) + 1) for hit in hits]


PEERS = (
    Peer(f"clang-tidy, {TRIVIAL_CHECK}", ("clang-tidy-19",), clang_tidy),
    Peer("clang-query", ("clang-query-19", "clang-query"), clang_query),
    Peer("semgrep", ("semgrep",), semgrep),
    Peer("ast-grep", ("ast-grep",), ast_grep),
)


def run_peer(peer: Peer, task: Task) -> Outcome:
    """Run a peer over the task's units, or say that it is not there."""
    program = next((path for name in peer.programs if (path := shutil.which(name))), None)
    if program is None:
        return Outcome(peer.label, note=f"not run: {peer.programs[0]} is not installed")
    started = time.perf_counter()
    try:
        lines = peer.find(program, task)
    except (OSError, ValueError, KeyError) as error:
        return Outcome(peer.label, note=f"not run: {error}")
    seconds = time.perf_counter() - started
    said = [
        Said(peer.label, path, line, line, "", marker.name, "warning", "a view is made here")
        for path, line in lines
        for marker in MARKERS
    ]
    return Outcome(peer.label, seconds, tuple(said))


def run_ours(label: str, task: Task, cache: Path) -> Outcome:
    """Run `vt-lint check` over the whole tree, with its cache in `cache`."""
    command = [sys.executable, "-m", "vt_lint", "check", "--tree", str(task.root), "--format", "json"]
    command += ["-j", str(task.jobs)]
    here = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(p for p in (here, os.environ.get("PYTHONPATH", "")) if p)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": path}
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment)
    seconds = time.perf_counter() - started
    try:
        return Outcome(label, seconds, tuple(said_by_json(done.stdout)))
    except ValueError as error:
        last = done.stderr.strip().splitlines()[-1:] or [str(error)]
        return Outcome(label, note=f"not run: {last[0]}")


def _task(args: argparse.Namespace) -> Task:
    root = args.tree.resolve()
    names = [
        file.path for file in tree.list_files(root, config.load(root).exclude).files if not file.vendored
    ]
    sources = {name: (root / name).read_bytes() for name in names}
    marked = [parse(text) for text in sources.values() if any(m.name.encode() in text for m in MARKERS)]
    carriers = {
        carrier.name: carrier for node in marked for carrier in carriers_in(node, [m.name for m in MARKERS])
    }
    holders = [text for text in sources.values() if any(name.encode() in text for name in carriers)]
    factories = {name for text in holders for name in factories_in(parse(text), carriers)}
    units = [name for name in names if name.endswith(UNITS)]
    folders = [root / folder for folder in (".", "include", "src") if (root / folder).is_dir()]
    flags = [
        "-std=c++20",
        "-fsyntax-only",
        *(f"-I{folder}" for folder in folders),
        *(f"-D{m}" for m in args.define),
    ]
    return Task(root, tuple(units[: args.limit]), tuple(sorted(factories)), args.jobs, tuple(flags))


def _report(outcomes: Sequence[Outcome], rows: Sequence[Row], benign: Sequence[Row], kind: str) -> list[str]:
    base = next((one.seconds for one in outcomes if one.seconds), None)
    lines = [f"{'tool':<36}{'seconds':>9}{'ratio':>9}{'must_fix':>12}{'latent':>12}{'benign hit':>12}"]
    for one in outcomes:
        if one.seconds is None:
            lines.append(f"{one.label:<36}  {one.note}")
            continue
        ratio = f"{one.seconds / base:.1f}x" if base else "-"
        held = compare(one.said, rows, benign, kind)
        cells = []
        for severity in ("must_fix", "latent"):
            met = sum(row.severity == severity for row, _ in held.met)
            missed = sum(row.severity == severity for row, _ in held.missed)
            cells.append(f"{met}/{met + missed}" if rows and one.said else "-")
        noisy = len({row.where for row, _ in held.false_alarms})
        cells.append(f"{noisy}/{len(benign)}" if benign and one.said else "-")
        lines.append(
            f"{one.label:<36}{one.seconds:>9.2f}{ratio:>9}" + "".join(f"{cell:>12}" for cell in cells)
        )
    return lines


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    about = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=about)
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--truth", type=Path, nargs="*", default=[], metavar="FILE", help="label files of sites"
    )
    parser.add_argument(
        "--benign", type=Path, nargs="*", default=[], metavar="FILE", help="labels of silent lines"
    )
    parser.add_argument("--labels", default="markers", help="which labels of a row count")
    parser.add_argument("--define", nargs="*", default=[], metavar="MACRO", help="macros for the clang peers")
    parser.add_argument("--limit", type=int, metavar="N", help="give the peers only the first N units")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    try:
        rows = read_rows(args.truth)
        benign = [row for row in read_rows(args.benign) if row.label == "benign"]
        task = _task(args)
    except (OSError, ValueError, config.SetupError) as error:
        print(f"peers: {error}", file=sys.stderr)
        return 2
    print(f"{len(task.units)} units, {task.jobs} processes, {len(task.factories)} view factories")
    with tempfile.TemporaryDirectory(prefix="vt-lint-peers-") as cache:
        outcomes = [run_ours(f"vt-lint check, {state}", task, Path(cache)) for state in ("cold", "warm")]
    for peer in PEERS:
        print(f"peers: {peer.label}", file=sys.stderr)
        outcomes.append(run_peer(peer, task))
    print("\n".join(_report(outcomes, rows, benign, args.labels)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
