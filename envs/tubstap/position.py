"""A map and a position in plain Python: what text formats, drawing and people use.

The engine's records (state.py) are packed from these and unpacked into these.
Coordinates are those of map files everywhere: x to the right, y down, counted with the border of forbidden
cells, so that the first cell inside is (1, 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.tables import RED


@dataclass(frozen=True)
class Unit:
    """One unit. Its id is its index in the map's list of units, and stays so after others have died."""

    x: int
    y: int
    kind: int
    team: int
    hp: float
    acted: bool = False


@dataclass(frozen=True)
class Map:
    """A map as its file tells it. terrain[y][x] is without the border: terrain[0][0] is the cell (1, 1)."""

    terrain: tuple[tuple[int, ...], ...]
    units: tuple[Unit, ...]
    turn_limit: int
    hp_threshold: int
    author: str = ""
    comment: str = ""

    @property
    def width(self) -> int:
        return len(self.terrain[0])

    @property
    def height(self) -> int:
        return len(self.terrain)


@dataclass(frozen=True)
class Position:
    """A game at one moment. The map's units are as they stand now; a dead one stays in the list with HP 0
    (its x and y are then 0)."""

    map: Map
    rules: Rules
    turn: int = 0
    quiet: int = 0
    """How many whole turns have passed since HP were last lost."""
    hurt: bool = False
    """Whether HP were lost in the turn being played."""

    @property
    def mover(self) -> int:
        return RED if self.turn % 2 == 0 else 1 - RED
