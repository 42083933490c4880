"""Letting the judge grade what the searches of a day showed (rule 6.1 C)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import polars as pl

from scoring.evaluation import worth_judging
from slowwave.evaluation.truth import with_query_ids
from slowwave.judging.loading import load_judge
from slowwave.judging.running import JudgeReport, run
from slowwave.store.frames import one_of

if TYPE_CHECKING:
    from slowwave.workspace import Workspace

RANKS = 10  # of a search that are worth a grade (count)
_PAIR = ["namespace", "query_id", "memory_id"]


def grade_days(space: Workspace, days: Sequence[str], now: datetime) -> list[JudgeReport]:
    """Have some pairs of each day and namespace graded; what was graded before is not asked again.

    The grades are entries of the journal of that day, so evaluating the day again finds the same.

    Raises:
        JudgeError: the judge refuses every request; what was graded is kept.
    """
    settings = space.settings.judge
    if settings.kind == "off" or not settings.pairs:
        return []
    shown = shown_pairs(space, days)
    if shown.is_empty():
        return []
    judge, reports, left = load_judge(space), list[JudgeReport](), settings.budget
    said = space.store.scan("judgments", columns=[*_PAIR, "judgment_id"])
    counts = said.group_by(_PAIR).agg(judgments=pl.len())
    for (day, namespace), mine in shown.sort("day", "namespace").group_by(
        "day", "namespace", maintain_order=True
    ):
        known = mine.join(counts, on=_PAIR, how="left").with_columns(pl.col("judgments").fill_null(0))
        chosen = worth_judging(known, settings.pairs, seed=str(day))
        end = datetime.combine(date.fromisoformat(str(day)), time(), UTC) + timedelta(days=1)
        done = run(
            space, str(namespace), judge, list(chosen.select("query", "memory_id").iter_rows()),
            now=min(now, end - timedelta(microseconds=1)), budget=left,
        )  # fmt: skip
        reports.append(done)
        left -= done.tokens
    return reports


def shown_pairs(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Pairs that searches of these days showed among the first: day, pair, query, best rank, searches."""
    columns = ["day", "namespace", "search_id", "query", "shown"]
    asked = with_query_ids(space.store.scan("searches", one_of("day", days), columns=columns))
    rows = asked.explode("shown").filter(pl.col("shown").is_not_null()).with_columns(
        memory_id=pl.col("shown").struct["memory_id"], rank=pl.col("shown").struct["rank"]
    )  # fmt: skip
    by_query = asked.group_by("day", "namespace", "query_id").agg(searches=pl.len())
    pairs = (
        rows.filter(pl.col("rank") <= RANKS)
        .group_by("day", *_PAIR)
        .agg(pl.col("query").min(), pl.col("rank").min())
    )
    return pairs.join(by_query, on=["day", "namespace", "query_id"])
