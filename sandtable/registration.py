"""The ids of the environments, in Gymnasium's registry and in PettingZoo's where it has one."""

from __future__ import annotations

import gymnasium
import pettingzoo

ENVIRONMENTS = {
    "Tubstap-v0": ("sandtable.envs.tubstap.gym:TubstapEnv", "sandtable.envs.tubstap.vector:TubstapVectorEnv"),
}
PETTINGZOO = {"sandtable/tubstap-v0": "sandtable.envs.tubstap.aec:env"}


def register_environments() -> None:
    """Register every id that is not there yet."""
    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=single, vector_entry_point=vector)
    # PettingZoo has a registry since 1.27.
    if hasattr(pettingzoo, "aec_registry"):
        for name, entry_point in PETTINGZOO.items():
            if name not in pettingzoo.aec_registry:
                pettingzoo.register("aec", name, entry_point)
