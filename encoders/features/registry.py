"""Encoders by name."""

from __future__ import annotations

from importlib import import_module

from sandtable.encoders.features.encoder import Encoder
from sandtable.envs.game import Game
from sandtable.names import unknown_name

_HERE = "sandtable.encoders.features"
ENCODERS: dict[str, dict[str, str]] = {
    "tubstap": {
        "kimura-planes": f"{_HERE}.kimura:KimuraPlanes",
        "li-image": f"{_HERE}.li:LiImage",
        "li-matrices": f"{_HERE}.li:LiMatrices",
        "takahashi-graph": f"{_HERE}.takahashi:TakahashiGraph",
        "takahashi-image": f"{_HERE}.takahashi:TakahashiImage",
        "tubstap-units": f"{_HERE}.units:TubstapUnits",
    },
    "warzone": {
        "soares-graph": f"{_HERE}.soares:SoaresGraph",
        "warzone-graph": f"{_HERE}.warzone:WarzoneGraph",
        "warzone-image": f"{_HERE}.warzone:WarzoneImage",
    },
}
"""The encoders of each game."""


def encoder_names(game_name: str | None = None) -> list[str]:
    """Every name that make_encoder knows, or those that see the game of this name."""
    if game_name is None:
        return sorted(name for encoders in ENCODERS.values() for name in encoders)
    if game_name not in ENCODERS:
        raise ValueError(unknown_name("game", game_name, ENCODERS))
    return sorted(ENCODERS[game_name])


def make_encoder(name: str, game: Game) -> Encoder:
    """An encoder by name, for the states of a game: make_encoder("li-matrices", game).

    An unknown name is answered with the nearest valid one, and a game that it cannot see with the reason.
    """
    places = {encoder: place for encoders in ENCODERS.values() for encoder, place in encoders.items()}
    if name not in places:
        raise ValueError(unknown_name("encoder", name, places))
    module, attribute = places[name].split(":")
    return getattr(import_module(module), attribute)(game)
