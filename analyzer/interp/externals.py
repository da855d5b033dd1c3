"""Callees whose body is not there: the standard library by name, everything else by signature."""

from __future__ import annotations

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import WHOLE, Bool, Dev, Obj, Ptr, Ref, State, Value
from analyzer.interp.stores import Stores
from analyzer.keys import short
from analyzer.program import bare, is_byte_pointer, is_mutable_reference, is_pointer, is_scalar
from analyzer.walk import COPIES

_PASS_THROUGH = frozenset(
    {"move", "forward", "as_const", "ref", "cref", "addressof", "to_address", "get", "value", "launder"}
)
_ACCESSORS = frozenset(
    {"data", "get", "begin", "end", "cbegin", "cend", "rbegin", "front", "back", "at", "c_str", "subspan",
     "first", "last",     "value", "lock", "span"}
)  # fmt: skip
_PART_ACCESSORS = frozenset({"end", "cend", "back", "subspan", "last"})
_REPLACERS = frozenset({"assign", "swap", "reset", "operator="})
_GROWERS = frozenset(
    {"push_back", "emplace_back", "insert", "emplace", "push", "try_emplace", "insert_or_assign"}
)
_SIZERS = frozenset(
    {"size", "empty", "length", "capacity", "use_count", "has_value", "resize", "reserve", "clear", "count"}
)


class Externals(Stores):
    """Calls of what has no body."""

    def memory(self, x: ir.Call, args: list[Value], state: State) -> tuple[bool, Value]:
        """Copies and allocations, by their signatures: what a back end does inside moves bytes, it reads none."""
        function = self.program.function(x.callee) if x.callee else None
        if function is None:
            return False, None
        types = [p.type for p in function.params]
        pointers = [
            (a, t) for a, t in zip(args, types, strict=False) if isinstance(a, Ptr) and is_byte_pointer(t)
        ]
        if len(pointers) == 2 and is_copy_signature(types):
            (first, kind), (second, _) = pointers
            dest, source = (first, second) if is_mutable_reference(kind) else (second, first)
            self.copy_bytes(x, dest, source, state)
            return True, None
        carriers = any(
            isinstance(a, Obj) or isinstance(a, Ref) and self.program.carrier_of(a.type) for a in args
        )
        if bare(x.type) == "void" and is_pointer(x.type) and not pointers and not carriers:
            return True, Ptr(frozenset(), frozenset({((f"call@{x.span.begin}",), WHOLE)}))
        return False, None

    def standard(
        self, x: ir.Call, last: str, base: Value, args: list[Value], state: State
    ) -> tuple[bool, Value]:
        """Functions of the standard library, and calls that could not be resolved, by what their names mean."""
        if last in _PASS_THROUGH and len(args) == 1 and base is None:
            return True, args[0]
        if last in COPIES and len(args) >= 2:
            self.copy_call(x, last, args, state)
            return True, args[0]
        if last in ("make_shared", "make_unique", "make_optional") and args:
            carriers = [a for a in args if isinstance(a, (Obj, Ref))]
            return True, carriers[0] if carriers else args[0]
        if last == "swap" and len(args) == 2:
            self.swap(x, args, state)
            return True, None
        if last in (
            "min",
            "max",
            "printf",
            "fprintf",
            "to_string",
            "abs",
            "sort",
            "fill",
            "fill_n",
            "any_of",
            "all_of",
        ):
            return True, None
        if last in _GROWERS:
            for value in args:
                self.escape(value, x.span, state)
                if isinstance(value, Ptr) and isinstance(base, Ref):
                    self.into_plain(value, x.span, state, "")
            return True, None
        if isinstance(base, Ref) and last in (
            "at",
            "front",
            "back",
            "value",
            "get",
            "operator*",
            "find",
            "emplace",
            "begin",
            "end",
        ):
            carrier_type = x.type
            if self.program.carrier_of(carrier_type) or not is_scalar(carrier_type):
                if last in ("get", "value"):
                    return True, replace(base, span=x.span)
                return True, Ref(
                    (*base.path, "[*]" if last != "at" else f"[{short(self.key(x.args[0], state))}]"),
                    carrier_type,
                    x.span,
                )
        return False, None

    def on_buffer(self, x: ir.Call, last: str, base: Ptr, args: list[Value], state: State) -> Value:
        """A method of an object that owns or borrows bytes."""
        if last in _REPLACERS:
            value = next((a for a in args if isinstance(a, Ptr)), Ptr())
            if last == "reset":
                if not args:
                    return None
            self.write(base, x.span, state, "replace", value, x.name)
            self.copied_out(base, value, x, state)
            if last == "swap" and isinstance(value, Ptr):
                self.write(value, x.span, state, "replace", base, x.name)
            return None
        if last in _GROWERS:
            grown = next((a for a in args if isinstance(a, Ptr)), None)
            if grown is not None:
                self.write(base, x.span, state, "store", grown, x.name)
                self.copied_out(base, grown, x, state)
            return None
        if last in _SIZERS or is_scalar(x.type) and last not in ("at", "front", "back"):
            return None
        if last in ("at", "front", "back", "operator[]") and is_scalar(x.type):
            self.read(base, x.span, state)
            return None
        if last in _ACCESSORS or not is_scalar(x.type):
            if any(isinstance(a, Ptr) for a in args):
                held = next(a for a in args if isinstance(a, Ptr))
                if self.is_buffer(x.type) and not base.origins:
                    return held
            moved = last in _PART_ACCESSORS or bool(args) and is_byte_pointer(x.type)
            return base.cut() if moved else base
        return None

    def unknown(self, x: ir.Call, base: Value, args: list[Value], state: State) -> Value:
        """A callee without a body: judged by its signature."""
        function = self.program.function(x.callee) if x.callee else None
        types = [p.type for p in function.params] if function is not None else []
        last = x.name.rpartition("::")[2]
        pointers = [(i, a) for i, a in enumerate(args) if isinstance(a, Ptr)]
        result = self.program.carriers.get(bare(x.type))
        takes_carrier = (
            isinstance(base, Ref)
            and self.program.carrier_of(base.type) is not None
            or any(
                isinstance(a, Obj)
                or isinstance(a, Ref)
                and (a.path in state.objects or self.program.carrier_of(a.type))
                for a in args
            )
        )
        if self.is_check(x, function, args):
            outer, self.checking = self.checking, True
            try:
                asked = self.test(x.args[0], state)
                self.demand(asked, True)
                self.assume(state, asked, True)
            finally:
                self.checking = outer
            return None
        if result is not None and not is_pointer(x.type) and pointers and not takes_carrier:
            obj = Obj(result.name, markers=tuple((m, fm.FALSE) for m in result.markers))
            device = next((a.names for a in args if isinstance(a, Dev)), None)
            held = Ptr()
            for _, pointer in pointers:
                held = held.join(pointer)
            return replace(
                obj, storage=self.resolve(held, state), device=device, filled=True, last_store=0,
                site=self.site(x.span, "factory", x=x),
            )  # fmt: skip
        markers_passed = any(
            isinstance(a, Bool) and any(k[0] == "m" for k in fm.atoms(a.formula)) for a in args
        )
        judged = markers_passed or takes_carrier
        written: list[Ptr] = []
        readable: list[Ptr] = []
        for position, pointer in pointers:
            writes = position < len(types) and is_mutable_reference(types[position])
            (written if writes else readable).append(pointer)
        if written and readable:
            if len(written) == 1 and len(readable) == 1 and is_copy_signature(types):
                self.copy_bytes(x, written[0], readable[0], state)
            else:
                for pointer in written:
                    if pointer.origins:
                        self.write(pointer, x.span, state, "store", Ptr(), x.name)
                for pointer in () if judged else readable:
                    self.read(pointer, x.span, state, x.name)
        elif written:
            for pointer in written:
                self.write(pointer, x.span, state, "rewrite", self.resolve(pointer, state), x.name)
        elif not judged and result is None and not is_pointer(x.type) and not self.is_buffer(x.type):
            for pointer in readable:
                self.read(pointer, x.span, state, x.name)
        mutable_carriers = [
            a for i, a in enumerate(args)
            if isinstance(a, Ref) and self.program.carrier_of(a.type or "")
            and (i >= len(types) or is_mutable_reference(types[i]))
        ]  # fmt: skip
        if mutable_carriers and readable and function is None and x.target is not None:
            for ref in mutable_carriers:
                carrier = self.program.carrier_of(ref.type)
                if carrier is not None and not carrier.view:
                    self.note_write(ref.path, carrier, "store", x.span, Ptr(), state, "a callee")
        for value in args:
            self.escape(value, x.span, state)
        if isinstance(base, Ref) and base.path in state.objects and last not in _SIZERS:
            self.escape(base, x.span, state)
        if result is not None and not is_pointer(x.type):
            return Obj(
                result.name,
                markers=tuple((m, fm.atom("e", ("unknown", x.span.begin, m))) for m in result.markers),
            )
        if pointers and (is_byte_pointer(x.type) or self.is_buffer(x.type)):
            return pointers[0][1]
        if is_byte_pointer(x.type) or self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({((f"call@{x.span.begin}",), WHOLE)}))
        if bare(x.type) == "bool":
            return Bool(fm.atom("e", self.key(x, state)))
        if self.program.carrier_of(x.type):
            return Ref((f"call@{x.span.begin}",), x.type, x.span)
        return None

    def is_check(self, x: ir.Call, function: ir.Function | None, args: list[Value]) -> bool:
        """A declared-only `void f(bool, message)`."""
        if not args or bare(x.type) != "void" or not isinstance(args[0], Bool):
            return False
        if function is None or not function.params or bare(function.params[0].type) != "bool":
            return False
        return len(function.params) == 1 or any(
            "char" in p.type or "string" in p.type for p in function.params[1:]
        )

    def opaque(self, x: ir.Call, state: State) -> Value:
        if bare(x.type) == "bool":
            return Bool(fm.atom("e", self.key(x, state)))
        carrier = self.program.carriers.get(bare(x.type))
        if carrier is not None and not is_pointer(x.type):
            if x.type.rstrip().endswith("&"):
                return Ref((f"call@{x.span.begin}",), x.type, x.span)
            return Obj(
                carrier.name,
                markers=tuple((m, fm.atom("e", ("call", x.span.begin, m))) for m in carrier.markers),
            )
        if self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({((f"call@{x.span.begin}",), WHOLE)}))
        return Ref((f"call@{x.span.begin}",), x.type, x.span) if x.type and not is_scalar(x.type) else None


def is_copy_signature(types: list[str]) -> bool:
    """`(..., void *dst, const void *src, size)`: bytes go from one pointer to the other, untouched."""
    out = [t for t in types if is_byte_pointer(t) and is_mutable_reference(t)]
    into = [t for t in types if is_byte_pointer(t) and not is_mutable_reference(t)]
    sizes = [
        t
        for t in types
        if bare(t) in ("unsigned long", "unsigned long long", "long", "unsigned int", "int")
        and not is_pointer(t)
    ]
    return (
        len(out) == 1
        and len(into) == 1
        and len(sizes) == 1
        and bare(out[0]) in ("void", bare(into[0]), "unsigned char", "char")
    )
