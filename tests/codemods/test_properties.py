"""Properties of `plan` over generated functions, with a finder that knows how they were made."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.fix import plan
from rules.finding import Coverage, Finding, Fix, Place, Report, Severity, Site, Verdict

HEADER = """\
#pragma once
#include <cstdio>
#include <stdexcept>
struct Weight { int bytes = 0; bool repacked = false, aligned = false; };
struct View { int data = 0, rank = 0; bool repacked = false, aligned = false; };
inline View Over(int data, int rank) { View v; v.data = data; v.rank = rank; return v; }
inline int Use(const View& v) { return v.data * 7 + v.rank + v.repacked * 1000 + v.aligned * 2000; }
#define HOLDS(cond, why) do { if (!(cond)) throw std::runtime_error(why); } while (0)
"""
MARKERS = ("repacked", "aligned")
MADE = re.compile(rb"Over\(([\w.>-]+?)(\.|->)bytes, (\d+)\)")

_rank = st.integers(0, 9)
_blank = st.sampled_from(["", "\n", "  // a remark\n", "  /* one */ // two\n", "  int t = 0; (void)t;\n"])
_test = st.sampled_from(["n > 3", "n % 2 == 0", "w.bytes > n"])


@st.composite
def functions(draw: st.DrawFn, index: int) -> str:
    """A function of `(const Weight& w, int n)` that returns an int and makes views of `w` in some shape."""
    over = f"Over(w.bytes, {draw(_rank)})"
    other = f"Over(w.bytes, {draw(_rank)})"
    test = draw(_test)
    head = f"View view{index}(const Weight& w, int n) {{"
    shapes = [
        f"  (void)n;\n{{blank}}  return {over};\n",
        f"  if ({test}) return {over};\n{{blank}}  return {other};\n",
        f"  if ({test})\n    return {over};\n  else\n    return {other};\n",
        f"  if ({test}) {{\n{{blank}}    return {over};\n  }} else if (n == 1) return {other};\n"
        "  return View{};\n",
        f"  return {test} ? {over} : {other};\n",
        f"  (void)n;\n  const View& v = {over};\n{{blank}}  return v;\n",
        f"  View v{{{over}}};  // here\n  v.rank = n;\n{{blank}}  return v;\n",
        f"  View v;\n  for (int i = 0; i < n; ++i) v = {over};\n  return v;\n",
        f"  auto f = [&](int k) {{ return k > n ? {over} : {other}; }};\n{{blank}}  return f(3);\n",
        f"  switch (n) {{\n    case 1: return {over};\n    case 2:\n      return {other};\n"
        "    default: break;\n  }\n  return View{};\n",
        f"  if (Use({over}) > n) return View{{}};\n  View v;\n  v.rank = Use({other});\n  return v;\n",
        "  const Weight* p = &w;\n  (void)n;\n  return (Over(p->bytes, 1));\n",
    ]
    lines = draw(st.sampled_from(shapes)).replace("{blank}", draw(_blank))
    body = draw(st.sampled_from([f"\n{lines}", f" (void)n; return {over}; "]))
    return f"{head}{body}}}\n"


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A file of such functions and what to do with each marker."""
    count = draw(st.integers(1, 6))
    text = '#include "header.h"\n' + "\n".join(draw(functions(i)) for i in range(count))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    actions = {m: draw(st.sampled_from(["propagate", "refuse"])) for m in MARKERS}
    return text.replace("\n", newline), actions


def finding(place: Place, marker: str, site: Site, fix: Fix) -> Finding:
    return Finding(
        rule="VT001",
        place=place,
        function="make",
        marker=marker,
        devices=("cpu",),
        source=site.source_text,
        source_type="Weight",
        severity=Severity.ERROR,
        verdict=Verdict.LIVE,
        message="",
        construction=str(place.begin),
        fingerprint=f"{place.begin}{marker}",
        site=site,
        fix=fix,
    )


def findings(data: bytes, actions: dict[str, str]) -> list[Finding]:
    """A finding for each marker of each `Over(...)` that no line carries and no check stops before the
    next one."""
    out = []
    calls = list(MADE.finditer(data))
    for made in calls:
        source, op = made[1].decode(), made[2].decode()
        before = data[: made.start()]
        opened = before[before.rindex(b"View view") :]
        after = re.split(rb"Over\(|\n\}", data[made.end() :])[0]
        for marker, action in actions.items():
            check = f"HOLDS(!{source}{op}{marker}".encode()
            held = check in opened.rsplit(b"Over(", 1)[-1] or b"\n  " + check in opened
            if f".{marker} = {source}{op}{marker};".encode() in after or held:
                continue
            line = before.count(b"\n") + 1
            place = Place("a.cpp", line, 1, line, 1, made.start(), made.end())
            site = Site("factory", dest_type="View", source_text=source, member_op=op)
            out.append(finding(place, marker, site, Fix(action)))
    return out


def fixed(folder: Path, data: bytes, actions: dict[str, str]) -> bytes:
    """Plan and apply once, everything in one pass."""
    (folder / "a.cpp").write_bytes(data)
    report = Report("", (), Coverage(1, 1, 1), tuple(findings(data, actions)))
    result = plan(report, folder)
    assert not result.skipped, [str(s) for s in result.skipped]
    result.apply()
    return (folder / "a.cpp").read_bytes()


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_fixed_once_is_fixed_and_the_rest_is_untouched(program: tuple[str, dict[str, str]]) -> None:
    text, actions = program
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "header.h").write_text(HEADER)
        once = fixed(folder, text.encode(), actions)
        assert findings(once, actions) == []
        assert fixed(folder, once, actions) == once
    assert _other_lines_kept(text, once.decode())
    if "\r\n" in text:
        assert once.count(b"\n") == once.count(b"\r\n")


def _other_lines_kept(before: str, after: str) -> bool:
    """Every line that makes no view is still there, in order, but for braces."""
    left = iter([re.sub(r"[{}\s]", "", line) for line in after.splitlines()])
    others = [re.sub(r"[{}\s]", "", line) for line in before.splitlines() if "Over(" not in line]
    return all(line in left for line in others if line not in ("", "else"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("action", ["propagate", "refuse"])
def test_unmarked_weights_behave_as_before(tmp_path: Path, action: str) -> None:
    """One file with many functions, before and after, compiled and run on unmarked weights: the same
    output."""
    bodies: list[str] = []

    @settings(max_examples=40, deadline=None, database=None, derandomize=True)
    @given(st.data())
    def collect(data: st.DataObject) -> None:
        bodies.append(data.draw(functions(len(bodies))))

    collect()
    calls = "".join(f'    std::printf("%d ", Use(view{i}(w, n)));\n' for i in range(len(bodies)))
    loop = f"  for (int n = 0; n < 6; ++n) {{\n    Weight w;\n    w.bytes = n * 3;\n{calls}  }}\n"
    main = f"int main() {{\n{loop}}}\n"
    text = '#include "header.h"\n' + "\n".join(bodies) + main
    (tmp_path / "header.h").write_text(HEADER)
    (tmp_path / "before.cpp").write_text(text)
    fixed(tmp_path, text.encode(), dict.fromkeys(MARKERS, action))
    outputs = []
    for name in ("before", "a"):
        program = tmp_path / name
        subprocess.run(["g++", "-std=c++20", "-o", program, f"{program}.cpp"], check=True)
        outputs.append(subprocess.run([program], check=True, capture_output=True).stdout)
    assert outputs[0] == outputs[1] != b""
