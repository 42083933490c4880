"""Tables of `slowwave.learning`: learned terms, search keys, and the learning gate."""

from __future__ import annotations

from slowwave.scoring.measures import EFFECT_COLUMNS
from slowwave.store.tables.declaring import (
    COUNT,
    FLAG,
    FLOAT,
    LIST,
    TEXT,
    TIME,
    ErasureRule,
    TableSpec,
    table,
    vectors,
)


def tables(dimension: int) -> list[TableSpec]:
    """Return the tables for vectors of `dimension` numbers."""
    # fmt: off
    return [
        table(
            "learned_proposals", "proposal_id",
            "Selections with the terms that they propose for the selected memory; refusal: why none is "
            "proposed, as far as the selection itself tells. Proposals have no effect.",
            partition="day", erasure=ErasureRule(quoting=("query",)),
            day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query=TEXT, question=TEXT,
            principal=TEXT, selected_at=TIME, rank=COUNT, terms=LIST, refusal=TEXT, text=TEXT,
        ),
        table(
            "learned_matches", "match_id",
            "Searches of a day that match a term which a memory had learned, or would have, before that day, "
            "with a relevance for that memory. For a search key (kind) the term is the past query, and share "
            "its query boost.",
            partition="day", erasure=ErasureRule(quoting=("term",)),
            day=TEXT, namespace=TEXT, search_id=TEXT, memory_id=TEXT, term=TEXT, relevant=FLAG, evidence=TEXT,
            kind=TEXT, query_id=TEXT, share=FLOAT,
        ),
        table(
            "learned_effect", "effect_id",
            "Metrics of searches with a relevant judgment, with and without what was learned before their "
            "day: of terms, search keys, ratings and all use (kind). live: it had an effect on the returned "
            "results; else it is what it would have been. rated: a right answer had feedback before.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, query_id=TEXT, moved=FLAG, live=FLAG,
            **dict.fromkeys(EFFECT_COLUMNS, FLOAT), kind=TEXT, rated=FLAG,
        ),
        table(
            "learning_gate", "gate_id",
            "Learning gate of each namespace at the end of each day, one row per condition, for terms and "
            "for search keys (kind).",
            partition="day",
            day=TEXT, namespace=TEXT, condition=TEXT, state=TEXT, value=TEXT, bound=TEXT, number=FLOAT,
            kind=TEXT,
        ),
        table(
            "learned_triggers", "trigger_id",
            "Learned terms of each day: a term that a selection taught a memory. It has an effect once two "
            "queries taught it, until it expires; weight: its fresh weight. Never searched by text.",
            partition="day", erasure=ErasureRule(quoting=("term",)),
            day=TEXT, namespace=TEXT, memory_id=TEXT, term=TEXT, added_at=TIME, search_id=TEXT, question=TEXT,
            principal=TEXT, expires_at=TIME, weight=FLOAT, proposal_id=TEXT, text=TEXT,
        ),
        table(
            "search_views", "view_id",
            "Results of searches with feedback, and how far each was selected: proposals of search keys. "
            "refusal: why a selection proposes nothing. Proposals have no effect.",
            partition="day", erasure=ErasureRule(quoting=("query",)),
            day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query_id=TEXT, query=TEXT,
            principal=TEXT, at=TIME, rank=COUNT, selected=FLAG, taken=FLOAT, examined=FLOAT, refusal=TEXT,
            text=TEXT,
        ),
        table(
            "question_vectors", "query_id",
            "Vectors of queries with feedback. Separate from the chunks, and in no index that a search "
            "uses.",
            erasure=ErasureRule(quoting=("query",)),
            namespace=TEXT, query=TEXT, vector=vectors(dimension),
        ),
        table(
            "search_keys", "key_id",
            "Search keys: results that a past query led to, or only returned. A new query near it boosts "
            "what it led to, until it expires. Never searched by text.",
            partition="day",
            day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query_id=TEXT, principal=TEXT, at=TIME,
            expires_at=TIME, taken=FLOAT, examined=FLOAT, text=TEXT,
        ),
        table(
            "learning_log", "log_id",
            "Audit log of learning, append-only: add, refresh, expire, rollback, refuse, approve, withdraw, "
            "regression.",
            erasure=ErasureRule(quoting=("term", "reason", "detail")),
            day=TEXT, namespace=TEXT, at=TIME, action=TEXT, reason=TEXT, memory_id=TEXT, term=TEXT,
            search_id=TEXT, principal=TEXT, detail=TEXT, kind=TEXT,
        ),
    ]
    # fmt: on
