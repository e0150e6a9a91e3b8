# Two commands for newcomers: `make demo` and `make test`. Both build what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := setup.py pyproject.toml $(wildcard cext/*.pyx cext/*.pxd cext/*.pxi cext/*.h checker/*.pyx checker/*.h \
	$(foreach module,questions formulas,$(addprefix server/planning/$(module),.py .pxd)))

#: What `make demo` needs. Cython and setuptools are in the environment, so that a change of a
#: source rebuilds without downloading them again. pip compiles nothing ahead: only what is
#: imported will be.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
BUILD_TOOLS := 'setuptools>=77' 'cython>=3.1'

# Hundreds of processes start here: what one of them has compiled no other shall compile again.
unexport PYTHONDONTWRITEBYTECODE

ifeq ($(shell test -w . && echo writable),)
# A tree that cannot be written is copied, and everything happens in the copy: a folder of ours, also
# where it lies in a folder that is everybody's.
.PHONY: $(or $(MAKECMDGOALS),demo)
$(or $(MAKECMDGOALS),demo):
	@cache="$${XDG_CACHE_HOME:-$${HOME:+$$HOME/.cache}}"; \
	copy="$${cache:-/var/tmp}/zermelo-source-$$(id -u)"; mkdir -p -m 700 "$$copy"; \
	test ! -L "$$copy" -a -O "$$copy" || { echo "$$copy is not ours: remove it, or set HOME"; exit 1; }; \
	echo "this folder is read-only: working in $$copy"; \
	tar -c -f - --exclude ./.venv --exclude ./.git . | (cd "$$copy" && tar -x -f - && chmod -R u+w . && chmod 700 .) && \
	$(MAKE) -C "$$copy" $@
else

.PHONY: demo test test-fast test-long fuzz lint style types directions docs bench proto clean

demo: $(VENV)/.solver  ## a distributed solve of reversi 6x6, all on this machine
	@echo "solving reversi 6x6: PostgreSQL, four services, a client and web pages on this machine"
	@$(BIN)/zermelo solve reversi:6x6 --demo
	@$(MAKE) --no-print-directory $(VENV)/.built

test: $(VENV)/.installed  ## every test but the long ones, with real parts
	@sh deploy/packages.sh browser
	$(BIN)/python -m pytest

test-fast: $(VENV)/.installed  ## within a minute: what needs no database, no process, no patience
	$(BIN)/python -m pytest -n logical -m 'not long and not slow' tests/unit

#: What `make test-long` runs: all of it, unless told otherwise.
LONG = long or examples

test-long: $(VENV)/.installed  ## chaos, many kills, fuzzing, large boards, all examples
	@sh deploy/packages.sh browser
	ZERMELO_TEST_LONG=1 $(BIN)/python -m pytest -m '$(LONG)'

#: What `make fuzz` looks at, and for how many seconds each.
READERS = certificate certificate_header certificate_entries checkpoint weights definition sgf obf claims gtp http2
TIME = 600

fuzz: $(VENV)/.fuzz  ## every reader of foreign bytes for TIME seconds; findings in build/fuzz
	mkdir -p build/fuzz/structure
	clang -g -O1 -fsanitize=fuzzer,address,undefined -Ichecker tests/fuzz/structure.c -o build/fuzz/structure.run
	build/fuzz/structure.run -max_total_time=$(TIME) -artifact_prefix=build/fuzz/structure- build/fuzz/structure
	for reader in $(READERS); do $(BIN)/python -m tests.fuzz.run $$reader $(TIME) || exit 1; done

lint: style types directions  ## style, types and import directions: `make -j2 lint` side by side

types: $(VENV)/.installed
	$(BIN)/mypy

style: $(VENV)/.installed
	$(BIN)/ruff check . src/zermelo/*.py
	PATH="$$PWD/$(BIN):$$PATH" cython-lint --max-line-length 100 cext checker server/planning/*.pxd

directions: $(VENV)/.installed
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.docs  ## the documentation as a site in build/site; every link is checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed  ## the numbers in docs/performance.md; run on a quiet machine
	$(BIN)/python bench/engine.py
	$(BIN)/python bench/demo.py
	$(BIN)/python bench/pipeline.py
	$(BIN)/python bench/expand.py
	$(BIN)/python bench/fleet.py
	$(BIN)/python bench/client.py
	$(BIN)/python bench/go.py
	$(BIN)/python bench/games.py
	$(BIN)/python bench/proof.py

proto: $(VENV)/.installed  ## regenerate the modules of proto/*.proto
	$(BIN)/python -m zermelo.proto.generate

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info cext/*.c cext/*.so checker/*.c checker/*.so \
		server/planning/*.c server/planning/*.so

$(VENV)/.tools:
	@echo "1/4 making the Python environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "2/4 installing the Cython compiler"
	@$(INSTALL) $(BUILD_TOOLS)
	@touch $@

COMPILE := $(BIN)/python setup.py -q build_ext --inplace
FASTEST_SET = PYTHONPATH=src $(BIN)/python -c 'from zermelo.cext.cpu import instruction_sets as s; print(s()[0])'

# $(call side_by_side,COMMANDS,PARTS): compile by these commands while pip fetches and installs what
# these parts of pyproject.toml need; the compiler would wait for the network otherwise.
define side_by_side
@{ $(1); } >$(VENV)/build.log 2>&1 & compiling=$$!; \
	$(BIN)/python deploy/requirements.py $(2) >$(VENV)/requirements.txt && \
	$(INSTALL) --requirement $(VENV)/requirements.txt; installed=$$?; \
	wait $$compiling || { tail -n 20 $(VENV)/build.log; exit 1; }; exit $$installed
endef
INSTALL_ZERMELO := ZERMELO_COMPILED=1 $(INSTALL) --no-deps --no-build-isolation --editable .

# What the demo solves with, so that a newcomer need not wait for the engines of other games and
# processors.
$(VENV)/.solver: $(VENV)/.tools $(SOURCES)
	@echo "3/4 compiling the engine of reversi and installing what the demo needs, side by side"
	$(call side_by_side,ZERMELO_ONLY=cpu $(COMPILE) && fastest=$$($(FASTEST_SET)) && \
	ZERMELO_ONLY="reversi_$$fastest reversi_depth" $(COMPILE),web)
	@echo "4/4 installing zermelo"
	@$(INSTALL_ZERMELO)
	@touch $@

$(VENV)/.built: $(VENV)/.solver
	@echo "compiling the engines of all other games: about a minute"
	@$(COMPILE) >$(VENV)/build.log 2>&1 || { tail -n 20 $(VENV)/build.log; exit 1; }
	@touch $@

# The processes of a run begin together, and each would compile what it finds not compiled yet. What
# cannot be imported is told by the tests.
BYTECODE := $(BIN)/python -m pytest --collect-only --quiet -n 0 >/dev/null || true

# Everything at once: whoever tests waits for all engines and all packages.
$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	@echo "3/4 compiling all engines and installing what tests and linters need, side by side"
	$(call side_by_side,$(COMPILE),dev)
	@echo "4/4 installing zermelo"
	@$(INSTALL_ZERMELO)
	@echo "compiling what the tests import"
	@$(BYTECODE)
	@touch $(VENV)/.solver $(VENV)/.built $@

# Reads docstrings without importing them, so the site needs only what is named here.
DOCS_REQUIREMENTS = import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")

$(VENV)/.docs: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -c '$(DOCS_REQUIREMENTS)' > $(VENV)/docs-requirements.txt
	$(INSTALL) --requirement $(VENV)/docs-requirements.txt
	touch $@

$(VENV)/.fuzz: pyproject.toml | $(VENV)/.installed
	ZERMELO_COMPILED=1 $(INSTALL) --no-build-isolation --editable '.[fuzz]'
	touch $@

endif
