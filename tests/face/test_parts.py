"""Facts made in parts, elsewhere, give the very findings of one run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from vt_lint import cli
from vt_lint.exit import Exit

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "vt_tree"


class _Machine:
    """A machine with a checkout of the sample tree and a cache of its own."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.tree = folder / "checkout" / "vt_tree"
        self._cache = folder / "cache"
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        shutil.copytree(SAMPLE, self.tree)

    def run(self, command: str, *args: str) -> tuple[int, str, str]:
        """Run a command on the tree; return the exit code and what it printed. One profile is enough here."""
        self._monkeypatch.setenv("XDG_CACHE_HOME", str(self._cache))
        profile = ["--profile", "cpu", "-j", "2"] if command == "check" else []
        code = cli.run([command, "--tree", str(self.tree), *profile, *args])
        shown = self._capsys.readouterr()
        return code, shown.out.replace(str(self.tree), "TREE"), shown.err

    def findings(self, *args: str) -> tuple[str, float]:
        """Check; return the report, and how many parses came from the cache."""
        code, out, err = self.run("check", "--format", "json", "--stats", *args)
        assert code == Exit.UNANALYSED, err  # one profile does not see all of it
        (hits,) = (float(line.split()[1]) for line in err.splitlines() if line.startswith("cache_hits"))
        return out, hits


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda name: _Machine(tmp_path / name, monkeypatch, capsys)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of one run on one machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        command = [
            sys.executable,
            "-m",
            "vt_lint",
            "check",
            "--profile",
            "cpu",
            "-j",
            "2",
            "--format",
            "json",
        ]
        tree = tmp_path_factory.mktemp("alone") / "vt_tree"
        shutil.copytree(SAMPLE, tree)
        done = subprocess.run([*command, "--tree", str(tree)], capture_output=True, text=True, check=False)
    return done.stdout.replace(str(tree), "TREE")


class _Client:
    """What is used of `distributed.Client`."""

    def __init__(self, address: str) -> None:
        if address == "tcp://nowhere:1":
            raise OSError("timed out")

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def get_executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)


def test_parts_merged_are_one_run(
    machine: Any, alone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for part in ("1/2", "2/2"):
        file = tmp_path / f"{part[0]}.facts"
        code, out, _ = machine(part[0]).run("check", "--shard", part, "--facts", str(file))
        assert code == Exit.OK
        assert out.startswith(f"part {part} of ")
        files.append(str(file))
    here = machine("here")
    code, out, _ = here.run("merge", *files)
    assert code == Exit.OK
    new = [int(line.rpartition(": ")[2].removesuffix(" new")) for line in out.splitlines()]
    assert len(new) == 2
    assert all(new)
    merged, hits = here.findings()
    assert merged == alone
    assert hits == sum(new)
    damaged = tmp_path / "damaged.facts"
    damaged.write_bytes(Path(files[0]).read_bytes()[:-1])
    assert "nothing new that this version can use" in machine("other").run("merge", str(damaged))[1]

    # A cluster does what is in no part, behind the same interface.
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=_Client))
    there = machine("there")
    there.run("merge", files[0])
    assert there.findings("--dask", "tcp://scheduler:8786")[0] == alone
    code, _, err = there.run("check", "--dask", "tcp://nowhere:1")
    assert (code, err) == (
        Exit.USAGE,
        "vt-lint: error: --dask tcp://nowhere:1: no scheduler there: timed out\n",
    )


def test_without_dask_it_says_what_to_install(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.run(["check", "--tree", str(tree), "--dask", "tcp://x:1"]) == Exit.USAGE
    assert capsys.readouterr().err == "vt-lint: error: --dask needs Dask: pip install 'vt-lint[dask]'\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--shard", "0/2"], "write I/N"),
        (["--shard", "3/2"], "write I/N"),
        (["--shard", "half"], "write I/N"),
        (["--shard", "1/2", "--since", "HEAD"], "--shard makes facts only"),
        (["--shard", "1/2", "--no-cache"], "come through the cache"),
        (["--facts", "x.facts"], "--facts is for --shard"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    tree: Path, args: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", "--tree", str(tree), *args]) == Exit.USAGE
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
