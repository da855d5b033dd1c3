"""SARIF 2.1.0 (OASIS), in the part of it that code scanning reads.

Paths are relative to the repository under `%SRCROOT%`; the fingerprint has a key of our own, since a consumer
computes `primaryLocationLineHash` itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from codemods.edit import Edit
from codemods.fix import describe
from rules.finding import Finding
from rules.registry import RULES, Rule
from vt_lint import __version__
from vt_lint.outcome import Outcome
from vt_lint.report.json import fix as fix_of
from vt_lint.report.source import Source, repository_path

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
INDEX = {rule.code: index for index, rule in enumerate(RULES)}


def render(outcome: Outcome, edits: Mapping[tuple[str, int], Sequence[Edit]] | None = None) -> str:
    """Return a SARIF log with one run.

    Findings with a comment or a baseline entry are in it as suppressed results. `edits`, by fingerprint and
    offset of a finding, become its fix.
    """
    writer = _Writer(outcome, edits or {})
    unanalysed = [writer.notification(u.path, u.line, u.reason) for u in outcome.report.coverage.unanalysed]
    run = {
        "tool": {
            "driver": {
                "name": "vt-lint",
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in RULES],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": not unanalysed,
                "exitCode": int(outcome.exit_code),
                "toolExecutionNotifications": unanalysed,
            }
        ],
        "results": writer.results(),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.doc, "markdown": rule.doc},
        "properties": {"tags": ["correctness", "storage-layout"], "precision": "high"},
    }


def _joined(edits: Sequence[Edit]) -> list[tuple[int, int, str]]:
    """Return `edits` with those that touch made one: the order of two insertions at a point is then plain."""
    joined: list[tuple[int, int, str]] = []
    for e in edits:
        if joined and joined[-1][1] == e.begin:
            begin, _, text = joined.pop()
            joined.append((begin, e.end, text + e.text))
        else:
            joined.append((e.begin, e.end, e.text))
    return joined


class _Writer:
    def __init__(self, outcome: Outcome, edits: Mapping[tuple[str, int], Sequence[Edit]]) -> None:
        self._outcome = outcome
        self._edits = edits
        self._source = Source(outcome.root)

    def results(self) -> list[dict[str, Any]]:
        outcome = self._outcome
        found: list[dict[str, Any]] = [self._result(f) for f in outcome.findings]
        found += [self._suppressed(f, "inSource", f.suppressed) for f in outcome.suppressed]
        found += [self._suppressed(f, "external", entry.reason) for f, entry in outcome.accepted]
        if outcome.since:
            for result in found:
                result["baselineState"] = "new"
            found += [self._result(f) | {"baselineState": "unchanged"} for f in outcome.existing]
        return found

    def notification(self, path: str, line: int, reason: str) -> dict[str, Any]:
        return {
            "level": "error",
            "message": {"text": reason},
            "locations": [{"physicalLocation": self._physical(path, {"startLine": max(line, 1)})}],
        }

    def _suppressed(self, f: Finding, kind: str, reason: str) -> dict[str, Any]:
        return self._result(f) | {"suppressions": [{"kind": kind, "justification": reason}]}

    def _result(self, f: Finding) -> dict[str, Any]:
        place = f.place
        location = {
            "physicalLocation": self._physical(
                place.path,
                {
                    "startLine": place.line,
                    "startColumn": place.column,
                    "endLine": place.end_line,
                    "endColumn": place.end_column,
                },
            ),
            "logicalLocations": [{"fullyQualifiedName": f.function, "kind": "function"}],
        }
        result: dict[str, Any] = {
            "ruleId": f.rule,
            "ruleIndex": INDEX[f.rule],
            "level": f.severity.value,
            "message": {"text": f.message},
            "locations": [location],
            "partialFingerprints": {"vtLint/v1": f.fingerprint},
            "properties": {
                "marker": f.marker,
                "devices": list(f.devices),
                "verdict": f.verdict.value,
                "fix": fix_of(f),
            },
        }
        if f.witness:
            steps = [
                {
                    "location": {
                        "physicalLocation": self._physical(h.path, {"startLine": h.line}),
                        "message": {"text": h.note},
                    }
                }
                for h in f.witness
            ]
            result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        if edits := self._edits.get((f.fingerprint, place.begin)):
            result["fixes"] = [self._fix(f, edits)]
        return result

    def _fix(self, f: Finding, edits: Sequence[Edit]) -> dict[str, Any]:
        uri = self._physical(f.place.path, {})["artifactLocation"]
        replacements = [
            {
                "deletedRegion": self._source.region(f.place.path, begin, end),
                "insertedContent": {"text": text},
            }
            for begin, end, text in _joined(edits)
        ]
        return {
            "description": {"text": describe(f)},
            "artifactChanges": [{"artifactLocation": uri, "replacements": replacements}],
            "properties": fix_of(f),
        }

    def _physical(self, path: str, region: dict[str, int]) -> dict[str, Any]:
        uri = quote(repository_path(self._outcome.root, path))
        return {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, "region": region}
