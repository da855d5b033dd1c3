"""Running one function: from its entry to the summary that its callers apply."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from analyzer import formula as fm
from analyzer import ir
from analyzer.domain import Bool, Closure, Many, Obj, Ptr, Ref, State, Value
from analyzer.formula import Atom, Formula
from analyzer.interp.conditions import imply
from analyzer.interp.statements import Statements
from analyzer.keys import leaves, mentions_only, speaks
from analyzer.program import bare, is_pointer
from analyzer.summary import Case, Summary, few, merge, ordered

_CONTAINERS = ("std::vector<", "std::basic_string<", "std::deque<", "std::array<")


class Runner(Statements):
    """The whole interpreter over one function."""

    def summarise(self, entry: State | None = None) -> Summary:
        state = entry.copy() if entry is not None else State(self.interp.everywhere)
        body = self.function.body
        assert body is not None
        made = self.program.carrier_of(self.function.owner) if self.function.is_constructor else None
        if made is not None and entry is None:  # nothing is marked yet, whatever the callers have
            state.objects["this",] = Obj(made.name, markers=tuple((m, fm.FALSE) for m in made.markers))
        states = [state]
        for init in self.function.inits:
            states = self.simple(states, init.span, "expression", lambda st, init=init: self.eval(init, st))  # type: ignore[misc]
        for end in self.execute(body, states):
            self.returns.append(
                (end, None, ir.Span(self.function.span.end, self.function.span.end, self.function.span.line))
            )
        cases: dict[tuple[object, ...], Case] = {}
        for end, value, span in self.returns:
            self.statement = span
            case = self.leave(end, value)
            cases.setdefault((case.value, case.objects, case.known, case.devices, case.content), case)
        return Summary(
            few(list(cases.values())),
            ordered(self.opens.values()),
            frozenset(self.reads),
            frozenset(self.writes),
        )

    def leave(self, state: State, value: Value) -> Case:
        """Close a path: settle the carriers that die here, keep what callers can see."""
        if (
            isinstance(value, Ref)
            and self.program.carrier_of(self.function.result)
            and not _by_reference(self.function.result)
        ):
            value = self.load(state, value)
        for path, obj in sorted(state.objects.items()):
            if not self.is_local(path) and not obj.done and obj.site is not None and obj.filled:
                self.settle(state, path, obj)
            elif self.is_local(path) and not obj.done:
                if value is not obj and not (
                    isinstance(value, Obj) and obj.site is not None and value.site == obj.site
                ):
                    self.settle(state, path, obj)
        if isinstance(value, Obj):
            value = replace(self.settle(state, (), value, returned=True), last_store=0, done=True)
        elif isinstance(value, Ptr):
            if is_pointer(self.function.result) and not self.function.parent:
                self.read(value, self.statement, state, kind="pointer")
            elif _is_container(self.function.result) and not self.function.parent:
                self.read(value, self.statement, state, kind="copyout")
            value = self.outlasting(self.resolve(value, state))
        if isinstance(value, Ptr):
            value = self.stamped(value, state)
        elif isinstance(value, Bool) and bare(self.function.result) == "bool" and not self.function.parent:
            self.answer(state, value.formula)
        known = tuple(sorted(((a, v) for a, v in state.known.items() if self.visible(a)), key=repr))
        objects = tuple(
            (p, replace(o, last_store=0, done=True))
            for p, o in sorted(state.objects.items()) if p[0] in self.param_syms and not self.by_value(p)
        )  # fmt: skip
        content = tuple(
            (p, self.stamped(c, state)) for p, c in sorted(state.content.items()) if p[0] in self.param_syms
        )
        return Case(known, state.devices, value, objects, content)

    def answer(self, state: State, formula: Formula) -> None:
        """Note with which markers of its parameters a predicate can say yes, and with which it cannot."""
        yes = state.copy()
        if not imply(yes.known, formula, True):
            return
        if all(atom[0] == "m" for atom in yes.known):
            return  # it asks for nothing but layouts: that is its subject
        for parameter in self.function.params:
            carrier = self.program.carrier_of(parameter.type)
            path = (parameter.sym,)
            for marker in carrier.markers if carrier is not None else ():
                answer = yes.known.get(("m", path, marker))
                if answer is not False and (answer or self.excluded(yes, path, marker)):
                    continue
                self.facts.answers.add((self.function.sym, path, marker, answer is None, self.statement))

    def outlasting(self, ptr: Ptr) -> Ptr:
        """What a pointer says to callers: buffers of this function alone only where there is nothing else."""
        lasting = frozenset(b for b in ptr.buffers if b[0][0] in self.param_syms)
        return Ptr(ptr.origins, lasting) if lasting or ptr.origins else ptr

    def visible(self, atom: Atom) -> bool:
        if atom[0] == "m":
            return atom[1][0] in self.param_syms
        return atom[0] == "e" and speaks(atom[1]) and mentions_only(atom[1], self.param_syms)

    def closure(self, x: ir.Lambda, state: State) -> Value:
        function = self.program.function(x.sym)
        if function is None or function.body is None:
            return None
        seen = (x.sym, self.seen_by(x.sym, state))
        if seen in self.closures:
            return Closure(x.sym)
        self.closures.add(seen)
        run = Runner(self.interp, function, self)
        entry = state.copy()
        entry.written = frozenset()
        summary = run.summarise(entry)
        known = self.interp.summaries.get(x.sym)
        self.interp.summarised(x.sym, summary if known is None else merge(known, summary))
        for key, obligation in run.opens.items():
            if obligation.source[0] not in {p.sym for p in function.params}:
                self.opens.setdefault(key, obligation)
        return Closure(x.sym)

    def seen_by(self, sym: ir.Sym, state: State) -> object:
        """What of a state a lambda written in it can see: a lambda in a loop need not be run for every difference."""
        roots = {"this", *self.interp.named_in(sym)}
        waiting = list(roots)
        while waiting:
            root = waiting.pop()
            held: list[Value] = [state.variables.get(root), state.content.get((root,))]
            held += [obj for path, obj in state.objects.items() if path[0] == root]
            for value in held:
                found = set(_roots(value)) | (
                    self.interp.named_in(value.sym) if isinstance(value, Closure) else set()
                )
                waiting += found - roots
                roots |= found
        return (
            frozenset((p, o) for p, o in state.objects.items() if p[0] in roots),
            frozenset((s, v) for s, v in state.variables.items() if s.partition("\0")[0] in roots),
            frozenset((p, c) for p, c in state.content.items() if p[0] in roots),
            frozenset((a, v) for a, v in state.known.items() if not roots.isdisjoint(leaves(a))),
            frozenset(r for r in state.resolved | state.dispatched if r[0][0] in roots),
            state.devices,
        )


def _roots(value: Value) -> Iterator[str]:
    """The variables that a value leads to."""
    if isinstance(value, Ref):
        yield value.path[0]
    elif isinstance(value, Obj):
        yield from _roots(value.storage)
        if value.whole_copy is not None:
            yield value.whole_copy[0]
    elif isinstance(value, Ptr):
        yield from (o.path[0] for o in value.origins)
        yield from (path[0] for path, _ in value.buffers)
    elif isinstance(value, Many):
        for item in value.items:
            yield from _roots(item)


def _by_reference(type_text: str) -> bool:
    return type_text.rstrip().endswith(("&", "*"))


def _is_container(type_text: str) -> bool:
    """An object that owns bytes, by value."""
    return bare(type_text).startswith(_CONTAINERS) and not type_text.rstrip().endswith(("&", "*"))
