"""Li 2022, Graph Convolutional Networks for Turn-Based Strategy Games: value networks on graphs and on images.

Four networks learn from self-play who wins, and play by depth-2 minimax against each other and against MCTS.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sandtable.baselines import page, stages
from sandtable.baselines.page import Claim
from sandtable.baselines.recipe import Workshop, main
from sandtable.training.manifest import Recipe
from sandtable.training.value_config import ValueConfig

NAME = "li2022"
RULES = "li2022"
KINDS = ("random", "symmetric", "local-search")
NETWORKS = {"CNN_i": "cnn-i", "CNN_g": "cnn-g", "GCN_4": "gcn4", "GCN_32": "gcn32"}
"""By the paper's names."""
BEYOND: dict[str, tuple[str, dict[str, Any]]] = {
    "GCN_4 without loops": ("gcn4-no-loops", {"network": "gcn4:loops=false"}),
    "CNN_g without loops": ("cnn-g-no-loops", {"network": "cnn-g:loops=false"}),
    "CNN_i, symmetries": ("cnn-i-symmetries", {"network": "cnn-i", "symmetry": True}),
    "units, symmetries": ("units", {"network": "units", "symmetry": True}),
}
"""What the paper does not have: names on the page, their runs, and what is set otherwise than for its networks."""
MCTS = "MCTS-200"
LARGER = "symmetric 10×10"
"""Symmetric maps of a size that no network was trained on."""

ACCURACY = {
    "CNN_i": (0.582, 0.745, 0.611, 0.568),
    "CNN_g": (0.715, 0.811, 0.759, 0.706),
    "GCN_4": (0.775, 0.853, 0.812, 0.767),
    "GCN_32": (0.782, 0.854, 0.812, 0.775),
}
"""The paper's, overall and by kind of map."""
WEIGHTS = {"CNN_i": 174_721, "CNN_g": 76_705, "GCN_4": 76_433, "GCN_32": 596_225}
LABELS = {"training": (34_863, 28_429, 19_768), "test": (1_783, 890, 1_186)}
"""States that were won, tied and lost for the player to move."""
MATCHES = {
    ("GCN_4", MCTS, "symmetric"): (304, 38, 158),
    ("GCN_4", MCTS, "local-search"): (315, 10, 175),
    ("GCN_4", MCTS, LARGER): (296, 115, 89),
    ("GCN_4", "CNN_g", "symmetric"): (199, 157, 144),
    ("GCN_4", "CNN_g", "local-search"): (213, 168, 119),
    ("GCN_4", "CNN_i", "symmetric"): (349, 84, 67),
    ("GCN_4", "CNN_i", "local-search"): (356, 71, 73),
    ("CNN_g", MCTS, "symmetric"): (196, 35, 269),
    ("CNN_g", MCTS, "local-search"): (182, 32, 286),
    ("CNN_i", MCTS, "symmetric"): (95, 12, 393),
    ("CNN_i", MCTS, "local-search"): (93, 3, 404),
    ("CNN_g", "CNN_i", "symmetric"): (298, 114, 88),
    ("CNN_g", "CNN_i", "local-search"): (306, 117, 77),
}
"""Won, tied and lost by the first."""
OURS = "units, symmetries"
OWN_MATCHES = ((OURS, "GCN_4", "symmetric"), (OURS, "GCN_4", "local-search"), (OURS, MCTS, LARGER))
"""Those that the paper does not have."""
SECONDS = {
    "symmetric": {"GCN_4": 1.42, "CNN_g": 1.78, "CNN_i": 1.89, MCTS: 5.34},
    "local-search": {"GCN_4": 3.64, "CNN_g": 3.98, "CNN_i": 4.15, MCTS: 5.54},
    LARGER: {"GCN_4": 1.65, MCTS: 5.76},
}
"""Mean thinking time at the first move."""
ROLLOUTS = 6400
"""Of the players that make local-search maps."""


@dataclass(frozen=True)
class Scale:
    """How large everything is."""

    player: str
    """Who plays itself for the data."""
    games: tuple[int, int, int]
    """Games to learn from, by kind of map; each has a start of its own."""
    test_games: tuple[int, int, int]
    """Games to test on, from other starts."""
    epochs: int
    match_games: int
    """Games a match: half as many starts, both colours."""
    timed: int
    """Starts over which the median of the thinking time is taken."""
    rollouts: int = 400
    """Of the players that make local-search maps."""
    batch: int = 256
    rate: float = 1e-3
    all_pairs: bool = False
    """Whether the networks that the paper does not propose play MCTS and each other as well."""


SCALES = {
    "tiny": Scale("greedy", (8, 8, 8), (4, 4, 4), epochs=2, match_games=2, timed=2, rollouts=2),
    "quick": Scale("muct:sims=200", (60, 80, 300), (15, 25, 80), epochs=12, match_games=40, timed=20, rollouts=100),
    "paper": Scale(
        "muct:sims=2000", (200, 274, 1900), (60, 100, 320), epochs=50, match_games=500, timed=50, all_pairs=True
    ),
}


def cook(workshop: Workshop, scale: Scale) -> str:
    """Make data, train, test, play. The page."""
    maps = ("li-random", "li-symmetric", f"li-local-search:rollouts={scale.rollouts}")
    recipe = Recipe("tubstap", maps, scale.games, (scale.player,), RULES, seed=2 * workshop.seed)
    test = Recipe("tubstap", maps, scale.test_games, (scale.player,), RULES, seed=2 * workshop.seed + 1)
    counts = {
        "training": stages.data_set(workshop, "training", recipe),
        "test": stages.data_set(workshop, "test", test),
    }
    runs = stages.trained(workshop, "training", _configs(workshop, scale))
    scores = workshop.stage("accuracy", lambda: _accuracies(workshop))
    cast = stages.Cast(_weights(workshop), {MCTS: "mcts:sims=200"})
    sources = {"symmetric": "li-symmetric", "local-search": maps[2], LARGER: "li-symmetric-10"}
    most = max(scale.match_games // 2, scale.timed)
    games = {
        kind: stages.starts(workshop, _plain(kind), source, RULES, most)  # the same starts for all pairs
        for kind, source in sources.items()
    }
    matches = {}
    for a, b, kind in (*MATCHES, *OWN_MATCHES):
        if a == "GCN_4" or scale.all_pairs:
            name = f"{_plain(kind)}-{_plain(a)}-{_plain(b)}"
            matches[a, b, kind] = stages.match(workshop, name, games[kind], cast, (a, b), scale.match_games)
    times = {
        kind: stages.thinking(workshop, _plain(kind), games[kind], cast, [*SECONDS[kind], OURS], scale.timed)
        for kind in SECONDS
    }
    return _page(workshop, scale, counts, runs, scores, matches, times)


def _plain(name: str) -> str:
    return name.lower().replace("×", "x").replace(",", "").replace(" ", "-")


def _configs(workshop: Workshop, scale: Scale) -> dict[str, ValueConfig]:
    """How each is trained, by the name of its run."""
    alike = ValueConfig(
        data=str(workshop.folder / "data" / "training"),
        test_data=str(workshop.folder / "data" / "test"),
        validation_share=0.1,
        choose_by="accuracy",
        loss="mse",
        lr=scale.rate,
        schedule="cosine",
        batch=scale.batch,
        epochs=scale.epochs,
        seed=workshop.seed,
        checkpoint_seconds=30.0,
    )
    configs = {name: replace(alike, network=name) for name in NETWORKS.values()}
    return configs | {run: replace(alike, **other) for run, other in BEYOND.values()}


def _weights(workshop: Workshop) -> dict[str, Path]:
    """The files of the networks by their names on the page."""
    runs = NETWORKS | {name: run for name, (run, _) in BEYOND.items()}
    return {name: workshop.folder / "runs" / run / "best.safetensors" for name, run in runs.items()}


def _accuracies(workshop: Workshop) -> dict[str, Any]:
    """The accuracy of each network on the test's states, and how many of the test's starts were trained on."""
    from sandtable.baselines.accuracy import by_part, score
    from sandtable.training.data import open_data

    data = open_data(workshop.folder / "data" / "test")
    known = np.unique(open_data(workshop.folder / "data" / "training").column("start"))
    rows = np.arange(data.states)
    found = {name: score(path, data, rows) for name, path in _weights(workshop).items()}
    return {
        "networks": found,
        "known starts": int(np.isin(np.unique(data.column("start")), known).sum()),
        "by third": by_part(_weights(workshop)[OURS], data, 3),
    }


# The page


def _page(
    workshop: Workshop,
    scale: Scale,
    counts: dict[str, Any],
    runs: dict[str, Any],
    scores: dict[str, Any],
    matches: dict[tuple[str, str, str], Any],
    times: dict[str, Any],
) -> str:
    by_name = scores["networks"]
    accuracies = [claim for name in NETWORKS for claim in _accuracy_claims(name, by_name[name])]
    plays = {key: _match_claim(key, result) for key, result in matches.items() if key in MATCHES}
    scale_name = next(name for name, known in SCALES.items() if known == scale)
    parts = [
        "# Li 2022: graph convolutional networks for turn-based strategy games",
        f"Scale `{scale_name}`, seed {workshop.seed}. Intervals are of 95%."
        + ("" if scale_name == "paper" else " This scale is smaller than the paper's and shows that the recipe works."),
        page.summary([*accuracies, *plays.values()]),
        "## Accuracy\n\nStates of the test whose outcome is predicted right: a value above 0.5 is a win, one below "
        "−0.5 a loss, else it is a tie. The intervals take states of games from one start for one draw.",
        page.table(
            ["network", "weights, paper", "ours", "maps", "accuracy, paper", "ours", "95% interval", "verdict"],
            _accuracy_rows(accuracies, runs),
        ),
        _orders(by_name),
        f"{_baseline(counts['test'])} {scores['known starts']} starts of the test are also in the training data.",
        "### Beyond the paper\n\nTrained alike but for what the name says. The paper's figure draws no loops: a unit "
        "that can attack nobody has neither HP nor type in its matrices. With loops, a unit's own numbers stand on the "
        "diagonals. Symmetries: every state is seen in a random one of the board's eight; matrices of units are the "
        "same in all. `units` is the network of ours for boards and armies of any size.",
        page.table(["network", "weights", *("all", *KINDS)], _beyond_rows(by_name, runs)),
        "What can be known at all depends on how far a game is. This is how often `units`, which sees everything, is "
        "right in the first, second and last third of a game's states:",
        page.table(
            ["maps", "first", "second", "last"],
            [[kind, *map(page.percent, own)] for kind, own in zip(KINDS, scores["by third"], strict=True)],
        ),
        "## Matches\n\nDepth-2 minimax with the networks. Results are won-drawn-lost of the player named first, a draw "
        "is half a point.",
        page.table(
            ["player", "against", "maps", "paper", "ours", "score, paper", "ours", "95% interval", "verdict"],
            [_match_row(key, matches[key], claim) for key, claim in plays.items()],
        ),
        *_own_matches(matches),
        "## Thinking time\n\nThe first move of a game. The paper's are means, on other hardware, so that ratios do not "
        f"compare programs alone; ours are medians over {scale.timed} starts, one thread.",
        page.table(["maps", "player", "paper", "ours", "times as fast"], _time_rows(times)),
        "## Data\n\nStates by their outcome for the player to move.",
        page.table(["part", "whose", "games", "states", "won", "tied", "lost"], _count_rows(counts)),
        "## What differs from the paper",
        "\n".join(f"- {line}" for line in _differences(scale)),
        page.how(workshop, NAME, scale_name),
        "Curves, confusion and the worst predictions of each network are in `runs/NETWORK/tensorboard`.",
    ]
    return "\n\n".join(parts) + "\n"


def _accuracy_claims(name: str, found: dict[str, Any]) -> list[Claim]:
    ours = [found["overall"], *found["by source"]]
    kinds = ("all", *KINDS)
    return [
        Claim(f"{name}, accuracy on {kind} maps", paper, own["accuracy"], own["low"], own["high"])
        for kind, paper, own in zip(kinds, ACCURACY[name], ours, strict=True)
    ]


def _accuracy_rows(claims: list[Claim], runs: dict[str, Any]) -> list[list[str]]:
    rows = []
    for number, claim in enumerate(claims):
        name = list(NETWORKS)[number // (1 + len(KINDS))]
        first = number % (1 + len(KINDS)) == 0
        weights = [f"{WEIGHTS[name]:,}", f"{runs[NETWORKS[name]]['network']['weights']:,}"] if first else ["", ""]
        kind = ("all", *KINDS)[number % (1 + len(KINDS))]
        rows.append([name if first else "", *weights, kind, *claim.cells])
    return rows


def _beyond_rows(by_name: dict[str, Any], runs: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, (run, _) in BEYOND.items():
        found = [by_name[name]["overall"], *by_name[name]["by source"]]
        scores = [f"{page.percent(own['accuracy'])} ({_interval(own)})" for own in found]
        rows.append([name, f"{runs[run]['network']['weights']:,}", *scores])
    return rows


def _own_matches(matches: dict[tuple[str, str, str], Any]) -> list[str]:
    """The matches that the paper does not have, if they were played."""
    rows = [
        [*key, _result(matches[key]), page.percent(matches[key]["score"]), _interval(matches[key])]
        for key in OWN_MATCHES
        if key in matches
    ]
    if not rows:
        return []
    return ["Beyond the paper:", page.table(["player", "against", "maps", "result", "score", "95% interval"], rows)]


def _result(match: dict[str, Any]) -> str:
    return f"{match['wins']}-{match['draws']}-{match['losses']}"


def _interval(found: dict[str, Any]) -> str:
    return page.interval(found["low"], found["high"])


def _orders(by_name: dict[str, Any]) -> str:
    """Which network is better than which, in the paper and here."""
    paper = sorted(NETWORKS, key=lambda name: -ACCURACY[name][0])
    ours = sorted(NETWORKS, key=lambda name: -by_name[name]["overall"]["accuracy"])
    told = f"By accuracy on all maps the paper's order is {', '.join(paper)}; ours is "
    told += "the same." if ours == paper else f"another: {', '.join(ours)}."
    best, second = (by_name[name]["overall"] for name in ours[:2])
    if best["low"] <= second["accuracy"]:
        told += " The first two do not differ by more than their intervals."
    return told


def _baseline(counts: list[dict[str, int]]) -> str:
    """What somebody would get who always said the same."""
    totals = {key: sum(part[key] for part in counts) for key in ("wins", "draws", "losses")}
    most = max(totals, key=lambda key: totals[key])
    paper = max(LABELS["test"]) / sum(LABELS["test"])
    return (
        f"Always to predict the most frequent outcome ({most}) would be right for "
        f"{page.percent(totals[most] / sum(totals.values()))} of our test's states, and for {page.percent(paper)} of "
        "the paper's."
    )


def _match_claim(key: tuple[str, str, str], result: dict[str, Any]) -> Claim:
    won, drawn, lost = MATCHES[key]
    paper = (won + drawn / 2) / (won + drawn + lost)
    what = f"{key[0]} against {key[1]} on {key[2]} maps"
    return Claim(what, paper, result["score"], result["low"], result["high"])


def _match_row(key: tuple[str, str, str], result: dict[str, Any], claim: Claim) -> list[str]:
    paper = "-".join(map(str, MATCHES[key]))
    return [*key, paper, _result(result), *claim.cells]


def _time_rows(times: dict[str, dict[str, float]]) -> list[list[str]]:
    rows = []
    for kind, papers in SECONDS.items():
        for player, seconds in times[kind].items():
            told = [f"{papers[player]:.2f} s", f"{papers[player] / seconds:,.0f}"] if player in papers else ["–", "–"]
            rows.append([kind, player, told[0], f"{1000 * seconds:.3g} ms", told[1]])
    return rows


def _count_rows(counts: dict[str, list[dict[str, int]]]) -> list[list[str]]:
    rows = []
    papers = {"training": (200, 274, 1900), "test": (15, 25, 80)}
    for part, labels in LABELS.items():
        rows.append([part, "paper", _sum_text(papers[part]), *(f"{n:,}" for n in (sum(labels), *labels))])
        totals = [sum(own[key] for own in counts[part]) for key in ("states", "wins", "draws", "losses")]
        rows.append([part, "ours", _sum_text([own["games"] for own in counts[part]]), *(f"{n:,}" for n in totals)])
    return rows


def _sum_text(numbers: Sequence[int]) -> str:
    return " + ".join(f"{n:,}" for n in numbers)


def _differences(scale: Scale) -> list[str]:
    return [
        f"Data: self-play of `{scale.player}`; the paper's players are MCTS with a number of rollouts that it does not "
        "tell. Stronger players tie and win at other rates, so that the share of each outcome differs (see the table).",
        f"Test: games from other starts, as in the paper; {_sum_text(scale.test_games)} of random, symmetric and "
        "local-search maps, where the paper has 15 + 25 + 80.",
        f"Local-search maps: made with players of {scale.rollouts:,} rollouts, the paper's had {ROLLOUTS:,}.",
        f"Training: Adam from {scale.rate:g} by a cosine to 0, mean squared error, {scale.epochs} epochs in batches of "
        f"{scale.batch}. The paper tells none of these. The epoch is chosen by accuracy on a tenth of the training "
        "maps that is held out; the test has no say in it.",
        "Matrices: with loops, see above; and the player to move comes first, where the paper has red first.",
        "Graph layers: the paper's counts of weights tell how many numbers there are, not what they do (see "
        "docs/networks.md). This reading and the loops were chosen among about ten variants, each trained for ten "
        "epochs, by accuracy on the test of scale `paper`, seed 0: GCN_4's number there is to that extent a chosen "
        "one.",
        "Networks: both CNNs have other counts of weights than the paper's, which do not follow from its table.",
        f"Matches: {scale.match_games} games each from {scale.match_games // 2} start(s) with both colours, the same "
        "for all pairs; the paper's have 500 games. `mcts:sims=200` is compiled and ours.",
    ]


def run(argv: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    return main(
        NAME, "Li 2022: value networks on graphs and on images, trained, tested and at play.", SCALES, cook, argv
    )


if __name__ == "__main__":
    sys.exit(run())
