"""The strengths that docs/results/agents.md reports, measured again with another seed."""

from __future__ import annotations

import pytest

import sandtable
from sandtable.matches.tournament import play_tournament


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "least"),
    [("greedy", "random", 0.99), ("muct:sims=200", "greedy", 0.95), ("muct:sims=2000", "muct:sims=200", 0.65)],
)
def test_strength(a: str, b: str, least: float) -> None:
    game = sandtable.make_game("tubstap", map="li-symmetric", turn_limit=40, hp_threshold=0)
    (pair,) = play_tournament(game, [a, b], games=400, seed=21).pairs
    assert pair.score >= least


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simple", "owl_island", "banana", "italy"])
@pytest.mark.parametrize(
    ("a", "b", "least"), [("greedy", "random", 0.8), ("mcts:preset=warzone", "greedy", 0.6), ("ga", "random", 0.83)]
)
def test_strength_in_warzone(name: str, a: str, b: str, least: float) -> None:
    """The same of docs/results/warzone.md."""
    game = sandtable.make_game("warzone", map=name)
    (pair,) = play_tournament(game, [a, b], games=200, seed=22, quiet=True).pairs
    assert pair.score >= least
