"""Consistent snapshot of a home in use, pinned while it is copied.

Tables only grow by versions, and the journal records each change before it is made. A state is a version of
each table and a position of the journal. It is consistent if all of them were the latest at the same moment.
So the versions are read, then the position, then the versions again, until nothing has changed in between.
The memory lock is held meanwhile (saves wait some tenths of a second). A nightly job continues; only if it
never pauses does the backup wait for it. Then each version gets a tag, which protects it from clean-up.

The state is what a process killed at that moment would have left. Events that the tables do not have yet are
in the journal, and the next nightly job applies them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slowwave.errors import BackupError
from slowwave.journal import maintenance_ops as underway
from slowwave.journal import payload_of
from slowwave.journal.entry import ERASURE
from slowwave.journal.kinds.erasure import begins, ends
from slowwave.store.maintenance import latest_dataset

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store

TAG = "backup-"
_CHECKPOINT = "checkpoint-"
_TRIES = 20
_PAUSE_S = 0.1


class MovedError(BackupError):
    """Error for a home that was changed as a whole during the copy: the copy restarts."""


@dataclass(frozen=True, slots=True)
class HomeSnapshot:
    """Consistent state of a home.

    Attributes:
        tables: Version of each, by physical name.
        until: Seq of the last journal entry.
        erasures: Erasures so far (count).
    """

    tables: Mapping[str, int]
    until: int
    erasures: int


def require_no_pending_op(journal: Journal) -> None:
    """Refuse while an operation on the whole home, or an erasure, is unfinished.

    Raises:
        PendingOpError: An operation; the message names the command that finishes it.
        BackupError: An erasure.
    """
    underway.require_none_pending(journal)
    rows = journal.read(kinds=[ERASURE]).select("subject", "payload").iter_rows()
    events = [(erasure, payload_of(payload)) for erasure, payload in rows]
    finished = {erasure for erasure, payload in events if ends(payload)}
    if any(begins(payload) and erasure not in finished for erasure, payload in events):
        raise BackupError(
            "An erasure has begun and not ended, so a backup would keep erased texts. If no process runs "
            "it, finish it: slowwave erase --finish"
        )


@contextmanager
def holding(space: Workspace, name: str) -> Iterator[HomeSnapshot]:
    """Pin a consistent state until the end of the block.

    Args:
        space: The home.
        name: Of the backup.

    Raises:
        PendingOpError: An operation on the whole home is in progress.
        BackupError: An erasure is in progress.
    """
    _ = space.store  # fail early if the store cannot be opened
    forget_tags(space.store)  # left by killed backups; the caller holds the backup lock
    cut = _unchanged(space, name)
    if cut is None:  # a nightly job that commits all the time
        with space.journal.exclusive("night"):
            cut = _unchanged(space, name)
    if cut is None:
        raise BackupError(
            "The tables changed during every attempt, because other processes write all the time. Try again "
            "later."
        )
    try:
        yield cut
    finally:
        forget_tags(space.store)


def _unchanged(space: Workspace, name: str) -> HomeSnapshot | None:
    store, journal = space.store, space.journal
    with space.writing():
        require_no_pending_op(journal)
        store.settle()
        for _ in range(_TRIES):
            tables = _versions(store)
            cut = HomeSnapshot(tables, journal.rows.last_seq(), journal.rows.erasures())
            if _versions(store) == tables:
                for table, version in tables.items():
                    latest_dataset(store, table).tags.create(TAG + name, version)
                return cut
            time.sleep(_PAUSE_S)
    return None


def _versions(store: Store) -> dict[str, int]:
    return {
        name: int(latest_dataset(store, name).version) for name in sorted(store.bare_db.list_tables().tables)
    }


def forget_tags(store: Store) -> None:
    """Delete the tags of backups, so that clean-up may remove the versions."""
    for name in store.bare_db.list_tables().tables:
        tags = latest_dataset(store, name).tags
        for tag in tags.list():
            if tag.startswith(TAG):
                tags.delete(tag)


def files_of(store: Store, name: str, version: int) -> list[str]:
    """List the files that a table needs at a version and at its checkpoints.

    Args:
        store: The tables.
        name: Table.
        version: Latest version to keep.

    Returns:
        Names within the folder of the table; files of versions and of tags come last.

    Raises:
        BackupError: Some files are outside the table's folder.
    """
    table = latest_dataset(store, name)
    tags = {
        tag: int(fact["version"]) for tag, fact in table.tags.list().items() if tag.startswith(_CHECKPOINT)
    }
    wanted = {version, *(tagged for tagged in tags.values() if tagged <= version)}
    rows = [row for batch in table.tracked_files() for row in batch.to_pylist() if row["version"] in wanted]
    bases, files = {row["base_uri"] for row in rows}, {row["path"] for row in rows}
    if len(bases) != 1:
        raise BackupError(
            f"Table {name} has files in {len(bases)} places ({', '.join(sorted(bases))}); a backup supports "
            f"tables with all files in one place."
        )
    files |= {f"_refs/tags/{tag}.json" for tag, at in tags.items() if at <= version}
    return sorted(files, key=lambda path: (path.startswith(("_versions/", "_refs/")), path))
