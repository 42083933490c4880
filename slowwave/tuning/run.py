"""`slowwave tune`: from folders of labelled queries to a fitted policy and a report."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.errors import SlowwaveError
from slowwave.tuning.collection import Collection, ask, opened, read_collection
from slowwave.tuning.fit import Fitted, Labelled, fit

if TYPE_CHECKING:
    from slowwave.settings import Settings

COLUMNS = ("collection", "policy", "queries", "ndcg@10", "low", "high", "mrr@5", "difference", "verdict")


def run(settings: Settings, folders: Sequence[Path], *, cache: Path | None, most: int) -> Fitted:
    """Embed the collections with the home's model, search their queries, and fit a policy.

    Raises:
        SlowwaveError: a folder is not a collection, or has too few answerable queries.
    """
    from slowwave.home.workspace import Workspace

    space = Workspace(settings)
    present = space.policy  # first, so that an unreadable policy file fails at once
    labelled = []
    for folder in folders:
        collection = read_collection(folder)
        if len(collection.answerable()) < 20:
            raise SlowwaveError(
                f"{folder} has {len(collection.answerable())} queries with a relevant document; a policy "
                f"cannot be fitted to fewer than 20."
            )
        labelled.append(label(collection, space.model, cache=cache, most=most))
    return fit(labelled, present)


def label(collection: Collection, model: str, *, cache: Path | None, most: int) -> Labelled:
    """Return the candidates of a collection's queries; of very many a fixed sample."""
    with opened(collection, model, cache=cache) as memories:
        return Labelled(
            collection.name,
            ask(memories, _sample(collection.answerable(), most)),
            collection.qrels,
            ask(memories, _sample(collection.unanswerable(), most)),
        )


def _sample(queries: Sequence[Mapping[str, Any]], most: int) -> Sequence[Mapping[str, Any]]:
    return queries if len(queries) <= most else random.Random(0).sample(list(queries), most)


def as_rows(fitted: Fitted) -> tuple[Sequence[str], list[dict[str, Any]]]:
    """Return the report as rows."""
    rows = []
    for line in fitted.lines:
        change = line.against
        difference = f"{change.difference:+.4f} [{change.low:+.4f}, {change.high:+.4f}]"
        rows.append(
            {
                "collection": line.collection,
                "policy": line.policy,
                "queries": line.queries,
                "ndcg@10": round(line.ndcg, 4),
                "low": round(line.low, 4),
                "high": round(line.high, 4),
                "mrr@5": round(line.mrr, 4),
                "difference": difference if line.policy != "present" else "",
                "verdict": change.verdict if line.policy != "present" else "",
            }
        )
    return COLUMNS, rows
