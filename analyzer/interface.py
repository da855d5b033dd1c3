"""The part of a header that its includers depend on: its text without comments and function bodies.

Where the text leaves a doubt, more is kept: a body that is kept costs time when it changes, one that is
wrongly left out would cost a correct answer. Kept are bodies that a type or a value may depend on
(`constexpr`, `auto`), everything under a macro that may open a namespace, and whole files whose braces do not
pair up (conditionals can split them).
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    rb"(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)"
    rb"|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\\r?\n|\\.)*)"
    rb'|(?P<text>R"(?P<mark>[^()\\ \n]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\')'
    rb"|(?P<space>\s+)|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.\']*)|(?P<other>::|.)",
    re.DOTALL | re.MULTILINE,
)
_SCOPE_WORDS = frozenset({b"struct", b"class", b"union", b"enum", b"namespace", b"extern"})
_KEEPING_WORDS = frozenset({b"constexpr", b"consteval", b"auto", b"decltype", b"concept", b"requires"})


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


def interface(data: bytes) -> bytes:
    """Return the text of `data`, a C++ file, that matters to a file that includes it."""
    kept: list[bytes] = []
    head: list[bytes] = []
    blocks: list[str] = []  # kinds of the open braces: `record`, `other`, `body`
    bodies = 0
    for token in _TOKEN.finditer(data):
        kind, text = token.lastgroup, token.group()
        if kind in ("comment", "space"):
            continue
        if kind == "directive":
            kept.append(text)
            continue
        if text == b"{":
            if bodies or _is_body(head, bool(blocks) and blocks[-1] == "record"):
                blocks.append("body")
                bodies += 1
                if bodies == 1:
                    kept.append(b"{}")
                head = []
                continue
            record = not {b"struct", b"class", b"union"}.isdisjoint(head)
            blocks.append("record" if record else "other")
            head = []
        elif text == b"}":
            if not blocks:
                return data
            if blocks.pop() == "body":
                bodies -= 1
                head = []
                continue
            head = []
        elif text == b";":
            head = []
        elif not bodies:
            head.append(text)
            if text == b":" and len(head) == 2 and head[0] in (b"public", b"private", b"protected"):
                head = []
        if not bodies:
            kept.append(text)
    return b" ".join(kept) if not blocks else data
