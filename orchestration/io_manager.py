"""A Dagster IO manager for LanceDB tables whose rows belong to partitions.

A partition, or a whole range of them in one run, is replaced in **one** Lance commit: rows are upserted by
key and what the new rows no longer contain is deleted with them. So a rerun, a backfill, an empty day and
a crash at any point leave the table that one clean run leaves.
"""

import dagster as dg
import polars as pl

from slowwave.assets.resources import SlowwaveResource
from slowwave.store import one_of


class LancePartitionIOManager(dg.ConfigurableIOManager):
    """Stores an asset's frame in the LanceDB table that has the asset's name."""

    slowwave: dg.ResourceDependency[SlowwaveResource]

    def handle_output(self, context: dg.OutputContext, obj: pl.DataFrame) -> None:
        """Make the frame the whole content of the run's partitions.

        Raises:
            ValueError: a row belongs to none of the partitions of the run.
        """
        name = context.asset_key.path[-1]
        store = self.slowwave.space.store
        done = store.replace_partition(name, obj, list(context.asset_partition_keys))
        context.add_output_metadata(
            {
                "dagster/partition_row_count": obj.height,
                "dagster/uri": f"{store.uri}/{store.physical(name)}.lance",
                "inserted": done.inserted,
                "updated": done.updated,
                "deleted": done.deleted,
                "lance_version": done.version,
            }
        )

    def load_input(self, context: dg.InputContext) -> pl.DataFrame:
        """The rows of the partitions that the run reads, in key order."""
        assert context.upstream_output is not None
        name = context.upstream_output.asset_key.path[-1]
        store = self.slowwave.space.store
        spec = store.specs[name]
        assert spec.partition is not None
        keys = list(context.asset_partition_keys)
        return store.read(name, one_of(spec.partition, keys)).sort(spec.key)
