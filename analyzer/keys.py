"""Keys: the structure of an expression as nested tuples, for telling whether two conditions are the same."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator


def short(key: object) -> str:
    """An index key in words, for paths and for telling whether a map's key holds a marker."""
    return ",".join(str(part).rpartition(":")[2] for part in leaves(key))


def leaves(key: object) -> Iterator[object]:
    """The words and numbers of a key."""
    if isinstance(key, tuple):
        for part in key:
            yield from leaves(part)
    else:
        yield key


def mentions_symbol(key: object, sym: str) -> bool:
    """Does the key name this declaration?"""
    return key == sym or isinstance(key, tuple) and any(mentions_symbol(k, sym) for k in key)


def speaks(key: object) -> bool:
    """A condition worth telling callers: a boolean parameter or member, a comparison with an enumerator."""
    if not isinstance(key, tuple) or not key:
        return False
    if key[0] == "==":
        return any(isinstance(side, str) for side in key[1:]) or asks_a_dtype(key)
    if key[0] == "call":
        return asks_a_dtype(key)
    return all(isinstance(k, str) for k in key)


def asks_a_dtype(key: object) -> bool:
    """A comparison of the dtype of something, or a predicate over it: `is_block_quant(w.dtype)`."""
    # Most keys are neither; and to look one up in a cache takes a look at all that is in it.
    return isinstance(key, tuple) and key[:1] in (("==",), ("call",)) and _names_a_dtype(key)


@functools.lru_cache(maxsize=1 << 16)
def _names_a_dtype(key: tuple[object, ...]) -> bool:
    asked = key[3] if key[0] == "call" else key[1:]
    return isinstance(asked, tuple) and any(
        isinstance(a, tuple) and len(a) > 1 and "dtype" in str(a[-1]).lower() for a in asked
    )


def names_of(path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """`path` and what speaks of it among others: with one index, or all of them, read as any."""
    found = [path]
    for cut in range(1, len(path)):
        if path[cut].startswith("["):
            found.append((*path[:cut], "[*]", *path[cut + 1 :]))
    if len(found) > 2:
        found.append(tuple("[*]" if part.startswith("[") else part for part in path))
    return found


def worth_knowing(key: object) -> bool:
    """What a passed check leaves behind: also a zero offset and a multiple of a row group."""
    if speaks(key):
        return True
    return (
        isinstance(key, tuple)
        and key[:1] == ("==",)
        and (("lit", "0") in key or any(isinstance(side, tuple) and side[:1] == ("%",) for side in key[1:]))
    )


def is_multiple(text: str, group: int) -> bool:
    """Is this C++ integer literal a multiple of `group`, and not zero?"""
    digits = text.rstrip("uUlL")
    return digits.isdigit() and int(digits) > 0 and int(digits) % group == 0


def mentions_only(key: object, syms: set[str]) -> bool:
    """Every local symbol in the key is a parameter."""
    if isinstance(key, tuple):
        return all(mentions_only(k, syms) for k in key)
    if isinstance(key, str) and re.search(r":\d+:", key):
        return key in syms
    return not isinstance(key, int)


def substitute(key: object, keys: dict[str, object]) -> object:
    """The key with parameters replaced by the keys of their arguments."""
    if isinstance(key, tuple):
        if len(key) >= 1 and isinstance(key[0], str) and key[0] in keys:
            head = keys[key[0]]
            if len(key) == 1:
                return head
            return (*head, *key[1:]) if isinstance(head, tuple) else (head, *key[1:])
        return tuple(substitute(k, keys) for k in key)
    return key
