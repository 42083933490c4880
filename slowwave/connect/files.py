"""Reading and writing of other programs' files: atomic, keeping mode and links."""

from __future__ import annotations

import stat
from pathlib import Path

from slowwave.common.files import atomic_write
from slowwave.errors import SlowwaveError


def text_of(path: Path) -> str | None:
    """Return the text of a file with its line breaks; None for a missing file.

    Raises:
        SlowwaveError: it is no file, unreadable, or not UTF-8.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SlowwaveError(f"{path} is not UTF-8 (byte {error.start}). Nothing was changed.") from None
    except OSError as error:
        raise SlowwaveError(f"Cannot read {path}: {error.strerror}. Nothing was changed.") from None


def replace(path: Path, before: str | None, after: str | None) -> None:
    """Replace the text of a file, if it has not changed since it was read.

    Args:
        path: of the file; a link stays a link.
        before: the text that was read; None if there was no file.
        after: the new text; None removes the file.

    Raises:
        SlowwaveError: another program has changed it, or it cannot be written.
    """
    target = path.resolve()
    if text_of(target) != before:
        raise SlowwaveError(f"Another program has changed {path}. Run the command again.")
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
        raise SlowwaveError(f"Cannot write {path}: {error.strerror}. Nothing was changed.") from None
