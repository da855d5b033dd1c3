"""Carry or refuse: decided per marker and arm, from which kernels of which device really read the marker."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from rules.finding import Fix

ANY_DEVICE = "*"
_NAMED = 3


class Override(msgspec.Struct, frozen=True):
    """The user's word for one marker on one device (`*`: on every device): `propagate` or `refuse`."""

    marker: str
    device: str
    action: str


def decide(
    marker: str,
    arm_devices: frozenset[str],
    honours: frozenset[str],
    *,
    part: bool = False,
    whole_groups: bool = False,
    overrides: Iterable[Override] = (),
) -> Fix:
    """Return what to do with `marker` on an arm that runs on `arm_devices`.

    It is carried where a kernel of every device of the arm honours it, refused where none does, and on a
    mixed arm carried and refused on the devices that do not (`both`). `honours` are the devices with a
    kernel that reads the marker, an override adds a device to them or takes it away. `part`: an offset,
    slice or reshape that the layout does not survive, which is refused on every device whatever the
    overrides say; but where every device honours the marker, and `whole_groups` says that the part can be
    shown to be whole row groups of a layout that has them, it is carried and refused for other parts (`both`
    with no devices). Raises `ValueError` on an empty arm: code that no device runs needs no fix."""
    if not arm_devices:
        raise ValueError(f"no device runs the code where {marker} is to be fixed")
    reading, said = set(honours), []
    for override in overrides:
        if override.marker == marker and (override.device == ANY_DEVICE or override.device in arm_devices):
            devices = arm_devices if override.device == ANY_DEVICE else {override.device}
            (reading.update if override.action == "propagate" else reading.difference_update)(devices)
            said.append(f"{override.action} on {override.device}")
    if part and whole_groups and arm_devices <= reading:
        return Fix("both", why="whole row groups keep it, other parts do not")
    if part:
        why = "it describes the whole tensor, and this is a part or another shape of it"
        return Fix("refuse", why=why)
    by = f" (policy: {', '.join(said)})" if said else ""
    carried, refused = sorted(arm_devices & reading), tuple(sorted(arm_devices - reading))
    if not refused:
        return Fix("propagate", why=f"a kernel of {_and(carried)} reads it{by}")
    if not carried:
        return Fix("refuse", why=f"no kernel of {_and(refused)} reads it{by}")
    why = f"a kernel of {_and(carried)} reads it, none of {_and(refused)} does{by}"
    return Fix("both", refuse_devices=refused, why=why)


def _and(devices: Iterable[str]) -> str:
    *most, last = devices
    if len(most) > _NAMED:
        most, last = most[:_NAMED], f"{len(most) + 1 - _NAMED} more"
    return f"{', '.join(most)} and {last}" if most else last
