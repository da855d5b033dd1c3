"""A call of a helper, spelled from its signature: where each parameter is of a known kind, no profile has to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from analyzer import ir
from analyzer.program import bare, is_mutable_reference, is_pointer, is_scalar
from runtime_check.evidence import plain
from runtime_check.model import HelperUnderTest
from runtime_check.profile import HOST_UPLOAD, Arm, Profile

_ALIAS: Final = re.compile(r"\b(?:std::)?(u?int(?:8|16|32|64)_t|size_t)\b")
_ALIASES: Final[Mapping[str, str]] = {
    "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
    "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long", "uint64_t": "unsigned long",
    "size_t": "unsigned long",
}  # fmt: skip
_LOCAL: Final = re.compile(
    r"(?:^|[;{}])\s*(?:static\s+|const\s+)*([A-Za-z_][\w:]*)\s*&?\s+&?([A-Za-z_]\w*)\s*[={;(]", re.M
)
_BASE: Final = re.compile(r"\b(?:struct|class)\s+(\w+)\s*(?:final\s*)?:\s*(?:public\s+)?([\w:]+)")
_DEPTH: Final = 2
"""How far members are followed, and braces nested."""


class CannotCallError(Exception):
    """The helper cannot be called; the message is the reason."""


class Signatures:
    """The functions and records of a tree's facts."""

    def __init__(self, facts: Iterable[ir.FileFacts]) -> None:
        self._functions: dict[tuple[str, str], list[ir.Function]] = {}
        self._records: dict[str, ir.Record] = {}
        self._defaults: set[tuple[ir.Sym, int]] = set()
        self._methods: dict[str, list[ir.Function]] = {}
        for file in facts:
            for record in file.records:
                self._records.setdefault(record.name, record)
            for function in file.functions:
                self._defaults.update(
                    (function.sym, at) for at, p in enumerate(function.params) if p.default is not None
                )
                if function.body is None:
                    continue
                self._functions.setdefault((function.path, plain(function.name)), []).append(function)
                if function.owner:
                    self._methods.setdefault(function.owner, []).append(function)

    def find(self, helper: HelperUnderTest) -> list[ir.Function]:
        """Return the functions of that name in that file, the one around ``helper.begin`` first."""
        found = self._functions.get((helper.path, plain(helper.name)), [])
        unique = {function.sym: function for function in found}.values()
        return sorted(unique, key=lambda f: not f.span.begin <= helper.begin < f.span.end)

    def has_default(self, function: ir.Function, at: int) -> bool:
        """True if a declaration gives parameter ``at`` a default argument."""
        return (function.sym, at) in self._defaults

    def record(self, name: str) -> ir.Record | None:
        """Return the record of that qualified name."""
        return self._records.get(name)

    def record_of(self, spelled: str) -> ir.Record | None:
        """Return the record that ``spelled``, a type as the profile names it, is."""
        return next((record for name, record in self._records.items() if _same(name, spelled)), None)

    def getter(self, owner: str, result: str) -> str:
        """Return the one method of ``owner`` that needs no argument and gives a ``result``; empty if none does."""
        names = {
            function.name.rpartition("::")[2]
            for function in self._methods.get(owner, ())
            if not function.params and not function.static and bare(function.result) == result
        }
        return names.pop() if len(names) == 1 else ""


def spell(helper: HelperUnderTest, profile: Profile, arm: Arm, signatures: Signatures) -> str:
    """Return a C++ expression of the view that ``helper`` makes of the weight ``w`` on ``arm``; ``viewed(t, w)`` in
    it is the view ``t`` with the marker of ``w``.

    Raises:
        CannotCallError: the signature is not known, or a parameter is of no known kind.
    """
    if helper.path.endswith(".cu"):
        raise CannotCallError("it is in a CUDA source, and a probe is C++")
    if "::lambda#" in helper.name:
        raise CannotCallError("it is a lambda")
    found = signatures.find(helper)
    if not found:
        raise CannotCallError("its signature is not known; spell 'call' in a [[verify.helper]] table")
    reasons = []
    for function in found:
        try:
            return _Speller(profile, arm, signatures).call(function)
        except CannotCallError as reason:
            reasons.append(reason)
    raise reasons[0]


def on_device(profile: Profile, arm: Arm, signatures: Signatures) -> str:
    """Return C++ statements that put the ``encoded`` bytes of the view ``view`` on the device of ``arm``; empty where
    that is the host, or where the view has not just one pointer."""
    record = signatures.record_of(profile.view)
    pointers = [m.name for m in record.members if m.type.endswith("*")] if record is not None else []
    if record is None or len(pointers) != 1 or arm.upload == HOST_UPLOAD:
        return ""
    data = f"view.{pointers[0]}"
    lines = [f"{data} = static_cast<decltype({data})>(upload({data}, encoded));"]
    speller = _Speller(profile, arm, signatures)
    for member in record.members:
        found = None if is_pointer(member.type) else speller.local(bare(member.type))
        if found is not None:
            lines.append(f"view.{member.name} = {found};")
    return " ".join(lines)


def normal(type_: str) -> str:
    """A type without qualifiers and references, fixed-width integers under their canonical names."""
    text = re.sub(r"\b(const|struct|class)\b|[&*]", " ", type_)
    text = _ALIAS.sub(lambda m: _ALIASES[m[1]], re.sub(r", *std::allocator<[^<>]*>", "", text))
    return " ".join(text.split())


class _Speller:
    def __init__(self, profile: Profile, arm: Arm, signatures: Signatures) -> None:
        self._profile = profile
        self._signatures = signatures
        bases = dict(_BASE.findall(profile.prelude))
        self._locals = [
            (name, kind)
            for type_, name in _LOCAL.findall(arm.setup)
            for kind in (type_, bases.get(type_, type_))
        ]
        self._arguments = {normal(key): value for key, value in profile.arguments.items()}

    def call(self, function: ir.Function) -> str:
        name = plain(function.name)
        owner, _, last = name.rpartition("::")
        view = self._profile.view
        if function.owner and last == owner.rpartition("::")[2]:
            raise CannotCallError("it is a constructor")
        if not _same(function.result, view):
            raise CannotCallError(f"it returns {function.result or 'nothing'}, not a {view}")
        if function.owner and not function.static:
            if not _same(function.owner, self._profile.weight):
                raise CannotCallError(f"it is a member of {function.owner}, and no object of that is known")
            name = f"w.{last}"
        arguments = []
        for at, parameter in enumerate(function.params):
            known = self._given(parameter) or self._made(parameter.type, _DEPTH)
            if known is None and self._signatures.has_default(function, at):
                break
            if known is None:
                spelled = f"{parameter.type} {parameter.name}".rstrip()
                raise CannotCallError(
                    f"no argument known for parameter '{spelled}'; give it in [verify.argument]"
                )
            arguments.append(known)
        if not re.search(r"\bw\b", " ".join([name, *arguments])):
            raise CannotCallError(f"it takes no {self._profile.weight}")
        return f"{name}({', '.join(arguments)})"

    def _given(self, parameter: ir.Param) -> str | None:
        """What the profile says to pass."""
        type_ = normal(parameter.type)
        last = type_.rsplit("::", 1)[-1] if "<" not in type_ else type_
        keys = (f"{type_} {parameter.name}", f"{last} {parameter.name}", type_, last)
        return next((self._arguments[key] for key in keys if key in self._arguments), None)

    def _made(self, type_: str, depth: int) -> str | None:
        """An argument of ``type_`` out of the weight and the arm's locals."""
        found = self._value(bare(type_), depth)
        if found is None:
            return None
        text, is_lvalue = found
        if is_pointer(type_):
            return f"&{text}" if is_lvalue else None
        if type_.rstrip().endswith("&&"):
            return f"{plain(bare(type_))}({text})"
        return text if is_lvalue or not is_mutable_reference(type_) else None

    def _value(self, type_: str, depth: int) -> tuple[str, bool] | None:
        if is_scalar(type_):  # a number that happens to be a member of some local says nothing of its use
            return None
        if _same(type_, self._profile.weight):
            return "w", True
        if _same(type_, self._profile.view):
            getter = self._signatures.getter(self._profile.weight, type_)
            return (f"viewed(w.{getter}(), w)", False) if getter else None
        if (local := self.local(type_)) is not None:
            return local, True
        record = self._signatures.record(type_)
        if record is None or record.bases or not record.members or not depth:
            return None
        members = [self._made(member.type, depth - 1) for member in record.members]
        if any(member is None for member in members):
            return None
        return f"{plain(type_)}{{{', '.join(m for m in members if m is not None)}}}", False

    def local(self, type_: str) -> str | None:
        """The arm's local, or the member of one, that is a ``type_``; no number is."""
        if is_scalar(type_):
            return None
        return next((text for text, kind in self._reachable() if _same(type_, kind)), None)

    def _reachable(self) -> Iterator[tuple[str, str]]:
        """The arm's locals and their members, the nearest first, with their types."""
        level = self._locals
        for _ in range(_DEPTH + 1):
            yield from level
            level = [
                (f"{text}.{member.name}", bare(member.type))
                for text, kind in level
                if (record := self._signatures.record(kind)) is not None
                for member in record.members
                if not is_pointer(member.type)
            ]


def _same(type_: str, spelled: str) -> bool:
    name = bare(type_)
    return name == spelled or name.endswith(f"::{spelled}")
