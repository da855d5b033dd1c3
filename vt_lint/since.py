"""The tree as it was at a revision, in a folder of its own, for `check --since`."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vt_lint.exit import Fault


@contextmanager
def exported(root: Path, rev: str, database: str = "") -> Iterator[Path]:
    """Yield a folder with the files that `root` has at git revision `rev`; it is removed afterwards.

    Files are written through an index of our own: the repository, its index and its hooks are not touched and
    `export-ignore` does not apply. The compile database `database` (relative to `root`) is taken along, with
    its paths moved. Raises `Fault` when `root` is in no repository or the revision is unknown.
    """
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
    if not commit:
        raise Fault(f"--since {rev}: not a revision of the repository of {root}")
    prefix = _git(root, "rev-parse", "--show-prefix").rstrip("/")
    with tempfile.TemporaryDirectory(prefix="vt-lint-since-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        old = Path(folder) / "tree"
        old.mkdir()
        _git(root, "read-tree", f"{commit}:{prefix}", env=index)
        _git(root, "checkout-index", "--all", "--quiet", f"--prefix={old}/", env=index, cwd=old)
        if database and (root / database).is_file() and not (old / database).exists():
            text = (root / database).read_text(encoding="utf-8", errors="surrogateescape")
            moved = text.replace(str(root), str(old))
            (old / database).parent.mkdir(parents=True, exist_ok=True)
            (old / database).write_text(moved, encoding="utf-8", errors="surrogateescape")
        yield old


def _git(root: Path, *args: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]
    where = dict(env or {})
    if cwd:
        where |= {"GIT_WORK_TREE": str(cwd), "GIT_DIR": _git(root, "rev-parse", "--absolute-git-dir")}
    try:
        done = subprocess.run(
            [*command, *args], cwd=cwd or root, env={**os.environ, **where}, capture_output=True, text=True
        )
    except FileNotFoundError:
        raise Fault("--since needs the program git on the PATH") from None
    if done.returncode and "--quiet" not in args[:3]:
        raise Fault(f"--since: git {args[0]}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout.strip()
