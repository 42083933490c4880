"""Edits of a home's settings file that keep a person's formatting."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

from slowwave.common.permissions import make_private
from slowwave.errors import SettingsError
from slowwave.settings import CONFIG_FILE

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


@contextmanager
def editing(home: Path) -> Iterator[TOMLDocument]:
    """Yield the settings file as a document to change; it is written when the block ends without an error.

    The write is atomic: readers see the old or the new file.

    Raises:
        SettingsError: The file is not TOML.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = home / CONFIG_FILE
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Fix that line.") from None
    yield document
    make_private(path, home)  # it may have keys
    _put(path.resolve(), tomlkit.dumps(document))


def _put(path: Path, text: str) -> None:
    """Replace an existing file, atomically."""
    new = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    try:
        new.touch(mode=0o600)
        new.write_text(text, encoding="utf-8")
        shutil.copymode(path, new)
        new.replace(path)
    except OSError:  # a bind-mounted file cannot be replaced
        new.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
