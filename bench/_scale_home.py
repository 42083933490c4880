"""Homes of any size, written by the store's own functions from varied copies of texts.

Every chunk is a piece of one of the texts in which some words are others, with two words that no other chunk
has. Its vector is that of the piece, turned towards that of another piece and by some noise: vectors lie in
clusters as those of a model do, near-duplicates among them, and a real query's vector lies among them. A
memory has four chunks; its act is in the journal, and the day of all of them is finished, so that a home can
be opened, searched, saved to and given a night as one that people filled.

A home that was begun and killed goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _report import UnusableError

import slowwave
from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.embedding import load_embedder
from slowwave.feedback.questions import remember
from slowwave.home.processing_watermarks import NOTES
from slowwave.index.incremental_snapshot import leave_files, searched_in_table
from slowwave.journal.entry_builders import save_entry
from slowwave.lifecycle.ingest_pipeline import labelled
from slowwave.notes.decoding import content_hash
from slowwave.notes.model import Note
from slowwave.settings import EmbeddingSettings, Settings
from slowwave.store import Store
from slowwave.store.append_only import append
from slowwave.store.indexes import refresh_vector_index
from slowwave.store.maintenance import maintain
from slowwave.store.text import create_full_text_indexes

MODEL = "wordllama-256"
CHUNKS_PER_MEMORY = 4
MEMORIES_AT_ONCE = 5_000
PIECE_WORDS = 80
CHANGED = 10  # one word of so many is another one (count)
TURNED, NOISE = 0.5, 0.6  # length of what is added to a piece's vector of length 1
SAVED = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINE = "bench"
MOST_PIECES = 40_000
SEEDS, MOST_QUERIES, OTHERS = 8, 500, 1_000_000  # of questions that are measured with, and seed of others
EXAMPLES = Path(__file__).parents[1] / "examples" / "vault"


def tenant(number: int, tenants: int) -> str:
    """Namespace of a memory by its number: they take turns."""
    return MINE if tenants == 1 else f"tenant-{number % tenants:05}"


def pieces_of(folder: Path | None) -> list[str]:
    """ChunkedColumns of the texts below a folder: notes, and the documents of collections in English.

    Raises:
        UnusableError: there are fewer than ten.
    """
    found: dict[str, None] = {}
    for text in _texts(folder or EXAMPLES):
        words = re.sub(r"[^\S ]+|[#*`|]+", " ", text).split()
        for at in range(0, len(words), PIECE_WORDS):
            if len(words[at : at + PIECE_WORDS]) > PIECE_WORDS // 4:
                found[" ".join(words[at : at + PIECE_WORDS])] = None
        if len(found) >= MOST_PIECES:
            break
    if len(found) < 10:
        raise UnusableError(f"{folder or EXAMPLES} has no texts of some length")
    return list(found)


def _texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("corpus.jsonl")):
        if not path.parent.name.endswith(("_zh", "_th")):
            for line in path.read_text(encoding="utf-8").split("\n"):
                if line.strip():
                    yield json.loads(line)["text"]
    for vault in [folder, *sorted(one for one in folder.rglob("*") if one.is_dir())]:
        for one in sorted(vault.glob("*.md")):
            yield one.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Source:
    """What chunks are made of.

    Attributes:
        pieces: texts.
        vectors: of them, (n, dimension), of length 1.
        words: those of all pieces.
    """

    pieces: Sequence[str]
    vectors: np.ndarray
    words: np.ndarray

    @classmethod
    def of(cls, folder: Path | None, model: str = MODEL) -> Source:
        """The texts of a folder."""
        pieces = pieces_of(folder)
        embedder = load_embedder(EmbeddingSettings(model=model))
        vectors = np.asarray(embedder.embed_documents(pieces), dtype=np.float32)
        return cls(pieces, vectors, np.array(sorted({word for one in pieces for word in one.split()})))

    def queries(self, count: int, seed: int = 1) -> list[str]:
        """Six to nine words that follow one another in a piece, always the same for a seed."""
        random = np.random.default_rng(seed)
        asked = []
        while len(asked) < count:
            words = self.pieces[int(random.integers(len(self.pieces)))].split()
            at, size = int(random.integers(max(1, len(words) - 9))), int(random.integers(6, 10))
            asked.append(" ".join(words[at : at + size]))
        return asked

    def others(self, count: int) -> list[str]:
        """So many questions at most, none of which is among those that are measured with."""
        measured = {one for seed in range(SEEDS) for one in self.queries(MOST_QUERIES, seed)}
        return [one for one in dict.fromkeys(self.queries(2 * count, OTHERS)) if one not in measured][:count]

    def note(self, number: int) -> str:
        """The text of one more memory."""
        return "\n\n".join(self._texts(np.random.default_rng([7, number]), number * CHUNKS_PER_MEMORY))

    def _texts(self, random: np.random.Generator, first: int, count: int = CHUNKS_PER_MEMORY) -> list[str]:
        texts = []
        for at, which in enumerate(random.integers(len(self.pieces), size=count).tolist()):
            words = self.pieces[which].split()
            for place in random.integers(len(words), size=len(words) // CHANGED + 1).tolist():
                words[place] = self.words[int(random.integers(len(self.words)))]
            texts.append(f"{' '.join(words)} n{first + at}x{which} q{first + at}")
        return texts

    def batch(self, start: int, memories: int) -> tuple[list[list[str]], np.ndarray]:
        """Texts of each memory from a number on, and the vectors of all their chunks."""
        random = np.random.default_rng([1, start])
        size = memories * CHUNKS_PER_MEMORY
        which, vectors = self._vectors(random, size)
        said: list[list[str]] = []
        changes = random.integers(1 << 62, size=(size, 2 + PIECE_WORDS // CHANGED))
        for number in range(memories):
            texts = []
            for at in range(number * CHUNKS_PER_MEMORY, (number + 1) * CHUNKS_PER_MEMORY):
                words = self.pieces[int(which[at])].split()
                for change in changes[at, : len(words) // CHANGED + 1].tolist():
                    words[change % len(words)] = self.words[change // 97 % len(self.words)]
                name = start * CHUNKS_PER_MEMORY + at
                texts.append(f"{' '.join(words)} n{name}x{int(which[at])} q{name}")
            said.append(texts)
        return said, vectors

    def vectors_of(self, chunks: int) -> np.ndarray:
        """The vectors of the first chunks of a home, (chunks, dimension), without the texts."""
        size = MEMORIES_AT_ONCE * CHUNKS_PER_MEMORY
        parts = [
            self._vectors(np.random.default_rng([1, at // CHUNKS_PER_MEMORY]), min(size, chunks - at))[1]
            for at in range(0, chunks, size)
        ]
        return np.concatenate(parts)

    def _vectors(self, random: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Of which piece each of so many chunks is, and their vectors."""
        which = random.integers(len(self.pieces), size=size)
        other = random.integers(len(self.pieces), size=size)
        noise = random.standard_normal((size, self.vectors.shape[1]), dtype=np.float32)
        noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
        turned = np.float32(TURNED) * random.random((size, 1), dtype=np.float32)
        vectors = self.vectors[which] + turned * self.vectors[other] + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return which, vectors.astype(np.float32)


def settings_of(home: Path, **store: Any) -> Settings:  # noqa: ANN401 - settings of the store
    """Settings of a home of these."""
    from slowwave.settings import load

    home.mkdir(parents=True, exist_ok=True)
    (home / "slowwave.toml").write_text(
        f'[embedding]\nmodel = "{MODEL}"\n[judge]\nkind = "off"\n[night]\nfirst_day = "{SAVED:%F}"\n'
        "[store]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in store.items())
    )
    return load(home)


def build(home: Path, chunks: int, tenants: int, source: Source, asked: int = 0) -> None:
    """Write a home of so many chunks, or the rest of it; nothing is indexed yet.

    Args:
        home: its folder.
        chunks: of it (count).
        tenants: namespaces that share them (count).
        source: of texts.
        asked: questions that were asked of the first namespace and that something was said of; they are
            see :meth:`Source.others` (count).
    """
    memories = -(-chunks // CHUNKS_PER_MEMORY)
    with slowwave.Memory(settings_of(home), namespace=MINE) as memory:
        store, recorder = memory.store, memory.store.recorder
        store.recorder = None  # what is written here is a home that was; its changes are no news
        have = {name: store.count(name) for name in ("memories", "chunks")}
        have["journal"] = int(memory.journal.days(["save"])["entries"].sum())
        with task(f"writing {home.name}", memories) as advance:
            for start in range(0, memories, MEMORIES_AT_ONCE):
                size = min(MEMORIES_AT_ONCE, memories - start)
                done = start + size
                if have["journal"] < done:  # it is written last
                    _write(memory, source, start, size, tenants, have)
                advance(size)
        if queries := source.others(asked):
            frame = pl.DataFrame(
                {"query_id": [ids.digest("question", one) for one in queries], "query": queries}
            )
            remember(store, memory.embedder, frame.with_columns(namespace=pl.lit(tenant(0, tenants))))
        last = int(memory.journal.days(["save"])["last_seq"].max() or 0)  # type: ignore[call-overload]
        NOTES.finish(store, {f"{SAVED:%F}": {"seq": last}})
        store.recorder = recorder


def _write(
    memory: slowwave.Memory, source: Source, start: int, size: int, tenants: int, have: dict[str, int]
) -> None:
    said, vectors = source.batch(start, size)
    notes, entries, rows = [], [], []
    for at, texts in enumerate(said):
        number = start + at
        namespace, key = tenant(number, tenants), f"notes/{number}.md"
        note = Note(source=key, title=" ".join(texts[0].split()[:6]), content="\n\n".join(texts))
        moment = SAVED + timedelta(microseconds=number)
        event = ids.digest("scale", str(number))
        entries.append(
            save_entry(
                note, namespace=namespace, source=key, origin="", occurred_at=moment, principal="bench",
                event_id=event,
            )
        )  # fmt: skip
        notes.append(note)
        rows.append((ids.memory_id(namespace, key), namespace, ids.revision(moment, event), moment))
    ids_, spaces, revisions, moments = (list(column) for column in zip(*rows, strict=True))
    dimension = vectors.shape[1]
    means = vectors.reshape(size, CHUNKS_PER_MEMORY, dimension).mean(axis=1)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    kind = pl.Array(pl.Float32, dimension)
    times = pl.Series("at", moments, dtype=pl.Datetime("us", "UTC"))
    memories = pl.DataFrame(
        {
            "memory_id": ids_, "namespace": spaces, "revision": revisions,
            "source": [one.source for one in notes], "title": [one.title for one in notes],
            "content": [one.content for one in notes],
            "content_hash": [content_hash(one.content) for one in notes],
            "vector": pl.Series(means, dtype=kind), "created_at": times, "updated_at": times,
        }
    ).with_columns(
        status=pl.lit("live"), origin=pl.lit(""), memory_type=pl.lit("note"),
        importance_tier=pl.lit("normal"), retrieval_priority=pl.lit("normal"),
        sensitivity=pl.lit("internal"), state=pl.lit("accepted"), source_kind=pl.lit("manual"),
        source_of_truth=pl.lit(value=False), principal=pl.lit("bench"),
        chunk_count=pl.lit(CHUNKS_PER_MEMORY, pl.Int32), frequency=pl.lit(1, pl.Int32),
        path=pl.lit(None, pl.String), follows=pl.lit(None, pl.String), tags=pl.lit([], pl.List(pl.String)),
        trigger_phrases=pl.lit([], pl.List(pl.String)), context=pl.lit(""),
    )  # fmt: skip
    texts = [text for one in said for text in one]
    chunks = pl.DataFrame(
        {
            "chunk_id": [ids.chunk_id(name, at) for name in ids_ for at in range(CHUNKS_PER_MEMORY)],
            "memory_id": [name for name in ids_ for _ in range(CHUNKS_PER_MEMORY)],
            "text": texts, "search_text": texts,
            "embedding_hash": [ids.embedding_hash(MODEL, text) for text in texts],
            "vector": pl.Series(vectors, dtype=kind),
            "ordinal": pl.Series([*range(CHUNKS_PER_MEMORY)] * size, dtype=pl.Int32),
        }
    ).with_columns(
        chunk_count=pl.lit(CHUNKS_PER_MEMORY, pl.Int32), headings=pl.lit([], pl.List(pl.String)),
        start=pl.lit(0, pl.Int32), end=pl.lit(0, pl.Int32),
    )  # fmt: skip
    chunks = chunks.join(
        memories.select("memory_id", "namespace", "revision"), on="memory_id", maintain_order="left"
    )
    for name, frame in (("chunks", labelled(chunks, memories)), ("memories", memories)):
        if have[name] < (start + size) * (CHUNKS_PER_MEMORY if name == "chunks" else 1):
            append(memory.store, name, frame, "false")
    memory.journal.append_large(entries)


def index(settings: Settings) -> dict[str, float]:
    """What a night does to the tables of a home; seconds of each part."""
    import time

    with slowwave.Memory(settings, namespace=MINE) as memory:
        store: Store = memory.store
        took = {}

        def timed(name: str, work: Any) -> Any:  # noqa: ANN401
            start, cpu = time.perf_counter(), time.process_time()
            found = work()
            took[name] = round(time.perf_counter() - start, 2)
            took[f"{name}_cpu"] = round(time.process_time() - cpu, 2)
            return found

        of_store, most_bytes = settings.store, int(settings.store.snapshot_mb * 2**20)
        needed = bool(searched_in_table(store, most_bytes))
        timed("words", lambda: create_full_text_indexes(store.table("chunks"), store.specs["chunks"]))
        timed(
            "vectors",
            lambda: refresh_vector_index(
                store,
                minimum_rows=of_store.ann_min_chunks,
                wanted_recall=of_store.vector_index_recall,
                needed=needed,
            ),
        )
        timed("maintain", lambda: maintain(store, keep_versions=timedelta(days=7)))
        timed("snapshots", lambda: leave_files(store, most_bytes))
    return took
