"""Reports of `matrix`: which kernels honour which marker, where that was read, and what follows."""

from __future__ import annotations

import msgspec

from rules.matrix import Matrix

_VERB = {"honours": "reads it", "refuses": "refuses it", "ignores": "ignores it", "n/a": "never gets it"}


def as_json(matrix: Matrix) -> str:
    """Return the matrix as JSON with a `version`."""
    document = {"version": 1, **msgspec.to_builtins(matrix)}
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def text(matrix: Matrix) -> str:
    """Return a block a marker: its kernels by device, then what code has to do with it on each device."""
    lines = []
    names = [p.marker for p in matrix.policy] + [r.marker for r in matrix.rows]
    for marker in dict.fromkeys(names):
        lines.append(marker)
        rows = [row for row in matrix.rows if row.marker == marker]
        for r in sorted(rows, key=lambda r: (r.device, list(_VERB).index(r.outcome), r.op, r.kernel)):
            note = f", {r.note}" if r.note else ""
            lines.append(
                f"  {r.device or 'any':8} {_VERB[r.outcome]:13} {r.op} {r.kernel}, as {r.operand}"
                f"  ({r.read_path}:{r.read_line}{note})"
            )
        lines += [f"  on {p.device}: {p.action}, {p.why}" for p in matrix.policy if p.marker == marker]
        lines.append("")
    return "\n".join(lines).rstrip()
