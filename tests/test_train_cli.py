"""train.py answers what it cannot train, and hands everything else to the trainer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sandtable import cli, training


@pytest.mark.parametrize(
    ("agent", "words"),
    [("muct", "'muct' needs no training"), ("mtcs", "did you mean 'mcts'"), ("", "unknown agent ''")],
)
def test_agents_without_a_trainer(agent: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.train(["--agent", agent])
    assert ended.value.code == cli.BAD_INPUT
    assert words in capsys.readouterr().err


def test_a_trainer_gets_the_other_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(training.TRAINERS, "toy", f"{__name__}:toy_trainer")
    assert cli.train(["--agent", "toy", "--rounds", "3"]) == 3


def toy_trainer(argv: list[str]) -> int:
    assert argv[0] == "--rounds"
    return int(argv[1])


def test_nothing_loads_torch_before_it_is_needed() -> None:
    code = "import sys, sandtable.training.data, sandtable.training.value_cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_help_is_that_of_the_trainer(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.train(["--help"]) == 0
    assert "trained: data, pvmcts, value" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.train(["--agent", "value", "--help"])
    assert ended.value.code == 0 and "--validation-share" in capsys.readouterr().out
