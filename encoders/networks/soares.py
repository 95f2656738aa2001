"""Soares 2025: value of a Warzone position, and logits of candidate moves, from the graph of territories."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sandtable.encoders.features.soares import ARMIES, DESTINATION, KIND, NO_ORDER, NODE_FEATURES, SOURCE, TOTALS
from sandtable.encoders.networks.layers import Neighbours, TransformerConv
from sandtable.encoders.networks.network import Features, Network, Output
from sandtable.envs.game import Game

_WIDTH = 20
_EMBEDDING = 60
_MAP_OUTPUTS = (_WIDTH, _WIDTH, _EMBEDDING)
_SCALE = 0.1
"""Armies and incomes are handed in as they are; the first layers can undo a factor."""


class Board:
    """What a map's arrays mean for the layers: who looks at whom, and what bonuses hand to their territories."""

    def __init__(self, features: Features) -> None:
        bonus = features["bonus"].bool()
        bonus, value = bonus[bonus.any(1)], features["bonus_value"][bonus.any(1)]
        self.neighbours = Neighbours.of(features["adjacency"])
        which, self.places = bonus.nonzero(as_tuple=True)
        """A place in a bonus for each of its territories: the territory's number."""
        self.inside = Neighbours.of(which[:, None] == which) if len(which) else None
        worth = (value / bonus.sum(1))[which]
        self.handed = bonus[which].T.float() * worth
        """(territories, places): what a territory gets of each place in its bonuses."""


class BonusLayer(nn.Module):
    """Territories look at all of their bonus, are added up, and the sum is handed back to each, times value / size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = TransformerConv(_WIDTH, _WIDTH)

    def forward(self, x: Tensor, board: Board) -> Tensor:
        """(b, N, 20) → (b, N, 20)."""
        if board.inside is None:
            return torch.zeros_like(x)
        return board.handed @ self.conv(x[:, board.places], board.inside)


class OrderHead(nn.Module):
    """The logits of moves, each a list of orders: [armies, source, destination] → 20 by a layer for each kind of order
    (deploys have no source), then 20 by one for all, added up, then 1.

    What a territory's embedding adds to an order is found once a territory, not once an order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.attack = nn.Linear(1 + 2 * _EMBEDDING, _WIDTH)
        self.transfer = nn.Linear(1 + 2 * _EMBEDDING, _WIDTH)
        self.deploy = nn.Linear(1 + _EMBEDDING, _WIDTH)
        self.each = nn.Linear(_WIDTH, _WIDTH)
        self.move = nn.Linear(_WIDTH, 1)

    def forward(self, x: Tensor, orders: Tensor) -> Tensor:
        """x (b, N, 60) and orders (b, K, M, 4) → (b, K)."""
        kind, armies = orders[..., KIND], orders[..., ARMIES].float().unsqueeze(-1)
        layers = (self.attack, self.transfer, self.deploy)
        nothing = self.attack.bias.new_zeros(1, _WIDTH)
        of_armies = torch.cat([nothing, *(_SCALE * layer.weight[:, 0].unsqueeze(0) for layer in layers)])
        bias = torch.cat([nothing, *(layer.bias.unsqueeze(0) for layer in layers)])
        from_source, from_destination = self._by_territory(x)
        hidden = bias[kind] + of_armies[kind] * armies
        hidden = hidden + _rows(from_source, kind, orders[..., SOURCE])
        hidden = hidden + _rows(from_destination, kind, orders[..., DESTINATION])
        hidden = F.relu(self.each(F.relu(hidden))) * (kind != NO_ORDER).unsqueeze(-1)
        return self.move(hidden.sum(2)).squeeze(-1)

    def _by_territory(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What each territory adds as source and as destination, (b, 4, N, 20) each, by the kind of order."""
        none = x.new_zeros(*x.shape[:2], _WIDTH)
        parts = [layer.weight[:, 1:].split(_EMBEDDING, 1) for layer in (self.attack, self.transfer, self.deploy)]
        source = [none, *(F.linear(x, part[0]) for part in parts[:2]), none]
        destination = [none, *(F.linear(x, part[-1]) for part in parts)]
        return torch.stack(source, 1), torch.stack(destination, 1)


def _rows(table: Tensor, kind: Tensor, territory: Tensor) -> Tensor:
    """The rows (b, K, M, w) of a table (b, 4, N, w) by kind and territory, (b, K, M) each."""
    b, kinds, n, width = table.shape
    first = torch.arange(b, device=table.device).view(b, 1, 1) * kinds
    return F.embedding((first + kind) * n + territory, table.reshape(-1, width))


class Soares(Network):
    """Any map. With `orders` (b, K, M, 4) among the features, policy (b, K) are the logits of these moves."""

    name = "soares"
    game = "warzone"
    encoder_names = ("soares-graph",)
    head = "value"
    has_policy = True

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(NODE_FEATURES, _WIDTH)
        self.bonus_layers = nn.ModuleList(BonusLayer() for _ in _MAP_OUTPUTS)
        self.map_layers = nn.ModuleList(TransformerConv(2 * _WIDTH, outputs) for outputs in _MAP_OUTPUTS)
        self.value = nn.Sequential(
            nn.Linear(_EMBEDDING + TOTALS, _EMBEDDING), nn.ReLU(), nn.Linear(_EMBEDDING, 1), nn.Tanh()
        )
        self.orders = OrderHead()

    def features(
        self, game: Game, states: np.ndarray, players: np.ndarray | None = None, moves: np.ndarray | None = None
    ) -> Features:
        """moves (b, K, move_length): candidates of each state, which the policy is then of."""
        features = super().features(game, states, players)
        if moves is not None:
            encoder: Any = self._encoders(game)[0]
            features["orders"] = torch.from_numpy(encoder.orders(states, moves, players))
        return features

    def move_features(self, game: Game, states: np.ndarray, moves: np.ndarray, ends: np.ndarray) -> Features:
        counts = np.diff(ends)
        listed = np.arange(int(counts.max(initial=0))) < counts[:, None]
        padded = np.zeros((*listed.shape, moves.shape[1]), np.int16)
        padded[listed] = moves
        return {**self.features(game, states, moves=padded), "listed": torch.from_numpy(listed)}

    def judge(self, features: Features) -> tuple[Tensor, Tensor]:
        output = self(features)
        assert output.policy is not None
        return output.value, output.policy[features["listed"]]

    def forward(self, features: Features) -> Output:
        board = Board(features)
        x = F.relu_(self.first(_scaled(features["nodes"])))
        for of_bonus, of_map in zip(self.bonus_layers, self.map_layers, strict=True):
            x = F.relu_(of_map(torch.cat([x, of_bonus(x, board)], -1), board.neighbours))
        value = self.value(torch.cat([x.mean(1), _SCALE * features["totals"]], 1)).squeeze(1)
        return Output(value, policy=self.orders(x, features["orders"]) if "orders" in features else None)


def _scaled(nodes: Tensor) -> Tensor:
    """The nodes' features with armies scaled; the first two say who owns the territory."""
    return torch.cat([nodes[..., :2], _SCALE * nodes[..., 2:]], -1)
