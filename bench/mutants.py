"""One-statement mutants of a C++ tree that lose or misplace a marker, made from its text.

Nothing of a tree is known by name but the markers: carriers are the records that have a marker as a field, a
helper is a function that gets one carrier and returns another. A mutant keeps its file's number of lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias

import msgspec
import tree_sitter

from analyzer.candidates import language

KINDS = (
    "delete a propagation",
    "delete a check",
    "weaken a check",
    "copy from another object",
    "move a check after the use",
    "offset the pointer",
    "bare construction for a helper",
)

OFFSET = 64
"""Bytes by which a pointer is moved: within a row, and a whole number of nothing."""

_DECLARATORS = ("identifier", "field_identifier", "qualified_identifier", "destructor_name", "operator_name")


class Carrier(msgspec.Struct, frozen=True):
    """A record with markers. `storage`: its first field; `pointer`: whether that is a pointer (a view) or an
    owner of bytes with `.data()`."""

    name: str
    storage: str
    pointer: bool


class Helper(msgspec.Struct, frozen=True):
    """A function that returns a view of its argument number `source`, whose storage is `storage`."""

    name: str
    source: int
    storage: str
    view_storage: str


class Names(msgspec.Struct, frozen=True):
    """What the tree's text says: its carriers and the helpers that carry."""

    carriers: dict[str, Carrier]
    helpers: dict[str, Helper]


Edit: TypeAlias = tuple[int, int, bytes]


class Mutant(msgspec.Struct, frozen=True):
    """Edits of one file: byte ranges and what to put there, of as many lines. `line` is where it starts,
    `first`/`last` are the lines of the enclosing function."""

    kind: str
    path: str
    line: int
    function: str
    first: int
    last: int
    edits: tuple[Edit, ...]

    def apply(self, source: bytes) -> bytes:
        """The mutated text of the file whose text is `source`."""
        return apply(self.edits, source)

    def overlaps(self, other: Mutant) -> bool:
        """Are both in one function?"""
        return self.path == other.path and self.first <= other.last and other.first <= self.last


def apply(edits: Iterable[Edit], source: bytes) -> bytes:
    """The text `source` with edits that do not overlap."""
    for begin, end, new in sorted(edits, reverse=True):
        source = source[:begin] + new + source[end:]
    return source


def parse(source: bytes) -> tree_sitter.Node:
    return tree_sitter.Parser(language()).parse(source).root_node


def walk(node: tree_sitter.Node, *types: str) -> Iterator[tree_sitter.Node]:
    """The nodes below `node`, itself included, of these types, in order of the text."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type in types:
            yield one
        stack += reversed(one.named_children)


def text(node: tree_sitter.Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _rows(node: tree_sitter.Node) -> int:
    return int(node.end_point.row - node.start_point.row)


def _is_negated(read: tree_sitter.Node) -> bool:
    return read.parent is not None and text(read.parent).startswith("!")


def _blank(node: tree_sitter.Node) -> bytes:
    """An empty statement of as many lines as the node has."""
    return b";" + b"\n" * _rows(node)


def declared_name(node: tree_sitter.Node | None) -> str:
    while node is not None and node.type not in _DECLARATORS:
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None else next(iter(node.named_children), None)
    return text(node)


def type_name(node: tree_sitter.Node) -> str:
    return text(node.child_by_field_name("type")).split("<")[0].rsplit("::", 1)[-1].strip()


def carriers_in(root: tree_sitter.Node, markers: Sequence[str]) -> Iterator[Carrier]:
    """The records of a file that declare a marker and hold bytes."""
    for record in walk(root, "struct_specifier", "class_specifier"):
        body = record.child_by_field_name("body")
        if body is None:
            continue
        fields = [field for field in body.named_children if field.type == "field_declaration"]
        names = [declared_name(field.child_by_field_name("declarator")) for field in fields]
        if fields and not set(markers).isdisjoint(names) and names[0] not in markers:
            pointer = "*" in text(fields[0]).split("=")[0]
            yield Carrier(text(record.child_by_field_name("name")), names[0], pointer)


def parameters(function: tree_sitter.Node) -> list[tree_sitter.Node]:
    lists = list(walk(function.child_by_field_name("declarator") or function, "parameter_list"))
    if not lists:
        return []
    kinds = ("parameter_declaration", "optional_parameter_declaration")
    return [child for child in lists[0].named_children if child.type in kinds]


def helpers_in(
    root: tree_sitter.Node, carriers: dict[str, Carrier], markers: Sequence[str]
) -> Iterator[Helper]:
    """The functions of a file that return a view of a carrier and deal with a marker on the way."""
    for function in walk(root, "function_definition"):
        made = carriers.get(type_name(function))
        body = function.child_by_field_name("body")
        if made is None or not made.pointer or body is None or not any(marker_reads(body, markers)):
            continue
        for index, parameter in enumerate(parameters(function)):
            source = carriers.get(type_name(parameter))
            if source is not None and "*" not in text(parameter):
                storage = source.storage if source.pointer else f"{source.storage}.data()"
                name = declared_name(function.child_by_field_name("declarator")).rsplit("::", 1)[-1]
                yield Helper(name, index, storage, made.storage)
                break


def factories_in(root: tree_sitter.Node, carriers: dict[str, Carrier]) -> Iterator[str]:
    """The names of the functions of a file that make a view from a pointer."""
    for function in walk(root, "function_definition", "declaration", "field_declaration"):
        made = carriers.get(type_name(function))
        given = [parameter for parameter in parameters(function) if "*" in text(parameter)]
        if (
            made is not None
            and made.pointer
            and any("void" in text(one) and "const" not in text(one) for one in given)
        ):
            yield declared_name(function.child_by_field_name("declarator")).rsplit("::", 1)[-1]


def names_in(sources: dict[str, bytes], markers: Sequence[str]) -> Names:
    """Read the carriers and helpers off the texts of a tree."""
    roots = [parse(source) for source in sources.values()]
    carriers = {carrier.name: carrier for root in roots for carrier in carriers_in(root, markers)}
    helpers = {helper.name: helper for root in roots for helper in helpers_in(root, carriers, markers)}
    return Names(carriers, helpers)


def marker_reads(node: tree_sitter.Node, markers: Sequence[str]) -> Iterator[tree_sitter.Node]:
    """The expressions below `node` that name a marker of an object."""
    for field in walk(node, "field_expression"):
        if text(field.child_by_field_name("field")) in markers:
            yield field


def _object(read: tree_sitter.Node) -> str:
    return text(read.child_by_field_name("argument"))


def _ends(statement: tree_sitter.Node) -> bool:
    """Whether a branch leaves: its last statement throws, returns, continues, breaks or calls something."""
    if statement.type == "compound_statement":
        inner = [child for child in statement.named_children if child.type != "comment"]
        return bool(inner) and _ends(inner[-1])
    if statement.type == "expression_statement":
        return any(True for _ in walk(statement, "call_expression", "throw_expression"))
    return statement.type in ("throw_statement", "return_statement", "continue_statement", "break_statement")


class _Function(msgspec.Struct):
    """One function of a file under mutation."""

    node: tree_sitter.Node
    path: str
    name: str
    names: Names
    markers: tuple[str, ...]

    def mutant(self, kind: str, at: tree_sitter.Node, *edits: tuple[int, int, bytes]) -> Mutant:
        first, last = self.node.start_point.row + 1, self.node.end_point.row + 1
        return Mutant(kind, self.path, at.start_point.row + 1, self.name, first, last, edits)

    def assigned(self) -> Iterator[tuple[tree_sitter.Node, tree_sitter.Node, tree_sitter.Node]]:
        """Statements that store a marker read from an object: statement, left side, right side."""
        for statement in walk(self.node, "expression_statement"):
            inner = next(iter(statement.named_children), None)
            if inner is None or inner.type != "assignment_expression":
                continue
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if left is None or right is None or text(left.child_by_field_name("field")) not in self.markers:
                continue
            if right.type != "assignment_expression" and any(marker_reads(right, self.markers)):
                yield statement, left, right

    def checks(self) -> Iterator[tuple[tree_sitter.Node, tree_sitter.Node]]:
        """Statements that refuse on a marker: statement, condition."""
        for statement in walk(self.node, "expression_statement"):
            call = next(iter(statement.named_children), None)
            if call is None or call.type != "call_expression":
                continue
            arguments = call.child_by_field_name("arguments")
            first = next(iter(arguments.named_children), None) if arguments is not None else None
            # A check that wants the marker is no refusal: without it nothing is lost.
            if first is not None and ("!" in text(first) or "false" in text(first)):
                if any(marker_reads(first, self.markers)):
                    yield statement, first
        for statement in walk(self.node, "if_statement"):
            condition = statement.child_by_field_name("condition")
            branch = statement.child_by_field_name("consequence")
            if (
                condition is None
                or branch is None
                or statement.child_by_field_name("alternative") is not None
            ):
                continue
            # A path for plain weights alone is no refusal either.
            if _ends(branch) and any(not _is_negated(read) for read in marker_reads(condition, self.markers)):
                yield statement, condition

    def named_checks(self) -> Iterator[tree_sitter.Node]:
        """Conditions over markers that have a name: values of boolean locals, results of predicates."""
        for local in walk(self.node, "declaration"):
            if text(local.child_by_field_name("type")) in ("bool", "auto"):
                yield from (
                    v for d in walk(local, "init_declarator") if (v := d.child_by_field_name("value"))
                )
        if text(self.node.child_by_field_name("type")) == "bool":
            yield from (n.named_children[0] for n in walk(self.node, "return_statement") if n.named_children)

    def refused(self, at: tree_sitter.Node, weight: str) -> set[str]:
        """Markers of `weight` that a check in a block around `at`, ahead of it, refuses whatever else holds."""
        found: set[str] = set()
        for statement, condition in self.checks():
            block = statement.parent
            if block is None or not (statement.end_byte <= at.start_byte and at.end_byte <= block.end_byte):
                continue
            whole = text(condition).removeprefix("(").removesuffix(")")
            operator, negation = ("&&", "!") if statement.type == "expression_statement" else ("||", "")
            parts = {"".join(part.split()) for part in whole.split(operator)}
            found |= {marker for marker in self.markers if f"{negation}{weight}.{marker}" in parts}
        return found

    def variables(self) -> dict[str, str]:
        """Variables and parameters of a carrier's type, with that type's name."""
        found: dict[str, str] = {}
        kinds = ("parameter_declaration", "optional_parameter_declaration", "declaration", "for_range_loop")
        for node in walk(self.node, *kinds):
            name = declared_name(node.child_by_field_name("declarator"))
            if type_name(node) in self.names.carriers and name:
                found.setdefault(name, type_name(node))
        return found

    def deleted_propagations(self) -> Iterator[Mutant]:
        for statement, left, right in self.assigned():
            marker = text(left.child_by_field_name("field"))
            if text(right) == f"{_object(right)}.{marker}" and marker in self.refused(
                statement, _object(right)
            ):
                continue  # false is copied: nothing is lost without
            yield self.mutant(
                KINDS[0], statement, (statement.start_byte, statement.end_byte, _blank(statement))
            )

    def deleted_checks(self) -> Iterator[Mutant]:
        for statement, _ in self.checks():
            yield self.mutant(
                KINDS[1], statement, (statement.start_byte, statement.end_byte, _blank(statement))
            )

    def weakened_checks(self) -> Iterator[Mutant]:
        # Without one side of `a || b` a check asks for more, without one of `a && b` a refusal refuses more.
        conditions = [
            (condition, "&&" if statement.type == "expression_statement" else "||")
            for statement, condition in self.checks()
        ]
        for condition, weakening in (*conditions, *((named, "&& ||") for named in self.named_checks())):
            for joined in walk(condition, "binary_expression"):
                if text(joined.child_by_field_name("operator")) not in weakening.split():
                    continue
                left, right = joined.child_by_field_name("left"), joined.child_by_field_name("right")
                for dropped, kept in ((left, right), (right, left)):
                    if (
                        dropped is None
                        or kept is None
                        or any(True for _ in walk(dropped, "binary_expression"))
                    ):
                        continue
                    if any(marker_reads(dropped, self.markers)):
                        new = (kept.text or b"") + b"\n" * (_rows(joined) - _rows(kept))
                        yield self.mutant(KINDS[2], dropped, (joined.start_byte, joined.end_byte, new))
            for read in marker_reads(condition, self.markers):
                parent = read.parent
                if parent is not None and parent.type == "unary_expression" and text(parent).startswith("!"):
                    yield self.mutant(KINDS[2], read, (parent.start_byte, read.start_byte, b""))
                elif (
                    parent is None
                    or parent.type != "binary_expression"
                    or "=" not in text(parent.child_by_field_name("operator"))
                ):
                    yield self.mutant(KINDS[2], read, (read.start_byte, read.start_byte, b"!"))

    def copied_from_another(self) -> Iterator[Mutant]:
        variables = self.variables()
        for statement, left, right in self.assigned():
            target = _object(left)
            for read in marker_reads(right, self.markers):
                owner = read.child_by_field_name("argument")
                if owner is None:
                    continue
                root = text(owner)
                others = [name for name in variables if name not in (target, root)]
                same = [name for name in others if variables[name] == variables.get(root)]
                other = next(iter(same or others), target)
                pointer = text(read.child_by_field_name("operator")) == "->"
                name = f"(&{other})" if pointer else other
                yield self.mutant(KINDS[3], statement, (owner.start_byte, owner.end_byte, name.encode()))

    def moved_checks(self) -> Iterator[Mutant]:
        variables = set(self.variables())
        for statement, _ in self.checks():
            block = statement.parent
            if block is None or block.type != "compound_statement":
                continue
            uses = [
                after
                for after in block.named_children
                # Behind a conditional upload a check still stands before whatever the function returns.
                if after.start_byte >= statement.end_byte
                and after.type != "if_statement"
                and self._uses(after, variables)
            ]
            if not uses:
                continue
            moved = b" " + (statement.text or b"").replace(b"\n", b" ")
            yield self.mutant(
                KINDS[4],
                statement,
                (statement.start_byte, statement.end_byte, _blank(statement)),
                (uses[-1].end_byte, uses[-1].end_byte, moved),
            )

    def _uses(self, statement: tree_sitter.Node, variables: set[str]) -> bool:
        """Whether a statement hands a carrier itself to a call for what the call does, not for what it returns."""
        for inner in walk(statement, "expression_statement"):
            call = next(iter(inner.named_children), None)
            if call is None or call.type != "call_expression" or any(marker_reads(call, self.markers)):
                continue
            arguments = call.child_by_field_name("arguments")
            handed = arguments.named_children if arguments is not None else ()
            if any(text(argument).lstrip("&*") in variables for argument in handed):
                return True
        return False

    def offset_pointers(self) -> Iterator[Mutant]:
        marked = {_object(left) for _, left, _ in self.assigned()}
        storages = {carrier.storage for carrier in self.names.carriers.values() if carrier.pointer}
        for store in walk(self.node, "assignment_expression"):
            left, right = store.child_by_field_name("left"), store.child_by_field_name("right")
            if left is None or right is None:
                continue
            if left.type == "field_expression" and text(left.child_by_field_name("field")) in storages:
                if _object(left) in marked:
                    yield from self._offset(right)
            elif text(left) in marked and (pointer := self._first_argument(right)) is not None:
                yield from self._offset(pointer)
        for made in walk(self.node, "init_declarator"):
            value = made.child_by_field_name("value")
            if value is not None and declared_name(made.child_by_field_name("declarator")) in marked:
                if (pointer := self._first_argument(value)) is not None:
                    yield from self._offset(pointer)

    def _first_argument(self, value: tree_sitter.Node) -> tree_sitter.Node | None:
        """The pointer argument of a factory call; nothing when a carrier itself is handed over."""
        if value.type != "call_expression":
            return None
        arguments = value.child_by_field_name("arguments")
        first = next(iter(arguments.named_children), None) if arguments is not None else None
        return None if first is None or text(first) in self.variables() else first

    def _offset(self, pointer: tree_sitter.Node) -> Iterator[Mutant]:
        if pointer.type == "binary_expression":
            return  # a part already
        new = b"((unsigned char*)(" + (pointer.text or b"") + b") + %d)" % OFFSET
        yield self.mutant(KINDS[5], pointer, (pointer.start_byte, pointer.end_byte, new))

    def bare_constructions(self) -> Iterator[Mutant]:
        for call in walk(self.node, "call_expression"):
            callee = text(call.child_by_field_name("function")).rsplit("::", 1)[-1]
            arguments = call.child_by_field_name("arguments")
            helper = self.names.helpers.get(callee)
            if helper is None or arguments is None or callee == self.name.rsplit("::", 1)[-1]:
                continue
            given = [child for child in arguments.named_children if child.type != "comment"]
            if len(given) <= helper.source:
                continue
            weight, field = text(given[helper.source]), f"bare.{helper.view_storage}"
            if self.refused(call, weight) == set(self.markers):
                continue  # only plain weights come here
            new = (
                f"[&] {{ decltype({text(call)}) bare{{}}; "
                f"{field} = (decltype({field}))(({weight}).{helper.storage}); return bare; }}()"
            ).replace("\n", " ")
            gap = "\n" * _rows(call)
            yield self.mutant(KINDS[6], call, (call.start_byte, call.end_byte, (new + gap).encode()))

    def all(self) -> Iterator[Mutant]:
        yield from self.deleted_propagations()
        yield from self.deleted_checks()
        yield from self.weakened_checks()
        yield from self.copied_from_another()
        yield from self.moved_checks()
        yield from self.offset_pointers()
        yield from self.bare_constructions()


def mutants_of(path: str, source: bytes, names: Names, markers: Sequence[str]) -> list[Mutant]:
    """Every mutant of a file, whether or not it parses; see `is_sound`."""
    words = [marker.encode() for marker in markers] + [helper.encode() for helper in names.helpers]
    if not any(word in source for word in words):
        return []
    found: dict[tuple[tuple[int, int, bytes], ...], Mutant] = {}
    for node in walk(parse(source), "function_definition"):
        name = declared_name(node.child_by_field_name("declarator"))
        for mutant in _Function(node, path, name, names, tuple(markers)).all():
            found.setdefault(mutant.edits, mutant)
    return list(found.values())


def is_sound(mutant: Mutant, source: bytes) -> bool:
    """Whether a mutant changes its file, keeps the lines where they are and parses as well as before."""
    changed = mutant.apply(source)
    if changed == source or changed.count(b"\n") != source.count(b"\n"):
        return False
    before = sum(1 for _ in walk(parse(source), "ERROR"))
    return sum(1 for _ in walk(parse(changed), "ERROR")) <= before


def is_skipped(path: str, skip: Sequence[str]) -> bool:
    """Whether a root-relative path lies in a folder of one of these names."""
    return not set(skip).isdisjoint(PurePosixPath(path).parts[:-1])
