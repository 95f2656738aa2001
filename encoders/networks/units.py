"""Our own: units as tokens that look at each other, with a value, and a policy over the legal unit actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sandtable.encoders.features.unit_actions import ACTION_FEATURES
from sandtable.encoders.features.units import PAIR_FEATURES, TOTALS, UNIT_FEATURES
from sandtable.encoders.networks.layers import linear, softmax
from sandtable.encoders.networks.network import Features, Network, Output, whole
from sandtable.envs.game import Game

_FEW = 0.25
"""What sums over units are multiplied with, to stay near 1."""
_NEVER = -1e9
"""The score of a dead unit."""
_NO_ACTION = -1


class Attention(nn.Module):
    """Living units look at each other. What lies between two of them (`pairs`) tells how much they look, and is seen
    beside what the other one is."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.pair_scores = nn.Linear(PAIR_FEATURES, heads)
        self.pair_values = nn.Linear(heads * PAIR_FEATURES, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, pairs: Tensor, bias: Tensor) -> Tensor:
        """x (b, n, width), pairs (b, n, n, 10) and bias (b, 1, 1, n) → (b, n, width)."""
        b, n, width = x.shape
        size = width // self.heads
        by_head = linear(x, self.project.weight, self.project.bias).view(b, n, 3 * self.heads, size).transpose(1, 2)
        query, key, value = by_head.chunk(3, 1)
        scores = self.pair_scores(pairs).permute(0, 3, 1, 2) + bias
        looks = softmax(scores + query @ key.transpose(2, 3) * size**-0.5)
        seen = (looks @ value).transpose(1, 2).reshape(b, n, width)
        between = looks.transpose(1, 2) @ pairs  # (b, n, heads, 10)
        return linear(seen, self.out.weight, self.out.bias) + self.pair_values(between.flatten(2))


class UnitLayer(nn.Module):
    """Attention and two layers for each unit, each added to what went in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm = nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor, pairs: Tensor, bias: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), pairs, bias)
        hidden = F.relu_(linear(self.norm(x), self.wide.weight, self.wide.bias))
        return x + linear(hidden, self.narrow.weight, self.narrow.bias)


class ActionHead(nn.Module):
    """The logit of an action, from the unit that acts, the unit that it attacks if any, and the action's features.

    What a unit adds is found once a unit, not once an action.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.actor, self.target = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.action = nn.Linear(ACTION_FEATURES, width, bias=False)
        self.hidden, self.out = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x: Tensor, features: Features) -> Tensor:
        """x (b, n, width) and m actions of all states → (m,)."""
        n = x.shape[1]
        first = features["action_state"] * n
        target = features["action_target"]
        hidden = self.action(features["action_features"])
        hidden = hidden + F.embedding(first + features["action_unit"], self.actor(x).flatten(0, 1))
        attacked = F.embedding(first + target.clamp(min=0), self.target(x).flatten(0, 1))
        hidden = hidden + attacked * (target != _NO_ACTION).unsqueeze(1)
        return self.out(F.relu_(self.hidden(F.relu_(hidden)))).squeeze(1)


class Units(Network):
    """Any board, any number of units. With moves among the features, policy (m,) are the logits of all m of them, in
    their order: a softmax over the moves of one state is its policy."""

    name = "units"
    game = "tubstap"
    encoder_names = ("tubstap-units",)
    head = "value"
    has_policy = True

    def __init__(self, width: int = 64, layers: int = 3, heads: int = 4) -> None:
        super().__init__(
            width=whole("width", width, 1, 4096),
            layers=whole("layers", layers, 0, 100),
            heads=whole("heads", heads, 1, 64),
        )
        if width % heads:
            raise ValueError(f"width={width} is not a multiple of heads={heads}")
        self.unit, self.board = nn.Linear(UNIT_FEATURES, width), nn.Linear(TOTALS, width, bias=False)
        self.layers = nn.ModuleList(UnitLayer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.value = nn.Sequential(nn.Linear(2 * width + TOTALS, width), nn.ReLU(), nn.Linear(width, 1), nn.Tanh())
        self.actions = ActionHead(width)

    def features(
        self,
        game: Game,
        states: np.ndarray,
        players: np.ndarray | None = None,
        moves: np.ndarray | None = None,
        ends: np.ndarray | None = None,
    ) -> Features:
        """moves (m, 3) and ends (b + 1,) as game.moves_each answers them: what the policy is then of."""
        features = super().features(game, states, players)
        if moves is not None:
            encoder: Any = self._encoders(game)[0]
            actions = encoder.actions(states, moves, ends, players)
            features |= {f"action_{name}": torch.from_numpy(array) for name, array in actions.items()}
        return features

    def move_features(self, game: Game, states: np.ndarray, moves: np.ndarray, ends: np.ndarray) -> Features:
        return self.features(game, states, moves=moves, ends=ends)

    def forward(self, features: Features) -> Output:
        units, pairs, mask = features["units"], features["pairs"], features["unit_mask"].to(torch.float32)
        bias = ((1 - mask) * _NEVER)[:, None, None]
        x = self.unit(units) + self.board(features["totals"]).unsqueeze(1)
        for layer in self.layers:
            x = layer(x, pairs, bias)
        x = self.norm(x)
        sides = (x * mask.unsqueeze(2)).unflatten(1, (2, -1)).sum(2) * _FEW
        value = self.value(torch.cat([sides.flatten(1), features["totals"]], 1)).squeeze(1)
        return Output(value, policy=self.actions(x, features) if "action_state" in features else None)
