"""What a game is.

The functions at the top are the questions that every rule set answers, compiled and chosen by the type of
the state's record; searches are written once against them. Their bodies live with the games (rules.py, playouts.py,
greedy.py and plans.py of each).
`Game` is the same for people: records in, records out, errors that speak.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from sandtable.envs.jit import jit
from sandtable.envs.randomness import seeds_from

State: TypeAlias = np.void | np.ndarray
"""One state: a record, or an array with one record in it."""


def player(state): ...  # 0 or 1: whose move it is


def moves(state, out): ...  # write all legal moves (for Warzone: candidates) into out (m, length); how many


def strong_moves(state, out): ...  # the same without moves that a player would never make


def legal(state, move): ...  # is this row, whatever stands in it, a legal move


def play(state, move): ...  # play the move in place


def done(state): ...  # is it over


def attacks(state, move): ...  # does this legal move attack


def forget(state, rng): ...  # take away what the mover cannot know: coins to come (drawn anew), orders not yet open


def luck(state, word): ...  # let chance from here on follow from this word


def outcome(state): ...  # for player 0, in [-1, 1]; 0 while nobody has won


def material(state): ...  # how much more is left for player 0 than for player 1, in [-1, 1]


def random_move(state, rng, move): ...  # a legal move, all equally likely


def attack_move(state, rng, move): ...  # a random attack, if there is one; whether there was


def sound_attack_move(state, rng, move): ...  # the same among attacks that take no less than they cost


def unit_move(state, rng, move): ...  # any move of a random unit


def greedy_move(state, rng, move): ...  # the move of a simple hand-written player


def plan_length(state): ...  # how many numbers a side's plan for a turn has


def random_plan(state, side, rng, plan): ...  # write a random plan of the side


def plan_move(state, plan, move): ...  # the next move by a plan of the player to move, made legal


def play_plans(state, mine, theirs, rng, move): ...  # play the mover's turn and the other side's, by their plans


def key(state): ...  # uint64, equal for equal states


@jit
def play_each(states, rows):
    for i in range(len(states)):
        play(states[i], rows[i])


@jit
def player_each(states, out):
    for i in range(len(states)):
        out[i] = player(states[i])


@jit
def done_each(states, out):
    for i in range(len(states)):
        out[i] = done(states[i])


@jit
def outcome_each(states, out):
    for i in range(len(states)):
        out[i] = outcome(states[i])


@jit
def key_each(states, out):
    for i in range(len(states)):
        out[i] = key(states[i])


@jit
def moves_of(states, out):
    return moves(states[0], out)


@jit
def random_move_each(states, seeds, rows):
    rng = np.empty(1, np.uint64)
    for i in range(len(states)):
        rng[0] = seeds[i]
        random_move(states[i], rng, rows[i])


@jit
def greedy_move_each(states, seeds, rows):
    rng = np.empty(1, np.uint64)
    for i in range(len(states)):
        rng[0] = seeds[i]
        greedy_move(states[i], rng, rows[i])


@jit
def forget_each(states, seeds):
    rng = np.empty(1, np.uint64)
    for i in range(len(states)):
        rng[0] = seeds[i]
        forget(states[i], rng)


@jit
def legal_each(states, rows, out):
    for i in range(len(states)):
        out[i] = legal(states[i], rows[i])


@jit
def random_game_each(states, seeds, plies, move, lengths):
    """Play each state to its end in place by random moves, at most `plies` of them; lengths (n,) tells how many.

    move (length,) int16 is written over.
    """
    rng = np.empty(1, np.uint64)
    for i in range(len(states)):
        rng[0] = seeds[i]
        state = states[i]
        length = 0
        while length < plies and not done(state):
            random_move(state, rng, move)
            play(state, move)
            length += 1
        lengths[i] = length


class Game(ABC):
    """A game under one ruleset on one source of maps, for people and for agents.

    A state is a numpy record, several are an array (n,) of records. player, done, outcome, key and play take
    one state or an array of them, and answer alike. States given are never changed.
    """

    name: str
    players: tuple[str, str]
    dtype: np.dtype
    move_length: int
    max_moves: int
    """No state of this game, on whatever map, has more legal moves."""
    setting: dict[str, str]
    """What it was made with, for tables: "map" and "rules"."""
    record_suffix: str
    """The ending of files with game records."""
    simultaneous = False
    """Whether both players choose at once: their moves are two plies, and the second may not know the first."""
    symmetries = 1
    """How many symmetries the game's boards have; number 0 is the identity."""

    @abstractmethod
    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        """Write a start into each of states (n,), the i-th drawn with seeds[i] alone."""

    def new(self, n: int = 1, seed: int | None = None) -> np.ndarray:
        """n starts (n,) from the game's source of maps. The same seed gives the same starts."""
        states = np.zeros(n, self.dtype)
        self.fill(states, seeds_from(seed, n))
        return states

    def player(self, state: State) -> Any:
        """Whose move it is: 0 or 1."""
        return self._ask(player_each, state, np.int64)

    def done(self, state: State) -> Any:
        """Whether the game is over."""
        return self._ask(done_each, state, np.bool_)

    def outcome(self, state: State) -> Any:
        """For the first player, in [-1, 1]; 0 for a draw and while the game goes on."""
        return self._ask(outcome_each, state, np.float64)

    def key(self, state: State) -> Any:
        """A 64-bit number, equal for equal states: for tables of positions."""
        return self._ask(key_each, state, np.uint64)

    def moves(self, state: State) -> np.ndarray:
        """All legal moves of one state, (m, move_length) int16; none when it is over."""
        out = np.empty((self.max_moves, self.move_length), np.int16)
        return out[: moves_of(one(state), out)].copy()

    def moves_each(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The legal moves of several states (n,), one after the other: rows (m, move_length) int16, and where each
        state's begin and end, (n + 1,): those of state i are rows[ends[i] : ends[i + 1]]."""
        states = as_states(states)
        ends = np.zeros(len(states) + 1, np.int64)
        room = np.empty((self.max_moves, self.move_length), np.int16)
        rows = np.empty((256, self.move_length), np.int16)
        for i in range(len(states)):
            n = moves_of(states[i : i + 1], room)
            ends[i + 1] = ends[i] + n
            while ends[i + 1] > len(rows):
                rows = np.concatenate([rows, np.empty_like(rows)])
            rows[ends[i] : ends[i + 1]] = room[:n]
        return rows[: ends[-1]].copy(), ends

    def legal(self, state: State, move: Any) -> Any:
        """Whether a move (or each of several) is legal, whatever stands in it."""
        states, single = _many(state)
        answers = np.zeros(len(states), np.bool_)
        rows = self._rows(move, states, single)
        if rows is not None:
            legal_each(states, rows, answers)
        return bool(answers[0]) if single else answers

    def _rows(self, move: Any, states: np.ndarray, single: bool) -> np.ndarray | None:
        """The moves as rows (n, move_length), or None if they cannot be any."""
        rows = np.asarray(move)
        if rows.dtype.kind not in "iu" or rows.shape != (
            (self.move_length,) if single else (len(states), self.move_length)
        ):
            return None
        if rows.size and (rows.min() < -(2**15) or rows.max() >= 2**15):
            return None
        return np.ascontiguousarray(rows, np.int16).reshape(len(states), self.move_length)

    def play(self, state: State, move: Any) -> Any:
        """The state (or states) after the move (or moves); an illegal move raises with the reason."""
        states, single = _many(state)
        rows = self._rows(move, states, single)
        if rows is None:
            wanted = "a move" if single else f"{len(states)} moves"
            raise ValueError(f"{wanted} of {self.move_length} whole numbers needed, got {np.asarray(move)!r}"[:200])
        allowed = np.empty(len(states), np.bool_)
        legal_each(states, rows, allowed)
        if not allowed.all():
            wrong = int(np.flatnonzero(~allowed)[0])
            raise ValueError(self.why_illegal(states[wrong], rows[wrong]))
        after = states.copy()
        play_each(after, rows)
        return after[0] if single else after

    def view(self, states: np.ndarray, seeds: np.ndarray | None = None) -> np.ndarray:
        """The states (n,) as their players to move may know them: nothing of orders that are not open yet, and other
        coins to come. seeds (n,) uint64: what those follow from. The player's legal moves stay the same."""
        states = as_states(states)
        if not self.simultaneous:
            return states
        seen = states.copy()
        forget_each(seen, np.zeros(len(seen), np.uint64) if seeds is None else seeds)
        return seen

    def symmetry(self, states: np.ndarray, k: int | np.ndarray) -> np.ndarray:
        """The states (n,) in the k-th symmetry of their boards; k: one for all, or (n,). Here only 0, the identity."""
        self._require_identity(k)
        return as_states(states).copy()

    def symmetry_moves(
        self, states: np.ndarray, moves: np.ndarray, k: int | np.ndarray, ends: np.ndarray | None = None
    ) -> np.ndarray:
        """The moves (n, move_length) of states (n,), before the symmetry, as they are after it.

        One state may have many moves; of several with many each, `ends` tells whose they are, as `moves_each` does.
        """
        self._require_identity(k)
        return np.array(moves, np.int16)

    def _require_identity(self, k: int | np.ndarray) -> None:
        if np.any(np.asarray(k) != 0):
            raise ValueError(f"symmetry k={k!r}: maps of {self.name} have none but 0, the identity")

    def random_games(self, states: np.ndarray, seed: int | None = None, plies: int = 100_000) -> np.ndarray:
        """The states (n,) after random play to the end, or for at most so many moves."""
        after = np.atleast_1d(states).copy()
        scratch = np.empty(self.move_length, np.int16)
        random_game_each(after, seeds_from(seed, len(after)), plies, scratch, np.empty(len(after), np.int64))
        return after

    def _ask(self, question: Any, state: State, kind: Any) -> Any:
        states, single = _many(state)
        answers = np.empty(len(states), kind)
        question(states, answers)
        return answers[0].item() if single else answers

    @abstractmethod
    def why_illegal(self, state: State, move: Any) -> str:
        """Why the move may not be played, for the person who tried."""

    @abstractmethod
    def describe(self, state: State, move: np.ndarray) -> str:
        """The move in words."""

    @abstractmethod
    def to_text(self, state: State) -> Any:
        """The state as one line of text; of an array of states, a list of lines."""

    @abstractmethod
    def from_text(self, text: str | Sequence[str]) -> Any:
        """The state that a line of text tells; of several lines, an array (n,) of states."""

    @abstractmethod
    def ansi(self, state: State, move: tuple[State, np.ndarray] | None = None, color: bool = False) -> str:
        """A board for terminals. move: the state before the last move, and that move."""

    @abstractmethod
    def picture(self, state: State, move: tuple[State, np.ndarray] | None = None) -> np.ndarray:
        """The same as a picture (height, width, 3) uint8."""

    @abstractmethod
    def record(self, states: list[Any], moves: list[np.ndarray], names: tuple[str, str], date: str) -> str:
        """The text of a game's record: states before each move, and the moves."""


def as_states(state: Any) -> np.ndarray:
    """One state or several as an array (n,) that compiled code can take."""
    states = np.asarray(state)
    if states.dtype.names is None or states.ndim > 1:
        raise TypeError(f"expected a state or an array (n,) of states, got {state!r}"[:200])
    if states.ndim == 0:
        states = states.reshape(1)
    return states if states.flags.carray else states.copy()


def _many(state: Any) -> tuple[np.ndarray, bool]:
    """The state as an array (n,), and whether it was a single one."""
    return as_states(state), np.ndim(state) == 0


def one(state: Any) -> np.ndarray:
    """A single state as an array (1,)."""
    states = as_states(state)
    if states.size != 1:
        raise ValueError(f"expected one state, got an array of {states.size}")
    return states
