"""Freed memory is kept where that can be asked for, and never against what somebody has said."""

from __future__ import annotations

import platform

import pytest

from sandtable.encoders.networks import memory


def test_memory_is_kept_by_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in memory._ASKED:
        monkeypatch.delenv(name, raising=False)
    assert memory.keep_freed_memory() == (platform.libc_ver()[0] == "glibc")
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert not memory.keep_freed_memory()


@pytest.mark.parametrize("name", memory._ASKED)
def test_what_somebody_has_said_stands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    monkeypatch.setattr(memory.ctypes, "CDLL", None)
    assert not memory.keep_freed_memory()
