"""How an unknown name is answered, everywhere in the house: what was given, what is valid, the nearest name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def unknown_name(what: str, given: object, valid: Iterable[str]) -> str:
    """The text of an error about the name `given`, which should have been one of `valid`."""
    names = sorted(valid)
    near = get_close_matches(str(given), names, n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"unknown {what} {given!r}{hint}; valid: {', '.join(names) or 'none'}"


def split_spec(spec: str) -> tuple[str, dict[str, bool | int | float | str]]:
    """ "mcts:sims=200,reuse=true" → ("mcts", {"sims": 200, "reuse": True}). Values are numbers, booleans or text."""
    name, colon, rest = spec.partition(":")
    options: dict[str, bool | int | float | str] = {}
    if colon and not rest.strip():
        raise ValueError(f"{spec!r}: options are expected after the colon, such as {name}:key=value")
    for part in rest.split(",") if colon else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key or not value.strip():
            raise ValueError(f"{spec!r}: {part!r} should be key=value")
        if key in options:
            raise ValueError(f"{spec!r}: {key!r} is given twice")
        options[key] = read_value(value.strip())
    return name.strip(), options


def split_specs(text: str) -> list[str]:
    """ "mcts:sims=200,reuse=true,greedy" → ["mcts:sims=200,reuse=true", "greedy"]: a key=value goes with its spec."""
    specs: list[str] = []
    for part in text.split(","):
        if specs and ":" in specs[-1] and "=" in part and ":" not in part.partition("=")[0]:
            specs[-1] += f",{part.strip()}"
        else:
            specs.append(part.strip())
    return specs


def read_value(text: str) -> bool | int | float | str:
    """What an option's text means: true and false, whole numbers, numbers, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
