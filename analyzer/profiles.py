"""Profiles: the preprocessor views under which a tree is read.

One view is not the tree: code behind a feature macro is invisible to the others. The macros are found, not
named: what the tree tests and wants defined, and nothing in it defines, is a switch that only a build sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from analyzer.config import Config, ProfileConfig
from analyzer.scan import Scan
from analyzer.tree import Tree

CPU, CUDA, ARM = "cpu", "cuda", "arm"
_WORD = re.compile(r"[A-Za-z_]\w*")
_ARM_TARGET = "aarch64-linux-gnu"
ARM_MACROS = re.compile(r"__aarch64__|__arm__|__ARM_\w+|_M_ARM64\w*")
# Set by compilers, C libraries and platforms, not by a project.
_FOREIGN = re.compile(
    r"_[_A-Z]\w*|NDEBUG|DEBUG|UNICODE|WIN32\w*|MSVC|linux|unix|EOF|errno|[A-Z]+_(MAX|MIN)|[a-z]\w*"
)


class Profile(msgspec.Struct, frozen=True, array_like=True):
    """`flags`: added to the file's own. `only`: macros one of which a file must test to be read under this
    profile; None: every file is. `defines` are in `flags` already."""

    name: str
    flags: tuple[str, ...] = ()
    target: str = ""
    defines: tuple[str, ...] = ()
    only: frozenset[str] | None = None


def feature_macros(tree: Tree, scans: Mapping[str, Scan]) -> frozenset[str]:
    """Return the macros that some analysed file wants defined, that no file of the tree defines, and that its
    CMake files, where it has any, speak of."""
    defined: set[str] = set()
    wanted: set[str] = set()
    for file in tree.files:
        found = scans.get(file.path)
        if found is None:
            continue
        defined |= found.defined
        if not file.vendored:
            wanted |= found.wanted
    features = {macro for macro in wanted - defined if not _FOREIGN.fullmatch(macro)}
    if tree.build_files:
        texts = (
            Path(tree.root, path).read_text(encoding="utf-8", errors="replace") for path in tree.build_files
        )
        features &= {word for text in texts for word in _WORD.findall(text)}
    return frozenset(features)


def unavailable(scan: Scan, resolves: Iterable[str]) -> frozenset[str]:
    """Return the macros of `scan` whose conditional code includes a header that is not among `resolves`: to
    define one of them breaks the parse."""
    known = frozenset(resolves)
    return frozenset(
        macro for include in scan.includes if include.spelling not in known for macro in include.needs
    )


def derived_macros(seed: frozenset[str], scans: Mapping[str, Scan]) -> frozenset[str]:
    """Return `seed` and the macros that files define only under conditions on macros of the result."""
    found = set(seed)
    pairs = [pair for scan in scans.values() for pair in scan.derived]
    while True:
        more = {macro for macro, around in pairs if macro not in found and found.intersection(around)}
        if not more:
            return frozenset(found)
        found |= more


def _configured(profile: ProfileConfig, scans: Mapping[str, Scan]) -> Profile:
    names = frozenset(define.split("=")[0] for define in profile.defines)
    only = frozenset(profile.only) or (derived_macros(names, scans) if names else None)
    flags = tuple(f"-D{define}" if "=" in define else f"-D{define}=1" for define in profile.defines)
    return Profile(profile.name, (*flags, *profile.flags), profile.target, profile.defines, only)


def find(
    tree: Tree, scans: Mapping[str, Scan], config: Config, resolves: frozenset[str]
) -> tuple[Profile, ...]:
    """Return the profiles of a tree: those of its configuration, or `cpu` (no feature macro), `cuda` (every
    feature macro whose headers are here) and `arm` (the AArch64 view, with i8mm; only where a file tests for
    it).

    `resolves`: the include spellings that lead to a header; the macros of a shared header that needs another
    one are left out of `cuda`.
    """
    if config.profile:
        return tuple(_configured(profile, scans) for profile in config.profile)
    features = feature_macros(tree, scans)
    headers = [
        scans[file.path]
        for file in tree.files
        if file.path in scans and file.suffix.startswith(".h") and not file.vendored
    ]
    features -= frozenset().union(*(unavailable(scan, resolves) for scan in headers))
    profiles = [Profile(CPU)]
    if features:
        defines = tuple(sorted(features))
        flags = tuple(f"-D{macro}=1" for macro in defines)
        profiles.append(Profile(CUDA, flags, "", defines, derived_macros(features, scans)))
    arm = frozenset(macro for scan in scans.values() for macro in scan.tested if ARM_MACROS.fullmatch(macro))
    if arm:
        flags = ("-march=armv8.6-a+i8mm+bf16+dotprod",)
        profiles.append(Profile(ARM, flags, _ARM_TARGET, (), derived_macros(arm, scans)))
    return tuple(profiles)
