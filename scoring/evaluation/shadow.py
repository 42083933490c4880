"""How far what another policy would have shown is from what was shown (rule 6.4)."""

from __future__ import annotations

from typing import Final

import polars as pl

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
        lists: a row for each pair of lists, named by all its columns (for instance ``search`` and
            ``variant``); a pair of which nothing was shown has a row as well.
        logged: ``memory_id``, ``rank``, ``score`` and those of the naming columns that it has: what was shown
            to all variants of a search alike needs only ``search``.
        shadow: the same of the other list, with all naming columns.

    Returns:
        The rows of `lists`, in their order, with `COMPARED`:

        - ``logged_count``, ``shadow_count``: results of each; a memory that a list names twice counts once,
          at its best rank.
        - ``overlap``: results of both over results of either (Jaccard), in [0, 1]; 1 where both are empty.
        - ``only_logged``, ``only_shadow``: results of one alone (count).
        - ``mean_score_change``, ``mean_rank_change``: mean of |shadow − logged| over the results of both;
          null where there are none.
        - ``rank_correlation``: Spearman's of the results of both, by their order in each list, in [−1, 1]:
          the same order 1, reversed −1, one result 1, none 0.
    """
    keys = lists.columns
    known = [name for name in keys if name in logged.columns]
    numbered = lists.with_row_index("at")
    first = _once(numbered.join(logged, on=known), "at")
    second = _once(numbered.join(shadow, on=keys), "at")
    both = first.join(second, on=["at", "memory_id"], suffix="_shadow")
    order = [pl.col(name).rank("ordinal").over("at") for name in ("rank", "rank_shadow")]
    moved = (order[0].cast(pl.Float64) - order[1].cast(pl.Float64)).pow(2)
    n = pl.col("common").cast(pl.Float64)
    common = both.with_columns(moved=moved).group_by("at").agg(
        common=pl.len().cast(pl.Int32),
        mean_score_change=(pl.col("score_shadow") - pl.col("score")).abs().mean(),
        mean_rank_change=(pl.col("rank_shadow") - pl.col("rank")).abs().mean(),
        moved=pl.col("moved").sum(),
    )  # fmt: skip
    found = numbered
    for name, frame in (("logged_count", first), ("shadow_count", second)):
        counts = frame.group_by("at").agg(pl.len().cast(pl.Int32).alias(name))
        found = found.join(counts, on="at", how="left", maintain_order="left")
    found = found.join(common, on="at", how="left", maintain_order="left").with_columns(
        pl.col("logged_count", "shadow_count", "common").fill_null(0)
    )
    either = pl.col("logged_count") + pl.col("shadow_count") - pl.col("common")
    # Spearman's coefficient of ranks without ties, which ordinal ranks are.
    spearman = 1 - 6 * pl.col("moved") / (n * (n * n - 1))
    return found.select(
        *keys,
        "logged_count",
        "shadow_count",
        "mean_score_change",
        "mean_rank_change",
        overlap=pl.when(either == 0).then(1.0).otherwise(pl.col("common") / either),
        only_logged=pl.col("logged_count") - pl.col("common"),
        only_shadow=pl.col("shadow_count") - pl.col("common"),
        rank_correlation=pl.when(n == 0).then(0.0).when(n == 1).then(1.0).otherwise(spearman),
    ).select(*keys, *(pl.col(name).cast(dtype) for name, dtype in COMPARED.items()))


def _once(results: pl.DataFrame, key: str) -> pl.DataFrame:
    """The results with a memory once in each list, at its best rank, as whole numbers that subtract."""
    best = results.sort(key, "rank", "memory_id").unique(
        [key, "memory_id"], keep="first", maintain_order=True
    )
    return best.select(key, "memory_id", pl.col("rank").cast(pl.Int64), "score")
