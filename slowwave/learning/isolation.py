"""Isolation proof: full-text search never reaches learned terms (safeguard 4 of rule 5).

The check compares the full-text columns of each table with those it may have. It also searches for a canary,
once naming no column and once in the index alone. The canary is a row of ``learned_triggers`` in a namespace
that nobody can open, with a random term that no text contains. A question with that term and a zero vector
stands beside it. The search is needed because LanceDB scans a named column even without an index.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, Final
from weakref import WeakKeyDictionary

import polars as pl

from slowwave.errors import SlowwaveError
from slowwave.store import Store
from slowwave.store.search_texts import differing
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.tenancy import within
from slowwave.store.text import full_text, full_text_columns

TABLE: Final = "learned_triggers"
QUESTIONS: Final = "question_vectors"
"""Table with the texts of questions that are search keys. Other tables of keys hold only their ids."""
SEARCHED: Final = "chunks"
"""The only table with full-text search."""

_NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_TEXTS = ("memory_id", "term", "search_id", "question", "principal", "proposal_id")
_IN_CANARY_NAMESPACE = within(CANARY_NAMESPACE)


def canary(store: Store) -> str:
    """Return the term of the canary; write the canary first if it is missing."""
    while not (term := _canary(store, TABLE)):
        fresh = f"canary{secrets.token_hex(12)}"
        row = {
            "trigger_id": CANARY_NAMESPACE, "namespace": CANARY_NAMESPACE, "day": CANARY_NAMESPACE,
            **dict.fromkeys(_TEXTS, fresh), "added_at": _NEVER, "expires_at": _NEVER, "weight": 0.0,
        }  # fmt: skip
        # If two processes write at once, the first row stays.
        store.upsert(TABLE, pl.DataFrame([row]), insert_only=True)
    if _canary(store, QUESTIONS) != term:
        vector = [0.0] * store.identity.dimension
        row = {"query_id": CANARY_NAMESPACE, "namespace": CANARY_NAMESPACE, "query": term, "vector": vector}
        kind = {"vector": pl.Array(pl.Float32, store.identity.dimension)}
        store.upsert(QUESTIONS, pl.DataFrame([row], schema_overrides=kind))
    return term


_TERM_COLUMN: Final = {TABLE: "term", QUESTIONS: "query"}
"""Tables with a canary, and the column of its term."""


def _canary(store: Store, name: str) -> str:
    """Return the canary's term in a table; empty if the table has no canary."""
    return "".join(
        store.read(name, _IN_CANARY_NAMESPACE, columns=[_TERM_COLUMN[name]])[_TERM_COLUMN[name]][:1]
    )


def prove(store: Store, tables: Collection[str] | None = None, *, plant: bool = True) -> tuple[str, ...]:
    """Return each way in which learned text reaches the full-text search; empty means proven.

    Args:
        store: Tables to check.
        tables: Names of the tables to check; None is all.
        plant: Write the canary if it is missing. Without a canary only the indexes are checked.
    """
    names = store.specs if tables is None else tables
    term = canary(store) if plant else _canary(store, TABLE)
    return tuple(problem for name in names for problem in _problems(store, name, term))


def contaminated_chunks(store: Store) -> pl.DataFrame:
    """Return chunks whose search text differs from their text and context: chunk_id, memory_id, revision."""
    return differing(store).drop("search_text")


class IsolationWatch:
    """Cached isolation proof, repeated only when a relevant table changes.

    A failed proof is repeated each time, because another process may have fixed it.

    Args:
        store: Tables to check.
        table: Table with the learned rows; empty is every table.
        proven: Versions of the tables at an earlier proof.
    """

    def __init__(self, store: Store, table: str = TABLE, proven: dict[str, int] | None = None) -> None:
        self._store = store
        names = (TABLE, SEARCHED) if table == TABLE else (table, QUESTIONS, SEARCHED)
        self._names = names if table else tuple(store.specs)
        self._lock = threading.Lock()
        self.proven = proven or {}

    def problems(self) -> tuple[str, ...]:
        """Return the problems that `prove` finds; empty while the tables are unchanged."""
        try:
            return self.proof()
        except (SlowwaveError, RuntimeError, OSError, ValueError) as error:
            return (f"the check failed: {error}",)

    def proof(self) -> tuple[str, ...]:
        """Return the same, and raise the error of a check that failed."""
        with self._lock:
            proven, self.proven = self.proven, {}
            versions = {name: self._store.version(name) for name in self._names}
            changed = [name for name, version in versions.items() if version != proven.get(name)]
            problems = prove(self._store, changed if proven else None) if changed else ()
            self.proven = {} if problems else versions
        return problems


_PROVEN: Final[WeakKeyDictionary[Store, dict[str, int]]] = WeakKeyDictionary()
"""Versions of all tables at the last proof that found nothing."""


def proof_of_all(store: Store) -> tuple[str, ...]:
    """Return the problems that `prove` finds.

    The proof is repeated only for tables that have changed.
    """
    watch = IsolationWatch(store, "", _PROVEN.pop(store, None))
    problems = watch.proof()
    _PROVEN[store] = watch.proven
    return problems


def _problems(store: Store, name: str, term: str) -> Iterator[str]:
    from lancedb.query import MatchQuery

    table, allowed = store.table(name), store.specs[name].full_text
    for column in sorted(full_text_columns(table).difference(allowed)):
        yield f"{name}.{column} has a full-text index"
    if not term:
        return
    if name in (*_TERM_COLUMN, SEARCHED) and _found_by_default(store, name, term):
        yield f"a term that was only learned is found in {name} by a text query"
    if name not in _TERM_COLUMN:
        return
    if _has_hit(table.search(MatchQuery(term, _TERM_COLUMN[name]), query_type="fts").fast_search()):
        yield f"a term that was only learned is in a full-text index of {name}"


def _found_by_default(store: Store, name: str, term: str) -> bool:
    """Return whether a query without a column finds the term.

    A table without any index refuses such a query.
    """
    try:
        return _has_hit(store.table(name).search(term, query_type="fts"))
    except ValueError as error:
        if "INVERTED index" not in str(error):
            raise
    # Columns that may be searched are searched without an index as well.
    return any(_has_hit(full_text(store, name, column, term)) for column in store.specs[name].full_text)


def _has_hit(search: Any) -> bool:  # noqa: ANN401 - LanceDB's query
    return bool(search.select(["_score"]).limit(1).to_arrow().num_rows)
