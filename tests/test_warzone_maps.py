"""Maps: the shipped ones, files of users' own and what is refused in them; starts; the text of positions; records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.envs.warzone.maps import MapError, format_map, load_map, parse_map, save_map, with_places
from sandtable.envs.warzone.notation import NotationError, position_from_text, position_to_text
from sandtable.envs.warzone.position import Bonus, Map, Position, Start
from sandtable.envs.warzone.records import RecordError, load_record, parse_record
from sandtable.envs.warzone.rulesets import Rules, make_rules
from sandtable.envs.warzone.sources import FairSource, find_map, map_files, source_names
from sandtable.envs.warzone.state import LAYOUTS, MAX_BONUSES, MAX_EDGES, MAX_TERRITORIES, layout_for
from tests.mutations import mutations

SHAPES = {"simple": (9, 8, 3), "owl_island": (12, 20, 4), "banana": (12, 17, 4), "italy": (20, 37, 10)}
SMALL: dict[str, Any] = {
    "title": "Three",
    "territories": ["West", "Middle", "East"],
    "edges": [[0, 1], [1, 2]],
    "bonuses": [{"name": "Coast", "territories": [0, 2], "value": 2}],
    "places": [[0.0, 0.5], [0.5, 0.25], [1, 0.5]],
    "start": {"armies": [2, 4, 2], "owner": [1, 0, 2]},
}
WHOLE = "valid are whole numbers"


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    """The small map with one thing changed."""
    told = json.loads(json.dumps(SMALL))
    at = told
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return told


# Shipped maps


def test_shipped_maps() -> None:
    assert source_names() == ["banana", "italy", "owl_island", "simple", "small_earth"]
    for name, shape in (*SHAPES.items(), ("small_earth", (42, 83, 6))):
        map_ = find_map(name)
        assert (len(map_.territories), len(map_.edges), len(map_.bonuses)) == shape
        assert len(map_.places) == len(set(map_.places)) == shape[0]
        assert format_map(map_) == map_files()[name].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", source_names())
def test_places_keep_apart(name: str) -> None:
    """No two territories are drawn on one spot."""
    places = np.array(find_map(name).places)
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + np.eye(len(places))
    assert apart.min() > 0.03


def test_layouts_hold_the_maps() -> None:
    assert [layout_for(find_map(name)) for name in ("simple", "italy", "small_earth")] == list(LAYOUTS[:3])
    sizes = [sandtable.make_game("warzone", map=name).dtype.itemsize for name in ("simple", "italy", "small_earth")]
    assert sizes[0] < 600 and sizes[1] < 900 and sizes[2] < 1_800


# Files


def test_a_map_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "three.json"
    save_map(parse_map(json.dumps(SMALL)), path)
    assert load_map(path) == parse_map(json.dumps(SMALL))
    game: Any = sandtable.make_game("warzone", map=path, start="map")
    position = game.position(game.new(1, 1)[0])
    assert (position.armies, position.owner, position.map.title) == ((2, 4, 2), (1, 0, 2), "Three")
    with pytest.raises(ValueError, match="deals 4 territories, and this map has 3"):
        sandtable.make_game("warzone", map=str(path))
    with pytest.raises(ValueError, match="no start of its own"):
        sandtable.make_game("warzone", map="italy", start="map")


def test_edges_and_bonuses_may_come_in_any_order() -> None:
    told = changed(["edges"], [[2, 1], [1, 0]])
    told["bonuses"][0]["territories"] = [2, 0]
    assert parse_map(json.dumps(told)) == parse_map(json.dumps(SMALL))


def test_a_map_without_places_is_laid_out() -> None:
    told = {key: SMALL[key] for key in ("territories", "edges")}
    map_ = parse_map(json.dumps(told))
    assert map_ == Map(("West", "Middle", "East"), ((0, 1), (1, 2)))
    laid_out = with_places(map_)
    assert [place[0] for place in laid_out.places] in ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0])
    assert with_places(map_) == laid_out


REFUSED: dict[str, tuple[Any, str]] = {
    "no territory": (changed(["edges", 0], [0, 3]), rf"edges\[0\]: territory 3: {WHOLE} from 0 to 2"),
    "negative": (changed(["edges", 1], [-1, 1]), r"edges\[.\]: territory -1"),
    "loop": (changed(["edges", 0], [1, 1]), r"edges\[.\]: it joins territory 1 to itself"),
    "doubled": (changed(["edges"], [[0, 1], [1, 2], [1, 0]]), r"edges\[2\]: it joins 0 and 1, as edges\[0\] does"),
    "three ends": (changed(["edges", 0], [0, 1, 2]), r"edges\[0\]: .*valid are two territories"),
    "an edge of text": (changed(["edges", 0], "01"), r"edges\[0\]: '01': valid are two territories"),
    "a name as an end": (changed(["edges", 0], ["West", 1]), r"edges\[0\]: territory 'West'"),
    "true as an end": (changed(["edges", 0], [True, 0]), r"edges\[0\]: territory True"),
    "not connected": (changed(["edges"], [[0, 1]]), "edges: no way leads from territory 0 to 2"),
    "no edges": (changed(["edges"], []), "edges: no way leads"),
    "edges an object": (changed(["edges"], {}), "edges: {}: valid is a list"),
    "empty bonus": (changed(["bonuses", 0, "territories"], []), r"bonuses\[0\].territories: it is empty"),
    "bonus nowhere": (changed(["bonuses", 0, "territories"], [0, 9]), r"bonuses\[0\].territories\[1\]: territory 9"),
    "bonus twice": (changed(["bonuses", 0, "territories"], [0, 0]), r"bonuses\[0\].*territory 0 stands there twice"),
    "value real": (changed(["bonuses", 0, "value"], 2.5), rf"bonuses\[0\].value: value 2.5: {WHOLE}"),
    "value text": (changed(["bonuses", 0, "value"], "2"), rf"bonuses\[0\].value: value '2': {WHOLE}"),
    "value negative": (changed(["bonuses", 0, "value"], -1), rf"bonuses\[0\].value: value -1: {WHOLE}"),
    "value huge": (changed(["bonuses", 0, "value"], 10**30), r"bonuses\[0\].value"),
    "no value": (changed(["bonuses", 0], {"territories": [0]}), r"bonuses\[0\]: value is missing"),
    "bonus a list": (changed(["bonuses", 0], [0]), r"bonuses\[0\]: \[0\]: valid is an object"),
    "unknown field": (changed(["bonus"], []), "unknown field 'bonus'.*did you mean 'bonuses'"),
    "one territory": (changed(["territories"], ["West"]), "territories: 1 of them; valid are 2 to 64"),
    "same names": (changed(["territories"], ["A", "B", "A"]), r"territories\[2\]: 'A' is the name of territory 0 too"),
    "a number as a name": (changed(["territories", 1], 7), r"territories\[1\]: 7: valid is text"),
    "a list as a name": (changed(["territories", 1], []), r"territories\[1\]"),
    "title": (changed(["title"], None), "title: None: valid is text"),
    "a line break": (changed(["territories", 1], "a\nb"), r"territories\[1\]"),
    "places": (changed(["places"], [[0, 0]]), "places: 1 of them; valid is one for each of the 3 territories"),
    "a place outside": (changed(["places", 1], [0.5, 1.5]), r"places\[1\]: .*valid are two numbers from 0 to 1"),
    "a place of text": (changed(["places", 1], "ab"), r"places\[1\]"),
    "start": (changed(["start"], {"armies": [1, 2, 3]}), "start: owner is missing"),
    "start short": (changed(["start", "armies"], [1]), "start.armies: 1 numbers; valid is one for each of the 3"),
    "start owner": (changed(["start", "owner"], [1, 3, 2]), r"start.owner\[1\]: owner 3: .* from 0 to 2"),
    "start nobody's": (changed(["start", "owner"], [0, 0, 0]), "start.owner: nobody owns anything"),
    "start negative": (changed(["start", "armies"], [1, -1, 2]), r"start.armies\[1\]: armies -1"),
    "a list": ([], r"\[\]: valid is an object with territories, edges"),
    "a number": (7, "7: valid is an object"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    told, reason = REFUSED[name]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(MapError, match=rf"mine\.json: .*{reason}"):
        sandtable.make_game("warzone", map=path, start="map")


TEXTS = {
    "empty": ("", "line 1 column 1"),
    "cut": (json.dumps(SMALL)[:-9], "line 1 column"),
    "given twice": ('{"edges": [], "edges": []}', "'edges' is given twice"),
    "not a number": ('{"edges": NaN}', "NaN is not a number"),
    "deep": ("[" * 100_000, "line|deep|recursion"),
    "long number": ("[" + "9" * 5_000 + "]", "digits|valid"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_are_no_json(name: str) -> None:
    text, reason = TEXTS[name]
    with pytest.raises(MapError, match=f"mine.json: .*({reason})"):
        parse_map(text, "mine.json")


def test_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(b'{"title": "\xff"}')
    with pytest.raises(MapError, match="byte 11: this is not UTF-8"):
        load_map(path)
    with pytest.raises(FileNotFoundError):
        load_map(tmp_path / "none.json")


def ring(n: int, edges: int = 0, bonuses: int = 0) -> Map:
    """A ring of n territories with chords until there are so many edges."""
    pairs = {(min(a, b), max(a, b)) for a, b in ((i, (i + 1) % n) for i in range(n))}
    for a, b in ((a, (a + step) % n) for step in range(2, n) for a in range(n)):
        if len(pairs) < edges:
            pairs.add((min(a, b), max(a, b)))
    return Map(
        tuple(f"T{i}" for i in range(n)), tuple(sorted(pairs)), tuple(Bonus((i % n,), 1) for i in range(bonuses))
    )


def test_the_largest_maps() -> None:
    game: Any = sandtable.make_game("warzone", map=ring(MAX_TERRITORIES, MAX_EDGES, MAX_BONUSES))
    states = game.random_games(game.new(3, 1), 2)
    assert game.done(states).all()
    for map_, reason in (
        (ring(MAX_TERRITORIES + 1), "territories: 65 of them; valid are 2 to 64"),
        (ring(MAX_TERRITORIES, MAX_EDGES + 1), "edges: 257 of them; at most 256"),
        (ring(MAX_TERRITORIES, 0, MAX_BONUSES + 1), "bonuses: 65 of them; at most 64"),
    ):
        with pytest.raises(MapError, match=reason):
            sandtable.make_game("warzone", map=map_)
        with pytest.raises(MapError, match=reason):
            format_map(map_)


def test_damaged_maps_are_read_or_refused() -> None:
    text = format_map(parse_map(json.dumps(SMALL)))
    read = 0
    for damaged in mutations(text, 1_500, seed=1):
        try:
            map_ = parse_map(damaged, "mine.json")
        except MapError as error:
            assert str(error).startswith("mine.json: ")
            assert len(str(error)) < 400
        else:
            assert parse_map(format_map(map_)) == map_
            read += 1
    assert 10 < read < 1_400


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"unknown map 'itly' \(did you mean 'italy'\?\).*or the path of a .json file"):
        sandtable.make_game("warzone", map="itly")
    with pytest.raises(ValueError, match="unknown start 'fare'"):
        sandtable.make_game("warzone", start="fare")
    with pytest.raises(ValueError, match="unknown ruleset 'pirisk'"):
        sandtable.make_game("warzone", rules="pirisk")
    with pytest.raises(ValueError, match="unknown option of warzone 'turnlimit'"):
        sandtable.make_game("warzone", turnlimit=3)
    with pytest.raises(ValueError, match="candidates=0"):
        sandtable.make_game("warzone", candidates=0)
    with pytest.raises(TypeError, match="map must be a name"):
        sandtable.make_game("warzone", map=7)
    for option, value in (("order", "abba"), ("turn_limit", -1), ("multi_attack", 1), ("base_income", 2.0)):
        with pytest.raises(ValueError, match=f"rules option {option}="):
            make_rules("default", **{option: value})


# Starts


@pytest.mark.parametrize("start", ["random", "fair"])
def test_starts(start: str) -> None:
    game: Any = sandtable.make_game("warzone", map="italy", start=start)
    states = game.new(4_000, 1)
    armies, owner = states["armies"][:, :20], states["owner"][:, :20]
    assert not game.done(states).any()
    assert (states["turn"] == 0).all() and (game.player(states) == 0).all()
    assert all(((owner == side).sum(1) == 2).all() for side in (1, 2))
    assert (np.bincount(armies.ravel()) / armies.size == pytest.approx(0.2, abs=0.02)) and armies.max() == 4
    assert len(np.unique(states["coin"])) == 4_000
    coins = np.array([game.coin(state) for state in states])
    assert (coins == 1).mean() == pytest.approx(0.5, abs=0.03)
    if start == "random":
        assert (owner > 0).mean(0) == pytest.approx(0.2, abs=0.03)
    else:
        held = [np.sort(armies[owner == side].reshape(-1, 2), axis=1) for side in (1, 2)]
        assert (held[0] == held[1]).all()


def test_fair_starts_divide_the_land_evenly() -> None:
    source = FairSource(find_map("italy"))
    leads = {}
    for start in ("random", "fair"):
        game: Any = sandtable.make_game("warzone", map="italy", start=start)
        leads[start] = [lead(source, state["owner"][:20]) for state in game.new(300, 1)]
    assert np.abs(leads["fair"]).max() < np.abs(leads["random"]).mean() / 3
    assert abs(np.mean(leads["fair"])) < 0.3


def lead(source: FairSource, owner: np.ndarray) -> float:
    """How much more land, weighed with its bonuses, is nearer to player 1."""
    near = [source._steps[:, owner == side].min(1) for side in (1, 2)]
    return float((source._weight * np.sign(near[1] - near[0])).sum())


def test_fixed_starts() -> None:
    text = "warzone 9 0-1/1-2/2-3/3-4/4-5/5-6/6-7/7-8 0,1,2=2/3,4,5=2/6,7,8=2 "
    text += "2r/3r/4/1/1/1/1/3b/2b t0 coin=00000000000000ff rules=default"
    game: Any = sandtable.make_game("warzone", start=text, turn_limit=40)
    assert game.map == find_map("simple")
    states = game.new(3, 1)
    assert {game.position(state).armies for state in states} == {(2, 3, 4, 1, 1, 1, 1, 3, 2)}
    assert game.position(states[0]).rules == Rules(turn_limit=40)
    assert len(np.unique(states["coin"])) == 3
    position = position_from_text(text)
    assert sandtable.make_game("warzone", map="simple", start=position).new(1)["held"].tolist() == [[3, 384]]
    with pytest.raises(ValueError, match="another map"):
        sandtable.make_game("warzone", map="italy", start=position)
    with pytest.raises(ValueError, match="before anybody has given orders"):
        sandtable.make_game("warzone", start=replace(position, pending=()))
    with pytest.raises(ValueError, match=r"impossible position: armies\[0\]"):
        sandtable.make_game("warzone", start=replace(position, armies=(-1,) * 9))


# The text of positions


EXAMPLE = (
    "warzone 4 0-1,2/1-3/2-3 0,1=2/2,3=3 5r/0/3b/2 t7 coin=00000000deadbeef red=0+3/0>1*4 "
    "rules=default+multi_attack=false+turn_limit=50"
)


def test_the_example() -> None:
    position = position_from_text(EXAMPLE)
    assert position == Position(
        Map(("0", "1", "2", "3"), ((0, 1), (0, 2), (1, 3), (2, 3)), (Bonus((0, 1), 2), Bonus((2, 3), 3))),
        Rules(multi_attack=False, turn_limit=50),
        (5, 0, 3, 2),
        (1, 0, 2, 0),
        7,
        0xDEADBEEF,
        ((0, 0, 3), (0, 1, 4)),
    )
    assert position_to_text(position) == EXAMPLE
    game: Any = sandtable.make_game("warzone", map="simple")
    assert game.to_text(game.from_text(EXAMPLE)) == EXAMPLE
    assert game.to_text(game.from_text([EXAMPLE, EXAMPLE])) == [EXAMPLE, EXAMPLE]
    assert game.player(game.from_text(EXAMPLE)) == 1


WRONG = {
    "tubstap": ("warzone", "tubstap", "column 1"),
    "size": (" 4 ", " 1 ", "column 9: 1 territories; valid are 2 to 64"),
    "more": (" 4 ", " 5 ", "column 11: edges: no way leads from territory 0 to 4"),
    "edge": ("2-3", "2-2", r"column 11: edges\[3\]: it joins territory 2 to itself"),
    "order of edges": ("0-1,2", "0-2,1", "column 11: edges: valid are edges in ascending order"),
    "bonus": ("0,1=2", "0,9=2", r"column 25: bonuses\[0\].territories\[1\]: territory 9"),
    "armies": ("5r/0/3b/2", "5r/0/3b", "column 37: armies: 3 numbers"),
    "letters": ("3b", "3x", "column 42: '3x': valid are such as 5r and 3b and 2"),
    "nobody": ("5r/0/3b/2", "5/0/3/2", "owner: nobody owns anything"),
    "turn": ("t7", "t51", "turn 51: valid are whole numbers from 0 to 50"),
    "coin": ("coin=0", "coin=", "column 50"),
    "deploy": ("0+3", "2+3", "pending: order 0 .* not the player's own"),
    "income": ("0+3", "0+6", "pending: 6 armies are deployed: the income is 5"),
    "no edge": ("0>1*4", "0>3*4", "pending: order 1 .*no edge joins"),
    "zeros": ("0>1*4", "0>1*04", "valid, for this position, is"),
    "option": ("multi_attack", "multi_atack", "did you mean 'multi_attack'"),
    "default": ("turn_limit=50", "turn_limit=100", "valid, for this position, is"),
    "end": ("=50", "=50 more", "'more' after the rules; valid is the end"),
    "over": ("3b", "3", "pending: the game is over"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_texts(name: str) -> None:
    old, new, reason = WRONG[name]
    assert old in EXAMPLE
    with pytest.raises(NotationError, match=reason):
        position_from_text(EXAMPLE.replace(old, new, 1))


def test_damaged_texts_are_read_or_refused() -> None:
    game: Any = sandtable.make_game("warzone", map="italy")
    read = 0
    for text in (EXAMPLE, game.to_text(game.new(1, 1)[0])):
        for damaged in mutations(text, 1_500, seed=2):
            try:
                position = position_from_text(damaged)
            except NotationError as error:
                assert str(error).startswith("column ")
            else:
                assert position_to_text(position) == damaged
                read += 1
    assert read > 20


def test_impossible_positions() -> None:
    position = position_from_text(EXAMPLE)
    game: Any = sandtable.make_game("warzone", map="simple")
    for change, reason in (
        ({"armies": (1, 2)}, "armies: 2 numbers"),
        ({"owner": (1, 0, 5, 0)}, r"owner\[2\]: owner 5"),
        ({"coin": -1}, "coin -1"),
        ({"turn": 1.5}, "turn 1.5"),
        ({"rules": "default"}, "made of a Map and Rules"),
        ({"pending": ((0, 0, 99),)}, "99 armies are deployed"),
        ({"pending": ("x",)}, "three whole numbers"),
    ):
        with pytest.raises(ValueError, match=reason):
            game.from_position(replace(position, **change))  # type: ignore[arg-type]


# Boards and records


def test_text_board() -> None:
    game: Any = sandtable.make_game("warzone", map=parse_map(json.dumps(SMALL)), start="map")
    state = game.new(1, 1)[0]
    move = game.encode(state, [(0, 0, 5), (0, 1, 7)])
    middle = game.play(state, move)
    plain, painted = game.ansi(middle, (state, move)), game.ansi(middle, (state, move), color=True)
    assert plain.splitlines() == [
        "turn 0 of 100, red has given orders",
        "red: 1 territories, 2 armies, income 5",
        "blue: 1 territories, 2 armies, income 5",
        " 0 red     2  West    - 1",
        " 1         4  Middle  - 0 2",
        " 2 blue    2  East    - 1",
        "+2 Coast (0 2)",
        "red: +5 West, West > Middle 7",
    ]
    assert "\033[" in painted and "\033[" not in plain
    assert game.describe(state, move) == "red: +5 West, West > Middle 7"
    assert game.describe(middle, game.encode(middle, [])) == "blue: no orders"


def played(seed: int, plies: int) -> tuple[Any, list[np.void], list[np.ndarray]]:
    game: Any = sandtable.make_game("warzone", map="banana", rules="warzone")
    states, moves = [game.new(1, seed)[0]], []
    while len(moves) < plies and not game.done(states[-1]):
        moves.append(game.moves(states[-1], 1, seed)[0])
        states.append(game.play(states[-1], moves[-1]))
    return game, states, moves


@pytest.mark.parametrize("plies", [1, 2, 7, 1_000])
@pytest.mark.parametrize("begin", [0, 1])
def test_records_are_played_again(plies: int, begin: int, tmp_path: Path) -> None:
    game, states, moves = played(3, plies + begin)
    text = game.record(states[begin:-1], moves[begin:], ("greedy", "mcts:sims=5"), "2026-01-31")
    path = tmp_path / f"game{game.record_suffix}"
    path.write_text(text, encoding="utf-8")
    record = load_record(path)
    assert (record.red, record.blue, record.date) == ("greedy", "mcts:sims=5", "2026-01-31")
    again, same_moves = game.replay(record)
    assert np.array_equal(same_moves, moves[begin:])
    assert game.to_text(np.array(again)) == game.to_text(np.array(states[begin:]))
    coins = {turn.turn: turn.first for turn in record.turns if turn.first is not None}
    assert all(game.coin(state) == coins[state["turn"]] + 1 for state in states[begin:-1] if state["turn"] in coins)


def test_wrong_records() -> None:
    game, states, moves = played(1, 4)
    text = game.record(states[:-1], moves, ("a", "b"), "today")
    with pytest.raises(ValueError, match="without a move"):
        game.record([], [], ("a", "b"), "today")
    for old, new, reason in (
        ('"game"', '"gone"', "line 1: valid is an object with game"),
        ("warzone 12", "warzone 13", "line 1: start: column"),
        ('"turn": 1', '"turn": -1', "line 3: turn -1"),
        ('"first": "red"', '"first": "green"', r"line \d: first 'green'"),
        ('"first": "blue"', '"first": "green"', r"line \d: first 'green'"),
        ('"red": [[', '"red": [[0.5, ', r"line 2: .*valid are orders"),
        ("}\n", "\n", "line 1: .*valid is a JSON object"),
    ):
        if old in text:
            with pytest.raises(RecordError, match=reason):
                parse_record(text.replace(old, new, 1))
    for damaged in mutations(text, 400, seed=3):
        try:
            game.replay(parse_record(damaged))
        except ValueError as error:
            assert str(error)


def test_a_start_of_a_map_is_kept() -> None:
    map_ = parse_map(json.dumps(SMALL))
    assert map_.start == Start((2, 4, 2), (1, 0, 2))
    assert parse_map(format_map(map_)) == map_
