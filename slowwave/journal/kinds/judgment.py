"""A judgment: how well a memory answers a query, by a person or a judge (rule 6.2).

Its origin is one of `MANUAL` and `JUDGE`. An anchor is a judgment that only serves to see whether a judge has
changed; it never replaces one.
"""

from __future__ import annotations

from typing import TypedDict

import polars as pl

from slowwave.journal.kinds.fields import struct
from slowwave.scoring.evaluation.judgments import GRADED, HIGHEST, STATES


class GradedBy(TypedDict):
    """The judge that graded: what it is and by which words it was asked."""

    name: str
    model: str
    version: str
    prompt_hash: str


class Frozen(TypedDict):
    """The texts of an anchor as they were when it was first judged."""

    query: str
    title: str
    text: str


class JudgmentPayload(TypedDict, total=False):
    """A judgment as the journal keeps it; `judge` and `text_hash` only of a judge, the rest of an anchor."""

    query: str
    memory_id: str
    grade: float | None
    state: str
    explanation: str
    judge: GradedBy
    text_hash: str
    imported_from: str
    anchor: bool
    anchor_id: str
    cycle_id: str
    frozen: Frozen


JUDGMENT = struct(
    JudgmentPayload, "query", "memory_id", "grade", "state", "explanation", "judge", "text_hash", "anchor",
    "imported_from",
)  # fmt: skip
"""Fields of every judgment."""

_graded = (pl.col("state") == GRADED) & pl.col("grade").is_between(0, HIGHEST)
_other = pl.col("state").is_in([one for one in STATES if one != GRADED]) & pl.col("grade").is_null()
SOUND = (pl.col("query").is_not_null() & pl.col("memory_id").is_not_null() & (_graded | _other)).fill_null(
    value=False
)
"""Of decoded judgments: a grade where there is to be one, of a query and a memory."""
