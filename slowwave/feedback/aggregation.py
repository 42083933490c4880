"""Nightly aggregation of feedback events, starting from the state of earlier days.

Reads the tables around a run and calls the rules of :mod:`scoring.feedback`; each function returns the rows
of one table. The days of a run are consecutive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.carry_over_state import CarryOverState
from slowwave.feedback.parallel_aggregation import HERE, by_namespace
from slowwave.feedback.questions import asked_in
from slowwave.feedback.rows import (
    BEHIND,
    EXPLICIT,
    FOLDED,
    ids_in,
    newest_of,
    rows_about,
    texts_apart,
    texts_together,
)
from slowwave.feedback.text_attribution import FIRST, Texts, named
from slowwave.journal.kinds.search import shown_rows
from slowwave.scoring.days import day_end
from slowwave.scoring.feedback.effectiveness import IMPLICIT, SUMS, fold_effectiveness
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.promotion import Promotion, fold_promotions, principals, useful_votes
from slowwave.scoring.feedback.signals import covered_searches, outcome_signals, rating_signals, usage_signals
from slowwave.scoring.feedback.strength import STATE, fold_strength
from slowwave.scoring.feedback.votes import WHO
from slowwave.store import one_of, quote
from slowwave.store.fragments import any_before
from slowwave.store.reading import distinct

if TYPE_CHECKING:
    from slowwave.engine import Engine
    from slowwave.store import Store


_DECIDED = (
    "day",
    "namespace",
    "memory_id",
    "to_tier",
    "reason",
    "useful",
    "voters",
    "decided_at",
    "detail",
    "text",
)


PROMOTING = (
    "signal_id", "day", "namespace", "memory_id", "occurred_at", *WHO, "search_id", "tier", "verdict", "text",
)  # fmt: skip
"""Columns of ``usage_signals`` that decide promotions; only votes count (`QUICK`)."""
QUICK = "tier = 'quick'"


_STANDING = ("memory_id", "day", "namespace", *STATE, "text")


_OUTCOME = ["event_id", "namespace", "project", "principal", "occurred_at", "imported_from"]


def signals(
    store: Store,
    events: pl.DataFrame,
    policy: FeedbackPolicy,
    used_ratio: float,
    texts: Texts | None = None,
) -> pl.DataFrame:
    """Build the ``usage_signals`` rows of the days of these events.

    Args:
        store: Store of the tables.
        events: Rows of ``events``.
        policy: Feedback policy.
        used_ratio: Minimum share of words beyond the query's that is evidence of use.
        texts: Gives the texts of memories; feedback belongs to the text that the search returned (rule 7.6).
            None: every memory has one text.
    """
    own = [rating_signals(events), usage_signals(events, policy, used_ratio=used_ratio)]
    outcomes = events.filter(pl.col("kind") == "outcome")
    judged = pl.concat(own)
    rows = pl.concat([judged, _credited(store, outcomes, judged)])
    return rows.with_columns(text=_texts_shown(store, rows, texts), query_id=_questions(store, rows))


def _questions(store: Store, rows: pl.DataFrame) -> pl.Series:
    """Return the query id of each signal's search; null if unknown or an instruction."""
    searches = asked_in(store, rows["search_id"].drop_nulls().unique().to_list())
    query_ids = searches.select("search_id", "query_id")
    return rows.select("search_id").join(query_ids, on="search_id", how="left", maintain_order="left")[
        "query_id"
    ]


def _texts_shown(store: Store, rows: pl.DataFrame, texts: Texts | None) -> pl.Series:
    """Return the text that each signal's search returned.

    If the search is unknown it is the text at that time.
    """
    versions = texts(ids_in(rows)) if texts else None
    if versions is None or versions.is_empty():
        return pl.repeat(FIRST, rows.height, dtype=pl.String, eager=True)
    search_ids = rows.filter(pl.col("memory_id").is_in(versions["memory_id"].implode()))[
        "search_id"
    ].drop_nulls()
    searches = store.read_by(
        "searches", "search_id", search_ids.unique().to_list(), columns=["search_id", "seq"]
    )
    placed = rows.select("memory_id", "search_id", since="occurred_at").join(
        searches, on="search_id", how="left", maintain_order="left"
    )
    by_search, by_time = named(placed, versions, "seq"), named(placed, versions, "since")
    return placed.select(text=pl.when(pl.col("seq").is_null()).then(by_time).otherwise(by_search)).to_series()


def _credited(store: Store, outcomes: pl.DataFrame, today: pl.DataFrame) -> pl.DataFrame:
    """Build the signals of outcomes, from the tables and from the events of this run."""
    if outcomes.is_empty():
        return today.clear()
    projects, last = outcomes["project"].unique().to_list(), outcomes["day"].max()
    until = f"day <= {quote(str(last))}"
    searches = store.read_by(
        "searches",
        "project",
        projects,
        columns=[
            "search_id", "namespace", "project", "occurred_at", "shown", "principal", "imported_from",
        ],
        also=until,
    )  # fmt: skip
    earlier = store.read_by(
        "events", "project", projects, columns=_OUTCOME, also=f"kind = 'outcome' AND {until}"
    )
    everything = pl.concat([earlier, outcomes.select(_OUTCOME)]).unique("event_id")
    covered = covered_searches(outcomes, everything, searches.drop("shown", "principal", "imported_from"))
    search_ids = covered["search_id"].unique().to_list()
    columns = [
        "search_id", "memory_id", "verdict", "weight", "occurred_at", "signal_id", "principal", "imported",
    ]  # fmt: skip
    earlier_signals = store.read_by("usage_signals", "search_id", search_ids, columns=columns, also=until)
    helped = (
        pl.concat([earlier_signals, today.select(columns)])
        .filter(pl.col("verdict").is_in(["used", "helpful"]) & (pl.col("weight") > 0))
        .group_by("search_id", "memory_id", used_by="principal", used_elsewhere="imported")
        .agg(used_at=pl.col("occurred_at").min())
    )
    searchers = searches.filter(pl.col("search_id").is_in(search_ids)).select(
        "search_id", "shown", searcher="principal",
        searched_elsewhere=pl.col("imported_from").is_not_null(),
    )  # fmt: skip
    results = (
        shown_rows(searchers)
        .unique(["search_id", "memory_id"])
        .select("search_id", "memory_id", "chunk_id", "searcher", "searched_elsewhere")
    )
    return outcome_signals(outcomes, covered, results.join(helped, on=["search_id", "memory_id"], how="left"))


_STATE = (
    "memory_id", "chunk_id", "day", "namespace", "feedback_count", *SUMS, "text",
)  # fmt: skip
_VOTES = tuple(name for name in FOLDED if name not in ("day", "verdict", "evidence"))


def effectiveness(
    store: Store,
    signals: pl.DataFrame,
    first: str,
    policy: FeedbackPolicy,
    carried: CarryOverState | None = None,
    engine: Engine = HERE,
) -> pl.DataFrame:
    """Build the ``effectiveness`` rows of the days of these signals.

    Args:
        store: Store of the tables.
        signals: Rows of ``usage_signals``.
        first: First of the days.
        policy: Feedback policy.
        carried: State of the run before these days; None: it begins with them.
        engine: Computes the aggregation of each namespace.
    """
    carried = carried or CarryOverState(first)
    touched = ids_in(signals)

    def newest(rows: pl.DataFrame) -> pl.DataFrame:
        return newest_of(rows, "memory_id", "chunk_id", "text")

    def states(names: Sequence[str], day: str) -> pl.DataFrame:
        return newest(_with_first_text(_rows_before(store, "effectiveness", names, day, _STATE)))

    def votes(names: Sequence[str], day: str) -> pl.DataFrame:
        return _rows_before(store, "usage_signals", names, day, _VOTES, f"{EXPLICIT} AND ")

    previous, earlier_votes = carried.rows("states", touched, states), carried.rows("votes", touched, votes)
    rows = texts_together(
        by_namespace(
            engine,
            fold_effectiveness,
            [texts_apart(signals), texts_apart(previous), texts_apart(earlier_votes)],
            policy,
        )
    )
    carried.add("states", rows, newest)
    carried.add("votes", signals.filter(pl.col("tier") != IMPLICIT), lambda every: every)
    return rows


def strength(
    store: Store,
    signals: pl.DataFrame,
    first: str,
    policy: FeedbackPolicy,
    carried: CarryOverState | None = None,
    engine: Engine = HERE,
) -> pl.DataFrame:
    """Build the ``strength`` rows of the days of these signals; arguments as in `effectiveness`."""
    carried = carried or CarryOverState(first)

    def newest(rows: pl.DataFrame) -> pl.DataFrame:
        return newest_of(rows, "memory_id", "text")

    def states(names: Sequence[str], day: str) -> pl.DataFrame:
        return newest(_with_first_text(_rows_before(store, "strength", names, day, _STANDING)))

    previous = carried.rows("states", ids_in(signals), states)
    rows = texts_together(
        by_namespace(engine, fold_strength, [texts_apart(signals), texts_apart(previous)], policy)
    )
    carried.add("states", rows, newest)
    return rows


def _rows_before(
    store: Store, table: str, names: Sequence[str], day: str, columns: Sequence[str], also: str = ""
) -> pl.DataFrame:
    """Return rows about memories of earlier days than one."""
    if not any_before(store, table, day):  # a first run: its own rows need not be searched
        return store.empty(table, columns)
    return rows_about(store, table, names, f"{also}day < {quote(day)}", columns)


def _with_first_text(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill the text of rows that are older than text names: it is the first."""
    return rows.with_columns(pl.col("text").fill_null(FIRST))


def promotions(store: Store, signals: pl.DataFrame, first: str, policy: FeedbackPolicy) -> pl.DataFrame:
    """Build the ``promotions`` rows of these signals' days; `first` is the run's first day."""
    empty = store.empty("promotions")
    praised = signals.filter((pl.col("tier") == "quick") & (pl.col("verdict") == "helpful"))
    if praised.is_empty():
        return empty
    before = f"day < {quote(first)}"
    earlier = store.scan("promotions", before, columns=_DECIDED)
    names = list({*ids_in(praised), *earlier.filter(pl.col("reason") == "rate_limited")["memory_id"]})
    quick = f"{QUICK} AND {before}"
    votes = pl.concat(
        [
            rows_about(store, "usage_signals", names, quick, PROMOTING),
            signals.filter((pl.col("tier") == "quick") & pl.col("memory_id").is_in(names)).select(PROMOTING),
        ]
    )
    notes = rows_about(
        store, "staged_notes", names, "act IN ('save', 'forget')",
        ["memory_id", "day", "revision", "act", "importance_tier", "principal"],
    )  # fmt: skip
    authors = (
        notes.filter(pl.col("act") == "save")
        .group_by("memory_id", "principal")
        .agg(since=pl.col("day").min())
    )
    active = _active_users(store, votes["namespace"].unique().to_list())
    authors = authors.join(votes.select("memory_id", "text").unique(), on="memory_id")
    counts = useful_votes(
        texts_apart(votes), texts_apart(authors).drop("text"), principals(active), policy
    ).filter(pl.col("day") >= first)
    own_tier, earlier = _own_tiers(store, notes, names), texts_apart(earlier)
    decided = [empty.drop("text")]
    for (namespace,), namespace_counts in counts.sort("namespace").group_by("namespace", maintain_order=True):
        news = fold_promotions(
            namespace_counts, own_tier, earlier.filter(pl.col("namespace") == namespace), policy
        )
        decided.append(_promotion_rows(str(namespace), news, decided[0].schema))
    return texts_together(pl.concat(decided)).select(empty.columns)


_DAY = (pl.col("decided_at") - pl.duration(microseconds=1)).dt.strftime("%Y-%m-%d")  # decided at its end


def _promotion_rows(namespace: str, news: Sequence[Promotion], schema: pl.Schema) -> pl.DataFrame:
    names = Promotion.__slots__
    values = zip(*map(attrgetter(*names), news), strict=True) if news else [()] * len(names)
    columns = [pl.Series(name, own, schema[name]) for name, own in zip(names, values, strict=True)]
    rows = pl.DataFrame(columns).with_columns(day=_DAY, namespace=pl.lit(namespace))
    return rows.with_columns(promotion_id=pl.concat_str("day", pl.lit(":"), "memory_id")).select(list(schema))


def _active_users(store: Store, namespaces: Sequence[str]) -> pl.DataFrame:
    """Return the active users of these namespaces by day; imports do not count."""
    where_namespace, columns = one_of("namespace", namespaces), ["namespace", "principal", "day"]
    local = f"{where_namespace} AND imported_from IS NULL"
    where = {"staged_notes": f"{where_namespace} AND act = 'save'", "searches": local, "events": local}
    return pl.concat([distinct(store, name, rows, columns=columns) for name, rows in where.items()]).unique()


def _own_tiers(store: Store, notes: pl.DataFrame, names: Sequence[str]) -> Callable[[str, str], str]:
    """Return a function: a memory's own tier at a day's end, empty if absent or superseded."""
    history: dict[str, list[tuple[str, str, str]]] = {}
    ordered = notes.filter(pl.col("act").is_in(["save", "forget"])).sort("revision")
    for name, *row in ordered.select("memory_id", "day", "act", "importance_tier").iter_rows():
        history.setdefault(name, []).append(tuple(row))
    superseded_spans: dict[str, list[tuple[datetime, datetime | None]]] = {}
    superseded = store.read_by(
        "decisions", "other_memory", names, columns=["other_memory", "decided_at", "undone_at"],
        also="outcome = 'supersede'",
    )  # fmt: skip
    for name, since, until in superseded.iter_rows():
        superseded_spans.setdefault(name, []).append((since, until))

    def own_tier(name: str, day: str) -> str:
        name = name.partition(BEHIND)[0]
        for since, act, tier in reversed(history.get(name, ())):
            if since <= day:
                return "" if act == "forget" or is_superseded(name, day) else tier
        return ""

    def is_superseded(name: str, day: str) -> bool:
        spans = superseded_spans.get(name)
        if not spans:
            return False
        end = day_end(day)
        return any(since < end and (until is None or until >= end) for since, until in spans)

    return own_tier
