from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rules.finding import Hop
from vt_lint.report.flow import Route, page
from vt_lint.report.source import Source

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=2000"),
]
SET = Hop("src/resident.h", 1, "sets `repacked` on an i8mm host")
LOST = Hop("src/resident.h", 3, "loses it </script><b>")


@pytest.fixture
def html(tree: Path) -> Path:
    routes = [
        Route(
            "repacked", "LIVE", "lost", ("cpu",), ("tern",), "vt::Resident", "nothing stops it", (SET, LOST)
        ),
        Route(
            "repacked",
            "DEAD",
            "honoured",
            ("cuda",),
            "osprey",
            "vt::Gemm",
            "",
            (SET, Hop("a.cu", 6, "reads it")),
        ),
    ]
    file = tree / "flow.html"
    file.write_text(page("repacked in engine", "2 routes", routes, Source(tree)), encoding="utf-8")
    return file


def test_nothing_is_loaded_from_anywhere(html: Path) -> None:
    text = html.read_text(encoding="utf-8")
    assert not re.search(
        r"""\b(?:src|href)\s*=|url\(|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)""", text
    )
    assert "default-src 'none'" in text


def test_every_route_can_be_read_without_scripts(html: Path) -> None:
    text = re.sub(r"<script.*?</script>", "", html.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert text.count("<details") == 2
    assert "<code>src/resident.h:3</code> loses it &lt;/script&gt;&lt;b&gt;" in text


class TestInABrowser:
    @pytest.fixture
    def chromium(self, tmp_path: Path) -> list[str]:
        program = (
            shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        )
        if not program:
            pytest.skip("no Chromium here")
        return [program, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}"]

    def _dom(self, chromium: list[str], address: str) -> str:
        return subprocess.run(
            [*chromium, "--dump-dom", address], capture_output=True, text=True, check=True
        ).stdout

    def test_shared_steps_are_one_box_and_ends_are_coloured(self, chromium: list[str], html: Path) -> None:
        dom = self._dom(chromium, html.as_uri())
        assert dom.count("<rect") == 3
        assert dom.count('<g class="lost"') == dom.count('<g class="honoured"') == 1

    def test_the_address_chooses_routes_and_a_step(self, chromium: list[str], html: Path) -> None:
        dom = self._dom(chromium, f"{html.as_uri()}#verdict=LIVE&step=src/resident.h:3")
        assert dom.count("<rect") == 2
        assert re.findall(r'<details data-end="(\w+)" hidden', dom) == ["honoured"]
        (marked,) = re.findall(r"<mark>(.*?)</mark>", dom, re.DOTALL)
        assert "return Wrap(w.bytes.data()" in marked

    def test_it_is_seen_and_not_only_there(self, chromium: list[str], html: Path, tmp_path: Path) -> None:
        shot = tmp_path / "flow.png"
        command = [*chromium, f"--screenshot={shot}", "--window-size=1000,700", html.as_uri()]
        subprocess.run(command, capture_output=True, check=True)
        blank = 5_000  # bytes of a picture of this size with nothing in it
        assert shot.stat().st_size > 3 * blank
