"""searches, interleavings, learned_effect -> is it getting better, by week: sentence, picture, numbers."""

from datetime import date
from typing import Any

import dagster as dg
import polars as pl

from slowwave.assets import evaluation, feedback, learning, overview
from slowwave.assets.daily import whole_asset
from slowwave.assets.report import picture
from slowwave.assets.resources import SlowwaveResource
from slowwave.evaluation.trend import Trend, trend_until
from slowwave.scoring.days import DAY, MICROSECOND
from slowwave.scoring.evaluation.trend import FIGURES
from slowwave.views import markdown
from slowwave.views.trend import comparisons, sentences, week_table
from slowwave.views.trend_plots import by_week

MOST = 5
"""Namespaces that are told of, those with the most judged searches (count)."""


@whole_asset(
    overview.GROUP, feedback.searches, evaluation.interleavings, learning.learned_effect,
    kinds={"python", "polars"},
    rules=("scoring/evaluation/trend.py", "scoring/evaluation/unused_baseline.py", "evaluation/trend.py"),
)  # fmt: skip
def trend(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Is it getting better, week by week: hit rate at 1 and MRR@5 without what was learned and with it.

    It has no days: each run tells how it is by then. The numbers are those of the last week that is over, so
    the page draws their history; a week with too few questions gives none. It makes no table: the warehouse
    has one.
    """
    now = slowwave.clock()
    found, week = trend_until(slowwave.space, now - MICROSECOND), now.date() - (7 + now.weekday()) * DAY
    judged = found.weeks.group_by("namespace").agg(pl.col("measured").sum()).filter(pl.col("measured") > 0)
    names = judged.sort("measured", "namespace", descending=[True, False])["namespace"]
    told: dict[str, Any] = {"namespaces": names.len()}
    for namespace in names.head(MOST):
        told |= _of(namespace, found.of(namespace), week)
    return dg.MaterializeResult(metadata=told)


def _of(namespace: str, mine: Trend, week: date) -> dict[str, Any]:
    """What is told of a namespace, of each kind of what is learned where there are several.

    Args:
        namespace: its name.
        mine: its weeks.
        week: the one whose numbers are told; nothing older is told in its place.
    """
    kinds = mine.kinds()
    told: dict[str, Any] = {f"{namespace}: is it getting better": " ".join(sentences(mine))}
    if compared := comparisons(mine):
        told[f"{namespace}: beside a memory nobody used"] = ". ".join(compared)
    for kind, weeks in kinds.items():
        name = namespace if len(kinds) == 1 else f"{namespace}, {kind}"
        told |= {
            f"{name}: by week": picture(by_week(weeks), f"Is it getting better: {name}"),
            f"{name}: weeks": dg.MetadataValue.md(markdown.table(week_table(weeks))),
        }
        for row in weeks.filter(week=week).iter_rows(named=True):
            told |= {f"{name}: {what}": value for what, value in _of_week(row).items()}
    return told


def _of_week(row: dict[str, Any]) -> dict[str, dg.MetadataValue]:
    """The numbers of a week, those that it has."""
    found = {"changed of judged": row["changed_of_measured"]}
    found |= {name: float(row[name]) for name in ("questions", "applied", "wins", "losses")}
    for one in FIGURES:
        found |= {f"{one} without": row[one.column], f"{one} with": row[f"{one.column}_learned"]}
    numbers = {name: dg.MetadataValue.float(value) for name, value in found.items() if value is not None}
    return {"week": dg.MetadataValue.text(f"{row['week']}"), **numbers}


ASSETS = [trend]
