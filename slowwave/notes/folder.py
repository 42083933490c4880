"""The notes in a folder: which files count, and which links are followed."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from slowwave.notes.model import NOTE_SUFFIXES, VaultFile


def iter_vault(root: Path) -> Iterator[VaultFile]:
    """List the notes of a vault, sorted by source.

    Hidden files and folders, files that are not notes, links that leave the vault or lead back into
    a folder above them, and folder links inside linked folders are skipped.

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
    files = _scan(root, "", root.resolve(), linked=False)
    yield from sorted(files, key=lambda file: file.source)


def _scan(folder: Path, prefix: str, root: Path, *, linked: bool) -> Iterator[VaultFile]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or not _may_enter(entry, root, linked=linked):
                continue
            # A file name need not be UTF-8; a source has to be.
            name = os.fsencode(entry.name).decode("utf-8", "replace")
            source = unicodedata.normalize("NFC", prefix + name)
            if entry.is_dir():
                yield from _scan(Path(entry.path), source + "/", root, linked=linked or entry.is_symlink())
            elif PurePosixPath(name).suffix.lower() in NOTE_SUFFIXES and entry.is_file():
                status = entry.stat()
                yield VaultFile(source, Path(entry.path), status.st_size, status.st_mtime_ns)


def _may_enter(entry: os.DirEntry[str], root: Path, *, linked: bool) -> bool:
    """Whether an entry is no link, or one that stays in the vault and cannot lead in circles."""
    if not entry.is_symlink():
        return True
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):  # broken, or a link to itself
        return False
    if not target.is_relative_to(root):
        return False
    if not target.is_dir():
        return True
    # Links between folders that link each other would be followed in every order: one step is enough.
    return not linked and not Path(entry.path).parent.resolve().is_relative_to(target)
