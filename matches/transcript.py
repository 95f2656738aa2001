"""A game to read: the board at the start, every move in words, the board at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandtable.matches.tournament import Played

if TYPE_CHECKING:
    from sandtable.envs.game import Game


def transcript(game: Game, played: Played, color: bool = False) -> str:
    """The text of a game whose history was kept; without it, only who played and how it ended."""
    result, history = played.result, played.result.history
    sides = (f"{name} {side.label}" for name, side in zip(game.players, played.job.sides, strict=True))
    lines = [f"game {played.number}, position {played.job.position + 1}: " + ", ".join(sides)]
    if history is not None:
        lines.append(game.ansi(history.states[0], color=color))
        for number, (state, move) in enumerate(zip(history.states, history.moves, strict=False), 1):
            lines.append(f"{number:4d}. {game.describe(state, move)}")
        if history.moves:
            last = (history.states[-2], history.moves[-1])
            lines.append(game.ansi(history.states[-1], move=last, color=color))
    winner = "drawn" if result.outcome == 0 else f"{game.players[result.outcome < 0]} wins"
    lines.append(f"{winner} after {result.moves} moves" + (f": {result.reason}" if result.reason else ""))
    return "\n".join(lines) + "\n"
