"""The fallback for what clang does not parse: lower tree-sitter nodes to `analyzer.ir` as far as simple code
goes.

Without types and overload resolution a call is known by its spelled name only, a member access has no owner
and a type is what the code says. Facts made here have `origin="syntax"`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import tree_sitter
from tree_sitter import Node

from analyzer import ir
from analyzer.candidates import language
from analyzer.units import Covered, Parsed

_SCOPES = frozenset({"namespace_definition", "class_specifier", "struct_specifier"})
_LITERALS = {
    "number_literal": "int", "true": "bool", "false": "bool", "nullptr": "null", "null": "null",
    "string_literal": "str", "raw_string_literal": "str", "char_literal": "other",
}  # fmt: skip
_TRANSPARENT = frozenset(
    {"parenthesized_expression", "condition_clause", "parameter_pack_expansion", "subscript_argument_list"}
)


class _Lowering:
    def __init__(self, path: str, data: bytes, profile: str) -> None:
        self.path = path
        self.data = data
        self.profile = profile
        self.functions: list[ir.Function] = []
        self.records: list[ir.Record] = []
        self.names: list[dict[str, tuple[ir.Sym, str]]] = []
        self.lambdas = 0

    # ---- small things

    def text(self, node: Node | None) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""

    def span(self, node: Node) -> ir.Span:
        return ir.Span(node.start_byte, node.end_byte, node.start_point[0] + 1)

    def symbol(self, node: Node, name: str) -> ir.Sym:
        return f"{self.path}:{node.start_byte:08}:{name}"

    def declare(self, node: Node, name: str, kind: str) -> ir.Sym:
        symbol = self.symbol(node, name)
        self.names[-1][name] = (symbol, kind)
        return symbol

    def lookup(self, name: str) -> tuple[ir.Sym, str]:
        for scope in reversed(self.names):
            if name in scope:
                return scope[name]
        return "", "global"

    # ---- declarations

    def walk(self, node: Node, scope: tuple[str, ...]) -> None:
        """Find function definitions and records below `node`."""
        for child in node.named_children:
            if child.type == "function_definition":
                self.function(child, scope)
            elif child.type in _SCOPES:
                name = self.text(child.child_by_field_name("name"))
                body = child.child_by_field_name("body")
                inner = (*scope, *(name.split("::") if name else ["(anonymous)"]))
                if body is None:
                    continue
                if child.type != "namespace_definition":
                    self.record(child, body, "::".join(inner))
                self.walk(body, inner)
            elif child.named_child_count and child.type not in ("declaration", "field_declaration"):
                self.walk(child, scope)

    def record(self, node: Node, body: Node, name: str) -> None:
        members = []
        for child in body.named_children:
            if child.type == "field_declaration":
                written = self.text(child.child_by_field_name("type"))
                for declarator in child.children_by_field_name("declarator"):
                    identifier = _identifier(declarator)
                    if identifier is not None and _find(declarator, "function_declarator") is None:
                        members.append(
                            ir.Member(self.text(identifier), written, None, child.start_point[0] + 1)
                        )
        self.records.append(ir.Record(name, self.path, self.span(node), tuple(members)))

    def function(self, node: Node, scope: tuple[str, ...]) -> None:
        declarator = _find(node.child_by_field_name("declarator"), "function_declarator")
        body = node.child_by_field_name("body")
        if declarator is None or body is None or body.type != "compound_statement":
            return
        spelled = self.text(declarator.child_by_field_name("declarator"))
        name = "::".join((*scope, spelled))
        self.lambdas = 0
        self.names.append({})
        params = self.parameters(declarator.child_by_field_name("parameters"))
        lowered = self.statement(body)
        self.names.pop()
        self.functions.append(
            ir.Function(
                sym=self.symbol(node, name),
                name=name,
                path=self.path,
                span=self.span(node),
                params=params,
                result=self.text(node.child_by_field_name("type")),
                body=lowered,
                owner="::".join(scope)
                if scope and any(r.name == "::".join(scope) for r in self.records)
                else "",
                external=False,
                errors=_errors(body),
                kernel=b"__global__" in self.data[node.start_byte : declarator.start_byte],
            )
        )

    def parameters(self, node: Node | None) -> tuple[ir.Param, ...]:
        found = []
        for child in node.named_children if node else ():
            if child.type not in ("parameter_declaration", "optional_parameter_declaration"):
                continue
            declarator = child.child_by_field_name("declarator")
            identifier = _identifier(declarator)
            name = self.text(identifier)
            written = self.written_type(child, declarator)
            default = child.child_by_field_name("default_value")
            symbol = self.declare(child, name, "param")
            found.append(ir.Param(symbol, name, written, self.expression(default) if default else None))
        return tuple(found)

    def written_type(self, node: Node, declarator: Node | None) -> str:
        """The type as clang would print it: qualifiers, name, then `*` or `&`."""
        qualifiers = [self.text(child) for child in node.named_children if child.type == "type_qualifier"]
        written = " ".join([*qualifiers, self.text(node.child_by_field_name("type"))])
        marks = ""
        inner = declarator
        while inner is not None and inner.type in (
            "pointer_declarator",
            "reference_declarator",
            "abstract_pointer_declarator",
            "abstract_reference_declarator",
        ):
            marks += "&&" if self.text(inner).startswith("&&") else self.text(inner)[:1]
            inner = inner.child_by_field_name("declarator") or (
                inner.named_children[-1] if inner.named_children else None
            )
        return f"{written} {marks}".strip()

    # ---- statements

    def statement(self, node: Node) -> ir.Stmt:
        span = self.span(node)
        kind = node.type
        if kind == "compound_statement":
            self.names.append({})
            inside = tuple(self.statements(node.named_children))
            self.names.pop()
            return ir.Block(span, inside)
        if kind == "declaration":
            return ir.Block(span, tuple(self.variables(node)), decl=True)
        if kind == "expression_statement":
            inner = node.named_children[0] if node.named_children else None
            return ir.Do(span, self.expression(inner))
        if kind == "return_statement":
            return ir.Return(span, self.expression(node.named_children[0]) if node.named_children else None)
        if kind == "if_statement":
            return self.branch(node)
        if kind in ("while_statement", "do_statement", "for_statement"):
            body = node.child_by_field_name("body")
            init = node.child_by_field_name("initializer")
            test = node.child_by_field_name("condition")
            step = node.child_by_field_name("update")
            self.names.append({})
            loop = ir.Loop(
                span,
                self.statement(init) if init else None,
                self.expression(test) if test else None,
                self.expression(step) if step else None,
                self.statement(body) if body else ir.Block(span, ()),
                first=kind == "do_statement",
                once=kind == "do_statement" and self.text(test).strip("() ") in ("0", "false"),
            )
            self.names.pop()
            return loop
        if kind == "for_range_loop":
            return self.each(node)
        if kind in ("break_statement", "continue_statement", "goto_statement"):
            return ir.Jump(span, kind.split("_")[0])
        if kind == "switch_statement":
            return ir.Switch(
                span,
                self.expression(node.child_by_field_name("condition")),
                self.block(node.child_by_field_name("body"), span),
            )
        if kind == "case_statement":
            value = node.child_by_field_name("value")
            rest = [child for child in node.named_children if child != value]
            return ir.Case(
                span, (self.expression(value),) if value else (), ir.Block(span, tuple(self.statements(rest)))
            )
        if kind == "try_statement":
            handlers = [child for child in node.named_children if child.type == "catch_clause"]
            return ir.Try(
                span,
                self.block(node.child_by_field_name("body"), span),
                tuple(self.block(handler.child_by_field_name("body"), span) for handler in handlers),
            )
        if kind.startswith("preproc_") or kind in ("else_clause", "labeled_statement"):
            # Both arms of a conditional are taken to be there: more is seen than any one build has.
            return ir.Block(span, tuple(self.statements(node.named_children)))
        return ir.Do(span, self.expression(node))

    def statements(self, nodes: Iterable[Node]) -> Iterable[ir.Stmt]:
        skipped = (
            "comment",
            "identifier",
            "preproc_defined",
            "preproc_arg",
            "preproc_directive",
            "preproc_call",
            "statement_identifier",
        )
        return [self.statement(node) for node in nodes if node.type not in skipped]

    def block(self, node: Node | None, span: ir.Span) -> ir.Stmt:
        return self.statement(node) if node else ir.Block(span, ())

    def branch(self, node: Node) -> ir.Stmt:
        span = self.span(node)
        clause = node.child_by_field_name("condition")
        init = clause.child_by_field_name("initializer") if clause else None
        value = clause.child_by_field_name("value") if clause else None
        other = node.child_by_field_name("alternative")
        if other is not None and other.type == "else_clause":
            other = next((child for child in other.named_children if child.type != "comment"), None)
        return ir.If(
            span,
            self.statement(init) if init else None,
            self.expression(value or clause),
            self.block(node.child_by_field_name("consequence"), span),
            self.statement(other) if other else None,
        )

    def each(self, node: Node) -> ir.Stmt:
        span = self.span(node)
        declarator = node.child_by_field_name("declarator")
        name = self.text(_identifier(declarator))
        values = self.expression(node.child_by_field_name("right"))
        self.names.append({})
        symbol = self.declare(node, name, "local")
        variable = ir.Var(
            self.span(declarator or node), symbol, name, self.written_type(node, declarator), None
        )
        body = self.block(node.child_by_field_name("body"), span)
        self.names.pop()
        return ir.Each(span, variable, values, body)

    def variables(self, node: Node) -> Iterable[ir.Var]:
        static = any(
            self.text(child) == "static"
            for child in node.named_children
            if child.type == "storage_class_specifier"
        )
        for declarator in node.children_by_field_name("declarator"):
            inner = (
                declarator.child_by_field_name("declarator")
                if declarator.type == "init_declarator"
                else declarator
            )
            identifier = _identifier(inner)
            if identifier is None:
                continue
            name = self.text(identifier)
            written = self.written_type(node, inner)
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            init: ir.Expr | None = None
            if value is not None and value.type == "argument_list":
                arguments = self.expressions(value.named_children)
                init = ir.Call(self.span(value), "", written, None, arguments, written, "ctor")
            elif value is not None and value.type == "initializer_list":
                init = ir.Init(self.span(value), written, self.expressions(value.named_children))
            elif value is not None:
                init = self.expression(value)
            yield ir.Var(
                self.span(declarator), self.declare(declarator, name, "local"), name, written, init, static
            )

    # ---- expressions

    def expressions(self, nodes: Iterable[Node]) -> tuple[ir.Expr, ...]:
        return tuple(self.expression(node) for node in nodes if node.type != "comment")

    def expression(self, node: Node | None) -> ir.Expr:
        if node is None:
            return ir.Other(ir.Span(0, 0, 0), ())
        span = self.span(node)
        kind = node.type

        def part(name: str) -> ir.Expr:
            return self.expression(node.child_by_field_name(name))

        def operator() -> str:
            return self.text(node.child_by_field_name("operator"))

        if kind in ("identifier", "qualified_identifier", "template_function"):
            name = self.text(node)
            symbol, where = self.lookup(name)
            return ir.Name(span, symbol, name, where)
        if kind == "this":
            return ir.This(span)
        if kind in _LITERALS:
            text = self.text(node)
            return ir.Lit(span, _LITERALS[kind], text.strip('"') if _LITERALS[kind] == "str" else text)
        if kind in _TRANSPARENT and node.named_child_count == 1:
            return self.expression(node.named_children[0])
        if kind == "field_expression":
            return ir.Field(span, part("argument"), self.text(node.child_by_field_name("field")), "", "")
        if kind == "call_expression":
            return self.call(node)
        if kind == "assignment_expression":
            return ir.Assign(span, operator(), part("left"), part("right"))
        if kind == "binary_expression":
            return ir.Binary(span, operator(), part("left"), part("right"))
        if kind in ("unary_expression", "pointer_expression", "update_expression"):
            return ir.Unary(span, operator(), part("argument"))
        if kind == "conditional_expression":
            return ir.Cond(span, part("condition"), part("consequence"), part("alternative"))
        if kind == "subscript_expression":
            indices = node.child_by_field_name("indices")
            return ir.Index(span, part("argument"), self.expression(indices))
        if kind == "cast_expression":
            return ir.Cast(span, part("value"), self.text(node.child_by_field_name("type")))
        if kind == "compound_literal_expression":
            value = node.child_by_field_name("value")
            items = self.expressions(value.named_children) if value else ()
            return ir.Init(span, self.text(node.child_by_field_name("type")), items)
        if kind == "initializer_list":
            return ir.Init(span, "", self.expressions(node.named_children))
        if kind == "new_expression":
            arguments = node.child_by_field_name("arguments")
            items = self.expressions(arguments.named_children) if arguments else ()
            return ir.New(span, self.text(node.child_by_field_name("type")), items)
        if kind in ("throw_statement", "throw_expression"):
            return ir.ThrowExpr(span)
        if kind == "lambda_expression":
            return self.closure(node)
        return ir.Other(span, self.expressions(node.named_children))

    def call(self, node: Node) -> ir.Expr:
        span = self.span(node)
        callee = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        items = self.expressions(arguments.named_children) if arguments else ()
        if callee is None:
            return ir.Other(span, items)
        if callee.type == "template_function" and self.text(callee.child_by_field_name("name")).endswith(
            "_cast"
        ):
            written = self.text(callee.child_by_field_name("arguments")).strip("<>")
            return ir.Cast(span, items[0] if items else ir.Other(span, ()), written)
        if callee.type == "field_expression":
            base = self.expression(callee.child_by_field_name("argument"))
            return ir.Call(span, "", self.text(callee.child_by_field_name("field")), base, items, "")
        if callee.type in ("identifier", "qualified_identifier", "template_function"):
            return ir.Call(span, "", self.text(callee), None, items, "")
        return ir.Call(span, "", "", None, items, "", target=self.expression(callee))

    def closure(self, node: Node) -> ir.Expr:
        declarator = node.child_by_field_name("declarator")
        body = node.child_by_field_name("body")
        symbol = self.symbol(node, "lambda")
        self.names.append({})
        params = self.parameters(declarator.child_by_field_name("parameters")) if declarator else ()
        lowered = self.statement(body) if body else None
        self.names.pop()
        self.lambdas += 1
        name = f"lambda#{self.lambdas}"
        self.functions.append(
            ir.Function(symbol, name, self.path, self.span(node), params, "", lowered, external=False)
        )
        return ir.Lambda(self.span(node), symbol)


def _identifier(node: Node | None) -> Node | None:
    """The name that a declarator declares."""
    while node is not None and node.type not in ("identifier", "field_identifier", "qualified_identifier"):
        node = node.child_by_field_name("declarator") or next(
            (child for child in node.named_children if child.type.endswith(("identifier", "declarator"))),
            None,
        )
    return node


def _find(node: Node | None, kind: str) -> Node | None:
    while node is not None and node.type != kind:
        node = node.child_by_field_name("declarator") or next(
            (child for child in node.named_children if child.type.endswith("declarator")), None
        )
    return node


def _errors(node: Node) -> int:
    """How many parts of `node` tree-sitter could not read."""
    if not node.has_error:
        return 0
    return (node.type == "ERROR" or node.is_missing) + sum(_errors(child) for child in node.children)


def lower(path: str, data: bytes, profile: str) -> ir.FileFacts:
    """Return the facts that the syntax of `data`, the file at root-relative `path`, gives."""
    work = _Lowering(path, data, profile)
    work.walk(tree_sitter.Parser(language()).parse(data).root_node, ())
    return ir.FileFacts(
        path=path,
        profile=profile,
        sha=hashlib.sha256(data).hexdigest(),
        functions=tuple(work.functions),
        records=tuple(work.records),
        origin="syntax",
    )


def parse(path: str, data: bytes, profile: str, arms: Sequence[int] = ()) -> Parsed:
    """Return the same in the form of a parse; no conditional leaves anything out."""
    facts = lower(path, data, profile)
    bodies = tuple(Covered(each.span.begin, each.span.end, each.errors) for each in facts.functions)
    return Parsed(path, profile, ir.encode(facts), bodies, tuple(arms))
