"""The smallest build that links a probe: flags from CMake, sources from what the linker misses.

Objects are stored by the content of everything they were compiled from, so that a patch recompiles what it
touches and nothing else, whichever side it belongs to, and an interrupted build carries on where it stopped.
"""

from __future__ import annotations

import concurrent.futures
import errno
import fnmatch
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runtime_check.errors import EXIT_FAILED, EXIT_USAGE, ProbeError, VerifyError
from runtime_check.model import BuildRecord
from runtime_check.probe import ProbeUnit
from runtime_check.sides import Side
from runtime_check.target import Toolchain

Progress = Callable[[str], None]

_SECTIONS: Final = ("-ffunction-sections", "-fdata-sections")
_LINK_ROUNDS: Final = 40
_DROPPED: Final = re.compile(r"^(-Werror.*|-pedantic-errors|-g\d?|-ggdb\d?)$")


@dataclass(frozen=True)
class Command:
    """How the tree compiles one source; ``@ROOT@`` and ``@BUILD@`` stand for the tree and CMake's folder."""

    source: str
    arguments: tuple[str, ...]

    @property
    def is_cuda(self) -> bool:
        """Whether nvcc compiles it."""
        return self.source.endswith(".cu")


@dataclass(frozen=True)
class Flags:
    """The tree's compile commands by relative source path, the folder of its generated headers, the command
    line that asked for them, and the digests of the CMake files that answered, by relative path."""

    commands: Mapping[str, Command]
    build: Path
    line: str
    inputs: Mapping[str, str]


@dataclass
class Counter:
    """Running totals of one side's build."""

    compiled: int = 0
    reused: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def run_logged(
    command: Sequence[str],
    log: Path,
    timeout_s: float,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a build step with its output appended to ``log``.

    Returns:
        Exit status and combined output.

    Raises:
        VerifyError: the tool is missing, or did not end in ``timeout_s`` seconds (exit 3).
    """
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            text=True,
            errors="replace",
            start_new_session=True,
            env=dict(environment) if environment is not None else None,
        )
    except OSError as error:
        raise VerifyError(f"{Path(command[0]).name}: cannot be run: {error.strerror}") from error
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise VerifyError(
            f"{Path(command[0]).name} did not end in {timeout_s:g} s; raise the timeout (log: {log.name})"
        ) from None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"$ {shlex.join(command)}\n{output}")
    return process.returncode, output


def disk_full(work: Path) -> VerifyError:
    """The error for a full disk."""
    return VerifyError(
        f"no space left on the disk of the work folder '{work.name}'; free some, then run it again"
    )


def _first_error(output: str) -> str:
    for line in output.splitlines():
        if re.search(r"\b(fatal error|error):", line) or re.search(r"\): error\b", line):
            return line.strip()
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[0].strip() if lines else "no message"


def _lines_of(output: str, name: str) -> frozenset[int]:
    """Lines of the source `name` that a compiler's errors point at, templates made there included."""
    found = re.findall(rf"{re.escape(name)}:(\d+):\d+:\s+(?:fatal error|error|required from)", output)
    return frozenset(map(int, found))


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def configure(
    side: Side, chain: Toolchain, arguments: Sequence[str], work: Path, timeout_s: float, progress: Progress
) -> Flags:
    """Ask CMake for compile commands and generated headers; nothing is built.

    The result is kept while no CMake input of the tree changes. A generate step that fails after the compile
    commands were written (a link library that is not installed here, say) is no obstacle.

    Raises:
        VerifyError: CMake gave no compile commands.
    """
    digest = hashlib.sha256(repr((tuple(arguments), chain.cmake, sorted(chain.versions.items()))).encode())
    inputs = {path: file_digest(side.root / path) for path in _cmake_inputs(side.root)}
    for path, sha in inputs.items():
        digest.update(path.encode() + b"\0" + sha.encode())
    build = work / "config" / digest.hexdigest()[:16]
    database = build / "flags.json"
    line = shlex.join(["cmake", "-S", "<tree>", "-B", "<work>", *arguments])
    if not database.is_file():
        progress(f"{side.label}: reading compiler flags with CMake")
        if build.exists():
            shutil.rmtree(build)
        build.mkdir(parents=True)
        log = work / "logs" / f"configure-{side.label}.log"
        generator = ("-G", "Ninja") if shutil.which("ninja") else ()
        command = [
            "cmake",
            *generator,
            "-S",
            str(side.root),
            "-B",
            str(build),
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DFETCHCONTENT_FULLY_DISCONNECTED=ON",
            *chain.cmake,
            *arguments,
        ]
        _, output = run_logged(command, log, timeout_s, work)
        raw = build / "compile_commands.json"
        if not raw.is_file():
            if "No space left on device" in output:
                raise disk_full(work)
            match = re.search(r"CMake Error[^\n]*\n\s*([^\n]+)", output)
            text = match.group(1).strip() if match else _first_error(output)
            raise VerifyError(
                f"{side.label}: CMake could not configure the tree: {text} (log: logs/{log.name})"
            )
        _write(database, json.dumps(_read_database(raw, side.root, build)))
    entries = json.loads(database.read_text(encoding="utf-8"))
    commands = {e[0]: Command(e[0], tuple(e[1])) for e in entries}
    if not commands:
        raise VerifyError(
            f"{side.label}: CMake lists no source of the tree; check 'cmake' in the profile", EXIT_USAGE
        )
    return Flags(commands, build, line, inputs)


def _cmake_inputs(root: Path) -> list[str]:
    found = []
    for current, directories, names in os.walk(root):
        directories[:] = sorted(d for d in directories if d not in {".git", "tests", "third_party", "docs"})
        for name in sorted(names):
            if name == "CMakeLists.txt" or name.endswith((".cmake", ".in")):
                found.append(Path(current, name).relative_to(root).as_posix())
    return found


def _read_database(raw: Path, root: Path, build: Path) -> list[tuple[str, list[str]]]:
    entries: dict[str, list[str]] = {}
    for record in json.loads(raw.read_text(encoding="utf-8")):
        source = Path(record["directory"], record["file"])
        try:
            relative = source.relative_to(root).as_posix()
        except ValueError:
            continue
        if relative in entries:
            continue
        words = list(record["arguments"]) if "arguments" in record else shlex.split(record["command"])
        kept = []
        skip = False
        for word in words[1:]:
            if skip:
                skip = False
            elif word in {"-o", "-MF", "-MT", "-MQ", "-x"}:
                skip = True
            elif word not in {"-c", "-MD", "-MMD", str(source), record["file"]} and not _DROPPED.match(word):
                kept.append(word.replace(str(build), "@BUILD@").replace(str(root), "@ROOT@"))
        entries[relative] = kept
    return sorted(entries.items())


def _write(path: Path, text: str) -> None:
    """Write whole or not at all, so that an interrupted run leaves nothing half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


class Builder:
    """Builds the probes of one side."""

    def __init__(
        self,
        side: Side,
        flags: Flags,
        chain: Toolchain,
        work: Path,
        *,
        extra_flags: Sequence[str],
        defines: Sequence[str],
        closure: Sequence[str],
        libraries: Sequence[str],
        jobs: int,
        timeout_s: float,
        progress: Progress,
    ) -> None:
        self._side = side
        self._flags = flags
        self._chain = chain
        self._work = work
        self._extra = tuple(extra_flags) + tuple(f"-D{d}" for d in defines)
        self._closure = tuple(closure)
        self._libraries = tuple(libraries)
        self._jobs = max(1, jobs)
        self._timeout_s = timeout_s
        self._progress = progress
        self._counter = Counter()
        self._digests: dict[Path, str] = {}
        self._used: set[str] = set()
        self._probes: dict[Path, str] = {}
        self._inputs = dict(flags.inputs)
        self._ccache = shutil.which("ccache")
        self._objects = work / "objects"
        self._objects.mkdir(parents=True, exist_ok=True)
        self._log = work / "logs" / f"build-{side.label}.log"

    def build(self, units: Sequence[ProbeUnit], roots: Sequence[str]) -> tuple[dict[str, Path], BuildRecord]:
        """Compile and link every unit.

        Returns:
            Unit name -> program, and what the build did.

        Raises:
            ProbeError: a probe does not compile or link.
            VerifyError: a source of the tree does not compile.
        """
        started = time.monotonic()
        sources = self._expand(roots)
        programs: dict[str, Path] = {}
        trapped: set[str] = set()
        probes = {unit.name: self._probe_command(unit, sources) for unit in units}
        plans = {unit.name: self._remembered(unit, sources) for unit in units}
        wanted = sorted({s for plan in plans.values() for s in plan})
        compiled = self._compile_all(
            [*((self._flags.commands[s], None) for s in wanted), *((c, p) for c, p in probes.values())]
        )
        for unit in units:
            programs[unit.name], missing = self._link_closure(
                unit, probes[unit.name][0], plans[unit.name], compiled
            )
            trapped.update(missing)
        record = BuildRecord(
            self._side.label,
            len(self._used),
            self._counter.compiled,
            self._counter.reused,
            time.monotonic() - started,
            tuple(sorted(trapped)),
        )
        return programs, record

    @property
    def inputs(self) -> Mapping[str, str]:
        """Relative path -> digest of every file of the tree that went into the build."""
        return dict(sorted(self._inputs.items()))

    # sources

    def _expand(self, patterns: Sequence[str]) -> list[str]:
        found: list[str] = []
        for pattern in patterns:
            matches = [s for s in self._flags.commands if fnmatch.fnmatchcase(s, pattern)]
            if not matches:
                raise VerifyError(
                    f"{self._side.label}: root '{pattern}' names no source that CMake builds for this target",
                    EXIT_USAGE,
                )
            found += [m for m in matches if m not in found]
        return found

    def _probe_command(self, unit: ProbeUnit, roots: Sequence[str]) -> tuple[Command, Path]:
        folder = self._work / "probes"
        text_digest = hashlib.sha256(unit.source.encode()).hexdigest()[:12]
        path = folder / f"{unit.name}-{text_digest}.cpp"
        self._probes[path] = unit.name
        if not path.is_file():
            _write(path, unit.source)
        own = self._flags.commands.get(unit.include)
        model = own or next((self._flags.commands[r] for r in roots if not r.endswith(".cu")), None)
        if model is None:
            raise VerifyError("the profile's roots hold no C++ source to take flags from", EXIT_USAGE)
        # The probe is glue: its own speed is of no matter and its compile time is.
        flags = [a for a in model.arguments if not re.match(r"^-O", a) and not a.startswith("-march")]
        include = ["-I@ROOT@"] if (self._side.root / unit.include).is_file() else []
        command = Command(f"@PROBES@/{path.name}", (*flags, "-O0", *include, *self._chain.compile))
        return command, path

    def _remembered(self, unit: ProbeUnit, roots: Sequence[str]) -> list[str]:
        found = [s for s in roots if s != unit.include]
        path = self._closure_file(unit)
        if path.is_file():
            for source in json.loads(path.read_text(encoding="utf-8"))["sources"]:
                if source in self._flags.commands and source not in found and source != unit.include:
                    found.append(source)
        return found

    def _closure_file(self, unit: ProbeUnit) -> Path:
        key = hashlib.sha256("\n".join([unit.name, *sorted(self._flags.commands)]).encode()).hexdigest()[:16]
        return self._work / "closures" / f"{key}.json"

    # objects

    def _compile_all(
        self, jobs: Iterable[tuple[Command, Path | None]], guesses: bool = False
    ) -> dict[str, Path]:
        # A guessed source that does not compile is passed over; the log keeps its error.
        pending = list(jobs)
        total = len(pending)
        compiled_so_far = self._counter.compiled
        done: dict[str, Path] = {}
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=self._jobs)
        try:
            # The longest sources first, so that none is left to compile alone at the end.
            ordered = sorted(pending, key=lambda job: -self._weight(job))
            futures = {pool.submit(self._compile, command, probe): command for command, probe in ordered}
            for count, future in enumerate(concurrent.futures.as_completed(futures), 1):
                try:
                    done[futures[future].source] = future.result()
                except VerifyError as error:
                    if not guesses or error.exit_code != EXIT_FAILED:
                        raise
                    self._progress(error.message)
                if self._counter.compiled > compiled_so_far:
                    compiled_so_far = self._counter.compiled
                    self._progress(f"{self._side.label}: {count}/{total} objects")
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return done

    def _weight(self, job: tuple[Command, Path | None]) -> int:
        command, probe = job
        size = 0
        path = self._side.root / command.source
        if probe is None and path.is_file():
            size = path.stat().st_size
        return size * (8 if command.is_cuda else 1) + (1 << 30 if probe is not None else 0)

    def _place(self, word: str) -> str:
        return (
            word.replace("@ROOT@", str(self._side.root))
            .replace("@BUILD@", str(self._flags.build))
            .replace("@PROBES@", str(self._work / "probes"))
        )

    def _unplace(self, path: str) -> str:
        for name, folder in (("@BUILD@", self._flags.build), ("@PROBES@", self._work / "probes")):
            if path.startswith(f"{folder}/"):
                return f"{name}/{path[len(str(folder)) + 1 :]}"
        root = f"{self._side.root}/"
        return f"@ROOT@/{path[len(root) :]}" if path.startswith(root) else ""

    def _digest(self, path: Path) -> str:
        found = self._digests.get(path)
        if found is None:
            found = self._digests[path] = file_digest(path)
        return found

    def _compile(self, command: Command, probe: Path | None) -> Path:
        extra = [f for f in self._extra if not (command.is_cuda and f.startswith("-m"))]
        words = [*command.arguments, *extra]
        identity = hashlib.sha256(
            json.dumps([sorted(self._chain.versions.items()), words, command.source]).encode()
        ).hexdigest()
        index = self._objects / f"{identity[:32]}.json"
        known: list[dict[str, object]] = []
        if index.is_file():
            known = json.loads(index.read_text(encoding="utf-8"))
            for record in known:
                if self._matches(record):
                    with self._counter.lock:
                        self._counter.reused += 1
                        self._note(record)
                    return self._objects / str(record["object"])
        source = str(probe) if probe is not None else str(self._side.root / command.source)
        record, output = self._run_compiler(command, words, source, identity)
        # Only the newest few are kept: a patch under work changes the same source again and again.
        _write(index, json.dumps([record, *known[:7]]))
        with self._counter.lock:
            self._counter.compiled += 1
            self._note(record)
        return output

    def _note(self, record: Mapping[str, object]) -> None:
        inputs = record["inputs"]
        assert isinstance(inputs, dict)
        for name, digest in inputs.items():
            if name.startswith("@ROOT@/"):
                self._inputs[name[7:]] = str(digest)
        self._used.add(str(record["object"]))

    def _matches(self, record: Mapping[str, object]) -> bool:
        inputs = record["inputs"]
        if not isinstance(inputs, dict) or not (self._objects / str(record["object"])).is_file():
            return False
        for name, digest in inputs.items():
            path = Path(self._place(name))
            if not path.is_file() or self._digest(path) != digest:
                return False
        return True

    def _run_compiler(
        self, command: Command, words: Sequence[str], source: str, identity: str
    ) -> tuple[dict[str, object], Path]:
        stem = self._objects / f".{identity[:16]}.{os.getpid()}.{threading.get_ident()}"
        output, depfile = Path(f"{stem}.o"), Path(f"{stem}.d")
        prefix = f"-ffile-prefix-map={self._side.root}=."
        placed = [self._place(w) for w in words]
        if command.is_cuda:
            compiler = [str((self._chain.cuda or Path("/usr/local/cuda")) / "bin/nvcc")]
            own = ["-w", "-x", "cu", *(f"-Xcompiler={f}" for f in _SECTIONS), f"-Xcompiler={prefix}"]
        else:
            compiler = [self._chain.cxx]
            own = ["-w", *_SECTIONS, prefix]
        cache = [self._ccache] if self._ccache else []
        full = [*cache, *compiler, *placed, *own, "-MD", "-MF", str(depfile), "-c", source, "-o", str(output)]
        try:
            code, text = run_logged(full, self._log, self._timeout_s, self._objects, self._environment())
            if code != 0:
                if "No space left on device" in text:
                    raise disk_full(self._work)
                error = _first_error(text).replace(f"{self._side.root}/", "")
                error = error.replace(f"{self._work}/", "")
                message = f"{self._side.label}: does not compile: {error}"
                unit = self._probes.get(Path(source))
                if unit is not None:
                    raise ProbeError(message, unit, _lines_of(text, Path(source).name))
                raise VerifyError(message, EXIT_FAILED)
            inputs = {}
            for name in _dependencies(depfile.read_text(encoding="utf-8", errors="replace")):
                relative = self._unplace(os.path.normpath(self._objects / name))
                if relative:
                    inputs[relative] = self._digest(Path(self._place(relative)))
            digest = hashlib.sha256(json.dumps([identity, inputs], sort_keys=True).encode()).hexdigest()[:32]
            final = self._objects / f"{digest}.o"
            output.replace(final)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise disk_full(self._work) from error
            raise
        finally:
            output.unlink(missing_ok=True)
            depfile.unlink(missing_ok=True)
        return {"object": final.name, "inputs": inputs}, final

    def _environment(self) -> dict[str, str]:
        # Compilers and the cache write where they are told to: inside the work folder.
        temporary = self._work / "tmp"
        temporary.mkdir(exist_ok=True)
        return {
            **os.environ,
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_DIR": str(self._work / "ccache"),
            "LC_ALL": "C",
            "TMPDIR": str(temporary),
        }

    # link

    def _link_closure(
        self, unit: ProbeUnit, probe: Command, sources: list[str], compiled: dict[str, Path]
    ) -> tuple[Path, list[str]]:
        chosen = list(sources)
        tried: set[str] = set(chosen)
        known = self._closure_file(unit)
        traps: list[str] = json.loads(known.read_text(encoding="utf-8"))["traps"] if known.is_file() else []
        for _ in range(_LINK_ROUNDS):
            objects = [compiled[probe.source], *(compiled[s] for s in chosen)]
            program, missing, text = self._link(unit, objects, traps)
            if program is not None:
                _write(self._closure_file(unit), json.dumps({"sources": chosen, "traps": traps}))
                return program, traps
            if not missing:
                raise ProbeError(f"{self._side.label}: does not link: {_first_error(text)}", unit.name)
            self._progress(f"{self._side.label}: {len(missing)} symbols to find for {unit.include}")
            added = self._find(missing, tried, unit, compiled)
            chosen += added
            if not added:
                # Nothing in the tree's build defines them: code that is never reached, or a library not
                # here. A trap ends the probe by name if it is ever called, so it can never pass for a result.
                traps += missing
        raise ProbeError(
            f"{self._side.label}: {unit.include} does not link after {_LINK_ROUNDS} rounds", unit.name
        )

    def _link(
        self, unit: ProbeUnit, objects: Sequence[Path], traps: Sequence[str]
    ) -> tuple[Path | None, list[str], str]:
        extra: list[str] = []
        if traps:
            extra.append(str(self._trap_object(traps)))
        names = [*(str(o) for o in objects), *extra]
        libraries = [*self._libraries, *self._chain.link]
        key = hashlib.sha256("\n".join([*names, *libraries]).encode()).hexdigest()[:24]
        program = self._work / "programs" / f"{unit.name}-{key}"
        if program.is_file():
            return program, [], ""
        program.parent.mkdir(exist_ok=True)
        temporary = program.with_name(f".{program.name}.{os.getpid()}")
        command = [
            self._chain.cxx,
            *names,
            "-s",
            "-Wl,--gc-sections",
            "-Wl,--no-demangle",
            "-pthread",
            *libraries,
            "-o",
            str(temporary),
        ]
        code, text = run_logged(command, self._log, self._timeout_s, self._objects, self._environment())
        if code == 0:
            temporary.replace(program)
            return program, [], text
        temporary.unlink(missing_ok=True)
        if "No space left on device" in text:
            raise disk_full(self._work)
        missing = list(dict.fromkeys(re.findall(r"undefined references? to [`']([^'`]+)'", text)))
        return None, [m for m in missing if m not in traps], text

    def _trap_object(self, symbols: Sequence[str]) -> Path:
        text = ["#include <cstdio>", "#include <cstdlib>"]
        text.append(
            'static void trap(const char* n){std::fprintf(stderr,"not built: %s\\n",n);std::abort();}'
        )
        for index, (symbol, name) in enumerate(zip(symbols, self._demangle(symbols), strict=True)):
            label = symbol.replace('"', "")
            quoted = name.replace("\\", "").replace('"', "'")
            text.append(f'extern "C" void trap_{index}() __asm__("{label}");')
            text.append(f'extern "C" void trap_{index}() {{ trap("{quoted}"); }}')
        source = (
            self._work
            / "probes"
            / f"trap-{hashlib.sha256(repr(list(symbols)).encode()).hexdigest()[:16]}.cpp"
        )
        _write(source, "\n".join(text) + "\n")
        return self._compile(Command(f"@PROBES@/{source.name}", ("-O0",)), source)

    # symbols

    def _demangle(self, symbols: Sequence[str]) -> list[str]:
        tool = shutil.which(re.sub(r"nm$", "c++filt", self._chain.nm)) or shutil.which("c++filt")
        if tool is None:
            raise VerifyError(
                "c++filt is not installed; it is needed to read symbols (Debian: apt-get install binutils)"
            )
        done = subprocess.run(
            [tool], input="\n".join(symbols), capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout.splitlines()

    def _defined(self, path: Path) -> frozenset[str]:
        done = subprocess.run(
            [self._chain.nm, "--defined-only", "--format=posix", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return frozenset(line.split(" ", 1)[0] for line in done.stdout.splitlines())

    def _find(
        self, missing: Sequence[str], tried: set[str], unit: ProbeUnit, compiled: dict[str, Path]
    ) -> list[str]:
        names = dict(zip(missing, self._demangle(missing), strict=True))
        guesses = {symbol: self._candidates(name, unit) for symbol, name in names.items()}
        added: list[str] = []
        left = set(missing)
        while left:
            batch = {next((c for c in guesses[s] if c not in tried), None) for s in left}
            picked = sorted(c for c in batch if c is not None)
            if not picked:
                break
            tried.update(picked)
            fresh = [(self._flags.commands[s], None) for s in picked if s not in compiled]
            compiled.update(self._compile_all(fresh, guesses=True))
            for source in picked:
                if source not in compiled:
                    continue
                defined = self._defined(compiled[source])
                if defined & left:
                    left -= defined
                    added.append(source)
        return added

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        texts = {}
        for source in self._flags.commands:
            if any(fnmatch.fnmatchcase(source, p) for p in self._closure):
                path = self._side.root / source
                if path.is_file():
                    texts[source] = path.read_text(encoding="utf-8", errors="replace")
        return texts

    def _candidates(self, name: str, unit: ProbeUnit) -> list[str]:
        """Sources that may define the demangled symbol ``name``, the likeliest first."""
        table = re.match(r"^(?:vtable|typeinfo|typeinfo name|VTT) for (.+)$", name)
        plain = re.sub(r"\[abi:\w+\]", "", re.sub(r"\(.*$", "", re.sub(r"^guard variable for ", "", name)))
        while "<" in plain and (stripped := re.sub(r"<[^<>]*>", "", plain)) != plain:
            plain = stripped
        parts = [p for p in (table.group(1) if table else plain).split(" ")[-1].split("::") if p]
        if not parts:
            return []
        found = _definition_patterns(parts, bool(table), "(" in name)
        ranked = []
        for source, text in self._texts.items():
            if source == unit.include or parts[-1].lstrip("~") not in text:
                continue
            score = next((rank for rank, pattern in enumerate(found) if pattern.search(text)), None)
            if score is None:
                continue
            folders = source.split("/")
            near = sum(
                2 * (p in folders)
                + (re.search(rf"\bnamespace\b[^;{{}}]*\b{re.escape(p)}\b", text) is not None)
                for p in parts[:-1]
            )
            ranked.append((-near, score, len(text), source))
        return [source for *_, source in sorted(ranked)][:8]


def _definition_patterns(parts: Sequence[str], table: bool, function: bool) -> list[re.Pattern[str]]:
    """Patterns that a source defining ``a::b::name`` is likely to match, the surest first."""
    last = re.escape(parts[-1])
    body = r"\s*\((?:[^;{}]|\{\})*\{"
    if table:
        return [re.compile(rf"^[\w:<>,&* \t]*\b{last}::~?\w+{body}", re.M)]
    if not function:
        return [re.compile(rf"^[\w:<>,&*\[\] \t]*\b{last}\s*(?:\[[^\]]*\]\s*)?(?:=|\{{|;)", re.M)]
    member = (
        [re.compile(rf"^[\w:<>,&* \t]*\b{re.escape(parts[-2])}::{last}{body}", re.M)]
        if len(parts) > 1
        else []
    )
    # At the margin before indented, since a method of the same name is indented.
    return [
        *member,
        re.compile(rf"^(?!static\b|inline\b)[\w:][\w:<>,&*\[\] \t]*[\s&*]{last}{body}", re.M),
        re.compile(
            rf"^[ \t]+(?!static\b|inline\b|return\b|else\b)[\w:][\w:<>,&*\[\] \t]*[\s&*]{last}{body}", re.M
        ),
    ]


def _dependencies(text: str) -> list[str]:
    body = text.replace("\\\n", " ").split(":", 1)
    words = re.split(r"(?<!\\)\s+", body[1].strip()) if len(body) == 2 else []
    return [w.replace("\\ ", " ") for w in words if w]
