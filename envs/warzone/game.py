"""Warzone for people and agents: the public face of its engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sandtable.envs.game import Game, State, as_states, moves_of, one
from sandtable.envs.randomness import seeds_from
from sandtable.envs.warzone import greedy, plans  # noqa: F401  (they answer questions of the game)
from sandtable.envs.warzone.genes import from_genes_each, repair_each, to_genes_each
from sandtable.envs.warzone.notation import position_from_text, position_to_text
from sandtable.envs.warzone.playouts import candidates_of
from sandtable.envs.warzone.position import PLAYERS, Map, Order, Position
from sandtable.envs.warzone.records import Record, RecordedTurn, format_record
from sandtable.envs.warzone.render import LastMove, draw, orders_in_words, to_ansi
from sandtable.envs.warzone.rules import income_each, judge_new, next_coin, resolve_each, resolve_pairs
from sandtable.envs.warzone.rulesets import Rules, make_rules, rules_text
from sandtable.envs.warzone.sources import find_map, make_source, map_files
from sandtable.envs.warzone.state import (
    MAX_ORDER,
    ORDER_MASK,
    ORDER_SHIFT,
    layout_for,
    pack,
    pack_orders,
    state_dtype,
    unpack,
    unpack_orders,
)
from sandtable.envs.warzone.validity import Fault, orders_fault, position_faults
from sandtable.names import unknown_name

_DEFAULT_MAP = "italy"
_RULE_OPTIONS = tuple(field.name for field in fields(Rules))
OPTIONS = ("start", "candidates", *_RULE_OPTIONS)
"""The names of single options, beside map and rules."""
_GENE_RANGE = np.iinfo(np.int32)


class Warzone(Game):
    """Warzone under one ruleset on one map.

    map: a name, the path of a .json file, or a Map; rules: a ruleset's name or Rules; start: "random", "fair", "map"
    (the map's own start), a Position or its text; candidates: how many moves `moves` proposes; options: single
    options of the rules (turn_limit=40).
    """

    name = "warzone"
    players = PLAYERS
    record_suffix = ".jsonl"
    simultaneous = True

    def __init__(
        self,
        map: str | Path | Map | None = None,
        rules: str | Rules = "default",
        start: str | Position = "random",
        candidates: int = 20,
        **options: Any,
    ) -> None:
        for name in options:
            if name not in _RULE_OPTIONS:
                raise ValueError(unknown_name("option of warzone", name, ("map", "rules", *OPTIONS)))
        self.rules = make_rules(rules, **options)
        self.setting = {
            "map": "a map" if isinstance(map, Map) else str(map or _DEFAULT_MAP),
            "rules": rules_text(self.rules),
        }
        if isinstance(start, str) and start.startswith("warzone "):
            start = position_from_text(start)
        self.map = _map_of(map, start)
        self.layout = layout_for(self.map)
        self.dtype = state_dtype(self.layout)
        self.move_length = self.layout.move_length
        if type(candidates) is not int or not 1 <= candidates <= 10_000:
            raise ValueError(f"candidates={candidates!r}: valid are whole numbers from 1 to 10000")
        self.max_moves = candidates
        self.gene_length = len(self.map.territories) + 2 * len(self.map.edges)
        self.source = make_source(self.map, start)
        self._bare = self.map.bare()
        nobody = (0,) * len(self.map.territories)
        self._empty = pack(Position(self.map, self.rules, nobody, nobody), self.layout)

    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        states[:] = self._empty
        self.source.fill(states, seeds)
        judge_new(states)

    # Positions and text

    def position(self, state: State) -> Position:
        """The state in plain Python, with the names and places of its map if that is known."""
        position = unpack(_record(state))
        return replace(position, map=self._named(position.map))

    def from_position(self, position: Position) -> np.void:
        """The state of a position, under the position's own rules; an impossible one raises with the reason."""
        for fault in position_faults(position):
            raise ValueError(f"impossible position: {fault.where}: {fault.text}")
        needed = layout_for(position.map)
        if any(n > most for n, most in zip(needed, self.layout, strict=True)):
            raise ValueError(
                f"this position's map needs more room ({_sizes(needed)}) than the records of this game have "
                f"({_sizes(self.layout)}): make a game with map=position.map"
            )
        states = pack(position, self.layout)
        judge_new(states)
        return states[0]

    def to_text(self, state: State) -> Any:
        if np.ndim(state) == 0:
            return position_to_text(unpack(_record(state)))
        return [position_to_text(unpack(record)) for record in as_states(state)]

    def from_text(self, text: str | Sequence[str]) -> Any:
        if isinstance(text, str):
            return self.from_position(position_from_text(text))
        return np.array([self.from_text(line) for line in text], self.dtype)

    def _named(self, bare: Map) -> Map:
        """The map with this graph and these bonuses: the game's own, one of this project's, or one without names."""
        return self.map if self._bare == bare else _known_maps().get(bare, bare)

    # Moves

    def moves(self, state: State, n: int | None = None, seed: int | None = None) -> np.ndarray:
        """Up to n different random moves of one state (m, move_length) int16: candidates, for nobody can list all.

        n: the game's `candidates` if not given. Without a seed they are always the same for the same board, turn
        and player.
        """
        states = self._own(one(state))
        out = np.empty((self.max_moves if n is None else n, self.move_length), np.int16)
        count = moves_of(states, out) if seed is None else candidates_of(states, seeds_from(seed, 1)[0], out)
        return out[:count].copy()

    def random_games(self, states: np.ndarray, seed: int | None = None, plies: int = 100_000) -> np.ndarray:
        return super().random_games(self._own(as_states(states)), seed, plies)

    def _rows(self, move: Any, states: np.ndarray, single: bool) -> np.ndarray | None:
        return super()._rows(move, self._own(states), single)

    def _own(self, states: np.ndarray) -> np.ndarray:
        """The states, if they are of this game's class of maps: moves are longer on larger maps."""
        if states.dtype != self.dtype:
            raise ValueError("these states are of a game on a map of another size")
        return states

    def encode(self, state: State, orders: Iterable[Sequence[int]]) -> np.ndarray:
        """The move (move_length,) int16 of the player to move with these orders (source, destination, armies), deploys
        (source and destination the same) first. Illegal orders raise with the reason."""
        record = _record(state)
        told = [_order(order) for order in orders]
        # Telling why takes longer than asking the engine whether.
        if len(told) <= self.layout.orders and all(map(_fits_a_row, told)):
            row = pack_orders(told, self.layout)
            if self.legal(record, row):
                return row
        raise ValueError(self._fault(record, told))

    def decode(self, state: State, move: np.ndarray) -> list[Order]:
        """The orders (source, destination, armies) of a move."""
        row = np.asarray(move)
        if row.shape != (self.move_length,) or row.dtype.kind not in "iu" or not 0 <= row[0] <= self.layout.orders:
            raise ValueError(self.why_illegal(state, move))
        return unpack_orders(row)

    def why_illegal(self, state: State, move: Any) -> str:
        row = np.asarray(move).reshape(-1)
        if row.dtype.kind not in "iu" or len(row) != self.move_length:
            return f"a move is {self.move_length} whole numbers (how many orders, two for each), got {move!r}"[:200]
        count = int(row[0])
        if not 0 <= count <= self.layout.orders:
            return f"{count} orders: a move on a map of this size has 0 to {self.layout.orders}"
        if (row[1 + 2 * count :] != 0).any():
            return f"numbers after the last of {count} orders: valid are zeros"
        codes, armies = row[1 : 1 + 2 * count : 2].tolist(), row[2 : 2 + 2 * count : 2].tolist()
        orders = [(code >> ORDER_SHIFT, code & ORDER_MASK, n) for code, n in zip(codes, armies, strict=True)]
        return self._fault(_record(state), orders) or "this move is legal"

    def _fault(self, record: np.void, orders: list[Order]) -> str | None:
        """Why these orders are no legal move, or None."""
        if self.done(record):
            return "the game is over: there are no moves"
        return orders_fault(unpack(record), self.player(record) + 1, orders, self.layout)

    def describe(self, state: State, move: np.ndarray) -> str:
        names = self.position(state).map.territories
        return f"{PLAYERS[self.player(state)]}: {orders_in_words(self.decode(state, move), names)}"

    # Turns

    def income(self, state: State, player: int) -> Any:
        """What a player (0 or 1, as `player` answers) may deploy in this turn."""
        if player not in (0, 1):
            raise ValueError(f"player={player!r}: valid are 0 (red) and 1 (blue)")
        states = as_states(state)
        out = np.empty(len(states), np.int64)
        income_each(states, player, out)
        return out[0].item() if np.ndim(state) == 0 else out

    def coin(self, state: State) -> int:
        """Whom this turn's coin will name, 1 or 2. The players do not know it."""
        return int(next_coin(one(state))) + 1

    def resolve(
        self,
        state: State,
        orders_1: Iterable[Sequence[int]],
        orders_2: Iterable[Sequence[int]],
        first: int | None = None,
    ) -> np.void:
        """The state after a turn with these orders of player 1 and player 2, as `encode` takes them.

        first: 1 or 2, whom the coin names; without it the state's own coin decides.
        """
        red, blue = self._both(state)
        rows = self.encode(red[0], orders_1)[None], self.encode(blue[0], orders_2)[None]
        resolve_each(red, *rows, np.array([_coin_side(first)]))
        return red[0]

    def _both(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """A turn's state (1,) before anybody has given orders, as the first and as the second player finds it."""
        red = self._own(one(state)).copy()
        if red["waiting"][0]:
            raise ValueError("one player has given orders already: `play` those of the other")
        blue = red.copy()
        red["leader"], blue["leader"] = 0, 1
        return red, blue

    def resolve_all(
        self, state: State, moves_1: np.ndarray, moves_2: np.ndarray, first: int | None = None
    ) -> np.ndarray:
        """The states (n, m) after a turn with each of moves_1 (n, length) against each of moves_2 (m, length).

        An illegal move raises with the reason. first: 1 or 2, or None for the state's own coin.
        """
        red, blue = self._both(state)
        rows_1, rows_2 = self._legal_rows(red, moves_1), self._legal_rows(blue, moves_2)
        out = np.empty((len(rows_1), len(rows_2)), self.dtype)
        resolve_pairs(red, rows_1, rows_2, _coin_side(first), out)
        return out

    def _legal_rows(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """The moves as rows (n, move_length) int16, all of them legal. states: (n,), or (1,) for all."""
        rows = np.atleast_2d(np.asarray(moves))
        if len(states) not in (1, len(rows)):
            raise ValueError(f"{len(states)} states and {len(rows)} moves: valid is one state, or as many")
        each = np.repeat(states, len(rows)) if len(states) == 1 else states
        allowed = self.legal(each, rows)
        if not allowed.all():
            wrong = int(np.flatnonzero(~allowed)[0])
            raise ValueError(self.why_illegal(each[wrong], rows[wrong]))
        return np.ascontiguousarray(rows, np.int16)

    # Genes

    def to_genes(self, state: State, move: np.ndarray) -> np.ndarray:
        """The genes (N + 2E,) int32 of a move, or (n, N + 2E) of moves (n, move_length) in one state or in n."""
        states = as_states(state)
        rows = self._legal_rows(states, move)
        genes = np.empty((len(rows), _genes_of(states)), np.int32)
        to_genes_each(states, rows, genes)
        return genes.reshape(*np.shape(move)[:-1], -1)

    def from_genes(self, state: State, genes: np.ndarray) -> np.ndarray:
        """The move (move_length,) int16 of genes (N + 2E,), or the moves (n, move_length) of (n, N + 2E).

        Genes that are no legal move raise with the reason; `repair` makes any numbers legal.
        """
        states = self._own(as_states(state))
        rows = self._gene_rows(states, genes)
        if (rows < 0).any() or (rows > MAX_ORDER).any():
            raise ValueError(f"genes are numbers from 0 to {MAX_ORDER}; `repair` makes any numbers legal")
        if (np.count_nonzero(rows, axis=1) > self.layout.orders).any():
            raise ValueError(f"at most {self.layout.orders} genes may be above 0; `repair` makes any numbers legal")
        moves = np.empty((len(rows), self.move_length), np.int16)
        from_genes_each(states, rows, moves)
        return self._legal_rows(states, moves).reshape(*np.shape(genes)[:-1], -1)

    def repair(self, state: State, genes: np.ndarray) -> np.ndarray:
        """Genes (N + 2E,) or (n, N + 2E) int32 that are a legal move, made from any whole numbers (see genes.repair).

        They deploy the whole income and send no more than is there; genes that do so already stay as they are. The same
        genes in the same state are always repaired alike.
        """
        states = self._own(as_states(state))
        rows = self._gene_rows(states, genes)
        repair_each(states, rows, self.layout.orders)
        return rows.reshape(np.shape(genes))

    def _gene_rows(self, states: np.ndarray, genes: np.ndarray) -> np.ndarray:
        rows = np.atleast_2d(np.asarray(genes))
        length = _genes_of(states)
        if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] != length:
            given = f"{rows.dtype} of shape {np.shape(genes)}"
            raise ValueError(f"genes are {length} whole numbers on this map, got {given}")
        if len(states) not in (1, len(rows)):
            raise ValueError(f"{len(states)} states and {len(rows)} rows of genes: valid is one state, or as many")
        return np.clip(rows, _GENE_RANGE.min, _GENE_RANGE.max).astype(np.int32)

    # Pictures and records

    def last_moves(self, move: tuple[State, np.ndarray] | None) -> tuple[LastMove | None, LastMove | None]:
        """What drawings show of a move, given with the state before it: the move, and what the other player had ordered
        in the same turn, if the state had these orders already."""
        if move is None:
            return None, None
        record, player = _record(move[0]), self.player(move[0])
        pending = LastMove(1 - player, tuple(unpack_orders(record["pending"]))) if record["waiting"] else None
        return LastMove(player, tuple(self.decode(*move))), pending

    def ansi(self, state: State, move: tuple[State, np.ndarray] | None = None, color: bool = False) -> str:
        return to_ansi(self.position(state), *self.last_moves(move), color=color)

    def picture(self, state: State, move: tuple[State, np.ndarray] | None = None) -> np.ndarray:
        return draw(self.position(state), *self.last_moves(move))

    def record(self, states: list[Any], moves: list[np.ndarray], names: tuple[str, str], date: str) -> str:
        turns: list[RecordedTurn] = []
        for state, move in zip(states, moves, strict=True):
            record, orders = _record(state), tuple(self.decode(state, move))
            if not record["waiting"]:
                turns.append(RecordedTurn(int(record["turn"]), orders))
            else:
                red = tuple(unpack_orders(record["pending"]))
                done = RecordedTurn(int(record["turn"]), red, orders, self.coin(record) - 1)
                turns = [*turns[:-1], done] if turns else [done]
        if not states:
            raise ValueError("a game without a move has no record")
        return format_record(Record(unpack(_record(states[0])), date, *names, tuple(turns)))

    def replay(self, record: Record) -> tuple[list[np.void], list[np.ndarray]]:
        """The states and moves of a record, from its start and under its rules: one state more than moves. What the
        record tells and the rules forbid raises."""
        states: list[np.void] = [self.from_position(record.start)]
        moves: list[np.ndarray] = []
        for turn in record.turns:
            if turn.turn != states[-1]["turn"]:
                raise ValueError(f"turn {turn.turn} of the record follows turn {states[-1]['turn']}")
            given = () if states[-1]["waiting"] else (turn.red,)
            for orders in (*given, *(() if turn.blue is None else (turn.blue,))):
                moves.append(self.encode(states[-1], orders))
                states.append(self.play(states[-1], moves[-1]))
        return states, moves


@lru_cache
def _known_maps() -> dict[Map, Map]:
    """The maps of this project by their graphs and bonuses."""
    return {map_.bare(): map_ for map_ in map(find_map, map_files())}


def _map_of(map_: str | Path | Map | None, start: str | Position) -> Map:
    """The map of a game: the one that is named, which a position to start from must be on; else that position's."""
    if not isinstance(start, Position):
        return find_map(_DEFAULT_MAP if map_ is None else map_)
    for fault in position_faults(start):
        raise ValueError(f"start: impossible position: {_told(fault)}")
    if start.pending is not None or start.leader:
        raise ValueError("start: a game begins before anybody has given orders, and red orders first")
    found = _known_maps().get(start.map.bare(), start.map) if map_ is None else find_map(map_)
    if found.bare() != start.map.bare():
        raise ValueError("start: this position is on another map than map= names")
    return found


def _told(fault: Fault) -> str:
    return f"{fault.where}: {fault.text}"


def _sizes(layout: Sequence[int]) -> str:
    return "{} territories, {} edges, {} bonuses".format(*layout)


def _genes_of(states: np.ndarray) -> int:
    """N + 2E of the one map that all these states (n,) are on."""
    counts = np.unique(states["territories"].astype(int) + 2 * states["edges"])
    if len(counts) != 1:
        raise ValueError("genes of states on different maps have different lengths: valid are states on one map")
    return int(counts[0])


def _coin_side(first: int | None) -> int:
    if first not in (None, 1, 2):
        raise ValueError(f"first={first!r}: valid are 1 and 2, or None for the coin")
    return -1 if first is None else first - 1


def _order(order: Sequence[int]) -> Any:
    """The order as a tuple of plain numbers where it is one; what it is not, the check will say."""
    try:
        return tuple(value.item() if isinstance(value, np.integer) else value for value in order)
    except TypeError:
        return order


def _fits_a_row(order: Any) -> bool:
    """Whether the order can be written as two numbers of a row."""
    if not isinstance(order, tuple) or len(order) != 3 or any(type(value) is not int for value in order):
        return False
    return 0 <= order[0] <= ORDER_MASK and 0 <= order[1] <= ORDER_MASK and 0 <= order[2] <= MAX_ORDER


def _record(state: State) -> np.void:
    return np.asarray(state).reshape(1)[0]
