"""Which indexes a table has, and the proof that no other column is searched by text.

Policy, from measurements of LanceDB 0.40: full text always; no vector index where no namespace is searched
in the table itself, nor below ``store.vector_index_from`` chunks (exact search is as fast there); IVF_FLAT
above, because it gives up nothing but the partitions it does not visit. Recall against exact search is
measured on the table itself when the index is built, and the number of visited partitions is raised until
it is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from slowwave.store.database import Store

RECALL_QUERIES = 48
RECALL_AT = 10
FEWEST_PROBES = 8
ROWS_PER_PARTITION = 400


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """State of the vector index of `chunks`."""

    rows: int
    indexed: bool
    probes: int | None  # partitions visited per query
    recall: float | None  # recall@10 against exact search, measured when it was built


def refresh_vector_index(
    store: Store, *, minimum_rows: int, wanted_recall: float, needed: bool = True
) -> VectorIndex:
    """Build the vector index when the table has outgrown exact search, and again when it doubled.

    Args:
        store: has the chunks.
        minimum_rows: fewer are searched exactly.
        wanted_recall: recall@10 that it has to have.
        needed: whether anything is searched by it; one that is not needed costs every night, and goes.
    """
    table = store.table("chunks")
    rows = store.count("chunks")
    there = [index.name for index in table.list_indices() if "vector" in index.columns]
    known = store.get_meta("vector_index")
    if not needed:
        for name in there:
            table.drop_index(name)
        if known:
            store.delete("meta", "name = 'vector_index'")
    if not needed or rows < minimum_rows:
        return VectorIndex(rows, False, None, None)
    if there and known and rows < 2 * known["rows"]:
        return VectorIndex(rows, True, known["probes"], known["recall"])
    from lancedb.index import IvfFlat

    partitions = max(16, rows // ROWS_PER_PARTITION)
    config = IvfFlat(distance_type="cosine", num_partitions=partitions, max_iterations=20)
    table.create_index("vector", config=config, replace=True)
    probes, recall = _probes_for(table, rows, partitions, wanted_recall)
    store.put_meta("vector_index", {"rows": rows, "probes": probes, "recall": recall})
    return VectorIndex(rows, True, probes, recall)


def _probes_for(table: Any, rows: int, partitions: int, wanted: float) -> tuple[int, float]:  # noqa: ANN401
    """Fewest visited partitions with which the table's own vectors find their neighbours.

    A vector always finds itself, so itself does not count.
    """
    picks = np.random.default_rng(0).choice(rows, size=min(RECALL_QUERIES, rows), replace=False)
    sample = table.take_offsets(sorted(picks.tolist())).select(["chunk_id", "vector"]).to_arrow()
    queries = np.array(sample.column("vector").to_pylist(), dtype=np.float32)
    own = sample.column("chunk_id").to_pylist()

    def nearest(probes: int | None) -> list[set[str]]:
        search = table.search(list(queries)).distance_type("cosine").limit(RECALL_AT + 1)
        search = search.bypass_vector_index() if probes is None else search.nprobes(probes)
        found = search.select(["chunk_id", "_distance"]).to_arrow()
        lists: list[set[str]] = [set() for _ in own]
        for query, chunk in zip(
            found.column("query_index").to_pylist(), found.column("chunk_id").to_pylist(), strict=True
        ):
            lists[query].add(chunk)
        return [chunks - {self} for chunks, self in zip(lists, own, strict=True)]

    exact = nearest(None)
    probes = FEWEST_PROBES
    while True:
        pairs = zip(nearest(probes), exact, strict=True)
        recall = float(np.mean([len(found & truth) / max(1, len(truth)) for found, truth in pairs]))
        if recall >= wanted or probes >= partitions:
            return probes, recall
        probes = min(2 * probes, partitions)
