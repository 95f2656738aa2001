"""evaluate.py as people call it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandtable.cli import evaluate

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, str(ROOT / "evaluate.py")]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and process groups")


def without_times(text: str) -> str:
    return text.partition("time a move")[0]


def test_a_tournament_from_the_command_line(tmp_path: Path) -> None:
    arguments = ["--map", "li-symmetric", "--agents", "greedy", "random", "--games", "6", "--seed", "1"]
    files = ["--json", str(tmp_path / "table.json"), "--record", str(tmp_path / "records")]
    done = subprocess.run(
        [*COMMAND, *arguments, *files, "--workers", "2"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.startswith("tubstap, map li-symmetric, rules official: 6 games a pair, seed 1\n")
    table = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert table["map"] == "li-symmetric" and table["agents"] == ["greedy", "random"] and table["seed"] == 1
    (pair,) = table["pairs"]
    assert pair["wins"] + pair["draws"] + pair["losses"] == 6 and pair["score"] > 0.5
    records = sorted(path.name for path in (tmp_path / "records").iterdir())
    assert len(records) == 6 and records[0] == "00001-position-001-red-greedy-blue-random.tbsrec"
    again = subprocess.run([*COMMAND, *arguments, "--workers", "0"], capture_output=True, text=True, check=True)
    assert without_times(again.stdout) == without_times(done.stdout)


def test_the_parent_never_loads_torch() -> None:
    code = (
        "import sys; from sandtable.cli import evaluate\n"
        "evaluate(['--agents', 'greedy', 'random', '--games', '2', '--quiet'])\n"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)


def test_show_prints_the_first_game_and_odd_games_get_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(["--agents", "greedy", "greedy", "--games", "1", "--workers", "0", "--show", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("game 1, position 1: red greedy, blue greedy #2\n")
    assert "   1. red " in out and " moves\n" in out
    assert err == "--games 1: playing 2, both colours of every position\n"


def test_options_reach_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = ["--option", "turn_limit=2", "--option", "limit_means=draw", "--json", str(tmp_path / "t.json")]
    assert evaluate(["--agents", "random", "greedy", "--games", "4", "--workers", "0", *limits]) == 0
    assert "tubstap, map li-symmetric, rules official+turn_limit=2+limit_means=draw: 4 games" in capsys.readouterr().out
    table = json.loads((tmp_path / "t.json").read_text())
    assert table["pairs"][0]["draws"] == 4 and table["options"] == {"turn_limit": 2, "limit_means": "draw"}


def test_games_end_by_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = ["--game", "warzone", "--map", "simple", "--agents", "mcts:sims=60", "mcts:sims=40", "--games", "6"]
    files = ["--json", str(tmp_path / "table.json"), "--record", str(tmp_path), "--show"]
    agreed = ["--tie-after", "50", "--surrender", "0.8"]
    tables = []
    for workers in ("0", "1", "2"):
        assert evaluate([*setting, *files, *agreed, "--workers", workers, "--quiet"]) == 0
        tables.append(without_times(capsys.readouterr().out))
    assert tables[0] == tables[1] == tables[2]
    assert "6 games a pair, seed 0, ties agreed after turn 50 at 0.49 to 0.51, surrender at 0.8\n" in tables[0]
    assert "ended by agreement:\n  mcts:sims=" in tables[0] and " gave up (" in tables[0]
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["agreements"] == {"tie_after": 50, "surrender_at": 0.8, "tie_within": 0.01}
    for entry in table["pairs"][0]["agreements"]:
        assert entry["agreement"] == "surrender" and entry["agent"] in table["agents"]
        assert len(list(tmp_path.glob(f"{entry['game']:05d}-*.jsonl"))) == 1


GOOD = ["--agents", "greedy", "random", "--games", "2"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--agents", "greedy", "rondom"], "unknown agent 'rondom' (did you mean 'random'?)"),
        (["--agents", "greedy", "mcts:simz=3"], "simz"),
        (["--agents", "greedy", "mcts:sims=-1"], "sims"),
        (["--agents", "greedy"], "at least two are needed, got 1"),
        ([], "at least two are needed, got 0"),
        ([*GOOD, "--game", "tubstab"], "unknown game 'tubstab' (did you mean 'tubstap'?)"),
        ([*GOOD, "--map", "li-symetric"], "unknown map 'li-symetric' (did you mean 'li-symmetric'?)"),
        ([*GOOD, "--map", "nowhere/a.tbsmap"], "nowhere/a.tbsmap"),
        ([*GOOD, "--rules", "oficial"], "unknown ruleset 'oficial' (did you mean 'official'?)"),
        ([*GOOD, "--option", "turn_limits=3"], "turn_limits"),
        ([*GOOD, "--option", "turn_limit=never"], "turn_limit"),
        ([*GOOD, "--option", "turn_limit"], "'turn_limit' should be KEY=VALUE"),
        ([*GOOD, "--option", "map=li-symmetric"], "use --map"),
        ([*GOOD, "--games", "0"], "not a whole number of at least 1"),
        ([*GOOD, "--seed", "-1"], "not a whole number of at least 0"),
        ([*GOOD, "--workers", "many"], "not a whole number of at least 0"),
        ([*GOOD, "--time-limit", "0"], "not a number of seconds above 0"),
        ([*GOOD, "--time-limit", "nan"], "not a number of seconds above 0"),
        ([*GOOD, "--tie-after", "-1"], "not a whole number of at least 0"),
        ([*GOOD, "--tie-after", "late"], "not a whole number of at least 0"),
        ([*GOOD, "--surrender", "99"], "'99' is not a share above 0.5 and at most 1"),
        ([*GOOD, "--surrender", "0.5"], "not a share above 0.5"),
        ([*GOOD, "--surrender", "nan"], "not a share above 0.5"),
        ([*GOOD, "--surrender"], "expected one argument"),
        ([*GOOD, "--json", "nowhere/table.json"], "not a file in an existing folder"),
        ([*GOOD, "--json", "."], "not a file in an existing folder"),
        ([*GOOD, "--record", __file__], "exists"),
        ([*GOOD, "--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_is_told_in_one_line_before_anything_is_played(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        evaluate(arguments)
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == ""
    assert err.startswith("evaluate.py: error: ") and err.count("\n") == 1
    assert complaint in err


def test_bad_input_from_the_command_line_has_no_traceback() -> None:
    done = subprocess.run([*COMMAND, "--agents", "greedy", "nobody"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "nobody" in done.stderr


def test_help_tells_defaults_games_and_agents(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        evaluate(["--help"])
    text = capsys.readouterr().out
    assert stop.value.code == 0
    assert "games: tubstap" in text and "agents: " in text and "greedy" in text
    for option in ("--games", "--seed", "--workers", "--time-limit", "--record", "--json", "--show", "--quiet"):
        assert option in text
    assert "--tie-after TURN" in text and "between 49% and 51%" in " ".join(text.split())
    assert text.count("(default: ") >= 10


def wait_until(condition, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def group_is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@POSIX
@pytest.mark.parametrize(("blow", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_stopped_tournament_leaves_no_process_behind(blow: signal.Signals, code: int, tmp_path: Path) -> None:
    arguments = [
        "--agents",
        "mcts:sims=300",
        "greedy",
        "--games",
        "100000",
        "--workers",
        "2",
        "--record",
        str(tmp_path),
    ]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        wait_until(lambda: any(tmp_path.iterdir()))
        process.send_signal(blow)
        out, err = process.communicate(timeout=30)
    assert process.returncode == code
    wait_until(lambda: group_is_gone(process.pid))
    if blow == signal.SIGINT:
        assert "mcts:sims=300 against greedy" in out and "interrupted after" in err
        assert "Traceback" not in err
