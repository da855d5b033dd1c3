"""A refusal stands before the first statement that hands the weight on: what is refused is not uploaded first."""

from __future__ import annotations

import re

import pytest

from tests.codemods.conftest import Case

PRELUDE = """\
Tensor Resident(const Owner& w, int device);
Tensor Wrapped(const Tensor& t);
Tensor Cut(const Tensor& t, int row);
struct Holder { Holder(int device, const Owner& w); Tensor view() const; };
void Note(const char* text);
"""
CUT = "t.data = static_cast<const char*>(whole.data) + row"

BEFORE_THE_UPLOAD = {
    "a local": f"""\
Tensor f(const Owner& w, int row) {{
  >const Tensor whole = Resident(w, 1);
  const int unused = 0;
  Tensor t = whole;
  (void)unused;
  {CUT};
  return t;
}}
""",
    "a nested call": f"""\
Tensor f(const Owner& w, int row) {{
  >const Tensor whole = Wrapped(Resident(w, 1));
  Tensor t = whole;
  {CUT};
  return t;
}}
""",
    "a temporary": """\
Tensor f(const Owner& w, int row) {
  Tensor t;
  >t.data = static_cast<const char*>(Resident(w, 1).data) + row;
  return t;
}
""",
    "returned directly": """\
Tensor f(const Owner& w, int row) {
  Note("cut");
  >return Cut(Resident(w, 1), row);
}
""",
    "the head of an if": f"""\
Tensor f(const Owner& w, int row) {{
  >if (const Tensor whole = Resident(w, 1); row > 0) {{
    Tensor t = whole;
    {CUT};
    return t;
  }}
  return Tensor{{}};
}}
""",
    "for one branch alone": f"""\
Tensor f(const Owner& w, int row) {{
  >const Tensor whole = Resident(w, 1);
  if (row > 0) {{
    Tensor t = whole;
    {CUT};
    return t;
  }}
  return Tensor{{}};
}}
""",
    "a lambda that does it all": f"""\
Tensor f(const Owner& w, int row) {{
  auto cut = [&] {{
    >const Tensor whole = Resident(w, 1);
    Tensor t = whole;
    {CUT};
    return t;
  }};
  return cut();
}}
""",
    "a lambda that only uploads": f"""\
Tensor f(const Owner& w, int row) {{
  >auto upload = [&] {{ return Resident(w, 1); }};
  const Tensor whole = upload();
  Tensor t = whole;
  {CUT};
  return t;
}}
""",
    "a constructor": f"""\
Tensor f(const Owner& w, int row) {{
  >Holder kept(1, w);
  const Tensor whole = kept.view();
  Tensor t = whole;
  {CUT};
  return t;
}}
""",
    "out of a block": f"""\
Tensor f(const Owner& w, int row) {{
  >const Tensor whole = Resident(w, 1);
  {{
    Tensor t = whole;
    {CUT};
    return t;
  }}
}}
""",
    "behind what leaves": f"""\
Tensor f(const Owner& w, int row) {{
  if (row == 0) return Resident(w, 0);
  >const Tensor whole = Resident(w, 1);
  Tensor t = whole;
  {CUT};
  return t;
}}
""",
    "behind a check of the marker": f"""\
Tensor f(const Owner& w, int row) {{
  Wrapped(Resident(w, 0));
  Require(!w.repacked || row > 1, "small");
  >const Tensor whole = Resident(w, 1);
  Tensor t = whole;
  {CUT};
  return t;
}}
""",
    "but a copy hands nothing on": """\
Tensor f(const Tensor& w, int row) {
  Tensor t(w);
  Tensor u = w;
  >t.data = static_cast<const char*>(w.data) + row;
  return t.rank ? t : u;
}
""",
    "but what both branches use is no branch's to refuse": f"""\
Tensor f(const Owner& w, int row) {{
  const Tensor whole = Resident(w, 1);
  if (row > 0) {{
    Tensor t = whole;
    >{CUT};
    return t;
  }}
  return whole;
}}
""",
    "but another case uploads for itself": f"""\
Tensor f(const Owner& w, int row) {{
  Tensor whole;
  switch (row) {{
    case 1:
      whole = Resident(w, 1);
      break;
    default: {{
      Tensor t = whole;
      >{CUT};
      return t;
    }}
  }}
  return whole;
}}
""",
    "but a pointer may be null there": """\
Tensor f(const Owner* w, int row) {
  Note(w ? "some" : "none");
  Wrapped(w ? Resident(*w, 1) : Tensor{});
  Tensor t;
  >t.data = w->bytes.data() + row;
  return t;
}
""",
}


@pytest.mark.parametrize("name", BEFORE_THE_UPLOAD)
def test_a_refusal_stands_before_the_upload(case: Case, name: str) -> None:
    marked = BEFORE_THE_UPLOAD[name]
    (stopped,) = (line.strip()[1:] for line in marked.splitlines() if line.strip().startswith(">"))
    text = marked.replace(f">{stopped}", stopped)
    (code,) = re.findall(r"t\.data = [^;]+|Cut\(Resident[^;]+\)", text)
    case.write(PRELUDE + text)
    case.find(code, action="refuse", form="slice", member_op="->" if "w->" in text else ".")
    made = re.search(r'Require\(!w(?:\.|->)repacked,.*?"\);\s*(\S[^\n]*)\n', case.fixed(), re.DOTALL)
    assert made is not None
    assert made[1] == stopped
    case.compiles()
