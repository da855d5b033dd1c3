from pathlib import PurePosixPath

from analyzer.includes import IncludeGraph
from analyzer.scan import scan
from analyzer.selection import choose, holders, look
from analyzer.tree import SourceFile

MARKERS = frozenset({"repacked"})
TREE = {
    "include/weight.h": "struct Weight { bool repacked = false; DType dtype; void* data; };\n",
    "include/layer.h": '#include "weight.h"\nstruct Layer { Weight w; };\n',
    "src/forward.cpp": '#include "layer.h"\nvoid Forward(const Layer& l) { if (WantsRows()) Run(l); }\n',
    "src/engine.cpp": '#include "layer.h"\nstruct Impl { Layer layer; };\nvoid Run() { Impl i; }\n',
}


def chosen(more: dict[str, str]) -> set[str]:
    """Which of `more` are worth parsing beside the tree."""
    texts = {**TREE, **more}
    scans = {path: scan(text.encode(), header=path.endswith(".h")) for path, text in texts.items()}
    graph = IncludeGraph(texts, scans)
    holding = holders(scans, graph, MARKERS)
    looked = {path: look(text.encode(), MARKERS.union(holding)) for path, text in texts.items()}
    files = [SourceFile(path, 1, 1, 1) for path in texts]
    assert {PurePosixPath(path).suffix for path in texts} <= {".h", ".cpp"}
    found = {file.path for file in choose(files, scans, looked, graph, MARKERS, holding)}
    assert found.issuperset(TREE)
    return found - TREE.keys()


def test_who_names_a_holder_that_it_can_include_is_chosen() -> None:
    named = {"src/a.cpp": '#include "layer.h"\nvoid A(Layer& l);\n'}
    assert chosen(named) == {"src/a.cpp"}
    assert chosen({"src/a.cpp": "void A(Layer& l);\n"}) == set()


def test_a_record_of_the_same_name_elsewhere_is_another_one() -> None:
    own = {"src/http.cpp": "struct Impl { int port; };\nvoid Listen() { Impl i; }\n"}
    assert chosen(own) == set()
    assert chosen({**own, "src/list.cpp": '#include "layer.h"\nstruct Impl { Layer* l; };\n'}) == {
        "src/list.cpp"
    }


def test_the_source_of_a_chosen_header_is_chosen_and_not_one_that_is_only_called_so() -> None:
    both = {
        "src/layer.cpp": '#include "layer.h"\nint Count() { return 1; }\n',
        "src/http/layer.h": "int Port();\n",
        "src/http/layer.cpp": '#include "layer.h"\nint Port() { return 80; }\n',
    }
    assert {path for path in chosen(both) if path.endswith(".cpp")} == {"src/layer.cpp"}


def test_what_reads_the_environment_is_chosen_when_a_chosen_file_names_what_it_declares() -> None:
    gate = '#include <cstdlib>\nbool {}() {{ return std::getenv("ROWS") != nullptr; }}\n'
    assert chosen({"src/env.cpp": gate.format("WantsRows")}) == {"src/env.cpp"}
    assert chosen({"src/env.cpp": gate.format("WantsColour")}) == set()
    passed = {
        "src/env.cpp": gate.format("Asked"),
        "src/policy.cpp": gate.format("WantsRows") + "bool b = Asked();\n",
    }
    assert chosen(passed) == {"src/env.cpp", "src/policy.cpp"}
