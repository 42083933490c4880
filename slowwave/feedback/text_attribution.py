"""Texts that a memory had, and attribution of feedback to them (rule 7.6).

They follow from the journal alone, so a past day gives the same result. Most memories have had one text only;
they have no rows here, and their text has no name.
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
"""Returns rows of `texts` of some memories."""
FIRST = ""
"""Name of the first text of a memory; a later one has the revision of its first version."""
SCHEMA = {
    "namespace": pl.String(), "memory_id": pl.String(), "revision": pl.String(), "seq": pl.Int64(),
    "since": pl.Datetime("us", "UTC"), "text": pl.String(), "refused": pl.Boolean(),
}  # fmt: skip
_READ = 4_000  # characters of a text that are embedded; only the divergence guard compares the rest


def texts(space: Workspace, memory_ids: Collection[str]) -> pl.DataFrame:
    """Return all versions of those of these memories whose text ever changed.

    Args:
        space: Workspace of the home.
        memory_ids: Ids of any namespaces.

    Returns:
        namespace, memory_id, revision (of the note), seq and since (position and time among all events), text
        (name of the text, `FIRST` for the first) and refused (it never was the memory's text), in order of
        writing.
    """
    memories = space.store.read_by(
        "memories", "memory_id", sorted(memory_ids), columns=["namespace", "source"]
    )
    rewritten = [
        (str(namespace), source)
        for (namespace,), sources in memories.group_by("namespace")
        for source in space.journal.rewritten(str(namespace), sources["source"].to_list())
    ]
    rows = []
    for where, source in rewritten:
        saves = [save for save in space.journal.about(where, source) if save.kind == "save"]
        versions = [ids.revision(save.ordered_at or save.occurred_at, save.event_id) for save in saves]
        moved = any("path" in save.payload for save in saves)
        statements = [_statement(save, moved=moved) for save in saves]
        places = lineages(statements, _similarity(space), is_word, space.thresholds.merge)
        memory = ids.memory_id(where, source)
        rows += [
            (
                where,
                memory,
                version,
                save.seq,
                save.ordered_at or save.occurred_at,
                versions[at] if at else FIRST,
                False,
            )
            for version, save, at in zip(versions, saves, places, strict=True)
        ]
    all_versions = pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("revision")
    if all_versions.is_empty():
        return all_versions
    quarantined = space.store.read_by(
        "quarantine", "memory_id", all_versions["memory_id"].unique().to_list(),
        columns=["memory_id", "revision"], also="status IN ('held', 'discarded')",
    ).unique()  # fmt: skip
    return (
        all_versions.join(
            quarantined.with_columns(held=True),
            on=["memory_id", "revision"],
            how="left",
            maintain_order="left",
        )
        .with_columns(refused=pl.col("held").fill_null(value=False))
        .select(*SCHEMA)
    )


def texts_in(space: Workspace) -> Texts:
    """Return `texts` of a home as a function, called when needed."""
    return partial(texts, space)


def in_force(versions: pl.DataFrame, as_of: datetime | None = None) -> dict[str, str]:
    """Return the current text name of each memory at a moment (None: now), unless it is the first.

    Args:
        versions: Rows of `texts`.
        as_of: Only versions written by then count.
    """
    accepted = versions.filter(~pl.col("refused"))
    if as_of is not None:
        accepted = accepted.filter(pl.col("since") <= as_of)
    last = accepted.sort("revision").unique("memory_id", keep="last").filter(pl.col("text") != FIRST)
    return dict(last.select("memory_id", "text").iter_rows())


def named(rows: pl.DataFrame, versions: pl.DataFrame, by: str) -> pl.Series:
    """Return the text that each row's memory had at a position or time.

    Args:
        rows: Rows with memory_id and `by`; a null means the first text.
        versions: Rows of `texts`.
        by: ``seq`` or ``since``.
    """
    accepted = versions.filter(~pl.col("refused"), pl.col("memory_id").is_in(rows["memory_id"].implode()))
    if accepted.is_empty():
        return pl.repeat(FIRST, rows.height, dtype=pl.String, eager=True).alias("text")
    written = accepted.select("memory_id", by, "text").sort(by)
    numbered = rows.select("memory_id", by).with_row_index("place").drop_nulls(by).sort(by)
    matched = numbered.join_asof(written, on=by, by="memory_id", check_sortedness=False).select(
        "place", "text"
    )
    places = pl.DataFrame({"place": pl.int_range(rows.height, dtype=pl.UInt32, eager=True)})
    return places.join(matched, on="place", how="left", maintain_order="left")["text"].fill_null(FIRST)


def of_text(rows: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows about the current text of their memory.

    Args:
        rows: Rows with memory_id and text.
        names: Result of `in_force`.
    """
    has = pl.col("memory_id").replace_strict(dict(names), default=FIRST, return_dtype=pl.String)
    return rows.filter(pl.col("text").fill_null(FIRST) == has)


def _statement(entry: Entry, *, moved: bool) -> ComparedNote:
    title, content = entry.payload.get("title"), text_in(entry.payload)
    title = title if isinstance(title, str) else ""
    derived = is_from_first_words(title, content or "")
    if moved:  # a new file name is no new text
        from slowwave.notes.reading import title_from_path  # imports YAML

        derived = derived or title == title_from_path(str(entry.payload.get("path") or entry.subject))
    own_title = "" if derived else title
    return ComparedNote(
        own_title, entry.subject,  # a title derived from the text adds nothing
        entry.event_id if content is None else content,  # erased or malformed: unlike any other text
    )  # fmt: skip


def _similarity(space: Workspace) -> Similarity:
    @lru_cache(maxsize=64)
    def vector(text: str) -> np.ndarray:
        embedded: np.ndarray = space.embedder.embed_documents([text[:_READ]])[0].astype(np.float64)
        return embedded

    def similarity(first: str, second: str) -> float:
        return float(vector(first) @ vector(second))

    return similarity
