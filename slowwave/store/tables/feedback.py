"""Tables of `slowwave.feedback`: searches, feedback events, and the state computed from them."""

from __future__ import annotations

from slowwave.store.tables.declaring import (
    COUNT,
    FLAG,
    FLOAT,
    LIST,
    LONG,
    TEXT,
    TIME,
    TIMES,
    ErasureRule,
    TableSpec,
    rows,
    table,
)

EVIDENCE = dict.fromkeys(("explicit_value", "explicit_weight", "implicit_value", "implicit_weight"), FLOAT)
"""Sums of value and weight as of a fixed moment, by kind of evidence (scoring.feedback.effectiveness)."""

SHOWN = rows(memory_id=TEXT, chunk_id=TEXT, rank=COUNT, score=FLOAT, channels=LIST)
VERDICTS = rows(
    memory_id=TEXT, chunk_id=TEXT, verdict=TEXT, evidence=TEXT, keywords=COUNT, ratio=FLOAT,
    ratio_beyond_query=FLOAT, similarity=FLOAT,
)  # fmt: skip


def tables() -> list[TableSpec]:
    """Return the tables; none of them has vectors."""
    # fmt: off
    return [
        table(
            "memory_state", "state_id",
            "Latest feedback state per memory: effectiveness, strength, tier. One row per memory, with its "
            "id as the key; read by ranking. day: the last one that changed it; tier: from promotion.",
            day=TEXT, namespace=TEXT, memory_id=TEXT, effectiveness=FLOAT, feedback_count=COUNT, **EVIDENCE,
            not_useful_at=TIMES, strength=FLOAT, stability=FLOAT, used=COUNT, ignored=COUNT, last_at=TIME,
            tier=TEXT,
        ),
        table(
            "searches", "search_id",
            "Searches with their returned results. Other candidates stay in the journal.",
            partition="day", recorded=("day",),
            erasure=ErasureRule(quoting=("query",), blanked=("project",)),
            day=TEXT, namespace=TEXT, occurred_at=TIME, principal=TEXT, project=TEXT, query=TEXT,
            wanted=COUNT, policy_version=TEXT, abstained=FLAG, signal=FLOAT, shown=SHOWN, imported_from=TEXT,
            seq=LONG, left_out=LIST,
        ),
        table(
            "events", "event_id",
            "Feedback events as given: ratings (quick), observed answers (implicit), outcomes of projects "
            "(detailed).",
            partition="day", recorded=("day",),
            erasure=ErasureRule(quoting=("project",), outlives_search=True),
            day=TEXT, namespace=TEXT, occurred_at=TIME, principal=TEXT, kind=TEXT, tier=TEXT, verdict=TEXT,
            search_id=TEXT, project=TEXT, memory_id=TEXT, chunk_id=TEXT, response=TEXT, verdicts=VERDICTS,
            imported_from=TEXT, seq=LONG,
        ),
        table(
            "usage_signals", "signal_id",
            "Signals of each feedback event for each memory. value: 1 useful, 0.5 neutral, 0 not; weight: "
            "its fresh weight for effectiveness; imported: the event is from an imported log; behind: the "
            "user behind an outcome that rests on another user's feedback; text: the returned text of the "
            "memory, empty for its first, else the revision with which it began; query_id: the query of its "
            "search.",
            partition="day",
            erasure=ErasureRule(
                blanked=("project",), cleared={"query_id": "search_id"}, outlives_search=True
            ),
            day=TEXT, namespace=TEXT, memory_id=TEXT, chunk_id=TEXT, occurred_at=TIME, principal=TEXT,
            event_id=TEXT, search_id=TEXT, project=TEXT, tier=TEXT, verdict=TEXT, value=FLOAT, weight=FLOAT,
            evidence=TEXT, ratio=FLOAT, ratio_beyond_query=FLOAT, response=TEXT, imported=FLAG, behind=TEXT,
            text=TEXT, query_id=TEXT,
        ),
        table(
            "effectiveness", "effectiveness_id",
            "Effectiveness of a chunk at the end of each day that changed it; without chunk_id: of the "
            "memory with all its chunks.",
            partition="day",
            day=TEXT, namespace=TEXT, memory_id=TEXT, chunk_id=TEXT, effectiveness=FLOAT,
            feedback_count=COUNT, **EVIDENCE, text=TEXT,
        ),
        table(
            "strength", "strength_id",
            "Strength of each memory after the last verdict of each day that has one. current: decayed value "
            "at the end of the day; stability in seconds, interval in days.",
            partition="day",
            day=TEXT, namespace=TEXT, memory_id=TEXT, current=FLOAT, strength=FLOAT, stability=FLOAT,
            interval=FLOAT, used=COUNT, ignored=COUNT, last_at=TIME, text=TEXT,
        ),
        table(
            "promotions", "promotion_id",
            "Memories that useful ratings promote, or would: decided at the end of each day, with the "
            "reason. detail: sole_principal if the author's ratings count because no other user was ever "
            "seen.",
            partition="day",
            day=TEXT, namespace=TEXT, memory_id=TEXT, from_tier=TEXT, to_tier=TEXT, reason=TEXT, useful=COUNT,
            voters=COUNT, decided_at=TIME, detail=TEXT, text=TEXT,
        ),
    ]
    # fmt: on
