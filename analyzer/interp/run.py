"""What is known while one function is run, and the questions that every part of the interpreter asks of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import Obj, Obligation, Origin, Path, Ptr, Ref, Site, State, Value
from analyzer.program import Carrier, bare

if TYPE_CHECKING:
    from analyzer.interp.driver import Interpreter


class Run(ABC):
    """One function variant (or lambda in its context) being run."""

    def __init__(self, interp: Interpreter, function: ir.Function, outer: Run | None = None) -> None:
        self.interp = interp
        self.program = interp.program
        self.facts = interp.result.facts
        self.function = function
        self.outer = outer
        self.param_syms = {p.sym for p in function.params} | {"this"}
        if outer is not None:
            self.param_syms |= outer.param_syms
        self.choices: tuple[int, ...] = ()
        self.log: list[tuple[int, int]] = []
        self.returns: list[tuple[State, Value, ir.Span]] = []
        self.breaks: list[list[State]] = []
        self.continues: list[list[State]] = []
        self.opens: dict[tuple[object, ...], Obligation] = {}
        self.reads: set[Path] = set()
        self.writes: set[Path] = set()
        self.statement: ir.Span = function.span
        self.statement_kind = "expression"
        self.braceless = False
        self.dest = ("", "")
        self.conditional = 0
        self.checking = False
        self.locals: dict[ir.Sym, str] = {p.sym: p.type for p in function.params}
        self.names: dict[ir.Sym, str] = {p.sym: p.name for p in function.params}
        self.closures: set[object] = set()
        self.steps = 0

    @abstractmethod
    def eval(self, x: ir.Expr, state: State) -> Value:
        """Run an expression on `state`. Raises Dead where the path ends in it."""

    @abstractmethod
    def closure(self, x: ir.Lambda, state: State) -> Value:
        """Run a lambda where it is written."""

    def choose(self, count: int) -> int:
        position = len(self.log)
        taken = self.choices[position] if position < len(self.choices) else 0
        self.log.append((taken, count))
        return taken

    def type_of_local(self, sym: ir.Sym) -> str:
        found = self.locals.get(sym, "")
        return found or (self.outer.type_of_local(sym) if self.outer is not None else "")

    def is_buffer(self, type_text: str) -> bool:
        """A type that holds or points to raw bytes and is no carrier."""
        found = self.interp.buffers.get(type_text)
        if found is None:
            found = self.interp.buffers[type_text] = self.interp.holds_raw_bytes(type_text)
        return found

    def by_value(self, path: Path) -> bool:
        type_text = self.locals.get(path[0], "")
        return path[0] != "this" and len(path) == 1 and not (type_text.rstrip().endswith(("&", "*")))

    def is_local(self, path: Path) -> bool:
        return path[0] not in self.param_syms or self.by_value(path)

    def is_callers(self, source: Path) -> bool:
        return source[0] in self.param_syms and not source[0].startswith("tmp@")

    def load(self, state: State, ref: Ref) -> Obj:
        """The carrier at an lvalue: as stored on this path, else as its own, unknown, source."""
        known = state.objects.get(ref.path)
        if known is not None:
            return known
        carrier = self.program.carrier_of(ref.type)
        if carrier is None:
            carrier = self.carrier_at(ref.path)
        if carrier is None:
            return Obj("")
        return Obj(
            carrier.name,
            storage=Ptr(frozenset({Origin(ref.path, carrier.name, span=ref.span)})),
            markers=tuple((m, fm.atom("m", ref.path, m)) for m in carrier.markers),
            whole_copy=ref.path,
        )

    def carrier_at(self, path: Path) -> Carrier | None:
        if len(path) == 1:
            type_text = self.type_of_local(path[0])
            if path[0] == "this":
                type_text = self.function.owner
            return self.program.carrier_of(type_text)
        return None

    def resolve(self, ptr: Ptr, state: State) -> Ptr:
        """Follow buffers to what was copied into them."""
        origins = set(ptr.origins)
        buffers: set[tuple[Path, str]] = set()
        for path, part in ptr.buffers:
            held = state.content.get(path)
            if held is not None and (held.origins or held.buffers):
                inner = held if not part else held.cut()
                origins |= inner.origins
                buffers |= inner.buffers
            buffers.add((path, part))
        return Ptr(frozenset(origins), frozenset(buffers))

    def site(
        self,
        span: ir.Span,
        form: str,
        dest: str = "",
        dest_type: str = "",
        callee: str = "",
        x: ir.Call | None = None,
    ) -> Site:
        name, type_text = self.dest
        sym = ""
        if x is not None:
            callee, sym, dest_type = x.name, x.callee, dest_type or bare(x.type)
        return Site(
            function=self.function.sym, path=self.function.path, span=span, form=form, statement=self.statement,
            statement_kind=self.statement_kind, braceless=self.braceless, dest=dest or name,
            dest_type=dest_type or bare(type_text), callee=callee, in_lambda=bool(self.function.parent),
            conditional=self.conditional > 0, callee_sym=sym,
        )  # fmt: skip

    def spelling(self, x: ir.Expr) -> str:
        """How the code names a simple object expression; empty for anything else."""
        if isinstance(x, ir.Name):
            return x.name
        if isinstance(x, ir.Field):
            base = self.spelling(x.base) if not isinstance(x.base, ir.This) else "this"
            if base == "this":
                return x.name
            return f"{base}.{x.name}" if base else ""
        if isinstance(x, ir.Unary) and x.op == "*":
            return self.spelling(x.x)
        return "this" if isinstance(x, ir.This) else ""
