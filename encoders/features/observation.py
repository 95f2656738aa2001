"""What the environments show: features by name, with the mask of legal actions beside them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from sandtable.names import unknown_name

OBSERVATIONS: dict[str, tuple[str, ...]] = {
    "graph": ("graph",),
    "image": ("image",),
    "both": ("graph", "image"),
    "graph_space": ("graph",),
}
"""The kinds of observations, and the features that each is made of."""


class Features(Protocol):
    """States → arrays. Where moves are drafted, `encode` is given the drafts too."""

    space: spaces.Dict

    def encode(self, states: np.ndarray, players: np.ndarray) -> dict[str, np.ndarray]: ...


class GraphFeatures(Features, Protocol):
    """Features that can be told as a graph too."""

    graph_space: spaces.Graph

    def graph(self, arrays: dict[str, np.ndarray], i: int) -> spaces.GraphInstance:
        """The i-th state of what `encode` answered."""
        ...


class Observer:
    """Observations of one kind. `graph`, `image` and `both` are flat dictionaries of boxes with the key action_mask;
    `graph_space` is a Graph, whose mask stands in info alone. codec: whose masks are shown, if there are any."""

    def __init__(self, graph: GraphFeatures, image: Features, codec: Any, observation: str) -> None:
        if observation not in OBSERVATIONS:
            raise ValueError(unknown_name("observation", observation, OBSERVATIONS))
        by_name: dict[str, Any] = {"graph": graph, "image": image}
        self._features = [by_name[name] for name in OBSERVATIONS[observation]]
        self._codec = codec
        self.is_graph = observation == "graph_space"
        self.space: spaces.Space[Any]
        if self.is_graph:
            self.space = graph.graph_space
        else:
            boxes = {name: space for feature in self._features for name, space in feature.space.items()}
            mask = {"action_mask": spaces.Box(0, 1, (codec.n,), np.int8)} if codec.masked else {}
            self.space = spaces.Dict({**boxes, **mask})

    def observe(
        self, states: np.ndarray, players: np.ndarray, idle: np.ndarray, drafts: np.ndarray | None = None
    ) -> tuple[Any, np.ndarray | None]:
        """What the players (b,) see of states (b,): a dictionary of arrays (b, …), or a list of b graphs; and the
        masks (b, actions) int8 of the mover's legal actions, all zero where the player is `idle` (b,) bool: somebody
        else is to move, or the game was forfeited. drafts (b, move_length): the moves that are being put together."""
        drafted = () if drafts is None else (drafts,)
        masks = self._codec.masks(states, idle, *drafted) if self._codec.masked else None
        arrays: dict[str, np.ndarray] = {}
        for feature in self._features:
            arrays.update(feature.encode(states, players, *drafted))
        if self.is_graph:
            return [self._features[0].graph(arrays, i) for i in range(len(states))], masks
        if masks is None:
            return arrays, None
        arrays["action_mask"] = masks
        return arrays, masks.copy()


def row(observation: Any, i: int) -> Any:
    """The i-th observation of a batch."""
    return observation[i] if isinstance(observation, list) else {name: array[i] for name, array in observation.items()}
