"""`vt-lint config`."""

from __future__ import annotations

from pathlib import Path

import click

from vt_lint.tree import locate, tree_option


@click.command()
@tree_option
def config(tree: Path | None) -> None:
    """Show the settings in force and where each is from. A wrong setting is exit code 2."""
    from vt_lint.settings import effective

    root, _ = locate(tree, ())
    click.echo(f"tree = {root}")
    for setting in effective(root):
        click.echo(f"{setting.name} = {setting.value}  # {setting.origin}")
