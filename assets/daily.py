"""Definition and partition writer of the daily assets.

The days of a run, one or a whole range, are replaced in **one** commit of the asset's LanceDB table. Rows are
upserted by key; rows that the new ones no longer contain are deleted in the same commit. So writes are
idempotent: a rerun, a backfill, an empty day and a crash at any point leave the table that one clean run
leaves.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

import dagster as dg
import polars as pl

from slowwave.assets.failed_namespaces import failure_metadata, run_per_namespace
from slowwave.assets.instrumentation import instrumented
from slowwave.assets.partitions import DAILY, day_before
from slowwave.assets.versions import RULES
from slowwave.common.progress import task
from slowwave.home.fault_isolation import NamespaceFault
from slowwave.home.workspace import Workspace
from slowwave.store import Store, one_of
from slowwave.store.append_only import fill_or_replace
from slowwave.store.database import Written
from slowwave.store.fragments import rows_in
from slowwave.store.reading import TableReader, compact, matching, parts

DAILY_FRESH = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=26), fail_window=timedelta(hours=50))
"""Freshness of nightly assets: warn after one missed night, fail after two."""
WHOLE_RANGE = dg.BackfillPolicy.single_run()
KINDS = frozenset({"python", "polars", "lancedb"})
DAYS_AT_ONCE = 90
"""Days of a range held in memory together. Each such batch is one commit and builds on the previous one."""
ROWS_AT_ONCE = 250_000
"""Input rows per batch, used instead of days where row counts are known. A day is never split."""
ROWS = "dagster/partition_row_count"
"""Metadata key under which Dagster's page shows the rows of a partition."""
SCANNED_FROM = 8
"""Minimum days (count) from which a table is scanned: LanceDB's lookup row by row is slow for many rows."""

Made = Callable[[Callable[..., Any]], dg.AssetsDefinition]


def daily_asset(
    group: str,
    *deps: dg.AssetsDefinition | dg.AssetKey | dg.AssetSpec,
    rules: Sequence[str] = (),
    kinds: Collection[str] = KINDS,
    on_day_before: bool = False,
    **more: Any,  # noqa: ANN401 - passed to Dagster
) -> Made:
    """Define an asset with daily partitions; a range of days is one run.

    A run reads in one step what it wrote in another. So an asset that writes takes the resource `one_night`,
    which keeps other runs from writing in between.

    Args:
        group: Asset group on Dagster's page.
        deps: Upstream assets.
        rules: Files and folders of the package that determine the result; their digest is its code version.
        kinds: Technologies that the page names.
        on_day_before: It continues from its state of the previous day, and so depends on itself.
        more: Passed to `dg.asset`.
    """

    def declare(work: Callable[..., Any]) -> dg.AssetsDefinition:
        RULES[work.__name__] = tuple(rules)
        before = [day_before(work.__name__)] if on_day_before else []
        made: Made = dg.asset(
            group_name=group, kinds=set(kinds), deps=[*deps, *before], tags={"stage": group},
            config_schema={}, **{"partitions_def": DAILY, "backfill_policy": WHOLE_RANGE, **more},
        )  # fmt: skip
        return made(instrumented(work))

    return declare


whole_asset = partial(daily_asset, partitions_def=None, backfill_policy=None)
"""Define an asset without partitions, recomputed from all data. See `daily_asset` for the arguments."""


def defined_in(module: Mapping[str, object]) -> list[dg.AssetsDefinition]:
    """Return the assets that a module defines, in order.

    Args:
        module: Its globals. It names the assets of other modules by their module.
    """
    return [value for value in module.values() if isinstance(value, dg.AssetsDefinition)]


def names_of(assets: Iterable[dg.AssetsDefinition]) -> tuple[str, ...]:
    """Return the names of some assets, which are also the names of their tables."""
    return tuple(asset.key.path[-1] for asset in assets)


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a run: numbers per day, and values for all its days together.

    Attributes:
        numbers: By day and name.
        whole: By name.
    """

    numbers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)


def materialized(
    context: dg.AssetExecutionContext,
    written: Metadata,
    more: Mapping[str, Any],
    *,
    as_of_end: Mapping[str, Any] = MappingProxyType({}),
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Return the result of an asset, with each partition's own numbers.

    A run of one day puts all metadata into its partition. For several days, values of the whole range become
    an observation of the asset, of no partition.

    Args:
        context: Of the asset.
        written: Metadata of the rows that it wrote.
        more: More metadata of the whole run, by name.
        as_of_end: State at the end of the last day, by name. It belongs to that day's partition.
    """
    days, whole = list(context.partition_keys), {**written.whole, **more}
    if len(days) == 1:
        return dg.MaterializeResult(metadata={**written.numbers.get(days[0], {}), **whole, **as_of_end})
    for day in days:
        own = {**written.numbers.get(day, {}), **(as_of_end if day == days[-1] else {})}
        context.add_asset_metadata(own, partition_key=day)
    if whole:
        description = f"{days[0]} to {days[-1]} together, {len(days)} days in one run."
        context.log_event(dg.AssetObservation(context.asset_key, description=description, metadata=whole))
    return dg.MaterializeResult()


def write_days(
    context: dg.AssetExecutionContext,
    space: Workspace,
    make: Callable[[Workspace, list[str]], pl.DataFrame],
    *shown: str | pl.Expr,
    kept: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
    sizes: Mapping[str, int] | None = None,
    numbers: Mapping[str, pl.Expr] | None = None,
) -> tuple[pl.DataFrame, Metadata]:
    """Replace the rows of the run's days in the asset's table, batch by batch.

    If a batch fails, each namespace runs alone. A failed namespace keeps its rows.

    Args:
        context: Of the asset.
        space: The home.
        make: Computes the rows of consecutive days, of all namespaces or of the one that its workspace is
            scoped to.
        shown: Columns that the asset's metadata needs of each row.
        kept: Reduces the rows of a batch to what the metadata needs.
        sizes: Input rows per day, where known (count).
        numbers: Sums over the rows of a day, by metadata label.

    Returns:
        The columns `shown` of all rows (or what `kept` returned), and metadata of the write.
    """
    name, days = context.asset_key.path[-1], list(context.partition_keys)
    frames, counts, faults = list[pl.DataFrame](), Counter[str](), list[NamespaceFault]()
    by_day = {day: Counter[str]() for day in days}

    def write(own: Workspace, part: list[str]) -> tuple[pl.DataFrame, Counter[str]]:
        rows = make(own, part)
        alone = isinstance(own.store, Store)  # not scoped to a namespace, whose days have rows of others too
        replace = partial(fill_or_replace, own.store) if alone else own.store.replace_partition
        done = _counted(replace(name, rows, part))
        for day, figures in day_numbers(rows, numbers).items():
            by_day[day].update(figures)
        return compact(kept(rows)) if kept else rows.select(shown), done

    with task(f"computing {name}", len(days)) as advance:
        for part in _parts(days, sizes or {}):
            written, failed = run_per_namespace(space, partial(write, part=part))
            faults += failed
            for rows, done in written:
                frames.append(rows)
                counts.update(done)
            advance(len(part))
    failures = failure_metadata(context, space.store, faults)
    for day_counts in by_day.values():
        day_counts.update(dict.fromkeys((ROWS, *(numbers or {})), 0))
    return pl.concat(frames), Metadata(by_day, {**_described(space.store, name, counts), **failures})


def day_numbers(
    rows: pl.DataFrame, numbers: Mapping[str, pl.Expr] | None = None
) -> dict[str, dict[str, float]]:
    """Count the rows of each day that has any, with sums over them.

    Args:
        rows: with their day.
        numbers: the sums, by name.
    """
    sums = (expression.alias(name) for name, expression in (numbers or {}).items())
    totals = rows.group_by("day").agg(pl.len().alias(ROWS), *sums)
    return {str(row.pop("day")): row for row in totals.iter_rows(named=True)}


def _parts(days: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the days in order, in batches that fit in memory."""
    part, size = list[str](), 0
    for day in days:
        more = sizes.get(day, 0)
        if part and (size + more > ROWS_AT_ONCE if sizes else len(part) >= DAYS_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(day)
        size += more
    if part:
        yield part


def sizes_of(
    store: Store, name: str, days: Sequence[str], each: float = 1.0, also: str = "true"
) -> dict[str, int]:
    """Count the rows of some days of a table.

    Args:
        store: Of all namespaces.
        name: Table.
        days: YYYY-MM-DD.
        each: Weight of a row: rows that it counts for.
        also: SQL filter.
    """
    where = also if len(days) >= SCANNED_FROM else f"{one_of('day', days)} AND {also}"
    batches = [part.group_by("day").len() for part in parts(store, name, where, columns=["day"])]
    summed = pl.concat(batches).group_by("day").agg(pl.col("len").sum())
    return dict.fromkeys(days, 0) | {day: int(count * each) for day, count in summed.iter_rows()}


def write_rows(context: dg.AssetExecutionContext, store: Store, rows: pl.DataFrame) -> Metadata:
    """Replace all rows of the run's days in the asset's table. Return metadata of the write.

    Args:
        context: Of the asset.
        store: Of all namespaces.
        rows: Of any days of the run.

    Raises:
        ValueError: A row belongs to none of these days.
    """
    name, days = context.asset_key.path[-1], list(context.partition_keys)
    done = store.replace_partition(name, rows, days)
    day_counts = day_numbers(rows)
    by_day = {day: day_counts.get(day, {ROWS: 0}) for day in days}
    return Metadata(by_day, {**_described(store, name, _counted(done)), "lance_version": done.version})


def _counted(done: Written) -> Counter[str]:
    return Counter({"inserted": done.inserted, "updated": done.updated, "deleted": done.deleted})


def _described(store: Store, name: str, counts: Counter[str]) -> dict[str, Any]:
    """Return metadata of a write: the table's location and every count, also where 0."""
    return {"dagster/uri": f"{store.uri}/{store.physical(name)}.lance", **counts}


def rows_of(
    store: Store, name: str, days: Sequence[str], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Read the rows of some days of a table, in no order."""
    if len(days) >= SCANNED_FROM and isinstance(store, TableReader):
        return rows_in(store, name, days, columns=columns)
    read = partial(matching, store) if len(days) >= SCANNED_FROM else store.read
    return read(name, one_of("day", days), columns=columns)


def rows_of_run(context: dg.AssetExecutionContext, store: Store, name: str) -> pl.DataFrame:
    """Read the rows of the run's days, in key order."""
    return rows_of(store, name, list(context.partition_keys)).sort(store.specs[name].key)
