"""Weekly trend of search quality, with and without what was learned (rule 6.6).

A week is an ISO 8601 week, Monday to Sunday, in UTC. Its row depends on that week only, without smoothing. A
week with fewer than `LEAST_QUESTIONS` distinct measured questions has no figures. Bootstrap intervals draw
questions, since repeats of a question are no further evidence (rule 7.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Floats
from slowwave.scoring.days import MICROSECOND
from slowwave.scoring.evaluation.comparison import LEAST_QUERIES, TIE
from slowwave.scoring.evaluation.resampling import mean, percentiles, ratio, resampled_totals
from slowwave.scoring.feedback.learned import RATINGS, USE
from slowwave.scoring.measures import MRR, Measure

LEAST_QUESTIONS = LEAST_QUERIES
"""Minimum distinct questions for a figure (count)."""
MAX_WEEKS = 4
"""Maximum weeks compared at the beginning and at the end (count)."""
HIT = Measure("hit_rate", 1)
FIGURES = (HIT, MRR)
"""Metrics of a week."""

_COUNTS = ("searches", "measured", "questions", "applied", "changed", "would_change")
_WON = ("wins", "ties", "losses")
_SHARES = ("changed_of_measured", "changed_of_all")
_ABOUT = ("namespace", "kind", "week")
COLUMNS: dict[str, type[pl.DataType]] = {
    "namespace": pl.String, "kind": pl.String, "week": pl.Date, "over": pl.Boolean,
    **dict.fromkeys(_COUNTS, pl.Int64), **dict.fromkeys(_SHARES, pl.Float64),
    **{f"{one.column}{part}": pl.Float64 for one in FIGURES
       for part in ("", "_learned", "_difference", "_low", "_high")},
    **dict.fromkeys(_WON, pl.Int64),
}  # fmt: skip
"""Columns of a week's row."""
Direction = Literal["better", "worse", "no sure change", "too little evidence"]


def trend(
    effect: pl.DataFrame,
    searches: pl.DataFrame,
    interleavings: pl.DataFrame,
    as_of: datetime,
    *,
    least: int = LEAST_QUESTIONS,
) -> pl.DataFrame:
    """Compute the figures of each week with searches or feedback.

    Args:
        effect: one row a judged search: ``namespace``, ``kind`` (of learning), ``day`` (YYYY-MM-DD),
            ``search_id``, ``query_id``, ``moved``, ``live``, ``mrr_5`` without what was learned, and
            ``mrr_5_learned`` with it.
        searches: one row a search, judged or not: ``namespace``, ``day``.
        interleavings: one row a search with interleaved results of the ranking with what was learned (a) and
            without it (b): ``namespace``, ``kind``, ``day`` (of the first verdict), ``credit_a``,
            ``credit_b``.
        as_of: aware; a week that is not over by then is marked.
        least: minimum distinct questions of a week with figures.

    Returns:
        `COLUMNS`, by namespace, kind and week (its Monday). Counts: ``searches``, the ``measured`` ones and
        their distinct ``questions``. Of the measured: ``applied``, those with something learned in effect;
        ``changed``, those whose results it changed; ``would_change``, those whose results it would change if
        applied. Shares: ``changed_of_measured`` and ``changed_of_all``, null without any. For each of
        `FIGURES`: the mean over questions without and with what was learned, their difference, and its 95 %
        interval; null with too few questions. ``wins``: searches in which the results with what was learned
        were used more; ``ties``, ``losses``. A week without measurements has the kind ``""``.
    """
    effect, searches, shown = (_in_weeks(rows) for rows in (effect, searches, interleavings))
    counted = effect.group_by(_ABOUT).agg(
        measured=pl.len(),
        questions=pl.col("query_id").n_unique(),
        applied=pl.col("live").sum(),
        changed=(pl.col("live") & pl.col("moved")).sum(),
        would_change=(~pl.col("live") & pl.col("moved")).sum(),
    )
    more = pl.col("credit_a") - pl.col("credit_b")
    won = shown.group_by(_ABOUT).agg(wins=(more > 0).sum(), ties=(more == 0).sum(), losses=(more < 0).sum())
    searches_by_week = searches.group_by("namespace", "week").agg(searches=pl.len())
    measured_weeks = pl.concat([counted.select(_ABOUT), won.select(_ABOUT)]).unique()
    unmeasured = searches_by_week.join(measured_weeks, on=["namespace", "week"], how="anti").with_columns(
        kind=pl.lit("")
    )
    rows = (
        pl.concat([measured_weeks, unmeasured.select(_ABOUT)])
        .join(counted, on=_ABOUT, how="left")
        .join(won, on=_ABOUT, how="left")
        .join(searches_by_week, on=["namespace", "week"], how="left")
        .join(_figures(effect, least), on=_ABOUT, how="left")
        .with_columns(pl.col(*_COUNTS, *_WON).fill_null(0))
        .with_columns(
            over=pl.col("week") + pl.duration(days=7) <= (as_of + MICROSECOND).date(),
            changed_of_measured=_share("measured"),
            changed_of_all=_share("searches"),
        )
    )
    return rows.select(pl.col(name).cast(kind) for name, kind in COLUMNS.items()).sort(_ABOUT)


@dataclass(frozen=True, slots=True)
class Course:
    """Comparison of the last weeks with the first: MRR@5 of served rankings.

    The served ranking includes what was learned if that was applied. Only complete weeks with measurements
    count. The questions of the last weeks may differ from those of the first.

    Attributes:
        kind: kind of learning.
        weeks: weeks with measurements, the current one included (count).
        questions: distinct questions in them (count).
        span: first weeks, and last weeks, that are compared (count); 0 with fewer than two complete ones.
        since: Monday of the first week; None without one.
        least: minimum questions of the first weeks, and of the last.
        first_questions: distinct questions of the first weeks (count).
        last_questions: distinct questions of the last weeks (count).
        first: mean over the questions of the first weeks; NaN without any, as the following.
        last: mean over the questions of the last weeks.
        difference: last minus first.
        low: lower end of its 95 % interval.
        high: upper end.
        applied: searches of the last weeks with something learned in effect (count).
        learned: effect of what was learned on `last`: served minus without it, on the same searches.
        learned_low: lower end of its 95 % interval.
        learned_high: upper end.
    """

    namespace: str
    kind: str
    weeks: int
    questions: int
    span: int
    since: date | None
    least: int
    first_questions: int
    last_questions: int
    first: float
    last: float
    difference: float
    low: float
    high: float
    applied: int
    learned: float
    learned_low: float
    learned_high: float

    @property
    def direction(self) -> Direction:
        """Return the direction: *better* or *worse* only if the interval excludes 0."""
        if not self.span or min(self.first_questions, self.last_questions) < self.least:
            return "too little evidence"
        if self.low > TIE:
            return "better"
        return "worse" if self.high < -TIE else "no sure change"

    def describe(self, *, named: bool = False) -> str:
        """Describe the result in a sentence.

        Args:
            named: whether to name the kind of learning.
        """
        if self.direction == "too little evidence":
            of = f" of {self.kind}" if named else ""
            seen = f"{_counted(self.questions, 'question')} in {_counted(self.weeks, 'week')}"
            return f"too little evidence{of}: {seen}{self._lacking()}"
        assert self.since is not None
        since = f"since {self.since.day} {self.since:%B %Y}"
        figures = (
            f"{MRR} {short(self.first)} in the first {self._span()}, {short(self.last)} in the last "
            f"{self._span()}"
        )
        if self.direction == "no sure change":
            by = f"{signed(self.difference)} ({signed(self.low)} to {signed(self.high)})"
            return f"no sure change {since}: {figures}, {by}; {self._share(named)}"
        ends = sorted((abs(self.low), abs(self.high)))
        by = f"{short(abs(self.difference))} ({short(ends[0])} to {short(ends[1])})"
        subject = "searches became " if named else ""
        return f"{subject}{self.direction} by {by} {since}: {figures}; {self._share(named)}"

    def _span(self) -> str:
        return "week" if self.span == 1 else f"{self.span} weeks"

    def _lacking(self) -> str:
        if not self.span:
            return f"; it takes two weeks that are over, each with {self.least} questions"
        return (
            f", {self.first_questions:,} in the first {self._span()} and {self.last_questions:,} in the last "
            f"{self._span()}; it takes {self.least} in each"
        )

    def _share(self, named: bool) -> str:
        of = f" of {self.kind}" if named else ""
        part = (
            f"{signed(self.learned)} ({signed(self.learned_low)} to {signed(self.learned_high)}) of the last"
        )
        if self.kind == RATINGS:
            return f"ratings made {part}"
        if self.kind == USE:
            return f"all use together, beside a memory nobody used, made {part}"
        if not self.applied:
            return f"nothing that was learned{of} was applied in the last {self._span()}"
        return f"what was learned{of} makes {part}"


def course(effect: pl.DataFrame, as_of: datetime, *, least: int = LEAST_QUESTIONS) -> list[Course]:
    """Compare the last weeks with the first, for each namespace and kind of learning.

    The first weeks are at most half of the complete weeks with measurements, and at most `MAX_WEEKS`; as many
    are the last ones. The interval of the difference is a percentile bootstrap over questions: a question of
    both is drawn for both.

    Args:
        effect: as of `trend`.
        as_of: aware; a week that is not over by then is not compared.
        least: minimum distinct questions of the first weeks, and of the last.
    """
    rows = _in_weeks(effect)
    kinds_of_namespaces = rows.select("namespace", "kind").unique().sort("namespace", "kind")
    return [
        _course(rows.filter(namespace=namespace, kind=kind), as_of, least)
        for namespace, kind in kinds_of_namespaces.iter_rows()
    ]


def short(value: float) -> str:
    """Format a figure between 0 and 1: .036."""
    return f"{round(value, 3) + 0.0:.3f}".replace("0.", ".", 1).replace("-", "−")


def signed(value: float) -> str:
    """Format a difference of such figures with its sign: +.036."""
    text = short(value)
    return text if text.startswith("−") or not text.strip(".0") else f"+{text}"


# -- parts -----------------------------------------------------------------------------------------


def _in_weeks(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the Monday of each row's week and sort by all columns."""
    week = pl.col("day").str.to_date().dt.truncate("1w")
    return rows.with_columns(week=week).sort(pl.all())


def _share(of: str) -> pl.Expr:
    return pl.when(pl.col(of) > 0).then(pl.col("changed") / pl.col(of))


def _by_question(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Average each figure over the searches of a question.

    The figures are without what was learned, with it, and as served.
    """
    first = {f"{HIT.column}{end}": (pl.col(f"{MRR.column}{end}") >= 1 - TIE).cast(pl.Float64)
             for end in ("", "_learned")}  # fmt: skip
    served = pl.when("live").then(f"{MRR.column}_learned").otherwise(MRR.column)
    names = [f"{measure.column}{end}" for measure in FIGURES for end in ("", "_learned")]
    means = pl.col(*names, "served").mean()
    whole = rows.with_columns(**first, served=served)
    return whole.group_by(*keys, "query_id", maintain_order=True).agg(means)


def _figures(effect: pl.DataFrame, least: int) -> pl.DataFrame:
    """Compute the figures of weeks with enough questions."""
    rows = []
    for key, questions in _by_question(effect, *_ABOUT).group_by(_ABOUT, maintain_order=True):
        if questions.height < least:
            continue
        row = dict(zip(_ABOUT, key, strict=True))
        for measure in FIGURES:
            name = measure.column
            apart = _apart(questions[f"{name}_learned"], questions[name])
            low, high = _interval(apart)
            row |= {
                name: questions[name].mean(), f"{name}_learned": questions[f"{name}_learned"].mean(),
                f"{name}_difference": float(apart.mean()), f"{name}_low": low, f"{name}_high": high,
            }  # fmt: skip
        rows.append(row)
    named = [name for name in COLUMNS if name in _ABOUT or any(name.startswith(x.column) for x in FIGURES)]
    return pl.DataFrame(rows, schema={name: COLUMNS[name] for name in named}, orient="row")


def _apart(after: pl.Series, before: pl.Series) -> Floats:
    """Return differences; those within the accuracy of a metric are 0."""
    apart = after.to_numpy() - before.to_numpy()
    return np.where(np.abs(apart) <= TIE, 0.0, apart)


def _interval(values: Floats) -> tuple[float, float]:
    """Return the bootstrap interval of the mean of one value a question."""
    if not len(values):
        return float("nan"), float("nan")
    totals = resampled_totals(values[:, None])
    return percentiles(totals[:, 0] / len(values))


def _course(rows: pl.DataFrame, as_of: datetime, least: int) -> Course:
    weeks = rows["week"].unique().sort().to_list()
    until = (as_of + MICROSECOND).date()
    over = [week for week in weeks if (until - week).days >= 7]
    span = min(MAX_WEEKS, len(over) // 2)
    early, recent = (
        rows.filter(pl.col("week").is_in(part)) for part in (over[:span], over[len(over) - span :])
    )
    first, last = _by_question(early), _by_question(recent)
    low, high = _moved(first, last)
    before, after = mean(first["served"]), mean(last["served"])
    added = _apart(last["served"], last[MRR.column])
    learned_low, learned_high = _interval(added)
    return Course(
        namespace=str(rows["namespace"][0]),
        kind=str(rows["kind"][0]),
        weeks=len(weeks),
        questions=rows["query_id"].n_unique(),
        span=span,
        since=weeks[0] if not over else over[0],
        least=least,
        first_questions=first.height,
        last_questions=last.height,
        first=before,
        last=after,
        difference=after - before,
        low=low,
        high=high,
        applied=int(recent["live"].sum()),
        learned=mean(added),
        learned_low=learned_low,
        learned_high=learned_high,
    )


def _moved(first: pl.DataFrame, last: pl.DataFrame) -> tuple[float, float]:
    """Return the interval of the difference of two means over questions.

    Some questions may be in both.
    """
    if first.is_empty() or last.is_empty():
        return float("nan"), float("nan")
    both = first.select("query_id", before="served").join(
        last.select("query_id", after="served"), on="query_id", how="full", coalesce=True
    )
    present = [
        pl.col(name).is_not_null().cast(pl.Float64).alias(f"has_{name}") for name in ("before", "after")
    ]
    sums = both.select(pl.col("before", "after").fill_null(0.0), *present).to_numpy()
    before, after, had, has = resampled_totals(sums).T
    return percentiles(ratio(after, has) - ratio(before, had))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"
