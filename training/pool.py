"""Workers that do one task at a time, whatever happens to them.

A task is a pure function of what it is given. So when a worker dies its task is handed out again, to a new process, and
the answer is the same: nothing is lost and nothing counts twice.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from sandtable.matches.play import describe_error
from sandtable.matches.worker import settle_in
from sandtable.matches.workers import TICK_SECONDS, ending

Work = Callable[[Any], Any]
"""What is done with a task. Each worker has its own copy, which may keep what is slow to make but nothing that changes
answers."""
Tick = Callable[[], None]
MOST_DEATHS = 3
"""So often in a row a task may end its worker before the run ends as well."""


class TaskFailed(RuntimeError):
    """A task raised, or ended its worker again and again; the text says what, with the worker's traceback."""


class Pool(ABC):
    """Workers with numbers from 0. Each has at most one task; answers come in the order in which they are ready."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._busy: set[int] = set()

    def submit(self, worker: int, task: Any) -> None:
        """Hand a task to a worker that has none."""
        if not 0 <= worker < self.workers:
            raise ValueError(f"there is no worker {worker}; valid are 0 to {self.workers - 1}")
        if worker in self._busy:
            raise RuntimeError(f"worker {worker} has a task already; take its answer first")
        self._busy.add(worker)
        self._hand_out(worker, task)

    def take(self, tick: Tick = lambda: None) -> tuple[int, Any]:
        """Wait for the next answer: the worker, and what it says. tick is called again and again while waiting.

        A TaskFailed if the task raised. What tick raises ends the waiting; the tasks go on.
        """
        if not self._busy:
            raise RuntimeError("no worker has a task, so there is no answer to wait for")
        worker, answer = self._next(tick)
        self._busy.discard(worker)
        if isinstance(answer, TaskFailed):
            raise answer
        return worker, answer

    @abstractmethod
    def _hand_out(self, worker: int, task: Any) -> None: ...

    @abstractmethod
    def _next(self, tick: Tick) -> tuple[int, Any]:
        """The next answer; of a task that raised, a TaskFailed."""

    def close(self) -> None:  # noqa: B027  (nothing to clear away where there are no processes)
        """End all workers at once, whatever they are doing."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def make_pool(work: Work, workers: int, in_process: bool = False) -> Pool:
    """The pool of so many workers: processes of this machine, or this process in their place."""
    return InProcessPool(work, workers) if in_process else LocalPool(work, workers)


class InProcessPool(Pool):
    """Does the tasks itself, one after the other, when their answers are asked for."""

    def __init__(self, work: Work, workers: int = 1) -> None:
        super().__init__(workers)
        self._work = work
        self._waiting: deque[tuple[int, Any]] = deque()

    def _hand_out(self, worker: int, task: Any) -> None:
        self._waiting.append((worker, task))

    def _next(self, tick: Tick) -> tuple[int, Any]:
        tick()
        worker, task = self._waiting.popleft()
        try:
            return worker, self._work(task)
        except Exception as error:
            return worker, _failed(worker, describe_error(error), traceback.format_exc())


class LocalPool(Pool):
    """Processes of this machine, with one thread of torch each.

    They are spawned, not forked: a worker may have to be started again at any time, and by then this process has
    threads (of torch, of TensorBoard) whose locks a fork would copy in whatever state they are. So `work` and tasks
    get pickled, through pipes between own processes alone.
    """

    def __init__(self, work: Work, workers: int, start_method: str = "spawn") -> None:
        super().__init__(workers)
        self._work, self._context = work, multiprocessing.get_context(start_method)
        self._tasks: dict[int, Any] = {}
        self._deaths = dict.fromkeys(range(workers), 0)
        self._seats = {worker: _Seat(self._context, work) for worker in range(workers)}

    @property
    def pids(self) -> list[int]:
        """The processes of the workers, in their order."""
        return [self._seats[worker].process.pid for worker in range(self.workers)]

    def _hand_out(self, worker: int, task: Any) -> None:
        self._tasks[worker] = task
        while not self._seats[worker].give(task):
            self._replace(worker)

    def _next(self, tick: Tick) -> tuple[int, Any]:
        while True:
            busy = {self._seats[worker].connection: worker for worker in self._tasks}
            for ready in wait(list(busy), TICK_SECONDS):
                assert isinstance(ready, Connection)
                worker = busy[ready]
                try:
                    fine, answer = _receive(ready)
                except (EOFError, OSError):
                    self._replace(worker)
                    self._hand_out(worker, self._tasks[worker])
                    continue
                del self._tasks[worker]
                self._deaths[worker] = 0
                return worker, answer if fine else _failed(worker, *answer)
            tick()

    def _replace(self, worker: int) -> None:
        """A new process for a worker whose process has ended."""
        how = self._seats[worker].end(patience=1.0)
        self._deaths[worker] += 1
        if self._deaths[worker] >= MOST_DEATHS:
            raise TaskFailed(
                f"worker {worker} was ended {MOST_DEATHS} times in a row at the same task, at last by {how}: is there "
                "enough memory for so many workers?"
            )
        self._seats[worker] = _Seat(self._context, self._work)

    def close(self) -> None:
        for seat in self._seats.values():
            seat.end()


class _Seat:
    """A worker's process, seen from outside."""

    def __init__(self, context: Any, work: Work) -> None:
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work))
        with _as_a_worker():
            self.process.start()
        theirs.close()

    def give(self, task: Any) -> bool:
        """Hand over a task; False when there is nobody to take it."""
        try:
            _send(self.connection, task)
        except OSError:
            return False
        return True

    def end(self, patience: float = 0.0) -> str:
        """Stop the process, if it does not end by itself, and clear it away. How it ended, in words."""
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        self.connection.close()
        return ending(self.process.exitcode)


@contextmanager
def _as_a_worker() -> Iterator[None]:
    """Processes that are started within are born with one thread, as torch looks only when it is loaded, and deaf to
    Ctrl-C, which may come before they can ask not to hear it."""
    wanted = {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    can_mask = hasattr(signal, "pthread_sigmask")
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if can_mask else None
    try:
        yield
    finally:
        if heard is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(connection: Connection, work: Work) -> None:
    """The life of a worker: take a task, answer (True, answer) or (False, (what went wrong, traceback)), until the
    other end of the pipe is gone."""
    settle_in()
    with suppress(EOFError, ConnectionError):
        while True:
            task = _receive(connection)
            try:
                _send(connection, (True, work(task)))
            except ConnectionError:
                raise
            except Exception as error:
                _send(connection, (False, (describe_error(error), traceback.format_exc())))


def _send(connection: Connection, what: Any) -> None:
    """Send all of it. multiprocessing would send handles to the memory of tensors, which goes with the process."""
    connection.send_bytes(pickle.dumps(what, pickle.HIGHEST_PROTOCOL))


def _receive(connection: Connection) -> Any:
    return pickle.loads(connection.recv_bytes())


def _failed(worker: int, error: str, trace: str) -> TaskFailed:
    return TaskFailed(f"worker {worker} failed: {error}\n\n{trace.rstrip()}")
