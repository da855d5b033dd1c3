"""The command line: which commands there are, and how a fault becomes one line and an exit code.

Commands are imported when they are called, and what they need when they run, so that `--help` is instant.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from vt_lint import __version__
from vt_lint.exit import MEANING, Exit

# Name, the module of vt_lint.commands that has it, and its line in the overview.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "check": ("check", "Find the places where a storage-layout marker is lost."),
    "fix": ("fix", "Print or apply the patch that carries or refuses lost markers."),
    "merge": ("merge", "Add facts that other machines made to the cache."),
    "trace": ("trace", "Show where a marker is set, carried, lost and read."),
    "matrix": ("matrix", "Show which kernels honour which marker."),
    "verify": ("verify", "Build the tree before and after the fix and run its GEMMs."),
    "explain": ("explain", "Explain a rule."),
    "rules": ("rules", "List the rules, or add a marker to them."),
    "config": ("config", "Show the settings in force and where each is from."),
    "baseline": ("baseline", "Record known findings, so that only new ones fail."),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"vt_lint.commands.{COMMANDS[cmd_name][0]}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), MEANING[code]) for code in Exit])


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="vt-lint")
def cli() -> None:
    """Find, fix and prove fixed each place where C++ code loses a storage-layout marker."""


def run(args: Sequence[str]) -> int:
    """Run the command line `args` (without the program's name) and return the exit code."""
    try:
        result = cli.main(args=list(args), prog_name="vt-lint", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return Exit.USAGE
    except click.ClickException as error:
        click.echo(f"vt-lint: error: {' '.join(error.format_message().split())}", err=True)
        return Exit.USAGE if isinstance(error, click.UsageError) else error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("vt-lint: interrupted", err=True)
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has left; keep the interpreter from flushing into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except tuple(_faults()) as error:
        click.echo(f"vt-lint: error: {' '.join(str(error).split())}", err=True)
        return int(getattr(error, "exit_code", _faults()[type(error)]))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"vt-lint: error: {where}{error.strerror or error}", err=True)
        return Exit.UNANALYSED
    return result if isinstance(result, int) else Exit.OK


def _faults() -> dict[type[Exception], Exit]:
    """Return the exceptions that the other packages let out. Loaded only once something was raised."""
    from analyzer.config import SetupError
    from codemods.add_marker import AddMarkerError
    from codemods.apply import ApplyError
    from codemods.fix import FixError
    from codemods.policy import PolicyError
    from runtime_check.errors import VerifyError

    return {
        SetupError: Exit.USAGE,
        AddMarkerError: Exit.USAGE,
        PolicyError: Exit.USAGE,
        ApplyError: Exit.UNANALYSED,
        FixError: Exit.UNANALYSED,
        VerifyError: Exit.UNANALYSED,
    }


def main() -> None:
    """Run the process's command line and end the process with its exit code."""
    code = int(run(sys.argv[1:]))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.stderr.flush()
    # Not `sys.exit`: to free millions of facts one by one takes seconds (mypy ends the same way).
    os._exit(code)
