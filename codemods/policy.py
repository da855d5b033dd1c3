"""`--policy marker:arm=propagate|refuse` in, overrides of the derived policy out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rules.policy import ANY_DEVICE, Override, decide

__all__ = ["Override", "PolicyError", "decide", "parse_policies", "parse_policy"]

_ACTIONS = ("propagate", "refuse")
_FORM = "marker:device=propagate or marker:device=refuse"


class PolicyError(ValueError):
    """A policy that cannot be read; the message is one line and says what to write."""


def parse_policy(text: str, markers: Collection[str] = (), devices: Collection[str] = ()) -> Override:
    """Read one `marker:device=action`; the device may be `*`. Empty `markers` or `devices` accept any name.

    Raises `PolicyError` on another form, an unknown action, marker or device."""
    left, equals, action = text.partition("=")
    marker, colon, device = (x.strip() for x in left.partition(":"))
    action = action.strip()
    if not equals or not colon or not marker or not device:
        raise PolicyError(f"policy `{text}`: write {_FORM}")
    if action not in _ACTIONS:
        raise PolicyError(f"policy `{text}`: unknown action `{action}`, write {' or '.join(_ACTIONS)}")
    if markers and marker not in markers:
        raise PolicyError(
            f"policy `{text}`: unknown marker `{marker}`, known are {', '.join(sorted(markers))}"
        )
    if devices and device != ANY_DEVICE and device not in devices:
        known = ", ".join(sorted(devices))
        raise PolicyError(f"policy `{text}`: unknown device `{device}`, known are {known} and {ANY_DEVICE}")
    return Override(marker, device, action)


def parse_policies(
    texts: Iterable[str], markers: Collection[str] = (), devices: Collection[str] = ()
) -> tuple[Override, ...]:
    """Read several policies. Raises `PolicyError` as `parse_policy` does, and if two contradict each
    other."""
    seen: dict[tuple[str, str], Override] = {}
    for text in texts:
        override = parse_policy(text, markers, devices)
        earlier = seen.setdefault((override.marker, override.device), override)
        if earlier.action != override.action:
            raise PolicyError(
                f"policy `{text}`: contradicts `{earlier.marker}:{earlier.device}={earlier.action}`"
            )
    return tuple(seen.values())
