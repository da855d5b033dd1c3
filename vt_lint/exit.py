"""The exit codes, once, and the exception that carries one."""

from __future__ import annotations

import enum

import click


class Exit(enum.IntEnum):
    """What the status of the process says."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    UNANALYSED = 3


MEANING: dict[Exit, str] = {
    Exit.OK: "nothing found at or above --fail-on",
    Exit.FINDINGS: "something found, or a baseline entry that is fixed is still listed",
    Exit.USAGE: "the command line, the configuration or the baseline is wrong",
    Exit.UNANALYSED: "some code was not analysed or some check not run",
}


class Fault(click.ClickException):
    """A fault that the user can mend: `message` is one line that names the file, the line and the remedy."""

    exit_code = Exit.USAGE
