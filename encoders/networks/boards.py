"""Networks whose weights are made for a size of the board."""

from __future__ import annotations

from typing import Any

from sandtable.encoders.networks.network import Network


def board_of(game: Any) -> dict[str, Any]:
    """The options of a network whose weights are made for the game's board."""
    return {"width": game.width, "height": game.height}


def check_board(network: Network, game: Any) -> None:
    """A ValueError if the game's board is not the one that the network was built for."""
    width, height = network.options["width"], network.options["height"]
    if (game.width, game.height) != (width, height):
        raise ValueError(
            f"the game's board has {game.width}x{game.height} cells, and this network {network.name!r} was built for "
            f"{width}x{height}: make it with width={game.width}, height={game.height}"
        )
