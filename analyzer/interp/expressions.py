"""Expressions: the value of each kind of one."""

from __future__ import annotations

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import WHOLE, Bool, Closure, Dev, Many, Obj, Origin, Path, Ptr, Ref, State, Value
from analyzer.interp.calls import Calls
from analyzer.keys import short
from analyzer.program import Carrier, bare, is_byte_pointer, is_pointer, is_scalar
from analyzer.summary import Dead

_RAW = frozenset({"void", "char", "unsigned char", "signed char", "std::byte"})


class Expressions(Calls):
    """Evaluation of expressions."""

    def eval(self, x: ir.Expr, state: State) -> Value:
        if isinstance(x, ir.Name):
            return self.name(x, state)
        if isinstance(x, ir.Field):
            return self.field_(x, state)
        if isinstance(x, ir.Call):
            return self.call(x, state)
        if isinstance(x, ir.This):
            return state.variables.get("this") or Ref(("this",), self.function.owner, x.span)
        if isinstance(x, ir.Assign):
            return self.assign(x, state)
        if isinstance(x, ir.Unary):
            return self.unary(x, state)
        if isinstance(x, ir.Binary):
            return self.binary(x, state)
        if isinstance(x, ir.Cond):
            test = self.test(x.test, state)
            first = self.choose(2) == 0
            self.assume(state, test, first, resolving=not _is_assert(x.no))
            self.conditional += 1
            value = self.eval(x.yes if first else x.no, state)
            self.conditional -= 1
            return value
        if isinstance(x, ir.Cast):
            value = self.eval(x.x, state)
            carrier = self.program.carriers.get(bare(x.type))
            if isinstance(value, Many) and carrier is not None:
                return self.aggregate_of(x, carrier, value, state)
            if (
                isinstance(value, Ptr)
                and is_pointer(x.type)
                and bare(x.type) not in _RAW
                and not x.span.macro
            ):
                self.read(value, x.span, state, kind="typed")
            return value
        if isinstance(x, ir.Lit):
            return Bool(fm.TRUE if x.value == "true" else fm.FALSE) if x.kind == "bool" else None
        if isinstance(x, ir.Init):
            return self.init(x, state)
        if isinstance(x, ir.Index):
            return self.index(x, state)
        if isinstance(x, ir.Lambda):
            return self.closure(x, state)
        if isinstance(x, ir.ThrowExpr):
            raise Dead
        if isinstance(x, ir.New):
            values = [self.eval(a, state) for a in x.args]
            if self.program.carrier_of(x.type) and values:
                return values[0]
            buffers = [v for v in values if isinstance(v, Ptr)]
            if buffers:
                return buffers[0]
            return (
                Ptr(frozenset(), frozenset({((f"new@{x.span.begin}",), WHOLE)}))
                if is_byte_pointer(x.type)
                else None
            )
        for item in x.items:
            self.eval(item, state)
        return None

    def name(self, x: ir.Name, state: State) -> Value:
        if x.kind == "enum":
            device = self.device_constant(x)
            return Dev(frozenset({device})) if device else None
        if x.kind == "function":
            return Closure(x.sym) if x.sym else None
        value = state.variables.get(x.sym)
        if value is not None:
            return Ref(value.path, value.type, x.span) if isinstance(value, Ref) else value
        type_text = self.locals.get(x.sym, "")
        if not type_text and x.sym in self.program.globals:
            type_text = self.program.globals[x.sym].type
        if not type_text and self.outer is not None:
            type_text = self.outer.type_of_local(x.sym)
        path = (x.sym,)
        if self.program.carrier_of(type_text) or path in state.objects:
            return Ref(path, type_text, x.span)
        if bare(type_text) == "bool" and not is_pointer(type_text):
            return Bool(fm.atom("e", path))
        if self.program.is_device(type_text):
            return None
        if self.is_buffer(type_text):
            return Ptr(frozenset(), frozenset({(path, WHOLE)}))
        if type_text and is_scalar(type_text):
            return None
        return Ref(path, type_text, x.span)

    def field_(self, x: ir.Field, state: State) -> Value:
        base = self.eval(x.base, state)
        carrier = self.program.carriers.get(x.owner)
        if isinstance(base, Obj):  # a member of a temporary
            temporary = (f"tmp@{x.base.span.begin}",)
            state.objects[temporary] = base
            base = Ref(temporary, base.carrier, x.base.span)
        if not isinstance(base, Ref):
            if bare(x.type) == "bool":
                return Bool(fm.atom("e", self.key(x, state)))
            if isinstance(base, Ptr) and self.is_buffer(x.type):
                return base
            if isinstance(base, Ptr) and self.through_pointer(x.base):
                self.read(base, x.span, state)  # `blocks[i].scale`: bytes taken as a record
            return None
        if carrier is not None:
            return self.carrier_member(x, base, carrier, state)
        path: Path = (*base.path, x.name)
        if path in state.objects or self.program.carrier_of(x.type):
            alias = state.variables.get("\0".join(path))
            return alias if isinstance(alias, Ref) else Ref(path, x.type, x.span)
        if bare(x.type) == "bool" and not is_pointer(x.type):
            return Bool(fm.atom("e", path))
        if self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({(path, WHOLE)}))
        if is_scalar(x.type):
            return None
        if self.program.is_device(x.type):
            return None
        return Ref(path, x.type, x.span)

    def through_pointer(self, x: ir.Expr) -> bool:
        """Does `x.member` follow a raw pointer, rather than look into an object that owns bytes?"""
        if isinstance(x, ir.Name):
            return is_pointer(self.type_of_local(x.sym))
        if isinstance(x, ir.Field):
            return is_pointer(x.type)
        return not isinstance(x, ir.This)

    def carrier_member(self, x: ir.Field, base: Ref, carrier: Carrier, state: State) -> Value:
        if x.name in carrier.markers:
            value = self.load(state, Ref(base.path, carrier.name, base.span)).marker(x.name)
            return Bool(value if value is not None else fm.FALSE)
        if x.name in carrier.storage:
            inner = self.program.carrier_of(x.type)
            own = (*base.path, x.name)
            if own in state.content:
                return state.content[own]
            if inner is not None:
                return Ref(own, x.type, x.span)
            if (carrier.name, x.name) in self.interp.fresh_fields:
                return Ptr(frozenset(), frozenset({(own, WHOLE)}))
            obj = self.load(state, Ref(base.path, carrier.name, base.span))
            storage = obj.storage
            if not storage.origins and not storage.buffers:  # a fresh owner's own bytes
                return Ptr(frozenset({Origin(base.path, carrier.name, span=base.span)}))
            if obj.whole_copy is not None or not obj.filled:
                storage = Ptr(frozenset(replace(o, span=base.span) for o in storage.origins), storage.buffers)
            return storage
        path = (*base.path, x.name)
        if bare(x.type) == "bool" and not is_pointer(x.type):
            return Bool(fm.atom("e", path))
        obj_here = state.objects.get(base.path)
        if obj_here is not None and obj_here.device is not None and "device" in x.name.lower():
            return Dev(obj_here.device)
        if is_scalar(x.type) or self.program.is_device(x.type):
            return None
        if self.is_buffer(x.type):
            return Ptr(frozenset(), frozenset({(path, WHOLE)}))
        return Ref(path, x.type, x.span)

    def unary(self, x: ir.Unary, state: State) -> Value:
        if x.op == "!":
            return Bool(self.test(x, state))
        if x.op == "&":
            inner = x.x
            if isinstance(inner, ir.Index):
                return self.index(inner, state, address=True)
            return self.eval(inner, state)
        value = self.eval(x.x, state)
        if x.op == "*":
            if isinstance(value, Ptr):
                self.read(value, x.span, state)
                return None
            return value
        if x.op in ("++", "--") and isinstance(value, Ptr) and isinstance(x.x, ir.Name):
            state.variables[x.x.sym] = value.cut()
            return value
        return None

    def binary(self, x: ir.Binary, state: State) -> Value:
        if x.op in ("&&", "||", "==", "!=", "<", ">", "<=", ">="):
            if x.op in ("<", ">", "<=", ">="):
                self.eval(x.a, state)
                self.eval(x.b, state)
                return Bool(fm.atom("e", self.key(x, state)))
            return Bool(self.test(x, state))
        a = self.eval(x.a, state)
        b = self.eval(x.b, state)
        for value, other in ((a, x.b), (b, x.a)):
            if isinstance(value, Ptr) and x.op in ("+", "-"):
                return value if self.is_zero(other, state) else value.cut(self.factors(other, state))
        return None

    def factors(self, x: ir.Expr, state: State) -> frozenset[object]:
        """Keys of the numbers that the value of `x` is a multiple of."""
        if isinstance(x, ir.Cast):
            return self.factors(x.x, state)
        if isinstance(x, ir.Other) and len(x.items) == 1:
            return self.factors(x.items[0], state)
        if isinstance(x, ir.Binary) and x.op == "*":
            return self.factors(x.a, state) | self.factors(x.b, state)
        return frozenset({self.key(x, state)})

    def index(self, x: ir.Index, state: State, address: bool = False) -> Value:
        base = self.eval(x.base, state)
        self.eval(x.index, state)
        if isinstance(base, Ptr):
            if address:
                return base if self.is_zero(x.index, state) else base.cut()
            if not x.type or is_scalar(x.type):
                self.read(base, x.span, state)
                return None
            return base.cut()
        if isinstance(base, Many):
            return base.items[0] if base.items else None
        if isinstance(base, Ref):
            if bare(x.type) == "bool" and not is_pointer(x.type):
                return Bool(fm.atom("e", self.key(x, state)))
            path = (*base.path, f"[{short(self.key(x.index, state))}]")
            if self.is_buffer(x.type):
                return Ptr(frozenset(), frozenset({(path, WHOLE)}))
            if is_scalar(x.type):
                return None
            return Ref(path, x.type, x.span)
        return None

    def init(self, x: ir.Init, state: State) -> Value:
        carrier = self.program.carriers.get(bare(x.type))
        if carrier is None:
            values = tuple(self.eval(i, state) for i in x.items)
            if x.fields and bare(x.type) in self.program.records:
                for value, item in zip(values, x.items, strict=False):
                    self.into_plain(value, item.span, state, bare(x.type))
            return Many(values)
        if len(x.items) == 1 and not x.fields:
            value = self.eval(x.items[0], state)
            if isinstance(value, (Obj, Ref)):
                return value
        values = tuple(self.eval(i, state) for i in x.items)
        if not values:
            return Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        return self.aggregate(x, carrier, values, x.fields or tuple(m.name for m in carrier.members), state)

    def aggregate_of(self, x: ir.Cast, carrier: Carrier, value: Many, state: State) -> Value:
        names = tuple(m.name for m in carrier.members)
        return self.aggregate(x, carrier, value.items, names, state)

    def aggregate(
        self, x: ir.Node, carrier: Carrier, values: tuple[Value, ...], names: tuple[str, ...],
        state: State,
    ) -> Value:  # fmt: skip
        obj = Obj(carrier.name, markers=tuple((m, fm.FALSE) for m in carrier.markers))
        held = Ptr()
        for position, value in enumerate(values):
            name = names[position] if position < len(names) else ""
            if name in carrier.markers:
                f = (
                    value.formula
                    if isinstance(value, Bool)
                    else fm.atom("e", ("init", position, x.span.begin))
                )
                obj = obj.with_marker(name, f)
            elif name in carrier.storage:
                if isinstance(value, Ptr):
                    held = held.join(value)
                elif isinstance(value, (Ref, Obj)) and carrier.inner:
                    inner = self.load(state, value) if isinstance(value, Ref) else value
                    held = held.join(inner.storage)
            elif isinstance(value, Dev):
                obj = replace(obj, device=value.names)
        if held.origins or held.buffers:
            obj = replace(obj, storage=held, site=self.site(x.span, "aggregate"), filled=True)
        return obj


def _is_assert(x: ir.Expr) -> bool:
    return isinstance(x, ir.Call) and x.name.startswith("__assert")
