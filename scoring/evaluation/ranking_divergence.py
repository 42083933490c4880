"""Divergence of a shadow policy's results from the returned ones (rule 6.4)."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from slowwave.scoring.arrays import places
from slowwave.scoring.evaluation.graded_rankings import drop_repeats

COMPARED: Final = pl.Schema(
    {
        "logged_count": pl.Int32(),
        "shadow_count": pl.Int32(),
        "overlap": pl.Float64(),
        "only_logged": pl.Int32(),
        "only_shadow": pl.Int32(),
        "mean_score_change": pl.Float64(),
        "mean_rank_change": pl.Float64(),
        "rank_correlation": pl.Float64(),
    }
)


def compare_results(lists: pl.DataFrame, logged: pl.DataFrame, shadow: pl.DataFrame) -> pl.DataFrame:
    """Compare two result lists of each search.

    Args:
        lists: one row for each pair of lists, named by all its columns (for instance ``search`` and
            ``variant``), empty pairs included.
        logged: ``memory_id``, ``rank``, ``score`` and its naming columns: results that all variants of a
            search share need only ``search``.
        shadow: the same for the other list, with all naming columns.

    Returns:
        The rows of `lists`, in their order, with `COMPARED`:

        - ``logged_count``, ``shadow_count``: results of each; a memory that a list names twice counts once,
        at its best rank. - ``overlap``: results of both over results of either (Jaccard), in [0, 1]; 1 where
        both are empty. - ``only_logged``, ``only_shadow``: results of one alone (count). -
        ``mean_score_change``, ``mean_rank_change``: mean of |shadow − logged| over the results of both; null
        where there are none. - ``rank_correlation``: Spearman's of the results of both, by their order in
        each list, in [−1, 1]: the same order 1, reversed −1, one result 1, none 0.
    """
    keys, n = lists.columns, lists.height
    numbered = lists.with_row_index("at")
    of_list = ["at", "memory_id", "rank", "score"]
    first, second = (
        drop_repeats(
            results.join(numbered, on=[name for name in keys if name in results.columns]).select(of_list)
        )
        for results in (logged, shadow)
    )
    both = first.join(second, on=["at", "memory_id"], suffix="_shadow", maintain_order="left")
    at = both["at"].to_numpy()
    order = np.lexsort((both["rank_shadow"].to_numpy(), at))
    place = places(at)  # the same for both lists: at is sorted in either order
    moved = np.empty(len(at), dtype=np.int64)
    moved[order] = place
    moved -= place
    logged_count, shadow_count, common = (
        np.bincount(frame["at"].to_numpy(), minlength=n) for frame in (first, second, both)
    )

    def mean(name: str) -> pl.Expr:
        change = both[f"{name}_shadow"].cast(pl.Float64) - both[name].cast(pl.Float64)
        total = np.bincount(at, weights=change.abs().to_numpy(), minlength=n)
        return pl.when(pl.Series(common > 0)).then(pl.Series(total / np.maximum(common, 1)))

    either = logged_count + shadow_count - common
    # Spearman's coefficient of places, which have no ties.
    scale = np.where(common > 1, common * (common**2 - 1.0), 1.0)
    correlation = 1 - 6 * np.bincount(at, weights=moved**2, minlength=n) / scale
    compared = lists.with_columns(
        logged_count=pl.Series(logged_count),
        shadow_count=pl.Series(shadow_count),
        overlap=pl.Series(np.where(either > 0, common / np.maximum(either, 1), 1.0)),
        only_logged=pl.Series(logged_count - common),
        only_shadow=pl.Series(shadow_count - common),
        mean_score_change=mean("score"),
        mean_rank_change=mean("rank"),
        rank_correlation=pl.Series(np.where(common > 0, correlation, 0.0)),
    )
    return compared.with_columns(pl.col(name).cast(dtype) for name, dtype in COMPARED.items())
