import concurrent.futures
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer import ir
from analyzer.cache import Store
from analyzer.collect import Collected, collect
from analyzer.config import Config, ProfileConfig, SetupError

CARRIER = """\
#pragma once
struct Weight { const char* bytes; bool packed = false; };
inline const char* Bytes(const Weight& w) { return w.bytes; }
"""
USER = '#include "carrier.h"\nint Use(Weight& w) { w.packed = true; return Bytes(w) != nullptr; }\n'


def run(
    root: Path, files: dict[str, str | bytes], config: Config | None = None, **options: object
) -> Collected:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return collect(root, config or Config(), markers={"packed"}, jobs=1, **options)  # type: ignore[arg-type]


def functions(collected: Collected) -> set[tuple[str, str, str]]:
    return {
        (facts.path, facts.profile, function.name)
        for facts in collected.facts()
        for function in facts.functions
        if function.body is not None
    }


def test_a_header_is_analysed_once_and_its_includers_for_themselves(tmp_path: Path) -> None:
    found = run(
        tmp_path, {"inc/carrier.h": CARRIER, "src/a.cpp": USER, "src/plain.cpp": "int f() { return 1; }\n"}
    )
    assert functions(found) == {("inc/carrier.h", "cpu", "Bytes"), ("src/a.cpp", "cpu", "Use")}
    assert found.unanalysed == ()
    assert (found.files, found.candidates) == (3, 2)
    assert {facts.origin for facts in found.facts()} == {"inferred"}


def test_code_behind_a_feature_macro_is_seen_without_defines_by_hand(tmp_path: Path) -> None:
    text = (
        '#include "carrier.h"\n'
        "#ifdef MY_GPU\n"
        "int Gpu(Weight& w) { return w.packed; }\n"
        "#else\n"
        "int Cpu(Weight& w) { return w.packed; }\n"
        "#endif\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert {("a.cpp", "cpu", "Cpu"), ("a.cpp", "cuda", "Gpu")} <= functions(found)
    assert found.unanalysed == ()


def test_a_feature_macro_whose_header_is_missing_is_left_undefined(tmp_path: Path) -> None:
    text = (
        USER
        + "#ifdef MY_SDK\n#include <no_such_sdk.h>\nsdk_t broken;\n#endif\n"
        + "#ifdef MY_GPU\nint Gpu(Weight& w) { return w.packed; }\n#endif\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert ("a.cpp", "cuda", "Gpu") in functions(found)
    assert not any(each.errors for each in found.parsed)


def test_the_arm_view_is_read_on_any_machine(tmp_path: Path) -> None:
    text = USER + (
        "#if defined(__ARM_FEATURE_MATMUL_INT8)\n#include <arm_neon.h>\n"
        "int32x4_t Mma(int32x4_t a, int8x16_t b, Weight& w) { return vmmlaq_s32(a, b, b); }\n#endif\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert ("a.cpp", "arm", "Mma") in functions(found)
    assert not any(each.errors for each in found.parsed)


def test_cuda_is_read_without_the_sdk(tmp_path: Path) -> None:
    text = (
        '#include "carrier.h"\n#include <cuda_bf16.h>\n'
        "__global__ void Kernel(const char* p, __nv_bfloat16* out) {\n"
        "  out[threadIdx.x] = __float2bfloat16(p[0]);\n}\n"
        "int Launch(Weight& w, cudaStream_t s) {\n"
        "  Kernel<<<1, 32, 0, s>>>(w.bytes, nullptr);\n  return cudaGetLastError();\n}\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "k.cu": text})
    assert {("k.cu", "cpu", "Launch"), ("k.cu", "cpu", "Kernel")} <= functions(found)
    assert not any(each.errors for each in found.parsed)


def test_a_missing_include_is_one_note_and_the_rest_is_analysed(tmp_path: Path) -> None:
    text = '#include "gone.h"\n' + USER + "int Broken(Gone g, Weight& w) { return g.x + w.packed; }\n"
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert ("a.cpp", "cpu", "Use") in functions(found)
    assert found.notes == ("a.cpp:1: gone.h is not found",)
    assert [each.line for each in found.unanalysed] == [4]


def test_a_syntax_error_spoils_its_function_alone(tmp_path: Path) -> None:
    found = run(
        tmp_path, {"carrier.h": CARRIER, "a.cpp": USER + "int Bad(Weight& w) { return w.packed +; }\n"}
    )
    assert [(each.line, each.reason) for each in found.unanalysed] == [(3, "Bad: clang reports errors in it")]


def test_bytes_that_are_no_utf8_are_one_note_and_never_clean(tmp_path: Path) -> None:
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": USER, "b.cpp": USER.encode() + b"// \xe9\n"})
    assert found.notes == ("b.cpp: line 3: byte 0xe9 is not UTF-8; save the file as UTF-8",)
    assert [(each.path, each.line) for each in found.unanalysed] == [("b.cpp", 2)]
    assert ("a.cpp", "cpu", "Use") in functions(found)


def test_what_clang_does_not_parse_is_read_by_its_syntax(tmp_path: Path) -> None:
    text = (
        '#import "carrier.h"\n'
        "namespace n {\nView Make(const Weight& w) {\n"
        "  View v; v.data = w.bytes; if (w.packed) return {}; return v;\n} }\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "a.mm": text})
    facts = next(each for each in found.facts() if each.path == "a.mm")
    assert facts.origin == "syntax"
    function = facts.functions[0]
    assert (function.name, [p.type for p in function.params]) == ("n::Make", ["const Weight &"])
    assert isinstance(function.body, ir.Block)
    kinds = [type(each).__name__ for each in function.body.body]
    assert kinds == ["Block", "Do", "If", "Return"]
    assert found.unanalysed == ()


def test_code_that_no_profile_keeps_is_unanalysed(tmp_path: Path) -> None:
    text = USER + "#ifdef _WIN32\nint Win(Weight& w) { return w.packed; }\n#endif\n"
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert [(each.line, "_WIN32" in each.reason) for each in found.unanalysed] == [(4, True)]


def test_conditional_code_inside_a_function_is_told_from_the_function(tmp_path: Path) -> None:
    text = (
        '#include "carrier.h"\n'
        "int F(Weight& w) {\n"
        "#ifdef _WIN32\n"
        "  w.packed = true;\n"
        "#endif\n"
        "  return w.packed;\n"
        "}\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert [each.line for each in found.unanalysed] == [4]


def test_profiles_can_be_configured_and_chosen(tmp_path: Path) -> None:
    config = Config(profile=(ProfileConfig("plain"), ProfileConfig("odd", defines=("ODD=2",))))
    files: dict[str, str | bytes] = {
        "carrier.h": CARRIER,
        "a.cpp": USER + "#if ODD == 2\nint Odd(Weight& w) { return w.packed; }\n#endif\n",
    }
    assert ("a.cpp", "odd", "Odd") in functions(run(tmp_path, files, config))
    assert {each.profile for each in run(tmp_path, {}, config, profiles=["plain"]).parsed} == {"plain"}
    with pytest.raises(SetupError, match=r"no profile 'gpu'.*plain, odd"):
        run(tmp_path, {}, config, profiles=["gpu"])


def test_no_cpp_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no C\+\+ file"):
        run(tmp_path, {"README.md": "x"})


KERNEL = USER + (
    "#include <vector>\n__global__ void Kernel(const char* p, int n) { if (threadIdx.x < n) __syncthreads(); }\n"
    "void Launch(const Weight& w, std::vector<int> v) { Kernel<<<1, 32>>>(Bytes(w), v.size()); }\n"
)


def many(suffix: str) -> dict[str, str | bytes]:
    """As many units as it takes to share a precompiled header."""
    text = USER if suffix == "cpp" else KERNEL
    return {f"src/u{at}.{suffix}": text.replace("Use", f"Use{at}") for at in range(7)}


MANY = many("cpp")


@pytest.mark.parametrize("suffix", ["cpp", "cu"])
def test_facts_are_the_same_with_and_without_cache_and_precompiled_header(
    suffix: str, tmp_path: Path
) -> None:
    units = many(suffix)
    files = {"inc/carrier.h": CARRIER, **units}
    plain = run(tmp_path / "tree", {**files, f"src/lone.{suffix}": USER.replace("Use", "Lone")})
    assert all(each.pch for each in plain.parsed if each.path in units)
    cold = run(tmp_path / "tree", {}, cache=tmp_path / "cache")
    warm = run(tmp_path / "tree", {}, cache=tmp_path / "cache")
    assert warm.stats["cache_hits"] == len(warm.parsed)
    single = [
        facts
        for name, text in units.items()
        for facts in run(tmp_path / "one" / name, {"inc/carrier.h": CARRIER, name: text}).facts()
        if facts.path == name
    ]
    assert plain.facts() == cold.facts() == warm.facts()
    assert [each for each in plain.facts() if each.path in units] == sorted(
        single, key=lambda each: each.path
    )


def test_a_change_is_analysed_again_and_nothing_else(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    tree = tmp_path / "tree"
    run(
        tree,
        {"inc/carrier.h": CARRIER, "inc/more.h": "struct More {};\n", "src/a.cpp": USER, "src/b.cpp": USER},
        cache=cache,
    )
    one = run(tree, {"src/a.cpp": USER.replace("Use", "Changed")}, cache=cache)
    assert one.stats["cache_hits"] == len(one.parsed) - 1
    assert ("src/a.cpp", "cpu", "Changed") in functions(one)
    other = run(tree, {"inc/more.h": "struct More { int x; };\n"}, cache=cache)
    assert other.stats["cache_hits"] == len(other.parsed)
    header = run(tree, {"inc/carrier.h": CARRIER.replace("Bytes", "Raw")}, cache=cache)
    assert header.stats["cache_hits"] == 0


def test_a_new_function_of_a_header_is_read_where_it_is_and_where_it_is_named(tmp_path: Path) -> None:
    cache, tree = tmp_path / "cache", tmp_path / "tree"
    files = {"inc/carrier.h": CARRIER, "src/a.cpp": USER, "src/b.cpp": USER.replace("Use", "More")}
    run(tree, files, cache=cache)
    more = CARRIER + "inline int More(long n) { return n > 1; }\n"
    found = run(tree, {"inc/carrier.h": more}, cache=cache)
    assert found.stats["cache_hits"] == len(found.parsed) - 2
    assert found.facts() == run(tmp_path / "anew", {**files, "inc/carrier.h": more}).facts()


def test_one_changed_file_uses_the_precompiled_header_of_the_others(tmp_path: Path) -> None:
    cache, tree = tmp_path / "cache", tmp_path / "tree"
    run(tree, {"inc/carrier.h": CARRIER, **MANY}, cache=cache)
    name = next(iter(MANY))
    text = (tree / name).read_text() + "int more();\n"
    found = run(tree, {name: text}, cache=cache)
    assert found.stats["cache_hits"] == len(found.parsed) - 1
    assert next(each for each in found.parsed if each.path == name).pch


def test_what_needs_a_constexpr_standard_library_gets_it(tmp_path: Path) -> None:
    text = USER + (
        "#include <vector>\n"
        "constexpr bool Evaluated() { std::vector<int> v{1, 2}; return v.size() == 2; }\n"
        "static_assert(Evaluated());\n"
    )
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text})
    assert not any(each.errors for each in found.parsed)
    assert {("a.cpp", "cpu", "Use"), ("a.cpp", "cpu", "Evaluated")} <= functions(found)


def test_a_touched_tree_is_read_again_once(tmp_path: Path) -> None:
    cache, tree = tmp_path / "cache", tmp_path / "tree"
    run(tree, {"inc/carrier.h": CARRIER, "src/a.cpp": USER}, cache=cache)
    for path in tree.rglob("*.*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    touched = run(tree, {}, cache=cache)
    again = run(tree, {}, cache=cache)
    assert touched.stats["cache_hits"] == again.stats["cache_hits"] == len(again.parsed)
    assert "save" in touched.stats
    assert "save" not in again.stats


def test_a_new_header_that_shadows_another_is_seen(tmp_path: Path) -> None:
    cache, tree = tmp_path / "cache", tmp_path / "tree"
    run(tree, {"inc/carrier.h": CARRIER, "src/a.cpp": USER}, cache=cache)
    found = run(tree, {"src/carrier.h": CARRIER.replace("Bytes(const", "Bytes(int, const")}, cache=cache)
    assert any(each.path == "src/a.cpp" and each.errors for each in found.parsed)


def test_a_cache_moves_with_the_tree(tmp_path: Path) -> None:
    files = {"inc/carrier.h": CARRIER, "src/a.cpp": USER}
    first = run(tmp_path / "x" / "tree", dict(files), cache=tmp_path / "cache")
    second = run(tmp_path / "y" / "renamed", dict(files), cache=tmp_path / "cache")
    assert second.stats["cache_hits"] == len(second.parsed)
    assert [each.facts for each in second.parsed] == [each.facts for each in first.parsed]


def test_facts_say_nothing_of_the_place_of_their_tree(tmp_path: Path) -> None:
    """Not even where clang spells it: lambdas and unnamed records have a path for a name."""
    text = (
        '#include "carrier.h"\n'
        "struct Pair { struct { int left; } inner; union { int a; float b; }; };\n"
        "static enum { kOff, kOn } mode;\n"
        "template <class F> int Apply(F&& f, Weight& w) { return f(w) ? 1 : 0; }\n"
        "int Use(Weight& w, Pair& p) {\n"
        "  auto marked = [&](const Weight& v) { w.packed = p.inner.left > 0; return v.packed; };\n"
        "  auto any = [](auto&& v) { return v.packed; };\n"
        "  return Apply(marked, w) + marked(w) + any(w) + (mode == kOn ? p.a : 0);\n"
        "}\n"
    )
    here, there = (
        run(tmp_path / name, {"carrier.h": CARRIER, "a.cpp": text}) for name in ("here", "there (2)")
    )
    raw = [[bytes(parsed.facts) for parsed in found.parsed] for found in (here, there)]
    assert ("a.cpp", "cpu", "Use") in functions(here)
    assert raw[0] == raw[1]
    assert not any(b"here" in facts for facts in raw[0])


def test_a_damaged_cache_costs_time_only(tmp_path: Path) -> None:
    files = {"inc/carrier.h": CARRIER, "src/a.cpp": USER}
    first = run(tmp_path / "tree", dict(files), cache=tmp_path / "cache")
    for path in (tmp_path / "cache").glob("*.facts"):
        path.write_bytes(path.read_bytes()[:-5])
    assert run(tmp_path / "tree", {}, cache=tmp_path / "cache").facts() == first.facts()
    assert Store(tmp_path / "cache", tmp_path / "tree").load().results


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_with_a_killed_run(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        "import time\nfrom analyzer.pool import Pool\n"
        "if __name__ == '__main__':\n"
        "    pool = Pool(1)\n"
        "    import os\n    print(pool.executor.submit(os.getpid).result(), flush=True)\n    time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        for _ in range(100):
            if not Path(f"/proc/{worker}").exists():
                break
            time.sleep(0.1)
        assert not Path(f"/proc/{worker}").exists()


def test_a_body_in_a_header_concerns_the_header_alone(tmp_path: Path) -> None:
    cache, tree = tmp_path / "cache", tmp_path / "tree"
    run(tree, {"inc/carrier.h": CARRIER, "src/a.cpp": USER}, cache=cache)
    changed = run(
        tree,
        {"inc/carrier.h": CARRIER.replace("return w.bytes", "return w.packed ? 0 : w.bytes")},
        cache=cache,
    )
    assert changed.stats["cache_hits"] == 1
    assert changed.facts() == run(tree, {}).facts()


def test_a_header_that_needs_another_gives_the_same_when_it_alone_has_changed(tmp_path: Path) -> None:
    cache, tree = tmp_path / "cache", tmp_path / "tree"
    needy = "#pragma once\ninline int Needs(Weight& w) { return w.packed; }\n"
    run(tree, {"inc/a_carrier.h": CARRIER, "inc/b_needy.h": needy}, cache=cache)
    changed = run(tree, {"inc/b_needy.h": needy.replace("Needs", "Wants")}, cache=cache)
    assert changed.stats["cache_hits"] == 1
    assert changed.facts() == run(tree, {}).facts()
    assert changed.unanalysed == ()


def test_a_header_that_the_build_makes_from_a_template_is_made(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "inc/carrier.h": CARRIER,
        "inc/ver.h.in": '#pragma once\n#cmakedefine HAS_X\n#define VERSION "@V@"\n',
        "src/a.cpp": '#include "ver.h"\nconst char* version = VERSION;\n' + USER,
    }
    found = run(tmp_path, files)
    assert found.notes == ()
    assert not any(each.errors for each in found.parsed)


def test_feature_macros_are_those_that_cmake_speaks_of(tmp_path: Path) -> None:
    text = (
        USER
        + "#ifdef SET_BY_BUILD\nint A(Weight&) { return 1; }\n#endif\n#ifdef NEVER_SET\n#error no\n#endif\n"
    )
    cmake = "target_compile_definitions(x PUBLIC SET_BY_BUILD=1)\n"
    found = run(tmp_path, {"carrier.h": CARRIER, "a.cpp": text, "CMakeLists.txt": cmake})
    assert [profile.defines for profile in found.profiles] == [(), ("SET_BY_BUILD",)]


def test_the_work_can_be_done_by_another_executor(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"inc/carrier.h": CARRIER, **MANY}
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        found = run(tmp_path, files, executor=executor)
    assert found.facts() == run(tmp_path, {}).facts()


def test_parts_made_apart_give_the_whole_when_merged(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"inc/carrier.h": CARRIER, **MANY}
    whole = run(tmp_path / "tree", files)
    for part in (1, 2):
        run(tmp_path / "tree", {}, cache=tmp_path / str(part), shard=(part, 2))
    store = Store(tmp_path / "merged", tmp_path / "tree")
    made = [path for part in (1, 2) for path in (tmp_path / str(part)).glob("*.facts")]
    assert store.merge(made) == len(whole.parsed)
    merged = run(tmp_path / "tree", {}, cache=tmp_path / "merged")
    assert merged.stats["cache_hits"] == len(merged.parsed)
    assert merged.facts() == whole.facts()
