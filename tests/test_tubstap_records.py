"""Game records of the original platform: read strictly, written so that they come back the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from sandtable.envs.tubstap.maps import MapError
from sandtable.envs.tubstap.records import (
    ATTACK,
    MOVE,
    RULE,
    TURN_END,
    Record,
    RecordedAction,
    RecordedTurn,
    format_record,
    load_record,
    parse_record,
    save_record,
)
from tests.mutations import mutations
from tests.strategies import records
from tests.test_tubstap_maps import DEMO, DEMO_MAP

GAME = (
    DEMO
    + """PLAYEDDATE[2016/03/01 12:00:00];
PLAYEDRULE[rule_set_version_0100];
PLAYERRED[red; the first]PLAYERBLUE[blue];
TURNINFO[0,0,2];
ACTION[0,3,2,1,1,2,4,2,2,0,3];
ACTION[-1,-1,-1,-1,-1,-1,-1,-1,3,0,0];
TURNINFO[1,1,1];
ACTION[2,4,1,4,2,-1,-1,-1,1,0,0];
"""
)
RECORD = Record(
    DEMO_MAP,
    "2016/03/01 12:00:00",
    RULE,
    "red; the first",
    "blue",
    (
        RecordedTurn(0, 0, (RecordedAction(0, 3, 2, 1, 1, 2, 4, 2, ATTACK, 0, 3), RecordedAction(kind=TURN_END))),
        RecordedTurn(1, 1, (RecordedAction(2, 4, 1, 4, 2, kind=MOVE),)),
    ),
)


def test_a_record_is_read_as_its_file_tells_it() -> None:
    assert parse_record(GAME) == RECORD
    assert format_record(RECORD) == GAME


def test_what_the_original_writes_is_read() -> None:
    original = GAME.replace("-1,-1,-1,1,0,0]", "-1,0,0,1,0,0]")
    original = original.replace("[-1,-1,-1,-1,-1,-1,-1,-1,3", "[-1,-1,-1,0,0,-1,0,0,3")
    record = parse_record(original.replace("\n", "\r\n"))
    assert (record.turns[1].actions[0].attack_x, record.turns[1].actions[0].attack_y) == (0, 0)
    assert record.turns[0].actions[1].kind == TURN_END
    assert format_record(record) == original


def test_comments_of_the_original_are_passed_over() -> None:
    text = GAME if isinstance(GAME, str) else "".join(GAME)
    assert parse_record(text.replace("TURNINFO", "COM[thinking];\nTURNINFO", 1)) == parse_record(text)


def test_both_players_may_be_separated_as_every_other_block_is() -> None:
    assert parse_record(GAME.replace("]PLAYERBLUE", "];\nPLAYERBLUE")) == RECORD


def test_damages_of_games_with_real_hp_are_exact() -> None:
    action = replace(RECORD.turns[0].actions[0], damage=0.1 + 0.2, counter=2.8)
    real = replace(RECORD, turns=(RecordedTurn(0, 0, (action,)),))
    assert "2,0.30000000000000004,2.8];" in format_record(real)
    assert parse_record(format_record(real)) == real


def test_a_record_without_turns_is_one() -> None:
    empty = replace(RECORD, turns=())
    assert parse_record(format_record(empty)) == empty


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "game.tbsrec"
    save_record(RECORD, path)
    assert load_record(path) == RECORD
    path.write_bytes(GAME.replace("blue]", "青]").encode("cp932"))
    assert load_record(path).blue == "青"
    assert list(tmp_path.iterdir()) == [path]


# What is changed in GAME, the line that the error names, and what it says.
BROKEN = [
    ("PLAYEDRULE[rule_set_version_0100];", "", 20, "the text ends without PLAYEDRULE[...]"),
    ("PLAYEDDATE", "PLAYDATE", 13, "unknown tag 'PLAYDATE' (did you mean 'PLAYEDDATE'?)"),
    ("PLAYERRED[red; the first]PLAYERBLUE[blue]", "PLAYERBLUE[b]PLAYERRED[r]", 15, "after PLAYERBLUE[...]; valid"),
    ("0100];", "0100]", 15, "after PLAYEDRULE[...]; valid is ';'"),
    ("TURNINFO[0,0,2];\n", "", 16, "an action before the first TURNINFO"),
    ("TURNINFO[0,0,2]", "TURNINFO[0,0,1]", 16, "2 ACTION blocks follow; valid is their number"),
    ("TURNINFO[0,0,2]", "TURNINFO[0,0]", 16, "2 values where 3 are valid: index,team,number of actions"),
    ("TURNINFO[1,1,1]", "TURNINFO[0,0,1]", 19, "turn 0: valid are 1 to 30000"),
    ("TURNINFO[1,1,1]", "TURNINFO[30001,1,1]", 19, "turn 30001: valid are 1 to 30000"),
    ("TURNINFO[1,1,1]", "TURNINFO[1,0,1]", 19, "team 0: valid is 1 (blue), whose turn 1 is"),
    ("ACTION[0,3,2,", "ACTION[2,3,2,", 17, "unit 2: valid are 0, 1, the red units"),
    ("ACTION[0,3,2,", "ACTION[0,5,2,", 17, "x 5: valid are whole numbers from 1 to 4"),
    ("ACTION[0,3,2,1,1,", "ACTION[0,3,2,1,0,", 17, "from_y 0: valid are whole numbers from 1 to 3"),
    ("2,4,2,2,0,3]", "1,4,2,2,0,3]", 17, "target 1: valid are 2, the blue units"),
    ("2,4,2,2,0,3]", "2,-1,2,2,0,3]", 17, "attack_x -1: valid are whole numbers from 1 to 4"),
    ("2,4,2,2,0,3]", "2,4,2,4,0,3]", 17, "kind 4: valid are 0 resign, 1 move, 2 move and attack, 3 turn end"),
    ("2,4,2,2,0,3]", "2,4,2,2,0,11]", 17, "counter '11': valid are numbers from 0 to 10"),
    ("2,4,2,2,0,3]", "2,4,2,2,nan,3]", 17, "damage 'nan': valid are numbers from 0 to 10"),
    ("2,4,2,2,0,3]", "2,4,2,2,0]", 17, "10 values where 11 are valid: unit,x,y,from_x,from_y,target,attack_x"),
    ("2,4,2,2,0,3]", "2,4,2,1,0,3]", 17, "damage 0 and counter 3 without an attack; valid is 0"),
    ("-1,-1,-1,1,0,0]", "0,-1,-1,1,0,0]", 20, "target 0: valid is -1 (none)"),
    ("-1,-1,-1,1,0,0]", "-1,3,3,1,0,0]", 20, "attack_x,attack_y 3,3: valid are -1,-1 and 0,0 (none)"),
    ("ACTION[-1,", "ACTION[1,", 18, "unit 1: valid is -1 (none)"),
    ("ACTION[-1,", "ACTION[x,", 18, "unit 'x': valid are whole numbers"),
    ("panzer,1,5", "panzer,1,50", 7, "hp 50: valid are whole numbers from 1 to 10"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), BROKEN)
def test_a_broken_record_is_refused_with_its_line(old: str, new: str, line: int, message: str) -> None:
    assert GAME.count(old) == 1
    with pytest.raises(MapError) as error:
        parse_record(GAME.replace(old, new), "game.tbsrec")
    assert str(error.value).startswith(f"game.tbsrec, line {line}: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"red": "a]b"}, "record.red: 'a]b' contains a ']' or a NUL"),
        ({"date": None}, "record.date: 'None' is not text"),
        ({"turns": (RecordedTurn(0, 1),)}, "team 1: valid is 0 (red)"),
        ({"turns": [RecordedTurn(0, 0)]}, "record: it would be read back differently"),
        ({"turns": (RecordedTurn(0, 0, (RecordedAction(7, 1, 1, 1, 1, kind=MOVE),)),)}, "unit 7: valid are 0, 1"),
        ({"map": replace(DEMO_MAP, turn_limit=0)}, "map.turn_limit: turn limit 0"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(change: dict[str, Any], message: str) -> None:
    with pytest.raises(MapError) as error:
        format_record(replace(RECORD, **change))
    assert message in str(error.value)


@settings(max_examples=100, deadline=None)
@given(records())
def test_what_is_written_is_read_back(record: Record) -> None:
    text = format_record(record)
    assert parse_record(text) == record
    assert format_record(parse_record(text)) == text


def test_a_damaged_record_is_read_or_refused_and_nothing_else() -> None:
    for damaged in mutations(GAME, 4000, seed=3):
        try:
            record = parse_record(damaged, "game")
        except MapError as error:
            assert str(error).startswith("game, line ")
        else:
            assert parse_record(format_record(record)) == record
