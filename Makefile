# `make help` lists what there is. Needs only Python (3.11 or newer) with pip and venv, and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   := .demo
# `dg` reads this file of settings; it says that nothing about its use is recorded.
export DG_CLI_CONFIG := $(abspath $(VENV))/dg.toml

.DEFAULT_GOAL := help
.PHONY: help demo test soak fast check lint types contracts definitions prose fix ui instance lock snapshots reference pictures site release pythons clean

help: ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## Set everything up, take in the example vault by night, ask it questions
	@$(BIN)/python examples/demo.py --home $(DEMO)

# Whoever has no more work takes over some of the other's; tests/conftest.py puts the long ones first. Frames
# are small here: threads of Polars would wait for one another, a tenth of all.
PYTEST := POLARS_MAX_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

# What `make check` runs in one process, in a third of the time; `make test` leaves it out afterwards.
PROSE := tests/test_house.py tests/test_prose.py

test: $(VENV)/.dev ## Set everything up and pass the tests
	@$(MAKE) --no-print-directory -j 2 check
	$(PYTEST) -m "not soak" $(PROSE:%=--ignore=%)

soak: $(VENV)/.dev ## The long tests that `make test` leaves out: every moment of a kill, whole lives, every bench script
	$(PYTEST) -m soak

fast: $(VENV)/.dev ## Only the fast tests
	$(PYTEST) -m "not slow and not soak"

check: types lint contracts definitions prose ## Lint, types, the import contract, the Dagster definitions, the prose

types: $(VENV)/.dev
	$(BIN)/mypy

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

definitions: $(VENV)/.dev
	$(BIN)/dg check defs

prose: $(VENV)/.dev
	$(BIN)/pytest -q $(PROSE)

fix: $(VENV)/.dev ## Format, and fix what the linter can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

ui: $(VENV)/.runtime ## Open the Dagster web page on the project's own instance (home: SLOWWAVE_HOME or .slowwave)
	@$(BIN)/slowwave ui

instance: $(VENV)/.python ## Make the Dagster instance of the home, and name it in .env for `dagster dev` and `dg dev`
	@$(BIN)/python -m slowwave.orchestration.instance

lock: $(VENV)/.dev ## Resolve the dependencies again and pin them with hashes
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --custom-compile-command "make lock" pyproject.toml -c requirements/together.txt --extra night --extra mcp --extra page --group build \
	  -o requirements/runtime.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --custom-compile-command "make lock" pyproject.toml --all-extras --group build --group dev \
	  -c requirements/runtime.lock -o requirements/dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" pyproject.toml --extra night --extra mcp --extra page --extra api \
	  --extra server --extra telemetry --extra backup --group build -c requirements/dev.lock -o deploy/server.lock

snapshots: $(VENV)/.dev ## Accept the present asset graph as the right one
	$(BIN)/pytest tests/orchestration/test_definitions.py --snapshot-update

reference: $(VENV)/.dev ## Regenerate docs/reference from the code
	$(BIN)/python -m tools.reference

pictures: $(VENV)/.dev ## Draw the pages of the web UI for the documentation, from the demo's homes; needs Chromium
	$(BIN)/python -m tools.pictures --docs

site: $(VENV)/.dev ## Build the documentation as a site in site/; a dead link ends it
	$(BIN)/properdocs build --strict

release: $(VENV)/.dev ## Check, build and try a release, into dist/
	@$(BIN)/python -m tools.release

pythons: $(VENV)/.dev ## Build the wheel and use it under Python 3.11, 3.12 and 3.13, as far as they are there
	@$(BIN)/python tests/e2e/pythons.py

clean: ## Remove the environment, the demo and every cache
	rm -rf site $(VENV) $(DEMO) $(DEMO)-month .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# A module is compiled when it is first imported: few of all these are.
PINNED := $(BIN)/pip install --disable-pip-version-check --quiet --no-compile --no-deps --require-hashes

# An environment is made once, and again when its lock or the project's metadata changes.
$(VENV)/.python:
	@echo "Making $(VENV) (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Slowwave needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.python requirements/runtime.lock pyproject.toml
	@echo "Installing pinned packages (once, one to three minutes) ..."
	@$(PINNED) -r requirements/runtime.lock
	@$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@printf '[cli.telemetry]\nenabled = false\n' > $(VENV)/dg.toml
	@grep -q DG_CLI_CONFIG $(BIN)/activate || echo 'export DG_CLI_CONFIG="$(DG_CLI_CONFIG)"' >> $(BIN)/activate
	-@$(MAKE) --no-print-directory instance
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.lock
	@echo "Installing pinned development packages (once) ..."
	@$(PINNED) -r requirements/dev.lock
	@touch $@
