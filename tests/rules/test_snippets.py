"""Each rule's snippets: what they ask to be found is found, and nothing else."""

from __future__ import annotations

import msgspec
import pytest

import rules.check
from analyzer.collect import Collected, collect
from analyzer.config import load
from rules.markers import declared
from rules.registry import RULES
from tests.rules.snippets import PRELUDE, ROOT, Expected, Snippet, all_snippets, read

SNIPPETS = all_snippets()


@pytest.fixture(scope="module")
def collected() -> Collected:
    """The facts of all snippets, parsed once."""
    settings = load(ROOT)
    return collect(ROOT, settings, markers=[marker.name for marker in declared(settings.extra)])


def alone(collected: Collected, snippet: Snippet) -> Collected:
    """What would have been collected from a tree with this snippet alone, so that snippets do not link."""
    return msgspec.structs.replace(
        collected,
        parsed=tuple(parsed for parsed in collected.parsed if parsed.path in (snippet.id, PRELUDE)),
        unanalysed=tuple(gap for gap in collected.unanalysed if gap.path == snippet.id),
    )


def listed(title: str, expected: set[Expected]) -> list[str]:
    return [f"{title}: line {e.line}: {e.rule} {e.marker}" for e in sorted(expected)]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[s.id for s in SNIPPETS])
def test_snippet_reports_what_it_asks_for(
    snippet: Snippet, collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules.check, "collect", lambda *_, **__: alone(collected, snippet))
    findings = [f for f in rules.check.check(ROOT, cache=False).findings if not f.suppressed]
    assert {f.place.path for f in findings} <= {snippet.id}, "a finding outside of the snippet"
    found = {Expected(f.place.line, f.rule, f.marker or "-") for f in findings}
    if snippet.path.name.endswith(".fixed.cpp"):
        differences = listed("left after the fix", found)
    else:
        differences = (
            listed("missed", set(snippet.want) - found)
            + listed("not asked for", found - snippet.want - snippet.may - snippet.todo)
            + listed("found at last, make it a want", found & snippet.todo)
        )
    assert not differences, "\n".join([f"samples/rules/{snippet.id}", *differences])


def test_every_rule_has_snippets() -> None:
    asked_for = {expected.rule for snippet in SNIPPETS for expected in snippet.want}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    codes = {rule.code for rule in RULES}
    assert codes - folders == set(), "rules without a folder of snippets"
    assert codes - asked_for == set(), "rules that no snippet wants"
    assert folders - codes == set(), "snippets of rules that do not exist"


def test_every_rule_has_a_silent_function() -> None:
    noisy = [
        folder.name
        for folder in sorted(p for p in ROOT.iterdir() if p.is_dir())
        if not any("// ok" in path.read_text(encoding="utf-8") for path in folder.glob("*.cpp"))
    ]
    assert noisy == [], "rules whose snippets only show what is wrong"


def test_every_fixed_snippet_has_its_faulty_sibling() -> None:
    for path in ROOT.glob("VT*/*.fixed.cpp"):
        faulty = path.with_name(path.name.replace(".fixed.cpp", ".cpp"))
        assert read(faulty).want, f"{path.name} repairs nothing"
