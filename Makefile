# Development commands. `make` prints them.

BIN := $(if $(wildcard .venv/bin/python),.venv/bin/,)
PYTHON := $(if $(BIN),$(BIN)python,python3)

.DEFAULT_GOAL := help
.PHONY: help install lint rooms types imports workflows test test-all laws engines fuzz faults speed compare evidence evidence-quick docs build ci clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Make .venv with the package and all development tools
	python3 -m venv .venv
	.venv/bin/python -m pip install --upgrade 'pip>=25.1'
	.venv/bin/python -m pip install --editable . --group dev

lint: ## Check rules and format with ruff, and the lines of each room against its budget
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m benchmarks.harness.house rooms --check

rooms: ## Print lines, budgets, tokens, unused functions and more of each room of the package
	$(PYTHON) -m benchmarks.harness.house rooms

types: ## Check types with mypy, strict
	$(PYTHON) -m mypy

imports: ## Check that rooms import downwards only
	$(BIN)lint-imports

workflows: ## Check the workflows of GitHub by their schema, and with zizmor
	$(BIN)check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)check-jsonschema --builtin-schema custom.github-workflows-require-timeout .github/workflows/*.yml
	$(BIN)check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)zizmor --offline --quiet .github

test: ## Run at most two cases of each test, and every example in README, docs and docstrings
	OPENBLAS_NUM_THREADS=1 $(PYTHON) -m pytest -n 2

test-all: ## Run what `make ci` runs with all cases of all tests, and the gallery executed
	bash .ci/run --all

laws: ## Run all cases of the laws, in one process, and tables of all shapes; hours, resumable
	OPENBLAS_NUM_THREADS=1 $(PYTHON) -m pytest --all-cases tests/contracts
	OPENBLAS_NUM_THREADS=1 $(PYTHON) -m tests.shapes

engines: ## Test every place rows can live: needs the extras, Java and PostgreSQL
	DIRECTRIX_ENGINES=all OPENBLAS_NUM_THREADS=1 $(PYTHON) -m pytest --all-cases tests/engines tests/integrations tests/contracts/test_engines.py tests/fit/test_two_passes.py tests/estimators/direct/test_fit_source.py

fuzz: ## Feed 20,000 damaged summary files to the loader
	DIRECTRIX_FUZZ=20000 $(PYTHON) -m pytest tests/moments/test_storage_fuzz.py

faults: ## Plant 20 faults in each room and record which the nearest tests find; resumable, hours
	$(PYTHON) -m tests.mutants --each 20 --near

speed: ## Measure the speed ratios of moments, sparse rows and engines
	$(PYTHON) -m benchmarks.speed.moments
	$(PYTHON) -m benchmarks.speed.wide
	$(PYTHON) -m benchmarks.speed.engines

compare: ## Compare the speed of the working tree with that of the commit BASE
	$(PYTHON) -m benchmarks.speed.compare $(BASE)

evidence: ## Measure all tables, figures and the arena, and write the page; resumable, hours
	$(PYTHON) -m benchmarks.papers.ghanbari_2018.run
	$(PYTHON) -m benchmarks.papers.ghanbari_2019.run
	$(PYTHON) -m benchmarks.papers.ghanbari_2019.second_order
	$(PYTHON) -m benchmarks.papers.zhang_2011.run figures
	$(PYTHON) -m benchmarks.papers.zhang_2011.run trajectories
	$(PYTHON) -m benchmarks.papers.hasan_pal_2015.run --jobs 2
	$(PYTHON) -m benchmarks.papers.hasan_pal_2015.kernels
	$(PYTHON) -m benchmarks.papers.hasan_pal_2015.calibration
	$(PYTHON) -m benchmarks.papers.hasan_pal_2015.joint_inference.run
	$(PYTHON) -m benchmarks.arena.run --jobs 2
	$(PYTHON) -m benchmarks.arena.run --jobs 2 --large
	$(PYTHON) -m benchmarks.arena.tables.run
	$(PYTHON) -m benchmarks.arena.tables.run --large
	$(PYTHON) -m benchmarks.arena.pages

evidence-quick: ## Measure some tracked figures again and compare; write reports and the page anew
	$(PYTHON) -m pytest -q --all-cases tests/benchmarks
	$(PYTHON) -m benchmarks.arena.run --quick
	$(PYTHON) -m benchmarks.papers.hasan_pal_2015.run --report > /dev/null
	$(PYTHON) -m benchmarks.papers.hasan_pal_2015.calibration --report > /dev/null
	$(PYTHON) -m benchmarks.arena.run --report > /dev/null
	$(PYTHON) -m benchmarks.arena.tables.run --report > /dev/null
	$(PYTHON) -m benchmarks.arena.pages
	git diff --exit-code --stat -- '*.md'

docs: ## Build the site into build/site; needs the group docs
	OPENBLAS_NUM_THREADS=1 $(PYTHON) -m sphinx -W --keep-going -b html docs build/site

build: ## Build sdist and wheel into dist/
	$(PYTHON) -m build

ci: ## Run what a change must pass
	bash .ci/run

clean: ## Remove caches and built files
	rm -rf build dist docs/api docs/gallery docs/repository .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
