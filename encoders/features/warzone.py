"""A Warzone state as a graph of its territories, or as an image. Compiled, for arrays of states on one map.

Everything is seen by one player: "mine" is that player's. Numbers without a bound are shown as x / (x + 10), armies in
sum as x / (x + 100). What the other player has ordered in this turn is never shown; what the player itself has
ordered so far is, where moves are drafted order by order (see envs/warzone/drafts.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.encoder import Arrays, Encoder, GraphEncoder, load_pyg
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.warzone.actions import require_fit
from sandtable.envs.warzone.drafts import imagine, left_to_deploy
from sandtable.envs.warzone.masks import count, has, lowest, without_lowest
from sandtable.envs.warzone.rules import deploys, done, income, least_to_capture, player
from sandtable.envs.warzone.state import ORDER_MASK, ORDER_SHIFT

if TYPE_CHECKING:
    from torch_geometric.data import Batch

NODE_FEATURES = 8
NODE_DRAFT_FEATURES = 3
_MINE, _THEIRS, _NEUTRAL, _ARMIES, _BORDER, _WORTH = 0, 1, 2, 3, 6, 7
_DEPLOYED, _MINE_THEN, _ARMIES_THEN = range(NODE_FEATURES, NODE_FEATURES + NODE_DRAFT_FEATURES)

EDGE_FEATURES = 3
EDGE_DRAFT_FEATURES = 1
_ADJACENT, _SHARED, _TAKES, _SENT = range(EDGE_FEATURES + EDGE_DRAFT_FEATURES)

BONUS_FEATURES = 3
_VALUE, _HELD, _LOST = range(BONUS_FEATURES)

TOTALS = 8
DRAFT_TOTALS = 2
_INCOME, _ALL_ARMIES, _LAND, _TURN, _LEFT, _ORDERED = 0, 2, 5, 7, 8, 9

_SCALE, _SUM_SCALE = 10.0, 100.0


@jit
def _squashed(x, scale):
    """A number from 0 on as one below 1."""
    return np.float32(x / (x + scale))


@jit
def _write_nodes(state, me, nodes):
    for i in range(state.territories):
        owner = state.owner[i]
        seen = _NEUTRAL if owner == 0 else _MINE if owner == me + 1 else _THEIRS
        nodes[i, seen] = 1.0
        nodes[i, _ARMIES + seen] = _squashed(np.float64(state.armies[i]), _SCALE)
        if owner > 0 and state.adjacent[i] & ~state.held[owner - 1]:
            nodes[i, _BORDER] = 1.0


@jit
def _write_edges(state, edges):
    """Whether all armies of a player's territory would take a neighbour of somebody else's."""
    for i in range(state.territories):
        if state.owner[i] == 0:
            continue
        foreign = state.adjacent[i] & ~state.held[state.owner[i] - 1]
        while foreign:
            j = lowest(foreign)
            foreign = without_lowest(foreign)
            if state.armies[i] >= least_to_capture(np.int64(state.armies[j])):
                edges[i, j, _TAKES] = 1.0


@jit
def _write_bonuses(state, me, bonuses):
    for i in range(state.bonuses):
        size = count(state.bonus[i])
        bonuses[i, _HELD] = count(state.bonus[i] & state.held[me]) / size
        bonuses[i, _LOST] = count(state.bonus[i] & state.held[1 - me]) / size


@jit
def _write_totals(state, me, totals):
    sums = np.zeros(3)
    for i in range(state.territories):
        sums[state.owner[i]] += state.armies[i]
    for k in range(2):
        side = me if k == 0 else 1 - me
        totals[_INCOME + k] = _squashed(np.float64(income(state, side)), _SCALE)
        totals[_ALL_ARMIES + k] = _squashed(sums[side + 1], _SUM_SCALE)
        totals[_LAND + k] = count(state.held[side]) / state.territories
    totals[_ALL_ARMIES + 2] = _squashed(sums[0], _SUM_SCALE)
    if state.turn_limit > 0:
        totals[_TURN] = min(state.turn / state.turn_limit, 1.0)


@jit
def _graph_each(states, players, nodes, edges, bonuses, totals):
    for i in range(len(states)):
        state, me = states[i], players[i]
        _write_nodes(state, me, nodes[i])
        _write_edges(state, edges[i])
        _write_bonuses(state, me, bonuses[i])
        _write_totals(state, me, totals[i])


@jit
def _write_orders(draft, nodes, edges):
    """The armies deployed and sent so far; several sends along one edge are added up."""
    for i in range(draft[0]):
        source, destination = draft[1 + 2 * i] >> ORDER_SHIFT, draft[1 + 2 * i] & ORDER_MASK
        if source == destination:
            nodes[source, _DEPLOYED] += draft[2 + 2 * i]
        else:
            edges[source, destination, _SENT] += draft[2 + 2 * i]
    # Only what has become less than 1 is squashed already.
    for i in range(draft[0]):
        source, destination = draft[1 + 2 * i] >> ORDER_SHIFT, draft[1 + 2 * i] & ORDER_MASK
        if source == destination:
            nodes[source, _DEPLOYED] = _squashed(nodes[source, _DEPLOYED], _SCALE)
        elif edges[source, destination, _SENT] >= 1.0:
            edges[source, destination, _SENT] = _squashed(edges[source, destination, _SENT], _SCALE)


@jit
def _draft_each(states, players, drafts, nodes, edges, totals):
    """What the player to move has ordered so far, and its land and armies if that ran and the other did nothing."""
    board, nothing = states[:1].copy(), np.zeros(drafts.shape[1], np.int16)
    for i in range(len(states)):
        state, me = states[i], players[i]
        if done(state) or player(state) != me:
            continue
        draft = drafts[i]
        imagine(state, draft, nothing, board)
        _write_orders(draft, nodes[i], edges[i])
        own = board[0].held[me]
        for j in range(state.territories):
            if has(own, j):
                nodes[i, j, _MINE_THEN] = 1.0
                nodes[i, j, _ARMIES_THEN] = _squashed(np.float64(board[0].armies[j]), _SCALE)
        totals[i, _LEFT] = _squashed(np.float64(left_to_deploy(state, draft)), _SCALE)
        totals[i, _ORDERED] = min((draft[0] - deploys(draft)) / state.territories, 1.0)


@jit
def _image_each(nodes, edges, seen, planes):
    """Planes (b, c, n, n): the edges' features, then `seen` of the nodes' for the source (row) and the destination."""
    n, marks = nodes.shape[1], edges.shape[3]
    for b in range(len(nodes)):
        for i in range(n):
            for j in range(n):
                for k in range(marks):
                    planes[b, k, i, j] = edges[b, i, j, k]
        for k in range(len(seen)):
            for i in range(n):
                value = nodes[b, i, seen[k]]
                if value != 0.0:
                    planes[b, marks + 2 * k, i, :] = value
                    planes[b, marks + 2 * k + 1, :, i] = value


def _unit_box(*shape: int) -> spaces.Box:
    return spaces.Box(0.0, 1.0, shape, np.float32)


class WarzoneEncoder(Encoder):
    """For states on a game's own map. Its maps have no symmetry but the identity."""

    game = "warzone"

    def _require_fit(self, states: np.ndarray) -> None:
        require_fit(self._game, states)


class WarzoneGraph(WarzoneEncoder, GraphEncoder):
    """Territories as nodes, and edges between neighbours and between territories of one bonus.

    nodes (n, 8): mine, the opponent's, neutral; armies if mine, if the opponent's, if neutral; on the border to other
    land; worth (value / size of its bonuses, in sum). edges (n, n, 3), from row to column: adjacent; worth of the
    bonuses that they share; all armies would take it. bonuses (m, 3): value, share that is mine, the opponent's;
    membership (m, n): which territories are in each bonus. totals (8,): my income and the opponent's; armies mine, the
    opponent's, neutral; share of the land, mine and the opponent's; turn / limit.

    drafting: moves are drafted order by order, which adds to nodes: armies deployed so far; mine and armies if my
    orders ran alone; to edges: armies sent so far; to totals: armies left to deploy; sends so far / most.
    """

    name = "warzone-graph"

    def __init__(self, game: Game, drafting: bool = False) -> None:
        super().__init__(game)
        map_, self._drafting = self._game.map, drafting
        n, self._bonuses = len(map_.territories), max(len(map_.bonuses), 1)
        self._nodes = np.zeros((n, NODE_FEATURES + drafting * NODE_DRAFT_FEATURES), np.float32)
        self._edges = np.zeros((n, n, EDGE_FEATURES + drafting * EDGE_DRAFT_FEATURES), np.float32)
        self._totals = np.zeros(TOTALS + drafting * DRAFT_TOTALS, np.float32)
        self._values = np.zeros((self._bonuses, BONUS_FEATURES), np.float32)
        self._membership = np.zeros((self._bonuses, n), np.int8)
        self._write_map()
        self._edge_mask = (self._edges.any(-1) & ~np.eye(n, dtype=np.bool_)).astype(np.int8)
        self.space = spaces.Dict(
            {
                "nodes": _unit_box(*self._nodes.shape),
                "node_mask": spaces.MultiBinary(n),
                "edges": _unit_box(*self._edges.shape),
                "edge_mask": spaces.MultiBinary((n, n)),
                "bonuses": _unit_box(*self._values.shape),
                "membership": spaces.MultiBinary(self._membership.shape),
                "totals": _unit_box(*self._totals.shape),
            }
        )
        # A Graph has no place for what belongs to no node: it stands in every one.
        in_node = self._nodes.shape[1] + len(self._totals)
        self.graph_space = spaces.Graph(_unit_box(in_node), _unit_box(self._edges.shape[2]))

    def _write_map(self) -> None:
        """What stays the same in all states."""
        map_ = self._game.map
        worth = np.zeros(len(map_.territories), np.float32)
        for i, bonus in enumerate(map_.bonuses):
            inside, share = list(bonus.territories), bonus.value / len(bonus.territories)
            self._membership[i, inside] = 1
            self._values[i, _VALUE] = bonus.value / (bonus.value + _SCALE)
            self._edges[np.ix_(inside, inside, [_SHARED])] += share
            worth[inside] += share
        self._nodes[:, _WORTH] = worth / (worth + _SCALE)
        shared = self._edges[..., _SHARED]
        self._edges[..., _SHARED] = shared / (shared + _SCALE)
        for a, b in map_.edges:
            self._edges[[a, b], [b, a], _ADJACENT] = 1.0

    def encode(self, states: np.ndarray, players: np.ndarray | None = None, drafts: np.ndarray | None = None) -> Arrays:
        """The arrays of states (b,), each seen by its player (b,), by the names of `space`.

        drafts (b, move_length): the movers' orders so far, if moves are drafted.
        """
        states, players = self._views(states, players)
        b = len(states)
        out: Arrays = {
            "nodes": _copies(self._nodes, b),
            "node_mask": np.ones((b, len(self._nodes)), np.int8),
            "edges": _copies(self._edges, b),
            "edge_mask": _copies(self._edge_mask, b),
            "bonuses": _copies(self._values, b),
            "membership": _copies(self._membership, b),
            "totals": _copies(self._totals, b),
        }
        _graph_each(states, players, out["nodes"], out["edges"], out["bonuses"], out["totals"])
        if drafts is not None and self._drafting:
            _draft_each(states, players, drafts, out["nodes"], out["edges"], out["totals"])
        return out

    def graph(self, arrays: Arrays, i: int) -> spaces.GraphInstance:
        """The i-th state of what `encode` answered; the totals stand in every node."""
        totals = np.broadcast_to(arrays["totals"][i], (len(self._nodes), arrays["totals"].shape[1]))
        links = np.argwhere(arrays["edge_mask"][i] == 1)
        edges = arrays["edges"][i][links[:, 0], links[:, 1]]
        return spaces.GraphInstance(np.concatenate([arrays["nodes"][i], totals], axis=1), edges, links)

    def to_pyg(self, states: np.ndarray, players: np.ndarray | None = None) -> Batch:
        """A graph a state: x (n, 8), edge_index and edge_attr (e, 3), totals (1, 8) apart from the nodes, and the
        bonuses: bonus_index (2, k), which bonus and one of its territories, bonus_value (m,) and bonuses (1, m, 3)."""
        pyg = load_pyg()
        arrays = self.encode(states, players)
        bare = {**arrays, "totals": arrays["totals"][:, :0]}
        graphs = [self.graph(bare, i) for i in range(len(bare["nodes"]))]
        values = np.array([bonus.value for bonus in self._game.map.bonuses], np.float32)
        return pyg.map_batch(
            graphs, self._membership[: len(values)], values, totals=arrays["totals"], bonuses=arrays["bonuses"]
        )


class WarzoneImage(WarzoneEncoder):
    """Planes of territories × territories, and the totals.

    First the features of the edges from row to column; then by turns for the row's and for the column's territory:
    mine, the opponent's, neutral, armies if mine, if the opponent's, if neutral; and with drafting armies deployed
    so far, mine and armies if my orders ran alone. 15 planes, and 22 with drafting.
    """

    name = "warzone-image"

    def __init__(self, game: Game, drafting: bool = False) -> None:
        super().__init__(game)
        self._graph = WarzoneGraph(game, drafting)
        n, features = self._graph.space["nodes"].shape or ()
        self._seen = np.array([i for i in range(features) if i not in (_BORDER, _WORTH)])
        marks = EDGE_FEATURES + drafting * EDGE_DRAFT_FEATURES
        self._shape = (marks + 2 * len(self._seen), n, n)
        self.space = spaces.Dict({"image": _unit_box(*self._shape), "totals": self._graph.space["totals"]})

    def encode(self, states: np.ndarray, players: np.ndarray | None = None, drafts: np.ndarray | None = None) -> Arrays:
        """The planes (b, c, n, n) and totals of states (b,), each seen by its player (b,)."""
        arrays = self._graph.encode(states, players, drafts)
        planes = np.zeros((len(states), *self._shape), np.float32)
        _image_each(arrays["nodes"], arrays["edges"], self._seen, planes)
        return {"image": planes, "totals": arrays["totals"]}


def _copies(array: np.ndarray, n: int) -> np.ndarray:
    """The array n times, (n, …)."""
    out = np.empty((n, *array.shape), array.dtype)
    out[:] = array
    return out
