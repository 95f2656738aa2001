"""How good a value network's predictions are: accuracy, confusion and calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CLASSES = ("win", "draw", "loss")
BINS = 10


def class_of(outcomes: np.ndarray) -> np.ndarray:
    """The classes (n,) of outcomes (n,) in [-1, 1]: 0 win, 1 draw, 2 loss."""
    return (1 - np.sign(outcomes)).astype(np.int64)


def predicted_class(values: np.ndarray) -> np.ndarray:
    """The classes of values by the rule of Li 2022: a win above 0.5, a loss below −0.5, else a draw."""
    return np.where(values > 0.5, 0, np.where(values < -0.5, 2, 1))


@dataclass(frozen=True)
class Scores:
    """Predictions for n examples."""

    loss: float
    values: np.ndarray
    """(n,) what the network expects, in [-1, 1]."""
    classes: np.ndarray
    """(n,) which class that is."""
    outcomes: np.ndarray
    """(n,) what came."""
    sources: np.ndarray
    """(n,) the number of the source of maps."""

    @property
    def accuracy(self) -> float:
        return float(np.mean(self.classes == class_of(self.outcomes)))

    def accuracy_of(self, source: int) -> float:
        """The accuracy on one source of maps; NaN where it has no examples."""
        own = self.sources == source
        return float(np.mean((self.classes == class_of(self.outcomes))[own])) if own.any() else float("nan")

    @property
    def confusion(self) -> np.ndarray:
        """(3, 3) how many of a class (row) were taken for which (column)."""
        counts = np.zeros((3, 3), np.int64)
        np.add.at(counts, (class_of(self.outcomes), self.classes), 1)
        return counts

    @property
    def calibration(self) -> list[tuple[float, float, int]]:
        """For each bin of values that has any: mean value, mean outcome, how many."""
        bins = np.clip(((self.values + 1) / 2 * BINS).astype(int), 0, BINS - 1)
        rows = []
        for number in range(BINS):
            own = bins == number
            if own.any():
                rows.append((float(self.values[own].mean()), float(self.outcomes[own].mean()), int(own.sum())))
        return rows

    @property
    def calibration_error(self) -> float:
        """How far values are from the mean outcome of their bin, on average."""
        return sum(abs(value - outcome) * n for value, outcome, n in self.calibration) / max(len(self.values), 1)

    def worst(self, count: int, games: np.ndarray) -> np.ndarray:
        """The examples (≤ count,) that were furthest off, at most one of each of games (n,)."""
        order = np.argsort(-np.abs(self.values - self.outcomes), kind="stable")
        _, first = np.unique(games[order], return_index=True)
        return order[np.sort(first)[:count]]


def confusion_text(counts: np.ndarray) -> str:
    """The confusion as a table of Markdown."""
    lines = ["| was, predicted → | " + " | ".join(CLASSES) + " |", "|---" * 4 + "|"]
    lines += [f"| {name} | " + " | ".join(map(str, row)) + " |" for name, row in zip(CLASSES, counts, strict=True)]
    return "\n".join(lines)


def calibration_text(rows: list[tuple[float, float, int]]) -> str:
    """The calibration as a table of Markdown."""
    lines = ["| predicted | outcome | states |", "|---|---|---|"]
    return "\n".join(lines + [f"| {value:+.2f} | {outcome:+.2f} | {n} |" for value, outcome, n in rows])
