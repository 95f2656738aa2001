"""Every network: sizes, ranges, what may not change its answers, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import sandtable
from sandtable.encoders.networks.convolutions import NormedConv
from sandtable.encoders.networks.kimura import ACTIONS, move_places
from sandtable.encoders.networks.li import GraphLayer
from sandtable.encoders.networks.network import Network
from sandtable.encoders.networks.registry import NETWORKS, network_class, network_names, network_options

WEIGHTS = {
    "cnn-g": 76_065,
    "cnn-i": 158_273,
    "gcn32": 596_225,
    "gcn4": 76_433,
    "kimura": 307_622,
    "soares": 32_622,
    "takahashi-a": 181_939,
    "takahashi-b": 173_878,
    "takahashi-c": 114_227,
    "takahashi-cnn": 94_707,
    "takahashi-gcn": 79_171,
    "units": 133_062,
}
"""With the options that stand when nothing is said."""
MAPS = {"tubstap": ("kimura-map01", "li-symmetric", "takahashi-complex", "crossroads"), "warzone": ("simple", "italy")}
_GAMES: dict[str, Any] = {}


def game_on(name: str, map_: str) -> Any:
    if map_ not in _GAMES:
        _GAMES[map_] = sandtable.make_game(name, map=map_)
    return _GAMES[map_]


def positions(game: Any, n: int = 12, plies: int = 4) -> np.ndarray:
    return game.random_games(game.new(n, seed=1), seed=2, plies=plies)


def network_for(name: str, game: Any = None, **options: Any) -> Network:
    """With weights that are always the same, and norms that have seen something."""
    torch.manual_seed(1)
    network = sandtable.make_network(name, game, **options)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 2)
    return network.eval()


@pytest.mark.parametrize("name", NETWORKS)
def test_weights(name: str) -> None:
    network = sandtable.make_network(name)
    assert network.weights == WEIGHTS[name]
    assert network.name == name and network.options == network_options(name)


def test_convolutions_that_are_not_separable() -> None:
    """The paper compares eight separable blocks with six full ones."""
    assert sandtable.make_network("kimura", blocks=6, separable=False).weights == 1_795_494


@pytest.mark.parametrize(
    ("name", "map_"), [(name, map_) for name in NETWORKS for map_ in MAPS[network_class(name).game]]
)
def test_any_size(name: str, map_: str) -> None:
    game = game_on(network_class(name).game, map_)
    states, network = positions(game), network_for(name, game)
    values = network.values(game, states)
    assert values.shape == (12,) and values.dtype == np.float64 and np.abs(values).max() <= 1
    assert len(np.unique(values)) > 1
    players = game.player(states)
    np.testing.assert_array_equal(values, network.values(game, states, players))
    assert not np.allclose(values, network.values(game, states, 1 - players))
    np.testing.assert_allclose(values, network.values(game, states, batch=5), atol=1e-5)
    assert network.values(game, states[:0]).shape == (0,)
    output = network(network.features(game, states))
    np.testing.assert_allclose(output.value.detach().numpy(), values, atol=1e-5)
    assert (output.classes is not None) == (network.head == "classes")


@pytest.mark.parametrize("name", NETWORKS)
def test_values_are_as_in_play(name: str) -> None:
    """While it is trained too, and without changing that."""
    kind = network_class(name)
    game = game_on(kind.game, MAPS[kind.game][1])
    states, network = positions(game), network_for(name, game)
    played = network.values(game, states)
    before = {key: tensor.clone() for key, tensor in network.state_dict().items()}
    network.train()
    np.testing.assert_array_equal(network.values(game, states), played)
    assert network.training and all(module.training for module in network.modules())
    assert all(torch.equal(tensor, before[key]) for key, tensor in network.state_dict().items())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_weight_learns(name: str) -> None:
    kind = network_class(name)
    game = game_on(kind.game, MAPS[kind.game][1])
    states, network = positions(game, 64, 6), network_for(name, game).train()
    output = network(with_policy(network, game, states[~game.done(states)]))
    loss = output.value.square().sum()
    for more in (output.classes, output.policy):
        loss = loss if more is None else loss + more.square().sum()
    loss.backward()
    still = [key for key, weight in network.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not still


def with_policy(network: Any, game: Any, states: np.ndarray) -> dict[str, Tensor]:
    """The features, with moves where the policy is of moves."""
    if network.name == "units":
        moves, ends = game.moves_each(states)
        return network.features(game, states, moves=moves, ends=ends)
    if network.name == "soares":
        return network.features(game, states, moves=np.stack([game.moves(state, 6, seed=1)[:3] for state in states]))
    return network.features(game, states)


# Order and padding


@pytest.mark.parametrize("name", ["takahashi-gcn", "takahashi-a", "takahashi-b", "takahashi-c"])
def test_the_order_of_nodes_changes_nothing(name: str) -> None:
    game = game_on("tubstap", "takahashi-complex")
    network = network_for(name, game)
    features = network.features(game, positions(game))
    order = torch.randperm(features["nodes"].shape[1], generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(network(features).value, network(ordered(features, order)).value)


@pytest.mark.parametrize("name", ["takahashi-gcn", "takahashi-a", "takahashi-b", "takahashi-c"])
def test_nodes_that_are_not_there_change_nothing(name: str) -> None:
    game = game_on("tubstap", "takahashi-complex")
    network = network_for(name, game)
    features = network.features(game, positions(game))
    padded = ordered(features, torch.tensor([*range(8), 0, 5, 2]))
    for mask in ("node_mask", "edge_mask"):
        padded[mask][:, 8:] = 0
    padded["edge_mask"][:, :, 8:] = 0
    torch.testing.assert_close(network(features).value, network(padded).value)


def ordered(features: dict[str, Tensor], order: Tensor) -> dict[str, Tensor]:
    """The features with the nodes in another order, or some of them again."""
    out = dict(features)
    for key in ("nodes", "node_mask", "units", "unit_mask", "cells"):
        if key in features:
            out[key] = features[key][:, order]
    for key in ("edges", "edge_mask", "pairs"):
        if key in features:
            out[key] = features[key][:, order][:, :, order]
    return out


def test_the_order_of_units_on_a_side_changes_nothing() -> None:
    game = game_on("tubstap", "takahashi-complex")
    network, states = network_for("units", game), positions(game)
    features = with_policy(network, game, states)
    order = torch.tensor([2, 0, 3, 1, 5, 7, 6, 4])
    other = with_numbers(ordered(features, order), order.argsort())
    for a, b in zip(network(features)[::2], network(other)[::2], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_units_that_are_not_there_change_nothing() -> None:
    game = game_on("tubstap", "takahashi-complex")
    network, states = network_for("units", game), positions(game)
    features = with_policy(network, game, states)
    order = torch.tensor([0, 1, 2, 3, 1, 4, 5, 6, 7, 7])
    padded = with_numbers(ordered(features, order), torch.tensor([0, 1, 2, 3, 5, 6, 7, 8]))
    padded["unit_mask"][:, [4, 9]] = 0
    for a, b in zip(network(features)[::2], network(padded)[::2], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def with_numbers(features: dict[str, Tensor], numbers: Tensor) -> dict[str, Tensor]:
    """The same with the units of actions called by other numbers."""
    unit, target = features["action_unit"], features["action_target"]
    renamed = torch.where(target < 0, target, numbers[target.clamp(min=0)])
    return {**features, "action_unit": numbers[unit], "action_target": renamed}


@pytest.mark.parametrize("name", ["gcn4", "gcn32", "cnn-g"])
def test_a_network_of_more_units_takes_fewer(name: str) -> None:
    """Those that are not there are dead ones, on their side."""
    game = game_on("tubstap", "kimura-map01")
    states, network = positions(game), network_for(name)
    features = network.features(game, states)
    padded = {"matrices": torch.zeros(12, 6, 6, 6), "nodes": torch.zeros(12, 6, 4), "unit_mask": torch.zeros(12, 6)}
    places = torch.tensor([0, 1, 3, 4])
    padded["matrices"][:, :, places[:, None], places] = features["matrices"]
    for name in ("nodes", "unit_mask"):
        padded[name][:, places] = features[name].float()
    expected = network(padded).value.detach().numpy()
    np.testing.assert_allclose(network.values(game, states), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["gcn4", "gcn32", "cnn-g"])
def test_loops_tell_what_the_matrices_do_not(name: str) -> None:
    """HP of units that can attack nobody; and with none, what stands in the nodes is not looked at."""
    game = game_on("tubstap", "li-symmetric")
    network, plain = network_for(name, game), sandtable.make_network(name, game, loops=False)
    features = network.features(game, positions(game))
    healthier = {**features, "nodes": features["nodes"] + torch.tensor([1.0, 0, 0, 0])}
    assert not torch.equal(network(features).value, network(healthier).value)
    assert torch.equal(plain(features).value, plain(healthier).value)


def test_lis_graph_layer_is_a_sum_over_its_inputs() -> None:
    """y_o = relu(Σ_i x_i diag(s_io) W_o), written out."""
    layer = GraphLayer(3, 2, 4)
    x = torch.randn(5, 3, 4, 4)
    y = layer(x.transpose(1, 2).flatten(2)).unflatten(2, (2, 4)).transpose(1, 2)
    for o in range(2):
        expected = sum(x[:, i] @ torch.diag(layer.scale[i, o]) @ layer.kernel[o] for i in range(3))
        torch.testing.assert_close(y[:, o], F.relu(expected))


def test_the_order_of_territories_changes_nothing() -> None:
    game = game_on("warzone", "italy")
    network, states = network_for("soares", game), positions(game)
    features = with_policy(network, game, states)
    order = torch.randperm(20, generator=torch.Generator().manual_seed(1))
    orders = features["orders"].clone()
    orders[..., 2:] = order.argsort()[orders[..., 2:]]
    other = {**features, "nodes": features["nodes"][:, order], "adjacency": features["adjacency"][order][:, order]}
    other |= {"bonus": features["bonus"][:, order], "orders": orders}
    for a, b in zip(network(features)[::2], network(other)[::2], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_orders_that_are_none_change_nothing() -> None:
    game = game_on("warzone", "italy")
    network, states = network_for("soares", game), positions(game)
    features = with_policy(network, game, states)
    longer = F.pad(features["orders"], (0, 0, 0, 5))
    torch.testing.assert_close(network(features).policy, network({**features, "orders": longer}).policy)


# The same functions with PyTorch Geometric


def test_takahashis_network_in_pyg() -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    game = game_on("tubstap", "takahashi-complex")
    states, network = positions(game, 40, 30), network_for("takahashi-gcn")
    batch = sandtable.make_encoder("takahashi-graph", game).to_pyg(states)
    x = batch.x
    for layer in network.graph.layers:
        outputs, edge, inputs = layer.weight.shape
        conv = pyg.NNConv(inputs, outputs, torch.nn.Linear(edge - 2, inputs * outputs), aggr="mean")
        weights = {
            "nn.weight": layer.weight[:, : edge - 2].permute(2, 0, 1).flatten(0, 1),
            "nn.bias": layer.weight[:, edge - 2].T.flatten(),
            "lin.weight": layer.weight[:, edge - 1],
            "bias": layer.bias,
        }
        conv.load_state_dict(weights)
        # A unit hears of those that it could attack: against the direction of the edges.
        x = F.relu(conv(x, batch.edge_index.flip(0), batch.edge_attr))
    logits = network.out(pyg.global_max_pool(x, batch.batch))
    torch.testing.assert_close(network(network.features(game, states)).classes, logits, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("map_", ["owl_island", "italy", "small_earth"])
def test_soares_network_in_pyg(map_: str) -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    game = game_on("warzone", map_)
    states, network = positions(game, 6), network_for("soares")
    batch = sandtable.make_encoder("soares-graph", game).to_pyg(states)
    values, owner, place = batch.bonus_value, *batch.bonus_index
    pairs = (owner[:, None] == owner).nonzero().T
    size = torch.bincount(owner)
    x = F.relu(network.first(batch.x * torch.tensor([1, 1, 0.1, 0.1, 0.1])))
    for of_bonus, of_map in zip(network.bonus_layers, network.map_layers, strict=True):
        inside = as_pyg(pyg, of_bonus.conv)(x[place], pairs)
        sums = torch.zeros(len(values), x.shape[1]).index_add(0, owner, inside) * (values / size)[:, None]
        handed = torch.zeros_like(x).index_add(0, place, sums[owner])
        x = F.relu(as_pyg(pyg, of_map)(torch.cat([x, handed], 1), batch.edge_index))
    pooled = torch.cat([pyg.global_mean_pool(x, batch.batch), batch.totals / 10], 1)
    expected = network.value(pooled).squeeze(1)
    torch.testing.assert_close(network(network.features(game, states)).value, expected, rtol=1e-4, atol=1e-5)


def as_pyg(pyg: Any, layer: Any) -> Any:
    """PyTorch Geometric's layer with the weights of ours."""
    conv = pyg.TransformerConv(layer.project.in_features, layer.outputs, heads=1, beta=True)
    weights = {"lin_beta.weight": layer.beta.view(1, -1)}
    for kind in ("weight", "bias"):
        parts = getattr(layer.project, kind).split(layer.outputs)
        weights |= {f"lin_{part}.{kind}": w for part, w in zip(("query", "key", "value", "skip"), parts, strict=True)}
    conv.load_state_dict(weights)
    return conv


def test_soares_policy_order_by_order() -> None:
    game = game_on("warzone", "italy")
    states, network = positions(game, 3), network_for("soares")
    features = with_policy(network, game, states)
    embeddings: list[Tensor] = []
    network.orders.register_forward_hook(lambda module, inputs, output: embeddings.append(inputs[0]))
    policy = network(features).policy
    head = network.orders
    for state, moves in enumerate(features["orders"].tolist()):
        for number, orders in enumerate(moves):
            total = torch.zeros(20)
            for kind, armies, source, destination in orders:
                if kind:
                    x = embeddings[0][state]
                    ends = [x[destination]] if kind == 3 else [x[source], x[destination]]
                    layer = (head.attack, head.transfer, head.deploy)[kind - 1]
                    total += F.relu(head.each(F.relu(layer(torch.cat([torch.tensor([armies / 10]), *ends])))))
            torch.testing.assert_close(policy[state, number], head.move(total)[0], rtol=1e-4, atol=1e-5)


# Kimura's network


@pytest.mark.parametrize("separable", [True, False])
def test_a_folded_norm_is_the_norm(separable: bool) -> None:
    torch.manual_seed(1)
    layer = NormedConv(6, 8, 3, separable)
    for _ in range(5):
        layer(torch.randn(20, 6, 5, 7) + 1)
    layer.eval()
    x = torch.randn(4, 6, 5, 7)

    def plain() -> Tensor:
        return layer.norm(layer.conv(x if layer.by_plane is None else layer.by_plane(x)))

    torch.testing.assert_close(layer(x), plain(), rtol=1e-4, atol=1e-5)
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), plain(), rtol=1e-4, atol=1e-5)
    for change in (lambda: layer.conv.weight.add_(1), lambda: layer.norm.running_mean.add_(1)):
        with torch.no_grad():
            change()
        with torch.inference_mode():
            torch.testing.assert_close(layer(x), plain(), rtol=1e-4, atol=1e-4)
    layer.load_state_dict({name: torch.rand_like(t.float()).to(t) for name, t in layer.state_dict().items()})
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), plain(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("map_", ["kimura-map01", "kimura-map02", "li-symmetric"])
def test_kimuras_policy_has_a_place_for_every_move(map_: str) -> None:
    game = game_on("tubstap", map_)
    network: Any = network_for("kimura", blocks=1)
    for state in positions(game, 20, 5):
        moves = game.moves(state)
        places = move_places(game, np.repeat(state, len(moves)), moves)
        assert ((places >= 0) & (places < game.width * game.height * ACTIONS)).all()
        of_unit = np.stack([moves[:, 0], places], 1)
        assert len(np.unique(of_unit, axis=0)) == len(moves)
        if len(moves):
            one, slot = np.repeat(state, 2), int(moves[0, 0])
            policy = network(network.features(game, one, selected=np.array([slot, -1]))).policy
            assert policy.shape == (2, game.height, game.width, ACTIONS)
            assert not torch.allclose(policy[0], policy[1])


def test_kimuras_policy_has_no_place_for_shots_from_afar() -> None:
    game = game_on("tubstap", "takahashi-complex")
    states = positions(game, 200, 6)
    moves, ends = game.moves_each(states)
    which = np.repeat(states, np.diff(ends))
    kinds = which["kind"][np.arange(len(moves)), moves[:, 0]]
    shots = (kinds == 3) & (moves[:, 2] >= 0)
    assert shots.any()
    np.testing.assert_array_equal(move_places(game, which, moves) < 0, shots)


# What is refused


def test_unknown_names() -> None:
    assert network_names() == sorted(NETWORKS)
    with pytest.raises(ValueError, match=r"unknown network 'gcn-4' \(did you mean 'gcn4'\?\)"):
        sandtable.make_network("gcn-4")
    with pytest.raises(ValueError, match=r"unknown option of the network 'kimura' 'block' \(did you mean 'blocks'\?\)"):
        sandtable.make_network("kimura", block=3)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("kimura", {"blocks": -1}, "blocks=-1: valid are whole numbers from 0 to 100"),
        ("kimura", {"blocks": 2.0}, "blocks=2.0: valid are whole numbers"),
        ("kimura", {"dropout": 1}, "dropout=1: valid are numbers from 0 to below 1"),
        ("kimura", {"separable": 1}, "separable=1: valid are true and false"),
        ("gcn4", {"units": 0}, "units=0: valid are whole numbers from 1 to 16"),
        ("cnn-i", {"width": 100}, "width=100: valid are"),
        ("units", {"heads": 5}, "width=64 is not a multiple of heads=5"),
    ],
)
def test_wrong_options(name: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"network '{name}': {reason}"):
        sandtable.make_network(name, **options)


@pytest.mark.parametrize("name", NETWORKS)
def test_another_game(name: str) -> None:
    kind = network_class(name)
    other = game_on("warzone", "simple") if kind.game == "tubstap" else game_on("tubstap", "li-symmetric")
    reason = f"the network '{name}' plays {kind.game}, not {other.name}"
    with pytest.raises(ValueError, match=reason):
        sandtable.make_network(name, other)
    network = sandtable.make_network(name)
    for refused in (network.check, lambda game: network.values(game, game.new(1, seed=1))):
        with pytest.raises(ValueError, match=reason):
            refused(other)


@pytest.mark.parametrize("name", NETWORKS)
def test_another_size(name: str) -> None:
    network = sandtable.make_network(name)
    if network.game != "tubstap":
        return network.check(game_on("warzone", "italy"))
    large = game_on("tubstap", "crossroads")
    reasons = {"units": "the game has 8 units a side, .* at most 3: make it with units=8", "width": "board has 12x12"}
    if name in ("units", "kimura") or not network.options:
        return network.check(large)
    reason = next(reason for option, reason in reasons.items() if option in network.options)
    for refused in (network.check, lambda game: network.values(game, game.new(1, seed=1))):
        with pytest.raises(ValueError, match=reason):
            refused(large)
    return None
