"""Unmerging of memories that were merged or superseded across sensitivities (rule 2.5).

Admission no longer merges them; homes of earlier versions may have some. The decision lapses as if undone,
without a user, and its quotes of the other text leave the log.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission.context_loader import ContextLoader
from slowwave.lifecycle.admission.rows import RECORD
from slowwave.lifecycle.admission.writing import TIME, write
from slowwave.quality.admission.state_machine import admit
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY
from slowwave.quality.admission.types import DIFFERENT_SENSITIVITY, AdmissionAct, AdmissionPolicy
from slowwave.quality.neighbours import Neighbours
from slowwave.store import Store, one_of

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def cross_sensitivity_merges(store: Store) -> pl.DataFrame:
    """Return decisions that hold between two memories of different sensitivity.

    Returns:
        Rows of ``decisions`` (outcome merge, supersede or related).
    """
    seen = pl.col("sensitivity").replace("", None).fill_null(DEFAULT_SENSITIVITY)
    memories = store.read("memories", columns=["memory_id", "sensitivity"]).with_columns(seen)
    if memories["sensitivity"].n_unique() < 2:
        return store.empty("decisions")
    holds = (
        f"undone_at IS NULL AND refused = false AND {one_of('outcome', ['merge', 'supersede', 'related'])}"
    )
    decisions = store.read("decisions", holds)
    others = memories.select(other_memory="memory_id", other_sensitivity="sensitivity")
    both = decisions.join(memories, on="memory_id").join(others, on="other_memory")
    return both.filter(pl.col("sensitivity") != pl.col("other_sensitivity")).drop(
        "sensitivity", "other_sensitivity"
    )


def unmerge_cross_sensitivity(space: Workspace, as_of: datetime) -> int:
    """Undo what `cross_sensitivity_merges` returns; return the count of decisions."""
    if cross_sensitivity_merges(space.store).is_empty():
        return 0
    parted = 0
    with space.writing():
        for (namespace,), rows in cross_sensitivity_merges(space.store).group_by(
            "namespace", maintain_order=True
        ):
            _unmerge(ContextLoader(space, str(namespace), AdmissionPolicy(gate=False)), rows, as_of)
            parted += rows.height
    return parted


def _unmerge(around: ContextLoader, rows: pl.DataFrame, as_of: datetime) -> None:
    store = around.store
    acts = [
        AdmissionAct("undo", row["memory_id"], other=row["other_memory"], by=DIFFERENT_SENSITIVITY)
        for row in rows.iter_rows(named=True)
    ]
    names = pl.concat([rows["memory_id"], rows["other_memory"]]).unique().to_list()
    records = around.records(store.read_by("memories", "memory_id", names, columns=RECORD))
    nothing = np.zeros((0, store.identity.dimension), np.float32)
    no_neighbours = Neighbours([], nothing, [], nothing, np.inf)
    admission = admit(acts, around.surroundings(records, no_neighbours))
    moment = pl.lit(as_of).cast(TIME)
    none = pl.DataFrame(
        schema={
            "memory_id": pl.String, "revision": pl.String, "day": pl.String, "act": pl.String,
            "occurred_at": TIME, "known_revision": pl.String,
        }
    )  # fmt: skip
    write(around, admission, none, ingest_pipeline.no_chunks(around.space.embedder))
    store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
    # The log last: a killed run leaves decisions that still hold, and the next run finds them.
    store.upsert(
        "decisions",
        rows.with_columns(
            undone_at=moment, undone_why=pl.lit(DIFFERENT_SENSITIVITY),
            evidence=pl.lit(None, pl.String), appended=pl.lit([], pl.List(pl.String)),
        ),
    )  # fmt: skip
