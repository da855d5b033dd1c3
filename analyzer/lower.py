"""Lower a parsed translation unit to the records of `analyzer.ir`.

The walk uses libclang's C interface directly: the Python wrappers cost a few microseconds a property, and a large
file has tens of thousands of cursors. Kinds are compared as numbers, because the wrapper of libclang 18 raises on
kinds it does not know. Locations are *file* locations, so that the argument of a check macro has its own offset
and an edit can be placed there; code spelled in a macro body is marked `macro` and never edited.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import hashlib
import posixpath
import re
from collections.abc import Callable
from typing import Any

import msgspec
from clang import cindex

from analyzer import ir

_Cursor = cindex.Cursor
_VISIT_CONTINUE = 1

# Cursor kinds (clang-c/Index.h, stable numbers of libclang 18).
_BINDING = 1  # of a structured binding, and the binding as a whole: libclang has no kind for them
_FIELD, _ENUM_CONSTANT, _FUNCTION, _VAR, _PARM = 6, 7, 8, 9, 10
_RECORDS = frozenset({2, 3, 4, 31, 32})  # struct, union, class, class template, partial specialisation
_ENUM, _NAMESPACE, _LINKAGE = 5, 22, 23
_METHOD, _CONSTRUCTOR, _DESTRUCTOR, _CONVERSION, _FUNCTION_TEMPLATE = 21, 24, 25, 26, 30
_FUNCTIONS = frozenset({_FUNCTION, _METHOD, _CONSTRUCTOR, _DESTRUCTOR, _CONVERSION, _FUNCTION_TEMPLATE})
_MEMBER_REF, _OVERLOADED = 47, 49
_UNEXPOSED, _DECL_REF, _MEMBER_EXPR, _CALL = 100, 101, 102, 103
_INT, _FLOAT, _STRING, _CHAR, _PAREN, _UNARY, _SUBSCRIPT, _BINARY, _COMPOUND_ASSIGN, _CONDITIONAL = (
    106, 107, 109, 110, 111, 112, 113, 114, 115, 116,
)  # fmt: skip
_INIT_LIST, _BOOL, _NULL, _THIS, _THROW, _NEW, _LAMBDA = 119, 130, 131, 132, 133, 134, 144
_CASTS = frozenset({117, 124, 125, 126, 127, 128})
_COMPOUND, _CASE, _DEFAULT, _IF, _SWITCH, _WHILE, _DO, _FOR = 202, 203, 204, 205, 206, 207, 208, 209
_JUMPS = {210: "goto", 212: "continue", 213: "break"}
_RETURN, _CATCH, _TRY, _RANGE_FOR, _DECL_STMT = 214, 223, 224, 225, 231
_CUDA_GLOBAL_ATTR = 414

_UNARY_OPS = (
    "",
    "++",
    "--",
    "++",
    "--",
    "&",
    "*",
    "+",
    "-",
    "~",
    "!",
    "__real",
    "__imag",
    "__extension__",
    "co_await",
)
_BINARY_OPS = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|",
    "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_OVERLOADED_BINARY = frozenset(_BINARY_OPS[3:22]) | {","}
_OVERLOADED_ASSIGN = frozenset({"=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="})

_IN_MACRO = 1 << 31  # the bit of a location number that says so; without it, numbers count bytes of a file
_LINE_END = re.compile(rb"\r\n|\n|\r")
_PLACE = re.compile(r"(\((?:lambda|unnamed \w+|anonymous \w+)) at .*?:(\d+):\d+\)")


def _placeless(text: str) -> str:
    """A type or name as clang spells it, without the path of a lambda or an unnamed record: facts move with a tree."""
    return _PLACE.sub(r"\1@\2)", text) if " at " in text else text


class _Text(ctypes.Structure):
    """`CXString`; cindex's own is freed by a destructor, which takes longer than all the rest."""

    _fields_ = (("data", ctypes.c_void_p), ("private_flags", ctypes.c_uint))


class _Clang:
    """The C functions this module calls, without the checks and null conversions of the Python wrapper. A null
    cursor has one of the invalid kinds, 70 to 73."""

    def __init__(self) -> None:
        lib = cindex.conf.lib
        cursor, ctype, location = _Cursor, cindex.Type, cindex.SourceLocation
        extent, number, handle = cindex.SourceRange, ctypes.c_int, ctypes.c_void_p
        out = ctypes.POINTER(ctypes.c_uint)

        def bind(name: str, result: Any, *arguments: Any) -> Any:
            return ctypes.CFUNCTYPE(result, *arguments)((name, lib))

        get = bind("clang_getCString", ctypes.c_char_p, _Text)
        dispose = bind("clang_disposeString", None, _Text)

        def bind_text(name: str, *arguments: Any) -> Callable[..., str]:
            raw = bind(name, _Text, *arguments)

            def call(*values: Any) -> str:
                found = raw(*values)
                data = get(found)
                dispose(found)
                return data.decode("utf-8", "replace") if data else ""

            return call

        self.visit = bind("clang_visitChildren", ctypes.c_uint, cursor, handle, handle)
        self.file_location = bind(
            "clang_getFileLocation", None, location, ctypes.POINTER(handle), out, out, out
        )
        self.spelling_location = bind(
            "clang_getSpellingLocation", None, location, ctypes.POINTER(handle), out, out, out
        )
        self.location = bind("clang_getCursorLocation", location, cursor)
        self.extent = bind("clang_getCursorExtent", extent, cursor)
        self.start = bind("clang_getRangeStart", location, extent)
        self.end = bind("clang_getRangeEnd", location, extent)
        self.file_name = bind_text("clang_getFileName", handle)
        self.file_contents = bind(
            "clang_getFileContents", handle, cindex.TranslationUnit, handle, ctypes.POINTER(ctypes.c_size_t)
        )
        self.spelling = bind_text("clang_getCursorSpelling", cursor)
        self.usr = bind_text("clang_getCursorUSR", cursor)
        self.type_spelling = bind_text("clang_getTypeSpelling", ctype)
        self.type_of = bind("clang_getCursorType", ctype, cursor)
        self.result_type = bind("clang_getCursorResultType", ctype, cursor)
        self.canonical_type = bind("clang_getCanonicalType", ctype, ctype)
        self.type_declaration = bind("clang_getTypeDeclaration", cursor, ctype)
        self.referenced = bind("clang_getCursorReferenced", cursor, cursor)
        self.parent = bind("clang_getCursorSemanticParent", cursor, cursor)
        self.template = bind("clang_getSpecializedCursorTemplate", cursor, cursor)
        self.initializer = bind("clang_Cursor_getVarDeclInitializer", cursor, cursor)
        self.argument_count = bind("clang_Cursor_getNumArguments", number, cursor)
        self.argument = bind("clang_Cursor_getArgument", cursor, cursor, ctypes.c_uint)
        self.overload_count = bind("clang_getNumOverloadedDecls", ctypes.c_uint, cursor)
        self.overload = bind("clang_getOverloadedDecl", cursor, cursor, ctypes.c_uint)
        self.binary_operator = bind("clang_getCursorBinaryOperatorKind", number, cursor)
        self.unary_operator = bind("clang_getCursorUnaryOperatorKind", number, cursor)
        self.is_definition = bind("clang_isCursorDefinition", ctypes.c_uint, cursor)
        self.is_static = bind("clang_CXXMethod_isStatic", ctypes.c_uint, cursor)
        self.is_virtual = bind("clang_CXXMethod_isVirtual", ctypes.c_uint, cursor)
        self.is_copy = bind("clang_CXXConstructor_isCopyConstructor", ctypes.c_uint, cursor)
        self.is_move = bind("clang_CXXConstructor_isMoveConstructor", ctypes.c_uint, cursor)
        self.linkage = bind("clang_getCursorLinkage", number, cursor)
        self.storage = bind("clang_Cursor_getStorageClass", number, cursor)
        cursors = ctypes.POINTER(cursor)
        self.overridden = bind(
            "clang_getOverriddenCursors", None, cursor, ctypes.POINTER(cursors), ctypes.POINTER(ctypes.c_uint)
        )
        self.dispose_overridden = bind("clang_disposeOverriddenCursors", None, cursors)
        self.evaluate = bind("clang_Cursor_Evaluate", handle, cursor)
        self.evaluated_int = bind("clang_EvalResult_getAsInt", number, handle)
        self.dispose_evaluated = bind("clang_EvalResult_dispose", None, handle)


@functools.cache
def _clang() -> _Clang:
    return _Clang()


def lower(
    tu: cindex.TranslationUnit,
    wanted: Callable[[str], str | None],
    profile: str,
) -> list[ir.FileFacts]:
    """Return the facts of every file of `tu` for which `wanted(name as clang spells it)` gives a tree-relative
    path. Never raises on odd code: what has no shape of its own becomes `ir.Other`."""
    return _Lowering(tu, wanted, profile).run()


class _File:
    """One wanted file while it is being lowered. `first`: clang's number for the location of its first byte, -1
    until known."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.first = -1
        self._line_starts = [0, *(end.end() for end in _LINE_END.finditer(data))]
        self.functions: dict[str, ir.Function] = {}
        self.records: list[ir.Record] = []
        self.enums: list[ir.Enum] = []
        self.globals: list[ir.Global] = []
        self.errors: list[int] = []

    def line(self, offset: int) -> int:
        return bisect.bisect_right(self._line_starts, offset)


class _Lowering:
    def __init__(
        self,
        tu: cindex.TranslationUnit,
        wanted: Callable[[str], str | None],
        profile: str,
    ) -> None:
        self.tu = tu
        self.lib = _clang()
        self.wanted = wanted
        self.profile = profile
        self.files: dict[int, _File | None] = {}
        self.by_path: dict[str, _File] = {}
        self.declared: dict[int, tuple[str, str, str]] = {}
        self.names: dict[int, str] = {}
        self.types: dict[tuple[int, int], str] = {}
        self.members: dict[str, tuple[str, ...]] = {}
        self.file: _File | None = None
        self.function: str = ""
        self.owner_name: str = ""
        self.lambdas = 0
        """So many are in the function so far, not counting those in lambdas."""
        self._handle, self._line, self._column, self._offset = (
            ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(),
        )  # fmt: skip
        self._location_out = (
            ctypes.byref(self._handle), ctypes.byref(self._line), ctypes.byref(self._column),
            ctypes.byref(self._offset),
        )  # fmt: skip
        self._visited: list[Any] = []
        append = self._visited.append  # not of `self`: in a circle it would keep the unit alive

        def visit(child: Any, _parent: Any, _data: Any) -> int:
            append(child)
            return _VISIT_CONTINUE

        self._visitor = ctypes.CFUNCTYPE(ctypes.c_int, _Cursor, _Cursor, ctypes.c_void_p)(visit)
        self._callback = ctypes.cast(self._visitor, ctypes.c_void_p)

    # ------------------------------------------------------------------------------------------ raw access

    def children(self, cursor: Any) -> list[Any]:
        self.lib.visit(cursor, self._callback, None)
        found = self._visited[:]
        self._visited.clear()
        return found

    def locate(self, location: Any) -> tuple[int, int, int]:
        """File handle, line and offset of a location, macro arguments at their own place."""
        self.lib.file_location(location, *self._location_out)
        return self._handle.value or 0, self._line.value, self._offset.value

    def span(self, cursor: Any, check_macro: bool = False) -> ir.Span:
        extent = self.lib.extent(cursor)
        file = self.file
        if file is not None and file.first >= 0:
            begin, end = extent.begin_int_data - file.first, extent.end_int_data - file.first
            if 0 <= begin <= end <= len(file.data):
                return ir.Span(begin, end, file.line(begin))
        start = self.lib.start(extent)
        handle, line, begin = self.locate(start)
        macro = False
        if check_macro:
            self.lib.spelling_location(start, *self._location_out)
            macro = self._offset.value != begin or (self._handle.value or 0) != handle
        _, _, end = self.locate(self.lib.end(extent))
        return ir.Span(begin, max(begin, end), line, macro)

    def file_of(self, cursor: Any) -> _File | None:
        location = self.lib.location(cursor)
        handle, _, offset = self.locate(location)
        found: _File | None = None
        if handle in self.files:
            found = self.files[handle]
        elif handle:
            path = self.wanted(self.file_name(handle))
            if path is not None:
                found = self.by_path.get(path)
                if found is None:
                    found = _File(path, self._contents(handle))
                    self.by_path[path] = found
        self.files[handle] = found
        if found is not None and location.int_data < _IN_MACRO:
            found.first = location.int_data - offset  # anew for each time that the file is included
        return found

    def file_name(self, handle: int) -> str:
        return str(self.lib.file_name(handle))

    def _contents(self, handle: int) -> bytes:
        size = ctypes.c_size_t()
        data = self.lib.file_contents(self.tu, handle, ctypes.byref(size))
        return ctypes.string_at(data, size.value) if data else b""

    def kind_text(self, cursor: Any) -> str:
        return str(self.lib.spelling(cursor))

    def type_text(self, ctype: Any) -> str:
        key = (ctype.data[0] or 0, ctype._kind_id)
        text = self.types.get(key)
        if text is None:
            text = self.lib.type_spelling(self.lib.canonical_type(ctype))
            text = text.replace("__restrict", "").rstrip()  # what a pointer points to is the same
            self.types[key] = text = _placeless(text)
        return text

    def type_of(self, cursor: Any) -> str:
        return self.type_text(self.lib.type_of(cursor))

    def qualified(self, cursor: Any) -> str:
        """`a::b::c`; unnamed namespaces show as `(anonymous)`."""
        key = cursor.data[0] or 0
        name = self.names.get(key)
        if name is None:
            spelling = _placeless(self.kind_text(cursor))
            if cursor._kind_id == _NAMESPACE and (not spelling or spelling.startswith("(")):
                spelling = "(anonymous)"
            parent = self.lib.parent(cursor)
            if parent._kind_id == _NAMESPACE or parent._kind_id in _RECORDS or parent._kind_id == _ENUM:
                name = f"{self.qualified(parent)}::{spelling}"
            else:
                name = spelling
            self.names[key] = name
        return name

    def sym(self, cursor: Any) -> tuple[str, str, str]:
        """`(symbol, name, kind)` of a referenced declaration."""
        key = cursor.data[0] or 0
        found = self.declared.get(key)
        if found is not None:
            return found
        kind_id = cursor._kind_id
        if kind_id in (_VAR, _PARM, _BINDING):
            parent = self.lib.parent(cursor)
            local = kind_id == _PARM or not (
                parent._kind_id in (_NAMESPACE, _LINKAGE, 350, 300) or parent._kind_id in _RECORDS
            )
            if local:
                handle, _, offset = self.locate(self.lib.location(cursor))
                file = self.files.get(handle)
                name = self.kind_text(cursor)
                found = (
                    f"{file.path if file else posixpath.basename(self.file_name(handle))}:{offset:08}:{name}",
                    name,
                    "param" if kind_id == _PARM else "local",
                )
            else:
                found = (self.lib.usr(cursor), self.qualified(cursor), "global")
        elif kind_id == _ENUM_CONSTANT:
            found = (self.lib.usr(cursor), self.qualified(cursor), "enum")
        else:
            if kind_id in _FUNCTIONS:
                template = self.lib.template(cursor)
                if template._kind_id in _FUNCTIONS:
                    cursor = template
            symbol = self.lib.usr(cursor)
            if kind_id in _FUNCTIONS and self.lib.linkage(cursor) in (
                2,
                3,
            ):  # internal: a USR has no directory
                handle, _, _ = self.locate(self.lib.location(cursor))
                file = self.files.get(handle)
                symbol = f"{file.path if file else ''}|{symbol}"
            found = (symbol, self.qualified(cursor), "function")
        self.declared[key] = found
        return found

    # ---------------------------------------------------------------------------------------- declarations

    def run(self) -> list[ir.FileFacts]:
        self._diagnostics: list[tuple[str, int]] = []
        for diagnostic in self.tu.diagnostics:
            if diagnostic.severity >= cindex.Diagnostic.Error:
                handle, _, offset = self.locate(diagnostic.location)
                if handle:
                    self._diagnostics.append((self.file_name(handle), offset))
        wanted_errors: dict[str, list[int]] = {}
        for name, offset in self._diagnostics:
            path = self.wanted(name)
            if path is not None:
                wanted_errors.setdefault(path, []).append(offset)
        self.errors = wanted_errors
        for cursor in self.children(self.tu.cursor):
            self.declaration(cursor)
        return [
            ir.FileFacts(
                path=file.path,
                profile=self.profile,
                sha=hashlib.sha256(file.data).hexdigest(),
                functions=tuple(file.functions.values()),
                records=tuple(file.records),
                enums=tuple(file.enums),
                globals=tuple(file.globals),
            )
            for file in self.by_path.values()
        ]

    def declaration(self, cursor: Any) -> None:
        kind = cursor._kind_id
        if kind in (_NAMESPACE, _LINKAGE) or kind == 1:
            if self.file_of(cursor) is not None:
                for child in self.children(cursor):
                    self.declaration(child)
            return
        file = self.file_of(cursor)
        if file is None:
            return
        self.file = file
        if kind in _FUNCTIONS:
            self.add_function(cursor, file)
        elif kind in _RECORDS:
            self.add_record(cursor, file)
        elif kind == _ENUM:
            self.add_enum(cursor, file)
        elif kind == _VAR:
            self.add_global(cursor, file)

    def add_enum(self, cursor: Any, file: _File) -> None:
        names = tuple(self.kind_text(c) for c in self.children(cursor) if c._kind_id == _ENUM_CONSTANT)
        if names:
            file.enums.append(ir.Enum(self.qualified(cursor), file.path, names, self.span(cursor).line))

    def add_global(self, cursor: Any, file: _File) -> None:
        symbol, name, _ = self.sym(cursor)
        init = self.lib.initializer(cursor)
        outer = (self.owner_name, self.lambdas)
        self.owner_name, self.lambdas = name, 0
        value = self.expr(init) if 100 <= init._kind_id < 200 else None
        self.owner_name, self.lambdas = outer
        file.globals.append(
            ir.Global(symbol, name, file.path, self.type_of(cursor), value, self.span(cursor, True))
        )

    def add_record(self, cursor: Any, file: _File) -> None:
        if not self.lib.is_definition(cursor):
            return
        name = self.qualified(cursor)
        members: list[ir.Member] = []
        bases: list[str] = []
        nested: list[Any] = []
        for child in self.children(cursor):
            kind = child._kind_id
            if kind == _FIELD:
                init = [c for c in self.children(child) if 100 <= c._kind_id < 200]
                value = self.expr(init[-1]) if init else None
                members.append(
                    ir.Member(self.kind_text(child), self.type_of(child), value, self.span(child).line)
                )
            elif kind == 44:  # base specifier
                bases.append(self.type_of(child))
            elif kind in _FUNCTIONS or kind in _RECORDS or kind in (_ENUM, _VAR):
                nested.append(child)
        file.records.append(ir.Record(name, file.path, self.span(cursor, True), tuple(members), tuple(bases)))
        for child in nested:
            self.declaration(child)

    def add_function(self, cursor: Any, file: _File) -> None:
        symbol, name, _ = self.sym(cursor)
        outer = (self.function, self.owner_name, self.lambdas)
        self.function, self.owner_name, self.lambdas = symbol, name, 0
        span = self.span(cursor, True)
        parts = self.children(cursor)
        params: list[ir.Param] = []
        body: Any = None
        inits: list[ir.Assign] = []
        kernel = False
        pending: tuple[str, Any] | None = None
        for part in parts:
            kind = part._kind_id
            if kind == _PARM:
                params.append(self.param(part))
            elif kind in (_COMPOUND, _TRY):
                body = part
            elif kind == _CUDA_GLOBAL_ATTR:
                kernel = True
            elif kind == _MEMBER_REF:
                pending = (self.kind_text(part), part)
            elif pending is not None and 100 <= kind < 200:
                field, at = pending
                owner = name.rpartition("::")[0]
                where = self.span(at)
                target = ir.Field(where, ir.This(where), field, owner, "")
                inits.append(ir.Assign(where, "=", target, self.expr(part)))
                pending = None
        lowered: ir.Stmt | None = None
        nested = 0
        if body is not None:
            try:
                lowered = self.stmt(body)
            except (
                RecursionError
            ):  # an expression nested deeper than the interpreter's stack: not to be trusted
                nested = 1
        semantic = self.lib.parent(cursor)
        owner = self.qualified(semantic) if semantic._kind_id in _RECORDS else ""
        errors = nested + sum(1 for at in self.errors.get(file.path, ()) if span.begin <= at < span.end)
        self.keep(
            file,
            ir.Function(
                sym=symbol,
                name=name,
                path=file.path,
                span=span,
                params=tuple(params),
                result=self.type_text(self.lib.result_type(cursor)),
                body=lowered,
                owner=owner,
                static=bool(cursor._kind_id == _METHOD and self.lib.is_static(cursor)),
                virtual=bool(cursor._kind_id == _METHOD and self.lib.is_virtual(cursor)),
                external=self.lib.linkage(cursor) in (0, 4),
                overrides=self.overridden(cursor),
                inits=tuple(inits),
                errors=errors,
                kernel=kernel,
            ),
        )
        self.function, self.owner_name, self.lambdas = outer

    def keep(self, file: _File, function: ir.Function) -> None:
        """One entry a symbol: a definition wins over a declaration, whose default arguments it takes over."""
        known = file.functions.get(function.sym)
        if known is not None:
            first, second = (known, function) if function.body is not None else (function, known)
            params = tuple(
                ir.Param(
                    p.sym,
                    p.name,
                    p.type,
                    p.default or (first.params[i].default if i < len(first.params) else None),
                )
                for i, p in enumerate(second.params)
            )
            function = msgspec.structs.replace(second, params=params)
        file.functions[function.sym] = function

    def overridden(self, cursor: Any) -> tuple[str, ...]:
        if cursor._kind_id != _METHOD or not self.lib.is_virtual(cursor):
            return ()
        first = ctypes.POINTER(_Cursor)()
        count = ctypes.c_uint()
        self.lib.overridden(cursor, ctypes.byref(first), ctypes.byref(count))
        found = tuple(self.lib.usr(first[index]) for index in range(count.value))
        if count.value:
            self.lib.dispose_overridden(first)
        return found

    def param(self, cursor: Any) -> ir.Param:
        symbol, name, _ = self.sym(cursor)
        default = None
        for child in self.children(cursor):
            if 100 <= child._kind_id < 200:
                default = self.expr(child)
        return ir.Param(symbol, name, self.type_of(cursor), default)

    # ------------------------------------------------------------------------------------------ statements

    def stmt(self, cursor: Any) -> ir.Stmt:
        kind = cursor._kind_id
        if kind == _COMPOUND:
            return ir.Block(self.span(cursor), tuple(self.stmt(c) for c in self.children(cursor)))
        if kind == _DECL_STMT:
            found: list[ir.Stmt] = []
            for child in self.children(cursor):
                found += (
                    self.bindings(child) if child._kind_id == _BINDING else filter(None, [self.local(child)])
                )
            span = self.span(cursor, True)
            return ir.Block(span, tuple(found), True)
        if kind == _RETURN:
            inner = self.children(cursor)
            return ir.Return(self.span(cursor, True), self.expr(inner[0]) if inner else None)
        if kind == _IF:
            return self.if_stmt(cursor)
        if kind in (_FOR, _WHILE, _DO):
            return self.loop(cursor, kind)
        if kind == _RANGE_FOR:
            return self.range_for(cursor)
        if kind in _JUMPS:
            return ir.Jump(self.span(cursor), _JUMPS[kind])
        if kind == _SWITCH:
            inner = [c for c in self.children(cursor) if c._kind_id not in (_DECL_STMT, _VAR)]
            if len(inner) >= 2:
                return ir.Switch(self.span(cursor), self.expr(inner[-2]), self.stmt(inner[-1]))
        if kind in (_CASE, _DEFAULT):
            inner = self.children(cursor)
            body = inner[-1] if inner else None
            values = tuple(self.expr(c) for c in inner[:-1]) if kind == _CASE else ()
            return ir.Case(self.span(cursor), values, self.stmt(body) if body is not None else None)
        if kind == _TRY:
            inner = self.children(cursor)
            handlers = []
            for handler in inner[1:]:
                for part in self.children(handler):
                    if part._kind_id == _COMPOUND:
                        handlers.append(self.stmt(part))
            return ir.Try(self.span(cursor), self.stmt(inner[0]), tuple(handlers))
        if 100 <= kind < 200:
            return ir.Do(self.span(cursor, True), self.expr(cursor))
        inner = self.children(cursor)
        return ir.Block(self.span(cursor), tuple(self.stmt(c) for c in inner if 100 <= c._kind_id < 300))

    def local(self, cursor: Any) -> ir.Var | None:
        if cursor._kind_id != _VAR:
            return None
        symbol, name, _ = self.sym(cursor)
        init = self.lib.initializer(cursor)
        value = self.expr(init) if init is not None and 100 <= init._kind_id < 200 else None
        static = self.lib.storage(cursor) == 3
        return ir.Var(self.span(cursor, True), symbol, name, self.type_of(cursor), value, static)

    def bindings(self, cursor: Any) -> list[ir.Stmt]:
        """`auto [a, b] = x` as a variable without a name of its own, and one for each of its members."""
        parts = self.children(cursor)
        named = [part for part in parts if part._kind_id == _BINDING]
        init = next((part for part in parts if 100 <= part._kind_id < 200), None)
        if not named:
            return []
        span = self.span(cursor, True)
        symbol, name, _ = self.sym(cursor)
        whole = ir.Name(span, symbol, name, "local")
        ctype = self.type_of(cursor) or (self.type_of(init) if init is not None else "")
        found: list[ir.Stmt] = [ir.Var(span, symbol, name, ctype, None if init is None else self.expr(init))]
        record = self.lib.type_declaration(self.lib.canonical_type(self.lib.type_of(init or cursor)))
        members = [self.kind_text(c) for c in self.children(record) if c._kind_id == _FIELD]
        if self.qualified(record) == "std::pair":
            members = ["first", "second"]
        elif len(members) != len(named):
            members = [f"<{position}>" for position in range(len(named))]  # of a tuple or an array
        for part, member in zip(named, members, strict=True):
            symbol, name, _ = self.sym(part)
            at, made = self.span(part), self.type_of(part)
            made += " &" if ctype.endswith("&") and not made.endswith("&") else ""
            found.append(
                ir.Var(at, symbol, name, made, ir.Field(at, whole, member, self.qualified(record), made))
            )
        return found

    def if_stmt(self, cursor: Any) -> ir.Stmt:
        parts = self.children(cursor)
        inits: list[ir.Stmt] = []
        while len(parts) > 2 and parts[0]._kind_id in (_DECL_STMT, _VAR):
            first = parts.pop(0)
            made = self.stmt(first) if first._kind_id == _DECL_STMT else self.local(first)
            if made is not None:
                inits.append(made)
        if len(parts) < 2:
            return ir.Block(self.span(cursor), ())
        init = (
            None
            if not inits
            else inits[0]
            if len(inits) == 1
            else ir.Block(inits[0].span, tuple(inits), True)
        )
        other = self.stmt(parts[2]) if len(parts) > 2 else None
        return ir.If(self.span(cursor, True), init, self.expr(parts[0]), self.stmt(parts[1]), other)

    def loop(self, cursor: Any, kind: int) -> ir.Stmt:
        parts = self.children(cursor)
        span = self.span(cursor, True)
        if not parts:
            return ir.Block(span, ())
        if kind == _DO:
            test = self.expr(parts[-1]) if len(parts) > 1 else None
            once = isinstance(test, ir.Lit) and test.value in ("0", "false")
            return ir.Loop(span, None, test, None, self.stmt(parts[0]), True, once)
        init = test = step = None
        body = self.stmt(parts.pop())
        if parts and parts[0]._kind_id in (_DECL_STMT, _VAR):
            first = parts.pop(0)
            init = self.stmt(first) if first._kind_id == _DECL_STMT else self.local(first)
        if kind == _WHILE:
            test = self.expr(parts[0]) if parts else None
            return ir.Loop(span, init, test, None, body)
        if len(parts) == 3:
            init = self.stmt(parts.pop(0))
        lowered = [self.expr(p) for p in parts]
        if len(lowered) == 2:
            test, step = lowered
        elif len(lowered) == 1:
            if isinstance(lowered[0], (ir.Unary, ir.Assign)) and getattr(lowered[0], "op", "") != "!":
                step = lowered[0]
            else:
                test = lowered[0]
        return ir.Loop(span, init, test, step, body)

    def range_for(self, cursor: Any) -> ir.Stmt:
        var: ir.Var | None = None
        over: Any = None
        parts = self.children(cursor)
        span = self.span(cursor)
        if not parts:
            return ir.Block(span, ())
        body = parts.pop()
        inner_names: list[ir.Stmt] = []
        for part in parts:
            if part._kind_id == _BINDING:
                whole, *inner_names = self.bindings(part)
                assert isinstance(whole, ir.Var)
                var = ir.Var(whole.span, whole.sym, whole.name, whole.type, None)
            elif part._kind_id == _VAR:
                symbol, name, _ = self.sym(part)
                var = ir.Var(self.span(part), symbol, name, self.type_of(part), None)
            elif part._kind_id == _DECL_STMT:
                for inner in self.children(part):
                    if inner._kind_id == _VAR and not self.kind_text(inner).startswith("__"):
                        symbol, name, _ = self.sym(inner)
                        var = ir.Var(self.span(inner), symbol, name, self.type_of(inner), None)
            elif 100 <= part._kind_id < 200:
                over = part
        lowered = self.stmt(body)
        if inner_names:
            lowered = ir.Block(lowered.span, (*inner_names, lowered))
        if var is None or over is None:
            return ir.Loop(span, None, None, None, lowered)
        return ir.Each(span, var, self.expr(over), lowered)

    # ----------------------------------------------------------------------------------------- expressions

    def expr(self, cursor: Any) -> ir.Expr:
        kind = cursor._kind_id
        if kind in (_UNEXPOSED, _PAREN):
            inner = self.children(cursor)
            if len(inner) == 1:
                return self.expr(inner[0])
            if not inner:
                return ir.Other(self.span(cursor), ())
            named = [c for c in inner if 100 <= c._kind_id < 200]
            if len(named) == 1:
                return self.expr(named[0])
            overloaded = [c for c in inner if c._kind_id == _OVERLOADED]
            if overloaded and not named:
                return self.overload(overloaded[0])
            return ir.Other(self.span(cursor), tuple(self.expr(c) for c in named))
        if kind == _DECL_REF:
            return self.name(cursor)
        if kind == _MEMBER_EXPR:
            return self.member(cursor)
        if kind == _CALL:
            return self.call(cursor)
        if kind == _BINARY:
            inner = self.children(cursor)
            if len(inner) == 2:
                op = _BINARY_OPS[self.lib.binary_operator(cursor)]
                a, b = self.expr(inner[0]), self.expr(inner[1])
                if op == "=":
                    return ir.Assign(self.span(cursor, True), op, a, b)
                return ir.Binary(self.span(cursor), op, a, b)
        if kind == _COMPOUND_ASSIGN:
            inner = self.children(cursor)
            if len(inner) == 2:
                op = _BINARY_OPS[self.lib.binary_operator(cursor)]
                return ir.Assign(self.span(cursor, True), op, self.expr(inner[0]), self.expr(inner[1]))
        if kind == _UNARY:
            inner = self.children(cursor)
            if inner:
                op = _UNARY_OPS[self.lib.unary_operator(cursor)]
                return ir.Unary(self.span(cursor), op, self.expr(inner[-1]))
        if kind == _SUBSCRIPT:
            inner = self.children(cursor)
            if len(inner) == 2:
                return ir.Index(
                    self.span(cursor), self.expr(inner[0]), self.expr(inner[1]), self.type_of(cursor)
                )
        if kind == _CONDITIONAL:
            inner = self.children(cursor)
            if len(inner) == 3:
                return ir.Cond(
                    self.span(cursor), self.expr(inner[0]), self.expr(inner[1]), self.expr(inner[2])
                )
        if kind in _CASTS:
            inner = [c for c in self.children(cursor) if 100 <= c._kind_id < 200]
            if inner:
                return ir.Cast(self.span(cursor), self.expr(inner[-1]), self.type_of(cursor))
            return ir.Other(self.span(cursor), ())
        if kind in (_BOOL, _INT):
            span = self.span(cursor)
            return ir.Lit(span, "bool" if kind == _BOOL else "int", self.literal(cursor, span, kind))
        if kind == _STRING:
            return ir.Lit(self.span(cursor), "str", self.kind_text(cursor))
        if kind == _NULL:
            return ir.Lit(self.span(cursor), "null", "nullptr")
        if kind in (_FLOAT, _CHAR):
            return ir.Lit(self.span(cursor), "other", "")
        if kind == _THIS:
            return ir.This(self.span(cursor))
        if kind == _INIT_LIST:
            return self.init_list(cursor)
        if kind == _LAMBDA:
            return self.lambda_(cursor)
        if kind == _THROW:
            return ir.ThrowExpr(self.span(cursor, True))
        if kind == _NEW:
            inner = [c for c in self.children(cursor) if 100 <= c._kind_id < 200]
            return ir.New(self.span(cursor, True), self.type_of(cursor), tuple(self.expr(c) for c in inner))
        inner = [c for c in self.children(cursor) if 100 <= c._kind_id < 300]
        if len(inner) == 1 and inner[0]._kind_id < 200:
            return self.expr(inner[0])
        return ir.Other(self.span(cursor), tuple(self.expr(c) for c in inner if c._kind_id < 200))

    def literal(self, cursor: Any, span: ir.Span, kind: int) -> str:
        text = self.file.data[span.begin : span.end] if self.file is not None else b""
        word = text.split(b" ")[0].strip()
        if kind == _BOOL and word in (b"true", b"false") or kind == _INT and word[:1].isdigit():
            return word.decode()
        result = self.lib.evaluate(cursor)
        if not result:
            return ""
        value = self.lib.evaluated_int(result)
        self.lib.dispose_evaluated(result)
        return ("true" if value else "false") if kind == _BOOL else str(value)

    def overload(self, cursor: Any) -> ir.Expr:
        count = self.lib.overload_count(cursor)
        if count >= 1:
            symbol, name, kind = self.sym(self.lib.overload(cursor, 0))
            return ir.Name(self.span(cursor), symbol if count == 1 else "", name, kind)
        return ir.Name(self.span(cursor), "", self.kind_text(cursor), "function")

    def name(self, cursor: Any) -> ir.Expr:
        target = self.lib.referenced(cursor)
        if target._kind_id == _OVERLOADED:  # `f<N>` in a template
            return self.overload(target)
        if 70 <= target._kind_id <= 73:
            return ir.Name(self.span(cursor), "", self.kind_text(cursor), "function")
        symbol, name, kind = self.sym(target)
        return ir.Name(self.span(cursor), symbol, name, kind)

    def member(self, cursor: Any) -> ir.Expr:
        target = self.lib.referenced(cursor)
        inner = [c for c in self.children(cursor) if 100 <= c._kind_id < 200]
        span = self.span(cursor)
        base: ir.Expr = self.expr(inner[0]) if inner else ir.This(ir.Span(span.begin, span.begin, span.line))
        if target._kind_id == _FIELD:
            owner = self.qualified(self.lib.parent(target))
            return ir.Field(span, base, self.kind_text(target), owner, self.type_of(target))
        if target._kind_id == _VAR:
            symbol, name, kind = self.sym(target)
            return ir.Name(span, symbol, name, kind)
        return ir.Field(span, base, self.kind_text(cursor), "", "")

    def arguments(self, cursor: Any) -> list[ir.Expr]:
        count = self.lib.argument_count(cursor)
        return [self.expr(self.lib.argument(cursor, i)) for i in range(max(0, count))]

    def call(self, cursor: Any) -> ir.Expr:
        target = self.lib.referenced(cursor)
        kind = target._kind_id
        span = self.span(cursor, True)
        if kind == _CONSTRUCTOR:
            args = self.arguments(cursor)
            ctype = self.type_of(cursor)
            if len(args) == 1 and self.is_copy(target):
                return args[0]
            symbol, name, _ = self.sym(target)
            return ir.Call(span, symbol, name, None, tuple(args), ctype, "ctor")
        if kind in _FUNCTIONS and not self.calls_result(cursor):
            symbol, name, _ = self.sym(target)
            last = name.rpartition("::")[2]
            if last.startswith("operator") and not last[8:9].isalnum() and last[8:9] != "_":
                shaped = self.operator(cursor, span, last[8:].strip(), symbol, name)
                if shaped is not None:
                    return shaped
            parts = self.children(cursor)
            head = parts[0] if parts else None
            base: ir.Expr | None = None
            while head is not None and head._kind_id in (_UNEXPOSED, _PAREN):
                inner = [c for c in self.children(head) if 100 <= c._kind_id < 200]
                head = inner[0] if inner else None
            if head is not None and head._kind_id == _MEMBER_EXPR:
                lowered = self.member(head)
                if isinstance(lowered, ir.Field):
                    base = lowered.base
            launch = (
                "launch"
                if any(
                    c._kind_id == _CALL and self.kind_text(c) == "__cudaPushCallConfiguration"
                    for c in parts[1:2]
                )
                else "call"
            )
            if kind == _CONVERSION and base is not None:
                return base
            return ir.Call(
                span, symbol, name, base, tuple(self.arguments(cursor)), self.type_of(cursor), launch
            )
        parts = [c for c in self.children(cursor) if 100 <= c._kind_id < 200 or c._kind_id == _OVERLOADED]
        if not parts:
            return ir.Other(span, ())
        head_expr = self.overload(parts[0]) if parts[0]._kind_id == _OVERLOADED else self.expr(parts[0])
        args = [self.expr(c) for c in parts[1:]]
        kind_text = "call"
        if args and isinstance(args[0], ir.Call) and args[0].name == "__cudaPushCallConfiguration":
            kind_text, args = "launch", args[1:]
        ctype = self.type_of(cursor)
        if isinstance(head_expr, ir.Name) and head_expr.kind == "function":
            return ir.Call(span, head_expr.sym, head_expr.name, None, tuple(args), ctype, kind_text)
        if isinstance(head_expr, ir.Field) and not head_expr.owner:
            return ir.Call(span, "", head_expr.name, head_expr.base, tuple(args), ctype, kind_text)
        return ir.Call(span, "", "", None, tuple(args), ctype, kind_text, head_expr)

    def calls_result(self, cursor: Any) -> bool:
        """`f(x)(y)`: libclang refers the outer call to `f`, whose result is what is called."""
        if self.kind_text(self.lib.referenced(cursor)).startswith("operator"):
            return False  # written infix: its first operand may be a call
        head = self.children(cursor)[:1]
        while head and head[0]._kind_id in (_UNEXPOSED, _PAREN):
            head = self.children(head[0])[:1]
        return bool(head) and head[0]._kind_id == _CALL

    def is_copy(self, constructor: Any) -> bool:
        """Copy and move constructors pass every field along: the call is its argument."""
        return bool(self.lib.is_copy(constructor) or self.lib.is_move(constructor))

    def operator(self, cursor: Any, span: ir.Span, op: str, symbol: str, name: str) -> ir.Expr | None:
        args = self.arguments(cursor)
        head = self.children(cursor)[:1]
        if head and head[0]._kind_id == _MEMBER_EXPR and self.lib.referenced(head[0])._kind_id in _FUNCTIONS:
            return None  # written as x.operator=(y)
        if op in _OVERLOADED_ASSIGN and len(args) == 2:
            return ir.Assign(span, op, args[0], args[1])
        if op == "[]" and len(args) == 2:
            return ir.Index(span, args[0], args[1], self.type_of(cursor))
        if op == "->" and args or op == "*" and len(args) == 1:
            return ir.Unary(span, "*", args[0])
        if op in _OVERLOADED_BINARY and len(args) == 2:
            return ir.Binary(span, op, args[0], args[1])
        if op == "()" and args:
            return ir.Call(span, symbol, name, None, tuple(args[1:]), self.type_of(cursor), "call", args[0])
        if op in ("++", "--", "!", "-", "~", "&") and args:
            return ir.Unary(span, op, args[0])
        return None

    def init_list(self, cursor: Any) -> ir.Expr:
        ctype = self.type_of(cursor)
        items: list[ir.Expr] = []
        fields: list[str] = []
        names = self.record_fields(cursor, ctype)
        for position, child in enumerate(self.children(cursor)):
            if not 100 <= child._kind_id < 200:
                continue
            field = names[position] if position < len(names) else ""
            if child._kind_id == _UNEXPOSED:
                inner = self.children(child)
                named = [c for c in inner if c._kind_id == _MEMBER_REF]
                if named:  # designated
                    field = self.kind_text(named[0])
                    values = [c for c in inner if 100 <= c._kind_id < 200]
                    items.append(self.expr(values[-1]) if values else ir.Other(self.span(child), ()))
                    fields.append(field)
                    continue
            items.append(self.expr(child))
            fields.append(field)
        return ir.Init(self.span(cursor, True), ctype, tuple(items), tuple(fields) if names else ())

    def record_fields(self, cursor: Any, ctype: str) -> tuple[str, ...]:
        names = self.members.get(ctype)
        if names is None:
            declaration = self.lib.type_declaration(self.lib.canonical_type(self.lib.type_of(cursor)))
            if declaration._kind_id in _RECORDS:
                names = tuple(self.kind_text(c) for c in self.children(declaration) if c._kind_id == _FIELD)
            else:
                names = ()
            self.members[ctype] = names
        return names

    def lambda_(self, cursor: Any) -> ir.Expr:
        span = self.span(cursor, True)
        file = self.file
        if file is None:
            return ir.Other(span, ())
        symbol = f"{file.path}:{span.begin:08}:lambda"  # in the order of the text, as symbols are sorted
        self.lambdas += 1
        outer = (self.function, self.owner_name, self.lambdas)
        parent = self.function
        name = f"{self.owner_name}::lambda#{self.lambdas}"
        self.function, self.owner_name, self.lambdas = symbol, name, 0
        params: list[ir.Param] = []
        body: ir.Stmt | None = None
        for child in self.children(cursor):
            if child._kind_id == _PARM:
                params.append(self.param(child))
            elif child._kind_id == _COMPOUND:
                body = self.stmt(child)
        self.function, self.owner_name, self.lambdas = outer
        result = ""
        self.keep(
            file,
            ir.Function(
                symbol, name, file.path, span, tuple(params), result, body, parent=parent, external=False
            ),
        )
        return ir.Lambda(span, symbol)
