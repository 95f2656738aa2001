"""Recipes run from self-play to their page, go on after they were killed, and say where they miss the paper."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from sandtable.baselines import li2022, page, takahashi2023
from sandtable.baselines.accuracy import accuracy
from sandtable.baselines.page import Claim
from sandtable.baselines.recipe import Workshop

RECIPES: list[Any] = [li2022, takahashi2023]


def start(recipe: Any, folder: Path, *options: str, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", recipe.__name__, "--scale", "tiny", "--out", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def wait_for(folder: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 200
    while not any(folder.glob(pattern)):
        assert process.poll() is None and time.monotonic() < until, process.communicate()
        time.sleep(0.01)


@pytest.fixture(scope="module", params=RECIPES, ids=lambda recipe: recipe.NAME)
def cooked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path, str]:
    """A recipe that was killed while its networks were trained, and then run to the end: recipe, folder, output."""
    recipe, folder = request.param, tmp_path_factory.mktemp(request.param.NAME)
    killed = start(recipe, folder, "--workers", "1", start_new_session=True)
    wait_for(folder, "runs/*/checkpoints/checkpoint-*.pt", killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert (folder / "stages").is_dir() and not (folder / "page.md").exists()
    again = start(recipe, folder, "--workers", "1")
    out, told = again.communicate(timeout=300)
    assert again.returncode == 0, told
    assert "going on" in told
    return recipe, folder, out


def test_the_page_is_printed_and_written(cooked: tuple[Any, Path, str]) -> None:
    recipe, folder, out = cooked
    assert out == (folder / "page.md").read_text(encoding="utf-8")
    assert f"python -m sandtable.baselines.{recipe.NAME} --scale tiny --seed 0" in out
    assert "numbers compared with the paper's" in out and "What differs from the paper" in out
    assert "| training" in out and "at least" in out and str(folder) not in out
    assert not [line for line in out.splitlines() if line.startswith("|") and "nan" in line]


def test_stages_are_not_done_again(cooked: tuple[Any, Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    recipe, folder, out = cooked
    before = {path: path.stat().st_mtime_ns for path in (folder / "stages").iterdir()}
    assert recipe.run(["--scale", "tiny", "--out", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().out == out
    assert {path: path.stat().st_mtime_ns for path in (folder / "stages").iterdir()} == before


def test_another_seed_is_refused(cooked: tuple[Any, Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    recipe, folder, _ = cooked
    with pytest.raises(SystemExit) as ended:
        recipe.run(["--scale", "tiny", "--out", str(folder), "--seed", "1"])
    told = capsys.readouterr().err
    assert ended.value.code == 2 and "seed is 0 there, 1 was asked for" in told and told.count("\n") == 1


def test_pages_agree_with_runs(cooked: tuple[Any, Path, str]) -> None:
    """Accuracies are those that the trainer found, and every run left its curves."""
    recipe, folder, out = cooked
    stage = "accuracy" if recipe is li2022 else "accuracy-simple"
    found = json.loads((folder / "stages" / f"{stage}.json").read_text(encoding="utf-8"))["result"]
    for name, network in recipe.NETWORKS.items():
        run = folder / "runs" / (network if recipe is li2022 else f"simple-by-map-{network}")
        told = json.loads((run / "results.json").read_text(encoding="utf-8"))["best"]["test"]["accuracy"]
        ours = found["networks"][name]["overall"] if recipe is li2022 else found[name]
        assert ours["accuracy"] == pytest.approx(told)
        assert ours["low"] <= told <= ours["high"] and page.percent(told) in out
        assert any((run / "tensorboard").iterdir())


def test_a_full_disk(tmp_path: Path) -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))  # noqa: E731
    run = start(takahashi2023, tmp_path, "--workers", "0", preexec_fn=limit)
    _, told = run.communicate(timeout=300)
    assert run.returncode == 1 and "File too large; what is whole stays" in told and "Traceback" not in told


def test_ctrl_c(tmp_path: Path) -> None:
    run = start(takahashi2023, tmp_path, "--workers", "1", "--quiet")
    wait_for(tmp_path, "stages/*.begun", run)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=100)
    assert run.returncode == 130 and "the same command goes on" in told and told.count("\n") == 1


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.NAME)
@pytest.mark.parametrize(
    ("options", "words"),
    [("--scale papr", "did you mean 'paper'"), ("--seed -1", "--seed"), ("--worker", "unrecognized")],
)
def test_wrong_options(recipe: Any, options: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        recipe.run(options.split())
    told = capsys.readouterr().err
    assert ended.value.code == 2 and words in told and told.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.NAME)
def test_quick(recipe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    assert recipe.run(["--scale", "quick", "--out", str(tmp_path), "--quiet"]) == 0
    assert "numbers compared with the paper's" in capsys.readouterr().out
    assert time.monotonic() - began < 900


# The parts


def test_a_stage_that_fails_is_done_again(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    workshop.begin({"recipe": "toy"})
    with pytest.raises(ZeroDivisionError):
        workshop.stage("one", lambda: 1 / 0)
    assert workshop.stage("one", lambda: {"x": 1}) == {"x": 1} and workshop.stages[-1].again
    assert workshop.stage("one", lambda: 1 / 0) == {"x": 1}
    assert workshop.stage("two", lambda: 2) == 2 and not workshop.stages[-1].again
    (tmp_path / "stages" / "two.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"two\.json: damaged"):
        workshop.stage("two", lambda: 2)


@pytest.mark.parametrize(
    ("ours", "low", "high", "verdict"),
    [
        (0.75, 0.7, 0.8, "as the paper"),
        (0.85, 0.84, 0.86, "above by 9.0 points"),
        (0.7, 0.65, 0.75, "**below by 6.0 points**"),
    ],
)
def test_verdicts(ours: float, low: float, high: float, verdict: str) -> None:
    claim = Claim("GCN", 0.76, ours, low, high)
    assert claim.verdict == verdict
    assert ("These miss the paper" in page.summary([claim])) == ("below" in verdict)


def test_accuracy_counts_starts() -> None:
    """States that are right or wrong together tell less than as many that are not."""
    right = np.repeat([True, False], 500)
    together = accuracy(right, np.repeat(np.arange(10), 100))
    apart = accuracy(right, np.arange(1000))
    assert together.accuracy == apart.accuracy == 0.5
    assert (together.starts, apart.starts, apart.states) == (10, 1000, 1000)
    assert apart.high - apart.low < 0.07 < 0.4 < together.high - together.low
    sure = accuracy(np.ones(100, bool), np.repeat(np.arange(4), 25))
    assert sure.high == 1.0 and sure.low < 0.6


def test_tables() -> None:
    assert page.table(["a", "b"], [["1", ""]]) == "| a | b |\n|---|---|\n| 1 | |"
    assert [page.duration(seconds) for seconds in (3.21, 303, 3900)] == ["3.2 s", "5 min 3 s", "1 h 5 min"]
