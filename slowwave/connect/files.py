"""Reading and writing other programs' files: whole or not at all, with their mode, through links."""

from __future__ import annotations

import stat
from pathlib import Path

from slowwave.common.files import atomic_write
from slowwave.errors import SlowwaveError


def text_of(path: Path) -> str | None:
    """The text of a file, with its line breaks as they are; None if there is no such file.

    Raises:
        SlowwaveError: it is no file, may not be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SlowwaveError(f"{path} is not UTF-8 (byte {error.start}). Nothing was changed.") from None
    except OSError as error:
        raise SlowwaveError(f"{path} cannot be read ({error.strerror}). Nothing was changed.") from None


def replace(path: Path, before: str | None, after: str | None) -> None:
    """Put a text in the place of the one that was read.

    Args:
        path: of the file; a link stays one.
        before: the text that was read; None if there was no file.
        after: the text to write; None: the file is removed.

    Raises:
        SlowwaveError: another program has written to it meanwhile, or it cannot be written.
    """
    target = path.resolve()
    if text_of(target) != before:
        raise SlowwaveError(f"{path} was changed by another program just now. Run the command again.")
    try:
        if after is None:
            target.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as file:
            if before is not None:
                Path(file.name).chmod(stat.S_IMODE(target.stat().st_mode))
            file.write(after.encode())
    except OSError as error:
        raise SlowwaveError(f"{path} cannot be written ({error.strerror}). Nothing was changed.") from None
