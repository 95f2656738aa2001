"""sandtable: turn-based strategy games as Gymnasium and PettingZoo environments on a fast engine.

Importing it registers the environments' ids and loads neither numba nor torch; what needs them is loaded at
its first use.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtable.version import __version__

# Where git wrote the symlinks to the folders as plain files (Windows), find the folders beside this one.
if not (Path(__file__).parent / "envs").is_dir():
    __path__.append(str(Path(__file__).parent.parent))

from sandtable.registration import register_environments

if TYPE_CHECKING:
    from sandtable.agents.registry import make_agent as make_agent
    from sandtable.encoders.features.registry import make_encoder as make_encoder
    from sandtable.encoders.networks.files import load_network as load_network
    from sandtable.encoders.networks.registry import make_network as make_network
    from sandtable.envs import tubstap as tubstap
    from sandtable.envs import warzone as warzone
    from sandtable.envs.games import make_game as make_game

__all__ = [
    "__version__",
    "load_network",
    "make_agent",
    "make_encoder",
    "make_game",
    "make_network",
    "tubstap",
    "warzone",
]

_LATE = {
    "load_network": ("sandtable.encoders.networks.files", "load_network"),
    "make_agent": ("sandtable.agents.registry", "make_agent"),
    "make_encoder": ("sandtable.encoders.features.registry", "make_encoder"),
    "make_game": ("sandtable.envs.games", "make_game"),
    "make_network": ("sandtable.encoders.networks.registry", "make_network"),
    "tubstap": ("sandtable.envs.tubstap", None),
    "warzone": ("sandtable.envs.warzone", None),
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'sandtable' has no attribute {name!r}; it has {', '.join(__all__)}")
    module, attribute = _LATE[name]
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATE])


register_environments()
