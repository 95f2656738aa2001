"""Pictures of Warzone."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

import sandtable
from sandtable.envs.warzone.landscape import ground, layout, sea_links, ways_of
from sandtable.envs.warzone.maps import with_places
from sandtable.envs.warzone.position import Bonus, Map, Position
from sandtable.envs.warzone.render import LastMove, draw, to_ansi
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.sources import find_map
from sandtable.envs.window import load_pygame, save_png

FIVE = Map(
    ("A", "B", "C", "D", "E"),
    ((0, 1), (0, 4), (1, 2), (2, 3), (3, 4)),
    (Bonus((0, 1), 3, "North"), Bonus((2, 4), 1)),
    ((0.0, 0.2), (0.3, 0.0), (0.6, 0.2), (0.8, 0.5), (1.0, 0.1)),
    "Five",
)
RED = LastMove(0, ((0, 0, 5), (0, 1, 4)))
BLUE = LastMove(1, ((3, 3, 2), (3, 2, 9), (3, 4, 1)))


def position(**changes: Any) -> Position:
    return replace(Position(FIVE, Rules(), (3, 1, 0, 12, 1_234_567), (1, 1, 0, 2, 2), turn=4), **changes)


@pytest.fixture
def pygame() -> Any:
    pytest.importorskip("pygame")
    return load_pygame()


@pytest.mark.parametrize("unit", [30, 52])
def test_the_size_depends_on_the_map_and_the_unit_only(pygame: Any, unit: int) -> None:
    picture = draw(position(), unit=unit)
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    later = position(turn=90, owner=(1, 1, 1, 1, 2), armies=(0, 0, 0, 0, 0))
    assert draw(later, BLUE, RED, unit).shape == picture.shape


@pytest.mark.parametrize("name", sandtable.warzone.source_names())
def test_every_map_is_drawn(pygame: Any, name: str) -> None:
    game: Any = sandtable.make_game("warzone", map=name)
    state = game.random_games(game.new(1, seed=0), seed=0, plies=6)[0]
    picture = draw(game.position(state))
    assert max(picture.shape) < 1_400 and len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
    plan = layout(game.map, 52)
    assert all(0 < x < plan.width and plan.strip < y < plan.height - plan.strip for x, y in plan.centres)


def test_a_map_without_places_is_laid_out(pygame: Any) -> None:
    bare = FIVE.bare()
    assert np.array_equal(draw(position(map=bare)), draw(position(map=with_places(bare))))


def test_the_same_position_gives_the_same_picture(pygame: Any) -> None:
    first = draw(position(), BLUE, RED)
    draw(position(turn=5))
    assert np.array_equal(first, draw(position(), BLUE, RED))


@pytest.mark.parametrize(
    "changed",
    [
        position(armies=(3, 1, 0, 12, 1_334_567)),
        position(armies=(4, 1, 0, 12, 1_234_567)),
        position(owner=(1, 2, 0, 2, 2)),
        position(owner=(1, 0, 0, 2, 2)),
        position(turn=5),
        position(pending=()),
        position(rules=Rules(turn_limit=4)),
        position(owner=(1, 1, 1, 0, 0)),
        position(map=replace(FIVE, bonuses=(Bonus((0, 1), 4, "North"), Bonus((2, 4), 1)))),
        position(map=replace(FIVE, title="Six")),
        position(map=replace(FIVE, territories=("A", "B", "C", "D", "F"))),
    ],
)
def test_what_changes_in_the_game_changes_in_the_picture(pygame: Any, changed: Position) -> None:
    assert not np.array_equal(draw(position()), draw(changed))


def test_all_orders_are_seen(pygame: Any) -> None:
    moves: list[tuple[LastMove | None, LastMove | None]] = [
        (None, None),
        (RED, None),
        (BLUE, None),
        (BLUE, RED),
        (replace(RED, player=1), None),
        (replace(RED, orders=RED.orders[:1]), None),
        (replace(RED, orders=((0, 0, 5), (0, 1, 3))), None),
        (replace(RED, orders=((0, 0, 4), (0, 1, 4))), None),
        (replace(RED, orders=((0, 0, 5), (1, 0, 4))), None),
    ]
    assert len({draw(position(), *both).tobytes() for both in moves}) == len(moves)


def test_land_has_its_owners_colour(pygame: Any) -> None:
    plan = layout(FIVE, 52)
    x, y = (round(c) for c in plan.centres[0])
    beside = (slice(y - round(0.8 * plan.unit), y - round(0.6 * plan.unit)), slice(x - 4, x + 4))
    red, blue, grey = (
        draw(position(owner=(owner, 1, 0, 2, 2)))[beside].reshape(-1, 3).mean(0).astype(int) for owner in (1, 2, 0)
    )
    assert red[0] > red[2] + 20 and blue[0] < red[0] - 20 and grey[2] > red[2] + 20


def test_every_pixel_belongs_to_the_nearest_territory(pygame: Any) -> None:
    land, plan = ground(FIVE, 52), layout(FIVE, 52)
    assert set(np.unique(land.territory)) == set(range(5))
    for i, (x, y) in enumerate(plan.centres):
        assert land.territory[round(y) - plan.strip, round(x)] == i and land.land[round(y) - plan.strip, round(x)] == 1


def test_a_link_over_the_whole_picture_goes_round_the_world(pygame: Any) -> None:
    plan = layout(FIVE, 52)
    assert len(ways_of(plan, 0, 1)) == 1
    (start, out), (into, end) = ways_of(plan, 0, 4)
    assert start == plan.centres[0] and end == plan.centres[4] and out[0] < 0 and into[0] > plan.width
    assert (0, 4) in sea_links(FIVE, 52) and (0, 1) not in sea_links(FIVE, 52)


def test_the_strips_tell_the_turn_and_the_armies(pygame: Any) -> None:
    pictures = [draw(position(turn=turn)) for turn in (0, 1, 2)]
    strip = layout(FIVE, 52).strip
    assert len({picture[:strip].tobytes() for picture in pictures}) == 3
    assert len({picture[strip:].tobytes() for picture in pictures}) == 1
    fewer = draw(position(armies=(3, 1, 0, 11, 1_234_567)))
    assert not np.array_equal(fewer[-strip:], pictures[0][-strip:])


def test_without_pygame_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r'pip install "sandtable\[render\]"'):
        draw(position())
    assert "turn 4" in to_ansi(position())


def test_pictures_need_no_display(pygame: Any, tmp_path: Path) -> None:
    pygame.quit()
    picture = draw(position(), BLUE, RED)
    save_png(picture, tmp_path / "board.png")
    assert not pygame.display.get_init()
    read = pygame.surfarray.array3d(pygame.image.load(tmp_path / "board.png")).swapaxes(0, 1)
    assert np.array_equal(read, picture)


def test_a_game_draws_its_states(pygame: Any) -> None:
    game: Any = sandtable.make_game("warzone", map="simple")
    before = game.new(1, seed=0)[0]
    move = game.moves(before)[0]
    after = game.play(before, move)
    assert not np.array_equal(game.picture(after, (before, move)), game.picture(after))
    assert find_map("simple").places


def test_the_move_of_the_second_player_is_shown_with_that_of_the_first(pygame: Any) -> None:
    game: Any = sandtable.make_game("warzone", map="simple")
    start = game.new(1, seed=0)[0]
    red = game.moves(start)[0]
    middle = game.play(start, red)
    blue = game.moves(middle)[0]
    after = game.play(middle, blue)
    told = [game.describe(start, red), game.describe(middle, blue)]
    assert game.ansi(after, (middle, blue)) == "\n".join([game.ansi(after), *told])
    assert game.ansi(middle, (start, red)) == "\n".join([game.ansi(middle), told[0]])
    both = (LastMove(player, tuple(game.decode(start, move))) for player, move in ((1, blue), (0, red)))
    assert np.array_equal(game.picture(after, (middle, blue)), draw(game.position(after), *both))
