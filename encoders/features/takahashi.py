"""Takahashi 2023: a TUBSTAP state as a graph of its units, or as an image. Compiled, for arrays of states.

Everything is seen by one player: "mine" is that player's. Of u units a side, nodes 0 to u - 1 are mine and u to
2u - 1 the opponent's, each side in the order of the map file; dead units are rows of zeros with mask 0.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.encoder import Arrays, GraphEncoder
from sandtable.encoders.features.tubstap import PlanesEncoder, TubstapEncoder, least_counter, unit_place
from sandtable.envs.bitboard import has, is_empty, stride
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import (
    active_units,
    attack_cells,
    damage,
    lowest_slot,
    may_hurt,
    reach,
    side_units,
    stars,
    targets,
)
from sandtable.envs.tubstap.tables import CANNON, MAX_HP, MAX_UNITS, TERRAIN_NAMES, UNIT_NAMES

KINDS = len(UNIT_NAMES)
NODE_FEATURES = 2 * KINDS + 1
EDGE_FEATURES = 4
PLANES = 2 * KINDS + len(TERRAIN_NAMES) + 1
_ONE = np.uint32(1)
_FULL_HP = float(MAX_HP)
_FRIEND, _FOE, _DAMAGE, _COUNTER = range(EDGE_FEATURES)


@jit
def _write_attacks(state, slot, enemies, me, units, edges):
    """The edges' damage and least counter-damage, for the enemies that the unit can attack."""
    reachable = reach(state, slot)
    attackable = targets(state, slot, reachable)
    if is_empty(attackable):
        return
    row = edges[unit_place(slot, me, units)]
    while enemies:
        target = lowest_slot(enemies)
        enemies &= enemies - _ONE
        cell = np.int64(state.cell[target])
        kind, hp = state.kind[target], np.float64(state.hp[target])
        if has(attackable, cell) and may_hurt(state, state.kind[slot], kind):
            hit = damage(state, state.kind[slot], np.float64(state.hp[slot]), kind, hp, stars(state, kind, cell))
            column = unit_place(target, me, units)
            row[column, _DAMAGE] = hit / _FULL_HP
            if state.kind[slot] != CANNON and kind != CANNON and hit < hp:
                cells = attack_cells(state, slot, reachable, cell)
                row[column, _COUNTER] = least_counter(state, slot, cells, target) / _FULL_HP


@jit
def _graph(state, me, units, nodes, node_mask, edges, edge_mask):
    living, active = state.alive, active_units(state)
    while living:
        slot = lowest_slot(living)
        living &= living - _ONE
        side = slot // MAX_UNITS
        node = unit_place(slot, me, units)
        node_mask[node] = 1
        nodes[node, state.kind[slot] + (0 if side == me else KINDS)] = state.hp[slot] / _FULL_HP
        nodes[node, 2 * KINDS] = (active >> np.uint32(slot)) & _ONE
        others = state.alive & ~(_ONE << np.uint32(slot))
        while others:
            other = lowest_slot(others)
            others &= others - _ONE
            column = unit_place(other, me, units)
            edge_mask[node, column] = 1
            edges[node, column, _FRIEND if other // MAX_UNITS == side else _FOE] = 1.0
        _write_attacks(state, slot, side_units(state, 1 - side), me, units, edges)


@jit
def _graph_each(states, players, units, nodes, node_mask, edges, edge_mask):
    for i in range(len(states)):
        _graph(states[i], players[i], units, nodes[i], node_mask[i], edges[i], edge_mask[i])


@jit
def _image_each(states, players, planes):
    for i in range(len(states)):
        state, me, image = states[i], players[i], planes[i]
        width = stride(state.boards)
        for y in range(state.height):
            for x in range(state.width):
                image[2 * KINDS + state.terrain[y * width + x], y, x] = 1.0
        living, active = state.alive, active_units(state)
        while living:
            slot = lowest_slot(living)
            living &= living - _ONE
            y, x = state.cell[slot] // width, state.cell[slot] % width
            image[state.kind[slot] + (0 if slot // MAX_UNITS == me else KINDS), y, x] = state.hp[slot] / _FULL_HP
            image[PLANES - 1, y, x] = (active >> np.uint32(slot)) & _ONE


class TakahashiGraph(TubstapEncoder, GraphEncoder):
    """Units as nodes with 13 features (HP / 10 in the place of its kind, mine or the opponent's; can act), and an edge
    each way between all units with 4 (friend, foe, damage / 10 if it can attack, least counter-damage / 10)."""

    name = "takahashi-graph"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._nodes = n = 2 * self._units
        self.space = spaces.Dict(
            {
                "nodes": spaces.Box(0.0, 1.0, (n, NODE_FEATURES), np.float32),
                "node_mask": spaces.MultiBinary(n),
                "edges": spaces.Box(0.0, 1.0, (n, n, EDGE_FEATURES), np.float32),
                "edge_mask": spaces.MultiBinary((n, n)),
            }
        )
        self.graph_space = spaces.Graph(
            spaces.Box(0.0, 1.0, (NODE_FEATURES,), np.float32), spaces.Box(0.0, 1.0, (EDGE_FEATURES,), np.float32)
        )

    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """The arrays of states (b,), each seen by its player (b,): nodes (b, n, 13), edges (b, n, n, 4), masks."""
        states, players = self._views(states, players)
        b, n = len(states), self._nodes
        out: Arrays = {
            "nodes": np.zeros((b, n, NODE_FEATURES), np.float32),
            "node_mask": np.zeros((b, n), np.int8),
            "edges": np.zeros((b, n, n, EDGE_FEATURES), np.float32),
            "edge_mask": np.zeros((b, n, n), np.int8),
        }
        _graph_each(states, players, self._units, out["nodes"], out["node_mask"], out["edges"], out["edge_mask"])
        return out

    def graph(self, arrays: Arrays, i: int) -> spaces.GraphInstance:
        """The i-th state of what `encode` answered: the units alive and their edges."""
        alive = arrays["node_mask"][i] == 1
        links = np.argwhere(arrays["edge_mask"][i] == 1)
        number = np.cumsum(alive) - 1
        edges = arrays["edges"][i][links[:, 0], links[:, 1]]
        return spaces.GraphInstance(arrays["nodes"][i][alive], edges, number[links])


class TakahashiImage(PlanesEncoder):
    """20 planes of the board: 12 of units (HP / 10 by kind, mine then the opponent's), 7 of terrain, 1 of units that
    can act."""

    name = "takahashi-image"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._shape = (PLANES, self._height, self._width)
        self.space = spaces.Dict({"image": spaces.Box(0.0, 1.0, self._shape, np.float32)})

    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """The planes (b, 20, height, width) of states (b,), each seen by its player (b,)."""
        states, players = self._views(states, players)
        planes = np.zeros((len(states), *self._shape), np.float32)
        _image_each(states, players, planes)
        return {"image": planes}
