"""Vector index of the chunks: build policy and measured recall.

Policy, from measurements of LanceDB 0.40. There is no vector index if no namespace is searched in the table
itself, or below ``store.ann_min_chunks`` chunks: exact search is as fast there. Above, it is IVF_FLAT,
which loses only the partitions that it does not visit. The build measures recall against exact search on the
table itself. It raises the number of visited partitions until the wanted recall is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from slowwave.store.database import Store

RECALL_QUERIES = 48
RECALL_AT = 10
MIN_PROBES = 8
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
    """Build the vector index when the table has outgrown exact search, or has doubled.

    Args:
        store: Has the chunks.
        minimum_rows: Fewer rows are searched exactly.
        wanted_recall: Required recall@10.
        needed: Whether any search uses it; an unneeded one costs every nightly job and is dropped.
    """
    table = store.table("chunks")
    rows = store.count("chunks")
    existing = [index.name for index in table.list_indices() if "vector" in index.columns]
    record = store.get_meta("vector_index")
    if not needed:
        for name in existing:
            table.drop_index(name)
        if record:
            store.delete("meta", "name = 'vector_index'")
    if not needed or rows < minimum_rows:
        return VectorIndex(rows, False, None, None)
    if existing and record and rows < 2 * record["rows"]:
        return VectorIndex(rows, True, record["probes"], record["recall"])
    from lancedb.index import IvfFlat

    partitions = max(16, rows // ROWS_PER_PARTITION)
    config = IvfFlat(distance_type="cosine", num_partitions=partitions, max_iterations=20)
    table.create_index("vector", config=config, replace=True)
    probes, recall = _probes_for(table, rows, partitions, wanted_recall)
    store.put_meta("vector_index", {"rows": rows, "probes": probes, "recall": recall})
    return VectorIndex(rows, True, probes, recall)


def _probes_for(table: Any, rows: int, partitions: int, wanted: float) -> tuple[int, float]:  # noqa: ANN401
    """Return the fewest visited partitions that reach the wanted recall, and that recall.

    Queries are the table's own vectors. A vector always finds itself, so itself does not count.
    """
    picks = np.random.default_rng(0).choice(rows, size=min(RECALL_QUERIES, rows), replace=False)
    sample = table.take_offsets(sorted(picks.tolist())).select(["chunk_id", "vector"]).to_arrow()
    queries = np.array(sample.column("vector").to_pylist(), dtype=np.float32)
    own = sample.column("chunk_id").to_pylist()

    def nearest(probes: int | None) -> list[set[str]]:
        search = table.search(list(queries)).distance_type("cosine").limit(RECALL_AT + 1)
        search = search.bypass_vector_index() if probes is None else search.nprobes(probes)
        rows = search.select(["chunk_id", "_distance"]).to_arrow()
        lists: list[set[str]] = [set() for _ in own]
        for query, chunk in zip(
            rows.column("query_index").to_pylist(), rows.column("chunk_id").to_pylist(), strict=True
        ):
            lists[query].add(chunk)
        return [chunks - {self} for chunks, self in zip(lists, own, strict=True)]

    exact = nearest(None)
    probes = MIN_PROBES
    while True:
        pairs = zip(nearest(probes), exact, strict=True)
        recall = float(np.mean([len(result & truth) / max(1, len(truth)) for result, truth in pairs]))
        if recall >= wanted or probes >= partitions:
            return probes, recall
        probes = min(2 * probes, partitions)
