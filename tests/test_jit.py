"""Machine code is cached across processes, and never answers for sources that have changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ASK = """
import sandtable
from sandtable.envs.tubstap import rules
game = sandtable.make_game("tubstap", map="first-steps")
state = game.new(1, seed=1)
print(len(game.moves(state[0])), sum(rules.settle_new.stats.cache_hits.values()))
"""


def _ask(tree: Path, cache: Path) -> list[int]:
    env = {**os.environ, "PYTHONPATH": str(tree), "SANDTABLE_CACHE": str(cache)}
    answer = subprocess.run([sys.executable, "-c", ASK], cwd=cache.parent, env=env, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return [int(word) for word in answer.stdout.split()]


def test_cache_is_hit_in_a_new_process_and_missed_after_an_edit(tmp_path: Path) -> None:
    tree, cache = tmp_path / "tree", tmp_path / "cache"
    for room in ("sandtable", "envs", "encoders", "agents"):
        shutil.copytree(ROOT / room, tree / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    before, hits = _ask(tree, cache)
    assert hits == 0
    assert _ask(tree, cache) == [before, 1]
    # A table that compiled code in other files has frozen in: infantry that goes one cell less has fewer moves.
    tables = tree / "envs" / "tubstap" / "tables.py"
    text = tables.read_text()
    assert "MOBILITY = (9, 7, 6, 5, 6, 3)" in text
    tables.write_text(text.replace("MOBILITY = (9, 7, 6, 5, 6, 3)", "MOBILITY = (9, 7, 6, 5, 6, 2)"))
    after, hits = _ask(tree, cache)
    assert hits == 0
    assert after < before
    assert len(list(cache.iterdir())) == 2


def test_old_machine_code_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandtable.envs import jit

    old, others = tmp_path / f"code-{'0' * 16}", [tmp_path / "experiment-00001", tmp_path / ("0" * 16)]
    for folder in (old, *others):
        folder.mkdir()
        os.utime(folder, (0, 0))
    monkeypatch.setenv("SANDTABLE_CACHE", str(tmp_path))
    jit.cache_folder.cache_clear()
    try:
        current = Path(jit.cache_folder())
    finally:
        jit.cache_folder.cache_clear()
    assert current.parent == tmp_path
    assert not old.exists()
    assert all(other.exists() for other in others)


def test_a_folder_that_cannot_be_written_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandtable.envs import jit

    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SANDTABLE_CACHE", str(blocked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jit.cache_folder.cache_clear()
    try:
        assert Path(jit.cache_folder()).parent == tmp_path / "cache" / "sandtable"
    finally:
        jit.cache_folder.cache_clear()
