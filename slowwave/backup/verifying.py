"""Whether backups are what they were when they were made: every piece is read."""

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
    """Something that is wrong.

    Attributes:
        where: the file, within the place.
        problem: in words.
        what: it is of: a table, the journal, a file.
        backups: names of those that it harms, the newest first.
    """

    where: str
    problem: str
    what: str
    backups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying found.

    Attributes:
        place: where.
        backups: that were looked at, the oldest first.
        whole: names of those that nothing is wrong with.
        pieces: that were read (count).
        bytes_read: their size as stored.
        faults: what is wrong.
        unused: files that no backup needs, with their size; the next backup takes pieces away.
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
    """Read every piece and see whether it is what its name says.

    Args:
        archive: the backups.
        at: only this backup: a name, its beginning, or a moment; empty: all.

    Raises:
        NotFoundError: there is no such backup.
    """
    every, wrong = archive.backups()
    backups = [archive.named(at)] if at else every
    if not every and not wrong:
        raise NotFoundError(f"There are no backups at {archive.place.uri} yet.")
    lists = {} if at else wrong
    faults = [
        DamagedFile(f"{BACKUPS}/{name}", problem, "the list of a backup", (name,))
        for name, problem in lists.items()
    ]
    if archive.problem:
        faults.append(DamagedFile(HEADER, archive.problem, "whose backups these are", ()))
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
        backups=tuple(sorted([*lists, *(one.name for one in backups)])),
        whole=tuple(one.name for one in backups if one.name not in harmed),
        pieces=len(wanted),
        bytes_read=sum(stored.get(name, 0) for name in wanted),
        faults=tuple(faults),
        unused={} if wrong else _unused(archive, every),
    )


def mend(archive: Archive, found: Verified) -> int:
    """Take away what is damaged, so that the next backup sends it again; how many files that was (count).

    What the home no longer has stays lost: a backup that needs it can be restored no more, and says so.
    """
    there = archive.place.list()
    bad = [fault.where for fault in found.faults if fault.where in there and fault.where != HEADER]
    archive.place.delete(bad)
    return len(bad)


def _wanted(backups: Sequence[Backup]) -> dict[str, tuple[str, list[str]]]:
    """Every piece with what it is of and the backups that need it, the newest first."""
    wanted: dict[str, tuple[str, list[str]]] = {}
    for backup in reversed(backups):
        for piece, what in backup.pieces():
            names = wanted.setdefault(piece, (what, []))[1]
            if backup.name not in names[-1:]:
                names.append(backup.name)
    return wanted


def _bad_pieces(archive: Archive, names: Sequence[str]) -> dict[str, str]:
    def look(name: str) -> str:
        try:
            archive.get(name)
        except DamagedError as error:
            return str(error)
        return ""

    problems = progress.map_in_threads("pieces", look, names)
    return {name: problem for name, problem in zip(names, problems, strict=True) if problem}


def _unused(archive: Archive, backups: Sequence[Backup]) -> dict[str, int]:
    """Files of the place that no backup needs, with their size (bytes)."""
    needed = {path_of(piece) for backup in backups for piece, _ in backup.pieces()}
    needed |= {HEADER, *(f"{BACKUPS}/{backup.name}" for backup in backups)}
    return {name: one.size for name, one in archive.place.list().items() if name not in needed}
