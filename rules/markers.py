"""The markers: data, not names in the code.

A declaration says what a marker means for the bytes and what its layout survives. Built in are the three of the
vllm.cpp family; `[[marker]]` tables in `.vt-lint.toml` add to them or replace one of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from analyzer.config import SetupError
from analyzer.markers import Marker

__all__ = ["MARKERS", "Marker", "declared"]

MARKERS: tuple[Marker, ...] = (
    Marker(
        name="elem_kn_repacked",
        what="float weight whose shape says [N,K] while its bytes are [K,N]",
        devices=("cpu",),
        dtypes=("f32", "f16", "bf16"),
    ),
    Marker(
        name="q8_0_aligned",
        what="Q8_0 blocks split into all quants, then all scales, of the whole tensor",
        devices=("cuda",),
        dtypes=("q8_0",),
    ),
    Marker(
        name="repacked",
        what="Q8_0 rows interleaved four at a time for the i8mm GEMM",
        devices=("cpu",),
        row_group=4,
        dtypes=("q8_0",),
    ),
)


def declared(settings: Mapping[str, Any]) -> tuple[Marker, ...]:
    """The built-in markers with those of the tree's `[[marker]]` tables added or put in their place, by name.

    Raises `SetupError` naming the table that is wrong."""
    found = {marker.name: marker for marker in MARKERS}
    for position, table in enumerate(settings.get("marker", ()), 1):
        try:
            marker = msgspec.convert(table, type=Marker)
        except msgspec.ValidationError as error:
            raise SetupError(f".vt-lint.toml: [[marker]] number {position}: {error}") from error
        found[marker.name] = marker
    return tuple(found[name] for name in sorted(found))
