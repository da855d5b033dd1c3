"""The settings in force for a tree, with the place that each one is from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from analyzer.config import FILE_NAME, Config, SetupError, load
from codemods.policy import parse_policies
from rules.markers import declared
from rules.policy import Override
from vt_lint.exit import Fault

OTHERS = ("evidence", "fix", "marker", "policy", "verify")
"""Keys and tables of `.vt-lint.toml` that are not the analyser's."""


@dataclass(frozen=True)
class Setting:
    """One setting: its name, its value in TOML, and where it comes from."""

    name: str
    value: str
    origin: str


def effective(root: Path) -> list[Setting]:
    """Return the settings of the tree at `root`. Raises `SetupError` or `Fault` for a wrong one."""
    config = load(root)
    lines = _lines(root)
    for table in config.extra:
        if table not in OTHERS:
            where = f"{root / FILE_NAME}:{lines.get(table, 1)}"
            names = ", ".join((*Config.__struct_fields__[:-1], *OTHERS))
            raise Fault(f"{where}: unknown setting {table!r}; there are {names}")
    return [
        *_own(config, lines),
        *_fix(config, lines),
        *_markers(config, lines),
        *_policy(config, lines),
    ]


def _own(config: Config, lines: dict[str, int]) -> Iterator[Setting]:
    for name in Config.__struct_fields__:
        if name == "extra":
            continue
        value = json.dumps(msgspec.to_builtins(getattr(config, name)))
        if name not in lines and not getattr(config, name):
            yield Setting(name, value, "looked for in the tree" if name != "flags" else "default")
        else:
            yield Setting(name, value, f"{FILE_NAME}:{lines[name]}" if name in lines else "default")


def _markers(config: Config, lines: dict[str, int]) -> Iterator[Setting]:
    own = {table.get("name") for table in config.extra.get("marker", ())}
    for marker in declared(config.extra):
        fields = {k: v for k, v in msgspec.to_builtins(marker).items() if k != "name"}
        origin = f"{FILE_NAME}:{lines['marker']}" if marker.name in own else "built in"
        yield Setting(f"marker.{marker.name}", json.dumps(fields), origin)


def policy_of(config: Config) -> tuple[Override, ...]:
    """Return the overrides of the `[policy]` table. Raises `SetupError` or `PolicyError` for a wrong one."""
    table = config.extra.get("policy", {})
    if not isinstance(table, dict):
        raise SetupError(
            f'{FILE_NAME}: write policy as a table, [policy] with "MARKER:DEVICE" = "propagate" or "refuse"'
        )
    return parse_policies(f"{key}={action}" for key, action in table.items())


def check_of(config: Config) -> str:
    """Return `check` of the `[fix]` table: what `fix` refuses with where a file sees no check of its own.

    Raises `SetupError` for anything but the name of a macro or function."""
    table = config.extra.get("fix", {})
    if not isinstance(table, dict) or set(table) - {"check"}:
        raise SetupError(f'{FILE_NAME}: write fix as a table, [fix] with check = "NAME"; it has no other key')
    name = table.get("check", "")
    if not isinstance(name, str) or not re.fullmatch(r"(?:(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)?", name):
        raise SetupError(f"{FILE_NAME}: fix.check is {name!r}: give the name of a check(condition, text)")
    return name


def evidence_of(config: Config, root: Path) -> tuple[Path, ...]:
    """Return the files that `evidence` lists, relative to `root`. Raises `SetupError` for another type."""
    names = config.extra.get("evidence", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SetupError(f"{FILE_NAME}: write evidence as a list of files of `vt-lint verify --format json`")
    return tuple(root / name for name in names)


def _fix(config: Config, lines: dict[str, int]) -> Iterator[Setting]:
    for name, key, value in (
        ("fix.check", "fix", check_of(config)),
        ("evidence", "evidence", [str(path) for path in evidence_of(config, Path())]),
    ):
        yield Setting(name, json.dumps(value), f"{FILE_NAME}:{lines[key]}" if key in lines else "default")


def _policy(config: Config, lines: dict[str, int]) -> Iterator[Setting]:
    for o in policy_of(config):
        yield Setting(f"policy.{o.marker}:{o.device}", json.dumps(o.action), f"{FILE_NAME}:{lines['policy']}")


def _lines(root: Path) -> dict[str, int]:
    """Return the first line of each top-level key and table of the settings file."""
    try:
        text = (root / FILE_NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\s*(?:\[\[?\s*)?([A-Za-z0-9_-]+)", line):
            found.setdefault(match[1], number)
    return found
