"""Synthetic search keys and days of searches, for measuring the cost of keys."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _chunks import NAMESPACE, WORDS, vocabulary
from _home import SAVED, Home, configured, run
from _processes import peak_mb
from _user import Clock

import slowwave
from slowwave.common import ids
from slowwave.feedback.questions import question_indexes
from slowwave.home.workspace import Workspace
from slowwave.index.questions import QuestionIndex, questions_in
from slowwave.journal import Entry
from slowwave.learning import events, impressions
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.search_keys import KeyIndex, key_rules
from slowwave.memory import Memory
from slowwave.scoring.days import day_start
from slowwave.scoring.feedback.query_key_features import is_examined
from slowwave.search.signals import signals_in
from slowwave.store.maintenance import maintain

SHOWN = 5  # results of a search (count)
TOPIC = 40  # questions that are near to each other (count)
ASKED = 25  # topics that are asked about, the same of any number of keys (count)
NEAR = 0.45  # of a question from the middle of its topic: cosines of about .83 within it
DAYS = 100  # on which the keys were taught
TABLES = ("search_views", "search_keys", "question_vectors")
NOTES = 400  # that a night's searches show
HOURS = 20


def topics(dimension: int, count: int) -> np.ndarray:
    """Middles of topics, of length 1, always the same ones, (count, dimension)."""
    return _unit(np.random.default_rng(5).normal(size=(count, dimension)))


def vectors_near(middles: np.ndarray, topic: np.ndarray, seed: int) -> np.ndarray:
    """Vectors of questions about these topics, of length 1, (n, dimension)."""
    apart = _unit(np.random.default_rng(seed).normal(size=(len(topic), middles.shape[1])))
    return _unit(middles[topic] + NEAR * apart).astype(np.float32)


def queries(dimension: int, count: int) -> np.ndarray:
    """Vectors that nobody has asked with, about the topics that are asked about."""
    draw = np.random.default_rng(6)
    return vectors_near(topics(dimension, ASKED), draw.integers(0, ASKED, count), 7)


def teach(memory: slowwave.Memory, size: int, memories: int) -> None:
    """Make so many past searches keys, each of which led to one of its results, and approve them.

    Args:
        memory: an open home with made-up chunks.
        size: searches of different questions (count).
        memories: that there are (count).
    """
    store, rows = memory.store, past(memory, size, memories)
    for name in ("search_views", "search_keys"):
        columns = store.empty(name).columns
        store.upsert(name, rows.select(columns))
    maintain(store, keep_versions=timedelta(0))
    events.write_event(
        memory.journal,
        NAMESPACE,
        events.APPROVE,
        who="bench",
        why="to measure",
        at=datetime.now(UTC),
        detail={"kind": "keys"},
    )


def rate(memory: slowwave.Memory, size: int, memories: int) -> None:
    """Rate a result of so many past searches of different questions; arguments as of `teach`."""
    store, rows = memory.store, past(memory, size, memories)
    used = pl.col("selected")
    rated = (pl.int_range(pl.len()) % 5 == 0) & used
    signals = rows.with_columns(
        signal_id="view_id", event_id="search_id", occurred_at="at", imported=pl.lit(value=False),
        tier=pl.when(rated).then(pl.lit("quick")).otherwise(pl.lit("implicit")),
        verdict=pl.when(rated).then(pl.lit("helpful")).when(used).then(pl.lit("used"))
        .otherwise(pl.lit("ignored")),
        value=pl.when(used).then(1.0).otherwise(0.5), weight=pl.when(rated).then(1.0).otherwise(0.25),
    )  # fmt: skip
    _write(store, "usage_signals", signals)
    state = signals.group_by("memory_id").agg(
        pl.col("namespace").first(), pl.col("day").max(), feedback_count=pl.len().cast(pl.Int32)
    )
    state = state.with_columns(state_id="memory_id", effectiveness=pl.lit(0.5))
    _write(store, "memory_state", state)
    maintain(store, keep_versions=timedelta(0))


def _write(store: Any, name: str, rows: pl.DataFrame) -> None:  # noqa: ANN401 - the store of a home
    """Write rows to a table; columns that they lack are empty, others are left out."""
    empty = store.empty(name)
    known = rows.select(one for one in empty.columns if one in rows.columns)
    store.upsert(name, pl.concat([empty, known], how="diagonal_relaxed").select(empty.columns))


def past(memory: slowwave.Memory, size: int, memories: int) -> pl.DataFrame:
    """Make so many past searches, with the vectors of their questions: a row for each result shown."""
    store, draw, teaching = memory.store, np.random.default_rng(8), memory.home.key_teaching
    dimension = memory.embedder.dimension
    count = max(size // TOPIC, ASKED)
    topic = np.arange(size) % count
    words, share = vocabulary()
    said = words[draw.choice(WORDS, size=(size, 6), p=share)]
    texts = [f"{' '.join(line)} {number}" for number, line in enumerate(said.tolist())]
    names = [ids.query_id(NAMESPACE, text) for text in texts]
    now = datetime.now(UTC)
    ages = draw.uniform(1.0, DAYS, size)
    moments = [now - timedelta(days=float(age)) for age in ages]
    # A topic has a few memories that are taken; the others of a search are any.
    mine = (3 * topic + draw.integers(0, 3, size)) % memories
    rank = draw.choice(SHOWN, size=size, p=[0.45, 0.22, 0.15, 0.1, 0.08])
    shown = draw.integers(0, memories, (size, SHOWN))
    shown[np.arange(size), rank] = mine
    every = [ids.memory_id(NAMESPACE, str(number)) for number in range(memories)]
    asked = pl.DataFrame(
        {
            "search_id": [f"{number:032x}" for number in range(size)], "query_id": names, "query": texts,
            "at": pl.Series(moments, dtype=pl.Datetime("us", "UTC")),
            "principal": [f"person-{who}" for who in draw.integers(0, 20, size).tolist()],
        }
    )  # fmt: skip
    rows = asked.select(pl.all().repeat_by(SHOWN).explode()).with_columns(
        memory_id=pl.Series([every[one] for one in shown.ravel().tolist()], dtype=pl.String),
        rank=pl.Series(np.tile(np.arange(1, SHOWN + 1), size), dtype=pl.Int32),
        selected=pl.Series((np.arange(SHOWN) == rank[:, None]).ravel()),
    )  # fmt: skip
    rows = rows.unique(["search_id", "memory_id"], keep="first", maintain_order=True).with_columns(
        namespace=pl.lit(NAMESPACE), text=pl.lit(""), refusal=pl.lit(None, pl.String),
        taken=pl.when("selected").then(teaching.usage_weight).otherwise(0.0),
        examined=is_examined(pl.col("rank"), teaching),
        view_id=pl.concat_str("search_id", "memory_id", separator=":"),
        day=pl.col("at").dt.strftime("%Y-%m-%d"),
        expires_at=pl.col("at") + teaching.ttl,
    ).with_columns(key_id="view_id")  # fmt: skip
    vectors = pl.Series(
        vectors_near(topics(dimension, count), topic, 9), dtype=pl.Array(pl.Float32, dimension)
    )
    store.upsert("question_vectors", pl.DataFrame(
        {"query_id": names, "namespace": [NAMESPACE] * size, "query": texts, "vector": vectors}
    ))  # fmt: skip
    return rows


def put_together(memory: slowwave.Memory) -> dict[str, float]:
    """What the first search of a process costs: time in ms, and memory in MB.

    ``index`` is the part of it that folds the keys and lays out the questions; ``held_mb`` what the keys
    take from then on, ``peak_mb`` the most that the process has had.
    """
    now = datetime.now(UTC)
    vector = queries(memory.embedder.dimension, 1)[0]
    start = time.perf_counter()
    signals_in(memory.home).led(NAMESPACE, vector, now)
    first, peak = (time.perf_counter() - start) * 1e3, peak_mb()
    begin, rules = day_start(now.date()), key_rules(memory.home)
    evidence = Evidence(memory.home, among=[NAMESPACE])
    stand = evidence.applied_keys.with_columns(taught_at="at").filter(pl.col("at") < begin)
    start = time.perf_counter()
    asked = QuestionIndex(questions_in(memory.store, NAMESPACE, memory.embedder.dimension))
    index = KeyIndex(stand, asked, begin, rules)
    return {
        "first_ms": first,
        "index_ms": (time.perf_counter() - start) * 1e3,
        "held_mb": held(index) / 2**20,
        "peak_mb": peak,
    }


def held(thing: object, known: set[int] | None = None) -> int:
    """Bytes of an object and all that it has, each once; of arrays their numbers."""
    known = set() if known is None else known
    if id(thing) in known:
        return 0
    known.add(id(thing))
    if isinstance(thing, np.ndarray):
        return held(thing.base, known) if thing.base is not None else thing.nbytes
    if isinstance(thing, dict):
        return sys.getsizeof(thing) + sum(held(one, known) for pair in thing.items() for one in pair)
    if isinstance(thing, list | tuple):
        return sys.getsizeof(thing) + sum(held(one, known) for one in thing)
    if not type(thing).__module__.startswith("slowwave"):
        return sys.getsizeof(thing)
    names = [*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())]
    return sys.getsizeof(thing) + sum(held(getattr(thing, name), known) for name in names if name[:2] != "__")


def on_disk(folder: Path) -> dict[str, int]:
    """Bytes of each table of keys."""
    return {
        name: sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and f"{name}." in str(one))
        for name in TABLES
    }


def night(folder: Path, model: str, searches: int) -> dict[str, Any]:
    """How long the night takes to fold so many searches of one day into keys.

    Returns:
        Seconds of the feedback job before it, which embeds new questions, of making the rows of
        ``search_views``, and of writing them.
    """
    day = date(2026, 1, 10)
    folder.mkdir(parents=True)
    settings = configured(folder, model)
    clock = Clock(datetime.combine(day - SAVED, datetime.min.time(), UTC))
    words, share = vocabulary()
    draw = np.random.default_rng(11)
    space = Workspace(settings, clock=clock)
    with Memory(settings, namespace=NAMESPACE, space=space) as memory:
        lines = words[draw.choice(WORDS, size=(NOTES, 12), p=share)].tolist()
        texts = [f"Note {at}: {' '.join(line)}." for at, line in enumerate(lines)]
        memory.save_many([{"content": text, "key": str(at)} for at, text in enumerate(texts)])
        names = [ids.memory_id(NAMESPACE, str(at)) for at in range(NOTES)]
        memory.journal.append(list(_searches(day, names, searches, draw)))
    end = datetime.combine(day, datetime.min.time(), UTC) + timedelta(days=1, hours=1)
    home = Home(settings, NAMESPACE, {})
    start = time.perf_counter()
    run(home, "night", day - SAVED, day - SAVED, end)
    run(home, "feedback", day, day, end)
    fed = time.perf_counter() - start
    clock.moment = end
    space = Workspace(settings, clock=clock)
    start = time.perf_counter()
    rows = impressions.view_days(space, [str(day)])
    made = time.perf_counter() - start
    start = time.perf_counter()
    space.store.replace_partition("search_views", rows, [str(day)])
    written = time.perf_counter() - start
    space.close()
    return {
        "searches": searches, "rows": rows.height, "feedback_s": fed, "views_s": made,
        "writing_s": written,
    }  # fmt: skip


def _searches(day: date, names: Sequence[str], count: int, draw: np.random.Generator) -> Iterator[Entry]:
    """Searches of a day, each with words of its own, and answers that cite one result."""
    words, share = vocabulary()
    start = datetime.combine(day, datetime.min.time(), UTC)
    said = words[draw.choice(WORDS, size=(count, 6), p=share)].tolist()
    shown = draw.integers(0, len(names), (count, SHOWN)).tolist()
    moments = np.sort(draw.integers(0, HOURS * 3_600, count)).tolist()
    for at in range(count):
        when, who, search = start + timedelta(seconds=moments[at]), f"person-{at % 20}", f"search-{at}"
        memories = [names[one] for one in dict.fromkeys(shown[at])]
        rows = [
            {"memory_id": one, "rank": rank, "score": 0.9 - 0.1 * rank, "channels": ["vector"],
             "best": f"{one}:00000"}
            for rank, one in enumerate(memories, start=1)
        ]  # fmt: skip
        query = f"{' '.join(said[at])} {at}"
        asked = {"query": query, "limit": SHOWN, "shown": rows, "policy_version": "bench"}
        yield Entry(search, "search", NAMESPACE, search, when, who, payload=asked)
        used = {
            "memory_id": memories[at % len(memories)], "chunk_id": f"{memories[at % len(memories)]}:00000",
            "verdict": "used", "evidence": "citation", "keywords": 0, "ratio": 0.0, "ratio_beyond_query": 0.0,
            "similarity": None,
        }  # fmt: skip
        payload = {"response": ids.digest(search), "verdicts": [used]}
        yield Entry(
            f"{search}-o", "observation", NAMESPACE, search, when + timedelta(seconds=5), who, payload=payload
        )


def _unit(vectors: np.ndarray) -> np.ndarray:
    found: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def forget_lookup(space: Workspace) -> None:
    """Drop the last lookup of past questions, so that the next one is measured."""
    question_indexes(space).of(NAMESPACE)._last = None


class Given:
    """An embedder that is given the vectors of some queries."""

    def __init__(self, embedder: Any, vectors: Mapping[str, np.ndarray]) -> None:  # noqa: ANN401 - as it is
        self._embedder, self._vectors = embedder, vectors

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else is as it is
        return getattr(self._embedder, name)

    def embed_query(self, query: str) -> np.ndarray:
        """The vector of one of the queries."""
        return self._vectors[query]


def told(figures: Mapping[str, Any]) -> str:
    """Figures as the last line of a process."""
    return json.dumps(figures)
