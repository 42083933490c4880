"""Fixtures of the tests of faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from faults_helpers import Driver


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """A process that works on homes in children that kill themselves where they are told to."""
    running = Driver()
    yield running
    running.close()
