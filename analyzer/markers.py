"""The type of a marker declaration; the declarations themselves are policy and live in `rules.markers`."""

from __future__ import annotations

import msgspec


class Marker(msgspec.Struct, frozen=True):
    """One storage-layout marker.

    `name`: the boolean field. `what`: the rewritten bytes in one line. `devices`: where a kernel is expected to
    honour it when the tree's own kernels do not say (`cpu`, `cuda`; `gpu` in a tree reads as `cuda`).
    `row_group`: a slice of whole groups of this many rows keeps the layout; 0: no slice does.
    `dtypes`: lower-case fragments of the dtype enumerators that the rewrite applies to; empty: any.
    """

    name: str
    what: str
    devices: tuple[str, ...]
    row_group: int = 0
    dtypes: tuple[str, ...] = ()
