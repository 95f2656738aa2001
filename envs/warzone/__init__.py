"""Warzone. Nothing is loaded before it is used, so that registering the environments costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandtable.envs.warzone.aec import env as env
    from sandtable.envs.warzone.aec import raw_env as raw_env
    from sandtable.envs.warzone.game import Warzone as Warzone
    from sandtable.envs.warzone.maps import MapError as MapError
    from sandtable.envs.warzone.maps import format_map as format_map
    from sandtable.envs.warzone.maps import load_map as load_map
    from sandtable.envs.warzone.maps import parse_map as parse_map
    from sandtable.envs.warzone.maps import save_map as save_map
    from sandtable.envs.warzone.notation import NotationError as NotationError
    from sandtable.envs.warzone.parallel import parallel_env as parallel_env
    from sandtable.envs.warzone.position import Bonus as Bonus
    from sandtable.envs.warzone.position import Map as Map
    from sandtable.envs.warzone.position import Position as Position
    from sandtable.envs.warzone.position import Start as Start
    from sandtable.envs.warzone.records import RecordError as RecordError
    from sandtable.envs.warzone.records import load_record as load_record
    from sandtable.envs.warzone.records import parse_record as parse_record
    from sandtable.envs.warzone.rulesets import RULESETS as RULESETS
    from sandtable.envs.warzone.rulesets import Rules as Rules
    from sandtable.envs.warzone.sources import source_names as source_names

_LATE = {
    "aec": ("env", "raw_env"),
    "game": ("Warzone",),
    "maps": ("MapError", "format_map", "load_map", "parse_map", "save_map"),
    "notation": ("NotationError",),
    "parallel": ("parallel_env",),
    "position": ("Bonus", "Map", "Position", "Start"),
    "records": ("RecordError", "load_record", "parse_record"),
    "rulesets": ("RULESETS", "Rules"),
    "sources": ("source_names",),
}
_HOME = {name: module for module, names in _LATE.items() for name in names}

__all__ = [
    "RULESETS",
    "Bonus",
    "Map",
    "MapError",
    "NotationError",
    "Position",
    "RecordError",
    "Rules",
    "Start",
    "Warzone",
    "env",
    "format_map",
    "load_map",
    "load_record",
    "parallel_env",
    "parse_map",
    "parse_record",
    "raw_env",
    "save_map",
    "source_names",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
