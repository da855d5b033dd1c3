"""A marker is kept on a part or on another shape of the tensor it describes.

## What it does
Follows byte offsets, row slices, shrunken, swapped, multiplied or divided dimensions. A marker's layout survives none
of them, unless its declaration names a row group and the path has a test that the cut is a multiple of it. Rows that
begin at a multiple of their own number are a note where every kernel that reads the marker asks for that.

## Why is this bad?
The flag is true and the bytes are not what it says: the kernel takes its fast path over a band of somebody else's
layout.

## Example
```cpp
Tensor t = whole;
t.data = static_cast<uint8_t*>(whole.data) + first_row * row_bytes;
t.shape[0] = rows;
```

## Use instead
```cpp
VT_CHECK(!whole.q8_0_aligned && !whole.elem_kn_repacked, "layout of the whole tensor");
VT_CHECK(!whole.repacked || first_row % 4 == 0 && rows % 4 == 0, "interleave group would be cut");
```

## Fix safety
Safe: the check fires only for a marked weight.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.analysis import Analysis, Draft
from rules.finding import Verdict

CODE = "VT003"
NAME = "marker-on-a-part"
SUMMARY = "kept on an offset, slice or reshape that the layout does not survive"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each marker that is copied onto a part without a test that the cut is whole."""
    for group in analysis.groups:
        if group.outcome in ("part", "rows"):
            what = "another shape" if group.site.form == "reshape" else "a part"
            message = f"{group.marker} of {analysis.name_of(group.source)} is kept on {what} of it"
            told: dict[str, object] = {}
            devices = analysis.runs_on(group.site.function) & group.devices or group.devices
            if group.outcome == "rows" and devices <= analysis.matrix.whole_groups(group.marker):
                told = {
                    "verdict": Verdict.LOUD,
                    "latent": "it begins at a multiple of its number of rows, and every kernel that reads the marker "
                    "refuses a number that is no multiple of the row group",
                }
            yield analysis.draft(CODE, group, message, action="refuse", **told)
