"""Draws the pictures of the documentation: python docs/make_pictures.py"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sandtable.envs.tubstap.maps import check_map, load_map
from sandtable.envs.tubstap.position import Map, Position
from sandtable.envs.tubstap.render import LastMove, draw
from sandtable.envs.tubstap.rulesets import make_rules
from sandtable.envs.tubstap.sources import map_files
from sandtable.envs.tubstap.tables import RED
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.position import Position as WarzonePosition
from sandtable.envs.window import save_png

PICTURES = Path(__file__).parent / "pictures"

# Where the units of the map crossroads stand in the middle of a game: x, y, HP, acted.
CROSSROADS = (
    *((9, 4, 7, False), (5, 3, 6, False), (4, 7, 6, True), (7, 6, 9, True)),
    *((5, 5, 10, True), (8, 4, 8, False), (6, 6, 8, False), (4, 4, 10, False)),
    *((11, 8, 5, False), (10, 10, 6, False), (10, 6, 8, False), (6, 8, 7, False)),
    *((8, 9, 10, False), (8, 8, 9, False), (7, 7, 3, False), (3, 9, 7, False)),
)


def tubstap() -> None:
    """A red tank has come down the road and hit the infantry that holds the crossing."""
    start = load_map(map_files()["crossroads"])
    position = Position(_moved(start), make_rules("official"), turn=10)
    save_png(draw(position, LastMove(7, 3, 7, 6, 7, 7, RED)), PICTURES / "tubstap.png")


def _moved(start: Map) -> Map:
    units = zip(start.units, CROSSROADS, strict=True)
    now = tuple(replace(unit, x=x, y=y, hp=hp, acted=acted) for unit, (x, y, hp, acted) in units)
    return check_map(replace(start, units=now))


# The middle of a game on Italy, red in the north and blue in the south, and a turn from there.
ITALY_ARMIES = (3, 2, 0, 1, 6, 5, 2, 0, 4, 7, 1, 5, 2, 3, 6, 1, 0, 4, 2, 3)
ITALY_OWNER = (1, 1, 0, 1, 1, 1, 0, 1, 1, 2, 0, 2, 2, 2, 2, 2, 0, 2, 2, 1)
RED_ORDERS = ((4, 4, 6), (8, 8, 3), (4, 9, 12), (5, 11, 5), (3, 4, 1), (8, 19, 3))
BLUE_ORDERS = ((9, 9, 4), (14, 14, 3), (9, 5, 7), (12, 9, 2), (14, 11, 6), (18, 19, 2))


def warzone() -> None:
    """Red has gone south on both coasts while blue went north."""
    game = Warzone(map="italy")
    state = game.from_position(WarzonePosition(game.map, game.rules, ITALY_ARMIES, ITALY_OWNER, turn=11))
    middle = game.play(state, game.encode(state, RED_ORDERS))
    blue = game.encode(middle, BLUE_ORDERS)
    save_png(game.picture(game.play(middle, blue), (middle, blue)), PICTURES / "warzone.png")


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    tubstap()
    warzone()
