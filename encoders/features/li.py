"""Li et al. 2022: a TUBSTAP state as matrices over its units, or as planes of the board.

The paper always puts RED first and lets the network find out whose turn it is; here the player whose view it is comes
first, so that one network serves both. Numbers are as in the paper's figures: HP, types and distances as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.encoder import Arrays, load_pyg
from sandtable.encoders.features.tubstap import PlanesEncoder, TubstapEncoder, fire, unit_place
from sandtable.envs.bitboard import has, stride
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import active_units, distance, lowest_slot, may_hurt, mobility, power
from sandtable.envs.tubstap.tables import MAX_HP, MAX_UNITS, MOBILITY, POWER, UNIT_NAMES

if TYPE_CHECKING:
    from torch_geometric.data import Batch

CHANNELS = 6
_HP, _TYPE, _MOBILITY, _CAN_ACT, _DISTANCE, _CAN_ATTACK = range(CHANNELS)
NODE_FEATURES = 4
PLANES = 7
_IMAGE_POSITION, _IMAGE_HP, _IMAGE_ATTACK, _IMAGE_COLOUR, _IMAGE_TYPE, _IMAGE_MOBILITY, _IMAGE_CAN_ACT = range(PLANES)
KINDS = len(UNIT_NAMES)
_ONE = np.uint32(1)
_POWER_SCALE = 10.0
_MOST_MOBILE = float(max(MOBILITY))
_STRONGEST = float(POWER.max()) / _POWER_SCALE


@jit
def _signed_type(state, slot, me):
    """The number of its kind, F A P U R I from 0; the opponent's are negative."""
    return np.int64(state.kind[slot]) * (1 if slot // MAX_UNITS == me else -1)


@jit
def _write_row(state, slot, me, units, can_act, matrices):
    """The row of a living unit in every matrix."""
    i, attackable, kind = unit_place(slot, me, units), fire(state, slot), state.kind[slot]
    others = state.alive
    while others:
        other = lowest_slot(others)
        others &= others - _ONE
        j, cell = unit_place(other, me, units), np.int64(state.cell[other])
        matrices[_DISTANCE, i, j] = distance(state, np.int64(state.cell[slot]), cell)
        if other // MAX_UNITS == slot // MAX_UNITS:
            continue
        matrices[_CAN_ACT, i, j] = can_act
        if has(attackable, cell) and may_hurt(state, kind, state.kind[other]):
            matrices[_HP, i, j] = state.hp[slot]
            matrices[_TYPE, i, j] = _signed_type(state, slot, me)
            matrices[_MOBILITY, i, j] = mobility(state, kind)
            matrices[_CAN_ATTACK, i, j] = 1.0


@jit
def _write_node(state, slot, me, can_act, node):
    """HP, signed type, mobility and whether it can act, of a living unit."""
    node[_HP] = state.hp[slot]
    node[_TYPE] = _signed_type(state, slot, me)
    node[_MOBILITY] = mobility(state, state.kind[slot])
    node[_CAN_ACT] = can_act


@jit
def _graph_each(states, players, units, matrices, nodes, mask):
    for b in range(len(states)):
        state, me = states[b], players[b]
        living, active = state.alive, active_units(state)
        while living:
            slot = lowest_slot(living)
            living &= living - _ONE
            i, can_act = unit_place(slot, me, units), (active >> np.uint32(slot)) & _ONE
            mask[b, i] = 1
            _write_node(state, slot, me, can_act, nodes[b, i])
            _write_row(state, slot, me, units, can_act, matrices[b])


@jit
def _greatest_power(state, kind):
    greatest = 0.0
    for target in range(KINDS):
        greatest = max(greatest, power(state, kind, target))
    return greatest


@jit
def _image_each(states, players, planes):
    for b in range(len(states)):
        state, me, image = states[b], players[b], planes[b]
        width = stride(state.boards)
        living, active = state.alive, active_units(state)
        while living:
            slot = lowest_slot(living)
            living &= living - _ONE
            y, x = state.cell[slot] // width, state.cell[slot] % width
            image[_IMAGE_POSITION, y, x] = 1.0
            image[_IMAGE_HP, y, x] = state.hp[slot]
            image[_IMAGE_ATTACK, y, x] = _greatest_power(state, state.kind[slot]) / _POWER_SCALE
            image[_IMAGE_COLOUR, y, x] = 1.0 if slot // MAX_UNITS == me else -1.0
            image[_IMAGE_TYPE, y, x] = _signed_type(state, slot, me)
            image[_IMAGE_MOBILITY, y, x] = mobility(state, state.kind[slot])
            image[_IMAGE_CAN_ACT, y, x] = (active >> np.uint32(slot)) & _ONE


def _box(lows: list[float], highs: list[float], *shape: int) -> spaces.Box:
    """Channels of this shape with the bounds of each."""
    low, high = (np.array(bounds, np.float32).reshape(-1, *(1,) * len(shape)) for bounds in (lows, highs))
    whole = (len(lows), *shape)
    return spaces.Box(np.broadcast_to(low, whole), np.broadcast_to(high, whole), whole, np.float32)


class LiMatrices(TubstapEncoder):
    """matrices (6, n, n) over n = 2u units, mine first, nodes (n, 4) and unit_mask (n,). Matrices in row i, column j:

    0 HP of i, if i can attack j: if it were i's turn, it could go somewhere, perhaps stay, and legally attack j there.
      Whether i has acted does not matter (in the paper's figure a unit that has moved still has its edges).
    1 type of i, if i can attack j: the number of its kind, F A P U R I from 0 to 5 (the figure has infantry as 5),
      negative for the opponent's. A fighter's is 0.
    2 mobility of i, if i can attack j; a cannon's as the rules say.
    3 "moved or not": 1 for every enemy j of i if i may still act in this turn. The paper fills the columns of all
      enemies; here, as everywhere, those of the dead stay 0.
    4 Manhattan distance of i and j, whoever they are.
    5 1 if i can attack j: the adjacency matrix that the paper's numbers of weights imply, though its figure has five.

    Node i, of its own: HP, type, mobility and 1 if it may still act in this turn, whomever it can attack. The paper's
    figure has none: of a unit that can attack nobody its matrices tell neither HP nor type.

    Rows and columns of the dead, and of places that a side does not fill, are 0 with mask 0.
    """

    name = "li-matrices"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._n = n = 2 * self._units
        farthest = float(self._width + self._height - 2)
        lows = [0.0, 1.0 - KINDS, 0.0, 0.0, 0.0, 0.0]
        highs = [MAX_HP, KINDS - 1, _MOST_MOBILE, 1.0, farthest, 1.0]
        low, high = (np.tile(np.array(bounds[:NODE_FEATURES], np.float32), (n, 1)) for bounds in (lows, highs))
        self.space = spaces.Dict(
            {
                "matrices": _box(lows, highs, n, n),
                "nodes": spaces.Box(low, high, (n, NODE_FEATURES), np.float32),
                "unit_mask": spaces.MultiBinary(n),
            }
        )

    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """matrices (b, 6, n, n) float32, nodes (b, n, 4) float32 and unit_mask (b, n) int8 of states (b,)."""
        states, players = self._views(states, players)
        matrices = np.zeros((len(states), CHANNELS, self._n, self._n), np.float32)
        nodes = np.zeros((len(states), self._n, NODE_FEATURES), np.float32)
        mask = np.zeros((len(states), self._n), np.int8)
        _graph_each(states, players, self._units, matrices, nodes, mask)
        return {"matrices": matrices, "nodes": nodes, "unit_mask": mask}

    def to_pyg(self, states: np.ndarray, players: np.ndarray | None = None) -> Batch:
        """A graph a state: x (m, 4) are the nodes of the living units; an edge each way between any two of them, whose
        edge_attr (e, 6) are the entries of the six matrices."""
        pyg = load_pyg()
        arrays = self.encode(states, players)
        graphs = []
        for x, matrices, mask in zip(arrays["nodes"], arrays["matrices"], arrays["unit_mask"], strict=True):
            alive = np.flatnonzero(mask)
            links = np.argwhere(~np.eye(len(alive), dtype=np.bool_))
            source, destination = alive[links].T
            graphs.append(spaces.GraphInstance(x[alive], matrices[:, source, destination].T, links))
        return pyg.batch_of(graphs)


class LiImage(PlanesEncoder):
    """image (7, height, width), the input of CNN_i: "units' position, HP, attack, color (side), type and other
    information", a plane each. The paper shows only that of HP, whose numbers are as they are.

    0 position, 1 where a unit stands; 1 HP; 2 attack: the greatest power of its kind against any other, / 10; 3 colour,
    1 for mine and -1 for the opponent's; 4 type and 5 mobility, as in the matrices; 6 1 if it may still act in this
    turn. Terrain is not in it: the paper has only plains.
    """

    name = "li-image"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._shape = (PLANES, self._height, self._width)
        highs = [1.0, MAX_HP, _STRONGEST, 1.0, KINDS - 1, _MOST_MOBILE, 1.0]
        lows = [0.0, 0.0, 0.0, -1.0, 1.0 - KINDS, 0.0, 0.0]
        self.space = spaces.Dict({"image": _box(lows, highs, self._height, self._width)})

    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """The planes (b, 7, height, width) of states (b,)."""
        states, players = self._views(states, players)
        planes = np.zeros((len(states), *self._shape), np.float32)
        _image_each(states, players, planes)
        return {"image": planes}
