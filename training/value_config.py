"""The options of supervised learning of value networks."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.training.data_cli import DataConfig
from sandtable.training.options import number, one_of, setting, truth, whole
from sandtable.training.split import SPLITS


@dataclass(frozen=True)
class ValueConfig(DataConfig):
    """Everything that decides how a run ends."""

    network: str = setting("", "the network to train, with its options", metavar="NAME[:KEY=VALUE,…]")
    test_data: str = setting("", "a folder of other data to test on, instead of a share of this", metavar="DIR")
    split: str = setting(
        "map",
        "what stays together when a share is held out for the test: map, game or state",
        one_of(*SPLITS),
        "BY",
    )
    test_share: float = setting(0.2, "the share held out for the test", number(0, 0.95), "X")
    validation_share: float = setting(
        0.1, "the share of the rest, by map, that chooses the best network; 0: the last one is it", number(0, 0.95), "X"
    )
    choose_by: str = setting(
        "loss", "what the best network is best at there: loss or accuracy", one_of("loss", "accuracy"), "SCORE"
    )
    patience: int = setting(0, "stop after so many epochs without a better network; 0: never", whole(0), "N")
    loss: str = setting(
        "auto",
        "mse (of values), cross-entropy (of win, draw and loss), or auto: what the network answers",
        one_of("auto", "mse", "cross-entropy"),
        "NAME",
    )
    optimiser: str = setting("adam", "adam, or sgd with Nesterov momentum", one_of("adam", "sgd"), "NAME")
    lr: float = setting(1e-3, "the learning rate", number(0, 1e3), "X")
    schedule: str = setting(
        "constant",
        "how it changes: constant, cosine (to 0) or steps (×0.3 half-way, ×0.1 after three quarters)",
        one_of("constant", "cosine", "steps"),
        "NAME",
    )
    momentum: float = setting(0.9, "of sgd", number(0, 1), "X")
    weight_decay: float = setting(0.0, "L2 regularisation", number(0, 1e3), "X")
    clip: float = setting(0.0, "the longest gradient, cut to that length; 0: any", number(0), "X")
    batch: int = setting(256, "examples a step", whole(1), "N")
    epochs: int = setting(50, "how often every example is seen", whole(1), "N")
    symmetry: bool = setting(False, "see each state in a random symmetry of its board", truth)
    seed: int = setting(0, "of first weights, split and order", whole(0), "S")
    threads: int = setting(1, "threads of torch", whole(1), "N")
    cache_mb: int = setting(2000, "megabytes for features, which are made again where they do not fit", whole(0), "N")
    checkpoint_seconds: float = setting(120.0, "time between checkpoints, beside those after epochs", number(0), "X")
    keep: int = setting(2, "how many checkpoints stay", whole(1), "N")
    worst: int = setting(8, "pictures of the worst predictions", whole(0), "N")

    def __post_init__(self) -> None:
        if self.patience and not self.validation_share:
            raise ValueError("--patience needs a --validation-share above 0 to watch")
        if self.test_data and self.split != "map":
            raise ValueError("--test-data: nothing of --data is held out for the test, so --split says nothing")
