"""Games side by side under an environment: one side is played from outside, the other by an opponent.

The single Gymnasium environment is a Duel of one game and the batch environment one of many, so that both do the
same thing step by step: whatever is random in a game is drawn from that game's own generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from sandtable.envs.game import Game, State, done, legal, outcome, play, player
from sandtable.envs.jit import jit
from sandtable.envs.randomness import random_word, seeds_from

ON_ILLEGAL = ("forfeit", "raise", "noop")
_MOST_STARTS = 1_000

REFUSED, TAKEN, ENDED = range(3)
"""What becomes of an action of a drafting codec: it is illegal, it is part of the move, or it ends the move."""


class OpponentError(ValueError):
    """The opponent answered what cannot be played: the game cannot go on."""


class Codec(Protocol):
    """Moves as actions: numbers of a Discrete, or rows of numbers of a MultiDiscrete."""

    top: int
    """The highest number of an action."""
    masked: bool
    """Whether actions may be illegal, so that masks are shown; if not, masks only tell which ones have a meaning."""

    @property
    def space(self) -> spaces.Discrete | spaces.MultiDiscrete: ...

    def masks(self, states: np.ndarray, idle: np.ndarray | None = None) -> np.ndarray: ...

    def moves(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray: ...


class DraftingCodec(Codec, Protocol):
    """Moves that take several actions each. What was chosen so far is a draft: a row like a move, at first of zeros."""

    def masks(
        self, states: np.ndarray, idle: np.ndarray | None = None, drafts: np.ndarray | None = None
    ) -> np.ndarray: ...

    def take(self, states: np.ndarray, drafts: np.ndarray, which: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Write actions (k,) into the drafts of the games `which` (k,); REFUSED (if illegal), TAKEN or ENDED (k,)."""
        ...

    def legal(self, states: np.ndarray, drafts: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Whether each of actions (b,) may be taken."""
        ...

    def why_illegal(self, state: State, draft: np.ndarray, action: int) -> str: ...


@jit
def _draw(rngs, which, out):
    """The next word of each of the generators `which`."""
    for i in range(len(which)):
        j = which[i]
        out[i] = random_word(rngs[j : j + 1])


@jit
def _play_legal(states, which, rows, allowed):
    """Play rows[i] in states[which[i]] where it is legal, and tell where it was; whether it was everywhere."""
    everywhere = True
    for i in range(len(which)):
        allowed[i] = legal(states[which[i]], rows[i])
        if allowed[i]:
            play(states[which[i]], rows[i])
        else:
            everywhere = False
    return everywhere


@jit
def _waiting(states, which, sides, out):
    """Those of `which` whose opponent is to move; how many."""
    n = 0
    for i in which:
        if not done(states[i]) and player(states[i]) != sides[i]:
            out[n] = i
            n += 1
    return n


@jit
def _judge(states, which, sides, rewards, over):
    """The outcomes for the sides, of the games that are over."""
    for i in which:
        over[i] = done(states[i])
        if over[i]:
            rewards[i] = outcome(states[i]) * (1.0 if sides[i] == 0 else -1.0)


class Duel:
    """n games of `game`, played in numbers of `codec`. opponent: a policy, or None where both sides are played from
    outside. side: which player is played from outside, or None for a random one in each game."""

    def __init__(
        self,
        game: Game,
        codec: Codec | DraftingCodec,
        n: int,
        opponent: Any = None,
        side: int | None = None,
        on_illegal: str = "forfeit",
    ) -> None:
        self.game, self.codec, self.n = game, codec, n
        self.opponent = opponent
        self.on_illegal = on_illegal
        self._side = side
        self.states = np.zeros(n, game.dtype)
        self.sides = np.zeros(n, np.int64)
        """Whose rewards and observations are given: the side played from outside, or the mover."""
        self.drafts = np.zeros((n, game.move_length), np.int16) if hasattr(codec, "take") else None
        """(n, move_length): the moves that are being put together, where a move takes several actions."""
        self.watch: Callable[[State, np.ndarray, State], None] | None = None
        """Told of every move in the first game: the state before, the move, the state after."""
        self._rngs = seeds_from(None, n)
        self._all = np.arange(n)
        if opponent is not None:
            if n > 1 and opponent.keeps_trees:
                raise ValueError("an opponent that keeps its trees plays one game at a time, not a batch: reuse=false")
            opponent.reset(game, 0)

    def seed(self, i: int, seed: int) -> None:
        """Let everything random in game i follow from the seed."""
        self._rngs[i] = seeds_from(seed, 1)[0]

    def words(self, which: np.ndarray) -> np.ndarray:
        """A random word (k,) uint64 from each of the games `which` (k,)."""
        words = np.empty(len(which), np.uint64)
        _draw(self._rngs, which, words)
        return words

    def start(self, which: np.ndarray | None = None) -> None:
        """Begin new games. A start at which nothing is left to choose, for the opponent won at once, is drawn again."""
        which = self._all if which is None else which
        for _ in range(_MOST_STARTS):
            if self.opponent is not None and self.opponent.keeps_trees:
                self.opponent.reset(self.game, 0)
            if len(which) == 0:
                return
            starts = np.zeros(len(which), self.game.dtype)
            self.game.fill(starts, self.words(which))
            self.states[which] = starts
            self._begin(which)
            which = which[self.game.done(self.states[which])]
        raise ValueError(f"after {_MOST_STARTS} starts there was none at which the game is not over at once")

    def start_from(self, state: State) -> None:
        """Begin all games at this state."""
        self.states[:] = state
        self._begin(self._all)
        if self.game.done(self.states).any():
            raise ValueError("the game is over at this position before anything can be chosen")

    def _begin(self, which: np.ndarray) -> None:
        if self.drafts is not None:
            self.drafts[which] = 0
        if self.opponent is None:
            self.sides[which] = self.game.player(self.states[which])
            return
        self.sides[which] = (self.words(which) >> np.uint64(63)) if self._side is None else self._side
        self._answer(which)

    def _answer(self, which: np.ndarray) -> None:
        """Let the opponent move until it is the other side's turn."""
        if getattr(self.opponent, "game", self.game) is not self.game:
            self.opponent.reset(self.game, 0)  # it has played elsewhere meanwhile
        room = np.empty(len(which), np.int64)
        while n := _waiting(self.states, which, self.sides, room):
            waiting = room[:n]
            rows = self._answers(waiting)
            allowed, all_legal = self.play(waiting, rows)
            if not all_legal:
                i = int(np.flatnonzero(~allowed)[0])
                raise OpponentError(f"the opponent's move: {self.game.why_illegal(self.states[waiting[i]], rows[i])}")

    def _answers(self, waiting: np.ndarray) -> np.ndarray:
        """What the opponent answers in these games."""
        rows = np.asarray(self.opponent.act(self.states[waiting], self.words(waiting)).moves)
        shape = (len(waiting), self.game.move_length)
        if rows.shape != shape or rows.dtype.kind not in "iu":
            raise OpponentError(f"the opponent's moves must be whole numbers of shape {shape}, got {rows!r}"[:200])
        return rows.astype(np.int16)

    def step(self, actions: np.ndarray, which: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play an action in each of the games `which`; (rewards, over, illegal), each (n,).

        actions (n, …) int64 must be of the space; those of other games are not looked at.
        """
        which = self._all if which is None else which
        rewards, over, illegal = np.zeros(self.n), np.zeros(self.n, np.bool_), np.zeros(self.n, np.bool_)
        if self.drafts is None:
            all_legal = self._step_moves(which, actions, illegal)
        else:
            all_legal = self._step_drafts(which, actions, illegal, self.drafts)
        _judge(self.states, which, self.sides, rewards, over)
        if not all_legal and self.on_illegal == "forfeit":
            rewards[illegal], over[illegal] = -1.0, True
        if self.opponent is None:
            running = which[~over[which]]
            self.sides[running] = self.game.player(self.states[running])
        return rewards, over, illegal

    def _step_moves(self, which: np.ndarray, actions: np.ndarray, illegal: np.ndarray) -> bool:
        """Play actions that are whole moves and tell which are illegal; whether none is."""
        if which is self._all:
            rows = self.codec.moves(self.states, actions)
        else:
            rows = self.codec.moves(self.states[which], actions[which])
        if self.on_illegal == "raise":
            self._refuse_illegal(which, rows)
        allowed, all_legal = self.play(which, rows)
        if self.opponent is not None:
            self._answer(which if all_legal else which[allowed])
        if not all_legal:
            illegal[which[~allowed]] = True
        return all_legal

    def _step_drafts(self, which: np.ndarray, actions: np.ndarray, illegal: np.ndarray, drafts: np.ndarray) -> bool:
        """The same with actions that are parts of moves: a move that has been ended is played."""
        codec: Any = self.codec
        chosen = actions if which is self._all else actions[which]
        if self.on_illegal == "raise":
            refuse_draft(codec, self.states[which], drafts[which], chosen)
        taken = codec.take(self.states, drafts, which, chosen)
        ended = which[taken == ENDED]
        if len(ended):
            rows = drafts[ended]
            drafts[ended] = 0
            self.play(ended, rows)
            if self.opponent is not None:
                self._answer(ended)
        refused = taken == REFUSED
        illegal[which[refused]] = True
        return not refused.any()

    def play(self, which: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, bool]:
        """Play the rows that are legal; which those are, and whether all of them."""
        allowed = np.empty(len(which), np.bool_)
        before: Any = self.states[0].copy() if self.watch else None
        all_legal = _play_legal(self.states, which, rows, allowed)
        if self.watch and len(which) and which[0] == 0 and allowed[0]:
            self.watch(before, rows[0], self.states[0])
        return allowed, all_legal

    def _refuse_illegal(self, which: np.ndarray, rows: np.ndarray) -> None:
        allowed = self.game.legal(self.states[which], rows)
        if not allowed.all():
            i = int(np.flatnonzero(~allowed)[0])
            raise ValueError(f"illegal action: {self.game.why_illegal(self.states[which[i]], rows[i])}")


def refuse_draft(codec: DraftingCodec, states: np.ndarray, drafts: np.ndarray, actions: np.ndarray) -> None:
    """Raise with the reason if one of actions (b,) may not be taken."""
    allowed = codec.legal(states, drafts, actions)
    if not allowed.all():
        i = int(np.flatnonzero(~allowed)[0])
        raise ValueError(f"illegal action: {codec.why_illegal(states[i], drafts[i], int(actions[i]))}")
