"""Results of a search as documents of a framework: the text, quoted, and what is to be known beside it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from slowwave.common.quoting import one_line, quoted
from slowwave.views.data import plain

if TYPE_CHECKING:
    from slowwave.search import Result, SearchResponse


def text_of(result: Result, *, quote: bool) -> str:
    """Title and best passage of a result.

    Args:
        result: of a search.
        quote: whether a model may read it: then no line of it can be taken for an instruction of another.
    """
    if not quote:
        return result.text
    return f"> title: {one_line(result.title)}\n{quoted(result.text)}"


def metadata_of(response: SearchResponse, result: Result) -> dict[str, Any]:
    """What travels with a document: ids that feedback needs, score, labels, and the explanation if any."""
    told = {
        "search_id": response.search_id,
        "memory_id": result.memory_id,
        "rank": result.rank,
        "score": result.score,
        "confidence": result.confidence,
        "flags": list(result.flags),
        "title": result.title,
        "memory_type": result.memory_type,
        "importance_tier": result.importance_tier,
        "tags": list(result.tags),
        "created_at": result.created_at.isoformat(),
        "updated_at": result.updated_at.isoformat(),
    }
    if result.explanation is not None:
        rows = [row._asdict() for row in result.explanation.contributions]
        told["explanation"] = plain(asdict(result.explanation) | {"contributions": rows})
    return told
