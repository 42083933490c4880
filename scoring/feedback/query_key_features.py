"""Search-key features: evidence of selection and chance of examination (rule 7.3)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import polars as pl

from slowwave.scoring.feedback.policy import KeyTeaching
from slowwave.scoring.feedback.query_key_training import SEEN
from slowwave.scoring.ranking.keys import Keys

VIEW: Final[dict[str, pl.DataType]] = {
    name: SEEN[name]
    for name in ("namespace", "query_id", "principal", "memory_id", "at", "taken", "examined")
}
"""Columns of a view: one result of a search with any feedback. taken: `is_selected` of the result, 0 if it
was only returned or may teach nothing. examined: chance that its rank was examined."""


def is_selected(evidence: pl.Expr, share: pl.Expr, policy: KeyTeaching) -> pl.Expr:
    """Return the evidence that a result was selected, in [0, 1] (rule 7.3).

    Args:
        evidence: evidence of use, in [0, 1].
        share: score divided by the score of the first result.
        policy: constants.
    """
    return evidence * share.clip(0.0, 1.0) ** policy.score_exponent


def is_examined(rank: pl.Expr, policy: KeyTeaching) -> pl.Expr:
    """Return the chance that a result was examined, in (0, 1] (rule 7.3).

    Args:
        rank: rank of the result, from 1.
        policy: constants.
    """
    return rank.cast(pl.Float64) ** -policy.position_bias_exponent


def aggregate_keys(views: pl.DataFrame, as_of: datetime, policy: KeyTeaching) -> pl.DataFrame:
    """Aggregate views into key features per question, memory and user.

    A user's repeats of a question are one row: the mean of each time, with the age of the latest. A memory
    keeps a few keys, the newest of each user in turn, so no user pushes out what others taught. A dropped key
    does not count as examined either.

    Args:
        views: rows as in `VIEW`, none after the moment.
        as_of: the moment.
        policy: constants.

    Returns:
        ``namespace``, ``query_id``, ``memory_id``, ``principal``, ``taken`` and ``examined`` (weighted by
        age), ``last`` (moment of the user's latest search), ``num_teachers`` (users of the namespace with any
        key, dropped ones included); sorted. Only memories that have a key, and questions that are one.
    """
    user = ["namespace", "query_id", "memory_id", "principal"]
    remaining = (1 - (pl.lit(as_of) - pl.col("last")) / policy.ttl).clip(0.0, 1.0)
    num_users = (
        views.group_by(user)
        .agg(pl.col("taken", "examined").mean(), last=pl.col("at").max())
        .with_columns(left=remaining)
        .filter(pl.col("left") > 0)
        .sort("last", *user, descending=[True, False, False, False, False])
    )
    key = pl.col("taken") > 0
    num_teachers = (
        num_users.filter(key)
        .group_by("namespace")
        .agg(num_teachers=pl.col("principal").n_unique().cast(pl.Int64))
    )
    turn = pl.when(key).then(key.cum_sum().over("namespace", "memory_id", "principal"))
    num_users = num_users.with_columns(turn=turn).sort("turn", maintain_order=True, nulls_last=True)
    place = pl.when(key).then(key.cum_sum().over("namespace", "memory_id"))
    kept = num_users.with_columns(place=place).filter(
        pl.col("place").is_null() | (pl.col("place") <= policy.max_per_memory)
    )
    keys = kept.filter(key)
    relevant = kept.join(keys, on=["namespace", "query_id"], how="semi").join(
        keys, on=["namespace", "memory_id"], how="semi"
    )
    return (
        relevant.join(num_teachers, on="namespace")
        .select(
            *user,
            taken=pl.col("taken") * pl.col("left"),
            examined=pl.col("examined") * pl.col("left"),
            last="last",
            num_teachers="num_teachers",
        )
        .sort(user)
    )


def search_keys_of(folded: pl.DataFrame, memory: dict[str, int]) -> Keys:
    """Convert the aggregated keys of one namespace to arrays, questions by id.

    Args:
        folded: rows of `aggregate_keys`, of one namespace.
        memory: number of each memory; others are dropped.
    """
    rows = folded.filter(pl.col("memory_id").is_in(list(memory))).sort("query_id", "memory_id", "principal")
    questions = rows.group_by("query_id", maintain_order=True).len()
    return Keys(
        np.concatenate([[0], np.cumsum(questions["len"].to_numpy(), dtype=np.int64)]),
        np.array([memory[memory_id] for memory_id in rows["memory_id"]], dtype=np.int64),
        (rows["principal"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
        rows["taken"].to_numpy(),
        rows["examined"].to_numpy(),
        int(folded["num_teachers"].max() or 0),  # type: ignore[arg-type]
    )
