"""Conditions: the formula of a test, and what a state knows once the test has an outcome."""

from __future__ import annotations

import re

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import Bool, Dev, Ref, State
from analyzer.formula import Atom, Formula
from analyzer.interp.states import States
from analyzer.keys import short, worth_knowing
from analyzer.program import Program, bare, device_name, is_pointer
from analyzer.summary import Dead

_GPU = re.compile(r"^(cuda|gpu|hip|rocm|vulkan|metal|xpu|sycl|musa|npu|tpu|accelerator)$")
IS_DEVICE = re.compile(r"^(?:is_?|on_?|use_?|Is|On|Use)([A-Za-z]+)$")


class Conditions(States):
    """Tests and what they teach."""

    def test(self, x: ir.Expr, state: State) -> Formula:
        """The formula of a condition."""
        if isinstance(x, ir.Lit):
            if x.kind == "bool":
                return fm.TRUE if x.value == "true" else fm.FALSE
            return fm.atom("e", ("lit", x.value))
        if isinstance(x, ir.Unary) and x.op == "!":
            return fm.negate(self.test(x.x, state))
        if isinstance(x, ir.Binary):
            if x.op == "&&" or x.op == "&" and is_boolean(x.a, self.program):
                return fm.both(self.test(x.a, state), self.test(x.b, state))
            if x.op == "||" or x.op == "|" and is_boolean(x.a, self.program):
                return fm.either(self.test(x.a, state), self.test(x.b, state))
            if x.op in ("==", "!="):
                found = self.equality(x, state)
                return fm.negate(found) if x.op == "!=" else found
        if isinstance(x, ir.Cond):
            test = self.test(x.test, state)
            return fm.either(
                fm.both(test, self.test(x.yes, state)), fm.both(fm.negate(test), self.test(x.no, state))
            )
        if isinstance(x, ir.Cast):
            return self.test(x.x, state)
        if isinstance(x, ir.Other) and len(x.items) == 1:
            return self.test(x.items[0], state)
        if isinstance(x, ir.Call):
            predicate = self.predicate(x)
            if predicate is not None:
                return predicate
            value = self.eval(x, state)
            if isinstance(value, Bool):
                return value.formula
            return fm.atom("e", self.key(x, state))
        value = self.eval(x, state)
        if isinstance(value, Bool):
            return value.formula
        return fm.atom("e", self.key(x, state))

    def equality(self, x: ir.Binary, state: State) -> Formula:
        for constant, other in ((x.a, x.b), (x.b, x.a)):
            name = self.device_constant(constant)
            if name and name in self.interp.everywhere:
                value = self.eval(other, state)
                if isinstance(value, Dev):
                    if len(value.names) == 1:
                        return fm.TRUE if name in value.names else fm.FALSE
                return fm.atom("dev", frozenset({name}), self.interp.everywhere - {name}, _root(other))
            if isinstance(constant, ir.Lit) and constant.kind == "bool":
                f = self.test(other, state)
                return f if constant.value == "true" else fm.negate(f)
        if is_boolean(x.a, self.program) and is_boolean(x.b, self.program):
            a, b = self.test(x.a, state), self.test(x.b, state)
            return fm.either(fm.both(a, b), fm.both(fm.negate(a), fm.negate(b)))
        self.eval(x.a, state)
        self.eval(x.b, state)
        a_key, b_key = self.key(x.a, state), self.key(x.b, state)
        if a_key == b_key:
            return fm.TRUE
        first, second = sorted((a_key, b_key), key=repr)
        return fm.atom("e", ("==", first, second))

    def predicate(self, x: ir.Call) -> Formula | None:
        """`is_cpu()` and its kind: by body when there is one that tests the device, else by name."""
        last = x.name.rpartition("::")[2]
        found = IS_DEVICE.match(last)
        if found is None:
            return None
        word = found.group(1).lower()
        everywhere = self.interp.everywhere
        aliases = {"host": "cpu"}
        word = aliases.get(word, word)
        if word in everywhere:
            return fm.atom("dev", frozenset({word}), everywhere - {word})
        if _GPU.match(word):
            return fm.atom("dev", everywhere - {"cpu"}, everywhere)
        if word == "cpu":
            return fm.atom("dev", everywhere & {"cpu"}, everywhere - {"cpu"})
        return None

    def device_constant(self, x: ir.Expr) -> str:
        if isinstance(x, ir.Cast):
            return self.device_constant(x.x)
        if (
            isinstance(x, ir.Name)
            and x.kind == "enum"
            and x.name.rpartition("::")[0] in self.program.device_enums
        ):
            return device_name(x.name)
        return ""

    def device_operand(self, x: ir.Expr) -> bool:
        if isinstance(x, ir.Field):
            return self.program.is_device(x.type)
        if isinstance(x, ir.Name):
            return self.program.is_device(self.locals.get(x.sym, ""))
        if isinstance(x, ir.Call):
            return self.program.is_device(x.type)
        return isinstance(x, ir.Cast) and self.device_operand(x.x)

    def assume(
        self, state: State, f: Formula, polarity: bool, resolving: bool = False, told: bool = False
    ) -> None:
        """Restrict `state` to where `f` is `polarity`. `told`: a callee says so, this function tests nothing. Raises
        Dead when it cannot be."""
        if not told:
            # All that it asks: an operand may not be come to, where two markers exclude each other.
            asked = {a[1:] for a in fm.atoms(f) if a[0] == "m"}
            if asked:
                self.facts.tests.setdefault(self.function.sym, set()).update(asked)
        self.restrict(state, f, polarity, resolving, told)

    def restrict(self, state: State, f: Formula, polarity: bool, resolving: bool, told: bool) -> None:
        """Restrict `state` as `assume` does, noting no test."""
        head = f[0]
        if head == "c":
            if f[1] is not polarity:
                raise Dead
        elif head == "!":
            self.restrict(state, f[1], not polarity, resolving, told)
        elif head == "a":
            self.assume_atom(state, f[1], polarity, resolving, told)
        elif head == "any":
            members = sorted(f[1], key=repr)
            self.restrict(state, members[self.choose(len(members))], polarity, resolving, told)
        elif (head == "&") is polarity:
            self.restrict(state, f[1], polarity, resolving, told)
            self.restrict(state, f[2], polarity, resolving, told)
        elif self.choose(2) == 0:
            self.restrict(state, f[1], polarity, resolving, told)
        else:
            self.restrict(state, f[1], not polarity, resolving, told)
            self.restrict(state, f[2], polarity, resolving, told)

    def assume_atom(self, state: State, key: Atom, polarity: bool, resolving: bool, told: bool) -> None:
        if key[0] == "dev":
            asked = key[3] if len(key) > 3 else ""
            left = state.devices & (key[1] if polarity else key[2])
            if left:
                state.devices, state.narrowed = left, True
                state.device_of = state.device_of or asked
            elif not asked or not state.device_of or asked == state.device_of:
                raise Dead
            return  # of another object (a function may use two queues): it says nothing about this one
        if key[0] == "m" and not told:
            if polarity and resolving:
                self.facts.resolves.setdefault(self.function.sym, set()).add((key[1], key[2]))
                state.resolved |= {(key[1], key[2])}
            elif not polarity and not self.checking:
                state.dispatched |= {(key[1], key[2])}
        if key[0] == "m" and polarity and self.has_another(state, key[1], key[2]):
            raise Dead
        known = state.known.get(key)
        if known is None:
            if key[0] != "e" or not self.checking or worth_knowing(key[1]):
                state.known[key] = polarity
        elif known is not polarity:
            raise Dead

    def demand(self, asked: Formula, value: bool) -> None:
        """Note what the markers have to be where a check of `asked` is passed as `value`."""
        certain: dict[Atom, bool] = {}
        if imply(certain, asked, value):
            self.facts.demands.update(
                (self.function.sym, atom[1], atom[2], known, self.statement)
                for atom, known in certain.items() if atom[0] == "m"
            )  # fmt: skip

    def key(self, x: ir.Expr, state: State) -> object:
        """The structure of an expression, aliases resolved, for telling whether two conditions are the same."""
        if isinstance(x, ir.Name):
            value = state.variables.get(x.sym)
            if isinstance(value, Ref):
                return value.path
            return x.name if x.kind == "enum" else (x.sym or x.name,)
        if isinstance(x, ir.This):
            return ("this",)
        if isinstance(x, ir.Field):
            base = self.key(x.base, state)
            return (*base, x.name) if isinstance(base, tuple) else (base, x.name)
        if isinstance(x, ir.Lit):
            return ("lit", x.value)
        if isinstance(x, (ir.Unary,)):
            return self.key(x.x, state) if x.op in ("*", "&") else (x.op, self.key(x.x, state))
        if isinstance(x, ir.Binary):
            return (x.op, self.key(x.a, state), self.key(x.b, state))
        if isinstance(x, ir.Cast):
            return self.key(x.x, state)
        if isinstance(x, ir.Index):
            base = self.key(x.base, state)
            index = self.key(x.index, state)
            return (*base, f"[{short(index)}]") if isinstance(base, tuple) else ("[]", base, index)
        if isinstance(x, ir.Call):
            base = self.key(x.base, state) if x.base is not None else ()
            return ("call", x.name, base, tuple(self.key(a, state) for a in x.args))
        if isinstance(x, ir.Init):
            return ("init", *(self.key(i, state) for i in x.items))
        if isinstance(x, ir.Other) and len(x.items) == 1:
            return self.key(x.items[0], state)
        return ("at", x.span.begin)

    def is_zero(self, x: ir.Expr, state: State) -> bool:
        if isinstance(x, ir.Lit):
            return x.value in ("0", "0u", "0ul", "0L")
        if isinstance(x, ir.Cast):
            return self.is_zero(x.x, state)
        if isinstance(x, ir.Binary) and x.op == "*":
            return self.is_zero(x.a, state) or self.is_zero(x.b, state)
        key = self.key(x, state)
        return any(
            v and a[0] == "e" and isinstance(a[1], tuple) and len(a[1]) == 3 and a[1][0] == "=="
            and key in a[1] and ("lit", "0") in a[1]
            for a, v in state.known.items()
        )  # fmt: skip


def imply(known: dict[Atom, bool], formula: Formula, value: bool) -> bool:
    """Add what certainly holds where `formula` is `value`; False where it cannot be."""
    head = formula[0]
    if head == "c":
        return formula[1] is value
    if head == "!":
        return imply(known, formula[1], not value)
    if head == "a":
        return known.setdefault(formula[1], value) is value
    if head in ("&", "|") and (head == "&") is value:
        return imply(known, formula[1], value) and imply(known, formula[2], value)
    return True


def is_boolean(x: ir.Expr, program: Program) -> bool:
    """Return whether `x` is a condition rather than any other value."""
    if isinstance(x, ir.Lit):
        return x.kind == "bool"
    if isinstance(x, ir.Unary):
        return x.op == "!"
    if isinstance(x, ir.Binary):
        return (
            x.op in ("&&", "||", "==", "!=", "<", ">", "<=", ">=")
            or x.op in ("&", "|")
            and is_boolean(x.a, program)
        )
    if isinstance(x, ir.Field):
        return bare(x.type) == "bool" and not is_pointer(x.type)
    if isinstance(x, ir.Call):
        return bare(x.type) == "bool" and not is_pointer(x.type)
    if isinstance(x, ir.Cast):
        return bare(x.type) == "bool"
    if isinstance(x, ir.Cond):
        return is_boolean(x.yes, program) and is_boolean(x.no, program)
    return isinstance(x, ir.Name)


def _root(x: ir.Expr) -> str:
    """The variable whose member, or whose itself, an expression is; empty for anything else."""
    while isinstance(x, (ir.Field, ir.Cast)):
        x = x.base if isinstance(x, ir.Field) else x.x
    return x.sym if isinstance(x, ir.Name) and x.kind in ("param", "local") else ""
