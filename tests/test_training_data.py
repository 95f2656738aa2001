"""Data sets of self-play: the same whatever the processes, whole or not there, and finished by whoever comes again."""

from __future__ import annotations

import json
import os
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

from sandtable import cli, make_agent
from sandtable.training.data import Data, make_data, open_data, play_shard
from sandtable.training.data_cli import main
from sandtable.training.manifest import Recipe, read_manifest
from sandtable.training.selfplay import Players
from sandtable.training.shards import Damaged, Shard, copy_clean

RECIPE = Recipe("tubstap", ("kimura-random", "li-symmetric"), (12, 8), ("greedy", "random"), seed=5, shard_games=4)
WARZONE = Recipe("warzone", ("simple",), (4,), ("random",), shard_games=2)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".npy", ".json")}


def records(data: Data) -> np.ndarray:
    """Those of the first source of maps."""
    return copy_clean(np.concatenate([part for shard, part in data.shards if shard.source == 0]))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return make_data(tmp_path_factory.mktemp("data"), RECIPE, workers=0)


def test_every_state_with_a_move_is_there(made: Data) -> None:
    for source, game in enumerate(made.games):
        parts = np.concatenate([part for shard, part in made.shards if shard.source == source])
        assert set(parts["game"]) == set(range(RECIPE.games[source]))
        for number in range(RECIPE.games[source]):
            one = parts[parts["game"] == number]
            assert one["ply"].tolist() == list(range(len(one)))
            assert not game.done(one["state"]).any()
            assert (game.player(one["state"]) == one["player"]).all() and (one["turn"] == one["state"]["turn"]).all()
            assert (one["start"] == game.key(one["state"][0])).all()
            assert len({*(one["outcome"] * np.where(one["player"] == 0, 1, -1))}) == 1


def test_games_end_as_their_records_say(made: Data) -> None:
    """The last state's side has a move after which the game is over with this outcome."""
    game = made.games[0]
    for number in range(4):
        last = records(made)[records(made)["game"] == number][-1]
        ends = [game.play(last["state"], move) for move in game.moves(last["state"])]
        sign = 1 if last["player"] == 0 else -1
        assert any(game.done(end) and sign * game.outcome(end) == last["outcome"] for end in ends)


def test_both_colours_of_every_start(made: Data) -> None:
    starts = {number: records(made)["start"][records(made)["game"] == number][0] for number in range(12)}
    assert all(starts[2 * i] == starts[2 * i + 1] for i in range(6)) and len({*starts.values()}) == 6


def test_the_manifest(made: Data) -> None:
    manifest = read_manifest(made.folder)
    counts = manifest["counts"]
    assert manifest["complete"] and counts["games"] == 20 and counts["states"] == made.states
    assert counts["wins"] + counts["draws"] + counts["losses"] == made.states
    assert Recipe.from_json(manifest["recipe"]) == RECIPE and manifest["sandtable"]["version"]


def test_the_number_of_processes_changes_nothing(made: Data, tmp_path: Path) -> None:
    make_data(tmp_path, RECIPE, workers=2)
    assert contents(tmp_path) == contents(made.folder)


@pytest.mark.parametrize("agents", [("muct:sims=8",), ("mcts:sims=8,reuse=true",), ("greedy", "pmc:rollouts=1")])
def test_games_beside_it_change_nothing_in_a_game(agents: tuple[str, ...], tmp_path: Path) -> None:
    recipe = replace(RECIPE, maps=("kimura-random",), games=(6,), agents=agents, shard_games=6)
    (game,) = recipe.make_games()
    players = Players(game, agents, make_agent)
    together = play_shard(recipe, game, players, Shard(0, 0, 6), lambda ended: None)
    apart = [play_shard(recipe, game, players, Shard(0, 2 * i, 2), lambda ended: None) for i in range(3)]
    assert together.tobytes() == copy_clean(np.concatenate(apart)).tobytes()


def test_more_games_go_on_from_the_first(made: Data, tmp_path: Path) -> None:
    fewer = make_data(tmp_path, replace(RECIPE, maps=("kimura-random",), games=(8,)), workers=0)
    assert records(fewer).tobytes() == copy_clean(records(made)[: len(records(fewer))]).tobytes()


def test_thinning_keeps_every_nth_state(made: Data, tmp_path: Path) -> None:
    thin = records(make_data(tmp_path, replace(RECIPE, every=3), workers=0))
    whole = {(int(r["game"]), int(r["ply"])): r for r in records(made)}
    assert {int(r["ply"]) % 3 for r in thin} == {0, 1, 2}
    for number in range(12):
        assert (np.diff(thin["ply"][thin["game"] == number]) == 3).all()
    assert all(whole[int(r["game"]), int(r["ply"])].tobytes() == r.tobytes() for r in thin)


def test_nothing_hidden_is_kept_of_warzone(tmp_path: Path) -> None:
    """Of one state no record differs from what its player may know of it."""
    data = make_data(tmp_path, WARZONE, workers=0)
    kept = records(data)["state"].copy()
    assert data.games[0].view(kept)["pending"].tobytes() == kept["pending"].tobytes()
    assert set(records(data)["player"]) == {0, 1}


def test_rows_by_number(made: Data) -> None:
    rows = np.random.default_rng(1).permutation(made.states)[:50]
    games, sources = made.column("game"), made.column("source")
    seen = 0
    for source, at, taken in made.take(rows):
        assert (sources[rows[at]] == source).all() and (games[rows[at]] == taken["game"]).all()
        made.games[source].key(taken["state"])  # compiled code takes them
        seen += len(at)
    assert seen == 50


# What goes wrong


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 6}, "seed is 5 there, 6 was asked for"),
        ({"agents": ("greedy",)}, r'agents is \["greedy", "random"\] there'),
        ({"games": (12, 10)}, r"games is \[12, 8\] there"),
        ({"options": {"turn_limit": 3}}, 'options is {} there, {"turn_limit": 3}'),
    ],
)
def test_other_data_in_the_folder(made: Data, change: dict[str, Any], words: str) -> None:
    before = contents(made.folder)
    with pytest.raises(ValueError, match=words):
        make_data(made.folder, replace(RECIPE, **change), workers=0)
    assert contents(made.folder) == before


def break_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-50] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [break_off, flip_a_bit, Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_damaged_shard_is_named_and_made_again(
    damage: Any, made: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in contents(made.folder).items():
        (tmp_path / name).write_bytes(content)
    damage(tmp_path / "source-00-game-0000004.npy")
    with pytest.raises(Damaged, match=r"source-00-game-0000004\.npy: (damaged|missing)"):
        open_data(tmp_path)
    make_data(tmp_path, RECIPE, workers=0)
    assert "source-00-game-0000004.npy" in capsys.readouterr().err
    assert contents(tmp_path) == contents(made.folder)


@pytest.mark.parametrize("text", ["", "{}", '{"format": 99, "recipe": {}}', '{"format": 1, "recipe": {"game": 1}}'])
def test_a_bad_manifest(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match="not the manifest of a data set"):
        open_data(tmp_path)


def test_folders_without_data(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no data here"):
        open_data(tmp_path)
    (tmp_path / "mine.npy").touch()
    with pytest.raises(ValueError, match="not a folder for data"):
        make_data(tmp_path, RECIPE, workers=0)


def test_incomplete_data(made: Data, tmp_path: Path) -> None:
    for name, content in contents(made.folder).items():
        if name != "source-01-game-0000004.json":
            (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="not complete, source-01-game-0000004 is missing"):
        open_data(tmp_path)
    assert 0 < open_data(tmp_path, complete=False).states < made.states


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agents": ("a", "b", "c")}, "one agent or two"),
        ({"games": (3, 8)}, "3 games are not an even number"),
        ({"games": (4,)}, "2 sources of maps need as many"),
        ({"maps": ("li-random", "li-random")}, "named twice"),
        ({"every": 0}, "every=0 must be at least 1"),
    ],
)
def test_recipes_that_make_no_sense(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(RECIPE, **change)


def test_an_agent_that_goes_wrong_is_told(tmp_path: Path) -> None:
    def broken(spec: str) -> Any:
        agent = make_agent("random")
        agent.decide = lambda states, seeds: 1 / 0 if len(states) else None  # type: ignore[assignment, method-assign]
        return agent

    with pytest.raises(ZeroDivisionError):
        make_data(tmp_path, WARZONE, workers=0, make_agent=broken)
    with pytest.raises(ZeroDivisionError):
        make_data(tmp_path, WARZONE, workers=1, make_agent=broken)
    assert not list(tmp_path.glob("*.npy"))


def test_an_agent_that_ends_its_process(tmp_path: Path) -> None:
    def broken(spec: str) -> Any:
        os._exit(3)

    with pytest.raises(RuntimeError, match=r"ended from outside \(exit code 3\)"):
        make_data(tmp_path, WARZONE, workers=2, make_agent=broken)


def test_processes_that_are_spawned(tmp_path: Path) -> None:
    recipe = replace(RECIPE, maps=("kimura-random",), games=(4,))
    spawned = make_data(tmp_path / "spawned", recipe, workers=1, start_method="spawn")
    assert contents(spawned.folder) == contents(make_data(tmp_path / "here", recipe, workers=0).folder)


# Programs that are killed

OPTIONS = "--self-play greedy,random --map kimura-random,li-symmetric --games 12,8 --data-seed 5 --shard-games 4"


def start(folder: Path, options: str, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "train.py", "--agent", "data", "--data", str(folder), *options.split()]
    root = Path(__file__).resolve().parent.parent
    return subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)


def test_the_command(made: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"self_play": ["greedy", "random"], "games": [12, 8], "data_seed": 5}))
    options = ["--config", str(config), "--map", "kimura-random,li-symmetric", "--shard-games", "4", "--workers", "0"]
    assert cli.train(["--agent", "data", "--data", str(tmp_path / "new"), *options]) == 0
    assert contents(tmp_path / "new") == contents(made.folder)
    assert f"{made.states} states of 20 games" in capsys.readouterr().out


def test_killed_again_and_again(tmp_path: Path) -> None:
    """kill -9 after each new shard: at the end there is the same data, and nothing else."""
    slow = "--self-play mcts:sims=300 --map kimura-random --games 8 --shard-games 2 --workers 2"
    kills = 0
    for whole in (1, 2):
        run = start(tmp_path / "killed", slow)
        while run.poll() is None and len(list((tmp_path / "killed").glob("source*.json"))) < whole:
            time.sleep(0.005)
        kills += run.poll() is None
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
    assert kills
    last = start(tmp_path / "killed", slow)
    assert "states of 8 games" in last.communicate(timeout=300)[0]
    recipe = Recipe("tubstap", ("kimura-random",), (8,), ("mcts:sims=300",), shard_games=2)
    make_data(tmp_path / "whole", recipe, workers=0)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {*contents(tmp_path / "whole"), ".lock"}


def test_interrupted_it_keeps_what_is_whole(tmp_path: Path) -> None:
    run = start(tmp_path, "--self-play mcts:sims=2000 --map li-symmetric --games 4000 --shard-games 2")
    while run.poll() is None and not list(tmp_path.glob("source*.json")):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert run.returncode == 130 and "the same command goes on" in told and "Traceback" not in told
    assert open_data(tmp_path, complete=False).states > 0 and not list(tmp_path.glob(".source*"))


def test_a_full_disk(tmp_path: Path) -> None:
    """Files that may not grow: one line says so, and nothing half-written is left."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # noqa: E731
    run = start(tmp_path, f"{OPTIONS} --workers 0", preexec_fn=limit)
    _, told = run.communicate(timeout=300)
    assert run.returncode == 1 and "File too large; what is whole stays" in told and "Traceback" not in told
    assert len(list(tmp_path.glob("source*.npy"))) < 5 and not list(tmp_path.glob(".source*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--self-play greedy --map li-random", "--data: a folder"),
        ("--data x --map li-random", "--self-play: which agents"),
        ("--data x --self-play greedy", "--map: where"),
        ("--data x --self-play gredy --map li-random", "did you mean 'greedy'"),
        ("--data x --self-play greedy --map li-randon", "did you mean 'li-random'"),
        ("--data x --self-play greedy --map li-random --games 1,x", "'x' is not a whole number"),
        ("--data x --self-play greedy --map li-random --config nowhere.json", "nowhere.json: No such file"),
        ("--data x --self-play greedy --map li-random --sed 1", "unrecognized arguments"),
    ],
)
def test_wrong_options(options: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options.split())
    error = capsys.readouterr().err
    assert ended.value.code == 2 and words in error and error.count("\n") == 1
