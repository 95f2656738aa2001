"""Workers may raise, die and be killed: every task is answered once, or the run is told why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandtable.training.pool import MOST_DEATHS, InProcessPool, LocalPool, Pool, TaskFailed, make_pool

Task = tuple[Any, ...]


def work(task: Task) -> Any:
    """Tasks of these tests: what to do, and with what."""
    what, *rest = task
    if what == "add":
        return sum(rest)
    if what == "raise":
        raise LookupError(*rest)
    if what == "who":
        return os.getpid(), os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]
    if what == "tensor":
        import torch

        return torch.arange(rest[0])
    if what == "unpicklable":
        return lambda: None
    if what == "exit":
        os._exit(7)
    if what == "wait":  # tells that it is at work, and how often it has begun, until somebody lets it go on
        path = Path(rest[0])
        path.with_name(f"{path.name}.begun").open("a").write("x")
        while not path.exists():
            time.sleep(0.01)
        return rest[1]
    raise AssertionError(what)


def local(workers: int) -> LocalPool:
    return LocalPool(work, workers)


@pytest.fixture(scope="module")
def pool() -> Iterator[LocalPool]:
    with local(2) as pool:
        yield pool


def begun(path: Path) -> int:
    marks = path.with_name(f"{path.name}.begun")
    return len(marks.read_text()) if marks.exists() else 0


def wait_until(condition: Any) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def answers(pool: Pool, n: int) -> dict[int, Any]:
    return dict(pool.take() for _ in range(n))


def test_answers_belong_to_their_workers(pool: LocalPool) -> None:
    for one in (pool, InProcessPool(work, 2)):
        for turn in range(3):
            one.submit(1, ("add", turn, 10))
            one.submit(0, ("add", turn, 20))
            assert answers(one, 2) == {0: turn + 20, 1: turn + 10}


def test_one_task_a_worker(pool: LocalPool) -> None:
    for one in (pool, InProcessPool(work, 2)):
        with pytest.raises(RuntimeError, match="no worker has a task"):
            one.take()
        with pytest.raises(ValueError, match="no worker 2; valid are 0 to 1"):
            one.submit(2, ("add",))
        one.submit(0, ("add", 1))
        with pytest.raises(RuntimeError, match="worker 0 has a task already"):
            one.submit(0, ("add", 2))
        assert one.take() == (0, 1)


def test_whoever_is_ready_answers_first(pool: LocalPool, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    pool.submit(0, ("wait", str(gate), "slow"))
    pool.submit(1, ("add", 1))
    assert pool.take() == (1, 1)
    pool.submit(1, ("add", 2))
    assert pool.take() == (1, 2)
    gate.touch()
    assert pool.take() == (0, "slow")


def test_an_error_comes_with_its_traceback_and_the_worker_goes_on(pool: LocalPool) -> None:
    for one in (pool, InProcessPool(work, 2)):
        one.submit(1, ("raise", "nothing here"))
        with pytest.raises(TaskFailed, match="worker 1 failed: LookupError: nothing here") as raised:
            one.take()
        assert "Traceback" in str(raised.value) and "in work\n    raise LookupError" in str(raised.value)
        one.submit(1, ("add", 3))
        assert one.take() == (1, 3)


def test_an_answer_that_cannot_be_sent(pool: LocalPool) -> None:
    pool.submit(0, ("unpicklable",))
    with pytest.raises(TaskFailed, match="worker 0 failed"):
        pool.take()
    pool.submit(0, ("add", 3))
    assert pool.take() == (0, 3)


def test_an_answer_outlives_its_worker() -> None:
    torch = pytest.importorskip("torch")
    with local(1) as pool:
        pool.submit(0, ("tensor", 100))
        wait_until(lambda: pool._seats[0].connection.poll())
        os.kill(pool.pids[0], signal.SIGKILL)
        wait_until(lambda: not pool._seats[0].process.is_alive())
        before = pool.pids
        worker, answer = pool.take()
        assert pool.pids == before  # nobody had to do it again
    assert worker == 0 and torch.equal(answer, torch.arange(100))


def test_workers_are_other_processes_with_one_thread(pool: LocalPool) -> None:
    before = dict(os.environ)
    pool.submit(0, ("who",))
    pool.submit(1, ("who",))
    told = answers(pool, 2)
    assert [told[worker][0] for worker in (0, 1)] == pool.pids and os.getpid() not in pool.pids
    assert {told[worker][1:] for worker in (0, 1)} == {("1", "PASSIVE")}
    assert dict(os.environ) == before


def test_a_killed_worker_does_its_task_again(pool: LocalPool, tmp_path: Path) -> None:
    """Killed at work twice, and once while it waits for work: one answer a task, and nobody else notices."""
    gate, pids = tmp_path / "gate", pool.pids
    pool.submit(0, ("wait", str(gate), "answer"))
    for kills in (1, 2):
        wait_until(lambda kills=kills: begun(gate) == kills)
        os.kill(pool.pids[0], signal.SIGKILL)
        pool.submit(1, ("add", kills))
        assert pool.take() == (1, kills)
        look_until(pool, lambda kills=kills: begun(gate) == kills + 1)
    gate.touch()
    assert pool.take() == (0, "answer") and begun(gate) == 3
    assert pool.pids[1] == pids[1] and pool.pids[0] != pids[0]
    os.kill(pool.pids[0], signal.SIGKILL)
    pool.submit(0, ("add", 5))
    assert pool.take() == (0, 5)
    with pytest.raises(RuntimeError, match="no worker has a task"):
        pool.take()


class Enough(Exception):
    pass


def look_until(pool: Pool, condition: Any) -> None:
    """Wait for an answer that does not come, until the condition holds."""

    def tick() -> None:
        if condition():
            raise Enough

    with pytest.raises(Enough):
        pool.take(tick)


def test_a_task_that_ends_its_worker_ends_the_run() -> None:
    with local(1) as pool:
        pool.submit(0, ("exit",))
        with pytest.raises(TaskFailed, match=f"worker 0 was ended {MOST_DEATHS} times .* at last by exit code 7"):
            pool.take()


def test_deaths_of_other_tasks_do_not_add_up(pool: LocalPool, tmp_path: Path) -> None:
    for number in range(MOST_DEATHS + 1):
        gate = tmp_path / str(number)
        pool.submit(0, ("wait", str(gate), number))
        wait_until(lambda gate=gate: begun(gate) == 1)
        os.kill(pool.pids[0], signal.SIGKILL)
        gate.touch()
        assert pool.take() == (0, number)


def test_nobody_is_left_behind(tmp_path: Path) -> None:
    """close() ends workers in the middle of their tasks; so does the end of the process that started them."""
    with local(1) as pool:
        pool.submit(0, ("wait", str(tmp_path / "never"), 0))
        wait_until(lambda: begun(tmp_path / "never") == 1)
        (pid,) = pool.pids
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    code = (
        "import sys; from tests.test_pool import local\n"
        "if __name__ == '__main__':\n"
        "    pool = local(1); pool.submit(0, ('wait', sys.argv[1], 0)); print(pool.pids[0], flush=True); pool.take()"
    )
    script, mark = tmp_path / "parent.py", tmp_path / "orphan"
    script.write_text(code)
    root = Path(__file__).resolve().parent.parent
    start = [sys.executable, str(script), str(mark)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(start, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stderr is not None
        orphan = int(parent.stdout.readline())
        wait_until(lambda: begun(mark) == 1)
        parent.kill()
        assert parent.stderr.read() == ""
    wait_until(lambda: not Path(f"/proc/{orphan}").exists())


def test_make_pool() -> None:
    assert isinstance(make_pool(work, 2, in_process=True), InProcessPool)
    with make_pool(work, 1) as pool:
        assert isinstance(pool, LocalPool)
