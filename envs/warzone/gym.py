"""Warzone as a Gymnasium environment: one side against an opponent, or both sides in turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandtable.envs.gym import GameEnv
from sandtable.envs.table import refuse_unknown
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.position import Map, Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.table import OPTIONS, Table


class WarzoneEnv(GameEnv):
    """Warzone for one learner.

    map: a name, the path of a .json file or a Map; rules: a ruleset; start: "random", "fair", "map" or a position;
    action: "genes" (a step is a turn: any N + 2E numbers, repaired to a legal move) or "orders" (a step is one order,
    with a mask); observation: "graph", "image", "both" or "graph_space"; opponent: the text of an agent, a policy, or
    None to play both sides in turn (red's move is kept until blue's is in; the observation is the mover's, who does
    not see it, and info["player"] names the mover); side: "red", "blue" or "random"; on_illegal: what an illegal
    action does, "forfeit" the game, "raise" or "noop"; render_mode: None, "ansi", "rgb_array" or "human"; options:
    single options of the rules.

    With orders, legal actions stand in the observation and in info as "action_mask" and are answered by action_masks();
    when the game is over, by a forfeit too, the mask is all zero. Genes are all legal: there action_masks() tells which
    of their values mean something.
    """

    game: Warzone

    def __init__(
        self,
        map: str | Path | Map | None = None,
        rules: str | Rules = "default",
        start: str | Position = "random",
        action: str = "genes",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(options, WarzoneEnv, OPTIONS)
        table = Table(1, map, rules, start, action, observation, opponent, side, on_illegal, **options)
        super().__init__(table, render_mode)
