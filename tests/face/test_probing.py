from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import ir
from rules.finding import Fix, Hop
from rules.matrix import Policy
from tests.face.made import CODE, finding
from vt_lint.exit import Fault
from vt_lint.probing import fixed_by, named, twins

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


def _function(name: str, path: str, line: int) -> ir.Function:
    span = ir.Span(0, 9, line)
    return ir.Function(f"{name}@{path}", name, path, span, (), "Tensor", ir.Block(span, ()))


TWIN = _function("vt::(anonymous)::Resident", "src/model.cpp", 7)
KNOWN = [
    ir.FileFacts("src/resident.h", "cpu", "", functions=(_function("vt::Resident", "src/resident.h", 1),)),
    ir.FileFacts("src/model.cpp", "cpu", "", functions=(TWIN, _function("vt::Other", "src/model.cpp", 20))),
]


def test_the_better_twin_has_to_do_what_the_other_one_will() -> None:
    lost = finding(fix=Fix("propagate"))
    hop = Hop("src/model.cpp", 7, "the twin that handles repacked")
    (helper,) = twins([lost, finding(rule="VT006", fix=Fix("display"), witness=(hop,))], KNOWN)
    assert (helper.name, helper.path) == ("vt::(anonymous)::Resident", "src/model.cpp")
    assert helper.expect == {"repacked": {"cpu": "carried"}}
    assert not helper.faulty  # it loses nothing, so no fault has to show
    assert twins([lost], KNOWN) == ()


def test_a_helper_that_is_asked_for_does_what_the_policy_says() -> None:
    policy = [Policy("repacked", "cpu", "propagate", ""), Policy("repacked", "cuda", "refuse", "")]
    found = named(["Resident"], KNOWN, policy)
    assert [helper.path for helper in found] == ["src/resident.h", "src/model.cpp"]
    assert all(h.expect == {"repacked": {"cpu": "carried", "cuda": "refused"}} for h in found)
    assert [h.path for h in named(["vt::Other"], KNOWN, policy)] == ["src/model.cpp"]
    with pytest.raises(Fault, match="--helper dent: no function of the tree has that name"):
        named(["dent"], KNOWN, policy)
