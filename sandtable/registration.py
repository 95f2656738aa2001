"""The ids of the environments, in Gymnasium's registry and in PettingZoo's where it has one."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

ENVIRONMENTS = {
    "Tubstap-v0": ("sandtable.envs.tubstap.gym:TubstapEnv", "sandtable.envs.tubstap.vector:TubstapVectorEnv"),
}
PETTINGZOO = {"tubstap_v0": "sandtable.envs.tubstap.aec:env"}


def register_environments() -> None:
    """Register every id that is not there yet."""
    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in registry:
            register(id=name, entry_point=single, vector_entry_point=vector)
