"""Homes and memories that admission is tried on."""

from __future__ import annotations

import pytest
from admission_helpers import CHUNKS
from search_helpers import BATTERY, DEPLOY, LONG, ROTA

from slowwave.common import ids
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


@pytest.fixture
def three(memory):
    """Three short notes and a long one, by their keys."""
    memory.save_many(
        [
            {"content": DEPLOY, "key": "deploy", "title": "Deploy day"},
            {"content": BATTERY, "key": "battery", "title": "Battery"},
            {"content": ROTA, "key": "rota", "title": "Rota", "trigger_phrases": ["who is awake"]},
            {"content": LONG, "key": "long", "title": "Gauges"},
        ]
    )
    return {name: ids.memory_id("ada", name) for name in ("deploy", "battery", "rota", "long")}
