# Commands of the project; CONTRIBUTING.md explains them. Each creates or refreshes .venv first, if the lock file changed.
.DEFAULT_GOAL := help
.PHONY: help env dev serve format lint unit check test fault bench lock messages
SHELL := /bin/bash

PYTHON ?= python3
BIN := .venv/bin
SERVING := .venv/.serving-installed
DEVELOPING := .venv/.developing-installed

# Nothing the project starts calls home.
export GRADIO_ANALYTICS_ENABLED := False
export HF_HUB_DISABLE_TELEMETRY := 1

help:
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

env: $(SERVING)  ## create .venv with what serving needs

dev: $(DEVELOPING)  ## add the tools for tests, lint and benchmarks to .venv

$(SERVING): requirements.txt requirements.lock pyproject.toml scripts/make_env.sh
	@PYTHON="$(PYTHON)" scripts/make_env.sh requirements.txt
	@touch $@

$(DEVELOPING): requirements-dev.txt requirements.lock pyproject.toml scripts/make_env.sh
	@PYTHON="$(PYTHON)" scripts/make_env.sh requirements-dev.txt
	@touch $@ $(SERVING)

# Started by hand, on one's own machine: everybody who reaches it has full access, unless sign-in is configured.
IDENTITY ?= $(if $(OIDC_CLIENT_ID)$(OAUTH_CLIENT_ID),openid,local)

serve: env  ## start web and worker (HOST, PORT, DATA_DIR, LABELS ... from the environment; IDENTITY=local)
	@IDENTITY="$(IDENTITY)" exec $(BIN)/python app.py

format: dev  ## rewrite the code in the project's format
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

lint: dev  ## format, lint, spelling and types, without changing anything
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check .
	@$(BIN)/codespell
	@$(BIN)/djlint --lint --quiet $$(find . -path '*/templates/*.html' -not -path './.venv*')
	@$(BIN)/mypy

unit: dev  ## quick tests of library, common, storage, receipts and submissions, without browser and PostgreSQL (ARGS=tests/auth: of another folder)
	@scripts/test.sh --unit $(ARGS)

check: lint unit  ## lint and unit tests: before each commit

test: dev  ## install what the tests need and run all of them (ARGS="-k name" to choose)
	@scripts/test.sh $(ARGS)

fault: dev  ## kills and stops of every kind, many times over, as a table (ARGS="--rounds 3" for a short one)
	@$(BIN)/python -m tests.fault $(ARGS)

bench: dev  ## the performance table
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench  # as the worker sets it for itself

lock: dev  ## write requirements.lock anew from requirements.txt and requirements-dev.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
		--custom-compile-command "make lock" requirements-dev.txt -o requirements.lock

messages: dev  ## bring the translations in vlrb/locale/ up to date with code and templates, and say what is missing
	@$(BIN)/python -m scripts.generated
