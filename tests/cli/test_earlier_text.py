"""What people are told of votes that another text earned."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from slowwave.memory import Memory


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory("default")


def test_votes_of_an_earlier_text_are_told(run: Callable[..., Result], memory: Memory) -> None:
    saved = memory.save("We deploy on Tuesday at nine, from the office in Kirkwall, as ever.", key="deploy")
    memory.feedback(memory.search("when do we deploy?").search_id, 1, "unhelpful")
    for command in ("stats", "get"):
        assert "earlier revision" not in run(command, saved.memory_id).output
    memory.save("We deploy on Thursday at nine, from the office in Kirkwall, as ever.", key="deploy")
    for command in ("stats", "get"):
        told = run(command, saved.memory_id).output
        assert "n an earlier revision" in told
        assert "1 rating" in told
