"""Weekly trend of quality: searches, interleavings, learned_effect -> sentence, picture, numbers."""

from datetime import date
from typing import Any

import dagster as dg
import polars as pl

from slowwave.assets import evaluation, feedback, learning, overview
from slowwave.assets.daily import whole_asset
from slowwave.assets.report import glance, page_link, picture
from slowwave.assets.resources import SlowwaveResource
from slowwave.evaluation.trend import Trend, trend_until
from slowwave.scoring.days import DAY, MICROSECOND
from slowwave.scoring.evaluation.trend import FIGURES
from slowwave.scoring.measures import MRR
from slowwave.views import markdown, sparklines
from slowwave.views.trend import comparisons, kinds_to_plot, sentences, unused_weeks, week_table
from slowwave.views.trend_plots import by_week

WEEKS = 20
"""Weeks of the chart that Dagster's UI shows without a click (count)."""
MAX_NAMESPACES = 5
"""Maximum namespaces reported, those with the most judged searches (count)."""


@whole_asset(
    overview.GROUP, feedback.searches, evaluation.interleavings, learning.learned_effect,
    kinds={"python", "polars"},
    rules=("scoring/evaluation/trend.py", "scoring/evaluation/unused_baseline.py", "evaluation/trend.py"),
)  # fmt: skip
def trend(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Weekly trend: hit rate at 1 and MRR@5 without and with what was learned.

    Not partitioned: each run reports the trend up to now. Dagster plots the history of the latest complete
    week; a week with too few questions has no numbers. The asset writes no table: the warehouse has one.
    """
    now = slowwave.clock()
    result, week = trend_until(slowwave.space, now - MICROSECOND), now.date() - (7 + now.weekday()) * DAY
    judged = result.weeks.group_by("namespace").agg(pl.col("measured").sum()).filter(pl.col("measured") > 0)
    names = judged.sort("measured", "namespace", descending=[True, False])["namespace"]
    metadata: dict[str, Any] = {"namespaces": names.len(), **page_link(slowwave.space.settings, "/trend")}
    for namespace in names.head(MAX_NAMESPACES):
        metadata |= _namespace_metadata(namespace, result.of(namespace), week)
    return dg.MaterializeResult(metadata=metadata)


def _namespace_metadata(namespace: str, own_trend: Trend, week: date) -> dict[str, Any]:
    """Return the metadata of a namespace, per kind of learning where there are several.

    Args:
        namespace: Its name.
        own_trend: Its weeks.
        week: Week whose numbers are reported; an older week does not replace it.
    """
    kinds = own_trend.kinds()
    metadata: dict[str, Any] = {
        **_glance(namespace, own_trend),
        f"{namespace}: trend": ". ".join(sentences(own_trend)),
    }
    if compared := comparisons(own_trend):
        metadata[f"{namespace}: compared with a memory nobody used"] = ". ".join(compared)
    for kind, weeks in kinds.items():
        name = namespace if len(kinds) == 1 else f"{namespace}, {kind}"
        metadata |= {
            f"{name}: by week": picture(by_week(weeks), f"Weekly trend: {name}"),
            f"{name}: weeks": dg.MetadataValue.md(markdown.table(week_table(weeks))),
        }
        for row in weeks.filter(week=week).iter_rows(named=True):
            metadata |= {f"{name}: {what}": value for what, value in _of_week(row).items()}
    return metadata


def _glance(namespace: str, own_trend: Trend) -> dict[str, dg.MetadataValue]:
    """Return the tiny chart of a namespace: MRR@5 with and without all use, else one kind of learning."""
    kinds, weeks = own_trend.kinds(), unused_weeks(own_trend)
    shown = kinds_to_plot(own_trend)
    if weeks is None and shown:
        weeks = kinds[shown[0]]
    if weeks is None:
        return {}
    weeks = weeks.sort("week").tail(WEEKS)
    image = sparklines.lines(
        weeks[f"{MRR.column}_learned"].to_list(), weeks[MRR.column].to_list(),
        f"{weeks['week'][0]}", f"{weeks['week'][-1]}", f"{MRR}; grey: without use",
    )  # fmt: skip
    return glance(f"{namespace}: at a glance", image, f"{MRR} by week")


def _of_week(row: dict[str, Any]) -> dict[str, dg.MetadataValue]:
    """Return the numbers of a week, without missing ones."""
    values = {"changed of judged": row["changed_of_measured"]}
    values |= {name: float(row[name]) for name in ("questions", "applied", "wins", "losses")}
    for measure in FIGURES:
        values |= {
            f"{measure} without": row[measure.column],
            f"{measure} with": row[f"{measure.column}_learned"],
        }
    numbers = {name: dg.MetadataValue.float(value) for name, value in values.items() if value is not None}
    return {"week": dg.MetadataValue.text(f"{row['week']}"), **numbers}


ASSETS = [trend]
