"""A namespace whose learning gate lacks nothing but a person's word, as the nights would have left it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
from warehouse_rows import put

from slowwave.common import ids
from slowwave.feedback.questions import with_query_ids
from slowwave.home.processing_watermarks import EVALUATION
from slowwave.home.workspace import Workspace
from slowwave.learning.applied_terms import applied
from slowwave.learning.events import APPROVE, write_event
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.isolation import prove
from slowwave.learning.log import log_refusals, log_taught
from slowwave.store import Store

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
TERMS = [
    ("glacier", "pump", "valve"), ("ferry", "quay", "timetable"), ("radar", "mast", "echo"),
    ("ledger", "cellar", "backup"), ("battery", "gauge", "winter"), ("rota", "telephone", "night"),
    ("kiln", "glaze", "firing"), ("orchard", "graft", "frost"),
]  # fmt: skip
"""What two questions each taught the memories ``memory-0`` to ``memory-7``."""
NEWS = ("beacon", "skerry", "lantern")
WHO = ("ann", "bob")


def put_ready(store: Store, now: datetime, namespace: str = "ada") -> None:
    """Two closed cycles, ten days of proposals, no noise, no harm."""
    put_progress(store, now, namespace)
    put_proposals(store, now, namespace)
    put_effect(store, now, namespace)


def put_open(
    space: Workspace,
    now: datetime,
    namespace: str = "ada",
    *,
    approved: bool = True,
    memory: str = "memory-8",
) -> None:
    """All of it, a person's word of the day before, and what that day teaches a memory."""
    put_ready(space.store, now, namespace)
    put_news(space.store, now, namespace, memory)
    if approved:
        write_event(space.journal, namespace, APPROVE, who="ida", why="", at=now - DAY, detail={})
    nothing = {"chain": "", "judgments": 0, "notes": 0}
    EVALUATION.finish(space.store, {f"{now - ago * DAY:%F}": nothing for ago in range(1, 12)})
    prove(space.store)  # writes its canary


def put_news(store: Store, now: datetime, namespace: str = "ada", memory: str = "memory-8") -> None:
    """Two people's selections of yesterday teach a ninth memory three terms."""
    put(store, "learned_proposals", [
        _proposal(f"news-{which}", namespace, memory, who, now - DAY - which * HOUR, NEWS, which)
        for which, who in enumerate(WHO)
    ])  # fmt: skip


def put_progress(store: Store, now: datetime, namespace: str = "ada", *, queries: int = 110) -> None:
    """Two closed cycles of `queries` distinct queries each and 14 days, the last one closed yesterday."""
    for number in (1, 2):
        opened, cycle = now - (43 - 14 * number) * DAY, f"{namespace}#{number}"
        asked = [f"question {at} of cycle {number}" for at in range(queries)]
        put(store, "evaluation_cycles", [{
            "cycle_id": cycle, "namespace": namespace, "number": number, "status": "closed",
            "opened_on": f"{opened:%F}", "closed_on": f"{opened + 13 * DAY:%F}", "days": 14,
            "searches": queries, "queries": queries, "variants": "{}", "summary": "{}",
        }])  # fmt: skip
        put(store, "searches", [
            {"namespace": namespace, "search_id": f"{cycle}-{at}", "day": f"{opened:%F}", "query": one,
             "shown": []}
            for at, one in enumerate(asked)
        ])  # fmt: skip
        named = with_query_ids(pl.DataFrame({"namespace": [namespace] * queries, "query": asked}))
        put(store, "judgments", [
            {"judgment_id": f"{cycle}:{at}", "day": f"{opened:%F}", "namespace": namespace, "query_id": one,
             "memory_id": "memory-0", "source": "manual", "grade": 3.0, "state": "graded",
             "principal": "ann", "made_at": opened}
            for at, one in enumerate(named["query_id"])
        ])  # fmt: skip
        put(store, "cycle_scores", [
            {"cycle_score_id": f"{cycle}:{at}", "cycle_id": cycle, "namespace": namespace,
             "variant": "logged", "query_id": one, "mrr_5": 0.5}
            for at, one in enumerate(named["query_id"])
        ])  # fmt: skip


def put_proposals(store: Store, now: datetime, namespace: str = "ada", *, days: int = 10) -> None:
    """Two people's selections teach eight memories three terms each; one more was ranked too well."""
    put(store, "memories", [
        {"memory_id": f"memory-{at}", "namespace": namespace, "title": f"About the {terms[0]}",
         "status": "live", "source": f"note-{at}"}
        for at, terms in enumerate(TERMS)
    ])  # fmt: skip
    rows = []
    for at, terms in enumerate(TERMS):
        for which, who in enumerate(WHO):
            moment = now - (days - which) * DAY + timedelta(minutes=at)
            rows.append(_proposal(f"{at}-{which}", namespace, f"memory-{at}", who, moment, terms, which))
    first = rows[0]
    rows.append(
        {**first, "proposal_id": "top", "search_id": "search-top", "rank": 2, "refusal": "top_3_exclusion"}
    )
    put(store, "learned_proposals", rows)


def _proposal(
    name: str, namespace: str, memory: str, who: str, at: datetime, terms: tuple[str, ...], which: int
) -> dict[str, Any]:
    words = sorted([*terms, f"other{which}"])
    return {
        "proposal_id": f"{namespace}-{name}", "namespace": namespace, "memory_id": memory, "principal": who,
        "search_id": f"search-{name}", "day": f"{at:%F}", "query": f"where is the {' '.join(words)}?",
        "question": " ".join(words), "selected_at": at, "rank": 5, "terms": list(terms),
    }  # fmt: skip


def put_effect(
    store: Store, now: datetime, namespace: str = "ada", *, relevant: bool = True, after: float = 0.6
) -> None:
    """Every term matched once, and the would-be effect of what was proposed on 30 searches."""
    day = f"{now - DAY:%F}"
    put(store, "learned_matches", [
        {"match_id": f"{namespace}:{at}:{term}", "day": day, "namespace": namespace, "search_id": f"m{at}",
         "memory_id": f"memory-{at}", "term": term, "relevant": relevant, "evidence": "used"}
        for at, terms in enumerate(TERMS) for term in terms
    ])  # fmt: skip
    put(store, "learned_effect", [
        {"effect_id": f"{namespace}:{at}", "day": day, "namespace": namespace, "search_id": f"e{at}",
         "query_id": ids.query_id(namespace, f"asked {at}"), "moved": True, "live": False,
         "mrr_5": 0.5, "mrr_5_learned": after, "ndcg_10": 0.5, "ndcg_10_learned": after}
        for at in range(30)
    ])  # fmt: skip


def night(space: Workspace, namespace: str = "ada", *, opened: bool = True) -> pl.DataFrame:
    """What a night writes of all that is proposed, behind an open gate or a closed one."""
    found = Evidence(space, among=[namespace])
    days = found.proposals["day"].unique().to_list()
    if not opened:
        log_refusals(
            space.store, found, dict.fromkeys(((day, namespace) for day in days), "gate_closed"), days
        )
        return space.store.empty("learned_triggers")
    rows = applied(found, [(day, namespace) for day in days])
    log_taught(space.store, rows, space.store.empty("learned_triggers"))
    space.store.upsert("learned_triggers", rows)
    return rows
