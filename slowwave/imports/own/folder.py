"""Folder of an export: written beside its place and renamed, so that it is whole or absent."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from slowwave.errors import ArgumentError
from slowwave.imports.own.model import HIDDEN, TYPE
from slowwave.notes.exported import EXPORT_LIST, exported_files, file_digest

_SHOWN = 3


@contextmanager
def written_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder; it replaces an empty or earlier exported one at the end.

    Files that a person added to the earlier export are kept; exported files that were edited refuse.

    Raises:
        ArgumentError: The folder has other contents, or its parent is missing.
    """
    target = target.expanduser().absolute()
    _recover(target)
    _require_ours(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir()
        yield beside
        _write_list(beside)
        _swap(target, beside)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def edited(folder: Path) -> list[str]:
    """Return the exported files of a folder that were changed or deleted since."""
    listed = exported_files(folder).digests
    return [name for name, digest in listed.items() if file_digest(folder / name) != digest]


def _require_ours(target: Path) -> None:
    if not target.parent.is_dir():
        raise ArgumentError(f"The folder {target.parent} does not exist. Create it, or give another path.")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise ArgumentError(f"{target} is not a folder. Give a new or empty folder.")
    if not target.exists() or not any(target.iterdir()):
        return
    if not exported_files(target).digests:
        raise ArgumentError(
            f"{target} has files that are no export of memories. Give a new or empty folder, or that of an "
            f"earlier export."
        )
    if names := [name for name in edited(target) if (target / name).exists()]:
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        raise ArgumentError(
            f"{', '.join(names[:_SHOWN])}{more} in {target} changed since the export, and would be lost. "
            f"Move them, save them with `slowwave import markdown`, or give another folder."
        )


def _write_list(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
    (folder / HIDDEN).mkdir(exist_ok=True)
    (folder / HIDDEN / EXPORT_LIST).write_bytes(orjson.dumps({"type": TYPE, "files": names}))


def _recover(target: Path) -> None:
    """Undo a killed export: put the moved folder back, remove partial ones."""
    for old in target.parent.glob(f".{glob.escape(target.name)}.*.old"):
        if _is_running(old):
            continue
        if not target.exists():
            old.rename(target)
        elif exported_files(target).digests:
            shutil.rmtree(old, ignore_errors=True)
    for partial in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        if not _is_running(partial):
            shutil.rmtree(partial, ignore_errors=True)


def _is_running(path: Path) -> bool:
    """Whether another process still writes this folder; its id is in the name."""
    number = path.suffixes[-2].removeprefix(".")
    if not number.isdigit():
        return True
    if int(number) == os.getpid() or sys.platform == "win32":  # signal 0 would end a process there
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _swap(target: Path, beside: Path) -> None:
    """Replace the old folder by the new one; files that a person added stay."""
    if not target.exists():
        beside.rename(target)
        return
    listed = exported_files(target).digests
    for path in target.rglob("*"):
        name = path.relative_to(target)
        own = name.as_posix() in listed or name.parts[0] == HIDDEN
        if path.is_file() and not own and not (beside / name).exists():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, beside / name)
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.rename(old)
    try:
        beside.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
