"""Errors of compressed and packed files, told in the words of whoever reads them."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from slowwave.errors import SlowwaveError


@contextmanager
def damage_explained(name: str, kind: type[SlowwaveError], damaged: str, packed: str) -> Iterator[None]:
    """Raise an error of this kind where a compressed or packed file cannot be read.

    Args:
        name: Of the file.
        kind: Of the error.
        damaged: What follows on what is wrong with a damaged file.
        packed: The same for a file that cannot be unpacked here.
    """
    try:
        yield
    except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise kind(f"{name} is damaged ({error}){damaged}") from error
    except (RuntimeError, NotImplementedError) as error:  # a password, or a method of packing
        raise kind(f"{name} cannot be unpacked ({error}){packed}") from error
