"""The states of a function: choices inside a statement are explored, states with no difference that matters joined."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import Bool, Ptr, Ref, State, Value
from analyzer.formula import Atom
from analyzer.interp.obligations import Obligations
from analyzer.summary import Dead

_MAX_STATES = 4
_MAX_CHOICES = 8


class States(Obligations):
    """Exploring and joining of states."""

    def simple(
        self, states: list[State], span: ir.Span, kind: str, action: Callable[[State], Value]
    ) -> list[State]:
        """Run one statement on each state, exploring the choices inside it."""
        outer = (self.statement, self.statement_kind)
        self.statement, self.statement_kind = span, kind
        result = [state for state, _ in self.explore(states, action)]
        self.statement, self.statement_kind = outer
        for state in result:
            temporary = [p for p in state.objects if p[0].startswith("tmp@")]
            if temporary:
                held = {v.path for v in state.variables.values() if isinstance(v, Ref)}
                for path in temporary:
                    if path not in held:
                        del state.objects[path]
        return self.join(result)

    def explore(self, states: list[State], action: Callable[[State], Value]) -> list[tuple[State, Value]]:
        found: list[tuple[State, Value]] = []
        saved = (self.choices, self.log)
        for state in states:
            pending: list[tuple[int, ...]] = [()]
            runs = alive = 0
            while pending and alive < _MAX_CHOICES and runs < 8 * _MAX_CHOICES:
                runs += 1
                self.choices = pending.pop()
                self.log = []
                trial = state.copy()
                try:
                    value = action(trial)
                except Dead:
                    pass
                else:
                    alive += 1
                    found.append((trial, value))
                taken = tuple(c for c, _ in self.log)
                for position in range(len(self.choices), len(self.log)):
                    for alternative in range(1, self.log[position][1]):
                        pending.append((*taken[:position], alternative))
            if pending and not alive:  # too many ways to try: go on without what was asked
                found.append((state.copy(), None))
        self.choices, self.log = saved
        return found

    def join(self, states: list[State]) -> list[State]:
        """Drop differences that cannot matter: states equal but for opaque conditions become one."""
        if len(states) < 2:
            return states
        merged: list[tuple[State, dict[Atom, bool]]] = []
        for state in states:
            told = {a: v for a, v in state.known.items() if a[0] != "e"}
            # They share most of their values: to compare them is cheaper than to hash all of them.
            first = next((s for s, known in merged if known == told and s.same(state)), None)
            if first is None:
                merged.append((state, told))
            else:
                first.known = {a: v for a, v in first.known.items() if state.known.get(a) == v}
                first.narrowed = first.narrowed and state.narrowed
                first.device_of = first.device_of if first.device_of == state.device_of else ""
                first.resolved &= state.resolved
                first.dispatched |= state.dispatched
        result = [state for state, _ in merged]
        if len(result) > _MAX_STATES:
            result = self.squeeze(result)
        return result

    def squeeze(self, states: list[State]) -> list[State]:
        """Too many states: merge those that agree on devices and markers, joining what their carriers are."""
        groups: dict[object, State] = {}
        for state in states:
            key: object = (state.devices, frozenset((a, v) for a, v in state.known.items() if a[0] == "m"))
            if len(groups) >= _MAX_STATES:
                key = state.devices if any(k == state.devices for k in groups) else next(iter(groups))
            first = groups.get(key)
            if first is None:
                groups[key] = state
                continue
            first.known = {a: v for a, v in first.known.items() if state.known.get(a) == v}
            first.devices |= state.devices
            first.narrowed = first.narrowed and state.narrowed
            first.device_of = first.device_of if first.device_of == state.device_of else ""
            first.resolved &= state.resolved
            first.dispatched |= state.dispatched
            for path in set(first.objects) | set(state.objects):
                a, b = first.objects.get(path), state.objects.get(path)
                if a is None or b is None or a == b:
                    if a is None and b is not None:
                        first.objects[path] = b
                    continue
                if b.site is not None and b.site != a.site and not b.done and self.is_local(path):
                    self.settle(state, path, b)  # its site would be lost in the other's
                markers = tuple((k, fm.one_of(v, b.marker(k) or v)) for k, v in a.markers)
                first.objects[path] = replace(
                    a, storage=a.storage.join(b.storage), markers=markers, site=a.site or b.site, open=a.open | b.open,
                    done=a.done and b.done,
                )  # fmt: skip
            for symbol, value in state.variables.items():
                mine = first.variables.get(symbol)
                if mine != value:
                    if isinstance(mine, Ptr) and isinstance(value, Ptr):
                        first.variables[symbol] = mine.join(value)
                    elif isinstance(mine, Bool) and isinstance(value, Bool):
                        first.variables[symbol] = Bool(fm.one_of(mine.formula, value.formula))
                    elif mine is None:
                        first.variables[symbol] = value
            for path, held in state.content.items():
                first.content[path] = held.join(first.content.get(path, Ptr()))
        return list(groups.values())
