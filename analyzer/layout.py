"""Code apart from its layout: whether two texts differ in comments, blank lines and indentation only."""

from __future__ import annotations

import hashlib
import re

_COMMENT_OR_TEXT = re.compile(
    rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/"
    rb'|R"(?P<mark>[^()\\ \n]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"'
    rb"|(?<!\w)\d\w*(?:'\w+)+|'(?:[^'\\\n]|\\.)+'"  # a number may have quotes in it
    rb"|^[ \t]*#[ \t]*include[ \t]*<[^>\n]*>",
    re.DOTALL | re.MULTILINE,
)
_LINE_END = re.compile(rb"[ \t\r]*(?:\n|\Z)")


def code(data: bytes) -> str:
    """Return a digest of the lines of `data`, a C++ file, without indentation, blank lines and comments at their ends;
    but for comments to this program. Empty where a text goes over several lines: it has layout in it."""
    split = False

    def without_comment(found: re.Match[bytes]) -> bytes:
        nonlocal split
        text = found.group()
        split |= text[:1] != b"/" and b"\n" in text
        is_layout = text[:1] == b"/" and b"vt-lint" not in text and _LINE_END.match(data, found.end())
        return b"" if is_layout else text

    lines = map(bytes.strip, _COMMENT_OR_TEXT.sub(without_comment, data).split(b"\n"))
    found = hashlib.sha256(b"\n".join(line for line in lines if line)).hexdigest()[:32]
    return "" if split else found
