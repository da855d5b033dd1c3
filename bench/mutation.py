"""Mutation score of `vt-lint check`: one statement of a tree is broken at a time, and check has to notice.

    python -m bench.mutation --tree DIR [--count 200] [--seed 0] [--kind KIND...] [--batch N]
                             [--at-least 0.98]

A mutant is killed when the check reports something new (a rule, a marker, a function and a verdict that the
unmutated tree does not have together, or has less often) in the mutated function, or elsewhere when the loss
surfaces at its callers. The tree itself is never written: the C++ files are hard links in a folder of their own,
replaced one at a time. `--batch N` breaks up to N functions at once to save time: what is new counts for the
mutants whose functions it is in or passes; when something counts for none, those not noticed are run again alone.

Exit: 0 the share of killed mutants is at least `--at-least`, 1 it is not, 2 the tree cannot be used.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress

from analyzer import config, tree
from bench.mutants import KINDS, Mutant, apply, is_skipped, is_sound, mutants_of, names_in
from rules.check import check
from rules.finding import Finding, Report
from rules.markers import MARKERS

SKIP = ("test", "tests", "testing", "bench", "benchmarks", "examples")

Key = tuple[str, str, str, str, str]


class Result(msgspec.Struct, frozen=True):
    """How a mutant fared: `killed`, `elsewhere` (killed, but the finding is in another function), `survived`,
    or `unanalysed` (it does not parse for clang, and counts for nothing)."""

    mutant: Mutant
    fate: str
    new: tuple[str, ...]


class Bench:
    """A tree of hard links in `root`, and the check of it before any change."""

    def __init__(self, source: Path, root: Path, files: Sequence[str], jobs: int | None) -> None:
        self.root, self.jobs = root, jobs
        for name in files:
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source / name, target)
            except OSError:  # another file system, or one without links
                shutil.copyfile(source / name, target)
        self.before = check(root, jobs=jobs)
        self.keys = Counter(key(finding) for finding in self.before.findings)

    def replace(self, name: str, text: bytes) -> None:
        """Put other text in place of a file, without writing through its link."""
        fresh = self.root / (name + ".mutant")
        fresh.write_bytes(text)
        os.replace(fresh, self.root / name)

    def run(self, mutant: Mutant) -> Result:
        """Check the tree with one mutant in it, and put the file back."""
        original = (self.root / mutant.path).read_bytes()
        self.replace(mutant.path, mutant.apply(original))
        try:
            after = check(self.root, jobs=self.jobs)
        finally:
            self.replace(mutant.path, original)
        if len(after.coverage.unanalysed) > len(self.before.coverage.unanalysed):
            return Result(mutant, "unanalysed", ())
        new = self.new_in(after)
        here = [finding for finding in new if is_in(finding, mutant)]
        fate = "killed" if here else "elsewhere" if new else "survived"
        return Result(mutant, fate, tuple(f"{f.rule} {f.marker} in {f.function}" for f in here or new))

    def run_together(self, mutants: Sequence[Mutant]) -> list[Result]:
        """Check the tree with mutants of different functions in it. What is new counts for the mutant in whose function
        it is, else for those through whose functions its witness passes; when something is new that counts for none,
        or something does not parse, the mutants that were not noticed are left out of the result."""
        originals = {mutant.path: (self.root / mutant.path).read_bytes() for mutant in mutants}
        try:
            for path, original in originals.items():
                edits = tuple(edit for mutant in mutants if mutant.path == path for edit in mutant.edits)
                self.replace(path, apply(edits, original))
            after = check(self.root, jobs=self.jobs)
        finally:
            for path, original in originals.items():
                self.replace(path, original)
        if len(after.coverage.unanalysed) > len(self.before.coverage.unanalysed):
            return []
        here: dict[Mutant, list[Finding]] = {}
        through: dict[Mutant, list[Finding]] = {}
        told = True
        for finding in self.new_in(after):
            own = [mutant for mutant in mutants if is_in(finding, mutant)]
            passed = [mutant for mutant in mutants if passes(finding, mutant)]
            for mutant in own or passed:
                (here if own else through).setdefault(mutant, []).append(finding)
            told = told and bool(own or passed)
        found: list[Result] = []
        for mutant in mutants:
            seen = here.get(mutant) or through.get(mutant) or []
            fate = "killed" if mutant in here else "elsewhere" if seen else "survived"
            if seen or told:
                found.append(
                    Result(mutant, fate, tuple(f"{f.rule} {f.marker} in {f.function}" for f in seen))
                )
        return found

    def new_in(self, after: Report) -> list[Finding]:
        """The findings of `after` that the unmutated tree does not have, or has less often."""
        left = self.keys.copy()
        new: list[Finding] = []
        for finding in after.findings:
            if left[key(finding)] > 0:
                left[key(finding)] -= 1
            else:
                new.append(finding)
        return new


def key(finding: Finding) -> Key:
    return finding.rule, finding.marker, finding.function, finding.place.path, finding.verdict.value


def is_in(finding: Finding, mutant: Mutant) -> bool:
    """Whether a finding is in the mutated function."""
    return finding.place.path == mutant.path and mutant.first <= finding.place.line <= mutant.last


def passes(finding: Finding, mutant: Mutant) -> bool:
    """Whether the witness of a finding goes through the mutated function."""
    return any(hop.path == mutant.path and mutant.first <= hop.line <= mutant.last for hop in finding.witness)


def sources_of(root: Path) -> tuple[dict[str, bytes], set[str]]:
    """The C++ files of a tree, by root-relative path, and which of them are the tree's own."""
    files = tree.list_files(root, config.load(root).exclude).files
    own = {file.path for file in files if not file.vendored}
    return {file.path: (root / file.path).read_bytes() for file in files}, own


def drawn(mutants: Sequence[Mutant], sources: dict[str, bytes], count: int, seed: int) -> Iterator[Mutant]:
    """At most `count` sound mutants, the kinds in turn so that none crowds out the others."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_kind.setdefault(mutant.kind, []).append(mutant)
    rng = random.Random(seed)
    for one in by_kind.values():
        rng.shuffle(one)
    while count and any(by_kind.values()):
        for waiting in by_kind.values():
            while waiting and count:
                mutant = waiting.pop()
                if is_sound(mutant, sources[mutant.path]):
                    count -= 1
                    yield mutant
                    break


def batches(mutants: Sequence[Mutant], size: int) -> Iterator[list[Mutant]]:
    """The mutants, up to `size` at a time, never two of one function."""
    waiting = list(mutants)
    while waiting:
        taken: list[Mutant] = []
        for mutant in waiting:
            if len(taken) < size and not any(mutant.overlaps(other) for other in taken):
                taken.append(mutant)
        waiting = [mutant for mutant in waiting if mutant not in taken]
        yield taken


def diff(mutant: Mutant, source: bytes) -> str:
    before = source.decode("utf-8", "replace").splitlines()
    after = mutant.apply(source).decode("utf-8", "replace").splitlines()
    return "\n".join(difflib.unified_diff(before, after, mutant.path, mutant.path, n=2, lineterm=""))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.mutation", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR")
    parser.add_argument("--count", type=int, default=200, help="at most this many mutants")
    parser.add_argument("--seed", type=int, default=0, help="which mutants")
    parser.add_argument(
        "--kind", nargs="*", default=list(KINDS), choices=KINDS, metavar="KIND", help="only these kinds"
    )
    parser.add_argument(
        "--skip", nargs="*", default=list(SKIP), metavar="NAME", help="no mutants in folders of this name"
    )
    parser.add_argument("--list", action="store_true", help="count what could be mutated, and check nothing")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="break up to N functions at once")
    parser.add_argument("--jobs", type=int, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save every mutant and its fate")
    parser.add_argument(
        "--at-least", type=float, default=0.0, metavar="SHARE", help="fail below this share, 0 to 1"
    )
    return parser.parse_args(argv)


def table(results: Sequence[Result]) -> list[str]:
    fates = Counter((result.mutant.kind, result.fate) for result in results)
    lines = [f"{'kind':<34}{'killed':>8}{'elsewhere':>11}{'survived':>10}{'share':>9}{'unanalysed':>12}"]
    for kind in (*KINDS, "all"):
        kinds = KINDS if kind == "all" else (kind,)
        killed, elsewhere, survived, lost = (
            sum(fates[one, fate] for one in kinds)
            for fate in ("killed", "elsewhere", "survived", "unanalysed")
        )
        whole = killed + elsewhere + survived
        share = f"{(killed + elsewhere) / whole:.2%}" if whole else "-"
        lines.append(f"{kind:<34}{killed:>8}{elsewhere:>11}{survived:>10}{share:>9}{lost:>12}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    markers = [marker.name for marker in MARKERS]
    console = Console(stderr=True)
    try:
        sources, own = sources_of(args.tree)
        marked = {
            name: text for name, text in sources.items() if any(marker.encode() in text for marker in markers)
        }
        names = names_in(marked, markers)
        possible = [
            mutant
            for name, text in sources.items()
            if name in own and not is_skipped(name, args.skip)
            for mutant in mutants_of(name, text, names, markers)
            if mutant.kind in args.kind
        ]
        print(f"{len(own)} files, {len(possible)} mutants possible: ", end="")
        print(
            ", ".join(f"{count} {kind}" for kind, count in Counter(m.kind for m in possible).items())
            or "none"
        )
        if args.list:
            return 0
        chosen = list(drawn(possible, sources, args.count, args.seed))
        with tempfile.TemporaryDirectory(prefix="vt-lint-mutation-") as folder:
            settings = [config.FILE_NAME] if (args.tree / config.FILE_NAME).exists() else []
            settings += [
                path.relative_to(args.tree).as_posix()
                for name in ("CMakeLists.txt", "*.cmake")
                for path in args.tree.rglob(name)
            ]
            with console.status("checking the unmutated tree"):
                bench = Bench(args.tree.resolve(), Path(folder).resolve(), [*sources, *settings], args.jobs)
            results: list[Result] = []
            with Progress(console=console) as progress:
                task = progress.add_task("mutants", total=len(chosen))
                for batch in batches(chosen, args.batch):
                    together = bench.run_together(batch) if len(batch) > 1 else []
                    seen = {result.mutant for result in together}
                    results += together
                    progress.advance(task, len(together))
                    for mutant in batch:
                        if mutant not in seen:
                            results.append(bench.run(mutant))
                            progress.advance(task)
                    if args.json is not None:  # a long run may be stopped
                        args.json.write_bytes(msgspec.json.encode(results_for_json(results, sources)))
    except (OSError, config.SetupError) as error:
        print(f"mutation: {error}", file=sys.stderr)
        return 2

    print("\n".join(table(results)))
    for result in results:
        if result.fate == "survived":
            mutant = result.mutant
            print(f"\nsurvived: {mutant.kind}, {mutant.path}:{mutant.line} in {mutant.function}")
            print(diff(mutant, sources[mutant.path]))
    counted = [result for result in results if result.fate != "unanalysed"]
    killed = sum(result.fate != "survived" for result in counted)
    share = killed / len(counted) if counted else 1.0
    if share < args.at_least:
        print(f"mutation: {share:.2%} killed, {args.at_least:.2%} wanted", file=sys.stderr)
        return 1
    return 0


def results_for_json(results: Sequence[Result], sources: dict[str, bytes]) -> list[dict[str, object]]:
    return [
        {
            "kind": result.mutant.kind,
            "path": result.mutant.path,
            "line": result.mutant.line,
            "function": result.mutant.function,
            "fate": result.fate,
            "new": result.new,
            "diff": diff(result.mutant, sources[result.mutant.path]),
        }
        for result in results
    ]


if __name__ == "__main__":
    sys.exit(main())
