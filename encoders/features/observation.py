"""What the environments of TUBSTAP show: features by name, with the mask of legal actions beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.takahashi import EDGE_FEATURES, NODE_FEATURES, TakahashiGraph, TakahashiImage
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import Tubstap
from sandtable.names import unknown_name

OBSERVATIONS: dict[str, tuple[type[TakahashiGraph] | type[TakahashiImage], ...]] = {
    "graph": (TakahashiGraph,),
    "image": (TakahashiImage,),
    "both": (TakahashiGraph, TakahashiImage),
    "graph_space": (TakahashiGraph,),
}


class Observer:
    """Observations of one kind. `graph`, `image` and `both` are flat dictionaries of boxes with the key action_mask;
    `graph_space` is a Graph of the units alive, whose mask stands in info alone."""

    def __init__(self, game: Tubstap, codec: ActionCodec, observation: str) -> None:
        if observation not in OBSERVATIONS:
            raise ValueError(unknown_name("observation", observation, OBSERVATIONS))
        self._features = [make(game) for make in OBSERVATIONS[observation]]
        self._codec = codec
        self.is_graph = observation == "graph_space"
        self.space: spaces.Space[Any]
        if self.is_graph:
            self.space = spaces.Graph(
                spaces.Box(0.0, 1.0, (NODE_FEATURES,), np.float32), spaces.Box(0.0, 1.0, (EDGE_FEATURES,), np.float32)
            )
        else:
            boxes = {name: space for feature in self._features for name, space in feature.space.items()}
            self.space = spaces.Dict({**boxes, "action_mask": spaces.Box(0, 1, (codec.n,), np.int8)})

    def observe(self, states: np.ndarray, players: np.ndarray, idle: np.ndarray) -> tuple[Any, np.ndarray]:
        """What the players (b,) see of states (b,): a dictionary of arrays (b, …), or a list of b graphs; and the
        masks (b, actions) int8 of the mover's legal actions, all zero where the player is `idle` (b,) bool: somebody
        else is to move, or the game was forfeited."""
        masks = self._codec.masks(states, idle)
        arrays = {name: array for feature in self._features for name, array in feature.encode(states, players).items()}
        if self.is_graph:
            return [self._graph(arrays, i) for i in range(len(states))], masks
        arrays["action_mask"] = masks
        return arrays, masks.copy()

    def _graph(self, arrays: dict[str, np.ndarray], i: int) -> spaces.GraphInstance:
        alive = arrays["node_mask"][i] == 1
        links = np.argwhere(arrays["edge_mask"][i] == 1)
        number = np.cumsum(alive) - 1
        edges = arrays["edges"][i][links[:, 0], links[:, 1]]
        return spaces.GraphInstance(arrays["nodes"][i][alive], edges, number[links])


def row(observation: Any, i: int) -> Any:
    """The i-th observation of a batch."""
    return observation[i] if isinstance(observation, list) else {name: array[i] for name, array in observation.items()}
