"""What has to be known around a batch of acts of one namespace, read from the tables."""

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
from slowwave.lifecycle import stages
from slowwave.lifecycle.admission.rows import RECORD, matrix_of, memory_record
from slowwave.lifecycle.quarantine import HELD, without_original
from slowwave.quality.admission.records import (
    ACCEPTED,
    DEFAULT_SENSITIVITY,
    LIVE,
    MERGED,
    RETIRED,
    SUPERSEDED,
    UNDONE_BY_HAND,
    AdmissionAct,
    AdmissionDecision,
    AdmissionPolicy,
    AdmissionRecord,
    Surroundings,
)
from slowwave.quality.neighbours import SLACK, Neighbours, coded
from slowwave.scoring.days import from_microseconds, to_microseconds
from slowwave.store import one_of, quote
from slowwave.store.asking import asking
from slowwave.store.frames import frame_of
from slowwave.store.labels import own
from slowwave.store.tenancy import within
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

QUERIES_UP_TO = 8
"""From so many acts on, one matrix product is cheaper than a query each (count)."""
NEAREST_BY_QUERY = 24
"""Memories that a query gives (count): each of the few acts before a note takes two away at most."""
TIME = pl.Datetime("us", "UTC")
NEAREST_OF_ALL = 512
"""The same where a late note is put in its turn, superseded and merged ones being with them (count)."""
_THERE = (LIVE, MERGED, SUPERSEDED)


def standing_in(space: Workspace, namespace: str) -> NeighbourCache | None:
    """What is known of a namespace now; None where its tables have to be asked."""
    most = int(space.settings.store.snapshot_mb * 2**20)
    if not most or space.store.in_memory:
        return None
    followers = space.part(
        "standing", lambda: CachesByNamespace(lambda name: NeighbourCache(space.store, name, most), most)
    )
    found = followers.of(namespace)
    found.follow()
    followers.trim()
    return None if found.too_large else found


class Around:
    """Context of one batch of a namespace: the memories that its entries touch, and their neighbours."""

    def __init__(self, space: Workspace, namespace: str, policy: AdmissionPolicy) -> None:
        self.space, self.store, self.namespace, self.policy = space, space.store, namespace, policy
        self.standing = standing_in(space, namespace)
        self._seen: dict[str, AdmissionRecord] = {}
        self._latest = NEVER
        self._many: pl.DataFrame | None = None

    def surroundings(self, known: Iterable[AdmissionRecord], neighbours: Neighbours) -> Surroundings:
        """These, with what is loaded when it is asked for."""
        by_id = {record.memory_id: record for record in known}
        return Surroundings(
            by_id, neighbours, self.policy, self.recall, self.embed, self.apart(),
            accepted=self.accepted() if self.policy.reconsolidation != "off" else {},
            latest=self._latest, near=self.near, behind=self.behind,
        )  # fmt: skip

    def known_of(self, acts: pl.DataFrame) -> pl.DataFrame:
        """What is known of the memories of the acts, and of those that say exactly what they say."""
        names = acts["memory_id"].to_list()
        hashes = acts.filter((pl.col("act") == "save") & self.policy.gate)["content_hash"].to_list()
        if self.standing and not self.standing.knows([*names, *hashes]):
            return self.store.empty("memories", RECORD)
        there = one_of("status", [LIVE, MERGED])
        if acts.height < QUERIES_UP_TO:
            same = f" OR ({one_of('content_hash', hashes)} AND {there})" if hashes else ""
            where = self.mine(one_of("memory_id", names) + same)
            return self.store.read("memories", where, columns=RECORD)
        return pl.concat(
            [self._rows("memory_id", names), self._rows("content_hash", hashes, also=there)]
        ).unique("memory_id")

    def news(self, acts: pl.DataFrame, around: pl.DataFrame, *, again: bool) -> pl.DataFrame:
        """The acts with what is known of their memories, and whether they are newer (`is_news`)."""
        if around.is_empty():
            news = acts.with_columns(
                known_revision=pl.lit(None, pl.String), known_status=pl.lit(None, pl.String),
                known_created=pl.lit(None, TIME), is_news=pl.lit(value=True),
            )  # fmt: skip
        else:
            news = self._beside(acts, around)
        if again and not news.filter("is_news").is_empty():
            refused = self._still_refused(news.filter("is_news"))
            mark = pl.concat_str("memory_id", pl.lit(":"), "revision").is_in(refused)
            news = news.with_columns(is_news=pl.col("is_news") & ~mark)
        return news

    def _beside(self, acts: pl.DataFrame, around: pl.DataFrame) -> pl.DataFrame:
        known = around.select(
            "memory_id",
            known_revision=pl.col("revision").str.split("+").list.first(),
            known_status="status",
            # A memory that was forgotten before its text was ever seen has no time of its own.
            known_created=pl.when(pl.col("content_hash").is_not_null()).then("created_at"),
        )
        joined = acts.join(known, on="memory_id", how="left", maintain_order="left")
        newer = pl.col("known_revision").is_null() | (pl.col("known_revision") < pl.col("revision"))
        retired = (pl.col("act") == "forget") & pl.col("known_status").eq_missing(RETIRED)
        return joined.with_columns(is_news=pl.col("act").is_in(WORDS) | (newer & ~retired))

    def _still_refused(self, acts: pl.DataFrame) -> list[str]:
        """Notes that were refused as duplicates of what is there still: that is not asked again."""
        names = (acts["memory_id"] + ":" + acts["revision"]).to_list()
        held = self.store.read_by(
            "quarantine", "quarantine_id", names, also=f"status = {quote(HELD)} AND duplicate_of IS NOT NULL"
        )
        lost = without_original(self.store, held)
        return held.join(lost, on="quarantine_id", how="anti")["quarantine_id"].to_list()

    def words(self, news: pl.DataFrame) -> dict[str, AdmissionAct]:
        """What people say of decisions, by decision id."""
        return self._undos(news) | self._accepts(news) if set(WORDS) & set(news["act"]) else {}

    def _accepts(self, news: pl.DataFrame) -> dict[str, AdmissionAct]:
        """What is to be carried out as it was proposed, by the id of the decision that proposed it."""
        asked = news.filter(pl.col("act") == "accept")
        if asked.is_empty():
            return {}
        # One that is marked as accepted may belong to an act that was killed before it was carried out.
        waits = self.mine(
            f"outcome = 'related' AND proposed IS NOT NULL "
            f"AND (undone_at IS NULL OR undone_why = {quote(ACCEPTED)})"
        )
        rows = self.store.read_by("decisions", "decision_id", asked["source"].to_list(), also=waits)
        who = dict(asked.select("source", "principal").iter_rows())
        made = [accepted(row, who[row["decision_id"]]) for row in rows.iter_rows(named=True)]
        names = [ids.decision_id(one.memory_id, one.revision, one.look) for one in made]
        over = self.store.read_by(
            "decisions", "decision_id", names, columns=["decision_id"], also="undone_at IS NOT NULL"
        )["decision_id"]
        return {
            one.look: AdmissionAct("accept", one.memory_id, other=one.other, decision=one)
            for one, name in zip(made, names, strict=True)
            if name not in over
        }

    def accepted(self) -> dict[tuple[str, str], AdmissionDecision]:
        """What people let happen and holds still, by memory and revision of the one that acts."""
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
        return not set(self._kept("quarantine", f"status = {quote(HELD)}")["memory_id"]).isdisjoint(names)

    def _kept(self, name: str, where: str) -> pl.DataFrame:
        """Few rows of a table, read once while the table is the same."""
        store = self.store

        def mark(key: tuple[str, str]) -> tuple[int, tuple[str, ...]]:
            version, logged = store.mark(key[0])
            # Rows that wait in the log are new: of decisions none is what is asked for here.
            return version, () if key[0] == "decisions" else logged

        kept: TableCache[tuple[str, str], pl.DataFrame] = self.space.part(
            "kept rows", lambda: TableCache(mark, lambda key, *_: store.read(*key))
        )
        return kept.of((name, self.mine(where)))

    def _undos(self, news: pl.DataFrame) -> dict[str, AdmissionAct]:
        """What is to be undone, by decision id."""
        asked = news.filter(pl.col("act") == "undo")
        if asked.is_empty():
            return {}
        # One that is marked as undone may belong to an undo that was killed before it was carried out.
        rows = self.store.read_by(
            "decisions",
            "decision_id",
            asked["source"].to_list(),
            also=self.mine(f"undone_at IS NULL OR undone_why = {quote(UNDONE_BY_HAND)}"),
        )
        return {
            row["decision_id"]: AdmissionAct(
                "undo", row["memory_id"], other=row["other_memory"], by=UNDONE_BY_HAND
            )
            for row in rows.iter_rows(named=True)
        }

    def touched(
        self, news: pl.DataFrame, around: pl.DataFrame, words: dict[str, AdmissionAct]
    ) -> list[AdmissionRecord]:
        """What the acts touch: themselves, what they replaced, and what says the same already."""
        if around.is_empty() and not words:
            return []
        known = news.filter(pl.col("known_revision").is_not_null())["memory_id"].to_list()
        found = [around]
        if pairs := [name for act in words.values() for name in (act.memory_id, act.other) if name]:
            found.append(self._rows("memory_id", pairs))
        if known:
            found.append(self._rows("replaced_by", known))
        return self.records(pl.concat(found).unique("memory_id"))

    def records(self, rows: pl.DataFrame) -> list[AdmissionRecord]:
        """Rows of ``memories`` (columns `RECORD`) as admission sees them: what use promoted is protected."""
        if rows.is_empty():
            return []
        promoted = states_in(self.space).promoted(self.namespace)
        return [
            memory_record(row, promoted.get(row["memory_id"], "")) for row in own(rows).iter_rows(named=True)
        ]

    def _rows(self, column: str, values: Sequence[str], *, also: str = "true") -> pl.DataFrame:
        return self.store.read_by("memories", column, values, columns=RECORD, also=self.mine(also))

    def recall(self, names: Iterable[str]) -> list[AdmissionRecord]:
        """Memories by id, those that a query has brought already without another read."""
        wanted = list(names)
        found = [self._seen[name] for name in wanted if name in self._seen]
        rest = [name for name in wanted if name not in self._seen]
        return found + self.records(self._rows("memory_id", rest)) if rest else found

    def look_for_newer(self, notes: Iterable[AdmissionRecord], *, acts: int) -> None:
        """Find out whether any of these may come late, so that it has to be put in its turn."""
        moments = [note.moment for note in notes]
        if not moments or self.policy.reconsolidation == "off":
            return
        first = min(moments)
        if self.standing:
            self._latest = self.standing.latest(first)
        else:
            self._latest = self._latest_in_table(first)
        if acts >= QUERIES_UP_TO and self._latest > NEVER:
            self._many = self.store.read(
                "memories", self.mine(f"{one_of('status', _THERE)} AND vector IS NOT NULL"),
                columns=["memory_id", "sensitivity", "vector"],
            )  # fmt: skip

    def _latest_in_table(self, first: int) -> int:
        dated = f"CAST({quote(_iso(first))} AS TIMESTAMP)"
        newer = f"(dated >= {dated} OR (dated IS NULL AND revision >= {quote(f'{max(first, 0):016x}')}))"
        rows = self.store.read(
            "memories", self.mine(f"status != 'retired' AND {newer}"), columns=["dated", "revision"]
        )
        own = (ids.revision_moment(one) for one in rows.filter(pl.col("dated").is_null())["revision"])
        carried = (to_microseconds(one) for one in rows["dated"].drop_nulls())
        return max((NEVER, *own, *carried))

    def near(self, vectors: Sequence[np.ndarray], sensitivity: str) -> list[AdmissionRecord]:
        """What was not forgotten and resembles one of these vectors."""
        found = pl.Series(dtype=pl.String)
        if self._many is not None:
            mine = self._many.filter(pl.Series(sensitivities(self._many)) == sensitivity)
            if len(vectors) and not mine.is_empty():
                matrix = matrix_of(mine["vector"], self.store.identity.dimension)
                close = (matrix @ np.array(vectors, dtype=np.float32).T).max(axis=1)
                found = mine["memory_id"].filter(pl.Series(close >= self.policy.floor - SLACK))
            return self.recall(found)
        rows = [
            self._nearest(vector, sensitivity, statuses=_THERE, count=NEAREST_OF_ALL)
            for vector in vectors if vector.any()
        ]  # fmt: skip
        return self.records(pl.concat(rows).unique("memory_id")) if rows else []

    def behind(self, names: Iterable[str]) -> list[AdmissionRecord]:
        """What these superseded."""
        wanted = list(names)
        return self.records(self._rows("replaced_by", wanted, also="status = 'superseded'")) if wanted else []

    def mine(self, condition: str) -> str:
        """The condition, of this namespace only."""
        return within(self.namespace, condition)

    def neighbours(self, notes: pl.DataFrame, batch: np.ndarray, *, acts: int) -> Neighbours:
        """The live memories by similarity to notes (memory_id, sensitivity), of the same sensitivity.

        Args:
            notes: as they come, one after the other.
            batch: their vectors (n, dimension).
            acts: how many there are besides.
        """
        floor = self.policy.floor
        dimension = self.store.identity.dimension
        names = notes["memory_id"].to_list()
        kinds = sensitivities(notes)
        nobody = Neighbours([], np.zeros((0, dimension), np.float32), names, batch, floor)
        if not np.isfinite(floor) or not batch.any():
            return nobody
        if acts >= QUERIES_UP_TO and self.standing:
            there, matrix, theirs = self.standing.live()
            mine = self.standing.codes_of(kinds)
            return Neighbours(there, matrix, names, batch, floor, groups=theirs, batch_groups=mine)
        if acts >= QUERIES_UP_TO:
            rows = self.store.read(
                "memories", self.mine("status = 'live' AND vector IS NOT NULL"),
                columns=["memory_id", "sensitivity", "vector"],
            )  # fmt: skip
        else:
            found = [
                self._nearest(vector, kind) for vector, kind in zip(batch, kinds, strict=True) if vector.any()
            ]
            rows = pl.concat(found).unique("memory_id")
            self._seen = {record.memory_id: record for record in self.records(rows)}
        theirs, mine = coded(sensitivities(rows), kinds)
        return Neighbours(
            rows["memory_id"].to_list(), matrix_of(rows["vector"], dimension), names, batch, floor,
            groups=theirs, batch_groups=mine,
        )  # fmt: skip

    def _nearest(
        self, vector: np.ndarray, sensitivity: str, *, statuses: Sequence[str] = (LIVE,),
        count: int = NEAREST_BY_QUERY,
    ) -> pl.DataFrame:  # fmt: skip
        if self.standing:
            floor = self.policy.floor - SLACK
            names = self.standing.nearest(vector, sensitivity, statuses, floor=floor, count=count)
            return self._rows("memory_id", names)
        known = f"sensitivity = {quote(sensitivity)}"
        if sensitivity == DEFAULT_SENSITIVITY:
            known = f"({known} OR sensitivity IS NULL)"
        search = self.store.table("memories").search(vector, vector_column_name="vector")
        query = (
            search.distance_type("cosine")
            .bypass_vector_index()
            .where(self.mine(f"{one_of('status', statuses)} AND {known}"))
            .limit(count)
            .select([*RECORD, "_distance"])
        )
        with asking("vector_search", "memories"), self.store.explaining("memories"):
            found = query.to_arrow()
        frame = frame_of(found)
        return frame.filter(pl.col("_distance") <= 1.0 - self.policy.floor + SLACK).select(RECORD)

    def apart(self) -> frozenset[frozenset[str]]:
        """Pairs that a person has parted."""
        if self.policy.reconsolidation == "off" and not self.policy.gate:
            return frozenset()
        rows = self._kept("decisions", f"undone_why = {quote(UNDONE_BY_HAND)}")
        return frozenset(map(frozenset, zip(rows["memory_id"], rows["other_memory"], strict=True)))

    def embed(self, title: str, content: str) -> np.ndarray:
        """Vector (dimension,) of a memory with this title and content; zero where it has no chunk."""
        chunks = stages.embed(self.store, self.space.embedder, self.cut(title, content))
        dimension = self.store.identity.dimension
        found: np.ndarray = matrix_of(mean_vectors(chunks, dimension)["vector"], dimension)
        return found[0] if len(found) else np.zeros(dimension, np.float32)

    def cut(self, title: str, content: str) -> pl.DataFrame:
        """Chunks of a memory with this title and content."""
        note = pl.DataFrame(
            {"namespace": "", "memory_id": "", "revision": "", "title": title, "content": content}
        ).with_columns(context=pl.lit(None, pl.String))  # which changes neither vectors nor counts
        return stages.cut(note, self.space.chunker, self.space.embedder.name)


def accepted(row: dict[str, Any], principal: str) -> AdmissionDecision:
    """What a waiting decision (row of ``decisions``) comes to when a person accepts it."""
    return AdmissionDecision(
        row["memory_id"], row["revision"], row["proposed"], row["other_memory"], row["similarity"],
        evidence=f"accepted by {principal}; {row['evidence']}", other_revision=row["other_revision"],
        look=row["decision_id"], proposed=row["proposed"],
    )  # fmt: skip


def _iso(microseconds: int) -> str:
    return from_microseconds(microseconds).isoformat(timespec="microseconds")
