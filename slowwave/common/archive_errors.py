"""Translation of errors of compressed and packed files."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from slowwave.errors import SlowwaveError


@contextmanager
def damage_explained(name: str, kind: type[SlowwaveError], damaged: str, packed: str) -> Iterator[None]:
    """Raise an error of this kind if a compressed or packed file cannot be read.

    Args:
        name: Of the file.
        kind: Of the error.
        damaged: Advice for a damaged file, appended to the message.
        packed: Advice for an unsupported archive, appended to the message.
    """
    try:
        yield
    except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise kind(f"{name} is damaged ({error}){damaged}") from error
    except (RuntimeError, NotImplementedError) as error:  # a password, or a method of packing
        raise kind(f"{name} cannot be unpacked ({error}){packed}") from error
