"""Feedback: a rating of a result, an answer that was looked at, how a project ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeGuard

import polars as pl

from slowwave.journal.kinds.fields import Small, all_sound, is_number, struct
from slowwave.scoring.feedback.signals import CERTAINTY, OUTCOMES, RATINGS


class Rating(TypedDict, total=False):
    """Of kind feedback: what somebody said of one result; `object` is the name that it had elsewhere."""

    memory_id: str
    chunk_id: str | None
    rating: str
    object: str
    imported_from: str


class VerdictPayload(TypedDict, total=False):
    """Whether an answer used one result (rule 4.1); see `slowwave.feedback.UsageVerdict`."""

    memory_id: str
    chunk_id: str | None
    verdict: str
    evidence: str
    keywords: Small | None
    ratio: float | None
    ratio_beyond_query: float | None
    similarity: float | None


class ObservationPayload(TypedDict, total=False):
    """An answer that was looked at: `response` is a digest of its words."""

    response: str
    verdicts: Sequence[VerdictPayload]
    imported_from: str


class OutcomePayload(TypedDict, total=False):
    """How a project ended."""

    outcome: str
    imported_from: str


EVENT = struct(
    (Rating, ObservationPayload, OutcomePayload),
    "memory_id", "chunk_id", "rating", "outcome", "response", "verdicts", "imported_from",
)  # fmt: skip
"""Fields of all three."""

_ONE = pl.element().struct
_VERDICT = (
    _ONE["memory_id"].is_not_null()
    & _ONE["verdict"].is_in(["used", "ignored"])
    & _ONE["evidence"].is_in(list(CERTAINTY))
    & pl.all_horizontal(
        ((_ONE[name] >= 0) & (_ONE[name] <= 1)) | _ONE[name].is_null()
        for name in ("ratio", "ratio_beyond_query")
    )
    & is_number(_ONE["similarity"])
)
_SAYS = {
    "feedback": pl.col("memory_id").is_not_null() & pl.col("rating").is_in(RATINGS),
    "observation": all_sound("verdicts", _VERDICT),
    "outcome": (pl.col("subject") != "") & pl.col("outcome").is_in(OUTCOMES),
}
SOUND = pl.coalesce(
    *(pl.when(pl.col("kind") == kind).then(says.fill_null(value=False)) for kind, says in _SAYS.items()),
    pl.lit(value=False),
)
"""Of decoded feedback: a known word on a memory or a project."""


def verdicts_in(payload: Mapping[str, Any]) -> list[VerdictPayload]:
    """The verdicts of an observation that say which memory, how and by what evidence."""
    verdicts = payload.get("verdicts")
    if not isinstance(verdicts, list):
        return []
    return [one for one in verdicts if _is_verdict(one)]


def _is_verdict(row: object) -> TypeGuard[VerdictPayload]:
    return isinstance(row, Mapping) and {"memory_id", "chunk_id", "verdict", "evidence"} <= row.keys()


def words_in(payload: Mapping[str, Any]) -> list[str]:
    """The words of a sound act of feedback: its rating, its outcome, or a verdict for each result."""
    rows = payload.get("verdicts", [{"verdict": payload.get("rating") or payload.get("outcome")}])
    return [row["verdict"] for row in rows]
