"""File storage: a folder of this machine or a prefix of a bucket, with one interface."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from slowwave.common.object_stores import advice_of
from slowwave.errors import BackupError

_CLIENT = re.compile(r"allow_|connect_timeout$|timeout$|http[12]_|pool_|proxy_|user_agent$|default_")
"""LanceDB options that obstore expects as options of its HTTP client."""

_RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """File of a storage.

    Attributes:
        size: In bytes.
        mark: Changes when the file does.
    """

    size: int
    mark: str


def explained(error: BaseException, uri: str) -> BackupError:
    """Convert an error of a library or the system at a place, with advice."""
    words = " ".join(str(error).split("Debug source:")[0].split())
    if advice := advice_of(words):
        return BackupError(f"{uri}: {advice}. ({words[:300]})")
    return BackupError(f"{uri}: {words[:300]}")


class FileStorage:
    """Files by name at a place; writes are atomic.

    Args:
        uri: A folder, or a URL such as ``s3://bucket/prefix``.
        options: Of the object store, by LanceDB's names.
        make: Create the folder if missing.

    Raises:
        BackupError: The options cannot be used, or the folder cannot be created or is a file.
    """

    def __init__(self, uri: str, options: Mapping[str, str] | None = None, *, make: bool = False) -> None:
        from obstore.store import LocalStore, from_url

        self.folder = None if "://" in uri else Path(uri).expanduser().absolute()
        self.uri = uri if self.folder is None else str(self.folder)
        with self._translated():
            if self.folder is not None:
                if make:
                    self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._store: Any = LocalStore(self.folder) if self.folder.is_dir() else None
                if self.folder.exists() and self._store is None:
                    raise BackupError(f"{self.uri} is not a folder. Choose another place.")
            else:
                remaining = dict(options or {})
                client: Any = {
                    name: remaining.pop(name) for name in list(remaining) if _CLIENT.match(name.lower())
                }
                config: Any = remaining
                self._store = from_url(
                    uri, config=config or None, client_options=client or None, retry_config=_RETRIES
                )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError:
            raise
        except (BaseError, OSError, ValueError) as error:
            raise explained(error, self.uri) from error

    def list(self, under: str = "") -> dict[str, StoredFile]:
        """List the files of a folder of the place, recursively, by name; empty if it does not exist.

        Args:
            under: Name of the folder; empty: all.
        """
        import obstore

        if self._store is None:
            return {}
        files: dict[str, StoredFile] = {}
        with self._translated():
            for page in obstore.list(self._store, prefix=under or None, chunk_size=1_000):
                for item in page:
                    mark = f"{item['e_tag'] or item['last_modified']}"
                    files[item["path"]] = StoredFile(int(item["size"]), mark)
        return files

    def get(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: There is none.
        """
        import obstore

        if self._store is None:
            raise FileNotFoundError(name)
        with self._translated():
            return bytes(obstore.get(self._store, name).bytes())

    def parts(self, name: str, size: int) -> Iterator[bytes]:
        """Yield the content of a file in parts of `size` bytes.

        Raises:
            FileNotFoundError: There is none.
        """
        import obstore

        if self._store is None:
            raise FileNotFoundError(name)
        with self._translated():
            whole = int(obstore.head(self._store, name)["size"])
        if not whole:
            yield b""
        for start in range(0, whole, size):
            with self._translated():
                yield bytes(obstore.get_range(self._store, name, start=start, end=min(start + size, whole)))

    def put(self, name: str, content: bytes | Iterator[bytes]) -> None:
        """Write a file, replacing one of that name; it is on the disk when this returns.

        Args:
            name: Of the file.
            content: Whole, or in parts that may be read from another storage.
        """
        import obstore

        with self._translated(), ThreadPoolExecutor(1) as reader:
            obstore.put(self._store, name, content if isinstance(content, bytes) else _read(content, reader))
            if self.folder is not None:
                with (self.folder / name).open("rb") as file:
                    os.fsync(file.fileno())  # survive a power cut

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; missing ones are no error."""
        import obstore

        for name in names:
            with self._translated(), suppress(FileNotFoundError):
                obstore.delete(self._store, name)


def _read(parts: Iterator[bytes], reader: ThreadPoolExecutor) -> Iterator[bytes]:
    """Yield parts that another thread reads, one ahead.

    The consumer runs inside the storage client, which is not re-entrant.
    """
    coming = reader.submit(next, parts, None)
    while (part := coming.result()) is not None:
        coming = reader.submit(next, parts, None)
        yield part
