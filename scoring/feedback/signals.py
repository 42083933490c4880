"""Feedback signals: rows of ``usage_signals`` from feedback events (rule 4).

A rating is one signal of one memory. An observed answer gives each returned memory a signal: used or ignored.
Words of the query are no evidence of use: a use that rests on them alone moves a memory's strength, not its
effectiveness. An ignored result counts as neutral. The outcome of a project is credited to the results of its
searches (see `outcome_signals`).
"""

from __future__ import annotations

import polars as pl

from slowwave.scoring.feedback.policy import FeedbackPolicy

VALUES = {"helpful": 1.0, "neutral": 0.5, "unhelpful": 0.0, "success": 1.0, "failure": 0.0}
RATINGS, OUTCOMES = ("helpful", "neutral", "unhelpful"), ("success", "failure")
TIERS = {"observation": "implicit", "feedback": "quick", "outcome": "detailed"}
"""Tier of each kind of event."""
USED_RATIO = 0.30
CERTAINTY = {"none": 0, "words": 1, "short_answer": 2, "similarity": 3, "denial": 4, "citation": 5}
"""Certainty of each evidence of use; the greater replaces the lesser (rule 4.1)."""

_COLUMNS = (
    "signal_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", "principal", "event_id",
    "search_id", "project", "tier", "verdict", "value", "weight", "evidence", "ratio",
    "ratio_beyond_query", "response", "imported", "behind",
)  # fmt: skip
_NUMBER, _NOBODY = pl.lit(None, pl.Float64), pl.lit(None, pl.String)
_IMPORTED = pl.col("imported_from").is_not_null()


def rating_signals(events: pl.DataFrame) -> pl.DataFrame:
    """Return the signals of ratings, one vote each.

    Args:
        events: rows of ``events``; other kinds are ignored.
    """
    return events.filter(pl.col("kind") == "feedback").with_columns(
        signal_id="event_id",
        value=pl.col("verdict").replace_strict(VALUES, return_dtype=pl.Float64),
        weight=pl.lit(1.0),
        evidence=pl.lit("rating"),
        behind=_NOBODY,
        imported=_IMPORTED,
        ratio=_NUMBER,
        ratio_beyond_query=_NUMBER,
    ).select(_COLUMNS)  # fmt: skip


def usage_signals(
    events: pl.DataFrame, policy: FeedbackPolicy, *, used_ratio: float = USED_RATIO
) -> pl.DataFrame:
    """Return the signals of observed answers, the most certain per answer and memory (rule 4.1).

    Args:
        events: rows of ``events``; other kinds are ignored.
        policy: weight of a use.
        used_ratio: minimum share of words beyond the query's that is evidence of use, exclusive.
    """
    verdicts = events.filter(pl.col("kind") == "observation").drop("memory_id", "chunk_id", "verdict")
    rows = verdicts.explode("verdicts").filter(pl.col("verdicts").is_not_null()).unnest("verdicts")
    rows = most_certain(rows)
    used = pl.col("verdict") == "used"
    by_words = pl.col("evidence") == "words"
    beyond = pl.col("ratio_beyond_query").fill_null(0.0) > used_ratio
    counts = (pl.col("evidence") != "none") & (~used | ~by_words | beyond)
    return rows.with_columns(
        signal_id=pl.concat_str("event_id", pl.lit(":"), "memory_id"),
        value=pl.when(used).then(1.0).otherwise(0.5),
        weight=pl.when(counts).then(policy.implicit_weight).otherwise(0.0),
        imported=_IMPORTED,
        behind=_NOBODY,
    ).select(_COLUMNS)  # fmt: skip


def most_certain(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the most certain verdict of each memory, answer, search and day, in order.

    Of equally certain ones, observed goes before imported, then the first before later ones.

    Args:
        verdicts: day, namespace, search_id, memory_id, response (null: a separate answer), event_id,
            evidence, occurred_at, and optionally imported_from.
    """
    same = ["day", "namespace", "search_id", "memory_id", "answer"]
    answer = pl.coalesce("response", "event_id").alias("answer")
    # Mostly no two are of one result. Equal rows have equal hashes, so as many hashes as rows show it.
    if verdicts.select(pl.struct(*same[:-1], answer).hash().n_unique()).item() == verdicts.height:
        return verdicts
    has_origin = "imported_from" in verdicts.columns
    order = {
        "certainty": pl.col("evidence").replace_strict(CERTAINTY, default=-1, return_dtype=pl.Int8),
        "imported": pl.col("imported_from").is_not_null() if has_origin else pl.lit(value=False),
    }
    return (
        verdicts.with_row_index("place")
        .with_columns(answer, **order)
        .sort("certainty", "imported", "occurred_at", "place", descending=[True, False, False, False])
        .unique(same, keep="first", maintain_order=True)
        .sort("place")
        .drop("place", "answer", *order)
    )


def outcome_signals(outcomes: pl.DataFrame, covered: pl.DataFrame, evidence: pl.DataFrame) -> pl.DataFrame:
    """Return the signals of outcomes, credited to results of the project's searches.

    Each result that was used or rated helpful in a search gets one vote. If there was none, the returned
    results share one vote. An outcome does not show what caused it. So the vote counts as that of the user
    who used or rated the result, or who searched if nobody did. If the reporter did it too, the vote is the
    reporter's.

    Args:
        outcomes: rows of ``events`` of kind outcome.
        covered: of `covered_searches`: event_id of the outcome, search_id.
        evidence: of these searches: search_id, memory_id, chunk_id, searcher, searched_elsewhere (whether the
            search was imported). One row for each user who used the result or rated it helpful: used_by,
            used_at (first time) and used_elsewhere (whether imported); null if nobody did.
    """
    credited = (
        outcomes.drop("search_id", "memory_id", "chunk_id")
        .join(covered, on="event_id", how="inner")
        .join(evidence, on="search_id", how="inner")
        .with_columns(
            helped=(pl.col("used_at") <= pl.col("occurred_at")).fill_null(value=False),
            reported_elsewhere=_IMPORTED,
        )
    )
    search = ["event_id", "search_id"]
    credited = credited.filter("helped" | ~pl.col("helped").any().over(search)).with_columns(
        by=pl.when("helped").then("used_by").otherwise("searcher"),
        elsewhere=pl.when("helped").then("used_elsewhere").otherwise("searched_elsewhere"),
    )
    own = (pl.col("by") == pl.col("principal")) & (pl.col("elsewhere") == pl.col("reported_elsewhere"))
    credited = (
        credited.with_columns(own=own.fill_null(value=False))
        .sort("own", "elsewhere", "used_at", "by", descending=[True, False, False, False])
        .unique([*search, "memory_id"], keep="first", maintain_order=True)
    )
    share = pl.when("helped").then(1.0).otherwise(1.0 / pl.len().over(search))
    return credited.with_columns(
        signal_id=pl.concat_str("event_id", "search_id", "memory_id", separator=":"),
        behind=pl.when(pl.col("by") != pl.col("principal")).then("by"),
        value=pl.col("verdict").replace_strict(VALUES, return_dtype=pl.Float64),
        weight=share,
        evidence=pl.when("helped").then(pl.lit("used")).otherwise(pl.lit("shown")),
        imported=pl.col("reported_elsewhere") | pl.col("elsewhere").fill_null(value=False),
        ratio=_NUMBER,
        ratio_beyond_query=_NUMBER,
    ).select(_COLUMNS)  # fmt: skip


def covered_searches(
    outcomes: pl.DataFrame, all_outcomes: pl.DataFrame, searches: pl.DataFrame
) -> pl.DataFrame:
    """Return the searches that each outcome covers: those since the project's previous outcome.

    An outcome that follows another one without a search between corrects it, and covers the same searches.

    Args:
        outcomes: event_id, namespace, project, principal, occurred_at, imported_from.
        all_outcomes: the same columns of every outcome of these projects.
        searches: of these projects: search_id, namespace, project, occurred_at.

    Returns:
        event_id, search_id.
    """
    of, reporter = ["namespace", "project"], ["principal", "imported"]
    outcomes, all_outcomes = (rows.with_columns(imported=_IMPORTED) for rows in (outcomes, all_outcomes))
    pairs = (
        outcomes.select("event_id", *reporter, *of, ended="occurred_at")
        .join(searches.select("search_id", *of, searched="occurred_at"), on=of, how="inner")
        .filter(pl.col("searched") <= pl.col("ended"))
    )
    newest = pairs.group_by("event_id", *reporter, *of).agg(newest=pl.col("searched").max())
    earlier = (
        newest.join(all_outcomes.select(*of, *reporter, "occurred_at"), on=[*of, *reporter], how="inner")
        .filter(pl.col("occurred_at") < pl.col("newest"))
        .group_by("event_id")
        .agg(since=pl.col("occurred_at").max())
    )
    pairs = pairs.join(earlier, on="event_id", how="left")
    since_previous = pl.col("since").is_null() | (pl.col("searched") > pl.col("since"))
    return pairs.filter(since_previous).select("event_id", "search_id")
