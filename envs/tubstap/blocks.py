"""The text under map files and game records: blocks `TAG[value]`, each closed by a `;`, newlines free.

Reading is strict: what is not a block is an error that tells the file, the line, what stood there and what is valid.
"""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from sandtable.names import unknown_name

MAP_TAGS = (
    "SIZEX", "SIZEY", "TURNLIMIT", "HPTHRESHOLD", "UNITNUMRED", "UNITNUMBLUE", "AUTHOR", "MAPCOM", "UNIT", "MAP",
)  # fmt: skip
RECORD_TAGS = ("PLAYEDDATE", "PLAYEDRULE", "PLAYERRED", "PLAYERBLUE", "TURNINFO", "ACTION", "COM")

_SPACE = re.compile(r"[ \t\r\n]*")
_TAG = re.compile(r"[A-Za-z_]+")
_WHOLE = re.compile(r"-?[0-9]{1,9}")
_OPENING = re.compile(rf"(?:{'|'.join(MAP_TAGS + RECORD_TAGS)})[ \t\r\n]*\[")


class MapError(ValueError):
    """A map or a game record that is not valid: the message says where, what stood there and what is valid."""


def shown(text: str) -> str:
    """A quotation of what a user wrote, in one line and never longer than a line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def text_fault(value: object) -> str | None:
    """Why `value` cannot stand as free text (an author, a comment, a player's name) in a block, or None."""
    if not isinstance(value, str):
        return f"{shown(repr(value))} is not text"
    opening = _OPENING.search(value)
    if opening:
        return f"{shown(value)} contains {opening[0]!r}, with which a block begins: is a ']' missing before it?"
    if "]" in value or "\0" in value:
        return f"{shown(value)} contains a ']' or a NUL; every other character is valid"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{shown(value)} cannot be written as UTF-8"
    return None


@dataclass(frozen=True)
class Block:
    """One `TAG[value]` and where it stood."""

    tag: str
    value: str
    line: int
    source: str

    def fail(self, what: str) -> NoReturn:
        raise MapError(f"{self.source}, line {self.line}: {self.tag}[{shown(self.value)[1:-1]}]: {what}")

    def parts(self, names: tuple[str, ...]) -> list[str]:
        """The values between the commas, one for each of `names`; spaces around commas mean nothing."""
        parts = [part.strip(" \t\r\n") for part in self.value.split(",")]
        if len(parts) != len(names):
            self.fail(f"{len(parts)} values where {len(names)} are valid: {','.join(names)}")
        return parts

    def whole(self, text: str, name: str) -> int:
        """The whole number that `text`, a part of this block, says."""
        if not _WHOLE.fullmatch(text):
            self.fail(f"{name} {shown(text)}: valid are whole numbers (digits 0-9, at most nine)")
        return int(text)

    def number(self) -> int:
        """The one whole number that is this block's value."""
        return self.whole(self.parts((self.tag,))[0], self.tag)


class Blocks:
    """The blocks of one text in their order, and by tag."""

    def __init__(self, text: str, source: str, tags: tuple[str, ...]) -> None:
        self.source, self._text, self._tags = source, text.removeprefix("\ufeff"), tags
        self._newlines = [at for at, char in enumerate(self._text) if char == "\n"]
        self.last_line = len(self._newlines) + (not self._text.endswith("\n"))
        if "\0" in self._text:
            self._fail(self._text.index("\0"), "a NUL byte; valid is text in UTF-8 or Shift-JIS")
        self.in_order = self._scan()
        self._by_tag: dict[str, list[Block]] = {tag: [] for tag in tags}
        for block in self.in_order:
            self._by_tag[block.tag].append(block)

    def every(self, tag: str) -> list[Block]:
        return self._by_tag[tag]

    def optional(self, tag: str) -> Block | None:
        """The block of a tag that may stand once."""
        found = self._by_tag[tag]
        if len(found) > 1:
            found[1].fail(f"a second {tag}; the first stands in line {found[0].line}, and one is valid")
        return found[0] if found else None

    def one(self, tag: str) -> Block:
        """The block of a tag that must stand once."""
        return self.optional(tag) or self.missing(tag)

    def missing(self, tag: str) -> NoReturn:
        raise MapError(f"{self.source}, line {self.last_line}: the text ends without {tag}[...], which must stand once")

    def text(self, tag: str) -> str:
        """The free text of a tag that must stand once."""
        return self.one(tag).value

    def _scan(self) -> list[Block]:
        blocks, at = [], self._skip(0)
        while at < len(self._text):
            block, at = self._block(at)
            blocks.append(block)
            at = self._skip(self._separator(block, at))
        return blocks

    def _block(self, at: int) -> tuple[Block, int]:
        """The block that begins at `at`, and where it ends."""
        tag = _TAG.match(self._text, at)
        opening = self._skip(tag.end()) if tag else at
        if not tag or self._text[opening : opening + 1] != "[":
            self._fail(at, f"{self._rest(at)} is not a block TAG[value]; valid tags: {', '.join(self._tags)}")
        if tag[0] not in self._tags:
            self._fail(at, unknown_name("tag", tag[0], self._tags))
        closing = self._text.find("]", opening)
        value = self._text[opening + 1 : closing if closing >= 0 else None]
        fault = text_fault(value) if closing >= 0 else f"{shown(value)} is never closed; a ']' must follow"
        if fault:
            self._fail(at, f"{tag[0]}: {fault}")
        return Block(tag[0], value, self._line(at), self.source), closing + 1

    def _separator(self, block: Block, end: int) -> int:
        """Where the text goes on after the `;` that closes a block."""
        at = self._skip(end)
        if self._text[at : at + 1] == ";":
            return at + 1
        if block.tag == "PLAYERRED" and self._text.startswith("PLAYERBLUE", at):
            return at  # the original writes these two, and only these, without a `;` between them
        found = self._rest(at) if at < len(self._text) else "the end of the text"
        self._fail(at, f"{found} after {block.tag}[...]; valid is ';' (and a value cannot contain ']')")

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return space.end() if space else at

    def _rest(self, at: int) -> str:
        return shown(self._text[at : at + 60].splitlines()[0])

    def _line(self, at: int) -> int:
        return bisect_left(self._newlines, at) + 1

    def _fail(self, at: int, what: str) -> NoReturn:
        raise MapError(f"{self.source}, line {self._line(at)}: {what}")


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8 or Shift-JIS, the two encodings the original's files come in."""
    content = Path(path).read_bytes()
    for encoding in ("utf-8-sig", "cp932"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            found = content[error.start : error.start + 1].hex()
    raise MapError(f"{path}, line {line}: byte {found} is neither UTF-8 nor Shift-JIS; valid is text in one of the two")


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file in UTF-8. It appears whole or not at all: it is written beside its place and then moved there."""
    target = Path(path)
    beside = target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        beside.write_bytes(text.encode())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
