"""Watched vaults: changes since the last scan go into the journal as events.

A folder can only be observed now. The journal keeps every observation, so a past night can be run again with
the same result.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import polars as pl

from slowwave.common import ids, progress
from slowwave.errors import SlowwaveError
from slowwave.journal import Entry, Journal, WatchedVault
from slowwave.notes.decoding import content_hash
from slowwave.notes.folder import list_vault
from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes
from slowwave.settings import NotesSettings
from slowwave.vaults.known_notes import KnownNotes
from slowwave.vaults.scanner import ScanResult, VaultScanner

__all__ = ["ScanResult", "fingerprint", "is_there", "scan", "scan_all", "scan_summary", "watch"]

_BATCH = 500
SAME_VAULT = 0.5
"""Share of a vault's texts that a folder must have to be that vault at a new place (0 to 1)."""


def watch(
    journal: Journal, namespace: str, folder: Path, *, name: str, as_of: datetime, principal: str
) -> WatchedVault:
    """Register a folder as a vault of the namespace, scanned every night.

    A folder with the files of a vault whose folder is gone is that vault, whatever the folder's name is now.

    Raises:
        FileNotFoundError: No such folder.
        NotADirectoryError: It is a file.
        SlowwaveError: The namespace has another vault of this name.
    """
    folder = folder.expanduser().resolve()
    if not folder.exists():
        raise FileNotFoundError(
            f"Folder {folder} does not exist. Give the path of a vault (a folder of notes)."
        )
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Give its folder.")
    name = name or _name_of(journal, namespace, folder)
    if not name:
        raise SlowwaveError(f"{folder} has no name. Give the vault one: --name NAME")
    for known in journal.sources():
        if (known.namespace, known.name) == (namespace, name) and known.uri != str(folder):
            if is_there(known.uri) and not _is_at(known, folder):
                raise SlowwaveError(
                    f"Namespace {namespace!r} watches a vault {name!r} at {known.uri} already. Give this "
                    f"one another name: slowwave ingest {folder} --name OTHER"
                )
            journal.remove_source(namespace, known.name)  # it has moved, or is spelled in other letters
    journal.add_source(namespace, name, str(folder), added_at=as_of, principal=principal)
    return next(vault for vault in journal.sources() if (vault.namespace, vault.name) == (namespace, name))


def _name_of(journal: Journal, namespace: str, folder: Path) -> str:
    """Return the name of the vault that a folder is: watched there, or before its folder went away."""
    vaults = [vault for vault in journal.sources() if vault.namespace == namespace]
    if any(vault.name == folder.name for vault in vaults):
        return folder.name
    if here := [vault.name for vault in vaults if _is_at(vault, folder)]:
        return here[0]
    gone = [vault.name for vault in vaults if not is_there(vault.uri)]
    present = _texts_in(folder) if gone else Counter[str]()
    for name in gone:
        rows = KnownNotes(journal, namespace, name).last.values()
        known = Counter(row["content_hash"] for row in rows if row["kind"] == "save")
        if known and (present & known).total() >= SAME_VAULT * known.total():
            return name
    return folder.name


def _is_at(vault: WatchedVault, folder: Path) -> bool:
    """Whether a folder is a vault's, also if the case of its path differs."""
    return vault.uri == str(folder) or (is_there(vault.uri) and folder.samefile(vault.uri))


def _texts_in(folder: Path) -> Counter[str]:
    """Count the texts of the readable notes in a folder, by content hash."""
    texts = Counter[str]()
    for file in list_vault(folder).files:
        with suppress(OSError):
            notes = read_notes(file.path.read_bytes(), file.source, max_bytes=file.size + 1)
            texts.update(content_hash(note.content) for note in notes if isinstance(note, Note))
    return texts


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
    """Scan a vault and append its changes to the journal.

    Unreadable files are reported, and their memories stay: see `ScanResult`.

    Args:
        journal: Gets the entries.
        source: The vault, from :func:`watch`.
        settings: Limits.
        as_of: Time of the new entries.
        before: Files modified at this time or later are left for a later scan.
        principal: User of the new entries.
        allow_mass_retire: Forget any share of the notes.

    Raises:
        FileNotFoundError: The folder is missing (nothing is forgotten then).
    """
    listing = list_vault(Path(source.uri))
    scanner = VaultScanner(journal, source, listing, settings, as_of=as_of, principal=principal)
    if listing.copies:
        scanner.result.nameless.append(listing.copies_remark)
        scanner.result.warnings.append(listing.copies_remark)
    limit = before.timestamp() * 1e9 if before is not None else float("inf")
    batch: list[Entry] = []
    with progress.task(f"reading {source.name}", len(listing.files)) as advance:
        for file in listing.files:
            if file.mtime_ns >= limit:
                scanner.postpone(file)
            else:
                batch.extend(scanner.acts_of(file))
            advance(1)
            if len(batch) >= _BATCH:
                journal.append(batch)
                batch = []
    batch.extend(scanner.settle())
    batch.extend(scanner.gone(believed=allow_mass_retire))
    batch.extend(entry for file in listing.files for entry in scanner.again(file))
    journal.append(batch)
    return scanner.result


def scan_all(
    journal: Journal, settings: NotesSettings, *, as_of: datetime, before: datetime | None = None
) -> list[ScanResult]:
    """Scan every watched vault; a failing one does not affect the others."""
    scans = []
    for source in journal.sources():
        warning = f"The vault {source.name} is no longer at {source.uri}. Its memories stay unchanged."
        if is_there(source.uri):
            try:
                scans.append(scan(journal, source, settings, as_of=as_of, before=before))
                continue
            except Exception as error:
                warning = (
                    f"The vault {source.name} could not be scanned ({type(error).__name__}). Memories of "
                    f"unread files stay unchanged. For details: `slowwave ingest {source.uri} -n "
                    f"{source.namespace}`."
                )
        scans.append(ScanResult(source.name, unreadable=1, warnings=[warning], nameless=[warning]))
    return scans


def is_there(uri: str) -> bool:
    """Whether the folder exists and can be listed."""
    try:
        return Path(uri).is_dir()
    except OSError:  # no access to a parent folder
        return False


def fingerprint(folder: Path) -> str:
    """Return a hash that changes with the vault's files, from their metadata only."""
    listing = list_vault(folder)
    parts = [f"{file.source}:{file.size}:{file.mtime_ns}" for file in listing.files]
    return ids.digest("fingerprint", *parts, *(f"{place.source}:{place.why}" for place in listing.unseen))


def scan_summary(scans: list[ScanResult]) -> pl.DataFrame:
    """Return one row per vault, for people."""
    columns = ("vault", "new", "changed", "moved", "deleted", "unreadable", "unchanged", "later")
    return pl.DataFrame([{name: getattr(scan, name) for name in columns} for scan in scans])
