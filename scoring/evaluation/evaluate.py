"""Measures of a run, a row for each query (rule 6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from scoring.evaluation.graded import grade
from scoring.evaluation.measure import Measure
from scoring.evaluation.metrics import METRICS

MEASURES = (
    Measure("mrr", 5),
    Measure("ndcg", 10),
    Measure("recall", 20),
    Measure("hit_rate", 1),
    Measure("judged", 10),
)


def evaluate(
    rankings: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    measures: Sequence[Measure] = MEASURES,
) -> pl.DataFrame:
    """Every measure of every query that has a relevant judgment.

    Queries without one are not counted, since no ranking could do well on them, nor are queries that `qrels`
    does not name. A query with no results counts as 0. Rows are in the order of `qrels`, so that two runs
    over the same judgments pair up row by row.

    Args:
        rankings: document ids by query, best first; of a repeated id only the first counts.
        qrels: grade by document by query; above 0 is relevant.
        measures: what to compute.

    Returns:
        Column ``query_id`` and one of floats in [0, 1] for each measure, named as the measure is written.
    """
    graded = grade(rankings, qrels, depth=max((measure.k for measure in measures), default=1))
    columns = {str(measure): METRICS[measure.metric](graded, measure.k) for measure in measures}
    return pl.DataFrame(
        {"query_id": graded.query_ids, **columns},
        schema={"query_id": pl.String, **dict.fromkeys(columns, pl.Float64)},
    )
