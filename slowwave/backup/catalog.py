"""What a home knows of its backups: a file in it, for `doctor`, `erase` and the next backup."""

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
    """The last backup at a place.

    Attributes:
        name: of it.
        at: when its state was taken.
        erasures: how much had been erased (count).
        oldest_erasures: how much had been erased when the oldest one there was made (count).
        backups: that are there (count).
        sent: bytes that were new.
        seconds: that it took.
        verified_at: when the place was last found whole.
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
    """What a home knows of its backups.

    Attributes:
        home: its id.
        places: the last backup by place.
        begun: names of those that were begun since, by place; killed after its last step, one is there.
    """

    home: str
    places: Mapping[str, LastBackup] = field(default_factory=dict)
    begun: Mapping[str, Sequence[str]] = field(default_factory=dict)


_ADAPTER = TypeAdapter(BackupCatalog)


def read(home: Path) -> BackupCatalog:
    """What the home knows; a new id where it knows nothing."""
    try:
        return _ADAPTER.validate_json((home / FILE).read_bytes())
    except (OSError, ValueError):  # it is made anew; nothing rests on it but words
        return BackupCatalog(secrets.token_hex(16))


def write(home: Path, known: BackupCatalog) -> None:
    """Keep it, whole or not at all."""
    replace_file(home / FILE, [orjson.dumps(known, option=orjson.OPT_INDENT_2)], file_mode(home))


def note_begun(home: Path, uri: str, name: str) -> None:
    """Keep the name of a backup at a place before it is one."""
    known = read(home)
    write(home, replace(known, begun={**known.begun, uri: [*known.begun.get(uri, ()), name]}))


def of_restored(archive: Archive, backup: Backup) -> BackupCatalog:
    """What a home knows that was made out of a backup: this one is its last, whatever came after it."""
    there, _ = archive.backups()
    oldest = min((one.journal.erasures for one in there), default=backup.journal.erasures)
    last = LastBackup(
        backup.name, backup.at, backup.journal.erasures, oldest, len(there), sent=0, seconds=0.0
    )
    return BackupCatalog(backup.home, {archive.place.uri: last})


def note(home: Path, known: BackupCatalog, uri: str, last: LastBackup) -> None:
    """Keep what became of a place."""
    begun = {place: names for place, names in read(home).begun.items() if place != uri}
    write(home, replace(known, places={**known.places, uri: last}, begun=begun))


def note_verified(home: Path, uri: str, at: datetime) -> None:
    """Keep that a place was found whole, if the home knows of it."""
    known = read(home)
    if (last := known.places.get(uri)) is not None:
        note(home, known, uri, replace(last, verified_at=at))


def still_there(home: Path, erasures: int) -> list[str]:
    """Sentences about places whose backups are older than the last erasure.

    Args:
        home: the folder.
        erasures: how much is erased now (count).
    """
    return [
        f"Backups at {uri} still have what was erased (the last one is of {last.at:%F %H:%M} UTC): "
        f"slowwave backup {uri} --forget-erased"
        for uri, last in read(home).places.items()
        if last.oldest_erasures < erasures
    ]


@dataclass(frozen=True, slots=True)
class BackupStatus:
    """How backups at a place stand.

    Attributes:
        uri: the place.
        fresh: whether the last one is young enough; a place that the settings do not name always is.
        words: that say so.
        last: the last one, if there is one.
    """

    uri: str
    fresh: bool
    words: str
    last: LastBackup | None


def backup_statuses(settings: Settings, now: datetime) -> list[BackupStatus]:
    """How backups stand at every place that the home knows of, and at the one that the settings name.

    Args:
        settings: of the home.
        now: the present moment.
    """
    told, own = read(settings.home).places, place_of(settings)
    found = []
    for uri in [*filter(None, [own]), *(one for one in told if one != own)]:
        last = told.get(uri)
        if last is None:
            found.append(BackupStatus(uri, fresh=False, words=f"none was made at {uri} yet", last=None))
            continue
        old = now - last.at > timedelta(days=settings.backup.stale_days)
        words = f"the last one at {uri} is of {last.at:%F %H:%M} UTC ({last.backups} there)"
        found.append(BackupStatus(uri, uri != own or not old, words, last))
    return found


def place_of(settings: Settings) -> str:
    """The place of backups that the settings name, as backups are known by it; empty: none."""
    uri = settings.backup.uri
    return uri if "://" in uri or not uri else str(settings.in_home(Path(uri)).absolute())
