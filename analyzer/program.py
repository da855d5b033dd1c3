"""Link the facts of all files: functions by symbol, records, carriers, device enumerations.

A *carrier* is a record with a marker field and a storage field; nothing keys on its name. A *storage field* is a
member that can lead to the bytes: a pointer to them, or an object that owns or borrows them.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import msgspec

from analyzer import ir

_TEST_FOLDERS = frozenset(
    {"test", "tests", "testing", "unittest", "unittests", "example", "examples", "bench", "benchmark", "benchmarks"}
)  # fmt: skip

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


@functools.cache
def is_test_path(path: str) -> bool:
    """Tests, examples and benchmarks: they call the code, but no user's process runs them."""
    parts = PurePosixPath(path).parts
    return any(part.lower() in _TEST_FOLDERS for part in parts[:-1]) or parts[-1].startswith("test_")


class Head(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An `ir.Function` without its code, which is still encoded."""

    sym: ir.Sym
    name: str
    path: str
    span: ir.Span
    params: tuple[ir.Param, ...]
    result: str
    body: msgspec.Raw
    owner: str = ""
    parent: ir.Sym = ""
    static: bool = False
    virtual: bool = False
    external: bool = True
    overrides: tuple[ir.Sym, ...] = ()
    inits: msgspec.Raw = msgspec.Raw(b"\x90")
    errors: int = 0
    kernel: bool = False


class _FileHeads(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An `ir.FileFacts` whose functions are still encoded."""

    path: str
    profile: str
    sha: str
    functions: tuple[msgspec.Raw, ...] = ()
    records: tuple[ir.Record, ...] = ()
    enums: tuple[ir.Enum, ...] = ()
    globals: tuple[ir.Global, ...] = ()


class Variant:
    """One distinct form of a function: the head, whether it has a body, a digest of all of it, and itself, decoded when
    first asked for."""

    __slots__ = ("_function", "_raw", "digest", "has_body", "head")

    def __init__(self, head: Head, raw: msgspec.Raw, digest: bytes) -> None:
        self.head = head
        self.has_body = bytes(memoryview(head.body)[:1]) != _NIL
        self.digest = digest
        self._raw = raw
        self._function: ir.Function | None = None

    @property
    def is_decoded(self) -> bool:
        """Was the function asked for?"""
        return self._function is not None

    @property
    def function(self) -> ir.Function:
        """The function, the same object each time."""
        if self._function is None:
            self._function = self.read()
        return self._function

    def read(self) -> ir.Function:
        """The function, to be looked at once: most are needed for nothing else."""
        return self._function or msgspec.msgpack.decode(self._raw, type=ir.Function)


def variant_of(function: ir.Function) -> Variant:
    """Wrap a function that is not from a file."""
    raw = msgspec.Raw(msgspec.msgpack.encode(function))
    return Variant(msgspec.msgpack.decode(raw, type=Head), raw, hashlib.blake2b(raw, digest_size=16).digest())


_NIL = b"\xc0"


class Variants(Mapping[ir.Sym, "list[ir.Function]"]):
    """Functions by symbol, decoded when asked for."""

    def __init__(self, known: Mapping[ir.Sym, list[Variant]]) -> None:
        self._known = known
        self._made: dict[ir.Sym, list[ir.Function]] = {}

    def __getitem__(self, sym: ir.Sym) -> list[ir.Function]:
        made = self._made.get(sym)
        if made is None:
            made = self._made[sym] = [each.function for each in self._known[sym]]
        return made

    def __contains__(self, sym: object) -> bool:
        return sym in self._known

    def __iter__(self) -> Iterator[ir.Sym]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


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
    """The linked facts of a tree. `heads`: every distinct form of a function over the profiles; `variants`: the same,
    decoded when asked for."""

    markers: tuple[str, ...]
    heads: dict[ir.Sym, list[Variant]] = field(default_factory=dict)
    records: dict[str, ir.Record] = field(default_factory=dict)
    enums: dict[str, ir.Enum] = field(default_factory=dict)
    globals: dict[ir.Sym, ir.Global] = field(default_factory=dict)
    carriers: dict[str, Carrier] = field(default_factory=dict)
    device_enums: dict[str, tuple[str, ...]] = field(default_factory=dict)
    overriders: dict[ir.Sym, list[ir.Sym]] = field(default_factory=dict)
    profiles: dict[str, set[str]] = field(default_factory=dict)

    @functools.cached_property
    def variants(self) -> Mapping[ir.Sym, list[ir.Function]]:
        """Every distinct form of a function; to look at all of them takes long."""
        return Variants(self.heads)

    def bodies(self) -> Iterator[Variant]:
        """Every variant that has a body, in a stable order."""
        for sym in sorted(self.heads):
            for variant in self.heads[sym]:
                if variant.has_body:
                    yield variant

    def values(self) -> Iterator[Variant]:
        """The initialisers of globals, each as the body of a function named like it, with `=` at the end."""
        return iter(self._values)

    @functools.cached_property
    def _values(self) -> list[Variant]:
        found = []
        for each in self.globals.values():
            if each.init is not None:
                var = ir.Var(each.span, each.sym, each.name, each.type, each.init)
                function = ir.Function(f"{each.sym}=", each.name, each.path, each.span, (), "", var)
                found.append(variant_of(function))
        return found

    def head(self, sym: ir.Sym) -> Head | None:
        """The head of a variant with a body if there is one, else the declaration's."""
        found = self._first(sym)
        return None if found is None else found.head

    def function(self, sym: ir.Sym) -> ir.Function | None:
        """A variant with a body if there is one, else the declaration."""
        found = self._first(sym)
        return None if found is None else found.function

    def _first(self, sym: ir.Sym) -> Variant | None:
        found = self.heads.get(sym)
        if not found or found[0].has_body:
            return found[0] if found else None
        return next((each for each in found if each.has_body), found[0])

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


class Reader:
    """Decodes facts for `link`, those of a file once: they may be read before the last file is parsed."""

    def __init__(self) -> None:
        self._files = msgspec.msgpack.Decoder(_FileHeads)
        self._heads = msgspec.msgpack.Decoder(Head)
        self._variants: dict[bytes, Variant] = {}
        self._read: dict[int, tuple[ir.FileFacts | bytes, _FileHeads, list[Variant]]] = {}

    def read(self, facts: ir.FileFacts | bytes) -> tuple[_FileHeads, list[Variant]]:
        """Return what is in `facts`, encoded or not, and its functions."""
        known = self._read.get(id(facts))
        if known is None:
            file = self._files.decode(facts if isinstance(facts, bytes) else ir.encode(facts))
            known = self._read[id(facts)] = (facts, file, [self._variant(raw) for raw in file.functions])
        return known[1:]

    def decode(self, digest: bytes) -> None:
        """Decode the function with this digest, if it was read."""
        if digest in self._variants:
            _ = self._variants[digest].function

    def _variant(self, raw: msgspec.Raw) -> Variant:
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        found = self._variants.get(digest)
        if found is None:
            found = self._variants[digest] = Variant(self._heads.decode(raw), raw, digest)
        return found


def link(
    facts: Iterable[ir.FileFacts | bytes], markers: tuple[str, ...], reader: Reader | None = None
) -> Program:
    """Join the facts of all files and profiles, encoded or not, into one program. `reader`: has read some of them."""
    program = Program(markers=tuple(sorted(markers)))
    reader = reader or Reader()
    for each in facts:
        file, functions = reader.read(each)
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
        for function in functions:
            _add(program.heads.setdefault(function.head.sym, []), function)
    for variants in program.heads.values():
        for base in variants[0].head.overrides:
            program.overriders.setdefault(base, []).append(variants[0].head.sym)
    _find_carriers(program)
    for enum in program.enums.values():
        names = {device_name(name) for name in enum.enumerators}
        if "cpu" in names and names & _GPU_NAMES or len(names & (_GPU_NAMES | {"cpu", "host"})) >= 2:
            program.device_enums[enum.name] = enum.enumerators
    return program


def _add(variants: list[Variant], function: Variant) -> None:
    """A body goes before a declaration, one without errors before one with."""
    if not function.has_body:
        if not variants:
            variants.append(function)
        return
    if function.head.errors and any(v.has_body and not v.head.errors for v in variants):
        return
    variants[:] = [v for v in variants if v.has_body and (not v.head.errors or function.head.errors)]
    if all(v.digest != function.digest for v in variants):
        variants.append(function)


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
