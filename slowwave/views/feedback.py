"""Feedback report of a namespace: events, use, effectiveness, strength and promotions (rule 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.evaluation.trend import Trend, trend_until
from slowwave.feedback.apply_state import states_of
from slowwave.feedback.stale_days import KINDS, processed_days, unseen_entries
from slowwave.feedback.states import memory_states
from slowwave.feedback.text_attribution import texts_in
from slowwave.home.visibility import open_rows, redact
from slowwave.scoring.days import DAY, day_start, days_from
from slowwave.store import Store, one_of
from slowwave.store.tenancy import within
from slowwave.views import counts, trend

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

NEUTRAL = 0.5  # effectiveness without ratings (rule 3.4)
_GONE = ("merged", "superseded", "retired")


@dataclass(frozen=True, slots=True)
class FeedbackReport:
    """Feedback of one namespace over some days, and the state after all feedback.

    Attributes:
        namespace: of the report.
        first: first day that is counted.
        last: last day that is counted, the one of `as_of`.
        as_of: time of the strengths.
        searches: searches of these days (count).
        searches_imported: of them, imported (count).
        abstained: of them, without results (count).
        searches_with_feedback: searches of these or earlier days that were rated or observed (count).
        acts: day, tier, verdict, acts, imported (`counts.acts`); only days with any.
        imports: events per origin: imported_from (empty: recorded here), acts, share.
        verdicts: day, used, cited, ignored, unclear (`counts.verdicts`); only days with any.
        rates: what, count, of, rate, low, high over all these days (`counts.rates`).
        rated: memories with effective feedback, ever (count).
        effectiveness: value, memories: their effectiveness as ranking reads it (`counts.distribution`).
        best: the most effective: memory_id, title, effectiveness, feedback_count, used, ignored, tier.
        worst: the least effective, likewise.
        most_used: of these days: memory_id, title, used, cited, ignored, helpful, unhelpful.
        strength: value, memories: strength at `as_of` of all memories that have one.
        fading: the weakest searchable ones: memory_id, title, strength, used, ignored, last_at.
        reasons: promotion decisions: day, reason, decisions; only days with any.
        promotions: those decisions, promoted ones first, then the newest: day, memory_id, title, from_tier,
            to_tier, reason, useful, voters, decided_at, detail.
        waiting: days with unprocessed events: day, entries.
        trend: quality by week, over all days up to `as_of`.
    """

    namespace: str
    first: str
    last: str
    as_of: datetime
    searches: int
    searches_imported: int
    abstained: int
    searches_with_feedback: int
    acts: pl.DataFrame
    imports: pl.DataFrame
    verdicts: pl.DataFrame
    rates: pl.DataFrame
    rated: int
    effectiveness: pl.DataFrame
    best: pl.DataFrame
    worst: pl.DataFrame
    most_used: pl.DataFrame
    strength: pl.DataFrame
    fading: pl.DataFrame
    reasons: pl.DataFrame
    promotions: pl.DataFrame
    waiting: pl.DataFrame
    trend: Trend

    @property
    def days(self) -> list[str]:
        """All days that are counted, including those without events."""
        return days_from(self.first, self.last)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: frames as lists of mappings."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"trend": trend.plain(self.trend)}
        return {
            name: value.to_dicts() if isinstance(value, pl.DataFrame) else value
            for name, value in values.items()
        }


def feedback_report(
    space: Workspace,
    namespace: str,
    *,
    days: int,
    as_of: datetime,
    limit: int = 10,
    waiting: pl.DataFrame | None = None,
) -> FeedbackReport:
    """Report the feedback of the last `days` days, including that of `as_of`.

    Args:
        space: the home; only its tables and the journal's calendar are read.
        namespace: no other one is read.
        days: count, at least 1.
        as_of: aware; the time of the states, which may be past.
        limit: rows of each list of memories and of promotions (count).
        waiting: day and entries of unprocessed days; None: determined here.
    """
    as_of, store = as_of.astimezone(UTC), space.store
    last = as_of.date()
    first = last - (max(days, 1) - 1) * DAY
    ours = within(namespace)
    window = f"{ours} AND day >= '{first}' AND day <= '{last}'"
    acts, imports, searches_with_feedback = _acts(store, window)
    daily, by_memory = _usage(store, window)
    promotions = store.read("promotions", window).drop("promotion_id", "namespace")
    states = _states(space, namespace, as_of)
    rated = states.filter(pl.col("feedback_count") > 0, pl.col("effectiveness").is_finite())
    standing = states.filter(pl.col("now").is_finite())
    lists = _Lists(store, ours, limit)
    return FeedbackReport(
        namespace=namespace,
        first=first.isoformat(),
        last=last.isoformat(),
        as_of=as_of,
        searches=store.count("searches", window),
        searches_imported=store.count("searches", f"{window} AND imported_from <> ''"),
        abstained=store.count("searches", f"{window} AND abstained"),
        searches_with_feedback=searches_with_feedback,
        acts=acts,
        imports=imports,
        verdicts=daily,
        rates=counts.rates(daily),
        rated=rated.height,
        effectiveness=counts.distribution(rated["effectiveness"]),
        best=lists.rated(rated, best=True),
        worst=lists.rated(rated, best=False),
        most_used=lists.most_used(by_memory),
        strength=counts.distribution(standing["now"]),
        fading=lists.fading(standing),
        reasons=counts.reasons(promotions),
        promotions=lists.promotions(promotions),
        waiting=unfolded(space, namespace) if waiting is None else waiting,
        trend=trend_until(space, as_of, namespace),
    )


def unfolded(space: Workspace, namespace: str) -> pl.DataFrame:
    """Return days with unprocessed searches or feedback: day, entries (count)."""
    days = unseen_entries(space.journal, processed_days(space.store), namespace)
    ours = pl.col("namespace") == namespace
    late = space.journal.days(KINDS).filter(ours & pl.col("day").is_in(days))
    where = within(namespace, one_of("day", late["day"]))
    processed = pl.concat(space.store.read(name, where, columns=["day"]) for name in ("searches", "events"))
    missing = pl.col("entries") - pl.col("held").fill_null(0)
    return (
        late.join(processed.group_by("day").agg(held=pl.len()), on="day", how="left")
        .select("day", entries=missing.clip(lower_bound=1).cast(pl.Int64))
        .sort("day")
    )


def _acts(store: Store, window: str) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """Count feedback events by day and by origin, and their searches.

    The rows are freed before the next table is read.
    """
    columns = ["day", "tier", "verdict", "search_id", "imported_from"]
    events = store.scan("events", window, columns=columns)
    return counts.acts(events), counts.origins(events), events["search_id"].drop_nulls().n_unique()


def _usage(store: Store, window: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Count uses of returned memories, by day and by memory."""
    columns = ["day", "memory_id", "tier", "verdict", "evidence"]
    signals = store.scan("usage_signals", window, columns=columns)
    return counts.verdicts(signals), counts.usage(signals, "memory_id")


def _states(space: Workspace, namespace: str, as_of: datetime) -> pl.DataFrame:
    """Return rows of ``memory_state`` at a time.

    `effectiveness` is as ranking reads it, `now` is the strength.
    """
    last = as_of.date().isoformat()
    rows = space.store.of(namespace).read("memory_state")
    if not rows.filter(pl.col("day") > last).is_empty():
        rows = states_of(space.store, namespace, last, space.feedback_policy, texts_in(space))
    seen = memory_states(rows, day_start(as_of.date()), space.feedback_policy)
    effective = [seen[name].effectiveness for name in rows["memory_id"]]
    return rows.with_columns(
        effectiveness=pl.Series(effective, dtype=pl.Float64), now=counts.strength_at(rows, as_of)
    )


@dataclass(frozen=True, slots=True)
class _Lists:
    """Lists of memories in a report, with titles."""

    store: Store
    ours: str
    limit: int

    def rated(self, rated: pl.DataFrame, *, best: bool) -> pl.DataFrame:
        """Return memories on one side of neutral, furthest first; of equals those with more feedback."""
        value = pl.col("effectiveness")
        side = rated.filter(value > NEUTRAL if best else value < NEUTRAL)
        top = side.sort("effectiveness", "feedback_count", "memory_id", descending=[best, True, False]).head(
            self.limit
        )
        names = ("effectiveness", "feedback_count", "used", "ignored", "tier")
        return self._named(top, names)

    def most_used(self, usage: pl.DataFrame) -> pl.DataFrame:
        """Return the memories that most answers used."""
        top = usage.filter(pl.col("used") > 0).sort(
            "used", "cited", "memory_id", descending=[True, True, False]
        )
        return self._named(top.head(self.limit), ("used", "cited", "ignored", "helpful", "unhelpful"))

    def fading(self, standing: pl.DataFrame) -> pl.DataFrame:
        """Return the weakest memories; merged, superseded and retired ones are left out."""
        gone = self.store.read(
            "memories", f"{self.ours} AND {one_of('status', _GONE)}", columns=["memory_id"]
        )
        remaining = standing.join(gone, on="memory_id", how="anti").sort("now", "last_at", "memory_id")
        rows = remaining.head(self.limit).with_columns(strength="now")
        return self._named(rows, ("strength", "used", "ignored", "last_at"))

    def promotions(self, promotions: pl.DataFrame) -> pl.DataFrame:
        """Return promotion decisions, promoted first, then by reason, newest first."""
        top = promotions.sort(
            counts.REASON_ORDER, "day", "decided_at", "memory_id", descending=[False, True, True, False]
        ).head(self.limit)
        columns = ("from_tier", "to_tier", "reason", "useful", "voters", "decided_at", "detail")
        return self._named(top, columns, before=("day",))

    def _named(
        self, rows: pl.DataFrame, columns: Sequence[str], *, before: Sequence[str] = ()
    ) -> pl.DataFrame:
        """Add titles of memories; without one (imported objects) source or id."""
        titles = self.store.read_by(
            "memories", "memory_id", rows["memory_id"].to_list(),
            columns=["memory_id", "title", "source", "sensitivity"], also=self.ours,
        )  # fmt: skip
        titles = redact(titles, ~open_rows(), "title", "source")
        title = pl.coalesce(pl.col(name).replace("", None) for name in ("title", "source", "memory_id"))
        return rows.join(titles, on="memory_id", how="left", maintain_order="left").select(
            *before, "memory_id", title.alias("title"), *columns
        )
