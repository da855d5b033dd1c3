"""The sample tree with its reviewed patch builds, and its own tests pass."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.codemods.test_sample_tree import REVIEWED, SAMPLE


@pytest.mark.skipif(
    not all(map(shutil.which, ("cmake", "g++", "git"))), reason="needs CMake, a C++ compiler and git"
)
def test_the_patched_tree_builds_and_passes_its_tests(tmp_path: Path) -> None:
    tree, build = tmp_path / "tree", tmp_path / "build"
    shutil.copytree(SAMPLE, tree, ignore=shutil.ignore_patterns("build*"))
    alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    jobs = str(os.cpu_count() or 1)
    for command in (
        ["git", "apply", str(REVIEWED)],
        ["cmake", "-S", ".", "-B", str(build), "-DCMAKE_BUILD_TYPE=Debug"],
        ["cmake", "--build", str(build), "-j", jobs],
        ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error"],
    ):
        done = subprocess.run(
            command,
            cwd=tree,
            env=alone,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command[0]}: {done.stdout[-4000:]}"
