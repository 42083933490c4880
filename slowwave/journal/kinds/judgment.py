"""Payloads of judgments: relevance of a memory for a query, by a person or a judge (rule 6.2).

The origin of the entry is `MANUAL` or `JUDGE`. An anchor is a judgment that only detects whether a judge has
changed; it never replaces one.
"""

from __future__ import annotations

from typing import TypedDict

import polars as pl

from slowwave.journal.kinds.fields import struct
from slowwave.scoring.evaluation.judgments import GRADED, HIGHEST, STATES


class GradedBy(TypedDict):
    """Judge of a grade: its identity and a hash of its prompt."""

    name: str
    model: str
    version: str
    prompt_hash: str


class Frozen(TypedDict):
    """Texts of an anchor at its first judgment."""

    query: str
    title: str
    text: str


class JudgmentPayload(TypedDict, total=False):
    """Judgment as stored.

    `judge` and `text_hash` are set by judges, the last four fields by anchors.
    """

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
_other = pl.col("state").is_in([state for state in STATES if state != GRADED]) & pl.col("grade").is_null()
SOUND = (pl.col("query").is_not_null() & pl.col("memory_id").is_not_null() & (_graded | _other)).fill_null(
    value=False
)
"""Soundness of decoded judgments: query, memory, and a grade if the state needs one."""
