"""Archive of backups: content-addressed pieces, stored once, and a manifest per backup.

    slowwave-backup.json     id of the home, and number of the key
    pieces/ab/abcd…          pieces, named by the hash of their content
    backups/20260301T0200…   one manifest per backup

A piece is written before the manifest that names it, and a manifest is deleted before its unshared
pieces. So a killed process leaves complete backups and, at worst, pieces that no manifest names; the next
backup deletes those.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from slowwave.backup.blob_encryption import DamagedError, name_of, seal, unseal
from slowwave.backup.keys import Key
from slowwave.backup.model import FORMAT, Backup, read, written
from slowwave.backup.storage import FileStorage
from slowwave.errors import BackupError, NotFoundError

HEADER = "slowwave-backup.json"
PIECES, BACKUPS = "pieces", "backups"
_NAME = "%Y%m%dT%H%M%S"  # prefix of a backup's name; milliseconds follow
_LAST = 5  # backups listed in an error (count)
_OTHERS = 3  # other files listed in an error (count)


@dataclass(frozen=True, slots=True)
class Header:
    """Header of an archive: the home and the key of its backups.

    Attributes:
        home: Id of the home.
        key: Number of the key; empty: not encrypted.
    """

    home: str
    key: str

    def written(self) -> bytes:
        """Serialise the header as JSON with a checksum."""
        values = {"format": FORMAT, "home": self.home, "key": self.key}
        return orjson.dumps({**values, "sum": _sum(values)}, option=orjson.OPT_INDENT_2)


def _sum(values: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()


def new_name(at: datetime, last: str = "") -> str:
    """Return a backup name that sorts after the last one, whatever the clock.

    Args:
        at: Time of the backed-up state, in UTC.
        last: Name of the latest backup; empty: there is none.
    """
    moment = at
    if last and _begin(at) <= last.partition("-")[0]:
        moment = datetime.strptime(last.partition("-")[0] + "+0000", f"{_NAME}%fZ%z") + timedelta(
            milliseconds=1
        )
    return f"{_begin(moment)}-{secrets.token_hex(3)}"


def is_name(name: str) -> bool:
    """Whether a file name is that of a manifest; other files are ignored."""
    return re.fullmatch(r"\d{8}T\d{9}Z-[0-9a-f]{6}", name) is not None


def _begin(moment: datetime) -> str:
    return f"{moment:{_NAME}}{moment.microsecond // 1000:03}Z"


class Archive:
    """Archive of one home's backups at a place.

    Args:
        place: Folder or bucket.
        key: Encryption key, if encrypted.

    Attributes:
        problem: Fault of the header file; empty: none.
        sent: Newly stored (bytes).

    Raises:
        BackupError: There are no backups, or they have another key.
    """

    def __init__(self, place: FileStorage, key: Key | None) -> None:
        self.place, self.key, self.problem, self.sent = place, key, "", 0
        self._stored: dict[str, int] | None = None
        self._lock = threading.Lock()
        header = self._header()
        if header is None and not place.list(BACKUPS):
            raise BackupError(
                f"There are no backups at {place.uri}. Create one: `slowwave backup {place.uri}`."
            )
        self.home = header.home if header else ""
        if header is not None:
            self._same_key(header)

    @classmethod
    def make(cls, place: FileStorage, key: Key | None, home: str) -> Archive:
        """Open or create the archive of a home, at a place that may be empty.

        Raises:
            BackupError: The place has other files, backups of another home, or backups with another key.
        """
        existing = place.list()
        if not any(name == HEADER or name.startswith(f"{BACKUPS}/") for name in existing):
            others = [name for name in existing if not name.startswith(f"{PIECES}/")]
            if others:
                shown = ", ".join(sorted(others)[:_OTHERS])
                raise BackupError(
                    f"{place.uri} is not empty and has no backups ({shown}). Choose an empty folder or "
                    f"prefix."
                )
            place.put(HEADER, Header(home, key.number if key else "").written())
        archive = cls(place, key)
        if archive.problem:  # readable manifests have the same facts
            readable, wrong = archive.backups()
            if wrong and not readable:
                raise BackupError(
                    f"{place.uri}/{HEADER} {archive.problem}, and none of the {len(wrong)} backups there can "
                    f"be read {'with this key' if key else 'without a key'}. Give the right key with "
                    f"--key-file, or choose another place."
                )
            homes = {backup.home for backup in readable}
            archive.home = homes.pop() if len(homes) == 1 else home
        if archive.home != home:
            raise BackupError(
                f"{place.uri} has backups of another home ({archive.home[:8]}, this one is {home[:8]}). "
                f"Give each home a place of its own. If that home became this one, continue its "
                f"backups with --adopt."
            )
        if archive.problem:
            place.put(HEADER, Header(home, key.number if key else "").written())
            archive.problem = ""
        return archive

    def _header(self) -> Header | None:
        try:
            raw = self.place.get(HEADER)
        except FileNotFoundError:
            self.problem = "is missing"
            return None
        try:
            values = orjson.loads(raw)
            header = Header(values["home"], values["key"])
        except (ValueError, KeyError, TypeError):
            values, header = {}, None
        if header is None or (raw != header.written() and values.get("format") == FORMAT):
            self.problem = "is damaged: its checksum differs"
            return None
        if values.get("format") != FORMAT:
            raise BackupError(f"{self.place.uri} has backups of another format. Use a newer Slowwave.")
        return header

    def _same_key(self, header: Header) -> None:
        where = self.place.uri
        if header.key and self.key is None:
            raise BackupError(
                f"The backups at {where} are encrypted with the key {header.key}. Give it with --key-file."
            )
        if self.key is not None and not header.key:
            raise BackupError(
                f"The backups at {where} are not encrypted. Omit the key (--key-file, or the "
                f"setting backup.key_file), or choose another place."
            )
        if self.key is not None and header.key != self.key.number:
            raise BackupError(
                f"The backups at {where} are encrypted with the key {header.key}, but the given key is "
                f"{self.key.number}. Give the other key file."
            )

    # -- pieces ----------------------------------------------------------------------------------

    def stored(self) -> dict[str, int]:
        """Return the stored size (bytes) of every piece; listed once, then updated by `put`."""
        if self._stored is None:
            files = self.place.list(PIECES)
            self._stored = {name.rpartition("/")[2]: file.size for name, file in files.items()}
        return self._stored

    def put(self, content: bytes) -> str:
        """Store a piece unless it exists. Return its name."""
        stored = self.stored()
        name = name_of(content, self.key)
        if name not in stored:
            sealed = seal(name, content, self.key)
            self.place.put(path_of(name), sealed)
            with self._lock:
                stored[name] = len(sealed)
                self.sent += len(sealed)
        return name

    def get(self, name: str) -> bytes:
        """Return the content of a piece.

        Raises:
            DamagedError: It is missing, or is not what was stored.
        """
        try:
            stored = self.place.get(path_of(name))
        except FileNotFoundError:
            raise DamagedError("is missing") from None
        content = unseal(name, stored, self.key)
        if name_of(content, self.key) != name:
            raise DamagedError("is damaged: its content differs")
        return content

    # -- backups ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Return the names of the backups, oldest first."""
        return sorted(name.rpartition("/")[2] for name in self.place.list(BACKUPS))

    def read(self, name: str) -> Backup:
        """Read the manifest of a backup.

        Raises:
            NotFoundError: There is none of this name.
            DamagedError: It is damaged.
        """
        try:
            stored = self.place.get(f"{BACKUPS}/{name}")
        except FileNotFoundError:
            raise NotFoundError(
                f"There is no backup {name!r} at {self.place.uri}. The last ones are: {_last(self.names())}."
            ) from None
        return read(unseal(name, stored, self.key))

    def backups(self) -> tuple[list[Backup], dict[str, str]]:
        """Return all readable backups, oldest first, and the faults of the others by name."""
        readable, wrong = list[Backup](), dict[str, str]()
        for name in self.names():
            try:
                readable.append(self.read(name))
            except DamagedError as error:
                wrong[name] = str(error)
        return readable, wrong

    def named(self, at: str) -> Backup:
        """Return the backup of this name, or the last one at or before a time; empty: the latest.

        Args:
            at: A name, its prefix, or a time (ISO; for a day: its end), UTC.

        Raises:
            NotFoundError: There is none.
            BackupError: Its manifest is damaged.
        """
        name = self._resolve(at)
        try:
            return self.read(name)
        except DamagedError as error:
            raise BackupError(
                f"The manifest of the backup {name} {error}. Choose another one with --at; `slowwave "
                f"backups` lists them."
            ) from None

    def _resolve(self, at: str) -> str:
        names = self.names()
        if not at:
            return names[-1] if names else ""
        begins = [name for name in names if name.startswith(at)]
        if len(begins) == 1:
            return begins[0]
        limit = _moment(at)
        if not limit and at not in names:
            raise NotFoundError(
                f"There is no backup {at!r} at {self.place.uri}. Give --at a name of `slowwave backups`, a "
                f"day (YYYY-MM-DD) or a time (YYYY-MM-DDTHH:MM), in UTC. The last ones are: {_last(names)}."
            )
        before = [name for name in names if limit and name.partition("-")[0] <= limit]
        return before[-1] if before else at  # reading it reports the existing ones

    def add(self, backup: Backup) -> None:
        """Write the manifest of a backup, whose pieces are all stored."""
        self.place.put(f"{BACKUPS}/{backup.name}", seal(backup.name, written(backup), self.key))

    def remove(self, names: Collection[str]) -> None:
        """Delete manifests; their pieces stay until `sweep`."""
        self.place.delete(f"{BACKUPS}/{name}" for name in names)

    def sweep(self) -> int:
        """Delete pieces that no backup names. Return the freed bytes; 0 if a manifest is unreadable."""
        backups, wrong = self.backups()
        if wrong:
            return 0
        gone = self.stored().keys() - {piece for backup in backups for piece, _ in backup.pieces()}
        self.place.delete(path_of(name) for name in sorted(gone))
        return sum(self.stored().pop(name) for name in gone)


def path_of(piece: str) -> str:
    """Return the path of a piece."""
    return f"{PIECES}/{piece[:2]}/{piece}"


def _last(names: list[str]) -> str:
    return ", ".join(names[-_LAST:]) or "none"


def _moment(at: str) -> str:
    """Convert a time to the prefix of backup names; empty if it is not a time."""
    try:
        time = datetime.fromisoformat(at)
    except ValueError:
        return ""
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    if len(at) <= len("2026-01-31"):
        time += timedelta(days=1, seconds=-1)
    return f"{time:{_NAME}}999Z"


def pieces_of(parts: Iterable[bytes], archive: Archive) -> tuple[tuple[str, ...], int]:
    """Store content that comes in parts. Return the names of the pieces, and the total bytes."""
    names, size = list[str](), 0
    for part in parts:
        names.append(archive.put(part))
        size += len(part)
    return tuple(names), size
