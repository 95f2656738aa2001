"""What every environment of TUBSTAP is set up with."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.observation import Observer
from sandtable.envs.duel import ON_ILLEGAL, Duel
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import OPTIONS, Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.tables import TEAMS
from sandtable.names import unknown_name


class Table:
    """A game with its actions and observations, as every environment of TUBSTAP sets it up."""

    def __init__(
        self,
        n: int,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        **options: Any,
    ) -> None:
        _one_of("side", side, (*TEAMS, "random"))
        _one_of("on_illegal", on_illegal, ON_ILLEGAL)
        self.game = Tubstap(map=map, rules=rules, **options)
        self.codec = ActionCodec(self.game)
        self.observer = Observer(self.game, self.codec, observation)
        self.action_space = spaces.Discrete(self.codec.n)
        number = None if side == "random" else TEAMS.index(side)
        self.duel = Duel(self.game, self.codec, n, _make_opponent(opponent), number, on_illegal)


def refuse_unknown(options: dict[str, Any], environment: Callable[..., Any]) -> None:
    """Refuse names that are options neither of the environment, nor of the rules or a source of maps."""
    own = [name for name in signature(environment).parameters if name != "options"]
    valid = [*own, *OPTIONS]
    for name in options:
        if name not in valid:
            raise ValueError(unknown_name("option", name, valid))


def _one_of(name: str, value: Any, valid: tuple[Any, ...]) -> None:
    """Refuse an option's value that is none of the valid ones."""
    if value not in valid:
        raise ValueError(unknown_name(name, value, [str(v) for v in valid]))


def _make_opponent(opponent: Any) -> Any:
    if opponent is None:
        return None
    # The one late look-up: environments know nothing of agents but their registry.
    from sandtable.agents.registry import make_agent

    return make_agent(opponent)


def fitting_state(game: Tubstap, text: str) -> np.void:
    """The state of a position, which must fit the spaces of an environment of this game. It plays by its own rules."""
    state = game.from_text(text)
    game.require_fit(np.array([state]))
    if state.dtype != game.dtype:
        raise ValueError(f"the position's HP are not {game.rules.hp}, as the environment's are")
    return state
