"""A place full of backups: pieces that are stored once, and for each backup a list of those that it is.

    slowwave-backup.json     whose backups these are, and with which key
    pieces/ab/abcd…          pieces by the hash of what they hold
    backups/20260301T0200…   one list for each backup

A piece is written before the list that names it, and a list is taken away before the pieces that only it
named. So whatever is killed leaves whole backups and, at worst, pieces that no list names; the next backup
takes those away.
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
_NAME = "%Y%m%dT%H%M%S"  # what the name of a backup begins with; thousandths of a second follow
_LAST = 5  # backups that are named (count)
_OTHERS = 3  # names of a folder of somebody else's that are shown (count)


@dataclass(frozen=True, slots=True)
class Header:
    """Whose backups are at a place.

    Attributes:
        home: id of the home.
        key: number of the key; empty: they are not encrypted.
    """

    home: str
    key: str

    def written(self) -> bytes:
        """As JSON with a sum of itself."""
        said = {"format": FORMAT, "home": self.home, "key": self.key}
        return orjson.dumps({**said, "sum": _sum(said)}, option=orjson.OPT_INDENT_2)


def _sum(said: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def new_name(at: datetime, last: str = "") -> str:
    """Name of a backup: it sorts after the last one, also where the clock was put back since.

    Args:
        at: when its state is taken, in UTC.
        last: name of the newest backup; empty: there is none.
    """
    moment = at
    if last and _begin(at) <= last.partition("-")[0]:
        moment = datetime.strptime(last.partition("-")[0] + "+0000", f"{_NAME}%fZ%z") + timedelta(
            milliseconds=1
        )
    return f"{_begin(moment)}-{secrets.token_hex(3)}"


def is_name(name: str) -> bool:
    """Whether a file among the lists of backups is one: what strays there stops none.

    Args:
        name: of the file.
    """
    return re.fullmatch(r"\d{8}T\d{9}Z-[0-9a-f]{6}", name) is not None


def _begin(moment: datetime) -> str:
    return f"{moment:{_NAME}}{moment.microsecond // 1000:03}Z"


class Archive:
    """The backups at a place.

    Args:
        place: where they are.
        key: that they are encrypted with, if they are.

    Attributes:
        problem: with the file that says whose they are; empty: none.
        sent: what was stored since that was not there (bytes).

    Raises:
        BackupError: there are none, or they are of another key.
    """

    def __init__(self, place: FileStorage, key: Key | None) -> None:
        self.place, self.key, self.problem, self.sent = place, key, "", 0
        self._there: dict[str, int] | None = None
        self._lock = threading.Lock()
        header = self._header()
        if header is None and not place.list(BACKUPS):
            raise BackupError(
                f"There are no backups at {place.uri}. `slowwave backup {place.uri}` makes one."
            )
        self.home = header.home if header else ""
        if header is not None:
            self._same_key(header)

    @classmethod
    def make(cls, place: FileStorage, key: Key | None, home: str) -> Archive:
        """The backups of a home, at a place that may be empty.

        Raises:
            BackupError: something else is there, backups of another home, or those of another key.
        """
        there = place.list()
        if not any(name == HEADER or name.startswith(f"{BACKUPS}/") for name in there):
            others = [name for name in there if not name.startswith(f"{PIECES}/")]
            if others:
                shown = ", ".join(sorted(others)[:_OTHERS])
                raise BackupError(
                    f"{place.uri} is not empty and holds no backups ({shown}). Give an empty folder or "
                    f"prefix."
                )
            place.put(HEADER, Header(home, key.number if key else "").written())
        archive = cls(place, key)
        if archive.problem:  # its lists say the same, where they can be read
            found, wrong = archive.backups()
            if wrong and not found:
                raise BackupError(
                    f"{place.uri}/{HEADER} {archive.problem}, and none of the {len(wrong)} backups there can "
                    f"be read {'with this key' if key else 'without a key'}. Give the right key with "
                    f"--key-file, or another place."
                )
            homes = {one.home for one in found}
            archive.home = homes.pop() if len(homes) == 1 else home
        if archive.home != home:
            raise BackupError(
                f"{place.uri} has backups of another home ({archive.home[:8]}, this one is {home[:8]}). "
                f"Give each home a place of its own; or, if that home became this one, go on with its "
                f"backups: --adopt."
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
            told = orjson.loads(raw)
            header = Header(told["home"], told["key"])
        except (ValueError, KeyError, TypeError):
            told, header = {}, None
        if header is None or (raw != header.written() and told.get("format") == FORMAT):
            self.problem = "is damaged: its sum is another one"
            return None
        if told.get("format") != FORMAT:
            raise BackupError(f"{self.place.uri} has backups of another format: use a newer Slowwave.")
        return header

    def _same_key(self, header: Header) -> None:
        where = self.place.uri
        if header.key and self.key is None:
            raise BackupError(
                f"The backups at {where} are encrypted with the key {header.key}: give it with --key-file."
            )
        if self.key is not None and not header.key:
            raise BackupError(
                f"The backups at {where} are not encrypted: leave the key out (--key-file, or the "
                f"setting backup.key_file), or give another place."
            )
        if self.key is not None and header.key != self.key.number:
            raise BackupError(
                f"The backups at {where} are encrypted with the key {header.key}; this one is "
                f"{self.key.number}."
            )

    # -- pieces ----------------------------------------------------------------------------------

    def stored(self) -> dict[str, int]:
        """Size as stored (bytes) of every piece that was there when it was first asked, or was put since."""
        if self._there is None:
            found = self.place.list(PIECES)
            self._there = {name.rpartition("/")[2]: one.size for name, one in found.items()}
        return self._there

    def put(self, content: bytes) -> str:
        """Store a piece unless it is there; its name."""
        there = self.stored()
        name = name_of(content, self.key)
        if name not in there:
            sealed = seal(name, content, self.key)
            self.place.put(path_of(name), sealed)
            with self._lock:
                there[name] = len(sealed)
                self.sent += len(sealed)
        return name

    def get(self, name: str) -> bytes:
        """What a piece holds.

        Raises:
            DamagedError: it is missing or is not what was stored.
        """
        try:
            stored = self.place.get(path_of(name))
        except FileNotFoundError:
            raise DamagedError("is missing") from None
        content = unseal(name, stored, self.key)
        if name_of(content, self.key) != name:
            raise DamagedError("is damaged: it holds something else")
        return content

    # -- backups ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Names of the backups, the oldest first."""
        return sorted(name.rpartition("/")[2] for name in self.place.list(BACKUPS))

    def read(self, name: str) -> Backup:
        """One backup.

        Raises:
            NotFoundError: there is none of this name.
            DamagedError: its list is damaged.
        """
        try:
            stored = self.place.get(f"{BACKUPS}/{name}")
        except FileNotFoundError:
            raise NotFoundError(
                f"There is no backup {name!r} at {self.place.uri}. The last ones are: {_last(self.names())}."
            ) from None
        return read(unseal(name, stored, self.key))

    def backups(self) -> tuple[list[Backup], dict[str, str]]:
        """All backups that can be read, the oldest first, and what is wrong with the others, by name."""
        found, wrong = list[Backup](), dict[str, str]()
        for name in self.names():
            try:
                found.append(self.read(name))
            except DamagedError as error:
                wrong[name] = str(error)
        return found, wrong

    def named(self, at: str) -> Backup:
        """The backup of this name, or the last one at or before a moment; empty: the last one.

        Args:
            at: a name, the beginning of one, or a moment (ISO; of a day: its end), UTC.

        Raises:
            NotFoundError: there is none such.
            BackupError: its list is damaged.
        """
        name = self._meant(at)
        try:
            return self.read(name)
        except DamagedError as error:
            raise BackupError(
                f"The list of the backup {name} {error}. Choose another one with --at: `slowwave backups` "
                f"lists them."
            ) from None

    def _meant(self, at: str) -> str:
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
                f"day (YYYY-MM-DD) or a moment (YYYY-MM-DDTHH:MM), in UTC. The last ones are: {_last(names)}."
            )
        before = [name for name in names if limit and name.partition("-")[0] <= limit]
        return before[-1] if before else at  # whoever reads it says what there is

    def add(self, backup: Backup) -> None:
        """Let a backup be one: its pieces are all there."""
        self.place.put(f"{BACKUPS}/{backup.name}", seal(backup.name, written(backup), self.key))

    def remove(self, names: Collection[str]) -> None:
        """Backups are none any more; their pieces stay until `sweep`."""
        self.place.delete(f"{BACKUPS}/{name}" for name in names)

    def sweep(self) -> int:
        """Take away pieces that no backup names; how many bytes. None where a list cannot be read."""
        backups, wrong = self.backups()
        if wrong:
            return 0
        gone = self.stored().keys() - {piece for backup in backups for piece, _ in backup.pieces()}
        self.place.delete(path_of(name) for name in sorted(gone))
        return sum(self.stored().pop(name) for name in gone)


def path_of(piece: str) -> str:
    """Where a piece is."""
    return f"{PIECES}/{piece[:2]}/{piece}"


def _last(names: list[str]) -> str:
    return ", ".join(names[-_LAST:]) or "none"


def _moment(at: str) -> str:
    """A moment as names begin, or nothing where it is none."""
    try:
        given = datetime.fromisoformat(at)
    except ValueError:
        return ""
    given = given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    if len(at) <= len("2026-01-31"):
        given += timedelta(days=1, seconds=-1)
    return f"{given:{_NAME}}999Z"


def pieces_of(parts: Iterable[bytes], archive: Archive) -> tuple[tuple[str, ...], int]:
    """Store what comes in parts; names of the pieces, and bytes of all."""
    names, size = list[str](), 0
    for part in parts:
        names.append(archive.put(part))
        size += len(part)
    return tuple(names), size
