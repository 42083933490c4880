"""A piece as it is stored: packed, encrypted where there is a key, with a sum that tells of a changed bit.

    magic (4) · flags (1) · length of the content (8) · salt (32, where encrypted) · body · SHA-256 of it all

With a key the body is AES-256-GCM in chunks of 1 MiB, as age and Tink do it: each piece has a key of its own
(HMAC of a random salt), each chunk its number and whether it is the last one as nonce, and all are bound to
the name of the piece. So no chunk can be changed, left out, moved or put into another piece. Names are hashes
of the content; with a key they are keyed, so nobody else can tell whether a text that they have is in there.
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
    """A piece is not what it was when it was written."""


def name_of(content: bytes, key: Key | None) -> str:
    """Name of a piece by its content, in hexadecimal digits."""
    if key is None:
        return hashlib.sha256(content).hexdigest()
    return hmac.new(key.names, content, hashlib.sha256).hexdigest()


def seal(name: str, content: bytes, key: Key | None) -> bytes:
    """A piece as it is stored."""
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
    """The content of a piece.

    Raises:
        DamagedError: it is not what was stored under this name.
        BackupError: it is encrypted and there is no key.
    """
    whole, told = stored[:-_SUM], stored[-_SUM:]
    if hashlib.sha256(whole).digest() != told or whole[:4] != _MAGIC or len(whole) < _HEAD:
        raise DamagedError("is damaged: its sum is another one")
    flags, length = whole[4], int.from_bytes(whole[5:_HEAD], "big")
    if bool(flags & _ENCRYPTED) != (key is not None):
        raise DamagedError("is encrypted, or not, unlike the others")
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
        raise DamagedError("is damaged: it cannot be unpacked") from error
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
    """Each chunk of a body after its nonce: the number of the chunk, and whether it is the last one."""
    starts = range(0, max(len(body), 1), size)
    for number, start in enumerate(starts):
        is_last = number == len(starts) - 1
        yield number.to_bytes(11, "big") + bytes([is_last]), body[start : start + size]


def _aes(key: Key, salt: bytes):  # type: ignore[no-untyped-def]  # noqa: ANN202 - of a package that may not be there
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise BackupError(
            "Encrypted backups need the package cryptography. Run: pip install '.[backup]' in its folder."
        ) from None
    return AESGCM(hmac.new(key.content, salt, hashlib.sha256).digest())
