"""Soares 2025: a Warzone state as the graph that its network reads, and candidate moves as lists of orders.

Armies and incomes are whole numbers as they are: the thesis speaks of "scalars representing the number of stationed
armies" and of no scale. What has been ordered in this turn is not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.encoder import Arrays, load_pyg
from sandtable.encoders.features.warzone import WarzoneEncoder
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.warzone.masks import has
from sandtable.envs.warzone.rules import income
from sandtable.envs.warzone.state import ORDER_MASK, ORDER_SHIFT

if TYPE_CHECKING:
    from torch_geometric.data import Batch

NODE_FEATURES = 5
_OWNER, _ARMIES, _NEUTRAL_ARMIES = 0, 2, 4  # mine, then the opponent's
TOTALS = 5
_INCOME, _ALL_ARMIES, _ALL_NEUTRAL = 0, 2, 4

ORDER_NUMBERS = 4
KIND, ARMIES, SOURCE, DESTINATION = range(ORDER_NUMBERS)
NO_ORDER, ATTACK, TRANSFER, DEPLOY = range(4)


@jit
def _graph_each(states, players, nodes, totals):
    for b in range(len(states)):
        state, me = states[b], players[b]
        sums = np.zeros(3)
        for i in range(state.territories):
            owner, armies = state.owner[i], state.armies[i]
            seen = 2 if owner == 0 else 0 if owner == me + 1 else 1
            sums[seen] += armies
            if owner == 0:
                nodes[b, i, _NEUTRAL_ARMIES] = armies
            else:
                nodes[b, i, _OWNER + seen] = 1.0
                nodes[b, i, _ARMIES + seen] = armies
        totals[b, _INCOME], totals[b, _INCOME + 1] = income(state, me), income(state, 1 - me)
        totals[b, _ALL_ARMIES], totals[b, _ALL_ARMIES + 1], totals[b, _ALL_NEUTRAL] = sums


@jit
def _orders_each(states, players, rows, orders):
    for b in range(len(states)):
        own = states[b].held[players[b]]
        for k in range(rows.shape[1]):
            row = rows[b, k]
            for i in range(row[0]):
                source, destination = row[1 + 2 * i] >> ORDER_SHIFT, row[1 + 2 * i] & ORDER_MASK
                kind = DEPLOY if source == destination else TRANSFER if has(own, destination) else ATTACK
                order = orders[b, k, i]
                order[KIND], order[ARMIES], order[SOURCE], order[DESTINATION] = (
                    kind,
                    row[2 + 2 * i],
                    source,
                    destination,
                )


class SoaresGraph(WarzoneEncoder):
    """nodes (N, 5), a territory each: mine, the opponent's; armies if mine, if the opponent's, if neutral. totals (5,):
    my income and the opponent's; armies of mine, of the opponent, neutral ones.

    Of the map, once for all states and so without an axis for the batch: adjacency (N, N), 1 between neighbours; bonus
    (B, N), 1 where a territory belongs to a bonus; bonus_value (B,). A map without bonuses has B = 0.
    """

    name = "soares-graph"
    of_the_map = ("adjacency", "bonus", "bonus_value")

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        map_ = self._game.map
        n, bonuses = len(map_.territories), len(map_.bonuses)
        self.adjacency = np.zeros((n, n), np.int8)
        for a, b in map_.edges:
            self.adjacency[[a, b], [b, a]] = 1
        self.bonus, self.bonus_value = np.zeros((bonuses, n), np.int8), np.zeros(bonuses, np.float32)
        for i, bonus in enumerate(map_.bonuses):
            self.bonus[i, list(bonus.territories)], self.bonus_value[i] = 1, bonus.value
        self._links = np.argwhere(self.adjacency == 1)
        self.space = spaces.Dict(
            {
                "nodes": spaces.Box(0.0, np.inf, (n, NODE_FEATURES), np.float32),
                "totals": spaces.Box(0.0, np.inf, (TOTALS,), np.float32),
                "adjacency": spaces.Box(0, 1, (n, n), np.int8),
                "bonus": spaces.Box(0, 1, (bonuses, n), np.int8),
                "bonus_value": spaces.Box(0.0, np.inf, (bonuses,), np.float32),
            }
        )

    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """nodes (b, N, 5) and totals (b, 5) of states (b,), and the arrays of the map."""
        states, players = self._views(states, players)
        nodes = np.zeros((len(states), len(self.adjacency), NODE_FEATURES), np.float32)
        totals = np.zeros((len(states), TOTALS), np.float32)
        _graph_each(states, players, nodes, totals)
        of_map = {name: getattr(self, name).copy() for name in self.of_the_map}
        return {"nodes": nodes, "totals": totals, **of_map}

    def orders(self, states: np.ndarray, moves: np.ndarray, players: np.ndarray | None = None) -> np.ndarray:
        """K moves of each of states (b,), rows (b, K, move_length), as orders (b, K, M, 4) int64.

        An order is its kind (0 none, 1 attack, 2 transfer, 3 deploy), armies, source and destination, in the move's
        sequence; zeros follow the last one, and a row of zeros, where a state has fewer moves than K, has none. M: the
        most orders of a move among these. To whom the destination belongs now tells an attack from a transfer. players
        (b,): whose moves; None: the movers'.
        """
        states, players = self._views(states, players)
        rows = np.asarray(moves)
        length = self._game.move_length
        if rows.dtype.kind not in "iu" or rows.ndim != 3 or (rows.shape[0], rows.shape[2]) != (len(states), length):
            raise ValueError(f"moves ({len(states)}, K, {length}) of whole numbers are needed, got {rows.shape}")
        counts, ends = rows[..., 0], rows[..., 1::2]
        if rows.size and (counts.min() < 0 or counts.max() > length // 2 or ends.min() < 0):
            raise ValueError("these rows are no moves")
        if rows.size and max((ends >> ORDER_SHIFT).max(), (ends & ORDER_MASK).max()) >= len(self.adjacency):
            raise ValueError("these moves are of another map: there are no such territories")
        most = int(counts.max()) if rows.size else 0
        orders = np.zeros((*rows.shape[:2], most, ORDER_NUMBERS), np.int64)
        _orders_each(states, players, np.ascontiguousarray(rows, np.int16), orders)
        return orders

    def to_pyg(self, states: np.ndarray, players: np.ndarray | None = None) -> Batch:
        """A graph a state: x (N, 5), edge_index of the map, totals (1, 5), and the bonuses: bonus_index (2, k), which
        bonus and one of its territories, and bonus_value (B,)."""
        pyg = load_pyg()
        arrays = self.encode(states, players)
        graphs = [spaces.GraphInstance(nodes, None, self._links) for nodes in arrays["nodes"]]
        return pyg.map_batch(graphs, self.bonus, self.bonus_value, totals=arrays["totals"])
