"""Bringing the tables of a home back to a checkpoint.

It is announced, behind both locks, and can be run again. When it has ended, the journal's records are
what the tables hold, and the next night takes in again what came since.
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
    """Bring every table back to a checkpoint; what was begun and killed is finished by the same call.

    Raises:
        NotFoundError: no such checkpoint.
        UnfinishedError: another work is under way.
    """
    command = f"slowwave checkpoint restore {name}"
    with space.exclusively():
        store = space.open_store(during=command)
        store.recorder = None  # the journal is told when all is done
        known = listed_records(store)
        begun = any(one.command == command for one in underway.pending_op(space.journal))
        if name not in known and not begun:
            named(store, name)
        what = f"the restore of {name!r}"
        with underway.maintenance_op(space.journal, what, command, space.now(), facts=known) as records:
            done = restore_checkpoint(store, name, records=records)
            migrate(store, space.now())
            backfill_existing(store, space.journal, first=not has_records(space.journal))
    space.reopen()
    return done
