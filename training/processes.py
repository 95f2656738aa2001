"""Work spread over processes: tasks in, answers out, in the order in which they end.

Each process takes one task at a time. Ctrl-C reaches only the parent, which ends the others; they end by themselves
when the parent is killed.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from sandtable.matches.play import describe_error
from sandtable.matches.worker import settle_in
from sandtable.matches.workers import TICK_SECONDS, available_cores

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Tell = Callable[[int], None]
Work = Callable[[Task, Tell], Answer]
"""What is done with a task; it may tell how much more of it is done."""


def in_processes(
    work: Work[Task, Answer],
    tasks: Iterable[Task],
    workers: int | None = None,
    tick: Tell = lambda done: None,
    start_method: str | None = None,
) -> Generator[tuple[Task, Answer], None, None]:
    """Yield each task with its answer. workers: how many processes, all cores by default; 0: in this one.

    tick is called again and again, with how much the work has told since its last call. What work raises is raised.
    """
    if workers == 0:
        for task in tasks:
            yield task, work(task, tick)
        return
    crew = _Crew(work, workers or available_cores(), start_method)
    try:
        yield from crew.run(deque(tasks), tick)
    finally:
        crew.close()


class _Worker(Generic[Task]):
    def __init__(self, context: Any, work: Work[Task, Any]) -> None:
        self.task: Task | None = None
        self.told = context.RawValue("q", 0)
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work, self.told))
        with warnings.catch_warnings():
            # Newer Pythons warn of a fork beside threads; those here look after forks by themselves.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def take(self) -> Any:
        """The answer that has come; what went wrong with the task is raised."""
        try:
            fine, answer = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            raise RuntimeError(
                f"a process at work was ended from outside (exit code {self.process.exitcode})"
            ) from None
        if not fine:
            raise answer
        return answer


class _Crew(Generic[Task, Answer]):
    def __init__(self, work: Work[Task, Answer], workers: int, start_method: str | None) -> None:
        self._context = multiprocessing.get_context(start_method or ("fork" if sys.platform == "linux" else "spawn"))
        self._work, self._most = work, workers
        self._workers: list[_Worker[Task]] = []

    def run(self, waiting: deque[Task], tick: Tell) -> Generator[tuple[Task, Answer], None, None]:
        heard = 0
        while True:
            self._hand_out(waiting)
            busy = {worker.connection: worker for worker in self._workers if worker.task is not None}
            if not busy:
                return
            ready = wait(list(busy), TICK_SECONDS)
            told = sum(worker.told.value for worker in self._workers)
            tick(told - heard)
            heard = told
            for connection in ready:
                worker = busy[connection]
                task, worker.task = worker.task, None
                assert task is not None
                yield task, worker.take()

    def _hand_out(self, waiting: deque[Task]) -> None:
        while waiting:
            free = next((worker for worker in self._workers if worker.task is None), None)
            if free is None:
                if len(self._workers) == self._most:
                    return
                free = _Worker(self._context, self._work)
                self._workers.append(free)
            free.task = waiting.popleft()
            free.connection.send(free.task)

    def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.connection.close()


def _serve(connection: Connection, work: Work[Any, Any], told: Any) -> None:
    settle_in()

    def tell(done: int) -> None:
        told.value += done

    while True:
        task = connection.recv()
        try:
            connection.send((True, work(task, tell)))
        except Exception as error:
            _send_error(connection, error)


def _send_error(connection: Connection, error: Exception) -> None:
    try:
        connection.send((False, error))
    except Exception:  # it cannot be pickled
        connection.send((False, RuntimeError(describe_error(error))))
