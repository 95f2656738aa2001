"""Takahashi 2023, Combined Graph Representation and Image Representation in TUBSTAP: five networks predict who wins.

Each is trained twice: with the paper's split, where states of one game stand on both sides, and with one by map.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sandtable.baselines import page, stages
from sandtable.baselines.page import Claim
from sandtable.baselines.recipe import Workshop, main
from sandtable.matches.elo import score_interval
from sandtable.training.manifest import Recipe
from sandtable.training.value_config import ValueConfig

NAME = "takahashi2023"
RULES = "takahashi2023"
KINDS = ("simple", "complex")
SPLITS = ("state", "map")
NETWORKS = {
    "GCN": "takahashi-gcn",
    "CNN": "takahashi-cnn",
    "A": "takahashi-a",
    "B": "takahashi-b",
    "C": "takahashi-c",
}
"""By the paper's names."""
TEST = {
    "simple": {"GCN": 0.934, "CNN": 0.857, "A": 0.924, "B": 0.926, "C": 0.879},
    "complex": {"GCN": 0.900, "CNN": 0.822, "A": 0.887, "B": 0.891, "C": 0.855},
}
"""The paper's accuracy on its test, at the epoch where that is highest."""
TRAIN = {
    "simple": {"GCN": 0.942, "CNN": 0.956, "A": 0.958, "B": 0.965, "C": 0.955},
    "complex": {"GCN": 0.917, "CNN": 0.968, "A": 0.943, "B": 0.949, "C": 0.917},
}
"""The paper's accuracy on what was learned from."""
MAPS = 5_000
LABELS = {"simple": (69_121, 2_569, 45_766), "complex": (102_831, 5_959, 66_743)}
"""States that were won, drawn and lost for the player to move."""
TEST_SHARE, RATE = 0.2, 1e-3


@dataclass(frozen=True)
class Scale:
    """How large everything is."""

    player: str
    """Who plays itself for the data."""
    maps: int
    """Maps of each kind, one game on each."""
    epochs: int = 50
    batch: int = 2_000


SCALES = {
    "tiny": Scale("greedy", maps=10, epochs=2, batch=64),
    "quick": Scale("muct:sims=200", maps=250, epochs=12, batch=250),
    "paper": Scale("muct:sims=2000", maps=MAPS),
}


def cook(workshop: Workshop, scale: Scale) -> str:
    """Make data, train with both splits, test. The page."""
    counts: dict[str, dict[str, int]] = {}
    runs: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    for kind in KINDS:
        recipe = Recipe("tubstap", (f"takahashi-{kind}",), (scale.maps,), (scale.player,), RULES, seed=workshop.seed)
        (counts[kind],) = stages.data_set(workshop, kind, recipe)
    for kind in KINDS:
        configs = {
            _run(kind, split, name): _config(workshop, scale, kind, split, name)
            for split in SPLITS
            for name in NETWORKS
        }
        runs |= stages.trained(workshop, f"training-{kind}", configs)
        scores[kind] = workshop.stage(f"accuracy-{kind}", partial(_accuracies, workshop, scale, kind))
    return _page(workshop, scale, counts, runs, scores)


def _run(kind: str, split: str, name: str) -> str:
    return f"{kind}-by-{split}-{NETWORKS[name]}"


def _config(workshop: Workshop, scale: Scale, kind: str, split: str, name: str) -> ValueConfig:
    """By state: as the paper, without a part that chooses the epoch. By map: a tenth of the rest chooses it."""
    return ValueConfig(
        network=NETWORKS[name],
        data=str(workshop.folder / "data" / kind),
        split=split,
        test_share=TEST_SHARE,
        validation_share=0.0 if split == "state" else 0.1,
        choose_by="accuracy",
        loss="cross-entropy",
        lr=RATE,
        batch=scale.batch,
        epochs=scale.epochs,
        seed=workshop.seed,
        checkpoint_seconds=30.0,
    )


def _accuracies(workshop: Workshop, scale: Scale, kind: str) -> dict[str, Any]:
    """The accuracy of the networks that were trained by map, on the test's states."""
    from sandtable.baselines.accuracy import score
    from sandtable.training.data import open_data
    from sandtable.training.split import split_rows

    data = open_data(workshop.folder / "data" / kind)
    config = _config(workshop, scale, kind, "map", "GCN")
    rows = split_rows(data, "map", config.test_share, config.validation_share, config.seed).test
    return {
        name: score(workshop.folder / "runs" / _run(kind, "map", name) / "best.safetensors", data, rows)["overall"]
        for name in NETWORKS
    }


# The page


def _page(
    workshop: Workshop, scale: Scale, counts: dict[str, Any], runs: dict[str, Any], scores: dict[str, Any]
) -> str:
    scale_name = next(name for name, known in SCALES.items() if known == scale)
    by_state = {(kind, name): _by_state(kind, name, runs) for kind in KINDS for name in NETWORKS}
    by_map = {(kind, name): _by_map(kind, name, scores[kind][name]) for kind in KINDS for name in NETWORKS}
    parts = [
        "# Takahashi 2023: graphs and images together",
        f"Scale `{scale_name}`, seed {workshop.seed}. Intervals are of 95%."
        + ("" if scale_name == "paper" else " This scale is smaller than the paper's and shows that the recipe works."),
        "## Accuracy, split as in the paper",
        "The test is a fifth of all states, so that neighbours from the same games were learned from; the epoch is the "
        "one that is best on the test itself. Intervals take states for independent. "
        + page.summary([*by_state.values()]),
        page.table(
            ["maps", "network", "training, paper", "ours", "test, paper", "ours", "95% interval", "verdict"],
            [_state_row(*key, claim, runs) for key, claim in by_state.items()],
        ),
        _orders({key: claim.ours for key, claim in by_state.items()}),
        "## Accuracy, split by map",
        "The honest number: the test is a fifth of the maps with all their states, and the epoch is chosen on a tenth "
        "of the other maps. Intervals take the states of one map for one draw. The paper has no such numbers; its own "
        "stand beside ours to show what the split does. " + page.summary([*by_map.values()]),
        page.table(
            [
                "maps",
                "network",
                "by state, paper",
                "by map, ours",
                "95% interval",
                "verdict",
                "by state, ours",
                "less by",
            ],
            [_map_row(*key, claim, by_state[key]) for key, claim in by_map.items()],
        ),
        _orders({key: claim.ours for key, claim in by_map.items()}),
        "## Data\n\nStates by their outcome for the player to move.",
        page.table(["maps", "whose", "games", "states", "won", "drawn", "lost"], _count_rows(counts)),
        _baseline(counts),
        "## What differs from the paper",
        "\n".join(f"- {line}" for line in _differences(scale)),
        page.how(workshop, NAME, scale_name),
        "Curves, confusion and the worst predictions of each network are in `runs/RUN/tensorboard`.",
    ]
    return "\n\n".join(parts) + "\n"


def _best_epoch(kind: str, name: str, runs: dict[str, Any]) -> dict[str, float]:
    """The scores of the epoch that is best on the test, of the run split by state."""
    return max(runs[_run(kind, "state", name)]["history"], key=lambda epoch: epoch["test accuracy"])


def _by_state(kind: str, name: str, runs: dict[str, Any]) -> Claim:
    ours = _best_epoch(kind, name, runs)["test accuracy"]
    states = runs[_run(kind, "state", name)]["examples"]["test"]
    return Claim(f"{name} on {kind} maps", TEST[kind][name], ours, *score_interval(ours * states, states))


def _by_map(kind: str, name: str, found: dict[str, Any]) -> Claim:
    return Claim(f"{name} on {kind} maps", TEST[kind][name], found["accuracy"], found["low"], found["high"])


def _state_row(kind: str, name: str, claim: Claim, runs: dict[str, Any]) -> list[str]:
    trained = _best_epoch(kind, name, runs)["train accuracy"]
    return [kind, name, page.percent(TRAIN[kind][name]), page.percent(trained), *claim.cells]


def _map_row(kind: str, name: str, claim: Claim, by_state: Claim) -> list[str]:
    less = f"{100 * (by_state.ours - claim.ours):.1f} points"
    return [kind, name, *claim.cells, page.percent(by_state.ours), less]


def _orders(ours: dict[tuple[str, str], float]) -> str:
    """Which network is better than which, in the paper and here."""
    lines = []
    for kind in KINDS:
        paper = sorted(NETWORKS, key=lambda name: -TEST[kind][name])
        own = sorted(NETWORKS, key=lambda name: -ours[kind, name])
        told = "the same" if own == paper else f"another: {', '.join(own)}"
        lines.append(f"On {kind} maps the paper's order is {', '.join(paper)}; ours is {told}.")
    return " ".join(lines)


def _baseline(counts: dict[str, dict[str, int]]) -> str:
    """What somebody would get who always said the same."""
    lines = []
    for kind in KINDS:
        most = max(("wins", "draws", "losses"), key=lambda key: counts[kind][key])
        ours = counts[kind][most] / counts[kind]["states"]
        paper = max(LABELS[kind]) / sum(LABELS[kind])
        lines.append(f"{page.percent(ours)} on {kind} maps (the paper's: {page.percent(paper)})")
    return f"Always to predict the most frequent outcome would be right for {' and '.join(lines)}."


def _count_rows(counts: dict[str, dict[str, int]]) -> list[list[str]]:
    rows = []
    for kind, labels in LABELS.items():
        rows.append([kind, "paper", *(f"{n:,}" for n in (MAPS, sum(labels), *labels))])
        own = counts[kind]
        rows.append([kind, "ours", *(f"{own[key]:,}" for key in ("games", "states", "wins", "draws", "losses"))])
    return rows


def _differences(scale: Scale) -> list[str]:
    return [
        f"Data: {scale.maps:,} maps of each kind (the paper: {MAPS:,}), one game on each by `{scale.player}`; "
        "the paper's player is the contest's M-UCT as it comes with the platform, `preset=original` here, while `muct` "
        "without a preset is the stronger one.",
        "Networks: widths that the paper does not tell are ours.",
        f"Training: as in the paper Adam at {RATE:g} and cross entropy; {scale.epochs} epochs in batches of "
        f"{scale.batch:,} (the paper: 50 and 2,000). Accuracy on the training part is that of an epoch's batches "
        "before each step, not of the network after it.",
        "By map: of the four fifths that are not the test, a tenth is not learned from but chooses the epoch.",
    ]


def run(argv: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    told = "Takahashi 2023: graphs, images and both together predict who wins; split by state and by map."
    return main(NAME, told, SCALES, cook, argv)


if __name__ == "__main__":
    sys.exit(run())
