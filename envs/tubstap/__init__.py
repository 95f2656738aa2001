"""TUBSTAP. Nothing is loaded before it is used, so that registering the environments costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandtable.envs.tubstap.aec import env as env
    from sandtable.envs.tubstap.aec import raw_env as raw_env
    from sandtable.envs.tubstap.game import Tubstap as Tubstap
    from sandtable.envs.tubstap.maps import MapError as MapError
    from sandtable.envs.tubstap.maps import format_map as format_map
    from sandtable.envs.tubstap.maps import load_map as load_map
    from sandtable.envs.tubstap.maps import parse_map as parse_map
    from sandtable.envs.tubstap.maps import save_map as save_map
    from sandtable.envs.tubstap.notation import NotationError as NotationError
    from sandtable.envs.tubstap.position import Map as Map
    from sandtable.envs.tubstap.position import Position as Position
    from sandtable.envs.tubstap.position import Unit as Unit
    from sandtable.envs.tubstap.records import format_record as format_record
    from sandtable.envs.tubstap.records import load_record as load_record
    from sandtable.envs.tubstap.records import parse_record as parse_record
    from sandtable.envs.tubstap.records import save_record as save_record
    from sandtable.envs.tubstap.rulesets import RULESETS as RULESETS
    from sandtable.envs.tubstap.rulesets import Rules as Rules
    from sandtable.envs.tubstap.sources import source_names as source_names

_LATE = {
    "aec": ("env", "raw_env"),
    "game": ("Tubstap",),
    "maps": ("MapError", "format_map", "load_map", "parse_map", "save_map"),
    "notation": ("NotationError",),
    "position": ("Map", "Position", "Unit"),
    "records": ("format_record", "load_record", "parse_record", "save_record"),
    "rulesets": ("RULESETS", "Rules"),
    "sources": ("source_names",),
}
_HOME = {name: module for module, names in _LATE.items() for name in names}

__all__ = [
    "RULESETS",
    "Map",
    "MapError",
    "NotationError",
    "Position",
    "Rules",
    "Tubstap",
    "Unit",
    "env",
    "format_map",
    "format_record",
    "load_map",
    "load_record",
    "parse_map",
    "parse_record",
    "raw_env",
    "save_map",
    "save_record",
    "source_names",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
