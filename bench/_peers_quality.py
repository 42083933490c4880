"""Retrieval quality of the peers on labelled collections, beside Slowwave's."""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from _data import labelled, space_of
from _peers import OURS, PeerError, Running, write

from slowwave.common import ids, progress
from slowwave.embedding import Embedder, load_embedder
from slowwave.notes.chunking import Chunker, indexed_text
from slowwave.scoring.evaluation import Measure, compare, evaluate, mean_interval
from slowwave.settings import EmbeddingSettings
from slowwave.tuning import Collection, opened
from slowwave.tuning.collection import notes_of
from slowwave.views.terminal import bars

NDCG = Measure("ndcg", 10)
DEEP = 50  # chunks of a peer's list, of which the first of each document count
PART = "\x1f"  # between the id of a document and the number of its chunk
Run = dict[str, list[str]]


def qualities(
    given: argparse.Namespace, folder: Path, pythons: Mapping[str, str], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """A row per collection and peer; `change` is the paired difference to Slowwave as it is."""
    embedder = load_embedder(EmbeddingSettings(model=given.model))
    rows: list[dict[str, Any]] = []
    for number, source in enumerate(given.data):
        collection = labelled(source)
        queries = collection.answerable()[: given.queries]
        with bars():
            runs: dict[str, Run] = {}
            if OURS in pythons:
                with _environ("SLOWWAVE_RANKING__ABSTENTION_FLOOR", "0"):
                    runs[OURS] = _ours(collection, queries, given)
                    with _environ("SLOWWAVE_STORE__SNAPSHOT_MB", "0"):
                        runs[f"{OURS}, tables"] = _ours(collection, queries, given)
            spaces = _spaces(folder / f"collection{number}", collection, queries, embedder, given)
            for name in (name for name in pythons if name != OURS):
                about = {"peer": name, "of": collection.name, "measure": "quality"}
                try:
                    runs[name], failed = _theirs(name, pythons[name], folder / f"of{number}", spaces, given)
                    if failed:
                        faults.append({**about, "why": f"{len(failed)} searches found nothing: {failed[-1]}"})
                except PeerError as error:
                    faults.append({**about, "why": str(error)})
        rows += _rows(collection, queries, runs)
    return rows


@contextmanager
def _environ(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})


def _ours(collection: Collection, queries: Sequence[Mapping[str, Any]], given: argparse.Namespace) -> Run:
    """What `Memory.search` shows, when it never abstains."""
    with opened(collection, given.model, cache=given.cache) as memories:
        return {
            query["_id"]: [one.source for one in memories[space_of(query)].search(query["text"])]
            for query in queries
        }


def _spaces(
    folder: Path,
    collection: Collection,
    queries: Sequence[Mapping[str, Any]],
    embedder: Embedder,
    given: argparse.Namespace,
) -> dict[Path, list[str]]:
    """A corpus per namespace as peers read it, with the ids of its queries in their order."""
    asked = defaultdict(list)
    for query in queries:
        asked[space_of(query)].append(query)
    notes = notes_of(collection.documents)
    found = {}
    for number, (space, own) in enumerate(asked.items()):
        texts = [one for note in notes[space] for one in _texts(note, cut=given.cut)]
        corpus = folder / str(number)
        vectors = _embedded(given, embedder, "documents", [text for _, text in texts])
        write(corpus, "docs", iter(texts), vectors)
        vectors = _embedded(given, embedder, "queries", [query["text"] for query in own])
        write(corpus, "queries", ((query["_id"], query["text"]) for query in own), vectors)
        found[corpus] = [query["_id"] for query in own]
    return found


def _texts(note: Mapping[str, Any], *, cut: bool) -> list[tuple[str, str]]:
    """A note whole, or as Slowwave's chunks, each with its title as Slowwave embeds it."""
    if not cut:
        return [(note["key"], indexed_text(note["title"], (), note["content"]))]
    return [
        (f"{note['key']}{PART}{chunk.ordinal}", indexed_text(note["title"], chunk.headings, chunk.text))
        for chunk in Chunker().split(note["content"])
    ]


def _embedded(given: argparse.Namespace, embedder: Embedder, kind: str, texts: Sequence[str]) -> np.ndarray:
    """The vectors of texts, from the cache where they are there."""
    file = (given.cache or Path()) / f"{ids.digest(given.model, kind, *texts)[:24]}.npy"
    if given.cache and file.exists():
        return np.asarray(np.load(file))
    with progress.task(f"embedding {kind}", len(texts)) as advance:
        if kind == "documents":
            vectors = embedder.embed_documents(texts, advance)
        else:
            vectors = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
            for number, text in enumerate(texts):
                vectors[number] = embedder.embed_query(text)
                advance(1)
    if given.cache:
        given.cache.mkdir(parents=True, exist_ok=True)
        np.save(file, vectors)
    return vectors


def _theirs(
    name: str, python: str, folder: Path, spaces: Mapping[Path, Sequence[str]], given: argparse.Namespace
) -> tuple[Run, list[str]]:
    """What a peer finds, and why searches failed: such a one found nothing."""
    run: Run = {}
    failed: list[str] = []
    peer = Running(name, python, folder / name, given.model)
    try:
        with progress.task(name, len(spaces)) as advance:
            for corpus, queries in spaces.items():
                own = folder / f"{name}-{corpus.name}"
                own.mkdir(parents=True)
                there = peer.ask("open", folder=str(own), dimension=given.dimension)
                given.versions[name] = there["version"]
                peer.ask("fill", corpus=str(corpus), patience=float("inf"))
                limit = DEEP if given.cut else 10
                found = peer.ask("search", corpus=str(corpus), first=0, count=len(queries), limit=limit)
                failed += found["faults"]
                for query, listed in zip(queries, found["found"], strict=True):
                    run[query] = list(dict.fromkeys(one.split(PART)[0] for one in listed))[:10]
                advance(1)
    finally:
        peer.end()
    return run, failed


def _rows(
    collection: Collection, queries: Sequence[Mapping[str, Any]], runs: Mapping[str, Run]
) -> list[dict[str, Any]]:
    qrels = {query["_id"]: collection.qrels[query["_id"]] for query in queries}
    ndcg = {name: evaluate(run, qrels, (NDCG,))[str(NDCG)].to_numpy() for name, run in runs.items()}
    rows = []
    for name, values in ndcg.items():
        mean = mean_interval(values)
        row = {"set": collection.name, "peer": name, "ndcg@10": round(mean.mean, 4)}
        row |= {"low": round(mean.low, 4), "high": round(mean.high, 4)}
        if OURS in ndcg:
            change = compare(ndcg[OURS], values, margin=0.01)
            row |= {"change": round(change.difference, 4), "change_low": round(change.low, 4)}
            row["change_high"] = round(change.high, 4)
        rows.append({**row, "queries": mean.n})
    return rows
