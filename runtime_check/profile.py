"""The verify profile: everything tree-specific, as TOML data.

The ``[verify]`` table of the tree's ``.vt-lint.toml`` (or of a file of its own) names headers, types and C++
expressions; no name of any tree is in this package. Expressions see these names: ``w`` (a weight), ``n`` and
``k`` (its rows and columns), ``bytes`` (encoded rows), ``ptr``, ``rows`` and ``cols`` (for a float view),
``dtype``, ``queue`` and whatever the arm's ``setup`` declares, ``a``, ``b`` and ``out`` (views, for the
product), ``row0`` and ``rows`` (for a row slice).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from runtime_check.errors import EXIT_USAGE, VerifyError
from runtime_check.model import TARGETS, Expected, HelperUnderTest, Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENCODINGS = ("q8_0", "f32", "f16", "bf16")
HOST_UPLOAD = "const_cast<void*>(src)"
"""What an arm does whose device reads the host's memory."""


@dataclass(frozen=True)
class Kind:
    """A weight encoding and the product that reads it."""

    name: str
    dtype: str
    gemm: str


@dataclass(frozen=True)
class Marker:
    """A storage-layout marker: how to rewrite a weight and where that layout is live."""

    name: str
    kind: str
    eligible: str
    rewrite: str
    row_group: int
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Arm:
    """A set of devices and the code that reaches them. Without ``gemm`` nothing can be multiplied there."""

    name: str
    device: str
    targets: tuple[str, ...]
    setup: str
    upload: str
    download: str
    uploaded: str
    gemm: bool


@dataclass(frozen=True)
class ProfiledHelper:
    """A helper and the way to call it.

    Attributes:
        call: C++ expression of the view; empty to make one from the signature.
        include: header or source that declares it.
        row0: first row of the weight that the view shows.
        row_tail: rows at the end that it does not show.
        arms: names of the arms it is called on.
    """

    helper: HelperUnderTest
    call: str
    include: str
    row0: int
    row_tail: int
    arms: tuple[str, ...]


@dataclass(frozen=True)
class TargetConfig:
    """Build settings of one target."""

    cmake: tuple[str, ...]
    roots: tuple[str, ...]
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    min_nvcc: str
    stream: str


@dataclass(frozen=True)
class Profile:
    """A parsed ``[verify]`` table."""

    source: Path
    includes: tuple[str, ...]
    prelude: str
    weight: str
    view: str
    make_weight: str
    make_view: str
    exception: str
    defines: tuple[str, ...]
    closure: tuple[str, ...]
    kinds: Mapping[str, Kind]
    markers: Mapping[str, Marker]
    arms: Mapping[str, Arm]
    arguments: Mapping[str, str]
    helpers: tuple[ProfiledHelper, ...]
    targets: Mapping[str, TargetConfig]


class _Table:
    """A TOML table whose wrong or missing keys become one clear line."""

    def __init__(self, data: Mapping[str, Any], where: str, source: Path) -> None:
        self._data = dict(data)
        self._where = where
        self._source = source

    def fail(self, text: str) -> VerifyError:
        return VerifyError(f"{self._source.name}: [{self._where}]: {text}", EXIT_USAGE)

    def text(self, key: str, default: str | None = None) -> str:
        value = self._data.pop(key, default)
        if value is None:
            raise self.fail(f"'{key}' is missing; give it as a string")
        if not isinstance(value, str):
            raise self.fail(f"'{key}' must be a string")
        return value

    def strings(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        value = self._data.pop(key, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.fail(f"'{key}' must be a list of strings")
        return tuple(value)

    def number(self, key: str, default: int) -> int:
        value = self._data.pop(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.fail(f"'{key}' must be a whole number, 0 or more")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._data.pop(key, default)
        if not isinstance(value, bool):
            raise self.fail(f"'{key}' must be true or false")
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        value = self._data.pop(key, {})
        if not isinstance(value, dict):
            raise self.fail(f"'{key}' must be a table")
        return value

    def tables(self, key: str) -> dict[str, _Table]:
        return {
            name: _Table(value, f"{self._where}.{key}.{name}", self._source)
            for name, value in self.mapping(key).items()
            if isinstance(value, dict) or self._reject(f"{key}.{name} must be a table")
        }

    def _reject(self, text: str) -> bool:
        raise self.fail(text)

    def array(self, key: str) -> list[_Table]:
        value = self._data.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.fail(f"'{key}' must be an array of tables")
        return [_Table(v, f"{self._where}.{key}", self._source) for v in value]

    def done(self) -> None:
        if self._data:
            raise self.fail(f"unknown key '{sorted(self._data)[0]}'")


def load_profile(tree: Path, config: Path | None) -> Profile:
    """Read the verify profile of ``tree``, or of ``config`` where given.

    Raises:
        VerifyError: the file is missing, is not TOML, or has a wrong, missing or unknown key (exit 2).
    """
    source = config if config is not None else tree / ".vt-lint.toml"
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise VerifyError(
            f"{source.name}: no verify profile; add a [verify] table or name a file with --verify-config",
            EXIT_USAGE,
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise VerifyError(f"{source.name}: cannot be read: {error}", EXIT_USAGE) from error
    except tomllib.TOMLDecodeError as error:
        raise VerifyError(f"{source.name}: not valid TOML: {error}", EXIT_USAGE) from error
    table = data.get("verify")
    if not isinstance(table, dict):
        raise VerifyError(f"{source.name}: has no [verify] table; add one or use --verify-config", EXIT_USAGE)
    return _parse(_Table(table, "verify", source), source)


def _parse(top: _Table, source: Path) -> Profile:
    kinds = {name: _kind(name, t) for name, t in top.tables("kind").items()}
    markers = {name: _marker(name, t, kinds) for name, t in top.tables("marker").items()}
    arms = {name: _arm(name, t) for name, t in top.tables("arm").items()}
    targets = {name: _target(name, t) for name, t in top.tables("target").items()}
    helpers = tuple(_helper(t, markers, arms) for t in top.array("helper"))
    arguments = {k: str(v) for k, v in top.mapping("argument").items()}
    profile = Profile(
        source=source,
        includes=top.strings("includes"),
        prelude=top.text("prelude", ""),
        weight=top.text("weight"),
        view=top.text("view"),
        make_weight=top.text("make_weight"),
        make_view=top.text("make_view"),
        exception=top.text("exception", "std::exception"),
        defines=top.strings("defines"),
        closure=top.strings("closure", ("**",)),
        kinds=kinds,
        markers=markers,
        arms=arms,
        arguments=arguments,
        helpers=helpers,
        targets=targets,
    )
    top.done()
    return profile


def _kind(name: str, table: _Table) -> Kind:
    if name not in ENCODINGS:
        raise table.fail(f"unknown encoding '{name}'; one of {', '.join(ENCODINGS)}")
    kind = Kind(name, table.text("dtype"), table.text("gemm"))
    table.done()
    return kind


def _marker(name: str, table: _Table, kinds: Mapping[str, Kind]) -> Marker:
    kind = table.text("kind")
    if kind not in kinds:
        raise table.fail(f"kind '{kind}' is not declared; add [verify.kind.{kind}]")
    marker = Marker(
        name,
        kind,
        table.text("eligible", "true"),
        table.text("rewrite"),
        table.number("row_group", 1),
        table.strings("targets", TARGETS),
    )
    if marker.row_group == 0:
        raise table.fail("'row_group' must be 1 or more")
    table.done()
    return marker


def _arm(name: str, table: _Table) -> Arm:
    arm = Arm(
        name,
        table.text("device", name),
        table.strings("targets", TARGETS),
        table.text("setup"),
        table.text("upload", HOST_UPLOAD),
        table.text("download", "std::memcpy(dst, src, size)"),
        table.text("uploaded", "0"),
        table.flag("gemm", True),
    )
    table.done()
    return arm


def _target(name: str, table: _Table) -> TargetConfig:
    if name not in TARGETS:
        raise table.fail(f"unknown target '{name}'; one of {', '.join(TARGETS)}")
    config = TargetConfig(
        table.strings("cmake"),
        table.strings("roots"),
        table.strings("flags"),
        table.strings("libraries"),
        table.text("min_nvcc", "12.0"),
        table.text("stream", ""),
    )
    table.done()
    return config


def _or(words: Sequence[str]) -> str:
    return " or ".join([", ".join(f"'{word}'" for word in words[:-1]), f"'{words[-1]}'"])


def _helper(table: _Table, markers: Mapping[str, Marker], arms: Mapping[str, Arm]) -> ProfiledHelper:
    name = table.text("name")
    path = table.text("path")
    devices = {arm.device for arm in arms.values()}
    expect: dict[str, dict[str, Expected]] = {}
    for marker, by_device in table.mapping("expect").items():
        if marker not in markers or not isinstance(by_device, dict):
            raise table.fail(f"expect.{marker}: no such marker; declare [verify.marker.{marker}]")
        expect[marker] = {}
        for device, value in by_device.items():
            if value not in get_args(Expected) or device not in devices:
                raise table.fail(
                    f"expect.{marker}.{device}: give {_or(get_args(Expected))} for a device of an arm"
                )
            expect[marker][device] = value
    faulty = {m: frozenset(v) for m, v in table.mapping("faulty").items()}
    helper = ProfiledHelper(
        HelperUnderTest(name, path, expect, faulty),
        table.text("call", ""),
        table.text("include", path),
        table.number("row0", 0),
        table.number("row_tail", 0),
        table.strings("arms", tuple(arms)),
    )
    table.done()
    return helper


def target_config(profile: Profile, target: Target) -> TargetConfig:
    """Build settings of ``target``.

    Raises:
        VerifyError: the profile has no table for it (exit 2).
    """
    config = profile.targets.get(target)
    if config is None:
        raise VerifyError(
            f"{profile.source.name}: no [verify.target.{target}] table; add one with 'roots' and 'cmake'",
            EXIT_USAGE,
        )
    return config
