# make chat | make test | make check | make coverage | make stress | make bench | make claim        Everything but the chat itself goes to stderr.

SHELL := /bin/sh
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
	"$$name" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& command -v "$$name" && break; done)
VENV := .venv
RUN := $(VENV)/bin/python
MODEL := models/smalltalk
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: chat test check coverage stress bench claim clean

chat: $(MODEL)/export/saved_model.pb
	@$(RUN) chat.py $(MODEL)

$(MODEL)/export/saved_model.pb: | $(VENV)/.runtime
	@$(RUN) train.py --data data/smalltalk.csv --output $(MODEL) --refit </dev/null >&2

test: $(VENV)/.development
	@$(RUN) -m pytest

# What trains and kills waits a lot, so it runs beside the rest; its report comes last.
stress: $(VENV)/.development
	@report=$$(mktemp); $(RUN) -m pytest -m stress tests/reliability >"$$report" 2>&1 & reliability=$$!; \
	$(RUN) -m pytest -m stress --ignore tests/reliability; rest=$$?; \
	wait $$reliability; kills=$$?; cat "$$report"; rm "$$report"; exit $$((rest + kills))

coverage: $(VENV)/.development
	@$(RUN) -m coverage erase
	@$(RUN) -m coverage run -m pytest
	@$(RUN) -m coverage combine --quiet
	@$(RUN) -m coverage report

bench: $(VENV)/.bench
	@$(RUN) -m benchmarks
	@$(RUN) -m benchmarks.torch_layers || test $$? -eq 2

claim: $(VENV)/.bench
	@$(RUN) -m benchmarks.autoregressive_claim

check: $(VENV)/.development
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11, 3.12 or 3.13 with venv found; name one: make PYTHON=/path/to/python3.12" >&2; exit 2; }
	@echo "making $(VENV) with $(PYTHON)" >&2
	@$(PYTHON) -m venv $(VENV) </dev/null >&2
	@touch $@

$(VENV)/.runtime: requirements.txt constraints.txt | $(VENV)/.python
	@echo "installing requirements (some minutes the first time)" >&2
	@$(PIP) --requirement requirements.txt </dev/null >&2
	@touch $@

$(VENV)/.development: requirements-dev.txt requirements.txt constraints.txt | $(VENV)/.python
	@echo "installing requirements for development (some minutes the first time)" >&2
	@$(PIP) --requirement requirements-dev.txt </dev/null >&2
	@touch $@ $(VENV)/.runtime

$(VENV)/.bench: requirements-bench.txt $(VENV)/.development
	@echo "installing the peers of the benchmarks" >&2
	@$(PIP) --requirement requirements-bench.txt </dev/null >&2
	@touch $@

clean:
	rm -rf $(VENV) .coverage* .pytest_cache .ruff_cache .mypy_cache .hypothesis
