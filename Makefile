# make demo   create .venv with pip, evaluate the bundled runs
# make test   install the test dependencies too, run all tests but the slow ones (about 2.5 minutes on two processors)
# make test-slow  run the slow tests, the recipes and every property with more examples
# make test-all   both in one session, as .ci/run does: a property once, and the dearest tests are listed
# make test-lowest  the tests that versions can change, without properties, with the oldest supported versions
# make test-python  the same for the core, and what works on Apache Spark, on Python 3.13 (PYTHON_TESTED=3.12 for another one)
# make test-package  build the wheel, install it into empty environments with each extra, use it
# make upstream  run the pages for Haystack's and sentence-transformers' documentation with both (by hand)
# make test-spark     what works on Apache Spark: one machine, a cluster and Spark Connect on loopback
# make environments  install all of these environments: with uv if it can be had, else with pip
# make bench-paths ROWS=20000000  measure one run on every path, Spark too (slow, by hand)
# make coverage  fail unless tests/core, tests/measures and tests/significance reach every branch
# make mutants  change measures and ranking in small ways: do the tests notice? (slow, by hand)
# make known-mutants [IN=spans]  make faulty changes in the package: do its quick tests notice? (slow, by hand)
# make check  lint, types, import contracts, rules of style, numbers in texts, size, costs of each path
# make docs   build the documentation into docs/_build/html
# make fuzz SECONDS=60 [TARGET=run]  search for inputs that are read wrongly, for so long a target
# make bench  measure against other tools (slow, by hand)
# make published  compare values that others published with ours, if BEIR_EVAL_REALDATA names the data (by hand)
# make bench-scale  a run larger than memory, 5 GB of TREC and its Parquet twin (slow, by hand)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOWEST := .venv-lowest
# Another interpreter: where pyenv keeps it, or on the path.
PYTHON_TESTED ?= 3.13
OTHER := .venv-$(PYTHON_TESTED)
SPARK := $(OTHER)
OTHER_PYTHON := $(or $(lastword $(sort $(wildcard $(HOME)/.pyenv/versions/$(PYTHON_TESTED).*/bin/python))),python$(PYTHON_TESTED))
# With uv where it can be had, else with pip.
INSTALL := $(PYTHON) scripts/install.py
# What needs packages that are not in the environment of the lowest versions.
NOT_LOWEST := tests/integrations/test_beir.py tests/integrations/haystack/test_vector_database.py \
	tests/against/test_statsmodels.py tests/report/test_in_a_browser.py tests/against/definitions \
	tests/against/drop_in/test_beir.py tests/against/test_spanchor.py \
	tests/against/test_near_ties.py tests/against/test_fusion.py
# What the version of Python, numpy or another package can change.
VERSIONS := recorded_values or not (peers or integration or slow or realdata or simulation or costs)
# A process for each processor, with one thread each; the tests of one file share what they set up.
# A test that hangs prints where, after five minutes.
PARALLEL := --numprocesses logical --dist loadfile -o faulthandler_timeout=300
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1
# Of the tests that `make test-all` ran before, other versions run those that took fewer seconds.
QUICKER_THAN := 0.1
SECONDS ?= 60
# Without compiled modules each of hundreds of processes compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
ROWS ?= 20000000
CORE_TESTS := tests/adapters tests/core tests/measures tests/significance tests/evaluation tests/comparison tests/against tests/test_recorded.py
SOURCES := pyproject.toml constraints.txt scripts/install.py

.PHONY: demo test test-slow test-all test-lowest test-python test-package test-spark upstream environments coverage mutants known-mutants check docs fuzz bench published bench-scale bench-paths clean
.DEFAULT_GOAL := demo

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --upgrade pip
	touch $@

# Plain pip, as a user installs it.
$(VENV)/.demo: $(VENV)/.created pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable '.[all]'
	touch $@

$(VENV)/.test: $(VENV)/.demo $(SOURCES)
	$(INSTALL) $(VENV) --constraint constraints.txt --group test
	touch $@

$(LOWEST)/.test: $(SOURCES) constraints-lowest.txt
	$(INSTALL) $(LOWEST) --constraint constraints-lowest.txt --editable '.[all]' --group test-core
	touch $@

$(OTHER)/.test: $(SOURCES)
	$(OTHER_PYTHON) scripts/install.py $(OTHER) --constraint constraints.txt --editable . --group test-spark
	touch $@

$(VENV)/.package: $(VENV)/.demo $(SOURCES)
	$(INSTALL) $(VENV) --constraint constraints.txt --group package
	touch $@

$(VENV)/.check: $(VENV)/.test
	$(INSTALL) $(VENV) --constraint constraints.txt --group check
	touch $@

$(VENV)/.cookbook: $(VENV)/.test
	$(INSTALL) $(VENV) --constraint constraints.txt --group cookbook
	touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(INSTALL) $(VENV) --constraint constraints.txt --group docs
	touch $@

$(VENV)/.mutants: $(VENV)/.test
	$(INSTALL) $(VENV) --constraint constraints.txt --group mutants
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(INSTALL) $(VENV) --constraint constraints.txt --group bench
	touch $@

# May be made with --jobs: of two installations into one environment, the second waits.
environments: $(LOWEST)/.test $(OTHER)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.package $(VENV)/.cookbook

demo: $(VENV)/.demo
	$(BIN)/beir-eval demo

test: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python -m pytest $(PARALLEL) -m "not slow and not costs"

test-slow: $(VENV)/.cookbook
	$(ONE_THREAD) BEIR_EVAL_HYPOTHESIS=many $(BIN)/python -m pytest $(PARALLEL) -m "slow or hypothesis"

test-all: $(VENV)/.cookbook
	$(ONE_THREAD) BEIR_EVAL_HYPOTHESIS=ci $(BIN)/python -m pytest $(PARALLEL) --durations 20 -m "not costs"

test-lowest: $(LOWEST)/.test
	$(ONE_THREAD) BEIR_EVAL_HYPOTHESIS=few BEIR_EVAL_QUICKER_THAN=$(QUICKER_THAN) $(LOWEST)/bin/python -m pytest $(PARALLEL) -m "($(VERSIONS)) and not hypothesis" $(NOT_LOWEST:%=--ignore %) tests

test-python: $(OTHER)/.test
	$(ONE_THREAD) BEIR_EVAL_HYPOTHESIS=few BEIR_EVAL_QUICKER_THAN=$(QUICKER_THAN) $(OTHER)/bin/python -m pytest $(PARALLEL) -m "($(VERSIONS)) and not hypothesis" $(NOT_LOWEST:%=--ignore %) $(CORE_TESTS)

# The page starts a session of its own.
test-spark: $(SPARK)/.test
	$(SPARK)/bin/python -m pytest --numprocesses logical tests/spark
	$(SPARK)/bin/python -m pytest docs/spark.md

test-package: $(VENV)/.package
	$(BIN)/python scripts/check_package.py

upstream: $(VENV)/.test
	HF_HUB_OFFLINE=1 $(BIN)/python scripts/try_upstream.py

coverage: $(VENV)/.test
	for package in core measures significance; do \
		$(BIN)/python -m coverage run --branch --source=src/beir_eval/$$package --data-file=.coverage.$$package \
			-m pytest tests/$$package && \
		$(BIN)/python -m coverage combine --quiet --data-file=.coverage.$$package && \
		$(BIN)/python -m coverage report --data-file=.coverage.$$package --show-missing --skip-covered \
			--fail-under=100 || exit 1; \
	done

mutants: $(VENV)/.mutants
	$(BIN)/python scripts/mutants.py

known-mutants: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python scripts/known_mutants.py $(IN)

# Costs are counted here, in a process of their own, and not in make test too, which leaves out the
# test that counts them: its processes have much else in memory, and once is enough.
check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_style.py
	$(BIN)/python scripts/check_texts.py
	$(BIN)/python scripts/check_size.py
	$(BIN)/python tests/support/recorded/record.py compare costs
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/documentation.yml .github/workflows/release.yml .github/workflows/tests.yml docs/examples/retrieval.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html

fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzz/fuzz.py --seconds $(SECONDS) $(if $(TARGET),--target $(TARGET))

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/haystack_pipelines.py
	$(BIN)/python benchmarks/significance.py
	[ -z "$$BEIR_EVAL_REALDATA" ] || $(BIN)/python benchmarks/compare_commands.py

bench-paths: $(SPARK)/.test
	$(SPARK)/bin/python benchmarks/paths.py --rows $(ROWS) --write

published: $(VENV)/.test
	$(BIN)/python benchmarks/published.py

bench-scale: $(VENV)/.test
	$(BIN)/python benchmarks/scale.py

clean:
	rm -rf .uv .venv .venv-* docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
