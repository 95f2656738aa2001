"""Networks by name."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from sandtable.names import unknown_name

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network
    from sandtable.envs.game import Game

_HERE = "sandtable.encoders.networks"
NETWORKS: dict[str, str] = {
    "cnn-g": f"{_HERE}.li:CnnG",
    "cnn-i": f"{_HERE}.li:CnnI",
    "gcn32": f"{_HERE}.li:Gcn32",
    "gcn4": f"{_HERE}.li:Gcn4",
    "kimura": f"{_HERE}.kimura:Kimura",
    "soares": f"{_HERE}.soares:Soares",
    "takahashi-a": f"{_HERE}.takahashi:TakahashiA",
    "takahashi-b": f"{_HERE}.takahashi:TakahashiB",
    "takahashi-c": f"{_HERE}.takahashi:TakahashiC",
    "takahashi-cnn": f"{_HERE}.takahashi:TakahashiCnn",
    "takahashi-gcn": f"{_HERE}.takahashi:TakahashiGcn",
    "units": f"{_HERE}.units:Units",
}
"""Where each network's class is."""


def network_names() -> list[str]:
    """Every name that make_network knows."""
    return sorted(NETWORKS)


def network_class(name: str) -> type[Network]:
    """The class of the networks of this name."""
    if name not in NETWORKS:
        raise ValueError(unknown_name("network", name, NETWORKS))
    need(f"the network {name!r}", "torch")
    module, attribute = NETWORKS[name].split(":")
    return getattr(import_module(module), attribute)


def make_network(name: str, game: Game | None = None, **options: Any) -> Network:
    """A network by name, with fresh weights: make_network("kimura", blocks=4).

    game: what it is to play; sizes that the weights depend on then follow from it, unless they are given. Without a
    game they are the paper's. An unknown name or option is answered with the nearest valid one.
    """
    kind = network_class(name)
    valid = network_options(name)
    for option in options:
        if option not in valid:
            raise ValueError(unknown_name(f"option of the network {name!r}", option, valid))
    if game is not None:
        if game.name != kind.game:
            raise ValueError(f"the network {name!r} plays {kind.game}, not {game.name}")
        options = {**kind.options_for(game), **options}
    try:
        network = kind(**options)
    except ValueError as error:
        raise ValueError(f"network {name!r}: {error}") from None
    if game is not None:
        network.check(game)
    return network


def network_options(name: str) -> dict[str, Any]:
    """The options of the networks of this name, and their defaults."""
    parameters = signature(network_class(name)).parameters
    return {option: parameter.default for option, parameter in parameters.items()}


def need(what: str, *modules: str) -> None:
    """An ImportError that says what to install, if one of the modules is missing."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            raise ImportError(f"{what} needs {module}: pip install 'sandtable[learn]'") from error
