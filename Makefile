# Everything a person or CI does with this project. Each target sets up what it needs by itself.
# Another interpreter: make PYTHON=/path/to/python3 test

BIN := .venv/bin
export PYTHON
# The tests start hundreds of Python processes. If none may keep what it has compiled, each compiles
# all that it imports, Spark's client as well, which takes longer than most of them run.
unexport PYTHONDONTWRITEBYTECODE
# The suites that need neither Spark nor much time.
QUICK := not spark and not faults and not slow

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint format simulate faults-long bench docs lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv with all that is needed (the other targets do this themselves)
	@scripts/setup

demo: setup ## See rollback recovery at work, in the terminal
	@$(BIN)/falkirk demo

# How many processes share the tests; each has a Spark session and servers of its own.
PROCESSES ?= 2
# A file of tests stays together, and tests/conftest.py puts the files in order, so that all
# processes end at about the same time.
test: lint ## Check everything: format, lint, types, layers, and all tests
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# Without a JVM there is room for one more, which works while others wait for a server or a clock.
check: lint ## Check all that needs no Spark, in less than a minute
	FALKIRK_HYPOTHESIS=$${FALKIRK_HYPOTHESIS:-check} \
		$(BIN)/python -m pytest -n 3 --dist worksteal \
		--ignore=tests/spark --ignore=tests/faults -m "$(QUICK)"

lint: setup ## Check format, lint, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

format: setup ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

SEEDS ?= 5000
TEETH ?= 1000
simulate: setup ## Put random flows through failures: make simulate SEEDS=100000 TEETH=1000
	$(BIN)/python -m falkirk.testing.simulate --seeds $(SEEDS) --start $${START:-0} \
		--teeth $(TEETH) $(if $(DOCS),--write-docs)

KILLS ?= 100
faults-long: setup ## Kill drivers, executors and servers at many seeded moments: KILLS=1000 SEED=7
	FALKIRK_KILLS_ALL=1 FALKIRK_KILLS=$${FALKIRK_KILLS:-$(KILLS)} \
		FALKIRK_SEED=$${FALKIRK_SEED:-$(or $(SEED),0)} $(BIN)/python -m pytest tests/faults

bench: setup ## Run the benchmarks and print their tables
	$(BIN)/python -m benchmarks

docs: setup ## Build the documentation as a site: build/site/index.html
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --quiet

lock: setup ## Write the lock files anew (newest versions: make lock LOCK=--upgrade)
	scripts/lock $(LOCK)

clean: ## Remove all that the other targets made
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
