"""Erasure of table rows, by the rules of their declarations (`slowwave.store.tables.declaring.ErasureRule`).

Rows of erased memories and searches are deleted. Other rows that quote an erased text are deleted too, or
blanked where the row is a figure that stays (the queries of closed cycles).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from operator import ne
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.maintenance.erasure.model import ErasureTask
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.scoring.ranking.word_pieces import text_with_pieces
from slowwave.store import one_of
from slowwave.store.frames import batches, frame_of, to_schema
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.store import Store, TableSpec


def _unlent(rows: pl.DataFrame, work: ErasureTask) -> pl.DataFrame:
    """Return notes that follow an erased one, without its name and lent words."""
    changed = [pl.lit(None, pl.String).alias("follows")]
    if "context" in rows.columns:
        lent = pl.col("context").is_in(list(work.lent))
        changed.append(pl.when(~lent.fill_null(value=False)).then("context").alias("context"))
    if "search_text" in rows.columns:
        changed.append(_search_text_without(rows["search_text"], work.lent).alias("search_text"))
    return rows.with_columns(
        [expression for expression in changed if expression.meta.output_name() in rows.columns]
    )


def _search_text_without(texts: pl.Series, lent: Collection[str]) -> pl.Expr:
    """Remove the lent context from a chunk's search text (`notes.chunking.found_by` adds it)."""
    tails = [f"\n{text_with_pieces(words)}" for words in lent]

    def without_tail(text: str) -> str:
        tail = next(filter(text.endswith, tails), "")
        doubled = text.removesuffix(tail)
        return doubled[: len(doubled) // 2] if tail else text

    return pl.lit(texts.map_elements(without_tail, pl.String))


_BY_PEOPLE = {"explanation": "source = 'manual'"}
"""Filter of the rows in which a column has words of people, not ours."""
_FILTERS = 8
"""Maximum filters that one read combines (count); each has many ids."""
_OFTEN_CODES = ("reason", "detail")
"""Columns with sentences of people or single words of ours."""


def physical_tables(store: Store) -> Iterator[tuple[str, TableSpec]]:
    """Yield every table of the database with its spec, also those of earlier embedding models."""
    named = {physical: name for name, physical in store.identity.tables.items()}
    for physical in sorted(store.db.list_tables().tables):
        fits = [name for name in store.specs if physical == name or physical.startswith(f"{name}_")]
        name = named.get(physical) or max(fits, key=len, default="")
        if name:
            yield physical, store.specs[name]


def _open(store: Store, physical: str) -> Any:  # noqa: ANN401 - lancedb.Table
    """Return a table for writing."""
    return store.db.open_table(physical)


def _snapshot(store: Store, physical: str) -> Any:  # noqa: ANN401 - lance.LanceDataset, or lancedb.Table
    """Return a table for reading: the cached dataset where there is one, which is several times faster."""
    names = {own: name for name, own in store.identity.tables.items()}
    name = names.get(physical, physical)
    if store.in_memory or store.physical(name) != physical:
        return _open(store, physical)
    return store.committed(name)


def counts(store: Store, work: ErasureTask, needles: QuoteFingerprints) -> dict[str, int]:
    """Count the rows of each table that would be deleted or changed."""
    changed = {}
    for physical, spec in physical_tables(store):
        table = _snapshot(store, physical)
        if not table.count_rows():
            continue
        filters = [*_gone(table, spec, work, needles), *_unasked(table, store, spec, work, _snapshot)]
        keys = {
            key
            for at in range(0, len(filters), _FILTERS)
            for key in _read(table, _any(filters[at : at + _FILTERS]), [spec.key])[spec.key]
        }
        rows = len(keys) + sum(part.height for part in _redacted(table, spec, work, needles))
        if rows:
            changed[physical] = rows
    return changed


def remove(store: Store, work: ErasureTask, needles: QuoteFingerprints) -> None:
    """Delete and redact the rows of all tables; idempotent."""
    for physical, spec in physical_tables(store):
        table = _open(store, physical)
        for where in [*_gone(table, spec, work, needles), *_unasked(table, store, spec, work, _open)]:
            table.delete(where)
        for rows in _redacted(table, spec, work, needles):
            schema = table.schema
            merge = table.merge_insert(spec.key).when_matched_update_all().use_index(False)
            merge.execute(to_schema(rows, schema), on_bad_vectors="null")


def left_over(store: Store, memories: Collection[str]) -> set[str]:
    """Return the memories of which some table has rows."""
    present: set[str] = set()
    for physical, spec in physical_tables(store):
        table = _open(store, physical)
        for column in spec.memory_columns:
            for part in batches(sorted(memories)):
                present.update(_read(table, one_of(column, part), [column])[column].to_list())
    return present & set(memories)


def _gone(table: Any, spec: TableSpec, work: ErasureTask, needles: QuoteFingerprints) -> Iterator[str]:  # noqa: ANN401
    """Yield filters of the rows to delete."""
    own = _in_namespace(spec, work)
    if work.scope == "namespace":
        if own:
            yield own
        return
    also = f" AND {own}" if own else ""
    for column in spec.memory_columns:
        yield from (one_of(column, part) + also for part in batches(work.memories))
    if spec.search_column:
        yield from (one_of(spec.search_column, part) + also for part in batches(work.searches))
    for column in spec.erasure.quoting:
        keys = _quoting(table, spec, column, own, needles)
        yield from (one_of(spec.key, part) for part in batches(keys))


def _unasked(
    table: Any,  # noqa: ANN401
    store: Store,
    spec: TableSpec,
    work: ErasureTask,
    opened: Callable[[Store, str], Any],
) -> Iterator[str]:
    """Yield filters of questions only used by erased searches or leading only to erased memories.

    Includes questions without any signal or view: a killed nightly run left them, and their namespace is
    unknown.
    """
    if spec.name != "question_vectors" or work.scope == "namespace":
        return
    columns = ["query_id", "search_id", "memory_id"]
    parts = (
        _read(opened(store, store.physical(name)), _in_namespace(store.specs[name], work), columns)
        for name in ("usage_signals", "search_views")
    )
    rows = pl.concat(parts)
    gone = pl.col("search_id").is_in(list(work.searches)) | pl.col("memory_id").is_in(list(work.memories))
    kept = rows.filter(~gone.fill_null(value=False))["query_id"].drop_nulls().unique()
    existing = _read(table, _in_namespace(spec, work), ["query_id"])["query_id"]
    unasked = existing.filter(~existing.is_in(kept.implode())).unique().sort()
    yield from (one_of("query_id", part) for part in batches(unasked.to_list()))


def _redacted(
    table: Any,  # noqa: ANN401
    spec: TableSpec,
    work: ErasureTask,
    needles: QuoteFingerprints,
) -> Iterator[pl.DataFrame]:
    """Yield the changed rows that stay."""
    own = _in_namespace(spec, work)
    if work.scope == "namespace":
        return
    columns = table.schema.names
    for column in spec.erasure.blanked:
        for part in batches(_quoting(table, spec, column, own, needles)):
            yield _read(table, one_of(spec.key, part), columns).with_columns(pl.lit("").alias(column))
    for before, after in _changed(table, spec, work, own):
        was, now = (frame.drop("vector", strict=False).iter_rows() for frame in (before, after))
        changed = after.filter(pl.Series(map(ne, was, now), dtype=pl.Boolean))
        if changed.height:
            yield changed


def _changed(
    table: Any,  # noqa: ANN401
    spec: TableSpec, work: ErasureTask, own: str,
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:  # fmt: skip
    """Yield rows with own data and references to erased data: before, and without those."""
    columns = table.schema.names
    for column, by in spec.erasure.cleared.items():
        for part in batches(work.searches if by == "search_id" else work.memories):
            before = _read(table, f"{one_of(by, part)} AND {own}", columns)
            yield before, before.with_columns(pl.lit(None, pl.String).alias(column))
    if {"context", "search_text"} & set(columns):  # tables of notes, which may have lent words
        for part in batches(work.followers):
            before = _read(table, f"{one_of('memory_id', part)} AND {own}", columns)
            yield before, _unlent(before, work)
    if "verdicts" in columns:  # a list, which no filter of the database can search
        gone = pl.element().struct["memory_id"].is_in(list(work.memories))
        rows = _read(table, f"{own} AND kind = 'observation'", columns)
        before = rows.filter(pl.col("verdicts").list.eval(gone).list.any())
        yield before, before.with_columns(pl.col("verdicts").list.eval(pl.element().filter(~gone)))


def _quoting(table: Any, spec: TableSpec, column: str, own: str, needles: QuoteFingerprints) -> list[str]:  # noqa: ANN401
    """Return keys of the rows whose column quotes an erased text."""
    where = " AND ".join(filter(None, [own, _BY_PEOPLE.get(column, "")]))
    rows = _read(table, where or None, [spec.key, column])
    texts = [text for text in rows[column].drop_nulls().unique() if column not in _OFTEN_CODES or " " in text]
    quoting = [text for text in texts if needles.quoted(text)]
    return rows.filter(pl.col(column).is_in(quoting))[spec.key].to_list()


def _in_namespace(spec: TableSpec, work: ErasureTask) -> str:
    return within(work.namespace) if "namespace" in spec.schema.names else ""


def _any(filters: Sequence[str]) -> str:
    """Return a filter of the rows that match one of some filters."""
    return " OR ".join(f"({where})" for where in filters)


def _read(table: Any, where: str | None, columns: Sequence[str]) -> pl.DataFrame:  # noqa: ANN401
    """Read rows of a table that is opened for writing, or of a snapshot."""
    if not hasattr(table, "search"):
        return frame_of(table.to_table(filter=where or None, columns=list(columns)))
    query = table.search()
    return frame_of((query.where(where) if where else query).select(list(columns)).limit(None).to_arrow())
