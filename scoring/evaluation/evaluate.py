"""Metrics of a run, one row a query (rule 6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from slowwave.scoring.evaluation.graded_rankings import grade_frame
from slowwave.scoring.evaluation.metrics import METRICS
from slowwave.scoring.measures import MEASURES, Measure

_RANKING = {"query_id": pl.String, "ranking": pl.String}
_RESULT = {"ranking": pl.String, "rank": pl.Int64, "memory_id": pl.String}
_GRADE = {"query_id": pl.String, "memory_id": pl.String, "grade": pl.Float64}


def evaluate(
    rankings: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    measures: Sequence[Measure] = MEASURES,
) -> pl.DataFrame:
    """Compute every measure for every query that has a relevant judgment.

    Queries without one, or absent from `qrels`, are excluded: no ranking could do well on them. A query
    without results counts as 0. Rows are in the order of `qrels`, so two runs over the same judgments pair up
    row by row.

    Args:
        rankings: document ids by query, best first; a repeated id counts once.
        qrels: grade by document by query; above 0 is relevant.
        measures: what to compute.

    Returns:
        Column ``query_id`` and a column of floats in [0, 1] for each measure, named like ``nDCG@10``.
    """
    judged = [(query, *pair) for query, grades in qrels.items() for pair in grades.items()]
    ranked = [(query, *place) for query in qrels for place in enumerate(rankings.get(query, ()))]
    evaluated = evaluate_frame(
        pl.DataFrame({"query_id": list(qrels), "ranking": list(qrels)}, schema=_RANKING),
        pl.DataFrame(ranked, schema=_RESULT, orient="row"),
        pl.DataFrame(judged, schema=_GRADE, orient="row"),
        measures,
    )
    return evaluated.drop("ranking", "relevant")


def evaluate_frame(
    rankings: pl.DataFrame,
    results: pl.DataFrame,
    judgments: pl.DataFrame,
    measures: Sequence[Measure] = MEASURES,
) -> pl.DataFrame:
    """Evaluate any number of rankings of each query in one pass.

    A query may have many rankings, such as searches under several variants. See `evaluate`.

    Args:
        rankings: ``query_id`` and the columns that name a ranking (for instance ``search`` and ``variant``),
            one row a ranking. A ranking without results counts as 0.
        results: naming columns, ``rank`` and ``memory_id``. A repeated memory counts once, and those behind
            it move up. Rankings absent from `rankings` are ignored.
        judgments: ``query_id``, ``memory_id`` and ``grade`` (above 0 is relevant; fractions are allowed), one
            row a pair.
        measures: what to compute.

    Returns:
        The rows of `rankings` whose query has a relevant judgment, in their order, with a column for each
        measure and ``relevant``: documents of the judgment list that are relevant (count).

    Raises:
        ValueError: a ranking is named twice, or a pair is judged twice.
    """
    keys = [name for name in rankings.columns if name != "query_id"]
    for frame, pair, what in (
        (rankings, keys, "rankings"),
        (judgments, ["query_id", "memory_id"], "judgments"),
    ):
        if frame.select(pair).is_duplicated().any():
            raise ValueError(f"{what} has two rows of the same {' and '.join(pair)}")
    depth = max((measure.k for measure in measures), default=1)
    graded, counted = grade_frame(rankings, results, judgments, depth)
    columns = {str(measure): METRICS[measure.metric](graded, measure.k) for measure in measures}
    return counted.with_columns(
        *(pl.Series(name, values, pl.Float64) for name, values in columns.items()),
        relevant=pl.Series(graded.relevant, dtype=pl.Int64),
    )
