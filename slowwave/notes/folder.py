"""Listing of the notes in a folder: file selection, links, and inaccessible places."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from slowwave.common.pluralize import counted
from slowwave.notes.exported import ExportedFiles, exported_files, is_exported_copy
from slowwave.notes.model import NOTE_SUFFIXES, VaultFile


@dataclass(frozen=True, slots=True)
class Unseen:
    """Inaccessible place of a vault, which is no evidence about its content.

    Attributes:
        source: POSIX path relative to the vault, in Unicode normal form C; empty for the whole vault.
        why: Reason.
        expected: Whether notes must be expected there; False for a link in circles, and one to no note.
    """

    source: str
    why: str
    expected: bool = True


@dataclass(slots=True)
class Listing:
    """Content of a vault: files and inaccessible places, both sorted by source.

    Attributes:
        copies: Files that are unchanged since `slowwave export memories` wrote them (count).
        others: Files of types that are no notes: counts by lower-case suffix; empty if a name has none.
    """

    files: list[VaultFile] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)
    copies: int = 0
    others: Counter[str] = field(default_factory=Counter)

    @property
    def copies_remark(self) -> str:
        """Sentence about the copies; empty if there are none."""
        if not self.copies:
            return ""
        return (
            f"{counted(self.copies, 'unchanged file')} of an export of memories not read, because they would "
            f"come twice. `slowwave import memories FOLDER` imports the export."
        )


def others_remark(others: Mapping[str, int]) -> str:
    """Return a sentence about files that are no notes; empty if there are none.

    Args:
        others: As in `Listing`.
    """
    if not others:
        return ""
    common = sorted(others.items(), key=lambda one: (-one[1], one[0]))
    named = ", ".join(f"{suffix or 'no suffix'} {count:,}" for suffix, count in common[:_NAMED_SUFFIXES])
    more = " and more" if len(common) > _NAMED_SUFFIXES else ""
    known = ", ".join(sorted(NOTE_SUFFIXES))
    return f"{counted(sum(others.values()), 'other file')} not read: {named}{more}. Notes are {known}."


_NAMED_SUFFIXES = 6
_SUFFIX = re.compile(r"\.[a-z0-9_+-]{1,12}")  # the rest of "Dr. Lee's letter" is none


def iter_vault(root: Path) -> Iterator[VaultFile]:
    """Yield the accessible notes of a vault, sorted by source; see :func:`list_vault`."""
    yield from list_vault(root).files


def list_vault(root: Path) -> Listing:
    """List the notes of a vault.

    Skipped are hidden files and folders, files that are not notes, links that leave the vault or lead to a
    folder above them, folder links inside linked folders, and unchanged copies of exported memories.
    The listing reports such links, dangling ones, and folders and files that cannot be opened.

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
    listing = Listing()
    _scan(listing, root, "", root.resolve(), _Exported(), linked=False)
    listing.files.sort(key=lambda file: (file.source, os.fsencode(file.path)))
    listing.unseen.sort(key=lambda place: place.source)
    return listing


@dataclass(frozen=True, slots=True)
class _Exported:
    """Nearest export around a folder, and its source with a slash."""

    prefix: str = ""
    files: ExportedFiles = field(default_factory=ExportedFiles)


def _scan(
    listing: Listing, folder: Path, prefix: str, root: Path, exported: _Exported, *, linked: bool
) -> None:
    own = exported_files(folder)
    exported = _Exported(prefix, own) if own.digests else exported
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    # A file name need not be UTF-8; a source must be.
                    name = os.fsencode(entry.name).decode("utf-8", "replace")
                    source = unicodedata.normalize("NFC", prefix + name)
                    _add(listing, entry, source, root, exported, linked=linked)
    except OSError as error:
        listing.unseen.append(Unseen(prefix.rstrip("/"), f"the folder cannot be listed: {error.strerror}"))


def _add(
    listing: Listing,
    entry: os.DirEntry[str],
    source: str,
    root: Path,
    exported: _Exported,
    *,
    linked: bool,
) -> None:
    suffix = PurePosixPath(source).suffix.lower()
    is_note = suffix in NOTE_SUFFIXES
    try:
        if obstacle := _obstacle(entry, root, linked=linked):
            is_expected = {_DANGLING: is_note, _LEAVES: is_note or entry.is_dir()}.get(obstacle, False)
            listing.unseen.append(Unseen(source, obstacle, expected=is_expected))
        elif entry.is_dir():
            _scan(
                listing, Path(entry.path), source + "/", root, exported, linked=linked or entry.is_symlink()
            )
        elif is_note and entry.is_file():
            status = entry.stat()
            if is_exported_copy(entry, source.removeprefix(exported.prefix), exported.files):
                listing.copies += 1
            else:
                listing.files.append(VaultFile(source, Path(entry.path), status.st_size, status.st_mtime_ns))
        elif not is_note:
            listing.others[suffix if _SUFFIX.fullmatch(suffix) else ""] += 1
        else:
            listing.unseen.append(Unseen(source, "it is no file: a pipe, a socket or a device"))
    except OSError as error:
        listing.unseen.append(Unseen(source, f"it cannot be looked at: {error.strerror}", expected=is_note))


_DANGLING = "it is a link to nothing"
_LEAVES = "it is a link that leaves the vault"


def _obstacle(entry: os.DirEntry[str], root: Path, *, linked: bool) -> str:
    """Return why a link is not followed; empty if it is no link, or stays in the vault."""
    if not entry.is_symlink():
        return ""
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):  # broken, or a link to itself
        return _DANGLING
    if not target.is_relative_to(root):
        return _LEAVES
    # Folders that link each other would be followed in every order: one step is enough.
    if target.is_dir() and (linked or Path(entry.path).parent.resolve().is_relative_to(target)):
        return "it is a link that may lead in circles"
    return ""
