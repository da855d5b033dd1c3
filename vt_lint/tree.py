"""Which tree a command is about, and which of its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from vt_lint.exit import Fault

F = TypeVar("F", bound=Callable[..., object])


def tree_option(command: F) -> F:
    """Add `--tree DIR` to `command`."""
    return click.option(
        "--tree",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Root of the C++ tree. Default: the nearest folder upward with .vt-lint.toml, "
        "compile_commands.json or .git.",
    )(command)


def evidence_option(command: F) -> F:
    """Add `--evidence FILE` to `command`."""
    return click.option(
        "--evidence",
        multiple=True,
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Mark fixes that FILE, of `vt-lint verify --format json`, proves. May be repeated. "
        "Default: `evidence` in the settings.",
    )(command)


def locate(tree: Path | None, paths: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """Return the root and `paths` relative to it, with forward slashes; no paths for the root itself.

    Raises `Fault` for a path that does not exist or is outside of the root.
    """
    from analyzer.tree import find_root

    root = tree.resolve() if tree else find_root(paths[0] if paths else Path.cwd())
    inside = []
    for path in paths:
        if not path.exists():
            raise Fault(f"{path}: no such file or folder")
        try:
            inside.append(path.resolve().relative_to(root).as_posix())
        except ValueError:
            raise Fault(f"{path}: not in the tree {root}: name its tree with --tree DIR") from None
    return root, () if "." in inside else tuple(inside)
