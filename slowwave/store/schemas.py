"""The schema of every LanceDB table, in one place.

Each table has one not-null key that is declared as Lance's unenforced primary key when the table is
created: without it, concurrent upserts of the same new key double the row without an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TEXT = pa.string()
LIST = pa.list_(pa.string())
TIME = pa.timestamp("us", tz="UTC")
FLAG = pa.bool_()
COUNT = pa.int32()
FLOAT = pa.float64()

CANARY_NAMESPACE = "~canary"
"""Namespace and day of the row that proves that no text query reaches what was learned: no namespace
begins so, and no day is later."""


def _key(name: str) -> pa.Field:
    return pa.field(name, TEXT, nullable=False, metadata={"lance-schema:unenforced-primary-key": "true"})


def _fields(**types: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind) for name, kind in types.items()]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table is: its key, its columns, who owns its rows, and what may be searched by text."""

    name: str
    schema: pa.Schema
    description: str
    partition: str | None = None  # the column whose values are Dagster partitions; None: a shared table
    full_text: tuple[str, ...] = ()  # the allow-list: no other column may ever have a full-text index
    bitmap: tuple[str, ...] = ()  # low-cardinality columns that searches filter by

    @property
    def key(self) -> str:
        """Name of the primary key column."""
        return str(self.schema.field(0).name)


# What a note says about itself, as it was written; shared by the staged note and the memory. context: what
# has to be known to understand it, for the text index alone; follows: the memory that it comes after.
_NOTE = _fields(
    source=TEXT,
    origin=TEXT,
    title=TEXT,
    content=TEXT,
    content_hash=TEXT,
    memory_type=TEXT,
    importance_tier=TEXT,
    retrieval_priority=TEXT,
    sensitivity=TEXT,
    state=TEXT,
    source_kind=TEXT,
    source_of_truth=FLAG,
    trigger_phrases=LIST,
    tags=LIST,
    aliases=LIST,
    links=LIST,
    metadata=TEXT,
    front_matter=TEXT,
    context=TEXT,
    follows=TEXT,
)
NOTE_FIELDS = tuple(field.name for field in _NOTE)


# Sums of value and weight as of a fixed moment (scoring.feedback.effectiveness), by kind of evidence.
_EVIDENCE = _fields(explicit_value=FLOAT, explicit_weight=FLOAT, implicit_value=FLOAT, implicit_weight=FLOAT)

# Of a ranking, by the judgments of its query (rule 6.3); names as columns allow them.
_METRICS = dict.fromkeys(("mrr_5", "ndcg_10", "recall_20", "hit_rate_1", "judged_10"), FLOAT)

_SHOWN = pa.list_(pa.struct(_fields(memory_id=TEXT, chunk_id=TEXT, rank=COUNT, score=FLOAT, channels=LIST)))
_VERDICTS = pa.list_(
    pa.struct(
        _fields(
            memory_id=TEXT, chunk_id=TEXT, verdict=TEXT, evidence=TEXT, keywords=COUNT, ratio=FLOAT,
            ratio_beyond_query=FLOAT, similarity=FLOAT,
        )
    )
)  # fmt: skip


def _chunk_fields(dimension: int) -> list[pa.Field]:
    return [
        *_fields(
            memory_id=TEXT,
            namespace=TEXT,
            revision=TEXT,
            ordinal=COUNT,
            chunk_count=COUNT,
            start=COUNT,
            end=COUNT,
            headings=LIST,
            text=TEXT,
            search_text=TEXT,
            embedding_hash=TEXT,
        ),
        pa.field("vector", pa.list_(pa.float32(), dimension)),
    ]


def table_specs(dimension: int) -> dict[str, TableSpec]:
    """All tables for vectors of `dimension` numbers, by name."""
    specs = [
        TableSpec(
            "meta",
            pa.schema([_key("name"), *_fields(value=TEXT)]),
            "What the store knows of itself: schema version, embedding model, finished nights.",
        ),
        TableSpec(
            "memories",
            pa.schema(
                [
                    _key("memory_id"),
                    *_fields(namespace=TEXT, revision=TEXT, status=TEXT),
                    *_NOTE,
                    *_fields(
                        principal=TEXT,
                        chunk_count=COUNT,
                        frequency=COUNT,
                        created_at=TIME,
                        updated_at=TIME,
                        retired_at=TIME,
                        dated=TIME,
                        released=FLAG,
                        replaced_by=TEXT,
                        absorbed=LIST,
                        original=TEXT,
                        own_labels=TEXT,
                    ),
                    pa.field("vector", pa.list_(pa.float32(), dimension)),
                ]
            ),
            "One row per memory. status: live, merged, superseded or retired; a row goes by erasure alone. "
            "original: its own text where its content holds lines of memories that it absorbed; "
            "own_labels: its own labels (JSON) where those in the columns are united with theirs; dated: the "
            "date that its text carries, if it does; released: a person let it in.",
            bitmap=("namespace",),
        ),
        TableSpec(
            "chunks",
            pa.schema(
                [
                    _key("chunk_id"),
                    *_chunk_fields(dimension),
                    *_fields(
                        status=TEXT,
                        title=TEXT,
                        source=TEXT,
                        origin=TEXT,
                        memory_type=TEXT,
                        importance_tier=TEXT,
                        retrieval_priority=TEXT,
                        sensitivity=TEXT,
                        state=TEXT,
                        source_kind=TEXT,
                        source_of_truth=FLAG,
                        tags=LIST,
                        follows=TEXT,
                        created_at=TIME,
                        updated_at=TIME,
                    ),
                ]
            ),
            "What is searched: the chunks of every memory with their vectors and their memory's labels.",
            full_text=("search_text",),
            bitmap=("namespace", "status"),
        ),
        TableSpec(
            "memory_state",
            pa.schema(
                [
                    _key("state_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT),
                    *_fields(effectiveness=FLOAT, feedback_count=COUNT),
                    *_EVIDENCE,
                    *_fields(not_useful_at=pa.list_(TIME)),
                    *_fields(strength=FLOAT, stability=FLOAT, used=COUNT, ignored=COUNT, last_at=TIME),
                    *_fields(tier=TEXT),
                ]
            ),
            "What use has taught of each memory, which ranking reads: one row a memory, with its id as the "
            "key. day: the last one that changed it; tier: that use has promoted it to.",
        ),
        TableSpec(
            "edges",
            pa.schema(
                [
                    _key("edge_id"),
                    *_fields(
                        namespace=TEXT,
                        from_memory=TEXT,
                        to_memory=TEXT,
                        kind=TEXT,
                        strength=pa.float64(),
                        similarity=pa.float64(),
                        evidence=TEXT,
                        decision_id=TEXT,
                        created_at=TIME,
                    ),
                ]
            ),
            "Relations between memories: supersedes, related.",
        ),
        TableSpec(
            "decisions",
            pa.schema(
                [
                    _key("decision_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        revision=TEXT,
                        other_memory=TEXT,
                        other_revision=TEXT,
                        outcome=TEXT,
                        proposed=TEXT,
                        similarity=pa.float64(),
                        reasons=LIST,
                        refused=FLAG,
                        skipped=FLAG,
                        policy=TEXT,
                        evidence=TEXT,
                        appended=LIST,
                        decided_at=TIME,
                        undone_at=TIME,
                        undone_by=TEXT,
                        undone_why=TEXT,
                    ),
                ]
            ),
            "The decision log: what became of each note beside the others (duplicate, merge, supersede, "
            "related, complement), why, and whether that was taken back. proposed: merge or supersede, where "
            "that waits for a person's word.",
        ),
        TableSpec(
            "quarantine",
            pa.schema(
                [
                    _key("quarantine_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        revision=TEXT,
                        source=TEXT,
                        title=TEXT,
                        content=TEXT,
                        reasons=LIST,
                        details=TEXT,
                        score=pa.float64(),
                        parts=TEXT,
                        duplicate_of=TEXT,
                        duplicate_revision=TEXT,
                        size_bytes=pa.int64(),
                        status=TEXT,
                        occurred_at=TIME,
                    ),
                ]
            ),
            "Notes that were refused or could not be read, whole, with every reason; nothing is lost.",
        ),
        TableSpec(
            "staged_notes",
            pa.schema(
                [
                    _key("staged_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, revision=TEXT, act=TEXT),
                    *_NOTE,
                    *_fields(
                        principal=TEXT,
                        created_at=TIME,
                        dated=FLAG,
                        occurred_at=TIME,
                        seq=pa.int64(),
                        size_bytes=pa.int64(),
                        released=FLAG,
                        reason=TEXT,
                        message=TEXT,
                    ),
                ]
            ),
            "What a day brought: the last act (save, forget, undo, accept, unreadable) on each memory.",
            partition="day",
        ),
        TableSpec(
            "gate_verdicts",
            pa.schema(
                [
                    _key("verdict_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        revision=TEXT,
                        content_hash=TEXT,
                        verdict=TEXT,
                        reasons=LIST,
                        score=pa.float64(),
                        parts=TEXT,
                    ),
                ]
            ),
            "The gate's verdict on each staged note by itself: pass, refuse, retire, undo or accept, "
            "with all reasons. One that passes with reasons would be refused if the gate did more than warn.",
            partition="day",
        ),
        TableSpec(
            "embedded_chunks",
            pa.schema(
                [
                    _key("embedded_id"),
                    *_fields(day=TEXT, cutter=TEXT, chunk_id=TEXT),
                    *_chunk_fields(dimension),
                ]
            ),
            "Chunks and vectors of the notes that passed on a day; the history behind `chunks`.",
            partition="day",
        ),
        TableSpec(
            "searches",
            pa.schema(
                [
                    _key("search_id"),
                    *_fields(day=TEXT, namespace=TEXT, occurred_at=TIME, principal=TEXT, project=TEXT),
                    *_fields(query=TEXT, wanted=COUNT, policy_version=TEXT, abstained=FLAG, signal=FLOAT),
                    *_fields(shown=_SHOWN, imported_from=TEXT, seq=pa.int64()),
                ]
            ),
            "Every search and what it showed. What else it considered stays in the journal.",
            partition="day",
        ),
        TableSpec(
            "events",
            pa.schema(
                [
                    _key("event_id"),
                    *_fields(day=TEXT, namespace=TEXT, occurred_at=TIME, principal=TEXT),
                    *_fields(kind=TEXT, tier=TEXT, verdict=TEXT, search_id=TEXT, project=TEXT),
                    *_fields(memory_id=TEXT, chunk_id=TEXT, response=TEXT, verdicts=_VERDICTS),
                    *_fields(imported_from=TEXT, seq=pa.int64()),
                ]
            ),
            "Every act of feedback as it was given: ratings (quick), observed answers (implicit), outcomes "
            "of projects (detailed).",
            partition="day",
        ),
        TableSpec(
            "usage_signals",
            pa.schema(
                [
                    _key("signal_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, chunk_id=TEXT, occurred_at=TIME),
                    *_fields(principal=TEXT, event_id=TEXT, search_id=TEXT, project=TEXT),
                    *_fields(tier=TEXT, verdict=TEXT, value=FLOAT, weight=FLOAT, evidence=TEXT),
                    *_fields(ratio=FLOAT, ratio_beyond_query=FLOAT, response=TEXT, imported=FLAG),
                    *_fields(behind=TEXT, text=TEXT),
                ]
            ),
            "What each act of feedback says of each memory. value: 1 useful, .5 neutral, 0 not; weight: what "
            "it counts for effectiveness when it is fresh; imported: the act came with a log; "
            "behind: whose word an outcome is that rests on what another one said; text: which of the "
            "memory's texts was shown, empty for its first, else the revision with which that began.",
            partition="day",
        ),
        TableSpec(
            "effectiveness",
            pa.schema(
                [
                    _key("effectiveness_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, chunk_id=TEXT),
                    *_fields(effectiveness=FLOAT, feedback_count=COUNT),
                    *_EVIDENCE,
                    *_fields(text=TEXT),
                ]
            ),
            "How well a chunk served, as of the end of each day that changed it; without chunk_id: the "
            "memory with all its chunks.",
            partition="day",
        ),
        TableSpec(
            "strength",
            pa.schema(
                [
                    _key("strength_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, current=FLOAT, strength=FLOAT),
                    *_fields(stability=FLOAT, interval=FLOAT, used=COUNT, ignored=COUNT, last_at=TIME),
                    *_fields(text=TEXT),
                ]
            ),
            "How firmly use has set each memory, after the last verdict of each day that has one. current: "
            "what is left at the end of the day; stability in seconds, interval in days.",
            partition="day",
        ),
        TableSpec(
            "promotions",
            pa.schema(
                [
                    _key("promotion_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, from_tier=TEXT, to_tier=TEXT),
                    *_fields(reason=TEXT, useful=COUNT, voters=COUNT, decided_at=TIME, detail=TEXT),
                    *_fields(text=TEXT),
                ]
            ),
            "Memories that useful votes promote, or would: decided at the end of each day, with the reason. "
            "detail: sole_principal where the author's votes count, as nobody else was ever seen there.",
            partition="day",
        ),
        TableSpec(
            "judgments",
            pa.schema(
                [
                    _key("judgment_id"),
                    *_fields(day=TEXT, namespace=TEXT, query_id=TEXT, query=TEXT, memory_id=TEXT),
                    *_fields(source=TEXT, grade=FLOAT, state=TEXT, judge=TEXT, explanation=TEXT),
                    *_fields(principal=TEXT, made_at=TIME, impressions=COUNT, expected=FLOAT, clicks=FLOAT),
                    *_fields(text_hash=TEXT, imported=FLAG),
                ]
            ),
            "How well a memory answers a query, 0 to 3, as it was said on each day: by a person (manual), a "
            "judge, the selections of searches, or the memory's own trigger phrases. The newest of each "
            "source counts. imported: it rests on what came with a log or a list; the learning gate is deaf "
            "to it.",
            partition="day",
        ),
        TableSpec(
            "evaluation_scores",
            pa.schema(
                [
                    _key("score_id"),
                    *_fields(day=TEXT, namespace=TEXT, search_id=TEXT, query_id=TEXT, variant=TEXT),
                    *_fields(policy_version=TEXT, **_METRICS, relevant=COUNT, abstained=FLAG),
                ]
            ),
            "How good each search of a day was by the judgments known at its end: as it was shown, and as "
            "other policies would have ranked what it considered.",
            partition="day",
        ),
        TableSpec(
            "shadow_scores",
            pa.schema(
                [
                    _key("shadow_id"),
                    *_fields(day=TEXT, namespace=TEXT, search_id=TEXT, variant=TEXT, policy_version=TEXT),
                    *_fields(logged_count=COUNT, shadow_count=COUNT, overlap=FLOAT, only_logged=COUNT),
                    *_fields(only_shadow=COUNT, mean_score_change=FLOAT, mean_rank_change=FLOAT),
                    *_fields(rank_correlation=FLOAT),
                ]
            ),
            "How far another policy's results are from those that a search showed.",
            partition="day",
        ),
        TableSpec(
            "channel_attribution",
            pa.schema(
                [
                    _key("attribution_id"),
                    *_fields(day=TEXT, namespace=TEXT, search_id=TEXT, channel=TEXT, results=COUNT),
                    *_fields(covered=COUNT, exclusive=COUNT, single=COUNT, multi=COUNT, unattributed=COUNT),
                ]
            ),
            "Which channels found the results of each search, and which only one found; the row of channel * "
            "counts the results by how many channels found them.",
            partition="day",
        ),
        TableSpec(
            "interleavings",
            pa.schema(
                [
                    _key("search_id"),
                    *_fields(day=TEXT, namespace=TEXT, policy_a=TEXT, policy_b=TEXT),
                    *_fields(credit_a=COUNT, credit_b=COUNT),
                ]
            ),
            "Searches that showed the results of two policies in turn, and whose results were used.",
            partition="day",
        ),
        TableSpec(
            "evaluation_cycles",
            pa.schema(
                [
                    _key("cycle_id"),
                    *_fields(namespace=TEXT, number=COUNT, status=TEXT, opened_on=TEXT, closed_on=TEXT),
                    *_fields(days=COUNT, searches=COUNT, queries=COUNT, judgment_version=TEXT),
                    *_fields(code_version=TEXT, variants=TEXT, summary=TEXT, closed_at=TIME),
                ]
            ),
            "Periods of measuring. A closed one is never changed: its queries, judgments, policies and "
            "figures are those of the day on which it closed.",
        ),
        TableSpec(
            "cycle_scores",
            pa.schema(
                [
                    _key("cycle_score_id"),
                    *_fields(cycle_id=TEXT, namespace=TEXT, variant=TEXT, query_id=TEXT, query=TEXT),
                    *_fields(searches=COUNT, **_METRICS, relevant=COUNT),
                ]
            ),
            "Every query of a closed cycle under every policy that was compared in it.",
        ),
        TableSpec(
            "cycle_judgments",
            pa.schema(
                [
                    _key("cycle_judgment_id"),
                    *_fields(cycle_id=TEXT, namespace=TEXT, query_id=TEXT, memory_id=TEXT, grade=FLOAT),
                    *_fields(source=TEXT),
                ]
            ),
            "The judgments that a closed cycle was measured with.",
        ),
        TableSpec(
            "learned_proposals",
            pa.schema(
                [
                    _key("proposal_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, search_id=TEXT, query=TEXT),
                    *_fields(question=TEXT, principal=TEXT, selected_at=TIME, rank=COUNT, terms=LIST),
                    *_fields(refusal=TEXT, text=TEXT),
                ]
            ),
            "Every selection, and what it could teach the memory that was selected; refusal: why it teaches "
            "nothing, as far as the selection itself says. Nothing here has an effect.",
            partition="day",
        ),
        TableSpec(
            "learned_matches",
            pa.schema(
                [
                    _key("match_id"),
                    *_fields(day=TEXT, namespace=TEXT, search_id=TEXT, memory_id=TEXT, term=TEXT),
                    *_fields(relevant=FLAG, evidence=TEXT),
                ]
            ),
            "Searches of a day whose words are a term that a memory had learned, or would have, before that "
            "day, where anything is known of whether that memory was wanted.",
            partition="day",
        ),
        TableSpec(
            "learned_effect",
            pa.schema(
                [
                    _key("effect_id"),
                    *_fields(day=TEXT, namespace=TEXT, search_id=TEXT, query_id=TEXT, moved=FLAG, live=FLAG),
                    *_fields(mrr_5=FLOAT, mrr_5_learned=FLOAT, ndcg_10=FLOAT, ndcg_10_learned=FLOAT),
                ]
            ),
            "Searches with a relevant judgment, without what was learned before their day and with it. live: "
            "it had an effect on what was shown; else it is what it would have been.",
            partition="day",
        ),
        TableSpec(
            "learning_gate",
            pa.schema(
                [
                    _key("gate_id"),
                    *_fields(day=TEXT, namespace=TEXT, condition=TEXT, state=TEXT, value=TEXT, bound=TEXT),
                    *_fields(number=FLOAT),
                ]
            ),
            "What the learning gate of each namespace said at the end of each day, condition by condition.",
            partition="day",
        ),
        TableSpec(
            "learned_triggers",
            pa.schema(
                [
                    _key("trigger_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, term=TEXT, added_at=TIME),
                    *_fields(search_id=TEXT, question=TEXT, principal=TEXT, expires_at=TIME, weight=FLOAT),
                    *_fields(proposal_id=TEXT, text=TEXT),
                ]
            ),
            "What was learned on each day: a term that a selection taught a memory. It has an effect once "
            "two questions taught it, until it expires; weight is a fresh one's. Never searched by text.",
            partition="day",
        ),
        TableSpec(
            "learning_log",
            pa.schema(
                [
                    _key("log_id"),
                    *_fields(day=TEXT, namespace=TEXT, at=TIME, action=TEXT, reason=TEXT, memory_id=TEXT),
                    *_fields(term=TEXT, search_id=TEXT, principal=TEXT, detail=TEXT),
                ]
            ),
            "The audit log of learning, append-only: add, refresh, expire, rollback, refuse, approve, "
            "withdraw, regression.",
        ),
    ]
    return {spec.name: spec for spec in specs}
