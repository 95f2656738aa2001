"""The ids of the environments, and what importing the package costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium
import pettingzoo
import pytest

from sandtable.envs.tubstap.gym import TubstapEnv
from sandtable.envs.tubstap.vector import TubstapVectorEnv
from sandtable.envs.warzone.gym import WarzoneEnv
from sandtable.envs.warzone.vector import WarzoneVectorEnv
from sandtable.registration import ENVIRONMENTS, PETTINGZOO, register_environments

ROOT = Path(__file__).parent.parent
CLASSES: dict[str, tuple[type, type]] = {
    "Tubstap-v0": (TubstapEnv, TubstapVectorEnv),
    "Warzone-v0": (WarzoneEnv, WarzoneVectorEnv),
}
FORMS = {"aec": pettingzoo.AECEnv, "parallel": pettingzoo.ParallelEnv}
has_registry = pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo before 1.27 has no registry")


def run(code: str) -> str:
    """What a new process prints; a warning is an error in it."""
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_importing_loads_nothing_large() -> None:
    large = ("numba", "torch", "safetensors", "pygame", "stable_baselines3", "sandtable.agents", "sandtable.envs")
    large += ("sandtable.encoders",)
    assert run(f"import sys, sandtable; print([name for name in {large} if name in sys.modules])") == "[]"


def test_the_names_of_networks_need_no_torch() -> None:
    code = (
        "import sys; from sandtable import load_network, make_network, make_encoder, make_game\n"
        "from sandtable.encoders.networks.registry import network_names\n"
        "make_encoder('takahashi-graph', make_game('tubstap'))\n"
        "print('gcn4' in network_names(), [name for name in ('torch', 'safetensors') if name in sys.modules])"
    )
    assert run(code) == "True []"


@pytest.mark.parametrize(
    ("missing", "call"), [("torch", "make_network('gcn4')"), ("safetensors", "load_network(FILE)")]
)
def test_what_is_missing_is_told(missing: str, call: str) -> None:
    code = (
        f"import sys; sys.modules['{missing}'] = None; FILE = 'setup.cfg'\n"
        "from sandtable import load_network, make_network\n"
        f"try: {call}\nexcept ImportError as error: print(error)"
    )
    assert f"needs {missing}: pip install 'sandtable[learn]'" in run(code)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_id_with_the_module_needs_no_import(name: str) -> None:
    code = f"import gymnasium; print(gymnasium.make('sandtable:{name}').unwrapped.spec.id)"
    assert run(code) == name


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_ids_of_gymnasium(name: str) -> None:
    single, batch = CLASSES[name]
    assert isinstance(gymnasium.make(name).unwrapped, single)
    assert isinstance(gymnasium.make_vec(name, num_envs=2), batch)


def test_an_unknown_id_is_answered_with_the_nearest() -> None:
    with pytest.raises(gymnasium.error.NameNotFound, match="Did you mean: `Tubstap`"):
        gymnasium.make("Tubstop-v0")


@has_registry
@pytest.mark.parametrize(("form", "name"), [(form, name) for name, forms in PETTINGZOO.items() for form in forms])
@pytest.mark.parametrize("spelling", ["as it is", "underscore", "newest"])
def test_ids_of_pettingzoo(form: str, name: str, spelling: str) -> None:
    written = {"as it is": name, "underscore": name.replace("-v", "_v"), "newest": name.rpartition("-v")[0]}[spelling]
    env = pettingzoo.make(form, written, turn_limit=30)
    assert isinstance(env, FORMS[form])
    assert env.unwrapped.metadata["name"] == name.removeprefix("sandtable/").replace("-v", "_v")
    assert env.unwrapped.game.rules.turn_limit == 30


def test_registering_again_does_nothing() -> None:
    register_environments()


def test_a_pettingzoo_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aec_registry", "parallel_registry", "register", "make", "spec", "EnvSpec"):
        monkeypatch.delattr(pettingzoo, name, raising=False)
    register_environments()
