# Needs make and any Python >= 3.11 with venv. Everything is installed into .venv, at the versions of constraints.txt.
#   make test    the tests                        make check   the whole gate, as CI runs it
#   make demo    a short tour                     make real    the tests against real servers and clients
#   make bench   what wrapping costs                make bench-http   what serving costs
#   make bench-url   what either costs before a server behind a URL       make bench-library   the library beside the official SDK
#   make matrix   every client with every server
#   make conformance   the official conformance suite against serve, wrap and the library; needs npm

.DEFAULT_GOAL := test
.NOTPARALLEL:
.PHONY: test demo check static format real matrix conformance bench bench-http bench-url bench-library wheel constraints clean
unexport PYTHONPATH

BIN := .venv/bin
ENV := .venv/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Installers compile wheels, but no editable installation: its first start would (with PYTHONDONTWRITEBYTECODE, every start).
COMPILE = $(BIN)/python -m compileall -q compat specs migrations
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14 python)

# Made again only when what is to be installed has changed. hatchling comes first, so that the build itself is pinned too.
$(ENV): pyproject.toml constraints.txt
	@found=; for python in $(PYTHONS); do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "No Python >= 3.11 with the venv module was found (tried: $(PYTHONS))." >&2; \
	    echo "Install one (Debian and Ubuntu: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; \
	    exit 1; \
	fi; \
	echo "Making .venv with $$found ($$($$found --version)) ..."; \
	rm -rf .venv && $$found -m venv .venv
	@$(PIP) install -c constraints.txt hatchling editables
	@$(PIP) install -c constraints.txt --no-build-isolation -e '.[dev]'
	@$(COMPILE)
	@touch $(ENV)

# One worker a processor; PYTEST_ARGS="-n 0 -k name" runs one test in this process.
PYTEST_ARGS ?= -n auto

test: $(ENV)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

demo: $(ENV)
	@$(BIN)/python examples/demo.py

# The gate.
check: static test wheel

static: $(ENV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

# Build the wheel, look at what is in it, install it into a fresh environment, import it and run it.
wheel: $(ENV)
	$(BIN)/python .ci/wheel_check.py

# Third-party servers and clients: needs the network the first time, and node for some (those are skipped without it).
real: $(ENV)
	$(BIN)/python -m pytest -m real $(PYTEST_ARGS)

# Every transport and era of client with every one of server, as a table; some of the clients need node (skipped without it).
matrix: $(ENV)
	$(BIN)/python -m pytest -m matrix tests/matrix $(PYTEST_ARGS)

# The official conformance suite and the Node it needs come from npm, at the versions of the lock file.
# CONFORMANCE_ARGS="modern --keep out" carries out one run and leaves the suite's own results in out/.
SUITE := tests/conformance/node_modules/.package-lock.json

conformance: $(ENV) $(SUITE)
	$(BIN)/python tests/conformance/run.py $(CONFORMANCE_ARGS)

$(SUITE): tests/conformance/package-lock.json tests/ts_server/package-lock.json
	@command -v npm >/dev/null || { echo "The conformance suite comes from npm, which is not here." >&2; exit 1; }
	npm ci --prefix tests/conformance --no-audit --no-fund --loglevel=error
	npm ci --prefix tests/ts_server --no-audit --no-fund --loglevel=error
	@touch $@

bench: $(ENV)
	@$(COMPILE)
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

# BENCH_ARGS="--install FOLDER" measures the other bridges too: they are installed there the first time.
bench-http: $(ENV)
	@$(COMPILE)
	$(BIN)/python benchmarks/run_http.py $(BENCH_ARGS)

bench-url: $(ENV)
	@$(COMPILE)
	$(BIN)/python benchmarks/run_url.py $(BENCH_ARGS)

bench-library: $(ENV)
	@$(COMPILE)
	$(BIN)/python benchmarks/run_library.py $(BENCH_ARGS)

format: $(ENV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Resolve everything anew, without the old pins.
constraints:
	@rm -rf .venv
	@head -n 1 constraints.txt > .constraints.new
	@cp constraints.txt .constraints.old && : > constraints.txt
	@$(MAKE) --no-print-directory $(ENV) || { mv .constraints.old constraints.txt; rm -f .constraints.new; exit 1; }
	@$(BIN)/python -m pip freeze --exclude-editable >> .constraints.new
	@mv .constraints.new constraints.txt && rm -f .constraints.old && touch $(ENV)

clean:
	rm -rf .venv dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
