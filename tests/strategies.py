"""Hypothesis strategies of TUBSTAP: any valid rules, map, position and game record, small ones first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sandtable.envs.tubstap.blocks import text_fault
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.records import ATTACK, MOVE, RESIGN, TURN_END, Record, RecordedAction, RecordedTurn
from sandtable.envs.tubstap.rulesets import RULESETS, Rules
from sandtable.envs.tubstap.tables import ENTRY_COST, PLAIN, UNIT_CLASS
from sandtable.envs.tubstap.validity import MAX_THRESHOLD, MAX_TURN, turn_limit

Strategy = st.SearchStrategy


def texts() -> Strategy[str]:
    """Free text that can stand in a block."""
    return st.text(max_size=12).filter(lambda text: text_fault(text) is None)


def rules() -> Strategy[Rules]:
    """The rulesets of the papers and any mixture of options."""
    mixed = st.builds(
        Rules,
        hp=st.sampled_from(["integer", "real"]),
        antiair_infantry=st.sampled_from([105, 115]),
        cannon_mobility=st.sampled_from([5, 6]),
        ineffective_attacks=st.booleans(),
        turn_limit=st.just("map") | st.integers(0, MAX_TURN),
        hp_threshold=st.just("map") | st.integers(0, MAX_THRESHOLD),
        limit_means=st.sampled_from(["hp", "draw"]),
        quiet_turns=st.integers(0, MAX_TURN),
    )
    return st.sampled_from(list(RULESETS.values())) | mixed


@st.composite
def maps(draw: Any, max_side: int = 8, max_units: int = 4) -> Map:
    """Valid maps of up to max_side × max_side cells with up to max_units units a side, in any order."""
    width, height = draw(st.integers(2, max_side)), draw(st.integers(1, max_side))
    rows = [draw(st.lists(st.integers(0, 6), min_size=width, max_size=width)) for _ in range(height)]
    most = min(max_units, width * height // 2)
    teams = [0] * draw(st.integers(1, most)) + [1] * draw(st.integers(1, most))
    cells = draw(st.lists(st.integers(0, width * height - 1), min_size=len(teams), max_size=len(teams), unique=True))
    units = []
    for team, cell in zip(draw(st.permutations(teams)), cells, strict=True):
        y, x = divmod(cell, width)
        kind = draw(st.integers(0, 5))
        if not ENTRY_COST[rows[y][x]][UNIT_CLASS[kind]]:
            rows[y][x] = PLAIN
        units.append(Unit(x + 1, y + 1, kind, team, draw(st.integers(1, 10)), draw(st.booleans())))
    terrain = tuple(tuple(row) for row in rows)
    limit, threshold = draw(st.integers(1, MAX_TURN)), draw(st.integers(0, MAX_THRESHOLD))
    return Map(terrain, tuple(units), limit, threshold, draw(texts()), draw(texts()))


@st.composite
def positions(draw: Any, max_side: int = 8, max_units: int = 4) -> Position:
    """Valid positions at any moment of a game, under any rules; without author and comment."""
    map, ruleset = draw(maps(max_side, max_units)), draw(rules())
    units = tuple(_later(draw, unit, ruleset) for unit in map.units)
    start = Position(replace(map, units=units, author="", comment=""), ruleset)
    turn = draw(st.integers(0, turn_limit(start)))
    quiet = draw(st.integers(0, min(turn, ruleset.quiet_turns or turn)))
    return replace(start, turn=turn, quiet=quiet, hurt=draw(st.booleans()))


def _later(draw: Any, unit: Unit, ruleset: Rules) -> Unit:
    """The unit after some fighting: whole, hurt or dead."""
    if draw(st.integers(0, 3)) == 0:
        return Unit(0, 0, unit.kind, unit.team, 0)
    if ruleset.hp == "real":
        return replace(unit, hp=draw(st.floats(0, 10, exclude_min=True)))
    return unit


@st.composite
def records(draw: Any, max_turns: int = 4) -> Record:
    """Game records that are valid in form; the moves in them need not follow the rules."""
    map = draw(maps(max_side=5, max_units=3))
    turns = tuple(
        RecordedTurn(index, index % 2, tuple(_action(draw, index % 2, map) for _ in range(draw(st.integers(0, 3)))))
        for index in range(draw(st.integers(0, max_turns)))
    )
    return Record(map, draw(texts()), draw(texts()), draw(texts()), draw(texts()), turns)


def _action(draw: Any, team: int, map: Map) -> RecordedAction:
    kind = draw(st.sampled_from([MOVE, ATTACK, TURN_END, RESIGN]))
    if kind in (TURN_END, RESIGN):
        return RecordedAction(kind=kind)
    xs, ys = st.integers(1, map.width), st.integers(1, map.height)
    unit = draw(st.sampled_from([i for i, unit in enumerate(map.units) if unit.team == team]))
    action = RecordedAction(unit, draw(xs), draw(ys), draw(xs), draw(ys), kind=kind)
    if kind == MOVE:
        return action
    target = draw(st.sampled_from([i for i, unit in enumerate(map.units) if unit.team != team]))
    lost = st.integers(0, 10) | st.floats(0, 10)
    return replace(action, target=target, attack_x=draw(xs), attack_y=draw(ys), damage=draw(lost), counter=draw(lost))
