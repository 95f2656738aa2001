"""Pictures for TensorBoard, drawn with Pillow, which comes with it; boards with the extra `render`, where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium.error import DependencyNotInstalled
from PIL import Image, ImageDraw

from sandtable.training.scores import CLASSES

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

    from sandtable.envs.game import Game

_INK, _PAPER, _LINE = (30, 30, 30), (255, 255, 255), (200, 60, 40)
_CELL, _MARGIN = 72, 56


def draw_confusion(counts: np.ndarray) -> np.ndarray:
    """A confusion (3, 3) as a picture (height, width, 3) uint8: the darker, the larger the share of its row."""
    side = _MARGIN + 3 * _CELL
    image = Image.new("RGB", (side, side), _PAPER)
    draw = ImageDraw.Draw(image)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    for i, name in enumerate(CLASSES):
        draw.text((_MARGIN + (i + 0.5) * _CELL, _MARGIN - 14), name, _INK, anchor="mm")
        draw.text((_MARGIN - 28, _MARGIN + (i + 0.5) * _CELL), name, _INK, anchor="mm")
        for j in range(3):
            x, y, share = _MARGIN + j * _CELL, _MARGIN + i * _CELL, float(shares[i, j])
            shade = (round(255 - 205 * share), round(255 - 145 * share), 255)
            draw.rectangle((x, y, x + _CELL - 2, y + _CELL - 2), fill=shade)
            text = f"{counts[i, j]}\n{share:.0%}"
            draw.multiline_text((x + _CELL / 2, y + _CELL / 2), text, _INK, anchor="mm", align="center")
    draw.text((_MARGIN + 1.5 * _CELL, 14), "predicted", _INK, anchor="mm")
    return np.asarray(image)


def draw_calibration(rows: list[tuple[float, float, int]]) -> np.ndarray:
    """Mean outcomes over mean predictions as a picture (height, width, 3) uint8: a calibrated one is a line."""
    size = 4 * _CELL
    image = Image.new("RGB", (size + 2 * _MARGIN, size + 2 * _MARGIN), _PAPER)
    draw = ImageDraw.Draw(image)

    def place(x: float, y: float) -> tuple[float, float]:
        return _MARGIN + (x + 1) / 2 * size, _MARGIN + (1 - y) / 2 * size

    draw.rectangle((*place(-1, 1), *place(1, -1)), outline=_INK)
    draw.line((*place(-1, -1), *place(1, 1)), fill=(170, 170, 170))
    for mark in (-1, -0.5, 0, 0.5, 1):
        x, _ = place(mark, 0)
        draw.text((x, size + _MARGIN + 14), f"{mark:g}", _INK, anchor="mm")
        draw.text((_MARGIN - 20, place(0, mark)[1]), f"{mark:g}", _INK, anchor="mm")
    draw.text((_MARGIN + size / 2, size + _MARGIN + 34), "predicted", _INK, anchor="mm")
    draw.text((_MARGIN + size / 2, _MARGIN - 20), "mean outcome", _INK, anchor="mm")
    draw.line([place(value, outcome) for value, outcome, _ in rows], fill=_LINE, width=2)
    most = max((n for *_, n in rows), default=1)
    for value, outcome, n in rows:
        x, y = place(value, outcome)
        radius = 3 + 7 * (n / most) ** 0.5
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_LINE)
    return np.asarray(image)


def add_boards(writer: SummaryWriter, tag: str, game: Game, states: np.ndarray, step: int) -> None:
    """Show states (n,) side by side; as text where nothing can be drawn."""
    try:
        picture = np.concatenate([game.picture(state) for state in states], 1)
    except DependencyNotInstalled:
        boards = "\n\n".join(game.ansi(state) for state in states)
        writer.add_text(tag, f"```\n{boards}\n```", step)
    else:
        writer.add_image(tag, picture, step, dataformats="HWC")
