"""Where marked weights go: each producer's marker is followed forward over the whole program.

A function that returns what it was given is not a mixer: a value is followed out of a function only to the
calls it came in by, and each call decides for itself which producers' guards can hold
(`Conditions.at_call`). Weight structs are one node for each member, whatever the instance. What cannot be
followed is followed anyway to every function it could be, under a gate that says so, and gives UNKNOWN
rather than LIVE.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from analyzer import ir
from analyzer.domain import Path
from analyzer.gates import (
    ALWAYS,
    NEVER,
    Alternatives,
    Conditions,
    Frame,
    Gate,
    Gates,
    both,
    describe,
    either,
    least,
)
from analyzer.links import Caller, Links, Node
from analyzer.memo import Memo
from analyzer.produced import flags_of, produced
from analyzer.program import Program, bare, is_test_path
from analyzer.valueflow import BYTES, FLAG, THIS, Graph, MarkerCopy, Producer, Use

Hop: TypeAlias = tuple[str, int, str]
"""File, line, what happens there."""

LIVE, GATED, DEAD, UNKNOWN = "LIVE", "GATED", "DEAD", "UNKNOWN"
_RANK = {LIVE: 0, GATED: 1, UNKNOWN: 2, DEAD: 3}

MARKED, PLAIN = 2, 1
"""The value still has its marker; the bytes are rewritten and the marker is gone."""

Entry: TypeAlias = "tuple[Node, int] | None"
Key: TypeAlias = "tuple[ir.Sym, Entry, Node, int]"


@dataclass(slots=True)
class _Fact:
    gates: Alternatives
    parent: Key | None
    hop: Hop | None
    inner: Key | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """One way a producer's weight gets to a node: the gates of the weakest alternative, and whether the
    marker is still with the bytes."""

    producer: Producer
    node: Node
    marked: bool
    gates: Alternatives
    witness: tuple[Hop, ...]


@dataclass
class Flow:
    """The result of `flow`. `spreads`: for each producer the facts reached, none before `follow`."""

    program: Program
    links: Links
    graph: Graph
    conditions: Conditions
    producers: tuple[Producer, ...]
    spreads: list[Spread]
    _by_marker: dict[str, list[Spread]] = field(default_factory=dict)

    def follow(self) -> None:
        """Follow every producer."""
        for producer in self.producers:
            spread = Spread(self.graph, self.conditions, producer)
            spread.run()
            self.spreads.append(spread)
            self._by_marker.setdefault(producer.marker, []).append(spread)

    @property
    def copies(self) -> list[MarkerCopy]:
        """Every statement that carries a marker from one carrier to another."""
        return self.graph.copies

    def node(self, function: ir.Sym, path: Path) -> Node:
        """The node of the lvalue `path` of `function`; an empty string where its type is not known."""
        head, *members = path
        if head == "this":
            node, record = self.graph.this_node(function)
            if self.graph.is_holder(record):
                return node
        else:
            node, record = self.links.canonical.get(head, head), bare(self.links.type_of(head))
        for member in members:
            if member.startswith("["):
                record = _element(record)
                continue
            if self.graph.is_holder(record):
                return node
            owner = self._declaring(_pointee(record), member)
            if owner is None:
                continue
            node = f"#{owner[0]}::{member}"
            record = bare(owner[1])
        return node

    def _declaring(self, record: str, member: str, depth: int = 0) -> tuple[str, str] | None:
        known = self.program.records.get(record)
        if known is None or depth > 4:
            return None
        for each in known.members:
            if each.name == member:
                return record, each.type
        for base in known.bases:
            found = self._declaring(bare(base), member, depth + 1)
            if found is not None:
                return found
        return None

    def reaches(self, node: Node, marker: str) -> list[Reach]:
        """Every producer of `marker` whose weight can be at `node`."""
        found = []
        for spread in self._by_marker.get(marker, ()):
            best: Reach | None = None
            for key in spread.by_node.get(node, ()):
                gates = spread.absolute(key)
                if gates:
                    one = Reach(spread.producer, node, key[3] == MARKED, gates, ())
                    if best is None or _weight(gates) < _weight(best.gates):
                        best = Reach(one.producer, node, one.marked, gates, spread.witness(key))
            if best is not None:
                found.append(best)
        return found

    def state(self, node: Node, marker: str) -> tuple[bool, bool]:
        """Whether rewritten bytes can be at `node` with the marker, and without it."""
        marked = plain = False
        for spread in self._by_marker.get(marker, ()):
            for key in spread.by_node.get(node, ()):
                if spread.absolute(key):
                    marked |= key[3] == MARKED
                    plain |= key[3] == PLAIN
        return marked, plain

    def verdict(
        self, function: ir.Sym, path: Path, marker: str, devices: frozenset[str]
    ) -> tuple[str, str, tuple[Hop, ...]]:
        """Can a weight marked `marker` be at `path` in `function`, on one of `devices` (empty: any)?

        Returns LIVE, GATED (the reason says by what), DEAD (the reason says what is assumed) or UNKNOWN
        (the reason says which edge was given up), and the hops from the producer."""
        producers = [p for p in self.producers if p.marker == marker]
        if not producers:
            return (
                UNKNOWN,
                f"no producer of {marker} in this tree: nothing sets it on a weight that owns its bytes",
                (),
            )
        node = self.node(function, path)
        return self.verdict_at(node, marker, devices)

    def verdict_at(
        self, node: Node, marker: str, devices: frozenset[str]
    ) -> tuple[str, str, tuple[Hop, ...]]:
        """As `verdict`, for a node."""
        best: tuple[str, str, tuple[Hop, ...]] | None = None
        excluded = ""
        for reach in self.reaches(node, marker):
            word, reason = classify(reach.gates, devices)
            if word == DEAD:
                excluded = reason
            elif best is None or _RANK[word] < _RANK[best[0]]:
                best = (word, reason, reach.witness)
        if best is not None:
            return best
        producers = [p for p in self.producers if p.marker == marker]
        where = ", ".join(f"{p.path}:{p.span.line}" for p in producers)
        why = excluded or f"no weight marked {marker} (set at {where}) gets here"
        return DEAD, f"{why}; assumes that no code outside this tree calls it or sets the marker", ()

    def spread_from(self, node: Node, marker: str) -> Spread:
        """What a weight with `marker` that sits at `node` reaches, whoever put it there."""
        example = next(p for p in self.producers if p.marker == marker)
        spread = Spread(self.graph, self.conditions, example)
        spread.run_from(node)
        return spread

    def given_up(self, marker: str) -> list[tuple[str, str, int, str]]:
        """The edges a marked weight meets that could not be followed: why, file, line, function."""
        found = {edge for spread in self._by_marker.get(marker, ()) for edge in spread.given_up}
        names = {sym: self.program.head(sym) for *_, sym in found}
        return sorted(
            (why, path, line, f.name if (f := names[sym]) is not None else "")
            for why, path, line, sym in found
        )

    def fields(self, marker: str) -> dict[str, str]:
        """The members of weight structs that a marked weight reaches: name to verdict."""
        found: dict[str, str] = {}
        for spread in self._by_marker.get(marker, ()):
            for node in spread.by_node:
                if node.startswith("#") and self.graph.field_type(node) == "carrier":
                    word = self.verdict_at(node, marker, frozenset())[0]
                    if word != DEAD:
                        found[node[1:]] = word
        return dict(sorted(found.items()))


def flow(program: Program, memo: Memo | None = None) -> Flow:
    """Follow every producer of every marker of `program`; see `producing`."""
    found = producing(program, memo)
    found.follow()
    return found


def producing(program: Program, memo: Memo | None = None) -> Flow:
    """Find every producer of every marker of `program`, and follow none. Those in tests, examples and benchmarks
    count only when a marker has no other. `memo`: where faces of functions are kept."""
    links = Links(program, (memo or Memo()).faces(program))
    graph = Graph(links)
    real = {p.marker for p in graph.producers if not p.test}
    producers = tuple(
        sorted(
            {
                (p.path, p.span.begin, p.marker): p
                for p in graph.producers
                if not p.test or p.marker not in real
            }.values(),
            key=lambda p: (p.marker, p.path, p.span.begin),
        )
    )
    makers = {p.function for p in producers}
    made = [one for sym in makers for f in program.variants.get(sym, ()) for one in produced(f, program)]
    conditions = Conditions(links, {name: flags_of(name, made) for name in {p.marker for p in producers}})
    return Flow(program, links, graph, conditions, producers, [])


def classify(found: Alternatives, devices: frozenset[str]) -> tuple[str, str]:
    """The verdict of the weakest alternative, and its gates in words."""
    best: tuple[str, str] | None = None
    for gates in sorted(found, key=lambda g: sorted(map(repr, g))):
        one = _classify(gates, devices)
        if best is None or _RANK[one[0]] < _RANK[best[0]]:
            best = one
    return best or (DEAD, "no condition lets it through")


def _classify(gates: Gates, devices: frozenset[str]) -> tuple[str, str]:
    unknown = sorted(describe(g) for g in gates if g[0] == "unknown")
    if unknown:
        return UNKNOWN, "; ".join(unknown)
    wrong = sorted(
        str(g[1]) for g in gates if g[0] == "device" and g[2] is True and devices and g[1] not in devices
    )
    if wrong:
        return DEAD, f"the marker is only set for {', '.join(wrong)}"
    needed = sorted(describe(g) for g in gates if g[0] in ("env", "constant") and g[-1] is not False)
    hosts = sorted(describe(g) for g in gates if g[0] == "arch")
    if needed:
        return GATED, "needs " + " and ".join((*needed, *hosts))
    return (
        LIVE,
        f"in the default environment of {' and '.join(hosts)}" if hosts else "in the default environment",
    )


def _weight(found: Alternatives) -> tuple[int, int]:
    ranks = [(_RANK[_classify(g, frozenset())[0]], len(g)) for g in found]
    return min(ranks) if ranks else (9, 0)


def _pointee(record: str) -> str:
    for opening in ("std::unique_ptr<", "std::shared_ptr<", "std::optional<", "std::reference_wrapper<"):
        if record.startswith(opening):
            return bare(record[len(opening) : -1].split(",")[0])
    return record


def _element(record: str) -> str:
    if "<" in record and record.endswith(">"):
        inner = record[record.index("<") + 1 : -1]
        depth, start, parts = 0, 0, []
        for position, char in enumerate(inner):
            depth += (char in "<(") - (char in ">)")
            if char == "," and depth == 0:
                parts.append(inner[start:position])
                start = position + 1
        parts.append(inner[start:])
        mapped = record.startswith(("std::map<", "std::unordered_map<")) and len(parts) > 1
        return bare(parts[1] if mapped else parts[0])
    return bare(record.split("[")[0])


class Spread:
    """What one producer's weight reaches: a tabulation over (function, how the value came in, node,
    state)."""

    def __init__(self, graph: Graph, conditions: Conditions, producer: Producer) -> None:
        self.graph = graph
        self.links = graph.links
        self.conditions = conditions
        self.producer = producer
        self.facts: dict[Key, _Fact] = {}
        self.by_node: dict[Node, list[Key]] = {}
        self.queue: deque[Key] = deque()
        self.queued: set[Key] = set()
        self.entry_gates: dict[tuple[ir.Sym, Entry], Alternatives] = {}
        self.in_context: dict[tuple[ir.Sym, Entry], list[Key]] = {}
        self.incoming: dict[tuple[ir.Sym, Entry], dict[tuple[object, ...], tuple[Key, Caller]]] = {}
        self.exits: dict[tuple[ir.Sym, Entry], dict[tuple[int, int], Key]] = {}
        self.arguments: dict[tuple[tuple[object, ...], tuple[ir.Sym, Entry]], Alternatives] = {}
        self.given_up: set[tuple[str, str, int, ir.Sym]] = set()
        self.tests_too = producer.test
        self.flags = conditions.flags.get(producer.marker, {})

    def run(self) -> None:
        """Start at the producer and follow until nothing new is reached."""
        p = self.producer
        value = self.conditions.truth(p.value, Frame(p.function))[0] if not _is_true(p.value) else ALWAYS
        gates = both(self.conditions.holds(p.cond, p.function), value)
        hop = (p.path, p.span.line, f"{p.marker} is set here")
        for node in p.nodes:
            self.put(p.function, None, node, MARKED, gates, None, hop)
        self.drain()

    def run_from(self, node: Node) -> None:
        """Start at a node that holds a marked weight, with no regard to how it came there."""
        self.put(self.graph.owner(node), None, node, MARKED, ALWAYS, None, None)
        self.drain()

    def beyond(self, node: Node) -> list[Key]:
        """Every fact but those of `node` itself."""
        return [key for key in self.facts if key[2] != node]

    def drain(self) -> None:
        """Take steps until none is left."""
        while self.queue:
            key = self.queue.popleft()
            self.queued.discard(key)
            self.step(key)

    # ---------------------------------------------------------------------------------------------- tables

    def put(
        self,
        function: ir.Sym,
        entry: Entry,
        node: Node,
        state: int,
        gates: Alternatives,
        parent: Key | None,
        hop: Hop | None,
        inner: Key | None = None,
    ) -> None:
        """Record a fact; a node that does not belong to `function` is recorded where it does."""
        if not gates:
            return
        owner = self.graph.owner(node)
        if owner != function:
            gates = self.whole(function, entry, gates)
            function, entry = owner, None
        key = (function, entry, node, state)
        fact = self.facts.get(key)
        if fact is None:
            self.facts[key] = _Fact(least(gates), parent, hop, inner)
            self.by_node.setdefault(node, []).append(key)
            self.in_context.setdefault((function, entry), []).append(key)
        else:
            wider = either(fact.gates, gates)
            if wider == fact.gates:
                return
            if _weight(wider) < _weight(fact.gates) and not self._leads_to(parent, key):
                fact.parent, fact.hop, fact.inner = parent, hop, inner
            fact.gates = wider
        self.enqueue(key)

    def _leads_to(self, key: Key | None, goal: Key) -> bool:
        seen = 0
        while key is not None and seen < 400:
            if key == goal:
                return True
            key = self.facts[key].parent
            seen += 1
        return seen >= 400

    def enqueue(self, key: Key) -> None:
        """Look at a fact again."""
        if key not in self.queued:
            self.queued.add(key)
            self.queue.append(key)

    def whole(self, function: ir.Sym, entry: Entry, gates: Alternatives) -> Alternatives:
        """`gates` without regard to how the function was entered."""
        settled = self.conditions.settle(gates)
        return settled if entry is None else both(self.entry_gates.get((function, entry), NEVER), settled)

    def absolute(self, key: Key) -> Alternatives:
        """The gates of a fact over the whole program."""
        return self.whole(key[0], key[1], self.facts[key].gates)

    # ---------------------------------------------------------------------------------------------- steps

    def step(self, key: Key) -> None:
        """Follow a fact along every use of its node."""
        function, entry, node, _ = key
        fact = self.facts[key]
        for use in self.graph.uses(node):
            if not self.tests_too and is_test_path(use.path):
                continue
            self.follow(key, fact, use)
        parameter = self.graph.parameter(node)
        if parameter is not None and parameter[0] == function and (entry is None or entry[0] != node):
            self.leave(key, parameter[1] + 2)

    def follow(self, key: Key, fact: _Fact, use: Use) -> None:
        """Follow a fact along one use."""
        function, entry, node, state = key
        if (
            entry is None
            and function == self.producer.function == use.function
            and use.line < self.producer.span.line
            and node in self.producer.nodes
        ):
            return  # before the marker is set
        if use.mode == FLAG and (state != MARKED or use.marker != self.producer.marker):
            return
        if use.function == function:
            gates = fact.gates
        else:
            gates, entry = self.whole(function, entry, fact.gates), None
        gates = both(gates, self.conditions.holds(use.cond, use.function))
        if node.startswith("#"):  # a member of any object of a type: whoever calls may have asked
            gates = both(gates, self.conditions.reached(use.function))
        gates = self.unmarked(gates, node, entry[0] if entry is not None else node, state)
        if not gates:
            return
        if self.producer.marker in use.restores:
            state = MARKED
        elif use.mode == BYTES:
            state = PLAIN
        hop = (use.path, use.line, use.note)
        if use.kind == "edge":
            self.put(use.function, entry, use.target, state, gates, key, hop)
        elif use.kind == "return":
            here: Key = (use.function, entry, f"={use.function}", state)
            self.note_exit(here, gates, key, hop)
        elif use.caller is not None:
            self.enter(use, use.caller, entry, state, gates, key, hop)

    def unmarked(self, gates: Alternatives, node: Node, entered: Node, state: int) -> Alternatives:
        """Drop what a check of this very weight keeps out, and forget checks of other markers and objects. `entered`:
        the parameter that it came in by, which may be asked in place of what was made from it."""
        if not any(g[0] in ("marker", "flag") for a in gates for g in a):
            return gates
        out = []
        for alternative in gates:
            checks = [g for g in alternative if g[0] in ("marker", "flag")]
            if any(self.denies(g, node, entered, state) for g in checks):
                continue
            out.append(alternative.difference(checks))
        return least(out)

    def denies(self, gate: Gate, node: Node, entered: Node, state: int) -> bool:
        """Can the producer's weight not be what the gate asks for?"""
        if gate[0] == "flag":
            flag = self.flags.get((str(gate[2]), str(gate[3])), gate[4])
            return gate[1] in (node, entered) and flag is not gate[4]
        return gate[1] == node and gate[2] == self.producer.marker and gate[3] is not (state == MARKED)

    def note_exit(self, key: Key, gates: Alternatives, parent: Key, hop: Hop) -> None:
        """The value can be what its function returns."""
        fact = self.facts.get(key)
        if fact is None:
            self.facts[key] = _Fact(least(gates), parent, hop)
            self.in_context.setdefault(key[:2], []).append(key)
        else:
            wider = either(fact.gates, gates)
            if wider == fact.gates:
                return
            fact.gates = wider
        self.leave(key, 0)

    def enter(
        self, use: Use, caller: Caller, entry: Entry, state: int, gates: Alternatives, key: Key, hop: Hop
    ) -> None:
        """The value goes into the functions that a call can run."""
        call = caller.call
        targets: Iterable[ir.Sym] = self.links.targets(call, use.function)
        if not targets:
            self.given_up.add((use.unknown, use.path, use.line, use.function))
            gates = _under(gates, ("unknown", f"{use.unknown} ({use.path}:{use.line})"))
            self.put(use.function, entry, caller.node, state, gates, key, hop)
            targets = self.links.guesses(call)
        for target in targets:
            node = self.links.parameter_node(target, use.position)
            if node is None:
                continue
            if use.position == THIS and not (self.graph.parameter(node) and self.graph.uses_object(target)):
                continue
            inside: Entry = (node, state)
            context = (target, inside)
            sources = self.incoming.setdefault(context, {})
            source = (use.function, entry, id(caller))
            if source not in sources:
                sources[source] = (key, caller)
            self.arguments[source, context] = either(self.arguments.get((source, context), NEVER), gates)
            wider = either(self.entry_gates.get(context, NEVER), self.whole(use.function, entry, gates))
            changed = wider != self.entry_gates.get(context)
            self.entry_gates[context] = wider
            self.put(target, inside, node, state, ALWAYS, key, hop)
            if changed:
                for inner in self.in_context.get(context, ()):
                    if inner[2][0] != "=":
                        self.enqueue(inner)
            for (slot, out_state), exit_key in list(self.exits.get(context, {}).items()):
                self.give_back(exit_key, slot, out_state, source, context)

    def leave(self, key: Key, slot: int) -> None:
        """The value goes out of its function: slot 0 by return, else through parameter `slot - 2`."""
        function, entry, _, state = key
        if entry is None:
            for caller in self.links.all_callers(function):
                if not self.tests_too and is_test_path(caller.path):
                    continue
                gates = self.conditions.at_call(self.facts[key].gates, function, caller)
                if gates:
                    gates = both(gates, self.conditions.holds(caller.cond, caller.function))
                self.deliver(key, slot, state, caller, caller.function, None, gates, key)
            return
        context = (function, entry)
        self.exits.setdefault(context, {})[slot, state] = key
        for source in list(self.incoming.get(context, {})):
            self.give_back(key, slot, state, source, context)

    def give_back(
        self, key: Key, slot: int, state: int, source: tuple[object, ...], context: tuple[ir.Sym, Entry]
    ) -> None:
        """A value that came in by a call goes out to that call."""
        argument, caller = self.incoming[context][source]
        entry: Entry = source[1]  # type: ignore[assignment]
        through = self.conditions.at_call(self.facts[key].gates, context[0], caller)
        gates = both(self.arguments[source, context], through)
        self.deliver(argument, slot, state, caller, caller.function, entry, gates, key)

    def deliver(
        self,
        parent: Key,
        slot: int,
        state: int,
        caller: Caller,
        function: ir.Sym,
        entry: Entry,
        gates: Alternatives,
        inner: Key,
    ) -> None:
        """Put a value that left its function where the call leaves it."""
        if not gates:
            return
        line = caller.call.span.line
        if slot == 0:
            nodes: tuple[Node, ...] = (caller.node,)
            note = "the call gives it back"
        else:
            nodes = self.graph.outs(caller).get(slot - 2, ())
            note = "the call leaves it there"
        for node in nodes:
            self.put(
                function,
                entry,
                node,
                state,
                gates,
                parent,
                (caller.path, line, note),
                inner if inner != parent else None,
            )

    # ---------------------------------------------------------------------------------------------- witness

    def witness(self, key: Key) -> tuple[Hop, ...]:
        """The hops from the producer to a fact, oldest first."""
        hops = self._hops(key, None, 0)
        kept: list[Hop] = []
        for hop in hops:
            if not kept or kept[-1] != hop:
                kept.append(hop)
        return tuple(kept)

    def _hops(self, key: Key | None, stop: tuple[ir.Sym, Entry] | None, depth: int) -> list[Hop]:
        hops: list[Hop] = []
        seen = set()
        while key is not None and key not in seen and len(hops) < 60:
            seen.add(key)
            fact = self.facts[key]
            if stop is not None and key[:2] == stop and key[1] is not None and key[2] == key[1][0]:
                break
            if fact.hop is not None:
                hops.append(fact.hop)
            if fact.inner is not None and depth < 4:
                hops += reversed(self._hops(fact.inner, fact.inner[:2], depth + 1))
            key = fact.parent
        hops.reverse()
        return hops


def _under(gates: Alternatives, gate: tuple[object, ...]) -> Alternatives:
    return least(frozenset({*g, gate}) for g in gates)


def _is_true(value: ir.Expr) -> bool:
    return isinstance(value, ir.Lit) and value.value in ("true", "1")
