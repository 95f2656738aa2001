"""The folders at the top are the packages of setup.cfg, and a wheel of them works in a clean place."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("agents", "baselines", "encoders", "envs", "matches", "training")

TRY_IT = """
import sys, sandtable, gymnasium
assert sandtable.__file__.startswith(sys.argv[1]), sandtable.__file__
game = sandtable.make_game("tubstap", map="crossroads")
assert game.new(1)["width"][0] == 12
agent = sandtable.make_agent("greedy")
agent.reset(game, seed=1)
assert game.legal(game.new(1)[0], agent.act(game.new(1)).moves[0])
gymnasium.make("Tubstap-v0").reset(seed=1)
"""


def _listed(option: str) -> set[str]:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    return set(config["options"][option].split("\n")) - {""}


def test_every_folder_with_code_is_listed() -> None:
    found = {"sandtable"}
    for room in ROOMS:
        for marker in (ROOT / room).rglob("__init__.py"):
            found.add(".".join(["sandtable", *marker.parent.relative_to(ROOT).parts]))
    assert _listed("packages") == found


def test_every_room_is_mapped_and_linked() -> None:
    mapped = {line.split(" = ")[0]: line.split(" = ")[1] for line in _listed("package_dir")}
    assert mapped == {"sandtable": "sandtable", **{f"sandtable.{room}": room for room in ROOMS}}
    for room in ROOMS:
        assert (ROOT / "sandtable" / room).resolve() == ROOT / room


def test_every_python_file_is_in_a_package() -> None:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


def _weights(baselines: Path) -> set[str]:
    return {path.name for path in (baselines / "weights").glob("*.safetensors")}


def test_a_wheel_works_in_a_clean_place(tmp_path: Path) -> None:
    source = tmp_path / "source"
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in filter(None, files):
        if (ROOT / name).is_symlink() or not (ROOT / name).is_file() or name.startswith("tests"):
            continue  # without the links, as git leaves them on Windows
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "place"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    assert _weights(place / "sandtable" / "baselines") == _weights(ROOT / "baselines")
    subprocess.run(
        [sys.executable, "-W", "error", "-c", TRY_IT, str(place)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(place), "PATH": "", "SANDTABLE_CACHE": str(tmp_path / "cache")},
        check=True,
    )
    # The same without a wheel: the folders beside sandtable/ are found where the links are missing.
    subprocess.run(
        [sys.executable, "-c", TRY_IT, str(source)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(source), "PATH": "", "SANDTABLE_CACHE": str(tmp_path / "cache")},
        check=True,
    )
