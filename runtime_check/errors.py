"""The one exception that runtime_check lets out."""

from __future__ import annotations

from typing import Final

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOT_RUN: Final = 3


class VerifyError(Exception):
    """A check could not be set up, built, or run.

    Attributes:
        message: one line: what failed, where, and what to do about it.
        exit_code: ``EXIT_USAGE`` for a wrong option or profile, ``EXIT_NOT_RUN`` for anything that kept the
            probes from running, ``EXIT_FAILED`` where the tree itself is at fault.
    """

    def __init__(self, message: str, exit_code: int = EXIT_NOT_RUN) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class ProbeError(VerifyError):
    """A probe does not compile or link.

    Attributes:
        unit: name of the probe.
        lines: lines of its source that the errors come from; empty where they come from its headers.
    """

    def __init__(self, message: str, unit: str, lines: frozenset[int] = frozenset()) -> None:
        super().__init__(message, EXIT_FAILED)
        self.unit = unit
        self.lines = lines
