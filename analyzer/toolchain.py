"""libclang, the compiler headers that belong to it, and the C++ standard library of this machine."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path

import clang.cindex
import msgspec

from analyzer import stubs
from analyzer.config import SetupError

RESOURCE_DIR_VARIABLE = "VT_LINT_RESOURCE_DIR"

_REMEDY = "run: pip install 'libclang==18.1.1' 'clang-tidy==18.1.8'"
_PROBE = "#include <cstddef>\n#include <cstring>\n#include <vector>\n"
_LIGHT_HEADERS = (
    "algorithm",
    "functional",
    "map",
    "memory",
    "optional",
    "span",
    "sstream",
    "string",
    "variant",
)
_LIGHT_PROBE = "".join(f"#include <{name}>\n" for name in _LIGHT_HEADERS)


class Toolchain(msgspec.Struct, frozen=True, array_like=True):
    """`resource_dir`: clang's own headers (`stddef.h`, intrinsics), of the same major version as libclang.
    `cxx_dirs`, `c_dirs`: folders of the standard C++ and C headers, in search order. `fingerprint`: changes
    when any of these do, and is the same on machines with the same versions; `stamp` is this machine's.
    `light`: the standard library bears `stubs.LIGHT`."""

    version: str
    resource_dir: str
    cxx_dirs: tuple[str, ...]
    c_dirs: tuple[str, ...]
    fingerprint: str
    stamp: tuple[tuple[str, int, int], ...] = ()
    light: bool = False

    @property
    def x86(self) -> bool:
        """Is this machine's own target x86-64?"""
        return platform.machine().lower() in ("x86_64", "amd64")

    def has_header(self, name: str) -> bool:
        """Is `name` (as in `#include <name>`) a header of the compiler, the C++ or the C library?"""
        folders = (f"{self.resource_dir}/include", *self.cxx_dirs, *self.c_dirs)
        return any(os.path.isfile(f"{folder}/{name}") for folder in folders)

    def args(self, target: str = "") -> list[str]:
        """Return the compiler flags that select this toolchain; for another `target` (an LLVM triple) the
        headers of this machine are used, since the declarations are the same."""
        args = ["-resource-dir", self.resource_dir, *(["-include", stubs.LIGHT] if self.light else [])]
        if target:
            args += [f"--target={target}", "-nostdinc++"]
            for folder in self.cxx_dirs:
                args += ["-isystem", folder]
            for folder in self.c_dirs:
                args += ["-idirafter", folder]
        return args


def libclang_version() -> str:
    """Return the version of the loaded libclang, such as `18.1.1`.

    Raises `SetupError` when the library cannot be loaded.
    """
    try:
        library = clang.cindex.conf.lib
        function = library.clang_getClangVersion
    except (clang.cindex.LibclangError, AttributeError) as error:
        raise SetupError(f"libclang cannot be loaded; {_REMEDY}") from error
    function.restype = clang.cindex._CXString
    text = str(clang.cindex._CXString.from_result(function()))
    found = re.search(r"version (\d+(?:\.\d+)*)", text)
    if not found:
        raise SetupError(f"libclang gives no version ({text!r}); {_REMEDY}")
    return found.group(1)


def _wheel_dirs(major: str) -> list[Path]:
    dirs = []
    for package, below in (("clang_tidy", f"data/lib/clang/{major}"), ("clang", "native/resource")):
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            dirs.append(Path(place) / below)
    return dirs


def find_resource_dir(version: str) -> str:
    """Return the folder with clang's builtin headers that match libclang `version`.

    Looked for in this order: the environment variable `VT_LINT_RESOURCE_DIR`, the `clang-tidy` wheel, the
    `libclang-ng` wheel, a system LLVM of the same major version. gcc's headers are no substitute: its
    intrinsics use builtins that clang lacks.

    Raises `SetupError` when there is none, or the variable names a folder without headers.
    """
    major = version.split(".")[0]
    override = os.environ.get(RESOURCE_DIR_VARIABLE)
    if override:
        if (Path(override) / "include" / "stddef.h").is_file():
            return override
        raise SetupError(
            f"{RESOURCE_DIR_VARIABLE}={override}: no include/stddef.h in it; unset it or {_REMEDY}"
        )
    system = [Path(f"/usr/lib/llvm-{major}/lib/clang/{major}"), Path(f"/usr/lib/clang/{major}")]
    for folder in (*_wheel_dirs(major), *system):
        if (folder / "include" / "stddef.h").is_file():
            return str(folder)
    from importlib import metadata  # slow to load, and of use to nobody else

    try:
        other = f" (clang-tidy {metadata.version('clang-tidy')} is installed)"
    except metadata.PackageNotFoundError:
        other = ""
    raise SetupError(f"no compiler headers for libclang {version}{other}; {_REMEDY}")


def find(known: Toolchain | None = None) -> Toolchain:
    """Find the toolchain and try it on a three-line unit; `known`, from an earlier run, is returned as it is
    while its files have not changed.

    Raises `SetupError` when libclang, its builtin headers or the C++ standard library headers are missing.
    """
    if known is not None and known.stamp == _stamp([path for path, _, _ in known.stamp[1:]]):
        return known
    version = libclang_version()
    resource_dir = find_resource_dir(version)
    name = "/vt-lint/probe.cpp"
    args = ["-std=c++20", "-resource-dir", resource_dir]
    unit = clang.cindex.Index.create().parse(name, args, [(name, _PROBE)])
    for diagnostic in unit.diagnostics:
        if diagnostic.severity >= clang.cindex.Diagnostic.Error:
            raise SetupError(
                f"no usable C++ standard library headers ({diagnostic.spelling}); install those of g++"
                " (Debian: apt-get install g++, Fedora: dnf install gcc-c++)"
            )
    light = clang.cindex.Index.create().parse(
        name, [*args, "-include", stubs.LIGHT], [(name, _LIGHT_PROBE), *stubs.unsaved_files()]
    )
    cxx_dirs: list[str] = []
    c_dirs: list[str] = []
    config = Path()
    for inclusion in unit.get_includes():
        path = Path(os.path.realpath(inclusion.include.name))  # `..` after a symbolic link (merged /usr)
        if path.name in ("vector", "cstddef"):
            cxx_dirs.append(str(path.parent))
        elif path.name in ("c++config.h", "__config"):  # libstdc++, libc++
            cxx_dirs.append(str(path.parent.parent if path.name == "c++config.h" else path.parent))
            config = path
        elif path.name in ("string.h", "features.h") or path.match("sys/cdefs.h"):
            c_dirs.append(str(path.parent.parent if path.name == "cdefs.h" else path.parent))
    text = config.read_bytes() if config.is_file() else b""
    library = Path(clang.cindex.__file__).parent / "native"
    stamped = [*map(str, sorted(library.glob("libclang.*"))), f"{resource_dir}/include/stddef.h", str(config)]
    return Toolchain(
        version=version,
        resource_dir=resource_dir,
        cxx_dirs=tuple(dict.fromkeys(cxx_dirs)),
        c_dirs=tuple(folder for folder in dict.fromkeys(c_dirs) if folder not in cxx_dirs),
        fingerprint=hashlib.sha256(version.encode() + b"\0" + text).hexdigest()[:16],
        stamp=_stamp(stamped),
        light=all(each.severity < clang.cindex.Diagnostic.Error for each in light.diagnostics),
    )


def _stamp(paths: Iterable[str]) -> tuple[tuple[str, int, int], ...]:
    """Size and modification time of `paths`, after the one setting that selects a toolchain."""
    found = [(os.environ.get(RESOURCE_DIR_VARIABLE, ""), 0, 0)]
    for path in paths:
        try:
            stat = os.stat(path)
        except OSError:
            found.append((path, -1, -1))
        else:
            found.append((path, stat.st_size, stat.st_mtime_ns))
    return tuple(found)
