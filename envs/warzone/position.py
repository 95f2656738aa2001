"""A map and a position in plain Python: what text formats, drawing and people use.

The engine's records (state.py) are packed from these and unpacked into these. Territories are numbered from 0 in the
order of the map; owners are 0 (nobody), 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.envs.warzone.rulesets import Rules

NEUTRAL, FIRST, SECOND = range(3)
PLAYERS = ("red", "blue")
"""The players' names; red is player 1."""

Order = tuple[int, int, int]
"""(source, destination, armies); source and destination are the same in a deploy."""
Place = tuple[float, float]


@dataclass(frozen=True)
class Bonus:
    """What a player earns every turn who holds all these territories."""

    territories: tuple[int, ...]
    """Ascending."""
    value: int
    name: str = ""


@dataclass(frozen=True)
class Start:
    """How a game begins: the armies and the owner of every territory."""

    armies: tuple[int, ...]
    owner: tuple[int, ...]


@dataclass(frozen=True)
class Map:
    """Territories, an undirected graph over them, and bonuses."""

    territories: tuple[str, ...]
    """Their names."""
    edges: tuple[tuple[int, int], ...]
    """Ascending, the smaller number first."""
    bonuses: tuple[Bonus, ...] = ()
    places: tuple[Place, ...] = ()
    """Where a drawing puts each territory, x to the right and y down, from 0 to 1; or none at all."""
    title: str = ""
    start: Start | None = None

    def bare(self) -> Map:
        """The same graph and bonuses without names, places and start: all that the rules need."""
        names = tuple(str(i) for i in range(len(self.territories)))
        return Map(names, self.edges, tuple(Bonus(bonus.territories, bonus.value) for bonus in self.bonuses))

    def neighbours(self, territory: int) -> list[int]:
        """The territories next to one, ascending."""
        return sorted(a + b - territory for a, b in self.edges if territory in (a, b))


@dataclass(frozen=True)
class Position:
    """A game at one moment."""

    map: Map
    rules: Rules
    armies: tuple[int, ...]
    owner: tuple[int, ...]
    turn: int = 0
    coin: int = 0
    """The 64-bit word from which the coins of this and all later turns follow."""
    pending: tuple[Order, ...] | None = None
    """The leader's orders for this turn, if they are given already."""
    leader: int = 0
    """Who orders first, 0 or 1: in games red always, in a player's thoughts the player."""
