"""The key of backups: 32 random bytes in a file, of which all other keys are made."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from slowwave.errors import BackupError

_MARK = "slowwave-backup-key-1:"
_BYTES = 32


@dataclass(frozen=True)
class Key:
    """What a backup is encrypted with.

    Attributes:
        content: of which the keys of pieces are made.
        names: of which the names of pieces are made.
        number: tells keys apart and tells nothing of them.
    """

    content: bytes
    names: bytes
    number: str

    def __repr__(self) -> str:
        return f"Key({self.number})"


def derived(secret: bytes) -> Key:
    """The keys that are made of a secret (HMAC-SHA256, a label each)."""

    def of(label: str) -> bytes:
        return hmac.new(secret, f"slowwave backup {label}".encode(), hashlib.sha256).digest()

    return Key(of("content"), of("names"), of("number").hex()[:12])


def make_key_file(path: Path) -> Key:
    """Write a new key to a file that only its owner may read.

    Raises:
        BackupError: the file is there, or cannot be written.
    """
    secret = secrets.token_bytes(_BYTES)
    try:
        handle = os.open(path.expanduser(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{_MARK}{secret.hex()}\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise BackupError(
            f"{path} is there already. A key that is written over takes its backups with it: give another "
            f"name."
        ) from None
    except OSError as error:
        raise BackupError(f"The key cannot be written to {path}: {error.strerror}.") from None
    return derived(secret)


def read_key_file(path: Path) -> Key:
    """The key in a file.

    Raises:
        BackupError: it cannot be read, is no key, or others may read it.
    """
    path = path.expanduser()
    try:
        text = path.read_text(encoding="ascii").strip()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise BackupError(f"The key file {path} cannot be read: {why}.") from None
    if os.name == "posix" and mode & 0o077:
        raise BackupError(f"Others on this machine may read the key file {path}: chmod 600 {path}")
    try:
        secret = bytes.fromhex(text.removeprefix(_MARK))
    except ValueError:
        secret = b""
    if not text.startswith(_MARK) or len(secret) != _BYTES:
        raise BackupError(f"{path} is no key of backups. `slowwave backup --new-key FILE` makes one.")
    return derived(secret)
