"""Tables of `slowwave.evaluation`: judgments, scores and cycles."""

from __future__ import annotations

from slowwave.scoring.measures import MEASURES
from slowwave.store.tables.declaring import COUNT, FLAG, FLOAT, TEXT, TIME, ErasureRule, TableSpec, table

METRICS = {measure.column: FLOAT for measure in MEASURES}
"""Metrics of a ranking, by the judgments of its query (rule 6.3)."""


def tables() -> list[TableSpec]:
    """Return the tables; none of them has vectors."""
    # fmt: off
    return [
        table(
            "judgments", "judgment_id",
            "Relevance of a memory for a query, 0 to 3, per day and source: a person (manual), a judge, the "
            "selections of searches, or the memory's own trigger phrases. The newest of each source counts. "
            "imported: it comes from an imported log or list; the learning gate ignores it.",
            partition="day", erasure=ErasureRule(quoting=("query", "explanation")),
            day=TEXT, namespace=TEXT, query_id=TEXT, query=TEXT, memory_id=TEXT, source=TEXT, grade=FLOAT,
            state=TEXT, judge=TEXT, explanation=TEXT, principal=TEXT, made_at=TIME, impressions=COUNT,
            expected=FLOAT, clicks=FLOAT, text_hash=TEXT, imported=FLAG,
        ),
        table(
            "evaluation_scores", "score_id",
            "Metrics of each search of a day by the judgments at its end: as returned, and as other policies "
            "would have ranked its candidates.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, query_id=TEXT, variant=TEXT, policy_version=TEXT,
            **METRICS, relevant=COUNT, abstained=FLAG,
        ),
        table(
            "shadow_scores", "shadow_id",
            "Difference of a shadow policy's results from the returned ones, per search.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, variant=TEXT, policy_version=TEXT, logged_count=COUNT,
            shadow_count=COUNT, overlap=FLOAT, only_logged=COUNT, only_shadow=COUNT, mean_score_change=FLOAT,
            mean_rank_change=FLOAT, rank_correlation=FLOAT,
        ),
        table(
            "channel_attribution", "attribution_id",
            "Results of each search per channel, and those that only one channel found; the row of channel * "
            "counts the results by their number of channels.",
            partition="day",
            day=TEXT, namespace=TEXT, search_id=TEXT, channel=TEXT, results=COUNT, covered=COUNT,
            exclusive=COUNT, single=COUNT, multi=COUNT, unattributed=COUNT,
        ),
        table(
            "interleavings", "search_id",
            "Interleaved searches, with the selections credited to each policy.",
            partition="day",
            day=TEXT, namespace=TEXT, policy_a=TEXT, policy_b=TEXT, credit_a=COUNT, credit_b=COUNT,
        ),
        table(
            "evaluation_cycles", "cycle_id",
            "Evaluation cycles. A closed one is never changed: its queries, judgments, policies and figures "
            "are those of the day on which it closed.",
            namespace=TEXT, number=COUNT, status=TEXT, opened_on=TEXT, closed_on=TEXT, days=COUNT,
            searches=COUNT, queries=COUNT, judgment_version=TEXT, code_version=TEXT, variants=TEXT,
            summary=TEXT, closed_at=TIME,
        ),
        table(
            "cycle_scores", "cycle_score_id",
            "Metrics of every query of a closed cycle under every compared policy.",
            erasure=ErasureRule(blanked=("query",)),
            cycle_id=TEXT, namespace=TEXT, variant=TEXT, query_id=TEXT, query=TEXT, searches=COUNT, **METRICS,
            relevant=COUNT,
        ),
        table(
            "cycle_judgments", "cycle_judgment_id",
            "Judgments that a closed cycle was measured with.",
            cycle_id=TEXT, namespace=TEXT, query_id=TEXT, memory_id=TEXT, grade=FLOAT, source=TEXT,
        ),
    ]
    # fmt: on
