"""The value-flow graph: from where to where the bytes of a carrier, and its markers, can go.

Nodes are variables, returned values, `Record::field` (whatever the instance) and call results. A
container, an optional or a pointer is the same node as what it holds, and so is a carrier and its storage
fields. A value is *whole* where the markers come along (the carrier itself), else *bytes*: what
`w.bytes.data()` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from analyzer import ir
from analyzer.events import Cond, Events
from analyzer.links import Caller, Links, Node
from analyzer.program import (
    Carrier,
    _holds_bytes,
    bare,
    is_byte_pointer,
    is_mutable_reference,
    is_pointer,
    is_scalar,
    is_test_path,
)

WHOLE, BYTES, FLAG = 0, 1, 2
"""How a value passes an edge: as it is, its bytes only, or its marker only."""

THIS = -1

_ARRAY = re.compile(r"\[\d*\]")
_COPY = re.compile(r"mem(?:cpy|move)", re.IGNORECASE)
_RANGE_COPIES = frozenset({"copy", "uninitialized_copy", "move_backward", "copy_backward"})
_MUTATORS = frozenset(
    {
        "push_back",
        "emplace_back",
        "insert",
        "emplace",
        "push",
        "try_emplace",
        "insert_or_assign",
        "assign",
        "reset",
        "operator=",
        "append",
        "push_front",
        "emplace_front",
        "store",
        "fill",
    }
)
_THROUGH = frozenset(
    {"move", "forward", "as_const", "get", "addressof", "ref", "cref", "to_address", "launder"}
)

Item = tuple[Node, int, tuple[tuple[ir.Expr, bool], ...]]


@dataclass(slots=True)
class Use:
    """One thing done with the value of a node: `edge` to `target`, `argument` number `position` of
    `caller`, or `return`. `marker`: only the flag of this marker passes. `restores`: markers that the code
    copies over by hand."""

    kind: str
    function: ir.Sym
    path: str
    line: int
    cond: Cond | None
    mode: int
    target: Node = ""
    marker: str = ""
    caller: Caller | None = None
    position: int = 0
    note: str = ""
    unknown: str = ""
    restores: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Producer:
    """A statement that sets a marker on an owning carrier. `value`: `true`, or the expression's kind."""

    marker: str
    carrier: str
    function: ir.Sym
    name: str
    path: str
    span: ir.Span
    nodes: tuple[Node, ...]
    cond: Cond | None
    value: ir.Expr
    test: bool


@dataclass(frozen=True, slots=True)
class MarkerCopy:
    """A statement that sets a marker of one carrier from that of another (or the same marker of a view)."""

    marker: str
    carrier: str
    function: ir.Sym
    name: str
    path: str
    span: ir.Span


@dataclass
class Part:
    """What the bodies of one function add. `owner`: the nodes of its calls. `incoming`: uses by the node they lead to;
    `arguments`: nodes by the call they are given to; `this`: methods whose object is a node."""

    uses: dict[Node, list[Use]] = field(default_factory=dict)
    outs: dict[int, dict[int, tuple[Node, ...]]] = field(default_factory=dict)
    owner: dict[Node, ir.Sym] = field(default_factory=dict)
    incoming: dict[Node, list[tuple[Node, Use]]] = field(default_factory=dict)
    arguments: dict[Node, set[Node]] = field(default_factory=dict)
    this: set[Node] = field(default_factory=set)
    producers: list[Producer] = field(default_factory=list)
    copies: list[MarkerCopy] = field(default_factory=list)

    def add(self, node: Node, use: Use) -> None:
        """Note one use of `node`."""
        self.uses.setdefault(node, []).append(use)
        if use.kind == "argument" and use.caller is not None:
            self.arguments.setdefault(use.caller.node, set()).add(node)
        elif use.kind == "edge" and use.mode != FLAG and not use.target.startswith("#"):
            self.incoming.setdefault(use.target, []).append((node, use))


class Graph:
    """All uses of all nodes, all producers and marker copies of a program. A body is looked at when something that was
    asked leads into it."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.program = links.program
        self.producers: list[Producer] = []
        self.copies: list[MarkerCopy] = []
        self._owner: dict[Node, ir.Sym] = {}
        self._parameters: dict[Node, tuple[ir.Sym, int]] = {}
        self._parts: dict[int, Part] = {}
        self._building = Part()
        self._uses: dict[Node, Sequence[Use]] = {}
        self._flags: dict[Node, dict[Node, set[str]]] = {}
        self._whole: dict[Node, set[Node]] = {}
        self._calls: dict[Node, int] = {}
        self._carries: dict[str, str] = {}
        self._holders: dict[str, bool] = {}
        self._aliases: dict[ir.Sym, tuple[Node, ...]] = {}
        self._busy: set[object] = set()
        self._frames: dict[ir.Sym, ir.Sym] = {}
        for symbol, (owner, position) in links.parameter_owner.items():
            node = links.canonical[symbol]
            self._parameters[node] = (owner, position)
            self._owner[node] = owner
        for at in links.marking:
            part = self.part(at)
            self.producers += part.producers
            self.copies += part.copies
            for node, uses in part.uses.items():
                for use in uses:
                    if use.mode == FLAG:
                        self._flags.setdefault(node, {}).setdefault(use.target, set()).add(use.marker)

    def part(self, at: int) -> Part:
        """What the function with number `at` adds."""
        known = self._parts.get(at)
        if known is None:
            known = self._parts[at] = self._building = Part()
            for function, found in self.links.part(at).bodies:
                _Body(self, known, function, found).run()
            self._calls.update(dict.fromkeys(known.owner, at))
        return known

    def numbers(self, node: Node) -> Iterable[int]:
        """The functions that can use `node`, in order."""
        if node[:1] == "#":
            owner, _, name = node[1:].rpartition("::")
            return self.links.using.get((owner, name), ())
        if node[:1] == "@":
            return sorted(self.links.frame(node[1:]))
        if node[:1] == "(":
            path, begin, _ = node[1:].rsplit(":", 2)
            found = self.links.numbers_at(path, int(begin))
            own = self._calls.get(node)
            return sorted(found if own is None else {*found, own})
        return self.links.numbers_with(node)

    def uses(self, node: Node) -> Sequence[Use]:
        """Everything that is done with the value of `node`."""
        known = self._uses.get(node)
        if known is None:
            known = [use for at in self.numbers(node) for use in self.part(at).uses.get(node, ())]
            self._uses[node] = known
            self._restore(node, known)
            self._keep(node, known)
        return known

    def outs(self, caller: Caller) -> dict[int, tuple[Node, ...]]:
        """Where a call leaves what it was given, by argument."""
        at = self.links.number(caller.function)
        return {} if at is None else self.part(at).outs.get(id(caller), {})

    def owner(self, node: Node) -> ir.Sym:
        """The function that a node belongs to, empty for members and globals."""
        known = self._owner.get(node)
        if known is None:
            known = ""
            if node[:1] == "@":
                head = self.program.head(node[1:])
                known = node[1:] if head is not None and self.is_holder(head.owner) else ""
            elif node[:1] == "(":
                for at in self.numbers(node):
                    known = self.part(at).owner.get(node, known)
            elif node[:1] not in "#=":
                for declared in self.links.parts_with(node):
                    known = declared.owner.get(node, known)
            self._owner[node] = known
        return known

    def parameter(self, node: Node) -> tuple[ir.Sym, int] | None:
        """The function that a node is a parameter of, and which; the object of a method counts as one."""
        if node[:1] == "@":
            return (node[1:], THIS) if self.owner(node) else None
        return self._parameters.get(node)

    def uses_object(self, function: ir.Sym) -> bool:
        """Does a method, or a lambda in it, do anything with its object as a whole?"""
        node = f"@{function}"
        return any(node in self.part(at).this for at in self.links.frame(function))

    def may_reach(self, functions: Iterable[ir.Sym]) -> set[ir.Sym]:
        """`functions`, and all from which a value may get into one of them, told from outside. What a function is
        called by that does not name it can only hand it arguments."""
        found = set(functions)
        wanted = list(found)
        while wanted:
            sym = wanted.pop()
            takes = any(self.carries(p.type) for v in self.program.heads.get(sym, ()) for p in v.head.params)
            for at in self.links.may_call(sym, by_name=not takes):
                other = self.links.order[at]
                if other not in found:
                    found.add(other)
                    wanted.append(other)
        return found

    def locals(self, function: ir.Sym) -> Iterable[Node]:
        """The nodes that belong to `function`, its parameters among them."""
        part = self.links.part_of(function)
        own = [n for n, owner in part.owner.items() if owner == function] if part is not None else []
        return [*(n for n in self.links.positions(function) if self._owner.get(n) == function), *own]

    def members(self, name: str) -> list[Node]:
        """The members of this name that something uses."""
        nodes = [f"#{owner}::{member}" for owner, member in self.links.using if member == name]
        return [node for node in nodes if self.uses(node)]

    def _restore(self, node: Node, uses: Sequence[Use]) -> None:
        """Mark the edges by which bytes get to a carrier that the same function gives the marker of their source."""
        flags = self._flags.get(node)
        for use in uses if flags else ():
            assert flags is not None
            if use.kind == "edge" and use.mode == BYTES and use.target in flags:
                use.restores |= flags[use.target]
        given = self._arguments(node)
        for _ in range(4):  # f(g(h(i(w)))): what comes back may be w's bytes
            for source in given:
                for use in uses:
                    if use.kind == "edge" and use.target in self._flags.get(source, ()):
                        use.restores |= self._flags[source][use.target]
            given = {inner for source in given for inner in self._arguments(source)}

    def _arguments(self, node: Node) -> set[Node]:
        if node[:1] != "(":
            return set()
        return {n for at in self.numbers(node) for n in self.part(at).arguments.get(node, ())}

    def _roots(self, node: Node, depth: int = 0) -> set[Node]:
        if depth == 3:
            return {node}
        return {node}.union(*(self._roots(n, depth + 1) for n in self._arguments(node)))

    def _keep(self, node: Node, uses: Sequence[Use]) -> None:
        """`t = w.View(); t.data = Staged(w);` keeps the markers that `t` has: the new bytes are `w`'s own."""
        for use in uses:
            if use.kind == "edge" and use.mode == BYTES and not use.target.startswith("#"):
                whole = self._whole.get(use.target)
                if whole is None:
                    edges = self._incoming(use.target)
                    whole = set[Node]().union(*(self._roots(n) for n, other in edges if other.mode == WHOLE))
                    self._whole[use.target] = whole
                if not self._roots(node).isdisjoint(whole):
                    use.restores = frozenset(self.program.markers)

    def _incoming(self, node: Node) -> list[tuple[Node, Use]]:
        return [each for at in self.numbers(node) for each in self.part(at).incoming.get(node, ())]

    # -------------------------------------------------------------------------------------------- types

    def carries(self, type_text: str) -> str:
        """`carrier` for carriers and containers of them, `bytes` for pointers to and owners of bytes, else
        empty."""
        known = self._carries.get(type_text)
        if known is None:
            text = _ARRAY.sub("", type_text)
            if self.program.carrier_of(text) or self.program.is_container_of_carriers(text):
                known = "carrier"
            elif (
                is_byte_pointer(text)
                or is_pointer(text)
                and bare(text) == "void"
                or _holds_bytes(self.program, bare(text))
            ):
                known = "bytes"
            else:
                known = ""
            self._carries[type_text] = known
        return known

    def is_holder(self, record: str) -> bool:
        """A carrier, or a record that is nothing but a way to hold bytes: one node with its fields."""
        if record in self.program.carriers:
            return True
        known = self._holders.get(record)
        if known is None:
            members = self.program.records[record].members if record in self.program.records else ()
            known = self.carries(record) == "bytes" and not any(
                self.carries(m.type) == "carrier" for m in members
            )
            self._holders[record] = known
        return known

    def field_type(self, node: Node) -> str:
        """What a `#Record::field` node carries, see `carries`."""
        record, _, name = node[1:].rpartition("::")
        return self.carries(self.declared(record, name))

    def declared(self, record: str, name: str) -> str:
        """The type a record declares for one of its own members, empty where it is not known."""
        known = self.program.records.get(record)
        return next((m.type for m in known.members if m.name == name), "") if known is not None else ""

    def carries_field(self, e: ir.Field) -> str:
        """`carries` of the member; a constructor's initialiser names it without its type."""
        return self.carries(e.type or self.declared(e.owner, e.name))

    def this_node(self, function: ir.Sym) -> tuple[Node, str]:
        """The node of `*this` of the method (or the lambda in it), and the record it belongs to."""
        frame = self._frames.get(function)
        if frame is None:
            frame = self._frames[function] = self.links.frame_of(function)
        head = self.program.head(frame)
        owner = head.owner if head is not None else ""
        node = f"@{frame}"
        if self.is_holder(owner):
            self._building.this.add(node)
        return node, owner

    def carrier_of_field(self, e: ir.Field) -> Carrier | None:
        """The carrier whose member `e` is."""
        return self.program.carriers.get(e.owner)

    # ----------------------------------------------------------------------------------------- values

    def value(self, e: ir.Expr, function: ir.Sym) -> list[Item]:
        """The nodes whose value `e` can be, how it passes, and the tests of `?:` it stands under."""
        if isinstance(e, ir.Name):
            if e.kind in ("function", "enum") or not self.carries(self.links.type_of(e.sym)):
                return []
            return [(self.links.canonical.get(e.sym, e.sym), WHOLE, ())]
        if isinstance(e, ir.Field):
            carrier = self.carrier_of_field(e)
            if carrier is not None:
                if e.name not in carrier.storage:
                    return []
                mode = WHOLE if carrier.inner and self.carries_field(e) == "carrier" else BYTES
                return [(n, max(m, mode), c) for n, m, c in self.value(e.base, function)]
            if not e.owner or e.owner.startswith("std::"):
                return self.value(e.base, function)
            if self.is_holder(e.owner):
                return self.value(e.base, function) if self.carries_field(e) else []
            return [(f"#{e.owner}::{e.name}", WHOLE, ())] if self.carries_field(e) else []
        if isinstance(e, ir.Call):
            return self._call_value(e, function)
        if isinstance(e, ir.Unary):
            return self.value(e.x, function) if e.op in ("*", "&", "++", "--") else []
        if isinstance(e, ir.This):
            node, owner = self.this_node(function)
            return [(node, WHOLE, ())] if self.is_holder(owner) else []
        if isinstance(e, ir.Binary):
            if e.op in ("+", "-"):
                return [*self.value(e.a, function), *self.value(e.b, function)]
            return self.value(e.b, function) if e.op == "," else []
        if isinstance(e, ir.Cast):
            return self.value(e.x, function)
        if isinstance(e, ir.Index):
            return [] if e.type and is_scalar(e.type) else self.value(e.base, function)
        if isinstance(e, ir.Cond):
            yes = [(n, m, (*c, (e.test, True))) for n, m, c in self.value(e.yes, function)]
            return yes + [(n, m, (*c, (e.test, False))) for n, m, c in self.value(e.no, function)]
        if isinstance(e, ir.Assign):
            return self.value(e.value, function)
        if isinstance(e, ir.Init):
            return self._init_value(e, function)
        if isinstance(e, ir.New):
            caller = self.links.caller_of.get(id(e))
            made = caller is not None and self.links.targets(e, function)
            return (
                [(caller.node, WHOLE, ())] if caller is not None and made else self._union(e.args, function)
            )
        if isinstance(e, ir.Other):
            return self._union(e.items, function)
        return []

    def _union(self, items: tuple[ir.Expr, ...], function: ir.Sym) -> list[Item]:
        return [found for item in items for found in self.value(item, function)]

    def _init_value(self, e: ir.Init, function: ir.Sym) -> list[Item]:
        carrier = self.program.carriers.get(bare(e.type))
        if carrier is not None and e.fields:
            found: list[Item] = []
            for name, item in zip(e.fields, e.items, strict=False):
                if name in carrier.storage:
                    found += [(n, max(m, BYTES), c) for n, m, c in self.value(item, function)]
            return found
        if e.fields and bare(e.type) in self.program.records and not self.is_holder(bare(e.type)):
            return []
        return self._union(e.items, function)

    def _call_value(self, e: ir.Call, function: ir.Sym) -> list[Item]:
        if e.type and is_scalar(e.type):
            return []
        caller = self.links.caller_of[id(e)]
        if self.links.targets(e, function) or self.links.is_open(e):
            return [(caller.node, WHOLE, ())] if not e.type or self.carries(e.type) or caller.unknown else []
        found = self.value(e.base, function) if e.base is not None else []
        return found + self._union(e.args, function)

    # ---------------------------------------------------------------------------------------- lvalues

    def places(self, e: ir.Expr, function: ir.Sym, depth: int = 0) -> tuple[Node, ...]:
        """The nodes that a store to `e` (or through it) writes."""
        if depth > 6:
            return ()
        if isinstance(e, ir.Name):
            if not self.carries(self.links.type_of(e.sym)):
                return ()
            node = self.links.canonical.get(e.sym, e.sym)
            return (node, *self._aliases_of(e.sym, function, depth))
        if isinstance(e, ir.This):
            node, owner = self.this_node(function)
            return (node,) if self.is_holder(owner) else ()
        if isinstance(e, ir.Field):
            carrier = self.carrier_of_field(e)
            if carrier is not None:
                return self.places(e.base, function, depth) if e.name in carrier.storage else ()
            if (
                not e.owner
                or e.owner.startswith("std::")
                or self.is_holder(e.owner)
                and self.carries_field(e)
            ):
                return self.places(e.base, function, depth)
            return (f"#{e.owner}::{e.name}",) if self.carries_field(e) else ()
        if isinstance(e, (ir.Unary, ir.Cast)):
            return self.places(e.x, function, depth)
        if isinstance(e, ir.Index):
            return self.places(e.base, function, depth)
        if isinstance(e, ir.Binary):
            return self.places(e.a, function, depth)
        if isinstance(e, ir.Assign):
            return self.places(e.target, function, depth)
        if isinstance(e, ir.Cond):
            return (*self.places(e.yes, function, depth), *self.places(e.no, function, depth))
        if isinstance(e, ir.Init):
            return tuple(n for item in e.items for n in self.places(item, function, depth))
        if isinstance(e, ir.Call):
            return self._returned_places(e, function, depth)
        return ()

    def _aliases_of(self, symbol: ir.Sym, function: ir.Sym, depth: int) -> tuple[Node, ...]:
        known = self._aliases.get(symbol)
        if known is not None:
            return known
        declared = self.links.type_of(symbol).strip()
        if (
            symbol in self.links.parameter_owner
            or not declared.endswith(("&", "*"))
            or ("a", symbol) in self._busy
        ):
            return ()
        self._busy.add(("a", symbol))
        found: list[Node] = []
        for value in self.links.values_of_variable(symbol):
            found += self.places(value, function, depth + 1)
        ranges = [part.ranges[symbol] for part in self.links.parts_with(symbol) if symbol in part.ranges]
        if ranges:
            found += self.places(ranges[-1], function, depth + 1)
        self._busy.discard(("a", symbol))
        self._aliases[symbol] = tuple(dict.fromkeys(found))
        return self._aliases[symbol]

    def _returned_places(self, e: ir.Call, function: ir.Sym, depth: int) -> tuple[Node, ...]:
        targets = self.links.targets(e, function)
        if not targets:
            if e.callee in self.program.heads:
                return ()
            if e.base is not None:
                return self.places(e.base, function, depth + 1)
            if e.name.rpartition("::")[2] in _THROUGH and e.args:
                return self.places(e.args[0], function, depth + 1)
            return ()
        found: list[Node] = []
        for target in targets:
            for value, _ in self.links.returns(target):
                for node in self.places(value, target, depth + 1):
                    owner = self.parameter(node)
                    if owner is None or owner[0] != target:
                        if self.owner(node) != target:  # its own locals end with it
                            found.append(node)
                    elif owner[1] == THIS:
                        found += self.places(e.base, function, depth + 1) if e.base is not None else ()
                    elif owner[1] < len(e.args):
                        found += self.places(e.args[owner[1]], function, depth + 1)
        return tuple(dict.fromkeys(found))


class _Body:
    """Adds the uses of one body to the graph."""

    def __init__(self, graph: Graph, part: Part, function: ir.Function, found: Events) -> None:
        self.graph = graph
        self.part = part
        self.links = graph.links
        self.function = function
        self.found = found
        self.sym = function.sym
        self.test = is_test_path(function.path)

    def run(self) -> None:
        graph = self.graph
        for caller in self.links.calls_in(self.found):
            self.call(caller)
        for var, cond in self.found.variables:
            if var.init is not None and graph.carries(var.type):
                self.edges(var.init, (var.sym,), cond, var.span.line, f"{var.name} is made from it")
        for each, cond in self.found.ranges:
            if graph.carries(each.var.type):
                self.edges(
                    each.range,
                    (each.var.sym,),
                    cond,
                    each.span.line,
                    f"the loop visits it as {each.var.name}",
                )
        for assign, cond in self.found.assigns:
            self.assign(assign, cond)
        for init, cond in self.found.inits:
            self.aggregate(init, cond)
        for returned, cond in self.found.returns:
            if returned.x is not None:
                for node, mode, tests in graph.value(returned.x, self.sym):
                    self.use(
                        "return",
                        node,
                        mode,
                        cond,
                        tests,
                        returned.span.line,
                        note=f"{_short(self.function)} returns it",
                    )

    def use(
        self,
        kind: str,
        node: Node,
        mode: int,
        cond: Cond | None,
        tests: tuple[tuple[ir.Expr, bool], ...],
        line: int,
        **more: object,
    ) -> None:
        for test, value in tests:
            cond = Cond(cond, test, value)
        self.part.add(node, Use(kind, self.sym, self.function.path, line, cond, mode, **more))  # type: ignore[arg-type]

    def edges(
        self,
        value: ir.Expr,
        targets: tuple[Node, ...],
        cond: Cond | None,
        line: int,
        note: str,
        least: int = WHOLE,
    ) -> None:
        if not targets:
            return
        for node, mode, tests in self.graph.value(value, self.sym):
            for target in targets:
                if target != node:
                    self.use("edge", node, max(mode, least), cond, tests, line, target=target, note=note)

    def assign(self, assign: ir.Assign, cond: Cond | None) -> None:
        target = assign.target
        graph = self.graph
        if isinstance(target, ir.Field):
            carrier = graph.carrier_of_field(target)
            if carrier is not None and target.name in carrier.markers:
                self.marker(carrier, target, assign, cond)
                return
        if assign.op != "=" or isinstance(target, ir.Index) and is_scalar(target.type):
            return
        if (
            isinstance(target, ir.Unary)
            and target.op == "*"
            and isinstance(assign.value, (ir.Lit, ir.Binary))
        ):
            return
        places = graph.places(target, self.sym)
        if places:
            stored = isinstance(target, ir.Field) and target.owner in graph.program.carriers
            note = f"stored in {_spell(target)}"
            self.edges(assign.value, places, cond, assign.span.line, note, BYTES if stored else WHOLE)

    def marker(self, carrier: Carrier, target: ir.Field, assign: ir.Assign, cond: Cond | None) -> None:
        graph = self.graph
        sources = _marker_reads(assign.value, target.name, self.links, graph.program.carriers)
        places = graph.places(target.base, self.sym)
        if sources:
            self.part.copies.append(
                MarkerCopy(
                    target.name, carrier.name, self.sym, self.function.name, self.function.path, assign.span
                )
            )
            for source in sources:
                for node, _, tests in graph.value(source.base, self.sym):
                    for place in places:
                        if place != node:
                            self.use(
                                "edge",
                                node,
                                FLAG,
                                cond,
                                tests,
                                assign.span.line,
                                target=place,
                                marker=target.name,
                                note=f"{target.name} is carried to {_spell(target.base)}",
                            )
            return
        if carrier.view or isinstance(assign.value, ir.Lit) and assign.value.value in ("false", "0"):
            return
        self.part.producers.append(
            Producer(
                target.name,
                carrier.name,
                self.sym,
                self.function.name,
                self.function.path,
                assign.span,
                places,
                cond,
                assign.value,
                self.test,
            )
        )

    def aggregate(self, init: ir.Init, cond: Cond | None) -> None:
        """`Record{...}`: its fields get the items; markers of a carrier are produced or carried."""
        graph = self.graph
        record = bare(init.type)
        if not init.fields:
            return
        carrier = graph.program.carriers.get(record)
        for name, item in zip(init.fields, init.items, strict=False):
            if carrier is None and record in graph.program.records and not graph.is_holder(record):
                self.edges(item, (f"#{record}::{name}",), cond, init.span.line, f"stored in {record}::{name}")

    def copies(self, caller: Caller) -> bool:
        """A function without a body here that is a memcpy by name and signature (a backend's copy)."""
        call = caller.call
        declared = self.graph.program.function(call.callee) if isinstance(call, ir.Call) else None
        if declared is None or not re.search(
            r"copy|memcpy", declared.name.rpartition("::")[2], re.IGNORECASE
        ):
            return False
        pointers = [(at, p.type) for at, p in enumerate(declared.params) if is_pointer(p.type)]
        pointers = [(at, t) for at, t in pointers if is_byte_pointer(t) or bare(t) == "void"]
        to = next((at for at, t in pointers if not t.startswith("const ")), None)
        source = next((at for at, t in pointers if t.startswith("const ")), None)
        if to is None or source is None or max(to, source) >= len(caller.arguments):
            return False
        places = self.graph.places(caller.arguments[to], self.sym)
        note = f"its bytes are copied by {declared.name.rpartition('::')[2]}"
        self.edges(caller.arguments[source], places, caller.cond, call.span.line, note, BYTES)
        return True

    def call(self, caller: Caller) -> None:
        call = caller.call
        graph = self.graph
        targets = self.links.targets(call, self.sym)
        if not targets and self.copies(caller):
            return
        unknown = "" if targets else self.links.why_open(call)
        caller.unknown = unknown
        name = call.name.rpartition("::")[2] if isinstance(call, ir.Call) else "new"
        line = call.span.line
        if targets or unknown:
            functions = [f for f in (graph.program.function(t) for t in targets) if f is not None]
            outs: dict[int, tuple[Node, ...]] = {}
            for position, argument in enumerate(caller.arguments):
                for node, mode, tests in graph.value(argument, self.sym):
                    self.use(
                        "argument",
                        node,
                        mode,
                        caller.cond,
                        tests,
                        line,
                        caller=caller,
                        position=position,
                        unknown=unknown,
                        note=f"passed to {_called(call)}",
                    )
                if any(position < len(f.params) and _writable(f.params[position].type) for f in functions):
                    outs[position] = graph.places(argument, self.sym)
            if caller.base is not None:
                for node, mode, tests in graph.value(caller.base, self.sym):
                    self.use(
                        "argument",
                        node,
                        mode,
                        caller.cond,
                        tests,
                        line,
                        caller=caller,
                        position=THIS,
                        unknown=unknown,
                        note=f"its {name} is called",
                    )
                outs[THIS] = graph.places(caller.base, self.sym)
            if (
                isinstance(call, ir.New)
                or call.kind == "ctor"
                or name.startswith(("make_", "emplace", "construct"))
            ):
                outs[THIS] = (caller.node,)
                if caller.base is not None and name.startswith("emplace"):
                    for place in graph.places(caller.base, self.sym):
                        self.use(
                            "edge",
                            caller.node,
                            WHOLE,
                            caller.cond,
                            (),
                            line,
                            target=place,
                            note="put in the container",
                        )
            self.part.outs[id(caller)] = outs
            self.part.owner[caller.node] = self.sym
            return
        if not isinstance(call, ir.Call):
            return
        if _COPY.search(name) and len(call.args) >= 3:
            self.edges(
                call.args[1],
                graph.places(call.args[0], self.sym),
                caller.cond,
                line,
                f"its bytes are copied by {name}",
                BYTES,
            )
        elif name in _RANGE_COPIES and len(call.args) >= 3:
            self.edges(
                call.args[0],
                graph.places(call.args[2], self.sym),
                caller.cond,
                line,
                f"its bytes are copied by {name}",
                BYTES,
            )
        elif name == "copy_n" and len(call.args) == 3:
            self.edges(
                call.args[0],
                graph.places(call.args[2], self.sym),
                caller.cond,
                line,
                "its bytes are copied by copy_n",
                BYTES,
            )
        elif name == "swap" and (call.base is not None or len(call.args) == 2):
            pair = (call.base, call.args[0]) if call.base is not None else (call.args[0], call.args[1])
            for a, b in (pair, pair[::-1]):
                self.edges(b, graph.places(a, self.sym), caller.cond, line, "swapped")
        elif call.base is not None and name in _MUTATORS:
            places = graph.places(call.base, self.sym)
            stored = isinstance(call.base, ir.Field) and call.base.owner in graph.program.carriers
            for argument in call.args:
                self.edges(
                    argument,
                    places,
                    caller.cond,
                    line,
                    f"{name} puts it in {_spell(call.base)}",
                    BYTES if stored else WHOLE,
                )


def _writable(type_text: str) -> bool:
    return is_mutable_reference(type_text) or is_pointer(type_text) and not type_text.startswith("const ")


def _marker_reads(
    value: ir.Expr, marker: str, links: Links, carriers: dict[str, Carrier], depth: int = 0
) -> list[ir.Field]:
    """The reads of `marker` that make up a stored boolean, through local variables and parameters bound to
    one."""
    if isinstance(value, ir.Field):
        return [value] if value.name == marker and value.owner in carriers else []
    if isinstance(value, (ir.Cast,)):
        return _marker_reads(value.x, marker, links, carriers, depth)
    if isinstance(value, ir.Binary) and value.op in ("&&", "||"):
        return [
            *_marker_reads(value.a, marker, links, carriers, depth),
            *_marker_reads(value.b, marker, links, carriers, depth),
        ]
    if isinstance(value, ir.Cond):
        return [
            *_marker_reads(value.yes, marker, links, carriers, depth),
            *_marker_reads(value.no, marker, links, carriers, depth),
        ]
    if isinstance(value, ir.Name) and depth < 3:
        found = []
        for stored in links.values_of_variable(value.sym):
            found += _marker_reads(stored, marker, links, carriers, depth + 1)
        return found
    return []


def _short(function: ir.Function) -> str:
    return function.name.rpartition("::")[2]


def _called(call: ir.Call | ir.New) -> str:
    if isinstance(call, ir.New):
        return f"new {bare(call.type)}"
    if call.name:
        return call.name
    target = call.target
    while isinstance(target, (ir.Cast, ir.Unary)):
        target = target.x
    if isinstance(target, ir.Call):
        operators = [
            a.name.rpartition("::")[2] for a in target.args if isinstance(a, ir.Name) and a.kind == "enum"
        ]
        return f"the function that {_spell(target)[:-1]}{', '.join(operators)}) gives"
    return _spell(target) if target is not None else "a function"


def _spell(e: ir.Expr | None) -> str:
    """A short C++-like spelling of an lvalue for notes."""
    if isinstance(e, ir.Name):
        return e.name.rpartition("::")[2]
    if isinstance(e, ir.Field):
        base = "" if isinstance(e.base, ir.This) else _spell(e.base)
        return f"{base}.{e.name}" if base else e.name
    if isinstance(e, (ir.Unary, ir.Cast)):
        return f"*{_spell(e.x)}" if isinstance(e, ir.Unary) and e.op == "*" else _spell(e.x)
    if isinstance(e, ir.Index):
        return f"{_spell(e.base)}[]"
    if isinstance(e, ir.Call):
        return f"{e.name.rpartition('::')[2]}()"
    return "it"
