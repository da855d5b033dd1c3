"""Raw bytes: what reads them, writes them, copies them, and what hands a carrier away."""

from __future__ import annotations

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import Many, Obj, Path, Ptr, Ref, State, Value
from analyzer.interp.obligations import Obligations
from analyzer.program import Carrier
from analyzer.summary import BytesWrite


class Buffers(Obligations):
    """Reads and writes of bytes."""

    def read(self, ptr: Ptr, span: ir.Span, state: State, callee: str = "", kind: str = "read") -> None:
        """Bytes are read for their values, by this function or by a callee that knows nothing of markers."""
        ptr = self.resolve(ptr, state)
        for path, _ in ptr.buffers:
            if path[0] in self.param_syms and kind == "read":
                self.reads.add(path)
        if not ptr.origins:
            return
        site = self.site(span, kind, callee=callee)
        for origin in sorted(ptr.origins, key=lambda o: o.order):
            self.oblige(state, site, origin)

    def write(self, ptr: Ptr, span: ir.Span, state: State, kind: str, value: Value, callee: str = "") -> None:
        """Bytes are written through a pointer."""
        held = value if isinstance(value, Ptr) else Ptr()
        held = self.resolve(held, state)
        for path, _ in ptr.buffers:
            if path[0] in self.param_syms:
                self.writes.add(path)
            if kind != "store" or held.origins:
                known = state.content.get(path, Ptr())
                state.content[path] = known.join(held) if kind == "store" else held
        for origin in sorted(ptr.origins, key=lambda o: o.order):
            carrier = self.program.carriers.get(origin.carrier)
            if carrier is None:
                continue
            obj = state.objects.get(origin.path)
            fresh_local = obj is not None and self.is_local(origin.path) and obj.whole_copy is None
            if fresh_local and obj is not None and held.origins:
                outside = frozenset(o for o in held.origins if o.path != origin.path)
                if outside and obj.filled and obj.site is not None and obj.site.form == "copy":
                    state.objects[origin.path] = replace(obj, storage=obj.storage.join(Ptr(outside)))
                    continue
                if outside and not obj.filled:
                    state.objects[origin.path] = replace(
                        obj, storage=Ptr(outside), filled=True, last_store=self.statement.end,
                        site=self.site(span, "copy", self.names.get(origin.path[0], ""), carrier.name),
                    )  # fmt: skip
                    continue
            self.note_write(origin.path, carrier, kind, span, held, state, callee)

    def note_write(
        self,
        path: Path,
        carrier: Carrier,
        kind: str,
        span: ir.Span,
        held: Ptr,
        state: State,
        callee: str = "",
    ) -> None:
        if kind == "replace" and not held.origins and not held.buffers:
            return  # emptied, not filled
        site = self.site(span, "write", callee=callee)
        state.written |= {(path, span.begin)}
        obj = state.objects.get(path)
        known: dict[str, bool] = {}
        for marker in carrier.markers:
            fact = state.known.get(("m", path, marker))
            if fact is None and obj is not None:
                value = fm.reduce(obj.marker(marker) or fm.FALSE, state.known)
                fact = value[1] if value[0] == "c" else None
            if fact is not None:
                known[marker] = fact
        local = self.is_local(path) and (obj is not None and obj.whole_copy is None)
        record = BytesWrite(
            site, path, carrier.name, kind, frozenset(o.path for o in held.origins), state.devices,
            tuple(sorted(known.items())), local, callee,
        )  # fmt: skip
        self.facts.byte_writes.setdefault((site, path, record.known, kind), record)

    def into_plain(self, value: Value, span: ir.Span, state: State, owner: str) -> None:
        """A pointer or copy of bytes goes into a record that has no markers."""
        if owner.startswith(("std::pair", "std::tuple")):
            return  # a key made of an address
        if isinstance(value, Ptr) and owner not in self.program.carriers:
            held = self.resolve(value, state)
            if held.origins:
                site = self.site(span, "into", callee=owner)
                for origin in sorted(held.origins, key=lambda o: o.order):
                    self.oblige(state, site, origin)
        else:
            self.escape(value, span, state)

    def escape(self, value: Value, span: ir.Span, state: State) -> None:
        """A carrier leaves this function's hands: its obligations fall due."""
        if isinstance(value, Ref):
            obj = state.objects.get(value.path)
            if (
                obj is not None
                and not obj.done
                and (self.is_local(value.path) or value.path[0].startswith("tmp@"))
            ):
                self.settle(state, value.path, obj)
                if value.path in state.objects:
                    state.objects[value.path] = replace(obj, done=True)
        elif isinstance(value, Obj):
            if not value.done:
                self.settle(state, (), value)
        elif isinstance(value, Many):
            for item in value.items:
                self.escape(item, span, state)

    def copy_call(self, x: ir.Call, last: str, args: list[Value], state: State) -> None:
        if last in ("copy", "copy_n", "uninitialized_copy") and len(args) >= 3:
            source, dest = args[0], args[2]
        else:
            dest, source = args[0], args[1]
        if isinstance(dest, Ptr):
            self.copy_bytes(x, dest, source if isinstance(source, Ptr) else Ptr(), state)
        elif isinstance(source, Ptr):
            self.read(source, x.span, state, x.name)

    def copy_bytes(self, x: ir.Call, dest: Ptr, source: Ptr, state: State) -> None:
        """`source`'s bytes go to `dest`. Into a buffer they stay those bytes; a reader of markers is still owed."""
        held = self.stamped(self.resolve(source, state), state)
        passed_on = any(
            path[0] in self.param_syms for path, _ in dest.buffers
        )  # a copy for the caller to judge
        for path, _ in source.buffers:
            if path[0] in self.param_syms and not passed_on:
                self.reads.add(path)
        self.write(dest, x.span, state, "store" if dest.origins else "replace", held, x.name)
        outside = dest.buffers and not all(self.is_local((b[0][0],)) for b in dest.buffers)
        if held.origins:
            fresh = any(path[0].startswith(("call@", "new@")) for path, _ in dest.buffers)
            form = "copyout" if outside or not dest.buffers else "upload" if fresh else "copy-bytes"
            site = self.site(x.span, form, callee=x.name)
            if not dest.origins:
                for origin in sorted(held.origins, key=lambda o: o.order):
                    self.oblige(state, site, origin)

    def stamped(self, ptr: Ptr, state: State) -> Ptr:
        """The same bytes, with what a dtype test on this path says they are not."""
        origins = set()
        for origin in ptr.origins:
            carrier = self.program.carriers.get(origin.carrier)
            markers = carrier.markers if carrier is not None else ()
            never = frozenset(m for m in markers if self.excluded(state, origin.path, m))
            origins.add(origin if never <= origin.never else replace(origin, never=origin.never | never))
        return Ptr(frozenset(origins), ptr.buffers)

    def copied_out(self, dest: Ptr, source: Ptr, x: ir.Call, state: State) -> None:
        """Bytes go into a container of the caller's."""
        if not dest.origins and any(path[0] in self.param_syms for path, _ in dest.buffers):
            self.read(source, x.span, state, x.name, kind="copyout")

    def swap(self, x: ir.Call, args: list[Value], state: State) -> None:
        for argument in x.args:
            inner: ir.Expr = argument
            while isinstance(inner, (ir.Index, ir.Cast)):
                inner = inner.base if isinstance(inner, ir.Index) else inner.x
            if (
                isinstance(inner, ir.Field)
                and inner.owner in self.program.carriers
                and isinstance(argument, ir.Index)
            ):
                base = self.eval(inner.base, state)
                if isinstance(base, Ref):
                    obj = self.load(state, replace(base, type=inner.owner))
                    if obj.site is None and obj.whole_copy is not None and self.is_local(base.path):
                        state.objects[base.path] = replace(
                            obj,
                            reshaped=True,
                            site=self.site(x.span, "reshape", self.spelling(inner.base), inner.owner),
                        )
        first, second = args
        if isinstance(first, Ptr) and isinstance(second, Ptr):
            a, b = self.resolve(first, state), self.resolve(second, state)
            self.write(first, x.span, state, "replace", b)
            self.write(second, x.span, state, "replace", a)
