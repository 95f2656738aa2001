"""The options of learning by self-play, and presets of them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from sandtable.envs.games import make_game
from sandtable.names import unknown_name
from sandtable.training.options import key_and_value, number, one_of, setting, specs, truth, whole

if TYPE_CHECKING:
    from sandtable.agents.pvmcts import SearchOptions
    from sandtable.envs.game import Game
    from sandtable.training.learner import LearnOptions
    from sandtable.training.selfplay_pv import PlayOptions

Options = TypeVar("Options")


def numbers(text: str) -> tuple[float, ...]:
    return tuple(number(0)(part) for part in text.split(","))


def stage(text: str) -> tuple[str, dict[str, float]]:
    """ "20: narrows=1,siege=2" → ("20", {"narrows": 1.0, "siege": 2.0}): from when on, and the weights of maps."""
    when, colon, rest = text.partition(":")
    weights = {}
    for part in rest.split(","):
        name, equals, weight = part.strip().rpartition("=")
        if not colon or not when.strip().isdecimal() or not equals or not name:
            raise argparse.ArgumentTypeError(f"{text!r} should be GENERATION:MAP=WEIGHT,…, such as '20: narrows=1'")
        weights[name] = number(0)(weight)
    return str(int(when)), weights


@dataclass(frozen=True)
class PvConfig:
    """Everything that decides how a run ends."""

    # Where it is played
    game: str = setting("tubstap", "the game", metavar="NAME")
    map: tuple[str, ...] = setting((), "sources of maps, by name or file", specs, "SOURCE[,SOURCE…]")
    map_weights: tuple[float, ...] = setting(
        (), "shares of the sources in the games, one number for each; none: all alike", numbers, "X[,X…]"
    )
    stage: Mapping[str, Any] = setting(
        {},
        "other shares from a generation on, 0 for sources that are not named; may be given again",
        stage,
        "GENERATION:SOURCE=X[,SOURCE=X…]",
        action="append",
    )
    rules: str | None = setting(None, "a ruleset, the game's own if none", metavar="NAME")
    option: Mapping[str, Any] = setting(
        {}, "one option of the rules or of the map; may be given again", key_and_value, "KEY=VALUE", action="append"
    )
    network: str = setting(
        "", "the network to train, with its options, or a file of one to go on from", metavar="NAME[:KEY=VALUE,…]|FILE"
    )
    # Self-play
    workers: int | None = setting(
        None, "processes that play, each its own games; 0: this one does everything; none: all cores", whole(0), "N"
    )
    games: int = setting(128, "games side by side in each process, of all sources together", whole(1), "N")
    rounds: int = setting(4, "moves of every game in a generation", whole(1), "N")
    sims: int = setting(64, "simulations of a full search", whole(1), "N")
    fast_sims: int = setting(16, "simulations of the others, whose policy is not learned", whole(1), "N")
    full_share: float = setting(1.0, "the share of full searches", number(0, 1), "X")
    temperature: float = setting(
        0.0, "at a game's first move, moves are drawn by visits^(1/X); 0: the best is played", number(0), "X"
    )
    half_life: float = setting(10.0, "after so many moves the temperature is half of that", number(0.1), "X")
    opening: int = setting(0, "games begin with 0 to so many random moves", whole(0), "N")
    most_plies: int = setting(1000, "a game with so many moves is a draw", whole(1), "N")
    # The search
    c: float = setting(1.25, "how much exploration counts", number(0), "X")
    attack: float = setting(0.0, "an attack's bound is higher by X/(1 + visits)", number(0), "X")
    fpu: float = setting(0.2, "an untried move is so much worse than its node; -1: a draw", number(-1), "X")
    trust: float = setting(1.0, "the share of the network's policy in priors, the rest is even", number(0, 1), "X")
    greedy: bool = setting(False, "the move of the game's hand-written player is tried as well", truth)
    leaves: int = setting(1, "leaves of a tree that are judged at once", whole(1), "N")
    gumbel: bool = setting(True, "simulations at the root go by sequential halving, with Gumbel noise", truth)
    considered: int = setting(16, "how many moves that begins with", whole(1), "N")
    sharpness: float = setting(1.0, "how much values count there", number(0), "X")
    noise: float = setting(0.25, "the share of Dirichlet noise at the root", number(0, 1), "X")
    alpha: float = setting(10.0, "its concentration, of all moves together", number(0.001), "X")
    symmetries: int = setting(1, "each leaf is judged in so many symmetries of the board", whole(1), "N")
    joint: bool = setting(False, "both sides choose at once at a node, where a game has them do so", truth)
    # Learning
    replay: int = setting(200_000, "the newest positions, which are learned from", whole(1), "N")
    reuse: float = setting(3.0, "how often a position is learned from, on average", number(0), "X")
    batch: int = setting(512, "positions a step", whole(1), "N")
    symmetric: bool = setting(True, "see each position in a random symmetry of its board", truth)
    optimiser: str = setting("adam", "adam, or sgd with Nesterov momentum", one_of("adam", "sgd"), "NAME")
    lr: float = setting(1e-3, "the learning rate", number(0, 1e3), "X")
    schedule: str = setting(
        "constant",
        "how it changes over the run: constant, cosine (to 0) or steps (×0.3 half-way, ×0.1 after three quarters)",
        one_of("constant", "cosine", "steps"),
        "NAME",
    )
    warm_up: int = setting(100, "steps over which it grows to its full size", whole(0), "N")
    momentum: float = setting(0.9, "of sgd", number(0, 1), "X")
    weight_decay: float = setting(1e-4, "L2 regularisation", number(0, 1e3), "X")
    clip: float = setting(1.0, "the longest gradient, cut to that length; 0: any", number(0), "X")
    value_weight: float = setting(1.0, "how much errors of values count beside those of the policy", number(0), "X")
    search_share: float = setting(
        0.3, "the share of the search's value in what values learn; the rest is the outcome", number(0, 1), "X"
    )
    threads: int = setting(1, "threads of torch for learning", whole(1), "N")
    device: str = setting("auto", "where the network learns: cpu, cuda, or auto: a GPU if there is one", metavar="NAME")
    # The run
    minutes: float = setting(0.0, "end after so much work, that before a resume counted; 0: no limit", number(0), "X")
    generations: int = setting(0, "end after so many generations; 0: no limit", whole(0), "N")
    seed: int = setting(0, "of first weights, games and order", whole(0), "S")
    gate: float = setting(
        0.0, "only a network that scores so much against the best so far plays itself; 0: every one", number(0, 1), "X"
    )
    gate_games: int = setting(40, "games of that match", whole(2), "N")
    gate_every: int = setting(1, "generations between such matches", whole(1), "N")
    ladder_every: int = setting(0, "generations between climbs of the ladder; 0: only at the end", whole(0), "N")
    ladder_games: int = setting(40, "games against each rung; 0: no ladder", whole(0), "N")
    ladder_sims: int = setting(64, "simulations a move there, and in matches of the gate", whole(1), "N")
    ladder_map: str = setting("", "the source of maps for both, the first of --map if none", metavar="SOURCE")
    checkpoint_seconds: float = setting(120.0, "time between checkpoints, at ends of generations", number(0), "X")
    keep: int = setting(2, "how many checkpoints stay", whole(1), "N")

    def __post_init__(self) -> None:
        if len(set(self.map)) < len(self.map):
            raise ValueError(f"--map: a source is named twice: {', '.join(self.map)}")
        if self.map_weights and len(self.map_weights) != len(self.map):
            given = len(self.map_weights)
            raise ValueError(f"--map-weights: {len(self.map)} sources of maps need as many, got {given}")
        if self.map_weights and not sum(self.map_weights):
            raise ValueError("--map-weights: one of them must be above 0")
        for when, weights in self.stage.items():
            if not when.isdecimal():
                raise ValueError(f"--stage: {when!r} is not the number of a generation")
            _require_weights(weights, self.map)

    @property
    def players(self) -> int:
        """How many players there are, each with games of its own."""
        return max(self.workers or 0, 1)

    @property
    def learning_device(self) -> str:
        """Where the network learns."""
        if self.device != "auto":
            return self.device
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"

    def weights_at(self, generation: int) -> list[float]:
        """The shares of the sources of maps in a generation."""
        begun = [when for when in self.stage if int(when) <= generation]
        if begun:
            named = self.stage[max(begun, key=int)]
            return [float(named.get(source, 0.0)) for source in self.map]
        return list(self.map_weights) or [1.0] * len(self.map)

    def make_games(self) -> list[Game]:
        """The game on each source of maps."""
        return [self.make_game(source) for source in self.map]

    def make_game(self, source: str) -> Game:
        named = {"rules": self.rules} if self.rules is not None else {}
        return make_game(self.game, map=source, **named, **self.option)

    @property
    def search_options(self) -> SearchOptions:
        from sandtable.agents.pvmcts import SearchOptions

        return self._part(SearchOptions)

    @property
    def play_options(self) -> PlayOptions:
        from sandtable.training.selfplay_pv import PlayOptions

        return self._part(PlayOptions, search=self.search_options)

    @property
    def learn_options(self) -> LearnOptions:
        from sandtable.training.learner import LearnOptions

        return self._part(LearnOptions)

    def _part(self, kind: type[Options], **more: Any) -> Options:
        """The options of some part of the work, which have the names that they have here."""
        named = {one.name: getattr(self, one.name) for one in fields(kind) if one.name not in more}  # type: ignore[arg-type]
        return kind(**named, **more)


def _require_weights(weights: Any, sources: tuple[str, ...]) -> None:
    """A ValueError if these are no weights of sources of maps, as a stage has them."""
    if not isinstance(weights, dict) or not all(type(weight) in (int, float) for weight in weights.values()):
        raise ValueError(f"--stage: {weights!r} should be an object of sources and weights")
    for name in weights:
        if name not in sources:
            raise ValueError(f"--stage: {unknown_name('source of maps', name, sources)}")
    if not min(weights.values(), default=0) >= 0 or not max(weights.values(), default=0) > 0:
        raise ValueError("--stage: no weight may be below 0, and one of them must be above")


def preset(name: str) -> dict[str, Any]:
    """The settings of a preset, which are laid over the defaults."""
    if name not in PRESETS:
        raise ValueError(f"--preset: {unknown_name('preset', name, PRESETS)}")
    found = dict(PRESETS[name])
    if (constants := found.pop("search", None)) is not None:
        from sandtable.agents.pvmcts import PRESETS as SEARCHES

        found |= {key: value for key, value in SEARCHES[constants].items() if key != "reuse"}
    return found


PRESETS: dict[str, dict[str, Any]] = {
    "quick": {
        "map": ("kimura-map01", "kimura-random"),
        "rules": "kimura2020",
        "network": "units",
        "sims": 32,
        "minutes": 4.0,
        "ladder_every": 50,
    },
    "kimura2020": {
        "map": ("kimura-random",),
        "rules": "kimura2020",
        "network": "kimura",
        "search": "kimura2020",
        "gumbel": False,
        "temperature": 1.0,
        "optimiser": "sgd",
        "lr": 0.02,
        "batch": 128,
        "search_share": 0.0,
        "ladder_map": "kimura-map01",
    },
    "soares2025": {
        "game": "warzone",
        "map": ("owl_island",),
        "network": "soares",
        "search": "soares2025",
        "gumbel": False,
        "temperature": 1.0,
        "batch": 32,
        "search_share": 0.0,
    },
}
"""Settings by name. "search": with the constants of the search of that name, those of a paper."""
