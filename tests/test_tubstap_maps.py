"""Map files: read strictly, written so that they come back the same, and the maps of this project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings

from sandtable.envs.tubstap import maps as maps_module
from sandtable.envs.tubstap.maps import MapError, check_map, format_map, load_map, parse_map, save_map
from sandtable.envs.tubstap.position import Map, Unit
from sandtable.envs.tubstap.tables import CANNON, INFANTRY, PANZER, TERRAIN_NAMES, UNIT_NAMES
from tests.mutations import mutations
from tests.strategies import maps

SHIPPED = sorted((Path(maps_module.__file__).parent / "maps").glob("*.tbsmap"))

DEMO = """SIZEX[6];SIZEY[5];
TURNLIMIT[20];HPTHRESHOLD[0];
UNITNUMRED[2];UNITNUMBLUE[1];
AUTHOR[me];MAPCOM[demo];
UNIT[1,1,infantry,0,10,0];
UNIT[1,3,cannon,0,7,1];
UNIT[4,2,panzer,1,5,0];
MAP[0,0,0,0,0,0];
MAP[0,1,3,5,1,0];
MAP[0,1,4,5,6,0];
MAP[0,1,2,5,1,0];
MAP[0,0,0,0,0,0];
"""
DEMO_MAP = Map(
    terrain=((1, 3, 5, 1), (1, 4, 5, 6), (1, 2, 5, 1)),
    units=(Unit(1, 1, INFANTRY, 0, 10), Unit(1, 3, CANNON, 0, 7, True), Unit(4, 2, PANZER, 1, 5)),
    turn_limit=20,
    hp_threshold=0,
    author="me",
    comment="demo",
)


def test_a_map_is_read_as_its_file_tells_it() -> None:
    assert parse_map(DEMO) == DEMO_MAP
    assert format_map(DEMO_MAP) == DEMO


def test_newlines_spaces_and_the_order_of_blocks_mean_nothing() -> None:
    lines = DEMO.splitlines()
    assert parse_map("".join(lines)) == DEMO_MAP
    assert parse_map("\r\n\r\n".join(lines)) == DEMO_MAP
    assert parse_map("\n".join(lines[7:] + lines[:7])) == DEMO_MAP
    mixed = [line for pair in zip(lines[7:], lines[:5], strict=True) for line in pair] + lines[5:7]
    assert parse_map("\n".join(mixed)) == DEMO_MAP
    spaced = DEMO.replace("[1,1,infantry", " [ 1 , 1 ,\tinfantry").replace("];", "] ; ").replace("[20", "[ 20 ")
    assert parse_map(spaced) == DEMO_MAP


def test_a_comment_may_be_left_out_and_contain_nearly_anything() -> None:
    assert parse_map(DEMO.replace("MAPCOM[demo];", "")) == replace(DEMO_MAP, comment="")
    strange = replace(DEMO_MAP, comment="a;b [c\nd, ほぼ優劣の無い")
    assert parse_map(format_map(strange)) == strange


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_files_come_in_three_encodings(tmp_path: Path, encoding: str) -> None:
    japanese = replace(DEMO_MAP, comment="標準ソ表")  # the second byte of ソ and 表 is a backslash in Shift-JIS
    path = tmp_path / "a.tbsmap"
    path.write_bytes(format_map(japanese).encode(encoding))
    assert load_map(path) == japanese


def test_a_file_in_no_known_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tbsmap"
    path.write_bytes(DEMO.encode().replace(b"demo", b"\x81 \xff"))
    with pytest.raises(MapError, match=r"a\.tbsmap, line 4: byte 81 is neither UTF-8 nor Shift-JIS"):
        load_map(path)
    path.write_bytes(DEMO.encode("utf-16"))
    with pytest.raises(MapError, match=r"a\.tbsmap, line 1: a NUL byte; valid is text in UTF-8 or Shift-JIS"):
        load_map(path)


def test_saving_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.tbsmap"
    path.write_text("old")
    save_map(DEMO_MAP, path)
    assert load_map(path) == DEMO_MAP
    with pytest.raises(MapError):
        save_map(replace(DEMO_MAP, author="a]"), path)
    assert load_map(str(path)) == DEMO_MAP
    assert list(tmp_path.iterdir()) == [path]


# What is changed in DEMO, the line that the error names, and what it says.
BROKEN = [
    ("TURNLIMIT[20];", "", 12, "the text ends without TURNLIMIT[...], which must stand once"),
    ("AUTHOR[me];", "", 12, "the text ends without AUTHOR"),
    ("AUTHOR[me];", "AUTHOR[me];\nAUTHOR[you];", 5, "a second AUTHOR; the first stands in line 4"),
    ("TURNLIMIT", "TURNLIMT", 2, "unknown tag 'TURNLIMT' (did you mean 'TURNLIMIT'?); valid: AUTHOR, HPTHRESHOLD"),
    ("UNIT[4", "hello UNIT[4", 7, "'hello UNIT[4,2,panzer,1,5,0];' is not a block TAG[value]"),
    ("UNIT[4", ";UNIT[4", 7, "';UNIT[4,2,panzer,1,5,0];' is not a block"),
    ("MAP[0,1,2", "\u3000MAP[0,1,2", 11, "is not a block"),
    ("[demo];", "[demo]", 5, "after MAPCOM[...]; valid is ';'"),
    ("[demo]", "[de]mo]", 4, "'mo];' after MAPCOM[...]; valid is ';' (and a value cannot contain ']')"),
    ("AUTHOR[me]", "AUTHOR[me", 4, "contains 'MAPCOM[', with which a block begins: is a ']' missing"),
    ("MAP[0,0,0,0,0,0];\n", "MAP[0,0,0,0,0,0", 12, "is never closed; a ']' must follow"),
    ("[demo]", "[de\0mo]", 4, "a NUL byte"),
    ("SIZEX[6]", "SIZEX[7]", 8, "6 cells; valid are 7, as SIZEX says"),
    ("SIZEY[5]", "SIZEY[6]", 1, "there are 5 MAP rows; valid is one for each of SIZEY"),
    ("SIZEX[6]", "SIZEX[23]", 1, "SIZEX 23: valid are whole numbers from 3 to 22"),
    ("SIZEY[5]", "SIZEY[2]", 1, "SIZEY 2: valid are whole numbers from 3 to 22"),
    ("SIZEX[6]", "SIZEX[6,6]", 1, "2 values where 1 are valid"),
    ("MAP[0,1,3,5,1,0]", "MAP[0,1,3,5,0]", 9, "5 cells; valid are 6"),
    ("MAP[0,1,3,5,1,0]", "MAP[1,1,3,5,1,0]", 9, "terrain 1 on the border; valid there is 0 (forbidden)"),
    ("MAP[0,1,2,5,1,0]", "MAP[0,1,2,5,1,3]", 11, "terrain 3 on the border"),
    ("MAP[0,1,3,5,1,0]", "MAP[0,1,7,5,1,0]", 9, "terrain at 2,1 7: valid are whole numbers from 0 to 6 (0 forbidden"),
    ("MAP[0,1,3,5,1,0]", "MAP[0,1,-1,5,1,0]", 9, "terrain at 2,1 -1: valid are"),
    ("MAP[0,1,3,5,1,0]", "MAP[0,1,,5,1,0]", 9, "terrain at x 2 '': valid are whole numbers"),
    ("UNIT[4,2", "UNIT[5,2", 7, "x 5: valid are whole numbers from 1 to 4"),
    ("UNIT[4,2", "UNIT[4,0", 7, "y 0: valid are whole numbers from 1 to 3"),
    ("MAP[0,1,3,5,1,0]", "MAP[0,0,3,5,1,0]", 5, "infantry cannot stand on forbidden at 1,1; valid are plain, forest"),
    ("UNIT[4,2", "UNIT[2,3", 7, "panzer cannot stand on sea at 2,3; valid are plain, forest, road, fortress"),
    ("UNIT[4,2", "UNIT[1,1", 7, "unit 0 stands at 1,1 already"),
    ("panzer", "panzr", 7, "unknown unit 'panzr' (did you mean 'panzer'?); valid: antiair, attacker, cannon"),
    ("panzer,1", "panzer,2", 7, "team 2: valid are 0 (red) and 1 (blue)"),
    ("1,5,0]", "1,11,0]", 7, "hp 11: valid are whole numbers from 1 to 10"),
    ("1,5,0]", "1,0,0]", 7, "hp 0: valid"),
    ("1,5,0]", "1,5.5,0]", 7, "hp '5.5': valid are whole numbers (digits 0-9, at most nine)"),
    ("1,5,0]", "1,+5,0]", 7, "hp '+5': valid are whole numbers"),
    ("1,5,0]", "1,٥,0]", 7, "hp '٥': valid are whole numbers"),
    ("1,5,0]", "1,5,2]", 7, "acted 2: valid are 0 and 1"),
    ("1,5,0]", "1,5]", 7, "5 values where 6 are valid: x,y,name,team,hp,acted"),
    ("UNITNUMRED[2]", "UNITNUMRED[3]", 3, "there are 2 red UNIT blocks; valid is their number"),
    ("UNITNUMBLUE[1]", "UNITNUMBLUE[0]", 3, "there are 1 blue UNIT blocks"),
    ("UNITNUMBLUE[1];", "", 12, "the text ends without UNITNUMBLUE"),
    ("UNITNUMBLUE[1];\n", "UNITNUMBLUE[0];\n", 3, "there are 1 blue"),
    ("TURNLIMIT[20]", "TURNLIMIT[0]", 2, "turn limit 0: valid are whole numbers from 1 to 30000"),
    ("TURNLIMIT[20]", "TURNLIMIT[30001]", 2, "turn limit 30001: valid"),
    ("TURNLIMIT[20]", f"TURNLIMIT[{'9' * 9999}]", 2, "TURNLIMIT '9999999999999999999999999999999999999...': valid"),
    ("HPTHRESHOLD[0]", "HPTHRESHOLD[-1]", 2, "HP threshold -1: valid are whole numbers from 0 to 1000"),
    ("HPTHRESHOLD[0]", "HPTHRESHOLD[1001]", 2, "HP threshold 1001"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), BROKEN)
def test_a_broken_file_is_refused_with_its_line(old: str, new: str, line: int, message: str) -> None:
    assert old in DEMO
    with pytest.raises(MapError) as error:
        # The last row is the one to break where a row stands twice.
        parse_map(new.join(DEMO.rsplit(old, 1)), "demo.tbsmap")
    assert str(error.value).startswith(f"demo.tbsmap, line {line}: ")
    assert message in str(error.value)
    assert len(str(error.value)) < 400


def test_a_side_needs_units_and_has_at_most_sixteen() -> None:
    alone = DEMO.replace("UNIT[4,2,panzer,1,5,0];\n", "").replace("BLUE[1]", "BLUE[0]")
    with pytest.raises(MapError, match=r"line 3: .*blue units 0: valid are whole numbers from 1 to 16"):
        parse_map(alone)
    crowd = tuple(Unit(x, y, INFANTRY, 0, 10) for x in range(1, 10) for y in (1, 2))[:17]
    big = Map(((1,) * 9,) * 3, (*crowd, Unit(1, 3, INFANTRY, 1, 10)), 20, 0)
    with pytest.raises(MapError, match=r"map\.units: red units 17: valid are whole numbers from 1 to 16"):
        check_map(big)
    assert check_map(replace(big, units=big.units[1:])).units


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turn_limit": 0}, "map.turn_limit: turn limit 0: valid are whole numbers from 1 to 30000"),
        ({"turn_limit": 20.0}, "map.turn_limit: turn limit 20.0"),
        ({"hp_threshold": True}, "map.hp_threshold: HP threshold True"),
        ({"author": None}, "map.author: 'None' is not text"),
        ({"comment": "a]b"}, "map.comment: 'a]b' contains a ']' or a NUL"),
        ({"comment": "x UNIT [1"}, "map.comment: 'x UNIT [1' contains 'UNIT ['"),
        ({"comment": "\ud800"}, "cannot be written as UTF-8"),
        ({"terrain": ()}, "map.terrain: rows inside the border 0: valid are whole numbers from 1 to 20"),
        ({"terrain": ((),)}, "map.terrain: cells of a row inside the border 0"),
        ({"terrain": ((1,) * 21,)}, "cells of a row inside the border 21"),
        ({"terrain": [[1, 1]]}, "map.terrain[0]: valid is a tuple of rows"),
        ({"terrain": ((1, 1), (1,))}, "map.terrain[1]: 1 cells where the first row has 2"),
        ({"terrain": ((1, "1"),)}, "map.terrain[0]: terrain at 2,1 1"),
        ({"units": ()}, "map.units: red units 0"),
        ({"units": ((1, 1),)}, "map.units[0]: valid is a tuple of Unit"),
        ({"units": (Unit(1, 1, 6, 0, 10),)}, "map.units[0]: kind 6: valid are 0 fighter"),
        ({"units": (Unit(1, 1, 5, -1, 10),)}, "map.units[0]: team -1: valid are 0 (red) and 1 (blue)"),
        ({"units": (Unit(1, 1, 5, 0, 5.5),)}, "map.units[0]: hp 5.5: valid are whole numbers from 1 to 10"),
        ({"units": (Unit(1, 1, 5, 0, float("nan")),)}, "map.units[0]: hp nan"),
        ({"units": (Unit(1, 1, 5, 0, 5, cast(bool, 1)),)}, "map.units[0]: acted 1: valid are True and False"),
        ({"units": (Unit(1, 4, 5, 0, 5),)}, "map.units[0]: y 4: valid are whole numbers from 1 to 3"),
    ],
)
def test_a_map_made_in_python_is_checked_by_the_same_rules(change: dict[str, Any], message: str) -> None:
    with pytest.raises(MapError) as error:
        check_map(replace(DEMO_MAP, **change))
    assert message in str(error.value)


def test_whole_hp_may_be_floats_as_games_with_real_hp_have_them() -> None:
    real = replace(DEMO_MAP, units=tuple(replace(unit, hp=float(unit.hp)) for unit in DEMO_MAP.units))
    assert format_map(check_map(real)) == DEMO


@settings(max_examples=150, deadline=None)
@given(maps(max_side=20, max_units=16))
def test_what_is_written_is_read_back(map: Map) -> None:
    assert check_map(map) is map
    text = format_map(map)
    assert parse_map(text) == map
    assert format_map(parse_map(text)) == text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_map_is_canonical_and_tells_its_idea(path: Path) -> None:
    map = load_map(path)
    assert path.read_bytes() == format_map(map).encode()
    assert map.author == "sandtable" and len(map.comment) > 40
    assert 20 <= map.turn_limit <= 60 and 0 <= map.hp_threshold <= 10
    sides = [sorted((u.kind, u.hp, u.acted) for u in map.units if u.team == team) for team in (0, 1)]
    assert sides[0] == sides[1], "both sides start with the same units"


def test_the_shipped_maps_use_everything_the_game_has() -> None:
    shipped = {path.stem: load_map(path) for path in SHIPPED}
    assert {unit.kind for map in shipped.values() for unit in map.units} == set(range(len(UNIT_NAMES)))
    assert {code for map in shipped.values() for row in map.terrain for code in row} == set(range(len(TERRAIN_NAMES)))
    assert any(unit.acted for map in shipped.values() for unit in map.units)
    assert (shipped["skirmish"].width, shipped["skirmish"].height, len(shipped["skirmish"].units)) == (6, 6, 12)
    assert {unit.kind for unit in shipped["crossroads"].units} == set(range(6))
    assert (shipped["long-campaign"].width, shipped["long-campaign"].height) == (20, 20)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_damaged_map_is_read_or_refused_and_nothing_else(path: Path) -> None:
    for damaged in mutations(path.read_text(encoding="utf-8"), 1000, seed=len(path.stem)):
        try:
            map = parse_map(damaged, path.name)
        except MapError as error:
            assert str(error).startswith(f"{path.name}, line ")
        else:
            assert parse_map(format_map(map)) == map


def test_damaged_bytes_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.tbsmap"
    for damaged in mutations(DEMO, 1000, seed=1):
        path.write_bytes(damaged.encode("latin-1", "replace"))
        try:
            map = load_map(path)
        except MapError as error:
            assert "a.tbsmap, line " in str(error)
        else:
            assert check_map(map) is map
