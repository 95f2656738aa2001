"""Count the positions of every shipped map with the oracle: `python -m tests.make_perft` writes tests/data/perft.json.

perft(d) is the number of sequences of d unit actions. Depth 3 is counted where that takes the oracle seconds
and not minutes.
"""

from __future__ import annotations

import json
from pathlib import Path

from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.sources import FixedSource, make_source, source_names
from tests.reference.tubstap import Reference

PERFT = Path(__file__).parent / "data" / "perft.json"
SMALL = 20_000
"""Depth 3 is counted on maps with at most so many sequences of two actions."""


def shipped_maps() -> dict[str, Map]:
    """The maps that have a name of their own, without the families of random ones."""
    sources = {name: make_source(name) for name in source_names()}
    return {name: source.map for name, source in sorted(sources.items()) if isinstance(source, FixedSource)}


def perft(reference: Reference, depth: int) -> int:
    legal = reference.legal()
    if depth == 1:
        return len(legal)
    total = 0
    for move in legal:
        after = reference.copy()
        after.play(*move)
        total += perft(after, depth - 1)
    return total


def counts(map: Map) -> list[int]:
    reference = Reference(map, Rules())
    shallow = [perft(reference, 1), perft(reference, 2)]
    return [*shallow, perft(reference, 3)] if shallow[1] <= SMALL else shallow


def main() -> None:
    table = {name: counts(map) for name, map in shipped_maps().items()}
    lines = ",\n".join(f"  {json.dumps(name)}: {numbers}" for name, numbers in table.items())
    PERFT.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
