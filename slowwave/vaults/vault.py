"""Watching a vault: what changed since the last look goes into the journal as acts.

The present state of a folder can only be observed now; the journal keeps every observation, so a night
of the past can be run again and gives what it gave.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl

from slowwave.common import ids, progress
from slowwave.errors import SlowwaveError
from slowwave.journal import Entry, Journal, WatchedVault
from slowwave.notes.folder import list_vault
from slowwave.settings import NotesSettings
from slowwave.vaults.scanner import ScanResult, VaultScanner

__all__ = ["ScanResult", "fingerprint", "is_there", "scan", "scan_all", "scan_summary", "watch"]

_BATCH = 500


def watch(
    journal: Journal, namespace: str, folder: Path, *, name: str, as_of: datetime, principal: str
) -> WatchedVault:
    """Remember a folder as a vault of the namespace, to be looked at every night.

    Raises:
        FileNotFoundError: no such folder.
        NotADirectoryError: it is a file.
        SlowwaveError: the namespace has another vault of this name.
    """
    folder = folder.expanduser().resolve()
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder {folder}. Give the path of a vault (a folder of notes).")
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Give the folder that it is in.")
    name = name or folder.name
    for known in journal.sources():
        if (known.namespace, known.name) == (namespace, name) and known.uri != str(folder):
            if is_there(known.uri):
                raise SlowwaveError(
                    f"Namespace {namespace!r} watches a vault {name!r} at {known.uri} already. Give this "
                    f"one another name: slowwave ingest {folder} --name OTHER"
                )
            journal.remove_source(namespace, known.name)  # it has moved
    journal.add_source(namespace, name, str(folder), added_at=as_of, principal=principal)
    return next(one for one in journal.sources() if (one.namespace, one.name) == (namespace, name))


def scan(
    journal: Journal,
    source: WatchedVault,
    settings: NotesSettings,
    *,
    as_of: datetime,
    before: datetime | None = None,
    principal: str = "vault",
    allow_mass_retire: bool = False,
) -> ScanResult:
    """Look at a vault and put what changed since the last look into the journal.

    What cannot be read is told, and what is known of it stays as it was: see `ScanResult`.

    Args:
        journal: where the acts go.
        source: the vault, as :func:`watch` gave it.
        settings: limits.
        as_of: the moment that the acts get.
        before: files modified at this moment or later are left for another look.
        principal: who the acts are attributed to.
        allow_mass_retire: retire any share of the notes.

    Raises:
        FileNotFoundError: the folder is gone (nothing is retired then).
    """
    listing = list_vault(Path(source.uri))
    look = VaultScanner(journal, source, listing, settings, as_of=as_of, principal=principal)
    limit = before.timestamp() * 1e9 if before is not None else float("inf")
    batch: list[Entry] = []
    with progress.task(f"reading {source.name}", len(listing.files)) as advance:
        for file in listing.files:
            if file.mtime_ns >= limit:
                look.postpone(file)
            else:
                batch.extend(look.acts_of(file))
            advance(1)
            if len(batch) >= _BATCH:
                journal.append(batch)
                batch = []
    batch.extend(look.gone(believed=allow_mass_retire))
    batch.extend(entry for file in listing.files for entry in look.again(file))
    journal.append(batch)
    return look.result


def scan_all(
    journal: Journal, settings: NotesSettings, *, as_of: datetime, before: datetime | None = None
) -> list[ScanResult]:
    """Look at every watched vault, as `scan` does; one that cannot be looked at keeps no other from it."""
    scans = []
    for source in journal.sources():
        told = f"The vault {source.name} is not at {source.uri} any more; its notes stay as they are."
        if is_there(source.uri):
            try:
                scans.append(scan(journal, source, settings, as_of=as_of, before=before))
                continue
            except Exception as error:
                told = (
                    f"The vault {source.name} could not be looked at ({type(error).__name__}); what was not "
                    f"read stays as it was. `slowwave ingest {source.uri} -n {source.namespace}` says what "
                    f"is wrong."
                )
        scans.append(ScanResult(source.name, unreadable=1, warnings=[told], nameless=[told]))
    return scans


def is_there(uri: str) -> bool:
    """Whether there is a folder that can be looked at."""
    try:
        return Path(uri).is_dir()
    except OSError:  # a folder above it may not be entered
        return False


def fingerprint(folder: Path) -> str:
    """Changes when a file of the vault is added, removed or modified; reads no file."""
    listing = list_vault(folder)
    parts = [f"{file.source}:{file.size}:{file.mtime_ns}" for file in listing.files]
    return ids.digest("fingerprint", *parts, *(f"{place.source}:{place.why}" for place in listing.unseen))


def scan_summary(scans: list[ScanResult]) -> pl.DataFrame:
    """One row per vault, for people."""
    columns = ("vault", "new", "changed", "deleted", "unreadable", "unchanged", "later")
    return pl.DataFrame([{name: getattr(scan, name) for name in columns} for scan in scans])
