"""A small tree with one lost marker, and the means to check it on this machine's own processor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runtime_check import VerifyOptions

FILES = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.16)
project(mini LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
configure_file(src/version.h.in version.h)
add_library(mini src/gemm.cpp src/layout.cpp src/unrelated.cpp)
target_include_directories(mini PUBLIC include ${CMAKE_BINARY_DIR})
""",
    "include/mini.h": """
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>
namespace mini {
struct Weight { std::vector<uint8_t> bytes; int64_t n = 0, k = 0; bool swapped = false; };
struct View { void* data = nullptr; int64_t rows = 0, cols = 0; bool swapped = false; };
void Gemm(View& out, const View& a, const View& b);
void SwapHalves(Weight& w);
}
""",
    "include/helper.h": """
#pragma once
#include "mini.h"
namespace mini {
inline View Resident(const Weight& w) {
  View v{const_cast<uint8_t*>(w.bytes.data()), w.n, w.k};
  return v;
}
}
""",
    "src/version.h.in": "#define MINI_VERSION 1\n",
    "src/gemm.cpp": """
#include "mini.h"
#include "version.h"
namespace mini {
void Gemm(View& out, const View& a, const View& b) {
  const float* w = static_cast<const float*>(b.data);
  const float* x = static_cast<const float*>(a.data);
  float* y = static_cast<float*>(out.data);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.rows; ++j) {
      float s = 0;
      for (int64_t p = 0; p < b.cols; ++p) {
        const int64_t q = b.swapped ? (p + b.cols / 2) % b.cols : p;
        s += x[i * a.cols + p] * w[j * b.cols + q];
      }
      y[i * out.cols + j] = s;
    }
}
}
""",
    "src/layout.cpp": """
#include "mini.h"
#include <algorithm>
namespace mini {
void SwapHalves(Weight& w) {
  float* f = reinterpret_cast<float*>(w.bytes.data());
  for (int64_t r = 0; r < w.n; ++r) std::rotate(f + r * w.k, f + r * w.k + w.k / 2, f + (r + 1) * w.k);
}
}
""",
    "src/unrelated.cpp": "int mini_unrelated() { return undefined_name; }\n",
    ".vt-lint.toml": """
[verify]
includes = ["mini.h"]
weight = "mini::Weight"
view = "mini::View"
make_weight = "w.bytes = bytes; w.n = n; w.k = k"
make_view = "View{ptr, rows, cols}"
[verify.kind.f32]
dtype = "0"
gemm = "mini::Gemm(out, a, b)"
[verify.marker.swapped]
kind = "f32"
rewrite = "mini::SwapHalves(w)"
[verify.arm.host]
device = "cpu"
setup = ""
[verify.argument]
Weight = "w"
[[verify.helper]]
name = "mini::Resident"
path = "include/helper.h"
call = "mini::Resident(w)"
expect = { swapped = { cpu = "carried" } }
faulty = { swapped = ["cpu"] }
[verify.target.cpu]
roots = ["src/gemm.cpp"]
[verify.target.i8mm]
roots = ["src/gemm.cpp"]
[verify.target.cuda]
roots = ["src/gemm.cpp"]
min_nvcc = "12.0"
""",
}

HELPER = FILES["include/helper.h"]
CARRIED = HELPER.replace("  return v;", "  v.swapped = w.swapped;\n  return v;")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "mini"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"))
    return root


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One work folder for every test, so that each compiles only what it changes."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def options(tree: Path, work: Path) -> Callable[..., VerifyOptions]:
    def build(helper: str = CARRIED, **changes: object) -> VerifyOptions:
        base = VerifyOptions(
            tree=tree, target="cpu", work=work, after_files={"include/helper.h": helper.encode()}
        )
        return replace(base, **changes)  # type: ignore[arg-type]

    return build
