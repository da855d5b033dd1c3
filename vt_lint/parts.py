"""Facts made elsewhere: parts of a tree, and the workers of a Dask cluster."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from analyzer.cache import Store, default_folder
from analyzer.collect import Collected, collect
from analyzer.config import load
from rules.markers import declared
from vt_lint.checking import progress_bar
from vt_lint.exit import Fault


def parse_shard(text: str) -> tuple[int, int]:
    """Read `I/N`. Raises `Fault` for anything but 1 <= I <= N."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match and 1 <= int(match[1]) <= int(match[2]):
        return int(match[1]), int(match[2])
    raise Fault(f"--shard {text}: write I/N, the I-th of N parts, counted from 1")


def gather(
    root: Path, *, shard: tuple[int, int] | None, jobs: int | None, profiles: tuple[str, ...], dask: str
) -> Collected:
    """Make the facts of the tree at `root`, or of a part of it, into the cache; on the cluster whose scheduler
    is at `dask` unless that is empty.

    Raises `Fault` where no cluster can be had, and `SetupError` as `analyzer.collect.collect`."""
    config = load(root)
    with progress_bar() as progress, _executor(dask) as executor:
        return collect(
            root,
            config,
            markers=[marker.name for marker in declared(config.extra)],
            profiles=profiles or None,
            jobs=jobs,
            cache=default_folder(),
            progress=progress,
            executor=executor,
            shard=shard,
        )


def write_facts(root: Path, file: Path) -> None:
    """Write all facts in the cache of the tree at `root` to `file`, for `merge`. Raises `OSError`."""
    with tempfile.TemporaryDirectory(prefix="vt-lint-") as folder:
        pack = Store(default_folder(), root).load()
        Store(Path(folder), root).save(pack, pack.results)
        (made,) = Path(folder).glob("*.facts")
        shutil.move(made, file)


def merge(root: Path, file: Path) -> int:
    """Add the facts in `file` to the cache of the tree at `root`; return how many results were new."""
    return Store(default_folder(), root).merge([file])


@contextmanager
def _executor(address: str) -> Iterator[Executor | None]:
    """Yield the workers of the cluster at `address` behind the interface of `concurrent.futures`."""
    if not address:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise Fault("--dask needs Dask: pip install 'vt-lint[dask]'") from None
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise Fault(f"--dask {address}: no scheduler there: {error}") from error
    with client, client.get_executor() as executor:
        yield executor
