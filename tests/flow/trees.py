"""Small trees as text: parsed in memory, linked and followed."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from clang import cindex

from analyzer import ir, stubs, toolchain
from analyzer.flow import Flow, flow
from analyzer.lower import lower
from analyzer.program import link
from rules.markers import MARKERS

ROOT = "/tree"

LIBRARY = """
#include <initializer_list>
namespace std {
template <class T> T&& move(T& x) { return static_cast<T&&>(x); }
template <class T> struct vector {
  T* begin(); T* end(); T& back(); T& operator[](unsigned long); const T& operator[](unsigned long) const;
  void push_back(const T&);
};
template <class T> struct function;
template <class R, class... A> struct function<R(A...)> {
  template <class F> function(F);
  R operator()(A...) const;
};
}
"""
"""What the trees need of the standard library; it is no part of them."""

PRELUDE = """
extern "C" char* getenv(const char*);
extern "C" int strcmp(const char*, const char*);
extern "C" void* memcpy(void*, const void*, unsigned long);
typedef unsigned char u8;
namespace vt {
enum class DeviceType { kCPU, kCUDA };
enum class OpId { kMatmul, kEmbed };
struct Tensor { void* data = nullptr; int rank = 0; bool repacked = false; bool q8_0_aligned = false; };
void RegisterOp(OpId op, DeviceType device, void* kernel);
void* GetOp(OpId op, DeviceType device);
}
namespace vllm {
struct Bytes {
  const u8* p = nullptr;
  void assign(const u8* from) { p = from; }
  const u8* data() const { return p; }
};
struct OwnedTensor { Bytes bytes; int rank = 0; bool repacked = false; bool q8_0_aligned = false; };
}
"""


@functools.cache
def _tools() -> toolchain.Toolchain:
    return toolchain.find()


def facts(
    files: Mapping[str, str], profile: str = "cpu", defines: tuple[str, ...] = ()
) -> list[ir.FileFacts]:
    """Lower every `.cpp` and `.cu` of `files` (name to text) on top of the prelude, as one profile sees
    them."""
    tools = _tools()
    unsaved = [*stubs.unsaved_files(), *((f"{ROOT}/{path}", text) for path, text in files.items())]
    unsaved += [(f"{ROOT}/prelude.h", PRELUDE), ("/library/library.h", LIBRARY)]
    found = []
    for path in files:
        if path.endswith(".h"):
            continue
        args = ["-std=c++20", "-x", "c++", *tools.args(), f"-I{ROOT}", "-include", "/library/library.h"]
        args += ["-include", f"{ROOT}/prelude.h"]
        unit = cindex.Index.create().parse(
            f"{ROOT}/{path}", [*args, *(f"-D{d}" for d in defines)], unsaved, 0x200
        )
        errors = [d.spelling for d in unit.diagnostics if d.severity >= 3]
        assert not errors, f"{path}: {errors}"

        def wanted(name: str) -> str | None:
            return name.removeprefix(f"{ROOT}/") if name.startswith(f"{ROOT}/") else None

        found += lower(unit, wanted, profile)
    return found


def with_edit(files: Mapping[str, str], edit: tuple[str, str, str]) -> dict[str, str]:
    """`files` with one edit (path, old text, new text); without a path as they are."""
    path, old, new = edit
    assert not path or old in files[path]
    return {**files, path: files[path].replace(old, new, 1)} if path else dict(files)


def follow(files: Mapping[str, str] | str, more: list[ir.FileFacts] | None = None) -> Flow:
    """Link and follow a tree; one text stands for the file `main.cpp`."""
    named = {"main.cpp": files} if isinstance(files, str) else files
    return flow(link([*facts(named), *(more or [])], tuple(m.name for m in MARKERS)))


def verdict(found: Flow, function: str, operand: str, marker: str, device: str = "") -> tuple[str, str]:
    """The verdict and its reason for parameter `operand` of the function whose name ends in `function`."""
    devices = frozenset({device} if device else ())
    for sym in found.program.variants:
        known = found.program.function(sym)
        if known is not None and known.body is not None and known.name.endswith(f"::{function}"):
            for parameter in known.params:
                if parameter.name == operand:
                    word, reason, _ = found.verdict(sym, (parameter.sym,), marker, devices)
                    return word, reason
    raise AssertionError(f"no parameter {operand} of {function}")


def hops(found: Flow, function: str, operand: str, marker: str) -> list[tuple[str, int, str]]:
    """The witness for the same question."""
    for sym in found.program.variants:
        known = found.program.function(sym)
        if known is not None and known.body is not None and known.name.endswith(f"::{function}"):
            for parameter in known.params:
                if parameter.name == operand:
                    return list(found.verdict(sym, (parameter.sym,), marker, frozenset())[2])
    raise AssertionError(f"no parameter {operand} of {function}")
