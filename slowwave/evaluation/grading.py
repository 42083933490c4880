"""Letting the judge grade what the searches of a day showed (rule 6.1 C)."""

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
    """Have some pairs of each day and namespace graded; what was graded before is not asked again.

    The grades are entries of the journal of that day, so evaluating the day again finds the same. Which pairs
    are drawn follows from what the day showed and what people and judges said on the days before it, so a
    rerun draws the same, and so do several days at once and one after the other. A judge that does not answer
    is not asked about the days that are left.

    Raises:
        JudgeError: the judge is not set up, or refuses every request; what was graded is kept.
        ModelError: files of the bundled cross-encoder are missing.
    """
    settings = space.settings.judge
    if settings.kind == "off" or not settings.pairs:
        return []
    shown = shown_pairs(space, days)
    if shown.is_empty():
        return []
    judge, reports, left = load_judge(space), list[JudgeReport](), settings.budget
    said, until = _judged(space, "", ""), ""
    for (day, namespace), mine in shown.sort("day", "namespace").group_by(
        "day", "namespace", maintain_order=True
    ):
        if str(day) > until:
            said, until = pl.concat([said, _judged(space, until, str(day))]), str(day)
        counts = said.group_by(PAIR).agg(judgments=pl.len())
        known = mine.join(counts, on=PAIR, how="left").with_columns(pl.col("judgments").fill_null(0))
        chosen = worth_judging(known, settings.pairs, seed=str(day))
        done = run(
            space, str(namespace), judge, list(chosen.select("query", "memory_id").iter_rows()),
            now=min(now, day_end(str(day)) - MICROSECOND), budget=left,
        )  # fmt: skip
        reports.append(done)
        left -= done.tokens
        if done.stopped == "unreachable":
            break
    return reports


def _judged(space: Workspace, since: str, before: str) -> pl.DataFrame:
    """Pairs that people and judges judged from a day on and before another; a row a judgment."""
    days = [day for day in space.journal.days([JUDGMENT])["day"].unique() if since <= day < before]
    return drain_judgments(space.journal, days).rows.select(PAIR)


def grade_anchors(space: Workspace, namespace: str, cycle: str, now: datetime) -> list[Drift]:
    """Have the judge grade its anchors once more for a cycle; how it has drifted up to then (rule 6.2).

    A judge that is off or cannot be reached grades nothing: then what is known is given.
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
    """Pairs that searches of these days showed among the first: day, pair, query, best rank, searches."""
    columns = ["day", "namespace", "search_id", "query", "shown"]
    asked = with_query_ids(space.store.scan("searches", one_of("day", days), columns=columns))
    rows = shown_rows(asked)
    by_query = asked.group_by("day", "namespace", "query_id").agg(searches=pl.len())
    pairs = (
        rows.filter(pl.col("rank") <= RANKS)
        .group_by("day", *PAIR)
        .agg(pl.col("query").min(), pl.col("rank").min())
    )
    return pairs.join(by_query, on=["day", "namespace", "query_id"])
