"""Which indexes a table has, and the proof that no other column is searched by text.

Policy, from measurements of LanceDB 0.40: full text always; no vector index below
``store.vector_index_from`` chunks (exact search is as fast there), IVF_FLAT above, because it gives up
nothing but the partitions it does not visit. Recall against exact search is measured on the table
itself when the index is built, and the number of visited partitions is raised until it is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slowwave.store.schemas import TableSpec

if TYPE_CHECKING:
    from slowwave.store.database import Store

RECALL_QUERIES = 50
RECALL_AT = 10
PROBES = (16, 32, 64, 128, 256, 512, 1024)


def full_text_columns(table: Any) -> set[str]:  # noqa: ANN401 - lancedb.Table
    """Columns of the table that have a full-text index."""
    return {
        column
        for index in table.list_indices()
        if index.index_type.upper() == "FTS"
        for column in index.columns
    }


def create_full_text_indexes(table: Any, spec: TableSpec) -> None:  # noqa: ANN401 - lancedb.Table
    """Give each allow-listed column its full-text index; those that have one are left alone."""
    from lancedb.index import FTS

    missing = set(spec.full_text) - full_text_columns(table)
    for column in sorted(missing):
        table.create_index(
            column, config=FTS(language="English", stem=True, remove_stop_words=True, ascii_folding=True)
        )


def create_bitmap_indexes(table: Any, spec: TableSpec) -> None:  # noqa: ANN401 - lancedb.Table
    """Index the columns that every search filters by."""
    from lancedb.index import Bitmap

    there = {column for index in table.list_indices() for column in index.columns}
    for column in spec.bitmap:
        if column not in there:
            table.create_index(column, config=Bitmap())


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """State of the vector index of `chunks`."""

    rows: int
    indexed: bool
    probes: int | None  # partitions visited per query
    recall: float | None  # recall@10 against exact search, measured when it was built


def refresh_vector_index(store: Store, *, minimum_rows: int, wanted_recall: float) -> VectorIndex:
    """Build the vector index when the table has outgrown exact search, and again when it doubled."""
    table = store.table("chunks")
    rows = store.count("chunks")
    if rows < minimum_rows:
        return VectorIndex(rows, False, None, None)
    known = store.get_meta("vector_index")
    has_index = any("vector" in index.columns for index in table.list_indices())
    if has_index and known and rows < 2 * known["rows"]:
        return VectorIndex(rows, True, known["probes"], known["recall"])
    from lancedb.index import IvfFlat

    table.create_index(
        "vector",
        config=IvfFlat(distance_type="cosine", num_partitions=max(16, int(rows**0.5))),
        replace=True,
    )
    probes, recall = _probes_for(table, rows, wanted_recall)
    store.put_meta("vector_index", {"rows": rows, "probes": probes, "recall": recall})
    return VectorIndex(rows, True, probes, recall)


def _probes_for(table: Any, rows: int, wanted: float) -> tuple[int, float]:  # noqa: ANN401
    """Fewest visited partitions that reach the wanted recall on vectors of the table itself."""
    picks = np.random.default_rng(0).choice(rows, size=min(RECALL_QUERIES, rows), replace=False)
    queries = [
        np.asarray(vector, dtype=np.float32)
        for vector in table.take_offsets(sorted(int(pick) for pick in picks))
        .select(["vector"])
        .to_arrow()
        .column("vector")
        .to_pylist()
    ]
    # A stored vector finds itself first; a little noise makes it a query that was never stored.
    noise = np.random.default_rng(1).normal(0, 0.02, (len(queries), len(queries[0]))).astype(np.float32)
    queries = [query + shift for query, shift in zip(queries, noise, strict=True)]

    def nearest(query: np.ndarray, probes: int | None) -> set[str]:
        search = table.search(query).distance_type("cosine").limit(RECALL_AT)
        search = search.bypass_vector_index() if probes is None else search.nprobes(probes)
        return set(search.select(["chunk_id", "_distance"]).to_arrow().column("chunk_id").to_pylist())

    exact = [nearest(query, None) for query in queries]
    recall = 0.0
    for probes in PROBES:
        hits = [len(nearest(q, probes) & truth) / len(truth) for q, truth in zip(queries, exact, strict=True)]
        recall = float(np.mean(hits))
        if recall >= wanted:
            return probes, recall
    return PROBES[-1], recall
