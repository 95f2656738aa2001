"""Moves as actions: whole ones as genes, or one order after the other.

genes: N + 2E numbers from 0 to 31, one for every territory and every directed edge (see genes.py): so many armies, and
31 means all. Whatever they are, they are repaired to a legal move.

orders: a number each. 0 ends the move, and 1 + 3 × gene + amount is an order: deploy to the gene's territory or
send along its edge, few (0), half (1) or all (2) of the armies (see drafts.py). A move is ended when the
whole income is deployed, and sends at most N times.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from sandtable.envs.duel import Codec
from sandtable.envs.game import State
from sandtable.envs.jit import jit
from sandtable.envs.warzone.drafts import AMOUNTS, END, left_to_deploy, legal_each, mask_each, take_each
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.genes import from_genes_each, repair_each
from sandtable.envs.warzone.masks import has
from sandtable.envs.warzone.rules import done, player
from sandtable.envs.warzone.state import MAX_ORDER
from sandtable.names import unknown_name

GENE_VALUES = 32
AMOUNT_NAMES = ("few", "half", "all")


def gene_ends(game: Warzone) -> np.ndarray:
    """Source and destination of every gene, (N + 2E, 2) int64; they are the same for deploys."""
    n = len(game.map.territories)
    edges = [(a, b) for a in range(n) for b in game.map.neighbours(a)]
    return np.array([*((i, i) for i in range(n)), *edges], np.int64)


@jit
def _first_unfit(states, territories, edges, bonuses):
    """The first state whose map has other numbers of these, or -1."""
    for i in range(len(states)):
        state = states[i]
        if state.territories != territories or state.edges != edges or state.bonuses != bonuses:
            return i
    return -1


def require_fit(game: Warzone, states: np.ndarray) -> None:
    """Refuse states on maps of another size than the game's: the arrays of codecs and features are made for that."""
    map_ = game.map
    size = (len(map_.territories), len(map_.edges), len(map_.bonuses))
    if states.dtype != game.dtype or _first_unfit(states, *size) >= 0:
        raise ValueError(
            "these states are on another map: actions and observations are made for one with "
            "{} territories, {} edges and {} bonuses".format(*size)
        )


@jit
def _meant_each(states, idle, ends, masks):
    """Allow every value of the genes that are the mover's, and 0 of the others. masks (b, genes, values)."""
    for i in range(len(states)):
        if idle[i] or done(states[i]):
            continue
        own = states[i].held[player(states[i])]
        for gene in range(len(ends)):
            masks[i, gene, : masks.shape[2] if has(own, ends[gene, 0]) else 1] = 1


@jit
def _left(states, drafts):
    return left_to_deploy(states[0], drafts[0])


class GenesCodec:
    """Whole moves as genes. Every action is legal."""

    masked = False

    def __init__(self, game: Warzone) -> None:
        self._game, self._ends = game, gene_ends(game)
        self._length, self._room = game.move_length, game.layout.orders
        self.space = spaces.MultiDiscrete(np.full(len(self._ends), GENE_VALUES))
        self.top = GENE_VALUES - 1

    def masks(self, states: np.ndarray, idle: np.ndarray | None = None) -> np.ndarray:
        """Which values of the genes mean something, (b, (N + 2E) × 32) int8: on foreign land all are taken for 0.

        None do where the game is over or `idle` (b,). This is the form in which sb3-contrib takes masks.
        """
        require_fit(self._game, states)
        masks = np.zeros((len(states), len(self._ends), GENE_VALUES), np.int8)
        _meant_each(states, np.zeros(len(states), np.bool_) if idle is None else idle, self._ends, masks)
        return masks.reshape(len(states), -1)

    def moves(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The moves (b, move_length) int16 that actions (b, N + 2E) are repaired to."""
        require_fit(self._game, states)
        if actions.shape != (len(states), len(self._ends)):
            raise ValueError(f"{len(states)} × {len(self._ends)} genes are needed, got {actions!r}"[:200])
        genes = np.where(actions == self.top, MAX_ORDER, actions).astype(np.int32)
        repair_each(states, genes, self._room)
        rows = np.empty((len(states), self._length), np.int16)
        from_genes_each(states, genes, rows)
        return rows


class OrdersCodec:
    """One order after the other."""

    masked = True

    def __init__(self, game: Warzone) -> None:
        self._game = game
        self._ends = gene_ends(game)
        self._length = game.move_length
        self.sends = len(game.map.territories)
        """The most sends in a move."""
        self.n = 1 + AMOUNTS * len(self._ends)
        self.space, self.top = spaces.Discrete(self.n), self.n - 1

    def masks(self, states: np.ndarray, idle: np.ndarray | None = None, drafts: np.ndarray | None = None) -> np.ndarray:
        """Which actions are legal for the player to move: (b, n) int8; none where the game is over or `idle` (b,).

        drafts (b, move_length): what was ordered so far; nothing if not given.
        """
        require_fit(self._game, states)
        masks = np.zeros((len(states), self.n), np.int8)
        drafts = np.zeros((len(states), self._length), np.int16) if drafts is None else drafts
        idle = np.zeros(len(states), np.bool_) if idle is None else idle
        mask_each(states, drafts, idle, self._ends, self.sends, masks)
        return masks

    def take(self, states: np.ndarray, drafts: np.ndarray, which: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Write actions (k,) into the drafts of the games `which` (k,); REFUSED (if illegal), TAKEN or ENDED (k,)."""
        require_fit(self._game, states)
        taken = np.empty(len(which), np.int8)
        take_each(states, drafts, which, actions, self._ends, self.sends, taken)
        return taken

    def legal(self, states: np.ndarray, drafts: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Whether each of actions (b,) may be taken, (b,) bool."""
        require_fit(self._game, states)
        allowed = np.empty(len(states), np.bool_)
        legal_each(states, drafts, actions, self._ends, self.sends, allowed)
        return allowed

    def moves(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        raise TypeError("an order is no whole move: see take")

    def action(self, source: int, destination: int, amount: str = "all") -> int:
        """The number of an order; a deploy if source and destination are the same. amount: "few", "half" or "all"."""
        if amount not in AMOUNT_NAMES:
            raise ValueError(unknown_name("amount", amount, AMOUNT_NAMES))
        genes = np.flatnonzero((self._ends == (source, destination)).all(1))
        if len(genes) == 0:
            raise ValueError(f"no edge joins territories {source} and {destination}")
        return 1 + AMOUNTS * int(genes[0]) + AMOUNT_NAMES.index(amount)

    def describe(self, action: int) -> str:
        """An action in words."""
        if action == END:
            return "end the move"
        gene, amount = divmod(action - 1, AMOUNTS)
        source, destination = (int(end) for end in self._ends[gene])
        names = self._game.map.territories
        if source == destination:
            return f"deploy {AMOUNT_NAMES[amount]} to {names[source]}"
        return f"send {AMOUNT_NAMES[amount]} from {names[source]} to {names[destination]}"

    def why_illegal(self, state: State, draft: np.ndarray, action: int) -> str:
        """Why an action may not be taken, for the person who tried."""
        left = int(_left(np.asarray(state).reshape(1), draft[None]))
        if action == END:
            return f"the move cannot end: {left} armies are left to deploy"
        what, source = self.describe(action), int(self._ends[(action - 1) // AMOUNTS][0])
        names = self._game.map.territories
        if not int(state["held"][self._game.player(state)]) >> source & 1:
            return f"{what}: {names[source]} is not the player's own"
        return f"{what}: there are too few armies ({left} are left to deploy), or another amount is the same"


def make_codec(game: Warzone, action: str) -> Codec:
    """The codec by name: "genes" or "orders"."""
    codecs: dict[str, type[GenesCodec] | type[OrdersCodec]] = {"genes": GenesCodec, "orders": OrdersCodec}
    if action not in codecs:
        raise ValueError(unknown_name("action", action, codecs))
    return codecs[action](game)
