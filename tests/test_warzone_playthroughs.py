"""Games of Warzone that anyone can read, and that today's engine must play again letter by letter.

tests/playthroughs/warzone holds one game for each shipped map and one for each ruleset. After a wanted change of the
rules or the notation write them anew with `pytest tests/test_warzone_playthroughs.py --regenerate-playthroughs` and
read the difference.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sandtable
from sandtable.envs.warzone.notation import orders_text
from sandtable.envs.warzone.position import PLAYERS, Order, Position
from sandtable.envs.warzone.rulesets import RULESETS
from sandtable.envs.warzone.sources import source_names

FOLDER = Path(__file__).parent / "playthroughs" / "warzone"
RULESET_MAP = "owl_island"
SHORT = 6
"""The turn limit of the games that show the maps."""
WINNERS = {1: "red wins", -1: "blue wins", 0: "a draw"}


class Script(NamedTuple):
    """What a playthrough is a game of."""

    map: str
    rules: str
    options: dict[str, Any]
    seed: int


SCRIPTS = {
    **{f"map-{name}": Script(name, "default", {"turn_limit": SHORT}, seed=1) for name in source_names()},
    **{f"rules-{name}": Script(RULESET_MAP, name, {}, seed=2) for name in RULESETS},
    "start-fair": Script(RULESET_MAP, "default", {"start": "fair", "turn_limit": SHORT}, seed=3),
}


def playthrough(script: Script) -> Iterator[str]:
    """The lines of a random game. Orders are drawn here, so that the engine's random moves do not matter."""
    yield "game: warzone"
    yield f"map: {script.map}"
    yield f"rules: {script.rules}" + "".join(f", {name}={value}" for name, value in script.options.items())
    yield f"seed: {script.seed}"
    game: Any = sandtable.make_game("warzone", map=script.map, rules=script.rules, **script.options)
    state = game.new(1, script.seed)[0]
    rng = random.Random(script.seed)
    while not game.done(state):
        yield from ("", f"turn {game.position(state).turn}", game.to_text(state))
        for side, name in enumerate(PLAYERS):
            if side == 1:
                coin = PLAYERS[game.coin(state) - 1]
            orders = invented(rng, game.position(state), side + 1, game.income(state, side))
            yield f"  {name}, income {game.income(state, side)}: {orders_text(orders) or '-'}"
            state = game.play(state, game.encode(state, orders))
        yield f"  the coin says {coin}"
    yield from ("", f"turn {game.position(state).turn}: the end", game.to_text(state))
    yield f"outcome: {WINNERS[game.outcome(state)]}"


def invented(rng: random.Random, position: Position, player: int, income: int) -> list[Order]:
    """Two deploys at the border, an order from most territories, and one that goes on from where another arrives."""
    land = [i for i, owner in enumerate(position.owner) if owner == player]
    border = [i for i in land if any(position.owner[j] != player for j in position.map.neighbours(i))]
    first = rng.randint(0, income)
    chosen = sorted(rng.sample(border, min(2, len(border))))
    deploys = [(i, i, n) for i, n in zip(chosen, (first, income - first), strict=False) if n]
    sends = [(i, rng.choice(position.map.neighbours(i)), rng.randint(1, 12)) for i in land if rng.random() < 0.9]
    if sends:
        source = rng.choice(sends)[1]
        sends.append((source, rng.choice(position.map.neighbours(source)), 4))
    return deploys + sends


def test_every_map_and_every_ruleset_has_a_playthrough(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--regenerate-playthroughs"):
        pytest.skip("being written")
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(SCRIPTS), (
        "run pytest tests/test_warzone_playthroughs.py --regenerate-playthroughs and delete what is not needed any more"
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_playthrough(name: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.txt"
    lines = list(playthrough(SCRIPTS[name]))
    if request.config.getoption("--regenerate-playthroughs"):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8").splitlines() == lines
