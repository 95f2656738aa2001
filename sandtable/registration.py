"""The ids of the environments, in Gymnasium's registry and in PettingZoo's where it has one."""

from __future__ import annotations

import gymnasium
import pettingzoo

ENVIRONMENTS = {
    "Tubstap-v0": ("sandtable.envs.tubstap.gym:TubstapEnv", "sandtable.envs.tubstap.vector:TubstapVectorEnv"),
    "Warzone-v0": ("sandtable.envs.warzone.gym:WarzoneEnv", "sandtable.envs.warzone.vector:WarzoneVectorEnv"),
}
PETTINGZOO = {
    "sandtable/tubstap-v0": {"aec": "sandtable.envs.tubstap.aec:env"},
    "sandtable/warzone-v0": {
        "aec": "sandtable.envs.warzone.aec:env",
        "parallel": "sandtable.envs.warzone.parallel:parallel_env",
    },
}


def register_environments() -> None:
    """Register every id that is not there yet."""
    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=single, vector_entry_point=vector)
    # PettingZoo has a registry since 1.27.
    if hasattr(pettingzoo, "register"):
        for name, forms in PETTINGZOO.items():
            for form, entry_point in forms.items():
                if name not in getattr(pettingzoo, f"{form}_registry"):
                    pettingzoo.register(form, name, entry_point)
