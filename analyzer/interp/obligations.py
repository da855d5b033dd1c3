"""Judging what becomes of each marker where a carrier is made, handed on or read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer.domain import Obj, Obligation, Open, Origin, Path, Site, State
from analyzer.dtypes import speaks_of
from analyzer.formula import Formula
from analyzer.interp.run import Run
from analyzer.keys import asks_a_dtype, is_multiple, leaves, names_of
from analyzer.program import bare, device_name
from analyzer.summary import MAX_VIA
from analyzer.walk import literal

_CONDITION = "a condition"
_MAP = re.compile(r"^std::(unordered_)?map<")


class Obligations(Run):
    """Which losses and reads a path owes, and what acquits it."""

    def settle(self, state: State, path: Path, obj: Obj, returned: bool = False) -> Obj:
        """Judge every marker of what a carrier was made from. Returns the carrier with what stays open."""
        opens: set[Open] = set(obj.open) if returned else set()
        if not returned:
            for left in sorted(obj.open, key=lambda o: (o.source, o.marker)):
                self.settle_open(state, obj, left)
        else:
            for left in sorted(obj.open, key=lambda o: (o.source, o.marker)):
                if self.discharged(state, left.source, left.marker, obj.marker(left.marker)):
                    opens.discard(left)
                    line = left.via[-1][2].line if left.via else self.statement.line
                    self.note_not_met(state, left.site, left.source, left.marker, line)
                else:
                    self.settle_open(state, obj, left, returned=True)
        if (
            obj.site is None or obj.site.function != self.function.sym
        ):  # made by a callee: its open ones say it all
            return replace(obj, open=frozenset(opens))
        self.note_cache(obj)
        storage = self.resolve(obj.storage, state)
        opened = {(o.source, o.marker) for o in obj.open}
        for origin in sorted(storage.origins, key=lambda o: o.order):
            carrier = self.program.carriers.get(origin.carrier)
            if carrier is None or origin.path == path:
                continue
            part = bool(origin.part) or obj.reshaped
            made = self.program.carriers.get(obj.carrier)
            inner = (
                made is not None and made.inner
            )  # the carrier inside keeps its own; only re-declared ones are owed
            for marker in made.markers if inner and made is not None else carrier.markers:
                if (origin.path, marker) in opened and obj.site.callee_sym and obj.open:
                    continue
                found = self.judge(state, origin, marker, obj.marker(marker), part, obj.device)
                for devices, outcome, foreign in found:
                    if outcome == "part" and not obj.reshaped and obj.rows in origin.steps:
                        outcome = "rows"
                    self.record(state, obj, origin, marker, devices, outcome, part, foreign, returned)
                    if returned and outcome == "dropped":
                        opens.add(Open(obj.site, marker, origin.path, devices))
        if not storage.origins and obj.device is not None:
            self.settle_copied(state, obj)
        return replace(obj, open=frozenset(opens), storage=storage)

    def settle_copied(self, state: State, obj: Obj) -> None:
        """Judge the markers that a carrier over bytes of its own, on a device that is known, has from another."""
        for marker, value in obj.markers:
            copied = {a[1] for a in fm.atoms(value) if a[0] == "m" and a[2] == marker}
            for source in sorted(copied):
                origin = Origin(source, obj.carrier)
                for devices, outcome, _ in self.judge(state, origin, marker, value, False, obj.device):
                    if outcome == "carried":
                        self.record(state, obj, origin, marker, devices, outcome, False, "")

    def note_cache(self, obj: Obj) -> None:
        """A view over an entry of a map, with a marker that is not part of the map's key."""
        entries = [
            (path, step) for path, _ in obj.storage.buffers for step in path[1:]
            if step.startswith("[") and _MAP.match(self.container_type(path))
        ]  # fmt: skip
        for path, step in entries:
            for marker, f in obj.markers:
                names = {marker}
                for atom in fm.atoms(f):
                    if atom[0] == "e":
                        names |= {str(part).rpartition(":")[2] for part in leaves(atom)}
                if any(True for _ in fm.atoms(f)) and not any(
                    n and n in step.strip("[]").split(",") for n in names
                ):
                    assert obj.site is not None
                    self.facts.cached_views.add((obj.site, marker, path))

    def container_type(self, path: Path) -> str:
        text = self.type_of_local(path[0])
        if not text and path[0] in self.program.globals:
            text = self.program.globals[path[0]].type
        for step in path[1:]:
            if step.startswith("["):
                break
            record = (
                self.program.records.get(bare(text))
                if text
                else self.program.records.get(self.function.owner)
            )
            text = next((m.type for m in record.members if m.name == step), "") if record is not None else ""
        return bare(text)

    def settle_open(self, state: State, obj: Obj, left: Open, returned: bool = False) -> None:
        if self.discharged(state, left.source, left.marker, obj.marker(left.marker)):
            line = left.via[-1][2].line if left.via else self.statement.line
            self.note_not_met(state, left.site, left.source, left.marker, line)
            return
        self.export(
            Obligation(
                site=left.site, marker=left.marker, source=left.source, source_span=None, source_type="",
                devices=(left.devices or state.devices), narrowed=state.narrowed, outcome="dropped",
                pending=self.is_callers(left.source), function=self.function.sym, via=left.via,
            ),
            carried_by_value=returned,
        )  # fmt: skip

    def note_not_met(self, state: State, site: Site, source: Path, marker: str, line: int) -> None:
        """A caller does not meet a loss of its callee: say why, where a reader of the callee should know."""
        if self.taken_care(state, source, marker) or (source, marker) in state.dispatched:
            return
        if any(state.known.get(("m", name, marker)) is False for name in names_of(source)):
            self.facts.refused_before.setdefault((site, marker), set()).add((self.function.path, line))
        elif self.known_false(state, source, marker) or self.never_met(state, source, marker):
            self.facts.plain_callers.add((site, marker))  # nobody looked: it is plain as made here
            if not self.known_false(state, source, marker) and not self.excluded(state, source, marker):
                self.facts.never_met.setdefault((site, marker), set()).add((self.function.path, line))
        else:
            self.facts.restored.add((site, marker))

    def discharged(self, state: State, source: Path, marker: str, value: Formula | None) -> bool:
        key = ("m", source, marker)
        if self.known_false(state, source, marker) or (source, marker) in state.resolved:
            return True
        if self.never_met(state, source, marker):
            return True
        if value is None:
            return False
        return fm.reduce(value, {**state.known, key: True}) == fm.TRUE

    def taken_care(self, state: State, path: Path, marker: str) -> bool:
        """A branch on the marker took care of the bytes at `path`, or of all that a view made here shows."""
        if (path, marker) in state.resolved:
            return True
        obj = state.objects.get(path) if self.is_local(path) else None
        return (
            obj is not None
            and bool(obj.storage.origins)
            and all((origin.path, marker) in state.resolved for origin in obj.storage.origins)
        )

    def known_false(self, state: State, source: Path, marker: str) -> bool:
        for name in names_of(source):
            if state.known.get(("m", name, marker)) is False:
                return True
            if self.has_another(state, name, marker):
                return True
        obj = state.objects.get(source)
        if obj is None or obj.site is not None and (obj.whole_copy is not None or obj.storage.origins):
            return False
        value = obj.marker(marker)
        return value is not None and fm.reduce(value, state.known) == fm.FALSE

    def has_another(self, state: State, path: Path, marker: str) -> bool:
        """Is it known to have another marker? The bytes of a weight have one layout."""
        return any(state.known.get(("m", path, other)) for other in self.interp.markers if other != marker)

    def excluded(self, state: State, source: Path, marker: str) -> bool:
        """A dtype test on this path that the marker's rewrite never meets."""
        declared = self.interp.markers.get(marker)
        return declared is not None and self.none_admitted(state, source, frozenset(declared.dtypes))

    def never_met(self, state: State, source: Path, marker: str) -> bool:
        """A test on this path, of the dtype or of a boolean member, that no weight passes which a producer of this tree
        marks. It acquits the caller of a loss, not the loss itself: that is still told of, as a note."""
        for (_, member), value in self.interp.flags.get(marker, {}).items():
            if any(state.known.get(("e", (*name, member))) is (not value) for name in names_of(source)):
                return True
        return self.none_admitted(state, source, self.interp.dtypes.get(marker, frozenset()))

    def none_admitted(self, state: State, source: Path, possible: frozenset[str]) -> bool:
        if not possible:
            return False
        asked = tuple((a[1], v) for a, v in state.known.items() if a[0] == "e" and asks_a_dtype(a[1]))
        if not asked:
            return False
        question = (asked, source, possible)
        known = self.interp.answered.get(question)
        if known is None:
            known = self.interp.answered[question] = not self.all_admitted(*question)
        return known

    def all_admitted(
        self, asked: tuple[tuple[Any, bool], ...], source: Path, possible: frozenset[str]
    ) -> frozenset[str]:
        """Those of `possible` that the answers of all these tests leave."""
        sources = names_of(source)
        for key, value in asked:  # `a.dtype == b.dtype`: what is known of the one holds for the other
            if value and key[0] == "==" and any(_is_dtype_of(side, sources) for side in key[1:]):
                sources += [
                    side[:-1] for side in key[1:] if isinstance(side, tuple) and side[:-1] not in sources
                ]
        for key, value in asked:
            possible = self.admitted(key, value, sources, possible)
        return possible

    def admitted(
        self, key: tuple[object, ...], value: bool, sources: Sequence[Path], dtypes: frozenset[str]
    ) -> frozenset[str]:
        """Those of `dtypes` for which a condition can be `value`; all of them when it is not about `sources`."""
        if key[:1] == ("==",) and any(_is_dtype_of(side, sources) for side in key[1:]):
            named = [device_name(side) for side in key[1:] if isinstance(side, str)]
            hit = frozenset(d for d in dtypes if any(speaks_of(name, d) for name in named))
            return dtypes if not named else hit if value else dtypes - hit
        if key[:1] == ("call",) and isinstance(key[3], tuple):
            for position, argument in enumerate(key[3]):
                if _is_dtype_of(argument, sources):
                    outcomes = self.interp.predicates.outcomes
                    return frozenset(d for d in dtypes if value in outcomes(str(key[1]), position, d))
        return dtypes

    def judge(
        self, state: State, origin: Origin, marker: str, value: Formula | None, part: bool,
        device: frozenset[str] | None, read: bool = False,
    ) -> list[tuple[frozenset[str], str, str]]:  # fmt: skip
        devices = state.devices & device if device else state.devices
        devices = devices or (device or state.devices)
        source = origin.path
        if self.known_false(state, source, marker):
            rest = fm.reduce(value, state.known) if value is not None else fm.FALSE
            others = sorted(
                {a[1] for a in fm.atoms(rest) if a[0] == "m" and a[2] == marker and a[1] != source}
            )
            if others:
                return [(devices, "foreign", ".".join(self.names.get(o, o) for o in others[0]))]
            return [(devices, "refused", "")]
        if (source, marker) in state.resolved:
            return [(devices, "resolved", "")]
        if read and any(state.known.get(("m", name, marker)) for name in names_of(source)):
            return [(devices, "resolved", "")]  # a reader that asks for the layout
        if marker in origin.never or self.excluded(state, source, marker):
            return [(devices, "impossible", "")]
        if value is None:
            return [(devices, "missing" if not read else "dropped", "")]
        key = ("m", source, marker)
        assumed = {**state.known, key: True}
        f = fm.reduce(value, assumed)
        tests = [a for a in fm.atoms(f) if a[0] == "dev"]
        if tests:
            result: list[tuple[frozenset[str], str, str]] = []
            for polarity, left in ((True, tests[0][1]), (False, tests[0][2])):
                narrowed = state.copy()
                narrowed.devices = devices & left
                if narrowed.devices:
                    fixed = fm.reduce(value, {tests[0]: polarity})
                    result += self.judge(narrowed, origin, marker, fixed, part, device)
            return result
        carries = any(a == key for a in fm.atoms(value))
        source_obj = state.objects.get(source)
        if not carries and source_obj is not None:
            own = source_obj.marker(marker)
            carries = own is not None and own == value and own not in (fm.TRUE, fm.FALSE)
            if carries:
                f = fm.TRUE
        if f == fm.TRUE and carries:
            if part and not self.survives(state, marker):
                return [(devices, "part", "")]
            return [(devices, "carried", "")]
        if f == fm.TRUE:
            if state.known.get(key) is True:
                return [(devices, "carried", "")]
            return [(devices, "literal", "")]
        others = sorted({a[1] for a in fm.atoms(value) if a[0] == "m" and a[1] != source})
        if others and not carries:
            return [(devices, "foreign", ".".join(self.names.get(o, o) for o in others[0]))]
        if value[0] in ("a", "!", "&", "|") and f != fm.FALSE and not carries:
            return [(devices, "foreign", _CONDITION)]
        return [(devices, "dropped", "")]

    def survives(self, state: State, marker: str) -> bool:
        """Is the cut on this path known to be a multiple of the layout's row group?"""
        group = self.interp.markers[marker].row_group if marker in self.interp.markers else 0
        if not group:
            return False
        for atom, value in state.known.items():
            if atom[0] == "e" and value and isinstance(atom[1], tuple) and atom[1][:1] == ("==",):
                for side in atom[1][1:]:
                    if isinstance(side, tuple) and side[:1] == ("%",) and isinstance(side[2], tuple):
                        number = side[2][1] if side[2][:1] == ("lit",) else self.constant(side[2])
                        if is_multiple(str(number), group):
                            return True
        return False

    def constant(self, key: object) -> str:
        if isinstance(key, tuple) and len(key) == 1 and key[0] in self.program.globals:
            return literal(self.program.globals[key[0]].init)
        return ""

    def oblige(self, state: State, site: Site, origin: Origin) -> None:
        carrier = self.program.carriers.get(origin.carrier)
        if carrier is None:
            return
        for marker in carrier.markers:
            for devices, outcome, _ in self.judge(
                state, origin, marker, None, bool(origin.part), None, read=True
            ):
                made = Obj("", site=site)
                self.record(state, made, origin, marker, devices, outcome, bool(origin.part), "")

    def record(
        self, state: State, obj: Obj, origin: Origin, marker: str, devices: frozenset[str], outcome: str, part: bool,
        foreign: str, returned: bool = False,
    ) -> None:  # fmt: skip
        assert obj.site is not None
        # Nobody puts the marker of another object right; what a parameter says, or a constructor leaves alone, is
        # the caller's to answer for.
        callers_may = outcome in ("dropped", "missing", "part", "rows") or foreign in (_CONDITION, "this")
        self.export(
            Obligation(
                site=obj.site, marker=marker, source=origin.path, source_span=origin.span, source_type=origin.carrier,
                devices=devices, narrowed=state.narrowed or obj.device is not None, outcome=outcome, part=part,
                pending=callers_may and self.is_callers(origin.path), function=self.function.sym,
                insert_after=obj.last_store, foreign=foreign,
            ),
            carried_by_value=returned and outcome == "dropped",
        )  # fmt: skip

    def export(self, obligation: Obligation, carried_by_value: bool = False) -> None:
        """Keep an obligation. One that callers may meet goes into the summary, unless the returned value takes it."""
        key = (
            obligation.site, obligation.marker, obligation.source, obligation.devices, obligation.outcome,
            obligation.via, obligation.part,
        )  # fmt: skip
        self.facts.obligations.setdefault(key, obligation)
        if carried_by_value:
            return
        if (
            obligation.pending
            and obligation.outcome in ("dropped", "part", "rows", "missing")
            and len(obligation.via) < MAX_VIA
        ):
            self.opens.setdefault(key, obligation)


def _is_dtype_of(key: object, sources: Sequence[Path]) -> bool:
    return isinstance(key, tuple) and key[:-1] in sources and "dtype" in str(key[-1]).lower()
