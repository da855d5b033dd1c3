"""Tree-sitter as the oracle of completeness: where a file's text has code that some parse must cover.

No helper is named here. A candidate is the part of a function definition, between two preprocessor
conditionals, that mentions a word: a marker, a record that carries markers, or a record that holds one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import msgspec
import tree_sitter
import tree_sitter_cpp

_WORD = re.compile(rb"[A-Za-z_]\w*")
_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"})
_DEAD = re.compile(rb"#\s*if\s+(0|false)\b")


class Candidate(msgspec.Struct, frozen=True, array_like=True):
    """Bytes `[begin, end)` of a function or, with `arm`, of conditional code in one; `what`: the function's
    name as spelled; `line`: of the first word in it. `guard`: the innermost condition around it, empty if
    there is none."""

    line: int
    begin: int
    end: int
    what: str
    guard: str = ""
    arm: bool = False


@functools.cache
def language() -> tree_sitter.Language:
    """Return the C++ grammar."""
    return tree_sitter.Language(tree_sitter_cpp.language())


def _functions(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Outermost function definitions, also below records, namespaces and conditionals."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            if node.child_by_field_name("body") is not None:  # not `= default`, `= delete`
                yield node
        elif node.type in ("preproc_if", "preproc_elif") and _DEAD.match(node.text or b""):
            alternative = node.child_by_field_name("alternative")
            stack += [alternative] if alternative else []
        else:
            stack += [child for child in node.named_children if child.named_child_count]


def _guards(node: tree_sitter.Node, begin: int) -> list[tuple[int, int, str]]:
    """Conditional arms inside `node` (outermost first): begin, end, condition."""
    arms: list[tuple[int, int, str]] = []
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.type in _CONDITIONALS:
            # An `#else` arm is a child of the `#if` it belongs to: what the parent keeps is cut off below.
            text = (inner.text or b"").split(b"\n", 1)[0].decode("utf-8", "replace").strip()
            arms.append((inner.start_byte, inner.end_byte, text))
        stack += [
            child for child in inner.named_children if child.end_byte > begin and child.named_child_count
        ]
    return sorted(arms)


def _outer_guard(node: tree_sitter.Node) -> str:
    parent = node.parent
    while parent is not None:
        if parent.type in _CONDITIONALS:
            return (parent.text or b"").split(b"\n", 1)[0].decode("utf-8", "replace").strip()
        parent = parent.parent
    return ""


def _name(node: tree_sitter.Node) -> str:
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type not in (
        "identifier",
        "qualified_identifier",
        "field_identifier",
        "operator_name",
    ):
        inner = inner.child_by_field_name("declarator")
    return (inner.text or b"").decode("utf-8", "replace") if inner is not None else "function"


def candidates(source: bytes, words: frozenset[bytes]) -> list[Candidate]:
    """Return the candidates of a file, in order."""
    if words.isdisjoint(_WORD.findall(source)):
        return []
    found: list[Candidate] = []
    for node in _functions(tree_sitter.Parser(language()).parse(source).root_node):
        text = source[node.start_byte : node.end_byte]
        hits = [match.start() + node.start_byte for match in _WORD.finditer(text) if match.group() in words]
        if not hits:
            continue
        arms = _guards(node, node.start_byte) if b"#" in text else []
        outer = _outer_guard(node)
        seen: set[tuple[int, int]] = set()
        for hit in hits:
            inside = [arm for arm in arms if arm[0] <= hit < arm[1]]
            begin, end, guard = inside[-1] if inside else (node.start_byte, node.end_byte, outer)
            if (begin, end) not in seen:
                seen.add((begin, end))
                line = source.count(b"\n", 0, hit) + 1
                found.append(Candidate(line, begin, end, _name(node), guard, bool(inside)))
    return sorted(found, key=lambda each: each.begin)
