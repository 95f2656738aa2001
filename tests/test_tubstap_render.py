"""Pictures, text boards and the window."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.render import LastMove, draw, to_ansi
from sandtable.envs.tubstap.rulesets import make_rules
from sandtable.envs.tubstap.tables import ANTIAIR, ATTACKER, BLUE, CANNON, FIGHTER, INFANTRY, PANZER, RED
from sandtable.envs.window import Window, load_pygame, save_png

TERRAIN = ((1, 1, 3, 4, 5), (2, 1, 1, 6, 5), (2, 2, 1, 1, 5), (1, 2, 0, 5, 5), (3, 1, 4, 5, 1))
UNITS = (
    Unit(2, 2, INFANTRY, RED, 10),
    Unit(3, 1, PANZER, RED, 7, acted=True),
    Unit(1, 1, FIGHTER, RED, 9),
    Unit(0, 0, CANNON, RED, 0),
    Unit(3, 3, INFANTRY, BLUE, 4),
    Unit(4, 2, CANNON, BLUE, 10, acted=True),
    Unit(5, 5, ANTIAIR, BLUE, 1),
    Unit(2, 4, ATTACKER, BLUE, 6),
)
ATTACK = LastMove(1, 1, 3, 1, 3, 2, RED)


def position(rules: str = "official", **changes: Any) -> Position:
    return Position(Map(TERRAIN, UNITS, turn_limit=20, hp_threshold=0), make_rules(rules), **changes)


def with_unit(before: Position, index: int, **changes: Any) -> Position:
    units = list(before.map.units)
    units[index] = replace(units[index], **changes)
    return replace(before, map=replace(before.map, units=tuple(units)))


def square(side: int) -> Position:
    terrain = tuple(tuple((x * y + x) % 7 for x in range(side)) for y in range(side))
    units = (Unit(1, 1, INFANTRY, RED, 10), Unit(side, side, FIGHTER, BLUE, 10))
    return Position(Map(terrain, units, 20, 0), make_rules("official"))


@pytest.fixture
def pygame() -> Any:
    pytest.importorskip("pygame")
    return load_pygame()


@pytest.mark.parametrize("side", [5, 8, 20])
@pytest.mark.parametrize("cell", [32, 56])
def test_the_size_depends_on_the_map_and_the_cell_only(pygame: Any, side: int, cell: int) -> None:
    picture = draw(square(side), None, cell)
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    assert picture.shape[0] >= side * cell and picture.shape[1] >= side * cell
    later = with_unit(replace(square(side), turn=19), 1, x=0, y=0, hp=0)
    assert draw(later, LastMove(1, 2, 1, 1, side, side, RED), cell).shape == picture.shape


def test_a_map_that_is_not_square(pygame: Any) -> None:
    wide = Position(Map(TERRAIN[:2], (), 20, 0), make_rules("official"))
    height, width, _ = draw(wide, cell=40).shape
    assert width - height == 5 * 40 - 2 * 40 - 2 * round(0.72 * 40)


def test_the_same_position_gives_the_same_picture(pygame: Any) -> None:
    first = draw(position(), ATTACK)
    draw(position("li2022"))
    assert np.array_equal(first, draw(position(), ATTACK))


@pytest.mark.parametrize(
    "changed",
    [
        with_unit(position(), 0, hp=9),
        with_unit(position(), 0, acted=True),
        with_unit(position(), 0, kind=PANZER),
        with_unit(position(), 0, team=BLUE),
        with_unit(position(), 0, x=1, y=3),
        position("li2022"),
    ],
)
def test_what_changes_in_the_game_changes_in_the_picture(pygame: Any, changed: Position) -> None:
    assert not np.array_equal(draw(position()), draw(changed))


def test_every_last_move_is_seen(pygame: Any) -> None:
    moves = [
        None,
        ATTACK,
        replace(ATTACK, target_x=None, target_y=None),
        replace(ATTACK, from_x=5),
        replace(ATTACK, team=BLUE),
    ]
    pictures = {draw(position(), move).tobytes() for move in moves}
    assert len(pictures) == len(moves)


def test_a_unit_that_stayed_is_marked(pygame: Any) -> None:
    assert not np.array_equal(draw(position()), draw(position(), LastMove(2, 2, 2, 2, None, None, RED)))


def test_the_strip_above_the_board_tells_the_turn_and_the_side(pygame: Any) -> None:
    strip = 40
    pictures = [draw(position(turn=turn)) for turn in (0, 1, 2)]
    assert all(len(np.unique(picture[:strip].reshape(-1, 3), axis=0)) > 2 for picture in pictures)
    assert len({picture[:strip].tobytes() for picture in pictures}) == 3
    assert len({picture[strip:].tobytes() for picture in pictures}) == 1


def test_the_strip_below_the_board_tells_the_hp(pygame: Any) -> None:
    strip = 40
    assert not np.array_equal(draw(position())[-strip:], draw(with_unit(position(), 0, hp=3))[-strip:])


def test_real_hp_differ_by_a_tenth(pygame: Any) -> None:
    before = with_unit(position("li2022"), 0, hp=7.3)
    assert not np.array_equal(draw(before), draw(with_unit(before, 0, hp=7.2)))


def test_text_board() -> None:
    assert to_ansi(position(turn=1), ATTACK, color=False) == "\n".join(
        [
            "turn 1 / 20, blue to move, HP red 26 blue 21",
            "   1     2     3     4     5",
            " 1 F9    .     P7'f  ^     =",
            " 2 ~     I10   .     u10'H =",
            " 3 ~     ~     i4    .     =",
            " 4 .     a6~   #     =     =",
            " 5 f     .     ^     =     r1",
            "last move: red (1,1) to (3,1), attacks (3,2)",
        ]
    )


def test_text_board_with_real_hp() -> None:
    lines = to_ansi(
        with_unit(position("li2022"), 0, hp=0.04), LastMove(2, 2, 2, 2, None, None, RED), color=False
    ).split("\n")
    assert lines[0] == "turn 0, red to move, HP red 16.0 blue 21.0"
    assert lines[3] == " 2 ~       I0.1    .       u10.0'H ="
    assert lines[-1] == "last move: red (2,2) stays"


def test_colours_add_nothing_but_colour() -> None:
    coloured = to_ansi(position(), ATTACK)
    assert "\x1b[1;91mI10\x1b[0m" in coloured and "\x1b[2;94mu10'H\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == to_ansi(position(), ATTACK, color=False)


def test_without_pygame_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r'pip install "sandtable\[render\]"'):
        draw(position(), cell=33)
    assert "red to move" in to_ansi(position())


def test_pictures_need_no_display(pygame: Any, tmp_path: Path) -> None:
    pygame.quit()
    picture = draw(with_unit(position(), 0, hp=2), ATTACK, cell=41)
    save_png(picture, tmp_path / "board.png")
    assert not pygame.display.get_init()
    read = pygame.surfarray.array3d(pygame.image.load(tmp_path / "board.png")).swapaxes(0, 1)
    assert np.array_equal(read, picture)


def test_a_window_opens_shows_and_closes(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window = Window("a game")
    window.close()
    for picture in (draw(position()), draw(square(8)), draw(square(8))):
        window.show(picture, fps=1000)
        shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
        assert np.array_equal(shown, picture)
    window.close()
    assert not pygame.display.get_init()
    window.show(draw(position()))
    assert pygame.display.get_surface() is not None
    window.close()


def test_a_window_closed_by_the_person_stays_closed(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window = Window()
    window.show(draw(position()))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(draw(position()))
    assert window.dismissed and not pygame.display.get_init()
    window.show(draw(position()))
    assert not pygame.display.get_init()
    window.close()
    window.show(draw(position()))
    assert pygame.display.get_init()
    window.close()
