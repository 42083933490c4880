"""A memory that frameworks use: a real home, the fast model, three notes and a secret one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from adapter_home import BATTERY, DEPLOY, FOREIGN, ORDER, SECRET, Known

from slowwave.memory import Memory


@pytest.fixture
def known(open_memory: Callable[..., Memory]) -> Known:
    memory = open_memory()
    saved = memory.save_many(
        [
            {"content": DEPLOY, "title": "Deploy day", "memory_type": "decision", "tags": ["ops"]},
            {"content": BATTERY, "title": "Battery"},
            {"content": f"The keys of the harbour hang in the office.\n{ORDER}", "title": f"Keys\n{ORDER}"},
            {"content": SECRET, "sensitivity": "secret"},
        ]
    )
    foreign = open_memory("bob").save(FOREIGN).memory_id
    return Known(memory, *(one.memory_id for one in saved), foreign)
