"""Networks in files: what is saved is loaded, and what is wrong with a file is told."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import sandtable
from sandtable.encoders.networks import files
from sandtable.encoders.networks.files import load_network, read_facts, save_network
from sandtable.encoders.networks.registry import NETWORKS, make_network
from sandtable.envs.games import make_game

OPTIONS: dict[str, dict[str, Any]] = {
    "gcn4": {"units": 2},
    "cnn-i": {"width": 6, "height": 6},
    "kimura": {"blocks": 2, "filters": 16, "separable": False, "dropout": 0.1},
    "takahashi-cnn": {"width": 6, "height": 6},
    "takahashi-a": {"width": 6, "height": 6},
    "takahashi-b": {"width": 6, "height": 6},
    "units": {"width": 32, "layers": 1, "heads": 2},
}


@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_saved_is_loaded(name: str, tmp_path: Path) -> None:
    network = make_network(name, **OPTIONS.get(name, {}))
    on_map = {"tubstap": "kimura-map01", "warzone": "simple"}[network.game]
    game = sandtable.make_game(network.game, map=on_map)
    states = game.random_games(game.new(20, seed=1), seed=1, plies=3)
    if name == "kimura":
        network(network.features(game, states))  # its norms learn something
    path = tmp_path / "weights.safetensors"
    save_network(path, network, games=300, note="tried")
    loaded = sandtable.load_network(path)
    assert type(loaded) is type(network) and loaded.options == network.options and not loaded.training
    np.testing.assert_array_equal(loaded.values(game, states), network.values(game, states))
    assert read_facts(path) == {"games": 300, "note": "tried"}
    assert [file.name for file in tmp_path.iterdir()] == ["weights.safetensors"]
    loaded(loaded.features(game, states)).value.sum().backward()  # it can be trained on
    assert all(weight.requires_grad for weight in loaded.parameters())


def test_a_name_means_shipped_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WEIGHTS", tmp_path)
    save_network(tmp_path / "li2022-gcn4.safetensors", make_network("gcn4"))
    assert files.weights_names() == ["li2022-gcn4"]
    assert load_network("li2022-gcn4").name == "gcn4"
    with pytest.raises(ValueError, match=r"unknown weights 'li2022-gcn' \(did you mean 'li2022-gcn4'\?\)"):
        load_network("li2022-gcn")


@pytest.mark.parametrize("name", files.weights_names())
def test_shipped_weights_play(name: str) -> None:
    """After an install, by name; and they are small."""
    assert (files.WEIGHTS / f"{name}.safetensors").stat().st_size < 4e6
    network = load_network(name)
    map_ = {"tubstap": "li-symmetric", "warzone": "simple"}[network.game]
    game = make_game(network.game, map=map_)
    agents = [sandtable.make_agent("minimax", weights=name)]
    if network.has_policy:
        agents.append(sandtable.make_agent("pvmcts", weights=name, sims=8))
    for agent in agents:
        agent.reset(game, seed=1)
        states = game.new(2, seed=1)
        assert game.legal(states, agent.act(states).moves).all()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for missing in (tmp_path / "a.safetensors", str(tmp_path / "a"), "a.safetensors"):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            load_network(missing)
    with pytest.raises(FileNotFoundError, match="is not a file"):
        load_network(tmp_path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of gcn4's weights."""
    path = tmp_path / "weights.safetensors"
    save_network(path, make_network("gcn4"), games=1)
    return path


def about(path: Path) -> dict[str, str]:
    content = path.read_bytes()
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]


def rewrite(path: Path, tensors: dict[str, torch.Tensor] | None = None, **changes: str | None) -> None:
    """The same file with other tensors, or other metadata; None: without that."""
    metadata = {key: value for key, value in (about(path) | changes).items() if value is not None}
    save_file(load_file(path) if tensors is None else tensors, path, metadata)


def refused(path: Path, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as error:
        load_network(path)
    assert str(error.value).startswith(f"{path}: ")


def test_other_files(path: Path) -> None:
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[:100], whole[:-1], whole + b"x", b"\xff" * 100, pickle.dumps({"a": 1})):
        path.write_bytes(content)
        refused(path, "not a safetensors file, or cut off")
    torch.save({"weight": torch.zeros(2)}, path)
    refused(path, "not a safetensors file, or cut off")
    save_file({"weight": torch.zeros(2)}, path)
    refused(path, "not one that save_network wrote")
    save_file({"weight": torch.zeros(2)}, path, {"format": "pt"})
    refused(path, "not one that save_network wrote")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": "2"}, "its format has version 2, this sandtable reads up to 1: update sandtable"),
        ({"version": "one"}, "the version of its format is 'one', which is no number"),
        ({"version": None}, "the version of its format is '', which is no number"),
        ({"name": "gcn5"}, r"unknown network 'gcn5' \(did you mean 'gcn4'\?\)"),
        ({"name": None}, "its metadata has no 'name'"),
        ({"options": "[]"}, "the options in its metadata are not a JSON object"),
        ({"options": "{"}, "the options in its metadata are not a JSON object"),
        ({"options": '{"game": 3}'}, "its options do not fit its network: unknown option .* 'game'"),
        ({"options": '{"unit": 3}'}, r"unknown option of the network 'gcn4' 'unit' \(did you mean 'units'\?\)"),
        ({"options": '{"units": "3"}'}, "units='3': valid are whole numbers"),
        ({"options": '{"units": 4}'}, r"first.kernel is float32 \(16, 6, 6\), not float32 \(16, 8, 8\)"),
        ({"name": "gcn32"}, "its weights do not fit its network: second"),
        ({"name": "kimura", "options": '{"blocks": 100, "filters": 4096}'}, "its weights do not fit its network"),
    ],
)
def test_other_metadata(path: Path, changes: dict[str, str | None], reason: str) -> None:
    rewrite(path, None, **changes)
    refused(path, reason)


def test_other_weights(path: Path) -> None:
    tensors = load_file(path)
    first, *rest = sorted(tensors)
    rewrite(path, {name: tensors[name] for name in rest})
    refused(path, f"its weights do not fit its network: {first} is missing")
    rewrite(path, {**tensors, "more": torch.zeros(1)})
    refused(path, "its weights do not fit its network: more is too much")
    rewrite(path, {**tensors, first: tensors[first].double()})
    refused(path, f"{first} is float64 .*, not float32")


def test_wrong_facts(path: Path) -> None:
    rewrite(path, None, facts="3")
    with pytest.raises(ValueError, match="the facts in its metadata are not a JSON object"):
        read_facts(path)
    assert load_network(path).name == "gcn4"


def test_facts_are_json(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        save_network(tmp_path / "a.safetensors", make_network("gcn4"), path=tmp_path)
    assert not list(tmp_path.iterdir())
