"""The snippets that have a mechanical right answer: fixed, they check clean and still compile."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codemods.fix import fix_until_stable
from rules.check import check
from tests.rules.snippets import ROOT, as_program, read

FIXABLE = sorted(p.with_name(p.name.replace(".fixed.cpp", ".cpp")) for p in ROOT.glob("VT*/*.fixed.cpp"))


@pytest.mark.parametrize("path", FIXABLE, ids=[p.relative_to(ROOT).as_posix() for p in FIXABLE])
def test_fixed_snippet_checks_clean(path: Path, tmp_path: Path) -> None:
    program = as_program(read(path), tmp_path)
    report, plans = fix_until_stable(lambda: check(program, jobs=1, cache=False), program, unsafe=True)
    assert plans[0].files
    assert [f"{f.rule} {f.place.line} {f.marker}" for f in report.findings] == []
    assert [str(s) for s in plans[-1].skipped] == []
    (edited,) = (Path(p) for p in plans[0].files)
    if shutil.which("g++"):
        command = ["g++", "-std=c++20", "-fsyntax-only", f"-I{program}", str(edited)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
