"""Configs as dataclasses: each field has a default and a line of prose, and is an option of the command line and a key
of a config file.

Whatever the values come from, text is read by the same function, so that both refuse the same things in the same words.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from sandtable.names import read_value, split_specs, unknown_name

BAD_INPUT = 2
"""The exit code for options that are wrong."""
Config = TypeVar("Config")
Read = Callable[[str], Any]


def setting(default: Any, prose: str, read: Read = str, metavar: str = "TEXT", **more: Any) -> Any:
    """A field of a config. prose: what it means; read: its value from a text; more: for argparse."""
    metadata = {"prose": prose, "read": read, "metavar": metavar, **more}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {' '.join(message.split())}\n")


def add_options(parser: argparse.ArgumentParser, kind: type, names: Sequence[str] | None = None) -> None:
    """Options for the fields of a config, or for those of these names; parsing leaves out what is not given."""
    for one in fields(kind):
        if names is not None and one.name not in names:
            continue
        more = dict(one.metadata)
        prose, read, metavar = more.pop("prose"), more.pop("read"), more.pop("metavar")
        flag = f"--{one.name.replace('_', '-')}"
        shown = f"{prose} (default: {shown_default(default_of(one))})".replace("%", "%%")
        if read is truth:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=shown)
        else:
            parser.add_argument(flag, type=read, metavar=metavar, default=argparse.SUPPRESS, help=shown, **more)


def default_of(one: Any) -> Any:
    """The default of a dataclass field."""
    return one.default_factory() if callable(one.default_factory) else one.default


def shown_default(value: Any) -> str:
    """A default as help and documentation show it."""
    if value in (None, "", (), {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def build(kind: Callable[..., Config], given: dict[str, Any], file: Path | None = None) -> Config:
    """A config from what was given, before that from a file, and else from the defaults."""
    values = read_config(kind, file) if file is not None else {}
    for name, value in given.items():
        values[name] = dict(value) if isinstance(value, list) else value  # KEY=VALUE, given again and again
    return kind(**values)


def read_config(kind: Any, path: Path) -> dict[str, Any]:
    """The fields of a config that a JSON file tells."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(told, dict):
        raise ValueError(f"{path}: a config is an object, not {type(told).__name__}")
    known = {one.name: one for one in fields(kind)}
    values = {}
    for name, value in told.items():
        if name not in known:
            raise ValueError(f"{path}: {unknown_name('option', name, known)}")
        try:
            values[name] = _from_json(known[name], value)
        except (argparse.ArgumentTypeError, ValueError) as error:
            raise ValueError(f"{path}: {name}: {error}") from None
    return values


def _from_json(one: Any, value: Any) -> Any:
    default = default_of(one)
    if value is None and default is None:
        return None
    if isinstance(default, dict):
        if not isinstance(value, dict):
            raise ValueError(f"{value!r} should be an object")
        return value
    if isinstance(value, list):
        return one.metadata["read"](",".join(map(str, value))) if value else ()
    return one.metadata["read"](value if isinstance(value, str) else json.dumps(value))


def to_json(config: Any) -> str:
    """The text of a config file."""
    return json.dumps(asdict(config), indent=2, ensure_ascii=False) + "\n"


# Readers


def whole(least: int) -> Read:
    def read(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return read


def number(least: float = 0.0, most: float = math.inf) -> Read:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most or math.isinf(value):
            bounds = f"of at least {least:g}" + (f" and at most {most:g}" if most < math.inf else "")
            raise argparse.ArgumentTypeError(f"{text!r} is not a number {bounds}")
        return value

    return read


def one_of(*names: str) -> Read:
    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(unknown_name("value", text, names))
        return text

    return read


def truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text == "true"


def specs(text: str) -> tuple[str, ...]:
    return tuple(filter(None, split_specs(text)))


def wholes(text: str) -> tuple[int, ...]:
    return tuple(whole(1)(part) for part in text.split(","))


def key_and_value(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier() or not value:
        raise argparse.ArgumentTypeError(f"{text!r} should be KEY=VALUE")
    return key, read_value(value)
