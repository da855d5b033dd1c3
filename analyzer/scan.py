"""What the text of one file says without parsing: includes, macros tested, records and their members."""

from __future__ import annotations

import re

import msgspec
import tree_sitter
import tree_sitter_cpp

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(include|import|ifdef|ifndef|if|elifdef|elifndef|elif|else|endif|define)\b((?:[^\n\\]|\\.|\\\r?\n)*)",
    re.MULTILINE,
)
_INCLUDE = re.compile(rb'\s*(?:"([^"\n]+)"|<([^>\n]+)>)')
_WORD = re.compile(rb"[A-Za-z_]\w*")
_COMMENT = re.compile(rb"//.*|/\*.*?(?:\*/|$)", re.DOTALL)
_NEGATED = re.compile(rb"!\s*(?:defined\s*\(\s*|defined\s+)?([A-Za-z_]\w*)")
_OPERATORS = frozenset({"defined", "__has_include", "__has_builtin", "__has_attribute", "__has_feature"})


class Include(msgspec.Struct, frozen=True, array_like=True):
    """One include directive. `needs`: macros that the conditions around it want defined."""

    spelling: str
    line: int
    angled: bool
    needs: tuple[str, ...] = ()


class RecordText(msgspec.Struct, frozen=True, array_like=True):
    """A record by its text: name, member names and the identifiers in the members' types."""

    name: str
    members: tuple[str, ...]
    types: tuple[str, ...]


class Scan(msgspec.Struct, frozen=True, array_like=True):
    """`tested`: macros in conditions; `wanted`: those that a condition wants defined; `defined`: macros that the
    file defines; `derived`: of these, with the macros tested around them. `computed`: it has an include whose name
    is a macro. `bad`: why the text cannot be used, empty if it can."""

    includes: tuple[Include, ...] = ()
    tested: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()
    derived: tuple[tuple[str, tuple[str, ...]], ...] = ()
    records: tuple[RecordText, ...] = ()
    late_define: bool = False
    computed: bool = False
    bad: str = ""


class _Arm(msgspec.Struct):
    """One open conditional: macros tested, wanted defined in this arm, and wanted undefined."""

    tested: set[str]
    wants: set[str]
    rejects: set[str]


def _arm(kind: bytes, text: bytes) -> _Arm:
    text = _COMMENT.sub(b"", text)
    words = {word.decode() for word in _WORD.findall(text)} - _OPERATORS
    negated = {word.decode() for word in _NEGATED.findall(text)}
    if kind in (b"ifndef", b"elifndef"):
        return _Arm(words, set(), words)
    return _Arm(words, words - negated, negated & words)


def _directives(data: bytes) -> Scan:
    includes: list[Include] = []
    derived: list[tuple[str, tuple[str, ...]]] = []
    defined: set[str] = set()
    tested: set[str] = set()
    wanted: set[str] = set()
    stack: list[_Arm] = []
    computed = False
    first_define = last_include = 0
    line, at = 1, 0
    for found in _DIRECTIVE.finditer(data):
        kind, rest = found.group(1), found.group(2)
        line += data.count(b"\n", at, found.start())
        at = found.start()
        if kind in (b"if", b"ifdef", b"ifndef"):
            stack.append(_arm(kind, rest))
        elif kind == b"endif":
            if stack:
                stack.pop()
        elif kind.startswith(b"el"):
            if not stack:
                continue
            before = stack[-1]
            now = _arm(kind, rest) if kind != b"else" else _Arm(set(), set(), set())
            stack[-1] = _Arm(before.tested | now.tested, now.wants | before.rejects, now.rejects | before.wants)
        elif kind == b"define":
            name = _WORD.search(rest)
            if name:
                macro = name.group().decode()
                defined.add(macro)
                first_define = first_define or line
                around = set().union(*(arm.tested for arm in stack)) - {macro}
                if around:
                    derived.append((macro, tuple(sorted(around))))
        else:
            spelled = _INCLUDE.match(rest)
            if not spelled:
                computed = True
                continue
            last_include = line
            needs = set().union(*(arm.wants for arm in stack))
            quoted, angled = spelled.groups()
            spelling = (quoted or angled).decode("utf-8", "replace")
            includes.append(Include(spelling, line, quoted is None, tuple(sorted(needs))))
        if stack and kind != b"endif":
            tested |= stack[-1].tested
            wanted |= stack[-1].wants
    return Scan(
        includes=tuple(includes),
        tested=frozenset(tested),
        wanted=frozenset(wanted),
        defined=frozenset(defined),
        derived=tuple(derived),
        late_define=0 < first_define < last_include,
        computed=computed,
    )


_LANGUAGE = tree_sitter.Language(tree_sitter_cpp.language())
_RECORDS = tree_sitter.Query(
    _LANGUAGE,
    "[(struct_specifier name: (_) @name body: (field_declaration_list) @body)"
    " (class_specifier name: (_) @name body: (field_declaration_list) @body)]",
)
_MEMBER_DECLARATORS = frozenset({"field_identifier"})


def _member_names(node: tree_sitter.Node) -> list[str]:
    names = []
    for declarator in node.children_by_field_name("declarator"):
        inner: tree_sitter.Node | None = declarator
        while inner is not None and inner.type not in _MEMBER_DECLARATORS:
            if inner.type == "function_declarator":
                inner = None
                break
            inner = inner.child_by_field_name("declarator") or (inner.named_children[-1] if inner.named_children else None)
        if inner is not None and inner.text:
            names.append(inner.text.decode("utf-8", "replace"))
    return names


def _records(data: bytes) -> tuple[RecordText, ...]:
    parsed = tree_sitter.Parser(_LANGUAGE).parse(data)
    records = []
    for _, captures in tree_sitter.QueryCursor(_RECORDS).matches(parsed.root_node):
        name, body = captures["name"][0], captures["body"][0]
        members: list[str] = []
        types: set[str] = set()
        for child in body.named_children:
            if child.type != "field_declaration":
                continue
            names = _member_names(child)
            kind = child.child_by_field_name("type")
            if names and kind is not None and kind.text:
                members += names
                types |= {word.decode() for word in _WORD.findall(kind.text)}
        if members and name.text:
            records.append(RecordText(name.text.decode("utf-8", "replace"), tuple(members), tuple(sorted(types))))
    return tuple(records)


def scan(data: bytes) -> Scan:
    """Read the directives and records of `data`, the bytes of a C++ file."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Scan(bad=f"line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8")
    found = _directives(data)
    return msgspec.structs.replace(found, records=_records(data)) if b"struct" in data or b"class" in data else found


def identifiers(data: bytes) -> frozenset[bytes]:
    """Return the identifiers that occur in `data`, in code, comments and strings alike."""
    return frozenset(_WORD.findall(data))
