"""Every LanceDB table, declared by the room that owns its rows."""

from __future__ import annotations

from slowwave.store.tables import evaluation, feedback, learning, lifecycle
from slowwave.store.tables.declaring import TEXT, TableSpec, table
from slowwave.store.tables.lifecycle import NOTE_FIELDS

__all__ = ["CANARY_NAMESPACE", "NOTE_FIELDS", "TableSpec", "table_specs"]

CANARY_NAMESPACE = "~canary"
"""Namespace and day of the row that proves that no text query reaches what was learned: no namespace
begins so, and no day is later."""

_ORDER = (
    "meta",
    "memories",
    "chunks",
    "memory_state",
    "edges",
    "decisions",
    "quarantine",
    "staged_notes",
    "gate_verdicts",
    "embedded_chunks",
    "searches",
    "events",
    "usage_signals",
    "effectiveness",
    "strength",
    "promotions",
    "judgments",
    "evaluation_scores",
    "shadow_scores",
    "channel_attribution",
    "interleavings",
    "evaluation_cycles",
    "cycle_scores",
    "cycle_judgments",
    "learned_proposals",
    "learned_matches",
    "learned_effect",
    "learning_gate",
    "learned_triggers",
    "search_views",
    "question_vectors",
    "search_keys",
    "learning_log",
)
"""In which tables are made and shown."""


def table_specs(dimension: int) -> dict[str, TableSpec]:
    """All tables for vectors of `dimension` numbers, by name."""
    about = "What the store knows of itself: schema version, embedding model, finished nights."
    declared = [
        table("meta", "name", about, value=TEXT),
        *lifecycle.tables(dimension), *feedback.tables(), *evaluation.tables(), *learning.tables(dimension),
    ]  # fmt: skip
    by_name = {spec.name: spec for spec in declared}
    return {name: by_name[name] for name in _ORDER}
