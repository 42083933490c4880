"""Selection of pairs worth a label: returned results with the fewest judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
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
_LAST = 1_000_000  # more labels than any pair has

RECENT_DAYS = 30
"""Newest days with searches that are read (count)."""

RANKS = 10
"""Top results of a search that are considered (count)."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Query and a memory that searches returned for it.

    Attributes:
        rank: Best rank, from 1.
        shown: Times it was returned (count).
        labels: People, or judges, who graded it or could not (count).
        later: Whether the requesting user has postponed it.
    """

    query: str
    memory_id: str
    rank: int
    shown: int
    labels: int
    later: bool


def pairs_to_judge(
    journal: Journal, namespace: str, *, who: str = "", source: str = MANUAL
) -> list[ShownPair]:
    """Return the pairs that recent searches returned, unordered.

    Args:
        journal: Journal of the home.
        namespace: The tenant.
        who: Labeller; pairs they have settled are left out. A principal, or `identity` of a judge; empty is
            nobody.
        source: Source of the counted labels: manual or judge.
    """
    days = journal.days(["search"]).filter(pl.col("namespace") == namespace)["day"]
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
    """Return the pairs that a user may label, without secret ones."""
    closed = closed_ids(space.store, namespace)
    return [
        pair
        for pair in pairs_to_judge(space.journal, namespace, who=who)
        if closed.isdisjoint((pair.memory_id, ids.query_id(namespace, pair.query)))
    ]


def _labels(
    journal: Journal, namespace: str, source: str
) -> tuple[defaultdict[tuple[str, str], set[str]], Collection[tuple[tuple[str, str], str]]]:
    """Return the labellers of each pair, and the postponed pairs."""
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
    """Return the latest judgment of each person and judge on each pair, as ``judgments`` rows."""
    days = journal.days(["judgment"]).filter(pl.col("namespace") == namespace)["day"].to_list()
    rows = drain_judgments(journal, days).rows.filter(pl.col("namespace") == namespace)
    pair = ["query_id", "memory_id", "source", "principal"]
    return rows.sort("made_at", maintain_order=True).unique(pair, keep="last", maintain_order=True)


def worth_judging(pairs: Sequence[ShownPair], limit: int, *, seed: str) -> list[ShownPair]:
    """Draw the pairs to label next with `scoring.evaluation.worth_judging`; postponed ones last.

    Args:
        pairs: Pairs.
        limit: Maximum pairs.
        seed: Seed such as the day; another one draws other pairs.
    """
    rows = {
        "namespace": "", "query_id": [pair.query for pair in pairs],
        "memory_id": [pair.memory_id for pair in pairs], "rank": [pair.rank for pair in pairs],
        "searches": [pair.shown for pair in pairs],
        "judgments": [pair.labels + _LAST * pair.later for pair in pairs], "at": range(len(pairs)),
    }  # fmt: skip
    drawn = draw(pl.DataFrame(rows, schema=_DRAWN), limit, seed=seed)
    return [pairs[at] for at in drawn["at"]]
