"""Minimax to a fixed depth with a network at the leaves (Li 2022: depth 2, over unit actions).

Whoever is to move chooses, so that several moves of one side in a row are several maxima. The last two plies below a
node are laid out whole: all positions after two moves are made by compiled code, equal ones (the same moves in another
order meet in one position) are kept once, and the network sees them all in one batch. Above them alpha and beta cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.agents.budget import at_least, flag
from sandtable.agents.policy import Decisions, Policy
from sandtable.envs.game import done, key, luck, moves, outcome, play, player
from sandtable.envs.jit import jit
from sandtable.envs.randomness import mix

if TYPE_CHECKING:
    from sandtable.envs.game import Game

_DEEPEST = 8


@jit
def _expand(states, word, room, rows, out, ends):
    """All positions one move after states (n,): those after the i-th are out[ends[i] : ends[i + 1]], and rows tells the
    moves; none after a state that is over. How many there are, or -1 if there is no room for them in out.

    room (most moves, length) int16 is written over; what chance does follows from the word.
    """
    used = 0
    for i in range(len(states)):
        ends[i] = used
        if not done(states[i]):
            n = moves(states[i], room)
            if used + n > len(out):
                return -1
            for j in range(n):
                rows[used + j] = room[j]
                child = out[used + j]
                out[used + j] = states[i]
                luck(child, mix(word + np.uint64(used + j)))
                play(child, room[j])
            used += n
    ends[len(states)] = used
    return used


@jit
def _merge(states, table, which):
    """Tell equal states apart from others: which[i] is the number of the i-th state's class in order of first sight.
    Keeps the first of each class at the front of `states`, in place; how many there are.

    table (a power of two, at least twice as many as states) int32, all -1, is written over.
    """
    mask = np.uint64(len(table) - 1)
    keys = np.empty(len(states), np.uint64)
    used = 0
    for i in range(len(states)):
        word = key(states[i])
        at = mix(word) & mask
        while table[at] >= 0 and keys[table[at]] != word:
            at = (at + np.uint64(1)) & mask
        if table[at] < 0:
            table[at] = used
            keys[used] = word
            if used != i:
                states[used] = states[i]
            used += 1
        which[i] = table[at]
    return used


@jit
def _exact(states, values, open_, movers):
    """Write the outcomes of states that are over into values (n,), for player 0; the indices of the others into open_
    and their players to move into movers; how many those are."""
    n = 0
    for i in range(len(states)):
        if done(states[i]):
            values[i] = outcome(states[i])
        else:
            open_[n] = i
            movers[n] = player(states[i])
            n += 1
    return n


@jit
def _back_up(states, ends, below, values):
    """values[i]: for player 0, the best for the player to move of below[ends[i] : ends[i + 1]]; left alone where the
    state is over."""
    for i in range(len(states)):
        if ends[i] < ends[i + 1]:
            run = below[ends[i] : ends[i + 1]]
            values[i] = run.max() if player(states[i]) == 0 else run.min()


class Layout:
    """Positions below a node, laid out whole. policy: a network that says which moves are worth a look; then only the
    best `keep` of every position are."""

    def __init__(self, game: Game, policy: Any = None, keep: int = 0) -> None:
        self._game, self._policy, self._keep = game, policy, keep
        self._room = np.empty((game.max_moves, game.move_length), np.int16)

    def expand(self, states: np.ndarray, word: np.uint64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(the states one move later, the moves, the ends of each state's run)."""
        size = max(256, 64 * len(states))
        ends = np.empty(len(states) + 1, np.int64)
        while True:
            out = np.empty(size, states.dtype)
            rows = np.empty((size, self._game.move_length), np.int16)
            used = _expand(states, word, self._room, rows, out, ends)
            if used >= 0:
                return self._pruned(states, out[:used], rows[:used], ends)
            size *= 2

    def _pruned(
        self, states: np.ndarray, out: np.ndarray, rows: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts = np.diff(ends)
        if self._policy is None or counts.max(initial=0) <= self._keep:
            return out, rows, ends
        running = np.flatnonzero(counts)
        logits = self._policy.logits(self._game, states[running], rows, np.append(ends[running], ends[-1]))
        # Best first within each state's run; as many of them stay as may.
        order = np.lexsort((-logits, np.repeat(np.arange(len(states)), counts)))
        kept = np.sort(order[np.arange(len(rows)) - np.repeat(ends[:-1], counts) < self._keep])
        left = np.concatenate([[0], np.cumsum(np.minimum(counts, self._keep))])
        return out[kept], rows[kept], left


class MinimaxPolicy(Policy):
    """Minimax with a network at the leaves; the move with the best value is played, of equals a random one.

    weights: a file of a network or the name of one that comes with the package; depth: how many moves are looked ahead;
    merge: keep equal leaves once; policy: another network, whose policy says which `keep` moves of a position are
    looked at; without it all are.
    """

    def __init__(
        self,
        *,
        weights: str | None = None,
        depth: int = 2,
        merge: bool = True,
        policy: str | None = None,
        keep: int = 20,
    ) -> None:
        super().__init__()
        if not isinstance(weights, str):
            raise ValueError(f"weights={weights!r}: a file of a network is needed, or the name of one")
        self._names = {"weights": weights} | ({} if policy is None else {"policy": str(policy)})
        self._keep = at_least("keep", keep, 1)
        self._depth = at_least("depth", depth, 1)
        if self._depth > _DEEPEST:
            raise ValueError(f"depth={depth} must be at most {_DEEPEST}")
        self._merge = flag("merge", merge)
        self._networks: dict[str, Any] = {}
        self.leaves = self.evaluated = 0
        """How many leaves there were since `reset`, and how many of them the network was asked about."""

    def check(self, game: Game) -> None:
        for option, name in self._names.items():
            if option not in self._networks:
                from sandtable.encoders.networks.files import load_network

                try:
                    self._networks[option] = load_network(name)
                except (OSError, ImportError) as error:
                    raise ValueError(f"{option}={name}: {error}") from None
            self._networks[option].check(game)
        if "policy" in self._names and not self._networks["policy"].has_policy:
            raise ValueError(f"policy={self._names['policy']}: this network has no policy over the moves of a state")

    def reset(self, game: Game, seed: int | None = None) -> None:
        super().reset(game, seed)
        self._layout = Layout(game, self._networks.get("policy"), self._keep)
        self.leaves = self.evaluated = 0

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        rows = np.empty((len(states), self.game.move_length), np.int16)
        values = np.empty(len(states))
        for i in range(len(states)):
            rows[i], values[i] = self._choose(states[i : i + 1], seeds[i])
        return Decisions(rows, values, [None] * len(states))

    def _choose(self, root: np.ndarray, seed: np.uint64) -> tuple[np.ndarray, float]:
        children, moves_, _ = self._layout.expand(root, seed)
        sign = 1.0 if self.game.player(root[0]) == 0 else -1.0
        if self._depth <= 2:
            values = sign * (self._leaves(children) if self._depth == 1 else self._one_ply(children, seed))
        else:
            values = sign * self._each(children, sign, self._depth - 1, -np.inf, np.inf, seed)
        best = np.flatnonzero(values == values.max())
        at = best[int(seed % np.uint64(len(best)))]
        return moves_[at], float(values[at])

    def _each(
        self, children: np.ndarray, sign: float, depth: int, alpha: float, beta: float, word: np.uint64
    ) -> np.ndarray:
        """The values of children for player 0, looked at one after the other, the most promising first, for a mover who
        wants them high (sign 1) or low (-1). What is out of (alpha, beta) is not looked at further: the value of a
        worse child is then a bound, worse than the best's."""
        order = np.argsort(-sign * self._leaves(children), kind="stable")
        values = np.full(len(children), -sign * np.inf)
        for i in order:
            values[i] = self._search(children[i : i + 1], depth, alpha, beta, word)
            if sign > 0:
                alpha = max(alpha, values[i])
            else:
                beta = min(beta, values[i])
            if alpha >= beta:
                break
        return values

    def _search(self, state: np.ndarray, depth: int, alpha: float, beta: float, word: np.uint64) -> float:
        """The value of a state (1,) for player 0, looked at to this depth; outside (alpha, beta) a bound."""
        if self.game.done(state[0]):
            return float(self.game.outcome(state[0]))
        children, _, _ = self._layout.expand(state, word)
        sign = 1.0 if self.game.player(state[0]) == 0 else -1.0
        if depth == 1:
            values = self._leaves(children)
        elif depth == 2:
            values = self._one_ply(children, word)
        else:
            values = self._each(children, sign, depth - 1, alpha, beta, word)
        return float(values.max() if sign > 0 else values.min())

    def _one_ply(self, states: np.ndarray, word: np.uint64) -> np.ndarray:
        """The values of states (n,) for player 0, each the best of the positions one move later: one batch for all."""
        after, _, ends = self._layout.expand(states, word)
        values = np.empty(len(states))
        _exact(states, values, np.empty(len(states), np.int64), np.empty(len(states), np.int64))
        _back_up(states, ends, self._leaves(after), values)
        return values

    def _leaves(self, states: np.ndarray) -> np.ndarray:
        """The values of states (n,) for player 0: outcomes of those that are over, else what the network says."""
        self.leaves += len(states)
        which = None
        if self._merge and len(states) > 1:
            which = np.empty(len(states), np.int64)
            table = np.full(1 << (2 * len(states)).bit_length(), -1, np.int32)
            states = states.copy()
            states = states[: _merge(states, table, which)]
        values = np.zeros(len(states))
        open_, movers = np.empty(len(states), np.int64), np.empty(len(states), np.int64)
        n = _exact(states, values, open_, movers)
        if n:
            self.evaluated += n
            asked = states if n == len(states) else states[open_[:n]]
            seen = self._networks["weights"].values(self.game, asked)
            values[open_[:n]] = np.where(movers[:n] == 0, seen, -seen)
        return values if which is None else values[which]
