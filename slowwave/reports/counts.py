"""What the tables of feedback come to: the small frames that reports and pictures are made of.

Every function takes rows as the tables hold them and counts them in Polars, so millions are no trouble.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import polars as pl

from scoring.intervals import wilson

TIERS = ("implicit", "quick", "detailed")
BINS = 10  # steps from 0 to 1, so that .5 lies in the middle of one
REASONS = ("promoted", "rate_limited", "tier_not_promotable", "below_threshold")
REASON_ORDER = pl.col("reason").replace_strict(
    REASONS, list(range(len(REASONS))), default=len(REASONS), return_dtype=pl.Int32
)

_IMPLICIT = pl.col("tier") == "implicit"
_USED = _IMPLICIT & (pl.col("verdict") == "used")
_IGNORED = _IMPLICIT & (pl.col("verdict") == "ignored")
_UNCLEAR = _IGNORED & (pl.col("evidence").fill_null("none") == "none")
USAGE = {
    name: which.sum().cast(pl.Int64)
    for name, which in {
        "used": _USED,
        "cited": _USED & (pl.col("evidence") == "citation"),
        "ignored": _IGNORED & ~_UNCLEAR,
        "unclear": _UNCLEAR,
    }.items()
}
"""Counts of what became of shown memories, of rows of ``usage_signals`` (rule 4.1)."""


def acts(events: pl.DataFrame) -> pl.DataFrame:
    """Acts of feedback per day, tier and verdict.

    Args:
        events: day, tier, verdict, imported_from of ``events``.

    Returns:
        day, tier, verdict (``observed`` of an answer that was looked at), acts, imported (of them), sorted.
    """
    return (
        events.with_columns(
            pl.col("tier").fill_null("unknown"), pl.col("verdict").replace("", None).fill_null("observed")
        )
        .group_by("day", "tier", "verdict")
        .agg(acts=pl.len().cast(pl.Int64), imported=_given("imported_from").sum().cast(pl.Int64))
        .sort("day", "tier", "verdict")
    )


def verdicts(signals: pl.DataFrame) -> pl.DataFrame:
    """What became of results in the answers that were looked at, per day (rule 4.1).

    Args:
        signals: day, tier, verdict, evidence of ``usage_signals``.

    Returns:
        day, used, cited (of the used), ignored, unclear (nothing to judge by), sorted by day.
    """
    return signals.filter(_IMPLICIT).group_by("day").agg(**USAGE).sort("day")


def rates(daily: pl.DataFrame) -> pl.DataFrame:
    """Used, ignored and cited of all that could be told, with 95 % Wilson intervals.

    Args:
        daily: `verdicts`; its days are added up.

    Returns:
        what, count, of, rate, low, high; a rate of nothing is null, between 0 and 1.
    """
    of = int(daily["used"].sum()) + int(daily["ignored"].sum())
    rows = []
    for what in ("used", "ignored", "cited"):
        count = int(daily[what].sum())
        rows.append((what, count, of, count / of if of else None, *wilson(count, of)))
    schema = {"what": pl.String, "count": pl.Int64, "of": pl.Int64}
    schema |= dict.fromkeys(("rate", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def distribution(values: pl.Series) -> pl.DataFrame:
    """How many of the values lie about each tenth from 0 to 1; what is no number is left out.

    Returns:
        ``value`` (0, .1, … 1) and ``memories``; the first and the last step are half as wide.
    """
    steps = pl.DataFrame({"step": range(BINS + 1)}, schema={"step": pl.Int32})
    finite = values.cast(pl.Float64).drop_nulls()
    finite = finite.filter(finite.is_finite())
    counted = (
        pl.DataFrame({"step": (finite.clip(0.0, 1.0) * BINS + 0.5).floor().cast(pl.Int32)})
        .group_by("step")
        .agg(memories=pl.len().cast(pl.Int64))
    )
    return steps.join(counted, on="step", how="left", maintain_order="left").select(
        value=pl.col("step") / BINS, memories=pl.col("memories").fill_null(0)
    )


def strength_at(as_of: datetime) -> pl.Expr:
    """What is left of a memory's strength (rule 4.2), from its columns strength, stability (s), last_at.

    Null where one of them is missing or the stability is not above 0.
    """
    passed = (pl.lit(as_of) - pl.col("last_at")).dt.total_microseconds().clip(lower_bound=0) / 1e6
    left = pl.col("strength") * (-passed / pl.col("stability")).exp()
    return pl.when(pl.col("stability") > 0).then(left)


def newest(rows: pl.DataFrame) -> pl.DataFrame:
    """The last row of each memory, of rows that have a day."""
    return rows.sort("day").unique("memory_id", keep="last", maintain_order=True)


def reasons(promotions: pl.DataFrame) -> pl.DataFrame:
    """Decisions about promotion per day and reason: day, reason, decisions; those that promoted first."""
    counted = promotions.group_by("day", "reason").agg(decisions=pl.len().cast(pl.Int64))
    return counted.sort("day", REASON_ORDER, "reason")


def pivoted(counted: pl.DataFrame, column: str, count: str, first: Sequence[str] = ()) -> pl.DataFrame:
    """A column of counts per value of `column`, a row per day; the values in `first` come first."""
    found = counted[column].drop_nulls().unique().sort().to_list()
    order = [name for name in first if name in found] + [name for name in found if name not in first]
    sums = [pl.col(count).filter(pl.col(column) == name).sum().alias(name) for name in order]
    return counted.group_by("day").agg(sums).sort("day")


def _given(column: str) -> pl.Expr:
    return pl.col(column).fill_null("") != ""
