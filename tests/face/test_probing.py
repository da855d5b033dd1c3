from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import ir
from tests.face.made import CODE, finding
from vt_lint.probing import fixed_by

PATCH = """\
diff --git a/src/resident.h b/src/resident.h
--- a/src/resident.h
+++ b/src/resident.h
@@ -{line},3 +{line},4 @@
 x
+y
 x
 x
"""


@pytest.mark.parametrize(("line", "fixed"), [(1, True), (4, True), (7, False)])
def test_a_patch_fixes_the_functions_that_it_changes(tree: Path, line: int, fixed: bool) -> None:
    span = ir.Span(0, len(CODE.encode()), 1)
    body = ir.Block(span, ())
    function = ir.Function("f", "vt::Resident", "src/resident.h", span, (), "Tensor", body)
    facts = [ir.FileFacts("src/resident.h", "cpu", "", functions=(function,))]
    (tree / "src/resident.h").write_text(CODE + CODE, encoding="utf-8")
    lost = finding()
    patch = PATCH.format(line=line).encode()
    assert fixed_by(patch, [lost], facts, tree) == ((lost,) if fixed else ())
    other = patch.replace(b"resident.h", b"other.h")
    assert fixed_by(other, [lost], facts, tree) == ()
