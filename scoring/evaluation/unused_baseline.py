"""Comparison of searches with and without feedback, by kind of learning (rule 8.3)."""

from __future__ import annotations

import polars as pl

from slowwave.scoring.evaluation.comparison import TIE, compare
from slowwave.scoring.measures import MRR

DRAWS = 2_000
BESIDE: dict[str, type[pl.DataType]] = {
    "namespace": pl.String, "kind": pl.String, "answers": pl.String, "questions": pl.Int64,
    "changed": pl.Int64, "improved": pl.Int64, "without": pl.Float64, "with": pl.Float64,
    "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64, "verdict": pl.String,
}  # fmt: skip
"""Columns of `compare_with_unused`."""
ALL, RATED, UNRATED = "all", "with feedback before", "without feedback before"
"""Questions by whether a right answer had feedback before."""


def compare_with_unused(effect: pl.DataFrame, *, margin: float) -> pl.DataFrame:
    """Compare searches with the same searches without what was learned, by kind (rule 8.3).

    Args:
        effect: rows as for `trend`, with ``rated``; kind ``use`` is without any feedback.
        margin: difference of MRR@5 that does not matter.

    Returns:
        `BESIDE`, by namespace, kind and answers. ``questions`` are distinct questions, ``changed`` those with
        another MRR@5, ``improved`` those with a higher one (counts). The verdict is that of
        `slowwave.scoring.evaluation.comparison.compare`.
    """
    served = pl.when("live").then(f"{MRR.column}_learned").otherwise(MRR.column)
    is_rated = pl.col("rated").fill_null(value=False)
    groups = {ALL: pl.lit(value=True), RATED: is_rated, UNRATED: ~is_rated}
    rows = []
    for (namespace, kind), rows_of_kind in effect.sort("namespace", "kind").group_by(
        "namespace", "kind", maintain_order=True
    ):
        for answers, among in groups.items():
            if answers != ALL and rows_of_kind["rated"].null_count() == rows_of_kind.height:
                continue  # not recorded for words and keys
            by = (
                rows_of_kind.filter(among)
                .group_by("query_id")
                .agg(pl.col(MRR.column).mean(), served=served.mean())
            )
            by = by.sort("query_id")
            gain = by["served"] - by[MRR.column]
            comparison = compare(by[MRR.column], by["served"], margin=margin, n_draws=DRAWS)
            rows.append(
                (namespace, kind, answers, by.height,
                 int((gain.abs() > TIE).sum()), int((gain > TIE).sum()),
                 comparison.baseline, comparison.candidate,
                 comparison.difference, comparison.low, comparison.high, comparison.verdict)
            )  # fmt: skip
    return pl.DataFrame(rows, schema=BESIDE, orient="row")
