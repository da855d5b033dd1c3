"""`vt-lint check` and its peers on the same files in the same run: cost as a ratio, and what each finds.

    python -m bench.peers --tree DIR [--truth FILE...] [--benign FILE...] [--define MACRO...] [--limit N]

A peer gets the question that it can express: clang-tidy one trivial check (the price of parsing), and
clang-query, semgrep and ast-grep "a call that makes a view from a pointer". A hit of theirs counts for every
marker of the row it is on. `--limit N`: all of them, ours too, get N translation units evenly spread over the
tree, and the headers. Ratios are of processor seconds, which other work on the machine disturbs least. What is
not installed is listed as not run. Exit: 0, or 2 when the tree or a label file cannot be used.
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

from analyzer import config
from bench import part
from bench.labels import Row, Said, compare, read_rows, said_by_json
from bench.mutants import carriers_in, factories_in, parse
from rules.markers import MARKERS

TRIVIAL_CHECK = "modernize-use-nullptr"
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
    """A run: its cost (none: not run, `note` says why) and what it reports."""

    label: str
    cost: part.Cost | None = None
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
    started, before = time.perf_counter(), part.processor_seconds()
    try:
        lines = peer.find(program, task)
    except (OSError, ValueError, KeyError) as error:
        return Outcome(peer.label, note=f"not run: {error}")
    cost = part.Cost(time.perf_counter() - started, part.processor_seconds() - before)
    said = [
        Said(peer.label, path, line, line, "", marker.name, "warning", "a view is made here")
        for path, line in lines
        for marker in MARKERS
    ]
    return Outcome(peer.label, cost, tuple(said))


def run_ours(label: str, task: Task, cache: Path) -> Outcome:
    """Run `vt-lint check` over the whole tree of the task, with its cache in `cache`."""
    ran = part.check(task.root, task.jobs, cache, "--format", "json")
    try:
        return Outcome(label, ran.cost, tuple(said_by_json(ran.output)))
    except ValueError as error:
        last = ran.errors.strip().splitlines()[-1:] or [str(error)]
        return Outcome(label, note=f"not run: {last[0]}")


def _task(root: Path, args: argparse.Namespace) -> Task:
    names = part.files_of(root)
    units = part.units_of(names, args.limit)
    names = [name for name in names if name in set(units) or not name.endswith(part.UNITS)]
    sources = {name: (root / name).read_bytes() for name in names}
    marked = [parse(text) for text in sources.values() if any(m.name.encode() in text for m in MARKERS)]
    carriers = {
        carrier.name: carrier for node in marked for carrier in carriers_in(node, [m.name for m in MARKERS])
    }
    holders = [text for text in sources.values() if any(name.encode() in text for name in carriers)]
    factories = {name for text in holders for name in factories_in(parse(text), carriers)}
    folders = [root / folder for folder in (".", "include", "src", "third_party") if (root / folder).is_dir()]
    flags = [
        "-std=c++20",
        "-fsyntax-only",
        *(f"-I{folder}" for folder in folders),
        *(f"-D{m}" for m in args.define),
    ]
    return Task(root, tuple(units), tuple(sorted(factories)), args.jobs, tuple(flags))


def _report(outcomes: Sequence[Outcome], rows: Sequence[Row], benign: Sequence[Row], kind: str) -> list[str]:
    base = next((one.cost.processor for one in outcomes if one.cost), None)
    heads = ("wall s", "CPU s", "ratio", "must_fix", "latent", "benign hit")
    lines = [f"{'tool':<36}" + "".join(f"{head:>11}" for head in heads)]
    for one in outcomes:
        if one.cost is None:
            lines.append(f"{one.label:<36}  {one.note}")
            continue
        ratio = f"{one.cost.processor / base:.2f}x" if base else "-"
        held = compare(one.said, rows, benign, kind)
        cells = [f"{one.cost.wall:.1f}", f"{one.cost.processor:.1f}", ratio]
        for severity in ("must_fix", "latent"):
            met = sum(row.severity == severity for row, _ in held.met)
            missed = sum(row.severity == severity for row, _ in held.missed)
            cells.append(f"{met}/{met + missed}" if rows and one.said else "-")
        noisy = len({row.where for row, _ in held.false_alarms})
        cells.append(f"{noisy}/{len(benign)}" if benign and one.said else "-")
        lines.append(f"{one.label:<36}" + "".join(f"{cell:>11}" for cell in cells))
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
    parser.add_argument("--limit", type=int, metavar="N", help="only N units, evenly spread")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    root = args.tree.resolve()
    with tempfile.TemporaryDirectory(prefix="vt-lint-peers-") as folder:
        try:
            rows = read_rows(args.truth)
            benign = [row for row in read_rows(args.benign) if row.label == "benign"]
            if args.limit:
                names = part.files_of(root)
                part.link(root, Path(folder) / "tree", names, part.units_of(names, args.limit))
                root = Path(folder) / "tree"
            task = _task(root, args)
        except (OSError, ValueError, config.SetupError) as error:
            print(f"peers: {error}", file=sys.stderr)
            return 2
        print(f"{len(task.units)} units, {task.jobs} processes, {len(task.factories)} view factories")
        cache = Path(folder) / "cache"
        outcomes = [run_ours(f"vt-lint check, {state}", task, cache) for state in ("cold", "warm")]
        for peer in PEERS:
            print(f"peers: {peer.label}", file=sys.stderr)
            outcomes.append(run_peer(peer, task))
    print("\n".join(_report(outcomes, rows, benign, args.labels)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
