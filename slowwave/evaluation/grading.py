"""Nightly grading of returned results by the judge (rule 6.1 C)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.errors import ModelError
from slowwave.evaluation.judging.active_sampling import RANKS
from slowwave.evaluation.judging.anchors import Drift, drift, judge_again
from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.evaluation.judging.judge_run import run
from slowwave.evaluation.judging.loading import load_judge
from slowwave.evaluation.judging.model import JudgeError
from slowwave.evaluation.judging.run_judge import JudgeReport
from slowwave.feedback.questions import with_query_ids
from slowwave.journal.entry import JUDGMENT
from slowwave.journal.kinds.search import shown_rows
from slowwave.scoring.days import MICROSECOND, day_end
from slowwave.scoring.evaluation import worth_judging
from slowwave.scoring.evaluation.judgments import PAIR
from slowwave.store.frames import one_of

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def grade_days(space: Workspace, days: Sequence[str], now: datetime) -> list[JudgeReport]:
    """Have the judge grade some pairs of each day and namespace.

    Grades are journal entries of that day, so re-evaluating the day gives the same. The drawn pairs depend on
    the day's results and on judgments of earlier days. So reruns draw the same pairs, whether days run
    together or one by one. If the judge does not answer, the remaining days are skipped.

    Raises:
        JudgeError: the judge is not set up, or refuses every request; earlier grades are kept.
        ModelError: files of the bundled cross-encoder are missing.
    """
    settings = space.settings.judge
    if settings.kind == "off" or not settings.pairs:
        return []
    shown = shown_pairs(space, days)
    if shown.is_empty():
        return []
    judge, reports, remaining_budget = load_judge(space), list[JudgeReport](), settings.budget
    judged, until = _judged(space, "", ""), ""
    for (day, namespace), day_pairs in shown.sort("day", "namespace").group_by(
        "day", "namespace", maintain_order=True
    ):
        if str(day) > until:
            judged, until = pl.concat([judged, _judged(space, until, str(day))]), str(day)
        counts = judged.group_by(PAIR).agg(judgments=pl.len())
        with_counts = day_pairs.join(counts, on=PAIR, how="left").with_columns(
            pl.col("judgments").fill_null(0)
        )
        drawn = worth_judging(with_counts, settings.pairs, seed=str(day))
        report = run(
            space, str(namespace), judge, list(drawn.select("query", "memory_id").iter_rows()),
            now=min(now, day_end(str(day)) - MICROSECOND), budget=remaining_budget,
        )  # fmt: skip
        reports.append(report)
        remaining_budget -= report.tokens
        if report.stopped == "unreachable":
            break
    return reports


def _judged(space: Workspace, since: str, before: str) -> pl.DataFrame:
    """Return pairs judged from a day on and before another; a row per judgment."""
    days = [day for day in space.journal.days([JUDGMENT])["day"].unique() if since <= day < before]
    return drain_judgments(space.journal, days).rows.select(PAIR)


def grade_anchors(space: Workspace, namespace: str, cycle: str, now: datetime) -> list[Drift]:
    """Have the judge grade its anchors for a cycle, and return its drift (rule 6.2).

    The result is empty if the judge is off or cannot be loaded. If it does not answer, it is the drift so
    far.
    """
    settings = space.settings.judge
    if settings.kind == "off" or not settings.anchors:
        return []
    try:
        judge = load_judge(space)
        judge_again(space.journal, namespace, judge, cycle, now=now, budget=settings.budget)
    except (JudgeError, ModelError):
        return []
    return drift(space.journal, namespace, judge.name)


def shown_pairs(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Return pairs in the top results of these days: day, pair, query, best rank, searches."""
    columns = ["day", "namespace", "search_id", "query", "shown"]
    searches = with_query_ids(space.store.scan("searches", one_of("day", days), columns=columns))
    rows = shown_rows(searches)
    by_query = searches.group_by("day", "namespace", "query_id").agg(searches=pl.len())
    pairs = (
        rows.filter(pl.col("rank") <= RANKS)
        .group_by("day", *PAIR)
        .agg(pl.col("query").min(), pl.col("rank").min())
    )
    return pairs.join(by_query, on=["day", "namespace", "query_id"])
