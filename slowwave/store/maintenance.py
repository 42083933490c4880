"""Keeping the number of files bounded: compaction, index upkeep, removal of old versions.

Old versions are removed through pylance, because LanceDB's own clean-up refuses to remove anything as
soon as one tagged (checkpointed) version is older than the limit. Tagged versions always stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from slowwave.store.database import Store, compact
from slowwave.store.upkeep import KEPT

MOST_FRAGMENTS = 8  # a table without indexes is left alone up to so many files


@dataclass(frozen=True, slots=True)
class Maintained:
    """What maintenance did to one table."""

    table: str
    rows: int
    versions_removed: int
    bytes_removed: int


def maintain(store: Store, *, keep_versions: timedelta) -> list[Maintained]:
    """Compact every table, bring its indexes up to date, and drop versions older than `keep_versions`.

    Of tables that are saved to all day they go as soon as they do by day (`slowwave.store.upkeep`).
    """
    import lance

    by_day = {store.physical(spec.name) for spec in store.specs.values() if spec.partition is None}
    done = []
    for name in sorted(store.db.list_tables().tables):
        table = store.db.open_table(name)
        if table.list_indices() or table.stats()["fragment_stats"]["num_fragments"] > MOST_FRAGMENTS:
            compact(table)
        dataset = lance.dataset(
            f"{store.uri.rstrip('/')}/{name}.lance", storage_options=store.storage_options or None
        )
        kept = min(keep_versions, KEPT) if name in by_day else keep_versions
        stats = dataset.cleanup_old_versions(kept, error_if_tagged_old_versions=False)
        done.append(Maintained(name, int(table.count_rows()), stats.old_versions, stats.bytes_removed))
    return done
