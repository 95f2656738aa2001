"""Tree search with a network that has a value and a policy: PV-MCTS of Kimura and Ikeda 2020 (AlphaZero's search over
unit actions), the guided MCTS of Soares 2025, and what was found to be better."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.agents import pvjoint as joint
from sandtable.agents.budget import Budget, at_least, flag, share
from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.pvtree import (
    Style,
    count_moves,
    expand,
    find,
    gather,
    node_dtype,
    plan_halving,
    plant,
    read,
    stir,
    transplant,
)
from sandtable.agents.tree import LEAF
from sandtable.envs.randomness import mix
from sandtable.names import unknown_name

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network
    from sandtable.envs.game import Game

_FIRST_NODES = 1 << 14
_MOST_NODES = 1 << 23
"""Trees of so many nodes together (about 700 MB) go on without new ones."""
_FIRST_PLACES, _MOST_PLACES = 1 << 8, 1 << 16
"""The same of nodes with moves of both players."""
_MOVES_A_LEAF = 128
"""Room for moves; a round with more than that ends earlier."""
_FOREVER = np.iinfo(np.int64).max // 2
UNIFORM = "uniform"
"""In place of a network: all moves alike, all positions even."""


class Judge:
    """Says what leaves are worth: a network in play, or nobody. symmetries: the mean over so many of the board's."""

    def __init__(self, game: Game, network: Network | None, symmetries: int = 1) -> None:
        self._game, self._network = game, network
        self._symmetries = min(symmetries, game.symmetries)

    def __call__(self, states: np.ndarray, rows: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (n,) for the movers and logits (m,) of moves."""
        if self._network is None:
            return np.zeros(len(states), np.float32), np.zeros(len(rows), np.float32)
        if self._symmetries == 1:
            return self._network.evaluate(self._game, states, rows, ends)
        # From one on that follows from the state, whatever is judged beside it.
        shift = (mix(self._game.key(states)) % np.uint64(self._game.symmetries)).astype(np.int64)
        values, logits = np.zeros(len(states), np.float32), np.zeros(len(rows), np.float32)
        for i in range(self._symmetries):
            k = (shift + i * self._game.symmetries // self._symmetries) % self._game.symmetries
            turned, moved = self._game.symmetry(states, k), self._game.symmetry_moves(states, rows, k, ends)
            value, policy = self._network.evaluate(self._game, turned, moved, ends)
            values += value / self._symmetries
            logits += policy / self._symmetries
        return values, logits


@dataclass(frozen=True)
class Found:
    """What a search found out about n states."""

    rows: np.ndarray
    """(m, move length) int16: their moves, one state after the other."""
    ends: np.ndarray
    """(n + 1,): those of the i-th state are rows[ends[i] : ends[i + 1]]."""
    visits: np.ndarray
    """(m,) int32."""
    policy: np.ndarray
    """(m,) float32: what a policy should learn, shares of visits or, with gumbel, the improved policy."""
    values: np.ndarray
    """(n,): for the players to move."""
    chosen: np.ndarray
    """(n,): which of rows is best."""


@dataclass(frozen=True)
class SearchOptions:
    """How a search goes, checked. See PvmctsPolicy for what each means."""

    c: float = 1.25
    attack: float = 0.0
    fpu: float = 0.2
    trust: float = 1.0
    greedy: bool = False
    leaves: int = 8
    gumbel: bool = False
    considered: int = 16
    sharpness: float = 1.0
    noise: float = 0.25
    alpha: float = 10.0
    symmetries: int = 1
    joint: bool = False

    def __post_init__(self) -> None:
        for name in ("c", "attack", "sharpness"):
            at_least(name, getattr(self, name), 0.0, float)
        at_least("fpu", self.fpu, -1.0, float)
        at_least("alpha", self.alpha, 1e-3, float)
        for name in ("trust", "noise"):
            share(name, getattr(self, name))
        for name in ("greedy", "gumbel", "joint"):
            flag(name, getattr(self, name))
        if self.joint and (self.gumbel or self.attack):
            raise ValueError("joint=true has no halving and no term for attacks: valid are gumbel=false and attack=0")
        for name in ("leaves", "considered", "symmetries"):
            at_least(name, getattr(self, name), 1)

    @property
    def style(self) -> Style:
        """What compiled code is told."""
        return Style(
            float(self.c),
            float(self.attack),
            float(self.fpu),
            float(self.trust),
            self.greedy,
            int(self.leaves),
            self.gumbel,
            int(self.considered),
            float(self.sharpness),
        )


class Searcher(ABC):
    """Searches of many states side by side, their leaves judged together. What it finds depends on the states, the
    seeds and the options, up to the last bits of the network's arithmetic, which depend on the size of a batch."""

    def __init__(self, game: Game, network: Network | None, options: SearchOptions | None = None) -> None:
        self.game, self.options = game, options or SearchOptions()
        self._judge = Judge(game, network, self.options.symmetries)
        self._style = self.options.style
        self._used = 0
        self.simulations = 0
        """How many were run, in all."""

    @abstractmethod
    def run(
        self,
        states: np.ndarray,
        seeds: np.ndarray,
        sims: int | np.ndarray,
        noise: bool | np.ndarray = False,
        seconds: float | None = None,
        keep: bool = False,
    ) -> Found:
        """Search states (n,), none of which is over, with one seed (n,) uint64 each.

        sims: simulations of all or of each; noise: whether there is chance at the roots, for all or for each; seconds:
        stop when they are over; keep: go on with what is known from the last call, where it met these states.
        """

    def _room(self, leaves: int, states: np.ndarray) -> tuple[np.ndarray, ...]:
        """What a round writes into: nodes, states, moves, their ends."""
        rows = np.empty((2 * (self.game.max_moves + 1) + leaves * _MOVES_A_LEAF, self.game.move_length), np.int16)
        return np.empty(leaves, np.int64), np.empty(leaves, states.dtype), rows, np.empty(leaves + 1, np.int64)


class Search(Searcher):
    """The search over moves one after the other (agents/pvtree.py)."""

    def __init__(self, game: Game, network: Network | None, options: SearchOptions | None = None) -> None:
        super().__init__(game, network, options)
        self._nodes = np.zeros(_FIRST_NODES, node_dtype(game.move_length))

    def run(
        self,
        states: np.ndarray,
        seeds: np.ndarray,
        sims: int | np.ndarray,
        noise: bool | np.ndarray = False,
        seconds: float | None = None,
        keep: bool = False,
    ) -> Found:
        n = len(states)
        began = time.perf_counter()
        rngs = mix(np.asarray(seeds, np.uint64))
        roots = self._roots(states, rngs, keep)
        room = self._room(n * self._style.leaves, states)
        self._spend(np.where(self._nodes["first"][roots] == LEAF, 1, 0), roots, states, rngs, room)
        wild = np.broadcast_to(np.asarray(noise, np.bool_), (n,))
        stir(self._nodes, roots, np.ascontiguousarray(wild), self._style, self.options.noise, self.options.alpha, rngs)
        left = np.array(np.broadcast_to(np.asarray(sims, np.int64), (n,)))
        self._spend(left, roots, states, rngs, room, None if seconds is None else began + seconds)
        return self._read(roots)

    def _roots(self, states: np.ndarray, words: np.ndarray, keep: bool) -> np.ndarray:
        """The roots (n,) of trees: new ones, or what is known of the states."""
        roots = np.full(len(states), LEAF, np.int64)
        if keep and self._used:
            fresh, used = np.empty_like(self._nodes), 0
            for i in range(len(states)):
                start = find(self._nodes, self._used, states[i : i + 1])
                if start != LEAF:
                    while used + self._used > len(fresh):
                        fresh = np.concatenate([fresh, np.empty_like(fresh)])
                    roots[i] = used
                    used = transplant(self._nodes, start, fresh, used)
            self._nodes, self._used = fresh, used
        else:
            self._used = 0
        self._grow(len(states))
        self._used = plant(self._nodes, self._used, roots, words)
        return roots

    def _grow(self, more: int) -> None:
        """Make room for so many more nodes, as long as there may be more."""
        while self._used + more > len(self._nodes) < _MOST_NODES:
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])

    def _spend(
        self,
        left: np.ndarray,
        roots: np.ndarray,
        states: np.ndarray,
        rngs: np.ndarray,
        room: tuple[np.ndarray, ...],
        until: float | None = None,
    ) -> None:
        """Run the simulations that are left (n,) in each tree."""
        found, leaves, rows, ends = room
        first = self._nodes["visits"][roots].astype(np.int64)
        plans = np.zeros((len(roots), max(int(left.max(initial=0)), 1) if self._style.gumbel else 1), np.int32)
        if self._style.gumbel and left.any():
            plan_halving(self._nodes, roots, left, self._style.considered, plans)
        work = states[:1].copy()
        before = left.sum()
        while left.any() and (until is None or time.perf_counter() < until):
            n = gather(
                self._nodes, roots, states, left, first, plans, self._style, rngs, work, self.game.max_moves,
                found, leaves, rows, ends,
            )  # fmt: skip
            if n:
                moves = rows[: ends[n]]
                values, logits = self._judge(leaves[:n], moves, ends[: n + 1])
                self._grow(len(moves))
                self._used = expand(self._nodes, self._used, found[:n], leaves, rows, ends, values, logits, self._style)
        self.simulations += int(before - left.sum())

    def _read(self, roots: np.ndarray) -> Found:
        n = len(roots)
        ends = np.empty(n + 1, np.int64)
        count_moves(self._nodes, roots, ends)
        rows = np.empty((ends[n], self.game.move_length), np.int16)
        visits, policy = np.empty(ends[n], np.int32), np.empty(ends[n], np.float32)
        values, chosen = np.empty(n), np.empty(n, np.int64)
        read(self._nodes, roots, ends, self._style, rows, visits, policy, values, chosen)
        return Found(rows, ends, visits, policy, values, chosen)


class JointSearch(Searcher):
    """The search in which both players choose at once at a node (agents/pvjoint.py). It keeps no trees."""

    def __init__(self, game: Game, network: Network | None, options: SearchOptions | None = None) -> None:
        super().__init__(game, network, options)
        n, length = game.max_moves + 1, game.move_length
        self._nodes = np.zeros(_FIRST_PLACES, joint.NODE)
        self._arms = np.zeros((_FIRST_PLACES, 2, n), joint.arm_dtype(length))
        self._pairs = np.zeros((_FIRST_PLACES, n, n), np.int32)
        self._places = 0

    def run(
        self,
        states: np.ndarray,
        seeds: np.ndarray,
        sims: int | np.ndarray,
        noise: bool | np.ndarray = False,
        seconds: float | None = None,
        keep: bool = False,
    ) -> Found:
        n = len(states)
        began = time.perf_counter()
        rngs = mix(np.asarray(seeds, np.uint64))
        self._used = self._places = 0
        self._grow(n)
        roots = np.empty(n, np.int64)
        self._used = joint.plant(self._nodes, self._used, roots, rngs)
        room = self._room(2 * n * self._style.leaves, states)
        self._spend(np.ones(n, np.int64), roots, states, rngs, room)
        wild = np.array(np.broadcast_to(np.asarray(noise, np.bool_), (n,)))
        joint.stir(self._nodes, self._arms, roots, wild, self.options.noise, self.options.alpha, rngs)
        left = np.array(np.broadcast_to(np.asarray(sims, np.int64), (n,)))
        self._spend(left, roots, states, rngs, room, None if seconds is None else began + seconds)
        return self._read(roots)

    def _grow(self, leaves: int) -> None:
        """Make room for so many more leaves, as long as there may be more."""
        while self._used + leaves > len(self._nodes) < _MOST_PLACES * 8:
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
        while self._places + leaves > len(self._arms) < _MOST_PLACES:
            self._arms = np.concatenate([self._arms, np.empty_like(self._arms)])
            self._pairs = np.concatenate([self._pairs, np.empty_like(self._pairs)])

    def _spend(
        self,
        left: np.ndarray,
        roots: np.ndarray,
        states: np.ndarray,
        rngs: np.ndarray,
        room: tuple[np.ndarray, ...],
        until: float | None = None,
    ) -> None:
        """Run the simulations that are left (n,) in each tree."""
        found, leaves, rows, ends = room
        found = found[: len(found) // 2]
        work = states[:1].copy()
        before = left.sum()
        while left.any() and (until is None or time.perf_counter() < until):
            self._grow(len(found))
            n, self._used = joint.gather(
                self._nodes, self._used, self._arms, self._pairs, roots, states, left, self._style, rngs, work,
                self.game.max_moves, found, leaves, rows, ends,
            )  # fmt: skip
            if n:
                values, logits = self._judge(leaves[: 2 * n], rows[: ends[2 * n]], ends[: 2 * n + 1])
                self._places = joint.expand(
                    self._nodes, self._arms, self._pairs, self._places, found[:n], leaves, rows, ends, values, logits,
                    self._style,
                )  # fmt: skip
        self.simulations += int(before - left.sum())

    def _read(self, roots: np.ndarray) -> Found:
        n = len(roots)
        ends = np.empty(n + 1, np.int64)
        joint.count_moves(self._nodes, roots, ends)
        rows = np.empty((ends[n], self.game.move_length), np.int16)
        visits, policy = np.empty(ends[n], np.int32), np.empty(ends[n], np.float32)
        values, chosen = np.empty(n), np.empty(n, np.int64)
        joint.read(self._nodes, self._arms, roots, ends, rows, visits, policy, values, chosen)
        return Found(rows, ends, visits, policy, values, chosen)


def make_search(game: Game, network: Network | None, options: SearchOptions) -> Searcher:
    """The search that the options ask for."""
    return (JointSearch if options.joint else Search)(game, network, options)


# Constants of the papers; Soares gives no c for the guided search.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {"sims": 200},
    "kimura2020": {"c": 0.8, "attack": 3.7, "fpu": -1.0, "reuse": True, "sims": 500},
    "soares2025": {"c": 2**0.5, "fpu": -1.0, "trust": 0.75, "sims": 3_000},
}


class PvmctsPolicy(Policy):
    """PUCT with the values and the policy of a network; the most visited move is played.

    weights: a file of a network with a policy, the name of one that comes with the package (without it, the game's),
    or "uniform" for none; preset: "default", "kimura2020" (his constants) or "soares2025" (the guided search of
    Warzone); sims, seconds: the budget of a decision; c: how much exploration counts; attack: Kimura's B_attack, an
    attack's bound is higher by attack / (1 + visits); fpu: an untried move is taken to be so much worse than its node,
    -1: to be a draw; trust: the share of the policy in priors, the rest is even; greedy: the move of the game's
    hand-written player is tried as well; leaves: how many leaves are judged at once (virtual loss); gumbel: the root
    spends its simulations by sequential halving among the best `considered` moves, `sharpness`: how much values count
    there; symmetries: each leaf is judged in so many symmetries of the board; joint: both sides choose at once at a
    node, for games where they do; temperature: above 0, moves are drawn by visits ** (1 / temperature); noise: the
    share of Dirichlet noise (alpha, of all moves together) at the root; reuse: keep the tree for the next move.
    """

    def __init__(
        self,
        *,
        weights: str | None = None,
        sims: int | None = None,
        seconds: float | None = None,
        preset: str = "default",
        c: float | None = None,
        attack: float | None = None,
        fpu: float | None = None,
        trust: float | None = None,
        greedy: bool | None = None,
        leaves: int | None = None,
        gumbel: bool | None = None,
        considered: int | None = None,
        sharpness: float | None = None,
        symmetries: int | None = None,
        joint: bool | None = None,
        temperature: float = 0.0,
        noise: float = 0.0,
        alpha: float | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__()
        if preset not in PRESETS:
            raise ValueError(unknown_name("preset", preset, PRESETS))
        if weights is not None and not isinstance(weights, str):
            raise ValueError(f"weights={weights!r}: a file of a network is needed, or the name of one")
        given = {
            "c": c,
            "attack": attack,
            "fpu": fpu,
            "trust": trust,
            "greedy": greedy,
            "leaves": leaves,
            "gumbel": gumbel,
            "considered": considered,
            "sharpness": sharpness,
            "symmetries": symmetries,
            "joint": joint,
            "alpha": alpha,
            "reuse": reuse,
        }
        known = {**PRESETS[preset], **{name: value for name, value in given.items() if value is not None}}
        self.budget = Budget(sims, seconds, known.pop("sims"))
        self.keeps_trees = self._reuse = flag("reuse", known.pop("reuse", False))
        self.options = SearchOptions(noise=noise, **known)
        if self._reuse and (self.options.gumbel or self.options.joint):
            raise ValueError("gumbel=true and joint=true keep no trees: valid with them is reuse=false")
        self._temperature = at_least("temperature", temperature, 0.0, float)
        self._weights = weights
        self._network: Network | None = None

    def check(self, game: Game) -> None:
        if self.options.joint and not game.simultaneous:
            raise ValueError(
                f"joint=true is for games in which both players choose at once; in {game.name} they do not"
            )
        weights = game.name if self._weights is None else self._weights
        if weights != UNIFORM and self._network is None:
            from sandtable.encoders.networks.files import load_network

            try:
                self._network = load_network(weights)
            except (OSError, ImportError, ValueError) as error:
                raise ValueError(f"weights={weights}: {error}") from None
        if self._network is not None:
            self._network.check(game)
            if not self._network.has_policy:
                raise ValueError(f"weights={weights}: this network has no policy over the moves of a state")

    def reset(self, game: Game, seed: int | None = None) -> None:
        super().reset(game, seed)
        self._search = make_search(game, self._network, self.options)

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        sims = _FOREVER if self.budget.sims is None else self.budget.sims
        found = self._search.run(
            states, seeds, sims, self.options.noise > 0, seconds=self.budget.seconds, keep=self._reuse
        )
        chosen = found.chosen if self._temperature == 0 else draw(found, self._temperature, seeds)
        visits = [found.visits[a:b].astype(np.int64) for a, b in zip(found.ends[:-1], found.ends[1:], strict=True)]
        if self.options.greedy:  # its own move, if it is not among the game's, is the last
            visits = [counts[: len(self.game.moves(state))] for state, counts in zip(states, visits, strict=True)]
        return Decisions(found.rows[chosen], found.values, visits)


def draw(found: Found, temperature: float | np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Draw a move of each state, (n,) of rows, by visits ** (1 / temperature); where that is 0, the best one."""
    n = len(found.values)
    heat = np.broadcast_to(np.asarray(temperature, float), (n,))
    of_state = np.repeat(np.arange(n), np.diff(found.ends))
    with np.errstate(divide="ignore"):
        logits = np.log(found.visits) / np.maximum(heat, 1e-3)[of_state]
    # The largest of logits with Gumbel noise is a draw by their softmax.
    words = mix(mix(np.asarray(seeds, np.uint64) + np.uint64(2))[of_state] + np.arange(len(of_state), dtype=np.uint64))
    uniform = (np.asarray(words >> np.uint64(11), np.float64) + 0.5) / 2.0**53
    scores = logits - np.log(-np.log(uniform))
    order = np.lexsort((scores, of_state))
    return np.where(heat > 0, order[found.ends[1:] - 1], found.chosen)
