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

DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""Where the target of an attack stands, (x, y) from the cell that it is attacked from: above, right, below, left."""
ACTIONS = 1 + len(DIRECTIONS)
"""Of each cell: end the move there, or attack from there in one of the directions."""
_HEAD_FILTERS, _VALUE_HIDDEN = 32, 128


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
