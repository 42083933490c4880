"""Rows of ``learned_proposals``: selections of some days and the terms they could teach (rule 5)."""

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
    """Build the ``learned_proposals`` rows of these days.

    A search teaches on the day of its first feedback, once per memory, credited to the first user who
    selected it. Imported selections teach nothing, because their rank is unknown. Document frequency is
    computed from today's notes that existed at the end of the day. Notes forgotten or edited since change it;
    new notes do not.

    Args:
        space: Workspace with signals, searches and memories.
        days: Days to process (YYYY-MM-DD).
    """
    store = space.store
    selections = _selections(store, days)
    selections = _provenance(store, selections)
    selections = with_lives(space, selections)
    query_terms = _query_terms(selections)
    selections = selections.join(
        query_terms.select("namespace", "query", "asked"), on=["namespace", "query"], how="left"
    )
    selections = selections.with_columns(pl.col("asked").fill_null([]))
    taught = selections.filter(pl.col("rank") > space.learning_policy.excluded_ranks)
    terms = query_terms.join(taught.select("namespace", "query", "day").unique(), on=["namespace", "query"])
    rows = propose(
        selections,
        _frequent(space, terms.explode("asked", "words").drop_nulls("asked")),
        space.learning_policy,
        enabled=space.settings.learning.enabled and space.settings.learning.words,
    )
    return rows.join(selections.select("proposal_id", "day", "query"), on="proposal_id").select(
        store.specs["learned_proposals"].schema.names
    )


def _selections(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """Return one row per search and memory selected on these days.

    Local and imported selections are kept apart, so neither hides the other.
    """
    where = f"{one_of('day', days)} AND tier != 'detailed' AND search_id IS NOT NULL"
    signals = store.scan("usage_signals", where, columns=_SIGNAL)
    return pl.concat([_selected(store, signals, days, imported=imported) for imported in (False, True)])


def _selected(store: Store, signals: pl.DataFrame, days: Sequence[str], *, imported: bool) -> pl.DataFrame:
    signals = labels_here(store, signals, imported=imported)
    searches = signals["search_id"].unique().to_list()
    clicked = clicked_results(store, max(days), searches, imported=imported)
    clicked = clicked.filter("clicked", pl.col("day").is_in(list(days)))
    positive = signals.filter(pl.col("verdict").is_in(["used", "helpful"]), pl.col("weight") > 0)
    first = (
        positive.join(clicked, on=["search_id", "memory_id", "day"], how="semi")
        .sort("occurred_at", "event_id")
        .unique(["search_id", "memory_id"], keep="first", maintain_order=True)
    )
    kind = ["imported"] if imported else []
    names = [
        ids.digest("proposal", *pair, *kind) for pair in first.select("search_id", "memory_id").iter_rows()
    ]
    return first.select(
        "day", "namespace", "memory_id", "search_id", "event_id", "principal",
        text=pl.col("text").fill_null(FIRST), selected_at="occurred_at",
        proposal_id=pl.Series(names, dtype=pl.String),
    )  # fmt: skip


def _provenance(store: Store, selections: pl.DataFrame) -> pl.DataFrame:
    """Add the query and the rank of the memory; the rank is null if unknown."""
    searches = store.read_by(
        "searches", "search_id", selections["search_id"].to_list(),
        columns=["search_id", "namespace", "query", "shown", "imported_from"],
    ).filter(pl.col("imported_from").is_null())  # fmt: skip
    events = store.read_by(
        "events", "event_id", selections["event_id"].to_list(), columns=["event_id", "imported_from"]
    ).filter(pl.col("imported_from").is_null())
    ranks = shown_rows(searches, "search_id").select("search_id", "memory_id", pl.col("rank").cast(pl.Int32))
    local = pl.col("event_id").is_in(events["event_id"].implode())
    return (
        selections.join(
            searches.select("search_id", "namespace", "query"), on=["search_id", "namespace"], how="left"
        )
        .join(ranks, on=["search_id", "memory_id"], how="left")
        .with_columns(
            rank=pl.when(local & pl.col("query").is_not_null()).then("rank"),
            query=pl.col("query").fill_null(""),
        )
    )


def with_lives(space: Workspace, selections: pl.DataFrame) -> pl.DataFrame:
    """Add birth and retirement of each memory, and the terms of its trigger phrases.

    A memory's age counts from the first save of the selected text, whatever date the note states.

    Args:
        space: Workspace with the memories.
        selections: ``namespace``, ``memory_id``, ``text`` (the selected one).

    Returns:
        The rows with ``born_at``, ``gone_at`` and ``triggers``.
    """
    store = space.store
    names = selections["memory_id"].unique().to_list()
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
    lives = rows.select(
        "namespace", "memory_id", gone_at="retired_at",
        triggers=pl.Series(triggers, dtype=pl.List(pl.String)),
    ).join(born, on=["namespace", "memory_id"])  # fmt: skip
    joined = selections.join(lives, on=["namespace", "memory_id"], how="left", maintain_order="left")
    later = texts(space, names).filter(pl.col("text") != FIRST).group_by("memory_id", "text")
    starts = later.agg(began=pl.col("since").min())
    joined = joined.join(starts, on=["memory_id", "text"], how="left", maintain_order="left").with_columns(
        born_at=pl.coalesce("began", "born_at")
    )
    return joined.with_columns(
        pl.col("triggers").fill_null([]), pl.col("born_at").cast(_UTC), pl.col("gone_at").cast(_UTC)
    )


def _query_terms(selections: pl.DataFrame) -> pl.DataFrame:
    """Return the learnable terms of each distinct query, each with one word form.

    A query that is an instruction has none.
    """
    queries = (
        selections.filter(pl.col("query") != "").select("namespace", "query").unique(maintain_order=True)
    )
    terms, spelled = [], []
    for query in queries["query"]:
        of = {} if is_instruction(query) else _spelled(query)
        terms.append(list(of))
        spelled.append(list(of.values()))
    kind = pl.List(pl.String)
    return queries.with_columns(asked=pl.Series(terms, dtype=kind), words=pl.Series(spelled, dtype=kind))


def _spelled(query: str) -> dict[str, str]:
    """Return one word of the query for each of its learnable terms, in order."""
    forms: dict[str, str] = {}
    for word in words(query):
        for term in learnable(word):
            forms.setdefault(term, word)
    return forms


def _frequent(space: Workspace, terms: pl.DataFrame) -> pl.DataFrame:
    """Compute document frequencies of terms at the end of each day.

    Args:
        space: Workspace with the full-text index; only words of queries are searched.
        terms: ``namespace``, ``day``, ``asked`` (the term) and ``words`` (one of its forms).

    Returns:
        namespace, day, term, memories (count) and share (of the memories at that time).
    """
    counts: list[tuple[str, str, str, int, float]] = []
    for (namespace,), namespace_terms in terms.group_by("namespace", maintain_order=True):
        counts += _counted(space, str(namespace), namespace_terms)
    schema = {
        "namespace": pl.String, "day": pl.String, "term": pl.String, "memories": pl.Int64,
        "share": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(counts, schema=schema, orient="row")


def _counted(
    space: Workspace, namespace: str, terms: pl.DataFrame
) -> Iterable[tuple[str, str, str, int, float]]:
    """Yield a row per day and term; a memory exists from the day of its first save."""
    live = space.store.read("memories", within(namespace, "status = 'live'"), columns=["memory_id"])
    saved = space.store.read("staged_notes", within(namespace, "act = 'save'"), columns=["memory_id", "day"])
    births = saved.join(live, on="memory_id", how="semi").group_by("memory_id").agg(pl.col("day").min())
    days = terms["day"].unique().sort()
    sizes = {day: int((births["day"] <= day).sum()) for day in days}
    for (term,), term_rows in terms.group_by("asked", maintain_order=True):
        on = term_rows["day"].unique(maintain_order=True).to_list()
        counts = _having(space, namespace, term_rows["words"][0], births, {day: sizes[day] for day in on})
        for day in on:
            yield namespace, day, str(term), counts[day], counts[day] / max(sizes[day], 1)


def _having(
    space: Workspace, namespace: str, word: str, births: pl.DataFrame, sizes: Mapping[str, int]
) -> dict[str, int]:
    """Count the memories with a word at the end of some days.

    The count of a frequent word stops once it is known to be frequent.

    Args:
        space: Workspace with the full-text index.
        namespace: Namespace of the memories.
        word: Word to search for.
        births: ``memory_id`` and ``day`` of each memory's first save.
        sizes: Number of memories by day.
    """
    policy = space.learning_policy
    query = full_text(space.store, "chunks", "search_text", word).where(within(namespace, "status = 'live'"))
    limit = 4 * max(policy.common_term_min_memories, int(policy.frequent_share * births.height) + 1)
    while True:
        rows = query.limit(limit).select(["memory_id", "_score"]).to_arrow()
        memories = pl.Series("memory_id", rows.column("memory_id").to_pylist(), dtype=pl.String).unique()
        with_word = births.join(memories.to_frame(), on="memory_id", how="semi")["day"]
        counts = {day: int((with_word <= day).sum()) for day in sizes}
        if rows.num_rows < limit or all(
            count >= policy.common_term_min_memories and count > policy.frequent_share * sizes[day]
            for day, count in counts.items()
        ):
            return counts
        limit *= 4  # a memory may have many chunks with the word, and later ones may hide earlier ones
