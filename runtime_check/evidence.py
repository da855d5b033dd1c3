"""Evidence read back from its JSON: what was proved, and of which text.

The ``id`` guards against mix-ups and slips of the editor, not against someone who forges a file on purpose.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from runtime_check.errors import EXIT_USAGE, VerifyError
from runtime_check.model import Expected, Status, Target

FORMAT_VERSION: Final = 1


class Proof(msgspec.Struct, frozen=True):
    """One judgement: what ``helper`` in ``path`` did with a weight of ``marker`` on ``device``."""

    path: str
    helper: str
    marker: str
    device: str
    expected: Expected
    status: Status


@dataclass(frozen=True)
class Recorded:
    """An evidence file. ``before`` and ``after``: relative path -> SHA-256 of what each side was built from;
    empty where the side was not built."""

    name: str
    target: Target
    before: Mapping[str, str]
    after: Mapping[str, str]
    proofs: tuple[Proof, ...]


class _Document(msgspec.Struct, frozen=True):
    version: int
    id: str
    target: Target
    judgements: tuple[Proof, ...]
    inputs: dict[str, dict[str, str]]


def identity(document: Mapping[str, Any]) -> str:
    """SHA-256 of an evidence document without its ``id``, in hexadecimal."""
    body = {key: value for key, value in document.items() if key != "id"}
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_evidence(path: Path) -> Recorded:
    """Read an evidence file that ``vt-lint verify --format json`` wrote.

    Raises:
        VerifyError: it is missing, is something else, is of another version, or was changed since (exit 2).
    """
    remedy = "make one with `vt-lint verify --format json`"
    try:
        raw = path.read_bytes()
        document = msgspec.json.decode(raw, type=_Document)
        body = json.loads(raw)
    except OSError as error:
        raise VerifyError(f"evidence {path}: {error.strerror}; {remedy}", EXIT_USAGE) from error
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise VerifyError(
            f"evidence {path}: not evidence that can be used: {error}; {remedy}", EXIT_USAGE
        ) from error
    if document.version != FORMAT_VERSION:
        raise VerifyError(
            f"evidence {path}: version {document.version}, this vt-lint reads version {FORMAT_VERSION}",
            EXIT_USAGE,
        )
    if document.id != identity(body):
        raise VerifyError(f"evidence {path}: was changed after it was written; {remedy}", EXIT_USAGE)
    return Recorded(
        name=path.name,
        target=document.target,
        before=document.inputs.get("before", {}),
        after=document.inputs.get("after", {}),
        proofs=tuple(msgspec.structs.replace(j, helper=plain(j.helper)) for j in document.judgements),
    )


def plain(name: str) -> str:
    """A qualified name as a call spells it: unnamed namespaces have no name there."""
    return re.sub(r"\((?:anonymous|unnamed)[^)]*\)::", "", name)
