"""Where files are: a folder of this machine, or a prefix of a bucket, asked in the same words."""

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
"""Options of LanceDB that obstore takes as those of its HTTP client."""

_RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a place.

    Attributes:
        size: in bytes.
        mark: what changes when the file does.
    """

    size: int
    mark: str


def explained(error: BaseException, uri: str) -> BackupError:
    """What to say in place of a library's or the system's own error at a place."""
    words = " ".join(str(error).split("Debug source:")[0].split())
    if advice := advice_of(words):
        return BackupError(f"{uri}: {advice}. ({words[:300]})")
    return BackupError(f"{uri}: {words[:300]}")


class FileStorage:
    """Files by name at a place. A file is there whole or not at all.

    Args:
        uri: a folder, or a URL such as ``s3://bucket/prefix``.
        options: of the object store, by the names that LanceDB has for them.
        make: make the folder if it is not there.

    Raises:
        BackupError: the options cannot be used, or the folder cannot be made or is none.
    """

    def __init__(self, uri: str, options: Mapping[str, str] | None = None, *, make: bool = False) -> None:
        from obstore.store import LocalStore, from_url

        self.folder = None if "://" in uri else Path(uri).expanduser().absolute()
        self.uri = uri if self.folder is None else str(self.folder)
        with self._told():
            if self.folder is not None:
                if make:
                    self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._store: Any = LocalStore(self.folder) if self.folder.is_dir() else None
                if self.folder.exists() and self._store is None:
                    raise BackupError(f"{self.uri} is no folder; give another place")
            else:
                given = dict(options or {})
                client: Any = {name: given.pop(name) for name in list(given) if _CLIENT.match(name.lower())}
                config: Any = given
                self._store = from_url(
                    uri, config=config or None, client_options=client or None, retry_config=_RETRIES
                )

    @contextmanager
    def _told(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError:
            raise
        except (BaseError, OSError, ValueError) as error:
            raise explained(error, self.uri) from error

    def list(self, under: str = "") -> dict[str, StoredFile]:
        """The files in a folder of the place and below it, by name; none where there is no such folder.

        Args:
            under: name of the folder; empty: all.
        """
        import obstore

        if self._store is None:
            return {}
        found: dict[str, StoredFile] = {}
        with self._told():
            for page in obstore.list(self._store, prefix=under or None, chunk_size=1_000):
                for one in page:
                    mark = f"{one['e_tag'] or one['last_modified']}"
                    found[one["path"]] = StoredFile(int(one["size"]), mark)
        return found

    def get(self, name: str) -> bytes:
        """What a file holds.

        Raises:
            FileNotFoundError: there is none.
        """
        import obstore

        if self._store is None:
            raise FileNotFoundError(name)
        with self._told():
            return bytes(obstore.get(self._store, name).bytes())

    def parts(self, name: str, size: int) -> Iterator[bytes]:
        """What a file holds, so many bytes at a time.

        Raises:
            FileNotFoundError: there is none.
        """
        import obstore

        if self._store is None:
            raise FileNotFoundError(name)
        with self._told():
            whole = int(obstore.head(self._store, name)["size"])
        if not whole:
            yield b""
        for start in range(0, whole, size):
            with self._told():
                yield bytes(obstore.get_range(self._store, name, start=start, end=min(start + size, whole)))

    def put(self, name: str, content: bytes | Iterator[bytes]) -> None:
        """Write a file; it takes the place of one of that name, and is on the disk when this returns.

        Args:
            name: of the file.
            content: all of it, or its parts one after the other; they may be read from another place.
        """
        import obstore

        with self._told(), ThreadPoolExecutor(1) as reader:
            obstore.put(self._store, name, content if isinstance(content, bytes) else _read(content, reader))
            if self.folder is not None:
                with (self.folder / name).open("rb") as file:
                    os.fsync(file.fileno())  # or a power cut could take it

    def delete(self, names: Iterable[str]) -> None:
        """Take files away; those that are not there are no error."""
        import obstore

        for name in names:
            with self._told(), suppress(FileNotFoundError):
                obstore.delete(self._store, name)


def _read(parts: Iterator[bytes], reader: ThreadPoolExecutor) -> Iterator[bytes]:
    """Parts that another thread reads, one ahead.

    Who asks for them is inside the client of the place, and may not enter a client once more.
    """
    coming = reader.submit(next, parts, None)
    while (part := coming.result()) is not None:
        coming = reader.submit(next, parts, None)
        yield part
