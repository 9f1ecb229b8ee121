# make demo   create .venv, install, evaluate the bundled runs
# make test   install the test dependencies too, run every test
# make test-lowest  the same with the oldest supported versions, in an environment of its own
# make test-pythons  the core's tests on Python 3.12 and 3.13, each in an environment of its own
# make test-package  build the wheel, install it into empty environments with each extra, use it
# make test-hosts     what works inside training loops and retriever frameworks, in an environment of its own
# make test-trackers  what writes to trackers and to the hub, in an environment without torch
# make test-spark     what works on Apache Spark: one machine, a cluster and Spark Connect on loopback
# make bench-paths ROWS=20000000  measure one run on every path, Spark too (slow, by hand)
# make coverage  fail unless tests/core, tests/measures and tests/significance reach every branch
# make mutants  change measures and ranking in small ways: do the tests notice? (slow, by hand)
# make check  lint, types, import contracts
# make docs   build the documentation into docs/_build/html
# make fuzz SECONDS=60 [TARGET=run]  search for inputs that are read wrongly, for so long a target
# make bench  measure against other tools (slow, by hand)
# make bench-scale  a run larger than memory, 5 GB of TREC and its Parquet twin (slow, by hand)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOWEST := .venv-lowest
HOSTS := .venv-hosts
TRACKERS := .venv-trackers
SPARK := .venv-spark
# What needs packages that are not in that environment.
NOT_LOWEST := tests/integrations/test_beir.py tests/integrations/haystack/test_vector_database.py \
	tests/against/test_statsmodels.py tests/report/test_in_a_browser.py tests/against/definitions \
	tests/against/drop_in/test_beir.py
# Other interpreters: where pyenv keeps them, or on the path.
PYTHONS := 3.12 3.13
python_of = $(or $(lastword $(sort $(wildcard $(HOME)/.pyenv/versions/$(1).*/bin/python))),python$(1))
# A process for each processor; the tests of one file share what they set up.
PARALLEL := --numprocesses logical --dist loadfile
SECONDS ?= 60
ROWS ?= 20000000
CORE_TESTS := tests/adapters tests/core tests/measures tests/significance tests/evaluation tests/comparison tests/against
SOURCES := pyproject.toml constraints.txt

.PHONY: demo test test-lowest test-pythons test-package test-hosts test-trackers test-spark coverage mutants check docs fuzz bench bench-scale bench-paths clean
.DEFAULT_GOAL := demo

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --upgrade pip
	touch $@

$(VENV)/.demo: $(VENV)/.created $(SOURCES)
	$(PIP) install --constraint constraints.txt --editable '.[all]'
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(PIP) install --constraint constraints.txt --group test
	touch $@

$(LOWEST)/.test: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	$(LOWEST)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints-lowest.txt --editable '.[all]'
	$(LOWEST)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints-lowest.txt --group test-core
	touch $@

$(HOSTS)/.test: $(SOURCES) constraints-hosts.txt
	$(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt --upgrade pip
	$(HOSTS)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints-hosts.txt --editable . --group test-hosts
	touch $@

$(TRACKERS)/.test: pyproject.toml constraints-trackers.txt
	$(PYTHON) -m venv $(TRACKERS)
	$(TRACKERS)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	$(TRACKERS)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints-trackers.txt --editable . --group test-trackers
	touch $@

$(SPARK)/.test: pyproject.toml constraints-spark.txt
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	$(SPARK)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints-spark.txt --editable . --group test-spark
	touch $@

$(PYTHONS:%=.venv-%/.test): .venv-%/.test: $(SOURCES)
	$(call python_of,$*) -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt --upgrade pip
	.venv-$*/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt --editable . --group test-core
	touch $@

$(VENV)/.package: $(VENV)/.created $(SOURCES)
	$(PIP) install --constraint constraints.txt --group package
	touch $@

$(VENV)/.check: $(VENV)/.test
	$(PIP) install --constraint constraints.txt --group check
	touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(PIP) install --constraint constraints.txt --group docs
	touch $@

$(VENV)/.fuzz: $(VENV)/.test
	$(PIP) install --constraint constraints.txt --group fuzz
	touch $@

$(VENV)/.mutants: $(VENV)/.test
	$(PIP) install --constraint constraints.txt --group mutants
	touch $@

$(VENV)/.bench: $(VENV)/.demo
	$(PIP) install --constraint constraints.txt --group bench
	touch $@

demo: $(VENV)/.demo
	$(BIN)/beir-eval demo

test: $(VENV)/.test
	$(BIN)/python -m pytest $(PARALLEL)

test-lowest: $(LOWEST)/.test
	$(LOWEST)/bin/python -m pytest $(PARALLEL) -m "not peers and not integration" $(NOT_LOWEST:%=--ignore %) tests

test-pythons: $(PYTHONS:%=test-python-%)

.PHONY: $(PYTHONS:%=test-python-%)
$(PYTHONS:%=test-python-%): test-python-%: .venv-%/.test
	.venv-$*/bin/python -m pytest $(PARALLEL) -m "not peers and not integration" $(NOT_LOWEST:%=--ignore %) $(CORE_TESTS)

test-hosts: $(HOSTS)/.test
	$(HOSTS)/bin/python -m pytest $(PARALLEL) tests/hosts $(wildcard docs/hosts) tests/against/definitions/test_llama_index.py

test-trackers: $(TRACKERS)/.test
	$(TRACKERS)/bin/python -m pytest $(PARALLEL) tests/trackers $(wildcard docs/trackers) tests/against/definitions/test_mlflow.py

# The tests of one session stay in one process; the page starts a session of its own.
test-spark: $(SPARK)/.test
	$(SPARK)/bin/python -m pytest --numprocesses logical --dist loadgroup tests/spark
	$(SPARK)/bin/python -m pytest docs/hosts/spark.md

test-package: $(VENV)/.package
	$(BIN)/python scripts/check_package.py

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

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/documentation.yml .github/workflows/release.yml .github/workflows/tests.yml docs/examples/retrieval.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html

fuzz: $(VENV)/.fuzz
	$(BIN)/python tests/fuzz/fuzz.py --seconds $(SECONDS) $(if $(TARGET),--target $(TARGET))

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/haystack_pipelines.py
	$(BIN)/python benchmarks/significance.py

bench-paths: $(SPARK)/.test
	$(SPARK)/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints-spark.txt --group bench-paths
	$(SPARK)/bin/python benchmarks/paths.py --rows $(ROWS) --write

bench-scale: $(VENV)/.test
	$(BIN)/python benchmarks/scale.py

clean:
	rm -rf $(VENV) $(LOWEST) $(HOSTS) $(TRACKERS) $(SPARK) $(PYTHONS:%=.venv-%) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
