"""Games that anyone can read, and that today's engine must play again letter by letter.

tests/playthroughs holds one game for each shipped map and one for each ruleset. After a wanted change of the rules or
the notation write them anew with `pytest tests/test_playthroughs.py --regenerate-playthroughs` and read the difference.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sandtable
from sandtable.envs.tubstap.position import Position
from sandtable.envs.tubstap.rulesets import RULESETS
from sandtable.envs.tubstap.tables import BLUE, RED, TEAMS, UNIT_NAMES
from tests.make_perft import shipped_maps
from tests.reference.tubstap import Action

FOLDER = Path(__file__).parent / "playthroughs"
RULESET_MAP = "skirmish"
SHORT = 6
"""The turn limit of the games that show the maps: big armies fill many lines."""
WINNERS = {1: "red wins", -1: "blue wins", 0: "a draw"}


class Script(NamedTuple):
    """What a playthrough is a game of."""

    map: str
    rules: str
    options: dict[str, Any]
    seed: int


SCRIPTS = {
    **{f"map-{name}": Script(name, "official", {"turn_limit": SHORT}, seed=1) for name in shipped_maps()},
    **{f"rules-{name}": Script(RULESET_MAP, name, {}, seed=2) for name in RULESETS},
}


def playthrough(script: Script) -> Iterator[str]:
    """The lines of a random game. Moves are drawn from the sorted list, so that their order in the engine and its
    random numbers do not matter."""
    yield "game: tubstap"
    yield f"map: {script.map}"
    yield f"rules: {script.rules}" + "".join(f", {name}={value}" for name, value in script.options.items())
    yield f"seed: {script.seed}"
    game: Any = sandtable.make_game("tubstap", map=script.map, rules=script.rules, **script.options)
    state = game.new(1, script.seed)[0]
    rng = random.Random(script.seed)
    turn = -1
    while not game.done(state):
        before = game.position(state)
        if before.turn != turn:
            turn = before.turn
            yield from ("", f"turn {turn}: {TEAMS[game.player(state)]} to move", game.to_text(state))
        moves = sorted(game.decode(state, move) for move in game.moves(state))
        move = pick(rng, moves)
        state = game.play(state, game.encode(state, *move))
        yield f"  {len(moves):4} moves  {told(move, before, game.position(state))}"
    yield from ("", f"turn {game.position(state).turn}: the end", game.to_text(state))
    yield f"outcome: {WINNERS[game.outcome(state)]}, HP {hp_sum(game, state, RED)} : {hp_sum(game, state, BLUE)}"


def pick(rng: random.Random, moves: list[Action]) -> Action:
    """An attack in three cases of four, for the sake of a story."""
    attacks = [move for move in moves if move[3] >= 0]
    return rng.choice(attacks if attacks and rng.random() < 0.75 else moves)


def told(move: Action, before: Position, after: Position) -> str:
    """A move in words, with what it did."""
    unit, x, y, target = move
    then, now = before.map.units, after.map.units
    here = then[unit]
    text = f"{UNIT_NAMES[here.kind]} {unit} "
    text += f"stays at {x},{y}" if (x, y) == (here.x, here.y) else f"goes {here.x},{here.y} to {x},{y}"
    if target < 0:
        return text
    text += f", attacks {UNIT_NAMES[then[target].kind]} {target}"
    return text + "".join(f", {who} {then[i].hp:g} to {now[i].hp:g}" for who, i in (("it", target), ("self", unit)))


def hp_sum(game: Any, state: np.void, team: int) -> str:
    return f"{sum(u.hp for u in game.position(state).map.units if u.team == team):g}"


def test_every_map_and_every_ruleset_has_a_playthrough(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--regenerate-playthroughs"):
        pytest.skip("being written")
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(SCRIPTS), (
        "run pytest tests/test_playthroughs.py --regenerate-playthroughs and delete what is not needed any more"
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_playthrough(name: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.txt"
    lines = list(playthrough(SCRIPTS[name]))
    if request.config.getoption("--regenerate-playthroughs"):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8").splitlines() == lines
