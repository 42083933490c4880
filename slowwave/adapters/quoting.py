"""Results of a search as framework documents: quoted text and metadata."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from slowwave.common.quoting import one_line, quoted
from slowwave.views.data import plain
from slowwave.views.scores import contradiction_text, outdated_text

if TYPE_CHECKING:
    from slowwave.search import Result, SearchResponse

_FIELDS: Final = (
    "memory_id", "rank", "score", "confidence", "flags", "title", "memory_type", "importance_tier", "tags",
    "created_at", "updated_at",
)  # fmt: skip


def text_of(result: Result, *, quote: bool) -> str:
    """Return title and best passage of a result.

    Args:
        result: of a search.
        quote: whether a model reads it; quoting keeps its lines from being taken for instructions.
    """
    if not quote:
        return result.text
    marks = [outdated_text(result.outdated_by, one_line(result.newer_title), result.valid_until)]
    marks += [contradiction_text(other.memory_id, one_line(other.title)) for other in result.contradicts]
    lines = [f"title: {one_line(result.title)}", *filter(None, marks)]
    return "\n".join([*(f"> {line}" for line in lines), quoted(result.text)])


def metadata_of(response: SearchResponse, result: Result) -> dict[str, Any]:
    """Return the metadata of a result: ids for feedback, score, labels, marks, explanation, unknown ids."""
    metadata: dict[str, Any] = plain(
        {"search_id": response.search_id, **{name: getattr(result, name) for name in _FIELDS}}
    )
    if result.outdated_by:
        metadata["outdated_by"] = result.outdated_by
    if result.contradicts:
        metadata["contradicts"] = [asdict(other) for other in result.contradicts]
    if response.unknown:
        metadata["unknown"] = list(response.unknown)
    if result.explanation is not None:
        rows = [row._asdict() for row in result.explanation.contributions]
        metadata["explanation"] = plain(asdict(result.explanation) | {"contributions": rows})
    return metadata
