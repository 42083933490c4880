"""Tables of `slowwave.evaluation`: judgments, scores and cycles."""

from __future__ import annotations

from slowwave.scoring.measures import MEASURES
from slowwave.store.tables.declaring import COUNT, FLAG, FLOAT, TEXT, TIME, ErasureRule, TableSpec, table

METRICS = {measure.column: FLOAT for measure in MEASURES}
"""Of a ranking, by the judgments of its query (rule 6.3)."""


def tables() -> list[TableSpec]:
    """None of them has vectors."""
    # fmt: off
    return [
        table(
            "judgments", "judgment_id",
            "How well a memory answers a query, 0 to 3, as it was said on each day: by a person (manual), a "
            "judge, the selections of searches, or the memory's own trigger phrases. The newest of each "
            "source counts. imported: it rests on what came with a log or a list; the learning gate is deaf "
            "to it.",
            partition="day", erasure=ErasureRule(quoting=("query", "explanation")),
            day=TEXT, namespace=TEXT, query_id=TEXT, query=TEXT, memory_id=TEXT, source=TEXT, grade=FLOAT,
            state=TEXT, judge=TEXT, explanation=TEXT, principal=TEXT, made_at=TIME, impressions=COUNT,
            expected=FLOAT, clicks=FLOAT, text_hash=TEXT, imported=FLAG,
        ),
        table(
            "evaluation_scores", "score_id",
            "How good each search of a day was by the judgments known at its end: as it was shown, and as "
            "other policies would have ranked what it considered.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, query_id=TEXT, variant=TEXT, policy_version=TEXT,
            **METRICS, relevant=COUNT, abstained=FLAG,
        ),
        table(
            "shadow_scores", "shadow_id",
            "How far another policy's results are from those that a search showed.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, variant=TEXT, policy_version=TEXT, logged_count=COUNT,
            shadow_count=COUNT, overlap=FLOAT, only_logged=COUNT, only_shadow=COUNT, mean_score_change=FLOAT,
            mean_rank_change=FLOAT, rank_correlation=FLOAT,
        ),
        table(
            "channel_attribution", "attribution_id",
            "Which channels found the results of each search, and which only one found; the row of channel * "
            "counts the results by how many channels found them.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, channel=TEXT, results=COUNT, covered=COUNT,
            exclusive=COUNT, single=COUNT, multi=COUNT, unattributed=COUNT,
        ),
        table(
            "interleavings", "search_id",
            "Searches that showed the results of two policies in turn, and whose results were used.",
            partition="day",
            day=TEXT, namespace=TEXT, policy_a=TEXT, policy_b=TEXT, credit_a=COUNT, credit_b=COUNT,
        ),
        table(
            "evaluation_cycles", "cycle_id",
            "Periods of measuring. A closed one is never changed: its queries, judgments, policies and "
            "figures are those of the day on which it closed.",
            namespace=TEXT, number=COUNT, status=TEXT, opened_on=TEXT, closed_on=TEXT, days=COUNT,
            searches=COUNT, queries=COUNT, judgment_version=TEXT, code_version=TEXT, variants=TEXT,
            summary=TEXT, closed_at=TIME,
        ),
        table(
            "cycle_scores", "cycle_score_id",
            "Every query of a closed cycle under every policy that was compared in it.",
            erasure=ErasureRule(blanked=("query",)),
            cycle_id=TEXT, namespace=TEXT, variant=TEXT, query_id=TEXT, query=TEXT, searches=COUNT, **METRICS,
            relevant=COUNT,
        ),
        table(
            "cycle_judgments", "cycle_judgment_id",
            "The judgments that a closed cycle was measured with.",
            cycle_id=TEXT, namespace=TEXT, query_id=TEXT, memory_id=TEXT, grade=FLOAT, source=TEXT,
        ),
    ]
    # fmt: on
