"""Convolutions with norms, that are one step in play."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class NormedConv(nn.Module):
    """A convolution followed by a batch norm.

    separable: each plane is convolved by itself first, and 1×1 over all of them then. While training the norm is a
    step of its own; in play it is folded into the convolution's weights.
    """

    def __init__(self, inputs: int, outputs: int, size: int, separable: bool = False) -> None:
        super().__init__()
        self.by_plane = None
        if separable:
            self.by_plane = nn.Conv2d(inputs, inputs, size, padding=size // 2, groups=inputs, bias=False)
            size = 1
        self.conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self._kept: tuple[list[tuple[Tensor, int]], Tensor, Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        """(b, inputs, height, width) → (b, outputs, height, width)."""
        if self.by_plane is not None:
            x = self.by_plane(x)
        if self.training:
            return self.norm(self.conv(x))
        weight, bias = self._kept_fold() if torch.is_inference_mode_enabled() else self._fold()
        return F.conv2d(x, weight, bias, padding=self.conv.padding)

    def _fold(self) -> tuple[Tensor, Tensor]:
        """The weights and the bias of the convolution with its norm in it."""
        assert self.norm.running_mean is not None and self.norm.running_var is not None
        scale = self.norm.weight * torch.rsqrt(self.norm.running_var + self.norm.eps)
        return self.conv.weight * scale.view(-1, 1, 1, 1), self.norm.bias - self.norm.running_mean * scale

    def _kept_fold(self) -> tuple[Tensor, Tensor]:
        """The same, made again only when one of the tensors that it is made of has been changed or replaced."""
        norm = self.norm
        sources = [self.conv.weight, norm.weight, norm.bias, norm.running_mean, norm.running_var]
        made_of = [(tensor, tensor._version) for tensor in sources if tensor is not None and not tensor.is_inference()]
        if self._kept is None or len(made_of) < len(sources) or not _same(self._kept[0], made_of):
            self._kept = (made_of, *self._fold())
        return self._kept[1:]


def _same(kept: list[tuple[Tensor, int]], now: list[tuple[Tensor, int]]) -> bool:
    return len(kept) == len(now) and all(a is b and v == w for (a, v), (b, w) in zip(kept, now, strict=True))
