"""Learning by self-play: whatever dies on the way, a run ends with the weights of one that was left alone."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from sandtable.envs.game import Game
from sandtable.training.options import build, to_json
from sandtable.training.pv_config import PRESETS, PvConfig, preset, stage

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from sandtable import cli, load_network  # noqa: E402
from sandtable.agents.pvmcts import SearchOptions  # noqa: E402
from sandtable.encoders.networks.files import read_facts  # noqa: E402
from sandtable.training import pv_loop  # noqa: E402
from sandtable.training.checkpoints import Checkpoints, load_checkpoint  # noqa: E402
from sandtable.training.learner import Learner, LearnOptions, NotFinite  # noqa: E402
from sandtable.training.pictures import add_boards  # noqa: E402
from sandtable.training.pool import InProcessPool, LocalPool  # noqa: E402
from sandtable.training.pv_loop import Loop  # noqa: E402
from sandtable.training.pv_report import Line, some_of  # noqa: E402
from sandtable.training.pv_tasks import Work  # noqa: E402
from sandtable.training.replay import position_dtype, unpacked  # noqa: E402
from sandtable.training.run import Run  # noqa: E402
from sandtable.training.selfplay_pv import PlayOptions  # noqa: E402
from sandtable.training.value import Diverged, Interrupted  # noqa: E402
from tests.test_value_training import curve, equal, events_of  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
START = [sys.executable, "train.py", "--agent", "pvmcts"]
SMALL = PvConfig(
    map=("kimura-map01",),
    rules="kimura2020",
    option={"turn_limit": 4},
    network="units:width=8,layers=1,heads=2",
    workers=0,
    games=8,
    rounds=6,
    sims=4,
    gumbel=False,
    temperature=1.0,
    opening=4,
    replay=300,
    batch=16,
    warm_up=2,
    generations=5,
    seed=3,
    ladder_games=0,
    checkpoint_seconds=0.0,
)
DROPOUT = "kimura:blocks=1,filters=4,dropout=0.5"
"""A network that draws random numbers in each step."""


def begin(folder: Path, config: PvConfig = SMALL) -> Loop:
    """A run that begins in the folder, or goes on there."""
    run = Run(folder, config.keep)
    if not run.config.exists():
        run.begin(config)
    return Loop(config, run)


def newest(folder: Path) -> dict[str, Any]:
    return load_checkpoint(Checkpoints(folder / "checkpoints").paths()[-1])


def same_end(one: Path, other: Path) -> bool:
    """Whether two runs ended with the same weights, optimiser, replay, games and climbs."""
    (a, games), (b, _) = end_of(one), end_of(other)
    best = [load_network(folder / "best.safetensors").state_dict() for folder in (one, other)]
    return (
        equal(a["learner"]["network"], b["learner"]["network"])
        and str(a["learner"]["optimiser"]) == str(b["learner"]["optimiser"])
        and a["replay"]["added"] == b["replay"]["added"] > 0
        and same_records(a["replay"]["rings"], b["replay"]["rings"], games)
        and same_players(a["states"], b["states"], games)
        and {**a["counters"], "seconds": 0} == {**b["counters"], "seconds": 0}
        and equal(*best)
    )


def end_of(folder: Path) -> tuple[dict[str, Any], list[Game]]:
    return newest(folder), build(PvConfig, {}, folder / "config.json").make_games()


def same_records(one: list[Any], other: list[Any], games: list[Game]) -> bool:
    """Whether packed positions of each source are the same; what lies between their fields does not count."""
    kinds = map(position_dtype, games)
    return all(
        np.array_equal(unpacked(a, kind), unpacked(b, kind)) for a, b, kind in zip(one, other, kinds, strict=True)
    )


def same_players(one: list[Any], other: list[Any], games: list[Game]) -> bool:
    for a, b in zip(one, other, strict=True):
        assert a["tables"].keys() == b["tables"].keys()
        for source, table in a["tables"].items():
            theirs, game = b["tables"][source], games[int(source)]
            if not same_records([table["open"]], [theirs["open"]], [game]) or not (
                np.array_equal(*(unpacked(each["states"], game.dtype) for each in (table, theirs)))
                and all(torch.equal(table[name], theirs[name]) for name in ("numbers", "plies"))
                and table["next"] == theirs["next"]
            ):
                return False
    return True


def command(*arguments: object) -> int:
    return cli.train(["--agent", "pvmcts", *map(str, arguments), "--quiet"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run, left alone."""
    folder = tmp_path_factory.mktemp("whole")
    begin(folder).learn()
    return folder


# Learning


def test_it_learns(whole: Path) -> None:
    content = newest(whole)
    assert content["counters"]["generation"] == 5 and content["counters"]["games"] > 10
    steps, added = content["learner"]["steps"], content["replay"]["added"]
    assert steps == int(added * SMALL.reuse / SMALL.batch) > 10
    first = load_network(whole / "best.safetensors")
    torch.manual_seed(SMALL.seed)
    fresh = pv_loop.begin_network(SMALL, SMALL.make_games())
    assert not equal(first.state_dict(), fresh.state_dict())
    assert read_facts(whole / "best.safetensors")["generation"] == 5
    assert len(Checkpoints(whole / "checkpoints").paths()) == SMALL.keep


def test_what_is_learned_makes_the_loss_smaller(tmp_path: Path) -> None:
    config = replace(SMALL, generations=30, leaves=4, lr=5e-3, reuse=8.0, checkpoint_seconds=1e9)
    begin(tmp_path, config).learn()
    losses = list(curve(tmp_path, "loss/policy").values())
    assert np.mean(losses[-3:]) < np.mean(losses[:3]) - 0.1


@pytest.mark.slow
def test_it_gets_strong(tmp_path: Path) -> None:
    """In about two minutes, from nothing, far beyond greedy (Elo 414 on this map)."""
    config = replace(build(PvConfig, preset("quick")), minutes=0.0, generations=50, workers=1, ladder_every=0)
    told = begin(tmp_path, config).learn()
    assert told["ladder"]["elo"] > 650


def test_another_seed_is_another_run(whole: Path, tmp_path: Path) -> None:
    begin(tmp_path, replace(SMALL, seed=4)).learn()
    assert not same_end(whole, tmp_path)


# The same run


class Killed(Exception):
    pass


def kill_after(count: int, monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> None:
    """The method works so often; then it kills the run when it is called or, every other time, when it is done."""
    real, calls = getattr(where, name), iter(range(count))

    def method(*arguments: Any, **more: Any) -> Any:
        over = next(calls, None) is None
        if over and count % 2:
            raise Killed
        answer = real(*arguments, **more)
        if over:
            raise Killed
        return answer

    monkeypatch.setattr(where, name, method)


@pytest.mark.parametrize(
    ("where", "name", "first"),
    [
        (Learner, "step", 3),
        (InProcessPool, "take", 3),
        (InProcessPool, "submit", 3),
        (Checkpoints, "save", 2),
        (Loop, "_tell", 1),
    ],
)
def test_a_run_in_pieces_is_the_same_run(
    where: Any, name: str, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed again and again at all kinds of moments, with a network that draws random numbers, a gate and a ladder."""
    config = replace(SMALL, network=DROPOUT, gate=0.4, gate_games=4, ladder_every=2, ladder_games=2, ladder_sims=2)
    monkeypatch.setattr("sandtable.training.ladder.SCALES", {"tubstap": {"": {"random": 0, "greedy": 400}}})
    begin(tmp_path / "whole", config).learn()
    pieces = 0
    for piece in range(60):
        with monkeypatch.context() as patch:
            kill_after(first + piece, patch, where, name)
            try:
                begin(tmp_path / "pieces", config).learn()
                break
            except Killed:
                pieces += 1
    assert pieces >= 2
    assert same_end(tmp_path / "whole", tmp_path / "pieces")
    for tag in ("loss/policy", "gate/score", "elo/ladder", "replay/age in generations"):
        told = [curve(tmp_path / folder, tag) for folder in ("whole", "pieces")]
        assert told[0] == told[1] and told[0]


def test_processes_play_the_same_games(whole: Path, tmp_path: Path) -> None:
    begin(tmp_path, replace(SMALL, workers=1)).learn()
    assert same_end(whole, tmp_path)


def test_two_players_and_whoever_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is killed in the middle of each generation; with two players answers come in any order."""
    config = replace(SMALL, workers=2, generations=3)
    begin(tmp_path / "whole", config).learn()
    hands, deaths = LocalPool._hand_out, []

    def hand_out(self: LocalPool, worker: int, task: Any) -> None:
        hands(self, worker, task)
        if len(deaths) < 3 and worker == len(deaths) % 2:
            deaths.append(self.pids[worker])
            os.kill(self.pids[worker], signal.SIGKILL)

    monkeypatch.setattr(LocalPool, "_hand_out", hand_out)
    begin(tmp_path / "killed", config).learn()
    assert len(set(deaths)) == 3
    assert same_end(tmp_path / "whole", tmp_path / "killed")
    one = newest(tmp_path / "whole")["states"]
    assert str(one[0]["tables"]) != str(one[1]["tables"])


class LastFirst(InProcessPool):
    """Answers whoever was given something last."""

    def _next(self, tick: Any) -> Any:
        self._waiting.rotate(1)
        return super()._next(tick)


def test_the_order_of_answers_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(SMALL, workers=2, generations=3)
    for pool in (InProcessPool, LastFirst):
        monkeypatch.setattr(pv_loop, "make_pool", lambda work, workers, in_process, pool=pool: pool(work, workers))
        begin(tmp_path / pool.__name__, config).learn()
    assert same_end(tmp_path / "InProcessPool", tmp_path / "LastFirst")


def options_of(config: PvConfig) -> list[str]:
    """The config as options of the command."""
    told: list[str] = []
    for one in fields(config):
        value, default = getattr(config, one.name), getattr(PvConfig(), one.name)
        flag = f"--{one.name.replace('_', '-')}"
        if isinstance(value, dict):
            told += [part for key, item in value.items() for part in (flag, f"{key}={item}")]
        elif isinstance(value, bool):
            told += [flag if value else flag.replace("--", "--no-", 1)]
        elif value != default:
            told += [flag, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return told


def processes_of(pid: int) -> set[int]:
    """The processes that a process has started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.add(int(path.parent.name))
    return found


def test_killed_for_real(tmp_path: Path) -> None:
    """kill -9 at several moments, then --resume: the weights of a run that was left alone, and nobody left behind."""
    config = replace(SMALL, workers=1, generations=12)
    folder = tmp_path / "killed"
    arguments, kills, workers = [*options_of(config), "--out", str(folder), "--quiet"], 0, set()
    for wanted, pause in ((0, 0.0), (3, 0.05), (7, 0.15)):
        with subprocess.Popen([*START, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            while run.poll() is None and not any(number(path) >= wanted for path in folder.glob("checkpoints/*.pt")):
                time.sleep(0.002)
            time.sleep(pause)
            workers |= processes_of(run.pid)
            kills += run.poll() is None
            os.kill(run.pid, signal.SIGKILL)
        arguments = ["--resume", str(folder), "--quiet"]
    assert kills == 3 and workers
    assert command("--resume", folder) == 0
    begin(tmp_path / "whole", replace(config, workers=0)).learn()
    assert same_end(tmp_path / "whole", folder)
    assert not list(folder.glob("checkpoints/.*"))
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < until
        time.sleep(0.05)


def number(path: Path) -> int:
    return int(path.stem.partition("-")[2])


def test_a_damaged_checkpoint(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin(tmp_path, replace(SMALL, generations=3)).learn()
    last = Checkpoints(tmp_path / "checkpoints").paths()[-1]
    last.write_bytes(last.read_bytes()[:-500])
    begin(tmp_path).learn()
    assert last.name in capsys.readouterr().err
    assert same_end(whole, tmp_path)


def test_a_ladder_that_is_no_longer_wanted(tmp_path: Path) -> None:
    """A climb was in flight when the run was killed, and the run goes on without a ladder."""
    config = replace(SMALL, generations=2, ladder_every=2, ladder_games=2, ladder_sims=2)
    loop = begin(tmp_path, config)
    loop.ascent = (0, loop._weights())
    loop._save()
    assert newest(tmp_path)["ascent"]["generation"] == 0
    assert command("--resume", tmp_path, "--ladder-games", 0, "--ladder-every", 0) == 0
    assert newest(tmp_path)["counters"]["climbs"] == [] and newest(tmp_path)["ascent"] is None


def test_more_time_and_more_generations(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(to_json(replace(SMALL, generations=2)))
    assert command("--resume", tmp_path) == 0
    assert newest(tmp_path)["counters"]["generation"] == 2
    assert command("--resume", tmp_path, "--generations", 4) == 0
    assert newest(tmp_path)["counters"]["generation"] == 4
    before = newest(tmp_path)["counters"]
    assert command("--resume", tmp_path, "--generations", 0, "--minutes", before["seconds"] / 60 + 0.02) == 0
    after = newest(tmp_path)["counters"]
    assert after["generation"] > 4 and 1.1 < after["seconds"] - before["seconds"] < 20
    assert command("--resume", tmp_path, "--generations", 0, "--minutes", 0.001) == 0
    assert newest(tmp_path)["counters"]["generation"] == after["generation"]


# What goes wrong


def test_interrupted(tmp_path: Path) -> None:
    arguments = [*options_of(replace(SMALL, workers=1, generations=100_000)), "--out", str(tmp_path), "--quiet"]
    with subprocess.Popen([*START, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True) as run:
        while run.poll() is None and len(list(tmp_path.glob("checkpoints/*.pt"))) < 2:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=60)
    assert run.returncode == 130 and "interrupted after generation" in told and f"--resume {tmp_path} goes on" in told
    assert "Traceback" not in told


def test_interrupted_runs_go_on_as_if_nothing_had_happened(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(SMALL, checkpoint_seconds=1e9)
    real, calls = InProcessPool._next, iter(range(3))

    def ask(self: InProcessPool, tick: Any) -> Any:
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGINT)
        return real(self, tick)

    with monkeypatch.context() as patch:
        patch.setattr(InProcessPool, "_next", ask)
        with pytest.raises(Interrupted, match="interrupted after generation 3"):
            begin(tmp_path, config).learn()
    begin(tmp_path, config).learn()
    assert same_end(whole, tmp_path)


def test_a_full_disk(tmp_path: Path) -> None:
    """Files that may not grow: it is said, the run goes on to its end, the checkpoint before stays, and exit code 1."""
    arguments = [*options_of(SMALL), "--out", str(tmp_path), "--quiet"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))  # noqa: E731
    ended = subprocess.run(
        [*START, *arguments], cwd=ROOT, capture_output=True, text=True, preexec_fn=limit, check=False
    )
    said = f"{tmp_path}: a checkpoint could not be written: File too large"
    assert ended.returncode == 1 and ended.stderr.count(said) > 3, ended.stderr
    assert ended.stderr.rstrip().endswith(said) and "Traceback" not in ended.stderr
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["checkpoint-000000000.pt"]
    assert json.loads((tmp_path / "results.json").read_text())["generations"] == 5


def test_a_disk_that_was_full_for_a_while(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real, calls = Checkpoints.save, iter(range(100))

    def save(self: Checkpoints, step: int, content: dict[str, Any]) -> Path:
        if next(calls) in (1, 2, 3):
            raise OSError(28, "No space left on device")
        return real(self, step, content)

    monkeypatch.setattr(Checkpoints, "save", save)
    loop = begin(tmp_path)
    loop.learn()
    assert not loop.troubles and capsys.readouterr().err.count("No space left on device") == 3
    assert same_end(whole, tmp_path)


@pytest.mark.parametrize("weights", [False, True])
def test_numbers_that_explode(weights: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss that is none, or weights after the last step: it is said when, and the checkpoint before stays."""
    real = Learner.step

    def step(self: Learner, *arguments: Any) -> dict[str, float]:
        if self.steps == 12 and not weights:
            raise NotFinite("the loss is nan at step 13")
        told = real(self, *arguments)
        if self.steps >= 12 and weights:
            next(self.network.parameters()).data[:] = float("inf")
            monkeypatch.setattr(Learner, "step", lambda self, *arguments: setattr(self, "steps", self.steps + 1) or {})
        return told

    monkeypatch.setattr(Learner, "step", step)
    words = r"weights are no numbers" if weights else r"the loss is nan at step 13 \(generation \d\)"
    with pytest.raises(Diverged, match=rf"{words}.*; the last good checkpoint is .*checkpoint-00000000\d.pt"):
        begin(tmp_path).learn()
    kept = newest(tmp_path)["learner"]["network"]
    assert all(torch.isfinite(tensor).all() for tensor in kept.values())


def test_the_command_says_that_numbers_exploded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = options_of(replace(SMALL, optimiser="sgd", lr=1000.0, clip=0.0, warm_up=0, reuse=20.0))
    assert command(*options, "--out", tmp_path) == 1
    told = capsys.readouterr().err
    assert "is nan at step" in told or "are no numbers" in told
    assert "a smaller --lr may help" in told and "Traceback" not in told


def test_a_worker_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(*arguments: Any) -> Any:
        raise LookupError("nothing to play with")

    monkeypatch.setattr("sandtable.training.pv_tasks.play_generation", play)
    assert command(*options_of(SMALL), "--out", tmp_path) == 1
    told = capsys.readouterr().err
    assert "worker 0 failed: LookupError: nothing to play with" in told and "in play" in told


def test_two_runs_in_one_folder(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandtable.training.locks import locked

    monkeypatch.setattr("sandtable.training.locks._PATIENCE", 0.2)
    with locked(whole, "a run is going on here"), pytest.raises(ValueError, match="a run is going on here already"):
        begin(whole).learn()


# The gate, the ladder, the curriculum


def test_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closed, the first network plays itself to the end; open, those that have learned do."""
    players: list[bytes] = []
    real = Work._play
    monkeypatch.setattr(Work, "_play", lambda self, task: (players.append(task.network), real(self, task))[1])
    closed = replace(SMALL, gate=1.0, gate_games=4, ladder_sims=2, generations=3)
    begin(tmp_path / "closed", closed).learn()
    assert len(players) == 3 and len(set(players)) == 1
    torch.manual_seed(SMALL.seed)
    fresh = pv_loop.begin_network(closed, closed.make_games()).state_dict()
    content = newest(tmp_path / "closed")
    assert content["counters"]["accepted"] == 0 and not equal(content["learner"]["network"], fresh)
    assert equal(load_network(tmp_path / "closed" / "best.safetensors").state_dict(), fresh)
    opened = replace(closed, gate=1e-9)
    begin(tmp_path / "opened", opened).learn()
    content = newest(tmp_path / "opened")
    assert content["counters"]["accepted"] > 0 and len(players) == 6 and len(set(players)) > 1
    assert list(curve(tmp_path / "closed", "gate/passed").values()) == [0.0] * 3


def test_the_ladder_and_what_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = replace(SMALL, map=("kimura-random",), option={}, rounds=25, ladder_every=2, ladder_games=2, ladder_sims=2)
    assert command(*options_of(config), "--out", tmp_path) == 0
    told = capsys.readouterr().out
    assert "units:width=8,layers=1,heads=2" in told and "5 generations" in told and "best.safetensors" in told
    assert "muct:sims=2000" in told and "(random is 0)" in told
    results = json.loads((tmp_path / "results.json").read_text())
    assert [climb["generation"] for climb in results["climbs"]] == [2, 4, 5]
    assert results["ladder"] == results["climbs"][-1]
    events = events_of(tmp_path)
    tags = set(events.Tags()["scalars"])
    assert tags >= {
        "loss/policy",
        "loss/value",
        "loss/weights",
        "policy/entropy",
        "value/accuracy",
        "speed/simulations a second",
        "speed/positions a second",
        "replay/age in generations",
        "replay/trained a position",
        "elo/ladder",
        "elo/interval low",
        "elo/interval high",
        "score/greedy",
        "score/muct:sims=2000",
        "end/elo",
    }
    assert set(curve(tmp_path, "elo/ladder")) == {2, 4, 5}
    assert set(curve(tmp_path, "replay/positions")) == {1, 2, 3, 4, 5}
    assert events.Tags()["images"] == ["game/against muct:sims=2000"]


def test_the_picture_of_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six positions, the first and the last among them; as text for those who have not installed what draws."""
    (game,) = SMALL.make_games()
    states = game.new(10, 0)
    one = game.picture(states[0])
    writer = Mock()
    for n, shown in ((10, 6), (2, 2)):
        add_boards(writer, "game", game, some_of(states[:n]), 3)
        assert writer.add_image.call_args.args[1].shape == (one.shape[0], shown * one.shape[1], 3)
    assert some_of(np.arange(10))[[0, -1]].tolist() == [0, 9] and not writer.add_text.called
    monkeypatch.setattr(type(game), "picture", Mock(side_effect=DependencyNotInstalled))
    add_boards(writer, "game", game, some_of(states), 3)
    assert game.ansi(states[0]) in writer.add_text.call_args.args[1]


def test_the_line() -> None:
    line = Line(replace(SMALL, generations=10, minutes=2.0), lambda: 30.0, quiet=True)
    assert line.line() == "the first generation is being played, 0:30 gone, 1:30 left"
    line.show(5, 12, 345.6, {"policy loss": 1.5, "value loss": 0.25})
    line.elo = 100.4, 50.0, 150.0
    wanted = "generation 5, 12 games, 346 positions/s, policy 1.500, value 0.250, Elo 100 (50 to 150)"
    assert line.line() == f"{wanted}, 0:30 gone, 0:30 left"


def test_stages(tmp_path: Path) -> None:
    config = replace(
        SMALL,
        map=("kimura-map01", "kimura-map02"),
        map_weights=(1.0, 0.0),
        stage={"2": {"kimura-map02": 1.0}, "10": {"kimura-map01": 1.0, "kimura-map02": 3.0}},
        generations=7,
    )
    wanted = {0: [1.0, 0.0], 1: [1.0, 0.0], 2: [0.0, 1.0], 9: [0.0, 1.0], 10: [1.0, 3.0], 99: [1.0, 3.0]}
    assert {generation: config.weights_at(generation) for generation in wanted} == wanted
    assert replace(config, map_weights=(), stage={}).weights_at(5) == [1.0, 1.0]
    loop = begin(tmp_path, config)
    loop.learn()
    first, second = (set(ring["generation"].tolist()) for ring in loop.replay._rings)
    assert min(first) == 0 and min(second) == 2
    assert max(first) < max(second)  # games that were begun are played to their ends


def test_a_run_from_the_weights_of_another(whole: Path, tmp_path: Path) -> None:
    config = replace(SMALL, network=str(whole / "best.safetensors"), generations=1)
    loop = begin(tmp_path, config)
    assert equal(loop.learner.network.state_dict(), load_network(whole / "best.safetensors").state_dict())
    loop.learn()


# The config


def test_every_option_of_play_search_and_learning_is_one_of_the_run() -> None:
    """With the defaults that they have there; but many games side by side need one leaf each, and few simulations."""
    config = PvConfig()
    search = SearchOptions(leaves=1, gumbel=True)
    assert config.search_options == search
    assert config.play_options == PlayOptions(search=search) and config.learn_options == LearnOptions()
    changed = replace(config, games=3, c=0.5, gumbel=False, lr=0.5)
    assert changed.play_options.games == 3 and changed.learn_options.lr == 0.5
    assert changed.play_options.search == changed.search_options and not changed.search_options.gumbel


def test_presets() -> None:
    for name in PRESETS:
        config = build(PvConfig, preset(name))
        pv_loop.begin_network(config, config.make_games())
        assert config.play_options.sims > 0
    assert preset("kimura2020")["c"] == 0.8
    with pytest.raises(ValueError, match="did you mean 'quick'"):
        preset("quik")


def test_configs_go_through_files(tmp_path: Path) -> None:
    config = replace(
        SMALL, map=("kimura-map01", "kimura-map02"), map_weights=(1.0, 2.5), stage={"3": {"kimura-map02": 1.0}}
    )
    (tmp_path / "config.json").write_text(to_json(config))
    assert build(PvConfig, {}, tmp_path / "config.json") == config
    assert stage("3: kimura-map02=1") == ("3", {"kimura-map02": 1.0})


def test_options_go_before_files_and_files_before_presets(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps({"lr": 0.5, "c": 2.5, "workers": 0}))
    options = ["--preset", "quick", "--config", tmp_path / "options.json", "--c", 3, "--generations", 1]
    options += ["--network", "units:width=8,layers=1,heads=2", "--games", 2, "--rounds", 1, "--sims", 2]
    assert command(*options, "--ladder-games", 0, "--out", tmp_path / "run") == 0
    config = build(PvConfig, {}, tmp_path / "run" / "config.json")
    assert (config.c, config.lr, config.rules, config.map) == (3.0, 0.5, "kimura2020", preset("quick")["map"])
    with pytest.raises(SystemExit):
        command(*options, "--out", tmp_path / "run")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--map kimura-map01 --minutes 1", "--network: which network"),
        ("--network units --minutes 1", "--map: where is it played"),
        ("--network units --map kimura-map01", "--minutes, --generations: when does it end"),
        ("--preset quik", "did you mean 'quick'"),
        ("--preset quick --network unit", "did you mean 'units'"),
        ("--preset quick --network gcn4", "'gcn4' has no policy"),
        ("--preset quick --network soares", "plays warzone, not tubstap"),
        ("--preset quick --network x.safetensors", "no file x.safetensors"),
        ("--preset quick --map kimura-map1", "did you mean 'kimura-map01'"),
        ("--preset quick --ladder-map kimura-map1", "did you mean 'kimura-map01'"),
        ("--preset quick --map-weights 1,2,3", "--map-weights: 2 sources of maps need as many, got 3"),
        ("--preset quick --map-weights 0,0", "must be above 0"),
        ("--preset quick --stage 3", "should be GENERATION:MAP=WEIGHT"),
        ("--preset quick --stage 3:kimura-map1=1", "did you mean 'kimura-map01'"),
        ("--preset quick --stage 3:kimura-map01=0", "must be above"),
        ("--preset quick --map kimura-map01,kimura-map01", "named twice"),
        ("--preset quick --joint --no-gumbel", "joint=true is for games in which both players choose at once"),
        ("--preset soares2025 --minutes 1 --joint --gumbel", "valid are gumbel=false"),
        ("--preset quick --device cuba", "--device cuba:"),
        ("--preset quick --lr nan", "'nan' is not a number"),
        ("--preset quick --schedule cosin", "did you mean 'cosine'"),
        ("--preset quick --config x.json", "x.json: No such file"),
        ("--resume x", "x: no run here"),
        ("--resume x --lr 1", "--lr cannot be changed"),
        ("--resume x --preset quick", "--preset cannot be changed"),
    ],
)
def test_wrong_options(
    options: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        command(*options.split())
    error = capsys.readouterr().err
    assert ended.value.code == 2 and words in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"generation": 3}', "did you mean 'generations'"),
        ('{"stage": {"x": {"a": 1}}}', "'x' is not the number of a generation"),
        ('{"stage": {"1": 3}}', "3 should be an object of sources and weights"),
        ('{"map": ["a"], "stage": {"1": {"a": "many"}}}', "should be an object of sources and weights"),
    ],
)
def test_wrong_config_files(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        build(PvConfig, {}, tmp_path / "config.json")


def test_the_schedule(tmp_path: Path) -> None:
    rates = {}
    for schedule in ("constant", "cosine", "steps"):
        loop = begin(tmp_path / schedule, replace(SMALL, schedule=schedule, generations=8))
        rates[schedule] = [round(loop._rate(generation), 3) for generation in (0, 4, 6, 8)]
    assert rates == {"constant": [1, 1, 1, 1], "cosine": [1, 0.5, 0.146, 0], "steps": [1, 0.3, 0.1, 0.1]}
