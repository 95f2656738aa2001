"""The dense layers are PyTorch Geometric's, weight for weight: what they answer, and their gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from sandtable.encoders.networks.layers import Neighbours, NNConv, TransformerConv, edge_weights, linear

pyg = pytest.importorskip("torch_geometric.nn")

BATCH, NODES, INPUTS, OUTPUTS, EDGE = 5, 7, 6, 9, 4


def graphs(density: float, seed: int = 1) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """nodes (b, n, i), edges (b, n, n, e), mask (b, n, n) and links (2, m) of PyTorch Geometric, from column to row.

    The last two nodes of each are padding: nothing leads there or away, and numbers stand in them all the same.
    """
    rng = torch.Generator().manual_seed(seed)
    mask = torch.rand(BATCH, NODES, NODES, generator=rng) < density
    mask[:, -2:] = mask[:, :, -2:] = False
    mask[0] = False
    graph, row, column = mask.nonzero().T
    links = torch.stack([graph * NODES + column, graph * NODES + row])
    nodes = torch.randn(BATCH, NODES, INPUTS, generator=rng, dtype=torch.float64)
    edges = torch.randn(BATCH, NODES, NODES, EDGE, generator=rng, dtype=torch.float64)
    return nodes.requires_grad_(), edges, mask, links


def compare(ours: Tensor, theirs: Tensor, wanted: list[Tensor], given: list[Tensor]) -> None:
    """The answers are the same, and so are the gradients of `wanted`, in the layout of `given`."""
    torch.testing.assert_close(ours.flatten(0, 1), theirs)
    weights = torch.randn(ours.shape, generator=torch.Generator().manual_seed(2), dtype=ours.dtype)
    mine = torch.autograd.grad((ours * weights).sum(), wanted)
    other = torch.autograd.grad((theirs * weights.flatten(0, 1)).sum(), given)
    for a, b in zip(mine, other, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("shape", [(1, 5), (1, 600), (3, 20), (40, 30), (256, 1)])
def test_linear(shape: tuple[int, int]) -> None:
    """Whatever way is taken, it is the same function with the same gradients."""
    rng = torch.Generator().manual_seed(1)
    tensors = [torch.randn(size, generator=rng).requires_grad_() for size in ((*shape, 80), (70, 80), (70,))]
    ours, theirs = linear(*tensors), torch.nn.functional.linear(*tensors)
    torch.testing.assert_close(ours, theirs)
    factor = torch.randn(ours.shape, generator=rng)
    mine, others = (torch.autograd.grad((y * factor).sum(), tensors) for y in (ours, theirs))
    for a, b in zip(mine, others, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("density", [0.4, 1.1])
def test_nnconv(density: float) -> None:
    nodes, edges, mask, links = graphs(density)
    ours = NNConv(INPUTS, OUTPUTS, EDGE).double()
    stacked = ours.weight.detach().requires_grad_()
    theirs = pyg.NNConv(INPUTS, OUTPUTS, torch.nn.Linear(EDGE, INPUTS * OUTPUTS), aggr="mean").double()
    # The weights as PyTorch Geometric lays them out, made of ours so that the gradients arrive there.
    given = {
        "nn.weight": stacked[:, :EDGE].permute(2, 0, 1).flatten(0, 1),
        "nn.bias": stacked[:, EDGE].T.flatten(),
        "lin.weight": stacked[:, EDGE + 1],
        "bias": torch.randn(OUTPUTS, dtype=torch.float64).requires_grad_(),
    }
    with torch.no_grad():
        ours.bias.copy_(given["bias"])
    answer = torch.func.functional_call(theirs, given, (nodes.flatten(0, 1), links, edges[mask]))
    compare(
        ours(nodes, edge_weights(edges, mask)),
        answer,
        [nodes, ours.weight, ours.bias],
        [nodes, stacked, given["bias"]],
    )


@pytest.mark.parametrize("density", [0.4, 1.1])
def test_transformer_conv(density: float) -> None:
    nodes, _, mask, links = graphs(density)
    ours = TransformerConv(INPUTS, OUTPUTS).double()
    theirs = pyg.TransformerConv(INPUTS, OUTPUTS, heads=1, beta=True).double()
    weight, bias, beta = (p.detach().requires_grad_() for p in (ours.project.weight, ours.project.bias, ours.beta))
    parts = ("lin_query", "lin_key", "lin_value", "lin_skip")
    given = {f"{name}.weight": part for name, part in zip(parts, weight.split(OUTPUTS), strict=True)}
    given |= {f"{name}.bias": part for name, part in zip(parts, bias.split(OUTPUTS), strict=True)}
    given["lin_beta.weight"] = beta.view(1, -1)
    answer = torch.func.functional_call(theirs, given, (nodes.flatten(0, 1), links))
    compare(
        ours(nodes, Neighbours.of(mask, torch.float64)),
        answer,
        [nodes, ours.project.weight, ours.project.bias, ours.beta],
        [nodes, weight, bias, beta],
    )


def test_counts_are_those_of_pyg() -> None:
    edge = pyg.NNConv(INPUTS, OUTPUTS, torch.nn.Linear(EDGE, INPUTS * OUTPUTS), aggr="mean")
    assert count(NNConv(INPUTS, OUTPUTS, EDGE)) == count(edge)
    assert count(TransformerConv(INPUTS, OUTPUTS)) == count(pyg.TransformerConv(INPUTS, OUTPUTS, heads=1, beta=True))


def count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_one_mask_for_all_graphs() -> None:
    """A mask without an axis for the batch, as of a map, is that of every graph."""
    nodes, _, mask, _ = graphs(0.4)
    layer = TransformerConv(INPUTS, OUTPUTS).double()
    for one in (mask[0], mask[1]):
        each = layer(nodes, Neighbours.of(one.expand_as(mask), torch.float64))
        torch.testing.assert_close(layer(nodes, Neighbours.of(one, torch.float64)), each)


@pytest.mark.parametrize("kind", ["nnconv", "transformer"])
def test_padding_changes_nothing(kind: str) -> None:
    """Whatever stands in nodes and edges that are not there, and however many there are."""
    nodes, edges, mask, _ = graphs(1.1)
    other_nodes, other_edges = nodes.detach().clone(), edges.clone()
    other_nodes[:, -2:], other_edges[~mask] = 100.0, -100.0
    real = NODES - 2
    if kind == "nnconv":
        layer = NNConv(INPUTS, OUTPUTS, EDGE).double()
        answers = [layer(nodes, edge_weights(edges, mask)), layer(other_nodes, edge_weights(other_edges, mask))]
        small = edge_weights(edges[:, :real, :real], mask[:, :real, :real])
    else:
        attention = TransformerConv(INPUTS, OUTPUTS).double()
        answers = [attention(x, Neighbours.of(mask, torch.float64)) for x in (nodes, other_nodes)]
        layer, small = attention, Neighbours.of(mask[:, :real, :real], torch.float64)
    torch.testing.assert_close(answers[0][:, :real], answers[1][:, :real])
    torch.testing.assert_close(answers[0][:, :real], layer(nodes[:, :real], small))
