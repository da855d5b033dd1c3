"""Small pieces of C++ text: member access, checks with a wrapped message, and calls laid out to a width."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codemods.style import Style
from codemods.syntax import Source

_POSTFIX = re.compile(r"[\w:]+(?:(?:\.|->)\w+|\[[^\[\]]*\]|\([^()]*\))*")


def member(carrier: str, name: str, op: str = ".") -> str:
    """Spell member `name` of the carrier spelled `carrier`; empty or `this` is the implicit object."""
    carrier = carrier.strip()
    if carrier in ("", "this", "*this"):
        return name
    if carrier.startswith("*") and op != "->" and _POSTFIX.fullmatch(carrier[1:]):
        return f"{carrier[1:]}->{name}"
    if not _POSTFIX.fullmatch(carrier):
        carrier = f"({carrier})"
    return f"{carrier}{'->' if op == '->' else '.'}{name}"


def check(style: Style, condition: str, message: str, indent: str) -> str:
    """Lay out `check(condition, "message");` for a line that begins with `indent`, which is not part of
    the result.

    Continuation lines hold their full indent."""
    head = f"{style.check}("
    quoted = message.replace("\\", "\\\\").replace('"', '\\"')
    line = f'{head}{condition}, "{quoted}");'
    if not style.width or _columns(indent) + len(line) <= style.width:
        return line
    align = indent + " " * len(head)
    room = max(style.width - _columns(align) - len('"");'), 24)
    parts: list[str] = []
    for word in re.findall(r"\S+\s*", quoted):
        if parts and len(parts[-1]) + len(word) <= room:
            parts[-1] += word
        else:
            parts.append(word)
    return f"{head}{condition},\n" + "\n".join(f'{align}"{p}"' for p in parts) + ");"


def layout(
    source: Source,
    style: Style,
    expression: Node,
    indent: str,
    head: str,
    tail: str = ";",
    rename: tuple[str, str] = ("", ""),
) -> str:
    """Return `head` + the expression + `tail` for a line that begins with `indent`, as written if it fits.

    A longer or broken call is joined, or filled again with its arguments aligned; anything else keeps its
    breaks. `rename` gives a piece of the expression's text and what to write for it."""

    def text(begin: int, end: int) -> str:
        old, new = rename
        written = source.text(begin, end).replace("\r\n", "\n")
        return written.replace(old, new) if old else written

    written = text(expression.start_byte, expression.end_byte)
    room = style.width - _columns(indent) if style.width else 0
    if "\n" not in written and (not room or len(head + written + tail) <= room):
        return head + written + tail
    if "//" in written or 'R"' in written:
        return head + moved(written, source.indent(expression.start_byte), indent) + tail
    joined = _joined(written)
    if not room or len(head + joined + tail) <= room:
        return head + joined + tail
    arguments = expression.child_by_field_name("arguments")
    if expression.type != "call_expression" or not arguments:
        return head + moved(written, source.indent(expression.start_byte), indent) + tail
    given = [_joined(text(a.start_byte, a.end_byte)) for a in arguments.named_children]
    callee = _joined(text(expression.start_byte, arguments.start_byte))
    return _filled(f"{head}{callee}(", given, f"){tail}", indent, room)


def moved(text: str, old: str, new: str) -> str:
    """`text`, written at indent `old`, for a line that begins with `new`: its other lines go along."""
    first, *rest = text.split("\n")
    if old == new or 'R"' in text:
        return text
    return "\n".join([first, *(new + line[len(old) :] if line.startswith(old) else line for line in rest)])


def _filled(head: str, given: Sequence[str], tail: str, indent: str, room: int) -> str:
    lines = [head]
    for i, item in enumerate(given):
        item += tail if i == len(given) - 1 else ","
        if i and len(lines[-1]) + 1 + len(item) > room:
            lines.append(" " * len(head) + item)
        else:
            lines[-1] += f" {item}" if i else item
    return f"\n{indent}".join(lines)


def _joined(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", re.sub(r"([(\[{])\s*\n\s*", r"\1", text))


def _columns(indent: str) -> int:
    return sum(8 if c == "\t" else 1 for c in indent)
