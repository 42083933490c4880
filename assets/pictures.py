"""What the feedback assets show of the days that they made: pictures, and the numbers behind them.

Each function takes the rows that an asset has at hand, of any number of days and namespaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import dagster as dg
import polars as pl

from slowwave.assets.report import picture, table
from slowwave.views import counts, plots

Metadata = dict[str, dg.MetadataValue]


def of_events(events: pl.DataFrame, days: Sequence[str] = ()) -> Metadata:
    """Acts of feedback by tier and day.

    Args:
        events: rows of ``events``.
        days: the partitions, the quiet ones with them; default: those from the first to the last of the rows.
    """
    acts = counts.acts(events)
    by_verdict = acts.group_by("tier", "verdict").agg(pl.col("acts", "imported").sum())
    return {
        "acts of feedback": dg.MetadataValue.int(int(acts["acts"].sum())),
        "by tier and day": picture(plots.acts_by_day(acts, days), "Acts of feedback by tier and day"),
        "by verdict": table(by_verdict.sort("tier", "acts", "verdict", descending=[False, True, False])),
    }


def of_signals(signals: pl.DataFrame, days: Sequence[str] = ()) -> Metadata:
    """Which share of shown memories answers used, cited and ignored.

    Args:
        signals: rows of ``usage_signals``.
        days: as of `of_events`.
    """
    daily = counts.verdicts(signals)
    rates = counts.rates(daily)
    known = rates.drop_nulls("rate")
    told = {
        f"{what} rate": dg.MetadataValue.float(rate) for what, rate in known.select("what", "rate").rows()
    }
    return {
        **told,
        "used and ignored by day": picture(
            plots.rates_by_day(daily, days), "Shown memories used, cited and ignored by day"
        ),
        "rates (95 % interval)": table(rates),
    }


def of_effectiveness(effectiveness: pl.DataFrame) -> Metadata:
    """How effective the memories are that these days changed, as of the last day that did.

    Args:
        effectiveness: rows of ``effectiveness``, of chunks and of whole memories.
    """
    whole = counts.newest(effectiveness.filter(pl.col("chunk_id").is_null()))
    shown = counts.distribution(whole["effectiveness"])
    return {
        "memories changed": dg.MetadataValue.int(whole.height),
        "distribution": picture(plots.effectiveness(shown), "Memories by effectiveness"),
    }


def of_strength(strength: pl.DataFrame, as_of: datetime) -> Metadata:
    """What is left at `as_of` of the strength of the memories that these days changed.

    Args:
        strength: rows of ``strength``.
        as_of: aware; the end of the last day.
    """
    now = counts.strength_at(counts.newest(strength), as_of)
    return {
        "memories changed": dg.MetadataValue.int(now.len()),
        "distribution": picture(plots.strength(counts.distribution(now)), "Memories by strength"),
    }


def of_promotions(promotions: pl.DataFrame, days: Sequence[str] = ()) -> Metadata:
    """Decisions about promotion, with their reasons.

    Args:
        promotions: rows of ``promotions``.
        days: as of `of_events`.
    """
    reasons = counts.reasons(promotions)
    columns = ("day", "namespace", "memory_id", "from_tier", "to_tier", "reason", "useful", "voters")
    first = promotions.sort(counts.REASON_ORDER, "day", "memory_id", descending=[False, True, False])
    return {
        "promoted": dg.MetadataValue.int(promotions.filter(pl.col("reason") == "promoted").height),
        "by reason and day": picture(
            plots.promotions_by_day(reasons, days), "Decisions about promotion by day"
        ),
        "by reason": table(
            reasons.group_by("reason").agg(pl.col("decisions").sum()).sort(counts.REASON_ORDER, "reason")
        ),
        "decisions": table(first.select(columns)),
    }
