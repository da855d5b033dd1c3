"""The part of a header that its includers depend on: its text without comments and function bodies, and apart from
it the functions of its namespaces, which matter to those alone who mention them (`analyzer.depends`).

Where the text leaves a doubt, more is kept: what is kept costs time when it changes, what is wrongly left out would
cost a correct answer. Kept are bodies that a type or a value may depend on (`constexpr`, `auto`), everything under a
macro that may open a namespace, functions that are found without being named, and whole files whose braces do not
pair up (conditionals can split them).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import msgspec

WORD = re.compile(rb"[A-Za-z_]\w*")
"""An identifier or keyword."""
_TOKEN = re.compile(
    rb"(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)"
    rb"|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\\r?\n|\\.)*)"
    rb'|(?P<text>R"(?P<mark>[^()\\ \n]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\')'
    rb"|(?P<space>\n+|[^\S\n]+)|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.\']*)|(?P<other>::|.)",
    re.DOTALL | re.MULTILINE,
)
_SCOPE_WORDS = frozenset({b"struct", b"class", b"union", b"enum", b"namespace", b"extern"})
_KEEPING_WORDS = frozenset({b"constexpr", b"consteval", b"auto", b"decltype", b"concept", b"requires"})


# Functions that templates of the standard library, the language or anybody's overload set reach without naming them.
_UNNAMED = frozenset(
    b"begin end cbegin cend rbegin rend size ssize data empty swap get move forward advance distance next prev"
    b" iter_move iter_swap to_address hash_value main abs pow sqrt exp log sin cos tan to_string invoke apply visit"
    b" make_error_code make_error_condition strong_order weak_order partial_order tag_invoke to_json from_json".split()
)
_NO_FUNCTION = frozenset(
    {b"using", b"typedef", b"friend", b"static_assert", b"asm", b"operator", b"explicit", b"goto", b"return"}
)


def _without_template(head: list[bytes]) -> list[bytes]:
    """Drop a leading `template <...>`, whose parameters may be spelled `class`."""
    if head[:2] != [b"template", b"<"]:
        return head
    depth = 0
    for at, token in enumerate(head):
        depth += (token == b"<") - (token == b">")
        if token == b">" and depth == 0:
            return _without_template(head[at + 1 :])
    return head


def _is_body(head: list[bytes], in_record: bool) -> bool:
    """Does a `{` after the tokens `head`, of one declaration, open the body of a function that only it can
    see?"""
    head = _without_template(head)
    if b"(" not in head or not _SCOPE_WORDS.isdisjoint(head) or not _KEEPING_WORDS.isdisjoint(head):
        return False
    before = head[: head.index(b"(")]
    if b"=" in before or (
        b"=" in head and b"operator" not in head and head[-1] not in (b")", b"const", b"noexcept")
    ):
        return False
    words = [token for token in before if token[:1].isalpha() or token[:1] == b"_"]
    # One word is a constructor in a record; elsewhere it may be a macro that opens anything.
    return len(words) > 1 or in_record or b"::" in before


def _function(head: list[bytes]) -> bytes:
    """The name that the tokens `head`, of one declaration in a namespace without its body, declare a function under,
    if it is only found by that name; empty where there is a doubt."""
    head = _without_template(head)
    if b"(" not in head or not (_SCOPE_WORDS | _KEEPING_WORDS | _NO_FUNCTION).isdisjoint(head):
        return b""
    opening = head.index(b"(")
    before, inside = head[:opening], head[opening + 1 :]
    name = before[-1] if before else b""
    words = [token for token in before if token[:1].isalpha() or token[:1] == b"_"]
    if len(words) < 2 or name != words[-1] or name in _UNNAMED or name.startswith(b"__") or b"=" in before:
        return b""
    if any(word.isupper() and len(word) > 1 for word in words):
        return b""  # a macro can be anything
    if not (before[-2] in words or before[-2] in (b"*", b"&", b">")):
        return b""
    if b"template" in before or inside[:1] in ([b"*"], [b"&"]):
        return b""
    depth = 1
    for at, token in enumerate(inside):
        depth += (token == b"(") - (token == b")")
        if depth == 0:
            rest = inside[at + 1 :]
            return name if {b",", b"(", b"-", b"["}.isdisjoint(rest) else b""
    return b""


class Interface(msgspec.Struct, frozen=True, array_like=True):
    """`shared`: a digest of what every includer depends on. `functions`: functions of namespaces that only those
    depend on who mention them, by name: a digest of all declarations of that name."""

    shared: str = ""
    functions: tuple[tuple[str, str], ...] = ()


class _Reader:
    """The text of one file, taken apart. `kept`: what all includers see. `functions`: by name, the tokens of its
    declarations, each after its place in `kept`: the scopes and conditionals around it are there. `counts`: how often
    words occur. `broken`: the braces do not pair up."""

    def __init__(self, data: bytes) -> None:
        self.kept: list[bytes] = []
        self.functions: dict[bytes, list[bytes]] = {}
        self.counts: dict[bytes, int] = {}
        self.broken = False
        self._declaration: list[bytes] = []  # of a namespace, so far
        self._whole = True  # no directive splits it
        self._read(data)

    def _read(self, data: bytes) -> None:
        counts = self.counts
        head: list[bytes] = []
        blocks: list[str] = []  # kinds of the open braces: `namespace`, `record`, `other`, `body`
        bodies = 0
        for token in _TOKEN.finditer(data):
            kind, text = token.lastgroup, token.group()
            if kind in ("comment", "space"):
                continue
            if kind == "directive":
                for word in WORD.findall(text):
                    counts[word] = counts.get(word, 0) + 1
                text = text.strip()
                if self._declaration:
                    self._declaration.append(text)
                    self._whole = False
                else:
                    self.kept.append(text)
                continue
            if kind == "word":
                counts[text] = counts.get(text, 0) + 1
            if text == b"{":
                if bodies or _is_body(head, bool(blocks) and blocks[-1] == "record"):
                    blocks.append("body")
                    bodies += 1
                    if bodies == 1:
                        self._declaration.append(b"{}")
                    continue
                self._declaration.append(text)
                if head[:1] == [b"namespace"] or head[:2] == [b"inline", b"namespace"]:
                    blocks.append("namespace")
                    self._end([], blocks)
                else:
                    record = not {b"struct", b"class", b"union"}.isdisjoint(head)
                    blocks.append("record" if record else "other")
                head = []
            elif text == b"}":
                if not blocks:
                    self.broken = True
                    return
                if blocks.pop() == "body":
                    bodies -= 1
                    if not bodies:
                        self._end(head, blocks)
                        head = []
                    continue
                self._declaration.append(text)
                self._end([], blocks)
                head = []
            elif not bodies:
                self._declaration.append(text)
                if text == b";":
                    self._end(head, blocks)
                    head = []
                    continue
                head.append(text)
                if text == b":" and len(head) == 2 and head[0] in (b"public", b"private", b"protected"):
                    head = []
        self._end([], ())
        self.broken = bool(blocks)

    def _end(self, head: list[bytes], blocks: Sequence[str]) -> None:
        """What began with the tokens `head` is complete: a declaration of a namespace, or a part of one."""
        if any(kind != "namespace" for kind in blocks):
            return
        name = _function(head) if self._whole else b""
        if name:
            self.functions.setdefault(name, []).append(b"%d" % len(self.kept))
            self.functions[name] += self._declaration
        else:
            self.kept += self._declaration
        self._declaration = []
        self._whole = True


def declared(data: bytes) -> frozenset[str]:
    """Return the names that other files may use `data`, a C++ file, by: of functions and variables, and some more."""
    read = _Reader(data)
    tokens = [*read.kept, *(token for each in read.functions.values() for token in each)]
    if read.broken:
        tokens = [token.group() for token in _TOKEN.finditer(data) if token.lastgroup in ("word", "other")]
    return frozenset(
        name.decode()
        for before, name, after in zip([b"", *tokens], tokens, tokens[1:], strict=False)
        if after in (b"(", b"=", b";", b"[", b"{") and WORD.fullmatch(name)
        if before not in (b"namespace", b"struct", b"class", b"union", b"enum", b"using", b"return")
    )


def interface(data: bytes) -> Interface:
    """Take apart the text of `data`, a C++ file, that matters to a file that includes it."""
    read = _Reader(data)
    if read.broken:
        return Interface(hashlib.sha256(data).hexdigest())
    alone: list[tuple[str, str]] = []
    for name, tokens in sorted(read.functions.items()):
        if read.counts[name] == tokens.count(name):
            alone.append((name.decode(), hashlib.sha256(b" ".join(tokens)).hexdigest()[:20]))
        else:  # something else in the file may reach it
            read.kept += tokens
    return Interface(hashlib.sha256(b" ".join(read.kept)).hexdigest(), tuple(alone))
