"""Games spread over processes, because an agent may hang, crash its interpreter or eat all memory.

Each worker plays one game at a time and tells through shared memory which side is at work. The parent watches:
when a worker dies or a side takes far too long, that side has lost, a new worker is started, and it goes on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, MutableSequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from sandtable.matches.agreements import Agreements
from sandtable.matches.play import IDLE, SETUP, GameResult, late
from sandtable.matches.worker import Job, MakeAgent, Referee, SharedWatch, work

if TYPE_CHECKING:
    from sandtable.envs.game import Game

TICK_SECONDS = 0.1
GRACE_SECONDS = 1.0
"""How far beyond its time limit an agent may go before its process is ended; the game is lost in any case."""
SETUP_SECONDS = 120.0
"""Time to be built and reset where decisions have a limit: on a cold machine code gets compiled."""
_DEATHS_IN_A_ROW = 5


def available_cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_jobs(
    game: Game,
    jobs: Iterable[Job],
    make_agent: MakeAgent,
    workers: int | None = None,
    time_limit: float | None = None,
    agreements: Agreements | None = None,
    tick: Callable[[], None] = lambda: None,
    grace: float = GRACE_SECONDS,
    setup_limit: float = SETUP_SECONDS,
    start_method: str | None = None,
) -> Generator[tuple[Job, GameResult], None, None]:
    """Play jobs and yield them with their results, in the order in which they end.

    workers: how many processes, all cores by default; 0 plays in this one, where nothing can be stopped from outside.
    tick is called again and again while waiting. Where processes are spawned, game and make_agent get pickled.
    """
    if workers == 0:
        referee = Referee(game, make_agent, time_limit, agreements)
        for job in jobs:
            yield job, referee.play(job)
        return
    pool = _Pool((game, make_agent, time_limit, agreements), grace, setup_limit, start_method)
    try:
        yield from pool.play(deque(jobs), workers or available_cores(), tick)
    finally:
        pool.close()


class _Worker:
    """A worker seen from outside."""

    def __init__(self, context: Any, settings: tuple[Any, ...]) -> None:
        cells: MutableSequence[float] = context.RawArray("d", 3)
        self.watch = SharedWatch(cells)
        self.job: Job | None = None
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, cells, *settings))
        with warnings.catch_warnings():
            # Newer Pythons warn of a fork beside threads. The threads here are those of numpy's linear
            # algebra, which looks after forks by itself.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def give(self, job: Job, cold: frozenset[str]) -> bool:
        """Hand over a game; False when there is nobody to take it."""
        self.watch.clear()
        try:
            self.connection.send((job, cold))
        except OSError:
            return False
        self.job = job
        return True

    def take(self) -> GameResult | None:
        """The result of the game if it is there."""
        try:
            return self.connection.recv() if self.connection.poll() else None
        except Exception:
            # The pipe is closed or holds nonsense: either it is ending by itself, or it is of no more use.
            self.process.join(1.0)
            self.process.kill()
            return None

    def end(self, patience: float = 0.0) -> None:
        """Stop the process, at once if it is in a game, and clear it away."""
        if self.job is None and self.process.is_alive():
            try:
                self.connection.send(None)
                self.process.join(patience)
            except OSError:
                pass
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Pool:
    def __init__(
        self,
        settings: tuple[Game, MakeAgent, float | None, Agreements | None],
        grace: float,
        setup_limit: float,
        start_method: str | None,
    ) -> None:
        self._context = multiprocessing.get_context(start_method or ("fork" if sys.platform == "linux" else "spawn"))
        self._settings = settings
        self._players, self._time_limit = settings[0].players, settings[2]
        self._grace, self._setup_limit = grace, setup_limit
        self._workers: list[_Worker] = []
        self._cold: frozenset[str] = frozenset()
        self._deaths = 0

    def play(
        self, waiting: deque[Job], workers: int, tick: Callable[[], None]
    ) -> Generator[tuple[Job, GameResult], None, None]:
        while waiting or self._workers_at_work():
            self._hand_out(waiting, workers)
            wait([worker.connection for worker in self._workers_at_work()], TICK_SECONDS)
            for worker in self._workers_at_work():
                job = worker.job
                result = self._look_at(worker)
                if job is not None and result is not None:
                    self._deaths = 0
                    yield job, result
                elif job is not None and worker not in self._workers:
                    waiting.appendleft(job)
            tick()

    def close(self) -> None:
        for worker in self._workers:
            worker.end(patience=0.5)
        self._workers.clear()

    def _workers_at_work(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.job is not None]

    def _hand_out(self, waiting: deque[Job], workers: int) -> None:
        free = [worker for worker in self._workers if worker.job is None]
        while waiting and (free or len(self._workers) < workers):
            if not free:
                free.append(_Worker(self._context, self._settings))
                self._workers.append(free[-1])
            worker = free.pop()
            if worker.give(waiting[0], self._cold):
                waiting.popleft()
            else:
                self._bury(worker)

    def _look_at(self, worker: _Worker) -> GameResult | None:
        """The result of the worker's game: its own, or a forfeit when it died or hangs, or None: still at it."""
        alive = worker.process.is_alive()
        result = worker.take()
        if result is not None:
            worker.job = None
            return result
        reason = self._overdue(worker) if alive else f"ended its process ({ending(worker.process.exitcode)})"
        if reason is None:
            return None
        side = worker.watch.side
        job = worker.job
        self._bury(worker)
        if side < 0 or job is None:
            return None
        if alive:
            # It hangs: in later games it is not given the long time of getting ready for its first decision.
            self._cold |= {job.sides[side].label}
        return GameResult().forfeit(side, f"{self._players[side]} {reason}")

    def _overdue(self, worker: _Worker) -> str | None:
        """Why the worker has to be stopped, if it has."""
        doing, seconds = worker.watch.doing, worker.watch.seconds
        if self._time_limit is None or doing == IDLE:
            return None
        if doing == SETUP:
            return f"was not ready after {self._setup_limit:g} s" if seconds > self._setup_limit else None
        return late(self._time_limit) if seconds > self._time_limit + self._grace else None

    def _bury(self, worker: _Worker) -> None:
        worker.end()
        self._workers.remove(worker)
        self._deaths += 1
        if self._deaths > _DEATHS_IN_A_ROW and worker.watch.side < 0:
            raise RuntimeError(f"workers end before they play ({ending(worker.process.exitcode)})")


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
