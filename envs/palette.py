"""The colours that the pictures of all games share."""

from __future__ import annotations

from sandtable.envs.window import Colour

# Vermilion and blue stay apart for every kind of colour blindness; the tokens' shapes differ too.
TEAM_COLOURS: tuple[Colour, Colour] = ((206, 64, 44), (38, 98, 178))
WHITE: Colour = (255, 255, 255)
INK: Colour = (28, 32, 40)
FRAME: Colour = (36, 41, 51)
LABEL: Colour = (158, 166, 178)
