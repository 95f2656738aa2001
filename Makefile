# make demo: a short tournament, a game, and a short training, from nothing but Python and make.
# make test: all checks, as CI runs them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_WAIT_POLICY := PASSIVE
export OMP_NUM_THREADS := 1

.PHONY: demo test lint slow bench clean

$(VENV)/.core: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

$(VENV)/.learn: $(VENV)/.core
	$(BIN)/pip install -q -c constraints.txt -e ".[learn]"
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/pip install -q -c constraints.txt -e ".[learn,baselines,render,dev]"
	touch $@

demo: $(VENV)/.learn
	$(BIN)/python evaluate.py --game tubstap --map li-symmetric --games 20 --seed 1 --show \
		--agents muct:sims=1000 mcts:sims=200 pmc:rollouts=10 greedy random
	rm -rf runs/demo
	$(BIN)/python train.py --agent pvmcts --preset quick --minutes 0.5 --ladder-every 0 --ladder-games 20 --out runs/demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -q -n auto

slow: $(VENV)/.dev
	$(BIN)/pytest -q -m slow

bench: $(VENV)/.core
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
