"""The declaration of a new marker, before and after."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from libcst.codemod import CodemodTest

from codemods.add_marker import AddMarkerCommand, AddMarkerError, add_marker

BEFORE = '''
    """Markers."""

    MARKERS: tuple[Marker, ...] = (
        Marker(
            name="elem",
            what="x",  # kept
            devices=("cpu",),
        ),
        # about zeta
        Marker(name="zeta", what="z", devices=("cuda",)),
    )
'''


class TestAddMarkerCommand(CodemodTest):
    TRANSFORM = AddMarkerCommand

    def test_inserts_in_order_and_keeps_comments(self) -> None:
        after = BEFORE.replace(
            "    # about zeta",
            '    Marker(\n            name="mid",\n            what="say \\"m\\"",\n'
            '            devices=("cpu", "cuda"),\n        ),\n        # about zeta',
        )
        self.assertCodemod(BEFORE, after, "mid", 'say "m"', ("cuda", "cpu"))

    def test_appends(self) -> None:
        after = BEFORE.replace(
            '    Marker(name="zeta", what="z", devices=("cuda",)),',
            '    Marker(name="zeta", what="z", devices=("cuda",)),\n        Marker(\n            name="zz",\n'
            '            what="w",\n            devices=("cpu",),\n        ),',
        )
        self.assertCodemod(BEFORE, after, "zz", "w", ("cpu",))

    def test_prepends(self) -> None:
        after = BEFORE.replace(
            '    Marker(\n            name="elem",',
            '    Marker(\n            name="aa",\n            what="w",\n'
            "            devices=(),\n        ),\n"
            '        Marker(\n            name="elem",',
        )
        self.assertCodemod(BEFORE, after, "aa", "w", ())

    def test_declared_already(self) -> None:
        self.assertCodemod(BEFORE, BEFORE, "elem", "other", ("cuda",))

    def test_other_names_stay(self) -> None:
        other = 'OTHERS: tuple[Marker, ...] = (Marker(name="a", what="", devices=()),)'
        self.assertCodemod(other, other, "b", "", ())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/markers.py").write_text(dedent(BEFORE))
    return tmp_path


def test_writes_declaration_and_snippet_once(checkout: Path) -> None:
    markers, snippet = add_marker("mid", checkout)
    assert 'name="mid"' in markers.read_text()
    assert snippet == checkout / "samples/rules/VT001/mid.cpp"
    assert "t.mid = w.mid;" in snippet.read_text()
    assert add_marker("mid", checkout) == ()


def test_real_declarations_accept_it(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "rules/markers.py"
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/markers.py").write_bytes(source.read_bytes())
    add_marker("q4_tiled", tmp_path, what="tiles", devices=("cpu", "cuda"))
    text = (tmp_path / "rules/markers.py").read_text()
    scope: dict[str, object] = {"__name__": "markers_copy"}
    exec(compile(text, "markers.py", "exec"), scope)
    names = [m.name for m in scope["MARKERS"]]  # type: ignore[attr-defined]
    assert names == sorted([*names])
    assert "q4_tiled" in names
    assert len(text.splitlines()) == len(source.read_text().splitlines()) + 5


@pytest.mark.parametrize("name", ["", "Repacked", "a b", "1x", "x;y"])
def test_no_field_name(checkout: Path, name: str) -> None:
    with pytest.raises(AddMarkerError, match="lower-case"):
        add_marker(name, checkout)


def test_not_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(AddMarkerError, match="--tree"):
        add_marker("mid", tmp_path)


def test_no_tuple(checkout: Path) -> None:
    (checkout / "rules/markers.py").write_text("MARKERS = []\n")
    with pytest.raises(AddMarkerError, match="no tuple MARKERS"):
        add_marker("mid", checkout)


def test_not_python(checkout: Path) -> None:
    (checkout / "rules/markers.py").write_text("MARKERS: = (\n")
    with pytest.raises(AddMarkerError, match="not valid Python"):
        add_marker("mid", checkout)
