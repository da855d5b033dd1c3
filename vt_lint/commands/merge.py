"""`vt-lint merge`."""

from __future__ import annotations

from pathlib import Path

import click

from vt_lint.tree import locate, tree_option


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE...",
)
@tree_option
def merge(files: tuple[Path, ...], tree: Path | None) -> None:
    """Add the facts of FILEs, made by `check --shard` on other machines, to the cache of this tree.

    A check then parses only what is in none of them.
    """
    from vt_lint.parts import merge as add

    root, _ = locate(tree, ())
    for file in files:
        new = add(root, file)
        click.echo(f"{file}: {new} new" if new else f"{file}: nothing new that this version can use")
