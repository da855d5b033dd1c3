"""`vt-lint baseline`."""

from __future__ import annotations

from pathlib import Path

import click

from vt_lint.tree import locate, tree_option

FILE_NAME = ".vt-lint-baseline.json"


@click.command()
@click.argument("action", type=click.Choice(["create", "update", "prune"]))
@tree_option
@click.option(
    "--baseline",
    "path",
    type=click.Path(path_type=Path),
    help=f"Default: {FILE_NAME} at the root of the tree.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why the findings that are added may stay.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes. Default: one a core.")
def baseline(action: str, tree: Path | None, path: Path | None, reason: str, jobs: int | None) -> int:
    """Record known findings, so that only new ones fail.

    create: a new file with all findings of now. update: add the new ones, drop those that are fixed.
    prune: only drop those that are fixed. What is added needs a --reason.
    """
    from vt_lint import baseline as entries
    from vt_lint.checking import Request, report
    from vt_lint.exit import Exit, Fault

    root, _ = locate(tree, ())
    file = path or root / FILE_NAME
    if action == "create" and file.exists():
        raise Fault(f"{file}: is there already: use `vt-lint baseline update`, or remove it first")
    if action != "prune" and not reason.strip():
        raise Fault(f"baseline {action} needs --reason TEXT: why may these findings stay?")
    old = () if action == "create" else entries.load(file)
    found = report(Request(root, jobs=jobs))
    stale = entries.gone(found, old)
    kept = [e for e in old if e not in stale]
    new, _ = entries.split((f for f in found.findings if not f.suppressed), kept)
    added = [] if action == "prune" else [entries.entry(f, reason) for f in new]
    entries.save(file, [*kept, *added])
    click.echo(f"{file}: {len(kept) + len(added)} entries, {len(added)} added, {len(stale)} dropped as fixed")
    if unread := found.coverage.unanalysed:
        click.echo(
            f"{len(unread)} candidates were not analysed: their entries were left as they are", err=True
        )
        return Exit.UNANALYSED
    return Exit.OK
