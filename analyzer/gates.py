"""What must hold for code to run: conditions evaluated over the whole program.

The answer to "can this boolean be true?" is a set of alternatives, each a set of *gates* that must all hold;
no alternative means never, an empty one means nothing in particular is needed. A gate is a tuple:

- `("param", symbol, value)`: a boolean parameter of the function asked about, left for its call sites to
  settle;
- `("env", name, set)`: an environment variable is set (or not);
- `("arch", function)`: a function whose every body seen here is `return false`. It is a stub of another
  architecture or platform, so it proves nothing;
- `("constant", name)`: a constant that is false in the views seen;
- `("device", device, value)`: a device or platform compares equal to `device` (or not);
- `("marker", key, marker, value)`: a marker of the carrier at `key` has this value;
- `("flag", key, carrier, name, value)`: a boolean member of the carrier at `key` has this value; only of members that
  every weight with some marker has one value of;
- `("unknown", what)`: an edge that was not followed.

Anything else a condition may test can come out either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from analyzer import ir
from analyzer.events import Cond
from analyzer.program import bare, device_name

if TYPE_CHECKING:
    from analyzer.links import Caller, Links

Gate: TypeAlias = tuple[object, ...]
Gates: TypeAlias = frozenset[Gate]
Alternatives: TypeAlias = frozenset[Gates]
Truth: TypeAlias = tuple[Alternatives, Alternatives]
"""When it is true, and when it is false."""

NOTHING: Gates = frozenset()
ALWAYS: Alternatives = frozenset({NOTHING})
NEVER: Alternatives = frozenset()
EITHER: Truth = (ALWAYS, ALWAYS)
_MAX_ALTERNATIVES = 6
_MAX_DEPTH = 14


def least(found: Iterable[Gates]) -> Alternatives:
    """Drop contradictions and what a weaker alternative covers; keep the few weakest."""
    kept: list[Gates] = []
    for gates in sorted(
        {g for g in found if not _contradicts(g)}, key=lambda g: (len(g), sorted(map(repr, g)))
    ):
        if not any(k <= gates for k in kept):
            kept.append(gates)
            if len(kept) == _MAX_ALTERNATIVES:
                break
    return frozenset(kept)


def _contradicts(gates: Gates) -> bool:
    if len(gates) < 2:
        return False
    for gate in gates:
        if gate[-1] is True and (*gate[:-1], False) in gates:
            return True
    devices = {g[1] for g in gates if g[0] == "device" and g[2] is True}
    return len(devices) > 1


def _flags(gates: Gates) -> Gates:
    return frozenset(g for g in gates if g[0] == "flag")


def both(a: Alternatives, b: Alternatives) -> Alternatives:
    """One alternative of `a` and one of `b`."""
    if a == ALWAYS:
        return b
    if b == ALWAYS:
        return a
    return least(x | y for x in a for y in b)


def either(a: Alternatives, b: Alternatives) -> Alternatives:
    """An alternative of `a` or of `b`."""
    if NOTHING in a or NOTHING in b:
        return ALWAYS
    return least((*a, *b)) if a and b else a or b


class Frame:
    """The function an expression is evaluated in. `bound`: values of its parameters when a call gave them: a
    `Truth`, the text of a string, or None for a value not known. `inline`: parameters not bound are not known
    rather than gates."""

    __slots__ = ("bound", "function", "inline", "key")

    def __init__(
        self, function: ir.Sym, bound: dict[ir.Sym, Truth | str | None] | None = None, inline: bool = False
    ) -> None:
        self.function = function
        self.bound = bound or {}
        self.inline = inline
        self.key = (function, tuple(sorted((k, repr(v)) for k, v in self.bound.items())), inline)


class Conditions:
    """Evaluates conditions over the program behind `links`. `flags`: boolean members (carrier, name) that
    every weight with a marker has one value of."""

    def __init__(self, links: Links, flags: Mapping[str, Mapping[tuple[str, str], bool]]) -> None:
        self.links = links
        self.program = links.program
        self._fields: dict[tuple[str, str], Truth] = {}
        self._params: dict[ir.Sym, Truth] = {}
        self._calls: dict[tuple[object, ...], Truth] = {}
        self._conds: dict[int, tuple[Cond, Alternatives]] = {}
        self._busy: set[object] = set()
        self._reached: dict[ir.Sym, Alternatives] = {}
        self.flags = flags
        self._asked = frozenset(flag for of_marker in flags.values() for flag in of_marker)

    # ------------------------------------------------------------------------------------------ conditions

    def holds(self, cond: Cond | None, function: ir.Sym) -> Alternatives:
        """When `cond` holds in `function`, its boolean parameters left as gates."""
        if cond is None:
            return ALWAYS
        known = self._conds.get(id(cond))
        if known is not None:
            return known[1]
        above = self.holds(cond.above, function)
        result = both(above, self.truth(cond.test, Frame(function))[not cond.value]) if above else NEVER
        self._conds[id(cond)] = (cond, result)
        return result

    def reached(self, function: ir.Sym) -> Alternatives:
        """What callers ask of boolean members of weights before they call `function`, nothing else."""
        known = self._reached.get(function)
        if known is None:
            asked = (
                [self.holds(c.cond, c.function) for c in self.links.callers(function)] if self._asked else ()
            )
            known = least(_flags(gates) for found in asked for gates in found) or ALWAYS
            self._reached[function] = known
        return known

    def _holds_in(self, cond: Cond | None, frame: Frame, depth: int) -> Alternatives:
        result = ALWAYS
        while cond is not None and result:
            result = both(result, self.truth(cond.test, frame, depth)[not cond.value])
            cond = cond.above
        return result

    def settle(self, found: Alternatives) -> Alternatives:
        """Replace gates on parameters by what any call site makes of them."""
        if not any(gate[0] == "param" for gates in found for gate in gates):
            return found
        out: list[Gates] = []
        for gates in found:
            part: Alternatives = frozenset({frozenset(g for g in gates if g[0] != "param")})
            for gate in gates:
                if gate[0] == "param":
                    part = both(part, self.parameter(str(gate[1]))[gate[2] is False])
            out += part
        return least(out)

    def at_call(self, found: Alternatives, callee: ir.Sym, caller: Caller) -> Alternatives:
        """Replace gates on parameters of `callee` by what they are at one call of it."""
        if not any(gate[0] == "param" for gates in found for gate in gates):
            return found
        out: list[Gates] = []
        positions = self.links.positions(callee)
        for gates in found:
            part: Alternatives = frozenset(
                {frozenset(g for g in gates if g[0] != "param" or g[1] not in positions)}
            )
            for gate in gates:
                if gate[0] == "param" and gate[1] in positions:
                    part = both(
                        part, self._argument(caller, callee, positions[str(gate[1])])[gate[2] is False]
                    )
            out += part
        return least(out)

    def _argument(self, caller: Caller, callee: ir.Sym, position: int) -> Truth:
        expr = caller.argument(position)
        if expr is None or isinstance(expr, ir.Other) and not expr.items:
            default = self.links.default(callee, position)
            return EITHER if default is None else self.truth(default, Frame(callee))
        return self.truth(expr, Frame(caller.function))

    def parameter(self, symbol: ir.Sym) -> Truth:
        """What a boolean parameter can be over all calls of its function."""
        known = self._params.get(symbol)
        if known is not None:
            return known
        if ("p", symbol) in self._busy:
            return (NEVER, NEVER)
        owner = self.links.owner_of_parameter(symbol)
        if owner is None:
            return EITHER
        callee, position = owner
        callers = self.links.callers(callee)
        if not callers or callee in self.links.escaping:
            self._params[symbol] = EITHER
            return EITHER
        self._busy.add(("p", symbol))
        yes, no = NEVER, NEVER
        for caller in callers:
            value = self._argument(caller, callee, position)
            yes, no = either(yes, self.settle(value[0])), either(no, self.settle(value[1]))
        self._busy.discard(("p", symbol))
        self._params[symbol] = (yes, no)
        return yes, no

    # ----------------------------------------------------------------------------------------- expressions

    def truth(self, e: ir.Expr | None, frame: Frame, depth: int = 0) -> Truth:
        """When `e` is true and when it is false."""
        if e is None or depth > _MAX_DEPTH:
            return EITHER
        if isinstance(e, ir.Lit):
            if e.kind in ("bool", "int"):
                return (NEVER, ALWAYS) if e.value in ("false", "0") else (ALWAYS, NEVER)
            return (NEVER, ALWAYS) if e.kind == "null" else EITHER
        if isinstance(e, ir.Unary):
            if e.op == "!":
                yes, no = self.truth(e.x, frame, depth + 1)
                return no, yes
            return EITHER
        if isinstance(e, ir.Binary):
            return self._binary(e, frame, depth)
        if isinstance(e, ir.Cast):
            return self.truth(e.x, frame, depth + 1)
        if isinstance(e, ir.Name):
            return self._name(e, frame, depth)
        if isinstance(e, ir.Field):
            return self._field(e)
        if isinstance(e, ir.Cond):
            test, a, b = (self.truth(x, frame, depth + 1) for x in (e.test, e.yes, e.no))
            return either(both(test[0], a[0]), both(test[1], b[0])), either(
                both(test[0], a[1]), both(test[1], b[1])
            )
        if isinstance(e, ir.Call):
            return self._call(e, frame, depth)
        if isinstance(e, ir.Init) and len(e.items) == 1:
            return self.truth(e.items[0], frame, depth + 1)
        return EITHER

    def _binary(self, e: ir.Binary, frame: Frame, depth: int) -> Truth:
        if e.op in ("&&", "||"):
            a, b = self.truth(e.a, frame, depth + 1), self.truth(e.b, frame, depth + 1)
            if e.op == "&&":
                return both(a[0], b[0]), either(a[1], both(a[0], b[1]))
            return either(a[0], both(a[1], b[0])), both(a[1], b[1])
        if e.op not in ("==", "!="):
            return EITHER
        for side, y in ((e.a, e.b), (e.b, e.a)):
            x = _plain(side)
            if isinstance(x, ir.Lit) and x.kind in ("null", "bool"):
                yes, no = self.truth(y, frame, depth + 1)
                return (yes, no) if (x.value == "true") == (e.op == "==") else (no, yes)
            if isinstance(x, ir.Name) and x.name in self.links.device_enumerators:
                device = device_name(x.name)
                same = frozenset({frozenset({("device", device, True)})})
                other = frozenset({frozenset({("device", device, False)})})
                return (same, other) if e.op == "==" else (other, same)
        return EITHER

    def _name(self, e: ir.Name, frame: Frame, depth: int) -> Truth:
        if e.sym in frame.bound:
            value = frame.bound[e.sym]
            return value if isinstance(value, tuple) else EITHER
        if e.kind == "enum":
            return EITHER
        declared = self.links.type_of(e.sym)
        if e.sym in self.links.parameter_owner:
            if bare(declared) == "bool" and not frame.inline and not declared.endswith(("*", "&")):
                return (
                    frozenset({frozenset({("param", e.sym, True)})}),
                    frozenset({frozenset({("param", e.sym, False)})}),
                )
            return EITHER
        variable = self._environment(e, frame, depth)
        if variable:
            return _environment(variable)
        if e.kind == "global":
            return self._global(e, depth)
        key = ("v", e.sym, frame.key)
        if key in self._busy:
            return NEVER, NEVER
        stores = self.links.stores_to_variable(e.sym)
        if stores is None:
            return EITHER
        self._busy.add(key)
        yes, no = NEVER, NEVER
        for stored, _ in stores:
            one = self.truth(stored, frame, depth + 1)
            yes, no = either(yes, one[0]), either(no, one[1])
        self._busy.discard(key)
        return (yes, no) if yes or no else EITHER

    def _global(self, e: ir.Name, depth: int) -> Truth:
        variable = self.program.globals.get(e.sym)
        if variable is None or variable.init is None or not variable.type.startswith("const "):
            return EITHER
        yes, no = self.truth(variable.init, Frame(""), depth + 1)
        if not yes:  # a constant may differ under another preprocessor view
            return frozenset({frozenset({("constant", variable.name)})}), ALWAYS
        return yes, no

    def _field(self, e: ir.Field) -> Truth:
        if bare(e.type) != "bool":
            return EITHER
        carrier = self.program.carriers.get(e.owner)
        if carrier is not None and e.name in self.program.markers:
            key = self.links.node_key(e.base)
            return (
                frozenset({frozenset({("marker", key, e.name, True)})}),
                frozenset({frozenset({("marker", key, e.name, False)})}),
            )
        if (e.owner, e.name) in self._asked:
            flag = ("flag", self.links.node_key(e.base), e.owner, e.name)
            return frozenset({frozenset({(*flag, True)})}), frozenset({frozenset({(*flag, False)})})
        return self.field(e.owner, e.name)

    def field(self, owner: str, name: str) -> Truth:
        """What a boolean data member can be, over every store to it in the tree."""
        known = self._fields.get((owner, name))
        if known is not None:
            return known
        if ("f", owner, name) in self._busy:
            return NEVER, NEVER
        stores = self.links.stores_to_field(owner, name)
        if stores is None:
            self._fields[owner, name] = EITHER
            return EITHER
        self._busy.add(("f", owner, name))
        yes, no = NEVER, NEVER
        for function, value, cond in stores:
            when = self.settle(self.holds(cond, function))
            if not when:
                continue
            one = self.truth(value, Frame(function))
            yes, no = (
                either(yes, both(when, self.settle(one[0]))),
                either(no, both(when, self.settle(one[1]))),
            )
        self._busy.discard(("f", owner, name))
        if not yes and owner in self.links.open_records:
            who = self.links.open_records[owner]
            why = f"{owner}::{name} may be set by {who}, which has no body in the files read"
            yes = frozenset({frozenset({("unknown", why)})})
        found = (yes, no) if yes or no else EITHER
        self._fields[owner, name] = found
        return found

    def _call(self, e: ir.Call, frame: Frame, depth: int) -> Truth:
        variable = self._environment(e, frame, depth)
        if variable:
            return _environment(variable)
        targets = self.links.direct_targets(e)
        if not targets:
            return EITHER
        yes, no = NEVER, NEVER
        for target in targets:
            one = self._inline(e, target, frame, depth)
            yes, no = either(yes, one[0]), either(no, one[1])
        return (yes, no) if yes or no else EITHER

    def _inline(self, e: ir.Call, target: ir.Sym, frame: Frame, depth: int) -> Truth:
        function = self.program.function(target)
        if function is None or function.body is None:
            return EITHER
        if function.parent and target == _lambda_of(
            e
        ):  # called where it is written: it sees the frame's variables
            inner = frame
        else:
            bound: dict[ir.Sym, Truth | str | None] = {}
            positions = self.links.positions(target)
            for symbol, position in positions.items():
                given = e.args[position] if position < len(e.args) else None
                missing = given is None or isinstance(given, ir.Other) and not given.items
                at = Frame(target, inline=True) if missing else frame
                value = self.links.default(target, position) if missing else given
                bound[symbol] = self._bind(value, self.links.type_of(symbol), at, depth)
            if function.parent:
                bound = {**frame.bound, **bound}
            inner = Frame(target, bound, inline=True)
        key = ("call", target, inner.key)
        known = self._calls.get(key)
        if known is not None:
            return known
        if key in self._busy:
            return NEVER, NEVER
        self._busy.add(key)
        yes, no = NEVER, NEVER
        for value, cond in self.links.returns(target):
            when = self._holds_in(cond, inner, depth + 1)
            if when:
                one = self.truth(value, inner, depth + 1)
                yes, no = either(yes, both(when, one[0])), either(no, both(when, one[1]))
        if self.links.is_stub(target):
            host: Alternatives = frozenset({frozenset({("arch", function.name)})})
            yes, no = both(yes, host) if yes else host, ALWAYS
        self._busy.discard(key)
        found = (yes, no) if yes or no else EITHER
        if depth < _MAX_DEPTH // 2:
            self._calls[key] = found
        return found

    def _bind(self, value: ir.Expr | None, type_text: str, frame: Frame, depth: int) -> Truth | str | None:
        if value is None:
            return None
        given = _plain(value)
        if isinstance(given, ir.Lit) and given.kind == "str":
            return given.value.strip('"')
        if isinstance(given, ir.Name) and isinstance(frame.bound.get(given.sym), str):
            return frame.bound[given.sym]
        return self.truth(given, frame, depth + 1) if bare(type_text) == "bool" else None

    def _environment(self, e: ir.Expr, frame: Frame, depth: int) -> str:
        """The environment variable whose text (or absence) `e` is, else an empty string."""
        e = _plain(e)
        if isinstance(e, ir.Call) and e.name.rpartition("::")[2] in ("getenv", "secure_getenv") and e.args:
            name = _plain(e.args[0])
            if isinstance(name, ir.Lit):
                return name.value.strip('"')
            if isinstance(name, ir.Name):
                bound = frame.bound.get(name.sym)
                return bound if isinstance(bound, str) else ""
        if isinstance(e, ir.Name) and e.kind == "local" and depth <= _MAX_DEPTH:
            stores = self.links.stores_to_variable(e.sym)
            if stores is not None and len(stores) == 1:
                return self._environment(stores[0][0], frame, depth + 5)
        return ""


def _environment(name: str) -> Truth:
    return frozenset({frozenset({("env", name, True)})}), frozenset({frozenset({("env", name, False)})})


def _plain(e: ir.Expr) -> ir.Expr:
    while isinstance(e, ir.Cast):
        e = e.x
    return e


def _lambda_of(e: ir.Call) -> ir.Sym:
    target = e.target if e.target is not None else e.base
    return target.sym if isinstance(target, ir.Lambda) else ""


def describe(gate: Gate) -> str:
    """`gate` in words."""
    kind = gate[0]
    if kind == "env":
        return f"environment variable {gate[1]}" if gate[2] else f"{gate[1]} left unset"
    if kind == "arch":
        return f"a host where {gate[1]} is true"
    if kind == "constant":
        return f"constant {gate[1]}, false in the views read"
    if kind == "device":
        return f"device {gate[1]}" if gate[2] else f"a device other than {gate[1]}"
    if kind == "unknown":
        return str(gate[1])
    return " ".join(map(str, gate))
