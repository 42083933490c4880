"""Rows of every table that the warehouse reads, a few a day, written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl

from slowwave.common import ids
from slowwave.journal import Entry, Journal
from slowwave.store import Store

FIRST = date(2026, 3, 1)
SECRET_TITLE, TEXT, QUERY = "Where the spare key lies", "under the third stone", "When do we  DEPLOY?"
VARIANTS = ("logged", "without vector", "rrf")


def put(store: Store, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows; a missing key is made of namespace, day and number, a missing column null."""
    schema, key = store.empty(table).schema, store.specs[table].key
    named = [{"namespace": "ada", **row} for row in rows]
    whole = [
        {key: f"{row['namespace']}-{row.get('day')}-{number}", **row} for number, row in enumerate(named)
    ]
    names = list(dict.fromkeys(name for row in whole for name in row))
    store.upsert(table, pl.DataFrame(whole, schema={name: schema[name] for name in names}))


def day_of(number: int) -> str:
    return (FIRST + timedelta(days=number)).isoformat()


def noon_of(number: int) -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(days=number)


def journal_day(journal: Journal, number: int, namespace: str = "ada") -> None:
    """The act that the memories of `fill_day` came from: a home is not opened whose journal lacks it."""
    said = {"title": "Deploy day", "content": TEXT, "sensitivity": ""}
    event = f"{namespace}-{number}"
    journal.append([Entry(event, "save", namespace, event, noon_of(number), "test", payload=said)])


def fill_day(store: Store, number: int, namespace: str = "ada") -> None:
    """One row or more of a day in every table."""
    day, at = day_of(number), noon_of(number)
    here = {"day": day, "namespace": namespace}
    name = f"{namespace}-{number}"
    revision = ids.revision(at, name)
    shown = [
        {"memory_id": f"{name}-a", "chunk_id": f"{name}-a:0", "rank": 1, "score": 0.5, "channels": ["bm25"]}
    ]
    # fmt: off
    put(store, "searches", [
        {**here, "search_id": f"{name}-1", "query": QUERY, "shown": shown, "principal": "ann",
         "abstained": False},
        {**here, "search_id": f"{name}-2", "query": QUERY.lower(), "shown": shown, "principal": "bob"},
        {**here, "search_id": f"{name}-3", "query": "else", "shown": [], "abstained": True,
         "imported_from": "ubi", "project": "p"},
    ])
    put(store, "events", [{**here, "search_id": f"{name}-2", "tier": "quick", "verdict": "neutral"}])
    put(store, "usage_signals", [
        {**here, "search_id": f"{name}-1", "memory_id": f"{name}-a", "verdict": "used", "tier": "implicit"},
        {**here, "search_id": f"{name}-1", "memory_id": f"{name}-a", "verdict": "helpful", "tier": "quick"},
        {**here, "search_id": None, "memory_id": f"{name}-b", "verdict": "success", "tier": "detailed"},
    ])
    put(store, "promotions", [
        {**here, "memory_id": f"{name}-a", "reason": "promoted"},
        {**here, "memory_id": f"{name}-b", "reason": "below_threshold"},
    ])
    put(store, "gate_verdicts", [
        {**here, "memory_id": f"{name}-a", "revision": revision, "verdict": "pass", "reasons": []},
        {**here, "memory_id": f"{name}-b", "revision": revision, "verdict": "refuse",
         "reasons": ["too_short", "junk"]},
        {**here, "memory_id": f"{name}-c", "revision": revision, "verdict": "pass", "reasons": None},
        {**here, "memory_id": f"{name}-d", "revision": revision, "verdict": "pass", "reasons": ["thin"]},
        {**here, "memory_id": f"{name}-e", "revision": revision, "verdict": "retire", "reasons": []},
    ])
    decided = {**here, "revision": revision}
    put(store, "decisions", [
        {**decided, "memory_id": f"{name}-a", "outcome": "complement", "refused": False, "reasons": []},
        {**decided, "memory_id": f"{name}-c", "outcome": "duplicate", "refused": True, "reasons": ["near"]},
        {**decided, "memory_id": f"{name}-d", "outcome": "merge", "refused": False, "reasons": []},
    ])
    held = {**here, "revision": revision, "content": TEXT, "title": SECRET_TITLE}
    put(store, "quarantine", [
        {**held, "memory_id": f"{name}-b", "status": "held"},
        {**held, "memory_id": f"{name}-c", "status": "resolved"},
    ])
    note = {"namespace": namespace, "revision": revision, "content": TEXT, "created_at": at, "status": "live"}
    put(store, "memories", [
        {**note, "memory_id": f"{name}-a", "title": "Deploy day", "importance_tier": "normal"},
        {**note, "memory_id": f"{name}-d", "title": SECRET_TITLE, "sensitivity": "secret"},
    ])
    put(store, "memory_state", [
        {**here, "state_id": f"{name}-a", "memory_id": f"{name}-a", "effectiveness": 0.6, "strength": 1.0,
         "stability": 172_800.0, "used": 1, "tier": "important", "last_at": at},
        {**here, "state_id": f"{name}-d", "memory_id": f"{name}-d", "effectiveness": float("nan")},
    ])
    put(store, "evaluation_scores", [
        {**here, "search_id": f"{name}-{search}", "query_id": query, "variant": variant,
         "policy_version": "p1", "mrr_5": value, "ndcg_10": value, "recall_20": 1.0, "hit_rate_1": 0.0,
         "judged_10": 0.5, "abstained": search == 3}
        for variant in VARIANTS
        for search, query, value in ((1, "q1", 0.2), (2, "q1", 0.4), (3, "q2", 0.9), (4, "q3", 0.3))
    ])
    put(store, "learned_effect", [
        {**here, "search_id": f"{name}-1", "query_id": "q1", "moved": True, "live": True, "mrr_5": 0.5,
         "mrr_5_learned": 1.0},
    ])
    put(store, "channel_attribution", [
        {**here, "search_id": f"{name}-1", "channel": "vector", "results": 4, "covered": 3, "exclusive": 1},
        {**here, "search_id": f"{name}-1", "channel": "bm25", "results": 4, "covered": 2, "exclusive": 1},
        {**here, "search_id": f"{name}-1", "channel": "trigger", "results": 4, "covered": 1, "exclusive": 0},
        {**here, "search_id": f"{name}-1", "channel": "*", "results": 4, "single": 2, "multi": 2,
         "unattributed": 0},
    ])
    put(store, "evaluation_cycles", [
        {"cycle_id": f"{namespace}#{number + 1}", "namespace": namespace, "number": number + 1,
         "status": "open", "opened_on": day, "days": 3, "searches": 40, "queries": 30}
    ])
    # fmt: on
