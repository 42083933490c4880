"""Homes and memories that admission is tried on."""

from __future__ import annotations

import pytest
from admission_helpers import CHUNKS

from slowwave.home.workspace import Workspace
from slowwave.memory import Memory


@pytest.fixture
def space(make_space) -> Workspace:
    """An empty home whose model is made of hashes."""
    return make_space(chunks=CHUNKS)


@pytest.fixture
def guarded(open_memory) -> Memory:
    """An empty memory that reconsolidates with the guard."""
    return open_memory(reconsolidation={"policy": "guarded"})
