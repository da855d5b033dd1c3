"""The two trees of a check: folders of links into the working tree, with changed files laid over them.

Nothing is copied but the files that differ, and the working tree is never written.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime_check.errors import EXIT_USAGE, VerifyError
from runtime_check.model import VerifyOptions

_SKIPPED = frozenset({".git", ".hg", "build", "node_modules", "__pycache__"})


@dataclass(frozen=True)
class Side:
    """One tree to build.

    Attributes:
        label: "before" or "after".
        root: folder to compile from.
        changed: relative POSIX paths whose text differs from the working tree.
    """

    label: str
    root: Path
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Sides:
    """The sides of a check, in order, and what identifies their difference."""

    sides: tuple[Side, ...]
    revision: str
    patch_sha256: str


def prepare(options: VerifyOptions) -> Sides:
    """Lay out the trees to build under ``options.work``.

    Raises:
        VerifyError: the tree is missing, the revision unknown, or the patch does not apply (exit 2).
    """
    tree = options.tree.resolve()
    if not tree.is_dir():
        raise VerifyError(f"{options.tree}: no such folder; name the tree with --tree", EXIT_USAGE)
    given = [bool(options.before_rev), options.patch is not None, bool(options.after_files)]
    if sum(given) > 1:
        raise VerifyError("give one of --before, --patch, or fixes to verify, not several", EXIT_USAGE)
    folder = options.work / "trees"
    revision = (
        _git(tree, "describe", "--always", "--dirty", "--abbrev=40").strip() or "not under version control"
    )
    if options.before_rev:
        texts = _texts_at(tree, options.before_rev)
        before = _farm("before", tree, folder, texts)
        return Sides((before, Side("after", tree, ())), revision, _digest(texts))
    if options.patch is not None:
        after, digest = _patched(tree, folder, options.patch)
        return Sides((Side("before", tree, ()), after), revision, digest)
    if options.after_files:
        after = _farm("after", tree, folder, options.after_files)
        return Sides((Side("before", tree, ()), after), revision, _digest(options.after_files))
    return Sides((Side("after", tree, ()),), revision, "")


def _digest(files: Mapping[str, bytes | None]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.encode() + b"\0" + (files[path] or b"") + b"\0")
    return digest.hexdigest()


def _git(tree: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(tree), *arguments], capture_output=True, text=True, timeout=60, check=False
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _texts_at(tree: Path, revision: str) -> dict[str, bytes | None]:
    if not _git(tree, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"):
        raise VerifyError(f"--before {revision}: no such revision in {tree.name}", EXIT_USAGE)
    top = Path(_git(tree, "rev-parse", "--show-toplevel").strip())
    texts: dict[str, bytes | None] = {}
    for name in _git(tree, "diff", "--name-only", "--relative", "-z", revision, "--", ".").split("\0"):
        if not name:
            continue
        inside = (tree / name).relative_to(top).as_posix()
        shown = subprocess.run(
            ["git", "-C", str(tree), "show", f"{revision}:{inside}"], capture_output=True, timeout=60
        )
        texts[name] = shown.stdout if shown.returncode == 0 else None
    return texts


def _farm(label: str, tree: Path, folder: Path, files: Mapping[str, bytes | None]) -> Side:
    root = folder / label
    for name in files:
        target = Path(name)
        if target.is_absolute() or ".." in target.parts:
            raise VerifyError(f"{name}: a changed file must lie inside the tree", EXIT_USAGE)
    wanted: set[Path] = set()
    for current, directories, names in os.walk(tree):
        directories[:] = [d for d in directories if d not in _SKIPPED]
        here = root / Path(current).relative_to(tree)
        here.mkdir(parents=True, exist_ok=True)
        wanted.update(here / d for d in directories)
        for name in names:
            source, link = Path(current, name), here / name
            if source.relative_to(tree).as_posix() in files:
                continue
            wanted.add(link)
            if not (link.is_symlink() and link.readlink() == source):
                link.unlink(missing_ok=True)
                link.symlink_to(source)
    # A folder of an earlier check is kept, for its links are most of the work; what it has too much goes.
    for current, directories, names in os.walk(root, topdown=False):
        for name in names:
            if Path(current, name) not in wanted:
                Path(current, name).unlink()
        for name in directories:
            if Path(current, name) not in wanted:
                shutil.rmtree(Path(current, name))
    for path, text in files.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text)
    return Side(label, root, tuple(sorted(files)))


def _patched(tree: Path, folder: Path, patch: Path) -> tuple[Side, str]:
    try:
        raw = patch.read_bytes()
    except OSError as error:
        raise VerifyError(f"--patch {patch.name}: cannot be read: {error.strerror}", EXIT_USAGE) from error
    names = {
        m.group(2).decode()
        for m in re.finditer(rb"^(?:---|\+\+\+) ([ab]/)?([^\t\r\n]+)", raw, re.M)
        if m.group(2) != b"/dev/null" and m.group(2) != b"dev/null"
    }
    if not names:
        raise VerifyError(f"--patch {patch.name}: not a unified diff", EXIT_USAGE)
    files = {name: (tree / name).read_bytes() if (tree / name).is_file() else None for name in names}
    side = _farm("after", tree, folder, files)
    # git must not find the repository around the work folder: it would then patch relative to that one.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(side.root.parent)}
    level = "1" if re.search(rb"^(?:---|\+\+\+) [ab]/", raw, re.M) else "0"
    try:
        done = subprocess.run(
            ["git", "apply", f"-p{level}", "--whitespace=nowarn", str(patch.resolve())],
            cwd=side.root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except FileNotFoundError:
        raise VerifyError("git is not installed; it is needed to apply --patch") from None
    if done.returncode != 0:
        first = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise VerifyError(f"--patch {patch.name}: does not apply to {tree.name}: {first}", EXIT_USAGE)
    return side, hashlib.sha256(raw).hexdigest()
