"""Games, tournaments, Elo, tables: on a toy game, so that nothing here leans on a real one."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest

from sandtable.matches import elo
from sandtable.matches.files import record_name, write_record, write_whole
from sandtable.matches.play import AGENT_ERRORS, describe_error, play_game
from sandtable.matches.progress import Progress
from sandtable.matches.table import to_json, to_text
from sandtable.matches.tournament import Tournament, enter, play_tournament, schedule
from sandtable.matches.transcript import transcript
from sandtable.matches.workers import play_jobs
from tests.toy_game import Nim, PerfectNim, RandomNim, SlowNim, make_toy_agent

GAME = Nim()


def tournament(specs: list[str], games: int = 12, workers: int | None = 0, **options) -> Tournament:
    return play_tournament(GAME, specs, games, make_agent=make_toy_agent, workers=workers, **options)


def untimed(result: Tournament) -> dict:
    """The table without what the clock says."""
    table = to_json(result)
    for entry in (*table["pairs"], *table["elo"]):
        del entry["seconds_per_move"]
    return table


# One game


def test_a_game_is_played_to_its_end_and_tells_how_it_went() -> None:
    start = GAME.new(1, seed=3)[0]
    result = play_game(GAME, (PerfectNim(), RandomNim()), start, (1, 2), record=True)
    assert result.forfeit_by is None and result.reason == ""
    assert result.moves == sum(result.decisions) == len(result.history.moves) == len(result.history.states) - 1
    assert all(seconds > 0 for seconds in result.seconds)
    state = result.history.states[0]
    assert state == start
    for move, after in zip(result.history.moves, result.history.states[1:], strict=True):
        state = GAME.play(state, move)
        assert state == after
    assert GAME.done(state) and result.outcome == GAME.outcome(state)


def test_the_same_seeds_give_the_same_game_and_others_another() -> None:
    start = GAME.new(1, seed=5)[0]
    games = [play_game(GAME, (RandomNim(), RandomNim()), start, s, record=True) for s in ((1, 2), (1, 2), (3, 4))]
    moves = [[move.tolist() for move in game.history.moves] for game in games]
    assert moves[0] == moves[1] != moves[2]


def test_a_slow_decision_loses_the_game() -> None:
    result = play_game(GAME, (RandomNim(), SlowNim()), GAME.new(1, seed=1)[0], (1, 2), time_limit=0.02)
    assert (result.forfeit_by, result.outcome) == (1, 1.0)
    assert result.reason == "blue exceeded its time (0.02 s a decision)"
    assert result.decisions[1] == 1 and result.seconds[1] > 0.02


def test_errors_fit_into_a_line_even_broken_ones() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert describe_error(ValueError("first\nsecond")) == "ValueError: first"
    assert describe_error(Broken()) == "Broken"
    assert len(describe_error(ValueError("x" * 10_000))) < 250
    assert KeyboardInterrupt not in AGENT_ERRORS


# Tournaments


def test_every_pair_plays_both_colours_of_every_position() -> None:
    jobs = schedule(GAME, enter(["random", "perfect", "slow"]), positions=4, seed=7)
    assert [job.index for job in jobs] == list(range(3 * 4 * 2))
    met = {(job.position, job.sides[0].label, job.sides[1].label) for job in jobs}
    assert len(met) == len(jobs)
    assert all((position, blue, red) in met for position, red, blue in met)
    starts = GAME.new(4, 7)
    assert all(job.start == starts[job.position] for job in jobs)


def test_seeds_of_a_pair_do_not_depend_on_who_else_plays() -> None:
    def seeds(specs: list[str], seed: int = 7) -> dict:
        jobs = schedule(GAME, enter(specs), positions=3, seed=seed)
        return {(job.position, *(side.label for side in job.sides)): job.seeds for job in jobs}

    few, many = seeds(["random", "perfect"]), seeds(["slow", "perfect", "random", "random"])
    assert few.items() <= many.items()
    assert len({seed for pair in many.values() for seed in pair}) == 2 * len(many)
    assert not set(few.values()) & set(seeds(["random", "perfect"], seed=8).values())


def test_the_same_seed_gives_the_same_table_whatever_the_number_of_workers() -> None:
    specs = ["random", "perfect", "random"]
    tables = [untimed(tournament(specs, workers=workers, seed=11)) for workers in (0, 1, 2, 5)]
    assert tables[0] == tables[1] == tables[2] == tables[3]
    assert tables[0]["agents"] == ["random", "perfect", "random #2"]
    assert untimed(tournament(specs, seed=12)) != tables[0]


def test_spawned_workers_play_the_same_games() -> None:
    table = untimed(tournament(["random", "perfect"], games=4, workers=1, start_method="spawn"))
    assert table == untimed(tournament(["random", "perfect"], games=4))


def test_the_better_player_wins_and_odd_games_are_rounded_up() -> None:
    result = tournament(["random", "perfect"], games=39)
    (pair,) = result.pairs
    assert len(pair.games) == 40 == pair.wins + pair.draws + pair.losses
    assert pair.score is not None and pair.score < 0.3
    assert sum(result.colours) == 40
    assert result.ratings.elo[1] > 0 > result.ratings.elo[0]


def test_ctrl_c_keeps_the_games_so_far_and_leaves_no_process() -> None:
    import multiprocessing

    seen = []

    def stop(played) -> None:
        seen.append(played)
        if len(seen) == 3:
            raise KeyboardInterrupt

    result = tournament(["random", "slow"], games=40, workers=2, on_game=stop)
    assert result.interrupted and len(result.games) == 3
    assert not multiprocessing.active_children()
    assert "random against slow" in to_text(result)


def test_a_tournament_stopped_before_the_first_game_still_has_a_table() -> None:
    empty = Tournament(enter(["random", "perfect"]), ("red", "blue"), 1, 0, [], interrupted=True)
    assert to_json(empty)["pairs"][0]["score"] is None
    assert "random against perfect" in to_text(empty)


def test_workers_that_cannot_start_are_told_and_do_not_go_on_for_ever() -> None:
    game = Unloadable()
    jobs = schedule(game, enter(["random", "perfect"]), 1, 0)
    with pytest.raises(RuntimeError, match=r"workers end before they play \(exit code 1\)"):
        list(play_jobs(game, jobs, make_toy_agent, workers=1, start_method="spawn"))


class Unloadable(Nim):
    """A game that another process cannot have."""

    def __reduce__(self):
        return int, ("not a number",)


# Strength


def test_elo_of_known_scores() -> None:
    even = elo.fit(np.array([[0.0, 50.0], [50.0, 0.0]]))
    assert even.elo == pytest.approx([0, 0])
    gap, low, high = elo.fit(np.array([[0.0, 750.0], [250.0, 0.0]])).difference(0, 1)
    assert gap == pytest.approx(400 * math.log10(3), abs=1)
    # The textbook's standard error of the difference: 1 / sqrt(n p q) on the natural scale.
    assert (high - low) / 2 == pytest.approx(1.96 * 400 / math.log(10) / math.sqrt(1000 * 0.75 * 0.25), rel=0.01)


def test_elo_is_finite_symmetric_and_consistent() -> None:
    whitewash = elo.fit(np.array([[0.0, 100.0], [0.0, 0.0]]))
    assert np.isfinite(whitewash.elo).all() and 600 < whitewash.elo[0] - whitewash.elo[1] < 1500
    true = np.array([300.0, 0.0, -100.0, -200.0])
    chance = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))
    points = 10_000 * chance * (1 - np.eye(4))
    fitted = elo.fit(points)
    assert fitted.elo == pytest.approx(true - true.mean(), abs=1)
    assert fitted.elo.mean() == pytest.approx(0, abs=1e-6)
    turned = elo.fit(points[::-1, ::-1])
    assert turned.elo[::-1] == pytest.approx(fitted.elo)
    few, many = elo.fit(points / 1000).interval(0), fitted.interval(0)
    assert few[1] - few[0] > 5 * (many[1] - many[0])
    assert np.isfinite(elo.fit(np.zeros((3, 3))).interval(0)).all()


def test_elo_intervals_cover_about_95_percent() -> None:
    rng = np.random.default_rng(1)
    chance = 1 / (1 + 10 ** (-150 / 400))
    hits = 0
    for wins in rng.binomial(200, chance, 400):
        _, low, high = elo.fit(np.array([[0.0, wins], [200.0 - wins, 0.0]])).difference(0, 1)
        hits += low <= 150 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_wilson_intervals() -> None:
    assert elo.score_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert elo.score_interval(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert elo.score_interval(0, 0) == (0.0, 1.0)


# On paper


def test_table_and_json_tell_the_same() -> None:
    result = tournament(["random", "perfect", "random"], games=10, seed=2)
    text, table = to_text(result), json.loads(json.dumps(to_json(result, game="nim", map=None), allow_nan=False))
    assert list(table)[:2] == ["game", "map"] and table["games"] == 10
    for pair in table["pairs"]:
        assert pair["wins"] + pair["draws"] + pair["losses"] == 10
        assert pair["score"] == (pair["wins"] + pair["draws"] / 2) / 10
        assert pair["ci95"][0] <= pair["score"] <= pair["ci95"][1]
        assert f"{pair['wins']}-{pair['draws']}-{pair['losses']} {pair['score']:.1%}" in text
        assert f"{pair['losses']}-{pair['draws']}-{pair['wins']} {1 - pair['score']:.1%}" in text
        assert set(pair["seconds_per_move"]) == {"a", "b"} and pair["forfeits"] == []
    assert sum(table["colours"].values()) == 30
    assert [entry["agent"] for entry in table["elo"]] == table["agents"]
    first = text.splitlines()[1]
    assert first.startswith("1  perfect")
    assert "forfeit" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_records_are_written_whole_under_telling_names(tmp_path) -> None:
    result = tournament(["random", "perfect"], games=2, record=True)
    names = []
    for played in result.games:
        assert write_record(GAME, played, tmp_path, "2020-01-01")
        names.append(record_name(played, GAME.players, ".nim"))
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert names[1] == "00002-position-001-red-perfect-blue-random.nim"
    assert (tmp_path / names[1]).read_text().startswith("perfect\nrandom\n2020-01-01\n")
    assert not write_record(GAME, tournament(["random", "perfect"], games=2).games[0], tmp_path, "2020-01-01")


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError):
        write_whole(target, "text")
    assert list(tmp_path.iterdir()) == [target]


def test_a_game_can_be_read() -> None:
    played = tournament(["random", "perfect"], games=2, record=True).games[0]
    text = transcript(GAME, played)
    assert "red random, blue perfect" in text and "red takes" in text
    assert f"after {played.result.moves} moves" in text


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_redraws_one_line_on_a_terminal_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandtable.matches.progress.REDRAW_SECONDS", 0.0)
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    with Progress(4, stream=stream) as progress:
        progress.advance()
        progress.advance(note="so far so good")
    text = stream.getvalue()
    assert "2/4 games" in text and "so far so good" in text and "left" in text
    assert "\n" not in text and text.endswith("\r")


def test_progress_elsewhere_writes_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    with Progress(1000, stream=stream) as progress:
        progress.advance(10)
        assert stream.getvalue() == ""
        monkeypatch.setattr("sandtable.matches.progress.LINE_SECONDS", 0.0)
        progress.advance(10)
    assert stream.getvalue().startswith("20/1000 games") and stream.getvalue().count("\n") == 1
    quiet = Terminal()
    with Progress(4, stream=quiet, quiet=True) as progress:
        progress.advance(4)
    assert quiet.getvalue() == ""
