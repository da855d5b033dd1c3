"""Facts kept between runs: a correct answer or no answer.

One file per tree, replaced as a whole, so that concurrent runs and kills leave an old or a new one, never a
mixture. It starts with a checksum; one that does not fit, or that another version of the analyser wrote, is
not used. Results are keyed by content (see `result_key`), paths in it are relative to the tree: it can be
copied between machines.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec

from analyzer.selection import Looked
from analyzer.toolchain import Toolchain
from analyzer.tree import SourceFile

_MAGIC = b"vt-lint facts 1\n"
_TREE_BYTES = 192 << 20
"""Results of earlier states of a tree (other branches) are kept up to this size: a run has all of them in memory."""
_FOLDER_BYTES = 2 << 30
_HEAD = ".head"
_PCH_KEPT = 8
_OTHERS_TRIED = 4
_RACY_NS = 2_000_000_000
"""A file this much younger than the look at it may change again without its time changing."""

# What facts depend on; the modules that link and judge them are not part of it.
_FRONT_END = (
    "cache", "candidates", "collect", "collector", "config", "depends", "flags", "includes", "interface", "ir",
    "layout", "lower", "plan", "pool", "profiles", "scan", "selection", "stubs", "syntax", "toolchain", "tree", "units",
)  # fmt: skip


class FileState(msgspec.Struct, frozen=True, array_like=True):
    """What a file was when its content was read: `sha` is the SHA-256 of it, in hex."""

    size: int
    mtime_ns: int
    inode: int
    sha: str


class RunRecord(msgspec.Struct, frozen=True, array_like=True):
    """A whole run: keys of its results in order, its profiles and summary (encoded by `analyzer.collect`),
    the include spellings that led nowhere, and size and time of the headers outside the tree. `code`: a digest of what
    was read, layout apart."""

    keys: tuple[str, ...]
    summary: bytes
    unresolved: tuple[str, ...]
    outside: tuple[tuple[str, int, int], ...]
    code: str = ""


class Pack(msgspec.Struct, array_like=True):
    """What is kept of one tree. `scans` by content hash; `looked` by content hash and words; `results` by
    `result_key`, the least recently used first."""

    version: str = ""
    toolchain: Toolchain | None = None
    taken_ns: int = 0
    files: dict[str, FileState] = {}
    scans: dict[str, msgspec.Raw] = {}
    looked: dict[str, Looked] = {}
    runs: dict[str, RunRecord] = {}
    results: dict[str, msgspec.Raw] = {}

    def sha_of(self, file: SourceFile) -> str:
        """Return the hash of `file` without reading it, empty if it has to be read."""
        state = self.files.get(file.path)
        if state is None or (state.size, state.mtime_ns, state.inode) != (
            file.size,
            file.mtime_ns,
            file.inode,
        ):
            return ""
        return "" if state.mtime_ns > self.taken_ns - _RACY_NS else state.sha


def default_folder() -> Path:
    """Return `$XDG_CACHE_HOME/vt-lint`, by default `~/.cache/vt-lint`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "vt-lint"


@functools.lru_cache(maxsize=1)
def version() -> str:
    """Return a digest of the code that makes facts."""
    digest = hashlib.sha256()
    package = resources.files("analyzer")
    stubs = [entry for entry in (package / "stubs").iterdir() if entry.name.endswith(".h")]
    for entry in (
        *(package / f"{name}.py" for name in _FRONT_END),
        *sorted(stubs, key=lambda each: each.name),
    ):
        digest.update(entry.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def code_digest(*packages: str) -> str:
    """Return a digest of the Python code of whole `packages`, with the packages in them."""
    digest = hashlib.sha256()
    for package in packages:
        waiting = [resources.files(package)]
        while waiting:
            for entry in sorted(waiting.pop().iterdir(), key=lambda each: each.name):
                if entry.is_dir():
                    waiting.append(entry)
                elif entry.name.endswith(".py"):
                    digest.update(entry.read_bytes())
    return digest.hexdigest()


def digest(*parts: object) -> str:
    """Return a digest of `parts`, anything that MessagePack can hold."""
    return hashlib.sha256(msgspec.msgpack.encode(parts, order="deterministic")).hexdigest()[:40]


def result_key(
    path: str, depends: Iterable[tuple[str, str]], toolchain: str, options: Iterable[object]
) -> str:
    """Return the key of what parsing `path` gives: made of what it depends on of every file of the tree that it may
    include (`analyzer.depends`), of the toolchain, and of `options`: the content of `path` itself, flags, profile.

    A header that is created later and shadows another one has the name of a directive, so it is in the
    include graph, and the key changes.
    """
    return digest(version(), toolchain, path, list(depends), list(options))


class Store:
    """The cache file of one tree below `folder`. `borrowed`: what `load` gave is from another tree's."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self._path = folder / f"{root.name}-{digest(str(root))[:16]}.facts"
        self.borrowed = False

    def head(self) -> Pack | None:
        """Return what is kept of the tree without scans and results: enough to see that nothing has changed."""
        return _read(self._path.with_suffix(_HEAD))

    def load(self, files: Iterable[SourceFile] = ()) -> Pack:
        """Return what is kept of the tree; else of another one, a checkout at another place, that has the most
        in common with `files`; or nothing."""
        pack = _read(self._path)
        if pack is not None:
            return pack
        wanted = {(file.path, file.size) for file in files}
        best, most = Pack(version=version()), 0
        for path in sorted(self.folder.glob("*.facts"), key=_age)[:_OTHERS_TRIED]:
            other = _read(path)
            if other is not None:
                shared = sum((name, state.size) in wanted for name, state in other.files.items())
                if shared > most:
                    best, most, self.borrowed = other, shared, True
        return best

    def save(self, pack: Pack, used: Iterable[str]) -> None:
        """Keep `pack`; results under the keys `used` are never dropped for size, all others if they are of
        another tree. A folder that cannot be written to is no error: the next run has to work more."""
        keep = dict.fromkeys(used)
        if self.borrowed:
            pack.results = {key: raw for key, raw in pack.results.items() if key in keep}
        room = _TREE_BYTES
        for key in reversed(list(pack.results)):
            room -= memoryview(pack.results[key]).nbytes
            if room < 0 and key not in keep:
                del pack.results[key]
        with contextlib.suppress(OSError):
            write_sealed(self._path, _MAGIC, msgspec.msgpack.encode(pack))
            head = msgspec.structs.replace(pack, scans={}, looked={}, results={})
            write_sealed(self._path.with_suffix(_HEAD), _MAGIC, msgspec.msgpack.encode(head))
            self._tidy()

    def merge(self, others: Iterable[Path]) -> int:
        """Add the results in the cache files `others`, of shards of this tree; return how many were new.

        A file that is damaged or of another version of the analyser adds nothing.
        """
        pack = self.load()
        before = len(pack.results)
        for path in others:
            other = _read(path)
            if other is not None:
                pack.scans |= other.scans
                pack.looked |= other.looked
                pack.results |= other.results
        pack.version = version()
        self.save(pack, pack.results)
        return len(pack.results) - before

    def pch_folder(self) -> Path | None:
        """Return the folder for precompiled headers, which stay on this machine; None if it cannot be."""
        path = self.folder / "pch"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return path if os.access(path, os.W_OK) else None

    def _tidy(self) -> None:
        """Drop what was not used for longest when the folder is too large, and what killed runs left."""
        precompiled = sorted((self.folder / "pch").glob("*.pch"), key=_age)
        stale = precompiled[_PCH_KEPT:]
        hour_ago = time.time() - 3600
        left = [
            path
            for path in (*self.folder.glob(".*"), *(self.folder / "pch").glob("*"))
            if path.suffix not in (".pch", ".h")
        ]
        stale += [path for path in left if -_age(path) < hour_ago]
        room = _FOLDER_BYTES
        for path in sorted(self.folder.glob("*.facts"), key=_age):
            room -= path.stat().st_size
            if room < 0 and path != self._path:
                stale.append(path)
        for path in stale:
            for suffix in (path.suffix, ".h", _HEAD):
                path.with_suffix(suffix).unlink(missing_ok=True)


@dataclass(frozen=True)
class Unsaved:
    """What a run has to keep, and has not yet."""

    store: Store
    pack: Pack
    used: tuple[str, ...]

    def save(self) -> None:
        """Keep it."""
        self.store.save(self.pack, self.used)


def _age(path: Path) -> float:
    """Sort key: youngest first."""
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _read(path: Path) -> Pack | None:
    payload = read_sealed(path, _MAGIC)
    if payload is None:
        return None
    try:
        pack = msgspec.msgpack.decode(payload, type=Pack)
    except msgspec.DecodeError:
        return None
    return pack if pack.version == version() else None


def read_sealed(path: Path, magic: bytes) -> memoryview | None:
    """Return what `write_sealed` wrote; None for a file that is missing, damaged or something else."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(magic) + 32
    payload = memoryview(data)[head:]
    whole = data[: len(magic)] == magic and hashlib.sha256(payload).digest() == data[len(magic) : head]
    return payload if whole else None


def write_sealed(path: Path, magic: bytes, payload: bytes) -> None:
    """Write `payload` with a checksum, all of it or nothing. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(magic + hashlib.sha256(payload).digest())
            file.write(payload)  # by itself: it can be large, and is no copy so
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
