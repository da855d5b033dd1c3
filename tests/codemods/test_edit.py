"""Edits as data: collapse, order and overlap."""

from __future__ import annotations

from codemods.edit import Edit, Group, apply_edits, merge, overlap


def edit(begin: int, end: int, text: str = "x", rank: int = 0, path: str = "/a") -> Edit:
    return Edit(path, begin, end, text, "sha", rank)


def test_identical_edits_of_several_profiles_collapse() -> None:
    merged = merge([Group("cpu", (edit(1, 1),)), Group("cuda", (edit(1, 1),))])
    assert merged.edits == {"/a": (edit(1, 1),)}
    assert merged.skipped == ()


def test_overlap_leaves_out_the_later_group_whole() -> None:
    late = Group("late", (edit(0, 0), edit(3, 6)))
    merged = merge([Group("early", (edit(2, 4),)), late])
    assert merged.edits == {"/a": (edit(2, 4),)}
    assert merged.skipped == ((late, "early"),)


def test_insertions_at_one_point_keep_their_order_within_a_rank() -> None:
    merged = merge([Group("1", (edit(1, 1, "}", 1), edit(1, 1, "b"))), Group("2", (edit(1, 1, "c"),))])
    assert apply_edits(b"a.", merged.edits["/a"]) == b"abc}."


def test_what_overlaps() -> None:
    assert overlap(edit(1, 3), edit(2, 4))
    assert overlap(edit(1, 3), edit(2, 2))
    assert not overlap(edit(1, 3), edit(3, 4))
    assert not overlap(edit(1, 3), edit(1, 1))
    assert not overlap(edit(1, 3), edit(3, 3))
    assert not overlap(edit(1, 1), edit(1, 1, "y"))
    assert not overlap(edit(1, 3), edit(2, 4, path="/b"))


def test_bytes_that_are_not_text_stay() -> None:
    data = b"\xff\xfe a \x80"
    assert apply_edits(data, (edit(2, 2, "\u00e9"),)) == b"\xff\xfe\xc3\xa9 a \x80"
