"""Monte Carlo tree search: UCT as the papers describe it, and M-UCT, the winner of the 2016 and 2017 contests."""

from __future__ import annotations

from typing import Any

import numpy as np

from sandtable.agents.budget import Budget, at_least, flag, share
from sandtable.agents.joint import JointTree
from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.tree import (
    Style,
    best_child,
    find,
    node_dtype,
    plant,
    root_visits,
    simulate,
    transplant,
)
from sandtable.envs.game import Game
from sandtable.names import unknown_name

_FIRST_NODES = 1 << 14
_MOST_NODES = 1 << 21
"""A tree of so many nodes (about 100 MB) goes on without new ones."""
_FIRST_PATH = 1 << 10
_PLIES = 2_000


class Tree:
    """A growing search tree of one game, and the room its simulations need."""

    def __init__(self, game: Game) -> None:
        self.nodes = np.zeros(max(_FIRST_NODES, 2 * game.max_moves), node_dtype(game.move_length))
        self.rows = np.empty((game.max_moves + 1, game.move_length), np.int16)
        self.path = np.empty(_FIRST_PATH, np.int32)
        self.used = 0

    def start(self, root: np.ndarray) -> None:
        """Begin a new tree at the state root (1,)."""
        self.root, self.work = root.copy(), np.concatenate([root, root])
        self.used = plant(self.nodes)

    def go_on(self, root: np.ndarray) -> bool:
        """Keep only what is known about the state root (1,), if the tree has met it; else say so and do nothing."""
        start = find(self.nodes, self.used, root) if self.used and root.dtype == self.root.dtype else -1
        if start < 0:
            return False
        fresh = np.empty_like(self.nodes)
        self.used = transplant(self.nodes, start, fresh)
        self.nodes = fresh
        self.root = root.copy()
        return True

    def grow(self, simulations: int, style: Style, rng: np.ndarray) -> None:
        """Run so many simulations, with more room where it is needed."""
        while simulations > 0:
            full = 2 * len(self.nodes) > _MOST_NODES
            ran, self.used = simulate(
                self.nodes, full, self.used, self.root, simulations, style, rng, self.work, self.rows, self.path
            )
            simulations -= ran
            if simulations > 0 and not full and self.used + len(self.rows) > len(self.nodes):
                self.nodes = np.concatenate([self.nodes, np.empty_like(self.nodes)])
            elif simulations > 0:
                self.path = np.empty(2 * len(self.path), np.int32)

    def decision(self, by_mean: bool) -> tuple[np.ndarray, float, np.ndarray]:
        """The chosen move, the value of the root for its player, and the visits of all legal moves."""
        root = self.nodes[0]
        value = float(root["total"] / root["visits"])
        visits = np.empty(len(self.rows), np.int64)
        n = root_visits(self.nodes, self.root, self.rows, visits)
        move = self.nodes[best_child(self.nodes, by_mean)]["move"].copy()
        return move, value if root["player"] == 0 else -value, visits[:n].copy()


class TreePolicy(Policy):
    """A search in one style, with a budget for every decision. joint: whether both sides choose at once at a node."""

    def __init__(self, style: Style, budget: Budget, choose: str, reuse: bool, joint: bool = False) -> None:
        super().__init__()
        if choose not in ("mean", "visits"):
            raise ValueError(f"choose={choose!r} must be 'mean' or 'visits'")
        self.style, self.budget = style, budget
        self._by_mean = choose == "mean"
        self.keeps_trees = self._reuse = flag("reuse", reuse)
        self._joint = flag("joint", joint)
        if self._joint and self._reuse:
            raise ValueError("joint=true keeps no trees: valid with it is reuse=false")
        self._trees: list[Any] = []

    def check(self, game: Game) -> None:
        if self._joint and not game.simultaneous:
            raise ValueError(
                f"joint=true is for games in which both players choose at once; in {game.name} they do not"
            )

    def reset(self, game: Game, seed: int | None = None) -> None:
        super().reset(game, seed)
        self._trees = []

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        rows = np.empty((len(states), self.game.move_length), np.int16)
        values = np.empty(len(states))
        visits: list[np.ndarray | None] = []
        for i in range(len(states)):
            rng = seeds[i : i + 1].copy()
            tree = self._tree(i, states[i : i + 1])
            self.budget.spend(lambda n, tree=tree, rng=rng: tree.grow(n, self.style, rng))  # type: ignore[misc]
            rows[i], values[i], counts = tree.decision(self._by_mean)
            visits.append(counts)
        return Decisions(rows, values, visits)

    def _tree(self, i: int, root: np.ndarray) -> Any:
        """The tree for the i-th state of a batch: its last one where that has met the state, if wanted."""
        i = i if self._reuse else 0
        while len(self._trees) <= i:
            self._trees.append(JointTree(self.game) if self._joint else Tree(self.game))
        tree = self._trees[i]
        if not (self._reuse and self._sound(tree, root) and tree.go_on(root)):
            tree.start(root)
        return tree

    def _sound(self, tree: Tree, root: np.ndarray) -> bool:
        """Without minimax nodes a tree holds values of the search of one player only."""
        return bool(tree.used) and (self.style.minimax or self.game.player(root[0]) == self.game.player(tree.root[0]))


# What the papers say; Kimura gives no threshold, and prints the bound as √log(N / n), read here as √(log N / n).
_PLAIN = {"c": 2**0.5, "threshold": 0, "roll_all": False, "plies": _PLIES, "greedy": False, "joint": False}
PRESETS: dict[str, dict[str, Any]] = {
    "li2022": {**_PLAIN, "sims": 200},
    "kimura2020": {**_PLAIN, "c": 1.0, "threshold": 10, "sims": 2_000},
    "soares2025": {**_PLAIN, "roll_all": True, "plies": 25, "sims": 6_000},
    # Ours, much stronger than the paper's with the same rollouts (docs/results/warzone.md).
    "warzone": {**_PLAIN, "c": 0.5, "roll_all": True, "plies": 25, "greedy": True, "joint": True, "sims": 6_000},
}


class MctsPolicy(TreePolicy):
    """UCT with uniform random rollouts to the end of the game.

    preset: "li2022" (the default: √2, every node reached gets all its children), "kimura2020" (UCB1, a node gets
    children past a threshold of visits, 2,000 simulations), "soares2025" (all children of a new node are rolled out
    at once, for at most 25 moves; 300 such rounds of 20) or "warzone" (the same with c=0.5, greedy and joint); c,
    threshold, roll_all, plies (the longest rollout): single constants changed; greedy: the move of the game's
    hand-written player is tried as well; joint: both sides choose at once at a node, for games where they do (with
    roll_all each of their moves is rolled out once in a new node); without it the opponent's move is a ply that knows
    ours; sims, seconds: the budget of a decision; choose: "visits" or "mean"; reuse: keep the tree for the next move.
    """

    def __init__(
        self,
        *,
        sims: int | None = None,
        seconds: float | None = None,
        preset: str = "li2022",
        c: float | None = None,
        threshold: int | None = None,
        roll_all: bool | None = None,
        plies: int | None = None,
        greedy: bool | None = None,
        joint: bool | None = None,
        choose: str = "visits",
        reuse: bool = False,
    ) -> None:
        if preset not in PRESETS:
            raise ValueError(unknown_name("preset", preset, PRESETS))
        given = {"c": c, "threshold": threshold, "roll_all": roll_all, "plies": plies, "greedy": greedy, "joint": joint}
        known = {**PRESETS[preset], **{name: value for name, value in given.items() if value is not None}}
        style = Style(
            c=at_least("c", known["c"], 0.0, float),
            threshold=at_least("threshold", known["threshold"], 0),
            log_of_all=False,
            minimax=True,
            prune=False,
            greedy=flag("greedy", known["greedy"]),
            attack_chance=0.0,
            sound=False,
            margin=0.0,
            roll_all=flag("roll_all", known["roll_all"]),
            plies=at_least("plies", known["plies"], 1),
        )
        super().__init__(style, Budget(sims, seconds, known["sims"]), choose, reuse, known["joint"])


# The contest's program, and what we found to be much stronger with the same simulations (docs/results/agents.md).
MUCT_PRESETS: dict[str, dict[str, Any]] = {
    "original": {"minimax_nodes": False, "sound_attacks": False, "margin": 0.0},
    "strong": {"minimax_nodes": True, "sound_attacks": True, "margin": 0.3},
}


class MuctPolicy(TreePolicy):
    """M-UCT: rollouts that like to attack, attacks without damage pruned, exploration by the log of all simulations.

    preset: "original", the program that won the contests, or "strong" (the default), which differs from it in three
    options: minimax_nodes: whether the opponent chooses at its own nodes (the original lets it play for us there);
    sound_attacks: whether rollouts attack only where that takes no less than it costs; margin: how much of a
    rollout's result is the material left at its end, not just who won (0.3; original 0). c, threshold,
    attack_chance: its constants; sims, seconds: the budget of a decision; choose, reuse, plies: as for mcts.
    """

    def __init__(
        self,
        *,
        sims: int | None = None,
        seconds: float | None = None,
        preset: str = "strong",
        minimax_nodes: bool | None = None,
        sound_attacks: bool | None = None,
        margin: float | None = None,
        c: float = 0.15,
        threshold: int = 11,
        attack_chance: float = 0.8,
        choose: str = "mean",
        reuse: bool = False,
        plies: int = _PLIES,
    ) -> None:
        if preset not in MUCT_PRESETS:
            raise ValueError(unknown_name("preset", preset, MUCT_PRESETS))
        known = MUCT_PRESETS[preset]
        style = Style(
            c=at_least("c", c, 0.0, float),
            threshold=at_least("threshold", threshold, 0),
            log_of_all=True,
            minimax=flag("minimax_nodes", known["minimax_nodes"] if minimax_nodes is None else minimax_nodes),
            prune=True,
            greedy=False,
            attack_chance=share("attack_chance", attack_chance),
            sound=flag("sound_attacks", known["sound_attacks"] if sound_attacks is None else sound_attacks),
            margin=share("margin", known["margin"] if margin is None else margin),
            roll_all=False,
            plies=at_least("plies", plies, 1),
        )
        super().__init__(style, Budget(sims, seconds, 2_000), choose, reuse)
