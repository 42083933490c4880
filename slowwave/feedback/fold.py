"""The night of feedback: what the acts of some days come to, from the state that the days before left.

Reads the tables around a run and calls the rules of :mod:`scoring.feedback`; each function gives the rows of
one table. The days of a run follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.pending import folded_days
from slowwave.feedback.texts import FIRST, Texts, in_force, named, of_text
from slowwave.journal.kinds.search import shown_rows
from slowwave.scoring.days import day_end, last_day
from slowwave.scoring.feedback.coded import day_ends
from slowwave.scoring.feedback.effectiveness import SUMS, fold_effectiveness
from slowwave.scoring.feedback.effectiveness import effectiveness as rated
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.promotion import Promotion, fold_promotions, principals, useful_votes
from slowwave.scoring.feedback.signals import covered_searches, outcome_signals, rating_signals, usage_signals
from slowwave.scoring.feedback.strength import fold_strength
from slowwave.scoring.feedback.voices import company, heard, voices_by
from slowwave.scoring.feedback.votes import WHO
from slowwave.store import one_of, quote
from slowwave.store.database import IDS_PER_FILTER, batches

if TYPE_CHECKING:
    from slowwave.store import Store

FOLDED = (
    "signal_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", *WHO, "search_id",
    "tier", "verdict", "value", "weight", "evidence", "text",
)  # fmt: skip
"""Columns of ``usage_signals`` that the folds read."""
_USE = ("namespace", "memory_id", "text", *WHO)
_WHO = ("namespace", "day", *WHO)
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
EXPLICIT = "tier != 'implicit'"
_OUTCOME = ["event_id", "namespace", "project", "principal", "occurred_at", "imported_from"]
COMPANY = "voices"
"""Name in ``meta`` of how many voices each namespace had when ``memory_state`` was written."""


def signals(
    store: Store,
    events: pl.DataFrame,
    policy: FeedbackPolicy,
    used_ratio: float,
    texts: Texts | None = None,
) -> pl.DataFrame:
    """Rows of ``usage_signals`` of the days of these events.

    Args:
        store: the memory.
        events: rows of ``events``.
        policy: weight of a use.
        used_ratio: above which words beyond the query's are evidence of use.
        texts: gives the texts of memories: what is said of one belongs to the text that the search showed
            (rule 7.6). None: nobody knows of more than one.
    """
    own = [rating_signals(events), usage_signals(events, policy, used_ratio=used_ratio)]
    outcomes = events.filter(pl.col("kind") == "outcome")
    rows = pl.concat([*own, _credited(store, outcomes, pl.concat(own))])
    return rows.with_columns(text=_texts_shown(store, rows, texts))


def _texts_shown(store: Store, rows: pl.DataFrame, texts: Texts | None) -> pl.Series:
    """The text that the search of each signal showed; where the search is not there, that of its moment."""
    known = texts(_ids(rows)) if texts else None
    if known is None or known.is_empty():
        return pl.repeat(FIRST, rows.height, dtype=pl.String, eager=True)
    about = rows.filter(pl.col("memory_id").is_in(known["memory_id"].implode()))["search_id"].drop_nulls()
    searches = store.read_by("searches", "search_id", about.unique().to_list(), columns=["search_id", "seq"])
    placed = rows.select("memory_id", "search_id", since="occurred_at").join(
        searches, on="search_id", how="left", maintain_order="left"
    )
    shown, then = named(placed, known, "seq"), named(placed, known, "since")
    return placed.select(text=pl.when(pl.col("seq").is_null()).then(then).otherwise(shown)).to_series()


_BEHIND = "@"  # between the id of a memory or chunk and the name of its text; no id has it


def _apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in which each text of a memory is a memory of its own, as the rules fold them."""
    said = pl.col("text").fill_null(FIRST)
    ids = [name for name in ("memory_id", "chunk_id") if name in rows.columns]
    return rows.with_columns(
        pl.when(said == FIRST).then(name).otherwise(pl.concat_str(name, pl.lit(_BEHIND), said)).alias(name)
        for name in ids
    )


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows under the ids of their memories, with the text."""
    parts = pl.col("memory_id").str.split_exact(_BEHIND, 1).struct
    whole = [
        pl.col(name).str.split_exact(_BEHIND, 1).struct[0].alias(name)
        for name in ("memory_id", "chunk_id")
        if name in rows.columns
    ]
    return rows.with_columns(*whole, text=parts[1].fill_null(FIRST))


def _credited(store: Store, outcomes: pl.DataFrame, today: pl.DataFrame) -> pl.DataFrame:
    """Signals of outcomes; what happened earlier is in the tables, what happens in this run is given."""
    projects, last = outcomes["project"].unique().to_list(), outcomes["day"].max()
    until = f"day <= {quote(str(last))}"
    made = store.read_by(
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
    covered = covered_searches(outcomes, everything, made.drop("shown", "principal", "imported_from"))
    about = covered["search_id"].unique().to_list()
    said = [
        "search_id", "memory_id", "verdict", "weight", "occurred_at", "signal_id", "principal", "imported",
    ]  # fmt: skip
    known = store.read_by("usage_signals", "search_id", about, columns=said, also=until)
    helped = (
        pl.concat([known, today.select(said)])
        .filter(pl.col("verdict").is_in(["used", "helpful"]) & (pl.col("weight") > 0))
        .group_by("search_id", "memory_id", used_by="principal", used_elsewhere="imported")
        .agg(used_at=pl.col("occurred_at").min())
    )
    whose = made.filter(pl.col("search_id").is_in(about)).select(
        "search_id", "shown", searcher="principal",
        searched_elsewhere=pl.col("imported_from").is_not_null(),
    )  # fmt: skip
    shown = (
        shown_rows(whose)
        .unique(["search_id", "memory_id"])
        .select("search_id", "memory_id", "chunk_id", "searcher", "searched_elsewhere")
    )
    return outcome_signals(outcomes, covered, shown.join(helped, on=["search_id", "memory_id"], how="left"))


def effectiveness(store: Store, signals: pl.DataFrame, first: str, policy: FeedbackPolicy) -> pl.DataFrame:
    """Rows of ``effectiveness`` of the days of these signals; `first` is the first day of the run."""
    touched, before = _ids(signals), f"day < {quote(first)}"
    known = _apart(_about(store, "effectiveness", touched, before))
    votes = _apart(_about(store, "usage_signals", touched, f"{EXPLICIT} AND {before}", FOLDED))
    rows = fold_effectiveness(_apart(signals), _newest(known, "memory_id", "chunk_id"), votes, policy)
    return _together(rows)


def strength(store: Store, signals: pl.DataFrame, first: str, policy: FeedbackPolicy) -> pl.DataFrame:
    """Rows of ``strength`` of the days of these signals; `first` is the first day of the run."""
    known = _apart(_about(store, "strength", _ids(signals), f"day < {quote(first)}"))
    return _together(fold_strength(_apart(signals), _newest(known, "memory_id"), policy))


def promotions(store: Store, signals: pl.DataFrame, first: str, policy: FeedbackPolicy) -> pl.DataFrame:
    """Rows of ``promotions`` of the days of these signals; `first` is the first day of the run."""
    empty = store.empty("promotions")
    praised = signals.filter((pl.col("tier") == "quick") & (pl.col("verdict") == "helpful"))
    if praised.is_empty():
        return empty
    before = f"day < {quote(first)}"
    earlier = store.scan("promotions", before, columns=_DECIDED)
    names = list({*_ids(praised), *earlier.filter(pl.col("reason") == "rate_limited")["memory_id"]})
    quick = f"tier = 'quick' AND {before}"
    votes = pl.concat(
        [
            _about(store, "usage_signals", names, quick, FOLDED),
            signals.filter((pl.col("tier") == "quick") & pl.col("memory_id").is_in(names)).select(FOLDED),
        ]
    )
    notes = _about(
        store, "staged_notes", names, "act IN ('save', 'forget')",
        ["memory_id", "day", "revision", "act", "importance_tier", "principal"],
    )  # fmt: skip
    authors = (
        notes.filter(pl.col("act") == "save")
        .group_by("memory_id", "principal")
        .agg(since=pl.col("day").min())
    )
    seen = _seen(store, votes["namespace"].unique().to_list())
    authors = authors.join(votes.select("memory_id", "text").unique(), on="memory_id")
    counts = useful_votes(_apart(votes), _apart(authors).drop("text"), principals(seen), policy).filter(
        pl.col("day") >= first
    )
    own_tier, earlier = _own_tiers(store, notes, names), _apart(earlier)
    decided: list[dict[str, object]] = []
    for (namespace,), mine in counts.sort("namespace").group_by("namespace", maintain_order=True):
        rows = fold_promotions(mine, own_tier, earlier.filter(pl.col("namespace") == namespace), policy)
        decided += [_promotion_row(str(namespace), one) for one in rows]
    made = pl.DataFrame(decided, schema=empty.drop("text").schema) if decided else empty
    return _together(made).select(empty.columns)


def _promotion_row(namespace: str, one: Promotion) -> dict[str, object]:
    day = last_day(one.decided_at)  # it is decided as the day ends
    return {
        "promotion_id": f"{day}:{one.memory_id}", "day": day, "namespace": namespace,
        "memory_id": one.memory_id,
        "from_tier": one.from_tier, "to_tier": one.to_tier, "reason": one.reason, "useful": one.useful,
        "voters": one.voters, "decided_at": one.decided_at, "detail": one.detail,
    }  # fmt: skip


def _seen(store: Store, namespaces: Sequence[str]) -> pl.DataFrame:
    """Who saved, searched or gave feedback in these namespaces on which days; what was imported is nobody."""
    mine, who = one_of("namespace", namespaces), ["namespace", "principal", "day"]
    own = f"{mine} AND imported_from IS NULL"
    where = {"staged_notes": f"{mine} AND act = 'save'", "searches": own, "events": own}
    return pl.concat([store.scan(name, rows, columns=who) for name, rows in where.items()]).unique()


def _own_tiers(store: Store, notes: pl.DataFrame, names: Sequence[str]) -> Callable[[str, str], str]:
    """What each memory calls itself as of the end of a day; nothing if it is not there or superseded."""
    said: dict[str, list[tuple[str, str, str]]] = {}
    ordered = notes.filter(pl.col("act").is_in(["save", "forget"])).sort("revision")
    for name, *row in ordered.select("memory_id", "day", "act", "importance_tier").iter_rows():
        said.setdefault(name, []).append(tuple(row))
    gone: dict[str, list[tuple[datetime, datetime | None]]] = {}
    superseded = store.read_by(
        "decisions", "other_memory", names, columns=["other_memory", "decided_at", "undone_at"],
        also="outcome = 'supersede'",
    )  # fmt: skip
    for name, since, until in superseded.iter_rows():
        gone.setdefault(name, []).append((since, until))

    def own_tier(name: str, day: str) -> str:
        name = name.partition(_BEHIND)[0]
        _, act, tier = next(
            (row for row in reversed(said.get(name, [])) if row[0] <= day), ("", "forget", "")
        )
        end = day_end(day)
        out = any(since < end and (until is None or until >= end) for since, until in gone.get(name, ()))
        return "" if act == "forget" or out else tier

    return own_tier


def states(
    store: Store,
    memories: pl.DataFrame,
    until: str,
    policy: FeedbackPolicy,
    has: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Rows of ``memory_state``: what use has taught of these memories by the end of a day.

    Args:
        store: the memory.
        memories: namespace and memory_id; those that nothing is known of are left out.
        until: the last day that counts.
        policy: whose votes count.
        has: the text that memories have, where it is not their first: what another text earned waits until
            that comes back.
    """
    has = has or {}
    names, by = memories["memory_id"].to_list(), f"day <= {quote(until)}"
    used = f"tier = 'implicit' AND verdict = 'used' AND weight > 0 AND {by}"
    whole = of_text(_about(store, "effectiveness", names, f"chunk_id IS NULL AND {by}"), has)
    strong = of_text(_about(store, "strength", names, by), has)
    votes = of_text(_about(store, "usage_signals", names, f"{EXPLICIT} AND {by}", FOLDED), has)
    uses = of_text(_about(store, "usage_signals", names, used, _USE), has).drop("text")
    promoted = of_text(_about(store, "promotions", names, f"reason = 'promoted' AND {by}"), has)
    effective = _newest(whole, "memory_id")
    where = f"{one_of('namespace', memories['namespace'].unique().to_list())} AND {by}"
    voices = voices_by(company(store.scan("usage_signals", where, columns=_WHO)), until)
    sums = heard(votes, uses, effective.select("memory_id", *SUMS[2:]), voices, policy)
    effective = effective.select("memory_id", "day").join(sums, on="memory_id")
    ends = day_ends(effective["day"].str.to_date())
    parts = {
        "effective": effective.with_columns(rated(effective, ends, policy)),
        "strong": _newest(strong, "memory_id").drop(
            "strength_id", "namespace", "current", "interval", "text"
        ),
        "promoted": _newest(promoted, "memory_id").select("memory_id", "day", tier="to_tier"),
    }
    rows = memories.select("namespace", "memory_id").unique("memory_id")
    for name, part in parts.items():
        part = part.drop("namespace", strict=False)
        rows = rows.join(part, on="memory_id", how="left", suffix=f"_{name}")
    days = [name for name in rows.columns if name == "day" or name.startswith("day_")]
    return (
        rows.with_columns(day=pl.max_horizontal(days), state_id="memory_id")
        .filter(pl.col("day").is_not_null())
        .select(store.specs["memory_state"].schema.names)
    )


def states_of(
    store: Store,
    namespace: str,
    until: str,
    policy: FeedbackPolicy,
    texts: Texts | None = None,
) -> pl.DataFrame:
    """Rows of ``memory_state`` of a namespace as they were at the end of a day; see `take_effect`."""
    by = f"namespace = {quote(namespace)} AND day <= {quote(until)}"
    names = pl.concat(
        [store.read(name, by, columns=["namespace", "memory_id"]) for name in ("usage_signals", "promotions")]
    )
    names = names.unique("memory_id")
    has = in_force(texts(names["memory_id"].to_list()), day_end(until)) if texts else None
    return states(store, names, until, policy, has)


def _about(
    store: Store, table: str, names: Sequence[str], where: str, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Rows about these memories that pass a filter."""
    if len(names) <= IDS_PER_FILTER:
        return store.read_by(table, "memory_id", names, columns=columns, also=where)
    if not store.count(table, where):
        return store.empty(table, columns)
    wanted = pl.Series("memory_id", names, dtype=pl.String).to_frame()
    return store.scan(table, where, columns=columns).join(wanted, on="memory_id", how="semi")


def _ids(signals: pl.DataFrame) -> list[str]:
    return signals["memory_id"].unique().to_list()


def _newest(rows: pl.DataFrame, *key: str) -> pl.DataFrame:
    return rows.sort("day").unique(key, keep="last", maintain_order=True)


def take_effect(store: Store, days: Sequence[str], policy: FeedbackPolicy, texts: Texts | None = None) -> int:
    """Bring ``memory_state`` up to date with what the folds of these days wrote; returns its changed rows.

    Args:
        store: the memory.
        days: that were folded.
        policy: whose votes count.
        texts: gives the texts of memories; what one earned counts while it is what the memory says.
    """
    here = one_of("day", days)
    columns = ["namespace", "memory_id"]
    touched = pl.concat(
        [store.read(name, here, columns=columns) for name in ("usage_signals", "promotions", "memory_state")]
    ).unique("memory_id")
    newest = max([*days, *folded_days(store)])
    voices = voices_by(company(store.scan("usage_signals", columns=_WHO)), newest)
    before = store.get_meta(COMPANY) or {}
    if changed := sorted(name for name, count in voices.items() if before.get(name, 0) != count):
        # Who is one of many is heard otherwise than who is alone: of every memory of the namespace.
        others = store.scan("memory_state", one_of("namespace", changed), columns=columns)
        touched = pl.concat([touched, others]).unique("memory_id")
    if touched.height:
        rows = _put(store, touched, newest, policy, texts)
    if voices != before:
        store.put_meta(COMPANY, voices)
    return rows.height if touched.height else 0


def follow_texts(store: Store, memories: pl.DataFrame, policy: FeedbackPolicy, texts: Texts) -> None:
    """Bring ``memory_state`` up to date with what memories say now, by all that nights have folded.

    A new text begins with a clean slate, and an old one that is back has what it earned, at once.

    Args:
        store: the memory.
        memories: namespace and memory_id of those that were saved.
        policy: whose votes count.
        texts: gives their texts.
    """
    said = store.read_by("usage_signals", "memory_id", _ids(memories), columns=["memory_id"]).unique()
    touched = memories.select("namespace", "memory_id").join(said, on="memory_id", how="semi")
    if touched.height and (folded := folded_days(store)):
        _put(store, touched.unique("memory_id"), max(folded), policy, texts)


def _put(
    store: Store, memories: pl.DataFrame, until: str, policy: FeedbackPolicy, texts: Texts | None
) -> pl.DataFrame:
    """Write ``memory_state`` of these memories, as it is now; what nothing is known of any more goes."""
    has = in_force(texts(_ids(memories))) if texts else None
    rows = states(store, memories, until, policy, has)
    store.upsert("memory_state", rows)
    for gone in batches(memories.join(rows, on="memory_id", how="anti")["memory_id"].to_list()):
        store.delete("memory_state", one_of("state_id", gone))
    return rows
