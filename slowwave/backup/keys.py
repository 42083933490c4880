"""Encryption keys of backups, derived from 32 random bytes in a file."""

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
    """Encryption key of backups.

    Attributes:
        content: Secret from which the keys of pieces are derived.
        names: Secret from which the names of pieces are derived.
        number: Identifies the key without revealing it.
    """

    content: bytes
    names: bytes
    number: str

    def __repr__(self) -> str:
        return f"Key({self.number})"


def derived(secret: bytes) -> Key:
    """Derive the keys from a secret (HMAC-SHA256, one label each)."""

    def of(label: str) -> bytes:
        return hmac.new(secret, f"slowwave backup {label}".encode(), hashlib.sha256).digest()

    return Key(of("content"), of("names"), of("number").hex()[:12])


def make_key_file(path: Path) -> Key:
    """Write a new key to a file that only its owner may read.

    Raises:
        BackupError: The file exists, or cannot be written.
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
            f"{path} exists already. Overwriting a key would make its backups unreadable. Choose another "
            f"name."
        ) from None
    except OSError as error:
        raise BackupError(f"Cannot write the key to {path}: {error.strerror}.") from None
    return derived(secret)


def read_key_file(path: Path) -> Key:
    """Read the key from a file.

    Raises:
        BackupError: It cannot be read, is not a key, or others may read it.
    """
    path = path.expanduser()
    try:
        text = path.read_text(encoding="ascii").strip()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise BackupError(f"Cannot read the key file {path}: {why}.") from None
    if os.name == "posix" and mode & 0o077:
        raise BackupError(f"Other users of this machine may read the key file {path}. Run: chmod 600 {path}")
    try:
        secret = bytes.fromhex(text.removeprefix(_MARK))
    except ValueError:
        secret = b""
    if not text.startswith(_MARK) or len(secret) != _BYTES:
        raise BackupError(f"{path} is not a backup key. Create one: `slowwave backup --new-key FILE`.")
    return derived(secret)
