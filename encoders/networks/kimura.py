"""Kimura and Ikeda 2020: a residual network over planes of the board, with value and policy for a selected unit.

Everything runs in channels-last memory, several times as fast as the usual layout on a processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sandtable.encoders.features.kimura import PLANES
from sandtable.encoders.networks.convolutions import NormedConv
from sandtable.encoders.networks.network import Features, Network, Output, share, whole, yes_or_no
from sandtable.envs.bitboard import layout_for
from sandtable.envs.game import Game, as_states
from sandtable.envs.tubstap.state import NOBODY
from sandtable.envs.tubstap.tables import MAX_UNITS

DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""Where the target of an attack stands, (x, y) from the cell that it is attacked from: above, right, below, left."""
ACTIONS = 1 + len(DIRECTIONS)
"""Of each cell: end the move there, or attack from there in one of the directions."""
_HEAD_FILTERS, _VALUE_HIDDEN = 32, 128
_SLOTS = 2 * MAX_UNITS
_NO_PLACE = -30.0
"""The logit of a move that the policy has no place for."""


class Block(nn.Module):
    """Two convolutions with norms and dropout between them, added to what went in."""

    def __init__(self, filters: int, separable: bool, dropout: float) -> None:
        super().__init__()
        self.first = NormedConv(filters, filters, 3, separable)
        self.dropout = nn.Dropout(dropout)
        self.second = NormedConv(filters, filters, 3, separable)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu_(self.second(self.dropout(F.relu_(self.first(x)))).add_(x))


class Kimura(Network):
    """Any board. policy (b, height, width, 5): logits of the selected unit's actions, by the cell where it ends."""

    name = "kimura"
    game = "tubstap"
    encoder_names = ("kimura-planes",)
    head = "value"
    has_policy = True

    def __init__(self, blocks: int = 8, filters: int = 128, separable: bool = True, dropout: float = 0.3) -> None:
        super().__init__(
            blocks=whole("blocks", blocks, 0, 100),
            filters=whole("filters", filters, 1, 4096),
            separable=yes_or_no("separable", separable),
            dropout=share("dropout", dropout),
        )
        self.first = NormedConv(PLANES, filters, 3)
        self.blocks = nn.Sequential(*(Block(filters, separable, dropout) for _ in range(blocks)))
        self.policy_cells = NormedConv(filters, _HEAD_FILTERS, 1)
        self.policy = nn.Conv2d(_HEAD_FILTERS, ACTIONS, 1)
        self.value_cells = NormedConv(filters, _HEAD_FILTERS, 1)
        self.value = nn.Sequential(
            nn.Linear(2 * _HEAD_FILTERS, _VALUE_HIDDEN), nn.ReLU(), nn.Linear(_VALUE_HIDDEN, 1), nn.Tanh()
        )

    def features(
        self, game: Game, states: np.ndarray, players: np.ndarray | None = None, selected: np.ndarray | None = None
    ) -> Features:
        """selected (b,): the slot of the unit selected in each state, or -1 for none; None: none anywhere."""
        encoder: Any = self._encoders(game)[0]
        return {"planes": torch.from_numpy(encoder.encode(states, players, selected)["planes"])}

    def move_features(self, game: Game, states: np.ndarray, moves: np.ndarray, ends: np.ndarray) -> Features:
        """The planes of each state with each of its units that can act selected: the network is asked about each."""
        of_state = np.repeat(np.arange(len(states)), np.diff(ends))
        pairs, of_pair = np.unique(of_state * _SLOTS + moves[:, 0], return_inverse=True)
        state_of_pair, selected = np.divmod(pairs, _SLOTS)
        places = move_places(game, states[of_state], moves)
        return {
            **self.features(game, states[state_of_pair], selected=selected),
            "state": torch.from_numpy(state_of_pair),
            "pair": torch.from_numpy(of_pair),
            "place": torch.from_numpy(places),
            "states": torch.tensor(len(states)),
        }

    def judge(self, features: Features) -> tuple[Tensor, Tensor]:
        """The value of a state is the mean over its units; of the policy each unit has the same share."""
        output = self(features)
        state, pair, place = features["state"], features["pair"], features["place"]
        count = int(features["states"])
        value = output.value.new_zeros(count).index_add(0, state, output.value)
        value = value / torch.bincount(state, minlength=count)
        assert output.policy is not None
        cells = output.policy.flatten(1)
        logits = torch.where(place < 0, _NO_PLACE, cells[pair, place.clamp(min=0)])
        top = logits.new_full((len(cells),), -torch.inf).scatter_reduce(0, pair, logits, "amax").detach()
        total = logits.new_zeros(len(cells)).index_add(0, pair, (logits - top[pair]).exp())
        return value, logits - top[pair] - total.log()[pair]

    def forward(self, features: Features) -> Output:
        x = features["planes"].contiguous(memory_format=torch.channels_last)
        x = self.blocks(F.relu_(self.first(x)))
        policy = self.policy(F.relu_(self.policy_cells(x))).permute(0, 2, 3, 1)
        cells = F.relu_(self.value_cells(x)).flatten(2)
        value = self.value(torch.cat([cells.mean(2), cells.amax(2)], 1)).squeeze(1)
        return Output(value, policy=policy)


def move_places(game: Any, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Where the policy of its unit has each of moves (m, 3) in states (m,): places (m,) in the flattened logits.

    -1: an attack from afar, as cannons do, which this policy has no place for.
    """
    states, rows = as_states(states), np.asarray(moves, np.int64)
    stride = layout_for(game.width, game.height).stride
    y, x = np.divmod(rows[:, 1], stride)
    attacks = rows[:, 2] != NOBODY
    targets = states["cell"][np.arange(len(rows)), np.where(attacks, rows[:, 2], 0)].astype(np.int64)
    away = np.stack([targets % stride - x, targets // stride - y], 1)
    matches = (away[:, None] == np.array(DIRECTIONS)).all(2)
    action = np.where(attacks, 1 + matches.argmax(1), 0)
    places = (y * game.width + x) * ACTIONS + action
    return np.where(attacks & ~matches.any(1), -1, places)
