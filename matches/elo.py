"""How strong: Elo ratings with intervals from a table of results, and the interval of a score.

Ratings are those of the Bradley-Terry model, fitted by maximum likelihood; a draw counts as half a win and half a
loss. A weak prior (ratings are normally distributed around 0 with a standard deviation of PRIOR_ELO) keeps an
agent that won or lost everything finite and hardly moves anybody else. Intervals cover 95%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

PRIOR_ELO = 600.0
Z95 = 1.959964
ELO_PER_NAT = 400.0 / math.log(10.0)


@dataclass(frozen=True)
class Ratings:
    """Elo of n agents whose mean is 0."""

    elo: np.ndarray
    """(n,) float64."""
    covariance: np.ndarray
    """(n, n) float64, of the ratings relative to their mean."""

    def interval(self, i: int) -> tuple[float, float]:
        """95% interval of one rating."""
        half = Z95 * math.sqrt(max(self.covariance[i, i], 0.0))
        return float(self.elo[i]) - half, float(self.elo[i]) + half

    def difference(self, i: int, j: int) -> tuple[float, float, float]:
        """By how much i is stronger than j, and the 95% interval of that."""
        c = self.covariance
        half = Z95 * math.sqrt(max(c[i, i] + c[j, j] - 2.0 * c[i, j], 0.0))
        gap = float(self.elo[i] - self.elo[j])
        return gap, gap - half, gap + half


def fit(points: np.ndarray) -> Ratings:
    """Ratings from points (n, n): what the row agent scored against the column agent, draws as half.

    Newton's method on a strictly concave function; steps are limited, as far from the top it would overshoot.
    """
    n = len(points)
    games = points + points.T
    prior = (ELO_PER_NAT / PRIOR_ELO) ** 2
    ratings = np.zeros(n)
    for _ in range(200):
        gradient, curvature = _slope(ratings, points, games, prior)
        step = np.linalg.solve(curvature, gradient)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        ratings = ratings + step
        if np.abs(step).max() < 1e-10:
            break
    centre = np.eye(n) - 1.0 / n
    curvature = _slope(ratings, points, games, prior)[1]
    covariance = centre @ np.linalg.inv(curvature) @ centre
    return Ratings((ratings - ratings.mean()) * ELO_PER_NAT, covariance * ELO_PER_NAT**2)


def _slope(ratings: np.ndarray, points: np.ndarray, games: np.ndarray, prior: float) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (n,) and negative Hessian (n, n) of the log posterior."""
    expected = 1.0 / (1.0 + np.exp(np.clip(ratings[None, :] - ratings[:, None], -500.0, 500.0)))
    gradient = (points - games * expected).sum(1) - prior * ratings
    weight = games * expected * (1.0 - expected)
    return gradient, np.diag(weight.sum(1) + prior) - weight


def score_interval(points: float, games: float) -> tuple[float, float]:
    """Wilson's 95% interval of the score points / games.

    Draws count half, as if the score were a share of wins: with draws the true interval is narrower.
    """
    if games == 0:
        return 0.0, 1.0
    share, z2 = points / games, Z95**2
    middle = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = Z95 / (1 + z2 / games) * math.sqrt(share * (1 - share) / games + z2 / (4 * games**2))
    # At 0 and 1 the bound is the score itself, but for rounding.
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))
