"""Parse one translation unit under one profile and lower it: a file's bytes in, records out, never an
exception."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import os
import re
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from clang import cindex

from analyzer import ir, layout, stubs
from analyzer.collector import no_collector
from analyzer.lower import lower

# CXTranslationUnit_Flags (clang-c/Index.h); cindex 18 has no name for the last.
INCOMPLETE, FOR_SERIALIZATION, SKIP_BODIES, KEEP_GOING = 0x02, 0x10, 0x40, 0x200

_EVALUATED = re.compile(r"const(expr|ant|init)|literal type")
"""Errors that `stubs.LIGHT` can cause."""
_MUCH_MB = 250
_MISSING = re.compile(r"'([^']+)' file not found")


class Job(msgspec.Struct, frozen=True, array_like=True):
    """What one parse needs. `main`: root-relative path, or the name of the made-up unit that includes
    `headers`. `args`: complete command line with absolute paths. `wanted`: root-relative files to lower.
    `retry_without`: feature macros that may be left undefined when the parse has errors. `arms`: bytes
    `[begin, end)` of conditional code inside functions of the one wanted file; `each_arms`: the same, by
    file. `known`: folders whose headers the cache knows about otherwise. `generated`: include spelling and
    template of the headers that the build would make."""

    root: str
    main: str
    profile: str
    args: tuple[str, ...]
    wanted: tuple[str, ...]
    headers: tuple[str, ...] = ()
    pch: str = ""
    origin: str = "inferred"
    dropped: tuple[str, ...] = ()
    retry_without: tuple[str, ...] = ()
    arms: tuple[tuple[int, int], ...] = ()
    each_arms: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()
    known: tuple[str, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()


class Covered(msgspec.Struct, frozen=True, array_like=True):
    """One function body that was read: bytes `[begin, end)`, and the errors clang reported in it."""

    begin: int
    end: int
    errors: int


class Parsed(msgspec.Struct, frozen=True, array_like=True):
    """What one parse said of one file. `facts` is an encoded `ir.FileFacts`. `arms`: begins of those of the
    job's arms that the preprocessor kept. `missing`: headers that were not found. `outside`: other headers
    that were read, with size and time.  `errors`: in this file. `peak_mb`: memory of the process so far. `code`: see
    `analyzer.layout`."""

    path: str
    profile: str
    facts: bytes
    bodies: tuple[Covered, ...] = ()
    arms: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    outside: tuple[tuple[str, int, int], ...] = ()
    failed: str = ""
    errors: int = 0
    seconds: float = 0.0
    pch: bool = False
    peak_mb: float = 0.0
    code: str = ""


def _unsaved(job: Job) -> list[tuple[str, str]]:
    files = stubs.unsaved_files()
    for name, template in job.generated:
        text = Path(job.root, template).read_text(encoding="utf-8", errors="replace")
        files.append((f"{stubs.GENERATED}/{name}", stubs.from_template(text)))
    if job.headers:
        files.append(
            (f"{job.root}/{job.main}", "".join(f'#include "{job.root}/{path}"\n' for path in job.headers))
        )
    return files


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Throw away what is written to the standard error of this process, a worker."""
    kept = os.dup(2)
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)


def _parse(job: Job, args: Sequence[str]) -> cindex.TranslationUnit | None:
    try:
        # Of a unit that may go on, clang leaves out the instantiations at its end: nothing is read from them.
        options = KEEP_GOING | INCOMPLETE
        # Without the declarations of a precompiled header: nothing is read from them, and visiting takes time.
        return cindex.Index.create(excludeDecls=True).parse(
            f"{job.root}/{job.main}", args, _unsaved(job), options
        )
    except cindex.TranslationUnitLoadError:  # also a crash inside clang, which it survives
        return None


def error_count(unit: cindex.TranslationUnit) -> int:
    """Return how many errors clang reported."""
    return sum(1 for diagnostic in unit.diagnostics if diagnostic.severity >= cindex.Diagnostic.Error)


def _undefined(args: Sequence[str], macros: Iterable[str]) -> list[str]:
    """Return `args` without the definitions of `macros`."""
    gone = {f"-D{macro}" for macro in macros}
    return [arg for arg in args if arg.partition("=")[0] not in gone]


def _full(args: Sequence[str]) -> list[str]:
    """Return `args` without `stubs.LIGHT`, which is in them."""
    at = args.index(stubs.LIGHT)
    return [*args[: at - 1], *args[at + 1 :]]


def _best_parse(job: Job) -> tuple[cindex.TranslationUnit | None, bool]:
    """Parse with the shared precompiled header; without it when that gives errors, and with the full standard
    library when it may be missed; and, when the feature macros are to blame, without one after the other as
    long as that makes errors fewer."""
    args = list(job.args)
    if job.pch:
        with _silent():  # of a crash, which clang survives, it tells at length
            unit = _parse(job, [*args, "-include-pch", job.pch])
        if unit is not None and error_count(unit) == 0:
            return unit, True
        unit = None
        _release_memory()  # before the next unit takes as much
    unit = _parse(job, args)
    may_miss = unit is None or any(_EVALUATED.search(each.spelling) for each in unit.diagnostics)
    alone = len(job.wanted) == 1  # of many files, those with errors come again
    if stubs.LIGHT in args and may_miss and alone:
        unit, args = None, _full(args)
        _release_memory()
        unit = _parse(job, args)
    errors = error_count(unit) if unit is not None else sys.maxsize
    if not errors or not job.retry_without:
        return unit, False
    plain = _parse(job, _undefined(args, job.retry_without))
    if plain is None or error_count(plain) >= errors:
        return unit, False
    plain = None
    _release_memory()
    for macro in job.retry_without:
        fewer = _undefined(args, [macro])
        other = _parse(job, fewer)
        if other is not None and error_count(other) < errors:
            unit, args, errors = other, fewer, error_count(other)
        if errors == 0:
            break
    return unit, False


@functools.lru_cache(maxsize=8192)
def _real(name: str) -> str:
    return os.path.realpath(name)


def _relative(name: str, root: str) -> str:
    full = os.path.normpath(name)
    return full[len(root) + 1 :] if full.startswith(root + "/") else ""


def _resident_mb() -> float:
    """Memory of the process now; where the system does not tell, the most it ever had."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / (1 << 20)
    except OSError:
        return _peak_mb()


def _peak_mb() -> float:
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _release_memory() -> None:
    """Give freed memory back to the system, once it is much: a worker parses many units, and malloc alone keeps
    what they needed."""
    if _resident_mb() < _MUCH_MB:
        return
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


def run(job: Job) -> list[Parsed]:
    """Parse and lower; one `Parsed` for each wanted file. One that could not be parsed has `failed` set, and
    facts that say so."""
    try:
        with no_collector():
            return _run(job)
    finally:
        _release_memory()


def _run(job: Job) -> list[Parsed]:
    started = time.perf_counter()
    unit, used_pch = _best_parse(job)
    if unit is None:
        return [failure(path, job, "clang gave up on this file") for path in job.wanted]
    wanted = frozenset(job.wanted)
    known: dict[str, str | None] = {}

    def wanted_path(name: str) -> str | None:
        if name not in known:
            path = _relative(name, job.root)
            known[name] = path if path in wanted else None
        return known[name]

    missing: dict[str, list[str]] = {}
    errors: dict[str, int] = {}
    stopped = ""
    for diagnostic in unit.diagnostics:
        if diagnostic.severity < cindex.Diagnostic.Error:
            continue
        where = diagnostic.location.file
        path = _relative(where.name, job.root) if where else ""
        errors[path] = errors.get(path, 0) + 1
        found = _MISSING.search(diagnostic.spelling)
        if found:
            missing.setdefault(path, []).append(f"{diagnostic.location.line}: {found.group(1)}")
        elif diagnostic.severity == cindex.Diagnostic.Fatal and not stopped:
            stopped = f"{path or job.main}:{diagnostic.location.line}: {diagnostic.spelling}"
    names = {inclusion.include.name for inclusion in unit.get_includes()}
    reached = {_relative(name, job.root) for name in names} | {job.main}
    outside = stamps(_real(name) for name in names if not _real(name).startswith(job.known))
    arms = dict(job.each_arms) or {job.main: job.arms}
    lowered = {facts.path: facts for facts in lower(unit, wanted_path, job.profile)}
    seconds = time.perf_counter() - started
    results = []
    for path in job.wanted:
        if path not in reached and path not in lowered:
            results.append(
                failure(path, job, "not reached: another header already defines its include guard")
            )
            continue
        facts = lowered.get(path) or ir.FileFacts(path=path, profile=job.profile, sha="")
        facts = msgspec.structs.replace(facts, origin=job.origin, dropped_flags=job.dropped, failed=stopped)
        results.append(
            Parsed(
                path=path,
                profile=job.profile,
                facts=ir.encode(facts),
                bodies=tuple(
                    Covered(function.span.begin, function.span.end, function.errors)
                    for function in facts.functions
                    if function.body is not None
                ),
                arms=_seen_arms(facts, arms.get(path, ())),
                outside=outside,
                missing=tuple(missing.get(path, ())),
                failed=stopped,
                errors=errors.get(path, 0),
                seconds=seconds / len(job.wanted),
                pch=used_pch,
                peak_mb=_peak_mb(),
                code=layout.code(Path(job.root, path).read_bytes()),
            )
        )
    return results


def stamps(paths: Iterable[str]) -> tuple[tuple[str, int, int], ...]:
    """Return size and modification time of `paths`, sorted; -1 for one that is gone."""
    found = []
    for path in sorted(set(paths)):
        try:
            stat = os.stat(path)
        except OSError:
            found.append((path, -1, -1))
        else:
            found.append((path, stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def failure(path: str, job: Job, reason: str) -> Parsed:
    """Return the result of a file that was not analysed."""
    facts = ir.FileFacts(
        path=path, profile=job.profile, sha="", origin=job.origin, failed=reason, dropped_flags=job.dropped
    )
    return Parsed(path, job.profile, ir.encode(facts), failed=reason)


def _nodes(value: object) -> Iterator[ir.Node]:
    """Every expression and statement below `value`."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack += item
        elif isinstance(item, ir.Node):
            yield item
            stack += [getattr(item, name) for name in item.__struct_fields__[1:]]


def _seen_arms(facts: ir.FileFacts, arms: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The begins of those `arms` from which some expression or statement was read: the preprocessor kept
    them."""
    if not arms:
        return ()
    seen: set[int] = set()
    for function in facts.functions:
        inside = [arm for arm in arms if function.span.begin <= arm[0] < function.span.end]
        if inside and function.body is not None:
            begins = {node.span.begin for node in _nodes(function.body)}
            seen |= {arm[0] for arm in inside if any(arm[0] <= begin < arm[1] for begin in begins)}
    return tuple(sorted(seen))


def build_pch(header: str, args: Sequence[str], target: str) -> int:
    """Precompile `header` (an absolute path) with function bodies skipped, as `target`.

    Returns the number of errors, -1 for a header that clang cannot precompile; nothing is saved unless it is
    0.
    """
    options = INCOMPLETE | FOR_SERIALIZATION | SKIP_BODIES | KEEP_GOING
    temporary = f"{target}.{os.getpid()}"  # runs may build the same header at the same time
    try:
        unit = cindex.Index.create().parse(header, _for_header(args), stubs.unsaved_files(), options)
        errors = error_count(unit)
        if errors == 0:
            unit.save(temporary)
            os.replace(temporary, target)
    except (cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return -1
    return errors


def _for_header(args: Sequence[str]) -> list[str]:
    """`args` of a unit for a header; CUDA has no language of its own for headers."""
    at = args.index("-x") + 1
    return [*args[:at], "c++-header" if args[at] == "c++" else args[at], *args[at + 1 :]]
