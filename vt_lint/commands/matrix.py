"""`vt-lint matrix`."""

from __future__ import annotations

from pathlib import Path

import click

from vt_lint.tree import locate, tree_option


@click.command()
@tree_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes. Default: one a core.")
def matrix(tree: Path | None, form: str, jobs: int | None) -> None:
    """Show which kernels of which device read which marker, and the policy derived from it."""
    from analyzer.config import load
    from rules.matrix import matrix as read
    from vt_lint.checking import progress_bar
    from vt_lint.report import matrix as report

    root, _ = locate(tree, ())
    with progress_bar() as progress:
        found = read(root, config=load(root), jobs=jobs, progress=progress)
    click.echo(report.as_json(found) if form == "json" else report.text(found))
