"""The rulesets of the game's versions, and every single option by name."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from sandtable.names import unknown_name

NO_LIMIT = 0
MAX_TURN = 30_000
MAX_BASE_INCOME = 500


@dataclass(frozen=True)
class Rules:
    """What differs between the versions of the game. Everything else is the same for all."""

    first_attacker: str = "coin"
    """Whose attack runs first: "coin", or with "fewest_deploys" the player's with fewer deploy orders and, where both
    have as many, the coin's. (The research code merges the two lists in such a way that this comes out.)"""
    order: str = "alternate"
    """How the attacks of A, who is first, and B take turns: "alternate" A B A B …, "pairs" A BB AA BB ….
    When one player's are used up, the rest of the other's follow."""
    check_deploys: bool = True
    """Whether a move may not deploy more than the income."""
    multi_attack: bool = True
    """Whether armies may move several times in a turn. If not, every army moves at most once: an order sends only
    armies that stood on its source after all deploys and were not sent by an earlier order, successful or not.
    Where such a source is attacked, armies that cannot move any more are lost first; once it is captured nothing
    on it moves any more in this turn, whoever takes it back."""
    turn_limit: int = 100
    """After so many turns the game is a draw; 0 means never."""
    base_income: int = 5
    """The income of a player without any bonus."""

    def __post_init__(self) -> None:
        _one_of("first_attacker", self.first_attacker, ("coin", "fewest_deploys"))
        _one_of("order", self.order, ("alternate", "pairs"))
        _one_of("check_deploys", self.check_deploys, (False, True))
        _one_of("multi_attack", self.multi_attack, (False, True))
        _whole("turn_limit", self.turn_limit, MAX_TURN)
        _whole("base_income", self.base_income, MAX_BASE_INCOME)

    def changes(self) -> dict[str, Any]:
        """The options that differ from the default rules."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}


def _one_of(name: str, value: Any, valid: tuple[Any, ...]) -> None:
    if not any(type(value) is type(v) and value == v for v in valid):
        raise ValueError(f"rules option {name}={value!r}: valid are {', '.join(map(repr, valid))}")


def _whole(name: str, value: Any, top: int) -> None:
    if type(value) is not int or not 0 <= value <= top:
        raise ValueError(f"rules option {name}={value!r}: valid are whole numbers from 0 to {top}")


RULESETS: dict[str, Rules] = {
    "default": Rules(),
    "pyrisk": Rules(first_attacker="fewest_deploys", check_deploys=False),
    "warzone": Rules(order="pairs", multi_attack=False),
}


def make_rules(rules: str | Rules = "default", **options: Any) -> Rules:
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


def ruleset_name(rules: Rules) -> str | None:
    """The name under which exactly these rules are known, or None."""
    return next((name for name, known in RULESETS.items() if known == rules), None)


def rules_text(rules: Rules) -> str:
    """The rules by their name, or as the default ones with options changed: "default+multi_attack=false"."""
    name = ruleset_name(rules)
    changes = {} if name else rules.changes()
    values = {option: str(value).lower() for option, value in changes.items()}
    return "+".join([name or "default", *(f"{option}={value}" for option, value in values.items())])
