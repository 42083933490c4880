"""Verification of backups: every piece is read and compared with its hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slowwave.backup.archive import BACKUPS, HEADER, Archive, path_of
from slowwave.backup.blob_encryption import DamagedError
from slowwave.backup.model import Backup
from slowwave.common import progress
from slowwave.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """Fault of a file in the archive.

    Attributes:
        where: Path within the place.
        problem: Description.
        what: Table, journal part or file that it belongs to.
        backups: Names of affected backups, latest first.
    """

    where: str
    problem: str
    what: str
    backups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """Result of a verification.

    Attributes:
        place: Verified place.
        backups: Checked, oldest first.
        whole: Names of intact backups.
        pieces: Read (count).
        bytes_read: Their stored size.
        faults: Damaged files.
        unused: Files that no backup needs, with their size; the next backup deletes such pieces.
    """

    place: str
    backups: tuple[str, ...]
    whole: tuple[str, ...]
    pieces: int
    bytes_read: int
    faults: tuple[DamagedFile, ...]
    unused: dict[str, int]

    @property
    def sound(self) -> bool:
        """Whether every backup can be restored."""
        return not self.faults


def verify(archive: Archive, at: str = "") -> Verified:
    """Read every piece and compare it with its hash.

    Args:
        archive: The backups.
        at: Name of one backup, its prefix, or a time; empty: all.

    Raises:
        NotFoundError: There is no such backup.
    """
    every, wrong = archive.backups()
    backups = [archive.named(at)] if at else every
    if not every and not wrong:
        raise NotFoundError(f"There are no backups at {archive.place.uri} yet.")
    lists = {} if at else wrong
    faults = [
        DamagedFile(f"{BACKUPS}/{name}", problem, "the manifest of a backup", (name,))
        for name, problem in lists.items()
    ]
    if archive.problem:
        faults.append(DamagedFile(HEADER, archive.problem, "the header of the archive", ()))
    wanted = _wanted(backups)
    stored = archive.stored()
    pieces = _bad_pieces(archive, list(wanted))
    faults += [
        DamagedFile(path_of(name), problem, wanted[name][0], tuple(wanted[name][1]))
        for name, problem in pieces.items()
    ]
    harmed = {name for fault in faults for name in fault.backups}
    return Verified(
        place=archive.place.uri,
        backups=tuple(sorted([*lists, *(backup.name for backup in backups)])),
        whole=tuple(backup.name for backup in backups if backup.name not in harmed),
        pieces=len(wanted),
        bytes_read=sum(stored.get(name, 0) for name in wanted),
        faults=tuple(faults),
        unused={} if wrong else _unused(archive, every),
    )


def mend(archive: Archive, verification: Verified) -> int:
    """Delete damaged files, so that the next backup sends them again. Return the count.

    Data that the home no longer has stays lost: backups that need it cannot be restored.
    """
    existing = archive.place.list()
    bad = [fault.where for fault in verification.faults if fault.where in existing and fault.where != HEADER]
    archive.place.delete(bad)
    return len(bad)


def _wanted(backups: Sequence[Backup]) -> dict[str, tuple[str, list[str]]]:
    """Return every piece with its description and the backups that need it, latest first."""
    wanted: dict[str, tuple[str, list[str]]] = {}
    for backup in reversed(backups):
        for piece, what in backup.pieces():
            names = wanted.setdefault(piece, (what, []))[1]
            if backup.name not in names[-1:]:
                names.append(backup.name)
    return wanted


def _bad_pieces(archive: Archive, names: Sequence[str]) -> dict[str, str]:
    def check(name: str) -> str:
        try:
            archive.get(name)
        except DamagedError as error:
            return str(error)
        return ""

    problems = progress.map_in_threads("pieces", check, names)
    return {name: problem for name, problem in zip(names, problems, strict=True) if problem}


def _unused(archive: Archive, backups: Sequence[Backup]) -> dict[str, int]:
    """Return files of the place that no backup needs, with their size (bytes)."""
    needed = {path_of(piece) for backup in backups for piece, _ in backup.pieces()}
    needed |= {HEADER, *(f"{BACKUPS}/{backup.name}" for backup in backups)}
    return {name: file.size for name, file in archive.place.list().items() if name not in needed}
