"""The one-line notation: every position has exactly one text, and no other text is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from sandtable.envs.tubstap.maps import load_map
from sandtable.envs.tubstap.notation import NotationError, position_from_text, position_to_text
from sandtable.envs.tubstap.position import Position, Unit
from sandtable.envs.tubstap.rulesets import RULESETS, Rules
from sandtable.envs.tubstap.tables import INFANTRY
from tests.mutations import mutations
from tests.strategies import positions
from tests.test_tubstap_maps import DEMO_MAP, SHIPPED

START = "tubstap 4x3 .f=./.^=H/.~=. rI10@1,1/rU7@1,3*/bP5@4,2 t0 limit20 threshold0 rules=official"
LATER = "tubstap 4x3 .f=./.^=H/.~=. rI7.3@2,2*/rU0/bP0.1@4,2 t5 limit20 threshold0 quiet3 hurt rules=li2022"
START_POSITION = Position(replace(DEMO_MAP, author="", comment=""), Rules())


def test_a_position_reads_as_it_stands() -> None:
    assert position_to_text(Position(DEMO_MAP, Rules())) == START
    assert position_from_text(START) == START_POSITION


def test_a_later_position_with_real_hp() -> None:
    position = position_from_text(LATER)
    assert position.map.units[0] == Unit(2, 2, INFANTRY, 0, 7.3, True)
    assert (position.map.units[1].hp, position.map.units[1].x) == (0, 0)
    assert (position.turn, position.quiet, position.hurt, position.rules) == (5, 3, True, RULESETS["li2022"])
    assert position_to_text(position) == LATER


def test_hp_are_ints_where_the_rules_count_them_whole() -> None:
    assert all(type(unit.hp) is int for unit in position_from_text(START).map.units)
    assert all(type(unit.hp) is float for unit in position_from_text(LATER).map.units)


def test_a_lost_game_can_be_told() -> None:
    over = START.replace("bP5@4,2", "bP0")
    assert position_to_text(position_from_text(over)) == over


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (Rules(hp="real"), "rules=official+hp=real"),
        (Rules(ineffective_attacks=True, turn_limit=0, quiet_turns=9),
         "rules=official+ineffective_attacks=true+turn_limit=0+quiet_turns=9"),
        (RULESETS["takahashi2023"], "rules=takahashi2023"),
    ],
)  # fmt: skip
def test_rules_are_told_by_name_or_by_what_they_change(rules: Rules, text: str) -> None:
    told = position_to_text(replace(START_POSITION, rules=rules))
    assert told == START.replace("rules=official", text)
    assert position_from_text(told).rules == rules


# What is changed in START, the column that the error names, and what it says.
BROKEN = [
    ("tubstap ", "", 1, "'4x3': valid is tubstap (the whole line: tubstap WxH TERRAIN UNITS tTURN limitN"),
    ("4x3", "4*3", 9, "'4*3': valid is NxN"),
    ("4x3", "4x21", 9, "size '4x21': valid are 1x1 to 20x20"),
    ("4x3", "0x3", 9, "size '0x3'"),
    ("4x3", "04x3", 9, "valid, for this position, is 'tubstap 4x3"),
    ("4x3", "4x4", 13, "3 rows of terrain; valid are 4"),
    ("4x3", "5x3", 13, "4 cells in the row '.f=.'; valid are 5"),
    (".^=H", ".^xH", 20, "terrain 'xH': valid are # . ~ f ^ = H"),
    (".^=H", "2.^=H", 18, "5 cells in the row '2.^=H'; valid are 4"),
    (".^=H", ".^1=H", 20, "'1=H/.~=. rI10@1,1/rU7@1,3*/bP5@4,2 t0...': valid, for this position, is 'tubstap"),
    ("bP5@4,2", "bX5@4,2", 46, "unit 'bX5@4,2': valid are such as rI10@3,4"),
    ("bP5@4,2", "bP5", 46, "unit 'bP5': valid are such as"),
    ("bP5@4,2", "bP11@4,2", 46, "unit 'bP11@4,2': hp 11: valid are numbers from 0 (dead) to 10"),
    ("bP5@4,2", "bP5.5@4,2", 46, "unit 'bP5.5@4,2': hp 5.5: by these rules valid are whole numbers"),
    ("bP5@4,2", "bP0@4,2", 46, "dead, yet at 4,2"),
    ("bP5@4,2", "bP5@5,2", 46, "x 5: valid are whole numbers from 1 to 4"),
    ("bP5@4,2", "bP5@1,1", 46, "unit 0 stands at 1,1 already"),
    ("bP5@4,2", "bP5@2,3", 46, "panzer cannot stand on sea at 2,3"),
    (".~=.", "#~=.", 37, "cannon cannot stand on forbidden at 1,3"),
    ("/bP5@4,2", "", 28, "blue units 0: valid are whole numbers from 1 to 16"),
    ("bP5@4,2", "bP05@4,2", 48, "valid, for this position, is"),
    (" t0", " t21", 54, "turn 21: valid are whole numbers from 0 to 20"),
    (" t0", " t-1", 54, "'t-1': valid is tN"),
    (" t0", "", 54, "'limit20': valid is tN"),
    ("limit20", "limit0", 57, "turn limit 0: valid are whole numbers from 1 to 30000"),
    ("threshold0", "threshold1001", 65, "HP threshold 1001: valid are whole numbers from 0 to 1000"),
    ("threshold0", "threshold0 quiet1", 76, "quiet 1: valid are whole numbers from 0 to 0"),
    ("threshold0", "threshold0 quiet0", 76, "valid, for this position, is"),
    ("threshold0", "threshold0 hurts", 76, "'hurts': valid is rules=N"),
    ("rules=official", "rules=oficial", 76, "unknown ruleset 'oficial' (did you mean 'official'?); valid: kimura2020"),
    ("rules=official", "rules=official+hp=whole", 76, "rules option hp='whole': valid are 'integer', 'real'"),
    ("rules=official", "rules=official+hpp=real", 76, "unknown rules option 'hpp' (did you mean 'hp'?)"),
    ("rules=official", "rules=official+rules=x", 76, "unknown rules option 'rules'"),
    ("rules=official", "rules=official+hp=integer", 90, "valid, for this position, is"),
    ("rules=official", "rules=official+hp=real+hp=real", 98, "valid, for this position, is"),
    ("rules=official", "", 76, "'': valid is rules=N"),
    ("rules=official", "rules=official hurt", 91, "'hurt' after the rules; valid is the end of the line"),
    ("rules=official", "rules=official ", 90, "valid, for this position, is"),
    ("rules=official", "rules=official\n", 76, "'rules=official\\n': valid is rules=N"),
    (" t0", "  t0", 54, "'': valid is tN"),
    ("rI10", "rI1٠", 28, "unit 'rI1٠@1,1': valid are such as"),
]


@pytest.mark.parametrize(("old", "new", "column", "message"), BROKEN)
def test_a_broken_text_is_refused_with_its_column(old: str, new: str, column: int, message: str) -> None:
    assert START.count(old) == 1
    with pytest.raises(NotationError) as error:
        position_from_text(START.replace(old, new))
    assert str(error.value).startswith(f"column {column}: ")
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["", " ", "tubstap", "tubstap 4x3", "\0", "tubstap 4x3 .f=./.^=H/.~=.", "💥"])
def test_a_text_that_breaks_off_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match=r"^column \d+: .*valid"):
        position_from_text(text)


@pytest.mark.parametrize("given", [None, 5, b"tubstap"])
def test_what_is_not_text_is_refused(given: Any) -> None:
    with pytest.raises(NotationError, match="is not text"):
        position_from_text(given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turn": 21}, "turn 0: turn 21: valid are whole numbers from 0 to 20"),
        ({"turn": 3, "quiet": 4}, "quiet 0: quiet 4: valid are whole numbers from 0 to 3"),
        ({"hurt": 1}, "hurt 1: valid are True and False"),
        ({"rules": "official"}, "a position is made of a Map and Rules"),
        ({"map": replace(DEMO_MAP, units=(Unit(0, 0, 5, 0, 0, True), *DEMO_MAP.units))}, "unit 0: dead, yet at 0,0"),
        ({"map": replace(DEMO_MAP, units=(Unit(1, 1, 5, 0, float("nan")),))}, "unit 0: hp nan"),
        ({"map": replace(DEMO_MAP, units=(Unit(1, 1, 9, 0, 5),))}, "unit 0: kind 9"),
    ],
)
def test_a_position_that_cannot_be_has_no_text(change: dict[str, Any], message: str) -> None:
    with pytest.raises(NotationError) as error:
        position_to_text(replace(START_POSITION, **change))
    assert message in str(error.value)


@settings(max_examples=200, deadline=None)
@given(positions(max_side=12, max_units=8))
def test_what_is_written_is_read_back(position: Position) -> None:
    text = position_to_text(position)
    assert text.isascii() and "\n" not in text
    assert position_from_text(text) == position
    assert position_to_text(position_from_text(text)) == text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_maps_have_their_text(path: Any) -> None:
    map = load_map(path)
    back = position_from_text(position_to_text(Position(map, Rules())))
    assert replace(back.map, author=map.author, comment=map.comment) == map


@pytest.mark.parametrize("text", [START, LATER])
def test_a_damaged_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    for damaged in mutations(text, 4000, seed=7):
        try:
            position = position_from_text(damaged)
        except NotationError as error:
            assert str(error).startswith("column ")
        else:
            assert position_to_text(position) == damaged
