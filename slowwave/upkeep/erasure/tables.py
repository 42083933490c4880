"""Where each table of the store holds something of a memory, and how it is taken out.

`RULES` names every table; a test fails for one that is missing. Rows of a memory and of the searches that go
are deleted. What else quotes an erased text goes with its row, or is blanked where the row is a figure that
stays (the queries of closed cycles).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.scoring.ranking.words import as_indexed
from slowwave.store import one_of
from slowwave.store.database import batches
from slowwave.store.frames import to_schema
from slowwave.store.tenancy import within
from slowwave.upkeep.erasure.model import Work
from slowwave.upkeep.erasure.words import Needles

if TYPE_CHECKING:
    from slowwave.store import Store, TableSpec

Mend = Callable[[pl.DataFrame, Work], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Rule:
    """Where a table holds something of a memory.

    Attributes:
        memory: columns with ids of memories (of chunks count as their memory's); a row with one of them goes.
        search: the column with the id of a search; a row of one that goes goes, too.
        text: columns with text; a row that quotes what was erased goes.
        blank: columns that are emptied where they quote it; the row stays.
        mend: takes a part out of rows that stay; given the rows that `touched` names.
        touched: column with ids of memories or searches, of rows to mend.
    """

    memory: tuple[str, ...] = ()
    search: str = ""
    text: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    mend: Mend | None = None
    touched: str = ""


def _unlent(rows: pl.DataFrame, work: Work) -> pl.DataFrame:
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
    found = []
    for text in texts:
        tail = next((words for words in tails if text and text.endswith(words)), "")
        twice = text.removesuffix(tail) if tail else text
        found.append(twice[: len(twice) // 2] if tail else text)
    return pl.lit(pl.Series(found, dtype=pl.String))


def _without_details(rows: pl.DataFrame, work: Work) -> pl.DataFrame:
    """Notes that were refused as duplicates of one that goes: the evidence may quote it."""
    return rows.with_columns(details=pl.lit(None, pl.String))


def _without_verdicts(rows: pl.DataFrame, work: Work) -> pl.DataFrame:
    """Observations of an answer, without the verdicts on what goes."""
    kept = ~pl.element().struct["memory_id"].is_in(list(work.memories))
    return rows.with_columns(verdicts=pl.col("verdicts").list.eval(pl.element().filter(kept)))


def _without_question(rows: pl.DataFrame, work: Work) -> pl.DataFrame:
    """Feedback on a search that goes: what was said of a memory stays, for no question."""
    return rows.with_columns(query_id=pl.lit(None, pl.String))


_OF_SEARCH = Rule(search="search_id")
_OF_MEMORY = Rule(memory=("memory_id",))

_BY_PEOPLE = {"explanation": "source = 'manual'"}
"""Where a column holds words of people, and not of ours."""
_OFTEN_CODES = ("reason", "detail")
"""Columns that hold sentences of people or single words of ours."""

RULES: dict[str, Rule] = {
    "meta": Rule(),  # knows nothing of any memory
    "memories": Rule(memory=("memory_id",), mend=_unlent, touched="memory_id"),
    "chunks": Rule(memory=("memory_id",), mend=_unlent, touched="memory_id"),
    "memory_state": _OF_MEMORY,
    "edges": Rule(memory=("from_memory", "to_memory")),
    "decisions": Rule(memory=("memory_id", "other_memory")),
    "quarantine": Rule(memory=("memory_id",), mend=_without_details, touched="duplicate_of"),
    "staged_notes": Rule(memory=("memory_id",), mend=_unlent, touched="memory_id"),
    "gate_verdicts": _OF_MEMORY,
    "embedded_chunks": Rule(memory=("memory_id",), mend=_unlent, touched="memory_id"),
    "searches": Rule(search="search_id", text=("query",), blank=("project",)),
    "events": Rule(memory=("memory_id",), text=("project",), mend=_without_verdicts, touched="verdicts"),
    "usage_signals": Rule(
        memory=("memory_id",), blank=("project",), mend=_without_question, touched="search_id"
    ),
    "effectiveness": _OF_MEMORY,
    "strength": _OF_MEMORY,
    "promotions": _OF_MEMORY,
    "judgments": Rule(memory=("memory_id",), text=("query", "explanation")),
    "evaluation_scores": _OF_SEARCH,
    "shadow_scores": _OF_SEARCH,
    "channel_attribution": _OF_SEARCH,
    "interleavings": _OF_SEARCH,
    "evaluation_cycles": Rule(),  # figures
    "cycle_scores": Rule(blank=("query",)),
    "cycle_judgments": _OF_MEMORY,
    "learned_proposals": Rule(memory=("memory_id",), search="search_id", text=("query",)),
    "learned_matches": Rule(memory=("memory_id",), search="search_id", text=("term",)),
    "learned_effect": _OF_SEARCH,
    "learning_gate": Rule(),  # figures
    "learned_triggers": Rule(memory=("memory_id",), search="search_id", text=("term",)),
    "search_views": Rule(memory=("memory_id",), search="search_id", text=("query",)),
    "question_vectors": Rule(text=("query",)),
    "search_keys": Rule(memory=("memory_id",), search="search_id"),
    "learning_log": Rule(memory=("memory_id",), search="search_id", text=("term", "reason", "detail")),
}


def physical_tables(store: Store) -> Iterator[tuple[str, TableSpec]]:
    """Every table of the database with what it is: those of earlier embedding models, too."""
    named = {physical: name for name, physical in store.identity.tables.items()}
    for physical in sorted(store.db.list_tables().tables):
        fits = [name for name in store.specs if physical == name or physical.startswith(f"{name}_")]
        name = named.get(physical) or max(fits, key=len, default="")
        if name:
            yield physical, store.specs[name]


def counts(store: Store, work: Work, needles: Needles) -> dict[str, int]:
    """How many rows of each table go or lose something."""
    found = {}
    for physical, spec in physical_tables(store):
        table = store.db.open_table(physical)
        filters = [*_gone(table, spec, work, needles), *_unasked(table, store, spec, work)]
        keys = {key for where in filters for key in _keys(table, spec, where)}
        rows = len(keys) + sum(part.height for part in _mended(table, spec, work, needles))
        if rows:
            found[physical] = rows
    return found


def remove(store: Store, work: Work, needles: Needles) -> None:
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
        for column in RULES[spec.name].memory:
            for part in batches(sorted(memories)):
                found.update(_read(table, one_of(column, part), [column])[column].to_list())
    return found & set(memories)


def _gone(table: Any, spec: TableSpec, work: Work, needles: Needles) -> Iterator[str]:  # noqa: ANN401
    """Filters of the rows that go."""
    mine = _mine(spec, work)
    if work.scope == "namespace":
        if mine:
            yield mine
        return
    rule, also = RULES[spec.name], f" AND {mine}" if mine else ""
    for column in rule.memory:
        yield from (one_of(column, part) + also for part in batches(work.memories))
    if rule.search:
        yield from (one_of(rule.search, part) + also for part in batches(work.searches))
    for column in rule.text:
        keys = _quoting(table, spec, column, mine, needles)[spec.key].to_list()
        yield from (one_of(spec.key, part) for part in batches(keys))


def _unasked(table: Any, store: Store, spec: TableSpec, work: Work) -> Iterator[str]:  # noqa: ANN401
    """Filters of questions that only searches asked which go, or that only led to what goes.

    Also of those of which no signal and no view is there: a night that was killed between the two left them,
    and nobody would know any more whose they were.
    """
    if spec.name != "question_vectors" or work.scope == "namespace":
        return
    columns = ["query_id", "search_id", "memory_id"]
    rows = pl.concat(
        [
            _read(store.db.open_table(store.physical(name)), _mine(store.specs[name], work), columns)
            for name in ("usage_signals", "search_views")
        ]
    )
    gone = pl.col("search_id").is_in(list(work.searches)) | pl.col("memory_id").is_in(list(work.memories))
    left = rows.filter(~gone.fill_null(value=False))["query_id"].drop_nulls().unique()
    there = _read(table, _mine(spec, work), ["query_id"])["query_id"]
    asked = there.filter(~there.is_in(left.implode())).unique().sort()
    yield from (one_of("query_id", part) for part in batches(asked.to_list()))


def _mended(table: Any, spec: TableSpec, work: Work, needles: Needles) -> Iterator[pl.DataFrame]:  # noqa: ANN401
    """Rows that stay, as they are to be."""
    rule, mine = RULES[spec.name], _mine(spec, work)
    if work.scope == "namespace":
        return
    columns = table.schema.names
    for column in rule.blank:
        keys = _quoting(table, spec, column, mine, needles)[spec.key].to_list()
        for part in batches(keys):
            yield _read(table, one_of(spec.key, part), columns).with_columns(pl.lit("").alias(column))
    if rule.mend is None:
        return
    for before in _touched(table, rule, work, mine):
        after = rule.mend(before, work)
        changed = after.filter(pl.Series([not same for same in _same(before, after)], dtype=pl.Boolean))
        if changed.height:
            yield changed


def _touched(table: Any, rule: Rule, work: Work, mine: str) -> Iterator[pl.DataFrame]:  # noqa: ANN401
    columns = table.schema.names
    if rule.touched == "verdicts":  # a list: no filter of the database looks into it
        rows = _read(table, f"{mine} AND kind = 'observation'", columns)
        yield rows.filter(
            pl.col("verdicts").list.eval(
                pl.element().struct["memory_id"].is_in(list(work.memories))
            ).list.any()
        )  # fmt: skip
        return
    whose = {"duplicate_of": work.memories, "search_id": work.searches}.get(rule.touched, work.followers)
    for part in batches(whose):
        yield _read(table, f"{one_of(rule.touched, part)} AND {mine}", columns)


def _same(before: pl.DataFrame, after: pl.DataFrame) -> list[bool]:
    columns = [name for name in after.columns if name != "vector"]
    pairs = zip(before.select(columns).iter_rows(), after.select(columns).iter_rows(), strict=True)
    return [one == other for one, other in pairs]


def _quoting(table: Any, spec: TableSpec, column: str, mine: str, needles: Needles) -> pl.DataFrame:  # noqa: ANN401
    """Keys of the rows whose column quotes what was erased."""
    where = " AND ".join(filter(None, [mine, _BY_PEOPLE.get(column, "")]))
    rows = _read(table, where or None, [spec.key, column])
    told = [text for text in rows[column].drop_nulls().unique() if column not in _OFTEN_CODES or " " in text]
    quoting = {text for text in told if needles.quoted(text)}
    return rows.filter(pl.col(column).is_in(list(quoting)))


def _keys(table: Any, spec: TableSpec, where: str) -> Sequence[str]:  # noqa: ANN401
    return _read(table, where, [spec.key])[spec.key].to_list()


def _mine(spec: TableSpec, work: Work) -> str:
    return within(work.namespace) if "namespace" in spec.schema.names else ""


def _read(table: Any, where: str | None, columns: Sequence[str]) -> pl.DataFrame:  # noqa: ANN401
    query = table.search()
    found = (query.where(where) if where else query).select(list(columns)).limit(None).to_arrow()
    frame = pl.from_arrow(found)
    assert isinstance(frame, pl.DataFrame)
    return frame
