"""Options of the test run."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-playthroughs",
        action="store_true",
        help="write tests/playthroughs anew with today's engine instead of comparing; then read the difference",
    )
