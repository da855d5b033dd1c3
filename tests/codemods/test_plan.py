"""From a report to a plan: what is grouped, left out, said, and refused."""

from __future__ import annotations

import msgspec
import pytest

from codemods.apply import ApplyError
from codemods.edit import apply_edits, digest
from codemods.fix import PASSES, FixError, fix_until_stable, plan_each
from codemods.policy import Override
from rules.finding import Coverage, Report, Severity, Unanalysed
from rules.markers import Marker
from tests.codemods.conftest import Case

MAKE = "Make(w.bytes.data(), Device::Cpu)"
RETURN = f"Tensor f(const Owner& w) {{\n  return {MAKE};\n}}\n"


def test_all_markers_of_a_construction_are_fixed_together(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE, "repacked")
    case.find(MAKE, "aligned", "refuse")
    assert case.fixed(markers=[Marker("aligned", "rows", ("cuda",))]) == (
        "Tensor f(const Owner& w) {\n"
        '  Require(!w.aligned, "make: aligned weight (rows): no kernel of cpu reads it");\n'
        f"  Tensor t = {MAKE};\n"
        "  t.repacked = w.repacked;\n"
        "  return t;\n"
        "}\n"
    )
    case.compiles()


def test_two_sources_in_one_construction_are_told_apart(case: Case) -> None:
    case.write(
        "void f(const Owner& u, const Owner& v) {\n  Tensor t = Make(&u, Device::Cpu);\n  (void)v;\n}\n"
    )
    case.find("Make(&u, Device::Cpu)", source_text="u", dest="t")
    case.find("Make(&u, Device::Cpu)", "aligned", "refuse", source_text="v", dest="t")
    text = case.fixed()
    assert "  t.repacked = u.repacked;\n" in text
    assert "  Require(!v.aligned," in text


def test_a_source_that_the_site_does_not_spell(case: Case) -> None:
    case.write("void f(Owner* o) {\n  o->bytes.clear();\n}\n")
    case.find("o->bytes.clear()", action="clear", source_text="")
    case.findings[0] = msgspec.structs.replace(case.findings[0], source="o")
    assert "  o->repacked = false;\n" in case.fixed()
    case.findings[0] = msgspec.structs.replace(case.findings[0], source="u")
    assert "no spelling here" in case.skipped()


def test_two_temporaries_in_one_call_get_two_names(case: Case) -> None:
    case.write(
        "void f(const Owner& u, const Owner& v) {\n"
        "  Gemm(*new Tensor(Make(&u, Device::Cpu)), Make(&v, Device::Cpu));\n"
        "}\n"
    )
    case.find("Make(&u, Device::Cpu)", source_text="u")
    case.find("Make(&v, Device::Cpu)", source_text="v")
    assert case.fixed() == (
        "void f(const Owner& u, const Owner& v) {\n"
        "  Tensor t = Make(&u, Device::Cpu);\n"
        "  t.repacked = u.repacked;\n"
        "  Tensor t2 = Make(&v, Device::Cpu);\n"
        "  t2.repacked = v.repacked;\n"
        "  Gemm(*new Tensor(t), t2);\n"
        "}\n"
    )
    case.compiles()


def test_an_upload_is_not_refused_what_the_view_of_it_carries(case: Case) -> None:
    case.write(
        "void Upload(const void* from, void* to);\n"
        "Tensor f(const Owner& w, void* p) {\n"
        "  Upload(w.bytes.data(), p);\n"
        "  return Make(p, Device::Gpu);\n"
        "}\n"
    )
    case.find("Upload(w.bytes.data(), p)", action="refuse", form="copy-bytes", source="w")
    case.find("Make(p, Device::Gpu)", source="w")
    result = case.plan()
    assert b"Require(" not in result.patch
    assert "below carries the marker" in result.skipped[0].reason
    result.apply()
    case.findings.pop()
    assert "below carries the marker" in case.skipped()


def test_notes_are_fixed_beside_an_error_or_when_asked_for(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    case.findings[0] = msgspec.structs.replace(case.findings[0], severity=Severity.NOTE)
    assert case.plan().patch == b""
    assert b"t.repacked = w.repacked;" in case.plan(latent=True).patch
    case.find(MAKE, "aligned")
    assert b"t.repacked = w.repacked;" in case.plan().patch


def test_a_type_that_the_file_does_not_name_is_left_to_auto(case: Case) -> None:
    case.write(f"// a Tensor\nint f(const Owner& w) {{\n  return ({MAKE}).rank;\n}}\n")
    case.find(MAKE, dest_type="ns::Tensor")
    assert "  auto t = Make(" in case.fixed()


def test_one_check_where_one_dominates_the_other(case: Case) -> None:
    case.write(
        "Tensor f(const Owner& w) {\n"
        "  if (Ready()) return Make(&w, Device::Cpu);\n"
        "  return Make(w.bytes.data(), Device::Gpu);\n"
        "}\n"
    )
    first = "Make(&w, Device::Cpu)"
    case.find(first, action="refuse", before="if (Ready())")
    case.find("Make(w.bytes.data(), Device::Gpu)", action="refuse")
    assert case.fixed().count("Require(") == 1


def test_a_check_that_every_arm_needs_stands_before_the_branch(case: Case) -> None:
    before = (
        "int f(const Owner& w, int n) {\n"
        "  int sum = 0;\n"
        "  for (int i = 0; i < n; ++i) {\n"
        "    if (i == 1) sum += w.bytes[1];\n"
        "    else if (i == 2) {\n"
        "      sum += w.bytes[2];\n"
        "    } else {\n"
        "      sum += w.bytes[3];\n"
        "    }\n"
        "  }\n"
        "  return sum;\n"
        "}\n"
    )
    case.write(before)
    for i in (1, 2, 3):
        case.find(f"w.bytes[{i}]", action="refuse", form="read")
    check = '  Require(!w.repacked, "make: repacked weight: its bytes are read as plain here");\n'
    assert case.fixed(markers=[]) == before.replace("  for", f"{check}  for")


def test_a_check_that_one_arm_needs_stays_there(case: Case) -> None:
    case.write(
        "int f(const Owner& w, int n) {\n"
        "  if (n > 1) return w.bytes[1];\n"
        "  else if (n > 2) return w.bytes[2];\n"
        "  return w.bytes[3];\n"
        "}\n"
    )
    for i in (1, 2):
        case.find(f"w.bytes[{i}]", action="refuse", form="read")
    assert case.fixed(markers=[]).count("Require(") == 2
    case.compiles()


def test_both_arms_of_a_conditional_return(case: Case) -> None:
    case.write(
        "Tensor f(const Owner& w, bool b) {\n"
        "  return b ? Make(&w, Device::Cpu) : Make(w.bytes.data(), Device::Gpu);\n"
        "}\n"
    )
    case.find("Make(&w, Device::Cpu)")
    case.find("Make(w.bytes.data(), Device::Gpu)", action="refuse", devices=("cuda",))
    assert case.fixed(markers=[]) == (
        "Tensor f(const Owner& w, bool b) {\n"
        "  if (b) {\n"
        "    Tensor t = Make(&w, Device::Cpu);\n"
        "    t.repacked = w.repacked;\n"
        "    return t;\n"
        "  }\n"
        '  Require(!w.repacked, "make: repacked weight: no kernel of cuda reads it");\n'
        "  return Make(w.bytes.data(), Device::Gpu);\n"
        "}\n"
    )
    case.compiles()


def test_crlf_bom_and_missing_last_newline_are_kept(case: Case) -> None:
    case.write(RETURN.rstrip("\n"), newline="\r\n", bom=True)
    case.find(MAKE)
    case.fixed()
    data = case.file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf#include")
    assert data.endswith(b"  t.repacked = w.repacked;\r\n  return t;\r\n}")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_symlink_is_written_through_and_stays(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    real = case.root / "real.inc"
    case.file.rename(real)
    case.file.symlink_to("real.inc")
    assert "return t;" in case.fixed()
    assert case.file.is_symlink()
    assert b"return t;" in real.read_bytes()


def test_one_file_under_two_names_is_edited_once(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    (case.root / "b.cpp").symlink_to("a.cpp")
    twin = case.findings[0]
    place = msgspec.structs.replace(twin.place, path="b.cpp")
    case.findings.append(msgspec.structs.replace(twin, place=place, construction="b"))
    assert case.fixed().count("t.repacked = w.repacked;") == 1


def test_tabs_and_allman_braces(case: Case) -> None:
    case.write(
        "Tensor f(const Owner& w)\n{\n\tif (Ready())\n\t\treturn Make(&w, Device::Cpu);\n\treturn {};\n}\n"
    )
    case.find("Make(&w, Device::Cpu)")
    assert case.fixed() == (
        "Tensor f(const Owner& w)\n{\n\tif (Ready())\n\t{\n\t\tTensor t = Make(&w, Device::Cpu);\n"
        "\t\tt.repacked = w.repacked;\n\t\treturn t;\n\t}\n\treturn {};\n}\n"
    )


def test_messages_follow_the_file_and_its_width(case: Case) -> None:
    (case.root / ".clang-format").write_text("ColumnLimit: 60\nIndentWidth: 2\n")
    case.write('void g(bool b) {\n  Require(b, "loader: not now");\n}\n' + RETURN)
    case.find(MAKE, action="refuse")
    lines = case.fixed(markers=[Marker("repacked", 'rows "swapped"', ("cpu",))]).splitlines()
    assert (
        lines[4:7]
        == [
            "  Require(!w.repacked,",
            '          "loader: repacked weight (rows "',
            '          "\\"swapped\\"): no kernel of cpu reads it");',
        ]
        or max(map(len, lines)) <= 60
    )
    case.compiles()


def test_the_switch_is_named_when_the_tree_says_so(case: Case) -> None:
    (case.root / "env.cpp").write_text(
        'bool on = getenv("VT_PACK") != nullptr;\n'
        "// VT_PACK rewrites the rows\n"
        "struct S { bool repacked; };\n"
    )
    case.write(RETURN)
    case.find(MAKE, action="refuse")
    assert "VT_PACK=0 turns the rewrite off" in case.fixed()


@pytest.mark.parametrize(
    ("text", "code", "options", "reason"),
    [
        (
            f"#define M(w) {MAKE}\nTensor f(const Owner& w) {{ return M(w); }}\n",
            "M(w);",
            {"macro": True},
            "macro",
        ),
        (RETURN, MAKE, {"safety": "display"}, "no place"),
        (RETURN, MAKE, {"safety": "unsafe"}, "--unsafe"),
        (RETURN, MAKE, {"dest_has_marker": False}, "no such field"),
        (RETURN, MAKE, {"form": "read"}, "no carrier is made"),
        (f"Owner w;\nTensor global = {MAKE};\n", MAKE, {}, "not a statement"),
        (
            f"void f(const Owner& w) {{\n  Tensor t = Ready() ? {MAKE} : Tensor{{}};\n}}\n",
            MAKE,
            {},
            "conditional",
        ),
        (f"void f(const Owner& w) {{\n  while (({MAKE}).rank) Ready();\n}}\n", MAKE, {}, "loop"),
        (f"bool f(const Owner& w) {{\n  return Ready() && ({MAKE}).rank;\n}}\n", MAKE, {}, "left operand"),
        (f"void f(const Owner& w) {{\n  static const Tensor t = {MAKE};\n}}\n", MAKE, {}, "once"),
        (
            f"Tensor f(const Owner& w) noexcept {{\n  return {MAKE};\n}}\n",
            MAKE,
            {"action": "refuse"},
            "noexcept",
        ),
        (RETURN, MAKE, {"action": "both", "off": ("cuda",), "devices": ("cpu", "cuda")}, "no test for cpu"),
        (RETURN, MAKE, {"source_text": "Load(1)"}, "temporary"),
    ],
)
def test_shown_but_not_edited(
    case: Case, text: str, code: str, options: dict[str, object], reason: str
) -> None:
    case.write(text)
    case.find(code, **options)  # type: ignore[arg-type]
    assert reason in case.skipped()


def test_what_is_not_edited_is_shown(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE, safety="display")
    (skipped,) = case.plan().skipped
    assert str(skipped).splitlines() == [
        "a.cpp:3 ns::make: repacked not edited: no place in the code where an edit is known to be right",
        "    t.repacked = w.repacked;",
    ]


def test_unsafe_is_applied_when_allowed(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE, safety="unsafe")
    assert "return t;" in case.fixed(unsafe=True)


def test_no_check_in_sight(case: Case) -> None:
    (case.root / "prelude.h").write_text("")
    case.write(RETURN)
    case.find(MAKE, action="refuse")
    assert "name one with `check`" in case.skipped()
    assert "ENSURE(!w.repacked," in case.fixed(check="ENSURE")


def test_a_macro_that_only_logs_is_no_check(case: Case) -> None:
    (case.root / "prelude.h").write_text(
        "#define CHECK_WARN(c, m) do { if (!(c)) log(m); } while (0)\n"
        "#define DEMAND(c, m) \\\n  do { if (!(c)) throw 1; } while (0)\n"
    )
    case.write(RETURN)
    case.find(MAKE, action="refuse")
    assert "  DEMAND(!w.repacked," in case.fixed()


def test_summary_says_what_and_why(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    case.findings[0] = msgspec.structs.replace(
        case.findings[0],
        fix=msgspec.structs.replace(case.findings[0].fix, why="a kernel of cpu reads repacked"),
    )
    assert case.plan().summary == ("a.cpp:3 ns::make: repacked carried: a kernel of cpu reads repacked",)


def test_an_override_changes_the_action(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    result = case.plan(overrides=[Override("repacked", "cpu", "refuse")])
    assert b"Require(!w.repacked" in result.patch
    assert "policy: refuse on cpu" in result.summary[0]


def test_suppressed_findings_are_left_alone(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    case.findings[0] = msgspec.structs.replace(case.findings[0], suppressed="measured")
    assert case.plan().patch == b""


def test_a_file_changed_after_the_plan_is_not_written(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    result = case.plan()
    case.file.write_text("changed\n")
    with pytest.raises(ApplyError, match="changed since it was read"):
        result.apply()
    assert case.file.read_text() == "changed\n"


def test_a_missing_file_is_one_line(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    case.file.unlink()
    with pytest.raises(ApplyError, match=r"a\.cpp: No such file"):
        case.plan()


def test_until_stable(case: Case) -> None:
    case.write(RETURN)

    def check() -> Report:
        case.findings.clear()
        if b"return t;" not in case.file.read_bytes():
            case.find(MAKE)
        return Report("", (), Coverage(1, 1, 1), tuple(case.findings))

    report, plans = fix_until_stable(check, case.root)
    assert report.findings == ()
    assert [bool(p.files) for p in plans] == [True, False]


def test_no_end_is_an_error(case: Case) -> None:
    case.write(f"void f(const Owner& w) {{\n  Tensor t = {MAKE};\n}}\n")

    def check() -> Report:
        case.find(MAKE, f"marker{len(case.findings)}", dest="t")
        return Report("", (), Coverage(1, 1, 1), tuple(case.findings[-1:]))

    with pytest.raises(FixError, match=f"not stable after {PASSES} passes"):
        fix_until_stable(check, case.root)


def test_what_is_there_already_is_not_written_again(case: Case) -> None:
    stored = f"  Tensor t = {MAKE};\n  t.repacked = w.repacked;\n"
    case.write(f'void f(const Owner& w) {{\n  Require(!w.aligned, "x");\n{stored}}}\n')
    case.find(MAKE, dest="t")
    assert "is there already" in case.skipped()
    case.findings.clear()
    case.find(MAKE, "aligned", "refuse", dest="t")
    assert "is checked before it already" in case.skipped()


def test_a_fix_that_breaks_the_analysis_is_an_error(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    reports = [
        Report("", (), Coverage(1, 1, 1, (Unanalysed("b.cpp", 1, "no flags"),)), tuple(case.findings)),
        Report(
            "",
            (),
            Coverage(1, 1, 0, (Unanalysed("b.cpp", 1, "no flags"), Unanalysed("a.cpp", 3, "error"))),
            (),
        ),
    ]
    before = case.file.read_bytes()
    with pytest.raises(FixError, match=r"^a\.cpp:3: error once fixed; this pass is taken back"):
        fix_until_stable(lambda: reports.pop(0), case.root)
    assert case.file.read_bytes() == before


def test_hash_of_the_checked_file(case: Case) -> None:
    case.write(RETURN)
    case.find(MAKE)
    assert digest(case.file.read_bytes()) == case.plan().edits[str(case.file.resolve())][0].sha


def test_each_construction_by_itself_brings_its_own_check(case: Case) -> None:
    case.write(
        "void f(const Owner& w) {\n"
        "  Tensor a = Make(w.bytes.data(), Device::Cpu);\n"
        "  Tensor b = Make(&w, Device::Cpu);\n"
        "}\n"
    )
    for code in (MAKE, "Make(&w, Device::Cpu)"):
        case.find(code, "aligned", "refuse")
    report = Report("", (), Coverage(1, 1, 1), tuple(case.findings))
    assert case.plan().patch.count(b"Require(!w.aligned") == 1
    each = plan_each(report, case.root)
    assert [len(findings) for findings, _ in each] == [1, 1]
    for _, edits in each:
        assert apply_edits(case.file.read_bytes(), edits).count(b"Require(!w.aligned") == 1
