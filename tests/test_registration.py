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
from sandtable.registration import ENVIRONMENTS, PETTINGZOO, register_environments

ROOT = Path(__file__).parent.parent
has_registry = pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo before 1.27 has no registry")


def run(code: str) -> str:
    """What a new process prints; a warning is an error in it."""
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_importing_loads_nothing_large() -> None:
    large = ("numba", "torch", "pygame", "stable_baselines3", "sandtable.agents", "sandtable.envs")
    assert run(f"import sys, sandtable; print([name for name in {large} if name in sys.modules])") == "[]"


def test_an_id_with_the_module_needs_no_import() -> None:
    code = "import gymnasium; print(gymnasium.make('sandtable:Tubstap-v0').unwrapped.spec.id)"
    assert run(code) == "Tubstap-v0"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_ids_of_gymnasium(name: str) -> None:
    assert isinstance(gymnasium.make(name).unwrapped, TubstapEnv)
    assert isinstance(gymnasium.make_vec(name, num_envs=2), TubstapVectorEnv)


def test_an_unknown_id_is_answered_with_the_nearest() -> None:
    with pytest.raises(gymnasium.error.NameNotFound, match="Did you mean: `Tubstap`"):
        gymnasium.make("Tubstop-v0")


@has_registry
@pytest.mark.parametrize("name", PETTINGZOO)
@pytest.mark.parametrize("form", ["as it is", "underscore", "newest"])
def test_ids_of_pettingzoo(name: str, form: str) -> None:
    written = {"as it is": name, "underscore": name.replace("-v", "_v"), "newest": name.rpartition("-v")[0]}[form]
    env = pettingzoo.make("aec", written, map="kimura-map01")
    assert isinstance(env, pettingzoo.AECEnv)
    assert env.unwrapped.metadata["name"] == "tubstap_v0"


def test_registering_again_does_nothing() -> None:
    register_environments()


def test_a_pettingzoo_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aec_registry", "parallel_registry", "register", "make", "spec", "EnvSpec"):
        monkeypatch.delattr(pettingzoo, name, raising=False)
    register_environments()
