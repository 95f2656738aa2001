"""Games by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sandtable.envs.game import Game
from sandtable.names import unknown_name

GAMES = {
    "tubstap": "sandtable.envs.tubstap.game:Tubstap",
    "warzone": "sandtable.envs.warzone.game:Warzone",
}


def make_game(name: str, **options: Any) -> Game:
    """A game by name: make_game("tubstap", map="li-symmetric", rules="official", turn_limit=30)."""
    if name not in GAMES:
        raise ValueError(unknown_name("game", name, GAMES))
    module, attribute = GAMES[name].split(":")
    return getattr(import_module(module), attribute)(**options)
