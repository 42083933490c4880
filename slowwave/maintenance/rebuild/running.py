"""Rebuild of tables: built beside the old ones from events and records, then swapped in.

A begin marker in the journal covers the whole time in which old tables change, and no input is in them.
Killed at any moment, it is run again with the same result.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from slowwave.change_log import replayed
from slowwave.change_log.recorder import has_records
from slowwave.common import progress
from slowwave.errors import NotFoundError, StoreError
from slowwave.feedback.questions import with_vectors
from slowwave.journal import maintenance_ops as underway
from slowwave.lifecycle.ingest_pipeline import embed_days
from slowwave.maintenance.rebuild.texts import chunks_of, vectors_of
from slowwave.store import Store, quote
from slowwave.store.checkpoints import listed_records
from slowwave.store.connection import Identity
from slowwave.store.database import other_model
from slowwave.store.integrity import missing_files
from slowwave.store.maintenance import compact
from slowwave.store.tables import SCHEMA_VERSION, table_specs

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

ROWS_AT_ONCE = 50_000
BESIDE = ".rebuilding"
REPLACED = ".replaced"
_FIRST = ("meta", "memories", "staged_notes", "gate_verdicts")
"""Tables that others are derived from, in order."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Result of a rebuild.

    Attributes:
        tables: Rows of each table (count).
        checkpoints: Names of deleted checkpoints, which need tables that no longer exist.
        from_acts: True if the journal had no records of the tables: they are empty, and the next nightly job
            ingests all entries of the journal.
    """

    tables: dict[str, int]
    checkpoints: tuple[str, ...] = ()
    from_acts: bool = False


def rebuild(space: Workspace, tables: Sequence[str] = ()) -> Rebuilt:
    """Rebuild tables from the journal.

    Args:
        space: The home, its tables in any state.
        tables: Names; empty: all tables.

    Raises:
        NotFoundError: No such table.
        StoreError: The journal does not know what one of these tables held.
        ModelError: The home's vectors are of another model than the settings name.
    """
    journal, everything = space.journal, table_specs(space.embedder.dimension)
    if unknown := sorted(set(tables) - set(everything)):
        raise NotFoundError(f"No table {', '.join(unknown)}. There are: {', '.join(everything)}.")
    names = [name for name in everything if not tables or name in tables]
    names.sort(key=lambda name: (*_FIRST, name).index(name))
    from_acts = not has_records(journal)
    if from_acts and tables and any(everything[name].recorded for name in names):
        raise StoreError(
            "This home is older than journal records, and nothing has been written to it since, so the "
            "journal does not know what its tables held. Run `slowwave rebuild` to recreate all tables; the "
            "next nightly job then ingests everything again."
        )
    command = " ".join(["slowwave rebuild", *tables])
    with space.exclusively():
        rows = replayed(journal, everything, [name for name in {*names, "meta"} if everything[name].recorded])
        identity = _identity(space, rows["meta"])
        what = f"the rebuild of {', '.join(tables) or 'all tables'}"
        with underway.maintenance_op(journal, what, command, space.now(), settles=not tables):
            done = _Rebuild(space, identity, rows, names).run()
    space.reopen()
    return Rebuilt(done.counts, done.checkpoints, from_acts)


def _identity(space: Workspace, meta: pl.DataFrame) -> Identity:
    """Return the model of the home's vectors, and the names of its tables."""
    values = meta.filter(pl.col("name") == "embedding")["value"].to_list()
    if not values:
        return Identity(space.embedder.name, space.embedder.dimension, {})
    fact = json.loads(values[0])
    if fact["model"] != space.embedder.name:
        raise other_model(space.settings.store_uri, fact["model"], space.embedder.name)
    return Identity.read(fact)


class _Rebuild:
    """One rebuild.

    Args:
        space: The home.
        identity: Of its store.
        rows: Recorded rows by table, from the journal; ``meta`` is always included.
        names: Tables to rebuild.
    """

    def __init__(
        self, space: Workspace, identity: Identity, rows: dict[str, pl.DataFrame], names: Sequence[str]
    ) -> None:
        self._space, self._rows, self._names = space, rows, names
        self._old = Store.bare(space.settings.store_uri, identity, space.settings.store.storage_options)
        self._local = "://" not in self._old.uri
        uri = self._old.uri.rstrip("/") + BESIDE if self._local else self._old.uri
        if self._local:
            shutil.rmtree(uri, ignore_errors=True)
        self._new = Store.bare(uri, identity, space.settings.store.storage_options)
        self.counts: dict[str, int] = {}
        self.checkpoints: tuple[str, ...] = ()

    def run(self) -> _Rebuild:
        """Build the tables and swap them in."""
        self.checkpoints = self._known_checkpoints()
        with progress.task("rebuilding tables", len(self._names)) as advance:
            for name in self._names:
                self._make(name)
                advance(1)
        if self._local:
            self._swap()
        self._forget_checkpoints()
        return self

    def _make(self, name: str) -> None:
        spec, physical = self._new.specs[name], self._new.physical(name)
        if not self._local and physical in self._new.db.list_tables().tables:
            self._new.db.drop_table(physical)
        self._new.create_table(spec, physical)
        if name == "embedded_chunks":
            self._embed_days()
        else:
            for part in self._content(name).iter_slices(ROWS_AT_ONCE):
                self._new.upsert(name, part)
        if spec.full_text:
            compact(self._new.table(name))
        self.counts[name] = self._new.count(name)

    def _content(self, name: str) -> pl.DataFrame:
        space = self._space
        if name == "chunks":
            return chunks_of(space, self._table("memories"))
        rows = self._rows[name]
        if name == "memories":
            return vectors_of(space, rows)
        if name == "question_vectors":
            return with_vectors(space.embedder, rows)
        if name == "meta":
            facts = {"schema": {"version": SCHEMA_VERSION}, "embedding": asdict(self._new.identity)}
            values = [json.dumps(fact, sort_keys=True) for fact in facts.values()]
            made = pl.DataFrame({"name": list(facts), "value": values})
            rows = pl.concat([rows.filter(~pl.col("name").is_in(list(facts))), made])
        return rows

    def _table(self, name: str) -> pl.DataFrame:
        """Read a table that others are derived from: the rebuilt one, else the existing one."""
        return (self._new if name in self._names else self._old).read(name)

    def _embed_days(self) -> None:
        staged, verdicts = self._table("staged_notes"), self._table("gate_verdicts")
        passing = verdicts.filter(pl.col("verdict") == "pass")
        saves = staged.filter(pl.col("act") == "save").sort("day", "memory_id")
        passed = saves.join(passing, on=["day", "memory_id"], how="semi", maintain_order="left")
        chunks_table = self._new.physical("chunks")
        existed = chunks_table in self._new.db.list_tables().tables
        self._new.create_table(self._new.specs["chunks"], chunks_table)  # vectors are looked up in it
        days = passed["day"].unique().sort().to_list()
        if days:
            embed_days(self._new, self._space.embedder, self._space.chunker, passed, days)
        if not existed and "chunks" not in self._names:
            self._new.db.drop_table(chunks_table)

    def _swap(self) -> None:
        """Move each new table into place; the old ones are kept until all have moved."""
        old, new = Path(self._old.uri), Path(self._new.uri)
        aside = old.with_name(old.name + REPLACED)
        old.mkdir(parents=True, exist_ok=True)
        aside.mkdir(exist_ok=True)
        for name in sorted(self._names, key=lambda name: name == "meta"):
            folder = f"{self._new.physical(name)}.lance"
            if (old / folder).exists():
                shutil.rmtree(aside / folder, ignore_errors=True)
                (old / folder).rename(aside / folder)
            (new / folder).rename(old / folder)
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(new, ignore_errors=True)

    def _known_checkpoints(self) -> tuple[str, ...]:
        """Return the checkpoints that the old tables list; none if the list cannot be read."""
        try:
            return tuple(listed_records(self._old))
        except (StoreError, OSError, RuntimeError, ValueError):  # damaged, the usual reason for a rebuild
            return ()

    def _forget_checkpoints(self) -> None:
        """Delete the checkpoints: each needs versions of every table and can no longer be restored."""
        store = Store.bare(self._old.uri, self._new.identity, self._old.storage_options)
        if not missing_files(store, {"meta"}):
            for name in listed_records(store):
                store.delete("meta", f"name = {quote('checkpoint-' + name)}")
