"""Pictures in the metadata of feedback assets, and the numbers behind them.

Each function takes rows that an asset has at hand, of any number of days and namespaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import dagster as dg
import polars as pl

from slowwave.assets.report import glance, picture, table
from slowwave.views import counts, plots, sparklines

Metadata = dict[str, dg.MetadataValue]
DAYS = 31
"""Maximum days of a tiny chart, the latest (count)."""
GLANCE = "at a glance"
"""Metadata label of the chart that Dagster's UI shows without a click."""


def of_events(events: pl.DataFrame, days: Sequence[str] = ()) -> Metadata:
    """Plot feedback events by tier and day.

    Args:
        events: Rows of ``events``.
        days: Partitions, also those without rows; default: from the first to the last day of the rows.
    """
    acts = counts.acts(events)
    by_verdict = acts.group_by("tier", "verdict").agg(pl.col("acts", "imported").sum())
    return {
        **_by_day(acts, "acts", days, "Feedback events by day"),
        "feedback events": dg.MetadataValue.int(int(acts["acts"].sum())),
        "by tier and day": picture(plots.acts_by_day(acts, days), "Feedback events by tier and day"),
        "by verdict": table(by_verdict.sort("tier", "acts", "verdict", descending=[False, True, False])),
    }


def of_signals(signals: pl.DataFrame, days: Sequence[str] = ()) -> Metadata:
    """Plot the share of returned memories that answers used, cited and ignored.

    Args:
        signals: Rows of ``usage_signals``.
        days: As in `of_events`.
    """
    daily = counts.verdicts(signals)
    rates = counts.rates(daily)
    known = rates.drop_nulls("rate")
    means = {
        f"{what} rate": dg.MetadataValue.float(rate) for what, rate in known.select("what", "rate").rows()
    }
    return {
        **means,
        "used and ignored by day": picture(
            plots.rates_by_day(daily, days), "Returned memories used, cited and ignored by day"
        ),
        "rates (95 % interval)": table(rates),
    }


def of_effectiveness(effectiveness: pl.DataFrame) -> Metadata:
    """Plot the effectiveness of memories that changed on these days, after the last change.

    Args:
        effectiveness: Rows of ``effectiveness``, of chunks and of whole memories.
    """
    whole = counts.newest(effectiveness.filter(pl.col("chunk_id").is_null()))
    shown = counts.distribution(whole["effectiveness"])
    return {
        **_distribution(shown, "Memories by effectiveness"),
        "memories changed": dg.MetadataValue.int(whole.height),
        "distribution": picture(plots.effectiveness(shown), "Memories by effectiveness"),
    }


def of_strength(strength: pl.DataFrame, as_of: datetime) -> Metadata:
    """Plot the strength at `as_of` of the memories that changed on these days.

    Args:
        strength: Rows of ``strength``.
        as_of: Aware; the end of the last day.
    """
    now = counts.strength_at(counts.newest(strength), as_of)
    shown = counts.distribution(now)
    return {
        **_distribution(shown, "Memories by strength"),
        "memories changed": dg.MetadataValue.int(now.len()),
        "distribution": picture(plots.strength(shown), "Memories by strength"),
    }


def of_promotions(promotions: pl.DataFrame, days: Sequence[str] = ()) -> Metadata:
    """Plot promotion decisions, with their reasons.

    Args:
        promotions: Rows of ``promotions``.
        days: As in `of_events`.
    """
    reasons = counts.reasons(promotions)
    columns = ("day", "namespace", "memory_id", "from_tier", "to_tier", "reason", "useful", "voters")
    first = promotions.sort(counts.REASON_ORDER, "day", "memory_id", descending=[False, True, False])
    return {
        **_by_day(reasons, "decisions", days, "Promotion decisions by day"),
        "promoted": dg.MetadataValue.int(promotions.filter(pl.col("reason") == "promoted").height),
        "by reason and day": picture(plots.promotions_by_day(reasons, days), "Promotion decisions by day"),
        "by reason": table(
            reasons.group_by("reason").agg(pl.col("decisions").sum()).sort(counts.REASON_ORDER, "reason")
        ),
        "decisions": table(first.select(columns)),
    }


def _distribution(shown: pl.DataFrame, alt: str) -> Metadata:
    """Return the tiny chart of a distribution over 0 to 1; none without memories."""
    memories = shown["memories"].to_list()
    return glance(GLANCE, sparklines.bars(memories, "0", "1"), alt) if any(memories) else {}


def _by_day(rows: pl.DataFrame, column: str, days: Sequence[str], alt: str) -> Metadata:
    """Return the tiny chart of counts by day; none of a single day, which has its number."""
    by_day = dict(rows.group_by("day").agg(pl.col(column).sum()).iter_rows())
    shown = sorted({*days, *by_day})[-DAYS:]
    if len(shown) < 2 or not any(by_day.values()):
        return {}
    return glance(GLANCE, sparklines.bars([by_day.get(day, 0) for day in shown], shown[0], shown[-1]), alt)
