"""Columnar batch of logged searches for replay (rule 6.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.arrays import Flags, Floats, Integers
from slowwave.scoring.ranking import Candidates
from slowwave.scoring.ranking.candidates import KINDS, OPTIONAL
from slowwave.scoring.ranking.columns import PAIRS, Columns, columns_of, concatenated, first_of_each

_FLOATS, _WHOLE = pl.List(pl.Float64), pl.List(pl.Int64)
_LISTS: Final = {
    name: _FLOATS if kind is np.float64 else _WHOLE for name, kind in KINDS.items() if name != "ordinal"
}
_STATE: Final = pl.Struct(
    {
        "effectiveness": pl.Float64,
        "feedback_count": pl.Int64,
        "not_useful_at": pl.List(pl.String),
        "learned": pl.Float64,
        "key": pl.Float64,
        "question_effectiveness": pl.Float64,
        "question_count": pl.Int64,
        "question_not_useful": pl.List(pl.List(pl.String)),
    }
)
CANDIDATES: Final[dict[str, Any]] = {
    **_LISTS,
    "triggers": pl.Map(pl.String, pl.List(pl.String)),
    "follows": pl.Map(pl.String, pl.String),
    "same_as": pl.Map(pl.String, pl.String),
    "times": pl.Map(pl.String, pl.Float64),
    "outdated": pl.Map(pl.String, pl.String),
    "maybe_outdated": pl.Map(pl.String, pl.String),
    "states": pl.Map(pl.String, _STATE),
    "confidence": pl.Map(pl.String, pl.List(pl.String)),
    "superseded": pl.List(pl.String),
    "vector_say": pl.Float64,
    "bm25_bound": pl.Float64,
    "query_words": pl.Int64,
}
"""Types of the fields of `Candidates.to_dict`; numbers in a list with text are text."""
REQUIRED: Final = ("memory_id", "ordinal", "cosine", "bm25", "vector_rank", "bm25_rank", "chunk_count")


@dataclass(frozen=True, eq=False)
class Batch:
    """Batch of n searches with their candidates.

    Attributes:
        columns: candidates of all searches.
        limit: (n,) requested results of each search.
        memory_ids: ids of the numbers in the columns.
    """

    columns: Columns
    limit: Integers
    memory_ids: pl.Series

    def __len__(self) -> int:
        """Number of searches."""
        return len(self.limit)

    @classmethod
    def of(cls, searches: Iterable[tuple[Candidates, datetime, int]]) -> Batch:
        """Build a batch from (candidates, moment of the search, requested results) tuples."""
        columns, names, limits = list[Columns](), list[str](), list[int]()
        for candidates, as_of, limit in searches:
            search_columns, ids = columns_of(candidates, as_of)
            columns.append(search_columns)
            names += ids
            limits.append(limit)
        return cls(
            concatenated(columns),
            np.array(limits, dtype=np.int64),
            pl.Series("memory_id", names, pl.String),
        )

    @classmethod
    def of_frame(cls, searches: pl.DataFrame) -> Batch:
        """Build a batch from a frame with one row a search, without a Python loop.

        Args:
            searches: ``limit``, ``as_of`` (Datetime with a time zone), ``memory_id`` and ``ordinal`` (lists
                with one element a chunk) and the columns of `CANDIDATES`. The lists of a row that are not
                null have one length. A null list or map counts as absent.
        """
        n = searches.height
        searches = searches.with_columns(search=pl.int_range(n, dtype=pl.Int64))
        chunks = _chunks(searches)
        ids = pl.Series("memory_id", chunks["memory_id"].unique().sort())
        memory_type = pl.Enum(ids)
        code = _codes(chunks["memory_id"], memory_type)
        key = _int(chunks, "search") * max(len(ids), 1) + code
        order = np.lexsort((_int(chunks, "ordinal"), key))
        chunks, key = chunks[order], key[order]
        begins = np.flatnonzero(first_of_each(key))
        memories = key[begins]  # sorted for bisection
        states = _MemoryLookup(searches, memories, memory_type)
        size = len(memories)
        plain: dict[str, Any] = {
            name: (_float if kind == _FLOATS else _int)(chunks, name) for name, kind in _LISTS.items()
        }
        columns = Columns(
            starts=np.searchsorted(memories, np.arange(n + 1) * max(len(ids), 1)),
            first=np.append(begins, len(key)),
            as_of=_seconds(searches["as_of"]),
            vector_say=searches["vector_say"].fill_null(1.0).to_numpy(),
            bm25_bound=searches["bm25_bound"].fill_null(float("nan")).to_numpy(),
            query_words=searches["query_words"].fill_null(0).to_numpy(),
            position=_int(chunks, "position"),
            **plain,
            number=np.arange(size),
            **states.triggers(n),
            **states.states(),
            points=states.points(),
            time=states.times(),
            superseded=states.superseded(),
            **states.pairs(),
        )
        return cls(
            columns, searches["limit"].to_numpy().astype(np.int64), ids.gather(memories % max(len(ids), 1))
        )


def _chunks(searches: pl.DataFrame) -> pl.DataFrame:
    """Return one row a chunk."""
    length = pl.col("memory_id").list.len()
    filled = [
        pl.coalesce(name, pl.lit(value).repeat_by(length)).alias(name) for name, value in OPTIONAL.items()
    ]
    with_chunks = searches.filter(length > 0).select("search", *REQUIRED, *filled)
    names = [*REQUIRED, *OPTIONAL]
    return with_chunks.with_columns(position=pl.int_ranges(length)).explode(*names, "position")


class _MemoryLookup:
    """Lookup of memory states by search and memory.

    Args:
        searches: searches with their maps.
        memories: (m,) sorted keys of the memories that have candidates.
        memory_type: every memory id, sorted.
    """

    def __init__(self, searches: pl.DataFrame, memories: Integers, memory_type: pl.Enum) -> None:
        self._searches, self._memories, self._type = searches, memories, memory_type

    def _entries(self, name: str) -> tuple[pl.DataFrame, Integers]:
        """Return the rows (search, key, value) of a map, and the memory of each; -1 if absent."""
        entries = pl.col(name).map.entries()
        rows = self._searches.select("search", entry=entries).filter(pl.col("entry").list.len() > 0)
        rows = rows.explode("entry").unnest("entry")
        return rows, self._places(rows, "key")

    def _places(self, rows: pl.DataFrame, column: str) -> Integers:
        if not len(self._memories):
            return np.full(rows.height, -1)
        code = _codes(rows[column], self._type)
        wanted = _int(rows, "search") * len(self._type.categories) + code
        place = np.minimum(np.searchsorted(self._memories, wanted), len(self._memories) - 1)
        return np.where((code >= 0) & (self._memories[place] == wanted), place, -1)

    def _values(self, of: Integers, values: np.ndarray, absent: float) -> np.ndarray:
        filled = np.full(len(self._memories), absent, dtype=values.dtype)
        filled[of[of >= 0]] = values[of >= 0]
        return filled

    def triggers(self, n: int) -> dict[str, Any]:
        rows, of = self._entries("triggers")
        strength = _second(rows["value"])
        phrase_said = np.zeros(n, dtype=np.bool_)
        phrase_said[_int(rows, "search")[strength >= 1.0]] = True
        return {"trigger": self._values(of, strength, 0.0), "phrase_said": phrase_said}

    def times(self) -> Floats:
        rows, of = self._entries("times")
        return self._values(of, rows["value"].to_numpy().astype(np.float64), 0.0)

    def points(self) -> Floats:
        rows, of = self._entries("confidence")
        return self._values(of, _second(rows["value"]), 0.0)

    def superseded(self) -> Flags:
        rows = self._searches.select("search", "superseded").filter(pl.col("superseded").list.len() > 0)
        rows = rows.explode("superseded")
        return self._values(self._places(rows, "superseded"), np.ones(rows.height, dtype=np.bool_), False)

    def states(self) -> dict[str, Any]:
        rows, of = self._entries("states")
        rows = rows.drop("key").unnest("value").with_columns(of=pl.Series(of, dtype=pl.Int64))
        votes = rows.filter(pl.col("of") >= 0, pl.col("not_useful_at").list.len() > 0)
        votes = votes.select("of", "not_useful_at").explode("not_useful_at")
        votes = votes.with_columns(at=moments(votes["not_useful_at"])).drop_nulls("at")
        doubts = rows.filter(pl.col("of") >= 0, pl.col("question_not_useful").list.len() > 0)
        doubts = doubts.select("of", doubt="question_not_useful").explode("doubt")
        doubts = doubts.with_columns(
            at=moments(doubts["doubt"].list.get(0, null_on_oob=True)),
            near=pl.Series(_second(doubts["doubt"])),
        ).drop_nulls("at")
        with_neutral = rows.with_columns(pl.col("question_effectiveness").fill_null(0.5))
        return {
            "effectiveness": self._values(of, _float(rows, "effectiveness"), 0.5),
            "question_effectiveness": self._values(of, _float(with_neutral, "question_effectiveness"), 0.5),
            "question_count": self._values(of, _int(rows.fill_null(0), "question_count"), 0),
            "doubted": _int(doubts, "of"),
            "doubted_at": _seconds(doubts["at"]),
            "doubted_near": _float(doubts, "near"),
            "feedback_count": self._values(of, _int(rows.fill_null(0), "feedback_count"), 0),
            "learned": self._values(of, _float(rows.fill_null(0.0), "learned"), 0.0),
            "key": self._values(of, _float(rows.fill_null(0.0), "key"), 0.0),
            "voted": _int(votes, "of"),
            "voted_at": _seconds(votes["at"]),
        }

    def pairs(self) -> dict[str, Any]:
        pairs: dict[str, Integers] = {}
        for field, names in PAIRS.items():
            rows, first = self._entries(field)
            both = np.stack([first, self._places(rows, "value")])
            pairs |= zip(names, both[:, (both >= 0).all(axis=0)], strict=True)
        return pairs


def moments(texts: pl.Series) -> pl.Series:
    """Parse moments as written by `datetime.isoformat` with a time zone; null where invalid."""
    return texts.str.to_datetime("%+", time_unit="us", time_zone="UTC", strict=False)


def _second(pairs: pl.Series) -> Floats:
    """Return the number in each pair of a text and a number; 0 without one."""
    return pairs.list.get(1, null_on_oob=True).cast(pl.Float64, strict=False).fill_null(0.0).to_numpy()


def _seconds(series: pl.Series) -> Floats:
    return series.dt.epoch("us").to_numpy() / 1_000_000


def _codes(ids: pl.Series, memory_type: pl.Enum) -> Integers:
    """Return the place of each id in the sorted ids; -1 if it is not among them."""
    physical = ids.cast(memory_type, strict=False).to_physical()
    return physical.cast(pl.Int64).fill_null(-1).to_numpy()


def _int(frame: pl.DataFrame, name: str) -> Integers:
    return frame[name].to_numpy().astype(np.int64, copy=False)


def _float(frame: pl.DataFrame, name: str) -> npt.NDArray[np.float64]:
    return frame[name].fill_null(float("nan")).to_numpy().astype(np.float64)
