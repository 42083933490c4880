"""Which pairs of query and memory are worth a label: those that searches showed and that have the fewest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.home.visibility import closed_ids
from slowwave.journal import payload_of
from slowwave.journal.kinds.search import results_in
from slowwave.scoring.evaluation import worth_judging as draw
from slowwave.scoring.evaluation.judgments import MANUAL

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

_DRAWN = {
    "namespace": pl.String, "query_id": pl.String, "memory_id": pl.String, "rank": pl.Int64,
    "searches": pl.Int64, "judgments": pl.Int64, "at": pl.Int64,
}  # fmt: skip
_LAST = 1_000_000  # labels of none

RECENT_DAYS = 30
"""Days with searches that are looked at, the newest (count)."""

RANKS = 10
"""Results of a search that are looked at, the first (count)."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair that searches showed.

    Attributes:
        rank: the best at which it was shown, from 1.
        shown: how often (count).
        labels: people, or judges, who have graded it or found that they cannot (count).
        later: whether the one who asks has put it off.
    """

    query: str
    memory_id: str
    rank: int
    shown: int
    labels: int
    later: bool


def pairs_to_judge(
    journal: Journal, namespace: str, *, who: str = "", source: str = MANUAL, until: date | None = None
) -> list[ShownPair]:
    """Pairs that recent searches showed, in no order.

    Args:
        journal: of the home.
        namespace: the tenant.
        who: is to label: what he has settled is left out. A principal, or `identity` of a judge; empty:
            nobody in particular.
        source: whose labels are counted: those by hand, or those of judges.
        until: searches of this day (UTC) and before.
    """
    days = journal.days(["search"]).filter(pl.col("namespace") == namespace)["day"]
    days = days.filter(days <= until.isoformat()) if until is not None else days
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for day in days.sort(descending=True).head(RECENT_DAYS):
        for payload in journal.read(kinds=["search"], days=[day], namespace=namespace)["payload"]:
            search = payload_of(payload)
            for row in results_in(search):
                if (row.get("rank") or RANKS + 1) <= RANKS:
                    key = (ids.query_id(namespace, search["query"]), row["memory_id"])
                    pair = pairs.setdefault(key, {"query": search["query"], "rank": row["rank"], "shown": 0})
                    pair["rank"] = min(pair["rank"], row["rank"])
                    pair["shown"] += 1
    settled, later = _labels(journal, namespace, source)
    return [
        ShownPair(pair["query"], key[1], pair["rank"], pair["shown"], len(settled[key]), (key, who) in later)
        for key, pair in pairs.items()
        if not who or who not in settled[key]
    ]


def pairs_for(space: Workspace, namespace: str, who: str) -> list[ShownPair]:
    """Pairs that a person may label: those of `pairs_to_judge` without what is secret."""
    closed = closed_ids(space.store, namespace)
    return [
        one
        for one in pairs_to_judge(space.journal, namespace, who=who)
        if closed.isdisjoint((one.memory_id, ids.query_id(namespace, one.query)))
    ]


def _labels(
    journal: Journal, namespace: str, source: str
) -> tuple[defaultdict[tuple[str, str], set[str]], Collection[tuple[tuple[str, str], str]]]:
    """Who has settled each pair, and which pairs somebody has put off."""
    settled: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    later: set[tuple[tuple[str, str], str]] = set()
    rows = last_words(journal, namespace).filter(pl.col("source") == source)
    for row in rows.iter_rows(named=True):
        key = (row["query_id"], row["memory_id"])
        who = row["principal"] if source == MANUAL else row["judge"]
        if row["state"] == "later":
            later.add((key, who))
        else:
            settled[key].add(who)
    return settled, later


def last_words(journal: Journal, namespace: str) -> pl.DataFrame:
    """The last word of each person and each judge on each pair, as rows of ``judgments``."""
    days = journal.days(["judgment"]).filter(pl.col("namespace") == namespace)["day"].to_list()
    rows = drain_judgments(journal, days).rows.filter(pl.col("namespace") == namespace)
    pair = ["query_id", "memory_id", "source", "principal"]
    return rows.sort("made_at", maintain_order=True).unique(pair, keep="last", maintain_order=True)


def worth_judging(found: Sequence[ShownPair], limit: int, *, seed: str) -> list[ShownPair]:
    """The pairs that are labelled next, by `scoring.evaluation.worth_judging`; what was put off comes last.

    Args:
        found: pairs.
        limit: most pairs wanted.
        seed: such as the day; another one draws others.
    """
    rows = {
        "namespace": "", "query_id": [one.query for one in found],
        "memory_id": [one.memory_id for one in found], "rank": [one.rank for one in found],
        "searches": [one.shown for one in found],
        "judgments": [one.labels + _LAST * one.later for one in found], "at": range(len(found)),
    }  # fmt: skip
    drawn = draw(pl.DataFrame(rows, schema=_DRAWN), limit, seed=seed)
    return [found[at] for at in drawn["at"]]
