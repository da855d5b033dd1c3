"""Records shared by the steps of a runtime check; frozen, and serialised with ``dataclasses.asdict``."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from analyzer import ir

Target = Literal["i8mm", "cuda", "cpu"]
Expected = Literal["carried", "refused", "whole groups"]
"""What a fixed helper does with a marked weight; `whole groups`: a row slice that refuses to cut a row group of the
layout and carries, or refuses, whole groups."""
Cut = Literal["", "start", "end"]
TARGETS: tuple[Target, ...] = ("i8mm", "cuda", "cpu")


@dataclass(frozen=True)
class HelperUnderTest:
    """A function that turns a marked weight into a view, and what is claimed of it.

    Attributes:
        name: qualified name, ``ns::function``.
        path: POSIX path of its header or source, relative to the tree.
        expect: marker -> device -> what the fixed helper must do.
        faulty: marker -> devices on which the unfixed helper lets a marked weight through unnoticed.
        begin: offset of a byte inside of it, to tell overloads apart.
        unfixed: markers whose fix is unsafe and is not on the "after" side.
    """

    name: str
    path: str
    expect: Mapping[str, Mapping[str, Expected]] = field(default_factory=dict)
    faulty: Mapping[str, frozenset[str]] = field(default_factory=dict)
    begin: int = -1
    unfixed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class VerifyOptions:
    """What to verify and where.

    Attributes:
        tree: root of the C++ tree; read only.
        target: instruction set or device whose layout is probed.
        work: folder for everything that is written.
        config: TOML file with a ``[verify]`` table; the tree's ``.vt-lint.toml`` when None.
        helpers: helpers taken from findings; they add to, and override, those of the profile.
        facts: what is known of the tree's functions and records, to call helpers that the profile does not.
        before_rev: revision that is the "before" side; the working tree is then "after".
        patch: unified diff that makes "after" out of the working tree.
        after_files: new bytes of files by relative POSIX path; an alternative to ``patch``.
        bundle: folder to write a bundle to instead of running.
        collect: results file of a bundle to judge instead of building.
        jobs: parallel compilers.
        build_timeout_s: seconds one compiler may take.
        run_timeout_s: seconds one group of cases may take.
        timing: also time plain and marked layouts (CUDA).
        emulator_cpu: CPU model of the emulated i8mm guest.
    """

    tree: Path
    target: Target
    work: Path
    config: Path | None = None
    helpers: tuple[HelperUnderTest, ...] = ()
    facts: tuple[ir.FileFacts, ...] = ()
    before_rev: str | None = None
    patch: Path | None = None
    after_files: Mapping[str, bytes] = field(default_factory=dict)
    bundle: Path | None = None
    collect: Path | None = None
    jobs: int = 2
    build_timeout_s: float = 600.0
    run_timeout_s: float = 120.0
    timing: bool = True
    emulator_cpu: str = "max"


@dataclass(frozen=True)
class Case:
    """One product ``out[m, rows] = a[m, k] @ w[n, k]^T``, ``rows`` being the rows the helper exposes: all but
    ``row0`` at the begin and ``row_tail`` at the end. ``cut``: the end of them that is inside of a row group."""

    id: str
    m: int
    n: int
    k: int
    seed: int
    declines: bool
    row0: int = 0
    row_tail: int = 0
    cut: Cut = ""


@dataclass(frozen=True)
class Group:
    """The cases of one helper, marker and arm; they share a process, so a crash is confined to them.
    ``derived``: the call was made from the helper's signature. ``unfixed``: its fix is unsafe and was not written."""

    index: int
    path: str
    helper: str
    marker: str
    arm: str
    device: str
    expected: Expected
    faulty_before: bool | None
    decided_by_gemm: bool
    derived: bool
    cases: tuple[Case, ...]
    unfixed: bool = False


class Outcome(str, enum.Enum):
    """What a probe saw of one marked weight."""

    RAN = "ran"
    PASSED_THROUGH = "passed-through"
    THREW = "threw"
    THREW_OTHER = "threw-other"
    DECLINED = "declined"
    INACTIVE = "inactive"
    PLAIN_FAILED = "plain-failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed-out"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Observation:
    """Result of one case on one side.

    Attributes:
        error: relative Frobenius error of the marked product against a float64 product of the unquantised
            operands; None where nothing was computed or the result is not finite.
        plain_error: the same for the plain weight.
        differing: outputs whose bits differ from those of the plain weight.
        uploaded: bytes of the marked weight that reached the device.
    """

    case: str
    outcome: Outcome
    where: str = ""
    message: str = ""
    marked: bool = False
    uploaded: int = 0
    total: int = 0
    nonfinite: int = 0
    differing: int = 0
    error: float | None = None
    plain_error: float | None = None


class Status(str, enum.Enum):
    """Judgement of one case or group. `not fixed`: the fault is there on both sides, for nothing was written."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_FIXED = "not fixed"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Judgement:
    """The verdict on one group, with what each side showed; `path` is the helper's file."""

    path: str
    helper: str
    marker: str
    arm: str
    device: str
    expected: Expected
    status: Status
    reason: str
    before: tuple[Observation, ...]
    after: tuple[Observation, ...]


@dataclass(frozen=True)
class Timing:
    """Median time of one product through the helper, microseconds, and its share of copy bandwidth."""

    helper: str
    marker: str
    m: int
    n: int
    k: int
    plain_us: float
    marked_us: float
    plain_share: float
    marked_share: float
    bandwidth_gbs: float

    @property
    def ratio(self) -> float:
        """Plain time over marked time: above 1 the marked layout is faster."""
        return self.plain_us / self.marked_us if self.marked_us > 0 else 0.0


@dataclass(frozen=True)
class BuildRecord:
    """What one side's build did."""

    side: str
    objects: int
    compiled: int
    reused: int
    seconds: float
    trapped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Everything a reader needs to believe, or repeat, a check.

    Attributes:
        inputs: side -> relative path -> SHA-256 of each of the tree's files that the side was built from.
    """

    target: Target
    tree_name: str
    revision: str
    patch_sha256: str
    tree_digest: str
    toolchain: Mapping[str, str]
    device: Mapping[str, str]
    commands: tuple[str, ...]
    builds: tuple[BuildRecord, ...]
    groups: tuple[Group, ...]
    judgements: tuple[Judgement, ...]
    timings: tuple[Timing, ...]
    not_probed: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    exit_code: int
    bundle_id: str = ""
    inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
