"""The published hook, run by the real pre-commit program on a scratch repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
CARRIES = "    t.repacked = w.repacked;\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The sample tree under git, with our hook on, which runs from this checkout and needs no network."""
    shutil.copytree(ROOT / "samples" / "vt_tree", tmp_path, dirs_exist_ok=True)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, arguments = hook["entry"].split(" ", 1)
    assert program == "vt-lint"
    hook |= {"language": "system", "entry": f"{sys.executable} -m vt_lint {arguments}"}
    config = {"repos": [{"repo": "local", "hooks": [hook]}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    _git(tmp_path, "init", "-q")
    assert _commit(tmp_path, "the tree as it is").returncode == 0
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"], cwd=tmp_path, check=True, capture_output=True
    )
    return tmp_path


def _git(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    who = {
        f"GIT_{role}_{what}": "t@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {
        **os.environ,
        **who,
        "PYTHONPATH": str(ROOT),
        "PRE_COMMIT_HOME": str(folder / ".git" / "pre-commit"),
    }
    return subprocess.run(["git", *args], cwd=folder, env=env, capture_output=True, text=True, check=False)


def _commit(folder: Path, message: str) -> subprocess.CompletedProcess[str]:
    _git(folder, "add", "-A")
    return _git(folder, "commit", "-q", "-m", message)


def test_a_commit_that_drops_a_marker_is_blocked_and_its_repair_passes(repository: Path) -> None:
    (model,) = (p for p in (repository / "src").rglob("*.cpp") if CARRIES in p.read_text())
    carrying = model.read_text()

    model.write_text(carrying.replace(CARRIES, ""))
    blocked = _commit(repository, "drop a marker")
    assert blocked.returncode != 0
    shown = blocked.stdout + blocked.stderr
    assert re.search(r"VT\d+  repacked +cpu +LIVE", shown)
    assert f"{model.relative_to(repository)}:" in shown

    model.write_text(carrying + "\n// nothing lost here\n")
    passed = _commit(repository, "repair it")
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_a_commit_without_code_does_not_run_it(repository: Path) -> None:
    (repository / "notes.txt").write_text("x")
    done = _commit(repository, "notes")
    assert done.returncode == 0
    assert "no files to check" in done.stdout + done.stderr
