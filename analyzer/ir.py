"""The facts one file gives: declarations and function bodies, lowered from clang to small frozen records.

Everything here is immutable, holds no cursor and serialises with msgspec (MessagePack), so it is what worker
processes return, what the cache stores and what rules may read. Offsets are byte offsets into the file as read
from disk (`[begin, end)`), lines are 1-based. Type spellings are clang's canonical ones
(`const vllm::OwnedTensor &`). A `Sym` names a declaration: a USR for what other files can see, and
`file:offset:name` for locals, parameters and lambdas, so that one declaration has one `Sym` everywhere.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

Sym: TypeAlias = str


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Bytes `[begin, end)` of a file. `macro` is true when the code was spelled in a macro body: then the span is
    that of the macro's use and the code must not be edited."""

    begin: int
    end: int
    line: int
    macro: bool = False


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True, tag_field="node"):
    """Base of every expression and statement."""

    span: Span


# ----------------------------------------------------------------------------------------------- expressions


class Name(Node, frozen=True, array_like=True, gc=False, tag="n"):
    """A use of a variable, parameter, enumerator, global or function."""

    sym: Sym
    name: str
    kind: str  # "local" | "param" | "global" | "enum" | "function"


class This(Node, frozen=True, array_like=True, gc=False, tag="t"):
    """`this` (the pointer; also the implicit one before a member name)."""


class Field(Node, frozen=True, array_like=True, gc=False, tag="f"):
    """`base.name` or `base->name` for a data member; `owner` is the qualified name of the declaring record."""

    base: Expr
    name: str
    owner: str
    type: str


class Call(Node, frozen=True, array_like=True, gc=False, tag="c"):
    """A call, a constructor call (`kind="ctor"`), an overloaded operator that is not one of the built-in shapes
    (`kind="operator"`) or a CUDA launch (`kind="launch"`). `callee` is empty where it could not be resolved; then
    `target` is the expression that was called. `name` is qualified when `callee` is known."""

    callee: Sym
    name: str
    base: Expr | None
    args: tuple[Expr, ...]
    type: str
    kind: str = "call"
    target: Expr | None = None


class Unary(Node, frozen=True, array_like=True, gc=False, tag="u"):
    """`op x`; `op` is clang's spelling (`!`, `-`, `*`, `&`, `++`, ...). Overloaded `*` and `->` give `*` too."""

    op: str
    x: Expr


class Binary(Node, frozen=True, array_like=True, gc=False, tag="b"):
    """`a op b`, built-in or overloaded (`==`, `<`, `+`, `&&`, ...)."""

    op: str
    a: Expr
    b: Expr


class Assign(Node, frozen=True, array_like=True, gc=False, tag="a"):
    """`target op value`; `op` is `=`, `+=`, ... Overloaded assignment too."""

    op: str
    target: Expr
    value: Expr


class Cond(Node, frozen=True, array_like=True, gc=False, tag="q"):
    """`test ? yes : no`."""

    test: Expr
    yes: Expr
    no: Expr


class Lit(Node, frozen=True, array_like=True, gc=False, tag="l"):
    """A literal. `kind`: `bool`, `int`, `str`, `null`, `other`; `value` as written (`true`, `4`, text of a string)."""

    kind: str
    value: str


class Init(Node, frozen=True, array_like=True, gc=False, tag="i"):
    """A braced initialiser of `type` (canonical; empty when clang gives none). `fields` pairs items with the names
    of the aggregate's data members when `type` is one, else it is empty."""

    type: str
    items: tuple[Expr, ...]
    fields: tuple[str, ...] = ()


class Index(Node, frozen=True, array_like=True, gc=False, tag="x"):
    """`base[index]`, built-in or overloaded."""

    base: Expr
    index: Expr
    type: str = ""


class Cast(Node, frozen=True, array_like=True, gc=False, tag="k"):
    """An explicit cast to canonical `type`."""

    x: Expr
    type: str


class Lambda(Node, frozen=True, array_like=True, gc=False, tag="m"):
    """A lambda; its body is the `Function` with the same `sym`."""

    sym: Sym


class New(Node, frozen=True, array_like=True, gc=False, tag="w"):
    """`new type(args)`."""

    type: str
    args: tuple[Expr, ...]


class ThrowExpr(Node, frozen=True, array_like=True, gc=False, tag="h"):
    """`throw x`, without the `x`: it ends the path, and half of all expressions are texts of errors."""


class Other(Node, frozen=True, array_like=True, gc=False, tag="o"):
    """Any other expression, reduced to its operands."""

    items: tuple[Expr, ...]


# ------------------------------------------------------------------------------------------------ statements


class Var(Node, frozen=True, array_like=True, gc=False, tag="V"):
    """One declared local variable. `static` locals are initialised once."""

    sym: Sym
    name: str
    type: str
    init: Expr | None
    static: bool = False


class Do(Node, frozen=True, array_like=True, gc=False, tag="E"):
    """An expression statement."""

    x: Expr


class Block(Node, frozen=True, array_like=True, gc=False, tag="B"):
    """`{ ... }` (also the list of variables of one declaration statement, with `decl` true)."""

    body: tuple[Stmt, ...]
    decl: bool = False


class If(Node, frozen=True, array_like=True, gc=False, tag="I"):
    """`if (init; test) then else other`. `constant` (if constexpr) both arms are kept."""

    init: Stmt | None
    test: Expr
    then: Stmt
    other: Stmt | None


class Loop(Node, frozen=True, array_like=True, gc=False, tag="L"):
    """`for`, `while` and `do`. `once` is true for `do { } while (0)`, `first` where the body runs before `test`."""

    init: Stmt | None
    test: Expr | None
    step: Expr | None
    body: Stmt
    first: bool = False
    once: bool = False


class Each(Node, frozen=True, array_like=True, gc=False, tag="F"):
    """`for (var : range) body`."""

    var: Var
    range: Expr
    body: Stmt


class Return(Node, frozen=True, array_like=True, gc=False, tag="R"):
    """`return x`."""

    x: Expr | None


class Jump(Node, frozen=True, array_like=True, gc=False, tag="J"):
    """`break`, `continue` or `goto` (`kind`)."""

    kind: str


class Case(Node, frozen=True, array_like=True, gc=False, tag="C"):
    """A `case` (or `default`, with `values` empty) label and the first statement under it."""

    values: tuple[Expr, ...]
    body: Stmt | None


class Switch(Node, frozen=True, array_like=True, gc=False, tag="S"):
    """`switch (x) body`."""

    x: Expr
    body: Stmt


class Try(Node, frozen=True, array_like=True, gc=False, tag="Y"):
    """`try body catch handlers`."""

    body: Stmt
    handlers: tuple[Stmt, ...]


Expr: TypeAlias = (
    Name | This | Field | Call | Unary | Binary | Assign | Cond | Lit | Init | Index | Cast | Lambda | New
    | ThrowExpr | Other
)  # fmt: skip
Stmt: TypeAlias = Var | Do | Block | If | Loop | Each | Return | Jump | Case | Switch | Try


# ---------------------------------------------------------------------------------------------- declarations


class Param(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A parameter; `default` is its default argument if the declaration seen has one."""

    sym: Sym
    name: str
    type: str
    default: Expr | None = None


class Function(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function, method, constructor or lambda. `name` is qualified (`vllm::dense_attn::ResidentWeight`; unnamed
    namespaces show as `(anonymous)`; the second lambda of a function is `enclosing::lambda#2`). `body` is None for a
    declaration only. `owner` is the qualified record of a method. `overrides` lists the methods it overrides.
    `captures`: for a lambda, empty otherwise. `errors` counts clang errors inside the body: above 0 the body is not to
    be trusted."""

    sym: Sym
    name: str
    path: str
    span: Span
    params: tuple[Param, ...]
    result: str
    body: Stmt | None
    owner: str = ""
    parent: Sym = ""
    static: bool = False
    virtual: bool = False
    external: bool = True
    overrides: tuple[Sym, ...] = ()
    inits: tuple[Assign, ...] = ()
    errors: int = 0
    kernel: bool = False

    @property
    def is_constructor(self) -> bool:
        """A method with the name of its record."""
        record = self.owner.partition("<")[0].rpartition("::")[2]
        return bool(record) and self.name.rpartition("::")[2].partition("<")[0] == record


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A data member: name, canonical type, default initialiser and line."""

    name: str
    type: str
    init: Expr | None
    line: int
    comment: str = ""


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class, struct or union definition. `bases` are qualified names."""

    name: str
    path: str
    span: Span
    members: tuple[Member, ...]
    bases: tuple[str, ...] = ()


class Enum(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An enumeration: qualified name and enumerators in order."""

    name: str
    path: str
    enumerators: tuple[str, ...]
    line: int = 0


class Global(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A namespace-scope or static member variable."""

    sym: Sym
    name: str
    path: str
    type: str
    init: Expr | None
    span: Span


class FileFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one parse said of one file of the tree. `path` is relative to the tree root, with forward slashes.
    `origin` says how the flags were found (`database`, `sibling`, `inferred`, `syntax`); `syntax` means the file
    was read with tree-sitter only. `failed` is the one-line reason when the file was not analysed."""

    path: str
    profile: str
    sha: str
    functions: tuple[Function, ...] = ()
    records: tuple[Record, ...] = ()
    enums: tuple[Enum, ...] = ()
    globals: tuple[Global, ...] = ()
    origin: str = "database"
    failed: str = ""
    dropped_flags: tuple[str, ...] = ()


def encode(facts: FileFacts) -> bytes:
    """Return `facts` as MessagePack."""
    return msgspec.msgpack.encode(facts)


def decode(data: bytes) -> FileFacts:
    """Read `encode`'s bytes. Raises `msgspec.DecodeError` on anything else."""
    return msgspec.msgpack.decode(data, type=FileFacts)
