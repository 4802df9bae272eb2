# Commands of the project; README.md explains them. Each creates or refreshes .venv first, if the requirements changed.
.DEFAULT_GOAL := help
.PHONY: help env serve test bench attack lint
SHELL := /bin/bash

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.requirements-installed

# Nothing the project starts calls home.
export GRADIO_ANALYTICS_ENABLED := False
export HF_HUB_DISABLE_TELEMETRY := 1

help:
	@grep -E '^(env|serve|test|bench|attack|lint):.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

env: $(READY)  ## create .venv with everything that serving, testing and benchmarking need

$(READY): requirements.txt requirements-dev.txt scripts/make_env.sh
	@PYTHON="$(PYTHON)" scripts/make_env.sh
	@touch $@

# Started by hand, on one's own machine: whoever reaches it may do everything, unless sign-in is configured.
IDENTITY ?= $(if $(OIDC_CLIENT_ID)$(OAUTH_CLIENT_ID),openid,local)

serve: env  ## start web and worker (HOST, PORT, DATA_DIR, LABELS ... from the environment; IDENTITY=local)
	@IDENTITY="$(IDENTITY)" exec $(BIN)/python app.py

test: env  ## set up what the tests need and run all of them (ARGS="-k name" to choose)
	@scripts/test.sh $(ARGS)

bench: env  ## the performance table
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench  # as the worker sets it for itself

attack: env  ## every attack on hidden labels, with many seeds, as a table (ARGS="--no-door" for the quick part)
	@$(BIN)/python -m tests.attacks $(ARGS)

lint: env  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy
