from __future__ import annotations

from pathlib import Path

import pytest

from tests.face.made import CODE


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree below the root of a repository."""
    (tmp_path / ".git").mkdir()
    root = tmp_path / "engine"
    (root / "src").mkdir(parents=True)
    (root / ".vt-lint.toml").touch()
    (root / "src" / "resident.h").write_text(CODE, encoding="utf-8")
    return root
