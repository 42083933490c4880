"""The texts that a memory had, and which of them what is said of it belongs to (rule 7.6).

They follow from the journal alone, so any past day finds what it found. Most memories have said one thing
ever; of those there is nothing to know here, and their text has no name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.common import ids
from slowwave.embedding.bundled import is_word
from slowwave.journal.kinds.note import text_in
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.text_lineage import Similarity, lineages
from slowwave.quality.titles import is_from_first_words

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry

Texts = Callable[[Collection[str]], pl.DataFrame]
"""Gives rows of `texts` of some memories."""
FIRST = ""
"""Name of the first text of a memory; a later one has the revision of its first version."""
SCHEMA = {
    "namespace": pl.String(), "memory_id": pl.String(), "revision": pl.String(), "seq": pl.Int64(),
    "since": pl.Datetime("us", "UTC"), "text": pl.String(), "refused": pl.Boolean(),
}  # fmt: skip
_READ = 4_000  # characters of a text that its vector is of; what comes later the guard alone compares


def texts(space: Workspace, memory_ids: Collection[str]) -> pl.DataFrame:
    """Every version of those of these memories whose text ever changed.

    Args:
        space: the home.
        memory_ids: of any namespaces.

    Returns:
        namespace, memory_id, revision (of the note), seq and since (place and moment among all acts), text
        (name of what it says, `FIRST` for the first) and refused (it never was the memory's text), in the
        order in which they were written.
    """
    known = space.store.read_by("memories", "memory_id", sorted(memory_ids), columns=["namespace", "source"])
    rewritten = [
        (str(namespace), source)
        for (namespace,), mine in known.group_by("namespace")
        for source in space.journal.rewritten(str(namespace), mine["source"].to_list())
    ]
    rows = []
    for where, source in rewritten:
        saves = [one for one in space.journal.about(where, source) if one.kind == "save"]
        versions = [ids.revision(one.ordered_at or one.occurred_at, one.event_id) for one in saves]
        said = [_statement(one) for one in saves]
        places = lineages(said, _similarity(space), is_word, space.thresholds.merge)
        memory = ids.memory_id(where, source)
        rows += [
            (
                where,
                memory,
                version,
                one.seq,
                one.ordered_at or one.occurred_at,
                versions[at] if at else FIRST,
                False,
            )
            for version, one, at in zip(versions, saves, places, strict=True)
        ]
    found = pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("revision")
    if found.is_empty():
        return found
    held = space.store.read_by(
        "quarantine", "memory_id", found["memory_id"].unique().to_list(), columns=["memory_id", "revision"],
        also="status = 'held'",
    ).unique()  # fmt: skip
    return (
        found.join(
            held.with_columns(held=True), on=["memory_id", "revision"], how="left", maintain_order="left"
        )
        .with_columns(refused=pl.col("held").fill_null(value=False))
        .select(*SCHEMA)
    )


def texts_in(space: Workspace) -> Texts:
    """`texts` of a home, to be asked when they are needed."""
    return partial(texts, space)


def in_force(found: pl.DataFrame, as_of: datetime | None = None) -> dict[str, str]:
    """The name of the text that each memory has at a moment (None: now), where it is not the first.

    Args:
        found: rows of `texts`.
        as_of: what was written by then counts.
    """
    there = found.filter(~pl.col("refused"))
    if as_of is not None:
        there = there.filter(pl.col("since") <= as_of)
    last = there.sort("revision").unique("memory_id", keep="last").filter(pl.col("text") != FIRST)
    return dict(last.select("memory_id", "text").iter_rows())


def named(rows: pl.DataFrame, found: pl.DataFrame, by: str) -> pl.Series:
    """The text that the memory of each row had at a place or moment among all acts.

    Args:
        rows: with memory_id and `by`; where that is null, the first text is meant.
        found: rows of `texts`.
        by: ``seq`` or ``since``.
    """
    there = found.filter(~pl.col("refused"), pl.col("memory_id").is_in(rows["memory_id"].implode()))
    if there.is_empty():
        return pl.repeat(FIRST, rows.height, dtype=pl.String, eager=True).alias("text")
    written = there.select("memory_id", by, "text").sort(by)
    numbered = rows.select("memory_id", by).with_row_index("place").drop_nulls(by).sort(by)
    matched = numbered.join_asof(written, on=by, by="memory_id", check_sortedness=False).select(
        "place", "text"
    )
    places = pl.DataFrame({"place": pl.int_range(rows.height, dtype=pl.UInt32, eager=True)})
    return places.join(matched, on="place", how="left", maintain_order="left")["text"].fill_null(FIRST)


def of_text(rows: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Those rows that belong to the text which their memory has.

    Args:
        rows: with memory_id and text.
        names: of `in_force`.
    """
    has = pl.col("memory_id").replace_strict(dict(names), default=FIRST, return_dtype=pl.String)
    return rows.filter(pl.col("text").fill_null(FIRST) == has)


def _statement(entry: Entry) -> ComparedNote:
    title, content = entry.payload.get("title"), text_in(entry.payload)
    title = title if isinstance(title, str) else ""
    given = "" if is_from_first_words(title, content or "") else title
    return ComparedNote(
        given, entry.subject,  # a title that follows from the text says nothing beside it
        entry.event_id if content is None else content,  # erased or malformed: like no other
    )  # fmt: skip


def _similarity(space: Workspace) -> Similarity:
    @lru_cache(maxsize=64)
    def vector(text: str) -> np.ndarray:
        made: np.ndarray = space.embedder.embed_documents([text[:_READ]])[0].astype(np.float64)
        return made

    def similarity(one: str, other: str) -> float:
        return float(vector(one) @ vector(other))

    return similarity
