"""The rulesets of the papers, and every single option by name."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from sandtable.envs.tubstap.tables import MAX_THRESHOLD, MAX_TURN
from sandtable.names import unknown_name

NO_LIMIT = 0


@dataclass(frozen=True)
class Rules:
    """What differs between the papers' versions of the game. Everything else is the same for all."""

    hp: str = "integer"
    """"integer": damage is rounded down. "real": HP are real numbers and damage is not rounded."""
    antiair_infantry: int = 105
    """Attack power of antiair against infantry: 105 in the released program, 115 on its web page and in Li 2022."""
    cannon_mobility: int = 5
    """5 everywhere but in Takahashi 2023, who writes 6."""
    ineffective_attacks: bool = False
    """Whether an attack of power 0 (it does nothing and still provokes a counter-attack) is a legal move."""
    turn_limit: int | str = "map"
    """The turn at which the game ends: "map" takes it from the map, 0 means never."""
    hp_threshold: int | str = "map"
    """By how much HP must differ at the limit to win: "map" takes it from the map."""
    limit_means: str = "hp"
    """At the limit the "hp" sums decide, or it is a "draw"."""
    quiet_turns: int = 0
    """After so many turns without any HP lost the game is a draw; 0 means never."""

    def __post_init__(self) -> None:
        _one_of("hp", self.hp, ("integer", "real"))
        _one_of("antiair_infantry", self.antiair_infantry, (105, 115))
        _one_of("cannon_mobility", self.cannon_mobility, (5, 6))
        _one_of("ineffective_attacks", self.ineffective_attacks, (False, True))
        _one_of("limit_means", self.limit_means, ("hp", "draw"))
        for name, top in (("turn_limit", MAX_TURN), ("hp_threshold", MAX_THRESHOLD)):
            if getattr(self, name) != "map":
                _whole(name, getattr(self, name), top, 'or "map"')
        _whole("quiet_turns", self.quiet_turns, MAX_TURN, "turns")

    def changes(self) -> dict[str, Any]:
        """The options that differ from the official rules."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}


def _one_of(name: str, value: Any, valid: tuple[Any, ...]) -> None:
    if not any(type(value) is type(v) and value == v for v in valid):
        raise ValueError(f"rules option {name}={value!r}: valid are {', '.join(map(repr, valid))}")


def _whole(name: str, value: Any, top: int, also: str) -> None:
    if type(value) is not int or not 0 <= value <= top:
        raise ValueError(f"rules option {name}={value!r}: valid are whole numbers from 0 to {top} {also}".rstrip())


RULESETS: dict[str, Rules] = {
    "official": Rules(),
    "li2022": Rules(hp="real", antiair_infantry=115, turn_limit=NO_LIMIT, quiet_turns=20),
    "kimura2020": Rules(turn_limit=16, limit_means="draw"),
    "takahashi2023": Rules(cannon_mobility=6, turn_limit=16, hp_threshold=0),
}


def make_rules(rules: str | Rules = "official", **options: Any) -> Rules:
    """A ruleset by name (or one already made) with single options changed."""
    if isinstance(rules, str):
        if rules not in RULESETS:
            raise ValueError(unknown_name("ruleset", rules, RULESETS))
        rules = RULESETS[rules]
    valid = [f.name for f in fields(Rules)]
    for name in options:
        if name not in valid:
            raise ValueError(unknown_name("rules option", name, valid))
    return replace(rules, **options)


def rules_text(rules: Rules) -> str:
    """The ruleset's name, or the official one's with options changed: official+hp=real+quiet_turns=20."""
    for name, known in RULESETS.items():
        if known == rules:
            return name
    return "+".join(["official", *(f"{option}={str(value).lower()}" for option, value in rules.changes().items())])
