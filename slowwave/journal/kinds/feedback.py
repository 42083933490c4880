"""Payloads of feedback: ratings, observed answers and outcomes of projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeGuard

import polars as pl

from slowwave.journal.kinds.fields import Small, all_sound, is_number, struct
from slowwave.scoring.feedback.signals import CERTAINTY, OUTCOMES, RATINGS


class Rating(TypedDict, total=False):
    """Rating of one result (kind feedback); `object` is its name in an imported log."""

    memory_id: str
    chunk_id: str | None
    rating: str
    object: str
    imported_from: str


class VerdictPayload(TypedDict, total=False):
    """Verdict whether an answer used one result (rule 4.1); see `slowwave.feedback.UsageVerdict`."""

    memory_id: str
    chunk_id: str | None
    verdict: str
    evidence: str
    keywords: Small | None
    ratio: float | None
    ratio_beyond_query: float | None
    similarity: float | None


class ObservationPayload(TypedDict, total=False):
    """Observed answer; `response` is a digest of its words."""

    response: str
    verdicts: Sequence[VerdictPayload]
    imported_from: str


class OutcomePayload(TypedDict, total=False):
    """Outcome of a project."""

    outcome: str
    imported_from: str


EVENT = struct(
    (Rating, ObservationPayload, OutcomePayload),
    "memory_id", "chunk_id", "rating", "outcome", "response", "verdicts", "imported_from",
)  # fmt: skip
"""Fields of all three."""

_ITEM = pl.element().struct
_VERDICT = (
    _ITEM["memory_id"].is_not_null()
    & _ITEM["verdict"].is_in(["used", "ignored"])
    & _ITEM["evidence"].is_in(list(CERTAINTY))
    & pl.all_horizontal(
        ((_ITEM[name] >= 0) & (_ITEM[name] <= 1)) | _ITEM[name].is_null()
        for name in ("ratio", "ratio_beyond_query")
    )
    & is_number(_ITEM["similarity"])
)
_SOUND_BY_KIND = {
    "feedback": pl.col("memory_id").is_not_null() & pl.col("rating").is_in(RATINGS),
    "observation": all_sound("verdicts", _VERDICT),
    "outcome": (pl.col("subject") != "") & pl.col("outcome").is_in(OUTCOMES),
}
SOUND = pl.coalesce(
    *(
        pl.when(pl.col("kind") == kind).then(sound.fill_null(value=False))
        for kind, sound in _SOUND_BY_KIND.items()
    ),
    pl.lit(value=False),
)
"""Soundness of decoded feedback: a known value for a memory or a project."""


def verdicts_in(payload: Mapping[str, Any]) -> list[VerdictPayload]:
    """Return the complete verdicts of an observation: memory, verdict and evidence."""
    verdicts = payload.get("verdicts")
    if not isinstance(verdicts, list):
        return []
    return [verdict for verdict in verdicts if _is_verdict(verdict)]


def _is_verdict(row: object) -> TypeGuard[VerdictPayload]:
    return isinstance(row, Mapping) and {"memory_id", "chunk_id", "verdict", "evidence"} <= row.keys()


def words_in(payload: Mapping[str, Any]) -> list[str]:
    """Return the values of sound feedback: its rating, outcome, or a verdict per result."""
    rows = payload.get("verdicts", [{"verdict": payload.get("rating") or payload.get("outcome")}])
    return [row["verdict"] for row in rows]
