"""Value networks learn from self-play, and a run that is killed ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandtable.names import split_spec
from sandtable.training.data import Data, make_data
from sandtable.training.manifest import Recipe
from sandtable.training.options import build, read_config, to_json
from sandtable.training.split import Split, split_rows

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from sandtable import cli, load_network, make_network  # noqa: E402
from sandtable.training.checkpoints import Checkpoints, load_checkpoint  # noqa: E402
from sandtable.training.examples import Encoding, Examples  # noqa: E402
from sandtable.training.run import Run  # noqa: E402
from sandtable.training.scores import Scores, class_of, predicted_class  # noqa: E402
from sandtable.training.value import Diverged, Trainer  # noqa: E402
from sandtable.training.value_config import ValueConfig  # noqa: E402

RECIPE = Recipe("tubstap", ("li-random", "li-symmetric"), (24, 16), ("greedy", "random"), seed=1, shard_games=8)
CONFIG = ValueConfig(network="gcn4", epochs=2, batch=64, lr=1e-3, seed=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return make_data(tmp_path_factory.mktemp("data"), RECIPE, workers=0)


def rows_of(data: Data, by: str = "map", seed: int = 0) -> Split:
    return split_rows(data, by, 0.25, 0.2, seed)


def trainer(data: Data, folder: Path, config: ValueConfig = CONFIG, **more: Any) -> Trainer:
    torch.manual_seed(config.seed)
    name, options = split_spec(config.network)
    return Trainer(config, make_network(name, data.games[0], **options), data, rows_of(data), Run(folder), **more)


def weights(folder: Path) -> dict[str, Any]:
    """Those of the newest checkpoint."""
    return load_checkpoint(Checkpoints(folder / "checkpoints").paths()[-1])["network"]


def equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def events_of(folder: Path) -> Any:
    """What TensorBoard shows of a run."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return events


def curve(folder: Path, tag: str) -> dict[int, float]:
    """What is left of a curve when each start of a run has purged what comes after it.

    TensorBoard takes files in the order of their names, which is not that of writing where one process begins ten of
    them in the same second, as only tests do.
    """
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    points: dict[int, float] = {}
    for path in sorted((folder / "tensorboard").iterdir(), key=lambda path: int(path.suffix[1:])):
        for event in EventFileLoader(str(path)).Load():
            if event.HasField("session_log"):
                points = {step: point for step, point in points.items() if step < event.step}
            for value in event.summary.value:
                if value.tag == tag:
                    points[event.step] = value.tensor.float_val[0]
    return points


# Splits


@pytest.mark.parametrize(("by", "column"), [("map", "start"), ("game", "game"), ("state", None)])
def test_what_stays_together(by: str, column: str | None, data: Data) -> None:
    split = rows_of(data, by)
    assert sorted(np.concatenate(split)) == list(range(data.states))
    assert abs(len(split.test) / data.states - 0.25) < 0.15
    if column:
        names = list(zip(data.column("source").tolist(), data.column(column).tolist(), strict=True))
        test, rest = {names[i] for i in split.test}, {names[i] for i in (*split.train, *split.validation)}
        assert test and not test & rest
    starts = data.column("start")
    assert not set(starts[split.validation]) & set(starts[split.train])
    assert {*data.column("source")[split.test]} == {0, 1}


def test_a_split_follows_from_its_seed(data: Data) -> None:
    assert all(np.array_equal(a, b) for a, b in zip(rows_of(data), rows_of(data), strict=True))
    assert not np.array_equal(rows_of(data).test, rows_of(data, seed=1).test)


def test_one_start_cannot_be_split_by_map(tmp_path: Path) -> None:
    one = make_data(tmp_path, Recipe("tubstap", ("kimura-map01",), (8,), ("random",)), workers=0)
    with pytest.raises(ValueError, match="it has 1 map; --split game"):
        split_rows(one, "map", 0.2, 0.1, 0)
    split = split_rows(one, "game", 0.25, 0.2, 0)
    games = one.column("game")
    parts = [set(games[part]) for part in split]
    assert all(parts) and len(set.union(*parts)) == sum(map(len, parts)) == 8


# Scores


def test_the_rule_of_li() -> None:
    assert predicted_class(np.array([0.51, 0.5, 0.0, -0.5, -0.51])).tolist() == [0, 1, 1, 1, 2]
    assert class_of(np.array([1.0, 0.0, -1.0, 0.3])).tolist() == [0, 1, 2, 0]


def test_scores() -> None:
    values, outcomes = np.array([0.9, 0.8, -0.9, 0.0]), np.array([1.0, -1.0, -1.0, 0.0])
    scores = Scores(0.0, values, predicted_class(values), outcomes, np.array([0, 0, 1, 1]))
    assert scores.accuracy == 0.75 and scores.accuracy_of(0) == 0.5 and np.isnan(scores.accuracy_of(2))
    assert scores.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert [n for *_, n in scores.calibration] == [1, 1, 2]
    assert scores.worst(2, np.array([7, 7, 8, 9])).tolist() == [1, 2]


# Examples


def test_batches_are_the_same_with_and_without_room(data: Data) -> None:
    encoding = Encoding(make_network("takahashi-gcn", data.games[0]), data)
    rows, order = rows_of(data).train, np.random.default_rng(0).permutation(len(rows_of(data).train))
    kept, made = Examples(encoding, rows, 1 << 30), Examples(encoding, rows, 0)
    assert kept.keep and not made.keep
    for skip in (0, 2):
        for (one, at), (other, there) in zip(kept.batches(order, 32, skip), made.batches(order, 32, skip), strict=True):
            assert equal(one, other) and torch.equal(at, there)
        assert torch.equal(next(made.batches(order, 32, skip))[1], torch.from_numpy(order[32 * skip :][:32]))


def test_maps_that_look_different_are_refused(tmp_path: Path) -> None:
    recipe = Recipe("tubstap", ("li-random", "kimura-random"), (4, 4), ("random",))
    mixed = make_data(tmp_path, recipe, workers=0)
    with pytest.raises(ValueError, match="li-random and kimura-random look different to gcn4"):
        Encoding(make_network("gcn4", mixed.games[0]), mixed)


# Runs


def test_it_learns_and_leaves_everything(data: Data, tmp_path: Path) -> None:
    one = trainer(data, tmp_path, replace(CONFIG, epochs=8, worst=2))
    test = one.learn()
    history = one.counters.history
    assert history[-1]["train loss"] < history[0]["train loss"] and test is not None
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["best"]["test"]["accuracy"] == test.accuracy
    assert results["examples"].keys() == {"train", "validation", "test"}
    best = load_network(tmp_path / "best.safetensors")
    states = np.concatenate([records["state"] for _, records in data.shards])[rows_of(data).test]
    assert np.allclose(best.values(data.games[0], states), test.values, atol=1e-5)
    events = events_of(tmp_path)
    assert {"loss/train", "accuracy/test", "learning rate", "examples a second"} <= {*events.Tags()["scalars"]}
    assert "accuracy by map/test li-symmetric" in events.Tags()["scalars"]
    assert {"confusion/test", "calibration/test", "worst/1", "worst/2"} <= {*events.Tags()["images"]}
    assert len(events.Scalars("loss/train")) == 8


@pytest.mark.parametrize(
    "change",
    [
        {"network": "takahashi-gcn"},
        {"network": "takahashi-gcn", "loss": "mse"},
        {"optimiser": "sgd", "schedule": "cosine", "clip": 1.0},
        {"schedule": "steps", "symmetry": True, "weight_decay": 1e-4},
        {"validation_share": 0.0},
    ],
)
def test_options(change: dict[str, Any], data: Data, tmp_path: Path) -> None:
    one = trainer(data, tmp_path, replace(CONFIG, epochs=1, **change))
    assert one.learn() is not None and one.counters.step == one.batches


def test_warzone(tmp_path: Path) -> None:
    data = make_data(tmp_path / "data", Recipe("warzone", ("simple",), (12,), ("random",)), workers=0)
    one = trainer(data, tmp_path / "run", replace(CONFIG, network="soares", epochs=1))
    assert one.learn() is not None and len(one.train_part.encoding.shared) > 0


def test_classes_need_a_network_that_has_them(data: Data, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gcn4 answers a value, not classes"):
        trainer(data, tmp_path, replace(CONFIG, loss="cross-entropy"))


def test_it_stops_when_nothing_gets_better(data: Data, tmp_path: Path) -> None:
    one = trainer(data, tmp_path, replace(CONFIG, epochs=20, patience=2, lr=0.0))
    one.learn()
    assert (one.counters.epoch, one.counters.best_epoch) == (3, 1)


def test_test_data_of_its_own(data: Data, tmp_path: Path) -> None:
    other = make_data(tmp_path / "other", replace(RECIPE, seed=2), workers=0)
    one = trainer(data, tmp_path / "run", test_data=other)
    test = one.learn()
    assert test is not None and len(test.values) == other.states


def test_numbers_that_explode(data: Data, tmp_path: Path) -> None:
    wild = replace(CONFIG, network="takahashi-gcn", optimiser="sgd", lr=1e3, epochs=50)
    with pytest.raises(Diverged, match=r"at step \d+ \(epoch \d+\); the last good checkpoint is .*\.pt"):
        trainer(data, tmp_path, wild).learn()
    assert all(torch.isfinite(tensor).all() for tensor in weights(tmp_path).values())


# Checkpoints


class Killed(BaseException):
    pass


def stop_after(steps: int, one: Trainer) -> None:
    """Let a trainer do so many steps and no more."""
    real, count = one._step, iter(range(steps))

    def step(*arguments: Any) -> None:
        if next(count, None) is None:
            raise Killed
        real(*arguments)

    one._step = step  # type: ignore[method-assign]


@pytest.mark.parametrize("network", ["gcn4", "kimura:blocks=1,filters=4,dropout=0.5"])
def test_a_run_in_pieces_is_the_same_run(network: str, data: Data, tmp_path: Path) -> None:
    """Stopped after every few steps, in the middle of epochs; the second network draws random numbers in each step."""
    config = replace(CONFIG, network=network, epochs=3, checkpoint_seconds=0.0, keep=3, symmetry=True)
    whole = trainer(data, tmp_path / "whole", config)
    whole.learn()

    for _ in range(100):
        piece = trainer(data, tmp_path / "pieces", config)
        stop_after(4, piece)
        try:
            piece.learn()
            break
        except Killed:
            continue
    assert equal(weights(tmp_path / "whole"), weights(tmp_path / "pieces"))
    assert piece.counters.history == whole.counters.history
    names = ("whole", "pieces")
    best = [load_network(tmp_path / name / "best.safetensors").state_dict() for name in names]
    assert equal(*best)
    told = [curve(tmp_path / name, "loss/train") for name in names]
    assert told[0] == told[1] and len(told[0]) == 3


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3):
        newest = checkpoints.save(step, {"tensor": torch.ones(step)})
    assert len(checkpoints.paths()) == 2
    newest.write_bytes(newest.read_bytes()[:-200])
    found = checkpoints.latest()
    assert found is not None and found["step"] == 2
    assert newest.name in capsys.readouterr().err


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "boom"),)

    for number, content in enumerate((pickle.dumps(Bomb()), b"", b"nonsense")):
        path = tmp_path / f"checkpoint-{number:09d}.pt"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a checkpoint, or damaged"):
            load_checkpoint(path)
    torch.save({"format": 1, "bomb": Bomb()}, tmp_path / "checkpoint-000000009.pt")
    with pytest.raises(ValueError, match="not one of its 4 checkpoints can be read"):
        Checkpoints(tmp_path).latest()
    assert not (tmp_path / "boom").exists()


def test_other_data_than_the_run_began_with(data: Data, tmp_path: Path) -> None:
    trainer(data, tmp_path / "run").learn()
    other = make_data(tmp_path / "other", replace(RECIPE, seed=9), workers=0)
    with pytest.raises(ValueError, match="other data than the run"):
        trainer(other, tmp_path / "run").learn()


# The command


def command(*arguments: object) -> int:
    return cli.train(["--agent", "value", *map(str, arguments), "--quiet"])


def test_the_command_makes_data_and_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    making = ["--self-play", "greedy,random", "--map", "li-random", "--games", 12, "--workers", 0]
    options = ["--network", "gcn4", "--data", tmp_path / "data", "--epochs", 2, "--out", tmp_path / "run"]
    assert command(*options, *making) == 0
    told = capsys.readouterr().out
    assert "gcn4, 76433 weights" in told and "validation" in told and "best.safetensors" in told
    saved = read_config(ValueConfig, tmp_path / "run" / "config.json")
    assert build(ValueConfig, saved) == build(ValueConfig, {}, tmp_path / "run" / "config.json")
    again = ["--config", tmp_path / "run" / "config.json", "--out", tmp_path / "again"]
    assert command(*again) == 0
    assert equal(weights(tmp_path / "run"), weights(tmp_path / "again"))
    assert command("--resume", tmp_path / "run") == 0
    with pytest.raises(SystemExit):
        command(*options)
    assert "holds a run already" in capsys.readouterr().err


def test_killed_for_real(data: Data, tmp_path: Path) -> None:
    """kill -9 in the middle, twice, then --resume: the weights of a run that was left alone."""
    options = ["--network", "gcn4", "--data", str(data.folder), "--epochs", "12", "--batch", "16"]
    options += ["--checkpoint-seconds", "0", "--quiet"]
    start = [sys.executable, "train.py", "--agent", "value"]
    root = Path(__file__).resolve().parent.parent
    folder = tmp_path / "killed"
    arguments, kills = [*options, "--out", str(folder)], 0
    for wanted in (30, 200):
        with subprocess.Popen([*start, *arguments], cwd=root, stdout=subprocess.DEVNULL) as run:
            while run.poll() is None and not any(step(path) > wanted for path in folder.glob("checkpoints/*.pt")):
                time.sleep(0.002)
            kills += run.poll() is None
            os.kill(run.pid, signal.SIGKILL)
        arguments = ["--resume", str(folder), "--quiet"]
    assert kills == 2
    assert command("--resume", folder) == 0
    assert command(*options[:-1], "--out", tmp_path / "whole") == 0
    assert equal(weights(tmp_path / "whole"), weights(folder))
    assert not list(folder.glob("checkpoints/.*"))


def step(path: Path) -> int:
    return int(path.stem.partition("-")[2])


def test_interrupted(data: Data, tmp_path: Path) -> None:
    options = ["--network", "gcn4", "--data", str(data.folder), "--epochs", "1000", "--out", str(tmp_path), "--quiet"]
    root = Path(__file__).resolve().parent.parent
    start = [sys.executable, "train.py", "--agent", "value", *options]
    with subprocess.Popen(start, cwd=root, stderr=subprocess.PIPE, text=True) as run:
        while run.poll() is None and len(list(tmp_path.glob("checkpoints/*.pt"))) < 2:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=60)
    assert run.returncode == 130 and "interrupted at step" in told and f"--resume {tmp_path} goes on" in told
    assert "Traceback" not in told


def test_a_full_disk(data: Data, tmp_path: Path) -> None:
    """Files that may not grow: one line says so, and the checkpoint before stays."""
    options = ["--network", "gcn4", "--data", str(data.folder), "--out", str(tmp_path), "--quiet"]
    root = Path(__file__).resolve().parent.parent
    start = [sys.executable, "train.py", "--agent", "value", *options]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))  # noqa: E731
    ended = subprocess.run(start, cwd=root, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert ended.returncode == 1 and "File too large; --resume goes on" in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["checkpoint-000000000.pt"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--data x", "--network: which network"),
        ("--network gcn4", "--data: a folder"),
        ("--network gcn-4 --data x", "did you mean 'gcn4'"),
        ("--network gcn4:unit=3 --data x", "did you mean 'units'"),
        ("--network gcn4 --data x", "x holds no data, so it has to be made: --self-play: which agents"),
        ("--network gcn4 --data x --loss mes", "did you mean 'mse'"),
        ("--network gcn4 --data x --lr nan", "'nan' is not a number"),
        ("--network gcn4 --data x --patience 3 --validation-share 0", "--patience needs"),
        ("--resume x", "x: no run here"),
        ("--resume x --lr 1", "--lr cannot be changed"),
        ("--network gcn4 --data x --config x.json", "x.json: No such file"),
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"epoch": 3}', "did you mean 'epochs'"),
        ('{"epochs": "many"}', "epochs: 'many' is not a whole number"),
        ('{"epochs": [1, 2]}', "epochs: '1,2' is not"),
        ('{"symmetry": 1}', "neither true nor false"),
        ('{"option": 3}', "option: 3 should be an object"),
        ("[]", "a config is an object"),
        ("{", "not JSON"),
    ],
)
def test_wrong_config_files(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        build(ValueConfig, {}, tmp_path / "config.json")


def test_configs_go_through_files(tmp_path: Path) -> None:
    config = replace(CONFIG, map=("li-random",), games=(3, 4), self_play=("mcts:sims=2,c=1",), option={"turn_limit": 3})
    (tmp_path / "config.json").write_text(to_json(config))
    assert build(ValueConfig, {}, tmp_path / "config.json") == config
