"""The only writer: patch text, and files replaced atomically."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from codemods.edit import Edit, apply_edits, digest

CONTEXT = 3
"""Lines of context in a patch."""


class ApplyError(Exception):
    """A file cannot be written as planned; the message is one line naming the file and the remedy."""


def edited(edits: Mapping[str, Sequence[Edit]]) -> dict[str, tuple[bytes, bytes]]:
    """Return for each real path its bytes before and after `edits`.

    Raises `ApplyError` if a file cannot be read or no longer has the hash that its edits were made for."""
    result: dict[str, tuple[bytes, bytes]] = {}
    for path, own in edits.items():
        try:
            before = Path(path).read_bytes()
        except OSError as error:
            raise ApplyError(f"{path}: {error.strerror}; nothing was written") from error
        if any(e.sha != digest(before) for e in own):
            raise ApplyError(f"{path}: changed since it was read; nothing was written, run the command again")
        result[path] = (before, apply_edits(before, own))
    return result


def write(edits: Mapping[str, Sequence[Edit]]) -> tuple[str, ...]:
    """Apply `edits` and return the real paths written. All files are checked before the first one is written.

    Each file is replaced by rename, so that a kill at any moment leaves it old or new; mode bits are kept.
    Raises `ApplyError` as `edited` does, and if a file cannot be written."""
    for path, (before, after) in edited(edits).items():
        if before != after:
            _replace(path, after)
    return tuple(edits)


def restore(contents: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Put back the first of each pair where the file still holds the second. Raises `ApplyError` as `write` does."""
    for path, (before, after) in contents.items():
        try:
            now = Path(path).read_bytes()
        except OSError as error:
            raise ApplyError(f"{path}: {error.strerror}; it was not put back") from error
        if now == after and before != after:
            _replace(path, before)


def _replace(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                os.fchmod(out.fileno(), stat.S_IMODE(os.stat(path).st_mode))
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)  # the rename itself has to survive a power cut
        finally:
            os.close(entry)
    except OSError as error:
        raise ApplyError(f"{path}: {error.strerror}; the file is unchanged") from error


def patch(name: str, before: bytes, after: bytes) -> bytes:
    """Return a unified diff of one file that `git apply` accepts, empty if nothing changed.

    `name` is the path relative to the root, with forward slashes. Line ends and a missing last newline are
    kept."""
    old, new = _lines(before), _lines(after)
    out: list[bytes] = []
    for ops in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        i1, i2, j1, j2 = ops[0][1], ops[-1][2], ops[0][3], ops[-1][4]
        out.append(f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@\n".encode())
        for tag, a1, a2, b1, b2 in ops:
            if tag == "equal":
                out += [_line(b" ", x) for x in old[a1:a2]]
                continue
            out += [_line(b"-", x) for x in old[a1:a2]]
            out += [_line(b"+", x) for x in new[b1:b2]]
    if not out:
        return b""
    a, b = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    tail = b"\t" if b" " in a else b""
    head = b"diff --git " + a + b" " + b + b"\n--- " + a + tail + b"\n+++ " + b + tail + b"\n"
    return head + b"".join(out)


def _lines(data: bytes) -> list[bytes]:
    """Split at LF alone, as git does (`bytes.splitlines` would split at a lone CR too)."""
    lines = [x + b"\n" for x in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


def _range(begin: int, end: int) -> str:
    if end - begin == 1:
        return str(begin + 1)
    return f"{begin + 1 if end > begin else begin},{end - begin}"


def _quoted(name: str) -> bytes:
    """Quote a path as git does: bytes outside printable ASCII, quotes and backslashes in octal or escaped."""
    raw = os.fsencode(name)
    if all(0x20 <= c < 0x7F and c not in b'"\\' for c in raw):
        return raw
    body = "".join(
        chr(c) if 0x20 <= c < 0x7F and c not in b'"\\' else ("\\" + chr(c) if c in b'"\\' else f"\\{c:03o}")
        for c in raw
    )
    return f'"{body}"'.encode()
