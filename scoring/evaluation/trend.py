"""Is it getting better: a row a week, without what was learned and with it, and the last beside the first.

A week is that of ISO 8601, Monday to Sunday, in UTC. Its row depends on nothing but that week: nothing is
smoothed, and where fewer than `LEAST_QUESTIONS` distinct questions were measured there is no figure at all,
since one would be believed. Intervals are drawn by question, as what is asked ten times proves no more than
what is asked once (rule 7.7).
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
"""Distinct questions with fewer of which no figure is given (count)."""
MOST_WEEKS = 4
"""Weeks at the beginning, and at the end, that are compared at most (count)."""
DRAWS = 2_000
HIT = Measure("hit_rate", 1)
FIGURES = (HIT, MRR)
"""What a week is measured by."""

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
"""Of a week's row."""
Direction = Literal["better", "worse", "no sure change", "too little evidence"]


def trend(
    effect: pl.DataFrame,
    searches: pl.DataFrame,
    interleavings: pl.DataFrame,
    as_of: datetime,
    *,
    least: int = LEAST_QUESTIONS,
    seed: int = 0,
) -> pl.DataFrame:
    """What is known of each week in which anything was asked or used.

    Args:
        effect: a row a judged search: ``namespace``, ``kind`` (of what is learned), ``day`` (YYYY-MM-DD),
            ``search_id``, ``query_id``, ``moved``, ``live``, ``mrr_5`` without what was learned, and
            ``mrr_5_learned`` with it.
        searches: a row a search, judged or not: ``namespace``, ``day``.
        interleavings: a row a search that showed the results with what was learned (a) and without it (b) in
            turn: ``namespace``, ``kind``, ``day`` (of the first verdict), ``credit_a``, ``credit_b``.
        as_of: aware; the week that is not over by then is marked.
        least: distinct questions with fewer of which a week has no figures.
        seed: the same seed gives the same intervals.

    Returns:
        `COLUMNS`, by namespace, kind and week (its Monday). Counts: ``searches``, ``measured`` of them and
        their distinct ``questions``; of the measured ``applied``, those for which something that was learned
        was in force, ``changed``, those whose results it changed, and ``would_change``, whose results it
        would if it were applied. Shares: ``changed_of_measured`` and ``changed_of_all``, null of nothing.
        Of each of `FIGURES` the mean over questions (of a question's searches first) without and with what
        was learned, their difference, and its 95 % interval; null where there are too few. ``wins``:
        searches whose results with what was learned were used more; ``ties``, ``losses``. A week in which
        nothing was measured has the kind ``""``.
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
    asked = searches.group_by("namespace", "week").agg(searches=pl.len())
    known = pl.concat([counted.select(_ABOUT), won.select(_ABOUT)]).unique()
    unmeasured = asked.join(known, on=["namespace", "week"], how="anti").with_columns(kind=pl.lit(""))
    rows = (
        pl.concat([known, unmeasured.select(_ABOUT)])
        .join(counted, on=_ABOUT, how="left")
        .join(won, on=_ABOUT, how="left")
        .join(asked, on=["namespace", "week"], how="left")
        .join(_figures(effect, least, seed), on=_ABOUT, how="left")
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
    """The last weeks beside the first ones: MRR@5 of what was served.

    Served is a search's ranking with what was learned where that was applied, else the one without it. Only
    weeks that are over count, and of them those in which anything was measured. The questions of the last
    weeks need not be those of the first.

    Attributes:
        namespace: whose.
        kind: of what is learned.
        weeks: in which anything was measured, the one that is not over with them (count).
        questions: distinct ones in them (count).
        span: first weeks, and last weeks, that are compared (count); 0 where there are no two that are over.
        since: Monday of the first week; None where there is none.
        least: questions that the first weeks, and the last ones, must have.
        first_questions: distinct ones of the first weeks (count).
        last_questions: of the last ones.
        first: mean over the questions of the first weeks; this and what follows is NaN of nothing.
        last: of the last ones.
        difference: last minus first.
        low: lower end of its 95 % interval.
        high: upper end.
        applied: searches of the last weeks for which something that was learned was in force (count).
        learned: what was learned made of `last`: served minus without it, on the same searches.
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
        """What may be said: *better* and *worse* only where the whole interval is on one side of 0."""
        if not self.span or min(self.first_questions, self.last_questions) < self.least:
            return "too little evidence"
        if self.low > TIE:
            return "better"
        return "worse" if self.high < -TIE else "no sure change"

    def describe(self, *, named: bool = False) -> str:
        """What was found, in a sentence for people.

        Args:
            named: say which kind was learned, as there are several beside each other.
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
        became = "searches became " if named else ""
        return f"{became}{self.direction} by {by} {since}: {figures}; {self._share(named)}"

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
            return f"nothing that was learned{of} was applied in the last"
        return f"what was learned{of} makes {part}"


def course(
    effect: pl.DataFrame, as_of: datetime, *, least: int = LEAST_QUESTIONS, seed: int = 0
) -> list[Course]:
    """The last weeks beside the first, for each namespace and kind of what is learned.

    A half of the weeks that are over and have anything measured at most, and `MOST_WEEKS` at most, are the
    first ones; as many are the last ones. The interval of the difference is a percentile bootstrap over
    questions: one that was asked in both is drawn for both.

    Args:
        effect: as of `trend`.
        as_of: aware; a week that is not over by then is not compared.
        least: distinct questions that the first weeks, and the last ones, must have.
        seed: the same seed gives the same intervals.
    """
    rows = _in_weeks(effect)
    about = rows.select("namespace", "kind").unique().sort("namespace", "kind")
    return [
        _course(rows.filter(namespace=namespace, kind=kind), as_of, least, seed)
        for namespace, kind in about.iter_rows()
    ]


def short(value: float) -> str:
    """A figure between 0 and 1 as people read it: .036."""
    return f"{round(value, 3) + 0.0:.3f}".replace("0.", ".", 1).replace("-", "−")


def signed(value: float) -> str:
    """A difference of such figures, with its sign: +.036."""
    text = short(value)
    return text if text.startswith("−") or not text.strip(".0") else f"+{text}"


# -- parts -----------------------------------------------------------------------------------------


def _in_weeks(rows: pl.DataFrame) -> pl.DataFrame:
    """With the Monday of each row's week, in an order that does not depend on the one that was given."""
    week = pl.col("day").str.to_date().dt.truncate("1w")
    return rows.with_columns(week=week).sort(pl.all())


def _share(of: str) -> pl.Expr:
    return pl.when(pl.col(of) > 0).then(pl.col("changed") / pl.col(of))


def _by_question(rows: pl.DataFrame, *about: str) -> pl.DataFrame:
    """Means of each question: of every figure without what was learned, with it, and as it was served."""
    first = {f"{HIT.column}{end}": (pl.col(f"{MRR.column}{end}") >= 1 - TIE).cast(pl.Float64)
             for end in ("", "_learned")}  # fmt: skip
    served = pl.when("live").then(f"{MRR.column}_learned").otherwise(MRR.column)
    names = [f"{one.column}{end}" for one in FIGURES for end in ("", "_learned")]
    means = pl.col(*names, "served").mean()
    whole = rows.with_columns(**first, served=served)
    return whole.group_by(*about, "query_id", maintain_order=True).agg(means)


def _figures(effect: pl.DataFrame, least: int, seed: int) -> pl.DataFrame:
    """The figures of the weeks that have questions enough."""
    found = []
    for key, mine in _by_question(effect, *_ABOUT).group_by(_ABOUT, maintain_order=True):
        if mine.height < least:
            continue
        row = dict(zip(_ABOUT, key, strict=True))
        for one in FIGURES:
            name = one.column
            apart = _apart(mine[f"{name}_learned"], mine[name])
            low, high = _interval(apart, seed)
            row |= {
                name: mine[name].mean(), f"{name}_learned": mine[f"{name}_learned"].mean(),
                f"{name}_difference": float(apart.mean()), f"{name}_low": low, f"{name}_high": high,
            }  # fmt: skip
        found.append(row)
    named = [name for name in COLUMNS if name in _ABOUT or any(name.startswith(x.column) for x in FIGURES)]
    return pl.DataFrame(found, schema={name: COLUMNS[name] for name in named}, orient="row")


def _apart(after: pl.Series, before: pl.Series) -> Floats:
    """Differences; what is within the accuracy of a metric is none."""
    apart = after.to_numpy() - before.to_numpy()
    return np.where(np.abs(apart) <= TIE, 0.0, apart)


def _interval(values: Floats, seed: int) -> tuple[float, float]:
    """Of the mean of one value a question."""
    if not len(values):
        return float("nan"), float("nan")
    totals = resampled_totals(values[:, None], n_draws=DRAWS, seed=seed)
    return percentiles(totals[:, 0] / len(values))


def _course(rows: pl.DataFrame, as_of: datetime, least: int, seed: int) -> Course:
    weeks = rows["week"].unique().sort().to_list()
    until = (as_of + MICROSECOND).date()
    over = [week for week in weeks if (until - week).days >= 7]
    span = min(MOST_WEEKS, len(over) // 2)
    early, recent = (
        rows.filter(pl.col("week").is_in(part)) for part in (over[:span], over[len(over) - span :])
    )
    first, last = _by_question(early), _by_question(recent)
    low, high = _moved(first, last, seed)
    before, after = mean(first["served"]), mean(last["served"])
    added = _apart(last["served"], last[MRR.column])
    learned_low, learned_high = _interval(added, seed)
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


def _moved(first: pl.DataFrame, last: pl.DataFrame, seed: int) -> tuple[float, float]:
    """Interval of the difference of two means over questions, some of which may be in both."""
    if first.is_empty() or last.is_empty():
        return float("nan"), float("nan")
    both = first.select("query_id", before="served").join(
        last.select("query_id", after="served"), on="query_id", how="full", coalesce=True
    )
    there = [pl.col(name).is_not_null().cast(pl.Float64).alias(f"has_{name}") for name in ("before", "after")]
    sums = both.select(pl.col("before", "after").fill_null(0.0), *there).to_numpy()
    before, after, had, has = resampled_totals(sums, n_draws=DRAWS, seed=seed).T
    return percentiles(ratio(after, has) - ratio(before, had))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"
