"""TUBSTAP as a Gymnasium environment: one side against an opponent, or both sides in turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandtable.envs.gym import GameEnv
from sandtable.envs.table import refuse_unknown
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import OPTIONS, Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.table import Table


class TubstapEnv(GameEnv):
    """TUBSTAP for one learner.

    map: a name, the path of a .tbsmap file or a Map; rules: a ruleset; observation: "graph", "image", "both" or
    "graph_space"; opponent: the text of an agent, a policy, or None to play both sides in turn (the observation
    is the mover's and info["player"] names it); side: "red", "blue" or "random"; on_illegal: what an illegal
    action does, "forfeit" the game, "raise" or "noop"; render_mode: None, "ansi", "rgb_array" or "human";
    options: single options of the rules or of the source of maps. See docs/tubstap.md.

    Legal actions stand in the observation and in info as "action_mask" and are answered by action_masks(). When
    the game is over, by a forfeit too, the mask is all zero.
    """

    game: Tubstap
    codec: ActionCodec

    def __init__(
        self,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(options, TubstapEnv, OPTIONS)
        super().__init__(Table(1, map, rules, observation, opponent, side, on_illegal, **options), render_mode)
