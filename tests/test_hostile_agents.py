"""Agents that do everything wrong: they lose, the reason is told, and nobody else's games change."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest

from sandtable.agents.policy import Decisions, Policy
from sandtable.matches.table import to_json, to_text
from sandtable.matches.tournament import Pair, Tournament, play_tournament
from tests import toy_game
from tests.toy_game import Nim, RandomNim


def answering(moves: Any) -> Any:
    return Decisions(moves, np.full(1, np.nan), [None])


class Hostile(RandomNim):
    def act(self, states: np.ndarray, seeds: np.ndarray | None = None) -> Any:
        return self.attack(states, super().act(states, seeds))

    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        raise NotImplementedError


class FailsToBuild(Hostile):
    def __init__(self) -> None:
        raise OSError("no such weights")


class RaisesInReset(Hostile):
    def reset(self, game: Any, seed: int | None = None) -> None:
        raise ValueError("not this game")


class Raises(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        raise ValueError("lost my mind\nin two lines")


class RaisesSystemExit(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        sys.exit(3)


class RaisesKeyboardInterrupt(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        raise KeyboardInterrupt


class Illegal(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering(np.array([[0, 99]], np.int16))


class OutOfRange(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering(honest.moves.astype(np.int64) + 65_536)


class WrongShape(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering(honest.moves[0])


class TooMany(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering(np.repeat(honest.moves, 2, 0))


class Floats(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering(honest.moves.astype(np.float64))


class NotANumber(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering(np.full((1, 2), np.nan))


class Ragged(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return answering([[1, 2], [3]])


class Nothing(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return None


class Trap:
    @property
    def moves(self) -> Any:
        raise LookupError("caught")


class AnswersATrap(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        return Trap()


class Exits(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        os._exit(7)


class KillsItself(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class ClosesEverything(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        os.closerange(3, 1000)
        return honest


class Sleeps(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        time.sleep(0.6)
        return honest


class Loops(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        while True:
            pass


class HangsInReset(Hostile):
    def reset(self, game: Any, seed: int | None = None) -> None:
        time.sleep(1000)


class Scribbles(Hostile):
    """Harmless: what it is given is a copy."""

    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        states["heaps"] = 0
        states["mover"] = 1 - states["mover"]
        return honest


class Shouts(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        print("x" * 100_000)
        os.write(1, b"y" * 1000)
        return honest


class Reseeds(Hostile):
    def attack(self, states: np.ndarray, honest: Decisions) -> Any:
        np.random.seed(0)  # noqa: NPY002
        return honest


REASONS = {
    FailsToBuild: "could not be built: OSError: no such weights",
    RaisesInReset: "raised ValueError: not this game in reset",
    Raises: "raised ValueError: lost my mind",
    RaisesSystemExit: "raised SystemExit: 3",
    RaisesKeyboardInterrupt: "raised KeyboardInterrupt",
    Illegal: "answered an illegal move [0, 99]",
    OutOfRange: "answered an illegal move [655",
    WrongShape: "answered moves of shape (2,) instead of (1, 2)",
    TooMany: "answered moves of shape (2, 2) instead of (1, 2)",
    Floats: "answered moves of type float64 instead of int16",
    NotANumber: "answered moves of type float64 instead of int16",
    Ragged: "answered what cannot be read: ValueError",
    Nothing: "answered NoneType instead of Decisions",
    AnswersATrap: "answered what cannot be read: LookupError: caught",
    Exits: "ended its process (exit code 7)",
    KillsItself: "ended its process (SIGKILL)",
    ClosesEverything: "ended its process (exit code 1)",
}
HARMLESS = (Scribbles, Shouts, Reseeds)


@pytest.fixture(autouse=True)
def hostile_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (*REASONS, *HARMLESS, Sleeps, Loops, HangsInReset):
        monkeypatch.setitem(toy_game.AGENTS, kind.__name__, kind)


def play(*kinds: type[Policy], games: int = 4, **options: Any) -> Tournament:
    specs = ["perfect", "random", *(kind.__name__ for kind in kinds)]
    return play_tournament(Nim(), specs, games, make_agent=toy_game.make_toy_agent, workers=2, **options)


def games_of(pair: Pair) -> list[tuple]:
    return [(played.result.outcome, played.result.moves, played.result.reason) for played in pair.games]


def reasons(result: Tournament, kind: type[Policy]) -> list[str]:
    return [
        forfeit["reason"] for pair in to_json(result)["pairs"] for forfeit in pair["forfeits"]
        if forfeit["agent"] == kind.__name__
    ]  # fmt: skip


def test_hostile_agents_lose_with_the_reason_and_the_others_play_on() -> None:
    result = play(*REASONS)
    alone = play()
    assert len(result.games) == 4 * len(result.pairs)
    assert games_of(result.pairs[0]) == games_of(alone.pairs[0])
    for kind, expected in REASONS.items():
        told = reasons(result, kind)
        # Against another hostile agent the game may end before its turn comes; against these two it never does.
        assert len(told) >= 8, kind
        assert {reason.split(" ", 1)[0] for reason in told} == {"red", "blue"}
        assert [reason for reason in told if expected not in reason] == [], kind
    for pair in result.pairs[1:]:
        if pair.a.label in ("perfect", "random"):
            assert pair.score == 1.0
    text = to_text(result)
    assert "lost by forfeit:" in text and "Raises: blue raised ValueError: lost my mind (" in text


LIMITS = {"time_limit": 0.25, "grace": 0.75, "setup_limit": 1.0}
LATE = "exceeded its time (0.25 s a decision)"


def test_an_agent_that_never_answers_is_stopped_and_the_others_play_on() -> None:
    result = play(Loops, games=2, **LIMITS)
    assert games_of(result.pairs[0]) == games_of(play(games=2).pairs[0])
    assert [pair.score for pair in result.pairs[1:]] == [1.0, 1.0]
    # Its first games may end while it gets ready; after that it is given no more time than anybody.
    assert LATE in reasons(result, Loops)[-1]


@pytest.mark.parametrize(("kind", "expected"), [(Sleeps, LATE), (HangsInReset, "was not ready after 1 s")])
def test_agents_that_take_too_long_lose(kind: type[Policy], expected: str) -> None:
    specs = ["perfect", kind.__name__]
    result = play_tournament(Nim(), specs, 2, make_agent=toy_game.make_toy_agent, workers=2, **LIMITS)
    assert result.pairs[0].score == 1.0
    assert [expected in reason for reason in reasons(result, kind)] == [True, True]


def test_harmless_mischief_changes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    result = play(*HARMLESS)
    assert all(played.result.forfeit_by is None for played in result.games)
    assert games_of(result.pairs[0]) == games_of(play().pairs[0])
    out, err = capfd.readouterr()
    assert out == "" and "xxx" in err and "yyy" in err


def test_in_this_process_errors_lose_too_but_ctrl_c_is_ctrl_c() -> None:
    specs = ["random", "Raises", "RaisesSystemExit", "Nothing", "Scribbles"]
    result = play_tournament(Nim(), specs, 2, make_agent=toy_game.make_toy_agent, workers=0)
    assert len(result.games) == 20 and not result.interrupted
    assert all(reasons(result, kind) for kind in (Raises, RaisesSystemExit, Nothing))
    specs = ["random", "RaisesKeyboardInterrupt"]
    assert play_tournament(Nim(), specs, 2, make_agent=toy_game.make_toy_agent, workers=0).interrupted
