"""Stored form of a piece: compressed, encrypted if there is a key, and checksummed.

    magic (4) · flags (1) · length of the content (8) · salt (32, where encrypted) · body · SHA-256 of it all

With a key the body is AES-256-GCM in chunks of 1 MiB, like age and Tink. Each piece has its own key (HMAC of
a random salt). A chunk's nonce is its number and whether it is the last one, and all are bound to the piece's
name. So no chunk can be changed, omitted, moved or put into another piece. Names are hashes of the content;
with a key they are keyed hashes, so nobody else can test whether a known text is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator

from slowwave.backup.keys import Key
from slowwave.errors import BackupError

_MAGIC = b"SWB1"
_PACKED, _ENCRYPTED = 1, 2
_HEAD = 13
_SALT = 32
_CHUNK = 2**20
_TAG = 16
_SUM = 32
_LEVEL = 3


class DamagedError(BackupError):
    """Error for a piece that differs from what was written."""


def name_of(content: bytes, key: Key | None) -> str:
    """Return the name of a piece, a hash of its content in hexadecimal."""
    if key is None:
        return hashlib.sha256(content).hexdigest()
    return hmac.new(key.names, content, hashlib.sha256).hexdigest()


def seal(name: str, content: bytes, key: Key | None) -> bytes:
    """Return the stored form of a piece."""
    import pyarrow as pa

    packed = pa.Codec("zstd", _LEVEL).compress(content, asbytes=True) if content else b""
    flags = _PACKED if len(packed) < len(content) else 0
    body = packed if flags else content
    if key is None:
        stored = _head(flags, len(content)) + body
    else:
        salt = secrets.token_bytes(_SALT)
        head = _head(flags | _ENCRYPTED, len(content)) + salt
        stored = head + _encrypted(body, key, salt, head + name.encode())
    return stored + hashlib.sha256(stored).digest()


def unseal(name: str, stored: bytes, key: Key | None) -> bytes:
    """Return the content of a piece.

    Raises:
        DamagedError: It is not what was stored under this name.
        BackupError: It is encrypted and there is no key.
    """
    whole, checksum = stored[:-_SUM], stored[-_SUM:]
    if hashlib.sha256(whole).digest() != checksum or whole[:4] != _MAGIC or len(whole) < _HEAD:
        raise DamagedError("is damaged: its checksum differs")
    flags, length = whole[4], int.from_bytes(whole[5:_HEAD], "big")
    if bool(flags & _ENCRYPTED) != (key is not None):
        raise DamagedError("differs from the others in being encrypted or not")
    body = whole[_HEAD:]
    if key is not None:
        head = whole[: _HEAD + _SALT]
        body = _decrypted(body[_SALT:], key, head[_HEAD:], head + name.encode())
    return _unpacked(body, length) if flags & _PACKED else body


def _unpacked(body: bytes, length: int) -> bytes:
    import pyarrow as pa

    try:
        content = pa.Codec("zstd").decompress(body, decompressed_size=length, asbytes=True)
    except (OSError, pa.ArrowException) as error:
        raise DamagedError("is damaged: it cannot be decompressed") from error
    return bytes(content)


def _head(flags: int, length: int) -> bytes:
    return _MAGIC + bytes([flags]) + length.to_bytes(8, "big")


def _encrypted(body: bytes, key: Key, salt: bytes, about: bytes) -> bytes:
    cipher = _aes(key, salt)
    return b"".join(cipher.encrypt(nonce, part, about) for nonce, part in _chunks(body, _CHUNK))


def _decrypted(stored: bytes, key: Key, salt: bytes, about: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    cipher = _aes(key, salt)
    try:
        return b"".join(cipher.decrypt(nonce, part, about) for nonce, part in _chunks(stored, _CHUNK + _TAG))
    except InvalidTag:
        raise DamagedError("is not what was written with this key") from None


def _chunks(body: bytes, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield each chunk of a body with its nonce: the chunk's number, and whether it is the last one."""
    starts = range(0, max(len(body), 1), size)
    for number, start in enumerate(starts):
        is_last = number == len(starts) - 1
        yield number.to_bytes(11, "big") + bytes([is_last]), body[start : start + size]


def _aes(key: Key, salt: bytes):  # type: ignore[no-untyped-def]  # noqa: ANN202 - of an optional package
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise BackupError(
            "Encrypted backups need the package cryptography. Run: pip install '.[backup]' in its folder."
        ) from None
    return AESGCM(hmac.new(key.content, salt, hashlib.sha256).digest())
