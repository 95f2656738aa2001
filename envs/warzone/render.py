"""Pictures and text boards of positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandtable.envs.warzone.drawing import draw as draw
from sandtable.envs.warzone.position import NEUTRAL, PLAYERS, Order, Position
from sandtable.envs.warzone.rulesets import NO_LIMIT
from sandtable.envs.warzone.validity import income_of

PLAYER_CODES = (91, 94)  # colours of a terminal
OWNER_NAMES = ("", *PLAYERS)


@dataclass(frozen=True)
class LastMove:
    """What a player ordered last."""

    player: int
    """0 or 1."""
    orders: tuple[Order, ...]


def to_ansi(
    position: Position, last_move: LastMove | None = None, first_move: LastMove | None = None, color: bool = True
) -> str:
    """A board of text for terminals. The words are the same with and without colours.

    First what the players have, then a line a territory: its number, owner, armies, name and neighbours, then
    the bonuses with their territories and who holds them whole, and last what was ordered last. first_move: what the
    other player has ordered in the same turn as last_move.
    """
    lines = [_turn_text(position), *(_player_text(position, owner, color) for owner in (1, 2))]
    names = position.map.territories
    wide = max(len(name) for name in names)
    for i, name in enumerate(names):
        owner, neighbours = position.owner[i], " ".join(str(other) for other in position.map.neighbours(i))
        text = f"{i:>2} {OWNER_NAMES[owner]:4} {position.armies[i]:>4}  {name:{wide}}  - {neighbours}"
        lines.append(_painted(text, owner, color))
    for bonus in position.map.bonuses:
        holder = _holder(position, bonus.territories)
        text = f"+{bonus.value} {bonus.name or 'bonus'} ({' '.join(str(i) for i in bonus.territories)})"
        lines.append(_painted(f"{text}: {OWNER_NAMES[holder]}" if holder else text, holder, color))
    moves = (move for move in (first_move, last_move) if move is not None)
    lines += (f"{PLAYERS[move.player]}: {orders_in_words(move.orders, names)}" for move in moves)
    return "\n".join(lines)


def orders_in_words(orders: Sequence[Order], names: Sequence[str]) -> str:
    """Orders with the territories' names: "+3 Alps, Alps > Coast 5"."""
    told = (f"+{armies} {names[s]}" if s == d else f"{names[s]} > {names[d]} {armies}" for s, d, armies in orders)
    return ", ".join(told) or "no orders"


def _turn_text(position: Position) -> str:
    limit = position.rules.turn_limit
    text = f"turn {position.turn}" if limit == NO_LIMIT else f"turn {position.turn} of {limit}"
    return text if position.pending is None else f"{text}, {PLAYERS[0]} has given orders"


def _player_text(position: Position, owner: int, color: bool) -> str:
    land = [i for i, one in enumerate(position.owner) if one == owner]
    armies = sum(position.armies[i] for i in land)
    text = f"{OWNER_NAMES[owner]}: {len(land)} territories, {armies} armies, income {income_of(position, owner)}"
    return _painted(text, owner, color)


def _holder(position: Position, territories: Sequence[int]) -> int:
    """Who owns all of them, or nobody."""
    owners = {position.owner[i] for i in territories}
    return owners.pop() if len(owners) == 1 else NEUTRAL


def _painted(text: str, owner: int, color: bool) -> str:
    return f"\033[{PLAYER_CODES[owner - 1]}m{text}\033[0m" if color and owner else text
