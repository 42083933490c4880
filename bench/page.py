"""Server time and size of every page of the web UI.

    python bench/page.py --chunks 5000,50000 [--times 20]

The home is filled with chunks of made-up words (`_chunks.py`); then some notes are saved, merged, refused
and searched for, so that every page has something on it. A page is asked for in this process, as a browser
would ask for it but for the network; ``search`` is the bare ``Memory.search`` without an account, beside the
page that explains ten results. p50 and p95 in ms of some requests after the first, ``first`` is that one, and
kB as they are sent.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _chunks import CHUNKS_PER_MEMORY, NAMESPACE, asked, fill
from _report import bench, numbers, options, positive, report
from starlette.testclient import TestClient

import slowwave
from slowwave.common import ids
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load
from slowwave.store.maintenance import maintain
from slowwave.web.app import application
from slowwave.web.sessions import OneTimeLinks

SEARCHES = 200  # that there were before, each with ten results
NOTES = 60  # that were saved, and as many that say nearly the same
MODEL = "wordllama-256"


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure at each size."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=numbers, default="5000,50000", help="sizes of the store, in chunks")
    parser.add_argument("--times", type=positive, default=20, help="requests of each page")
    arguments = parser.parse_args(argv)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    rows: list[dict[str, Any]] = []
    for size in arguments.chunks:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            (home / "slowwave.toml").write_text(
                f'namespace = "{NAMESPACE}"\n[embedding]\nmodel = "{MODEL}"\n[gate]\nmode = "enforce"\n'
                f'[reconsolidation]\npolicy = "guarded"\n'
            )
            with slowwave.open(home, namespace=NAMESPACE) as memory:
                fill(memory, size)
                put_memories(memory, size)
                named = live_a_little(memory)
                rows += _measure(memory, home, size, arguments.times, named)
    report("page", rows, note="times in ms on the server, kB as they are sent")


def put_memories(memory: slowwave.Memory, size: int) -> None:
    """The memories that the chunks are of."""
    names = [ids.memory_id(NAMESPACE, str(number)) for number in range(-(-size // CHUNKS_PER_MEMORY))]
    text = " ".join(["word1 word7 word12"] * 200)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    rows = pl.DataFrame({"memory_id": names, "source": [f"vault/{at}.md" for at in range(len(names))]})
    rows = rows.with_columns(
        namespace=pl.lit(NAMESPACE), revision=pl.lit("0"), status=pl.lit("live"), title=pl.lit("A note"),
        origin=pl.lit("vault"), content=pl.lit(text), content_hash=pl.lit("0"), memory_type=pl.lit("note"),
        importance_tier=pl.lit("normal"), retrieval_priority=pl.lit("normal"), metadata=pl.lit("{}"),
        sensitivity=pl.lit("internal"), state=pl.lit("accepted"), source_kind=pl.lit("manual"),
        principal=pl.lit("vault"), chunk_count=pl.lit(CHUNKS_PER_MEMORY, pl.Int32),
        frequency=pl.lit(1, pl.Int32), created_at=pl.lit(now), updated_at=pl.lit(now),
    )  # fmt: skip
    memory.store.upsert("memories", rows)
    maintain(memory.store, keep_versions=timedelta(days=7))


def live_a_little(memory: slowwave.Memory) -> str:
    """Notes, merges, refusals, what waits, and searches; a memory that has some of that."""
    critical = ""
    for at in range(NOTES):
        text = f"The gauge on mast {at} is read at {at % 24} o'clock and its battery lasts {at + 5} weeks."
        saved = memory.save(text, title=f"Gauge {at}", importance_tier="critical" if at % 4 == 0 else "")
        critical = critical or saved.memory_id
        memory.save(f"{text}\nIshbel changes it.", title=f"Gauge {at}")
        memory.save("ok", title=f"Nothing {at}")
    for query in asked(SEARCHES):
        memory.search(query)
    return critical


def _measure(memory: slowwave.Memory, home: Path, size: int, times: int, named: str) -> list[dict[str, Any]]:
    settings, entrances = load(home), OneTimeLinks()
    memories = MemoryPool(settings, lambda: Caller(NAMESPACE, "page"))
    client = TestClient(application(memories, settings, entrances), base_url="http://127.0.0.1")
    client.get(f"/enter?key={entrances.make()}")
    queries = iter(asked(4 * times + SEARCHES)[SEARCHES:])
    rows = [_row(size, "search", times, lambda: _searched(memory, next(queries)))]
    pages = {
        "/": "/", "/?q=": "", "/memories": "/memories", "/memory/ID": f"/memory/{named}",
        "/memory/ID/erase": f"/memory/{named}/erase", "/quarantine": "/quarantine",
        "/memories?filters": "/memories?type=note&by=vault&from=2026-01-01&date=created&sort=title",
        "/memories?skip": f"/memories?skip={size // CHUNKS_PER_MEMORY // 2}",
        "/timeline": "/timeline", "/timeline?month": "/timeline?month=2026-01",
        "/timeline?kind": "/timeline?kind=changed",
        "/settings": "/settings",
        "/decisions": "/decisions", "/learning": "/learning", "/trend": "/trend", "/judge": "/judge",
    }  # fmt: skip
    for name, path in pages.items():

        def ask(path: str = path) -> int:
            answer = client.get(path or f"/?q={next(queries)}")
            if answer.status_code != 200:
                raise SystemExit(f"{path}: {answer.status_code}\n{answer.text}")
            return len(answer.content)

        rows.append(_row(size, name, times, ask))
    memories.close()
    return rows


def _searched(memory: slowwave.Memory, query: str) -> int:
    return len(str(memory.search(query)))


def _row(size: int, name: str, times: int, ask: Callable[[], int]) -> dict[str, Any]:
    took, length = [], 0
    for _ in range(times + 1):
        start = time.perf_counter()
        length = ask()
        took.append((time.perf_counter() - start) * 1e3)
    p50, p95 = np.percentile(took[1:], [50, 95])
    return {"chunks": size, "page": name, "p50": p50, "p95": p95, "first": took[0], "kB": length / 1e3}


if __name__ == "__main__":
    main()
