"""Quarantine: refused notes, kept whole until a user or a newer text settles them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.home.visibility import HIDDEN, UNKNOWN, Viewer, may_see, redact, sensitivities
from slowwave.journal.entry_builders import KEYLESS
from slowwave.lifecycle.places import with_places
from slowwave.quality.admission.statuses import DISCARDED, HELD, RESOLVED
from slowwave.store import Store, one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry, Journal

REFUSED = one_of("status", [HELD, DISCARDED])
"""Filter of notes that neither a release nor a newer text has settled."""
MAX_FILES = 10
"""Files that a message names (count)."""
_FIRST_WORDS = 60  # characters of a text that name it


def hold(store: Store, staged: pl.DataFrame, refused: pl.DataFrame, *, again: bool = False) -> int:
    """Quarantine notes that were refused or unreadable.

    Args:
        staged: Rows of ``staged_notes``.
        refused: Columns memory_id, revision, reasons of the refused; score, parts, details, duplicate_of
            and duplicate_revision if known.
        again: Whether they may be in quarantine already, with another original. Discarded ones stay so.

    Returns:
        Count of notes.
    """
    if refused.is_empty():
        return 0
    extra = [
        name
        for name in ("score", "parts", "details", "duplicate_of", "duplicate_revision")
        if name in refused.columns
    ]
    rows = staged.join(
        refused.select("memory_id", "revision", "reasons", *extra), on=["memory_id", "revision"], how="inner"
    )
    details = pl.coalesce("details", "message") if "details" in extra else pl.col("message")
    rows = rows.select(
        "day", "namespace", "memory_id", "revision", "source", "title", "content", "reasons", "occurred_at",
        *[name for name in extra if name != "details"],
        quarantine_id=pl.concat_str("memory_id", pl.lit(":"), "revision"),
        details=details,
        size_bytes=pl.coalesce("size_bytes", pl.col("content").str.len_bytes().cast(pl.Int64)),
        status=pl.lit(HELD),
    )  # fmt: skip
    if again:
        names = rows["quarantine_id"].to_list()
        discarded = store.read_by(
            "quarantine", "quarantine_id", names, columns=["quarantine_id"], also=f"status = '{DISCARDED}'"
        )
        is_discarded = pl.col("quarantine_id").is_in(discarded["quarantine_id"].to_list())
        rows = rows.with_columns(status=pl.when(is_discarded).then(pl.lit(DISCARDED)).otherwise("status"))
    store.upsert("quarantine", rows, insert_only=not again)
    _settle_moved(store, rows)
    return rows.height


def _settle_moved(store: Store, rows: pl.DataFrame) -> None:
    """Resolve earlier rows of notes that are held again with their text: their file moved."""
    earlier = store.read_by("quarantine", "memory_id", rows["memory_id"].to_list(), also=REFUSED)
    now = rows.select("memory_id", "content", by="revision")
    settled = earlier.join(now, on=["memory_id", "content"], how="inner").filter(
        pl.col("revision") < pl.col("by")
    )
    if not settled.is_empty():
        store.upsert("quarantine", settled.drop("by").with_columns(status=pl.lit(RESOLVED)))


def settle_held(store: Store, acts: pl.DataFrame, refused: Collection[str]) -> None:
    """Resolve quarantined notes whose memory has a newer event that was not refused.

    A refused version stays if that event only closed the text before it.

    Args:
        acts: memory_id, revision of events that passed the gate.
        refused: Of them those that were refused after all.
    """
    settled = acts.filter(~pl.col("memory_id").is_in(list(refused))).select("memory_id", by="revision")
    if settled.is_empty():
        return
    held = (
        store.read_by("quarantine", "memory_id", settled["memory_id"].to_list(), also=REFUSED)
        .join(settled, on="memory_id", how="inner")
        .filter(pl.col("revision") <= pl.col("by"))
    )
    own = [ids.event_of(by) == ids.closing_event(name) for name, by in held.select("revision", "by").rows()]
    held = held.filter(~pl.Series(own, dtype=pl.Boolean))
    if not held.is_empty():
        store.upsert("quarantine", held.drop("by").with_columns(status=pl.lit(RESOLVED)))


def listed(
    space: Workspace, namespace: str, *, status: str = HELD, reason: str = "", limit: int | None = None,
    skip: int = 0,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return quarantined notes, the newest first; skip the first `skip`.

    Of a secret note only id, reasons and numbers are shown. An unreadable one also has its source, so that
    the user can fix it. `held` returns either one whole.
    """
    where = [within(namespace)] + ([f"status = {quote(status)}"] if status else [])
    names = space.store.read(
        "quarantine", " AND ".join(where), columns=["quarantine_id", "occurred_at", "reasons"]
    )
    if reason:
        names = names.filter(pl.col("reasons").list.contains(reason))
    wanted = _newest_first(names).slice(skip, limit)["quarantine_id"].to_list()
    rows = _newest_first(space.store.read_by("quarantine", "quarantine_id", wanted, also=within(namespace)))
    return redacted(space, rows).to_dicts()


def redacted(space: Workspace, rows: pl.DataFrame) -> pl.DataFrame:
    """Return quarantined notes as a report may show them, at their present places."""
    sensitivity = sensitivities(space.journal, rows["revision"])
    labels = [sensitivity.get(revision, UNKNOWN) for revision in rows["revision"]]
    closed = pl.Series(
        [not may_see(Viewer.REPORT, label, let_in=False) for label in labels], dtype=pl.Boolean
    )
    secret = closed & pl.Series([label != UNKNOWN for label in labels], dtype=pl.Boolean)
    rows = redact(with_places(space.store, rows), pl.lit(secret), "source")
    return redact(rows, pl.lit(closed), "title", "content", "details")


def held_files(
    space: Workspace, *, namespace: str = "", vault: str = "", limit: int = MAX_FILES
) -> list[str]:
    """Return a line for each vault file in quarantine: name, reasons, id.

    Args:
        space: Of the home.
        namespace: Only of this namespace.
        vault: Only of this vault.
        limit: Maximum number of files; one more line counts the others.
    """
    where = f"status = {quote(HELD)}"
    columns = ["quarantine_id", "namespace", "memory_id", "revision", "source", "reasons", "occurred_at"]
    is_file = of_vaults(space, namespace=namespace, vault=vault)
    rows = _newest_first(space.store.read("quarantine", where, columns=columns).filter(is_file))
    lines = [
        f"{row['source']}: {', '.join(row['reasons'])} (slowwave quarantine show {row['memory_id'][:8]} "
        f"-n {row['namespace']})"
        for row in redacted(space, rows.head(limit)).iter_rows(named=True)
    ]
    return [*lines, f"and {rows.height - limit:,} more"] if rows.height > limit else lines


def of_vaults(space: Workspace, *, namespace: str = "", vault: str = "") -> pl.Expr:
    """Return the condition that a note is a file of a watched vault; empty arguments are all."""
    folders = [
        (watched.namespace, f"{watched.name}/")
        for watched in space.journal.sources()
        if namespace in ("", watched.namespace) and vault in ("", watched.name)
    ]
    return pl.any_horizontal(
        pl.lit(False),
        *((pl.col("namespace") == owner) & pl.col("source").str.starts_with(name) for owner, name in folders),
    )


def label_of(row: Mapping[str, Any]) -> str:
    """Return the title of a quarantined note, else its first words, else its source.

    A file that could not be read has no known sensitivity: its name stands for it.
    """
    title = " ".join((row["title"] or "").split())
    words = " ".join((row["content"] or "")[: 4 * _FIRST_WORDS].split())
    short = words if len(words) <= _FIRST_WORDS else words[:_FIRST_WORDS].rsplit(" ", 1)[0] + " …"
    shown = [text for text in (title, short) if text not in ("", HIDDEN)]
    return shown[0] if shown else row["source"] or row["memory_id"]


def labels_in_reports(space: Workspace, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the label of each quarantined note as a report may show it."""
    names = [row["quarantine_id"] for row in rows]
    stored = space.store.read_by("quarantine", "quarantine_id", names)
    labels = {row["quarantine_id"]: label_of(row) for row in redacted(space, stored).iter_rows(named=True)}
    return [labels[name] for name in names]


def file_of(row: Mapping[str, Any]) -> str:
    """Return the file or key of a quarantined note; empty without one."""
    source: str = row["source"] or ""
    return "" if source.startswith(KEYLESS) else source


def _newest_first(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("occurred_at", "quarantine_id", descending=[True, False])


def held(store: Store, namespace: str, quarantine_id: str) -> dict[str, Any]:
    """Return one quarantine row by its id, or the newest by its memory's id.

    Its source is the present place of the note.

    Raises:
        NotFoundError: This namespace has no such row.
    """
    column = "quarantine_id" if ":" in quarantine_id else "memory_id"
    where = within(namespace, f"{column} = {quote(quarantine_id)}")
    rows = store.read("quarantine", where).sort("revision")
    if rows.is_empty():
        raise NotFoundError(
            f"Namespace {namespace!r} has no note {quarantine_id!r} in quarantine. "
            f"`slowwave quarantine list` lists them."
        )
    return with_places(store, rows.tail(1)).row(0, named=True)


def lost_originals(store: Store, *, until: str) -> pl.DataFrame:
    """Return notes held as duplicates of a lost text, the newest per memory.

    Args:
        until: Last settled day (ISO). Later days are not checked: after a killed nightly job their
            originals are still to come.

    Returns:
        Columns memory_id, revision.
    """
    where = f"status = '{HELD}' AND duplicate_of IS NOT NULL AND day <= {quote(until)}"
    held = store.read("quarantine", where)
    return (
        without_original(store, held)
        .sort("revision")
        .unique("memory_id", keep="last", maintain_order=True)
        .select("memory_id", "revision")
    )


def without_original(store: Store, held: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose original was forgotten, changed, or has another sensitivity now.

    A superseded original still counts: a note that repeats it is as outdated.
    """
    columns = ["memory_id", "revision", "sensitivity"]
    originals = store.read_by(
        "memories", "memory_id", held["duplicate_of"].to_list(), columns=columns,
        also=one_of("status", ["live", "merged", "superseded"]),
    ).select(
        duplicate_of="memory_id", duplicate_revision=pl.col("revision").str.split("+").list.first(),
        original_sensitivity="sensitivity",
    )  # fmt: skip
    notes = store.read_by("staged_notes", "memory_id", held["memory_id"].to_list(), columns=columns)
    matches = held.join(originals, on=["duplicate_of", "duplicate_revision"]).join(
        notes.unique(["memory_id", "revision"]), on=["memory_id", "revision"], how="left"
    )
    # The sensitivity of a note that no nightly job has ingested is null; it was compared at its refusal.
    same = matches.filter(
        pl.col("sensitivity").is_null() | pl.col("sensitivity").eq_missing(pl.col("original_sensitivity"))
    )
    return held.join(same, on="quarantine_id", how="anti")


def without_text(journal: Journal, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the quarantined notes (quarantine_id) that have no readable text to release."""
    known = sensitivities(journal, [row["revision"] for row in rows])
    return {row["quarantine_id"] for row in rows if row["revision"] not in known}


class NothingToReleaseError(SlowwaveError):
    """The file of a quarantined note could not be read."""


def release_id(quarantine_id: str) -> str:
    """Return the event (event_id) that releases a refused note."""
    return ids.digest("release", quarantine_id)


def release_entry(journal: Journal, row: dict[str, Any], *, occurred_at: datetime, principal: str) -> Entry:
    """Return the event that releases a refused note: the same note, marked as released.

    Args:
        journal: Has the note as first written.
        row: Row of ``quarantine``.
        occurred_at: Moment of the release.

    Raises:
        NothingToReleaseError: It has no readable text.
        SlowwaveError: It is no longer held.
        NotFoundError: The journal does not have the note.
    """
    from dataclasses import replace

    from slowwave.journal.kinds.note import released

    name = row["quarantine_id"]
    if row["status"] == DISCARDED:
        raise SlowwaveError(
            "The note was discarded from the quarantine, so it cannot be released. Nothing was changed. "
            f"Restore it first, under Discarded on the page or with `slowwave quarantine restore {name}`."
        )
    if row["status"] != HELD:
        raise SlowwaveError(f"{name} is {row['status']}, not held: a newer text or a release settled it.")
    entry = journal.get(row["revision"].partition("-")[2])
    if entry is None:
        raise NotFoundError(f"The journal has no entry for {name}: it may belong to another home.")
    if entry.kind != "save":
        raise NothingToReleaseError(
            f"The file {file_of(row) or name} could not be read ({', '.join(row['reasons'])}), "
            f"so there is no text to release. Fix the file; the next nightly job ingests it."
        )
    return replace(
        entry,
        event_id=release_id(name),
        occurred_at=occurred_at,
        principal=principal,
        payload=released(entry.payload),
        seq=None,
    )
