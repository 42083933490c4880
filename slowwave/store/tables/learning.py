"""Tables of `slowwave.learning`: what selections teach, and the gate before it."""

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
    """Those for vectors of `dimension` numbers."""
    # fmt: off
    return [
        table(
            "learned_proposals", "proposal_id",
            "Every selection, and what it could teach the memory that was selected; refusal: why it teaches "
            "nothing, as far as the selection itself says. Nothing here has an effect.",
            partition="day", erasure=ErasureRule(quoting=("query",)),
            day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query=TEXT, question=TEXT,
            principal=TEXT, selected_at=TIME, rank=COUNT, terms=LIST, refusal=TEXT, text=TEXT,
        ),
        table(
            "learned_matches", "match_id",
            "Searches of a day whose words are a term that a memory had learned, or would have, before that "
            "day, where anything is known of whether that memory was wanted. Of a search key (kind) the term "
            "is the past question, and share what it adds to the score.",
            partition="day", erasure=ErasureRule(quoting=("term",)),
            day=TEXT, namespace=TEXT, search_id=TEXT, memory_id=TEXT, term=TEXT, relevant=FLAG, evidence=TEXT,
            kind=TEXT, query_id=TEXT, share=FLOAT,
        ),
        table(
            "learned_effect", "effect_id",
            "Searches with a relevant judgment, without what was learned before their day and with it, of "
            "words, of search keys, of ratings and of all use (kind). live: it had an effect on what was "
            "shown; else it is what it would have been. rated: a right answer had feedback before.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, query_id=TEXT, moved=FLAG, live=FLAG,
            **dict.fromkeys(EFFECT_COLUMNS, FLOAT), kind=TEXT, rated=FLAG,
        ),
        table(
            "learning_gate", "gate_id",
            "What the learning gate of each namespace said at the end of each day, condition by condition, "
            "of words and of search keys (kind).",
            partition="day",
            day=TEXT, namespace=TEXT, condition=TEXT, state=TEXT, value=TEXT, bound=TEXT, number=FLOAT,
            kind=TEXT,
        ),
        table(
            "learned_triggers", "trigger_id",
            "What was learned on each day: a term that a selection taught a memory. It has an effect once "
            "two questions taught it, until it expires; weight is a fresh one's. Never searched by text.",
            partition="day", erasure=ErasureRule(quoting=("term",)),
            day=TEXT, namespace=TEXT, memory_id=TEXT, term=TEXT, added_at=TIME, search_id=TEXT, question=TEXT,
            principal=TEXT, expires_at=TIME, weight=FLOAT, proposal_id=TEXT, text=TEXT,
        ),
        table(
            "search_views", "view_id",
            "Every result of a search of which anything was said, and how far it was taken: what a question "
            "could be a key to. refusal: why a selection teaches nothing. Nothing here has an effect.",
            partition="day", erasure=ErasureRule(quoting=("query",)),
            day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query_id=TEXT, query=TEXT,
            principal=TEXT, at=TIME, rank=COUNT, selected=FLAG, taken=FLOAT, examined=FLOAT, refusal=TEXT,
            text=TEXT,
        ),
        table(
            "question_vectors", "query_id",
            "The vector of each question of which anything was said. Apart from the chunks, and in no index "
            "that a search asks.",
            erasure=ErasureRule(quoting=("query",)),
            namespace=TEXT, query=TEXT, vector=vectors(dimension),
        ),
        table(
            "search_keys", "key_id",
            "What was learned of past questions: results that one led to, or only showed. A new question "
            "near it lifts what it led to, until it expires. Never searched by text.",
            partition="day",
            day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query_id=TEXT, principal=TEXT, at=TIME,
            expires_at=TIME, taken=FLOAT, examined=FLOAT, text=TEXT,
        ),
        table(
            "learning_log", "log_id",
            "The audit log of learning, append-only: add, refresh, expire, rollback, refuse, approve, "
            "withdraw, regression.",
            erasure=ErasureRule(quoting=("term", "reason", "detail")),
            day=TEXT, namespace=TEXT, at=TIME, action=TEXT, reason=TEXT, memory_id=TEXT, term=TEXT,
            search_id=TEXT, principal=TEXT, detail=TEXT, kind=TEXT,
        ),
    ]
    # fmt: on
