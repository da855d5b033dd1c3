"""The tables of the README are printed by the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vt_lint.cli import COMMANDS
from vt_lint.commands.rules import listing
from vt_lint.exit import MEANING, Exit

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def _between(name: str) -> str:
    found = re.search(rf"<!-- {name}:begin.*?-->\n(.*?)\n?<!-- {name}:end -->", README, re.DOTALL)
    assert found, name
    return found[1]


def test_rules_are_current() -> None:
    assert _between("rules") == listing("markdown"), "paste `vt-lint rules --format markdown` into README.md"


def test_exit_codes_are_current() -> None:
    rows = [f"| {int(code)} | {MEANING[code]} |" for code in Exit]
    assert _between("exit") == "\n".join(["| code | meaning |", "|---|---|", *rows])


@pytest.mark.parametrize("command", re.findall(r"^vt-lint (\w+)", README, re.MULTILINE))
def test_commands_shown_exist(command: str) -> None:
    assert command in COMMANDS
