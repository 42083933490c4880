"""Folder of an export: written beside its place and renamed, so that it is whole or absent."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from slowwave.errors import ArgumentError
from slowwave.imports.own.model import HIDDEN, TYPE

_LIST = "files.json"
_SHOWN = 3


@contextmanager
def written_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder; it replaces an empty or earlier exported one at the end.

    Files that a person added to the earlier export are kept; exported files that were edited refuse.

    Raises:
        ArgumentError: The folder has other contents, or its parent is missing.
    """
    target = target.expanduser().absolute()
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
    listed = _listed(folder)
    return [name for name, digest in listed.items() if _digest(folder / name) != digest]


def _require_ours(target: Path) -> None:
    if not target.parent.is_dir():
        raise ArgumentError(f"The folder {target.parent} does not exist. Create it, or give another path.")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise ArgumentError(f"{target} is not a folder. Give a new or empty folder.")
    if not target.exists() or not any(target.iterdir()):
        return
    if not _listed(target):
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


def _listed(folder: Path) -> dict[str, str]:
    try:
        value = orjson.loads((folder / HIDDEN / _LIST).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    files = value.get("files") if isinstance(value, dict) and value.get("type") == TYPE else None
    return files if isinstance(files, dict) else {}


def _write_list(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): _digest(path) for path in files}
    (folder / HIDDEN).mkdir(exist_ok=True)
    (folder / HIDDEN / _LIST).write_bytes(orjson.dumps({"type": TYPE, "files": names}))


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _swap(target: Path, beside: Path) -> None:
    """Replace the old folder by the new one; files that a person added stay."""
    if not target.exists():
        beside.rename(target)
        return
    listed = _listed(target)
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
