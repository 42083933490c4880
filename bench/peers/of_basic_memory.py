"""Peer: basic-memory, by its MCP tools' functions: Markdown files and a word index, no vectors."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from serving import Peer, Row, serve

T = TypeVar("T")


class BasicMemory(Peer):
    """One project. Its own model would have to be fetched from a hub, and it takes no vectors from others."""

    package = "basic-memory"
    alone = "its files have one watcher"

    def open(self, folder: Path, dimension: int) -> None:
        """Start its server in this process."""
        os.environ |= {
            "BASIC_MEMORY_CONFIG_DIR": str(folder / "config"), "BASIC_MEMORY_HOME": str(folder / "notes"),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        }  # fmt: skip
        from basic_memory.mcp.server import lifespan, mcp
        from basic_memory.mcp.tools import search_notes, write_note
        from loguru import logger

        self._write, self._search, self._logger = write_note, search_notes, logger
        self._loop = asyncio.new_event_loop()
        self._server = lifespan(mcp)
        self._run(self._server.__aenter__())
        self._logger.remove()  # it writes each step to standard error

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    def add(self, rows: Iterator[Row]) -> None:
        """One after the other: its tools have no other way."""
        for row in rows:
            self.save(row)

    def save(self, row: Row) -> None:
        """Write one; it is found when the call returns."""
        self._run(self._write(title=row[0], content=row[1], directory="bench", output_format="json"))

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Ask for notes with any of the words."""
        query = " OR ".join(text.split())
        asked = {"query": query, "search_type": "text", "page_size": limit, "output_format": "json"}
        return [row["title"] for row in self._run(self._search(**asked))["results"]]

    def close(self) -> None:
        """Stop its server."""
        self._run(self._server.__aexit__(None, None, None))
        self._loop.close()


if __name__ == "__main__":
    serve(BasicMemory())
