"""What is asked leads into a body; what was kept, or asked before, changes no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.domain import Path as Lvalue
from analyzer.flow import Flow, flow
from analyzer.honours import honours
from analyzer.memo import Memo
from analyzer.program import link
from rules.markers import MARKERS
from tests.flow.trees import facts, with_edit

LOAD = """
namespace vllm {
struct Layer { OwnedTensor up; OwnedTensor down; };
inline bool Wanted() { return getenv("PACK") != nullptr; }
inline void Load(Layer& layer) {
  layer.up.repacked = true;
  if (Wanted()) layer.down.q8_0_aligned = true;
}
}
"""
RUN = """
#include "load.h"
namespace vllm {
vt::Tensor View(const OwnedTensor& w) {
  vt::Tensor t;
  t.data = const_cast<u8*>(w.bytes.data());
  t.repacked = w.repacked;
  return t;
}
void Matmul(const vt::Tensor& a) { if (a.repacked) throw 1; const void* p = a.data; (void)p; }
void Each(void (*f)(const vt::Tensor&), const vt::Tensor& t) { f(t); }
void Forward(const Layer& layer) {
  Matmul(View(layer.up));
  vt::Tensor t = View(layer.down);
  Each([](const vt::Tensor& x) { Matmul(x); }, t);
}
void Register() { vt::RegisterOp(vt::OpId::kMatmul, vt::DeviceType::kCPU, reinterpret_cast<void*>(&Matmul)); }
}
"""
APART = """
namespace vllm {
struct Table { int rows = 0; };
int Rows(const Table& t) { return t.rows + 1; }
}
"""
FILES = {"load.h": LOAD, "run.cpp": RUN, "apart.cpp": APART}
EDITS = {
    "nothing": ("", "", ""),
    "a line that moves what follows": ("run.cpp", "namespace vllm {", "\nnamespace vllm {"),
    "a marker is no longer set": ("load.h", "  layer.up.repacked = true;\n", ""),
    "a gate is gone": ("load.h", "if (Wanted()) ", ""),
    "a weight goes elsewhere": ("run.cpp", "Matmul(View(layer.up));", "Matmul(View(layer.down));"),
    "a kernel looks no more": ("run.cpp", "if (a.repacked) throw 1;", ""),
    "a file apart": ("apart.cpp", "+ 1", "+ 2"),
}  # fmt: skip


def edited(edit: str) -> dict[str, str]:
    return with_edit(FILES, EDITS[edit])


def followed(files: dict[str, str], memo: Memo | None = None) -> Flow:
    found = flow(link(facts(files), tuple(m.name for m in MARKERS)), memo)
    if memo is not None:
        memo.save()
    return found


def questions(found: Flow) -> list[tuple[str, Lvalue, str]]:
    return [
        (each.head.sym, (parameter.sym,), marker)
        for each in found.program.bodies()
        for parameter in each.head.params
        if (carrier := found.program.carrier_of(parameter.type)) is not None
        for marker in carrier.markers
    ]


def answers(found: Flow, *, backwards: bool = False) -> object:
    asked = questions(found)
    told = {q: found.verdict(*q, frozenset()) for q in (reversed(asked) if backwards else asked)}
    fields = {m.name: found.fields(m.name) for m in MARKERS}
    return sorted(told.items()), fields, honours(found, MARKERS).cells


@pytest.mark.parametrize("edit", EDITS)
def test_kept_faces_change_no_answer(edit: str, tmp_path: Path) -> None:
    followed(FILES, Memo(tmp_path / "memo"))
    cold = answers(followed(edited(edit)))
    assert answers(followed(edited(edit), Memo(tmp_path / "memo"))) == cold
    assert (cold == answers(followed(FILES))) == (edit in ("nothing", "a file apart"))


def test_the_order_of_questions_changes_no_answer() -> None:
    assert answers(followed(FILES), backwards=True) == answers(followed(FILES))
    after = followed(FILES)
    honours(after, MARKERS)
    assert answers(after) == answers(followed(FILES))


def test_a_body_that_no_question_leads_to_is_not_read(tmp_path: Path) -> None:
    followed(FILES, Memo(tmp_path / "memo"))
    found = followed(FILES, Memo(tmp_path / "memo"))
    answers(found)
    read = {v.head.name for v in found.program.bodies() if v.is_decoded}
    assert "vllm::Forward" in read
    assert "vllm::Rows" not in read


def test_a_lambda_handed_over_is_followed() -> None:
    found = followed(FILES)
    lambdas = [q for q in questions(found) if "lambda" in q[0] and q[2] == "q8_0_aligned"]
    assert lambdas
    assert {found.verdict(*q, frozenset())[0] for q in lambdas} == {"GATED"}
