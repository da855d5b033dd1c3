"""Imports run one way: vt_lint -> {runtime_check, codemods} -> rules -> analyzer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rules.registry import RULES

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "analyzer": set(),
    "rules": {"analyzer"},
    "codemods": {"analyzer", "rules"},
    "runtime_check": {"analyzer", "rules"},
    "vt_lint": {"analyzer", "rules", "codemods", "runtime_check"},
}


def _imports(file: Path) -> Iterator[str]:
    """The top-level packages that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def _files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_those_below_it(package: str) -> None:
    forbidden = set(MAY_IMPORT) - MAY_IMPORT[package] - {package}
    upward = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in _files(package)
        for name in _imports(file)
        if name in forbidden
    }
    assert not upward


def test_rules_see_facts_and_never_clang() -> None:
    assert not [str(f) for f in _files("rules") if "clang" in _imports(f)]


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_every_rule_has_snippets(code: str) -> None:
    assert list((ROOT / "samples" / "rules" / code).glob("*.cpp")), f"samples/rules/{code}/ has no snippet"
