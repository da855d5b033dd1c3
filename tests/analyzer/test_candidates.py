from analyzer.candidates import candidates

WORDS = frozenset({b"Weight", b"packed"})


def found(text: str) -> list[tuple[str, int, str, bool]]:
    return [(each.what, each.line, each.guard, each.arm) for each in candidates(text.encode(), WORDS)]


def test_a_function_that_names_a_word_is_a_candidate() -> None:
    assert found("int a() { return 1; }\nvoid b(Weight& w) { w.f(); }\n") == [("b", 2, "", False)]


def test_methods_templates_and_namespaces_are_searched() -> None:
    text = (
        "namespace n { struct S { void m(const Weight& w) {} };"
        " template <class T> T f(Weight w) { return T(); } }"
    )
    assert [each[0] for each in found(text)] == ["m", "f"]


def test_deleted_and_declared_functions_are_none() -> None:
    assert found("struct S { S(const Weight&) = delete; void m(Weight); };\nvoid f(Weight);\n") == []


def test_a_word_inside_another_or_in_no_code_is_none() -> None:
    assert found("void f() { Weights w; unpacked(); }") == []


def test_conditional_code_in_a_function_is_a_candidate_of_its_own() -> None:
    text = "void f(Weight& w) {\n  g(w);\n#ifdef GPU\n  w.packed = true;\n#endif\n}\n"
    assert found(text) == [("f", 1, "", False), ("f", 4, "#ifdef GPU", True)]


def test_a_function_under_a_condition_says_which() -> None:
    assert found("#if defined(GPU)\nvoid f(Weight& w) {}\n#endif\n") == [("f", 2, "#if defined(GPU)", False)]


def test_code_that_is_switched_off_for_good_is_none() -> None:
    assert found("#if 0\nvoid f(Weight& w) {}\n#else\nvoid g(Weight& w) {}\n#endif\n") == [
        ("g", 4, "#else", False)
    ]


def test_broken_code_still_gives_what_can_be_read() -> None:
    assert "g" in [each[0] for each in found("void f() { g( ; }\nvoid g(Weight w) { use(w); }\n")]
