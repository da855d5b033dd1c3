"""Settings of a tree: `.vt-lint.toml` at its root, or the defaults."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = ".vt-lint.toml"

EXCLUDE = ("third_party", "vendor", "external", "build*", "cmake-build*", "node_modules", "test", "tests")


class SetupError(Exception):
    """The run cannot start: configuration, command line or toolchain. The message is one line and names the
    remedy; the exit code is 2."""


class ProfileConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[profile]]`: one preprocessor view. `defines`: macros, `NAME` or `NAME=VALUE`; `target`: an LLVM
    triple, empty for this machine's; `flags`: further compiler flags; `only`: take only files whose text
    tests one of these macros (empty: decided from `defines`)."""

    name: str
    defines: tuple[str, ...] = ()
    target: str = ""
    flags: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


class Config(msgspec.Struct, frozen=True):
    """`exclude`: folder names (shell patterns) or root-relative folders (with a `/`) that are read for their
    headers only. `flags`: appended to every command line. `database`: the compile database, relative to the
    root; empty: looked for. `profile`: replaces the discovered profiles. `extra`: the tables of other
    packages, unchecked.
    """

    exclude: tuple[str, ...] = EXCLUDE
    flags: tuple[str, ...] = ()
    database: str = ""
    profile: tuple[ProfileConfig, ...] = ()
    extra: dict[str, Any] = {}


def load(root: Path) -> Config:
    """Read the settings of the tree at `root`; the defaults when it has no `.vt-lint.toml`.

    Raises `SetupError` for a file that cannot be read, is no TOML or has a wrong value.
    """
    path = root / FILE_NAME
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise SetupError(f"{path}: cannot read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SetupError(f"{path}: not valid TOML: {error}") from error
    own: dict[str, Any] = {
        key: data.pop(key) for key in ("exclude", "flags", "database", "profile") if key in data
    }
    try:
        return msgspec.convert(own | {"extra": data}, type=Config)
    except msgspec.ValidationError as error:
        raise SetupError(f"{path}: {error}") from error
