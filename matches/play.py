"""One game between two policies: whatever an agent does, the game ends with an outcome and, if need be, a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.matches.agreements import Agreements, Talks

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.game import Game

IDLE, SETUP, THINKING = 0, 1, 2
"""What the agents of a game are doing: nothing, getting ready (built, reset), or choosing a move."""

Watch = Callable[[int, int], None]
"""Told (side, IDLE | SETUP | THINKING) whenever that changes, so that somebody outside can step in."""

Catch = tuple[type[BaseException], ...]
"""Which exceptions of an agent lose it the game; others pass through."""
AGENT_ERRORS: Catch = (Exception, SystemExit)


@dataclass
class History:
    """A game move by move: one more state than moves, from the start to the last position."""

    states: list[np.ndarray] = field(default_factory=list)
    moves: list[np.ndarray] = field(default_factory=list)


@dataclass
class GameResult:
    """How a game went."""

    outcome: float = 0.0
    """For player 0, in [-1, 1]."""
    moves: int = 0
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Time that each side spent choosing moves."""
    decisions: list[int] = field(default_factory=lambda: [0, 0])
    """How many choices each side made in that time."""
    forfeit_by: int | None = None
    """The side that lost without being beaten on the board."""
    agreement: str = ""
    """"tie" or "surrender" where the players agreed on the outcome; the last position does not tell it then."""
    reason: str = ""
    """What ended the game if not the board: why a side forfeited or that it gave up, its colour first, or a tie."""
    history: History | None = None

    def forfeit(self, side: int, reason: str) -> GameResult:
        """The same game, lost by `side`."""
        self.forfeit_by, self.reason, self.outcome = side, reason, (-1.0, 1.0)[side]
        return self

    def agree(self, outcome: float, players: tuple[str, str]) -> GameResult:
        """The same game, ended by its players: a tie, or the loser gave up."""
        self.outcome = outcome
        self.agreement = "surrender" if outcome else "tie"
        self.reason = f"{players[outcome > 0]} gave up" if outcome else "a tie was agreed on"
        return self


class Forfeit(Exception):
    """An agent has just lost its game; the text says by what."""


def play_game(
    game: Game,
    policies: Sequence[Policy],
    start: np.ndarray,
    seeds: Sequence[int],
    time_limit: float | None = None,
    agreements: Agreements | None = None,
    record: bool = False,
    watch: Watch = lambda side, doing: None,
    catch: Catch = AGENT_ERRORS,
) -> GameResult:
    """Play `start` to its end. policies and seeds belong to players 0 and 1; time_limit is seconds a decision.

    A side that raises, answers anything but a legal move or takes too long loses. agreements are looked at when a
    turn is over and the game is not; each side's last decision counts.
    """
    state = start.copy()
    result = GameResult(history=History([state.copy()]) if record else None)
    talks = Talks(agreements)
    side = 0
    try:
        for side, policy in enumerate(policies):
            watch(side, SETUP)
            _guarded(partial(policy.reset, game, seeds[side]), "raised {} in reset", catch)
            watch(side, IDLE)
        while not game.done(state):
            side = int(game.player(state))
            move = _decide(game, policies[side], state, side, result, time_limit, watch, catch, talks)
            before, state = state, game.play(state, move)
            result.moves += 1
            if result.history is not None:
                result.history.states.append(state.copy())
                result.history.moves.append(move)
            if not game.done(state) and (agreed := talks.outcome(before, state)) is not None:
                return result.agree(agreed, game.players)
        result.outcome = float(game.outcome(state))
    except Forfeit as lost:
        watch(side, IDLE)
        result.forfeit(side, f"{game.players[side]} {lost}")
    return result


def warm_up(policy: Policy, game: Game, start: np.ndarray) -> None:
    """One decision that does not count: an agent's first loads and compiles, which is not thinking.

    Errors are left to the game itself, where they are seen again. An agent that asks a person is not asked twice.
    """
    if getattr(policy, "interactive", False):
        return
    policy.reset(game, 0)
    policy.act(_batch_of(start))


def late(time_limit: float | None) -> str:
    """The reason of a forfeit on time, the same whether the agent answered late or never."""
    return f"exceeded its time ({time_limit:g} s a decision)"


def describe_error(error: BaseException) -> str:
    """An agent's exception in one short line, even when the exception itself is broken."""
    try:
        lines = str(error).splitlines()
    except BaseException:
        lines = []
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def _decide(
    game: Game,
    policy: Policy,
    state: np.ndarray,
    side: int,
    result: GameResult,
    time_limit: float | None,
    watch: Watch,
    catch: Catch,
    talks: Talks,
) -> np.ndarray:
    """Ask for one legal move (length,) int16. The policy gets a copy of what its player may know, so nothing it writes
    reaches the game."""
    batch = game.view(_batch_of(state))
    watch(side, THINKING)
    began = perf_counter()
    answer = _guarded(partial(policy.act, batch), "raised {}", catch)
    seconds = perf_counter() - began
    result.seconds[side] += seconds
    result.decisions[side] += 1
    if time_limit is not None and seconds > time_limit:
        raise Forfeit(late(time_limit))
    # Reading the answer runs the agent's code too when the answer is an object of its own making.
    unreadable = "answered what cannot be read: {}"
    move = _guarded(partial(_read_move, answer, game.move_length), unreadable, catch)
    _guarded(partial(talks.hear, side, answer), unreadable, catch)
    watch(side, IDLE)
    if not game.legal(state, move):
        raise Forfeit(f"answered an illegal move {move.tolist()}")
    return move


def _guarded(call: Callable[[], Any], complaint: str, catch: Catch) -> Any:
    try:
        return call()
    except Forfeit:
        raise
    except catch as error:
        raise Forfeit(complaint.format(describe_error(error))) from None


def _batch_of(state: np.ndarray) -> np.ndarray:
    return np.array([state], state.dtype)


def _read_move(answer: object, length: int) -> np.ndarray:
    """The move in an answer to one state, as a fresh plain array."""
    if not hasattr(answer, "moves"):
        raise Forfeit(f"answered {type(answer).__name__} instead of Decisions")
    moves = np.array(answer.moves, copy=True, subok=False)
    if moves.shape != (1, length):
        raise Forfeit(f"answered moves of shape {moves.shape} instead of (1, {length})")
    if moves.dtype.kind not in "iu":
        raise Forfeit(f"answered moves of type {moves.dtype} instead of int16")
    row: list[int] = moves[0].tolist()
    if min(row) < -(2**15) or max(row) >= 2**15:
        raise Forfeit(f"answered an illegal move {row}")
    return moves[0].astype(np.int16)
