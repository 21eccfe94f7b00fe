# NormRAG: make run | test | lint | format | bench | lock
SHELL := /bin/bash
PYTHON ?= $(or $(shell command -v python3.11),$(shell command -v python3),python3)
PORT ?= 8501
VENV := .venv
PY := $(VENV)/bin/python
TORCH := torch==2.13.0
# PyPI's torch for Linux is a CUDA build of several GB; the CPU build lies on PyTorch's own index. macOS and Windows: PyPI.
TORCH_INDEX ?= $(if $(filter Linux,$(shell uname -s)),https://download.pytorch.org/whl/cpu,https://pypi.org/simple)
PIP := $(PY) -m pip --disable-pip-version-check

.PHONY: run test lint format bench bench-full lock setup setup-dev browser clean help

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(PY):
	@command -v $(PYTHON) >/dev/null || { echo "NormRAG needs Python 3.11 ('$(PYTHON)' was not found). On Debian: apt install python3 python3-venv; or name it: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' || { echo "NormRAG needs Python 3.11 or 3.12; '$(PYTHON)' is `$(PYTHON) --version`. Name another: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: | $(PY)
	@echo "Installing $(TORCH) (CPU) from $(TORCH_INDEX), or from a local wheel where pip is set up with one ..."
	$(PIP) install --quiet --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) "$(TORCH)"
	@touch $@

$(VENV)/.ready: requirements.lock $(VENV)/.torch
	@echo "Installing the pinned requirements; this takes a few minutes the first time ..."
	$(PIP) install --quiet --no-deps --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock $(VENV)/.ready
	$(PIP) install --quiet --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

setup: $(VENV)/.ready ## virtual environment with what the app needs
setup-dev: $(VENV)/.ready-dev

run: setup ## set up and open the app (PORT=8501)
	$(PY) -m streamlit run app.py --server.port $(PORT)

browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Debian's chromium for the browser tests ..."; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; \
	else echo "No chromium and no right to install it: the browser tests will be skipped (as root: apt install chromium chromium-driver)."; fi

# What failed gets a second go: pages with work in the background, and a real browser, may miss a step on a busy machine.
test: setup-dev browser ## set up and run all tests
	$(PY) -m pytest -m "not browser" || { echo "Some tests failed; these once more:"; $(PY) -m pytest -m "not browser" --last-failed; }
	$(PY) -m pytest -m browser || { echo "Some browser tests failed; once more:"; $(PY) -m pytest -m browser; }

lint: setup-dev ## ruff, mypy, known vulnerabilities
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	@$(VENV)/bin/pip-audit --require-hashes --disable-pip -r requirements.lock || echo "pip-audit: could not be done or found something; see above (offline it cannot ask)"

format: setup-dev ## rewrite the sources in the project's format
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

bench: setup-dev ## measure against named peers, under 15 minutes
	$(PY) -m tests.bench --write

bench-full: setup-dev ## the same with a million chunks and larger samples
	$(PY) -m tests.bench --full --write

lock: setup-dev ## renew the lock files after a change of requirements*.txt
	@echo "torch ; python_version < '3'" > $(VENV)/no-torch.txt
	$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --override $(VENV)/no-torch.txt requirements.txt -o requirements.lock
	$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --override $(VENV)/no-torch.txt -c requirements.lock requirements-dev.txt -o requirements-dev.lock
	$(MAKE) setup && $(PY) -m tests.licences

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
