"""Agreements between players, of the match and not of the rules (Soares 2025, section 5.1.3).

A game that both players think even is a tie after some turns, and one that both think decided is given up by the
loser. A player's confidence is how sure it is of winning, from 0 to 1, by the value of its own last decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NO_OPINION = math.nan
"""The confidence of a player that has none: it agrees to nothing."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Agreements:
    """What ends a game at the end of a turn. The thesis: tie_after=50, surrender_at=0.99."""

    tie_after: int | None = None
    """Once more turns than this are over, a tie if both confidences are about ½; None: never."""
    surrender_at: float | None = None
    """A player with at most 1 minus this gives up if the other has at least this; None: never."""
    tie_within: float = 0.01
    """How far from ½ a confidence may be for a tie."""

    def __post_init__(self) -> None:
        if self.tie_after is not None and (type(self.tie_after) is not int or self.tie_after < 0):
            raise ValueError(f"tie_after={self.tie_after!r} must be a whole number of at least 0, or None")
        if self.surrender_at is not None and not (_is_number(self.surrender_at) and 0.5 < self.surrender_at <= 1):
            raise ValueError(f"surrender_at={self.surrender_at!r} must be above 0.5 and at most 1, or None")
        if not (_is_number(self.tie_within) and 0 <= self.tie_within < 0.5):
            raise ValueError(f"tie_within={self.tie_within!r} must be at least 0 and below 0.5")

    def __str__(self) -> str:
        parts = []
        if self.tie_after is not None:
            low, high = 0.5 - self.tie_within, 0.5 + self.tie_within
            parts.append(f"ties agreed after turn {self.tie_after} at {low:.3g} to {high:.3g}")
        if self.surrender_at is not None:
            parts.append(f"surrender at {self.surrender_at:.3g}")
        return ", ".join(parts) or "no agreements"

    def outcome(self, turns: int, confidences: Sequence[float]) -> float | None:
        """What both agree on after so many turns, for player 0: 1, 0 or -1, or None: they play on."""
        if self.surrender_at is not None:
            high, low = self.surrender_at - _ROUNDING, 1.0 - self.surrender_at + _ROUNDING
            for winner in (0, 1):
                if confidences[winner] >= high and confidences[1 - winner] <= low:
                    return (1.0, -1.0)[winner]
        even = all(abs(confidence - 0.5) <= self.tie_within + _ROUNDING for confidence in confidences)
        return 0.0 if even and self.tie_after is not None and turns > self.tie_after else None


class Talks:
    """What the players of one game think of it. Without agreements nobody is listened to."""

    def __init__(self, agreements: Agreements | None) -> None:
        self._agreements = agreements
        self._confidences = [NO_OPINION, NO_OPINION]

    def hear(self, side: int, answer: object) -> None:
        """Take in a side's decision. This may run the agent's code: the answer can be an object of its own making."""
        if self._agreements is not None:
            self._confidences[side] = confidence(getattr(answer, "values", None))

    def outcome(self, before: np.ndarray, after: np.ndarray) -> float | None:
        """What is agreed on (see Agreements.outcome) after a move between these states, if it was a turn's last."""
        if self._agreements is None or turns_over(before) == turns_over(after):
            return None
        return self._agreements.outcome(turns_over(after), self._confidences)


def confidence(values: object) -> float:
    """The confidence in an agent's values for one state; NO_OPINION where they are not one number in [-1, 1]."""
    told = np.array(values, copy=True, subok=False)
    if told.shape != (1,) or told.dtype.kind not in "iuf" or not -1 <= told[0] <= 1:
        return NO_OPINION
    return (float(told[0]) + 1.0) / 2.0


def turns_over(state: np.ndarray) -> int:
    """How many turns of a game are over: the field `turn` of its states."""
    if "turn" not in (state.dtype.names or ()):
        raise ValueError("agreements need a game whose states have a field 'turn'")
    return int(state["turn"])


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
