import ast
from pathlib import Path

import msgspec
import pytest

from analyzer import cache
from analyzer.cache import FileState, Pack, Store, result_key
from analyzer.depends import Depends
from analyzer.includes import IncludeGraph
from analyzer.scan import scan
from analyzer.tree import SourceFile


def key(files: dict[str, str], path: str = "src/a.cpp", **options: str) -> str:
    scans = {name: scan(text.encode(), header=name.endswith(".h")) for name, text in files.items()}
    shas = {name: cache.digest(text) for name, text in files.items()}
    depends = Depends(IncludeGraph(files, scans), scans, shas)
    return result_key(path, depends.of(path), "tools", [shas[path], *sorted(options.items())])


BASE = {
    "src/a.cpp": '#include "x/b.h"\n#include <vector>\n',
    "include/x/b.h": '#include "c.h"\n',
    "include/x/c.h": "int c;\n",
    "include/x/other.h": "int other;\n",
}


def test_the_key_changes_with_the_file_and_with_what_it_includes_at_any_depth() -> None:
    for changed in ("src/a.cpp", "include/x/b.h", "include/x/c.h"):
        assert key({**BASE, changed: BASE[changed] + "int more;\n"}) != key(BASE)


def test_the_key_does_not_change_with_other_files() -> None:
    assert key({**BASE, "include/x/other.h": "int changed;\n", "src/new.h": ""}) == key(BASE)


def test_a_new_header_that_shadows_another_changes_the_key() -> None:
    assert key({**BASE, "src/x/b.h": ""}) != key(BASE)
    assert key({**BASE, "src/vector": ""}) != key(BASE)


def test_the_key_changes_with_flags_and_toolchain() -> None:
    assert key(BASE, profile="cpu") != key(BASE, profile="cuda")


def test_an_include_cycle_ends() -> None:
    files = {"src/a.cpp": '#include "b.h"\n', "src/b.h": '#include "a.cpp"\n'}
    assert key(files)


def test_a_computed_include_depends_on_every_header() -> None:
    files = {**BASE, "src/a.cpp": "#include NAME\n"}
    assert key({**files, "include/x/other.h": "int changed;\n"}) != key(files)


def pack() -> Pack:
    return Pack(
        version=cache.version(),
        taken_ns=10_000_000_000,
        files={"a.cpp": FileState(1, 5, 7, "sha")},
        results={"k": msgspec.Raw(msgspec.msgpack.encode([1]))},
    )


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache", tmp_path / "tree")
    store.save(pack(), ["k"])
    found = store.load()
    assert found.files == pack().files
    assert bytes(found.results["k"]) == msgspec.msgpack.encode([1])


def test_a_checkout_at_another_place_starts_from_the_facts_of_the_most_similar_one(tmp_path: Path) -> None:
    Store(tmp_path, tmp_path / "here").save(pack(), ["k"])
    unlike = pack()
    unlike.files = {"b.cpp": FileState(1, 5, 7, "other")}
    Store(tmp_path, tmp_path / "unlike").save(unlike, [])
    copy = Store(tmp_path, tmp_path / "copy")
    found = copy.load([SourceFile("a.cpp", 1, 99, 99)])
    assert found.files == pack().files
    assert found.results
    found.results["unused"] = found.results["k"]
    copy.save(found, ["k"])
    assert copy.load().results.keys() == {"k"}


def test_a_tree_with_nothing_in_common_starts_from_nothing(tmp_path: Path) -> None:
    Store(tmp_path, tmp_path / "here").save(pack(), ["k"])
    assert not Store(tmp_path, tmp_path / "there").load([SourceFile("c.cpp", 1, 5, 7)]).results


def test_a_damaged_file_is_no_answer(tmp_path: Path) -> None:
    store = Store(tmp_path, tmp_path / "tree")
    store.save(pack(), ["k"])
    path = next(tmp_path.glob("*.facts"))
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:40], b"", whole[:-3] + b"abc"):
        path.write_bytes(damaged)
        assert not store.load().results


def test_facts_of_another_analyser_are_no_answer(tmp_path: Path) -> None:
    store = Store(tmp_path, tmp_path / "tree")
    old = pack()
    old.version = "another"
    store.save(old, ["k"])
    assert not store.load().results


def test_the_size_is_bounded_and_what_is_in_use_stays(tmp_path: Path) -> None:
    store = Store(tmp_path, tmp_path / "tree")
    large = pack()
    megabyte = msgspec.Raw(msgspec.msgpack.encode(b"x" * (1 << 20)))
    large.results = {f"old{at}": megabyte for at in range(300)} | {"new": megabyte}
    large.results = {"used": megabyte, **large.results}
    store.save(large, ["used", "new"])
    left = store.load().results
    assert {"used", "new"} <= left.keys()
    assert len(left) <= 258


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Store(tmp_path / "file" / "cache", tmp_path).save(pack(), [])


def test_a_file_is_read_again_when_its_state_changed_or_may_have_changed_since() -> None:
    kept = pack()
    assert kept.sha_of(SourceFile("a.cpp", 1, 5, 7)) == "sha"
    assert kept.sha_of(SourceFile("a.cpp", 2, 5, 7)) == ""
    assert kept.sha_of(SourceFile("a.cpp", 1, 6, 7)) == ""
    assert kept.sha_of(SourceFile("a.cpp", 1, 5, 8)) == ""
    assert kept.sha_of(SourceFile("b.cpp", 1, 5, 7)) == ""
    kept.taken_ns = 6
    assert kept.sha_of(SourceFile("a.cpp", 1, 5, 7)) == ""


def test_the_version_covers_every_module_that_makes_facts() -> None:
    folder = Path(cache.__file__).parent
    named = set(cache._FRONT_END)
    for name in named:
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("analyzer"):
                parts = node.module.split(".")[1:] or [alias.name for alias in node.names]
                assert set(parts[:1] if len(parts) == 1 and node.module != "analyzer" else parts) <= named


def test_the_digest_of_code_covers_packages_in_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    inner = tmp_path / "coded" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").touch()
    (inner / "__init__.py").write_text("a = 1")
    digest = cache.code_digest.__wrapped__
    first = digest("coded")
    assert digest("coded") == first
    (inner / "__init__.py").write_text("a = 2")
    assert digest("coded") != first
