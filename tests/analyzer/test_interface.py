import pytest

from analyzer.interface import interface

BASE = """\
#pragma once
namespace n {
struct S {
  S(int a) : x(a) { x += 1; }
  int Get() const { return x; }
  int x = 0;
};
inline int Free(const S& s) noexcept { if (s.x) { return 1; } return 2; }
constexpr int kSize() { return 3; }
template <class T> T Twice(T t) { return t + t; }
int Declared(int);
}  // namespace n
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x += 1;", "x += 2;"),
        ("return x;", "return x + 1;"),
        ("return 1;", "while (s.x) { return 5; }"),
        ("return t + t;", "return 2 * t;"),
        ("// namespace n", "// a comment /* of */ another kind"),
        ("int Declared(int);", "/* text { */ int   Declared( int ) ;"),
        ("#pragma once", "// guarded\n\n  #pragma once  "),
    ],
)
def test_a_body_or_comment_is_no_part_of_it(old: str, new: str) -> None:
    assert interface(BASE.replace(old, new).encode()) == interface(BASE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int x = 0;", "long x = 0;"),
        ("int x = 0;", "int x = 1;"),
        ("Free(const S& s)", "Free(S s)"),
        ("return 3;", "return 4;"),
        ("int Declared(int);", "int Declared(int, int = 0);"),
        ("#pragma once", "#pragma once\n#define X {"),
        ("int Get() const {", "auto Get() const {"),
        ("int Declared(int);", "int Declared(int);\nint More() { return 1; }"),
    ],
)
def test_what_an_includer_can_see_is_part_of_it(old: str, new: str) -> None:
    assert interface(BASE.replace(old, new).encode()) != interface(BASE.encode())


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN_NAMESPACE(n) { int x; }",
        "struct __attribute__((packed)) P { int x; };",
        "class alignas(8) P { int x; };",
        "inline auto f = [](int) { int x; return x; };",
        "auto f(int) -> int { int x; return x; }",
        "int table[] = { call(1), x };",
        "enum class E : decltype(f()) { x };",
        'extern "C" { int x; }',
        "#ifdef A\nint f(int) {\n#else\nint f(long) {\n#endif\n int x; }",
    ],
)
def test_where_there_is_a_doubt_it_is_kept(text: str) -> None:
    assert interface(text.encode()) != interface(text.replace("x", "y").encode())


def test_a_change_in_a_string_that_looks_like_code_is_seen() -> None:
    assert interface(b'const char* s = "}";') != interface(b'const char* s = "{";')


def test_an_indented_directive_is_no_part_of_the_function_after_it() -> None:
    text = "namespace n {\n#ifdef A\n  #define X 1\ninline int F() { return 2; }\n#endif\n}\n"
    old, new = (interface(each.encode()) for each in (text, text.replace("X 1", "X 2")))
    assert [name for name, _ in old.functions] == ["F"]
    assert old.functions == new.functions
    assert old.shared != new.shared
