"""Erasing rows of tables, by the rules of their declarations (`slowwave.store.tables.declaring.ErasureRule`).

Rows of a memory and of the searches that go are deleted. What else quotes an erased text goes with its row,
or is blanked where the row is a figure that stays (the queries of closed cycles).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from operator import ne
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.maintenance.erasure.model import ErasureTask
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.scoring.ranking.words import as_indexed
from slowwave.store import one_of
from slowwave.store.frames import batches, frame_of, to_schema
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.store import Store, TableSpec


def _unlent(rows: pl.DataFrame, work: ErasureTask) -> pl.DataFrame:
    """Notes that follow one that goes: without its name and the words that it lent them."""
    changed = [pl.lit(None, pl.String).alias("follows")]
    if "context" in rows.columns:
        lent = pl.col("context").is_in(list(work.lent))
        changed.append(pl.when(~lent.fill_null(value=False)).then("context").alias("context"))
    if "search_text" in rows.columns:
        changed.append(_found_by_itself(rows["search_text"], work.lent).alias("search_text"))
    return rows.with_columns([one for one in changed if one.meta.output_name() in rows.columns])


def _found_by_itself(texts: pl.Series, lent: Collection[str]) -> pl.Expr:
    """The text of a chunk without a context that it was lent (`notes.chunking.found_by` puts it there)."""
    tails = [f"\n{as_indexed(words)}" for words in lent]

    def by_itself(text: str) -> str:
        tail = next(filter(text.endswith, tails), "")
        twice = text.removesuffix(tail)
        return twice[: len(twice) // 2] if tail else text

    return pl.lit(texts.map_elements(by_itself, pl.String))


_BY_PEOPLE = {"explanation": "source = 'manual'"}
"""Where a column holds words of people, and not of ours."""
_OFTEN_CODES = ("reason", "detail")
"""Columns that hold sentences of people or single words of ours."""


def physical_tables(store: Store) -> Iterator[tuple[str, TableSpec]]:
    """Every table of the database with what it is: those of earlier embedding models, too."""
    named = {physical: name for name, physical in store.identity.tables.items()}
    for physical in sorted(store.db.list_tables().tables):
        fits = [name for name in store.specs if physical == name or physical.startswith(f"{name}_")]
        name = named.get(physical) or max(fits, key=len, default="")
        if name:
            yield physical, store.specs[name]


def counts(store: Store, work: ErasureTask, needles: QuoteFingerprints) -> dict[str, int]:
    """How many rows of each table go or lose something."""
    found = {}
    for physical, spec in physical_tables(store):
        table = store.db.open_table(physical)
        filters = [*_gone(table, spec, work, needles), *_unasked(table, store, spec, work)]
        keys = {key for where in filters for key in _read(table, where, [spec.key])[spec.key]}
        rows = len(keys) + sum(part.height for part in _mended(table, spec, work, needles))
        if rows:
            found[physical] = rows
    return found


def remove(store: Store, work: ErasureTask, needles: QuoteFingerprints) -> None:
    """Take everything out of the tables; done again, it changes nothing."""
    for physical, spec in physical_tables(store):
        table = store.db.open_table(physical)
        for where in [*_gone(table, spec, work, needles), *_unasked(table, store, spec, work)]:
            table.delete(where)
        for rows in _mended(table, spec, work, needles):
            schema = table.schema
            merge = table.merge_insert(spec.key).when_matched_update_all().use_index(False)
            merge.execute(to_schema(rows, schema), on_bad_vectors="null")


def left_over(store: Store, memories: Collection[str]) -> set[str]:
    """Those of the memories of which some table has rows."""
    found: set[str] = set()
    for physical, spec in physical_tables(store):
        table = store.db.open_table(physical)
        for column in spec.memory_columns:
            for part in batches(sorted(memories)):
                found.update(_read(table, one_of(column, part), [column])[column].to_list())
    return found & set(memories)


def _gone(table: Any, spec: TableSpec, work: ErasureTask, needles: QuoteFingerprints) -> Iterator[str]:  # noqa: ANN401
    """Filters of the rows that go."""
    mine = _mine(spec, work)
    if work.scope == "namespace":
        if mine:
            yield mine
        return
    also = f" AND {mine}" if mine else ""
    for column in spec.memory_columns:
        yield from (one_of(column, part) + also for part in batches(work.memories))
    if spec.search_column:
        yield from (one_of(spec.search_column, part) + also for part in batches(work.searches))
    for column in spec.erasure.quoting:
        keys = _quoting(table, spec, column, mine, needles)
        yield from (one_of(spec.key, part) for part in batches(keys))


def _unasked(table: Any, store: Store, spec: TableSpec, work: ErasureTask) -> Iterator[str]:  # noqa: ANN401
    """Filters of questions that only searches asked which go, or that only led to what goes.

    Also of those of which no signal and no view is there: a night that was killed between the two left them,
    and nobody would know any more whose they were.
    """
    if spec.name != "question_vectors" or work.scope == "namespace":
        return
    columns = ["query_id", "search_id", "memory_id"]
    parts = (
        _read(store.db.open_table(store.physical(name)), _mine(store.specs[name], work), columns)
        for name in ("usage_signals", "search_views")
    )
    rows = pl.concat(parts)
    gone = pl.col("search_id").is_in(list(work.searches)) | pl.col("memory_id").is_in(list(work.memories))
    left = rows.filter(~gone.fill_null(value=False))["query_id"].drop_nulls().unique()
    there = _read(table, _mine(spec, work), ["query_id"])["query_id"]
    asked = there.filter(~there.is_in(left.implode())).unique().sort()
    yield from (one_of("query_id", part) for part in batches(asked.to_list()))


def _mended(
    table: Any,  # noqa: ANN401
    spec: TableSpec,
    work: ErasureTask,
    needles: QuoteFingerprints,
) -> Iterator[pl.DataFrame]:
    """Rows that stay, as they are to be."""
    mine = _mine(spec, work)
    if work.scope == "namespace":
        return
    columns = table.schema.names
    for column in spec.erasure.blanked:
        for part in batches(_quoting(table, spec, column, mine, needles)):
            yield _read(table, one_of(spec.key, part), columns).with_columns(pl.lit("").alias(column))
    for before, after in _parted(table, spec, work, mine):
        was, now = (frame.drop("vector", strict=False).iter_rows() for frame in (before, after))
        changed = after.filter(pl.Series(map(ne, was, now), dtype=pl.Boolean))
        if changed.height:
            yield changed


def _parted(
    table: Any,  # noqa: ANN401
    spec: TableSpec, work: ErasureTask, mine: str,
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:  # fmt: skip
    """Rows that hold something of what goes beside what is their own: before, and without it."""
    columns = table.schema.names
    for column, by in spec.erasure.cleared.items():
        for part in batches(work.searches if by == "search_id" else work.memories):
            before = _read(table, f"{one_of(by, part)} AND {mine}", columns)
            yield before, before.with_columns(pl.lit(None, pl.String).alias(column))
    if {"context", "search_text"} & set(columns):  # of notes, to which others may lend words
        for part in batches(work.followers):
            before = _read(table, f"{one_of('memory_id', part)} AND {mine}", columns)
            yield before, _unlent(before, work)
    if "verdicts" in columns:  # a list: no filter of the database looks into it
        gone = pl.element().struct["memory_id"].is_in(list(work.memories))
        rows = _read(table, f"{mine} AND kind = 'observation'", columns)
        before = rows.filter(pl.col("verdicts").list.eval(gone).list.any())
        yield before, before.with_columns(pl.col("verdicts").list.eval(pl.element().filter(~gone)))


def _quoting(table: Any, spec: TableSpec, column: str, mine: str, needles: QuoteFingerprints) -> list[str]:  # noqa: ANN401
    """Keys of the rows whose column quotes what was erased."""
    where = " AND ".join(filter(None, [mine, _BY_PEOPLE.get(column, "")]))
    rows = _read(table, where or None, [spec.key, column])
    told = [text for text in rows[column].drop_nulls().unique() if column not in _OFTEN_CODES or " " in text]
    quoting = [text for text in told if needles.quoted(text)]
    return rows.filter(pl.col(column).is_in(quoting))[spec.key].to_list()


def _mine(spec: TableSpec, work: ErasureTask) -> str:
    return within(work.namespace) if "namespace" in spec.schema.names else ""


def _read(table: Any, where: str | None, columns: Sequence[str]) -> pl.DataFrame:  # noqa: ANN401
    query = table.search()
    return frame_of((query.where(where) if where else query).select(list(columns)).limit(None).to_arrow())
