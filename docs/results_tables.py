"""The tables of a results page: python docs/results_tables.py FILE.json …, with files of `evaluate.py --json`.

Prints, for each file, the ratings and the score of every agent against every other, as markdown.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables(told: dict[str, Any]) -> str:
    """Both tables of one tournament, agents by strength."""
    ranked = sorted(told["elo"], key=lambda entry: -entry["elo"])
    names = [entry["agent"] for entry in ranked]
    lines = ["| | agent | Elo | 95% interval | time a move |", "|---|---|---|---|---|"]
    for place, entry in enumerate(ranked, 1):
        low, high = (signed(bound) for bound in entry["ci95"])
        seconds = entry["seconds_per_move"]
        elo = signed(entry["elo"])
        lines.append(f"| {place} | `{entry['agent']}` | {elo} | {low} to {high} | {1000 * seconds:.3g} ms |")
    found = {(pair["a"], pair["b"]): pair for pair in told["pairs"]}
    lines += ["", f"| | agent |{''.join(f' {i} |' for i in range(1, len(names) + 1))}", "|---" * (len(names) + 2) + "|"]
    for place, name in enumerate(names, 1):
        cells = "".join(f" {against(found, name, other)} |" for other in names)
        lines.append(f"| {place} | `{name}` |{cells}")
    return "\n".join(lines)


def against(found: dict[tuple[str, str], dict[str, Any]], name: str, other: str) -> str:
    """The score of one agent against another, in percent."""
    if name == other:
        return ""
    if (name, other) in found:
        return f"{found[name, other]['score']:.1%}"
    return f"{1 - found[other, name]['score']:.1%}"


def claims(told: dict[str, Any], wanted: list[tuple[str, str]]) -> list[str]:
    """A row for each pair (a, b): won-drawn-lost, score and interval of a."""
    rows = []
    for pair in told["pairs"]:
        for a, b in wanted:
            if {pair["a"], pair["b"]} == {a, b}:
                turned = pair["a"] != a
                results = [pair["wins"], pair["draws"], pair["losses"]]
                low, high = pair["ci95"]
                score = pair["score"]
                if turned:
                    results, score, low, high = results[::-1], 1 - score, 1 - high, 1 - low
                shown = "-".join(map(str, results))
                rows.append(f"| `{told['map']}` | `{a}` | `{b}` | {shown} | {score:.1%} | {low:.1%} to {high:.1%} |")
    return rows


def signed(number: float) -> str:
    return f"{number:+.0f}".replace("-", "−")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
        print(f"### {content['map']}\n\n{tables(content)}\n")
