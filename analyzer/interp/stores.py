"""Stores: what an assignment makes of variables, markers, storage and shapes."""

from __future__ import annotations

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import WHOLE, Bool, Dev, Many, Obj, Origin, Path, Ptr, Ref, State, Value
from analyzer.formula import Formula
from analyzer.interp.buffers import Buffers
from analyzer.interp.conditions import Conditions
from analyzer.keys import mentions_symbol
from analyzer.program import Carrier, bare, is_pointer, is_scalar
from analyzer.summary import MarkerWrite


class Stores(Buffers, Conditions):
    """Assignments, and values given to carriers."""

    def bind(self, state: State, path: Path, carrier: Carrier, value: Value) -> None:
        """Give a carrier lvalue its value."""
        if isinstance(value, Many) or value is None:
            obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        elif isinstance(value, Obj):
            obj = self.convert(value, carrier)
            self.consume(state, value)
        elif isinstance(value, Ref):
            obj = self.convert(self.load(state, value), carrier)
            if obj.site is None and not self.is_local(value.path) or value.path not in state.objects:
                obj = replace(obj, whole_copy=value.path)
            else:
                self.consume(state, obj)
        else:
            obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
            if isinstance(value, Ptr):
                obj = replace(obj, storage=value)
        state.objects[path] = replace(obj, done=False)

    def convert(self, obj: Obj, carrier: Carrier) -> Obj:
        if obj.carrier == carrier.name:
            return obj
        return replace(
            obj, carrier=carrier.name, markers=tuple((m, obj.marker(m) or fm.FALSE) for m in carrier.markers)
        )

    def consume(self, state: State, obj: Obj) -> None:
        """A local carrier was copied on: whoever holds the copy answers for it."""
        for path, known in list(state.objects.items()):
            if known.site is not None and known.site == obj.site and not known.done and self.is_local(path):
                state.objects[path] = replace(known, done=True)

    def assign(self, x: ir.Assign, state: State) -> Value:
        target = x.target
        while isinstance(target, ir.Cast):
            target = target.x
        if isinstance(target, ir.Field):
            carrier = self.program.carriers.get(target.owner)
            if carrier is not None:
                return self.assign_member(x, target, carrier, state)
        chained = isinstance(x.value, ir.Assign)
        is_bool = (
            isinstance(target, (ir.Name, ir.Field))
            and bare(target.type if isinstance(target, ir.Field) else self.type_of_local(target.sym))
            == "bool"
        )
        value: Value = (
            Bool(self.test(x.value, state)) if is_bool and not chained else self.eval(x.value, state)
        )
        if isinstance(target, ir.Name):
            self.forget(state, target.sym)
            carrier = self.program.carriers.get(bare(self.type_of_local(target.sym)))
            type_text = self.type_of_local(target.sym)
            if carrier is not None and not is_pointer(type_text):
                alias = state.variables.get(target.sym)
                path = alias.path if isinstance(alias, Ref) else (target.sym,)
                self.assign_whole(state, path, carrier, value)
            elif self.is_buffer(type_text):
                if isinstance(value, Ptr) and target.sym in self.param_syms and type_text.endswith("&"):
                    self.read(value, x.span, state, kind="copyout")
                self.assign_buffer(x, state, (target.sym,), type_text, value)
            elif x.op == "=":
                if value is None:
                    state.variables.pop(target.sym, None)
                else:
                    state.variables[target.sym] = value
            return value
        if isinstance(target, ir.Index):
            base = self.eval(target.base, state)
            self.eval(target.index, state)
            if isinstance(base, Ptr):
                if isinstance(value, Ptr) and is_scalar(target.type):  # an address into a table of numbers
                    self.read(value, x.span, state)
                    value = None
                self.write(base, x.span, state, "store", value)
                return value
            if isinstance(target.base, ir.Field) and target.base.owner in self.program.carriers:
                self.shape_store(target.base, x, state)
        place = self.eval(target, state)
        if isinstance(place, Ref):
            carrier = self.program.carrier_of(place.type)
            if carrier is not None and not is_pointer(place.type):
                self.assign_whole(state, place.path, carrier, value)
            elif isinstance(value, Ref) and is_pointer(place.type):
                state.variables["\0".join(place.path)] = value
            else:
                self.escape(value, x.span, state)
        elif isinstance(place, Ptr):
            if isinstance(target, ir.Unary):
                self.write(place, x.span, state, "store", value)
            elif isinstance(target, ir.Field):  # one of several members of an owner of bytes
                self.into_plain(value, x.span, state, target.owner)
                for path, _ in place.buffers:
                    if isinstance(value, Ptr):
                        state.content[path] = value.join(state.content.get(path, Ptr()))
            else:
                for path, _ in place.buffers:
                    state.content[path] = value if isinstance(value, Ptr) else Ptr()
        elif isinstance(target, ir.Field):
            self.into_plain(value, x.span, state, target.owner)
        return value

    def assign_buffer(self, x: ir.Assign, state: State, path: Path, type_text: str, value: Value) -> None:
        known = state.variables.get(path[0])
        if x.op in ("+=", "-="):
            if isinstance(known, Ptr):
                state.variables[path[0]] = known if self.is_zero(x.value, state) else known.cut()
            return
        held = value if isinstance(value, Ptr) else Ptr()
        if is_pointer(type_text) or is_borrowing(type_text):
            state.variables[path[0]] = (
                held if isinstance(value, Ptr) else Ptr(frozenset(), frozenset({(path, WHOLE)}))
            )
            return
        if isinstance(known, Ptr) and not (
            known.buffers == {(path, WHOLE)} or not known.buffers
        ):  # a reference
            for buffer, _ in known.buffers:
                state.content[buffer] = held
            return
        state.content[path] = held

    def forget(self, state: State, sym: ir.Sym) -> None:
        """A variable changes: conditions about its old value say nothing any more."""
        stale = [
            a
            for a in state.known
            if a[0] == "e" and mentions_symbol(a[1], sym) or a[0] == "m" and a[1][0] == sym
        ]
        for atom in stale:
            del state.known[atom]

    def assign_whole(self, state: State, path: Path, carrier: Carrier, value: Value) -> None:
        if isinstance(value, Ref) and value.path == path:
            return
        for atom in [a for a in state.known if a[0] == "m" and a[1] == path]:
            del state.known[atom]
        self.bind(
            state, path, carrier, value
        )  # settled when the function ends: the next lines may still mark it

    def assign_member(self, x: ir.Assign, target: ir.Field, carrier: Carrier, state: State) -> Value:
        base = self.eval(target.base, state)
        if target.name in carrier.markers:
            value: Value = (
                self.eval(x.value, state)
                if isinstance(x.value, ir.Assign)
                else Bool(self.test(x.value, state))
            )
            if isinstance(base, Ref) and isinstance(value, Bool):
                literal = isinstance(x.value, (ir.Lit, ir.Assign))
                self.set_marker(base, target, carrier, value.formula, state, x.span, literal)
            return value
        value = self.eval(x.value, state)
        if not isinstance(base, Ref):
            return value
        if target.name in carrier.storage:
            self.set_storage(x, base, target, carrier, value, state)
            return value
        obj = state.objects.get(base.path)
        if obj is not None:
            obj = replace(obj, last_store=x.span.end)
            if (
                isinstance(value, Dev)
                and self.program.is_device(target.type)
                or isinstance(value, Dev)
                and "device" in target.name
            ):
                obj = replace(obj, device=value.names)
            elif "device" in target.name and not isinstance(value, Dev):
                obj = replace(obj, device=None)
            state.objects[base.path] = obj
        return value

    def shape_store(self, array: ir.Field, x: ir.Assign, state: State) -> None:
        base = self.eval(array.base, state)
        if not isinstance(base, Ref):
            return
        obj = state.objects.get(base.path)
        if obj is None or obj.done:
            return
        obj = replace(obj, last_store=x.span.end)
        index = x.target.index if isinstance(x.target, ir.Index) else None
        if "shape" in array.name and isinstance(index, ir.Lit) and index.value == "0" and x.op == "=":
            obj = replace(obj, rows=self.key(x.value, state))
        if obj.whole_copy is not None and not obj.filled and "shape" in array.name:
            source = (*obj.whole_copy, array.name)
            key = self.key(x.value, state)
            if not (isinstance(key, tuple) and key[:-1] == source) and not obj.reshaped:
                obj = replace(
                    obj,
                    reshaped=True,
                    site=obj.site or self.site(x.span, "reshape", self.spelling(array.base)),
                )
        state.objects[base.path] = obj

    def reshapes(self, x: ir.Call, storage: Ptr, state: State) -> bool:
        """Are the dimensions given to a factory those of the source, multiplied, divided or in another order?"""
        for argument in x.args:
            while (
                isinstance(argument, ir.Cast)
                or isinstance(argument, ir.Call)
                and argument.kind == "ctor"
                and argument.args
            ):
                argument = argument.x if isinstance(argument, ir.Cast) else argument.args[0]
            if not isinstance(argument, ir.Init):
                continue
            given = [self.key(item, state) for item in argument.items]
            for origin in storage.origins:
                own = [_dimension_of(key, origin.path) for key in given]
                if None not in own and own != sorted(own, key=str):
                    return True
                if any(
                    isinstance(k, tuple) and k[0] in ("*", "/") and _has_dimension(k, origin.path)
                    for k in given
                ):
                    return True
        return False

    def set_marker(
        self,
        base: Ref,
        target: ir.Field,
        carrier: Carrier,
        f: Formula,
        state: State,
        span: ir.Span,
        literal: bool,
    ) -> None:
        reduced = fm.reduce(f, state.known)
        word = "other"
        if reduced == fm.TRUE:
            word = "true" if f == fm.TRUE and literal else "copy"
        elif reduced == fm.FALSE:
            word = "false"
        elif any(a[0] == "m" for a in fm.atoms(f)):
            word = "copy"
        self.facts.marker_writes.add(
            MarkerWrite(
                self.function.sym, self.function.path, span, base.path, target.name, word, carrier.name,
                self.is_local(base.path), frozenset(a for a, v in state.known.items() if v and a[0] == "e"),
            )
        )  # fmt: skip
        obj = self.load(state, Ref(base.path, carrier.name, base.span))
        state.known.pop(("m", base.path, target.name), None)
        state.objects[base.path] = replace(obj.with_marker(target.name, f), last_store=span.end)
        state.resolved -= {(base.path, target.name)}

    def set_storage(
        self, x: ir.Assign, base: Ref, target: ir.Field, carrier: Carrier, value: Value, state: State
    ) -> None:
        own = (*base.path, target.name)
        if (carrier.name, target.name) in self.interp.fresh_fields:
            return
        if isinstance(value, (Ref, Obj)) and carrier.inner:
            inner = self.load(state, value) if isinstance(value, Ref) else value
            value = inner.storage
        held = value if isinstance(value, Ptr) else Ptr()
        held = self.resolve(held, state)
        obj = self.load(state, Ref(base.path, carrier.name, base.span))
        local = self.is_local(base.path) and base.path in state.objects
        same = any(o.path == base.path for o in held.origins)
        if same and not local:
            if not any(o.part for o in held.origins if o.path == base.path):
                state.content[own] = held
                return
        if local or base.path in state.objects and obj.whole_copy is None:
            whole = all(not o.part for o in held.origins)
            made_elsewhere = obj.whole_copy is not None or bool(obj.open) or obj.filled and not obj.filled_by
            form = "retag" if made_elsewhere or target.name in obj.filled_by else "fields"
            if not held.origins and not held.buffers and obj.storage.origins:
                return  # e.g. a keep-alive handle next to the real pointer
            joined = held if not obj.filled or form == "retag" else obj.storage.join(held)
            if (
                obj.whole_copy is not None
                and whole
                and held.origins
                and {o.path for o in held.origins} <= {o.path for o in obj.storage.origins}
            ):
                state.objects[base.path] = replace(obj, storage=held, filled=True, last_store=x.span.end)
                if obj.site is None:
                    return
            if not held.origins and obj.storage.origins and obj.filled:
                return
            if form == "retag":
                self.facts.retagged |= {left.site for left in obj.open}
            keep = obj.site if obj.site is not None and obj.filled and form == "fields" else None
            state.objects[base.path] = replace(
                obj, storage=joined, filled=True, last_store=x.span.end, open=frozenset(),
                filled_by=(*obj.filled_by, target.name),
                site=keep or self.site(x.span, form, self.spelling(target.base), carrier.name), whole_copy=None,
            )  # fmt: skip
            return
        if not held.origins and not held.buffers:
            return
        # bytes of somebody else's carrier are replaced
        self.note_write(base.path, carrier, "replace", x.span, held, state)
        state.objects[base.path] = replace(
            obj, storage=Ptr(frozenset({Origin(base.path, carrier.name)})),
        )  # fmt: skip
        if held.origins and not same:
            made = Obj(
                carrier.name, storage=held, markers=state.objects[base.path].markers, filled=True,
                site=self.site(x.span, "borrow", self.spelling(target.base), carrier.name), last_store=x.span.end,
            )  # fmt: skip
            state.objects[base.path] = made


def is_borrowing(type_text: str) -> bool:
    """Return whether an object of this type points to its bytes, so that a copy of it copies none."""
    base = bare(type_text)
    return is_pointer(type_text) or base.startswith(
        ("std::span<", "std::shared_ptr<", "std::unique_ptr<", "__gnu_cxx::")
    )


def _dimension_of(key: object, path: Path) -> str | None:
    """`[1]` for the key of `path.shape[1]`."""
    here = len(path)
    if (
        not isinstance(key, tuple)
        or len(key) != here + 2
        or key[:here] != path
        or "shape" not in str(key[here])
    ):
        return None
    return str(key[-1])


def _has_dimension(key: object, path: Path) -> bool:
    return _dimension_of(key, path) is not None or (
        isinstance(key, tuple) and any(_has_dimension(part, path) for part in key)
    )
