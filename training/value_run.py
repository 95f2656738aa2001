"""A run of supervised learning from its config: data, split, network and trainer put together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from sandtable.encoders.networks.registry import make_network
from sandtable.names import split_spec
from sandtable.training.data import open_data
from sandtable.training.locks import locked
from sandtable.training.run import RESULTS, Run
from sandtable.training.split import split_rows
from sandtable.training.value import Trainer
from sandtable.training.value_config import ValueConfig


def learn(
    run: Run, config: ValueConfig, quiet: bool = True, on_epoch: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Begin the run, or go on with it, and learn to the end. What is in results.json then. on_epoch is called after
    each epoch."""
    data = open_data(Path(config.data))
    test = open_data(Path(config.test_data)) if config.test_data else None
    share = 0.0 if test is not None else config.test_share
    split = split_rows(data, config.split, share, config.validation_share, config.seed)
    name, options = split_spec(config.network)
    torch.manual_seed(config.seed)
    network = make_network(name, data.games[0], **options)
    trainer = Trainer(config, network, data, split, run, test, quiet, on_epoch)
    if not run.config.exists():
        run.begin(config)
    with locked(run.folder, "a run is going on here"):
        trainer.learn()
    return json.loads((run.folder / RESULTS).read_text(encoding="utf-8"))
