"""Running a program: every function that can touch a carrier, callees inside their callers, kept results first."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from analyzer import ir
from analyzer.copies import ways
from analyzer.dtypes import Predicates
from analyzer.interp.calls import NORETURN
from analyzer.interp.conditions import IS_DEVICE
from analyzer.interp.runner import Runner
from analyzer.interp.share import MOST, Board
from analyzer.markers import Marker
from analyzer.memo import Memo, Result, Unit, keys
from analyzer.produced import dtypes_of, flags_of
from analyzer.program import Head, Program, bare, is_byte_pointer, is_pointer
from analyzer.summary import Facts, Summary, merge
from analyzer.walk import fresh_fields, walk

_MAX_NESTED = 60


_WORTH = 50_000
"""Bytes of C++ that take longer to run than a process to start."""


@contextmanager
def running(
    program: Program, markers: Iterable[Marker], memo: Memo | None = None, jobs: int | None = 1
) -> Iterator[Interpreter]:
    """Give an interpreter of `program`. Other processes, up to `jobs` in all, None: one for each core, already run
    functions whose results `memo` does not have, while the caller does something else before it calls `run`."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 6000))  # callees are run inside their callers
    try:
        memo = memo or Memo()
        memo.make_faces(program, jobs)
        interpreter = Interpreter(program, {m.name: m for m in markers}, memo)
        with interpreter.helped(min(ways(jobs), MOST)):
            yield interpreter
    finally:
        sys.setrecursionlimit(limit)


def interpret(program: Program, markers: Iterable[Marker], memo: Memo | None = None) -> Facts:
    """Run every function of `program` that can touch a carrier, or take its result from `memo`. Deterministic: neither
    the order of files nor what was kept nor who ran it matters."""
    with running(program, markers, memo) as interpreter:
        return interpreter.run()


class Interpreter:
    """All functions of a program, each run once; what their runs share."""

    def __init__(self, program: Program, markers: dict[str, Marker], memo: Memo) -> None:
        self.program = program
        self.markers = {name: markers[name] for name in program.markers if name in markers}
        self.memo = memo
        known = keys(program, self.markers, memo)
        self.units = known.units
        memo.forget_all_but({unit.key for unit in known.units.values()})
        self.handling = known.handling
        self.result = Result()
        self.results: dict[ir.Sym, Result] = {}
        self.everywhere = frozenset(program.devices) or frozenset({"cpu", "cuda"})
        self.summaries: dict[ir.Sym, Summary] = {}
        self.running: set[ir.Sym] = set()
        self.relevant: dict[ir.Sym, bool] = {}
        self.asking: dict[ir.Sym, bool] = {}
        self.named: dict[ir.Sym, set[ir.Sym]] = {}
        self.ending: dict[ir.Sym, bool] = {}
        self.buffers: dict[str, bool] = {}
        self.predicates = Predicates(program)
        self.answered: dict[object, bool] = {}
        self.board: Board | None = None
        self.fresh_fields = fresh_fields(program, known.own, known.fresh)
        self.dtypes = {m.name: dtypes_of(m, known.produced) for m in self.markers.values()}
        self.flags = {name: flags_of(name, known.produced) for name in self.markers}
        self.roots = [
            head
            for sym, variants in sorted(program.heads.items())
            if (head := program.head(sym)) is not None and not head.parent and sym in self.units
            if any(v.has_body for v in variants) and self.is_relevant(head)
        ]

    @contextmanager
    def helped(self, processes: int) -> Iterator[None]:
        """Share what has to be run with copies of this process."""
        todo = [root for root in self.roots if not self.memo.has(self.units[root.sym].key)]
        if processes < 2 or sum(root.span.end - root.span.begin for root in todo) < _WORTH:
            yield
            return
        missing = {unit.key for unit in self.units.values() if not self.memo.has(unit.key)}
        self.board = Board(sorted(missing), processes - 1)
        apart = len(todo) // processes  # where they begin, so that they meet late

        def help_out(number: int) -> None:
            self.summarise_free(todo[number * apart :] + todo[: number * apart])

        with self.board.helped(help_out):
            yield
        self.board = None

    def run(self) -> Facts:
        """Return what there is to know."""
        self.summarise_free(self.roots)
        for root in self.roots:
            self.summary(root.sym)
        facts = Facts()
        for _, result in sorted(self.results.items()):
            facts.add(result.facts)
        return facts

    def summarise_free(self, functions: Iterable[Head]) -> None:
        """Run those that no other process is at."""
        for head in functions:
            if self.board is None or not self.board.is_taken(self.units[head.sym].key):
                self.summary(head.sym)

    def is_relevant(self, function: ir.Function | Head) -> bool:
        """Can running this body say anything about a carrier or raw bytes a caller may pass?"""
        found = self.relevant.get(function.sym)
        if found is None:
            found = any(self.program.carrier_of(p.type) for p in function.params)
            found = (
                found
                or bool(self.program.carrier_of(function.result))
                or function.owner in self.program.carriers
            )
            found = found or function.sym in self.handling
            self.relevant[function.sym] = found
        return found

    def holds_raw_bytes(self, type_text: str) -> bool:
        program = self.program
        if not type_text or program.carrier_of(type_text):
            return False
        if is_byte_pointer(type_text):
            return True
        base = bare(type_text)
        if re.match(r"^std::(vector|span|unique_ptr|shared_ptr|array|deque)<", base):
            return not program.is_container_of_carriers(type_text) and _holds_scalars(base)
        return any(
            base == bare(m.type)
            for c in program.carriers.values()
            for m in c.members
            if m.name in c.storage and not is_pointer(m.type)
        )

    def named_in(self, sym: ir.Sym) -> set[ir.Sym]:
        """Everything that the body of a lambda names, with those in it."""
        found = self.named.get(sym)
        if found is None:
            found = self.named[sym] = set()
            for variant in self.program.variants.get(sym, ()):
                for node in walk(variant.body):
                    if isinstance(node, ir.Name):
                        found.add(node.sym)
                    elif isinstance(node, ir.Lambda):
                        found |= self.named_in(node.sym)
        return found

    def asks_device(self, function: ir.Function) -> bool:
        """A predicate over the device: its body names one."""
        found = self.asking.get(function.sym)
        if found is None:
            found = bare(function.result) == "bool" and any(
                isinstance(n, ir.Name)
                and n.kind == "enum"
                and n.name.rpartition("::")[0] in self.program.device_enums
                or isinstance(n, ir.Call)
                and IS_DEVICE.match(n.name.rpartition("::")[2])
                for n in walk(function.body)
            )
            self.asking[function.sym] = found
        return found

    def never_returns(self, function: ir.Function) -> bool:
        """The body ends in a throw or a call that does not come back, and returns nowhere."""
        found = self.ending.get(function.sym)
        if found is None:
            found = self.ending[function.sym] = _never_returns(function)
        return found

    def summary(self, sym: ir.Sym) -> Summary:
        """The summary of a function. Those that call each other in a circle are run together, in a fixed order, so
        that it does not matter from where the circle is entered."""
        self.result.asked.add(sym)
        known = self.summaries.get(sym)
        if known is not None:
            return known
        unit = self.units.get(sym)
        if unit is None or sym in self.running or len(self.running) > _MAX_NESTED:
            return Summary(known_body=False)
        if self.running.isdisjoint(unit.members):
            kept = self.memo.result(unit.key) or self.from_another(unit)
            if kept is not None:
                self.results[unit.members[0]] = kept
                self.summaries.update(kept.summaries)
                for other in sorted(kept.asked):
                    self.summary(other)
            else:
                self.run_unit(unit)
        elif not self.run_function(sym):
            return Summary(known_body=False)
        return self.summaries.get(sym) or Summary(known_body=False)

    def run_unit(self, unit: Unit) -> None:
        outer, self.result = self.result, Result()
        for member in unit.members:
            if member not in self.summaries:
                self.run_function(member)
        self.results[unit.members[0]] = self.result
        kept = self.memo.keep(unit.key, self.result)
        if self.board is not None:
            self.board.give(unit.key, kept)
        self.result = outer

    def from_another(self, unit: Unit) -> Result | None:
        """What another process makes of `unit`; None if this one has to run it."""
        made = self.board.take(unit.key) if self.board is not None else None
        if made is None:
            return None
        self.memo.adopt(unit.key, made)
        return self.memo.result(unit.key)

    def run_function(self, sym: ir.Sym) -> bool:
        variants = [v for v in self.program.variants.get(sym, ()) if v.body is not None]
        if not variants:
            return False
        self.running.add(sym)
        try:
            merged: Summary | None = None
            for variant in variants:
                one = Runner(self, variant).summarise()
                merged = one if merged is None else merge(merged, one)
        except RecursionError:
            self.result.facts.gave_up[sym] = "nested too deeply to follow"
            merged = Summary(known_body=False)
        finally:
            self.running.discard(sym)
        assert merged is not None
        self.summarised(sym, merged)
        return True

    def summarised(self, sym: ir.Sym, summary: Summary) -> None:
        """Keep the summary of a function, or of a lambda in it, with the result that is being made."""
        self.summaries[sym] = self.result.summaries[sym] = summary


def _holds_scalars(base: str) -> bool:
    return bool(re.search(r"<(?:const )?(?:void|unsigned char|char|signed char|short|unsigned short|int|unsigned int|"
                          r"long|unsigned long|float|double|std::byte)\b", base))  # fmt: skip


def _never_returns(function: ir.Function) -> bool:
    """The body ends in a throw or a call that does not come back, and returns nowhere."""
    body = function.body
    if not isinstance(body, ir.Block) or not body.body or any(isinstance(n, ir.Return) for n in walk(body)):
        return False
    last = body.body[-1]
    return isinstance(last, ir.Do) and (
        isinstance(last.x, ir.ThrowExpr)
        or isinstance(last.x, ir.Call)
        and last.x.name.rpartition("::")[2] in NORETURN
    )
