"""Each shape of code, before and after."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from rules.markers import Marker
from tests.codemods.conftest import Case

MAKE = "Make(w.bytes.data(), Device::Cpu)"

SHAPES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "return": (
        """\
        Tensor f(const Owner& w) {
          // why this is so
          return Make(w.bytes.data(), Device::Cpu);  // alias
        }
        """,
        """\
        Tensor f(const Owner& w) {
          // why this is so
          Tensor t = Make(w.bytes.data(), Device::Cpu);  // alias
          t.repacked = w.repacked;
          return t;
        }
        """,
        {},
    ),
    "return on one line with the function": (
        """\
        Tensor f(const Owner& w) { return Make(w.bytes.data(), Device::Cpu); }
        """,
        """\
        Tensor f(const Owner& w) {
          Tensor t = Make(w.bytes.data(), Device::Cpu);
          t.repacked = w.repacked;
          return t;
        }
        """,
        {},
    ),
    "braceless if": (
        """\
        Tensor f(const Owner& w, bool t) {
          if (t)
            return Make(w.bytes.data(), Device::Cpu);
          else
            return Tensor{};
        }
        """,
        """\
        Tensor f(const Owner& w, bool t) {
          if (t) {
            Tensor t2 = Make(w.bytes.data(), Device::Cpu);
            t2.repacked = w.repacked;
            return t2;
          } else
            return Tensor{};
        }
        """,
        {},
    ),
    "braceless if on one line": (
        """\
        Tensor f(const Owner& w) {
          if (Ready()) return Make(w.bytes.data(), Device::Cpu);
          return Tensor{};
        }
        """,
        """\
        Tensor f(const Owner& w) {
          if (Ready()) {
            Tensor t = Make(w.bytes.data(), Device::Cpu);
            t.repacked = w.repacked;
            return t;
          }
          return Tensor{};
        }
        """,
        {},
    ),
    "braceless else": (
        """\
        Tensor f(const Owner& w) {
          if (Ready()) return Tensor{};
          else return Make(w.bytes.data(), Device::Cpu);
        }
        """,
        """\
        Tensor f(const Owner& w) {
          if (Ready()) return Tensor{};
          else {
            Tensor t = Make(w.bytes.data(), Device::Cpu);
            t.repacked = w.repacked;
            return t;
          }
        }
        """,
        {},
    ),
    "case label": (
        """\
        Tensor f(const Owner& w, int k) {
          switch (k) {
            case 1:
              return Make(w.bytes.data(), Device::Cpu);
            case 2: return Tensor{};
          }
          return Tensor{};
        }
        """,
        """\
        Tensor f(const Owner& w, int k) {
          switch (k) {
            case 1: {
              Tensor t = Make(w.bytes.data(), Device::Cpu);
              t.repacked = w.repacked;
              return t;
            }
            case 2: return Tensor{};
          }
          return Tensor{};
        }
        """,
        {},
    ),
    "lambda": (
        """\
        Tensor f(const Owner& w) {
          auto made = [&] { return Make(w.bytes.data(), Device::Cpu); };
          return made();
        }
        """,
        """\
        Tensor f(const Owner& w) {
          auto made = [&] {
            Tensor t = Make(w.bytes.data(), Device::Cpu);
            t.repacked = w.repacked;
            return t;
          };
          return made();
        }
        """,
        {},
    ),
    "declared": (
        """\
        void f(Tensor& out, const Owner& w) {
          Tensor b = Make(w.bytes.data(), Device::Cpu);
          b.rank = 2;
          Gemm(out, b);
        }
        """,
        """\
        void f(Tensor& out, const Owner& w) {
          Tensor b = Make(w.bytes.data(), Device::Cpu);
          b.rank = 2;
          b.repacked = w.repacked;
          Gemm(out, b);
        }
        """,
        {"dest": "b"},
    ),
    "declared const": (
        """\
        void f(Tensor& out, const Owner& w) {
          const Tensor& b = Make(w.bytes.data(), Device::Cpu);
          Gemm(out, b);
        }
        """,
        """\
        void f(Tensor& out, const Owner& w) {
          Tensor b = Make(w.bytes.data(), Device::Cpu);
          b.repacked = w.repacked;
          Gemm(out, b);
        }
        """,
        {},
    ),
    "declared with braces": (
        """\
        void f(Tensor& out, const Owner* w) {
          const auto b{Make(w->bytes.data(), Device::Cpu)};
          Gemm(out, b);
        }
        """,
        """\
        void f(Tensor& out, const Owner* w) {
          auto b{Make(w->bytes.data(), Device::Cpu)};
          b.repacked = w->repacked;
          Gemm(out, b);
        }
        """,
        {"source_text": "*w", "code": "Make(w->bytes.data(), Device::Cpu)"},
    ),
    "assigned": (
        """\
        void f(std::vector<Tensor>& out, const Owner& w) {
          out[0] = Make(w.bytes.data(), Device::Cpu);
        }
        """,
        """\
        void f(std::vector<Tensor>& out, const Owner& w) {
          out[0] = Make(w.bytes.data(), Device::Cpu);
          out[0].repacked = w.repacked;
        }
        """,
        {},
    ),
    "temporary as an argument": (
        """\
        void f(Tensor& out, const Owner& w) {
          if (Ready()) Gemm(out, Make(w.bytes.data(), Device::Cpu));
        }
        """,
        """\
        void f(Tensor& out, const Owner& w) {
          if (Ready()) {
            Tensor t = Make(w.bytes.data(), Device::Cpu);
            t.repacked = w.repacked;
            Gemm(out, t);
          }
        }
        """,
        {},
    ),
    "temporary source": (
        """\
        Tensor f(int i) {
          return Make(Get(i).bytes.data(), Device::Cpu);
        }
        """,
        """\
        Tensor f(int i) {
          auto&& src = Get(i);
          Tensor t = Make(src.bytes.data(), Device::Cpu);
          t.repacked = src.repacked;
          return t;
        }
        """,
        {"source_text": "Get(i)", "code": "Make(Get(i).bytes.data(), Device::Cpu)"},
    ),
    "fields": (
        """\
        void f(Tensor& out, const Owner& w) {
          Tensor b;
          b.data = w.bytes.data();
          b.rank = 2;
          for (int i = 0; i < 2; ++i) b.rank = i;
          Gemm(out, b);
        }
        """,
        """\
        void f(Tensor& out, const Owner& w) {
          Tensor b;
          b.data = w.bytes.data();
          b.rank = 2;
          for (int i = 0; i < 2; ++i) b.rank = i;
          b.repacked = w.repacked;
          Gemm(out, b);
        }
        """,
        {"form": "fields", "dest": "b", "code": "b.data = w.bytes.data()", "after": "b.rank = i;"},
    ),
    "retag": (
        """\
        Tensor view(const Owner& w);
        Tensor f(const Owner& w, const void* p) {
          Tensor t = view(w);
          t.device = Device::Gpu;
          if (p) t.data = p;
          return t;
        }
        """,
        """\
        Tensor view(const Owner& w);
        Tensor f(const Owner& w, const void* p) {
          Tensor t = view(w);
          t.device = Device::Gpu;
          if (p) t.data = p;
          t.repacked = w.repacked;
          return t;
        }
        """,
        {"form": "retag", "dest": "t", "code": "view(w);", "nth": 0, "after": "t.data = p;"},
    ),
    "literal replaced": (
        """\
        Tensor f(const Owner& w) {
          Tensor t = Make(w.bytes.data(), Device::Cpu);
          t.repacked = false;
          return t;
        }
        """,
        """\
        Tensor f(const Owner& w) {
          Tensor t = Make(w.bytes.data(), Device::Cpu);
          t.repacked = w.repacked;
          return t;
        }
        """,
        {"rule": "VT005", "dest": "t"},
    ),
    "inside the owner": (
        """\
        struct Own : Owner {
          Tensor View() const { return Make(bytes.data(), Device::Cpu); }
        };
        """,
        """\
        struct Own : Owner {
          Tensor View() const {
            Tensor t = Make(bytes.data(), Device::Cpu);
            t.repacked = repacked;
            return t;
          }
        };
        """,
        {"source_text": "", "member_op": "", "code": "Make(bytes.data(), Device::Cpu)"},
    ),
    "too wide for its line": (
        """\
        Tensor f(const Owner& w) {
          return Make(w.bytes.data(), Device::Cpu, 111111111 + 1,
                      1222222222 + 1);
        }
        """,
        """\
        Tensor f(const Owner& w) {
          Tensor t = Make(w.bytes.data(), Device::Cpu, 111111111 + 1, 1222222222 + 1);
          t.repacked = w.repacked;
          return t;
        }
        """,
        {
            "code": "Make(w.bytes.data(), Device::Cpu, 111111111 + 1,\n              1222222222 + 1)",
        },
    ),
    "refused": (
        """\
        Tensor f(const Owner& w) {
          // upload
          if (Ready()) Load(1);
          return Make(w.bytes.data(), Device::Gpu);
        }
        """,
        """\
        Tensor f(const Owner& w) {
          Require(!w.repacked, "make: repacked weight (rows interleaved): no kernel of cuda reads it");
          // upload
          if (Ready()) Load(1);
          return Make(w.bytes.data(), Device::Gpu);
        }
        """,
        {
            "action": "refuse",
            "devices": ("cuda",),
            "code": "Make(w.bytes.data(), Device::Gpu)",
            "before": "if (Ready())",
        },
    ),
    "refused in a braceless body": (
        """\
        void f(std::vector<Tensor>& out, const std::vector<Owner>& all) {
          for (const Owner& w : all)
            out.push_back(Make(w.bytes.data() + 8, Device::Cpu));
        }
        """,
        """\
        void f(std::vector<Tensor>& out, const std::vector<Owner>& all) {
          for (const Owner& w : all) {
            Require(!w.repacked, "make: repacked weight (rows interleaved): the layout cannot be cut");
            out.push_back(Make(w.bytes.data() + 8, Device::Cpu));
          }
        }
        """,
        {"action": "refuse", "form": "slice", "code": "Make(w.bytes.data() + 8, Device::Cpu)"},
    ),
    "refused before the loop": (
        """\
        void f(std::vector<Tensor>& out, const Owner& w) {
          for (int i = 0; i < 2; ++i) {
            if (i > 1) break;
            for (int j = 0; j < 2; ++j) out.push_back(Make(w.bytes.data() + i, Device::Cpu));
          }
        }
        """,
        """\
        void f(std::vector<Tensor>& out, const Owner& w) {
          Require(!w.repacked, "make: repacked weight (rows interleaved): the layout cannot be cut");
          for (int i = 0; i < 2; ++i) {
            if (i > 1) break;
            for (int j = 0; j < 2; ++j) out.push_back(Make(w.bytes.data() + i, Device::Cpu));
          }
        }
        """,
        {"action": "refuse", "form": "slice", "code": "Make(w.bytes.data() + i, Device::Cpu)"},
    ),
    "refused before the upload, behind the other arm": (
        """\
        void Upload(const void* from, const void* to);
        Tensor f(const Owner& w, void* p) {
          if (Ready()) return Make(w.bytes.data(), Device::Cpu);
          // once
          if (p) {
            Upload(w.bytes.data(), p);
            auto done = [p] { return p; };
            done();
          }
          return Make(p, Device::Gpu);
        }
        """,
        """\
        void Upload(const void* from, const void* to);
        Tensor f(const Owner& w, void* p) {
          if (Ready()) return Make(w.bytes.data(), Device::Cpu);
          Require(!w.repacked, "make: repacked weight (rows interleaved): no kernel of cuda reads it");
          // once
          if (p) {
            Upload(w.bytes.data(), p);
            auto done = [p] { return p; };
            done();
          }
          return Make(p, Device::Gpu);
        }
        """,
        {"action": "refuse", "devices": ("cuda",), "code": "Make(p, Device::Gpu)"},
    ),
    "carried and refused elsewhere": (
        """\
        Tensor f(const Owner& w, Device d) {
          return Make(w.bytes.data(), d);
        }
        """,
        """\
        Tensor f(const Owner& w, Device d) {
          Require(!w.repacked || d == Device::Gpu,
                  "make: repacked weight (rows interleaved): no kernel of cpu, vulkan reads it");
          Tensor t = Make(w.bytes.data(), d);
          t.repacked = w.repacked;
          return t;
        }
        """,
        {
            "action": "both",
            "devices": ("cpu", "cuda", "vulkan"),
            "off": ("cpu", "vulkan"),
            "device_tests": (("cuda", "d == Device::Gpu"),),
            "code": "Make(w.bytes.data(), d)",
        },
    ),
    "several lines in a case": (
        """\
        void f(Tensor& o, const Owner& w, int k) {
          switch (k) {
            case 1:
              Ready();
              Gemm(o,
                   Make(w.bytes.data(),
                        Device::Cpu));
              break;
            case 2: Gemm(o,
                         Make(nullptr, Device::Cpu));
          }
        }
        """,
        """\
        void f(Tensor& o, const Owner& w, int k) {
          switch (k) {
            case 1:
              Ready();
              {
                Require(!w.repacked, "make: repacked weight (rows interleaved): no kernel of cpu reads it");
                Gemm(o,
                     Make(w.bytes.data(),
                          Device::Cpu));
              }
              break;
            case 2: Gemm(o,
                         Make(nullptr, Device::Cpu));
          }
        }
        """,
        {"action": "refuse", "code": "Make(w.bytes.data(),\n                Device::Cpu)"},
    ),
    "several lines carried in a case": (
        """\
        Tensor f(const Owner& w, int k) {
          switch (k) {
            case 1:
              Ready();
              return Make(w.bytes.data(),  // alias
                          Device::Cpu);
          }
          return Tensor{};
        }
        """,
        """\
        Tensor f(const Owner& w, int k) {
          switch (k) {
            case 1:
              Ready();
              {
                Tensor t = Make(w.bytes.data(),  // alias
                            Device::Cpu);
                t.repacked = w.repacked;
                return t;
              }
          }
          return Tensor{};
        }
        """,
        {"code": "Make(w.bytes.data(),  // alias\n                  Device::Cpu)"},
    ),
    "a loop in a case": (
        """\
        void f(Tensor& o, const Owner& w, int k) {
          switch (k) {
            case 1:
              Ready();
              for (int i = 0; i < 2; ++i) {
                Gemm(o, Make(w.bytes.data(), Device::Cpu));

                const char* text = R"(
        as it is)";
                (void)text;
              }
              break;
          }
        }
        """,
        """\
        void f(Tensor& o, const Owner& w, int k) {
          switch (k) {
            case 1:
              Ready();
              {
                Require(!w.repacked, "make: repacked weight (rows interleaved): no kernel of cpu reads it");
                for (int i = 0; i < 2; ++i) {
                  Gemm(o, Make(w.bytes.data(), Device::Cpu));

                  const char* text = R"(
        as it is)";
                  (void)text;
                }
              }
              break;
          }
        }
        """,
        {"action": "refuse"},
    ),
    "several lines behind a test": (
        """\
        void f(Tensor& o, const Owner& w) {
          if (Ready()) Gemm(o, Make(w.bytes.data(),
                                    Device::Cpu));
          else Gemm(
              o, Make(nullptr, Device::Cpu));
        }
        """,
        """\
        void f(Tensor& o, const Owner& w) {
          if (Ready()) {
            Require(!w.repacked, "make: repacked weight (rows interleaved): no kernel of cpu reads it");
            Gemm(o, Make(w.bytes.data(),
                         Device::Cpu));
          } else Gemm(
              o, Make(nullptr, Device::Cpu));
        }
        """,
        {"action": "refuse", "code": "Make(w.bytes.data(),\n                            Device::Cpu)"},
    ),
    "several lines at the indent of the test": (
        """\
        void f(Tensor& o, const Owner& w) {
          if (Ready()) Gemm(
              o,
              Make(w.bytes.data(), Device::Cpu));
        }
        """,
        """\
        void f(Tensor& o, const Owner& w) {
          if (Ready()) {
            Require(!w.repacked, "make: repacked weight (rows interleaved): no kernel of cpu reads it");
            Gemm(
                o,
                Make(w.bytes.data(), Device::Cpu));
          }
        }
        """,
        {"action": "refuse"},
    ),
    "cleared": (
        """\
        void f(Owner& o, const std::vector<unsigned char>& plain) {
          o.bytes = plain;
        }
        """,
        """\
        void f(Owner& o, const std::vector<unsigned char>& plain) {
          o.bytes = plain;
          o.repacked = false;
        }
        """,
        {"action": "clear", "source_text": "o", "code": "o.bytes = plain"},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(case: Case, name: str) -> None:
    before, after, options = SHAPES[name]
    case.write(dedent(before))
    case.find(**{"code": MAKE, **options})
    assert case.fixed(markers=[Marker("repacked", "rows interleaved", ("cpu",), row_group=4)]) == dedent(
        after
    )


def test_all_shapes_compile(case: Case) -> None:
    case.write("".join(f"namespace n{i} {{\n{dedent(s[1])}}}\n" for i, s in enumerate(SHAPES.values())))
    case.compiles()


def test_the_prefix_of_one_function_is_not_that_of_another(case: Case) -> None:
    case.write(
        'void g(int n) {\n  Require(n > 0, "g: too few");\n  Require(n < 9, "g: too many");\n}\n'
        "Tensor f(const Owner& w) {\n  return Make(w.bytes.data(), Device::Cpu);\n}\n"
    )
    case.find("Make(w.bytes.data(), Device::Cpu)", "aligned", "refuse", function="ns::f")
    assert 'Require(!w.aligned, "f: aligned weight' in case.fixed()


POINTED = "Make(p->bytes.data(), Device::Cpu)"
KEPT = {
    "declared in the same if": f"if (const Owner* p = &w; {POINTED}.rank) Ready();",
    "declared in the same for": f"for (const Owner* p = &w; {POINTED}.rank > 1;) Ready();",
    "behind a test of the pointer": f"if (p && {POINTED}.rank > 1) Ready();",
    "under a macro": f"IF(Ready())\n  Gemm(o, {POINTED});",
}
LATE = {
    "behind a call in braces": f"P made{{Up(p), {POINTED}}};\n  (void)made;",
    "behind the object's call": f"Object(p).Use({POINTED});",
    "behind a shift": f"Object(p) << {POINTED};",
    "behind a comma": f"Up(p), Gemm(o, {POINTED});",
}
FRAME = """\
#define IF(x) if (x)
struct P { int a; Tensor b; };
struct Q { void Use(const Tensor&); Q& operator<<(const Tensor&); };
int Up(const Owner*);
Q& Object(const Owner*);
void f(const Owner* p, const Owner& w, Tensor& o) {
  STATEMENT
}
"""


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("action", ["propagate", "refuse"])
def test_what_cannot_be_moved_ahead_is_shown_only(case: Case, name: str, action: str) -> None:
    case.write(FRAME.replace("STATEMENT", KEPT[name]))
    case.find(POINTED, action=action, source_text="p", member_op="->")
    assert case.skipped()
    case.compiles()


@pytest.mark.parametrize("name", LATE)
def test_what_comes_first_stays_first(case: Case, name: str) -> None:
    case.write(FRAME.replace("STATEMENT", LATE[name]))
    case.find(POINTED, source_text="p", member_op="->")
    assert "has to be done ahead of it" in case.skipped()


def test_a_pointer_is_asked_where_it_is_used(case: Case) -> None:
    case.write(
        "void f(const Owner* p, Tensor& o) {\n"
        f"  while (p) Gemm(o, {POINTED});\n"
        f"  if (p) Gemm(o, {POINTED});\n"
        f"  else Gemm(o, {POINTED});\n"
        "}\n"
    )
    for nth in range(3):
        case.find(POINTED, action="refuse", source_text="p", member_op="->", nth=nth)
    text = case.fixed()
    assert text.count("{\n    Require(!p->repacked") == 3
    case.compiles()
