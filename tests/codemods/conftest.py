"""Hand-made findings over small C++ texts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from codemods.fix import FixPlan, plan
from rules.finding import Coverage, Finding, Fix, Place, Report, Severity, Site, Verdict

PRELUDE = """\
#pragma once
#include <utility>
#include <vector>
enum class Device { Cpu, Gpu };
struct Owner { std::vector<unsigned char> bytes; bool repacked = false, aligned = false; };
struct Tensor {
  const void* data = nullptr;
  Device device = Device::Cpu;
  int rank = 0;
  bool repacked = false, aligned = false;
};
Tensor Make(const void* p, Device d);
Tensor Make(const void* p, Device d, int a_very_long_argument, int another_very_long_argument);
void Gemm(Tensor& out, const Tensor& b);
void Require(bool ok, const char* why);
bool Ready();
Owner Load(int i);
const Owner& Get(int i);
"""


class Case:
    """A tree with `prelude.h` and `a.cpp`, and findings in the latter."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.findings: list[Finding] = []
        (root / "prelude.h").write_text(PRELUDE)

    def write(self, text: str, newline: str = "\n", bom: bool = False) -> None:
        """Write `a.cpp`; its first line includes the prelude."""
        data = ('#include "prelude.h"\n' + text).replace("\n", newline).encode()
        self.file.write_bytes(b"\xef\xbb\xbf" * bom + data)

    @property
    def file(self) -> Path:
        """Path of `a.cpp`."""
        return self.root / "a.cpp"

    @property
    def body(self) -> str:
        """`a.cpp` without its first line."""
        return self.file.read_bytes().decode().partition("\n")[2]

    def find(
        self,
        code: str,
        marker: str = "repacked",
        action: str = "propagate",
        *,
        nth: int = 0,
        rule: str = "VT001",
        safety: str = "safe",
        devices: tuple[str, ...] = ("cpu",),
        off: tuple[str, ...] = (),
        macro: bool = False,
        before: str = "",
        after: str = "",
        function: str = "ns::make",
        source: str = "",
        **site: Any,
    ) -> None:
        """Add a finding at the `nth` occurrence of `code`; `before`/`after` are texts whose begin/end the
        site names."""
        data = self.file.read_bytes()
        begin = -1
        for _ in range(nth + 1):
            begin = data.index(code.encode(), begin + 1)
        line = data[:begin].count(b"\n") + 1
        end = begin + len(code.encode())
        place = Place("a.cpp", line, 1, line, 1, begin, end, macro)
        if before:
            site["insert_before"] = data.index(before.encode())
        if after:
            site["insert_after"] = data.index(after.encode()) + len(after.encode())
        site.setdefault("form", "factory")
        site.setdefault("dest_type", "Tensor")
        site.setdefault("source_text", "w")
        self.findings.append(
            Finding(
                rule=rule,
                place=place,
                function=function,
                marker=marker,
                devices=devices,
                source=source or site["source_text"],
                source_type="Owner",
                severity=Severity.ERROR,
                verdict=Verdict.LIVE,
                message="",
                construction=f"a.cpp:{begin}",
                fingerprint=f"{rule}{begin}{marker}",
                site=Site(**site),
                fix=Fix(action, safety, off),
            )
        )

    def plan(self, **options: Any) -> FixPlan:
        """Plan the fix of all findings."""
        return plan(Report("", (), Coverage(1, 1, 1), tuple(self.findings)), self.root, **options)

    def fixed(self, **options: Any) -> str:
        """Apply the plan, which must skip nothing, and return the text of `a.cpp` after the include."""
        result = self.plan(**options)
        assert not result.skipped, [str(s) for s in result.skipped]
        result.apply()
        return self.body

    def skipped(self, **options: Any) -> str:
        """The one reason why nothing is edited."""
        result = self.plan(**options)
        assert not result.files
        assert len(result.skipped) == 1
        return result.skipped[0].reason

    def compiles(self) -> None:
        """Compile `a.cpp` as it is now."""
        if shutil.which("g++"):
            done = subprocess.run(
                ["g++", "-std=c++20", "-fsyntax-only", "-Wall", str(self.file)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)
