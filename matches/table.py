"""A tournament on paper: aligned plain text for people, plain data for programs.

Everything but the times repeats exactly with the same seed; times stand apart, in lines and keys of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.matches.elo import score_interval
from sandtable.matches.tournament import Pair, Played, Tournament, seconds_per_move


def to_text(tournament: Tournament) -> str:
    """The cross table by strength, the pairs, the colours, what did not end on the board, the times."""
    sections = [_cross_table(tournament), _pair_table(tournament), _colours(tournament)]
    sections += _grouped("lost by forfeit:", forfeits(tournament.games))
    sections += _grouped("ended by agreement:", [entry[1:] for entry in agreements(tournament.games)])
    sections.append(_times(tournament))
    return "\n\n".join(sections) + "\n"


def to_json(tournament: Tournament, **setting: Any) -> dict[str, Any]:
    """The same as plain data. `setting` (game, map, rules, options, …) comes first."""
    first, draws, second = tournament.colours
    ratings = tournament.ratings
    return {
        **setting,
        "seed": tournament.seed,
        "games": 2 * tournament.positions,
        "agents": [entrant.label for entrant in tournament.entrants],
        "interrupted": tournament.interrupted,
        "colours": {tournament.players[0]: first, "draws": draws, tournament.players[1]: second},
        "pairs": [_pair_json(pair) for pair in tournament.pairs],
        "elo": [
            {
                "agent": entrant.label,
                "elo": round(float(ratings.elo[i]), 2),
                "ci95": [round(bound, 2) for bound in ratings.interval(i)],
                "seconds_per_move": seconds_per_move(tournament.games, entrant.label),
            }
            for i, entrant in enumerate(tournament.entrants)
        ],
    }


def forfeits(games: Sequence[Played]) -> list[tuple[str, str, int]]:
    """(agent, reason, number of the game) of every game that was not lost on the board."""
    return [
        (played.job.sides[played.result.forfeit_by].label, played.result.reason, played.number)
        for played in games
        if played.result.forfeit_by is not None
    ]


def agreements(games: Sequence[Played]) -> list[tuple[str, str, str, int]]:
    """("tie" or "surrender", who agreed on a tie or gave up, in words, number of the game) of every such game."""
    told = []
    for played in games:
        result, labels = played.result, [side.label for side in played.job.sides]
        if result.agreement:
            who = labels[result.outcome > 0] if result.outcome else " and ".join(sorted(labels))
            told.append((result.agreement, who, result.reason, played.number))
    return told


def _pair_json(pair: Pair) -> dict[str, Any]:
    gap, low, high = pair.elo_difference
    return {
        "a": pair.a.label,
        "b": pair.b.label,
        "wins": pair.wins,
        "draws": pair.draws,
        "losses": pair.losses,
        "score": pair.score,
        "ci95": list(score_interval(pair.points, len(pair.games))),
        "elo": round(gap, 2),
        "elo_ci95": [round(low, 2), round(high, 2)],
        "seconds_per_move": {
            "a": seconds_per_move(pair.games, pair.a.label),
            "b": seconds_per_move(pair.games, pair.b.label),
        },
        "forfeits": [
            {"agent": agent, "reason": reason, "game": number} for agent, reason, number in forfeits(pair.games)
        ],
        "agreements": [
            {"agreement": kind, "agent": who if kind == "surrender" else None, "game": number}
            for kind, who, _, number in agreements(pair.games)
        ],
    }


def _cross_table(tournament: Tournament) -> str:
    """Strongest first; the row's wins-draws-losses and score against the column's agent."""
    ratings, entrants = tournament.ratings, tournament.entrants
    order = sorted(range(len(entrants)), key=lambda i: (-round(float(ratings.elo[i]), 6), entrants[i].label))
    cells = {}
    for pair in tournament.pairs:
        cells[pair.a.label, pair.b.label] = _result(pair.wins, pair.draws, pair.losses)
        cells[pair.b.label, pair.a.label] = _result(pair.losses, pair.draws, pair.wins)
    rows = [["", "agent", "Elo", "95% interval", *(str(i + 1) for i in range(len(order)))]]
    for place, i in enumerate(order):
        me = entrants[i].label
        against = [cells.get((me, entrants[j].label), "-") for j in order]
        rows.append([str(place + 1), me, f"{ratings.elo[i]:+.0f}", _elo_range(*ratings.interval(i)), *against])
    return _align(rows)


def _pair_table(tournament: Tournament) -> str:
    rows = [["pair", "won-drawn-lost", "score", "95% interval", "Elo difference", "95% interval"]]
    for pair in tournament.pairs:
        gap, low, high = pair.elo_difference
        score = "-" if pair.score is None else f"{pair.score:.1%}"
        bounds = "{:.1%} to {:.1%}".format(*score_interval(pair.points, len(pair.games)))
        results = f"{pair.wins}-{pair.draws}-{pair.losses}"
        rows.append(
            [f"{pair.a.label} against {pair.b.label}", results, score, bounds, f"{gap:+.0f}", _elo_range(low, high)]
        )
    return _align(rows)


def _colours(tournament: Tournament) -> str:
    first, draws, second = tournament.colours
    return f"{tournament.players[0]} won {first}, {tournament.players[1]} won {second}, {draws} drawn"


def _grouped(heading: str, games: Sequence[tuple[str, str, int]]) -> list[str]:
    """A section on games that ended in a special way, each (agent, how, number of the game); none without games."""
    groups: dict[tuple[str, str], list[int]] = {}
    for agent, reason, number in games:
        groups.setdefault((agent, reason), []).append(number)
    lines = []
    for (agent, reason), numbers in sorted(groups.items()):
        some = ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")
        lines.append(f"  {agent}: {reason} ({len(numbers)} × in game {some})")
    return ["\n".join([heading, *lines])] if lines else []


def _times(tournament: Tournament) -> str:
    rows = []
    for entrant in tournament.entrants:
        seconds = seconds_per_move(tournament.games, entrant.label)
        rows.append(["  " + entrant.label, "-" if seconds is None else f"{1000 * seconds:.3g} ms"])
    return "time a move:\n" + _align(rows)


def _result(wins: int, draws: int, losses: int) -> str:
    games = wins + draws + losses
    return f"{wins}-{draws}-{losses} {(wins + draws / 2) / games:.1%}" if games else "-"


def _elo_range(low: float, high: float) -> str:
    return f"{low:+.0f} to {high:+.0f}"


def _align(rows: list[list[str]]) -> str:
    """Columns two spaces apart, all flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
