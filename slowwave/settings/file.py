"""Changing the settings file of a home, leaving what a person wrote there as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.common.permissions import make_private
from slowwave.errors import SettingsError
from slowwave.settings import CONFIG_FILE

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


@contextmanager
def editing(home: Path) -> Iterator[TOMLDocument]:
    """The settings file as a document to change; it is written when the block ends without an error.

    Raises:
        SettingsError: the file is not TOML.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = home / CONFIG_FILE
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Mend that line.") from None
    yield document
    make_private(path, home)  # it may hold keys
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
