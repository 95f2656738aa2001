"""The documentation: its examples run, its links lead somewhere, its tables say what the code says."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import asdict, fields
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from sandtable import cli, warzone
from sandtable.agents import mcts, pvmcts, registry
from sandtable.agents.pvmcts import SearchOptions
from sandtable.baselines import li2022, takahashi2023
from sandtable.baselines.recipe import make_parser
from sandtable.encoders.features import kimura, li, soares, unit_actions
from sandtable.encoders.features import units as unit_tokens
from sandtable.encoders.features.observation import OBSERVATIONS
from sandtable.encoders.features.registry import encoder_names, make_encoder
from sandtable.encoders.features.warzone import (
    BONUS_FEATURES,
    DRAFT_TOTALS,
    EDGE_DRAFT_FEATURES,
    EDGE_FEATURES,
    NODE_DRAFT_FEATURES,
    NODE_FEATURES,
    TOTALS,
)
from sandtable.encoders.networks.files import save_network
from sandtable.encoders.networks.registry import make_network, network_names, network_options
from sandtable.envs import game as questions
from sandtable.envs.duel import ON_ILLEGAL
from sandtable.envs.games import GAMES, make_game
from sandtable.envs.screen import RENDER_MODES
from sandtable.envs.tubstap import tables
from sandtable.envs.tubstap.gym import TubstapEnv
from sandtable.envs.tubstap.notation import TERRAIN_LETTERS
from sandtable.envs.tubstap.rulesets import RULESETS
from sandtable.envs.tubstap.sources import SOURCE_OPTIONS, source_names
from sandtable.envs.warzone.game import OPTIONS
from sandtable.envs.warzone.gym import WarzoneEnv
from sandtable.envs.warzone.rules import least_to_capture
from sandtable.envs.warzone.sources import STARTS
from sandtable.envs.warzone.state import LAYOUTS, MAX_ARMIES, MAX_ORDER
from sandtable.matches.elo import score_interval
from sandtable.registration import ENVIRONMENTS, PETTINGZOO
from sandtable.training.data_cli import DataConfig
from sandtable.training.options import default_of, shown_default
from sandtable.training.pv_config import PvConfig
from sandtable.training.selfplay import record_dtype
from sandtable.training.split import SPLITS
from sandtable.training.value_config import ValueConfig

ROOT = Path(__file__).resolve().parent.parent
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
TEXT = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
TUBSTAP, WARZONE, AGENTS, ENCODERS = (
    TEXT[f"docs/{name}.md"] for name in ("tubstap", "warzone", "write-an-agent", "encoders")
)
CODECS = ("genes", "orders")
PAGE_NAMES = {"tubstap": "TUBSTAP", "warzone": "Warzone"}

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:python|make|pip) [^`]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ROOM = r"(\d+) (?:on maps )?with at most (\d+)(?: territories)?, (\d+)(?: edges)? and (\d+)"
_RESULT = re.compile(r"\| (\d+)-(\d+)-(\d+) \| ([\d.]+%) \| ([\d.]+%) to ([\d.]+%) (?=\|)")


def blocks(page: str, language: str) -> Iterator[tuple[int, str]]:
    """The code in a page's fences of a language, each with the number of lines above it."""
    for fence in _FENCE.finditer(TEXT[page]):
        if fence[1] == language:
            yield TEXT[page][: fence.start(2)].count("\n"), fence[2]


def prose(page: str) -> str:
    return _FENCE.sub("", TEXT[page])


def commands(page: str) -> list[str]:
    """What the page tells people to type, in shell fences and inside lines."""
    lines = [line for _, code in blocks(page, "sh") for line in code.replace("\\\n", " ").splitlines()]
    return [*filter(None, (line.split(" #")[0].strip() for line in lines)), *_INLINE.findall(prose(page))]


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no heading {heading!r}"
    return found[1]


def _table(text: str, number: int) -> list[list[str]]:
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)[number]
    return [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in found.splitlines()]


def head(text: str, number: int = 0) -> list[str]:
    """The cells of the head of a text's table, without the marks of code."""
    return _table(text, number)[0]


def table(text: str, number: int = 0) -> list[list[str]]:
    """The cells of its rows."""
    return _table(text, number)[2:]


# Examples


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page, "python"))])
def test_python_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's blocks one after another, in an empty folder; what they register is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    namespace: dict[str, Any] = {"__name__": "example"}
    for above, code in blocks(page, "python"):
        exec(compile("\n" * above + code, str(PAGES[page]), "exec"), namespace)


def test_every_fence_is_of_a_known_kind() -> None:
    assert {fence[1] for page in PAGES for fence in _FENCE.finditer(TEXT[page])} <= {"python", "sh", "text"}


@pytest.mark.parametrize(("page", "command"), [(page, command) for page in PAGES for command in commands(page)])
def test_commands(
    page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tournaments are played, in small; other commands name targets, extras and files that there are."""
    program, *arguments = shlex.split(command)
    if program == "make":
        (target,) = arguments
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    elif program == "pip":
        check_installation(arguments)
    elif (program, arguments[0]) == ("python", "evaluate.py"):
        monkeypatch.chdir(tmp_path)
        for weights in re.findall(r"weights=(runs/\S+)", command):  # of the training before it
            Path(weights).parent.mkdir(parents=True)
            save_network(weights, make_network("units"))
        assert cli.evaluate([*small(arguments[1:]), "--games", "2", "--workers", "0", "--quiet"]) == 0
        assert "95% interval" in capsys.readouterr().out
    elif (program, arguments[0]) == ("python", "train.py"):
        monkeypatch.chdir(tmp_path)
        train_in_small(arguments[1:], capsys)
    elif (program, arguments[0]) == ("python", "-m"):
        recipe = import_module(arguments[1])
        make_parser(recipe.NAME, "", recipe.SCALES).parse_args(arguments[2:])
    elif program == "tensorboard":
        assert arguments[0] == "--logdir"
    else:
        assert program == "python" and (ROOT / arguments[0]).is_file()


def train_in_small(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A training of a few games; a run that is to be resumed has not begun here, and that is what is said."""
    if "--resume" in arguments:
        with pytest.raises(SystemExit):
            cli.train(arguments)
        assert "no run here" in capsys.readouterr().err
        return
    if "pvmcts" in arguments:
        tiny = "--generations 1 --games 4 --rounds 2 --sims 2 --batch 8 --ladder-games 0 --ladder-every 0"
        assert cli.train([*arguments, *tiny.split(), "--workers", "0", "--quiet"]) == 0
        assert "1 generations" in capsys.readouterr().out
        return
    fewer = small([re.sub(r"^\d+(,\d+)*$", "6", argument) for argument in arguments])
    assert cli.train([*fewer, "--workers", "0", "--quiet"]) == 0
    assert "states of" in capsys.readouterr().out


def small(arguments: list[str]) -> list[str]:
    """The same agents with hardly any budget."""
    cheap = [re.sub(r"(sims|rollouts)=\d+", r"\1=2", argument) for argument in arguments]
    return ["pmc:rollouts=1" if argument == "pmc" else argument for argument in cheap]


def check_installation(arguments: list[str]) -> None:
    assert arguments[:4] == ["install", "-c", "constraints.txt", "-e"] and (ROOT / "constraints.txt").is_file()
    extras = re.fullmatch(r"\.(?:\[(.*)\])?", arguments[4])
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert extras and set((extras[1] or "dev").split(",")) <= set(config["options.extras_require"])


# Links


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in _LINK.findall(prose(page)):
        place, _, anchor = link.partition("#")
        target = (PAGES[page].parent / place).resolve() if place else PAGES[page]
        assert target.is_relative_to(ROOT) and target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link).resolve() for link in _LINK.findall(TEXT["README.md"])}
    assert set(PAGES.values()) - {ROOT / "README.md"} <= linked


# Names


def unmentioned(text: str, names: Any) -> set[str]:
    """The names that the text does not mention as code."""
    return {name for name in names if not re.search(rf'`"?{re.escape(name)}"?[`(]', text)}


def test_everything_with_a_name_is_mentioned() -> None:
    assert not unmentioned(TUBSTAP, [*source_names(), *RULESETS, *SOURCE_OPTIONS])
    assert not unmentioned(WARZONE, [*warzone.source_names(), *STARTS, *warzone.RULESETS, *OPTIONS, *CODECS])
    for page in (TUBSTAP, WARZONE):
        assert not unmentioned(page, [*OBSERVATIONS, *ON_ILLEGAL, *RENDER_MODES])
    assert not unmentioned(TUBSTAP + WARZONE, [*ENVIRONMENTS, *PETTINGZOO])
    assert not unmentioned(TEXT["README.md"], registry.agent_names())
    assert not unmentioned(AGENTS, [*mcts.PRESETS, *mcts.MUCT_PRESETS])


def test_every_question_is_told() -> None:
    asked = {name for name, value in vars(questions).items() if isinstance(value, FunctionType) and is_question(value)}
    told = {row[0].partition("(")[0] for row in table(section(TEXT["docs/add-a-game.md"], "The questions"))}
    assert len(told) >= 14 and told == asked


def is_question(function: FunctionType) -> bool:
    """Whether a function of envs/game.py is declared there without a body."""
    return function.__module__ == questions.__name__ and inspect.getsource(function).split("#")[0].rstrip().endswith(
        "..."
    )


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_its_page(game: str) -> None:
    """With the headings of TUBSTAP's in their order, and perhaps more."""
    headings = [line for line in prose(f"docs/{game}.md").splitlines() if line.startswith("## ")]
    wanted = [line for line in prose("docs/tubstap.md").splitlines() if line.startswith("## ")]
    assert [line for line in headings if line in wanted] == wanted
    assert head(section(TEXT["README.md"], "Agents and games"))[2:] == [PAGE_NAMES[name] for name in GAMES]


def test_extras() -> None:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert {row[0] for row in table(section(TEXT["README.md"], "Try it"))} == set(config["options.extras_require"])


# Numbers


def test_unit_table() -> None:
    classes = ("air", "vehicle", "foot")
    expected = []
    for kind, name in enumerate(tables.UNIT_NAMES):
        reach = "-".join(map(str, tables.CANNON_RANGE)) if kind == tables.CANNON else "1"
        row = [name, tables.UNIT_LETTERS[kind], str(tables.MOBILITY[kind]), reach, classes[tables.UNIT_CLASS[kind]]]
        expected.append(row)
    assert table(section(TUBSTAP, "Units")) == expected


def test_power_table() -> None:
    rows = zip(tables.UNIT_LETTERS, tables.POWER.tolist(), strict=True)
    assert table(section(TUBSTAP, "Power")) == [[letter, *map(str, row)] for letter, row in rows]


def test_terrain_table() -> None:
    expected = [
        [str(code), TERRAIN_LETTERS[code], name, str(tables.STARS[code]), *(str(c or "-") for c in costs)]
        for code, (name, costs) in enumerate(zip(tables.TERRAIN_NAMES, tables.ENTRY_COST, strict=True))
    ]
    assert table(section(TUBSTAP, "Terrain")) == expected


def test_largest_map() -> None:
    assert f"{tables.MAX_SIDE} × {tables.MAX_SIDE} cells, {tables.MAX_UNITS} units a side" in TUBSTAP
    assert f"{tables.MAX_SIDE}×{tables.MAX_SIDE} cells and {tables.MAX_UNITS} units a side" in TEXT["README.md"]


@pytest.mark.parametrize(
    ("page", "rulesets", "untold"),
    [(TUBSTAP, RULESETS, {"ineffective_attacks": False}), (WARZONE, warzone.RULESETS, {})],
    ids=["tubstap", "warzone"],
)
def test_ruleset_tables(page: str, rulesets: dict[str, Any], untold: dict[str, Any]) -> None:
    text = section(page, "Rulesets")
    options = head(text)[1:]
    for name, *values in table(text):
        assert values == [str(getattr(rulesets[name], option)) for option in options]
        assert all(getattr(rulesets[name], option) == value for option, value in untold.items())
    assert {row[0] for row in table(text)} == set(rulesets)
    every = {field.name for rules in rulesets.values() for field in fields(rules)}
    assert {row[0] for row in table(text, 1)} == every == {*options, *untold}


def test_map_table() -> None:
    rows = table(section(TUBSTAP, "Maps"))
    assert sorted(row[0] for row in rows) == sorted(source_names())
    for name, cells, units, ends, _ in rows:
        game: Any = make_game("tubstap", map=name, **({"rollouts": 1} if name == "li-local-search" else {}))
        start = game.new(1, seed=1)[0]
        assert cells == f"{game.width}×{game.height}"
        assert units.split("-")[-1] == str(game.units_a_side)
        assert ends == f"{start['turn_limit']}, {start['hp_threshold']}"


# Numbers of Warzone


def test_fewest_attackers() -> None:
    (row,), defenders = table(section(WARZONE, "Description")), head(section(WARZONE, "Description"))
    assert row == ["attackers", *(str(least_to_capture(int(d))) for d in defenders[1:])]


def test_largest_map_of_warzone() -> None:
    most = LAYOUTS[-1]
    assert f"{most.territories} territories, {most.edges} edges, {most.bonuses} bonuses" in WARZONE
    assert f"{most.territories} territories, {most.edges} edges and {most.bonuses} bonuses" in TEXT["README.md"]
    told = " ".join(section(WARZONE, "The game without an environment").split())
    rooms = [tuple(map(int, numbers)) for numbers in re.findall(_ROOM, told)]
    assert rooms == [(room.orders, *room[:3]) for room in LAYOUTS[:-1]] and f"and {most.orders} on larger ones" in told
    assert f"{MAX_ORDER:,} armies" in told and f"{MAX_ARMIES:,} armies" in told


def test_map_table_of_warzone() -> None:
    rows = table(section(WARZONE, "Maps"))
    assert [row[0] for row in rows] == warzone.source_names()
    for name, *numbers, _ in rows:
        game: Any = make_game("warzone", map=name)
        income = game.rules.base_income + sum(bonus.value for bonus in game.map.bonuses)
        sizes = (len(game.map.territories), len(game.map.edges), len(game.map.bonuses), income, game.gene_length)
        assert numbers == [str(size) for size in sizes]
        assert game.map.start is None


def test_random_play_of_warzone() -> None:
    rows = table(section(WARZONE, "Random play"))
    assert [row[0] for row in rows] == warzone.source_names()
    for name, *numbers in rows:
        game: Any = make_game("warzone", map=name)
        finished = game.random_games(game.new(10_000, seed=1), seed=2)
        outcomes = game.outcome(finished)
        shares = (f"{(outcomes == outcome).mean():.1%}" for outcome in (1, 0))
        assert numbers == [f"{finished['turn'].mean():.1f}", *shares]


@pytest.mark.parametrize("action", CODECS)
@pytest.mark.parametrize("kind", OBSERVATIONS)
def test_observations_of_warzone(action: str, kind: str) -> None:
    env: Any = WarzoneEnv(action=action, observation=kind)
    text = section(WARZONE, "Observation")
    if kind == "graph_space":
        nodes, edges = env.observation_space.node_space.shape, env.observation_space.edge_space.shape
        assert f"(n, {nodes[0]})" in text and f"(k, {edges[0]})" in text
        return
    sizes = {"n": 20, "m": 10, "actions": 283}
    column = 2 + CODECS.index(action)
    told = {
        row[1]: (eval(row[column], sizes.copy()), row[4])
        for row in table(text)
        if kind in re.findall(r"\w+", row[0]) and row[column] != "none"
    }
    assert told == {name: (space.shape, str(space.dtype)) for name, space in env.observation_space.items()}


def test_feature_tables_of_warzone() -> None:
    text = section(WARZONE, "Observation")
    counts = {
        1: NODE_FEATURES + NODE_DRAFT_FEATURES,
        2: EDGE_FEATURES + EDGE_DRAFT_FEATURES,
        3: BONUS_FEATURES,
        4: TOTALS + DRAFT_TOTALS,
    }
    for number, count in counts.items():
        assert [i for row in table(text, number) for i in numbers_of(row[0])] == list(range(count))
    for column, planes in ((0, 15), (1, 22)):
        assert [i for row in table(text, 5) for i in numbers_of(row[column])] == list(range(planes))


def numbers_of(cell: str) -> range:
    """The numbers of a cell such as "3" or "0-2"."""
    first, _, last = cell.partition("-")
    return range(int(first), int(last or first) + 1) if cell else range(0)


# Encoders


def test_encoders() -> None:
    rows = [[re.sub(r"\[`(.*)`\].*", r"\1", row[0]), row[1]] for row in table(ENCODERS)]
    assert sorted(name for name, _ in rows) == encoder_names()
    assert all(name in encoder_names(game) for name, game in rows)


@pytest.mark.parametrize("name", encoder_names())
def test_arrays_of_encoders(name: str) -> None:
    sizes = {"n": 8, "h": 8, "w": 8, "N": 20, "B": 10, "m": 10}
    game: Any = make_game("tubstap", map="takahashi-complex")
    if name in encoder_names("warzone"):
        game, sizes["n"] = make_game("warzone", map="italy"), 20
    told = {row[0]: (eval(row[1], sizes.copy()), row[2]) for row in table(section(ENCODERS, name))}
    assert told == {key: (space.shape, str(space.dtype)) for key, space in make_encoder(name, game).space.items()}


def test_arrays_of_actions() -> None:
    game: Any = make_game("tubstap")
    encoder: Any = make_encoder("tubstap-units", game)
    states = game.new(2, seed=1)
    rows, ends = game.moves_each(states)
    told = {row[0]: (eval(row[1], {"m": len(rows)}), row[2]) for row in table(section(ENCODERS, "tubstap-units"), 4)}
    found = encoder.actions(states, rows, ends)
    assert told == {key: (array.shape, str(array.dtype)) for key, array in found.items()}


@pytest.mark.parametrize(
    ("name", "number", "count"),
    [
        ("li-matrices", 1, li.CHANNELS),
        ("li-matrices", 2, li.NODE_FEATURES),
        ("li-image", 1, li.PLANES),
        ("kimura-planes", 1, kimura.PLANES),
        ("tubstap-units", 1, unit_tokens.UNIT_FEATURES),
        ("tubstap-units", 2, unit_tokens.PAIR_FEATURES),
        ("tubstap-units", 3, unit_tokens.TOTALS),
        ("tubstap-units", 5, unit_actions.ACTION_FEATURES),
        ("soares-graph", 1, soares.NODE_FEATURES),
        ("soares-graph", 2, soares.TOTALS),
        ("soares-graph", 3, soares.ORDER_NUMBERS),
    ],
)
def test_feature_tables_of_encoders(name: str, number: int, count: int) -> None:
    assert [i for row in table(section(ENCODERS, name), number) for i in numbers_of(row[0])] == list(range(count))


def test_refused_maps_of_warzone() -> None:
    code = next(code for _, code in blocks("docs/warzone.md", "python") if "parse_map" in code)
    valid = json.loads(code.split('"""')[1])
    for change, error in table(section(WARZONE, "Map files")):
        with pytest.raises(warzone.MapError) as refused:
            warzone.parse_map(json.dumps(valid | json.loads(change)))
        assert str(refused.value) == f"map: {error}"


# Networks


def test_network_table() -> None:
    rows = table(TEXT["docs/networks.md"])
    assert sorted(row[0] for row in rows) == network_names()
    for name, _, encoders, weights, kind, policy in rows:
        network = make_network(name)
        assert weights == f"{network.weights:,}" and kind == network.head
        assert tuple(re.findall(r"[\w-]+", encoders)) == network.encoder_names
        assert (policy == "none") == (name not in ("kimura", "soares", "units"))


def test_network_options() -> None:
    told = [row[:3] for row in table(section(TEXT["docs/networks.md"], "Options"))]
    expected = [[n, o, str(d).replace("True", "true")] for n in network_names() for o, d in network_options(n).items()]
    assert sorted(told) == sorted(expected)


# Options


@pytest.mark.parametrize(("page", "environment"), [(TUBSTAP, TubstapEnv), (WARZONE, WarzoneEnv)], ids=GAMES)
def test_environment_options(page: str, environment: Any) -> None:
    options = inspect.signature(environment).parameters
    rows = {row[0]: row[1] for row in table(section(page, "Options"))}
    expected = {name: p.default for name, p in options.items() if p.kind is not inspect.Parameter.VAR_KEYWORD}
    assert rows.pop("single options") == ""
    assert rows == {name: "None" if default is None else f'"{default}"' for name, default in expected.items()}


@pytest.mark.parametrize("name", sorted(registry.agent_names()))
def test_agent_options(name: str) -> None:
    """Every option of an agent stands in its table with its default; where that is None, the text says whose."""
    text = section(AGENTS, name)
    options = inspect.signature(registry.agent_factory(name)).parameters
    told = {row[0]: row[1] for row in table(text)} if options else {}
    assert told.keys() == options.keys() and (options or "No options." in text)
    for option, parameter in options.items():
        if option in told and parameter.default is not None:
            assert told[option] == str(parameter.default).replace("False", "false").replace("True", "true")


def test_agent_presets() -> None:
    shown = {"√2": 2**0.5, "true": True, "false": False}
    for name, presets in (("mcts", mcts.PRESETS), ("muct", mcts.MUCT_PRESETS)):
        text = section(AGENTS, name)
        for preset, *cells in table(text, 1):
            values = [shown[cell] if cell in shown else float(cell) for cell in cells]
            assert values == [presets[preset][option] for option in head(text, 1)[1:]]


def test_presets_of_pvmcts() -> None:
    shown = {"√2": 2**0.5, "true": True, "false": False, "−1": -1.0}
    text, known = section(AGENTS, "pvmcts"), asdict(SearchOptions())
    rows = table(text, 1)
    assert [row[0] for row in rows] == list(pvmcts.PRESETS)
    for preset, *cells in rows:
        values = [shown[cell] if cell in shown else float(cell) for cell in cells]
        options = {**known, "reuse": False, **pvmcts.PRESETS[preset]}
        assert values == [options[option] for option in head(text, 1)[1:]]
    alike = re.search(r"^All have (.*?) and the rest false", text, re.MULTILINE | re.DOTALL)
    assert alike
    told = {name: float(value) for name, value in re.findall(r"`(\w+)` (\d+)", alike[1])}
    others = {name: value for name, value in known.items() if name not in {*head(text, 1), "noise"}}
    assert told == {name: value for name, value in others.items() if value is not False}


def test_results_agree_with_themselves() -> None:
    """Scores and intervals follow from games won, drawn and lost."""
    found = _RESULT.findall(TEXT["docs/results/agents.md"].replace("`", ""))
    for won, drawn, lost, *told in found:
        games, points = int(won) + int(drawn) + int(lost), int(won) + int(drawn) / 2
        assert told == [f"{share:.1%}" for share in (points / games, *score_interval(points, games))]
    assert len(found) == 21 + 2 * 8 + 3


def test_the_options_of_training() -> None:
    """The tables have every option, its default and its meaning in the words of --help."""
    of_data = {option.name for option in fields(DataConfig)}
    for heading, wanted in (
        ("Data", fields(DataConfig)),
        ("Options", [option for option in fields(ValueConfig) if option.name not in of_data]),
        ("Self-play", fields(PvConfig)),
    ):
        rows = table(section(TEXT["docs/train.md"], heading))
        assert rows == [
            [f"--{one.name.replace('_', '-')}", shown_default(default_of(one)), one.metadata["prose"]] for one in wanted
        ]
    names = {name for row in table(section(TEXT["docs/train.md"], "Data"), 2) for name in re.findall(r"\w+", row[0])}
    assert names == set(record_dtype(make_game("tubstap")).names or ())
    assert not unmentioned(TEXT["docs/train.md"], SPLITS)


def test_the_options_of_evaluate() -> None:
    rows = {row[0]: row[1] for row in table(section(TEXT["docs/evaluate.md"], "Options"))}
    parser = cli._evaluate_parser()
    assert rows.keys() == {action.option_strings[-1] for action in parser._actions} - {"--help"}
    defaults = parser.parse_args([])
    assert (rows["--game"], rows["--games"], rows["--seed"]) == (defaults.game, str(defaults.games), str(defaults.seed))


# Recipes


def test_the_options_of_recipes() -> None:
    rows = {row[0]: row[1] for row in table(section(TEXT["docs/recipes.md"], "Options"))}
    parser = make_parser(li2022.NAME, "", li2022.SCALES)
    assert rows.keys() == {action.option_strings[-1] for action in parser._actions} - {"--help"}
    defaults = parser.parse_args([])
    assert (rows["--scale"], rows["--seed"]) == (defaults.scale, str(defaults.seed))


@pytest.mark.parametrize(("number", "recipe"), [(0, li2022), (1, takahashi2023)])
def test_the_scales_of_recipes(number: int, recipe: Any) -> None:
    text = section(TEXT["docs/recipes.md"], "Scales")
    scales = [recipe.SCALES[name] for name in head(text, number)[1:3]]
    told = {row[0]: row[1:3] for row in table(text, number)}
    assert told == {
        one.name: [str(getattr(scale, one.name)).strip("()") for scale in scales] for one in fields(recipe.Scale)
    }
    assert recipe.NAME in {row[0] for row in table(TEXT["docs/recipes.md"])}
