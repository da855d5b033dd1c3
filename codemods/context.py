"""What the kinds of change share while the edits of one file are made: names, checks already placed,
switches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from codemods.before_use import outside_loops
from codemods.order import may_be_null
from codemods.style import Style
from codemods.syntax import Source, function, is_braceless, under_label, words
from rules.markers import Marker


class Context:
    """`markers`: what each stands for and survives. `switches`: the environment variable that controls
    each one's rewrite. `unsafe` allows refusals where one would end the program (`noexcept`)."""

    def __init__(
        self,
        source: Source,
        style: Style,
        markers: Sequence[Marker],
        switches: Mapping[str, str],
        *,
        unsafe: bool = False,
    ) -> None:
        self.source, self.style, self.switches, self.unsafe = source, style, switches, unsafe
        self.what = {m.name: m.what for m in markers}
        self.row_groups = {m.name: m.row_group for m in markers if m.row_group}
        self._names: list[tuple[str, int, int]] = []
        self.checks: list[tuple[str, Node, int]] = []
        self._wanted: dict[str, list[Node]] = {}

    def local(self, near: Node, stem: str) -> str:
        """A name for a local at statement `near`: `stem`, `stem2`, `stem3`, ..., the first that occurs
        nowhere in the function's text and that no other new local around or inside has got."""
        written = words(self.source, function(near))
        begin, end = near.start_byte, _scope(near).end_byte
        taken = {n for n, b, e in self._names if b < end and begin < e}
        name, number = stem, 1
        while name in written or name in taken:
            number += 1
            name = f"{stem}{number}"
        self._names.append((name, begin, end))
        return name

    def want(self, condition: str, at: Node) -> None:
        """Say that some construction needs a check of `condition` before `at`."""
        self._wanted.setdefault(condition, []).append(at)

    def lifted(self, condition: str, at: Node) -> Node:
        """`at`, or the `if` around it when all its arms need a check of `condition`."""
        if may_be_null(condition):
            return at
        wanted = self._wanted.get(condition, [])
        while (outer := _branch(at)) is not None and _all_arms(outer, wanted):
            at = outer
            wanted.append(at)
        return outside_loops(_identifiers(condition), at)

    def checked(self, condition: str, at: Node) -> bool:
        """True if a check of `condition` is already planned where it comes before `at` on every path; else
        notes that one is being planned."""
        for known, block, offset in self.checks:
            inside = block.start_byte <= at.start_byte and at.end_byte <= block.end_byte
            if known == condition and inside and offset <= at.start_byte:
                return True
        self.checks.append((condition, _scope(at), at.start_byte))
        return False


def _scope(statement: Node) -> Node:
    """Where what is added before `statement` is in force: its block, or the block of its own that it gets."""
    alone = is_braceless(statement) or under_label(statement)
    return statement if alone or statement.parent is None else statement.parent


def _branch(statement: Node) -> Node | None:
    """The outermost `if` of the chain that has `statement` at the top of one of its arms."""
    arm = statement if is_braceless(statement) else statement.parent
    if arm is None or arm.parent is None:
        return None
    outer = arm.parent.parent if arm.parent.type == "else_clause" else arm.parent
    while outer is not None and outer.type == "if_statement":
        chain = outer.parent
        if chain is None or chain.type != "else_clause":
            return outer
        outer = chain.parent
    return None


def _all_arms(branch: Node, wanted: Sequence[Node]) -> bool:
    """Is one of `wanted` at the top of each arm of `branch`, which has an `else`?"""
    otherwise = branch.child_by_field_name("alternative")
    if otherwise is None:
        return False
    arms = [branch.child_by_field_name("consequence"), otherwise.named_children[-1]]
    return all(
        arm is not None
        and (
            any(arm == (node.parent if arm.type == "compound_statement" else node) for node in wanted)
            or (arm.type == "if_statement" and _all_arms(arm, wanted))
        )
        for arm in arms
    )


def _identifiers(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))
