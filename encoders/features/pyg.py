"""Graphs for PyTorch Geometric. The only file here that imports torch: `encoder.load_pyg` loads it when asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.spaces import GraphInstance
from torch_geometric.data import Batch, Data


class MapGraph(Data):
    """A graph of territories with bonuses: bonus_index (2, k) pairs the number of a bonus with one of its territories.

    In a batch both are counted on, as edge_index is.
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key == "bonus_index":
            return torch.tensor([[len(self.bonus_value)], [self.num_nodes]])
        return super().__inc__(key, value, *args, **kwargs)


def batch_of(graphs: list[GraphInstance], **more: np.ndarray) -> Batch:
    """The graphs as one batch; the i-th also has `more` by name, each (b, …), as an array (1, …)."""
    return Batch.from_data_list([_filled(Data(), graph, i, more) for i, graph in enumerate(graphs)])


def map_batch(graphs: list[GraphInstance], bonus: np.ndarray, bonus_value: np.ndarray, **more: np.ndarray) -> Batch:
    """The graphs of states on one map, with its bonuses: which territories they have (B, N), and their values (B,)."""
    index, values = tensor(np.argwhere(bonus).T), tensor(bonus_value)
    filled = (_filled(MapGraph(bonus_index=index, bonus_value=values), g, i, more) for i, g in enumerate(graphs))
    return Batch.from_data_list(list(filled))


def _filled(data: Data, graph: GraphInstance, i: int, more: dict[str, np.ndarray]) -> Data:
    assert graph.edge_links is not None
    data.x, data.edge_index = tensor(graph.nodes), tensor(graph.edge_links.T)
    if graph.edges is not None:
        data.edge_attr = tensor(graph.edges)
    for name, array in more.items():
        data[name] = tensor(array[i : i + 1])
    return data


def tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))
