"""How the memory serves: what people and answers said of it, and what that came to (rule 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.journal.entry import FEEDBACK_KINDS
from slowwave.reports import counts
from slowwave.store import Store, one_of, quote

if TYPE_CHECKING:
    from slowwave.workspace import Workspace

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
        searches_with_feedback: of them, rated or observed on these days (count).
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
            to_tier, reason, useful, voters, decided_at.
        waiting: days whose entries no night has folded: day, entries.
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

    @property
    def days(self) -> list[str]:
        """Every day that is counted, also those on which nothing happened."""
        start = date.fromisoformat(self.first)
        count = (date.fromisoformat(self.last) - start).days + 1
        return [(start + timedelta(days=number)).isoformat() for number in range(count)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: frames as lists of mappings."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {
            name: value.to_dicts() if isinstance(value, pl.DataFrame) else value for name, value in values
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
        as_of: aware; strength is told for this moment.
        limit: rows of each list of memories and of promotions (count).
        waiting: day and entries of days that no night has folded; None: found here.
    """
    as_of, store = as_of.astimezone(UTC), space.store
    last = as_of.date()
    first = last - timedelta(days=max(days, 1) - 1)
    ours = f"namespace = {quote(namespace)}"
    window = f"{ours} AND day >= '{first}' AND day <= '{last}'"
    searches = store.read("searches", window, columns=["search_id", "imported_from", "abstained"])
    events = store.read("events", window, columns=["day", "tier", "verdict", "search_id", "imported_from"])
    signals = store.read("usage_signals", window, columns=["day", "memory_id", "tier", "verdict", "evidence"])
    promotions = store.read("promotions", window).drop("promotion_id", "namespace")
    states = store.read("memory_state", ours).with_columns(now=counts.strength_at(as_of))
    rated = states.filter(pl.col("feedback_count") > 0, pl.col("effectiveness").is_finite())
    standing = states.filter(pl.col("now").is_finite())
    lists = _Lists(store, ours, limit)
    daily = counts.verdicts(signals)
    return FeedbackReport(
        namespace=namespace,
        first=first.isoformat(),
        last=last.isoformat(),
        as_of=as_of,
        searches=searches.height,
        searches_imported=searches.filter(pl.col("imported_from").fill_null("") != "").height,
        abstained=int(searches["abstained"].sum()),
        searches_with_feedback=searches.join(events, on="search_id", how="semi").height,
        acts=counts.acts(events),
        imports=_imports(events),
        verdicts=daily,
        rates=counts.rates(daily),
        rated=rated.height,
        effectiveness=counts.distribution(rated["effectiveness"]),
        best=lists.rated(rated, best=True),
        worst=lists.rated(rated, best=False),
        most_used=lists.most_used(signals),
        strength=counts.distribution(standing["now"]),
        fading=lists.fading(standing),
        reasons=counts.reasons(promotions),
        promotions=lists.promotions(promotions),
        waiting=unfolded_days(space, namespace) if waiting is None else waiting,
    )


def unfolded_days(space: Workspace, namespace: str) -> pl.DataFrame:
    """Days with searches or feedback in the journal that the tables do not hold: day, entries."""
    held = pl.concat(
        space.store.read(name, f"namespace = {quote(namespace)}", columns=["day"])
        for name in ("searches", "events")
    )
    written = space.journal.days(("search", *FEEDBACK_KINDS)).filter(pl.col("namespace") == namespace)
    return (
        written.join(held.group_by("day").agg(held=pl.len()), on="day", how="left")
        .select("day", entries=pl.col("entries") - pl.col("held").fill_null(0))
        .filter(pl.col("entries") > 0)
        .sort("day")
    )


def _imports(events: pl.DataFrame) -> pl.DataFrame:
    return (
        events.group_by(pl.col("imported_from").fill_null(""))
        .agg(acts=pl.len().cast(pl.Int64))
        .with_columns(share=pl.col("acts") / max(events.height, 1))
        .sort("acts", "imported_from", descending=[True, False])
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

    def most_used(self, signals: pl.DataFrame) -> pl.DataFrame:
        """Those that most answers used."""
        counted = signals.group_by("memory_id").agg(
            **counts.USAGE,
            helpful=(pl.col("verdict") == "helpful").sum().cast(pl.Int64),
            unhelpful=(pl.col("verdict") == "unhelpful").sum().cast(pl.Int64),
        )
        top = counted.filter(pl.col("used") > 0).sort(
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
        columns = ("from_tier", "to_tier", "reason", "useful", "voters", "decided_at")
        return self._named(top, columns, before=("day",))

    def _named(
        self, rows: pl.DataFrame, columns: Sequence[str], *, before: Sequence[str] = ()
    ) -> pl.DataFrame:
        """With the titles of memories; what has none (imported objects) goes by its source or its id."""
        known = self.store.read_by(
            "memories", "memory_id", rows["memory_id"].to_list(),
            columns=["memory_id", "title", "source"], also=self.ours,
        )  # fmt: skip
        given = pl.coalesce(pl.col(name).replace("", None) for name in ("title", "source", "memory_id"))
        return rows.join(known, on="memory_id", how="left", maintain_order="left").select(
            *before, "memory_id", given.alias("title"), *columns
        )
