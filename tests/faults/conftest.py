"""Fixtures of the tests of faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from faults_helpers import Drivers


@pytest.fixture(scope="module")
def drivers() -> Iterator[Drivers]:
    """Processes that work on homes and kill themselves where they are told to."""
    running = Drivers()
    yield running
    running.close()
