"""What the environments of every game are set up with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

import numpy as np

from sandtable.encoders.features.observation import Observer
from sandtable.envs.duel import ON_ILLEGAL, Codec, Duel
from sandtable.envs.game import Game
from sandtable.envs.screen import Screen
from sandtable.names import unknown_name


class GameTable(ABC):
    """n games with their actions and observations. Each game has a Table of its own, which adds what it is made of."""

    def __init__(
        self, game: Game, codec: Codec, observer: Observer, n: int, opponent: Any, side: str, on_illegal: str
    ) -> None:
        one_of("side", side, (*game.players, "random"))
        one_of("on_illegal", on_illegal, ON_ILLEGAL)
        self.game, self.codec, self.observer = game, codec, observer
        self.action_space = codec.space
        number = None if side == "random" else game.players.index(side)
        self.duel = Duel(game, codec, n, _make_opponent(opponent), number, on_illegal)

    @abstractmethod
    def fitting_state(self, text: str) -> np.void:
        """The state of a position, which must fit the spaces."""

    def screen(self, render_mode: str | None) -> Screen:
        """A screen that is told of every move in the first game."""
        screen = self.make_screen(render_mode)
        if render_mode is not None:
            self.duel.watch = screen.see
        return screen

    def make_screen(self, render_mode: str | None) -> Screen:
        return Screen(self.game, render_mode)

    def see(self, sides: np.ndarray, idle: np.ndarray) -> tuple[Any, np.ndarray | None]:
        """What the sides (n,) see of their games; see Observer.observe."""
        return self.observer.observe(self.duel.states, sides, idle, self.duel.drafts)

    def masks(self, idle: np.ndarray) -> np.ndarray:
        """Which actions have a meaning: (n, …) bool."""
        drafts = () if self.duel.drafts is None else (self.duel.drafts,)
        return self.codec.masks(self.duel.states, idle, *drafts).astype(np.bool_)


def refuse_unknown(options: dict[str, Any], environment: Callable[..., Any], more: Iterable[str]) -> None:
    """Refuse names that are options neither of the environment nor `more`, which its game takes."""
    own = [name for name in signature(environment).parameters if name != "options"]
    valid = [*own, *more]
    for name in options:
        if name not in valid:
            raise ValueError(unknown_name("option", name, valid))


def one_of(name: str, value: Any, valid: Iterable[Any]) -> None:
    """Refuse an option's value that is none of the valid ones."""
    if value not in valid:
        raise ValueError(unknown_name(name, value, [str(v) for v in valid]))


def _make_opponent(opponent: Any) -> Any:
    if opponent is None:
        return None
    # The one late look-up: environments know nothing of agents but their registry.
    from sandtable.agents.registry import make_agent

    return make_agent(opponent)
