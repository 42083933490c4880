"""Server loop of every peer's process: a call is a line of JSON, and so is its answer.

It runs in the peer's own environment, so nothing is imported here but NumPy and what comes with Python.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

Row = tuple[str, str, np.ndarray]  # id, text, vector (dimension,) of length 1


def read(corpus: str, name: str, first: int = 0, count: int | None = None) -> Iterator[Row]:
    """Rows of a file of texts and a file of their vectors, from one number on."""
    vectors = np.load(Path(corpus) / f"{name}.npy", mmap_mode="r")
    end = None if count is None else first + count
    with (Path(corpus) / f"{name}.jsonl").open(encoding="utf-8") as file:
        for number, line in islice(enumerate(file), first, end):
            row = json.loads(line)
            yield row["id"], row["text"], np.array(vectors[number], dtype=np.float32)


def parts(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    """The rows, some at a time."""
    while part := list(islice(rows, size)):
        yield part


class Peer(ABC):
    """A memory that keeps texts with vectors that it is given, in a folder.

    Attributes:
        package: that it is of.
        alone: why a second process cannot have the same folder open; empty: it can.
        given: vector of each text, for those that ask an embedder.
        rested: seconds that `index` waited without work; they are in no figure.
    """

    package: ClassVar[str]
    alone: ClassVar[str] = ""

    def __init__(self) -> None:
        self.given: dict[str, np.ndarray] = {}
        self.rested = 0.0
        self.asked: list[float] = []  # ms of each query in a real embedding model, where one is asked

    @abstractmethod
    def open(self, folder: Path, dimension: int) -> None:
        """Open the folder, or make it."""

    @abstractmethod
    def add(self, rows: Iterator[Row]) -> None:
        """Keep many rows at once; when this returns they are on disk."""

    def rest(self, seconds: float) -> None:
        """Wait without work."""
        time.sleep(seconds)
        self.rested += seconds

    def index(self) -> None:
        """What is made of many rows after they were added."""
        return

    @abstractmethod
    def save(self, row: Row) -> None:
        """Keep one row more; when this returns it is on disk and found."""

    @abstractmethod
    def search(self, text: str, vector: np.ndarray, limit: int) -> Sequence[str]:
        """Ids of the best rows, read with their texts."""

    def live(self, *, on: bool) -> None:
        """Whether queries are embedded by the real model as well, and that is part of their time."""
        return

    def close(self) -> None:
        """Let go of the folder."""
        return


class _Calls:
    def __init__(self, peer: Peer) -> None:
        self._peer, self._queries, self._opened = peer, dict[str, list[Row]](), False

    def open(self, folder: str, dimension: int) -> dict[str, Any]:
        if self._opened:
            self._peer.close()
            self._peer.given.clear()
        self._peer.open(Path(folder), dimension)
        self._opened = True
        return {"version": importlib.metadata.version(self._peer.package), "alone": self._peer.alone}

    def fill(self, corpus: str, patience: float) -> dict[str, Any]:
        """All documents at once, and the indexes after them.

        It ends after `patience` seconds, and after a tenth of them where twice all would not be enough.
        """
        count, start = 0, time.perf_counter()
        least = len(np.load(Path(corpus) / "docs.npy", mmap_mode="r")) / patience / 2  # a second

        def rows() -> Iterator[Row]:
            nonlocal count
            for row in read(corpus, "docs"):
                took = time.perf_counter() - start
                if took > patience or (took > patience / 10 and count < least * took):
                    return
                self._peer.given[row[1]] = row[2]
                count += 1
                yield row

        self._peer.add(rows())
        added = time.perf_counter()
        self._peer.index()
        indexed = time.perf_counter()
        self._peer.given.clear()
        return {"count": count, "seconds": added - start, "index": indexed - added - self._peer.rested}

    def search(
        self, corpus: str, first: int, count: int, limit: int = 10, live: bool = False, seconds: float = 0
    ) -> dict[str, Any]:
        """Some queries one after the other; with `seconds` again and again for so long.

        A search that fails has NaN for its time and is told of in `faults`.
        """
        if corpus not in self._queries:
            self._queries = {corpus: list(read(corpus, "queries"))}
        queries = self._queries[corpus]
        self._peer.live(on=live)
        self._peer.asked.clear()
        times, found, faults = [], [], []
        until = time.perf_counter() + seconds
        while not times or time.perf_counter() < until:
            for number in range(first, first + count):
                _, text, vector = queries[number % len(queries)]
                self._peer.given = {text: vector}
                start = time.perf_counter()
                try:
                    found.append(list(self._peer.search(text, vector, limit)))
                    times.append((time.perf_counter() - start) * 1e3)
                except Exception as error:  # counted, and no time of a search
                    faults.append(_told(error))
                    found.append([])
                    times.append(float("nan"))
        return {"times": times, "found": found, "faults": faults, "asked": self._peer.asked}

    def save(
        self, corpus: str, rows: str, first: int, count: int, patience: float, every: float = 0
    ) -> dict[str, Any]:
        """Some rows one after the other, one `every` so many seconds, for at most `patience` seconds."""
        times, begun = [], time.perf_counter()
        for number, row in enumerate(read(corpus, rows, first, count)):
            time.sleep(max(0.0, begun + number * every - time.perf_counter()))
            if time.perf_counter() - begun > patience:
                break
            self._peer.given = {row[1]: row[2]}
            start = time.perf_counter()
            self._peer.save(row)
            times.append((time.perf_counter() - start) * 1e3)
        return {"times": times}

    def memory(self) -> dict[str, float]:
        """Resident and proportional memory of this process, in MB."""
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]
        kilobytes = {name: int(size.split()[0]) for name, size in (line.split(":") for line in lines)}
        return {"rss": kilobytes["Rss"] / 1024, "pss": kilobytes["Pss"] / 1024}

    def tidy(self) -> dict[str, Any]:
        """The indexes again, and whatever else the peer has for keeping its folder in order."""
        self._peer.index()
        return {}

    def close(self) -> dict[str, Any]:
        if self._opened:
            self._peer.close()
        return {}


def serve(peer: Peer) -> None:
    """Answer calls until there are none; what libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    calls = _Calls(peer)
    for line in sys.stdin:
        call = json.loads(line)
        try:
            answer = getattr(calls, call.pop("do"))(**call)
        except Exception as error:  # whatever a peer raises, the one who asked is told
            answer = {"error": _told(error)}
        print(json.dumps(answer), file=out, flush=True)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]
