"""A namespace whose gate of search keys lacks only a person's word, as the nights would have left it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl
from learning_rows import DAY, HOUR, TERMS, WHO, put_progress
from warehouse_rows import put

from slowwave.common import ids
from slowwave.feedback.questions import remember
from slowwave.home.processing_watermarks import EVALUATION
from slowwave.home.workspace import Workspace
from slowwave.learning.applied_terms import applied
from slowwave.learning.events import APPROVE, write_event
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.isolation import prove
from slowwave.learning.log import log_taught
from slowwave.scoring.feedback.learned import KEYS

FIRST, LAST = 10, 3
"""Days ago on which the questions were asked, one memory a day."""


def asked(at: int, which: int) -> str:
    """What one of two people asked that led to ``memory-<at>``."""
    return (f"where is the {' '.join(TERMS[at])}?", f"{' and '.join(TERMS[at])}: who knows?")[which]


def put_views(space: Workspace, now: datetime, namespace: str = "ada", *, first: int = FIRST) -> None:
    """Two people's questions lead to each of eight memories, a memory a day; each shows another, too."""
    store = space.store
    put(store, "memories", [
        {"memory_id": f"memory-{at}", "namespace": namespace, "title": f"About the {terms[0]}",
         "status": "live", "source": f"note-{at}"}
        for at, terms in enumerate(TERMS)
    ])  # fmt: skip
    rows = [
        row
        for at in range(len(TERMS)) for which, who in enumerate(WHO)
        for row in views_of(namespace, at, which, who, now - (first - at) * DAY - which * HOUR)
    ]  # fmt: skip
    put_seen(space, rows)


def views_of(
    namespace: str, at: int, which: int, who: str, moment: datetime, *, search: str = ""
) -> list[dict[str, Any]]:
    """Rows of ``search_views`` of one search: a memory that was taken, and the next one, shown above it."""
    query, search = asked(at, which), search or f"{namespace}-key-{at}-{which}"
    common = {
        "day": f"{moment:%F}", "namespace": namespace, "search_id": search, "query": query, "principal": who,
        "query_id": ids.query_id(namespace, query), "at": moment, "text": "",
    }  # fmt: skip
    names = [f"memory-{at}", f"memory-{(at + 1) % len(TERMS)}"]
    return [
        {**common, "view_id": f"{search}:{name}", "memory_id": name, "rank": 2 - place, "selected": not place,
         "taken": 0.0 if place else 0.9, "examined": (2 - place) ** -0.5}
        for place, name in enumerate(names)
    ]  # fmt: skip


def put_seen(space: Workspace, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows of ``search_views``, with the vectors of their questions."""
    put(space.store, "search_views", rows)
    questions = pl.DataFrame(list(rows)).select("namespace", "query_id", "query")
    remember(space.store, space.embedder, questions)


def put_key_effect(
    space: Workspace, now: datetime, namespace: str = "ada", *, relevant: bool = True, after: float = 0.6
) -> None:
    """Every key led two questions of yesterday to its memory; and what all would do to 30 searches."""
    day = f"{now - DAY:%F}"
    put(space.store, "learned_matches", [
        {"match_id": f"{namespace}:keys:{at}:{which}:{turn}", "day": day, "namespace": namespace,
         "search_id": f"k{at}-{turn}", "memory_id": f"memory-{at}", "kind": KEYS, "share": 0.5,
         "term": ids.query_id(namespace, asked(at, which)), "query_id": f"asked-{at}-{turn}",
         "relevant": relevant, "evidence": "used"}
        for at in range(len(TERMS)) for which in range(2) for turn in range(2)
    ])  # fmt: skip
    put(space.store, "learned_effect", [
        {"effect_id": f"{namespace}:keys:{at}", "day": day, "namespace": namespace, "search_id": f"e{at}",
         "query_id": ids.query_id(namespace, f"asked {at}"), "moved": True, "live": False, "kind": KEYS,
         "mrr_5": 0.5, "mrr_5_learned": after, "ndcg_10": 0.5, "ndcg_10_learned": after}
        for at in range(30)
    ])  # fmt: skip


def put_keys_ready(space: Workspace, now: datetime, namespace: str = "ada") -> None:
    """Two closed cycles, ten days of questions, no noise, no harm."""
    put_progress(space.store, now, namespace)
    put_views(space, now, namespace)
    put_key_effect(space, now, namespace)


def put_keys_open(space: Workspace, now: datetime, namespace: str = "ada", *, approved: bool = True) -> None:
    """All of it, a person's word of the day before, and the record of the evaluated days."""
    put_keys_ready(space, now, namespace)
    if approved:
        write_event(
            space.journal, namespace, APPROVE, who="ida", why="", at=now - DAY, detail={"kind": KEYS}
        )  # fmt: skip
    nothing = {"chain": "", "judgments": 0, "notes": 0}
    EVALUATION.finish(space.store, {f"{now - ago * DAY:%F}": nothing for ago in range(1, 12)})
    prove(space.store)  # writes its canary


def night_of_keys(space: Workspace, namespace: str = "ada") -> pl.DataFrame:
    """What a night writes of all that is proposed, behind an open gate."""
    found = Evidence(space, among=[namespace])
    days = found.views["day"].unique().to_list()
    rows = applied(found, [(day, namespace) for day in days], KEYS)
    log_taught(space.store, rows, space.store.empty("search_keys"), KEYS)
    space.store.upsert("search_keys", rows)
    return rows
