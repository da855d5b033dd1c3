from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from codemods.edit import Edit
from rules.finding import Fix, Hop, Unanalysed
from rules.registry import RULES
from tests.face.made import BEGIN, CODE, END, finding, outcome
from vt_lint.baseline import entry
from vt_lint.report import sarif

model = pytest.importorskip("pydantic_sarif.model")
SCHEMA = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema


def _run(tree: Path, *findings: Any, **more: Any) -> dict[str, Any]:
    log = json.loads(sarif.render(outcome(tree, *findings, **more)))
    SCHEMA.model_validate(log)
    run = log["runs"][0]
    assert isinstance(run, dict)
    return run


def test_the_model_we_validate_with_refuses_what_the_schema_does_not_have() -> None:
    assert issubclass(SCHEMA, BaseModel)
    assert SCHEMA.model_config == ConfigDict(extra="forbid")


def test_paths_are_relative_to_the_repository(tree: Path) -> None:
    (result,) = _run(tree, finding())["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "engine/src/resident.h", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 3, "startColumn": 12, "endLine": 3, "endColumn": 68}


def test_rules_are_those_of_the_registry_and_results_point_at_them(tree: Path) -> None:
    run = _run(tree, finding())
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == [r.code for r in RULES]
    (result,) = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "VT001"


def test_the_fingerprint_has_its_own_key(tree: Path) -> None:
    (result,) = _run(tree, finding())["results"]
    assert result["partialFingerprints"] == {"vtLint/v1": "VT001:repacked:c1"}


def test_a_witness_becomes_a_code_flow(tree: Path) -> None:
    hops = (Hop("a.cpp", 1, "sets it"), Hop("b.cpp", 2, "passes it"))
    (result,) = _run(tree, finding(witness=hops))["results"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    assert [step["location"]["message"]["text"] for step in flow["locations"]] == ["sets it", "passes it"]


def test_comments_and_baseline_entries_become_suppressions_with_their_reason(tree: Path) -> None:
    hidden = finding("q8_0_aligned", suppressed="freed before use")
    known = finding("elem_kn_repacked", construction="c2")
    results = _run(tree, hidden, accepted=((known, entry(known, "old model")),))["results"]
    assert [r["suppressions"] for r in results] == [
        [{"kind": "inSource", "justification": "freed before use"}],
        [{"kind": "external", "justification": "old model"}],
    ]


def test_since_tells_new_from_unchanged(tree: Path) -> None:
    run = _run(tree, finding(), since="main", existing=(finding(construction="c2"),))
    assert [r["baselineState"] for r in run["results"]] == ["new", "unchanged"]


def test_unanalysed_code_is_a_failed_execution(tree: Path) -> None:
    (call,) = _run(tree, unanalysed=(Unanalysed("src/x.mm", 4, "no parser"),))["invocations"]
    assert call["executionSuccessful"] is False
    assert call["toolExecutionNotifications"][0]["message"]["text"] == "no parser"


def test_a_fix_replaces_text_at_lines_and_columns(tree: Path) -> None:
    begin, end = BEGIN - len("return "), END
    made = [
        Edit("", begin, END, "Tensor t = größer()", ""),
        Edit("", END + 1, END + 1, "\n    t.repacked = w.repacked;", ""),
        Edit("", END + 1, END + 1, "\n    return t;", "", 1),
    ]
    lost = finding(fix=Fix("propagate"))
    log = json.loads(sarif.render(outcome(tree, lost), {(lost.fingerprint, BEGIN): made}))
    SCHEMA.model_validate(log)
    (result,) = log["runs"][0]["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "engine/src/resident.h"
    lines = CODE.splitlines(keepends=True)
    for replacement in reversed(change["replacements"]):
        where = replacement["deletedRegion"]
        assert where["startLine"] == where["endLine"] == 3
        line = lines[2]
        new = line[: where["startColumn"] - 1] + replacement["insertedContent"]["text"]
        lines[2] = new + line[where["endColumn"] - 1 :]
    text = CODE.encode()
    wanted = text[:begin] + "Tensor t = größer()".encode() + text[end : end + 1]
    wanted += b"\n    t.repacked = w.repacked;\n    return t;" + text[end + 1 :]
    assert "".join(lines) == wanted.decode()


def test_what_has_no_edit_has_no_fix(tree: Path) -> None:
    (result,) = _run(tree, finding(fix=Fix("propagate", "display")))["results"]
    assert "fixes" not in result
