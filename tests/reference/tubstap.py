"""TUBSTAP in plain Python, written from the rules alone: the oracle that the engine is compared with.

Nothing here is fast or clever, on purpose. It shares only the tables of the rules with the engine.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.rulesets import NO_LIMIT, Rules
from sandtable.envs.tubstap.tables import (
    AIR,
    ANTIAIR,
    BLUE,
    CANNON,
    CANNON_RANGE,
    ENTRY_COST,
    FORBIDDEN,
    INFANTRY,
    MOBILITY,
    POWER,
    RED,
    STARS,
    UNIT_CLASS,
)

Cell = tuple[int, int]
Action = tuple[int, int, int, int]
"""(unit id, x, y, target id or -1)"""
NO_TARGET = -1
ROUNDING = 1e-9
"""Sums of real HP that differ by less are equal: the order of adding must not decide a game."""


@dataclass
class Piece:
    """A unit in play. A dead one keeps its place in the list of units with HP 0, on the cell (0, 0)."""

    id: int
    x: int
    y: int
    kind: int
    team: int
    hp: float
    acted: bool

    @property
    def cell(self) -> Cell:
        return self.x, self.y


class Reference:
    """One game, changed in place by `play`."""

    def __init__(self, map: Map, rules: Rules, turn: int = 0, quiet: int = 0, hurt: bool = False) -> None:
        self.map = map
        self.rules = rules
        self.turn = turn
        self.quiet = quiet
        self.hurt = hurt
        self.units = [Piece(i, u.x, u.y, u.kind, u.team, u.hp, u.acted) for i, u in enumerate(map.units)]
        self._skip_idle_turns()

    @classmethod
    def at(cls, position: Position) -> Reference:
        """The game that goes on from `position`."""
        return cls(position.map, position.rules, position.turn, position.quiet, position.hurt)

    def copy(self) -> Reference:
        return Reference.at(self.position())

    def position(self) -> Position:
        units = tuple(Unit(u.x, u.y, u.kind, u.team, u.hp, u.acted) for u in self.units)
        return Position(replace(self.map, units=units), self.rules, self.turn, self.quiet, self.hurt)

    def player(self) -> int:
        return RED if self.turn % 2 == 0 else BLUE

    def alive(self, team: int) -> list[Piece]:
        return [u for u in self.units if u.team == team and u.hp > 0]

    # The end of the game

    def done(self) -> bool:
        return self._wiped_out() or self._at_limit() or self._quiet_too_long()

    def outcome(self) -> float:
        """+1 RED has won, -1 BLUE has won, 0 a draw or not over."""
        if self._wiped_out():
            return bool(self.alive(RED)) - bool(self.alive(BLUE))
        if self._at_limit() and self.rules.limit_means == "hp":
            threshold = self._option("hp_threshold")
            red, blue = (sum(u.hp for u in self.alive(team)) for team in (RED, BLUE))
            return (red - blue > threshold + ROUNDING) - (blue - red > threshold + ROUNDING)
        return 0

    def _wiped_out(self) -> bool:
        return not self.alive(RED) or not self.alive(BLUE)

    def _at_limit(self) -> bool:
        limit = self._option("turn_limit")
        return limit != NO_LIMIT and self.turn >= limit

    def _quiet_too_long(self) -> bool:
        return self.rules.quiet_turns > 0 and self.quiet >= self.rules.quiet_turns

    def _option(self, name: str) -> int:
        """A number that the rules either give or leave to the map."""
        value = getattr(self.rules, name)
        return getattr(self.map, name) if value == "map" else value

    # Legal moves

    def legal(self) -> set[Action]:
        if self.done():
            return set()
        return {move for u in self._waiting() for move in self._moves_of(u)}

    def _waiting(self) -> list[Piece]:
        return [u for u in self.alive(self.player()) if not u.acted]

    def _moves_of(self, unit: Piece) -> list[Action]:
        moves = []
        for x, y in self._destinations(unit):
            moves.append((unit.id, x, y, NO_TARGET))
            moves += [(unit.id, x, y, enemy.id) for enemy in self._targets(unit, (x, y))]
        return moves

    def _destinations(self, unit: Piece) -> list[Cell]:
        """Where the unit can end its move: every cell within its mobility that nobody else stands on."""
        occupant = {u.cell: u for u in self.units if u.hp > 0}
        cost = {unit.cell: 0}
        queue = [(0, unit.cell)]
        while queue:
            paid, (x, y) = heapq.heappop(queue)
            for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                entry = ENTRY_COST[self._terrain(cell)][UNIT_CLASS[unit.kind]]
                if entry == 0 or (cell in occupant and occupant[cell].team != unit.team):
                    continue
                total = paid + entry
                if total <= self._mobility(unit) and total < cost.get(cell, math.inf):
                    cost[cell] = total
                    heapq.heappush(queue, (total, cell))
        return [cell for cell in cost if cell == unit.cell or cell not in occupant]

    def _targets(self, unit: Piece, cell: Cell) -> list[Piece]:
        """The enemies that the unit may attack from `cell`."""
        if unit.kind == CANNON and cell != unit.cell:
            return []
        nearest, furthest = CANNON_RANGE if unit.kind == CANNON else (1, 1)
        return [
            enemy
            for enemy in self.alive(1 - unit.team)
            if nearest <= abs(enemy.x - cell[0]) + abs(enemy.y - cell[1]) <= furthest
            and (self._power(unit, enemy) > 0 or self.rules.ineffective_attacks)
        ]

    def _mobility(self, unit: Piece) -> int:
        return self.rules.cannon_mobility if unit.kind == CANNON else MOBILITY[unit.kind]

    def _terrain(self, cell: Cell) -> int:
        x, y = cell
        inside = 1 <= x <= self.map.width and 1 <= y <= self.map.height
        return self.map.terrain[y - 1][x - 1] if inside else FORBIDDEN

    # Playing a move

    def play(self, unit: int, x: int, y: int, target: int = NO_TARGET) -> tuple[float, float]:
        """Play one of the legal moves; answers the damage of the attack and of the counter-attack."""
        mover = self.units[unit]
        mover.x, mover.y, mover.acted = x, y, True
        damage, counter = (0, 0) if target == NO_TARGET else self._fight(mover, self.units[target])
        self.hurt = self.hurt or damage > 0 or counter > 0
        if self._wiped_out():
            self._end_turn()  # at once, though others of the mover's units may not have acted
        self._skip_idle_turns()
        return damage, counter

    def _fight(self, attacker: Piece, target: Piece) -> tuple[float, float]:
        damage = self._damage(attacker, target)
        counter = 0.0
        survives = target.hp - damage > 0
        if survives and CANNON not in (attacker.kind, target.kind):
            counter = self._damage(replace(target, hp=target.hp - damage), attacker)
        for unit, loss in ((target, damage), (attacker, counter)):
            unit.hp -= loss
            if unit.hp <= 0:
                unit.x, unit.y, unit.hp, unit.acted = 0, 0, 0, False
        return damage, counter

    def _damage(self, attacker: Piece, target: Piece) -> float:
        power = self._power(attacker, target)
        if power == 0:
            return 0
        stars = 0 if UNIT_CLASS[target.kind] == AIR else STARS[self._terrain(target.cell)]
        damage = (power * attacker.hp + 70) / (100 + stars * target.hp)
        return min(target.hp, math.floor(damage) if self.rules.hp == "integer" else damage)

    def _power(self, attacker: Piece, target: Piece) -> int:
        if (attacker.kind, target.kind) == (ANTIAIR, INFANTRY):
            return self.rules.antiair_infantry
        return int(POWER[attacker.kind][target.kind])

    # The end of a turn

    def _skip_idle_turns(self) -> None:
        """A turn is over when none of the mover's units can act any more, which may be so from its start."""
        while not self.done() and not self._waiting():
            self._end_turn()

    def _end_turn(self) -> None:
        for unit in self.alive(self.player()):
            unit.acted = False
        self.quiet = 0 if self.hurt else self.quiet + 1
        self.hurt = False
        self.turn += 1
