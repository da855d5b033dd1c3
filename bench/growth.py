"""What a cold check costs as a tree grows: parts of one tree with ever more translation units.

    python -m bench.growth --tree DIR [--counts 50 100 200 ...] [--plot FILE.svg]

Each part has all headers, and N translation units evenly spread over the tree. The plot needs matplotlib
(`pip install 'vt-lint[bench]'`). Exit: 0, or 2 when the tree cannot be used.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from analyzer import config
from bench import part

_PEAK = re.compile(r"peak (\d+) MiB a process")


class Point(msgspec.Struct, frozen=True):
    """One part: its translation units, seconds, and MiB of the largest process."""

    units: int
    cost: part.Cost
    peak: int


def measure(root: Path, count: int, jobs: int) -> Point:
    """Check the part of `root` with `count` units, nothing kept from before."""
    names = part.files_of(root)
    units = part.units_of(names, count)
    with tempfile.TemporaryDirectory(prefix="vt-lint-growth-") as folder:
        tree = Path(folder) / "tree"
        part.link(root, tree, names, units)
        ran = part.check(tree, jobs, Path(folder) / "cache", "--format", "json")
    peak = _PEAK.search(ran.errors)
    if peak is None:
        raise ValueError(
            ran.errors.strip().splitlines()[-1] if ran.errors.strip() else "vt-lint said nothing"
        )
    return Point(len(units), ran.cost, int(peak[1]))


def plot(points: Sequence[Point], target: Path) -> None:
    """Draw processor seconds and peak memory over the number of units."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.4))
    left = figure.subplots()
    units = [point.units for point in points]
    left.plot(units, [point.cost.processor for point in points], marker="o", color="tab:blue")
    left.set(xlabel="translation units", ylabel="processor seconds, cold", ylim=(0, None), xlim=(0, None))
    right = left.twinx()
    right.plot(units, [point.peak for point in points], marker="s", linestyle="--", color="tab:gray")
    right.set(ylabel="MiB, largest process (dashed)", ylim=(0, None))
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.growth", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR")
    parser.add_argument("--counts", type=int, nargs="+", default=[50, 100, 200, 350, 500], metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it as SVG")
    args = parser.parse_args(argv)
    points = []
    print(f"{'units':>6}{'wall s':>9}{'processor s':>13}{'a unit':>8}{'peak MiB':>10}")
    for count in args.counts:
        try:
            point = measure(args.tree.resolve(), count, args.jobs)
        except (OSError, ValueError, config.SetupError) as error:
            print(f"growth: {error}", file=sys.stderr)
            return 2
        points.append(point)
        wall, processor = point.cost.wall, point.cost.processor
        each = processor / point.units
        print(f"{point.units:>6}{wall:>9.1f}{processor:>13.1f}{each:>8.2f}{point.peak:>10}", flush=True)
    if args.plot:
        plot(points, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
