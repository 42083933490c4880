"""Aggregates of the feedback tables: the small frames behind reports and plots.

Every function takes rows of the tables and counts them in Polars, so that millions of rows are fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import polars as pl

from slowwave.scoring.feedback.promotion import BELOW_THRESHOLD, NOT_PROMOTABLE, PROMOTED, RATE_LIMITED
from slowwave.scoring.feedback.signals import TIERS as KIND_TIERS
from slowwave.scoring.feedback.strength import current
from slowwave.scoring.intervals import wilson

TIERS = tuple(KIND_TIERS.values())
BINS = 10  # bins from 0 to 1, so that 0.5 is the middle of one
REASONS = (PROMOTED, RATE_LIMITED, NOT_PROMOTABLE, BELOW_THRESHOLD)
REASON_ORDER = pl.col("reason").replace_strict(
    REASONS, list(range(len(REASONS))), default=len(REASONS), return_dtype=pl.Int32
)

_IMPLICIT = pl.col("tier") == "implicit"
_USED = _IMPLICIT & (pl.col("verdict") == "used")
_IGNORED = _IMPLICIT & (pl.col("verdict") == "ignored")
_UNCLEAR = _IGNORED & (pl.col("evidence").fill_null("none") == "none")
_USAGE = {
    "used": _USED,
    "cited": _USED & (pl.col("evidence") == "citation"),
    "ignored": _IGNORED & ~_UNCLEAR,
    "unclear": _UNCLEAR,
    "helpful": pl.col("verdict") == "helpful",
    "unhelpful": pl.col("verdict") == "unhelpful",
}


def acts(events: pl.DataFrame) -> pl.DataFrame:
    """Count feedback events per day, tier and verdict.

    Args:
        events: day, tier, verdict, imported_from of ``events``.

    Returns:
        day, tier, verdict (``observed`` for an observed answer), acts, imported (of them), sorted.
    """
    grouped = counted(events, "day", "tier", "verdict", "imported_from").with_columns(
        pl.col("tier").fill_null("unknown"), pl.col("verdict").replace("", None).fill_null("observed")
    )
    imported = pl.col("imported_from").fill_null("") != ""
    return (
        grouped.group_by("day", "tier", "verdict")
        .agg(acts=pl.col("rows").sum(), imported=pl.col("rows").filter(imported).sum())
        .sort("day", "tier", "verdict")
    )


def origins(events: pl.DataFrame) -> pl.DataFrame:
    """Count feedback events by origin, most first.

    Returns:
        imported_from (empty: recorded here), acts, share.
    """
    grouped = counted(events, "imported_from").with_columns(pl.col("imported_from").fill_null(""))
    return (
        grouped.group_by("imported_from")
        .agg(acts=pl.col("rows").sum())
        .with_columns(share=pl.col("acts") / max(events.height, 1))
        .sort("acts", "imported_from", descending=[True, False])
    )


def usage(signals: pl.DataFrame, by: str) -> pl.DataFrame:
    """Count uses of returned memories in answers (rule 4.1), and their ratings.

    Args:
        signals: tier, verdict, evidence of ``usage_signals``, and `by`.
        by: the column to count by.

    Returns:
        `by`, used, cited (of the used), ignored, unclear (no evidence), helpful, unhelpful; sorted.
    """
    grouped = counted(signals, by, "tier", "verdict", "evidence")
    sums = {name: pl.col("rows").filter(which).sum() for name, which in _USAGE.items()}
    return grouped.group_by(by).agg(**sums).sort(by)


def verdicts(signals: pl.DataFrame) -> pl.DataFrame:
    """Count uses of returned memories per day, of `usage`; only days with any."""
    daily = usage(signals, "day").select("day", "used", "cited", "ignored", "unclear")
    return daily.filter(pl.sum_horizontal("used", "ignored", "unclear") > 0)


def rates(daily: pl.DataFrame) -> pl.DataFrame:
    """Compute the rates used, ignored and cited, with 95 % Wilson intervals.

    Args:
        daily: `verdicts`; its days are added up. Unclear verdicts do not count.

    Returns:
        what, count, of, rate, low, high. Without verdicts the rate is null and the interval 0 to 1.
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
    """Count values in 11 bins from 0 to 1; values that are no number are left out.

    Returns:
        ``value`` (0, 0.1, … 1) and ``memories``; the first and the last bin are half as wide.
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
        value=(pl.col("step") / BINS).round(1), memories=pl.col("memories").fill_null(0)
    )


def strength_at(states: pl.DataFrame, as_of: datetime) -> pl.Series:
    """Compute the strength of memories at a time (rule 4.2).

    Args:
        states: strength, stability (seconds), last_at. The result is NaN where one is missing or the
            stability is not above 0.
        as_of: aware.
    """
    stability = pl.col("stability").cast(pl.Float64)
    numbers = states.select(
        pl.col("strength").cast(pl.Float64),
        pl.when(stability > 0).then(stability).alias("stability"),
        elapsed=(pl.lit(as_of) - pl.col("last_at")).dt.total_microseconds() / 1e6,
    ).fill_null(float("nan"))
    strengths = current(*(numbers[name].to_numpy() for name in ("strength", "stability", "elapsed")))
    return pl.Series(strengths, dtype=pl.Float64)


def newest(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the last row of each memory, of rows that have a day."""
    return rows.sort("day").unique("memory_id", keep="last", maintain_order=True)


def reasons(promotions: pl.DataFrame) -> pl.DataFrame:
    """Count promotion decisions per day and reason, promoted first: day, reason, decisions."""
    counted = promotions.group_by("day", "reason").agg(decisions=pl.len().cast(pl.Int64))
    return counted.sort("day", REASON_ORDER, "reason")


def pivoted(counted: pl.DataFrame, column: str, count: str, first: Sequence[str] = ()) -> pl.DataFrame:
    """Pivot counts: a column per value of `column`, a row per day; values in `first` come first."""
    values = counted[column].drop_nulls().unique().sort().to_list()
    order = [name for name in first if name in values] + [name for name in values if name not in first]
    sums = [pl.col(count).filter(pl.col(column) == name).sum().alias(name) for name in order]
    return counted.group_by("day").agg(sums).sort("day")


def counted(rows: pl.DataFrame, *columns: str | pl.Expr) -> pl.DataFrame:
    """Count rows of each kind. Done first, because millions of texts are slow to compare.

    Args:
        rows: single rows, or counted ones with a column ``rows``.
        columns: that make a kind.
    """
    many = pl.col("rows").sum() if "rows" in rows.columns else pl.len().cast(pl.Int64)
    return rows.group_by(columns).agg(rows=many)
