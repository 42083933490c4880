"""How the memory serves: what people and answers said of it, and what that came to (rule 4)."""

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

NEUTRAL = 0.5  # effectiveness of which nobody said anything (rule 3.4)
_GONE = ("merged", "superseded", "retired")


@dataclass(frozen=True, slots=True)
class FeedbackReport:
    """Feedback of one namespace over some days, and the state that all feedback ever left.

    Attributes:
        namespace: whose.
        first: first day that is counted.
        last: last day that is counted, the one of `as_of`.
        as_of: the moment at which strength is told.
        searches: searches of these days (count).
        searches_imported: of them, taken from elsewhere (count).
        abstained: of them, answered with nothing (count).
        searches_with_feedback: searches of these or earlier days that were rated or observed (count).
        acts: day, tier, verdict, acts, imported (`counts.acts`); only days with any.
        imports: acts per origin: imported_from (empty: given here), acts, share.
        verdicts: day, used, cited, ignored, unclear (`counts.verdicts`); only days with any.
        rates: what, count, of, rate, low, high over all these days (`counts.rates`).
        rated: memories with effective feedback, ever (count).
        effectiveness: value, memories: their effectiveness as ranking reads it (`counts.distribution`).
        best: the most effective: memory_id, title, effectiveness, feedback_count, used, ignored, tier.
        worst: the least effective, likewise.
        most_used: of these days: memory_id, title, used, cited, ignored, helpful, unhelpful.
        strength: value, memories: strength at `as_of` of all that has one.
        fading: the weakest that are not gone: memory_id, title, strength, used, ignored, last_at.
        reasons: decisions about promotion: day, reason, decisions; only days with any.
        promotions: those decisions, promoted ones first, then the newest: day, memory_id, title, from_tier,
            to_tier, reason, useful, voters, decided_at, detail.
        waiting: days whose entries no night has folded: day, entries.
        trend: is it getting better, by week, over all days up to `as_of`.
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
        """Every day that is counted, also those on which nothing happened."""
        return days_from(self.first, self.last)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: frames as lists of mappings."""
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
    """Count what the nights made of the last `days` days, that of `as_of` with them.

    Args:
        space: the home; only its tables are read, and the journal's calendar.
        namespace: whose; nothing of another one is read.
        days: how many days (count, at least 1).
        as_of: aware; the state of memories is told for this moment, also of a past one.
        limit: rows of each list of memories and of promotions (count).
        waiting: day and entries of days that no night has folded; None: found here.
    """
    as_of, store = as_of.astimezone(UTC), space.store
    last = as_of.date()
    first = last - (max(days, 1) - 1) * DAY
    ours = within(namespace)
    window = f"{ours} AND day >= '{first}' AND day <= '{last}'"
    acts = _Acts.read(store, window)
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
        searches_with_feedback=acts.searches,
        acts=acts.daily,
        imports=acts.origins,
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
    """Days with searches or feedback that no night has taken up: day, entries (count)."""
    days = unseen_entries(space.journal, processed_days(space.store), namespace)
    ours = pl.col("namespace") == namespace
    late = space.journal.days(KINDS).filter(ours & pl.col("day").is_in(days))
    where = within(namespace, one_of("day", late["day"]))
    held = pl.concat(space.store.read(name, where, columns=["day"]) for name in ("searches", "events"))
    missing = pl.col("entries") - pl.col("held").fill_null(0)
    return (
        late.join(held.group_by("day").agg(held=pl.len()), on="day", how="left")
        .select("day", entries=missing.clip(lower_bound=1).cast(pl.Int64))
        .sort("day")
    )


@dataclass(frozen=True, slots=True)
class _Acts:
    """What the acts of some days come to, and how many searches they are about (count)."""

    daily: pl.DataFrame
    origins: pl.DataFrame
    searches: int

    @classmethod
    def read(cls, store: Store, window: str) -> _Acts:
        """Of the rows of ``events`` that match; a year of them is let go before the next table is read."""
        columns = ["day", "tier", "verdict", "search_id", "imported_from"]
        events = store.scan("events", window, columns=columns)
        about = events["search_id"].drop_nulls().n_unique()
        return cls(counts.acts(events), counts.origins(events), about)


def _usage(store: Store, window: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What became of shown memories, by day and by memory."""
    columns = ["day", "memory_id", "tier", "verdict", "evidence"]
    signals = store.scan("usage_signals", window, columns=columns)
    return counts.verdicts(signals), counts.usage(signals, "memory_id")


def _states(space: Workspace, namespace: str, as_of: datetime) -> pl.DataFrame:
    """Rows of ``memory_state`` as of a moment: effectiveness as ranking reads it, and strength as `now`."""
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
    """The few memories that a report names, with their titles."""

    store: Store
    ours: str
    limit: int

    def rated(self, rated: pl.DataFrame, *, best: bool) -> pl.DataFrame:
        """Those on one side of neutral, the furthest first; of equals, those of which more is known."""
        value = pl.col("effectiveness")
        side = rated.filter(value > NEUTRAL if best else value < NEUTRAL)
        top = side.sort("effectiveness", "feedback_count", "memory_id", descending=[best, True, False]).head(
            self.limit
        )
        names = ("effectiveness", "feedback_count", "used", "ignored", "tier")
        return self._named(top, names)

    def most_used(self, usage: pl.DataFrame) -> pl.DataFrame:
        """Those that most answers used."""
        top = usage.filter(pl.col("used") > 0).sort(
            "used", "cited", "memory_id", descending=[True, True, False]
        )
        return self._named(top.head(self.limit), ("used", "cited", "ignored", "helpful", "unhelpful"))

    def fading(self, standing: pl.DataFrame) -> pl.DataFrame:
        """The weakest; what was merged, superseded or retired does not fade but is gone."""
        gone = self.store.read(
            "memories", f"{self.ours} AND {one_of('status', _GONE)}", columns=["memory_id"]
        )
        left = standing.join(gone, on="memory_id", how="anti").sort("now", "last_at", "memory_id")
        rows = left.head(self.limit).with_columns(strength="now")
        return self._named(rows, ("strength", "used", "ignored", "last_at"))

    def promotions(self, promotions: pl.DataFrame) -> pl.DataFrame:
        """Those that promoted first, then by reason; the newest first among equals."""
        top = promotions.sort(
            counts.REASON_ORDER, "day", "decided_at", "memory_id", descending=[False, True, True, False]
        ).head(self.limit)
        columns = ("from_tier", "to_tier", "reason", "useful", "voters", "decided_at", "detail")
        return self._named(top, columns, before=("day",))

    def _named(
        self, rows: pl.DataFrame, columns: Sequence[str], *, before: Sequence[str] = ()
    ) -> pl.DataFrame:
        """With the titles of memories; what has none (imported objects) goes by its source or its id."""
        known = self.store.read_by(
            "memories", "memory_id", rows["memory_id"].to_list(),
            columns=["memory_id", "title", "source", "sensitivity"], also=self.ours,
        )  # fmt: skip
        known = redact(known, ~open_rows(), "title", "source")
        given = pl.coalesce(pl.col(name).replace("", None) for name in ("title", "source", "memory_id"))
        return rows.join(known, on="memory_id", how="left", maintain_order="left").select(
            *before, "memory_id", given.alias("title"), *columns
        )
