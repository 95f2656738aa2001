"""What a network is: the features of states in, values and policies out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from sandtable.encoders.features.encoder import Encoder
from sandtable.encoders.features.registry import make_encoder
from sandtable.encoders.networks.memory import keep_freed_memory
from sandtable.envs.game import Game, as_states

keep_freed_memory()

WIN, DRAW, LOSS = range(3)
"""The places of the classes' logits."""

Features = dict[str, Tensor]


class Output(NamedTuple):
    """What a network says of b states, for the players whose view they are."""

    value: Tensor
    """(b,), in [-1, 1]."""
    classes: Tensor | None = None
    """(b, 3), the logits of win, draw and loss, of a network that has them."""
    policy: Tensor | None = None
    """(b, …), logits of actions; each network says of which."""


class Network(nn.Module, ABC):
    """A network by name. `options`, which JSON can hold, and `name` are all that is needed to build it again."""

    name: ClassVar[str]
    game: ClassVar[str]
    """The name of the game that it plays."""
    encoder_names: ClassVar[tuple[str, ...]]
    """The encoders whose arrays it takes, all in one dictionary."""
    head: ClassVar[Literal["value", "classes"]]
    """"value": a tanh; "classes": logits of win, draw and loss, with P(win) − P(loss) as the value."""
    has_policy: ClassVar[bool] = False
    """Whether it has `logits` of the moves of a state."""
    options: dict[str, Any]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options
        self._seen: tuple[Game, list[Encoder]] | None = None

    @classmethod
    def options_for(cls, game: Game) -> dict[str, Any]:
        """The options that follow from a game: sizes that the weights are made for."""
        return {}

    @abstractmethod
    def forward(self, features: Features) -> Output:
        """What it says of the states whose features these are."""

    def check(self, game: Game) -> None:
        """A ValueError if it cannot play the game: another one, or larger than it was built for."""
        self._check_name(game)
        for name in self.encoder_names:
            make_encoder(name, game)
        self._check_size(game)

    def _check_name(self, game: Game) -> None:
        if game.name != self.game:
            raise ValueError(f"the network {self.name!r} plays {self.game}, not {game.name}")

    def _check_size(self, game: Any) -> None:
        """A ValueError if the game's boards or armies do not fit."""

    def features(self, game: Game, states: np.ndarray, players: np.ndarray | None = None) -> Features:
        """What `forward` takes: the states (b,) as the players (b,) see them; None: the movers."""
        arrays: dict[str, np.ndarray] = {}
        for encoder in self._encoders(game):
            arrays.update(encoder.encode(states, players))
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def _encoders(self, game: Game) -> list[Encoder]:
        """The encoders of a game, kept while it is the same one."""
        if self._seen is None or self._seen[0] is not game:
            self._check_name(game)
            self._check_size(game)
            self._seen = game, [make_encoder(name, game) for name in self.encoder_names]
        return self._seen[1]

    def values(
        self, game: Game, states: np.ndarray, players: np.ndarray | None = None, batch: int = 1024
    ) -> np.ndarray:
        """The values (b,) float64 of states (b,) for the players (b,); None: the movers. batch: so many at a time.

        Always as in play: dropout is off and norms use what they learned, also while it is being trained.
        """
        states = as_states(states)
        out = np.empty(len(states))
        training = self.training
        if training:
            self.eval()
        try:
            with torch.inference_mode():
                for start in range(0, len(states), batch):
                    part = slice(start, start + batch)
                    views = None if players is None else np.asarray(players)[part]
                    out[part] = self(self.features(game, states[part], views)).value.numpy()
        finally:
            if training:
                self.train()
        return out

    def evaluate(
        self, game: Game, states: np.ndarray, moves: np.ndarray, ends: np.ndarray, batch: int = 1024
    ) -> tuple[np.ndarray, np.ndarray]:
        """The values (b,) float32 of states (b,) for their players to move, and the logits (m,) float32 of moves
        (m, length), moves[ends[i] : ends[i + 1]] those of the i-th state, as game.moves_each answers them. A softmax
        over the moves of one state is its policy. As in play, like values.
        """
        values, logits = np.empty(len(states), np.float32), np.empty(len(moves), np.float32)
        training = self.training
        if training:
            self.eval()
        try:
            with torch.inference_mode():
                for start in range(0, len(states), batch):
                    stop = min(start + batch, len(states))
                    part = slice(int(ends[start]), int(ends[stop]))
                    bounds = ends[start : stop + 1] - ends[start]
                    value, policy = self.judge(self.move_features(game, states[start:stop], moves[part], bounds))
                    values[start:stop], logits[part] = value.numpy(), policy.numpy()
        finally:
            if training:
                self.train()
        return values, logits

    def logits(self, game: Game, states: np.ndarray, moves: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The logits (m,) float32 of moves (m, length) of states (b,), as `evaluate` answers them."""
        return self.evaluate(game, states, moves, ends)[1]

    def move_features(self, game: Game, states: np.ndarray, moves: np.ndarray, ends: np.ndarray) -> Features:
        """What `judge` takes, for a network with a policy: the states (b,) as their movers see them, and moves."""
        raise ValueError(f"the network {self.name!r} has no policy over the moves of a state")

    def judge(self, features: Features) -> tuple[Tensor, Tensor]:
        """The values (b,) of states and the logits (m,) of all their moves, in their order."""
        output = self(features)
        return output.value, output.policy

    def _classified(self, logits: Tensor, policy: Tensor | None = None) -> Output:
        """The answer of a network with classes."""
        share = logits.softmax(-1)
        return Output(share[:, WIN] - share[:, LOSS], logits, policy)

    @property
    def weights(self) -> int:
        """How many numbers it learns."""
        return sum(parameter.numel() for parameter in self.parameters())


def whole(name: str, value: Any, least: int, most: int) -> int:
    """An option's whole number, or a ValueError that says which are valid."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name}={value!r}: valid are whole numbers from {least} to {most}")
    return value


def share(name: str, value: Any) -> float:
    """An option's number from 0 to below 1, or a ValueError that says so."""
    if type(value) not in (int, float) or not 0 <= value < 1:
        raise ValueError(f"{name}={value!r}: valid are numbers from 0 to below 1")
    return float(value)


def yes_or_no(name: str, value: Any) -> bool:
    """An option's true or false, or a ValueError that says so."""
    if type(value) is not bool:
        raise ValueError(f"{name}={value!r}: valid are true and false")
    return value
