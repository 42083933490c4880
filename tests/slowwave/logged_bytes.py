"""What a search writes into the journal, to the byte: two tests hold that learning leaves nothing in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import slowwave.search.run
from slowwave.memory import Memory


def payload(memory: Memory, query: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The line in the journal, which is the same in every home but for what names the search."""
    memory.store.settle()  # what it records has ids of its own
    with monkeypatch.context() as patched:
        patched.setattr(slowwave.search.run.ids, "new_event_id", lambda: "00" * 16)
        kept: dict[str, Any] = {}
        patched.setattr(
            slowwave.search.run, "_journal",
            lambda space, search_id, namespace, payload, *_: kept.update(payload) or (),
        )  # fmt: skip
        memory.search(query, limit=5)
    return json.dumps(kept, default=str).encode()
