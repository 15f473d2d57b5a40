# Simrelay: `make run` sets everything up and answers a first request; `make test` sets everything up and tests it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
REQUEST ?= Design piperidinium cations for the backbone PBF_BB_1, verify the best one at DFT level and plot its HOMO and LUMO

.PHONY: install run test test-all bench lint types clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Simrelay needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

run: install
	$(BIN)/simrelay run "$(REQUEST)"

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

# Three at a time: most tests wait for leases, each process has servers of its own, and a file stays in one process.
test: lint types
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow and not benchmark" --durations=20

test-all: lint types
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not benchmark"

bench: install
	$(BIN)/pytest -m benchmark -s tests/benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
