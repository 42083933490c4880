"""What searches teach as keys (rule 7): how far a memory was taken from a question, and how far looked at."""

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
"""Columns of a view: one result of one search of which anything was said. taken: `taken` of it, 0 where it
was only shown or may teach nothing. examined: chance that its rank was looked at."""


def is_selected(evidence: pl.Expr, share: pl.Expr, policy: KeyTeaching) -> pl.Expr:
    """How far a result was what was looked for, in [0, 1] (rule 7.3).

    Args:
        evidence: that it was, in [0, 1].
        share: its score, of that of the first result.
        policy: constants.
    """
    return evidence * share.clip(0.0, 1.0) ** policy.power


def is_examined(rank: pl.Expr, policy: KeyTeaching) -> pl.Expr:
    """The chance that a result was looked at, in (0, 1] (rule 7.3).

    Args:
        rank: at which it was shown, from 1.
        policy: constants.
    """
    return rank.cast(pl.Float64) ** -policy.bias


def aggregate_keys(views: pl.DataFrame, as_of: datetime, policy: KeyTeaching) -> pl.DataFrame:
    """What is known of each question, memory and principal at a moment.

    Who asks the same again has one voice, the mean of what was done each time, with the age of the last. Of
    a memory's keys a few stay, the newest of each principal in turn, so that nobody pushes out what others
    taught; where it was taken by one that does not stay, it was not looked at either.

    Args:
        views: rows as in `VIEW`, of any namespaces, none of a later moment.
        as_of: the moment.
        policy: constants.

    Returns:
        ``namespace``, ``query_id``, ``memory_id``, ``principal``, ``taken`` and ``examined`` (weighted by
        age), ``last`` (that the principal asked), ``crowd`` (principals of the namespace that taught any
        key, also one that does not stay); sorted. Only memories that have a key, in questions that are one.
    """
    voice = ["namespace", "query_id", "memory_id", "principal"]
    left = (1 - (pl.lit(as_of) - pl.col("last")) / policy.ttl).clip(0.0, 1.0)
    voices = (
        views.group_by(voice)
        .agg(pl.col("taken", "examined").mean(), last=pl.col("at").max())
        .with_columns(left=left)
        .filter(pl.col("left") > 0)
        .sort("last", *voice, descending=[True, False, False, False, False])
    )
    key = pl.col("taken") > 0
    crowd = voices.filter(key).group_by("namespace").agg(crowd=pl.col("principal").n_unique().cast(pl.Int64))
    turn = pl.when(key).then(key.cum_sum().over("namespace", "memory_id", "principal"))
    voices = voices.with_columns(turn=turn).sort("turn", maintain_order=True, nulls_last=True)
    place = pl.when(key).then(key.cum_sum().over("namespace", "memory_id"))
    kept = voices.with_columns(place=place).filter(
        pl.col("place").is_null() | (pl.col("place") <= policy.per_memory)
    )
    keys = kept.filter(key)
    known = kept.join(keys, on=["namespace", "query_id"], how="semi").join(
        keys, on=["namespace", "memory_id"], how="semi"
    )
    return (
        known.join(crowd, on="namespace")
        .select(
            *voice,
            taken=pl.col("taken") * pl.col("left"),
            examined=pl.col("examined") * pl.col("left"),
            last="last",
            crowd="crowd",
        )
        .sort(voice)
    )


def search_keys_of(folded: pl.DataFrame, memory: dict[str, int]) -> Keys:
    """The keys of one namespace as arrays; their questions are in the order of their ids.

    Args:
        folded: rows of `fold`, of one namespace.
        memory: number of each memory; those that have none are left out.
    """
    there = folded.filter(pl.col("memory_id").is_in(list(memory))).sort("query_id", "memory_id", "principal")
    questions = there.group_by("query_id", maintain_order=True).len()
    return Keys(
        np.concatenate([[0], np.cumsum(questions["len"].to_numpy(), dtype=np.int64)]),
        np.array([memory[one] for one in there["memory_id"]], dtype=np.int64),
        (there["principal"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
        there["taken"].to_numpy(),
        there["examined"].to_numpy(),
        int(folded["crowd"].max() or 0),  # type: ignore[arg-type]
    )
