"""Which files of a tree are worth parsing: those that can see a carrier and speak of it, and those that open
gates."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from analyzer import scan as scan_module
from analyzer.candidates import Candidate, candidates
from analyzer.includes import IncludeGraph
from analyzer.interface import declared
from analyzer.profiles import ARM_MACROS
from analyzer.scan import Scan, word_number
from analyzer.tree import FRAGMENTS, HEADERS, SourceFile

_TAKEN = re.compile(rb"&\s*([A-Za-z_]\w{3,})\s*[,)}]")
_NAMED = re.compile(rb"\b([A-Za-z_]\w{3,})\s*\(")
_ENVIRONMENT = frozenset({b"getenv", b"secure_getenv"})


class Looked(msgspec.Struct, frozen=True, array_like=True):
    """What the text of a file says of the words: which occur, and the candidates. `taken`: names after an `&`;
    `named`: names before a parenthesis, of a header with words. `declares`: of a file that reads the environment or
    tests for an architecture, what others may ask it for."""

    words: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    taken: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    declares: tuple[str, ...] = ()


Holders = Mapping[str, frozenset[str]]
"""Records that have a marker or, at any depth, a member of such a type: name to the files that define it so."""


def _carriers(scans: Mapping[str, Scan], markers: frozenset[str]) -> dict[str, set[str]]:
    """Return the records that have one of `markers` as a member, with the files that define them."""
    found: dict[str, set[str]] = {}
    for path, scan in scans.items():
        for record in scan.records:
            if not markers.isdisjoint(record.members):
                found.setdefault(record.name, set()).add(path)
    return found


def holders(scans: Mapping[str, Scan], graph: IncludeGraph, markers: frozenset[str]) -> Holders:
    """Return the carriers and the records that have a member of such a type, at any depth. A type's name means a
    record that the file may include: many things are called `Impl`."""
    found = _carriers(scans, markers)
    waiting = [(path, record) for path, scan in scans.items() for record in scan.records]
    while True:
        left = []
        before = sum(map(len, found.values()))
        for path, record in waiting:
            if _sees(path, record.types, found, graph):
                found.setdefault(record.name, set()).add(path)
            else:
                left.append((path, record))
        if sum(map(len, found.values())) == before:
            return {name: frozenset(paths) for name, paths in found.items()}
        waiting = left


def _sees(path: str, names: Iterable[str], found: Mapping[str, Collection[str]], graph: IncludeGraph) -> bool:
    """Can `path` include a definition of one of `names` that is in `found`?"""
    defining = [found[name] for name in names if name in found]
    return bool(defining) and any(not graph.closure(path).isdisjoint(paths) for paths in defining)


def look(data: bytes, words: frozenset[str]) -> Looked:
    """Search the bytes of one file for `words`."""
    present = scan_module.identifiers(data)
    encoded = frozenset(word.encode() for word in words)
    hits = encoded & present
    gate = not _ENVIRONMENT.isdisjoint(present) or any(
        ARM_MACROS.fullmatch(word.decode()) for word in present
    )
    return Looked(
        words=tuple(sorted(word.decode() for word in hits)),
        candidates=tuple(candidates(data, encoded)) if hits else (),
        taken=tuple(sorted({name.decode() for name in _TAKEN.findall(data)})),
        named=tuple(sorted({name.decode() for name in _NAMED.findall(data)})) if hits else (),
        declares=tuple(sorted(declared(data))) if gate else (),
    )


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def choose(
    files: Iterable[SourceFile],
    scans: Mapping[str, Scan],
    looked: Mapping[str, Looked],
    graph: IncludeGraph,
    markers: frozenset[str],
    holding: Holders,
) -> tuple[SourceFile, ...]:
    """Return the files to parse.

    A file is chosen when it names a marker, or a carrier or holder whose definition it can include; when it is the
    source of a chosen header, or of one that defines an enumeration of a carrier's member (what says whether a dtype
    is block-quantised lives there); when it reads the environment or tests for an architecture, and a chosen file
    names something that it declares, because such code decides whether a marker is ever set; and when it is a header
    that a chosen file includes.
    """
    pool = [file for file in files if may_choose(file) and file.path in scans and file.path in looked]
    chosen: set[str] = set()
    for file in pool:
        words = looked[file.path].words
        if not markers.isdisjoint(words) or _sees(file.path, words, holding, graph):
            chosen.add(file.path)
    types = {
        name
        for found in scans.values()
        for record in found.records
        if not markers.isdisjoint(record.members)
        for name in record.types
    }
    headers = {
        file.path
        for file in pool
        if file.suffix in HEADERS and (file.path in chosen or not types.isdisjoint(scans[file.path].enums))
    }
    chosen |= {file.path for file in pool if _sources(file.path, headers, scans[file.path], graph, scans)}
    # A file that registers kernels names them, and no carrier.
    for header in sorted(headers):
        kernels = frozenset(looked[header].named)
        for file in pool:
            if file.path not in chosen and not kernels.isdisjoint(looked[file.path].taken):
                if header in graph.closure(file.path):
                    chosen.add(file.path)
    chosen |= _gates([file.path for file in pool if file.path not in chosen], chosen, scans, looked)
    # What a chosen file includes defines the types it uses: device enumerations, owners of bytes, policies.
    seen_by_chosen = set().union(*(graph.closure(path) for path in chosen)) if chosen else set()
    return tuple(
        file for file in pool if file.path in chosen or file.suffix in HEADERS and file.path in seen_by_chosen
    )


def _sources(path: str, headers: set[str], scan: Scan, graph: IncludeGraph, paths: Collection[str]) -> bool:
    """Is `path` the source of one of `headers`: does it include one with its own stem?"""
    stem = _stem(path)
    for include in scan.includes:
        if _stem(include.spelling) == stem:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), include.spelling))
            meant = (beside,) if beside in paths and not include.angled else graph.targets(include.spelling)
            if not headers.isdisjoint(meant):
                return True
    return False


def _gates(
    others: Iterable[str], chosen: Iterable[str], scans: Mapping[str, Scan], looked: Mapping[str, Looked]
) -> set[str]:
    """Those of `others` that declare something which `chosen` files, or others of the result, name."""
    declaring = {
        path: {word_number(name.encode()) for name in looked[path].declares}
        for path in others
        if looked[path].declares
    }
    named: set[int] = set()
    found: set[str] = set()
    fresh = set(chosen)
    while fresh:
        for path in fresh:
            named.update(scans[path].numbers())
        fresh = {path for path, own in declaring.items() if path not in found and not named.isdisjoint(own)}
        found |= fresh
    return found


def may_choose(file: SourceFile) -> bool:
    """Is `file` of a kind that is ever analysed? C sources have no carriers, fragments belong to their
    includers."""
    return not file.vendored and not file.template and file.suffix not in FRAGMENTS and file.suffix != ".c"
