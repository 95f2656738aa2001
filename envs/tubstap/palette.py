"""The colours that several parts of a picture share, beside those of all games."""

from __future__ import annotations

from sandtable.envs.window import Colour

ACTED: Colour = (128, 128, 128)
ATTACK: Colour = (255, 193, 40)
HEALTH: Colour = (120, 220, 110)
