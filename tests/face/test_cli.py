from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.config import SetupError
from rules.finding import Finding, Report, Severity, Unanalysed, Verdict
from tests.face.made import check_until_fixed, finding, place, report
from vt_lint import checking, cli
from vt_lint.exit import Exit


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """Make `check` report the given findings, and return the list of its calls."""

    def give(*findings: Finding, unanalysed: tuple[Unanalysed, ...] = ()) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def check(root: Path, **options: Any) -> Report:
            calls.append({"root": root, **options})
            return report(*findings, unanalysed=unanalysed)

        monkeypatch.setattr(checking, "check", check)
        return calls

    return give


def _one_line(text: str) -> str:
    assert text.count("\n") == 1
    assert text.endswith("\n")
    return text.strip()


class TestExitCode:
    def test_clean_is_0(self, tree: Path, found: Any) -> None:
        found()
        assert cli.run(["check", "--tree", str(tree)]) == Exit.OK

    def test_findings_are_1(self, tree: Path, found: Any) -> None:
        found(finding())
        assert cli.run(["check", "--tree", str(tree)]) == Exit.FINDINGS

    def test_unanalysed_code_is_3_even_beside_findings(self, tree: Path, found: Any) -> None:
        found(finding(), unanalysed=(Unanalysed("x.mm", 1, "no parser"),))
        assert cli.run(["check", "--tree", str(tree)]) == Exit.UNANALYSED

    def test_fail_on_sets_the_level(self, tree: Path, found: Any) -> None:
        found(finding(severity=Severity.NOTE, verdict=Verdict.DEAD))
        assert cli.run(["check", "--tree", str(tree)]) == Exit.OK
        assert cli.run(["check", "--tree", str(tree), "--fail-on", "note"]) == Exit.FINDINGS

    @pytest.mark.parametrize(
        "args",
        [
            ["chekc"],
            ["check", "--format", "xml"],
            ["check", "--nope"],
            ["check", "--tree", "no/such/folder"],
            ["check", "no/such/file.cpp"],
            ["check", "-j", "0"],
            ["explain"],
            ["explain", "VT999"],
        ],
    )
    def test_a_usage_error_is_one_line_and_2(
        self, args: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.run(args) == Exit.USAGE
        assert _one_line(capsys.readouterr().err).startswith("vt-lint: error: ")

    def test_a_fault_of_the_settings_is_one_line_and_2(
        self, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def check(*_args: Any, **_options: Any) -> Report:
            raise SetupError("libclang cannot be loaded;\nrun: pip install libclang")

        monkeypatch.setattr(checking, "check", check)
        assert cli.run(["check", "--tree", str(tree)]) == Exit.USAGE
        assert _one_line(capsys.readouterr().err) == (
            "vt-lint: error: libclang cannot be loaded; run: pip install libclang"
        )


class TestCheck:
    def test_paths_are_given_relative_to_the_root(self, tree: Path, found: Any) -> None:
        calls = found()
        cli.run(["check", str(tree / "src" / "resident.h")])
        assert calls[0]["root"] == tree
        assert calls[0]["paths"] == ("src/resident.h",)

    def test_the_root_itself_is_the_whole_tree(self, tree: Path, found: Any) -> None:
        calls = found()
        cli.run(["check", str(tree)])
        assert calls[0]["paths"] == ()

    def test_a_path_outside_of_the_tree_is_refused(
        self, tree: Path, tmp_path: Path, found: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found()
        other = tmp_path / "other.cpp"
        other.touch()
        assert cli.run(["check", "--tree", str(tree), str(other)]) == Exit.USAGE
        assert "not in the tree" in capsys.readouterr().err

    def test_marker_narrows_and_a_misspelt_one_is_refused(
        self, tree: Path, found: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found(finding("repacked"), finding("q8_0_aligned"))
        cli.run(["check", "--tree", str(tree), "--format", "json", "--marker", "repacked"])
        assert [f["marker"] for f in json.loads(capsys.readouterr().out)["findings"]] == ["repacked"]
        assert cli.run(["check", "--tree", str(tree), "--marker", "repakced"]) == Exit.USAGE

    def test_json_goes_to_standard_output_and_the_closing_line_beside_it(
        self, tree: Path, found: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found(finding())
        cli.run(["check", "--tree", str(tree), "--format", "json"])
        shown = capsys.readouterr()
        json.loads(shown.out)
        assert _one_line(shown.err).startswith(
            "4 files, profiles cpu+cuda, 9 candidates, 9 analysed, 0 unanalysed"
        )

    def test_stats_show_each_phase(self, tree: Path, found: Any, capsys: pytest.CaptureFixture[str]) -> None:
        found()
        cli.run(["check", "--tree", str(tree), "--stats"])
        assert "parse                      1.50 s" in capsys.readouterr().err

    def test_the_policy_of_the_settings_counts_unless_the_command_line_says_otherwise(
        self, tree: Path, found: Any
    ) -> None:
        (tree / ".vt-lint.toml").write_text(
            '[policy]\n"repacked:cpu" = "refuse"\n"repacked:cuda" = "refuse"\n'
        )
        calls = found()
        cli.run(["fix", "--tree", str(tree), "--policy", "repacked:cpu=propagate"])
        given = {(o.device, o.action) for o in calls[0]["overrides"]}
        assert given == {("cpu", "propagate"), ("cuda", "refuse")}


class TestBaseline:
    def test_known_findings_pass_and_new_ones_fail(self, tree: Path, found: Any) -> None:
        file = tree / ".vt-lint-baseline.json"
        found(finding())
        assert cli.run(["baseline", "create", "--tree", str(tree), "--reason", "old model"]) == Exit.OK
        assert cli.run(["check", "--tree", str(tree), "--baseline", str(file)]) == Exit.OK
        found(finding(), finding("q8_0_aligned"))
        assert cli.run(["check", "--tree", str(tree), "--baseline", str(file)]) == Exit.FINDINGS

    def test_an_entry_that_is_fixed_fails_until_it_is_pruned(
        self, tree: Path, found: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tree / ".vt-lint-baseline.json"
        found(finding())
        cli.run(["baseline", "create", "--tree", str(tree), "--reason", "old model"])
        found()
        assert cli.run(["check", "--tree", str(tree), "--baseline", str(file)]) == Exit.FINDINGS
        assert "drop its entry with `vt-lint baseline prune`" in capsys.readouterr().out
        assert cli.run(["check", str(tree / "src"), "--baseline", str(file)]) == Exit.OK
        assert cli.run(["baseline", "prune", "--tree", str(tree)]) == Exit.OK
        assert cli.run(["check", "--tree", str(tree), "--baseline", str(file)]) == Exit.OK

    def test_update_keeps_the_reasons_that_are_there(self, tree: Path, found: Any) -> None:
        found(finding())
        cli.run(["baseline", "create", "--tree", str(tree), "--reason", "first"])
        found(finding(), finding("q8_0_aligned"))
        cli.run(["baseline", "update", "--tree", str(tree), "--reason", "second"])
        entries = json.loads((tree / ".vt-lint-baseline.json").read_text())["entries"]
        assert {e["marker"]: e["reason"] for e in entries} == {"repacked": "first", "q8_0_aligned": "second"}

    @pytest.mark.parametrize("action", ["create", "update"])
    def test_nothing_is_accepted_without_a_reason(self, tree: Path, found: Any, action: str) -> None:
        found(finding())
        assert cli.run(["baseline", action, "--tree", str(tree)]) == Exit.USAGE
        assert not (tree / ".vt-lint-baseline.json").exists()

    def test_create_does_not_overwrite(self, tree: Path, found: Any) -> None:
        found(finding())
        args = ["baseline", "create", "--tree", str(tree), "--reason", "x"]
        assert cli.run(args) == Exit.OK
        assert cli.run(args) == Exit.USAGE


class TestSince:
    @pytest.fixture
    def repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A tree in a folder of a repository; `check` finds one marker for each line `drop MARKER`."""
        root = tmp_path / "engine"
        root.mkdir()
        (root / "a.cpp").write_text("drop repacked\ndrop q8_0_aligned\n")
        self._git(tmp_path, "init", "-q")
        self._commit(tmp_path, "first")
        (root / "a.cpp").write_text("\ndrop elem_kn_repacked\ndrop repacked\n")

        def check(base: Path, *, paths: tuple[str, ...], **_options: Any) -> Report:
            files = [base / p for p in paths] if paths else sorted(base.rglob("*.cpp"))
            drops = [
                finding(line.split()[1], where=place(line=n, path=file.name))
                for file in files
                for n, line in enumerate(file.read_text().splitlines(), 1)
                if line.startswith("drop")
            ]
            return report(*drops)

        monkeypatch.setattr(checking, "check", check)
        return root

    @staticmethod
    def _git(folder: Path, *args: str) -> None:
        subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True)

    def _commit(self, folder: Path, message: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        self._git(folder, "add", "-A")
        self._git(folder, *who, "commit", "-q", "-m", message)

    def test_only_what_is_new_counts(self, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.run(["check", "--tree", str(repository), "--since", "HEAD"]) == Exit.FINDINGS
        shown = capsys.readouterr().out
        assert "VT001  elem_kn_repacked" in shown
        assert "VT001  repacked" not in shown
        assert "1 error; 1 also in HEAD; 1 repaired since HEAD" in shown

    def test_a_file_that_the_revision_does_not_have_is_new(self, repository: Path) -> None:
        (repository / "b.cpp").write_text("drop repacked\n")
        args = ["check", "--tree", str(repository), "--since", "HEAD", str(repository / "b.cpp")]
        assert cli.run(args) == Exit.FINDINGS

    def test_nothing_new_passes_and_the_repository_is_untouched(self, repository: Path) -> None:
        self._commit(repository, "second")
        (repository / "staged.txt").write_text("x")
        self._git(repository, "add", "staged.txt")
        before = subprocess.check_output(["git", "status", "--porcelain"], cwd=repository)
        assert cli.run(["check", "--tree", str(repository), "--since", "HEAD"]) == Exit.OK
        assert subprocess.check_output(["git", "status", "--porcelain"], cwd=repository) == before

    def test_hooks_and_export_rules_of_the_tree_do_not_matter(self, repository: Path) -> None:
        (repository / ".gitattributes").write_text("*.cpp export-ignore\n")
        hook = repository.parent / ".git" / "hooks" / "post-index-change"
        hook.write_text("#!/bin/sh\ntouch hook-ran\n")
        self._commit(repository, "second")
        hook.chmod(0o755)
        assert cli.run(["check", "--tree", str(repository), "--since", "HEAD"]) == Exit.OK
        assert not list(repository.parent.rglob("hook-ran"))

    @pytest.mark.parametrize("rev", ["nowhere", "--help", "HEAD~9"])
    def test_an_unknown_revision_is_one_line(
        self, repository: Path, rev: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.run(["check", "--tree", str(repository), f"--since={rev}"]) == Exit.USAGE
        assert "not a revision" in _one_line(capsys.readouterr().err)


class TestConfig:
    def test_says_where_each_value_is_from(self, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tree / ".vt-lint.toml").write_text(
            '\nflags = ["-DX"]\n\n[[marker]]\nname = "tiled"\nwhat = "tiles"\ndevices = ["cuda"]\n'
        )
        assert cli.run(["config", "--tree", str(tree)]) == Exit.OK
        lines = capsys.readouterr().out.splitlines()
        assert 'flags = ["-DX"]  # .vt-lint.toml:2' in lines
        assert any(
            line.startswith("marker.tiled = ") and line.endswith(" # .vt-lint.toml:4") for line in lines
        )
        assert any(line.startswith("marker.repacked = ") and line.endswith(" # built in") for line in lines)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("flags = 3", "flags"),
            ("flags = [", "not valid TOML"),
            ("flag = []", "unknown setting 'flag'"),
            ('[[marker]]\nname = "x"\n', "[[marker]]"),
            ('[policy]\n"repacked:cpu" = "carry"\n', "policy `repacked:cpu=carry`"),
            ('policy = "refuse"\n', "write policy as a table"),
            ('evidence = "e.json"\n', "write evidence as a list"),
            ("[fix]\nmacro = 1\n", "write fix as a table"),
            ('[fix]\ncheck = "CHECK()"\n', "give the name of a check(condition, text)"),
        ],
    )
    def test_a_wrong_setting_is_one_line(
        self, tree: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tree / ".vt-lint.toml").write_text(text)
        assert cli.run(["config", "--tree", str(tree)]) == Exit.USAGE
        line = _one_line(capsys.readouterr().err)
        assert message in line


class TestFix:
    @pytest.fixture
    def _lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A lost marker with a safe fix; it is found until the code copies the marker."""
        monkeypatch.setattr(checking, "check", check_until_fixed)

    @pytest.mark.usefixtures("_lost")
    def test_the_patch_alone_is_on_standard_output_and_git_takes_it(
        self, tree: Path, capfdbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        assert cli.run(["fix", "--tree", str(tree)]) == Exit.OK
        shown = capfdbinary.readouterr()
        assert b"a kernel of cpu reads it" in shown.err
        subprocess.run(["git", "apply", "-"], cwd=tree, input=shown.out, check=True)
        assert "t.repacked = w.repacked;" in (tree / "src/resident.h").read_text()

    @pytest.mark.usefixtures("_lost")
    def test_apply_writes_and_a_second_run_changes_nothing(self, tree: Path, tmp_path: Path) -> None:
        patch = tmp_path / "markers.patch"
        assert cli.run(["fix", "--tree", str(tree), "--apply", "--patch", str(patch)]) == Exit.OK
        fixed = (tree / "src/resident.h").read_bytes()
        assert b"w.repacked" in fixed
        assert patch.read_bytes().startswith(b"diff --git a/src/resident.h")
        assert cli.run(["fix", "--tree", str(tree), "--apply"]) == Exit.OK
        assert (tree / "src/resident.h").read_bytes() == fixed

    def test_what_has_no_fix_is_left_over(self, tree: Path, found: Any) -> None:
        found(finding())
        assert cli.run(["fix", "--tree", str(tree)]) == Exit.FINDINGS

    def test_a_wrong_policy_is_one_line(self, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.run(["fix", "--tree", str(tree), "--policy", "repacked=carry"]) == Exit.USAGE
        assert "policy `repacked=carry`" in _one_line(capsys.readouterr().err)


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_every_command_has_help_that_needs_no_analyser(command: str) -> None:
    code = (
        "import sys; from vt_lint import cli; code = cli.run(sys.argv[1:]); "
        "heavy = {'clang', 'libcst', 'rich', 'tree_sitter', 'msgspec'} & set(sys.modules); "
        "sys.exit(f'{heavy} imported' if heavy else code)"
    )
    args = [command, "--help"] if command else ["--help"]
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: vt-lint")
