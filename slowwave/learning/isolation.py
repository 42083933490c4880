"""The proof that no full-text search reaches what was learned (safeguard 4 of rule 5).

Three things are looked at: which columns have a full-text index, against what each table may have; and
whether a canary is found, by a query that names no column and by one that asks the index alone. The canary is
a row of ``learned_triggers`` in a namespace that nobody can open, with a term that no text has and nobody
knows, and beside it a question of that term with a vector of zeros. It has to be looked for: LanceDB
searches a column that is named by a scan, also where no index is.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from slowwave.errors import SlowwaveError
from slowwave.notes.chunking import found_by, indexed_text
from slowwave.store import Store
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.tenancy import within
from slowwave.store.text import full_text, full_text_columns

TABLE: Final = "learned_triggers"
QUESTIONS: Final = "question_vectors"
"""Has the texts of questions that are search keys; other tables of keys have their ids alone."""
SEARCHED: Final = "chunks"
"""The one table that is searched by text."""

_NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_TEXTS = ("memory_id", "term", "search_id", "question", "principal", "proposal_id")
_MINE = within(CANARY_NAMESPACE)


def canary(store: Store) -> str:
    """The term of the canary, written first where there is none."""
    while not (term := _canary(store, TABLE)):
        fresh = f"canary{secrets.token_hex(12)}"
        row = {
            "trigger_id": CANARY_NAMESPACE, "namespace": CANARY_NAMESPACE, "day": CANARY_NAMESPACE,
            **dict.fromkeys(_TEXTS, fresh), "added_at": _NEVER, "expires_at": _NEVER, "weight": 0.0,
        }  # fmt: skip
        # Of two processes that write it at once, the first one's stays.
        store.upsert(TABLE, pl.DataFrame([row]), insert_only=True)
    if _canary(store, QUESTIONS) != term:
        vector = [0.0] * store.identity.dimension
        row = {"query_id": CANARY_NAMESPACE, "namespace": CANARY_NAMESPACE, "query": term, "vector": vector}
        kind = {"vector": pl.Array(pl.Float32, store.identity.dimension)}
        store.upsert(QUESTIONS, pl.DataFrame([row], schema_overrides=kind))
    return term


_SAYS: Final = {TABLE: "term", QUESTIONS: "query"}
"""Where the canary is, and the column that has its term."""


def _canary(store: Store, name: str) -> str:
    """The term of the canary in a table; empty where there is none."""
    return "".join(store.read(name, _MINE, columns=[_SAYS[name]])[_SAYS[name]][:1])


def prove(store: Store, tables: Collection[str] | None = None, *, plant: bool = True) -> tuple[str, ...]:
    """Every way by which what was learned reaches the full-text search, in words; none: it is proven.

    Args:
        store: the tables.
        tables: that are looked at; None is all.
        plant: write the canary where there is none; without one the indexes alone are looked at.
    """
    names = store.specs if tables is None else tables
    term = canary(store) if plant else _canary(store, TABLE)
    return tuple(problem for name in names for problem in _problems(store, name, term))


def contaminated_chunks(store: Store) -> pl.DataFrame:
    """Chunks that other words find than those of their text and context: chunk_id, memory_id, revision."""
    columns = ["chunk_id", "memory_id", "revision", "title", "headings", "text", "search_text"]
    contexts = store.read("memories", columns=["memory_id", "revision", "context"])
    chunks = store.read(SEARCHED, columns=columns).join(contexts, on=["memory_id", "revision"], how="left")
    right = [
        found_by(indexed_text(title or "", headings or (), text), context)
        for title, headings, text, context in chunks.select(
            "title", "headings", "text", "context"
        ).iter_rows()
    ]
    wrong = pl.col("search_text").ne_missing(pl.Series(right, dtype=pl.String))
    return chunks.filter(wrong).select("chunk_id", "memory_id", "revision")


class IsolationWatch:
    """The proof, asked again when there is reason to: at first, and when a table that matters has changed.

    What failed is asked again each time: another process may have mended it.

    Args:
        store: the tables.
        table: has what was learned.
    """

    def __init__(self, store: Store, table: str = TABLE) -> None:
        self._store = store
        self._names = (TABLE, SEARCHED) if table == TABLE else (table, QUESTIONS, SEARCHED)
        self._lock = threading.Lock()
        self._proven: dict[str, int] = {}

    def problems(self) -> tuple[str, ...]:
        """As of `prove`."""
        with self._lock:
            try:
                versions = {name: self._store.version(name) for name in self._names}
                changed = [name for name, version in versions.items() if version != self._proven.get(name)]
                if not changed:
                    return ()
                found = prove(self._store, changed if self._proven else None)
            except (SlowwaveError, RuntimeError, OSError, ValueError) as error:
                found = (f"it could not be looked at: {error}",)
            self._proven = {} if found else versions
        return found


def _problems(store: Store, name: str, term: str) -> Iterator[str]:
    from lancedb.query import MatchQuery

    table, allowed = store.table(name), store.specs[name].full_text
    for column in sorted(full_text_columns(table).difference(allowed)):
        yield f"{name}.{column} has a full-text index"
    if not term:
        return
    if name in (*_SAYS, SEARCHED) and _found_by_default(store, name, term):
        yield f"a term that was only learned is found in {name} by a text query"
    if name not in _SAYS:
        return
    if _found(table.search(MatchQuery(term, _SAYS[name]), query_type="fts").fast_search()):
        yield f"a term that was only learned is in a full-text index of {name}"


def _found_by_default(store: Store, name: str, term: str) -> bool:
    """Whether a query that names no column finds the term; a table without any index refuses it."""
    try:
        return _found(store.table(name).search(term, query_type="fts"))
    except ValueError as error:
        if "INVERTED index" not in str(error):
            raise
    # Columns that may be searched are searched without an index, too.
    return any(_found(full_text(store, name, column, term)) for column in store.specs[name].full_text)


def _found(search: Any) -> bool:  # noqa: ANN401 - LanceDB's query
    return bool(search.select(["_score"]).limit(1).to_arrow().num_rows)
