from __future__ import annotations

from pathlib import Path

from rules.finding import Fix, Hop, Place, Severity, Unanalysed, Verdict
from tests.face.made import finding, outcome, place
from vt_lint.report import text


def test_underlines_the_characters_of_the_construction(tree: Path) -> None:
    lines = text.render(outcome(tree, finding())).splitlines()
    code = next(n for n, line in enumerate(lines) if line.startswith("3 |"))
    shown, marks = lines[code], lines[code + 1]
    assert shown[marks.index("^") : marks.rindex("^") + 1] == (
        "Wrap(w.bytes.data(), w.dtype, /*größe=*/w.shape, w.rank)"
    )


def test_markers_of_one_construction_are_one_block_with_a_line_each(tree: Path) -> None:
    latent = finding("q8_0_aligned", severity=Severity.NOTE, verdict=Verdict.DEAD)
    shown = text.render(outcome(tree, finding(fix=Fix("propagate", why="the CPU GEMM reads it")), latent))
    assert shown.count("--> src/resident.h:3:12") == 1
    assert "VT001  repacked      cpu  LIVE  carry it: the CPU GEMM reads it" in shown
    assert "VT001  q8_0_aligned  cpu  DEAD  " in shown


def test_witness_is_shown_hop_by_hop(tree: Path) -> None:
    shown = text.render(outcome(tree, finding(witness=(Hop("src/loader.cpp", 12, "sets it"),))))
    assert "how a weight with repacked gets here:\n    src/loader.cpp:12  sets it" in shown


def test_a_long_witness_is_cut_and_says_where_the_rest_is(tree: Path) -> None:
    hops = tuple(Hop("src/loader.cpp", line, f"hop {line}") for line in range(1, 6))
    shown = text.render(outcome(tree, finding(witness=hops[:4])))
    assert "hop 4" in shown
    shown = text.render(outcome(tree, finding(witness=hops)))
    assert "hop 3\n    and 2 more: vt-lint trace repacked" in shown
    assert "hop 4" not in shown


def test_latent_constructions_are_counted_unless_asked_for(tree: Path) -> None:
    latent = finding(severity=Severity.NOTE, verdict=Verdict.DEAD, witness=(Hop("src/a.cpp", 1, "sets it"),))
    lines = text.render(outcome(tree, latent)).splitlines()
    assert not any("-->" in line for line in lines)
    assert lines[-2] == ("1 note (latent losses, no marked weight gets there today): --show note lists them")
    shown = text.render(outcome(tree, latent), show=Severity.NOTE)
    assert "-->" in shown
    assert "sets it" in shown
    assert "--show note" not in shown


def test_suppressed_markers_are_counted_where_they_belong(tree: Path) -> None:
    shown = text.render(
        outcome(tree, finding(), finding("elem_kn_repacked", suppressed="read back as plain"))
    )
    assert "1 more of this construction suppressed by a comment" in shown
    assert "1 error; 1 suppressed by a comment" in shown


def test_last_line_says_what_was_looked_at_and_unanalysed_code_is_named(tree: Path) -> None:
    lines = text.render(
        outcome(tree, unanalysed=(Unanalysed("src/x.mm", 4, "no parser"),), peak_bytes=300 * 2**20)
    ).splitlines()
    assert "unanalysed: src/x.mm:4: no parser" in lines
    assert lines[-1] == (
        "4 files, profiles cpu+cuda, 9 candidates, 8 analysed, 1 unanalysed, 2.0 s, peak 300 MiB a process"
    )


def test_colour_only_when_asked_for(tree: Path) -> None:
    assert "\x1b[" not in text.render(outcome(tree, finding()))
    assert "\x1b[" in text.render(outcome(tree, finding()), colour=True)


def test_a_file_that_is_gone_costs_the_frame_only(tree: Path) -> None:
    shown = text.render(outcome(tree, finding(where=place(path="src/gone.h"))))
    assert "--> src/gone.h:3:12" in shown
    assert " | " not in shown


def test_a_construction_over_lines_is_underlined_on_each_behind_tabs_too(tree: Path) -> None:
    code = "\treturn Wrap(a,\n\t\tb);\n"
    (tree / "src" / "tabs.h").write_text(code)
    where = Place("src/tabs.h", 1, 9, 2, 5, 8, 20)
    lines = text.render(outcome(tree, finding(where=where))).splitlines()
    assert lines[3:7] == [
        "1 |     return Wrap(a,",
        "  |            ^^^^^^^",
        "2 |         b);",
        "  |         ^^",
    ]
