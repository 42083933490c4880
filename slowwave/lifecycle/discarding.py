"""Discard of quarantined notes, with undo.

A discarded note is in no list and no count, and stays whole. The journal records who discarded it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.journal import payload_of
from slowwave.journal.entry import DISCARD
from slowwave.journal.entry_builders import discard_entry
from slowwave.lifecycle.quarantine import held, label_of, listed, of_vaults, redacted
from slowwave.quality.admission.statuses import DISCARDED, HELD

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.home.workspace import Workspace


def discard(tenant: Tenant, names: Sequence[str] = (), *, reason: str = "") -> list[dict[str, Any]]:
    """Discard notes by their ids, or all that have a reason.

    Args:
        tenant: Of the notes.
        names: Quarantine ids or memory ids.
        reason: Instead of names.

    Returns:
        quarantine_id, memory_id, label and status of each.

    Raises:
        NotFoundError: One is not in this quarantine, or none has this reason; nothing was discarded.
        SlowwaveError: One is not held, or names and a reason were given; nothing was discarded.
    """
    return _change(tenant, _named(tenant, names, reason, HELD), HELD, DISCARDED)


def restore(tenant: Tenant, names: Sequence[str] = (), *, reason: str = "") -> list[dict[str, Any]]:
    """Undo the discard of notes: they are in quarantine again. Arguments and errors as `discard`."""
    return _change(tenant, _named(tenant, names, reason, DISCARDED), DISCARDED, HELD)


def _named(tenant: Tenant, names: Sequence[str], reason: str, status: str) -> Sequence[str]:
    """Return the ids of the notes that are meant."""
    if bool(names) == bool(reason):
        raise SlowwaveError("Give either ids of quarantined notes or one reason. Nothing was changed.")
    if names:
        return names
    rows = listed(tenant.space, tenant.namespace, status=status, reason=reason)
    if not rows:
        where = "in quarantine" if status == HELD else "that was discarded"
        raise NotFoundError(
            f"Namespace {tenant.namespace!r} has no note {where} with the reason {reason!r}. "
            f"`slowwave quarantine list --all` shows the reasons."
        )
    return [row["quarantine_id"] for row in rows]


def _change(tenant: Tenant, names: Sequence[str], before: str, after: str) -> list[dict[str, Any]]:
    space, namespace = tenant.space, tenant.namespace
    with space.writing():
        rows = {row["quarantine_id"]: row for row in (held(space.store, namespace, name) for name in names)}
        for row in rows.values():
            if row["status"] != before:
                what = "discarded" if after == DISCARDED else "restored"
                raise SlowwaveError(
                    f"{row['memory_id']} is {row['status']}, not {before}. Nothing was {what}."
                )
        now = space.now()
        entries = [
            discard_entry(
                name, restored=after == HELD, namespace=namespace, occurred_at=now, principal=tenant.principal
            )
            for name in rows
        ]
        space.journal.append(entries)
        apply_discards(space, namespace)
    shown = redacted(space, pl.DataFrame(list(rows.values()), schema=space.store.empty("quarantine").schema))
    return [
        {"quarantine_id": row["quarantine_id"], "memory_id": row["memory_id"], "label": label_of(row),
         "status": after}
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip


def apply_discards(space: Workspace, namespace: str | None = None) -> int:
    """Apply the journal's discards to quarantined notes; return the count of changes.

    Idempotent. It also applies the discards that a killed command, an older checkpoint or lost tables miss. A
    file of a vault that moved is held under another id with the same text, so it stays discarded.
    """
    events = space.journal.read(kinds=(DISCARD,), namespace=namespace).sort("seq")
    if events.is_empty():
        return 0
    last = events.unique("subject", keep="last").select(
        quarantine_id="subject",
        wanted=pl.col("payload").map_elements(
            lambda payload: HELD if payload_of(payload).get("restored") else DISCARDED, pl.String
        ),
    )
    store = space.store
    memories = last["quarantine_id"].str.split(":").list.first().unique().to_list()
    rows = store.read_by("quarantine", "memory_id", memories).join(last, on="quarantine_id", how="left")
    same_text = pl.col("wanted").forward_fill().over("memory_id", "content")
    is_moved = of_vaults(space) & pl.col("content").is_not_null()
    rows = rows.sort("revision").with_columns(wanted=pl.coalesce("wanted", pl.when(is_moved).then(same_text)))
    # A settled note stays settled.
    changed = rows.filter(pl.col("status").is_in([HELD, DISCARDED]) & (pl.col("status") != pl.col("wanted")))
    if not changed.is_empty():
        store.upsert("quarantine", changed.with_columns(status="wanted").drop("wanted"))
    return changed.height
