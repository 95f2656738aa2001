"""Games of agents against each other, many side by side: an agent that decides in batches gets all of them at once.

What an agent draws at random for a decision follows from the game's seed and the ply alone, so games are the same
whatever is played beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sandtable.envs.randomness import mix

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.game import Game

MakeAgent = Callable[[str], "Policy"]
_STEP = 0x9E3779B97F4A7C15


def record_dtype(game: Game) -> np.dtype:
    """What is kept of one state of a game."""
    return np.dtype(
        [
            ("state", game.dtype),  # as its player to move may know it
            ("start", np.uint64),  # the key of the position in which the game began
            ("outcome", np.float32),  # of the game, for the player to move, in [-1, 1]
            ("value", np.float32),  # what the agent that moved expected; NaN: it had no opinion
            ("game", np.int32),  # which game of the source of maps, from 0
            ("ply", np.int32),  # how many moves were made before
            ("turn", np.int32),  # the turn of the state
            ("player", np.int8),  # whose move it is
        ],
        align=True,
    )


class Players:
    """The agents of a data set, at the board: one plays itself, two play each other with both colours of each start."""

    def __init__(self, game: Game, specs: Sequence[str], make_agent: MakeAgent) -> None:
        policies = [make_agent(spec) for spec in specs]
        self.one_by_one = any(policy.keeps_trees for policy in policies)
        """Whether decisions depend on earlier ones, so that games cannot share an agent at the same time."""
        if self.one_by_one and len(policies) == 1:
            policies.append(make_agent(specs[0]))
        self.game, self.policies = game, policies

    def play(
        self,
        starts: np.ndarray,
        seeds: np.ndarray,
        swapped: np.ndarray,
        tick: Callable[[int], None] = lambda ended: None,
    ) -> np.ndarray:
        """Play starts (n,) to their ends. seeds (n,) uint64; swapped (n,) bool: the second agent moves first.

        Answers records of all states with a move, game by game; their field "game" counts from 0. tick is told after
        each round of moves how many games have just ended.
        """
        if not self.one_by_one:
            return self._side_by_side(starts, seeds, swapped, tick)
        records = []
        for i in range(len(starts)):
            alone = self._side_by_side(starts[i : i + 1], seeds[i : i + 1], swapped[i : i + 1], tick)
            alone["game"] = i
            records.append(alone)
        return np.concatenate(records)

    def _side_by_side(
        self, starts: np.ndarray, seeds: np.ndarray, swapped: np.ndarray, tick: Callable[[int], None]
    ) -> np.ndarray:
        game, states = self.game, starts.copy()
        for number, policy in enumerate(self.policies):
            policy.reset(game, int(mix(seeds[:1] + np.uint64(number))[0]))
        keys = game.key(starts)
        rounds: list[np.ndarray] = [np.zeros(0, record_dtype(game))]
        running = np.flatnonzero(~game.done(states))
        tick(len(states) - len(running))
        while len(running):
            drawn = decision_seeds(seeds[running], len(rounds) - 1)
            now = states[running]
            moves, values = self._decide(now, drawn, swapped[running])
            rounds.append(self._records(now, drawn, running, len(rounds) - 1, values, keys[running]))
            states[running] = after = game.play(now, moves)
            over = game.done(after)
            running = running[~over]
            tick(int(over.sum()))
        records = np.concatenate(rounds)
        outcomes = game.outcome(states)[records["game"]]
        records["outcome"] = np.where(records["player"] == 0, outcomes, -outcomes)
        return records[np.argsort(records["game"], kind="stable")]

    def _decide(self, states: np.ndarray, seeds: np.ndarray, swapped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Moves (n, length) and values (n,) of the agents whose move it is."""
        moves = np.zeros((len(states), self.game.move_length), np.int16)
        values = np.empty(len(states), np.float32)
        movers = (self.game.player(states) + swapped) % len(self.policies)
        for number, policy in enumerate(self.policies):
            at = np.flatnonzero(movers == number)
            if len(at):
                decisions = policy.act(states[at], seeds[at])
                moves[at], values[at] = decisions.moves, decisions.values
        return moves, values

    def _records(
        self,
        states: np.ndarray,
        seeds: np.ndarray,
        games: np.ndarray,
        ply: int,
        values: np.ndarray,
        keys: np.ndarray,
    ) -> np.ndarray:
        records = np.zeros(len(states), record_dtype(self.game))
        records["state"] = self.game.view(states, seeds)
        records["start"], records["value"], records["game"], records["ply"] = keys, values, games, ply
        records["turn"] = states["turn"] if "turn" in (states.dtype.names or ()) else ply
        records["player"] = self.game.player(states)
        return records


def decision_seeds(seeds: np.ndarray, ply: int) -> np.ndarray:
    """The seeds (n,) of the decisions at this ply of games with these seeds (n,)."""
    return mix(seeds + np.uint64((ply + 1) * _STEP % 2**64))
