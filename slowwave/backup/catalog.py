"""Catalog of a home's backups: a file in the home, for `doctor`, `erase` and the next backup."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from pydantic import TypeAdapter

from slowwave.common.files import replace_file
from slowwave.common.permissions import file_mode
from slowwave.settings import Settings

if TYPE_CHECKING:
    from slowwave.backup.archive import Archive
    from slowwave.backup.model import Backup

FILE = "backup.json"


@dataclass(frozen=True, slots=True)
class LastBackup:
    """Latest backup at a place.

    Attributes:
        name: Of the backup.
        at: Time of its state.
        erasures: Erasures up to it (count).
        oldest_erasures: Erasures up to the oldest backup there (count).
        backups: Backups there (count).
        sent: New bytes.
        seconds: Duration.
        verified_at: Last successful verification of the place.
    """

    name: str
    at: datetime
    erasures: int
    oldest_erasures: int
    backups: int
    sent: int
    seconds: float
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BackupCatalog:
    """Backups that a home knows of.

    Attributes:
        home: Its id.
        places: Latest backup by place.
        begun: Names of backups that have begun since, by place; one killed after its last step exists.
    """

    home: str
    places: Mapping[str, LastBackup] = field(default_factory=dict)
    begun: Mapping[str, Sequence[str]] = field(default_factory=dict)


_ADAPTER = TypeAdapter(BackupCatalog)


def read(home: Path) -> BackupCatalog:
    """Read the catalog; without one, create a new home id."""
    try:
        return _ADAPTER.validate_json((home / FILE).read_bytes())
    except (OSError, ValueError):  # recreated; only messages depend on it
        return BackupCatalog(secrets.token_hex(16))


def write(home: Path, known: BackupCatalog) -> None:
    """Write the catalog, atomically."""
    replace_file(home / FILE, [orjson.dumps(known, option=orjson.OPT_INDENT_2)], file_mode(home))


def note_begun(home: Path, uri: str, name: str) -> None:
    """Record the name of a backup before it exists."""
    catalog = read(home)
    write(home, replace(catalog, begun={**catalog.begun, uri: [*catalog.begun.get(uri, ()), name]}))


def of_restored(archive: Archive, backup: Backup) -> BackupCatalog:
    """Return the catalog of a restored home: this backup is its latest, whatever came after it."""
    existing, _ = archive.backups()
    oldest = min((found.journal.erasures for found in existing), default=backup.journal.erasures)
    last = LastBackup(
        backup.name, backup.at, backup.journal.erasures, oldest, len(existing), sent=0, seconds=0.0
    )
    return BackupCatalog(backup.home, {archive.place.uri: last})


def note(home: Path, known: BackupCatalog, uri: str, last: LastBackup) -> None:
    """Record the latest backup of a place."""
    begun = {place: names for place, names in read(home).begun.items() if place != uri}
    write(home, replace(known, places={**known.places, uri: last}, begun=begun))


def note_verified(home: Path, uri: str, at: datetime) -> None:
    """Record that a place was verified, if the catalog has it."""
    known = read(home)
    if (last := known.places.get(uri)) is not None:
        note(home, known, uri, replace(last, verified_at=at))


def still_there(home: Path, erasures: int) -> list[str]:
    """Return sentences about places with backups that are older than the latest erasure.

    Args:
        home: Folder.
        erasures: Erasures so far (count).
    """
    return [
        f"Backups at {uri} still have erased texts (the latest is of {last.at:%F %H:%M} UTC): "
        f"slowwave backup {uri} --forget-erased"
        for uri, last in read(home).places.items()
        if last.oldest_erasures < erasures
    ]


@dataclass(frozen=True, slots=True)
class BackupStatus:
    """State of the backups at a place.

    Attributes:
        uri: Place.
        fresh: Whether the latest one is young enough; always True for a place that the settings do not name.
        words: Sentence about it.
        last: Latest backup, if any.
    """

    uri: str
    fresh: bool
    words: str
    last: LastBackup | None


def backup_statuses(settings: Settings, now: datetime) -> list[BackupStatus]:
    """Return the state of backups at every known place and that of the settings."""
    known_places, own = read(settings.home).places, place_of(settings)
    statuses = []
    for uri in [*filter(None, [own]), *(place for place in known_places if place != own)]:
        last = known_places.get(uri)
        if last is None:
            statuses.append(BackupStatus(uri, fresh=False, words=f"there is none at {uri} yet", last=None))
            continue
        old = now - last.at > timedelta(days=settings.backup.stale_days)
        words = f"the latest one at {uri} is of {last.at:%F %H:%M} UTC ({last.backups} there)"
        statuses.append(BackupStatus(uri, uri != own or not old, words, last))
    return statuses


def place_of(settings: Settings) -> str:
    """Return the place of backups that the settings name, in the form of the catalog; empty: none."""
    uri = settings.backup.uri
    return uri if "://" in uri or not uri else str(settings.in_home(Path(uri)).absolute())
