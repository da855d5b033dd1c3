"""`vt-lint trace`."""

from __future__ import annotations

from pathlib import Path

import click

from vt_lint.tree import locate, tree_option


@click.command()
@click.argument("marker", required=False, default="")
@tree_option
@click.option("--all", "every", is_flag=True, help="All markers.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True
)
@click.option(
    "--from", "source", metavar="FIELD", default="", help="Only routes through FIELD (Type::field)."
)
@click.option("--to", "target", metavar="FUNCTION", default="", help="Only routes that end in FUNCTION.")
@click.option("--partial", is_flag=True, help="Also how far flow gets where it stops.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes. Default: one a core.")
def trace(
    marker: str,
    tree: Path | None,
    every: bool,
    form: str,
    source: str,
    target: str,
    partial: bool,
    jobs: int | None,
) -> None:
    """Show where MARKER is set, carried, lost and read, and whether a marked weight gets to each loss."""
    from analyzer.config import load
    from rules.trace import trace as follow
    from vt_lint.checking import progress_bar
    from vt_lint.exit import Fault
    from vt_lint.report import trace as report

    if bool(marker) == every:
        raise Fault("give the name of one marker, or --all")
    root, _ = locate(tree, ())
    with progress_bar() as progress:
        found = follow(
            root,
            config=load(root),
            markers=(marker,) if marker else (),
            source=source,
            target=target,
            partial=partial,
            jobs=jobs,
            progress=progress,
        )
    if form == "json":
        click.echo(report.as_json(found))
    elif form == "html":
        click.echo(report.html(found, root))
    else:
        click.echo(report.text(found))
