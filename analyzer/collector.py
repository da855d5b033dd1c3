"""The garbage collector of this process, off for a while."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Do without it. Facts are millions of small objects, hardly any of them in a cycle: to look for those costs up to
    a quarter of the time and finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
