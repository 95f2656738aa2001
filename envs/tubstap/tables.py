"""The numbers of TUBSTAP's rules, each standing here once: units, terrain, attack powers.

Plain tuples and numpy arrays, without numba, so that text formats and drawing can use them cheaply.
Source: the official platform, version 0.108.
"""

from __future__ import annotations

import numpy as np

RED, BLUE = 0, 1
TEAMS = ("red", "blue")

FIGHTER, ATTACKER, PANZER, CANNON, ANTIAIR, INFANTRY = range(6)
UNIT_NAMES = ("fighter", "attacker", "panzer", "cannon", "antiair", "infantry")
UNIT_LETTERS = "FAPURI"
MOBILITY = (9, 7, 6, 5, 6, 3)
CANNON_RANGE = (2, 3)  # Manhattan, both ends included; everybody else reaches 1
MAX_HP = 10

AIR, VEHICLE, FOOT = range(3)
UNIT_CLASS = (AIR, AIR, VEHICLE, VEHICLE, VEHICLE, FOOT)

# POWER[attacker][target]: 0 means that it cannot hurt.
POWER = np.array(
    [
        [55, 65, 0, 0, 0, 0],
        [0, 0, 105, 105, 85, 115],
        [0, 0, 55, 70, 75, 75],
        [0, 0, 60, 75, 65, 90],
        [70, 70, 15, 50, 45, 105],
        [0, 0, 5, 10, 3, 55],
    ],
    np.int16,
)

FORBIDDEN, PLAIN, SEA, FOREST, MOUNTAIN, ROAD, FORTRESS = range(7)
TERRAIN_NAMES = ("forbidden", "plain", "sea", "forest", "mountain", "road", "fortress")
STARS = (0, 1, 0, 3, 4, 0, 4)  # for ground units; air units always have 0

# ENTRY_COST[terrain][unit class]; 0 means that it cannot enter.
ENTRY_COST = ((0, 0, 0), (1, 1, 1), (1, 0, 0), (1, 2, 1), (1, 0, 2), (1, 1, 1), (1, 1, 1))

MAX_SIDE = 20  # cells along one edge of a map, the border of map files not counted
MAX_UNITS = 16  # of one team
MAX_TURN = 30_000  # then any game is a draw, whatever the rules say
MAX_THRESHOLD = 1_000
