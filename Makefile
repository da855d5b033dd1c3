# `make demo` checks the sample tree and `make test` runs the tests, both from nothing.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean

demo: .venv/installed
	@echo '$$ vt-lint check --tree samples/vt_tree'
	@$(BIN)/vt-lint check --tree samples/vt_tree || test $$? -eq 1 # 1: the findings that it is there to show

test: .venv/installed-test
	@.ci/packages
	@$(BIN)/pytest

lint: .venv/installed-test .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed: make PYTHON=python3.12")'
	@$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	@$(BIN)/pip install -q --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q analyzer codemods rules runtime_check vt_lint # or the first runs do it, each anew
	@touch $@

.venv/installed-test: pyproject.toml | .venv/bin/python
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@ .venv/installed

.venv/installed-dev: pyproject.toml | .venv/bin/python
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@
