"""Rows of ``learned_proposals``: every selection of some days, and what it could teach (rule 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import ids
from slowwave.evaluation.derived_judgments import clicked_results, labels_here
from slowwave.feedback.text_attribution import FIRST, texts
from slowwave.journal.kinds.search import shown_rows
from slowwave.quality.instructions import is_instruction
from slowwave.scoring.feedback.learned import propose
from slowwave.scoring.ranking.learned import learnable
from slowwave.scoring.ranking.words import words
from slowwave.store.frames import one_of
from slowwave.store.tenancy import within
from slowwave.store.text import full_text

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.store import Store

_SIGNAL = [
    "day", "namespace", "memory_id", "search_id", "event_id", "principal", "occurred_at", "tier", "verdict",
    "weight", "imported", "text",
]  # fmt: skip
_UTC = pl.Datetime("us", "UTC")


def proposal_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """What the selections of these days could teach.

    A search teaches on the first day on which anything was said of it, once a memory, in the name of who
    selected it first. What was imported was not ranked here, so nobody knows where it stood: it teaches
    nothing. How frequent a word is, is asked of today's notes that there were as the day ended: new notes
    change nothing for it; notes that were forgotten or edited since do.

    Args:
        space: has the signals, the searches and the memories.
        days: to work on (YYYY-MM-DD).
    """
    store = space.store
    chosen = _selections(store, days)
    chosen = _provenance(store, chosen)
    chosen = with_lives(space, chosen)
    asked = _asked(chosen)
    chosen = chosen.join(asked.select("namespace", "query", "asked"), on=["namespace", "query"], how="left")
    chosen = chosen.with_columns(pl.col("asked").fill_null([]))
    worth = chosen.filter(pl.col("rank") > space.learning_policy.excluded_ranks)
    terms = asked.join(worth.select("namespace", "query", "day").unique(), on=["namespace", "query"])
    rows = propose(
        chosen,
        _frequent(space, terms.explode("asked", "words").drop_nulls("asked")),
        space.learning_policy,
        enabled=space.settings.learning.enabled and space.settings.learning.words,
    )
    return rows.join(chosen.select("proposal_id", "day", "query"), on="proposal_id").select(
        store.specs["learned_proposals"].schema.names
    )


def _selections(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """One row a search and memory that was selected on one of these days.

    What was selected here and what was imported are two selections, so that none hides behind the other.
    """
    where = f"{one_of('day', days)} AND tier != 'detailed' AND search_id IS NOT NULL"
    said = store.scan("usage_signals", where, columns=_SIGNAL)
    return pl.concat([_selected(store, said, days, imported=imported) for imported in (False, True)])


def _selected(store: Store, said: pl.DataFrame, days: Sequence[str], *, imported: bool) -> pl.DataFrame:
    said = labels_here(store, said, imported=imported)
    searches = said["search_id"].unique().to_list()
    clicked = clicked_results(store, max(days), searches, imported=imported)
    clicked = clicked.filter("clicked", pl.col("day").is_in(list(days)))
    positive = said.filter(pl.col("verdict").is_in(["used", "helpful"]), pl.col("weight") > 0)
    first = (
        positive.join(clicked, on=["search_id", "memory_id", "day"], how="semi")
        .sort("occurred_at", "event_id")
        .unique(["search_id", "memory_id"], keep="first", maintain_order=True)
    )
    kind = ["imported"] if imported else []
    names = [
        ids.digest("proposal", *one, *kind) for one in first.select("search_id", "memory_id").iter_rows()
    ]
    return first.select(
        "day", "namespace", "memory_id", "search_id", "event_id", "principal",
        text=pl.col("text").fill_null(FIRST), selected_at="occurred_at",
        proposal_id=pl.Series(names, dtype=pl.String),
    )  # fmt: skip


def _provenance(store: Store, chosen: pl.DataFrame) -> pl.DataFrame:
    """With the query, and the rank at which the search showed the memory; null where nobody knows it."""
    searches = store.read_by(
        "searches", "search_id", chosen["search_id"].to_list(),
        columns=["search_id", "namespace", "query", "shown", "imported_from"],
    ).filter(pl.col("imported_from").is_null())  # fmt: skip
    events = store.read_by(
        "events", "event_id", chosen["event_id"].to_list(), columns=["event_id", "imported_from"]
    ).filter(pl.col("imported_from").is_null())
    ranks = shown_rows(searches, "search_id").select("search_id", "memory_id", pl.col("rank").cast(pl.Int32))
    here = pl.col("event_id").is_in(events["event_id"].implode())
    return (
        chosen.join(
            searches.select("search_id", "namespace", "query"), on=["search_id", "namespace"], how="left"
        )
        .join(ranks, on=["search_id", "memory_id"], how="left")
        .with_columns(
            rank=pl.when(here & pl.col("query").is_not_null()).then("rank"),
            query=pl.col("query").fill_null(""),
        )
    )


def with_lives(space: Workspace, chosen: pl.DataFrame) -> pl.DataFrame:
    """With when each memory first said so, when it was retired, and the terms of its trigger phrases.

    The age is that of the first save of the text that was selected, whatever date the note gives itself.

    Args:
        space: has the memories.
        chosen: ``namespace``, ``memory_id``, ``text`` (that was selected).

    Returns:
        The rows with ``born_at``, ``gone_at`` and ``triggers``.
    """
    store = space.store
    names = chosen["memory_id"].unique().to_list()
    saved = store.read_by(
        "staged_notes",
        "memory_id",
        names,
        columns=["namespace", "memory_id", "occurred_at"],
        also="act = 'save'",
    )
    born = saved.group_by("namespace", "memory_id").agg(born_at=pl.col("occurred_at").min())
    rows = store.read_by(
        "memories", "memory_id", names, columns=["namespace", "memory_id", "retired_at", "trigger_phrases"]
    )
    triggers = [
        sorted({term for phrase in phrases or () for term in learnable(phrase)})
        for phrases in rows["trigger_phrases"].to_list()
    ]
    known = rows.select(
        "namespace", "memory_id", gone_at="retired_at",
        triggers=pl.Series(triggers, dtype=pl.List(pl.String)),
    ).join(born, on=["namespace", "memory_id"])  # fmt: skip
    found = chosen.join(known, on=["namespace", "memory_id"], how="left", maintain_order="left")
    later = texts(space, names).filter(pl.col("text") != FIRST).group_by("memory_id", "text")
    began = later.agg(began=pl.col("since").min())
    found = found.join(began, on=["memory_id", "text"], how="left", maintain_order="left").with_columns(
        born_at=pl.coalesce("began", "born_at")
    )
    return found.with_columns(
        pl.col("triggers").fill_null([]), pl.col("born_at").cast(_UTC), pl.col("gone_at").cast(_UTC)
    )


def _asked(chosen: pl.DataFrame) -> pl.DataFrame:
    """The learnable terms of each distinct query, and a word of each; none of one that is an order."""
    queries = chosen.filter(pl.col("query") != "").select("namespace", "query").unique(maintain_order=True)
    terms, spelled = [], []
    for query in queries["query"]:
        of = {} if is_instruction(query) else _spelled(query)
        terms.append(list(of))
        spelled.append(list(of.values()))
    kind = pl.List(pl.String)
    return queries.with_columns(asked=pl.Series(terms, dtype=kind), words=pl.Series(spelled, dtype=kind))


def _spelled(query: str) -> dict[str, str]:
    """A word of the query for each of its learnable terms, in order."""
    found: dict[str, str] = {}
    for word in words(query):
        for term in learnable(word):
            found.setdefault(term, word)
    return found


def _frequent(space: Workspace, terms: pl.DataFrame) -> pl.DataFrame:
    """Document frequency of each term in a namespace at the end of each day, as far as it matters.

    Args:
        space: whose full-text index is asked, for the words of queries alone.
        terms: ``namespace``, ``day``, ``asked`` (the term) and ``words`` (one of its forms).

    Returns:
        namespace, day, term, memories (count) and share (of those that there were).
    """
    found: list[tuple[str, str, str, int, float]] = []
    for (namespace,), mine in terms.group_by("namespace", maintain_order=True):
        found += _counted(space, str(namespace), mine)
    schema = {
        "namespace": pl.String, "day": pl.String, "term": pl.String, "memories": pl.Int64,
        "share": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(found, schema=schema, orient="row")


def _counted(
    space: Workspace, namespace: str, terms: pl.DataFrame
) -> Iterable[tuple[str, str, str, int, float]]:
    """A row for each day and term; a memory has come on the day of its first save."""
    live = space.store.read("memories", within(namespace, "status = 'live'"), columns=["memory_id"])
    saved = space.store.read("staged_notes", within(namespace, "act = 'save'"), columns=["memory_id", "day"])
    came = saved.join(live, on="memory_id", how="semi").group_by("memory_id").agg(pl.col("day").min())
    days = terms["day"].unique().sort()
    sizes = {day: int((came["day"] <= day).sum()) for day in days}
    for (term,), mine in terms.group_by("asked", maintain_order=True):
        on = mine["day"].unique(maintain_order=True).to_list()
        counts = _having(space, namespace, mine["words"][0], came, {day: sizes[day] for day in on})
        for day in on:
            yield namespace, day, str(term), counts[day], counts[day] / max(sizes[day], 1)


def _having(
    space: Workspace, namespace: str, word: str, came: pl.DataFrame, sizes: Mapping[str, int]
) -> dict[str, int]:
    """Document frequency of a word at the end of some days; of a frequent one as many as make it frequent.

    Args:
        space: whose full-text index is asked.
        namespace: of the memories.
        word: that they have.
        came: ``memory_id`` and ``day`` of each memory's first save.
        sizes: memories that there were, by day.
    """
    policy = space.learning_policy
    query = full_text(space.store, "chunks", "search_text", word).where(within(namespace, "status = 'live'"))
    limit = 4 * max(policy.frequent_from, int(policy.frequent_share * came.height) + 1)
    while True:
        rows = query.limit(limit).select(["memory_id", "_score"]).to_arrow()
        found = pl.Series("memory_id", rows.column("memory_id").to_pylist(), dtype=pl.String).unique()
        with_word = came.join(found.to_frame(), on="memory_id", how="semi")["day"]
        counts = {day: int((with_word <= day).sum()) for day in sizes}
        if rows.num_rows < limit or all(
            count >= policy.frequent_from and count > policy.frequent_share * sizes[day]
            for day, count in counts.items()
        ):
            return counts
        limit *= 4  # a memory may have many chunks with the word, and later ones may hide earlier ones
