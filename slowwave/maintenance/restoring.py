"""Restore of a home's tables to a checkpoint.

It has a begin marker in the journal, holds both locks, and can be run again. Afterwards the journal's records
equal the tables, and the next nightly job ingests the notes that came since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.change_log import backfill_existing
from slowwave.change_log.recorder import has_records
from slowwave.journal import maintenance_ops as underway
from slowwave.store.checkpoints import Checkpoint, listed_records, named, restore_checkpoint
from slowwave.store.migrations import migrate

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def restore(space: Workspace, name: str) -> Checkpoint:
    """Restore every table to a checkpoint; the same call finishes an interrupted restore.

    Raises:
        NotFoundError: No such checkpoint.
        PendingOpError: Another operation is in progress.
    """
    command = f"slowwave checkpoint restore {name}"
    with space.exclusively():
        store = space.open_store(during=command)
        store.recorder = None  # the journal gets the records at the end
        checkpoints = listed_records(store)
        begun = any(operation.command == command for operation in underway.pending_op(space.journal))
        if name not in checkpoints and not begun:
            named(store, name)
        what = f"the restore of {name!r}"
        with underway.maintenance_op(space.journal, what, command, space.now(), facts=checkpoints) as records:
            done = restore_checkpoint(store, name, records=records)
            migrate(store, space.now())
            backfill_existing(store, space.journal, first=not has_records(space.journal))
    space.reopen()
    return done
