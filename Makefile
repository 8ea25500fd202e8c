# `make demo` and `make test` do all that is needed on a machine with Python 3.10 or later and make.
#
# The environments (.venv and those in .envs) are made by envs/setup.py from the lock files beside
# it; with all of them in place that takes no time.

PYTHON ?= python3
DEV := .venv/bin
TF1_PYTHON := $(CURDIR)/.envs/tf1/bin/python
TF2_PYTHON := $(CURDIR)/.envs/tf2/bin/python
KERAS2_PYTHON := $(CURDIR)/.envs/keras2/bin/python
PYTEST_ARGS ?= --numprocesses=auto --dist=worksteal

export TFREWRITE_TF1_PYTHON ?= $(TF1_PYTHON)
export TFREWRITE_TF2_PYTHON ?= $(TF2_PYTHON)
export TFREWRITE_KERAS2_PYTHON ?= $(KERAS2_PYTHON)

.DEFAULT_GOAL := help
.PHONY: help setup setup-keras2 setup-dev setup-docs check-python demo test test-more test-fast lint format types lock docs proof bent articles bench results bench-tools clean

help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python 3.10 or later is needed; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }

setup: check-python ## Make the environments that the demo and most tests need
	@$(PYTHON) envs/setup.py dev tf1 tf2

setup-keras2: check-python
	@$(PYTHON) envs/setup.py keras2

setup-dev: check-python
	@$(PYTHON) envs/setup.py dev

setup-docs: check-python
	@$(PYTHON) envs/setup.py docs

demo: setup ## Rewrite the shipped legacy script, and prove the rewrite; the report goes to build/demo
	@$(DEV)/tfrewrite demo --directory build/demo

test: setup ## Run all tests but those of test-more
	@$(DEV)/pytest -m "not more" $(PYTEST_ARGS)

test-more: setup setup-keras2 ## Run the corpus in more TensorFlows (eager scripts in 2.15, the rest of the others in 2.21), and the long programs of the proof
	@$(DEV)/pytest -m more tests/test_corpus.py tests/test_verifier_mutations.py $(PYTEST_ARGS)

test-fast: setup-dev ## Run the tests that need neither TensorFlow nor the network
	@$(DEV)/pytest -m "not tensorflow and not pypi" $(PYTEST_ARGS)

lint: setup-dev ## Look for mistakes with Ruff
	@$(DEV)/ruff check .

format: setup-dev ## Lay the code out with Ruff; CHECK=1 only says what would change
	@$(DEV)/ruff format $(if $(CHECK),--check) .

# codemods/ and verify/ are subpackages of tfrewrite once installed (see package-dir in
# pyproject.toml). mypy does not know that mapping, so it is shown the same tree made of links.
types: setup-dev ## Check the types with mypy
	@rm -rf .envs/types && mkdir -p .envs/types/tfrewrite
	@ln -s $(CURDIR)/codemods $(CURDIR)/verify $(CURDIR)/tfrewrite/* .envs/types/tfrewrite/
	@ln -s $(CURDIR)/tests $(CURDIR)/tools $(CURDIR)/benchmarks $(CURDIR)/envs .envs/types/
	@cd .envs/types && $(CURDIR)/$(DEV)/mypy --config-file $(CURDIR)/pyproject.toml \
	  --cache-dir $(CURDIR)/.mypy_cache tfrewrite tests tools benchmarks envs

lock: setup-dev ## Bring the lock files up to date with pyproject.toml and envs/*.in
	@envs/lock

docs: setup-dev setup-docs ## Write the rules' pages, build the site in build/site, check its links; CHECK=1 writes no pages
	@$(DEV)/python tools/rule_pages.py $(if $(CHECK),--check)
	@$(DEV)/python tools/build_site.py

proof: setup ## Try the verifier on right and wrong rewrites under three seeds; what is there is kept (an hour)
	@$(DEV)/python benchmarks/verifier_proof.py

bent: setup ## Bend scripts of the corpus at random, and run what is rewritten before and after (MINUTES=10, for each TensorFlow)
	@$(DEV)/python benchmarks/bent_scripts.py --tensorflow 1.15 --minutes $(or $(MINUTES),10) --keep build/bent
	@$(DEV)/python benchmarks/bent_scripts.py --tensorflow 2.21 --minutes $(or $(MINUTES),10) --keep build/bent

bench: setup ## Time the corpus as it was, rewritten, and by an expert; what is there is kept (BENCH_ARGS=...)
	@$(DEV)/python benchmarks/corpus_gain.py $(BENCH_ARGS)

results: setup-dev ## Write docs/results.md and its charts anew from the samples that are there
	@$(DEV)/python benchmarks/corpus_gain.py --render

articles: setup ## Measure what docs/articles.md explains, and write it with its pictures (ten minutes)
	@PYTHONPATH=tests $(DEV)/python benchmarks/articles.py $(if $(ONLY),--only $(ONLY))

bench-tools: setup ## Time check beside other tools on a tree of files: make bench-tools TREE=path
	@$(PYTHON) envs/setup.py bench
	@$(DEV)/python benchmarks/check_speed.py $(TREE)

clean: ## Remove the environments and everything made
	rm -rf .venv .envs build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
