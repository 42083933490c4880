"""The notes in a folder: which files count, which links are followed, and what could not be looked at."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from slowwave.notes.model import NOTE_SUFFIXES, VaultFile


@dataclass(frozen=True, slots=True)
class Unseen:
    """A place of a vault that could not be looked at: it says nothing about what is there.

    Attributes:
        source: POSIX path relative to the vault, in Unicode normal form C; empty for the whole vault.
        why: In words.
        expected: Whether notes have to be expected there; not of a link that is left alone.
    """

    source: str
    why: str
    expected: bool = True


@dataclass(slots=True)
class Listing:
    """What is in a vault: files, and the places that could not be looked at; both sorted by source."""

    files: list[VaultFile] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)


def iter_vault(root: Path) -> Iterator[VaultFile]:
    """The notes of a vault that can be seen, sorted by source; see :func:`list_vault`."""
    yield from list_vault(root).files


def list_vault(root: Path) -> Listing:
    """List the notes of a vault.

    Hidden files and folders, files that are not notes, links that leave the vault or lead back into
    a folder above them, and folder links inside linked folders are skipped. Of such links, of dangling ones,
    and of folders and files that cannot be opened, the listing says so.

    Args:
        root: Folder of the vault.

    Raises:
        FileNotFoundError: If there is no such folder.
        NotADirectoryError: If it is a file.
    """
    if not root.exists():
        raise FileNotFoundError(f"No vault at {root}: check the path, or create the folder first")
    if not root.is_dir():
        raise NotADirectoryError(f"The vault {root} is a file: give the folder that holds the notes")
    found = Listing()
    _scan(found, root, "", root.resolve(), linked=False)
    found.files.sort(key=lambda file: (file.source, os.fsencode(file.path)))
    found.unseen.sort(key=lambda place: place.source)
    return found


def _scan(found: Listing, folder: Path, prefix: str, root: Path, *, linked: bool) -> None:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    # A file name need not be UTF-8; a source has to be.
                    name = os.fsencode(entry.name).decode("utf-8", "replace")
                    source = unicodedata.normalize("NFC", prefix + name)
                    _look_at(found, entry, source, root, linked=linked)
    except OSError as error:
        found.unseen.append(Unseen(prefix.rstrip("/"), f"the folder cannot be listed: {error.strerror}"))


def _look_at(found: Listing, entry: os.DirEntry[str], source: str, root: Path, *, linked: bool) -> None:
    is_note = PurePosixPath(source).suffix.lower() in NOTE_SUFFIXES
    try:
        if obstacle := _obstacle(entry, root, linked=linked):
            dangles = obstacle == _DANGLING
            found.unseen.append(Unseen(source, obstacle, expected=dangles and is_note))
        elif entry.is_dir():
            _scan(found, Path(entry.path), source + "/", root, linked=linked or entry.is_symlink())
        elif is_note and entry.is_file():
            status = entry.stat()
            found.files.append(VaultFile(source, Path(entry.path), status.st_size, status.st_mtime_ns))
        elif is_note:
            found.unseen.append(Unseen(source, "it is no file: a pipe, a socket or a device"))
    except OSError as error:
        found.unseen.append(Unseen(source, f"it cannot be looked at: {error.strerror}", expected=is_note))


_DANGLING = "it is a link to nothing"


def _obstacle(entry: os.DirEntry[str], root: Path, *, linked: bool) -> str:
    """Why a link is not followed; empty for what is no link, or one that stays in the vault."""
    if not entry.is_symlink():
        return ""
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):  # broken, or a link to itself
        return _DANGLING
    if not target.is_relative_to(root):
        return "it is a link that leaves the vault"
    # Links between folders that link each other would be followed in every order: one step is enough.
    if target.is_dir() and (linked or Path(entry.path).parent.resolve().is_relative_to(target)):
        return "it is a link that may lead in circles"
    return ""
