"""A callee's summary in the terms of one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import (
    WHOLE,
    Bool,
    Dev,
    Many,
    Obj,
    Obligation,
    Open,
    Origin,
    Path,
    Ptr,
    Ref,
    State,
    Value,
)
from analyzer.formula import Atom, Formula
from analyzer.keys import substitute
from analyzer.program import bare
from analyzer.summary import MAX_VIA, Case, Summary

if TYPE_CHECKING:
    from analyzer.interp.externals import Externals


class Binding:
    """Parameters of a callee in terms of the caller."""

    def __init__(
        self, run: Externals, function: ir.Function, base: Value, args: list[Value], x: ir.Call, state: State
    ) -> None:
        self.run = run
        self.state = state
        self.at = x.span.begin
        self.values: dict[str, Value] = {}
        self.keys: dict[str, object] = {}
        self.renamed: dict[object, Formula] = {}
        for position, param in enumerate(function.params):
            value = args[position] if position < len(args) else None
            argument = x.args[position] if position < len(x.args) else None
            if (
                argument is None or isinstance(argument, ir.Other) and not argument.items
            ) and param.default is not None:
                argument = param.default
                value = run.eval(param.default, state)
            if isinstance(value, Obj):
                path = (f"tmp@{argument.span.begin if argument else x.span.begin}:{position}",)
                state.objects[path] = value
                value = Ref(path, value.carrier, x.span)
            self.values[param.sym] = value
            if argument is not None:
                self.keys[param.sym] = run.key(argument, state)
                if bare(param.type) == "bool" and not isinstance(value, Bool):
                    self.values[param.sym] = Bool(fm.atom("e", run.key(argument, state)))
        if base is not None:
            self.values["this"] = base
            self.keys["this"] = base.path if isinstance(base, Ref) else ()

    def path(self, path: Path) -> Path | None:
        if path[0] not in self.values:
            if self.run.function.sym and (
                path[0] in self.run.locals or path[0] in self.run.param_syms or self.run.outer
            ):
                return path
            return None if ":" in path[0] or path[0] == "this" or "@" in path[0][:5] else path
        value = self.values[path[0]]
        return (*value.path, *path[1:]) if isinstance(value, Ref) else None

    def pointer(self, path: Path) -> Ptr | None:
        """The caller's pointer behind a callee's buffer path."""
        value = self.values.get(path[0])
        if isinstance(value, Ptr):
            return value
        if isinstance(value, Ref):
            where = (*value.path, *path[1:])
            if where in self.state.content:
                return self.state.content[where]
            return Ptr(frozenset(), frozenset({(where, WHOLE)}))
        return None

    def formula(self, f: Formula) -> Formula:
        def change(atom: Atom) -> Formula:
            if atom[0] == "m":
                value = self.values.get(atom[1][0])
                if isinstance(value, Ref):
                    where = (*value.path, *atom[1][1:])
                    if len(atom[1]) == 1 or where in self.state.objects:
                        obj = self.run.load(self.state, Ref(where, value.type if len(atom[1]) == 1 else ""))
                        known = obj.marker(atom[2])
                        if known is not None:
                            return known
                    return fm.atom("m", where, atom[2])
                if atom[1][0] in self.values:
                    return fm.atom("e", ("lost", atom[1], atom[2]))
                return fm.atom(*atom)
            if atom[0] == "e":
                if isinstance(atom[1], tuple) and len(atom[1]) == 1 and atom[1][0] in self.values:
                    value = self.values[atom[1][0]]
                    if isinstance(value, Bool):
                        return value.formula
                renamed = self.renamed.get(atom[1])
                if renamed is None:
                    renamed = self.renamed[atom[1]] = fm.atom("e", substitute(atom[1], self.keys))
                return renamed
            return fm.atom(*atom)

        return fm.replace(f, change)

    def consistent(self, case: Case, state: State) -> bool:
        if not state.known and not any(a[0] == "m" for a, _ in case.known):
            return True
        for atom, value in case.known:
            reduced = fm.reduce(self.formula(("a", atom)), state.known)
            if reduced[0] == "c" and reduced[1] is not value:
                return False
        return True

    def handed(self, base: Value) -> list[Ref]:
        """The carriers that the call hands over."""
        found = [v for v in self.values.values() if isinstance(v, Ref)]
        return [base, *found] if isinstance(base, Ref) else found

    def spells(self, atom: Atom) -> bool:
        """A boolean parameter: the condition is spelled in the caller's argument."""
        key = atom[1]
        return (
            atom[0] == "e"
            and isinstance(key, tuple)
            and len(key) == 1
            and isinstance(self.values.get(key[0]), Bool)
        )

    def touched(self, summary: Summary) -> set[Path]:
        """Paths whose markers the callee sets or passes on: they are not handed over yet."""
        found: set[Path] = set()
        for case in summary.cases:
            for path, _ in case.objects:
                where = self.path(path)
                if where is not None:
                    found.add(where)
            value = case.value
            if isinstance(value, Obj):
                for origin in value.storage.origins:
                    where = self.path(origin.path)
                    if where is not None:
                        found.add(where)
        return found

    def held(self, ptr: Ptr) -> Ptr:
        origins: set[Origin] = set()
        buffers: set[tuple[Path, str]] = set()
        for origin in ptr.origins:
            value = self.values.get(origin.path[0])
            if origin.path[0] in self.values:
                if isinstance(value, Ref):
                    where = (*value.path, *origin.path[1:])
                    known = self.state.objects.get(where)
                    if known is not None and known.storage.origins and known.whole_copy is None:
                        inner = known.storage.cut() if origin.part else known.storage
                        origins |= {replace(o, never=o.never | origin.never) for o in inner.origins}
                        buffers |= inner.buffers
                    else:
                        origins.add(replace(origin, path=where, span=value.span))
            else:
                origins.add(origin)
        for path, part in ptr.buffers:
            value = self.values.get(path[0])
            if isinstance(value, Ptr) and len(path) == 1:
                inner = value.cut() if part else value
                origins |= inner.origins
                buffers |= inner.buffers
            elif isinstance(value, Ref):
                buffers.add(((*value.path, *path[1:]), part))
            elif path[0] not in self.values:  # memory of the callee's own: another one at each call
                own = ":" in path[0] or path[0].startswith(("call@", "new@"))
                buffers.add(((f"call@{self.at}", *path[1:]) if own else path, part))
        return self.run.resolve(Ptr(frozenset(origins), frozenset(buffers)), self.state)

    def object(self, obj: Obj, x: ir.Call) -> Obj:
        """A carrier the callee made or changed, in the caller's terms."""
        storage = self.held(obj.storage)
        markers = tuple((m, self.formula(f)) for m, f in obj.markers)
        opens = set()
        reshaped = obj.reshaped
        for left in obj.open:
            where = self.path(left.source)
            if where is not None:
                known = self.state.objects.get(where)
                if known is not None and known.storage.origins and known.whole_copy is None:
                    value = known.marker(left.marker)
                    if value is not None and fm.reduce(value, self.state.known) == fm.FALSE:
                        continue
                hop = (self.run.function.sym, self.run.function.path, x.span, where)
                if len(left.via) < MAX_VIA:
                    opens.add(replace(left, source=where, via=(*left.via, hop)))
        site = obj.site
        passed_on = site is None  # perhaps with other markers: what it was made by stays
        for origin in obj.storage.origins:
            where = self.path(origin.path)
            known = self.state.objects.get(where) if where is not None else None
            if known is None or known.site is None:
                continue
            opens |= known.open  # a view of a view has lost what that one lost
            if passed_on:
                site = known.site
                self.state.objects[where] = replace(known, done=True)  # type: ignore[index]
        inside = {o.path for o in obj.storage.origins}
        if storage.origins and not inside:  # the bytes became a carrier's here
            rooted = self.rooted(obj, storage)
            opens = set() if rooted is None else rooted
            if rooted is None:  # this call is the construction
                site = self.run.site(x.span, "factory", x=x)
                reshaped = reshaped or self.run.reshapes(x, storage, self.state)
        elif not storage.origins and obj.filled and not inside:
            site = self.run.site(x.span, "factory", x=x)
        device = obj.device
        if device is None:
            device = next((v.names for v in self.values.values() if isinstance(v, Dev)), None)
        copy = self.path(obj.whole_copy) if obj.whole_copy is not None else None
        return replace(
            obj, storage=storage, markers=markers, open=frozenset(opens), site=site, device=device, done=False,
            last_store=0, filled_by=(), reshaped=reshaped,
            whole_copy=copy if copy is not None else None,
        )  # fmt: skip

    def rooted(self, obj: Obj, storage: Ptr) -> set[Open] | None:
        """The callee got the weight beside its bytes: then the construction, and the loss, are the callee's."""
        if obj.site is None:
            return None
        owners = {v.path: s for s, v in self.values.items() if isinstance(v, Ref)}
        if not all(o.path in owners for o in storage.origins):
            return None
        run, opens = self.run, set()
        callee = obj.site.function
        for origin in storage.origins:
            param = (owners[origin.path],)
            carrier = run.program.carriers.get(origin.carrier)
            for marker in carrier.markers if carrier is not None else ():
                value = obj.marker(marker)
                kept = value is not None and fm.reduce(value, {("m", param, marker): True}) == fm.TRUE
                run.export(
                    Obligation(
                        site=obj.site, marker=marker, source=param, source_span=None, source_type=origin.carrier,
                        devices=run.interp.everywhere, narrowed=False, outcome="carried" if kept else "dropped",
                        pending=not kept, function=callee,
                    ),
                    carried_by_value=True,
                )  # fmt: skip
                if kept:
                    run.facts.carried_by_call.add((run.function.sym, origin.path, marker))
                else:
                    hop = (run.function.sym, run.function.path, run.statement, origin.path)
                    opens.add(Open(obj.site, marker, origin.path, run.interp.everywhere, (hop,)))
        return opens

    def value(self, value: Value, x: ir.Call) -> Value:
        if isinstance(value, Obj):
            return self.object(value, x)
        if isinstance(value, Ptr):
            return self.held(value)
        if isinstance(value, Bool):
            return Bool(self.formula(value.formula))
        if isinstance(value, Ref):
            where = self.path(value.path)
            return (
                Ref(where, value.type, x.span)
                if where is not None
                else Ref((f"call@{x.span.begin}",), x.type, x.span)
            )
        if isinstance(value, Many):
            return Many(tuple(self.value(v, x) for v in value.items))
        if value is None:
            return self.run.opaque(x, self.state) if x.type and bare(x.type) != "void" else None
        return value
