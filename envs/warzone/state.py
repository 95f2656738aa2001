"""The record of a Warzone state, packed from a Position and unpacked into one.

One record holds everything the rules need, the map, the ruleset and the coming coins included: copying it is copying
a game. A turn is two plies: the orders of the player who leads are kept in `pending` until the other player's are in.
In games red leads always. A player who thinks about a turn leads in his own thoughts (see playouts.forget).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sandtable.envs.warzone.position import Bonus, Map, Order, Position
from sandtable.envs.warzone.rulesets import Rules

MAX_TERRITORIES = 64
MAX_EDGES = 256
MAX_BONUSES = 64
MAX_ORDER = 32_767
"""An order moves no more armies than this."""
MAX_ARMIES = 1_000_000_000
"""A territory holds no more; what arrives beyond is lost."""
MAX_BONUS = 500
"""The highest value of a bonus: no income is more than an order can deploy."""

# An order in a row is source × 64 + destination, then armies.
ORDER_SHIFT = 6
ORDER_MASK = (1 << ORDER_SHIFT) - 1

RUNNING, FIRST_WON, SECOND_WON, DRAWN = range(4)


class Layout(NamedTuple):
    """The most that the records of a class of maps hold."""

    territories: int
    edges: int
    bonuses: int
    orders: int

    @property
    def move_length(self) -> int:
        """The length of a row with this many orders."""
        return 1 + 2 * self.orders


# A random move has at most one order a territory and one an edge; only on maps with more than 128 edges the row is
# shorter than that, which matters to nobody who has fewer than 192 orders to give.
LAYOUTS = (
    Layout(16, 24, 8, 40),
    Layout(24, 40, 16, 64),
    Layout(48, 96, 32, 144),
    Layout(MAX_TERRITORIES, MAX_EDGES, MAX_BONUSES, 192),
)


def layout_for(map_: Map) -> Layout:
    """The smallest layout that holds a map."""
    size = (len(map_.territories), len(map_.edges), len(map_.bonuses))
    for layout in LAYOUTS:
        if all(n <= most for n, most in zip(size, layout, strict=False)):
            return layout
    raise ValueError(
        f"a map of {size[0]} territories, {size[1]} edges and {size[2]} bonuses: at most {MAX_TERRITORIES}, "
        f"{MAX_EDGES} and {MAX_BONUSES} are supported"
    )


@lru_cache
def state_dtype(layout: Layout) -> np.dtype:
    """The record for maps of this layout."""
    return np.dtype(
        [
            ("adjacent", np.uint64, layout.territories),  # a bit a neighbour
            ("bonus", np.uint64, layout.bonuses),  # a bit a territory
            ("held", np.uint64, 2),  # the territories of the first and of the second player
            ("coin", np.uint64),
            ("armies", np.int32, layout.territories),
            ("movable", np.int32, layout.territories),  # while a turn resolves without multi-attack; else 0
            ("bonus_value", np.int16, layout.bonuses),
            ("pending", np.int16, layout.move_length),
            ("owner", np.uint8, layout.territories),
            ("turn", np.int16),
            ("turn_limit", np.int16),  # 0: none
            ("base_income", np.int16),
            ("edges", np.int16),
            ("territories", np.uint8),
            ("bonuses", np.uint8),
            ("leader", np.uint8),  # who orders first: 0 or 1
            ("waiting", np.uint8),  # whether the leader's orders are in
            ("fewest_deploys", np.uint8),
            ("pairs", np.uint8),
            ("check_deploys", np.uint8),
            ("multi_attack", np.uint8),
            ("status", np.uint8),
        ],
        align=True,
    )


DTYPES = tuple(state_dtype(layout) for layout in LAYOUTS)


def pack(position: Position, layout: Layout) -> np.ndarray:
    """The state (1,) of a position, not yet looked at by the rules (see rules.judge_new)."""
    states = np.zeros(1, state_dtype(layout))
    state = states[0]
    _pack_map(state, position.map)
    _pack_rules(state, position.rules)
    state["turn"], state["coin"], state["leader"] = position.turn, position.coin, position.leader
    set_board(state, position.armies, position.owner)
    if position.pending is not None:
        state["waiting"], state["pending"] = 1, pack_orders(position.pending, layout)
    return states


def set_board(state: np.void, armies: Sequence[int], owner: Sequence[int]) -> None:
    """Write armies and owners into a record."""
    n = len(armies)
    state["armies"][:n], state["owner"][:n] = armies, owner
    for side in (0, 1):
        state["held"][side] = mask_of(i for i in range(n) if owner[i] == side + 1)


def mask_of(territories: Iterable[int]) -> np.uint64:
    """The set of territories, a bit each."""
    return np.uint64(sum(1 << i for i in territories))


def _pack_map(state: np.void, map_: Map) -> None:
    state["territories"], state["edges"], state["bonuses"] = len(map_.territories), len(map_.edges), len(map_.bonuses)
    for a, b in map_.edges:
        state["adjacent"][a] |= mask_of((b,))
        state["adjacent"][b] |= mask_of((a,))
    for i, bonus in enumerate(map_.bonuses):
        state["bonus"][i], state["bonus_value"][i] = mask_of(bonus.territories), bonus.value


def _pack_rules(state: np.void, rules: Rules) -> None:
    state["fewest_deploys"] = rules.first_attacker == "fewest_deploys"
    state["pairs"] = rules.order == "pairs"
    for name in ("check_deploys", "multi_attack", "turn_limit", "base_income"):
        state[name] = getattr(rules, name)


def pack_orders(orders: Sequence[Order], layout: Layout) -> np.ndarray:
    """The row (move_length,) int16 of some orders: how many, then source × 64 + destination and armies of each."""
    row = np.zeros(layout.move_length, np.int16)
    row[0] = len(orders)
    for i, (source, destination, armies) in enumerate(orders):
        row[1 + 2 * i], row[2 + 2 * i] = source << ORDER_SHIFT | destination, armies
    return row


def unpack_orders(row: np.ndarray) -> list[Order]:
    """The orders of a row."""
    pairs = ((int(row[1 + 2 * i]), int(row[2 + 2 * i])) for i in range(int(row[0])))
    return [(code >> ORDER_SHIFT, code & ORDER_MASK, armies) for code, armies in pairs]


def unpack(state: np.void) -> Position:
    """The position of a state; its map has neither names nor places."""
    n = int(state["territories"])
    return Position(
        unpack_map(state),
        unpack_rules(state),
        tuple(state["armies"][:n].tolist()),
        tuple(state["owner"][:n].tolist()),
        int(state["turn"]),
        int(state["coin"]),
        tuple(unpack_orders(state["pending"])) if state["waiting"] else None,
        int(state["leader"]),
    )


def unpack_map(state: np.void) -> Map:
    """The map that a state carries, without names and places."""
    n = int(state["territories"])
    adjacent = [int(word) for word in state["adjacent"][:n]]
    edges = tuple((a, b) for a in range(n) for b in range(a + 1, n) if adjacent[a] >> b & 1)
    bonuses = tuple(
        Bonus(tuple(i for i in range(n) if int(state["bonus"][b]) >> i & 1), int(state["bonus_value"][b]))
        for b in range(int(state["bonuses"]))
    )
    return Map(tuple(str(i) for i in range(n)), edges, bonuses)


def unpack_rules(state: np.void) -> Rules:
    """The ruleset that a state carries."""
    return Rules(
        first_attacker="fewest_deploys" if state["fewest_deploys"] else "coin",
        order="pairs" if state["pairs"] else "alternate",
        check_deploys=bool(state["check_deploys"]),
        multi_attack=bool(state["multi_attack"]),
        turn_limit=int(state["turn_limit"]),
        base_income=int(state["base_income"]),
    )
