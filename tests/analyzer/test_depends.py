import pytest

from analyzer.depends import Depends
from analyzer.includes import IncludeGraph
from analyzer.scan import scan

HEADER = """\
#pragma once
namespace n {
struct S { int x = 0; };
int Load(const S& s, int rows);
S Make(int a);
template <class T> T Twice(T t) { return t + t; }
inline int Rows(const S& s) { return s.x; }
inline int Sum(const S& s) { return Rows(s) + 1; }
[[nodiscard]] bool Ready();
S operator+(const S& a, const S& b);
void swap(S& a, S& b);
Foo DECLARE(thing);
static int (*hook)(int);
extern "C" int Entry(int);
constexpr int Size(int n) { return n + 1; }
}  // namespace n
"""
OTHER = '#include "h.h"\ninline int Helper() { return n::Load({}, 2); }\n'
PASTING = "#define CALL(name) Lo##name({}, 1)\n"


def depends(header: str, unit: str, **files: str) -> object:
    """What `unit`, which includes "h.h", depends on."""
    texts = {"h.h": header, "u.cpp": '#include "h.h"\n' + unit}
    texts |= {name.replace("_", "."): text for name, text in files.items()}
    scans = {path: scan(text.encode(), header=path.endswith(".h")) for path, text in texts.items()}
    shas = dict.fromkeys(texts, "")
    return Depends(IncludeGraph(texts, scans), scans, shas).of("u.cpp")


def change(old: str, new: str) -> str:
    assert HEADER.count(old) == 1
    return HEADER.replace(old, new)


NEW = change("S Make(int a);", "S Make(int a);\nint More(int b);")
LOAD = change("int Load(const S& s, int rows);", "int Load(const S& s, long rows);")


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        pytest.param(NEW, "int u() { return n::Make(1).x; }", id="a new function that nobody names"),
        pytest.param(LOAD, "int u() { return n::Make(1).x; }", id="the signature of another one"),
        pytest.param(change("int Load(const S& s, int rows);\n", ""), "n::S s;", id="another one is gone"),
        pytest.param(
            change("T Twice(T t)", "T Twice(T t, int n)"), "n::S s;", id="a template that is not used"
        ),
        pytest.param(change("bool Ready", "int Ready"), "n::S s;", id="one with an attribute"),
        pytest.param(
            change("int Sum(const S& s) {", "int Sum(S s) {"), "n::S s;", id="one that names others"
        ),
    ],
)
def test_a_function_matters_to_nobody_who_does_not_mention_it(header: str, unit: str) -> None:
    assert depends(header, unit) == depends(HEADER, unit)


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        pytest.param(LOAD, "int u() { return n::Load({}, 1); }", id="its signature"),
        pytest.param(NEW, "int u() { return More(1); }", id="a new overload"),
        pytest.param(
            change("S Make(int a);", "}\nS Make(int a);\nnamespace n {"),
            "n::S s = Make(1);",
            id="its namespace",
        ),
        pytest.param(
            change("S Make(int a);", "#ifdef A\nS Make(int a);\n#endif"),
            "n::S s = Make(1);",
            id="a conditional",
        ),
        pytest.param(change("S Make(int a);", "S Make(int a), b;"), "n::S s;", id="a variable beside it"),
        pytest.param(change("int x = 0;", "int x = 0, y = 1;"), "n::S s;", id="a member"),
        pytest.param(
            change("int Rows(const S& s) {", "int Rows(S s) {"), "n::S s;", id="one that another calls"
        ),
        pytest.param(change("S operator+(const S& a", "S operator+(S a"), "n::S s;", id="an operator"),
        pytest.param(
            change("void swap(S& a", "void swap(const S& a"), "n::S s;", id="one that libraries call"
        ),
        pytest.param(change("DECLARE(thing)", "DECLARE(other)"), "n::S s;", id="what may be a macro"),
        pytest.param(change("(*hook)(int)", "(*hook)(long)"), "n::S s;", id="a pointer to a function"),
        pytest.param(change("Entry(int)", "Entry(long)"), "n::S s;", id="C linkage"),
        pytest.param(change("return n + 1;", "return n + 2;"), "int a[1];", id="a constant"),
        pytest.param(
            change("S Make(int a);", "template <class T> auto Make(T a) { return a; }"),
            "n::S s;",
            id="a deduced type",
        ),
    ],
)
def test_who_mentions_a_function_or_may_reach_it_depends_on_it(header: str, unit: str) -> None:
    assert depends(header, unit) != depends(HEADER, unit)


def test_a_mention_in_another_header_counts() -> None:
    assert depends(LOAD, '#include "o.h"', o_h=OTHER) != depends(HEADER, '#include "o.h"', o_h=OTHER)
    assert depends(LOAD, "n::S s;", o_h=OTHER) == depends(HEADER, "n::S s;", o_h=OTHER)


@pytest.mark.parametrize("more", ["", "#define RUN(name) CALL(name)\n"])
def test_a_name_that_a_macro_puts_together_counts(more: str) -> None:
    unit = f'#include "p.h"\nint u() {{ return n::{"RUN" if more else "CALL"}(ad); }}'
    text = PASTING + more
    assert depends(LOAD, unit, p_h=text) != depends(HEADER, unit, p_h=text)
    assert depends(LOAD, '#include "p.h"', p_h=text) == depends(HEADER, '#include "p.h"', p_h=text)


def test_a_macro_that_makes_other_names_does_not() -> None:
    unit = '#include "p.h"\nCALL(thing)'
    text = "#define CALL(name) int registrar_##name = 1;\n"
    assert depends(LOAD, unit, p_h=text) == depends(HEADER, unit, p_h=text)
