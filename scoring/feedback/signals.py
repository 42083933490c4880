"""What each act of feedback says of each memory: rows of ``usage_signals`` (rule 4).

A rating says one thing of one memory. An observed answer says of every memory that was shown whether it was
used; words of the query are no evidence of that, so a use that rests on them alone moves a memory's strength
and not its effectiveness. An ignored result says little: it was not needed this time, and counts as neutral.
The outcome of a project is credited to what its searches brought (see `credits`).
"""

from __future__ import annotations

import polars as pl

from scoring.feedback.policy import FeedbackPolicy

VALUES = {"helpful": 1.0, "neutral": 0.5, "unhelpful": 0.0, "success": 1.0, "failure": 0.0}
RATINGS, OUTCOMES = ("helpful", "neutral", "unhelpful"), ("success", "failure")
TIERS = {"observation": "implicit", "feedback": "quick", "outcome": "detailed"}
"""Tier of each kind of act."""
USED_RATIO = 0.30

_COLUMNS = (
    "signal_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", "principal", "event_id",
    "search_id", "project", "tier", "verdict", "value", "weight", "evidence", "ratio",
    "ratio_beyond_query", "response",
)  # fmt: skip
_NUMBER, _TEXT = pl.lit(None, pl.Float64), pl.lit(None, pl.String)


def rating_signals(events: pl.DataFrame) -> pl.DataFrame:
    """Signals of ratings: one vote each.

    Args:
        events: rows of ``events``; those of other kinds are left out.
    """
    return events.filter(pl.col("kind") == "feedback").select(
        "event_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", "principal", "search_id",
        "project", "tier", "verdict", "response",
        signal_id="event_id",
        value=pl.col("verdict").replace_strict(VALUES, return_dtype=pl.Float64),
        weight=pl.lit(1.0),
        evidence=pl.lit("rating"),
        ratio=_NUMBER,
        ratio_beyond_query=_NUMBER,
    ).select(_COLUMNS)  # fmt: skip


def usage_signals(
    events: pl.DataFrame, policy: FeedbackPolicy, *, used_ratio: float = USED_RATIO
) -> pl.DataFrame:
    """Signals of observed answers: one per memory that was shown.

    Args:
        events: rows of ``events``; those of other kinds are left out.
        policy: weight of a use.
        used_ratio: above which words beyond the query's are evidence of use.
    """
    verdicts = events.filter(pl.col("kind") == "observation").drop("memory_id", "chunk_id", "verdict")
    told = verdicts.explode("verdicts").filter(pl.col("verdicts").is_not_null()).unnest("verdicts")
    used = pl.col("verdict") == "used"
    by_words = pl.col("evidence") == "words"
    beyond = pl.col("ratio_beyond_query").fill_null(0.0) > used_ratio
    counts = (pl.col("evidence") != "none") & (~used | ~by_words | beyond)
    return told.select(
        "event_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", "principal", "search_id",
        "project", "tier", "verdict", "evidence", "ratio", "ratio_beyond_query", "response",
        signal_id=pl.concat_str("event_id", pl.lit(":"), "memory_id"),
        value=pl.when(used).then(1.0).otherwise(0.5),
        weight=pl.when(counts).then(policy.implicit_weight).otherwise(0.0),
    ).unique("signal_id", keep="first", maintain_order=True).select(_COLUMNS)  # fmt: skip


def outcome_signals(outcomes: pl.DataFrame, covered: pl.DataFrame, evidence: pl.DataFrame) -> pl.DataFrame:
    """Signals of outcomes, credited to what the searches of their projects brought.

    What was used or rated helpful in a search gets a vote. Where nothing was, nobody knows what helped, and
    what was shown shares one vote.

    Args:
        outcomes: rows of ``events`` of kind outcome.
        covered: of `covered_searches`: event_id of the outcome, search_id.
        evidence: of these searches: search_id, memory_id, chunk_id, shown_at (time), and used_at, when it was
            first used or rated helpful, null where it was not.
    """
    about = (
        outcomes.drop("search_id", "memory_id", "chunk_id")
        .join(covered, on="event_id", how="inner")
        .join(evidence, on="search_id", how="inner")
        .with_columns(helped=(pl.col("used_at") <= pl.col("occurred_at")).fill_null(value=False))
    )
    search = ["event_id", "search_id"]
    about = about.filter("helped" | ~pl.col("helped").any().over(search))
    share = pl.when("helped").then(1.0).otherwise(1.0 / pl.len().over(search))
    return about.select(
        "event_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", "principal", "search_id",
        "project", "tier", "verdict", "response",
        signal_id=pl.concat_str("event_id", "search_id", "memory_id", separator=":"),
        value=pl.col("verdict").replace_strict(VALUES, return_dtype=pl.Float64),
        weight=share,
        evidence=pl.when("helped").then(pl.lit("used")).otherwise(pl.lit("shown")),
        ratio=_NUMBER,
        ratio_beyond_query=_NUMBER,
    ).select(_COLUMNS)  # fmt: skip


def covered_searches(
    outcomes: pl.DataFrame, all_outcomes: pl.DataFrame, searches: pl.DataFrame
) -> pl.DataFrame:
    """The searches that each outcome is about: those of its project since the outcome before.

    An outcome that follows another one without a search between them corrects it: it is about the same
    searches.

    Args:
        outcomes: event_id, namespace, project, principal, occurred_at.
        all_outcomes: the same of every outcome of these projects, these among them.
        searches: of these projects: search_id, namespace, project, occurred_at.

    Returns:
        event_id, search_id.
    """
    of = ["namespace", "project"]
    pairs = (
        outcomes.select("event_id", "principal", *of, ended="occurred_at")
        .join(searches.select("search_id", *of, searched="occurred_at"), on=of, how="inner")
        .filter(pl.col("searched") <= pl.col("ended"))
    )
    newest = pairs.group_by("event_id", "principal", *of).agg(newest=pl.col("searched").max())
    earlier = (
        newest.join(all_outcomes.select(*of, "principal", "occurred_at"), on=[*of, "principal"], how="inner")
        .filter(pl.col("occurred_at") < pl.col("newest"))
        .group_by("event_id")
        .agg(since=pl.col("occurred_at").max())
    )
    pairs = pairs.join(earlier, on="event_id", how="left")
    mine = pl.col("since").is_null() | (pl.col("searched") > pl.col("since"))
    return pairs.filter(mine).select("event_id", "search_id")
