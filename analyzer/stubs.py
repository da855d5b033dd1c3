"""Headers served to clang from memory: declarations of the CUDA SDK, so that `.cu` files give the same facts
with and without it, and one that makes the standard library cheap to parse."""

from __future__ import annotations

import functools
import re
from importlib import resources

VIRTUAL = "/vt-lint"
"""A folder that does not exist: libclang reads the headers below it from memory."""
FOLDER = f"{VIRTUAL}/cuda"
GENERATED = f"{VIRTUAL}/generated"

LIGHT = f"{VIRTUAL}/light.h"
"""To be included first. clang instantiates a constexpr function where it is named, others at the end of the
unit or never; since C++20 nearly all of libstdc++ is constexpr. No type or overload depends on it."""
_LIGHT_TEXT = """\
#define _GLIBCXX20_CONSTEXPR
#define _GLIBCXX23_CONSTEXPR
#include <type_traits>
#undef __cpp_lib_is_constant_evaluated
"""

# Headers of the SDK that only split up what is declared here in one file.
_FORWARDED = {
    "cublas_api.h": "cublas_v2.h",
    "cuda_profiler_api.h": "cuda_runtime.h",
    "cuda_runtime_api.h": "cuda_runtime.h",
    "cudaTypedefs.h": "cuda.h",
    "device_functions.h": "cuda_runtime.h",
    "device_launch_parameters.h": "cuda_runtime.h",
    "driver_types.h": "cuda_runtime.h",
    "library_types.h": "cuda_runtime.h",
    "math_constants.h": "cuda_runtime.h",
    "vector_functions.h": "cuda_runtime.h",
    "vector_types.h": "cuda_runtime.h",
}


@functools.lru_cache(maxsize=1)
def headers() -> dict[str, str]:
    """Return header name -> text."""
    found = {name: f"#include <{target}>\n" for name, target in _FORWARDED.items()}
    for entry in (resources.files("analyzer") / "stubs").iterdir():
        if entry.name.endswith(".h"):
            found[entry.name] = entry.read_text(encoding="utf-8")
    return found


def from_template(text: str) -> str:
    """Return what CMake's `configure_file` would make of `text`, with 0 for every value."""
    text = re.sub(r"@\w+@|\$\{\w+\}", "0", text)
    return re.sub(r"^([ \t]*#[ \t]*)cmakedefine(01)?[ \t]+(\w+).*$", r"// \3", text, flags=re.MULTILINE)


def unsaved_files() -> list[tuple[str, str]]:
    """Return the headers in the form that libclang takes."""
    return [(LIGHT, _LIGHT_TEXT), *((f"{FOLDER}/{name}", text) for name, text in sorted(headers().items()))]
