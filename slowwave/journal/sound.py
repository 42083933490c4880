"""Which acts of the journal say something that can be used; the others are set aside, counted and told.

Anything may stand in a journal: what was imported, what another version wrote, what was erased. One act that
cannot be used must not stop a night, nor change what others come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slowwave.scoring.feedback.signals import CERTAINTY, OUTCOMES, RATINGS

ERASED = "erased"
"""The only field of a payload that a person had erased."""


def _is_number(value: pl.Expr) -> pl.Expr:
    return value.is_null() | value.is_finite()


def _all(rows: str, sound: pl.Expr) -> pl.Expr:
    """Whether there is a list and every element of it is sound."""
    return pl.col(rows).is_not_null() & pl.col(rows).list.eval(sound.fill_null(value=False)).list.all()


_ONE = pl.element().struct
_RESULT = (
    _ONE["memory_id"].is_not_null()
    & (_ONE["rank"].is_null() | (_ONE["rank"] >= 1))
    & _is_number(_ONE["score"])
)
_VERDICT = (
    _ONE["memory_id"].is_not_null()
    & _ONE["verdict"].is_in(["used", "ignored"])
    & _ONE["evidence"].is_in(list(CERTAINTY))
    & pl.all_horizontal(
        ((_ONE[name] >= 0) & (_ONE[name] <= 1)) | _ONE[name].is_null()
        for name in ("ratio", "ratio_beyond_query")
    )
    & _is_number(_ONE["similarity"])
)
_SAYS = {
    "feedback": pl.col("memory_id").is_not_null() & pl.col("rating").is_in(RATINGS),
    "observation": _all("verdicts", _VERDICT),
    "outcome": (pl.col("subject") != "") & pl.col("outcome").is_in(OUTCOMES),
}

SOUND_SEARCH = (
    pl.col("query").is_not_null()
    & (pl.col("limit").is_null() | (pl.col("limit") >= 0))
    & _all("shown", _RESULT)
)
"""Of decoded searches: a query and a list of results, each of a memory."""
SOUND_EVENT = pl.coalesce(
    *(pl.when(pl.col("kind") == kind).then(says.fill_null(value=False)) for kind, says in _SAYS.items()),
    pl.lit(value=False),
)
"""Of decoded feedback: a known word on a memory or a project."""


def results_in(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The results that a search says it showed, without those that are about no memory; none of an erased."""
    shown = payload.get("shown")
    if not isinstance(payload.get("query"), str) or not isinstance(shown, list):
        return []
    return [
        row
        for row in shown
        if isinstance(row, Mapping) and isinstance(row.get("memory_id"), str) and _is_rank(row.get("rank"))
    ]


def _is_rank(rank: object) -> bool:
    return rank is None or (isinstance(rank, int) and rank >= 1)
