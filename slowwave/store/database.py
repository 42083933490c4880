"""LanceDB database: opening, and the one way to write; `reading` has the reads.

It rests on these facts (each has a test in ``tests/store`` or ``tests/faults``):

* an upsert is a single commit. The declared primary key keeps concurrent upserts of the same new key from
  doubling it, as long as no scalar index is used to look the key up (``use_index(False)``);
* ``read_consistency_interval=0`` makes every read see every finished write of other processes.

New rows may wait in a write-ahead log (`slowwave.store.wal`): `Store.read` includes them, and every other
access to their table commits them first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.errors import ModelError, StoreError
from slowwave.store.connection import Identity
from slowwave.store.frames import frame_of, one_of, quote, rows_table, to_schema
from slowwave.store.instrumentation import observe_query
from slowwave.store.reading import TableReader
from slowwave.store.tables import SCHEMA_VERSION, TableSpec, table_specs
from slowwave.store.tenancy import StoreOf
from slowwave.store.text import create_full_text_indexes

LOGGED = ("quarantine", "decisions", "edges", "memories", "chunks")
"""Tables whose new rows may wait in the write-ahead log, in the order in which they are committed."""


@dataclass(frozen=True, slots=True)
class Written:
    """Result of one commit on a table."""

    version: int
    inserted: int
    updated: int
    deleted: int


def other_model(uri: str, stored: str, configured: str) -> ModelError:
    """Build the error for opening a store with another model than that of its vectors."""
    return ModelError(
        f"The store at {uri} was embedded with {stored!r}, but embedding.model is {configured!r}; vectors of "
        f'two models cannot be compared. Either set embedding.model = "{stored}", or run '
        f"`slowwave reembed --model {configured}`: it fills a new table beside the old one and switches over "
        f"when it is complete."
    )


def _refuse_bad_vectors(name: str, rows: pa.Table) -> None:
    """Refuse bad vectors as LanceDB does: in the log they would block all later rows."""
    if name != "memories" and "vector" in rows.column_names:
        vectors = rows.column("vector")
        if vectors.null_count or not np.isfinite(pc.list_flatten(vectors).to_numpy()).all():
            raise ValueError(f"{name}: a vector is missing or has a value that is NaN or infinite")


class Records(Protocol):
    """Recorder of each change of a table before it is made."""

    def adopt(self, store: Store) -> None:
        """Prepare for the first change."""

    def upsert(
        self, store: Store, name: str, rows: pa.Table, *, insert_only: bool = False, delete: str | None = None
    ) -> None:
        """Record an upsert; rows that match `delete` and are not in `rows` will be deleted."""

    def delete(self, store: Store, name: str, where: str) -> None:
        """Record the deletion of the rows that match `where`."""


class Store(TableReader):
    """All tables of one Slowwave database.

    Args:
        uri: A folder, or ``s3://bucket/prefix``.
        model: Name of the embedding model; its vectors have `dimension` numbers.
        storage_options: Options of the object store.
        create: Create the database if it is missing.

    Raises:
        StoreError: The database is missing and `create` is false, or a newer Slowwave wrote it.
        ModelError: The database belongs to another embedding model.
    """

    is_new = False
    """Whether the tables were missing when this object opened them."""

    recorder: Records | None = None
    """Writes each change to the journal before it is made; None for a store opened without a home."""

    def __init__(
        self,
        uri: str,
        *,
        model: str,
        dimension: int,
        storage_options: Mapping[str, str] | None = None,
        create: bool = True,
    ) -> None:
        super().__init__(uri, storage_options)
        self.identity = self._identify(model, dimension, create)
        self.specs = table_specs(self.identity.dimension)

    @classmethod
    def bare(cls, uri: str, identity: Identity, storage_options: Mapping[str, str] | None = None) -> Store:
        """Return a store on existing tables of an identity; nothing is created or read."""
        store = object.__new__(cls)
        TableReader.__init__(store, uri, storage_options)
        store.identity, store.specs = identity, table_specs(identity.dimension)
        return store

    def of(self, *namespaces: str) -> StoreOf:
        """Return the same tables restricted to some namespaces (tenancy: no read crosses it)."""
        return StoreOf(self, namespaces)

    # -- opening ---------------------------------------------------------------------------------

    def _identify(self, model: str, dimension: int, create: bool) -> Identity:
        self.specs = table_specs(dimension)
        stored, version = None, None
        self.is_new = "meta" not in self.db.list_tables().tables
        if not self.is_new:
            with suppress(ValueError):  # another process is creating the table
                stored, version = self._stored_facts()
        elif not create:
            raise StoreError(f"No Slowwave store at {self.uri}. Run `slowwave init` to create one.")
        if stored is None or version is None:  # missing, or its first opening was killed
            self._create(model, dimension)
            stored, version = self._stored_facts()
        assert stored is not None
        assert version is not None
        if version["version"] > SCHEMA_VERSION:
            raise StoreError(
                f"The store at {self.uri} has schema version {version['version']}, this Slowwave supports "
                f"up to {SCHEMA_VERSION}. Install a newer Slowwave."
            )
        if stored["model"] != model:
            raise other_model(self.uri, stored["model"], model)
        return Identity.read(stored)

    def _stored_facts(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Return the model of the vectors and the schema version; None each if unknown."""
        names = ("embedding", "schema")
        facts = dict(self.read("meta", one_of("name", names), columns=["name", "value"]).iter_rows())
        stored, version = (json.loads(facts[name]) if name in facts else None for name in names)
        return stored, version

    def _create(self, model: str, dimension: int) -> None:
        for spec in table_specs(dimension).values():
            self.create_table(spec)
        identity = {"model": model, "dimension": dimension, "tables": {}}
        self.put_metas({"embedding": identity, "schema": {"version": SCHEMA_VERSION}}, keep=True)

    def create_table(self, spec: TableSpec, name: str | None = None) -> None:
        """Create an empty table with its text indexes; do nothing if it exists."""
        name = name or spec.name
        for patience in (0.05, 0.1, 0.2, 0.4, 0.8, None):
            try:
                table = self.db.create_table(name, schema=spec.schema, exist_ok=True)
                break
            except (RuntimeError, ValueError):  # another process was first
                with suppress(ValueError):  # and may not have finished
                    table = self.db.open_table(name)
                    break
                if patience is None:
                    raise
                time.sleep(patience)
        create_full_text_indexes(table, spec)

    def refresh(self) -> None:
        """Reconnect and read the identity again (after a restore or a re-embedding)."""
        self.connect()
        stored = self.get_meta("embedding")
        assert stored is not None
        self.identity = Identity.read(stored)
        self.specs = table_specs(self.identity.dimension)

    # -- writing ---------------------------------------------------------------------------------

    def upsert(
        self,
        name: str,
        rows: pl.DataFrame | Mapping[str, Sequence[Any] | np.ndarray],
        *,
        newer: bool = False,
        insert_only: bool = False,
        delete: str | None = None,
    ) -> Written:
        """Insert or replace rows by key in one commit; the last of equal keys counts.

        Args:
            name: Table.
            rows: Columns of the table; missing ones become null. Few rows of different keys may be given as
                plain values by column, which costs less (`rows_table`).
            newer: Replace a row only if the ``revision`` in `rows` is not lower.
            insert_only: Leave existing rows unchanged.
            delete: In the same commit, delete rows that match this filter and are not in `rows`.
        """
        spec = self.specs[name]
        if not isinstance(rows, pl.DataFrame):
            data = rows_table(rows, spec.schema)
        else:
            if rows.height > 1:
                rows = rows.unique(spec.key, keep="last", maintain_order=True)
            data = to_schema(rows, spec.schema)
        gathered: dict[str, list[pa.Table]] | None = getattr(self._writing, "gathered", None)
        if gathered is not None:
            _refuse_bad_vectors(name, data)
            gathered.setdefault(name, []).append(data)
            return Written(0, data.num_rows, 0, 0)
        self.settle(name)  # before the record: the waiting rows are older
        if data.num_rows == 0 and delete is None:
            return Written(int(self.table(name).version), 0, 0, 0)
        if self.recorder is not None:
            self.recorder.upsert(self, name, data, insert_only=insert_only, delete=delete)
        merge = self.table(name).merge_insert(spec.key)
        if not insert_only:
            merge = merge.when_matched_update_all(
                where="source.revision >= target.revision" if newer else None
            )
        merge = merge.when_not_matched_insert_all()
        if delete is not None:
            merge = merge.when_not_matched_by_source_delete(delete)
        # LanceDB counts a missing vector as bad; a memory without text to embed has none.
        bad = "null" if name == "memories" else "error"
        with observe_query("merge_insert", name) as observed, self.explaining(name):
            observed.set(rows=data.num_rows)
            done = merge.use_index(False).execute(data, on_bad_vectors=bad)
        self._committed(name, done.version)
        return Written(done.version, done.num_inserted_rows, done.num_updated_rows, done.num_deleted_rows)

    @contextmanager
    def later(self) -> Iterator[None]:
        """Gather upserts of new keys, write them to the log together, commit later.

        Only for `LOGGED` tables, and by one writer at a time. Without a log they are written at once. If the
        block fails, nothing of it is written.
        """
        if self.wal is None:
            yield
            return
        gathered: dict[str, list[pa.Table]] = {}
        self._writing.gathered = gathered
        try:
            yield
        finally:
            self._writing.gathered = None
        if gathered and self.recorder is not None:
            self.recorder.adopt(self)
        self.wal.append({name: pa.concat_tables(parts) for name, parts in gathered.items()})

    def remove_partial_files(self) -> None:
        """Delete partial files of killed writers from the write-ahead log."""
        if self.wal is not None:
            self.wal.remove_partial_files()

    def settle(self, name: str = "") -> None:
        """Commit the rows of one table, or of any, that wait in the write-ahead log."""
        if self.wal is None or not self.logged(name):
            return
        self._writing.settles = True
        try:
            with self.wal.taking_all() as waiting:
                for table in LOGGED:
                    if table in waiting:
                        rows = frame_of(pa.concat_tables(waiting[table]))
                        self.upsert(table, rows, insert_only=True)
        finally:
            self._writing.settles = False

    def replace_partition(self, name: str, rows: pl.DataFrame, partitions: Sequence[str]) -> Written:
        """Make `rows` the whole content of these partitions in one commit; no rows empty them.

        Raises:
            ValueError: A row belongs to none of the partitions.
        """
        column = self.specs[name].partition
        if column is None:
            raise ValueError(f"{name} is not a partitioned table; write it with upsert()")
        strays = rows.filter(~pl.col(column).is_in(list(partitions)).fill_null(False))
        if strays.height:
            raise ValueError(
                f"{strays.height} rows of {name} belong to {strays[column].unique().to_list()}, "
                f"not to the partitions being written ({partitions[0]} to {partitions[-1]})"
            )
        where = one_of(column, partitions)
        if self._holds_exactly(name, where, rows):
            return Written(int(self.table(name).version), 0, 0, 0)
        return self.upsert(name, rows, delete=where)

    def _holds_exactly(self, name: str, where: str, rows: pl.DataFrame) -> bool:
        """Whether exactly these rows match the filter: then a rerun need not write."""
        spec = self.specs[name]
        if self.count(name, where) != rows.height:
            return False
        wanted = frame_of(to_schema(rows, spec.schema))
        return self.read(name, where).sort(spec.key).equals(wanted.sort(spec.key))

    def delete(self, name: str, where: str) -> None:
        """Delete the rows that match. Only for rows that can be recreated, such as stale chunks."""
        self.settle(name)
        if self.recorder is not None:
            self.recorder.delete(self, name, where)
        with observe_query("delete", name), self.explaining(name):
            self._committed(name, self.table(name).delete(where).version)

    def _committed(self, name: str, version: int) -> None:
        first, _ = self._commits.get(name, (version - 1, version))
        self._commits[name] = first, version

    def take_commits(self) -> dict[str, tuple[int, int]]:
        """Return the tables written since the last call: version before the first commit, after the last."""
        taken, self._commits = self._commits, {}
        return taken

    # -- facts in ``meta`` -----------------------------------------------------------------------

    def get_meta(self, name: str) -> dict[str, Any] | None:
        """Return a stored fact by name, or None."""
        rows = self.read("meta", f"name = {quote(name)}", columns=["value"])
        return None if rows.is_empty() else dict(json.loads(rows["value"][0]))

    def put_meta(self, name: str, value: Mapping[str, Any], *, keep: bool = False) -> None:
        """Store a fact; with `keep`, an existing one stays unchanged."""
        self.put_metas({name: value}, keep=keep)

    def put_metas(self, values: Mapping[str, Mapping[str, Any]], *, keep: bool = False) -> None:
        """Store facts by name, in one commit."""
        if values:
            texts = [json.dumps(value, sort_keys=True) for value in values.values()]
            rows = pl.DataFrame({"name": list(values), "value": texts})
            self.upsert("meta", rows, insert_only=keep)

    def list_meta(self, prefix: str) -> dict[str, dict[str, Any]]:
        """Return all facts whose name starts with `prefix`, by the rest of their name."""
        rows = self.read("meta", f"starts_with(name, {quote(prefix)})")
        return {
            name.removeprefix(prefix): json.loads(value)
            for name, value in zip(rows["name"], rows["value"], strict=True)
        }
