"""Li 2022: values of TUBSTAP positions from matrices of units against units, or from an image of the board."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sandtable.encoders.features.li import CHANNELS, PLANES
from sandtable.encoders.networks.boards import board_of, check_board
from sandtable.encoders.networks.network import Features, Network, Output, whole, yes_or_no
from sandtable.envs.game import Game
from sandtable.envs.tubstap.tables import MAX_SIDE, MAX_UNITS

_SCALES = (0.1, 0.2, 0.2, 1.0, 0.1, 1.0)
"""What the matrices are multiplied by: HP, type, mobility, moved or not, distance, can attack."""
_IMAGE_SCALE = 0.1
_HIDDEN = 512
_CNN_HIDDEN = 256


class GraphLayer(nn.Module):
    """Matrices of units against units → as many as there are outputs.

    A kernel (n, n) for each output and n numbers for each pair of input and output, as the paper's counts of weights
    demand: y_o = relu(Σ_i x_i diag(s_io) W_o). That is Kipf 2016 with several weighted adjacency matrices x_i and no
    other features of the nodes, a relation's weights being the kernel with its rows scaled.
    """

    def __init__(self, inputs: int, outputs: int, n: int) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(outputs, n, n))
        self.scale = nn.Parameter(torch.empty(inputs, outputs, n))
        nn.init.uniform_(self.kernel, -(n**-0.5), n**-0.5)
        nn.init.uniform_(self.scale, -((3 / inputs) ** 0.5), (3 / inputs) ** 0.5)

    def forward(self, x: Tensor) -> Tensor:
        """(b, n, inputs · n) → (b, n, outputs · n): row by row, the rows of all matrices side by side."""
        weight = torch.einsum("ioj,ojl->ijol", self.scale, self.kernel)
        return F.relu(x @ weight.flatten(2).flatten(0, 1))


class _OfMatrices(Network):
    """A network of li-matrices. Its weights are made for a number of units; of fewer, the rest are dead."""

    game = "tubstap"
    encoder_names = ("li-matrices",)
    head = "value"

    def __init__(self, units: int = 3, loops: bool = True) -> None:
        super().__init__(units=whole("units", units, 1, MAX_UNITS), loops=yes_or_no("loops", loops))
        self._units, self._loops = units, loops

    @classmethod
    def options_for(cls, game: Any) -> dict[str, Any]:
        return {"units": game.units_a_side}

    def _check_size(self, game: Any) -> None:
        if game.units_a_side > self._units:
            raise ValueError(
                f"the game has {game.units_a_side} units a side, and this network {self.name!r} was built for at most "
                f"{self._units}: make it with units={game.units_a_side}"
            )

    def _matrices(self, features: Features) -> Tensor:
        """The matrices (b, 6, n, n), scaled, with room for as many units as it was built for, mine first; with loops,
        a unit's own numbers on the diagonals, as if it could attack itself."""
        matrices = features["matrices"]
        if self._loops:
            alive = features["unit_mask"].unsqueeze(-1)
            none = torch.zeros_like(alive)
            own = torch.cat([features["nodes"], none, alive], -1)
            matrices = matrices + torch.diag_embed(own.transpose(1, 2))
        matrices = matrices * matrices.new_tensor(_SCALES).view(-1, 1, 1)
        least, most = matrices.shape[-1] // 2, self._units
        if least == most:
            return matrices
        room = matrices.new_zeros(*matrices.shape[:2], 2, most, 2, most)
        room[..., :least, :, :least] = matrices.unflatten(3, (2, least)).unflatten(2, (2, least))
        return room.flatten(4, 5).flatten(2, 3)


class _Gcn(_OfMatrices):
    """Two graph layers with 16 and `outputs` matrices, then 512 neurons."""

    outputs: int

    def __init__(self, units: int = 3, loops: bool = True) -> None:
        super().__init__(units, loops)
        n = 2 * units
        self.first = GraphLayer(CHANNELS, 16, n)
        self.second = GraphLayer(16, self.outputs, n)
        self.value = _value_head(self.outputs * n * n, _HIDDEN)

    def forward(self, features: Features) -> Output:
        x = self._matrices(features).transpose(1, 2).flatten(2)
        return Output(self.value(self.second(self.first(x)).flatten(1)).squeeze(1))


class Gcn4(_Gcn):
    """GCN_4: 76,433 weights for three units a side."""

    name = "gcn4"
    outputs = 4


class Gcn32(_Gcn):
    """GCN_32: 596,225 weights for three units a side."""

    name = "gcn32"
    outputs = 32


class CnnG(_OfMatrices):
    """CNN_g: a LeNet over the same matrices, in place of graph layers."""

    name = "cnn-g"

    def __init__(self, units: int = 3, loops: bool = True) -> None:
        super().__init__(units, loops)
        self.net = _lenet(CHANNELS, 2 * units, 2 * units)

    def forward(self, features: Features) -> Output:
        return Output(self.net(self._matrices(features)).squeeze(1))


class CnnI(Network):
    """CNN_i: the same LeNet over an image of the board, whose size its weights are made for."""

    name = "cnn-i"
    game = "tubstap"
    encoder_names = ("li-image",)
    head = "value"

    def __init__(self, width: int = 8, height: int = 8) -> None:
        super().__init__(width=whole("width", width, 2, MAX_SIDE), height=whole("height", height, 2, MAX_SIDE))
        self.net = _lenet(PLANES, height, width)

    @classmethod
    def options_for(cls, game: Any) -> dict[str, Any]:
        return board_of(game)

    def _check_size(self, game: Game) -> None:
        check_board(self, game)

    def forward(self, features: Features) -> Output:
        return Output(self.net(_IMAGE_SCALE * features["image"]).squeeze(1))


def _lenet(planes: int, height: int, width: int) -> nn.Sequential:
    """32 filters of 3×3, the larger half of the cells, 64 filters of 2×2, 256 neurons, one value."""
    flat = 64 * (height // 2 - 1) * (width // 2 - 1)
    convolutions = (nn.Conv2d(planes, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 2), nn.ReLU())
    return nn.Sequential(*convolutions, nn.Flatten(), *_value_head(flat, _CNN_HIDDEN))


def _value_head(inputs: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1), nn.Tanh())
