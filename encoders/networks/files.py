"""Networks in files: safetensors, with all that is needed to build the network again in the metadata.

Nothing is ever unpickled, and a file's sizes are compared before anything is made room for.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtable.encoders.networks.registry import need, network_class, network_options
from sandtable.names import unknown_name

if TYPE_CHECKING:
    from torch import Tensor

    from sandtable.encoders.networks.network import Network

VERSION = 1
"""The version of the files that are written; newer ones are refused."""
SUFFIX = ".safetensors"
WEIGHTS = Path(__file__).resolve().parent.parent.parent / "baselines" / "weights"
"""The folder of the weights that are shipped."""
_FORMAT = "sandtable network"


def weights_names() -> list[str]:
    """The names of the weights that are shipped."""
    return sorted(path.stem for path in WEIGHTS.glob(f"*{SUFFIX}"))


def save_network(path: str | Path, network: Network, **facts: Any) -> None:
    """Write the network into a safetensors file: beside it first, then renamed, so that no half file is ever seen.

    facts: what is worth knowing about the weights, by name, such as JSON can hold; `read_facts` reads them.
    """
    content, path = network_bytes(network, **facts), Path(path)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def network_bytes(network: Network, **facts: Any) -> bytes:
    """The content of the file that `save_network` would write."""
    need("a network's file", "safetensors")
    from safetensors.torch import save

    about = {"version": str(VERSION), "name": network.name, "game": network.game}
    about["options"], about["facts"] = json.dumps(network.options), json.dumps(facts)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    return save(tensors, {"format": _FORMAT, **about})


def load_network(path_or_name: str | Path) -> Network:
    """The network of a file, ready to play, or of the shipped weights of this name.

    A ValueError says what is wrong with a file: none of safetensors, cut off, somebody else's, of a newer version, of
    an unknown network, or with weights that do not fit.
    """
    path = find_weights(path_or_name)
    about, tensors = _read(path)
    import torch

    try:
        name, options = about["name"], _read_json(about, "options")
        for option in options:
            if option not in network_options(name):
                reason = unknown_name(f"option of the network {name!r}", option, network_options(name))
                raise ValueError(f"its options do not fit its network: {reason}")
        with torch.device("meta"):  # sizes alone: a file can ask for any
            network = network_class(name)(**options)
        _compare(network.state_dict(), tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    network.load_state_dict(tensors, assign=True)
    return network.eval()


def read_facts(path_or_name: str | Path) -> dict[str, Any]:
    """The facts that a file was saved with."""
    path = find_weights(path_or_name)
    about, _ = _read(path)
    try:
        return _read_json(about, "facts")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def find_weights(path_or_name: str | Path) -> Path:
    """The file itself, or that of the shipped weights of this name."""
    path, text = Path(path_or_name), str(path_or_name)
    if path.is_file():
        return path
    if isinstance(path_or_name, Path) or path.suffix == SUFFIX or path.name != text:
        raise FileNotFoundError(f"there is no file {text}" if not path.exists() else f"{text} is not a file")
    if text not in weights_names():
        raise ValueError(unknown_name("weights", text, weights_names()))
    return WEIGHTS / f"{text}{SUFFIX}"


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """What a file says about its network, and the network's tensors."""
    need("a network's file", "torch", "safetensors")
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            _check(about)
            return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path}: not a safetensors file, or cut off: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _check(about: dict[str, str]) -> None:
    if about.get("format") != _FORMAT:
        raise ValueError("a safetensors file, but not one that save_network wrote")
    version = about.get("version", "")
    if not version.isdecimal():
        raise ValueError(f"the version of its format is {version!r}, which is no number")
    if int(version) > VERSION:
        raise ValueError(f"its format has version {version}, this sandtable reads up to {VERSION}: update sandtable")
    for key in ("name", "options", "facts"):
        if key not in about:
            raise ValueError(f"its metadata has no {key!r}")


def _read_json(about: dict[str, str], key: str) -> dict[str, Any]:
    try:
        value = json.loads(about[key])
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"the {key} in its metadata are not a JSON object")
    return value


def _compare(expected: dict[str, Tensor], found: dict[str, Tensor]) -> None:
    """A ValueError if the tensors of a file are not those of the network."""
    for name in expected:
        if name not in found:
            raise ValueError(f"its weights do not fit its network: {name} is missing")
        if found[name].shape != expected[name].shape or found[name].dtype != expected[name].dtype:
            raise ValueError(
                f"its weights do not fit its network: {name} is {_kind(found[name])}, not {_kind(expected[name])}"
            )
    for name in found:
        if name not in expected:
            raise ValueError(f"its weights do not fit its network: {name} is too much")


def _kind(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
