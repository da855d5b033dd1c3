import pytest

from analyzer.layout import code

BASE = """\
#include <vector>  // of everything
/* A reader. */
int Read(const char* name, int n) {
  // looks twice
  if (n > 0 /* some */ && name[0] == '"') {
    return Find("a // b", n);  // found
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  // looks twice\n", ""),
        ("  // looks twice", "\n\n  /* looks\n     more */   \n\n"),
        ("/* A reader. */", "/* Another\n * reader **/"),
        ("  return 0;", "\t    return 0;  "),
        ("  // found", ""),
        ("// of everything", "// it's all"),
        ("  return 0;\n}\n", "  return 0;\n}\n// the end"),
    ],
)
def test_comments_indentation_and_blank_lines_are_layout(old: str, new: str) -> None:
    assert code(BASE.replace(old, new).encode()) == code(BASE.encode()) != ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 0;", "return 1;"),
        ("return 0;", "return\n 0;"),
        ("/* some */", "/* a few */"),  # a message may quote the condition
        ("a // b", "a // c"),
        ("/* A reader. */", "/* A reader. */ int x; /* more */"),
        ("  // looks twice", "  // vt-lint: allow VT001 -- looks twice"),
        ("name[0] == '\"'", "name[0] == '/*'"),
    ],
)
def test_everything_else_is_not(old: str, new: str) -> None:
    assert code(BASE.replace(old, new).encode()) != code(BASE.encode())


@pytest.mark.parametrize(
    "text",
    ["int n = 1'000; // it's %s", "#include <a//%s.h>", 'const char* s = R"(%s // )";', "char c = u8'%s';"],
)
def test_what_looks_like_the_begin_of_something_else(text: str) -> None:
    texts = [f"{BASE}{text % word}\n".encode() for word in "xy"]
    assert (code(texts[0]) == code(texts[1])) == ("// it" in text)


@pytest.mark.parametrize("text", ['const char* s = R"(a\n  b)";', 'const char* s = "a\\\n  b";'])
def test_a_text_over_several_lines_has_layout_in_it(text: str) -> None:
    assert code(f"{BASE}{text}\n".encode()) == ""
