# Two commands for newcomers: `make demo` and `make test`. Both build what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := setup.py pyproject.toml $(wildcard cext/*.pyx cext/*.pxd cext/*.pxi cext/*.h checker/*.pyx checker/*.h)

.PHONY: demo test test-fast test-long lint docs bench proto clean

demo: $(VENV)/.installed  ## a distributed solve of reversi 6x6, all on this machine
	$(BIN)/zermelo solve reversi:6x6

test: $(VENV)/.installed  ## every test but the long ones, with real parts
	$(BIN)/python -m pytest

test-fast: $(VENV)/.installed  ## within a minute: what needs no database, no process, no patience
	$(BIN)/python -m pytest -m 'not long and not slow' tests/unit

test-long: $(VENV)/.installed  ## chaos, many kills, fuzzing, large boards, all examples
	ZERMELO_TEST_LONG=1 $(BIN)/python -m pytest -m 'long or examples'

lint: $(VENV)/.installed  ## style, types and import directions
	$(BIN)/ruff check . src/zermelo/*.py
	PATH="$(abspath $(BIN)):$$PATH" cython-lint --max-line-length 100 cext checker
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.docs  ## the documentation as a site in build/site; every link is checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed  ## the numbers in docs/performance.md; run on a quiet machine
	$(BIN)/python bench/engine.py
	$(BIN)/python bench/pipeline.py
	$(BIN)/python bench/expand.py
	$(BIN)/python bench/fleet.py
	$(BIN)/python bench/client.py
	$(BIN)/python bench/go.py
	$(BIN)/python bench/proof.py

proto: $(VENV)/.installed  ## regenerate the modules of proto/*.proto
	$(BIN)/python -m zermelo.proto.generate

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info cext/*.c cext/*.so checker/*.c checker/*.so

$(VENV)/.installed: $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

# Reads docstrings without importing them, so the site needs only what is named here.
DOCS_REQUIREMENTS = import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")

$(VENV)/.docs: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -c '$(DOCS_REQUIREMENTS)' > $(VENV)/docs-requirements.txt
	$(BIN)/pip install --quiet --requirement $(VENV)/docs-requirements.txt
	touch $@
