"""Carry or refuse, and how to say otherwise."""

from __future__ import annotations

import pytest

from codemods.policy import PolicyError, parse_policies, parse_policy
from rules.policy import Override, decide

CPU, CUDA, MIXED = frozenset({"cpu"}), frozenset({"cuda"}), frozenset({"cuda", "vulkan", "metal"})


def test_carried_where_every_device_honours() -> None:
    fix = decide("repacked", CPU, CPU)
    assert (fix.action, fix.why) == ("propagate", "a kernel of cpu reads it")


def test_refused_where_none_does() -> None:
    fix = decide("repacked", MIXED, CPU)
    assert (fix.action, fix.why) == ("refuse", "no kernel of cuda, metal and vulkan reads it")


def test_both_on_a_mixed_arm() -> None:
    fix = decide("q8_0_aligned", MIXED, CUDA)
    assert (fix.action, fix.refuse_devices) == ("both", ("metal", "vulkan"))
    assert fix.why == "a kernel of cuda reads it, none of metal and vulkan does"


def test_a_part_is_refused_whatever_is_said() -> None:
    fix = decide("repacked", CPU, CPU, part=True, overrides=[Override("repacked", "*", "propagate")])
    assert fix.action == "refuse"


def test_whole_row_groups_are_carried_where_honoured() -> None:
    fix = decide("repacked", CPU, CPU, part=True, whole_groups=True)
    assert (fix.action, fix.refuse_devices) == ("both", ())
    assert decide("repacked", CUDA, CPU, part=True, whole_groups=True).action == "refuse"


@pytest.mark.parametrize(
    ("override", "action"),
    [
        (Override("q8_0_aligned", "*", "refuse"), "refuse"),
        (Override("q8_0_aligned", "*", "propagate"), "propagate"),
        (Override("q8_0_aligned", "cuda", "refuse"), "refuse"),
        (Override("q8_0_aligned", "metal", "propagate"), "both"),
        (Override("repacked", "cuda", "refuse"), "both"),
        (Override("q8_0_aligned", "cpu", "propagate"), "both"),
    ],
)
def test_overrides(override: Override, action: str) -> None:
    assert decide("q8_0_aligned", MIXED, CUDA, overrides=[override]).action == action


def test_an_override_is_named_in_the_reason() -> None:
    assert decide("repacked", CPU, CPU, overrides=[Override("repacked", "cpu", "refuse")]).why.endswith(
        "(policy: refuse on cpu)"
    )


def test_no_device_is_no_arm() -> None:
    with pytest.raises(ValueError, match="no device"):
        decide("repacked", frozenset(), CPU)


def test_parse() -> None:
    assert parse_policy(" repacked : cpu = refuse ") == Override("repacked", "cpu", "refuse")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("repacked", "write marker:device=propagate"),
        ("repacked=refuse", "write marker:device=propagate"),
        (":cpu=refuse", "write marker:device=propagate"),
        ("repacked:cpu=drop", "unknown action `drop`"),
        ("packed:cpu=refuse", "unknown marker `packed`, known are repacked"),
        ("repacked:npu=refuse", "unknown device `npu`, known are cpu, cuda and *"),
    ],
)
def test_parse_errors_are_one_line(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, ["repacked"], ["cpu", "cuda"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_contradiction() -> None:
    with pytest.raises(PolicyError, match="contradicts"):
        parse_policies(["a:cpu=refuse", "a:cpu=propagate"])
    assert len(parse_policies(["a:cpu=refuse", "a:cpu=refuse", "b:cpu=refuse"])) == 2
