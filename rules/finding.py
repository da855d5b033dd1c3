"""What a rule reports: one marker of one construction on one set of devices, with what a fix needs to know."""

from __future__ import annotations

import enum

import msgspec


class Verdict(str, enum.Enum):
    """Can a marked weight really get here? See `vt-lint trace`."""

    LIVE = "LIVE"
    GATED = "GATED"
    LOUD = "LOUD"
    DEAD = "DEAD"
    UNKNOWN = "UNKNOWN"


class Severity(str, enum.Enum):
    """`error` for LIVE and GATED, `warning` for UNKNOWN, `note` for LOUD and DEAD (a latent loss)."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Hop(msgspec.Struct, frozen=True):
    """One step of a witness path."""

    path: str
    line: int
    note: str


class Place(msgspec.Struct, frozen=True):
    """Where a finding is. Lines and columns are 1-based, `begin`/`end` are byte offsets of the construction."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    begin: int
    end: int
    macro: bool = False


class Site(msgspec.Struct, frozen=True):
    """The code around a finding, for the codemods; byte offsets into the file, empty spans are (0, 0).

    `form`: how the carrier is made (`factory`, `fields`, `borrow`, `copy`, `slice`, `reshape`, `aggregate`,
    `retag`, `bytes`, `rewrite`, `consumer`, `declaration`).
    `statement`/`statement_kind`: the whole enclosing statement (with its `;`): `return`, `declare`, `expression`.
    `dest`: the C++ spelling of the carrier being made when it has a name, else empty (a temporary).
    `dest_type`: its type as to be spelled in a declaration here (`Tensor`, `auto` when unknown).
    `source_text`: the C++ spelling, here, of the carrier whose bytes these are (`w`, `*w_`, `this` gives ``).
    `member_op`: `.` or `->` or empty (implicit this), to reach a member from `source_text`.
    `insert_before`: offset of the statement before which a refusal has to go to dominate the use and any upload.
    `insert_after`: offset after the last store that the new carrier's fields get before it escapes (0: none).
    `braceless`: the statement is the unbraced body of an `if`/`else`/loop. `in_lambda`, `conditional`: inside a
    lambda's body; inside a `?:`. `callee`: qualified name of the helper that made it, if any.
    `device_tests`: for each device, a C++ expression that is true on it, as it can be spelled here."""

    form: str
    statement: tuple[int, int] = (0, 0)
    statement_kind: str = "expression"
    dest: str = ""
    dest_type: str = ""
    source_text: str = ""
    member_op: str = "."
    insert_before: int = 0
    insert_after: int = 0
    braceless: bool = False
    in_lambda: bool = False
    conditional: bool = False
    callee: str = ""
    dest_has_marker: bool = True
    device_tests: tuple[tuple[str, str], ...] = ()


class Fix(msgspec.Struct, frozen=True):
    """What should be done (`propagate`, `refuse`, `both`, `clear`, `require`, `narrow`, `answer`) and how safe that is
    (`safe`, `unsafe`, `display`). `refuse_devices`: the devices to refuse on when the action is `both`. `condition`:
    C++ text that has to hold when the function begins (`require`), or wherever the stored boolean is true (`narrow`),
    or that is to be stored (`answer`). `why`: the policy's reason. `verified`: the devices on which a runtime check
    proved it; no rule sets it."""

    action: str
    safety: str = "safe"
    refuse_devices: tuple[str, ...] = ()
    why: str = ""
    verified: tuple[str, ...] = ()
    condition: str = ""

    @property
    def refused_where(self) -> str:
        """Where what is carried otherwise is refused, in words."""
        if self.refuse_devices:
            return f"on {', '.join(self.refuse_devices)}"
        return "where a group of its rows would be cut"


class Finding(msgspec.Struct, frozen=True):
    """One finding. `source` is the C++ spelling of the weight, `devices` the tree's device enumerators in lower
    case without a leading `k`. `construction` groups the markers of one construction in reports. `fingerprint`
    holds no line number: rule, function, marker, source and an ordinal."""

    rule: str
    place: Place
    function: str
    marker: str
    devices: tuple[str, ...]
    source: str
    source_type: str
    severity: Severity
    verdict: Verdict
    message: str
    construction: str
    fingerprint: str
    reason: str = ""
    witness: tuple[Hop, ...] = ()
    site: Site | None = None
    fix: Fix | None = None
    suppressed: str = ""


class Unanalysed(msgspec.Struct, frozen=True):
    """A textual candidate that no parse covered, or a file that could not be read: never clean."""

    path: str
    line: int
    reason: str


class Judged(msgspec.Struct, frozen=True):
    """What was found in a tree, and the functions that could not be followed. `keys`: of the facts it was found in."""

    findings: tuple[Finding, ...]
    left: tuple[Unanalysed, ...] = ()
    keys: tuple[str, ...] = ()


class Coverage(msgspec.Struct, frozen=True):
    """Files read, textual candidates (calls of view factories and stores of storage fields), how many a parse
    covered, and what was not."""

    files: int
    candidates: int
    analysed: int
    unanalysed: tuple[Unanalysed, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """The result of one `check`. `tree` is the root as given by the user; `seconds` by phase; `hashes`: SHA-256 of
    the bytes read, for each file with a finding (offsets are valid for these bytes only)."""

    tree: str
    profiles: tuple[str, ...]
    coverage: Coverage
    findings: tuple[Finding, ...]
    seconds: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    hashes: dict[str, str] = {}
    stats: dict[str, float] = {}
