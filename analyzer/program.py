"""Link the facts of all files: functions by symbol, records, carriers, device enumerations.

A *carrier* is a record with a marker field and a storage field; nothing keys on its name. A *storage field* is a
member that can lead to the bytes: a pointer to them, or an object that owns or borrows them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from analyzer import ir

_NOT_STORAGE = re.compile(
    r"^(std::(__cxx11::)?basic_string|std::optional|std::function|std::map|std::unordered_map|std::mutex|std::atomic"
    r"|std::chrono|std::array|std::initializer_list|bool|char|(unsigned |signed )?(int|long|short|char|float|double))"
)
_WRAPPERS = re.compile(
    r"^(?:std::)?(?:vector|unique_ptr|shared_ptr|optional|array|deque|list|span|map|unordered_map|reference_wrapper"
    r"|initializer_list|pair|tuple|atomic|set)<"
)
_ANONYMOUS = re.compile(r"\((?:anonymous namespace|anonymous)\)")


@functools.cache
def bare(type_text: str) -> str:
    """The record or scalar a canonical type names: without `const`, references and pointers.

    `const vllm::OwnedTensor &` -> `vllm::OwnedTensor`. Unnamed namespaces read `(anonymous)` as in `ir`."""
    text = _ANONYMOUS.sub("(anonymous)", type_text)
    text = re.sub(r"\b(const|volatile|struct|class|enum)\b ?", "", text)
    while True:
        stripped = text.strip().rstrip("&*").strip()
        if stripped == text:
            return text
        text = stripped


@functools.cache
def is_pointer(type_text: str) -> bool:
    """True for raw pointers (also arrays that decayed)."""
    return type_text.rstrip().removesuffix("const").rstrip().endswith("*") or "[" in type_text


@functools.cache
def is_byte_pointer(type_text: str) -> bool:
    """A pointer that code uses for raw storage: `void *`, bytes, or plain numbers; not pointers to classes."""
    if not is_pointer(type_text):
        return False
    base = bare(type_text)
    return base in _SCALARS or base.endswith(("float16", "bfloat16")) or "half" in base


_SCALARS = frozenset(
    {"void", "char", "unsigned char", "signed char", "short", "unsigned short", "int", "unsigned int", "long",
     "unsigned long", "long long", "unsigned long long", "float", "double", "std::byte"}
)  # fmt: skip


@functools.cache
def is_scalar(type_text: str) -> bool:
    """Arithmetic types by value (or const reference): a number holds no bytes of anybody."""
    return not is_pointer(type_text) and bare(type_text) in (_SCALARS | {"bool"})


def is_mutable_reference(type_text: str) -> bool:
    """`T &` or `T *` through which a callee may write."""
    text = type_text.strip()
    if text.endswith("&&"):
        return True
    if text.endswith(("&", "*")):
        return not text.startswith("const ")
    return False


@dataclass(frozen=True)
class Carrier:
    """A record with markers. `markers`: declared marker names it has. `storage`: names of its storage fields.
    `view`: true when its storage is a raw pointer (non-owning). `inner`: its storage is itself a carrier."""

    name: str
    markers: tuple[str, ...]
    storage: tuple[str, ...]
    view: bool
    inner: bool
    members: tuple[ir.Member, ...]
    path: str
    line: int


@dataclass
class Program:
    """The linked facts of a tree. `variants`: every distinct body of a function over the profiles."""

    markers: tuple[str, ...]
    variants: dict[ir.Sym, list[ir.Function]] = field(default_factory=dict)
    records: dict[str, ir.Record] = field(default_factory=dict)
    enums: dict[str, ir.Enum] = field(default_factory=dict)
    globals: dict[ir.Sym, ir.Global] = field(default_factory=dict)
    carriers: dict[str, Carrier] = field(default_factory=dict)
    device_enums: dict[str, tuple[str, ...]] = field(default_factory=dict)
    overriders: dict[ir.Sym, list[ir.Sym]] = field(default_factory=dict)
    profiles: dict[str, set[str]] = field(default_factory=dict)

    def functions(self) -> Iterator[ir.Function]:
        """Every variant that has a body and was parsed without an error inside it, in a stable order."""
        for sym in sorted(self.variants):
            for function in self.variants[sym]:
                if function.body is not None:
                    yield function

    def function(self, sym: ir.Sym) -> ir.Function | None:
        """A variant with a body if there is one, else the declaration."""
        found = self.variants.get(sym)
        if not found:
            return None
        return next((f for f in found if f.body is not None), found[0])

    @functools.cached_property
    def devices(self) -> tuple[str, ...]:
        """Device names of the tree: enumerators in lower case without a leading `k`."""
        seen: dict[str, None] = {}
        for names in self.device_enums.values():
            for name in names:
                seen.setdefault(device_name(name))
        return tuple(seen)

    def carrier_of(self, type_text: str) -> Carrier | None:
        """The carrier that a value, reference, pointer or smart pointer of this type leads to, else None."""
        return _carrier_of(self, type_text)

    def is_container_of_carriers(self, type_text: str) -> bool:
        """A standard container (or optional, smart pointer) with a carrier among its arguments."""
        base = bare(type_text)
        return bool(_WRAPPERS.match(base)) and any(name in base for name in self.carriers)

    def is_device(self, type_text: str) -> bool:
        """A value of a device enumeration."""
        return bare(type_text) in self.device_enums


def _carrier_of(program: Program, type_text: str) -> Carrier | None:
    cache: dict[str, Carrier | None] = program.__dict__.setdefault("_carrier_cache", {})
    if type_text in cache:
        return cache[type_text]
    base = bare(type_text)
    found = program.carriers.get(base)
    if found is None:
        pointer = re.match(r"^std::(?:unique_ptr|shared_ptr|optional|reference_wrapper)<(.*)>$", base)
        if pointer:
            found = program.carriers.get(bare(_first_argument(pointer.group(1))))
    cache[type_text] = found
    return found


def _first_argument(text: str) -> str:
    depth = 0
    for position, char in enumerate(text):
        if char in "<(":
            depth += 1
        elif char in ">)":
            depth -= 1
        elif char == "," and depth == 0:
            return text[:position]
    return text


def device_name(enumerator: str) -> str:
    """`vt::DeviceType::kCUDA` -> `cuda`."""
    last = enumerator.rpartition("::")[2]
    if len(last) > 1 and last[0] == "k" and last[1].isupper():
        last = last[1:]
    return last.lower()


_GPU_NAMES = frozenset(
    {"cuda", "gpu", "rocm", "hip", "vulkan", "metal", "xpu", "musa", "sycl", "tpu", "npu", "opencl"}
)


def link(facts: Iterable[ir.FileFacts], markers: tuple[str, ...]) -> Program:
    """Join the facts of all files and profiles into one program."""
    program = Program(markers=tuple(sorted(markers)))
    for file in facts:
        program.profiles.setdefault(file.path, set()).add(file.profile)
        for record in file.records:
            known = program.records.get(record.name)
            if known is None or len(record.members) > len(known.members):
                program.records[record.name] = record
        for enum in file.enums:
            program.enums.setdefault(enum.name, enum)
        for variable in file.globals:
            if program.globals.get(variable.sym) is None or variable.init is not None:
                program.globals[variable.sym] = variable
        for function in file.functions:
            variants = program.variants.setdefault(function.sym, [])
            if function.body is None:
                if not variants:
                    variants.append(function)
                continue
            if function.errors:
                clean = [v for v in variants if v.body is not None and not v.errors]
                if clean:
                    continue
            variants[:] = [v for v in variants if v.body is not None and (not v.errors or function.errors)]
            if function not in variants:
                variants.append(function)
    for variants in program.variants.values():
        for base in variants[0].overrides:
            program.overriders.setdefault(base, []).append(variants[0].sym)
    _find_carriers(program)
    for enum in program.enums.values():
        names = {device_name(name) for name in enum.enumerators}
        if "cpu" in names and names & _GPU_NAMES or len(names & (_GPU_NAMES | {"cpu", "host"})) >= 2:
            program.device_enums[enum.name] = enum.enumerators
    return program


def _find_carriers(program: Program) -> None:
    wanted = frozenset(program.markers)

    def members_of(record: ir.Record, depth: int = 0) -> tuple[ir.Member, ...]:
        inherited: tuple[ir.Member, ...] = ()
        if depth < 4:
            for base in record.bases:
                parent = program.records.get(bare(base))
                if parent is not None:
                    inherited += members_of(parent, depth + 1)
        return inherited + record.members

    candidates: dict[str, tuple[ir.Record, tuple[ir.Member, ...]]] = {}
    for record in program.records.values():
        members = members_of(record)
        if any(m.name in wanted and bare(m.type) == "bool" for m in members):
            candidates[record.name] = (record, members)
    for name, (record, members) in candidates.items():
        storage = []
        view = False
        inner = False
        for member in members:
            base = bare(member.type)
            if base in candidates and base != name:
                storage.append(member.name)
                inner = True
            elif is_pointer(member.type):
                if is_byte_pointer(member.type) and "[" not in member.type:
                    storage.append(member.name)
                    view = True
            elif member.name not in wanted and not _NOT_STORAGE.match(base) and base not in program.enums:
                if _holds_bytes(program, base):
                    storage.append(member.name)
        if not storage:
            continue
        owns = any(not is_pointer(m.type) for m in members if m.name in storage)
        program.carriers[name] = Carrier(
            name=name,
            markers=tuple(sorted(m.name for m in members if m.name in wanted and bare(m.type) == "bool")),
            storage=tuple(storage),
            view=view and not owns,
            inner=inner,
            members=members,
            path=record.path,
            line=record.span.line,
        )


def _holds_bytes(program: Program, base: str) -> bool:
    """A class that owns or borrows raw bytes: a standard container or smart pointer of scalars, or a record of the
    tree that itself has such a member."""
    standard = re.match(r"^std::(?:vector|unique_ptr|shared_ptr|span|deque)<(.*)>$", base)
    if standard:
        argument = bare(_first_argument(standard.group(1)).replace("[]", ""))
        return argument in _SCALARS
    record = program.records.get(base)
    if record is None:
        return False
    for member in record.members:
        inner = bare(member.type)
        if is_byte_pointer(member.type) and "[" not in member.type:
            return True
        if (
            inner != base
            and re.match(r"^std::(?:vector|unique_ptr|shared_ptr|span)<", inner)
            and _holds_bytes(program, inner)
        ):
            return True
    return False
