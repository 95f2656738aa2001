"""Ties and surrenders that players agree on, with policies that move somehow and say what they are told to say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.agents.policy import Decisions
from sandtable.matches.agreements import NO_OPINION, Agreements, confidence
from sandtable.matches.play import GameResult, play_game
from sandtable.matches.table import to_json, to_text
from sandtable.matches.tournament import Tournament, play_tournament
from sandtable.matches.transcript import transcript
from tests.toy_game import Nim, make_toy_agent

SOARES = Agreements(tie_after=50, surrender_at=0.99)
WARZONE = sandtable.make_game("warzone", map="simple")
TUBSTAP = sandtable.make_game("tubstap", map="li-symmetric")


class Says:
    """Waits (Warzone) or plays its first legal move (TUBSTAP), and says values(turn) of every state."""

    def __init__(self, values: Any) -> None:
        self._values: Callable[[int], Any] = values if callable(values) else lambda turn: values

    def reset(self, game: Any, seed: int | None = None) -> None:
        self._game = game

    def act(self, states: np.ndarray, seeds: np.ndarray | None = None) -> Any:
        waits = np.zeros((1, self._game.move_length), np.int16)
        moves = waits if self._game.name == "warzone" else self._game.moves(states[0])[:1]
        told = self._values(int(states["turn"][0]))
        return Decisions(moves, np.array([told]) if isinstance(told, float) else told, [None])


def play(first: Any, second: Any, agreements: Agreements | None = SOARES, game: Any = WARZONE) -> GameResult:
    return play_game(game, (Says(first), Says(second)), game.new(1, seed=1)[0], (0, 0), None, agreements, record=True)


def told(result: GameResult) -> tuple[float, str, str, int]:
    return result.outcome, result.agreement, result.reason, result.moves


TIE = (0.0, "tie", "a tie was agreed on", 2 * 51)
PLAYED_OUT = (0.0, "", "", 2 * 100)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0.0, 0.0, TIE),
        (0.02, -0.02, TIE),
        (-0.02, -0.02, TIE),
        (0.021, 0.0, PLAYED_OUT),
        (0.0, -0.021, PLAYED_OUT),
        (0.0, math.nan, PLAYED_OUT),
        (math.nan, math.nan, PLAYED_OUT),
    ],
)
def test_a_tie_after_turn_50_if_both_think_the_game_even(first: float, second: float, expected: tuple) -> None:
    assert told(play(first, second)) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0.98, -0.98, (1.0, "surrender", "blue gave up", 2)),
        (-1.0, 1.0, (-1.0, "surrender", "red gave up", 2)),
        (0.979, -1.0, PLAYED_OUT),
        (1.0, -0.979, PLAYED_OUT),
        (1.0, 1.0, PLAYED_OUT),
        (-1.0, -1.0, PLAYED_OUT),
        (1.0, math.nan, PLAYED_OUT),
        (math.nan, -1.0, PLAYED_OUT),
    ],
)
def test_the_loser_gives_up_if_both_see_it_so(first: float, second: float, expected: tuple) -> None:
    assert told(play(first, second)) == expected


def test_each_agreement_by_itself_and_none() -> None:
    assert told(play(1.0, -1.0, Agreements(tie_after=50))) == PLAYED_OUT
    assert told(play(0.0, 0.0, Agreements(surrender_at=0.99))) == PLAYED_OUT
    assert told(play(0.0, 0.0, Agreements(tie_after=0))) == (0.0, "tie", "a tie was agreed on", 2)
    assert told(play(0.1, -0.1, Agreements(tie_after=0, tie_within=0.05))) == (0.0, "tie", "a tie was agreed on", 2)
    assert told(play(0.0, 0.0, Agreements())) == told(play(0.0, 0.0, None)) == PLAYED_OUT


def test_only_what_both_say_in_the_same_turn_counts_in_warzone() -> None:
    even, odd = (lambda turn: 1.0 if turn % 2 == 0 else 0.5), (lambda turn: -1.0 if turn % 2 else 0.5)
    assert told(play(even, odd)) == PLAYED_OUT
    late = play(lambda turn: 1.0 if turn >= 7 else 0.0, lambda turn: -1.0 if turn >= 9 else math.nan)
    assert told(late) == (1.0, "surrender", "blue gave up", 2 * 10)


def test_in_tubstap_a_side_speaks_for_the_turn_by_its_last_move() -> None:
    result = play(1.0, -1.0, game=TUBSTAP)
    assert (result.outcome, result.reason) == (1.0, "blue gave up")
    assert result.history is not None and result.history.states[-1]["turn"] == 2
    said = iter([-1.0, -1.0, 1.0, *[0.5] * 1000])
    changing = play(lambda turn: next(said), -1.0, game=TUBSTAP)
    assert told(changing) == told(result)


def test_a_game_won_on_the_board_is_won_whatever_its_players_say() -> None:
    start = WARZONE.new(1, seed=1)[0]
    final = [play_game(WARZONE, (Wins(), Says(0.0)), start, (0, 0), None, agreed) for agreed in (None, SOARES)]
    assert told(final[0]) == told(final[1]) and final[1].agreement == ""


class Wins(Says):
    """Greedy, but says that it is losing."""

    def __init__(self) -> None:
        super().__init__(-1.0)
        self._greedy = sandtable.make_agent("greedy")

    def reset(self, game: Any, seed: int | None = None) -> None:
        self._greedy.reset(game, seed)

    def act(self, states: np.ndarray, seeds: np.ndarray | None = None) -> Any:
        return Decisions(self._greedy.act(states).moves, np.array([-1.0]), [None])


# What agents say may be anything


class Trap:
    def __array__(self, *args: Any, **options: Any) -> Any:
        raise LookupError("caught")


NONSENSE = [
    math.inf, -math.inf, 1.001, -50.0, None, "0.0", ["0.0"], [None], [0j], [False], 0, [], [[0.0]], [0.0, 0.0], {},
    [10**400], np.zeros(2), np.zeros((1, 1)), np.zeros(1, "M8[s]"),
]  # fmt: skip


@pytest.mark.parametrize("values", NONSENSE, ids=repr)
def test_nonsense_is_no_opinion(values: Any) -> None:
    assert math.isnan(confidence(np.array([values]) if isinstance(values, float) else values))
    anything = Agreements(tie_after=0, surrender_at=0.5001, tie_within=0.4999)
    assert told(play(lambda turn: values, 0.0, anything)) == PLAYED_OUT


def test_numbers_of_any_kind_are_opinions() -> None:
    assert [confidence([value]) for value in (-1, 0, 0.5, np.float32(1))] == [0.0, 0.5, 0.75, 1.0]
    assert confidence(np.array([0.0], np.float16)) == 0.5


@pytest.mark.parametrize("values", [Trap(), [[0.0], [0.0, 0.0]]], ids=["trap", "ragged"])
def test_values_that_cannot_be_read_lose_the_game_where_they_are_asked_for(values: Any) -> None:
    result = play(0.0, lambda turn: values)
    assert result.forfeit_by == 1 and result.reason.startswith("blue answered what cannot be read: ")
    assert told(play(0.0, lambda turn: values, None)) == PLAYED_OUT


# Tournaments


SPEAKERS = {"sure": 1.0, "beaten": -1.0, "even": 0.0, "silent": math.nan}


class Moody(Says):
    """Says anything, by its seed."""

    def __init__(self) -> None:
        super().__init__(lambda turn: float(self._rng.choice([-1.0, 0.0, 0.5, 1.0], p=[0.1, 0.6, 0.2, 0.1])))

    def reset(self, game: Any, seed: int | None = None) -> None:
        super().reset(game, seed)
        self._rng = np.random.default_rng(seed)


def make_speaker(spec: str) -> Any:
    return Moody() if spec == "moody" else Says(SPEAKERS[spec])


def tournament(specs: list[str], games: int = 2, **options: Any) -> Tournament:
    options = {"agreements": SOARES, "workers": 0, **options}
    return play_tournament(WARZONE, specs, games, make_agent=make_speaker, **options)


def test_the_table_tells_who_agreed_on_what() -> None:
    result = tournament(["sure", "beaten", "even", "even"])
    text = to_text(result)
    assert "lost by forfeit" not in text
    assert text.partition("ended by agreement:\n")[2].splitlines()[:3] == [
        "  beaten: blue gave up (1 × in game 1)",
        "  beaten: red gave up (1 × in game 2)",
        "  even and even #2: a tie was agreed on (2 × in game 11, 12)",
    ]
    pairs = {(pair["a"], pair["b"]): pair for pair in to_json(result)["pairs"]}
    assert pairs["sure", "beaten"]["wins"] == 2 and pairs["sure", "beaten"]["forfeits"] == []
    assert pairs["sure", "beaten"]["agreements"] == [
        {"agreement": "surrender", "agent": "beaten", "game": 1},
        {"agreement": "surrender", "agent": "beaten", "game": 2},
    ]
    assert pairs["even", "even #2"]["draws"] == 2
    assert [entry["agent"] for entry in pairs["even", "even #2"]["agreements"]] == [None, None]
    assert pairs["sure", "even"]["agreements"] == []


def test_a_transcript_tells_the_agreement_and_the_record_has_the_moves() -> None:
    played = tournament(["sure", "beaten"], record=True).games[0]
    assert transcript(WARZONE, played).endswith("\nred wins after 2 moves: blue gave up\n")
    assert played.result.history is not None and not WARZONE.done(played.result.history.states[-1])
    record = WARZONE.record(played.result.history.states[:-1], played.result.history.moves, ("a", "b"), "2020-01-01")
    assert len(record.splitlines()) == 1 + 1


def test_the_same_table_whatever_the_number_of_workers() -> None:
    specs, ways = ["moody", "moody", "silent"], ((0, None), (1, None), (2, None), (1, "spawn"))
    results = [tournament(specs, games=8, workers=workers, start_method=method) for workers, method in ways]
    tables = [to_text(result).partition("time a move")[0] for result in results]
    assert tables[0] == tables[1] == tables[2] == tables[3]
    agreed = [[played.result.agreement for played in pair.games] for pair in results[0].pairs]
    assert set(agreed[0]) == {"tie", "surrender"} and set(agreed[1] + agreed[2]) == {""}


# Nonsense in the options


@pytest.mark.parametrize(
    "options",
    [
        {"tie_after": -1}, {"tie_after": 1.5}, {"tie_after": True}, {"tie_after": "50"}, {"surrender_at": 0.5},
        {"surrender_at": 99}, {"surrender_at": math.nan}, {"surrender_at": "0.99"}, {"surrender_at": True},
        {"tie_within": -0.1}, {"tie_within": 0.5}, {"tie_within": math.nan}, {"tie_within": None},
    ],
    ids=repr,
)  # fmt: skip
def test_impossible_agreements_are_refused(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"{name}=.* must be"):
        Agreements(**options)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_game_without_turns_is_refused_before_it_is_played(workers: int) -> None:
    with pytest.raises(ValueError, match="a game whose states have a field 'turn'"):
        play_tournament(Nim(), ["random", "random"], 2, make_agent=make_toy_agent, workers=workers, agreements=SOARES)


def test_no_opinion_agrees_to_nothing() -> None:
    anything = Agreements(tie_after=0, surrender_at=0.51, tie_within=0.49)
    assert anything.outcome(100, (NO_OPINION, NO_OPINION)) is None
    assert str(SOARES) == "ties agreed after turn 50 at 0.49 to 0.51, surrender at 0.99"
    assert str(Agreements()) == "no agreements"
