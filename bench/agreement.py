"""Agreement of `vt-lint check` with hand labels of a tree: recall by severity and marker, and false alarms.

    python -m bench.agreement --tree DIR --truth FILE... [--benign FILE] [--report JSON] [--forms FORM...]

Exit: 0 every threshold given is kept, 1 one is not, 2 an input cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from analyzer.config import SetupError
from bench.labels import Agreement, Row, Said, compare, read_rows, said_by, said_by_json
from rules.check import check

KINDS = ("markers", "effective_markers", "syntactic_markers")


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.agreement", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--truth", type=Path, nargs="+", required=True, metavar="FILE", help="label files of sites"
    )
    parser.add_argument(
        "--benign", type=Path, nargs="*", default=[], metavar="FILE", help="label files of silent lines"
    )
    parser.add_argument(
        "--report", type=Path, metavar="JSON", help="a saved `vt-lint check --format json`; no run"
    )
    parser.add_argument("--labels", choices=KINDS, default="markers", help="which labels of a row count")
    parser.add_argument("--forms", nargs="*", default=[], metavar="FORM", help="only rows of these forms")
    parser.add_argument("--not-forms", nargs="*", default=[], metavar="FORM", help="no rows of these forms")
    parser.add_argument("--rules", nargs="*", default=[], metavar="CODE", help="only findings of these rules")
    parser.add_argument("--must-fix", type=float, metavar="SHARE", help="fail below this recall, 0 to 1")
    parser.add_argument("--latent", type=float, metavar="SHARE", help="fail below this recall, 0 to 1")
    parser.add_argument(
        "--false-alarms", type=float, metavar="SHARE", help="fail above this share of benign lines"
    )
    parser.add_argument("--unlabelled", action="store_true", help="list loud findings that no row speaks of")
    return parser.parse_args(argv)


def _recall(agreement: Agreement, severity: str) -> float:
    met = sum(row.severity == severity for row, _ in agreement.met)
    missed = sum(row.severity == severity for row, _ in agreement.missed)
    return share(met, met + missed)


def _table(agreement: Agreement) -> list[str]:
    met = Counter((row.severity, marker) for row, marker in agreement.met)
    missed = Counter((row.severity, marker) for row, marker in agreement.missed)
    severities = [s for s in ("must_fix", "latent", "benign") if any(key[0] == s for key in (*met, *missed))]
    markers = sorted({key[1] for key in (*met, *missed)})
    lines = [f"{'dropped markers found':<24}" + "".join(f"{name:>20}" for name in (*markers, "all"))]
    for severity in severities:
        cells = []
        for chosen in (*([marker] for marker in markers), markers):
            part = sum(met[severity, marker] for marker in chosen)
            whole = part + sum(missed[severity, marker] for marker in chosen)
            cells.append(f"{part}/{whole} {share(part, whole):7.2%}" if whole else "-")
        lines.append(f"{severity:<24}" + "".join(f"{cell:>20}" for cell in cells))
    return lines


def _missed(row: Row, marker: str, said: Sequence[Said]) -> list[str]:
    near = [one for one in said if one.near(row)]
    also = ", ".join(sorted({f"{one.rule} {one.marker}" for one in near})) or "nothing"
    unsure = " (unsure)" if row.unsure else ""
    return [
        f"  missed {row.severity} {row.where} {marker}: {row.form} in {row.function}{unsure}",
        f"    label: {row.note or '-'}",
        f"    found there: {also}",
    ]


def _reported(what: str, row: Row, one: Said) -> list[str]:
    label = row.markers.get(one.marker) or row.label
    return [
        f"  {what} {one.path}:{one.line} {one.rule} {one.marker} {one.severity}",
        f"    labelled {label} at {row.where}",
        f"    label: {row.note or '-'}",
        f"    says: {one.message}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    try:
        rows = read_rows(args.truth)
        benign = [row for row in read_rows(args.benign) if row.label == "benign"]
        if args.report is not None:
            said = said_by_json(args.report.read_text(encoding="utf-8"))
        else:
            said = said_by(check(args.tree))
    except (OSError, ValueError, SetupError) as error:
        print(f"agreement: {error}", file=sys.stderr)
        return 2
    rows = [
        row for row in rows if (not args.forms or row.form in args.forms) and row.form not in args.not_forms
    ]
    if args.rules:
        said = [one for one in said if one.rule in args.rules]
    agreement = compare(said, rows, benign, args.labels)

    print("\n".join(_table(agreement)))
    noisy = {row.where for row, _ in agreement.false_alarms}
    lines = {row.where for row in benign}
    alarms = len(noisy) / len(lines) if lines else 0.0
    print(f"\nbenign lines reported: {len(noisy)}/{len(lines)} {alarms:.2%}")
    print(f"sites reported for a marker not labelled dropped: {len(agreement.surprises)}")
    print(f"loud findings that no row speaks of: {len(agreement.unlabelled)}\n")
    for row, marker in agreement.missed:
        print("\n".join(_missed(row, marker, said)))
    for row, one in agreement.false_alarms:
        print("\n".join(_reported("false alarm", row, one)))
    for row, _, one in agreement.surprises:
        print("\n".join(_reported("unexpected", row, one)))
    if args.unlabelled:
        for one in agreement.unlabelled:
            print(f"  unlabelled {one.path}:{one.line} {one.rule} {one.marker} {one.severity}: {one.message}")

    failures = []
    for severity, least in (("must_fix", args.must_fix), ("latent", args.latent)):
        recall = _recall(agreement, severity)
        if least is not None and recall < least:
            failures.append(f"{severity}: {recall:.2%} found, {least:.2%} wanted")
    if args.false_alarms is not None and alarms > args.false_alarms:
        failures.append(f"benign lines: {alarms:.2%} reported, {args.false_alarms:.2%} allowed")
    for failure in failures:
        print(f"agreement: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
