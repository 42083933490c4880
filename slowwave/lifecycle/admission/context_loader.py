"""Context of a batch of events of one namespace, read from the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from slowwave.common import ids
from slowwave.feedback.states import states_in
from slowwave.index.incremental import CachesByNamespace
from slowwave.index.neighbour_cache import NEVER, NeighbourCache, sensitivities
from slowwave.index.table_cache import TableCache
from slowwave.journal.entry import WORDS
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission.rows import RECORD, matrix_of, memory_record
from slowwave.lifecycle.quarantine import REFUSED, without_original
from slowwave.quality.admission.reasons import ACCEPTED, UNDONE_BY_HAND
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY, HELD, LIVE, MERGED, RETIRED, SUPERSEDED
from slowwave.quality.admission.types import (
    AdmissionAct,
    AdmissionContext,
    AdmissionDecision,
    AdmissionPolicy,
    AdmissionRecord,
)
from slowwave.quality.neighbours import SLACK, Neighbours, coded
from slowwave.scoring.days import from_microseconds, to_microseconds
from slowwave.store import one_of, quote
from slowwave.store.frames import frame_of
from slowwave.store.instrumentation import observe_query
from slowwave.store.labels import own
from slowwave.store.tenancy import within
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

QUERIES_UP_TO = 8
"""Events from which one matrix product is cheaper than a query each (count)."""
NEAREST_BY_QUERY = 24
"""Memories per query (count): each earlier event of the batch removes two at most."""
TIME = pl.Datetime("us", "UTC")
NEAREST_OF_ALL = 512
"""The same for a late note, superseded and merged memories included (count)."""
_IN_USE = (LIVE, MERGED, SUPERSEDED)


def live_memories(space: Workspace, namespace: str) -> NeighbourCache | None:
    """Return the namespace's neighbour cache, brought up to date; None if it may not be used."""
    max_bytes = int(space.settings.store.snapshot_mb * 2**20)
    if not max_bytes or space.store.in_memory:
        return None
    caches = space.part(
        "standing",
        lambda: CachesByNamespace(lambda name: NeighbourCache(space.store, name, max_bytes), max_bytes),
    )
    cache = caches.of(namespace)
    cache.follow()
    caches.trim()
    return None if cache.too_large else cache


class ContextLoader:
    """Loader of what admission needs to know around one batch.

    Attributes:
        space: the home.
        store: its tables.
        namespace: Namespace of the batch.
        policy: Rules of admission.
    """

    def __init__(self, space: Workspace, namespace: str, policy: AdmissionPolicy) -> None:
        self.space, self.store, self.namespace, self.policy = space, space.store, namespace, policy
        self.standing = live_memories(space, namespace)
        self._seen: dict[str, AdmissionRecord] = {}
        self._latest = NEVER
        self._many: pl.DataFrame | None = None

    def surroundings(self, records: Iterable[AdmissionRecord], neighbours: Neighbours) -> AdmissionContext:
        """Return the context of these records; the rest is loaded when it is needed."""
        by_id = {record.memory_id: record for record in records}
        return AdmissionContext(
            by_id, neighbours, self.policy, self.recall, self.embed, self.separated_pairs(),
            accepted=self.accepted() if self.policy.reconsolidation != "off" else {},
            latest=self._latest, near=self.similar_to, behind=self.superseded_by,
        )  # fmt: skip

    def existing_memories(self, acts: pl.DataFrame) -> pl.DataFrame:
        """Return the memories of the events, and those with exactly the same content."""
        names = acts["memory_id"].to_list()
        hashes = acts.filter((pl.col("act") == "save") & self.policy.gate)["content_hash"].to_list()
        if self.standing and not self.standing.knows([*names, *hashes]):
            return self.store.empty("memories", RECORD)
        in_use = one_of("status", [LIVE, MERGED])
        if acts.height < QUERIES_UP_TO:
            same = f" OR ({one_of('content_hash', hashes)} AND {in_use})" if hashes else ""
            where = self.in_namespace(one_of("memory_id", names) + same)
            return self.store.read("memories", where, columns=RECORD)
        return pl.concat(
            [self._rows("memory_id", names), self._rows("content_hash", hashes, also=in_use)]
        ).unique("memory_id")

    def news(self, acts: pl.DataFrame, around: pl.DataFrame, *, again: bool) -> pl.DataFrame:
        """Return the events with their memories' revisions, and whether they are newer (`is_news`)."""
        if around.is_empty():
            news = acts.with_columns(
                known_revision=pl.lit(None, pl.String), known_status=pl.lit(None, pl.String),
                known_created=pl.lit(None, TIME), known_said_at=pl.lit(None, TIME),
                known_hash=pl.lit(None, pl.String), is_news=pl.lit(value=True),
            )  # fmt: skip
        else:
            news = self._beside(acts, around)
        if again and not news.filter("is_news").is_empty():
            refused = self._still_refused(news.filter("is_news"))
            mark = pl.concat_str("memory_id", pl.lit(":"), "revision").is_in(refused)
            news = news.with_columns(is_news=pl.col("is_news") & ~mark)
        return news

    def _beside(self, acts: pl.DataFrame, around: pl.DataFrame) -> pl.DataFrame:
        existing = around.select(
            "memory_id",
            known_revision=pl.col("revision").str.split("+").list.first(),
            known_status="status",
            # A memory forgotten before its text was seen has no creation time.
            known_created=pl.when(pl.col("content_hash").is_not_null()).then("created_at"),
            known_said_at="said_at",
            known_hash="content_hash",
        )
        joined = acts.join(existing, on="memory_id", how="left", maintain_order="left")
        newer = pl.col("known_revision").is_null() | (pl.col("known_revision") < pl.col("revision"))
        retired = (pl.col("act") == "forget") & pl.col("known_status").eq_missing(RETIRED)
        return joined.with_columns(is_news=pl.col("act").is_in(WORDS) | (newer & ~retired))

    def _still_refused(self, acts: pl.DataFrame) -> list[str]:
        """Return notes refused as duplicates whose original is still live."""
        names = (acts["memory_id"] + ":" + acts["revision"]).to_list()
        held = self.store.read_by(
            "quarantine", "quarantine_id", names, also=f"status = {quote(HELD)} AND duplicate_of IS NOT NULL"
        )
        lost = without_original(self.store, held)
        return held.join(lost, on="quarantine_id", how="anti")["quarantine_id"].to_list()

    def settlements(self, news: pl.DataFrame) -> dict[str, AdmissionAct]:
        """Return the undos and accepts of decisions, by decision id."""
        return self._undos(news) | self._accepts(news) if set(WORDS) & set(news["act"]) else {}

    def _accepts(self, news: pl.DataFrame) -> dict[str, AdmissionAct]:
        """Return the accepted proposals to carry out, by the id of the proposing decision."""
        accepts = news.filter(pl.col("act") == "accept")
        if accepts.is_empty():
            return {}
        # A decision marked as accepted may belong to an event killed before it was applied.
        waits = self.in_namespace(
            f"outcome = 'related' AND proposed IS NOT NULL "
            f"AND (undone_at IS NULL OR undone_why = {quote(ACCEPTED)})"
        )
        rows = self.store.read_by("decisions", "decision_id", accepts["source"].to_list(), also=waits)
        who = dict(accepts.select("source", "principal").iter_rows())
        made = [accepted_decision(row, who[row["decision_id"]]) for row in rows.iter_rows(named=True)]
        names = [ids.decision_id(new.memory_id, new.revision, new.look) for new in made]
        over = self.store.read_by(
            "decisions", "decision_id", names, columns=["decision_id"], also="undone_at IS NOT NULL"
        )["decision_id"]
        return {
            new.look: AdmissionAct("accept", new.memory_id, other=new.other, decision=new)
            for new, name in zip(made, names, strict=True)
            if name not in over
        }

    def accepted(self) -> dict[tuple[str, str], AdmissionDecision]:
        """Return accepted decisions that still hold, by memory and revision of the acting note."""
        holds = "proposed IS NOT NULL AND outcome IN ('merge', 'supersede') AND undone_at IS NULL"
        rows = self._kept("decisions", holds)
        return {
            (row["memory_id"], row["revision"]): AdmissionDecision(
                row["memory_id"], row["revision"], row["outcome"], row["other_memory"], row["similarity"],
                evidence=row["evidence"], appended=tuple(row["appended"] or ()),
                other_revision=row["other_revision"], proposed=row["proposed"],
            )
            for row in rows.iter_rows(named=True)
        }  # fmt: skip

    def may_be_held(self, names: Iterable[str]) -> bool:
        """Whether a note of one of these memories is in quarantine."""
        return not set(self._kept("quarantine", REFUSED)["memory_id"]).isdisjoint(names)

    def _kept(self, name: str, where: str) -> pl.DataFrame:
        """Return a few rows of a table, cached while the table is unchanged."""
        store = self.store

        def mark(key: tuple[str, str]) -> tuple[int, tuple[str, ...]]:
            version, logged = store.mark(key[0])
            # Rows in the write-ahead log are new; no new decision matches these conditions.
            return version, () if key[0] == "decisions" else logged

        kept: TableCache[tuple[str, str], pl.DataFrame] = self.space.part(
            "kept rows", lambda: TableCache(mark, lambda key, *_: store.read(*key))
        )
        return kept.of((name, self.in_namespace(where)))

    def _undos(self, news: pl.DataFrame) -> dict[str, AdmissionAct]:
        """Return the decisions to undo, by decision id."""
        undos = news.filter(pl.col("act") == "undo")
        if undos.is_empty():
            return {}
        # A decision marked as undone may belong to an undo killed before it was applied.
        rows = self.store.read_by(
            "decisions",
            "decision_id",
            undos["source"].to_list(),
            also=self.in_namespace(f"undone_at IS NULL OR undone_why = {quote(UNDONE_BY_HAND)}"),
        )
        return {
            row["decision_id"]: AdmissionAct(
                "undo", row["memory_id"], other=row["other_memory"], by=UNDONE_BY_HAND
            )
            for row in rows.iter_rows(named=True)
        }

    def touched(
        self, news: pl.DataFrame, around: pl.DataFrame, settlements: dict[str, AdmissionAct]
    ) -> list[AdmissionRecord]:
        """Return the memories that the events touch: own, replaced, duplicated and settled ones."""
        if around.is_empty() and not settlements:
            return []
        replaced = news.filter(pl.col("known_revision").is_not_null())["memory_id"].to_list()
        frames = [around]
        if pairs := [name for act in settlements.values() for name in (act.memory_id, act.other) if name]:
            frames.append(self._rows("memory_id", pairs))
        if replaced:
            frames.append(self._rows("replaced_by", replaced))
        return self.records(pl.concat(frames).unique("memory_id"))

    def records(self, rows: pl.DataFrame) -> list[AdmissionRecord]:
        """Convert rows of ``memories`` (columns `RECORD`) to records; promoted ones are protected."""
        if rows.is_empty():
            return []
        promoted = states_in(self.space).promoted(self.namespace)
        return [
            memory_record(row, promoted.get(row["memory_id"], "")) for row in own(rows).iter_rows(named=True)
        ]

    def _rows(self, column: str, values: Sequence[str], *, also: str = "true") -> pl.DataFrame:
        return self.store.read_by("memories", column, values, columns=RECORD, also=self.in_namespace(also))

    def recall(self, names: Iterable[str]) -> list[AdmissionRecord]:
        """Return memories by id; those that a query returned already are not read again."""
        wanted = list(names)
        cached = [self._seen[name] for name in wanted if name in self._seen]
        rest = [name for name in wanted if name not in self._seen]
        return cached + self.records(self._rows("memory_id", rest)) if rest else cached

    def check_order(self, notes: Iterable[AdmissionRecord], *, acts: int) -> None:
        """Check whether any note is older than a stored memory and must be ordered."""
        moments = [note.moment for note in notes]
        if not moments or self.policy.reconsolidation == "off":
            return
        first = min(moments)
        self._latest = self.standing.latest(first) if self.standing else self._latest_in_table(first)
        if acts >= QUERIES_UP_TO and self._latest > NEVER:
            self._many = self.store.read(
                "memories", self.in_namespace(f"{one_of('status', _IN_USE)} AND vector IS NOT NULL"),
                columns=["memory_id", "sensitivity", "vector"],
            )  # fmt: skip

    def _latest_in_table(self, first: int) -> int:
        dated = f"CAST({quote(_iso(first))} AS TIMESTAMP)"
        newer = f"(dated >= {dated} OR (dated IS NULL AND revision >= {quote(f'{max(first, 0):016x}')}))"
        rows = self.store.read(
            "memories", self.in_namespace(f"status != 'retired' AND {newer}"), columns=["dated", "revision"]
        )
        own = (ids.revision_moment(text) for text in rows.filter(pl.col("dated").is_null())["revision"])
        carried = (to_microseconds(date) for date in rows["dated"].drop_nulls())
        return max((NEVER, *own, *carried))

    def similar_to(self, vectors: Sequence[np.ndarray], sensitivity: str) -> list[AdmissionRecord]:
        """Return memories, forgotten ones excepted, that are similar to one of these vectors."""
        names = pl.Series(dtype=pl.String)
        if self._many is not None:
            same = self._many.filter(pl.Series(sensitivities(self._many)) == sensitivity)
            if len(vectors) and not same.is_empty():
                matrix = matrix_of(same["vector"], self.store.identity.dimension)
                close = (matrix @ np.array(vectors, dtype=np.float32).T).max(axis=1)
                names = same["memory_id"].filter(pl.Series(close >= self.policy.floor - SLACK))
            return self.recall(names)
        rows = [
            self._nearest(vector, sensitivity, statuses=_IN_USE, count=NEAREST_OF_ALL)
            for vector in vectors if vector.any()
        ]  # fmt: skip
        return self.records(pl.concat(rows).unique("memory_id")) if rows else []

    def superseded_by(self, names: Iterable[str]) -> list[AdmissionRecord]:
        """Return the memories that these superseded."""
        wanted = list(names)
        return self.records(self._rows("replaced_by", wanted, also="status = 'superseded'")) if wanted else []

    def in_namespace(self, condition: str) -> str:
        """Return the condition, restricted to this namespace."""
        return within(self.namespace, condition)

    def neighbours(
        self, names: Sequence[str], kinds: Sequence[str], batch: np.ndarray, *, acts: int
    ) -> Neighbours:
        """Compute similarity of the live memories to notes of the same sensitivity.

        Args:
            names: Memories of the notes.
            kinds: Their sensitivities.
            batch: Their vectors (n, dimension).
            acts: Events of the whole batch (count).
        """
        floor, dimension = self.policy.floor, self.store.identity.dimension
        empty = Neighbours([], np.zeros((0, dimension), np.float32), names, batch, floor)
        if not np.isfinite(floor) or not batch.any():
            return empty
        if acts >= QUERIES_UP_TO and self.standing:
            live, matrix, groups = self.standing.live()
            codes = self.standing.codes_of(kinds)
            return Neighbours(live, matrix, names, batch, floor, groups=groups, batch_groups=codes)
        if acts >= QUERIES_UP_TO:
            rows = self.store.read(
                "memories", self.in_namespace("status = 'live' AND vector IS NOT NULL"),
                columns=["memory_id", "sensitivity", "vector"],
            )  # fmt: skip
        else:
            pairs = zip(batch, kinds, strict=True)
            nearest = [self._nearest(vector, kind) for vector, kind in pairs if vector.any()]
            rows = pl.concat(nearest).unique("memory_id") if len(nearest) > 1 else nearest[0]
            self._seen = {record.memory_id: record for record in self.records(rows)}
        groups, codes = coded(sensitivities(rows), kinds)
        return Neighbours(
            rows["memory_id"].to_list(), matrix_of(rows["vector"], dimension), names, batch, floor,
            groups=groups, batch_groups=codes,
        )  # fmt: skip

    def _nearest(
        self, vector: np.ndarray, sensitivity: str, *, statuses: Sequence[str] = (LIVE,),
        count: int = NEAREST_BY_QUERY,
    ) -> pl.DataFrame:  # fmt: skip
        if self.standing:
            floor = self.policy.floor - SLACK
            names = self.standing.nearest(vector, sensitivity, statuses, floor=floor, count=count)
            return self._rows("memory_id", names)
        condition = f"sensitivity = {quote(sensitivity)}"
        if sensitivity == DEFAULT_SENSITIVITY:
            condition = f"({condition} OR sensitivity IS NULL)"
        search = self.store.table("memories").search(vector, vector_column_name="vector")
        query = (
            search.distance_type("cosine")
            .bypass_vector_index()
            .where(self.in_namespace(f"{one_of('status', statuses)} AND {condition}"))
            .limit(count)
            .select([*RECORD, "_distance"])
        )
        with observe_query("vector_search", "memories"), self.store.explaining("memories"):
            frame = frame_of(query.to_arrow())
        return frame.filter(pl.col("_distance") <= 1.0 - self.policy.floor + SLACK).select(RECORD)

    def separated_pairs(self) -> frozenset[frozenset[str]]:
        """Return pairs of memories that a user separated."""
        if self.policy.reconsolidation == "off" and not self.policy.gate:
            return frozenset()
        rows = self._kept("decisions", f"undone_why = {quote(UNDONE_BY_HAND)}")
        pairs = zip(rows["memory_id"], rows["other_memory"], strict=True)
        return frozenset(frozenset(pair) for pair in pairs)

    def embed(self, title: str, content: str) -> np.ndarray:
        """Return the vector (dimension,) of a memory's text; zeros if it has no chunk."""
        chunks = ingest_pipeline.embed(self.store, self.space.embedder, self.cut(title, content))
        vectors = mean_vectors(chunks, self.store.identity.dimension)
        matrix = matrix_of(vectors["vector"], self.store.identity.dimension)
        return matrix[0] if len(matrix) else np.zeros(self.store.identity.dimension, np.float32)

    def cut(self, title: str, content: str) -> pl.DataFrame:
        """Split a memory with this title and content into chunks."""
        note = pl.DataFrame(
            {"namespace": "", "memory_id": "", "revision": "", "title": title, "content": content}
        ).with_columns(context=pl.lit(None, pl.String))  # which changes neither vectors nor counts
        return ingest_pipeline.cut(note, self.space.chunker, self.space.embedder.name)


def accepted_decision(row: dict[str, Any], principal: str) -> AdmissionDecision:
    """Return the decision that a waiting one (row of ``decisions``) becomes on acceptance."""
    return AdmissionDecision(
        row["memory_id"], row["revision"], row["proposed"], row["other_memory"], row["similarity"],
        evidence=f"accepted by {principal}; {row['evidence']}", other_revision=row["other_revision"],
        look=row["decision_id"], proposed=row["proposed"],
    )  # fmt: skip


def _iso(microseconds: int) -> str:
    return from_microseconds(microseconds).isoformat(timespec="microseconds")
