"""Data of simulated lives: a collection with cached searches of every question.

Candidates, scores and vectors come from the real search and the real ranking, and are kept in a folder. With
them a search in a life is some lookups: scores by memory, and the cosines of a question with past ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from _data import labelled, space_of

from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.scoring.evaluation.replay import Batch, Variant, replay
from slowwave.scoring.ranking import Candidates
from slowwave.scoring.ranking.learned import learnable
from slowwave.search.searcher import searcher_in
from slowwave.tuning import Collection, opened

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

CANDIDATES = 100  # chunks of each channel (count)
OUTSIDE = 150  # questions of another collection that are searched, at most (count)
MOST_ANSWERS = 2  # of a question that belongs to a memory (count)


@dataclass(frozen=True, eq=False)
class Searched:
    """n questions with what the real search finds for them, without anything learned.

    Attributes:
        texts: of the questions.
        spaces: number of the namespace in which each is searched, (n,).
        vectors: of the questions, of length 1, (n, dimension).
        starts: where the candidates of each question begin, and p at the end, (n + 1,).
        memory: number of the memory, ascending within a question, (p,).
        score: of the full ranking, without abstention, (p,).
    """

    texts: Sequence[str]
    spaces: Integers
    vectors: Vectors
    starts: Integers
    memory: Integers
    score: Floats

    def of(self, question: int) -> tuple[Integers, Floats]:
        """Memories of a question, ascending, and their scores."""
        these = slice(self.starts[question], self.starts[question + 1])
        return self.memory[these], self.score[these]


@dataclass(frozen=True, eq=False)
class World:
    """A collection that people search.

    Attributes:
        name: of the collection.
        namespaces: names of them.
        memories: ids, sorted: ties in the ranking are broken by the number.
        of_space: number of the namespace of each memory.
        about: vector of each memory, of length 1.
        asked: its own questions that one or two memories answer.
        answers: numbers of the memories that answer each.
        outside: questions of another collection; None where only one was given.
        frequent: ``namespace``, ``term``, ``memories``, ``share``, for `propose`.
    """

    name: str
    namespaces: Sequence[str]
    memories: Sequence[str]
    of_space: Integers
    about: Vectors
    asked: Searched
    answers: Sequence[frozenset[int]]
    outside: Searched | None
    frequent: pl.DataFrame

    @cached_property
    def cosines(self) -> Vectors:
        """Of all questions with all questions."""
        return self.asked.vectors @ self.asked.vectors.T

    @cached_property
    def cosines_outside(self) -> Vectors:
        """Of the questions of another collection with all questions of this one."""
        if self.outside is None:
            return np.zeros((0, len(self.asked.texts)), dtype=np.float32)
        return self.outside.vectors @ self.asked.vectors.T


def worlds_of(folders: Sequence[Path], model: str, cache: Path) -> list[World]:
    """The collections of these folders; the questions outside of one are those of the next."""
    every = [labelled(folder) for folder in folders]
    return [
        _world(one, every[(at + 1) % len(every)] if len(every) > 1 else None, model, cache)
        for at, one in enumerate(every)
    ]


def _world(collection: Collection, other: Collection | None, model: str, cache: Path) -> World:
    queries = [
        query
        for query in collection.answerable()
        if sum(grade > 0 for grade in collection.qrels[query["_id"]].values()) <= MOST_ANSWERS
    ]
    strange = [] if other is None else other.answerable()
    strange = strange[:: max(len(strange) // OUTSIDE, 1)][:OUTSIDE]
    file = cache / f"{collection.name}-{'alone' if other is None else other.name}-{_key(queries, model)}.npz"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with opened(collection, model, cache=cache) as spaces:
            names = sorted(spaces)
            space = spaces[names[0]].home
            rows = space.store.read("memories").sort("memory_id")
            number = {one: at for at, one in enumerate(rows["memory_id"])}
            places = [names.index(space_of(query)) for query in queries]
            inside = _searched(space, names, [query["text"] for query in queries], places, number)
            turns = [at % len(names) for at in range(len(strange))]
            outside = _searched(space, names, [query["text"] for query in strange], turns, number)
        np.savez(
            file,
            memories=rows["memory_id"].to_numpy().astype(str),
            of_space=np.array([names.index(one) for one in rows["namespace"]], dtype=np.int64),
            about=_unit(rows["vector"].to_numpy()),
            **{f"asked_{name}": values for name, values in inside.items()},
            **{f"outside_{name}": values for name, values in outside.items()},
        )
    kept = dict(np.load(file))
    memories = kept["memories"].tolist()
    number = {one: at for at, one in enumerate(memories)}
    names = sorted({space_of(one) for one in collection.documents})
    return World(
        collection.name,
        names,
        memories,
        kept["of_space"],
        kept["about"],
        _kept(kept, "asked", [query["text"] for query in queries]),
        [_answers(collection, query, number) for query in queries],
        None if other is None else _kept(kept, "outside", [query["text"] for query in strange]),
        _frequent(collection, {term for query in queries for term in learnable(query["text"])}),
    )


def _key(queries: Sequence[Mapping[str, Any]], model: str) -> str:
    return ids.digest(model, *(str(query["_id"]) + query["text"] for query in queries))[:12]


def _kept(kept: Mapping[str, np.ndarray], which: str, texts: Sequence[str]) -> Searched:
    names = ("spaces", "vectors", "starts", "memory", "score")
    return Searched(texts, *(kept[f"{which}_{name}"] for name in names))


def _answers(collection: Collection, query: Mapping[str, Any], number: Mapping[str, int]) -> frozenset[int]:
    graded = collection.qrels[query["_id"]].items()
    found = (ids.memory_id(space_of(query), one) for one, grade in graded if grade > 0)
    return frozenset(number[one] for one in found if one in number)


def _searched(
    space: Workspace,
    names: Sequence[str],
    texts: Sequence[str],
    places: Sequence[int],
    number: Mapping[str, int],
) -> dict[str, np.ndarray]:
    """Search every question once; the arrays of a `Searched`."""
    now, found, vectors = space.now(), list[Candidates](), list[np.ndarray]()
    with task("searching", len(texts)) as advance:
        for text, place in zip(texts, places, strict=True):
            found.append(searcher_in(space).find(names[place], text, CANDIDATES, now=now).candidates)
            vectors.append(space.embedder.embed_query(text))
            advance(1)
    variant = Variant("all", space.policy.complete)
    rows = (
        replay(Batch.of((one, now, CANDIDATES) for one in found), [variant], depth=2 * CANDIDATES)
        .with_columns(memory=pl.col("memory_id").replace_strict(number, return_dtype=pl.Int64))
        .sort("search", "memory")
    )
    counts = np.bincount(rows["search"].to_numpy(), minlength=len(texts))
    return {
        "spaces": np.array(places, dtype=np.int64),
        "vectors": _unit(np.array(vectors, dtype=np.float32).reshape(len(texts), space.embedder.dimension)),
        "starts": np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        "memory": rows["memory"].to_numpy(),
        "score": rows["score"].to_numpy(),
    }


def _unit(vectors: np.ndarray) -> Vectors:
    long = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(long > 0, long, 1.0)).astype(np.float32)
    return scaled


def _frequent(collection: Collection, terms: set[str]) -> pl.DataFrame:
    """How many memories of a namespace have each of the terms."""
    counts: dict[str, Counter[str]] = {}
    sizes: Counter[str] = Counter()
    for document in collection.documents:
        said = f"{document.get('title') or ''} {document['text']}"
        sizes[space_of(document)] += 1
        counts.setdefault(space_of(document), Counter()).update(terms.intersection(learnable(said)))
    return pl.DataFrame(
        [
            (space, term, count, count / sizes[space])
            for space, some in counts.items()
            for term, count in some.items()
        ],
        schema={"namespace": pl.String, "term": pl.String, "memories": pl.Int64, "share": pl.Float64},
        orient="row",
    )
