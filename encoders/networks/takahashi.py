"""Takahashi 2023: win, draw or loss from the graph of units, from an image of the board, or from both."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sandtable.encoders.features.takahashi import EDGE_FEATURES, NODE_FEATURES, PLANES
from sandtable.encoders.networks.boards import board_of, check_board
from sandtable.encoders.networks.layers import NNConv, edge_weights
from sandtable.encoders.networks.network import Features, Network, Output, whole
from sandtable.envs.bitboard import layout_for
from sandtable.envs.game import Game, as_states
from sandtable.envs.tubstap.tables import MAX_SIDE, MAX_UNITS

_WIDTH = 64
"""Features of a node, and of a board, at the end of each half."""
_CELL_FEATURES = 16
"""Features of a cell after the convolutions."""
_FILTERS = (32, 32, 32, _CELL_FEATURES)
_CLASSES = 3


class GraphHalf(nn.Module):
    """Four convolutions over the graph of all units, then the largest of each feature over the units."""

    def __init__(self, inputs: int = NODE_FEATURES) -> None:
        super().__init__()
        self.layers = nn.ModuleList(NNConv(n, _WIDTH, EDGE_FEATURES) for n in (inputs, _WIDTH, _WIDTH, _WIDTH))

    def forward(self, nodes: Tensor, features: Features) -> Tensor:
        """nodes (b, n, inputs) and the arrays of takahashi-graph → (b, 64)."""
        weights = edge_weights(features["edges"], features["edge_mask"])
        for layer in self.layers:
            nodes = F.relu_(layer(nodes, weights))
        # No feature is below 0, so that dead units, as zeros, are never the largest.
        return (nodes * features["node_mask"].unsqueeze(2)).amax(1)


class ImageHalf(nn.Module):
    """Four convolutions of 3×3 over the board, then 64 neurons."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self.convolutions = cell_convolutions()
        self.flat = nn.Linear(_CELL_FEATURES * width * height, _WIDTH)

    def forward(self, image: Tensor) -> Tensor:
        """(b, 20, height, width) → (b, 64)."""
        return F.relu_(self.flat(self.convolutions(image).flatten(1)))


def cell_convolutions() -> nn.Sequential:
    """(b, 20, height, width) → (b, 16, height, width)."""
    layers: list[nn.Module] = []
    for inputs, outputs in zip((PLANES, *_FILTERS), _FILTERS, strict=False):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class TakahashiGcn(Network):
    """The graph alone: any number of units, any board."""

    name = "takahashi-gcn"
    game = "tubstap"
    encoder_names = ("takahashi-graph",)
    head = "classes"

    def __init__(self) -> None:
        super().__init__()
        self.graph = GraphHalf()
        self.out = nn.Linear(_WIDTH, _CLASSES)

    def forward(self, features: Features) -> Output:
        return self._classified(self.out(self.graph(features["nodes"], features)))


class _OfImage(Network):
    """A network whose weights are made for a size of the board."""

    game = "tubstap"
    head = "classes"

    def __init__(self, width: int = 8, height: int = 8) -> None:
        super().__init__(width=whole("width", width, 1, MAX_SIDE), height=whole("height", height, 1, MAX_SIDE))
        self.image = ImageHalf(width, height)

    @classmethod
    def options_for(cls, game: Game) -> dict[str, Any]:
        return board_of(game)

    def _check_size(self, game: Game) -> None:
        check_board(self, game)


class TakahashiCnn(_OfImage):
    """The image alone."""

    name = "takahashi-cnn"
    encoder_names = ("takahashi-image",)

    def __init__(self, width: int = 8, height: int = 8) -> None:
        super().__init__(width, height)
        self.out = nn.Linear(_WIDTH, _CLASSES)

    def forward(self, features: Features) -> Output:
        return self._classified(self.out(self.image(features["image"])))


class TakahashiA(_OfImage):
    """Integration A: the 64 features of each half side by side, then two layers."""

    name = "takahashi-a"
    encoder_names = ("takahashi-graph", "takahashi-image")

    def __init__(self, width: int = 8, height: int = 8) -> None:
        super().__init__(width, height)
        self.graph = GraphHalf()
        self.out = nn.Sequential(nn.Linear(2 * _WIDTH, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, _CLASSES))

    def forward(self, features: Features) -> Output:
        halves = self.graph(features["nodes"], features), self.image(features["image"])
        return self._classified(self.out(torch.cat(halves, 1)))


class TakahashiB(_OfImage):
    """Integration B: the three outputs of each half, added."""

    name = "takahashi-b"
    encoder_names = ("takahashi-graph", "takahashi-image")

    def __init__(self, width: int = 8, height: int = 8) -> None:
        super().__init__(width, height)
        self.graph = GraphHalf()
        self.graph_out, self.image_out = nn.Linear(_WIDTH, _CLASSES), nn.Linear(_WIDTH, _CLASSES)

    def forward(self, features: Features) -> Output:
        by_graph = self.graph_out(self.graph(features["nodes"], features))
        return self._classified(by_graph + self.image_out(self.image(features["image"])))


class TakahashiC(Network):
    """Integration C: the image's features of a unit's cell beside the node's own. Any number of units, any board."""

    name = "takahashi-c"
    game = "tubstap"
    encoder_names = ("takahashi-graph", "takahashi-image")
    head = "classes"

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = cell_convolutions()
        self.graph = GraphHalf(NODE_FEATURES + _CELL_FEATURES)
        self.out = nn.Linear(_WIDTH, _CLASSES)

    def features(self, game: Game, states: np.ndarray, players: np.ndarray | None = None) -> Features:
        """With `cells` (b, n): the cell of each unit, y · width + x, in the order of the nodes."""
        features = super().features(game, states, players)
        return {**features, "cells": torch.from_numpy(unit_cells(game, as_states(states), players))}

    def forward(self, features: Features) -> Output:
        board = self.convolutions(features["image"]).flatten(2).transpose(1, 2)
        cells = features["cells"].unsqueeze(2).expand(-1, -1, _CELL_FEATURES)
        nodes = torch.cat([features["nodes"], board.gather(1, cells)], 2)
        return self._classified(self.out(self.graph(nodes, features)))


def unit_cells(game: Any, states: np.ndarray, players: np.ndarray | None) -> np.ndarray:
    """The cells (b, n) int64, y · width + x, of units in the order of takahashi-graph; of dead units, any cell."""
    units, row = game.units_a_side, layout_for(game.width, game.height).stride
    mine = np.asarray(game.player(states) if players is None else players, np.int64)
    first = np.stack([mine, 1 - mine], 1)[:, :, None] * MAX_UNITS
    slots = (first + np.arange(units)).reshape(len(states), 2 * units)
    y, x = np.divmod(np.take_along_axis(states["cell"].astype(np.int64), slots, 1), row)
    return np.clip(y * game.width + x, 0, game.width * game.height - 1)
