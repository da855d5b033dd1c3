"""Verdicts over small trees, and on mutants of their loaders."""

from __future__ import annotations

import pytest

from analyzer import ir
from analyzer.flow import Flow
from analyzer.walk import walk
from tests.flow.trees import facts, follow, hops, verdict

LOADER = """
namespace vllm {
bool Interleaves() { return false; }
struct Policy { bool repack = false; bool keep = false; };
bool EnvOr(const char* name, bool otherwise) {
  const char* v = getenv(name);
  if (v == nullptr) return otherwise;
  return strcmp(v, "0") != 0;
}
Policy FromEnv() {
  Policy p;
  p.keep = EnvOr("VT_KEEP", true);
  p.repack = p.keep && Interleaves();
  return p;
}
bool AlignWanted() { const char* v = getenv("VT_ALIGN"); return v != nullptr && !(strcmp(v, "0") == 0); }
OwnedTensor Own(const u8* s, bool repack = false, bool align = false) {
  OwnedTensor o;
  o.bytes.assign(s);
  if (align) { o.q8_0_aligned = true; return o; }
  if (repack && Interleaves()) { o.repacked = true; return o; }
  return o;
}
struct Swift { OwnedTensor q, k; };
struct Heron { OwnedTensor up, norm; };
struct Rail { OwnedTensor w; };
Swift LoadSwift(const u8* s, const Policy& p) {
  Swift m;
  for (OwnedTensor* o : {&m.q, &m.k}) *o = Own(s, p.repack);
  return m;
}
struct Reader {
  const Policy& policy;
  OwnedTensor Matrix(const u8* s, bool allow = true) { return Own(s, policy.repack, allow && AlignWanted()); }
};
Heron LoadHeron(const u8* s, const Policy& p) {
  Reader r{p};
  Heron m;
  m.up = r.Matrix(s);
  m.norm = r.Matrix(s, false);
  return m;
}
Rail LoadRail(const u8* s) { Rail m; m.w = Own(s); return m; }
vt::Tensor View(const OwnedTensor& w) { vt::Tensor t; t.data = const_cast<u8*>(w.bytes.data()); return t; }
vt::Tensor Other(const OwnedTensor& w) { vt::Tensor t; t.data = const_cast<u8*>(w.bytes.data()); return t; }
void Use(vt::Tensor& out, const vt::Tensor& b) { out.rank = b.rank; }
void UseRail(vt::Tensor& out, const vt::Tensor& rail) { out.rank = rail.rank; }
void Run(Swift& s, Heron& h, Rail& r, vt::Tensor& out) {
  Use(out, View(s.q));
  Use(out, View(h.norm));
  Use(out, Other(h.up));
  vt::Tensor t = View(r.w);
  UseRail(out, t);
}
}
"""


@pytest.fixture(scope="module")
def birds() -> Flow:
    return follow(LOADER)


def test_a_helper_is_live_for_the_marker_that_reaches_it_and_dead_for_the_other(birds: Flow) -> None:
    assert verdict(birds, "View", "w", "repacked")[0] == "LIVE"
    word, reason = verdict(birds, "View", "w", "q8_0_aligned")
    assert word == "DEAD"
    assert "main.cpp:" in reason
    assert "assumes" in reason


def test_an_opt_in_variable_gates(birds: Flow) -> None:
    word, reason = verdict(birds, "Other", "w", "q8_0_aligned")
    assert (word, "VT_ALIGN" in reason) == ("GATED", True)


def test_a_stub_of_another_architecture_proves_nothing_dead(birds: Flow) -> None:
    word, reason = verdict(birds, "View", "w", "repacked")
    assert (word, "Interleaves" in reason) == ("LIVE", True)


def test_a_call_gets_back_only_what_it_gave(birds: Flow) -> None:
    """The shared helper makes a view of every model's weight; this caller's weight has no marker."""
    assert verdict(birds, "UseRail", "rail", "repacked")[0] == "DEAD"
    assert verdict(birds, "Use", "b", "repacked")[0] == "LIVE"


def test_the_witness_leads_from_the_producer_to_the_place(birds: Flow) -> None:
    lines = LOADER.splitlines()
    steps = [lines[line - 1] for _, line, _ in hops(birds, "View", "w", "repacked")]
    assert "o.repacked = true" in steps[0]
    assert any("{&m.q, &m.k}" in step for step in steps) or any("r.Matrix(s" in step for step in steps)
    assert "View(" in steps[-1]


def test_the_fields_reached_are_listed(birds: Flow) -> None:
    assert birds.fields("q8_0_aligned") == {"vllm::Heron::up": "GATED"}
    assert set(birds.fields("repacked")) == {
        "vllm::Swift::q",
        "vllm::Swift::k",
        "vllm::Heron::up",
        "vllm::Heron::norm",
    }


MUTANTS = [
    ("a literal flipped", "r.Matrix(s, false)", "r.Matrix(s, true)", "View", "q8_0_aligned", "DEAD", "GATED"),
    (
        "a default flipped",
        "bool align = false)",
        "bool align = true)",
        "UseRail:rail",
        "q8_0_aligned",
        "DEAD",
        "LIVE",
    ),
    (
        "a caller added",
        "Use(out, Other(h.up));",
        "Use(out, Other(h.up)); Use(out, View(h.up));",
        "View",
        "q8_0_aligned",
        "DEAD",
        "GATED",
    ),
    (
        "an opt-in made the default",
        "v != nullptr && !(strcmp",
        "v == nullptr || !(strcmp",
        "Other",
        "q8_0_aligned",
        "GATED",
        "LIVE",
    ),
    (
        "a gate added",
        "if (repack && Interleaves())",
        'if (repack && getenv("VT_ON") != nullptr)',
        "View",
        "repacked",
        "LIVE",
        "GATED",
    ),
    (
        "a policy never set",
        "p.repack = p.keep && Interleaves();",
        "p.repack = false;",
        "View",
        "repacked",
        "LIVE",
        "DEAD",
    ),
    (
        "a condition made impossible",
        "allow && AlignWanted()",
        "allow && false",
        "Other",
        "q8_0_aligned",
        "GATED",
        "DEAD",
    ),
    ("a model dropped", "Use(out, Other(h.up));", "", "Other", "q8_0_aligned", "GATED", "DEAD"),
    ("the producer removed", "o.q8_0_aligned = true; ", "", "Other", "q8_0_aligned", "GATED", "UNKNOWN"),
    (
        "the argument dropped",
        "*o = Own(s, p.repack)",
        "*o = Own(s)",
        "Swift only",
        "repacked",
        "LIVE",
        "DEAD",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "place", "marker", "before", "after"),
    [m[1:] for m in MUTANTS],
    ids=[m[0] for m in MUTANTS],
)
def test_mutants(old: str, new: str, place: str, marker: str, before: str, after: str) -> None:
    text = LOADER
    if place == "Swift only":
        place, text = "View", text.replace("Use(out, View(h.norm));", "")
    function, _, operand = place.partition(":")
    operand = operand or "w"
    assert text.count(old) == 1
    assert verdict(follow(text), function, operand, marker)[0] == before
    assert verdict(follow(text.replace(old, new)), function, operand, marker)[0] == after


SHAPES = """
namespace vllm {
OwnedTensor Make(const u8* s, bool repack) {
  OwnedTensor o;
  o.bytes.assign(s);
  o.repacked = repack;
  return o;
}
struct Box { OwnedTensor a; std::vector<OwnedTensor> many; const OwnedTensor* held = nullptr; };
void Out(OwnedTensor* o, const u8* s) { *o = Make(s, true); }
OwnedTensor& Slot(Box& b) { return b.a; }
struct Layer { virtual void Apply(vt::Tensor& out, const OwnedTensor& w) = 0; };
struct Plain : Layer { void Apply(vt::Tensor& out, const OwnedTensor& w) override { out.rank = w.rank; } };
void Sink(const OwnedTensor& w) { (void)w.rank; }
%s
}
"""


USES = [
    ("out parameter", "void F(const u8* s) { OwnedTensor o; Out(&o, s); Sink(o); }", "LIVE"),
    (
        "returned reference",
        "void F(Box& b, const u8* s) { Slot(b) = Make(s, true); } void G(Box& b) { Sink(b.a); }",
        "LIVE",
    ),
    (
        "container",
        "void F(Box& b, const u8* s) { b.many.push_back(Make(s, true)); }"
        "void G(Box& b) { for (const OwnedTensor& w : b.many) Sink(w); }",
        "LIVE",
    ),
    (
        "pointer member",
        "void F(Box& b, const u8* s) { OwnedTensor* o = &b.a; *o = Make(s, true); b.held = o; }"
        "void G(Box& b) { Sink(*b.held); }",
        "LIVE",
    ),
    (
        "moved",
        "void F(const u8* s) { OwnedTensor a = Make(s, true); OwnedTensor b = std::move(a); Sink(b); }",
        "LIVE",
    ),
    (
        "lambda",
        "void F(const u8* s) { auto load = [&](bool on) { return Make(s, on); };OwnedTensor a = load(true); Sink(a); }",
        "LIVE",
    ),
    (
        "lambda told no",
        "void F(const u8* s) { auto load = [&](bool on) { return Make(s, on); };"
        "OwnedTensor a = load(false); OwnedTensor b = load(true); Sink(a); }",
        "DEAD",
    ),
    (
        "captured",
        "void F(const u8* s) { OwnedTensor a; auto fill = [&] { a = Make(s, true); }; fill(); Sink(a); }",
        "LIVE",
    ),
    (
        "function pointer",
        "void F(const u8* s) { void (*f)(const OwnedTensor&) = &Sink; f(Make(s, true)); }",
        "LIVE",
    ),
    (
        "choice",
        "void F(const u8* s, bool c) { OwnedTensor a = Make(s, true), b = Make(s, false); Sink(c ? b : a); }",
        "LIVE",
    ),
    (
        "the other of two",
        "void F(const u8* s) { OwnedTensor a = Make(s, true), b = Make(s, false); Sink(b); }",
        "DEAD",
    ),
    (
        "checked first",
        "void F(const u8* s) { OwnedTensor a = Make(s, true); if (a.repacked) throw 1; Sink(a); }",
        "DEAD",
    ),
    (
        "memory from the same allocator",
        "void* Alloc() { u8* p = new u8[4]; return p; }"
        "void F(const u8* s) { OwnedTensor a = Make(s, true); void* p = Alloc(); memcpy(p, a.bytes.data(), 4);"
        " OwnedTensor b; b.bytes.assign(static_cast<u8*>(Alloc())); Sink(b); }",
        "DEAD",
    ),
    ("not called", "void F(const u8* s) { OwnedTensor a = Make(s, true); }", "DEAD"),
]


@pytest.mark.parametrize(("code", "want"), [u[1:] for u in USES], ids=[u[0] for u in USES])
def test_shapes(code: str, want: str) -> None:
    assert verdict(follow(SHAPES % code), "Sink", "w", "repacked")[0] == want


def test_an_override_gets_what_the_base_is_given() -> None:
    found = follow(
        SHAPES
        % "void F(Layer& l, vt::Tensor& t, const u8* s) { OwnedTensor a = Make(s, true); l.Apply(t, a); }"
    )
    assert verdict(found, "Apply", "w", "repacked")[0] == "LIVE"


REGISTRY = """
namespace vt {
typedef void (*Gemm)(Tensor&, const Tensor&);
void HostGemm(Tensor& o, const Tensor& b) { if (b.repacked) { o.rank = 1; } o.data = b.data; }
void HostGather(Tensor& o, const Tensor& table) { memcpy(o.data, table.data, 4); }
struct AtStart {
  AtStart() {
    RegisterOp(OpId::kMatmul, DeviceType::kCPU, reinterpret_cast<void*>(static_cast<Gemm>(&HostGemm)));
    RegisterOp(OpId::kEmbed, DeviceType::kCPU, reinterpret_cast<void*>(&HostGather));
  }
};
void Matmul(Tensor& o, const Tensor& b, DeviceType d) {
  reinterpret_cast<Gemm>(GetOp(OpId::kMatmul, d))(o, b);
}
}
namespace vllm {
void F(const u8* s, vt::Tensor& out) {
  OwnedTensor w;
  w.bytes.assign(s);
  w.repacked = true;
  vt::Tensor t;
  t.data = const_cast<u8*>(w.bytes.data());
  t.repacked = w.repacked;
  vt::Matmul(out, t, vt::DeviceType::kCPU);
}
}
"""


def test_a_registry_sends_an_operator_to_its_own_kernels_only() -> None:
    found = follow(REGISTRY)
    assert verdict(found, "HostGemm", "b", "repacked")[0] == "LIVE"
    assert verdict(found, "HostGather", "table", "repacked")[0] == "DEAD"


def test_an_edge_that_cannot_be_followed_gives_unknown_and_says_which() -> None:
    found = follow(
        """
        namespace vllm {
        void Sink(const OwnedTensor& w) { (void)w.rank; }
        void (*Chosen(int))(const OwnedTensor&);
        void Keep(void (*f)(const OwnedTensor&));
        void G() { Keep(&Sink); }
        void F(const u8* s, int i) {
          OwnedTensor w; w.bytes.assign(s); w.repacked = true; auto f = Chosen(i); f(w);
        }
        }
        """
    )
    word, reason = verdict(found, "Sink", "w", "repacked")
    assert word == "UNKNOWN"
    assert "main.cpp:8" in reason


def test_a_tree_without_a_producer_proves_nothing() -> None:
    found = follow("namespace vllm { void Sink(const OwnedTensor& w) { (void)w.rank; } }")
    word, reason = verdict(found, "Sink", "w", "repacked")
    assert (word, "no producer" in reason) == ("UNKNOWN", True)


def test_tests_feed_nothing_that_users_run() -> None:
    files = {
        "src/lib.cpp": "namespace vllm { void Sink(const OwnedTensor& w) { (void)w.rank; }"
        " void Real(const u8* s) { OwnedTensor o; o.bytes.assign(s); o.repacked = true; } }",
        "tests/t.cpp": "namespace vllm { void Sink(const OwnedTensor& w);"
        " void T() { OwnedTensor o; o.repacked = true; Sink(o); } }",
    }
    found = follow(files)
    assert [p.path for p in found.producers] == ["src/lib.cpp"]
    assert verdict(found, "Sink", "w", "repacked")[0] == "DEAD"


def test_a_marker_set_for_one_platform_is_dead_on_the_others() -> None:
    found = follow(
        """
        namespace vllm {
        vt::DeviceType Current();
        void Sink(const OwnedTensor& w) { (void)w.rank; }
        void F(const u8* s) {
          OwnedTensor w;
          w.bytes.assign(s);
          if (Current() == vt::DeviceType::kCPU) { w.repacked = true; }
          Sink(w);
        }
        }
        """
    )
    assert verdict(found, "Sink", "w", "repacked", "cpu")[0] == "LIVE"
    assert verdict(found, "Sink", "w", "repacked", "cuda")[0] == "DEAD"


def test_both_views_of_a_probe_count() -> None:
    """One profile sees the real probe, another a stub: the marker is live on a host of the first kind."""
    probe = """
    namespace vllm {
    #ifdef HAVE_IT
    bool Probe() { const char* v = getenv("VT_OFF"); return v == nullptr; }
    #else
    bool Probe() { return false; }
    #endif
    void Sink(const OwnedTensor& w) { (void)w.rank; }
    void F(const u8* s) { OwnedTensor w; w.bytes.assign(s); if (Probe()) { w.repacked = true; } Sink(w); }
    }
    """
    found = follow(probe, facts({"main.cpp": probe}, "arm", ("HAVE_IT",)))
    word, reason = verdict(found, "Sink", "w", "repacked")
    assert (word, "Probe" in reason) == ("LIVE", True)


FLAGGED = """
namespace vllm {
struct Slab { Bytes bytes; bool nk = false; bool repacked = false; };
Slab Load(const u8* s, bool nk) {
  Slab o;
  o.bytes.assign(s);
  o.nk = nk;
  if (nk) { o.repacked = true; }
  return o;
}
vt::Tensor View(const Slab& w) {
  vt::Tensor t;
  t.data = const_cast<u8*>(w.bytes.data());
  t.repacked = w.repacked;
  return t;
}
void Rows(const vt::Tensor& t) { (void)t.rank; }
void Columns(const vt::Tensor& t) { (void)t.rank; }
void Product(const Slab& w) {
  vt::Tensor t = View(w);
  if (w.nk) Rows(t); else Columns(t);
}
struct Layer { Slab gate; };
bool Fits(const Layer& l) { if (l.gate.nk) return false; return true; }
void Grouped(const vt::Tensor& t) { (void)t.rank; }
void Fast(const Layer& l) { Grouped(View(l.gate)); }
void Run(const u8* s) {
  Layer l;
  l.gate = Load(s, true);
  Product(l.gate);
  if (Fits(l)) Fast(l);
}
}
"""


@pytest.mark.parametrize(
    ("old", "new", "verdicts"),
    [
        ("", "", ("LIVE", "DEAD", "DEAD")),
        ("if (nk) {", "{", ("LIVE", "LIVE", "LIVE")),
        ("o.nk = nk;", "o.nk = nk; o.nk = s[0];", ("LIVE", "LIVE", "LIVE")),
        ("if (nk) { o.repacked", "if (!nk) return o;\n  { o.repacked", ("LIVE", "DEAD", "DEAD")),
        ("if (Fits(l)) Fast(l);", "Fast(l);", ("LIVE", "DEAD", "LIVE")),
    ],
)
def test_a_member_that_always_comes_with_the_marker_tells_where_it_goes(
    old: str, new: str, verdicts: tuple[str, ...]
) -> None:
    """Every marked weight has `nk`, so what is done where a weight has not, is done to plain ones."""
    found = follow(FLAGGED.replace(old, new) if old else FLAGGED)
    places = (("Rows", "t"), ("Columns", "t"), ("Grouped", "t"))
    assert tuple(verdict(found, name, operand, "repacked")[0] for name, operand in places) == verdicts


def test_a_call_of_a_template_in_a_template_is_followed() -> None:
    found = follow(
        """
        namespace vllm {
        template <bool kFast> void Part(const OwnedTensor& w, int n) { (void)w.rank; (void)n; }
        template <bool kFast> void All(const OwnedTensor& w) { auto f = [&](int n) { Part<kFast>(w, n); }; f(1); }
        void F(const u8* s) { OwnedTensor w; w.bytes.assign(s); w.repacked = true; All<true>(w); }
        }
        """
    )
    assert verdict(found, "Part", "w", "repacked")[0] == "LIVE"
    calls = [n for v in found.program.bodies() for n in walk(v.function.body) if isinstance(n, ir.Call)]
    assert [c.callee in found.program.variants for c in calls if c.name.endswith("Part")] == [True]
