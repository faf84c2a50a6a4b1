# All set-up happens here, in a virtual environment of this folder, with Python >= 3.11 and pip alone.
#   make demo    a real model judges twelve answers; nothing of your machine is touched outside $(VENV), build/ and
#                the cache folder of your platform, where the model's weights are kept
#   make test    what CI runs: style, types, tests
#   make PYTHON=python3.13 VENV=.venv-3.13 test

VENV   ?= .venv
UV     ?= uv
PYTEST_FLAGS ?= -n auto --dist worksteal
# The first Python here that is new enough.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN    := $(VENV)/bin
OUT    := build/demo
JUDGE  := $(BIN)/evenhand judge
# So weak a model fails at some answers; --max-failed lets the demo go on and show it.
DEMO   := examples/interview-answers.jsonl --model local/smollm2 --store $(OUT)/replies.db --max-failed 12

.PHONY: help demo test lint types unit model peers benchmarks lock clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile | expand -t 20

demo: $(VENV)/.demo  ## a real model judges twelve short answers, by a bare number and by quoted checks
	@mkdir -p $(OUT)
	$(BIN)/evenhand models pull smollm2
	$(JUDGE) examples/interview-number.yaml $(DEMO) -o $(OUT)/number.jsonl
	$(JUDGE) examples/interview-specificity.yaml $(DEMO) -o $(OUT)/checklist.jsonl
	@$(BIN)/python examples/side_by_side.py $(OUT)/number.jsonl $(OUT)/checklist.jsonl

test: lint types unit  ## style, types and all tests, as CI runs them

lint: $(VENV)/.dev  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## strict mypy
	$(BIN)/mypy

unit: $(VENV)/.dev model  ## pytest, on all cores
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

# Tests that need the weights skip by name where they cannot be had, so that an offline machine can still test the rest.
model: $(VENV)/.dev  ## the embedded model, for the tests that need one
	@$(BIN)/evenhand models pull smollm2 || \
		echo "make: the embedded model could not be pulled; the tests that need it will be skipped, each with this reason" >&2

# Their packages disagree with each other and with ours, so they live in environments of their own, and out of the lock.
PEERS := build/peers
peers: $(VENV)/.dev  ## trace the judges of other projects from their packages (downloads them; needs uv, and npm for promptfoo)
	@mkdir -p $(PEERS)
	$(UV) venv --quiet --allow-existing --python $(BIN)/python $(PEERS)/python
	$(UV) pip install --quiet --python $(PEERS)/python/bin/python --group peers
	$(UV) venv --quiet --allow-existing --python $(BIN)/python $(PEERS)/ragas
	$(UV) pip install --quiet --python $(PEERS)/ragas/bin/python --group peers-ragas
	@if command -v npm >/dev/null; then npm install --no-audit --no-fund --silent --prefix $(PEERS)/node promptfoo@0; \
		else echo "make: npm is not here; promptfoo is left out" >&2; fi
	EVENHAND_PEERS_PYTHON=$(CURDIR)/$(PEERS)/python/bin/python:$(CURDIR)/$(PEERS)/ragas/bin/python \
	EVENHAND_PEERS_PROMPTFOO=$$(ls $(CURDIR)/$(PEERS)/node/node_modules/.bin/promptfoo 2>/dev/null) \
		$(BIN)/python -m pytest -n 0 tests/trace/test_peers.py

benchmarks: $(VENV)/.dev  ## what the README's figures on speed rest on
	$(BIN)/python benchmarks/overhead.py

lock:  ## renew requirements-dev.lock; needs uv (see CONTRIBUTING.md)
	$(UV) pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --quiet $(LOCK_FLAGS) -o requirements-dev.lock

clean:  ## remove what make has made here
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Where the venv module comes without its own pip (Debian without python3-venv), the pip that is there fills it.
$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "make: no Python >= 3.11 found; name one: make PYTHON=/path/to/python3.12 ..." >&2; exit 2; }
	@echo "$(PYTHON) -m venv $(VENV)"; $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { \
		$(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
