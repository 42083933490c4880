"""Schema migrations: an ordered list, each applied once, with a checkpoint before it.

A migration that fails is undone (its tables return to the checkpoint) and the store stays at the
version before it. Each one must be repeatable: it may have been killed after its last write and before
the version was recorded. Searches go on meanwhile: a reader keeps the version it opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from slowwave.notes.chunking import found_by, indexed_text
from slowwave.quality.admission.labels import NAMES
from slowwave.quality.admission.records import A_PERSON_DECIDES
from slowwave.scoring.ranking.words import UNSPACED
from slowwave.store.checkpoints import (
    checkpointed,
    create_checkpoint,
    delete_checkpoint,
    list_checkpoints,
)
from slowwave.store.database import SCHEMA_VERSION, Store, batches
from slowwave.store.frames import one_of, quote
from slowwave.store.labels import folded, own, with_united
from slowwave.store.text import create_full_text_indexes
from slowwave.store.vectors import mean_vectors


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from ``version - 1`` to ``version``."""

    version: int
    name: str
    tables: tuple[str, ...]  # physical names of the tables that it changes
    apply: Callable[[Store], None]


def _columns_of_today(store: Store, *names: str) -> None:
    """Give tables the columns of their present schema: new ones are null, dropped ones go."""
    for name in names:
        table, wanted = store.table(name), store.specs[name].schema
        have = set(table.schema.names)
        if lacking := [field for field in wanted if field.name not in have]:
            table.add_columns(lacking)
        if surplus := sorted(have - set(wanted.names)):
            table.drop_columns(surplus)


_RECONSOLIDATED = ("memories", "decisions", "quarantine", "staged_notes", "gate_verdicts")


def _reconsolidation(store: Store) -> None:
    """A memory has a vector of its own, the mean of its chunks', and knows what it absorbed."""
    _columns_of_today(store, *_RECONSOLIDATED)
    chunks = store.read("chunks", columns=["memory_id", "revision", "ordinal", "vector"])
    rows = store.read("memories", "vector IS NULL").drop("vector")
    own = chunks.join(rows, on=["memory_id", "revision"], how="semi")  # not what a killed writer left behind
    vectors = mean_vectors(own, store.identity.dimension)
    filled = rows.join(vectors, on="memory_id", how="inner").with_columns(
        pl.col("absorbed").fill_null(pl.lit([], dtype=pl.List(pl.String)))
    )
    store.upsert("memories", filled)


_RANKED = ("chunks", "memories", "staged_notes")


def _ranking(store: Store) -> None:
    """Chunks know their vault, notes what they follow; use has a table; the text index keeps pronouns."""
    store.create_table(store.specs["memory_state"])
    _columns_of_today(store, *_RANKED)
    origins = store.read("memories", "origin != ''", columns=["memory_id", "origin"])
    for (origin,), mine in origins.group_by("origin"):
        for part in batches(mine["memory_id"].to_list()):
            lacking = f"origin IS NULL AND {one_of('memory_id', part)}"
            store.table("chunks").update(where=lacking, values={"origin": str(origin)})
    create_full_text_indexes(store.table("chunks"), store.specs["chunks"], again=True)


_FEEDBACK = ("searches", "events", "usage_signals", "effectiveness", "strength", "promotions")


def _feedback(store: Store) -> None:
    """Tables of what use teaches; what it has taught of a memory is one row, with more columns."""
    for name in _FEEDBACK:
        store.create_table(store.specs[name])
    _columns_of_today(store, "memory_state")


_EVALUATION = (
    "judgments", "evaluation_scores", "shadow_scores", "channel_attribution", "interleavings",
    "evaluation_cycles", "cycle_scores", "cycle_judgments",
)  # fmt: skip


def _evaluation(store: Store) -> None:
    """Tables of how good the memory is."""
    for name in _EVALUATION:
        store.create_table(store.specs[name])


_LEARNING = (
    "learned_proposals", "learned_matches", "learned_effect", "learning_gate", "learned_triggers",
    "learning_log",
)  # fmt: skip


def _learning(store: Store) -> None:
    """Tables of what selections teach."""
    for name in _LEARNING:
        store.create_table(store.specs[name])


_VOICES = ("usage_signals", "judgments")


def _voices(store: Store) -> None:
    """What was imported is marked in what follows from it; every day is folded and evaluated anew."""
    _columns_of_today(store, *_VOICES)
    for record in ("fold-", "evaluated-"):
        store.delete("meta", f"starts_with(name, '{record}')")


def _dates(store: Store) -> None:
    """A memory knows the date that its text carries, and whether a person let it in; the nights saw both."""
    _columns_of_today(store, "memories")
    staged = store.read(
        "staged_notes",
        "dated OR released",
        columns=["memory_id", "revision", "created_at", "dated", "released"],
    ).unique(["memory_id", "revision"])
    told = staged.select(
        "memory_id", "released", note=pl.col("revision"), dated=pl.when("dated").then("created_at")
    )
    for part in batches(told["memory_id"].unique().to_list()):
        rows = store.read("memories", one_of("memory_id", part)).drop("dated", "released")
        own = rows.with_columns(note=pl.col("revision").str.split("+").list.first())
        store.upsert("memories", own.join(told, on=["memory_id", "note"], how="inner").drop("note"))


def _sole(store: Store) -> None:
    """A decision about promotion says whether it counts the votes of the only principal there is."""
    _columns_of_today(store, "promotions")


_SEARCHED = {"chunks": "memories", "embedded_chunks": "staged_notes"}  # and where their notes' contexts are


def _unspaced(store: Store) -> None:
    """What is written without spaces is found by its pieces; the text of such chunks is taken apart anew."""
    for name, origin in _SEARCHED.items():
        key = store.specs[name].key
        texts = store.read(name, columns=[key, "search_text"])
        for part in batches(texts.filter(pl.col("search_text").str.contains(UNSPACED))[key].to_list()):
            rows = store.read(name, one_of(key, part))
            of_note = ["memory_id", "revision", *({"day"} & set(rows.columns))]
            known = [*of_note, "context", *({"title"} - set(rows.columns))]
            notes = store.read_by(origin, "memory_id", rows["memory_id"].to_list(), columns=known)
            told = rows.join(notes.unique(of_note), on=of_note, how="left", maintain_order="left")
            found = [
                found_by(indexed_text(title or "", headings or (), text), context)
                for title, headings, text, context in told.select(
                    "title", "headings", "text", "context"
                ).iter_rows()
            ]
            store.upsert(name, rows.with_columns(search_text=pl.Series(found, dtype=pl.String)))


_LABELS = ("memories", "chunks", "decisions")


def _labels(store: Store) -> None:
    """What was merged has the labels of all its parts, and so have its chunks; what waits says for what."""
    _columns_of_today(store, "memories", "decisions")
    columns = ["memory_id", "absorbed", "own_labels", *NAMES]
    grown = store.read("memories", "array_length(absorbed) > 0", columns=columns)
    rows = own(grown)
    while lacking := sorted(set(rows["absorbed"].explode().drop_nulls()) - set(rows["memory_id"])):
        more = own(store.read_by("memories", "memory_id", lacking, columns=columns))
        if more.is_empty():
            break
        rows = pl.concat([rows, more])
    united = folded(rows)
    for part in batches(sorted(united)):
        memories = with_united(store.read("memories", one_of("memory_id", part)), united)
        chunks = store.read("chunks", one_of("memory_id", part))
        shared = [name for name in NAMES if name in chunks.columns]
        told = memories.select("memory_id", *shared)
        store.upsert("chunks", chunks.drop(shared).join(told, on="memory_id"))
        store.upsert("memories", memories)
    _proposals(store)


def _proposals(store: Store) -> None:
    """What protected memories wait for: a merge where nothing was exchanged or denied, else a superseding."""
    from slowwave.quality.divergence.difference import says_more
    from slowwave.quality.divergence.guard import Guard
    from slowwave.quality.divergence.note import Statement

    rows = store.read(
        "decisions",
        "outcome = 'related' AND undone_at IS NULL AND proposed IS NULL "
        f"AND starts_with(evidence, 'protected: {A_PERSON_DECIDES}')",
    )
    names = [*rows["memory_id"], *rows["other_memory"]]
    known = store.read_by("memories", "memory_id", names, columns=["memory_id", "title", "source", "content"])
    said = {name: Statement(*(text or "" for text in rest)) for name, *rest in known.iter_rows()}
    guard, proposed = Guard(), list[str | None]()
    for name, other in rows.select("memory_id", "other_memory").iter_rows():
        if name in said and other in said:
            differences, _ = guard.compare(said[name], said[other])
            proposed.append("merge" if not differences or says_more(differences) else "supersede")
        else:
            proposed.append(None)
    if proposed:
        store.upsert("decisions", rows.with_columns(proposed=pl.Series(proposed, dtype=pl.String)))


_OF_TEXTS = (
    "usage_signals", "effectiveness", "strength", "promotions", "learned_proposals", "learned_triggers",
)  # fmt: skip


def _texts(store: Store) -> None:
    """What was earned belongs to a text; every day is folded anew, so that what was said finds its own."""
    _columns_of_today(store, *_OF_TEXTS)
    for record in ("fold-", "evaluated-"):
        store.delete("meta", f"starts_with(name, '{record}')")


_OF_WHAT = ("learned_matches", "learned_effect", "learning_gate", "learning_log")
_KEYS = ("search_views", "question_vectors", "search_keys")


def _keys(store: Store) -> None:
    """Tables of what past questions led to; every day is evaluated anew, so that what use taught is known."""
    for name in _KEYS:
        store.create_table(store.specs[name])
    _columns_of_today(store, *_OF_WHAT)
    store.delete("meta", "starts_with(name, 'evaluated-')")


_OF_QUESTIONS = ("usage_signals", "learned_effect")


def _questions(store: Store) -> None:
    """Feedback knows its question; every day is folded anew, so that each signal finds it."""
    _columns_of_today(store, *_OF_QUESTIONS)
    store.delete("meta", "starts_with(name, 'fold-')")


# Version 1 was the first that `Store` created. Add the next step at the end and raise SCHEMA_VERSION to it.
MIGRATIONS: tuple[Migration, ...] = (
    Migration(2, "reconsolidation", _RECONSOLIDATED, _reconsolidation),
    Migration(3, "ranking", _RANKED, _ranking),
    Migration(4, "feedback", ("memory_state",), _feedback),
    Migration(5, "evaluation", (), _evaluation),
    Migration(6, "learning", (), _learning),
    Migration(7, "voices", _VOICES, _voices),
    Migration(8, "dates", ("memories",), _dates),
    Migration(9, "sole principals", ("promotions",), _sole),
    Migration(10, "unspaced", tuple(_SEARCHED), _unspaced),
    Migration(11, "labels", _LABELS, _labels),
    Migration(12, "texts", _OF_TEXTS, _texts),
    Migration(13, "search keys", _OF_WHAT, _keys),
    Migration(14, "questions", _OF_QUESTIONS, _questions),
)


BEFORE = "before-upgrade"
"""Checkpoint of all tables as they were before the last upgrade."""
_UNDER_WAY = "upgrading"


def pending(store: Store, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Migrations that the store has not had, in order."""
    recorded = store.get_meta("schema")
    version = recorded["version"] if recorded else SCHEMA_VERSION
    return sorted((step for step in migrations if step.version > version), key=lambda step: step.version)


def migrate(store: Store, as_of: datetime, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Apply what is pending; returns what was applied.

    A checkpoint of all tables as they were is kept (`BEFORE`), and the last checkpoint of each step.
    """
    applied, steps = [], pending(store, migrations)
    begun = {"to": steps[-1].version} if steps else None
    if begun is not None and store.get_meta(_UNDER_WAY) != begun:  # what was killed keeps its own
        if BEFORE in {checkpoint.name for checkpoint in list_checkpoints(store)}:
            delete_checkpoint(store, BEFORE)
        create_checkpoint(store, BEFORE, as_of)
        store.put_meta(_UNDER_WAY, begun)
    for step in steps:
        name = f"before-migration-{step.version}"
        if name in {checkpoint.name for checkpoint in list_checkpoints(store)}:
            delete_checkpoint(store, name)  # of an attempt that was killed or failed
        with checkpointed(store, name, as_of, step.tables):
            step.apply(store)
        store.put_meta("schema", {"version": step.version})
        store.refresh()
        applied.append(step)
    if steps:
        store.delete("meta", f"name = {quote(_UNDER_WAY)}")
    return applied
