"""What the text of one file says without parsing: includes, macros tested, records and their members."""

from __future__ import annotations

import array
import re
import zlib
from collections.abc import Iterable

import msgspec

from analyzer.interface import WORD, Interface, interface

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(include|import|ifdef|ifndef|if|elifdef|elifndef|elif|else|endif|define)\b"
    rb"((?:[^\n\\]|\\.|\\\r?\n)*)",
    re.MULTILINE,
)
_INCLUDE = re.compile(rb'\s*(?:"([^"\n]+)"|<([^>\n]+)>)')
_PASTE = re.compile(rb"\w*(?:[\s\\]*##[\s\\]*\w*)+")
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


class Pasting(msgspec.Struct, frozen=True, array_like=True):
    """A macro that puts names together, and how these begin and end, as far as it says so itself."""

    macro: str
    ends: tuple[tuple[str, str], ...]


class Scan(msgspec.Struct, frozen=True, array_like=True):
    """`tested`: macros in conditions; `wanted`: those that a condition wants defined; `defined`: macros that
    the file defines; `derived`: of these, with the macros tested around them. `computed`: it has an include
    whose name is a macro. `interface`: of a header, what its includers depend on. `bad`: why the text cannot be
    used, empty if it can. `late_define`: a macro is defined before the last include. `enums`: names of the
    enumerations that it defines. `pasting`: macros that put names together (`##`); `pastes`: it uses
    one of them. `words`: the numbers (`word_number`) of all identifiers, four bytes each."""

    includes: tuple[Include, ...] = ()
    tested: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()
    derived: tuple[tuple[str, tuple[str, ...]], ...] = ()
    records: tuple[RecordText, ...] = ()
    late_define: bool = False
    computed: bool = False
    interface: Interface = Interface()
    bad: str = ""
    enums: tuple[str, ...] = ()
    pasting: tuple[Pasting, ...] = ()
    pastes: bool = False
    words: bytes = b""

    def numbers(self) -> array.array[int]:
        """The numbers in `words`."""
        return array.array("I", self.words)


class _Arm(msgspec.Struct):
    """One open conditional: macros tested, wanted defined in this arm, and wanted undefined."""

    tested: set[str]
    wants: set[str]
    rejects: set[str]


def _arm(kind: bytes, text: bytes) -> _Arm:
    text = _COMMENT.sub(b"", text)
    words = {word.decode() for word in WORD.findall(text)} - _OPERATORS
    negated = {word.decode() for word in _NEGATED.findall(text)}
    if kind in (b"ifndef", b"elifndef"):
        return _Arm(words, set(), words)
    return _Arm(words, words - negated, negated & words)


def _directives(data: bytes) -> Scan:
    includes: list[Include] = []
    derived: list[tuple[str, tuple[str, ...]]] = []
    defined: set[str] = set()
    definitions: list[tuple[str, bytes]] = []
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
            stack[-1] = _Arm(
                before.tested | now.tested, now.wants | before.rejects, now.rejects | before.wants
            )
        elif kind == b"define":
            name = WORD.search(rest)
            if name:
                macro = name.group().decode()
                defined.add(macro)
                definitions.append((macro, rest[name.end() :]))
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
        pasting=_pasting(definitions),
    )


def _pasted(text: bytes) -> set[tuple[str, str]]:
    """How the names begin and end that the `##` of a macro make, `text` being all after its name; empty where its
    arguments say."""
    parameters = frozenset(WORD.findall(text[: text.find(b")")])) if text[:1] == b"(" else frozenset()
    found = set()
    for chain in _PASTE.findall(text):
        parts = [b"" if part in parameters else part for part in re.split(rb"[\s\\]*##[\s\\]*", chain)]
        found.add((parts[0].decode(), parts[-1].decode()))
    return found


def _pasting(definitions: Iterable[tuple[str, bytes]]) -> tuple[Pasting, ...]:
    """The macros that paste, themselves or through another one of `definitions` (macro and the text after it)."""
    found = {macro: _pasted(text) for macro, text in definitions if b"##" in text}
    grown = bool(found)
    while grown:
        grown = False
        for macro, text in definitions:
            known = found.get(macro, set())
            through = [found[word] for each in WORD.findall(text) if (word := each.decode()) in found]
            more = known.union(*through)
            if through and more != known:
                found[macro] = more
                grown = True
    return tuple(Pasting(macro, tuple(sorted(ends))) for macro, ends in sorted(found.items()))


_RECORD = re.compile(
    rb"\b(?:struct|class)\s+(?:alignas\s*\([^()]*\)\s*|\[\[[^\]]*\]\]\s*)?([A-Za-z_][\w:]*)[^;{}()=]*\{"
)
_ENUM = re.compile(rb"\benum\s+(?:class\s+|struct\s+)?([A-Za-z_]\w*)[^;{}()=]*\{")
_BODY_TOKEN = re.compile(
    rb'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|[{};]',
    re.DOTALL,
)
_ACCESS = re.compile(rb"\b(?:public|protected|private)\s*:(?!:)|^[ \t]*#.*$|\[\[[^\]]*\]\]", re.MULTILINE)
_NO_MEMBER = re.compile(
    rb"\s*(?:using|typedef|friend|template|static_assert|struct|class|enum|union|public)\b"
)
_LAST_NAME = re.compile(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=|:(?!:)|$)")


def _statements(data: bytes, begin: int) -> list[bytes]:
    """Split the record body that starts at `begin` (after its brace) at `;`, without nested braces or
    comments."""
    statements: list[bytes] = []
    parts: list[bytes] = []
    depth = 1
    at = begin
    for token in _BODY_TOKEN.finditer(data, begin):
        mark = token.group()[:1]
        if depth == 1:
            parts.append(data[at : token.start()])
        at = token.end()
        if mark == b"{":
            depth += 1
        elif mark == b"}":
            depth -= 1
            if depth == 0:
                break
            if depth == 1 and b"(" in b"".join(parts):
                parts = []  # the end of a member function
        elif mark == b";" and depth == 1:
            statements.append(b"".join(parts))
            parts = []
    return statements


def _records(data: bytes) -> tuple[RecordText, ...]:
    records = []
    for found in _RECORD.finditer(data):
        members: list[str] = []
        types: set[str] = set()
        for statement in _statements(data, found.end()):
            statement = _ACCESS.sub(b"", statement)
            head = statement.split(b"=")[0]
            name = (
                None
                if _NO_MEMBER.match(head) or (b"(" in head and b"<" not in head)
                else _LAST_NAME.search(head.strip())
            )
            if name:
                # `int a, b;` names several members; commas inside `<>` do no harm, as extra names do not.
                members += [word.decode() for word in WORD.findall(head.rsplit(b">", 1)[-1])]
                types |= {word.decode() for word in WORD.findall(head)} - {name.group(1).decode()}
        if members:
            name_text = found.group(1).decode().rsplit("::", 1)[-1]
            records.append(RecordText(name_text, tuple(dict.fromkeys(members)), tuple(sorted(types))))
    return tuple(records)


def scan(data: bytes, *, header: bool = False, records: bool = True) -> Scan:
    """Read the directives and records of `data`, the bytes of a C++ file; of a `header` its interface too; no
    `records` if these are not wanted."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Scan(bad=f"line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8")
    found = _directives(data)
    pasting = {each.macro.encode() for each in found.pasting}
    return msgspec.structs.replace(
        found,
        records=_records(data) if records else (),
        interface=interface(data) if header else Interface(),
        enums=tuple(dict.fromkeys(name.decode() for name in _ENUM.findall(data))) if records else (),
        pastes=bool(pasting) and not pasting.isdisjoint(identifiers(_DIRECTIVE.sub(b"", data))),
        words=array.array("I", sorted(set(map(word_number, identifiers(data))))).tobytes(),
    )


def word_number(word: bytes) -> int:
    """A number for an identifier. Two may share one: then a file depends on one thing more."""
    return zlib.crc32(word)


def identifiers(data: bytes) -> frozenset[bytes]:
    """Return the identifiers that occur in `data`, in code, comments and strings alike."""
    return frozenset(WORD.findall(data))
