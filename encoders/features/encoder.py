"""What an encoder is: states → arrays, as a network takes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces

from sandtable.envs.game import Game, as_states
from sandtable.envs.jit import jit

if TYPE_CHECKING:
    from torch_geometric.data import Batch

Arrays = dict[str, np.ndarray]


@jit
def _are_players(views):
    """Whether all are 0 or 1. Environments ask at every step, and numpy takes longer for a few numbers."""
    wrong = 0
    for view in views:
        wrong |= view >> 1
    return wrong == 0


class Encoder(ABC):
    """The features of the states of one game, compiled.

    Everything is seen by one player: "mine" is that player's. States that do not fit the game's arrays (another board,
    more units, another map) are refused with the reason.
    """

    name: ClassVar[str]
    game: ClassVar[str]
    """The name of the game that it sees."""
    space: spaces.Dict
    """The arrays of one state."""
    of_the_map: ClassVar[tuple[str, ...]] = ()
    """The arrays that are the same for all states: they have no axis for the batch."""

    def __init__(self, game: Game) -> None:
        if game.name != self.game:
            raise ValueError(f"the encoder {self.name!r} sees {self.game}, not {game.name}")
        self._game: Any = game

    @abstractmethod
    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """The arrays (b, …) of states (b,), by the names of `space`. players (b,): whose view; None: the mover's."""

    @abstractmethod
    def _require_fit(self, states: np.ndarray) -> None:
        """Refuse states that the arrays are not made for."""

    def symmetry(self, arrays: Arrays, k: int) -> Arrays:
        """The arrays of the same states in the k-th symmetry of their board: encode(game.symmetry(states, k)).

        0 is the identity, and the only one where the game's boards have no others. What stays the same is handed back
        as it is.
        """
        if k != 0:
            raise ValueError(f"k={k!r}: maps of {self.game} have no symmetry but 0, the identity")
        return dict(arrays)

    def to_pyg(self, states: np.ndarray, players: np.ndarray | None = None) -> Batch:
        """The states as graphs of PyTorch Geometric."""
        raise TypeError(f"the encoder {self.name!r} makes images, not graphs: there is nothing for PyTorch Geometric")

    def _views(self, states: np.ndarray, players: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The states as compiled code takes them, and whose view each is, (b,) int64."""
        states = as_states(states)
        self._require_fit(states)
        if players is None:
            return states, self._game.player(states)
        views = np.asarray(players, np.int64)
        if views.shape != states.shape or not _are_players(views):
            raise ValueError(f"{len(states)} players, 0 or 1 each, are needed, got {players!r}"[:200])
        return states, views


class GraphEncoder(Encoder):
    """An encoder whose arrays can be told as graphs."""

    @abstractmethod
    def graph(self, arrays: Arrays, i: int) -> spaces.GraphInstance:
        """The i-th state of what `encode` answered, without what is not there."""

    def to_pyg(self, states: np.ndarray, players: np.ndarray | None = None) -> Batch:
        """A Batch with x, edge_index and edge_attr, a graph a state."""
        pyg = load_pyg()
        arrays = self.encode(states, players)
        return pyg.batch_of([self.graph(arrays, i) for i in range(len(as_states(states)))])


def load_pyg() -> Any:
    """The module that knows PyTorch Geometric, which is loaded by nobody else."""
    try:
        from sandtable.encoders.features import pyg
    except ImportError as error:
        raise ImportError("to_pyg needs torch and torch_geometric: pip install 'sandtable[learn]'") from error
    return pyg
