"""The annotated snippets of `samples/rules`: where they are, what their comments expect, what a check says.

An expectation is a comment on a line of code, or alone on the line above it:

    // want VT001 repacked q8_0_aligned, VT003 elem_kn_repacked   has to be found on this line
    // may VT008 elem_kn_repacked                                 may be found: the snippet leaves it open
    // todo-want VT004 repacked                                   not found yet; the test says when it is
    // ok                                                         documentation; no comment means the same

`-` stands for a finding without a marker. A `.fixed.cpp` is the repaired form of its sibling: nothing may be
found in it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2] / "samples" / "rules"
PRELUDE = "prelude.h"

_COMMENT = re.compile(r"//\s*(?:want|may|todo-want)\s.*$")
_WORD = re.compile(r"[\w-]+")
_CODE = re.compile(r"VT\d{3}$")
_VERBS = ("want", "may", "todo-want")


class Expected(NamedTuple):
    """One finding: the line of the construction, the rule's code, the marker (`-`: none)."""

    line: int
    rule: str
    marker: str


class Snippet(NamedTuple):
    """A snippet and its expectations."""

    path: Path
    want: frozenset[Expected]
    may: frozenset[Expected]
    todo: frozenset[Expected]

    @property
    def id(self) -> str:
        return self.path.relative_to(ROOT).as_posix()


def read(path: Path) -> Snippet:
    """Read the expectations of a snippet. Raises `ValueError` for a comment that cannot be understood."""
    found: dict[str, set[Expected]] = {verb: set() for verb in _VERBS}
    waiting: list[tuple[str, str, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        comment = _COMMENT.search(line)
        code = line[: comment.start()] if comment else line
        if comment:
            waiting += _parse(comment.group(), f"{path}:{number}")
        if code.strip() and not code.strip().startswith("//"):
            for verb, rule, marker in waiting:
                found[verb].add(Expected(number, rule, marker))
            waiting = []
    if waiting:
        raise ValueError(f"{path}: the last expectation has no line of code")
    return Snippet(path, *(frozenset(found[verb]) for verb in _VERBS))


def _parse(comment: str, where: str) -> list[tuple[str, str, str]]:
    verb = rule = ""
    out: list[tuple[str, str, str]] = []
    for word in _WORD.findall(comment):
        if word in _VERBS:
            verb, rule = word, ""
        elif _CODE.match(word):
            rule = word
        elif verb and rule:
            out.append((verb, rule, word))
        else:
            raise ValueError(f"{where}: expected a rule's code before {word!r}")
    if not out:
        raise ValueError(f"{where}: an expectation without a marker")
    return out


def without_expectations(text: str) -> str:
    """A snippet without its expectations and `// ok` lines, to compare it with a repaired form."""
    kept: list[str] = []
    for line in text.splitlines():
        bare = _COMMENT.sub("", line).rstrip()
        if re.match(r"\s*// ok\b", line) or (bare != line.rstrip() and not bare):
            continue
        kept.append(bare)
    return "\n".join(kept) + "\n"


def all_snippets() -> list[Snippet]:
    """Every snippet, the repaired forms too, ordered by path."""
    return [read(path) for path in sorted(ROOT.glob("VT*/*.cpp"))]


def as_program(snippet: Snippet, folder: Path) -> Path:
    """Make `folder` a tree with this snippet alone, so that snippets do not link with one another."""
    for source in (snippet.path, ROOT / PRELUDE):
        shutil.copyfile(source, folder / source.name)
    return folder
