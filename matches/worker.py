"""A process that plays games one after another, and the little that it shares with the process that watches it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Container, MutableSequence
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from sandtable.matches.agreements import Agreements
from sandtable.matches.play import (
    AGENT_ERRORS,
    IDLE,
    SETUP,
    Catch,
    GameResult,
    Watch,
    describe_error,
    play_game,
    warm_up,
)

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.game import Game

MakeAgent = Callable[[str], "Policy"]


@dataclass(frozen=True)
class Entrant:
    """An agent in a tournament."""

    label: str
    """Its name in tables, unlike any other's: the spec, with a number when the same spec takes part twice."""
    spec: str


@dataclass(frozen=True, eq=False)
class Job:
    """One game to be played."""

    index: int
    position: int
    """Which of the start positions."""
    start: np.ndarray
    sides: tuple[Entrant, Entrant]
    """Players 0 and 1."""
    seeds: tuple[int, int]
    record: bool = False


class SharedWatch:
    """What the agents of a worker are doing since when, in memory that two processes share."""

    def __init__(self, cells: MutableSequence[float]) -> None:
        self._cells = cells

    def __call__(self, side: int, doing: int) -> None:
        # `doing` is put last and taken away first: whoever reads in between sees nobody at work.
        self._cells[0] = IDLE
        self._cells[1] = side
        self._cells[2] = monotonic()
        self._cells[0] = doing

    def clear(self) -> None:
        """A new game: nobody has done anything yet."""
        self(-1, IDLE)

    @property
    def doing(self) -> int:
        return int(self._cells[0])

    @property
    def side(self) -> int:
        """The side at work, or the last that was; -1 before the first."""
        return int(self._cells[1])

    @property
    def seconds(self) -> float:
        """For how long."""
        return monotonic() - self._cells[2]


class Referee:
    """Plays jobs in this process. Agents are built once and reset for every game."""

    def __init__(
        self,
        game: Game,
        make_agent: MakeAgent,
        time_limit: float | None = None,
        agreements: Agreements | None = None,
        watch: Watch = lambda side, doing: None,
        catch: Catch = AGENT_ERRORS,
    ) -> None:
        self._game, self._make_agent = game, make_agent
        self._time_limit, self._agreements = time_limit, agreements
        self._watch, self._catch = watch, catch
        self._policies: dict[str, Policy] = {}

    def play(self, job: Job, cold: Container[str] = ()) -> GameResult:
        """Play one job. Agents whose labels are in `cold` get no decision to warm up."""
        policies = []
        for side, entrant in enumerate(job.sides):
            self._watch(side, SETUP)
            try:
                policies.append(self._policy(entrant, job.start, entrant.label not in cold))
            except self._catch as error:
                reason = f"{self._game.players[side]} could not be built: {describe_error(error)}"
                return GameResult().forfeit(side, reason)
            finally:
                self._watch(side, IDLE)
        result = play_game(
            self._game,
            policies,
            job.start,
            job.seeds,
            self._time_limit,
            self._agreements,
            job.record,
            self._watch,
            self._catch,
        )
        if result.forfeit_by is not None:
            # It may be left half-way through something: the next game gets a new one.
            self._policies.pop(job.sides[result.forfeit_by].label, None)
        return result

    def _policy(self, entrant: Entrant, start: np.ndarray, warm: bool) -> Policy:
        if entrant.label not in self._policies:
            policy = self._make_agent(entrant.spec)
            if warm:
                try:
                    warm_up(policy, self._game, start)
                except self._catch:
                    # Whatever went wrong goes wrong again in the game, and is told there.
                    policy = self._make_agent(entrant.spec)
            self._policies[entrant.label] = policy
        return self._policies[entrant.label]


def work(
    connection: Connection,
    cells: MutableSequence[float],
    game: Game,
    make_agent: MakeAgent,
    time_limit: float | None,
    agreements: Agreements | None,
) -> None:
    """The life of a worker: take (job, cold), answer a GameResult, until None comes."""
    settle_in()
    shared = SharedWatch(cells)

    def watch(side: int, doing: int) -> None:
        if doing == IDLE and not _is_open(connection):
            # The agent that has just been at work closed what is not its own: it ends here, while it is to blame.
            os._exit(1)
        shared(side, doing)

    # No signal of the keyboard arrives here, so even a KeyboardInterrupt was raised by the agent itself.
    referee = Referee(game, make_agent, time_limit, agreements, watch, (BaseException,))
    while (task := connection.recv()) is not None:
        connection.send(referee.play(*task))


def settle_in() -> None:
    """Become a worker: one thread, no signals of the keyboard, no standard output, and an end with the parent."""
    # Many processes share the cores: a second thread in each makes all of them slower, by far.
    os.environ.update(OMP_WAIT_POLICY="PASSIVE", OMP_NUM_THREADS="1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Standard output is for the table; what agents print goes beside it.
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    _offer_to_the_memory_killer()
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _is_open(connection: Connection) -> bool:
    if os.name != "posix":
        return True
    try:
        os.fstat(connection.fileno())
    except OSError:
        return False
    return True


def _offer_to_the_memory_killer() -> None:
    """When an agent eats all memory, the kernel should end this process and not the tournament."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
            file.write("1000")
    except OSError:
        pass


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
