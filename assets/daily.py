"""What the assets of the night have in common: how they are defined, and how their days are written.

The days of a run, one or a whole range, are replaced in **one** commit of the asset's LanceDB table: rows
are upserted by key, and what the new rows no longer contain is deleted with them. So a rerun, a backfill, an
empty day and a crash at any point leave the table that one clean run leaves.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import dagster as dg
import polars as pl

from slowwave.assets.faults import apart_of, told_faults
from slowwave.assets.partitions import DAILY
from slowwave.common.progress import task
from slowwave.home.apart import Fault
from slowwave.home.workspace import Workspace
from slowwave.store import Store, one_of
from slowwave.store.database import Written

WHOLE_RANGE = dg.BackfillPolicy.single_run()
KINDS = frozenset({"python", "polars", "lancedb"})
DAYS_AT_ONCE = 90
"""Days of a range that are in memory together; each such part is one commit and rests on the one before."""
SCANNED_FROM = 8
"""Days from which a table is scanned: what LanceDB looks up row by row is slow for many rows (count)."""

Made = Callable[[Callable[..., Any]], dg.AssetsDefinition]


def daily_asset(
    group: str,
    *deps: dg.AssetsDefinition | dg.AssetKey,
    kinds: Collection[str] = KINDS,
    **more: Any,  # noqa: ANN401 - as of Dagster
) -> Made:
    """An asset with a partition a day, a range of which is one run.

    A run reads in one step what it wrote in another, and a day rests on the days before it. Where another run
    must not write between, the asset takes the resource `one_night`.
    """
    made: Made = dg.asset(
        partitions_def=DAILY, backfill_policy=WHOLE_RANGE, group_name=group, kinds=set(kinds),
        code_version="1", deps=deps, **more,
    )  # fmt: skip
    return made


def write_days(
    context: dg.AssetExecutionContext,
    space: Workspace,
    make: Callable[[Workspace, list[str]], pl.DataFrame],
    *shown: str | pl.Expr,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Make the asset's table hold what the days of the run come to, part by part.

    Where that fails, it is done namespace by namespace: what a faulty one has in the table stays.

    Args:
        context: of the asset.
        space: the home.
        make: rows of some days that follow one another, of all namespaces or of the one that the home it is
            given has.
        shown: what the asset's metadata needs of the rows.

    Returns:
        That of all rows, and metadata of what was written.
    """
    name, days = context.asset_key.path[-1], list(context.partition_keys)
    frames, counts, faults = list[pl.DataFrame](), Counter[str](), list[Fault]()

    def write(own: Workspace, part: list[str]) -> tuple[pl.DataFrame, Counter[str]]:
        rows = make(own, part)
        return rows, _counted(rows, own.store.replace_partition(name, rows, part))

    with task(f"folding {name}", len(days)) as advance:
        for at in range(0, len(days), DAYS_AT_ONCE):
            part = days[at : at + DAYS_AT_ONCE]
            written, failed = apart_of(space, partial(write, part=part))
            faults += failed
            for rows, done in written:
                frames.append(rows.select(shown))
                counts.update(done)
            advance(len(part))
    told = told_faults(context, space.store, faults)
    return pl.concat(frames), {**_described(space.store, name, counts), **told}


def write_rows(context: dg.AssetExecutionContext, store: Store, rows: pl.DataFrame) -> dict[str, Any]:
    """Make these rows all that the asset's table holds of the days of the run; metadata of it.

    Raises:
        ValueError: a row belongs to none of these days.
    """
    name = context.asset_key.path[-1]
    done = store.replace_partition(name, rows, list(context.partition_keys))
    return {**_described(store, name, _counted(rows, done)), "lance_version": done.version}


def _counted(rows: pl.DataFrame, done: Written) -> Counter[str]:
    return Counter({
        "dagster/partition_row_count": rows.height, "inserted": done.inserted, "updated": done.updated,
        "deleted": done.deleted,
    })  # fmt: skip


def _described(store: Store, name: str, counts: Counter[str]) -> dict[str, Any]:
    """Where a table is, and what was written; each count is there, 0 where nothing was."""
    return {"dagster/uri": f"{store.uri}/{store.physical(name)}.lance", **counts}


def rows_of(
    store: Store, name: str, days: Sequence[str], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Rows of some days of a table, in no order."""
    read = store.scan if len(days) >= SCANNED_FROM else store.read
    return read(name, one_of("day", days), columns=columns)


def rows_of_run(context: dg.AssetExecutionContext, store: Store, name: str) -> pl.DataFrame:
    """Rows of the days of a run, in key order."""
    return rows_of(store, name, list(context.partition_keys)).sort(store.specs[name].key)
