"""One state of a home that is in use, held still for as long as it takes to copy it.

Tables only grow by versions, and the journal is told of each change before it is made. So a state is a
version of each table and a place of the journal, and it is one when they were all the newest at the same
moment: they are read, the place is read, and they are read again until nothing has moved between. The lock of
the memories is held meanwhile (saves wait some tenths of a second); a night goes on, and only where it never
pauses is it waited for. Then each version gets a tag, which no clean-up takes away.

What the state is like: a process killed at that moment would have left the same. Acts that the tables have
not taken in yet are in the journal, and the next night takes them in.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slowwave.errors import BackupError
from slowwave.journal import maintenance_ops as underway
from slowwave.journal import payload_of
from slowwave.journal.entry import ERASURE
from slowwave.journal.kinds.erasure import begins, ends

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store

TAG = "backup-"
_CHECKPOINT = "checkpoint-"
_TRIES = 20
_PAUSE_S = 0.1


class MovedError(BackupError):
    """Something was changed as a whole while it was copied: the copy begins anew."""


@dataclass(frozen=True, slots=True)
class HomeSnapshot:
    """One state of a home.

    Attributes:
        tables: version of each, by physical name.
        until: seq of the last act of the journal.
        erasures: how much was erased (count).
    """

    tables: Mapping[str, int]
    until: int
    erasures: int


def table_uri(store: Store, name: str) -> str:
    """Where a table is."""
    return f"{store.uri.rstrip('/')}/{name}.lance"


def dataset(store: Store, name: str) -> Any:  # noqa: ANN401 - lance.LanceDataset
    """A table as Lance reads it, at its last version."""
    import lance

    return lance.dataset(table_uri(store, name), storage_options=store.storage_options or None)


def require_no_pending_op(journal: Journal) -> None:
    """Refuse while a work on the whole home, or an erasure, has begun and not ended.

    Raises:
        UnfinishedError: a work; the message names the command that finishes it.
        BackupError: an erasure.
    """
    underway.require_none_pending(journal)
    rows = journal.read(kinds=[ERASURE]).select("subject", "payload").iter_rows()
    acts = [(erasure, payload_of(payload)) for erasure, payload in rows]
    finished = {erasure for erasure, said in acts if ends(said)}
    if any(begins(said) and erasure not in finished for erasure, said in acts):
        raise BackupError(
            "An erasure has begun and not ended, so a backup would keep what is to go. If nobody is running "
            "it any more, finish it: slowwave erase --finish"
        )


@contextmanager
def holding(space: Workspace, name: str) -> Iterator[HomeSnapshot]:
    """Take a state and keep its versions until the end of the block.

    Args:
        space: the home.
        name: of the backup.

    Raises:
        UnfinishedError: a work on the whole home is under way.
        BackupError: an erasure is.
    """
    _ = space.store  # what cannot be opened cannot be kept
    forget_tags(space.store)  # of backups that were killed: the caller is the only one who makes one
    cut = _unchanged(space, name)
    if cut is None:  # a night that commits all the time
        with space.journal.exclusive("night"):
            cut = _unchanged(space, name)
    if cut is None:
        raise BackupError(
            "The tables do not stand still: other processes change them all the time. Try again."
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
                    dataset(store, table).tags.create(TAG + name, version)
                return cut
            time.sleep(_PAUSE_S)
    return None


def _versions(store: Store) -> dict[str, int]:
    return {name: int(dataset(store, name).version) for name in sorted(store.bare_db.list_tables().tables)}


def forget_tags(store: Store) -> None:
    """Let clean-up have what backups held."""
    for name in store.bare_db.list_tables().tables:
        tags = dataset(store, name).tags
        for tag in tags.list():
            if tag.startswith(TAG):
                tags.delete(tag)


def files_of(store: Store, name: str, version: int) -> list[str]:
    """The files that a table needs to be as it was at a version, and at those of its checkpoints.

    Args:
        store: the tables.
        name: of the table.
        version: the last one that is kept.

    Returns:
        Names within the folder of the table; files of versions and of tags come last.

    Raises:
        BackupError: some are in other places than the table.
    """
    found = dataset(store, name)
    tags = {
        tag: int(said["version"]) for tag, said in found.tags.list().items() if tag.startswith(_CHECKPOINT)
    }
    wanted = {version, *(one for one in tags.values() if one <= version)}
    rows = [row for batch in found.tracked_files() for row in batch.to_pylist() if row["version"] in wanted]
    bases, files = {row["base_uri"] for row in rows}, {row["path"] for row in rows}
    if len(bases) != 1:
        raise BackupError(
            f"Table {name} has files in {len(bases)} places ({', '.join(sorted(bases))}); a backup takes "
            f"tables that have theirs in one."
        )
    files |= {f"_refs/tags/{tag}.json" for tag, at in tags.items() if at <= version}
    return sorted(files, key=lambda path: (path.startswith(("_versions/", "_refs/")), path))
