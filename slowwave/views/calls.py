"""Names of the calls for save, search and feedback, per interface (tools, HTTP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Calls:
    """Call names of one interface; ``{search_id}`` and ``{memory_id}`` in them are filled in."""

    save: str
    search: str
    after_answering: str
    release: str
    unforget: str


TOOLS: Final = Calls(
    save="memory_save",
    search="memory_search",
    after_answering=(
        'After you have answered: memory_observe(search_id="{search_id}", response=your answer, '
        "cited=[numbers or memory_ids you relied on]). If a result was right or wrong: "
        'knowledge_feedback(search_id="{search_id}", result=its number, '
        'rating="helpful", "neutral" or "unhelpful").'
    ),
    release="`slowwave quarantine release {memory_id}`",
    unforget="`slowwave unforget {memory_id}`",
)
"""Calls of the tools for assistants."""

HTTP: Final = Calls(
    save="POST /v1/memories",
    search="POST /v1/search",
    after_answering=(
        'After you have answered: POST /v1/observe with search_id "{search_id}", response (your answer) and '
        "cited (ranks or memory_ids that you relied on). If a result was right or wrong: POST /v1/feedback "
        'with search_id "{search_id}", result (its rank) and rating ("helpful", "neutral" or "unhelpful").'
    ),
    release="POST /v1/quarantine/{memory_id}/release, or `slowwave quarantine release {memory_id}`",
    unforget="POST /v1/memories/{memory_id}/unforget, or `slowwave unforget {memory_id}`",
)
"""Calls of the HTTP API."""
