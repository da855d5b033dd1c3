"""Calls spelled from signatures: what can be called, how, and why the rest cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer import ir
from runtime_check import HelperUnderTest
from runtime_check.call import CannotCallError, Signatures, on_device, spell
from runtime_check.profile import Profile, load_profile

PROFILE = """
[verify]
weight = "ns::Owner"
view = "ns::Tensor"
make_weight = ""
make_view = ""
prelude = "struct Counting final : ns::Backend {};"
[verify.argument]
"int64_t rows" = "n"
"std::vector<int64_t>" = "{n, k}"
[verify.arm.cpu]
setup = '''
static Counting backend;
ns::Queue queue{ns::Device{0}};
'''
"""
SPAN = ir.Span(100, 200, 5)


def _record(name: str, *members: tuple[str, str]) -> ir.Record:
    return ir.Record(name, "a.h", SPAN, tuple(ir.Member(n, t, None, 1) for n, t in members))


RECORDS = (
    _record("ns::Queue", ("device", "ns::Device"), ("handle", "void *")),
    _record("ns::Device", ("type", "ns::DeviceType"), ("index", "int")),
    _record("ns::Dev", ("b", "ns::Backend &"), ("q", "ns::Queue &")),
    _record("ns::Opaque", ("fd", "int")),
)


def _function(
    *types: str,
    name: str = "ns::make",
    result: str = "ns::Tensor",
    defaults: int = 0,
    owner: str = "",
    begin: int = 100,
) -> ir.Function:
    given = ir.Lit(ir.Span(0, 0, 1), "int", "0")
    params = tuple(
        ir.Param(f"p{at}", type_.rpartition("|")[2] if "|" in type_ else f"p{at}", type_.partition("|")[0],
                 given if at >= len(types) - defaults else None)
        for at, type_ in enumerate(types)
    )  # fmt: skip
    body = ir.Block(SPAN, ())
    return ir.Function(
        f"{name}{types}", name, "a.h", ir.Span(begin, begin + 100, 5), params, result, body, owner
    )


VIEW = _function(name="ns::Owner::View", owner="ns::Owner")
OWNER = "const ns::Owner &"


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    (tmp_path / "p.toml").write_text(PROFILE)
    return load_profile(tmp_path, tmp_path / "p.toml")


def _spell(
    profile: Profile, *functions: ir.Function, name: str = "ns::make", path: str = "a.h", begin: int = -1
) -> str:
    facts = ir.FileFacts("a.h", "cpu", "", functions=(*functions, VIEW), records=RECORDS)
    helper = HelperUnderTest(name, path, begin=begin)
    return spell(helper, profile, profile.arms["cpu"], Signatures([facts]))


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (_function(OWNER), "ns::make(w)"),
        (_function("ns::Owner *"), "ns::make(&w)"),
        (_function("ns::Owner &&"), "ns::make(ns::Owner(w))"),
        (_function("const ns::Tensor &"), "ns::make(viewed(w.View(), w))"),
        (_function("ns::Backend &", "ns::Queue &", OWNER), "ns::make(backend, queue, w)"),
        (_function("ns::Backend *", OWNER), "ns::make(&backend, w)"),
        (_function("ns::Device", OWNER), "ns::make(queue.device, w)"),
        (_function("ns::DeviceType", OWNER), "ns::make(queue.device.type, w)"),
        (_function("const ns::Dev &", OWNER), "ns::make(ns::Dev{backend, queue}, w)"),
        (_function(OWNER, "long|rows", "bool", defaults=1), "ns::make(w, n)"),
        (_function(OWNER, "std::vector<long, std::allocator<long>>"), "ns::make(w, {n, k})"),
        (_function(OWNER, "float", "int", defaults=2), "ns::make(w)"),
    ],
)  # fmt: skip
def test_each_known_kind_of_parameter(profile: Profile, function: ir.Function, call: str) -> None:
    assert _spell(profile, function) == call


def test_unnamed_namespaces_and_methods_of_the_weight(profile: Profile) -> None:
    private = _function(OWNER, name="ns::(anonymous)::make")
    assert _spell(profile, private, name="ns::(anonymous)::make") == "ns::make(w)"
    assert _spell(profile, name="ns::Owner::View") == "w.View()"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            _function(OWNER, "long|row0"),
            "no argument known for parameter 'long row0'; give it in [verify.argument]",
        ),
        (_function("ns::Tensor &"), "no argument known for parameter 'ns::Tensor & p0'"),
        (_function("ns::Dev &", OWNER), "no argument known for parameter 'ns::Dev & p0'"),
        (_function("ns::Opaque", OWNER), "no argument known for parameter 'ns::Opaque p0'"),
        (_function("ns::Queue &"), "it takes no ns::Owner"),
        (_function(OWNER, result="void"), "it returns void, not a ns::Tensor"),
        (_function(OWNER, name="ns::make", owner="ns::Model"), "it is a member of ns::Model"),
    ],
)
def test_what_cannot_be_called_says_why(profile: Profile, function: ir.Function, reason: str) -> None:
    with pytest.raises(CannotCallError) as caught:
        _spell(profile, function)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(
    ("name", "path", "reason"),
    [
        ("ns::make", "a.cu", "CUDA source"),
        ("ns::make::lambda#1", "a.h", "lambda"),
        ("ns::other", "a.h", "signature is not known"),
    ],
)
def test_what_has_no_signature_says_why(profile: Profile, name: str, path: str, reason: str) -> None:
    with pytest.raises(CannotCallError, match=reason):
        _spell(profile, _function(OWNER), name=name, path=path)


def test_of_overloads_the_one_that_the_finding_is_in(profile: Profile) -> None:
    two = (_function(OWNER), _function("ns::Owner *", begin=300))
    assert _spell(profile, *two, begin=120) == "ns::make(w)"
    assert _spell(profile, *two, begin=320) == "ns::make(&w)"


def test_a_view_is_put_where_the_kernels_look(profile: Profile) -> None:
    shape = ("shape", "long[4]")
    view = _record("ns::Tensor", ("data", "void *"), ("rank", "int"), ("device", "ns::Device"), shape)
    arm = profile.arms["cpu"]
    signatures = Signatures([ir.FileFacts("a.h", "cpu", "", records=(*RECORDS, view))])
    assert on_device(profile, arm, signatures) == ""  # the host's own memory
    staged = replace(arm, upload="Copied(src, size)")
    assert on_device(profile, staged, signatures) == (
        "view.data = static_cast<decltype(view.data)>(upload(view.data, encoded)); view.device = queue.device;"
    )
    assert on_device(profile, staged, Signatures([ir.FileFacts("a.h", "cpu", "", records=RECORDS)])) == ""
