"""Graph convolutions of PyTorch Geometric as dense arithmetic over padded nodes.

The same functions, weight for weight (tests compare them), but without lists of edges: a batch of small graphs is a
few large matrix products. Where there is no edge the mask is 0, and what stands in padded nodes changes no other.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_MANY_ROWS, _MANY_WEIGHTS = 256, 4096
_LANES = 16
"""Numbers that a processor works on at once."""


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """(b, n, inputs) → (b, n, outputs), as torch.nn.functional.linear with weight (outputs, inputs).

    Large ones are made a 1×1 convolution: those go to oneDNN, which is up to twice as fast as MKL's product is on
    processors that are not Intel's.
    """
    b, n, _ = x.shape
    if x.device.type != "cpu" or b == 1 or n < 4 or b * n < _MANY_ROWS or weight.numel() < _MANY_WEIGHTS:
        return F.linear(x, weight, bias)
    pixels = x.unsqueeze(1).permute(0, 3, 1, 2)
    return F.conv2d(pixels, weight[:, :, None, None], bias).permute(0, 2, 3, 1).squeeze(1)


def softmax(scores: Tensor) -> Tensor:
    """Over the last axis. torch does rows shorter than the processor's lanes one number at a time, at a tenth of the
    speed: those are made longer."""
    n = scores.shape[-1]
    if n >= _LANES:
        return F.softmax(scores, -1)
    return F.softmax(F.pad(scores, (0, _LANES - n), value=-torch.inf), -1)[..., :n]


def edge_weights(edges: Tensor, mask: Tensor) -> Tensor:
    """What NNConv takes: (b, n · (e + 2), n) of edges (b, n, n, e) with mask (b, n, n), each from column to row.

    Beside its e features an edge has a 1, and every node is its own neighbour by one more feature; all but that are
    divided by the number of neighbours. So a layer is one product over neighbours and one over features.
    """
    b, n, _, e = edges.shape
    mask = mask.to(edges.dtype)
    scale = (mask / mask.sum(-1, keepdim=True).clamp(min=1)).unsqueeze(3)
    own = torch.eye(n, dtype=edges.dtype, device=edges.device).view(1, n, n, 1).expand(b, n, n, 1)
    return torch.cat([edges * scale, scale, own], 3).transpose(2, 3).reshape(b, n * (e + 2), n)


class NNConv(nn.Module):
    """Convolution by edges (Gilmer 2017): x_i' = W x_i + mean over neighbours j of x_j · h(e_ij) + c, h linear.

    x_j · h(e_ij) = Σ_k e_ijk (x_j W_k) + x_j B, so nothing as large as a matrix for each edge is ever made.
    """

    def __init__(self, inputs: int, outputs: int, edge_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, edge_features + 2, inputs))
        """The matrices of each edge feature (W_k), of every edge (B), and of the node itself (W)."""
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.uniform_(self.weight, -(inputs**-0.5), inputs**-0.5)

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        """(b, n, inputs) → (b, n, outputs); weights: of `edge_weights`."""
        b, n, _ = x.shape
        return linear(torch.bmm(weights, x).view(b, n, -1), self.weight.flatten(1), self.bias)


class Neighbours(NamedTuple):
    """Where attention may look."""

    bias: Tensor
    """(b, n, n) or (n, n): 0 where the row may look at the column, else −inf."""
    alone: Tensor | None
    """(b, n, 1) or (n, 1): which nodes have no neighbour; None if all have one."""

    @classmethod
    def of(cls, mask: Tensor, dtype: torch.dtype = torch.float32) -> Neighbours:
        """Those of a mask (b, n, n) or (n, n)."""
        mask = mask.bool()
        alone = ~mask.any(-1, keepdim=True)
        bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~(mask | alone), -torch.inf)
        return cls(bias, alone if alone.any() else None)


class TransformerConv(nn.Module):
    """Attention over neighbours (Shi 2021), one head, with a gate, beta, between what it finds and the node itself."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        self.project = nn.Linear(inputs, 4 * outputs)
        """Query, key, value and skip."""
        self.beta = nn.Parameter(torch.empty(3, outputs))
        """The gate's weights of what was found, of the skip, and of their difference."""
        nn.init.uniform_(self.beta, -((3 * outputs) ** -0.5), (3 * outputs) ** -0.5)

    def forward(self, x: Tensor, neighbours: Neighbours) -> Tensor:
        """(b, n, inputs) → (b, n, outputs)."""
        query, key, value, skip = linear(x, self.project.weight, self.project.bias).split(self.outputs, -1)
        scores = torch.baddbmm(neighbours.bias, query, key.transpose(1, 2), alpha=self.outputs**-0.5)
        found = torch.bmm(softmax(scores), value)
        if neighbours.alone is not None:
            found = found.masked_fill(neighbours.alone, 0)
        gate = found @ (self.beta[0] + self.beta[2]) + skip @ (self.beta[1] - self.beta[2])
        return torch.lerp(found, skip, torch.sigmoid(gate).unsqueeze(-1))
