"""Which files of a tree are worth parsing: those that can see a carrier and speak of it, and those that open
gates."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

import msgspec

from analyzer import scan as scan_module
from analyzer.candidates import Candidate, candidates
from analyzer.includes import IncludeGraph
from analyzer.profiles import ARM_MACROS
from analyzer.scan import Scan
from analyzer.tree import FRAGMENTS, HEADERS, SourceFile

_TAKEN = re.compile(rb"&\s*([A-Za-z_]\w{3,})\s*[,)}]")
_NAMED = re.compile(rb"\b([A-Za-z_]\w{3,})\s*\(")
_ENVIRONMENT = frozenset({b"getenv", b"secure_getenv"})


class Looked(msgspec.Struct, frozen=True, array_like=True):
    """What the text of a file says of the words: which occur, whether it reads the environment, the
    candidates. `taken`: names after an `&`; `named`: names before a parenthesis, of a header with words."""

    words: tuple[str, ...]
    environment: bool
    candidates: tuple[Candidate, ...]
    taken: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def carriers(scans: Mapping[str, Scan], markers: frozenset[str]) -> frozenset[str]:
    """Return the names of the records that have one of `markers` as a member."""
    return frozenset(
        record.name
        for found in scans.values()
        for record in found.records
        if not markers.isdisjoint(record.members)
    )


def holders(scans: Mapping[str, Scan], seed: frozenset[str]) -> frozenset[str]:
    """Return `seed` and the names of the records that have a member of such a type, at any depth."""
    records = [record for found in scans.values() for record in found.records]
    found = set(seed)
    while True:
        more = {
            record.name
            for record in records
            if record.name not in found and not found.isdisjoint(record.types)
        }
        if not more:
            return frozenset(found)
        found |= more


def look(data: bytes, words: frozenset[str]) -> Looked:
    """Search the bytes of one file for `words`."""
    present = scan_module.identifiers(data)
    encoded = frozenset(word.encode() for word in words)
    hits = encoded & present
    return Looked(
        words=tuple(sorted(word.decode() for word in hits)),
        environment=not _ENVIRONMENT.isdisjoint(present),
        candidates=tuple(candidates(data, encoded)) if hits else (),
        taken=tuple(sorted({name.decode() for name in _TAKEN.findall(data)})),
        named=tuple(sorted({name.decode() for name in _NAMED.findall(data)})) if hits else (),
    )


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def choose(
    files: Iterable[SourceFile],
    scans: Mapping[str, Scan],
    looked: Mapping[str, Looked],
    graph: IncludeGraph,
    markers: frozenset[str],
) -> tuple[SourceFile, ...]:
    """Return the files to parse.

    A file is chosen when it names a marker, or a carrier or holder whose definition it can include; when it
    reads the environment or tests for an architecture, because such code decides whether a marker is ever
    set; when it is the source beside a chosen header, or beside one that defines an enumeration of a carrier's
    member (what says whether a dtype is block-quantised lives there); and when it is a header that a chosen file
    includes.
    """
    defined_in: dict[str, set[str]] = {}
    for path, found in scans.items():
        for record in found.records:
            defined_in.setdefault(record.name, set()).add(path)
    pool = [file for file in files if may_choose(file) and file.path in scans and file.path in looked]
    chosen: set[str] = set()
    for file in pool:
        text = looked[file.path]
        gate = text.environment or any(ARM_MACROS.fullmatch(macro) for macro in scans[file.path].tested)
        if gate or not markers.isdisjoint(text.words):
            chosen.add(file.path)
        elif text.words:
            seen = graph.closure(file.path)
            if any(not seen.isdisjoint(defined_in.get(word, ())) for word in text.words):
                chosen.add(file.path)
    types = {
        name
        for found in scans.values()
        for record in found.records
        if not markers.isdisjoint(record.members)
        for name in record.types
    }
    headers = {
        _stem(file.path): file.path
        for file in pool
        if file.suffix in HEADERS and (file.path in chosen or not types.isdisjoint(scans[file.path].enums))
    }
    for file in pool:
        header = headers.get(_stem(file.path))
        if header and file.path not in chosen and _includes(scans[file.path], header):
            chosen.add(file.path)
    # A file that registers kernels names them, and no carrier.
    for header in sorted(headers.values()):
        kernels = frozenset(looked[header].named)
        for file in pool:
            if file.path not in chosen and not kernels.isdisjoint(looked[file.path].taken):
                if header in graph.closure(file.path):
                    chosen.add(file.path)
    # What a chosen file includes defines the types it uses: device enumerations, owners of bytes, policies.
    seen_by_chosen = set().union(*(graph.closure(path) for path in chosen)) if chosen else set()
    return tuple(
        file for file in pool if file.path in chosen or file.suffix in HEADERS and file.path in seen_by_chosen
    )


def may_choose(file: SourceFile) -> bool:
    """Is `file` of a kind that is ever analysed? C sources have no carriers, fragments belong to their
    includers."""
    return not file.vendored and not file.template and file.suffix not in FRAGMENTS and file.suffix != ".c"


def _includes(scan: Scan, header: str) -> bool:
    name = posixpath.basename(header)
    return any(posixpath.basename(include.spelling) == name for include in scan.includes)
