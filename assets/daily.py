"""What the assets of the night have in common: how they are defined, and how their days are written.

The days of a run, one or a whole range, are replaced in **one** commit of the asset's LanceDB table: rows
are upserted by key, and what the new rows no longer contain is deleted with them. So a rerun, a backfill, an
empty day and a crash at any point leave the table that one clean run leaves.
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
from slowwave.store.reading import compact, matching, parts

DAILY_FRESH = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=26), fail_window=timedelta(hours=50))
"""What every night makes: a warning when one was left out, a failure when two were."""
WHOLE_RANGE = dg.BackfillPolicy.single_run()
KINDS = frozenset({"python", "polars", "lancedb"})
DAYS_AT_ONCE = 90
"""Days of a range that are in memory together; each such part is one commit and rests on the one before."""
ROWS_AT_ONCE = 300_000
"""Rows that such a part is made of, where their number is known, in the place of days: a day is never cut."""
ROWS = "dagster/partition_row_count"
"""Name under which the page looks for the rows of a partition."""
SCANNED_FROM = 8
"""Days from which a table is scanned: what LanceDB looks up row by row is slow for many rows (count)."""

Made = Callable[[Callable[..., Any]], dg.AssetsDefinition]


def daily_asset(
    group: str,
    *deps: dg.AssetsDefinition | dg.AssetKey | dg.AssetSpec,
    rules: Sequence[str] = (),
    kinds: Collection[str] = KINDS,
    on_day_before: bool = False,
    **more: Any,  # noqa: ANN401 - as of Dagster
) -> Made:
    """An asset with a partition a day, a range of which is one run.

    A run reads in one step what it wrote in another, so an asset that writes takes the resource `one_night`:
    no other run writes between.

    Args:
        group: in which the page shows it.
        deps: what it rests on.
        rules: files and folders of the package that what it makes follows from; its code version is theirs.
        kinds: technologies that the page names.
        on_day_before: it goes on from what it left on the day before, and so depends on itself.
        more: as of `dg.asset`.
    """

    def declare(work: Callable[..., Any]) -> dg.AssetsDefinition:
        RULES[work.__name__] = tuple(rules)
        before = [day_before(work.__name__)] if on_day_before else []
        made: Made = dg.asset(
            partitions_def=DAILY, backfill_policy=WHOLE_RANGE, group_name=group, kinds=set(kinds),
            deps=[*deps, *before], tags={"stage": group},
            config_schema={}, **more,
        )  # fmt: skip
        return made(instrumented(work))

    return declare


def whole_asset(
    group: str,
    *deps: dg.AssetsDefinition | dg.AssetKey,
    rules: Sequence[str] = (),
    kinds: Collection[str] = KINDS,
    **more: Any,  # noqa: ANN401 - as of Dagster
) -> Made:
    """An asset without days, which is made anew from all that there is; see `daily_asset` for the rest."""

    def declare(work: Callable[..., Any]) -> dg.AssetsDefinition:
        RULES[work.__name__] = tuple(rules)
        made: Made = dg.asset(
            group_name=group, kinds=set(kinds), deps=deps, tags={"stage": group}, config_schema={}, **more
        )
        return made(instrumented(work))

    return declare


def defined_in(module: Mapping[str, object]) -> list[dg.AssetsDefinition]:
    """Return the assets that a module defines, in order.

    Args:
        module: Its globals. It names the assets of other modules by their module.
    """
    return [value for value in module.values() if isinstance(value, dg.AssetsDefinition)]


def names_of(assets: Iterable[dg.AssetsDefinition]) -> tuple[str, ...]:
    """Return the names of some assets, which are those of their tables."""
    return tuple(asset.key.path[-1] for asset in assets)


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of what a run made: numbers of each of its days, and what is of all of them together.

    Attributes:
        numbers: by day and name.
        whole: by name.
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
    """The result of an asset: each partition has its own numbers, and no other's.

    A run of one day has all of it in its partition. What is of several days together is an observation of the
    asset, of no partition.

    Args:
        context: of the asset.
        written: what it wrote.
        more: more metadata of the whole run, by name.
        as_of_end: how things stand when the last day is done, by name: it belongs to that day's partition.
    """
    days, whole = list(context.partition_keys), {**written.whole, **more}
    if len(days) == 1:
        return dg.MaterializeResult(metadata={**written.numbers.get(days[0], {}), **whole, **as_of_end})
    for day in days:
        own = {**written.numbers.get(day, {}), **(as_of_end if day == days[-1] else {})}
        context.add_asset_metadata(own, partition_key=day)
    if whole:
        about = f"{days[0]} to {days[-1]} together, {len(days)} days in one run."
        context.log_event(dg.AssetObservation(context.asset_key, description=about, metadata=whole))
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
    """Make the asset's table hold what the days of the run come to, part by part.

    Where that fails, it is done namespace by namespace: what a faulty one has in the table stays.

    Args:
        context: of the asset.
        space: the home.
        make: rows of some days that follow one another, of all namespaces or of the one that the home it is
            given has.
        shown: what the asset's metadata needs of each row.
        kept: what it needs of the rows of each part, where that is less.
        sizes: rows that each day is made of, where that is known (count).
        numbers: sums over the rows of a day, by the name that the page shows.

    Returns:
        That of all rows, and metadata of what was written.
    """
    name, days = context.asset_key.path[-1], list(context.partition_keys)
    frames, counts, faults = list[pl.DataFrame](), Counter[str](), list[NamespaceFault]()
    by_day = {day: Counter[str]() for day in days}

    def write(own: Workspace, part: list[str]) -> tuple[pl.DataFrame, Counter[str]]:
        rows = make(own, part)
        alone = isinstance(own.store, Store)  # and not a namespace of it, which has rows of its days there
        replace = partial(fill_or_replace, own.store) if alone else own.store.replace_partition
        done = _counted(replace(name, rows, part))
        for day, told in day_numbers(rows, numbers).items():
            by_day[day].update(told)
        return compact(kept(rows)) if kept else rows.select(shown), done

    with task(f"folding {name}", len(days)) as advance:
        for part in _parts(days, sizes or {}):
            written, failed = run_per_namespace(space, partial(write, part=part))
            faults += failed
            for rows, done in written:
                frames.append(rows)
                counts.update(done)
            advance(len(part))
    told = failure_metadata(context, space.store, faults)
    for found in by_day.values():
        found.update(dict.fromkeys((ROWS, *(numbers or {})), 0))
    return pl.concat(frames), Metadata(by_day, {**_described(space.store, name, counts), **told})


def day_numbers(
    rows: pl.DataFrame, numbers: Mapping[str, pl.Expr] | None = None
) -> dict[str, dict[str, float]]:
    """Rows of each day that has any, and sums over them.

    Args:
        rows: with their day.
        numbers: the sums, by name.
    """
    sums = (expression.alias(name) for name, expression in (numbers or {}).items())
    found = rows.group_by("day").agg(pl.len().alias(ROWS), *sums)
    return {str(row.pop("day")): row for row in found.iter_rows(named=True)}


def _parts(days: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """The days in order, so many together as are in memory at once."""
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
    """How many rows some days of a table have (count).

    Args:
        store: the memory.
        name: of the table.
        days: those meant.
        each: rows that each of them counts for.
        also: a filter that they pass.
    """
    where = also if len(days) >= SCANNED_FROM else f"{one_of('day', days)} AND {also}"
    found = [part.group_by("day").len() for part in parts(store, name, where, columns=["day"])]
    summed = pl.concat(found).group_by("day").agg(pl.col("len").sum())
    return dict.fromkeys(days, 0) | {day: int(count * each) for day, count in summed.iter_rows()}


def write_rows(
    context: dg.AssetExecutionContext,
    store: Store,
    rows: pl.DataFrame,
    numbers: Mapping[str, pl.Expr] | None = None,
) -> Metadata:
    """Make these rows all that the asset's table holds of the days of the run; metadata of it.

    Args:
        context: of the asset.
        store: the memory.
        rows: of any days of the run.
        numbers: sums over the rows of a day, by the name that the page shows.

    Raises:
        ValueError: a row belongs to none of these days.
    """
    name, days = context.asset_key.path[-1], list(context.partition_keys)
    done = store.replace_partition(name, rows, days)
    none, found = dict.fromkeys((ROWS, *(numbers or {})), 0), day_numbers(rows, numbers)
    by_day = {day: none | found.get(day, {}) for day in days}
    return Metadata(by_day, {**_described(store, name, _counted(done)), "lance_version": done.version})


def _counted(done: Written) -> Counter[str]:
    return Counter({"inserted": done.inserted, "updated": done.updated, "deleted": done.deleted})


def _described(store: Store, name: str, counts: Counter[str]) -> dict[str, Any]:
    """Where a table is, and what was written; each count is there, 0 where nothing was."""
    return {"dagster/uri": f"{store.uri}/{store.physical(name)}.lance", **counts}


def rows_of(
    store: Store, name: str, days: Sequence[str], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Rows of some days of a table, in no order."""
    read = partial(matching, store) if len(days) >= SCANNED_FROM else store.read
    return read(name, one_of("day", days), columns=columns)


def rows_of_run(context: dg.AssetExecutionContext, store: Store, name: str) -> pl.DataFrame:
    """Rows of the days of a run, in key order."""
    return rows_of(store, name, list(context.partition_keys)).sort(store.specs[name].key)
