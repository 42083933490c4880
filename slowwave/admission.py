"""Sound notes enter the memory: decided one after the other, logged, then written.

``quality.admission`` decides; here is what it has to know and what becomes of its decisions. All of it
happens behind the home's one writing lock, so two processes that save at once come to the same memory as
one that saves twice. The decision log is written first and the memories in one commit, so a run that is
killed leaves either the old memories or the new ones; chunks follow their memory (`slowwave.reconcile`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from quality.admission import (
    LIVE,
    MERGED,
    RETIRED,
    SUPERSEDED,
    Act,
    Admission,
    AdmissionPolicy,
    Change,
    Decision,
    Record,
    admit,
    reconsider,
)
from quality.neighbours import SLACK, Neighbours
from slowwave import ids, progress, stages
from slowwave.entries import KEYLESS
from slowwave.quarantine import HELD, hold, settle_held, without_original
from slowwave.reconcile import labelled, reconcile
from slowwave.store import one_of, quote
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.workspace import Workspace

ACTS_AT_ONCE = 4_096
"""Acts decided and committed together (count)."""
QUERIES_UP_TO = 8
"""From so many acts on, one matrix product is cheaper than a query each (count)."""
NEAREST_BY_QUERY = 24
"""Memories that a query gives (count): each of the few acts before a note takes two away at most."""
UNDONE_BY_HAND = "undo"

_RECORD = (
    "memory_id", "namespace", "revision", "status", "title", "source", "origin", "content", "content_hash",
    "importance_tier", "source_of_truth", "replaced_by", "absorbed", "original", "vector", "created_at",
)  # fmt: skip

_HOLDS = "undone_at IS NULL AND outcome IN ('merge', 'supersede', 'related')"

TIME = pl.Datetime("us", "UTC")
ChunksOf = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of acts: counts, and the decisions that were made (rows of ``decisions``)."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    retired: int = 0
    merged: int = 0
    superseded: int = 0
    refused: int = 0
    related: int = 0
    undone: int = 0
    decisions: pl.DataFrame = field(default_factory=pl.DataFrame)
    warnings: tuple[str, ...] = ()

    def __add__(self, other: Settled) -> Settled:
        counts = {
            part.name: getattr(self, part.name) + getattr(other, part.name)
            for part in fields(self)
            if part.name not in ("decisions", "warnings")
        }
        frames = [frame for frame in (self.decisions, other.decisions) if frame.width]
        return Settled(
            **counts,
            decisions=pl.concat(frames) if frames else pl.DataFrame(),
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
        )


def settle(space: Workspace, acts: pl.DataFrame, chunks_of: ChunksOf, *, again: bool = False) -> Settled:
    """Let acts that passed the gate happen: notes enter, forgotten ones retire, decisions are undone.

    Args:
        space: the home.
        acts: rows of ``staged_notes`` (save, forget, undo) of any days and namespaces, in any order.
        chunks_of: gives the embedded chunks of notes (rows of `acts`).
        again: whether these acts may have been settled before, as in a rerun of a night.
    """
    policy, warnings = space.admission()
    done = Settled(warnings=warnings)
    with progress.task("deciding and writing", acts.height) as advance:
        for (namespace,), mine in acts.group_by("namespace", maintain_order=True):
            for run in _runs(mine):
                with space.writing():
                    done += _Batch(space, str(namespace), policy).settle(run, chunks_of, again=again)
                advance(run.height)
    return done


def look_again(
    space: Workspace, namespace: str, policy: AdmissionPolicy, as_of: datetime, *, dry_run: bool
) -> tuple[int, Settled, list[Decision]]:
    """Reconsolidate what is live already: how many memories, what became of them, and every decision."""
    with space.writing():
        return _Batch(space, namespace, policy).look_again(as_of, dry_run=dry_run)


def _runs(acts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Acts in the order in which they happen, in pieces of one day.

    A day is forgets, direct saves, notes of vaults by (created_at, id), then undos, which have a piece of
    their own: what they undo has to be in the log.
    """
    order = pl.col("act").replace_strict({"forget": 0, "save": 1, "undo": 2}, return_dtype=pl.Int8)
    acts = acts.with_columns(order=order).sort(
        "day", "order", pl.col("origin").fill_null("") != "", "created_at", "memory_id"
    )
    for _, part in acts.group_by("day", pl.col("order") == 2, maintain_order=True):
        yield from part.drop("order").iter_slices(ACTS_AT_ONCE)


class _Batch:
    """One batch of one namespace."""

    def __init__(self, space: Workspace, namespace: str, policy: AdmissionPolicy) -> None:
        self._space, self._store, self._namespace = space, space.store, namespace
        self._policy = policy
        self._seen: dict[str, Record] = {}
        self._again = False
        self._undone = 0
        self._look = ""  # names the look at what is live already that a decision belongs to

    def settle(self, acts: pl.DataFrame, chunks_of: ChunksOf, *, again: bool) -> Settled:
        """Decide, log, write."""
        self._again = again
        around = self._around(acts)
        acts = self._news(acts, around, again=again)
        news = acts.filter("is_news")
        unchanged = acts.height - news.height
        if news.is_empty():
            return Settled(unchanged=unchanged)
        saves = news.filter(pl.col("act") == "save")
        chunks = chunks_of(saves).join(saves, on=["memory_id", "revision"], how="semi")
        vectors = mean_vectors(chunks, self._store.identity.dimension)
        notes = saves.select("memory_id").join(vectors, on="memory_id", how="left", maintain_order="left")
        matrix = _matrix(notes["vector"], self._store.identity.dimension)
        undos = self._undos(news)
        neighbours = self._neighbours(notes["memory_id"].to_list(), matrix, acts=news.height)
        admission = admit(
            self._acts(news, dict(zip(notes["memory_id"], matrix, strict=True)), undos),
            {record.memory_id: record for record in self._touched(news, around, undos)},
            neighbours,
            self._policy,
            recall=self._recall,
            embed=self._embed,
            apart=self._apart(),
        )
        decisions = self._log(admission, saves, news)
        self._refuse(admission, saves)
        return self._write(admission, news, chunks, decisions) + Settled(unchanged=unchanged)

    def look_again(self, as_of: datetime, *, dry_run: bool) -> tuple[int, Settled, list[Decision]]:
        """Decide about the live memories, one after the other, and write unless it is a dry run."""
        self._look = as_of.isoformat()
        rows = self._store.read("memories", self._mine("status = 'live'"), columns=_RECORD)
        rows = rows.sort("created_at", "memory_id")
        known = {row["memory_id"]: _record(row) for row in rows.iter_rows(named=True)}
        names = list(known)
        dimension = self._store.identity.dimension
        matrix = _matrix(rows["vector"], dimension)
        admission = reconsider(
            names,
            known,
            Neighbours(names, matrix, names, matrix, self._policy.floor),
            self._policy,
            recall=self._recall,
            embed=self._embed,
            apart=self._apart(),
        )
        if dry_run:
            return len(names), Settled(), admission.decisions
        acts = pl.DataFrame(
            {
                "memory_id": names,
                "revision": [record.revision for record in known.values()],
            }
        ).with_columns(
            day=pl.lit(as_of.date().isoformat()),
            act=pl.lit("save"),
            occurred_at=pl.lit(as_of).cast(pl.Datetime("us", "UTC")),
            known_revision="revision",
        )
        looked = replace(
            admission, decisions=[one for one in admission.decisions if one.outcome != "complement"]
        )
        decisions = self._log(looked, acts, acts)
        done = self._write(looked, acts.clear(), stages.no_chunks(self._space.embedder), decisions)
        return len(names), done, admission.decisions

    # -- what has to be known --------------------------------------------------------------------

    def _around(self, acts: pl.DataFrame) -> pl.DataFrame:
        """What is known of the memories of the acts, and of those that say exactly what they say."""
        names = acts["memory_id"].to_list()
        hashes = acts.filter((pl.col("act") == "save") & self._policy.gate)["content_hash"].to_list()
        there = one_of("status", [LIVE, MERGED])
        if acts.height < QUERIES_UP_TO:
            same = f" OR ({one_of('content_hash', hashes)} AND {there})" if hashes else ""
            where = self._mine(one_of("memory_id", names) + same)
            return self._store.read("memories", where, columns=_RECORD)
        return pl.concat(
            [self._rows("memory_id", names), self._rows("content_hash", hashes, also=there)]
        ).unique("memory_id")

    def _news(self, acts: pl.DataFrame, around: pl.DataFrame, *, again: bool) -> pl.DataFrame:
        """The acts with what is known of their memories, and whether they are newer (`is_news`)."""
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
        news = joined.with_columns(is_news=(pl.col("act") == "undo") | (newer & ~retired))
        if again and not news.filter("is_news").is_empty():
            refused = self._still_refused(news.filter("is_news"))
            mark = pl.concat_str("memory_id", pl.lit(":"), "revision").is_in(refused)
            news = news.with_columns(is_news=pl.col("is_news") & ~mark)
        return news

    def _still_refused(self, acts: pl.DataFrame) -> list[str]:
        """Notes that were refused as duplicates of what is there still: that is not asked again."""
        names = (acts["memory_id"] + ":" + acts["revision"]).to_list()
        held = self._store.read_by(
            "quarantine", "quarantine_id", names, also=f"status = {quote(HELD)} AND duplicate_of IS NOT NULL"
        )
        lost = without_original(self._store, held)
        return held.join(lost, on="quarantine_id", how="anti")["quarantine_id"].to_list()

    def _acts(self, news: pl.DataFrame, vectors: dict[str, np.ndarray], undos: dict[str, Act]) -> list[Act]:
        """The acts, in their order."""
        gate = self._space.gate_policy
        acts = []
        for row in news.iter_rows(named=True):
            name = row["memory_id"]
            if row["act"] == "undo":
                acts += [undos[row["source"]]] if row["source"] in undos else []
            elif row["act"] == "forget":
                acts.append(Act("forget", name))
            else:
                warned = not gate.enforces_at(row["occurred_at"])
                acts.append(Act("save", name, note=_note(row, vectors[name], warned=warned)))
        return acts

    def _undos(self, news: pl.DataFrame) -> dict[str, Act]:
        """What is to be undone, by decision id."""
        asked = news.filter(pl.col("act") == "undo")
        if asked.is_empty():
            return {}
        # One that is marked as undone may belong to an undo that was killed before it was carried out.
        rows = self._store.read_by(
            "decisions",
            "decision_id",
            asked["source"].to_list(),
            also=self._mine(f"undone_at IS NULL OR undone_why = {quote(UNDONE_BY_HAND)}"),
        )
        return {
            row["decision_id"]: Act("undo", row["memory_id"], other=row["other_memory"], by=UNDONE_BY_HAND)
            for row in rows.iter_rows(named=True)
        }

    def _touched(self, news: pl.DataFrame, around: pl.DataFrame, undos: dict[str, Act]) -> list[Record]:
        """What the acts touch: themselves, what they replaced, and what says the same already."""
        known = news.filter(pl.col("known_revision").is_not_null())["memory_id"].to_list()
        found = [around]
        if pairs := [name for act in undos.values() for name in (act.memory_id, act.other) if name]:
            found.append(self._rows("memory_id", pairs))
        if known:
            found.append(self._rows("replaced_by", known))
        return [_record(row) for row in pl.concat(found).unique("memory_id").iter_rows(named=True)]

    def _rows(self, column: str, values: Sequence[str], *, also: str = "true") -> pl.DataFrame:
        return self._store.read_by("memories", column, values, columns=_RECORD, also=self._mine(also))

    def _recall(self, names: Iterable[str]) -> list[Record]:
        wanted = list(names)
        found = [self._seen[name] for name in wanted if name in self._seen]
        rest = [name for name in wanted if name not in self._seen]
        return found + [_record(row) for row in self._rows("memory_id", rest).iter_rows(named=True)]

    def _mine(self, condition: str) -> str:
        return f"namespace = {quote(self._namespace)} AND ({condition})"

    def _neighbours(self, names: list[str], batch: np.ndarray, *, acts: int) -> Neighbours:
        floor = self._policy.floor
        dimension = self._store.identity.dimension
        nobody = Neighbours([], np.zeros((0, dimension), np.float32), names, batch, floor)
        if not np.isfinite(floor) or not batch.any():
            return nobody
        if acts >= QUERIES_UP_TO:
            rows = self._store.read(
                "memories", self._mine("status = 'live' AND vector IS NOT NULL"),
                columns=["memory_id", "vector"],
            )  # fmt: skip
        else:
            rows = pl.concat(self._nearest(vector) for vector in batch if vector.any()).unique("memory_id")
            self._seen = {row["memory_id"]: _record(row) for row in rows.iter_rows(named=True)}
        return Neighbours(
            rows["memory_id"].to_list(), _matrix(rows["vector"], dimension), names, batch, floor
        )

    def _nearest(self, vector: np.ndarray) -> pl.DataFrame:
        search = self._store.table("memories").search(vector, vector_column_name="vector")
        found = (
            search.distance_type("cosine")
            .bypass_vector_index()
            .where(self._mine("status = 'live'"))
            .limit(NEAREST_BY_QUERY)
            .select([*_RECORD, "_distance"])
            .to_arrow()
        )
        frame = pl.from_arrow(found)
        assert isinstance(frame, pl.DataFrame)
        return frame.filter(pl.col("_distance") <= 1.0 - self._policy.floor + SLACK).select(_RECORD)

    def _apart(self) -> frozenset[frozenset[str]]:
        """Pairs that a person has parted."""
        if self._policy.reconsolidation == "off" and not self._policy.gate:
            return frozenset()
        rows = self._store.read(
            "decisions",
            self._mine(f"undone_why = {quote(UNDONE_BY_HAND)}"),
            columns=["memory_id", "other_memory"],
        )
        return frozenset(frozenset(pair) for pair in rows.iter_rows())

    def _embed(self, title: str, content: str) -> np.ndarray:
        chunks = stages.embed(self._store, self._space.embedder, self._cut(title, content))
        vectors = mean_vectors(chunks, self._store.identity.dimension)
        found: np.ndarray = _matrix(vectors["vector"], self._store.identity.dimension)
        return found[0] if len(found) else np.zeros(self._store.identity.dimension, np.float32)

    def _cut(self, title: str, content: str) -> pl.DataFrame:
        note = pl.DataFrame(
            {"namespace": "", "memory_id": "", "revision": "", "title": title, "content": content},
        ).with_columns(
            context=pl.lit(None, pl.String)
        )  # for a vector or a count, neither of which it changes
        return stages.cut(note, self._space.chunker, self._space.embedder.name)

    # -- what becomes of it ----------------------------------------------------------------------

    def _log(self, admission: Admission, saves: pl.DataFrame, news: pl.DataFrame) -> pl.DataFrame:
        """Write the decisions, the edges and what lapsed; gives the decisions of this batch."""
        every = self._policy.reconsolidation != "off"
        wanted = [one for one in admission.decisions if every or one.reasons or one.skipped]
        rows = pl.DataFrame(
            [
                {
                    "decision_id": ids.decision_id(one.memory_id, one.revision, self._look),
                    "memory_id": one.memory_id, "revision": one.revision, "other_memory": one.other,
                    "outcome": one.outcome, "similarity": one.similarity, "reasons": list(one.reasons),
                    "refused": one.refused, "skipped": one.skipped, "evidence": one.evidence,
                    "appended": list(one.appended),
                }
                for one in wanted
            ],
            schema={
                "decision_id": pl.String, "memory_id": pl.String, "revision": pl.String,
                "other_memory": pl.String, "outcome": pl.String, "similarity": pl.Float64,
                "reasons": pl.List(pl.String), "refused": pl.Boolean, "skipped": pl.Boolean,
                "evidence": pl.String, "appended": pl.List(pl.String),
            },
        )  # fmt: skip
        rows = rows.with_columns(
            namespace=pl.lit(self._namespace), policy=pl.lit(self._policy.reconsolidation)
        )
        acts = saves.select("memory_id", "revision", "day", decided_at="occurred_at")
        rows = rows.join(acts, on=["memory_id", "revision"], how="left", maintain_order="left")
        self._lapse(admission, news)
        if not rows.is_empty():
            self._store.upsert("decisions", rows)
        edges = rows.filter(pl.col("outcome").is_in(["supersede", "related"]) & ~pl.col("refused")).select(
            "namespace", "decision_id", "similarity", "evidence",
            edge_id="decision_id",
            from_memory="memory_id",
            to_memory="other_memory",
            kind=pl.col("outcome").replace({"supersede": "supersedes"}),
            strength=pl.when(pl.col("outcome") == "supersede").then(1.0).otherwise("similarity"),
            created_at="decided_at",
        )  # fmt: skip
        if self._again and not rows.is_empty():  # a killed run may have left others
            self._store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
        if every and not edges.is_empty():
            self._store.upsert("edges", edges)
        return rows

    def _lapse(self, admission: Admission, news: pl.DataFrame) -> None:
        """Note in the log which decisions hold no longer, and take their edges away."""
        undone = {row["source"]: row for row in news.filter(pl.col("act") == "undo").iter_rows(named=True)}
        lapsed = {(one.memory_id, one.revision): one for one in admission.lapses}
        found = [self._store.empty("decisions")]
        if lapsed:
            about = self._store.read_by(
                "decisions", "memory_id", [name for name, _ in lapsed], also=self._mine(_HOLDS)
            )
            texts = [text in lapsed for text in about.select("memory_id", "revision").iter_rows()]
            found.append(about.filter(pl.Series(texts, dtype=pl.Boolean)))
        if undone:
            found.append(
                self._store.read_by(
                    "decisions", "decision_id", list(undone), also=self._mine("undone_at IS NULL")
                )
            )
        rows = pl.concat(found).unique("decision_id", keep="last", maintain_order=True)
        if rows.is_empty():
            return
        times = dict(news.select("memory_id", "occurred_at").iter_rows())
        last: datetime = news["occurred_at"].max()  # type: ignore[assignment]
        marks = []
        for name, memory, revision in rows.select("decision_id", "memory_id", "revision").iter_rows():
            if name in undone:
                told = undone[name]["occurred_at"], undone[name]["principal"], UNDONE_BY_HAND
            else:
                lapse = lapsed[memory, revision]
                told = times.get(lapse.act, last), None, lapse.by
            marks.append((name, *told))
        columns = ("decision_id", "undone_at", "undone_by", "undone_why")
        frame = pl.DataFrame(
            marks,
            schema=dict(zip(columns, (pl.String, TIME, pl.String, pl.String), strict=True)),
            orient="row",
        )
        self._undone = rows.height
        # Edges first, or a run that is killed after the marks would leave them.
        self._store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
        self._store.upsert("decisions", rows.drop(columns[1:]).join(frame, on="decision_id"))

    def _refuse(self, admission: Admission, saves: pl.DataFrame) -> None:
        refused = pl.DataFrame(
            [
                {
                    "memory_id": one.memory_id, "revision": one.revision, "reasons": list(one.reasons),
                    "duplicate_of": one.other, "duplicate_revision": one.other_revision,
                    "details": one.evidence,
                }
                for one in admission.decisions
                if one.refused
            ],
            schema={
                "memory_id": pl.String, "revision": pl.String, "reasons": pl.List(pl.String),
                "duplicate_of": pl.String, "duplicate_revision": pl.String, "details": pl.String,
            },
        )  # fmt: skip
        hold(self._store, saves, refused, again=self._again)

    def _write(
        self, admission: Admission, news: pl.DataFrame, chunks: pl.DataFrame, decisions: pl.DataFrame
    ) -> Settled:
        """Put the memories as they are now into the store, in one commit, and let their chunks follow."""
        store = self._store
        saves = news.filter(pl.col("act") == "save")
        forgets = news.filter(pl.col("act") == "forget")
        entered = self._standing(admission.entered, chunks)
        columns = store.specs["memories"].schema.names
        parts = []
        if not entered.is_empty():
            created = pl.coalesce("known_created", "created_at")
            parts.append(
                saves.drop("content", "revision")
                .join(entered, on="memory_id", how="inner", maintain_order="left")
                .with_columns(
                    created_at=pl.when("dated").then("created_at").otherwise(created),
                    updated_at="occurred_at",
                )
            )
        if admission.changes:
            rows = store.read_by("memories", "memory_id", list(admission.changes))
            changed = self._standing(admission.changes, chunks)
            gone = forgets.select("memory_id", retired_now="occurred_at", act_revision="revision")
            parts.append(
                rows.drop([name for name in changed.columns if name not in ("memory_id",)])
                .join(changed, on="memory_id", how="inner")
                .join(gone, on="memory_id", how="left")
                .with_columns(
                    revision=pl.coalesce("act_revision", "revision"),
                    retired_at=pl.coalesce("retired_now", "retired_at"),
                    updated_at=pl.coalesce("retired_now", "updated_at"),
                )
            )
        unknown = forgets.filter(pl.col("known_revision").is_null())
        if not unknown.is_empty():
            parts.append(_tombstones(unknown))
        pieces = [part.select([name for name in columns if name in part.columns]) for part in parts]
        memories = pl.concat([store.empty("memories"), *pieces], how="diagonal_relaxed")
        store.upsert("memories", memories)
        plain = ~pl.col("revision").str.contains("+", literal=True)
        fresh = entered.filter((pl.col("status") == LIVE) & plain)
        store.upsert(
            "chunks", labelled(chunks.join(fresh, on=["memory_id", "revision"], how="semi"), memories)
        )
        known = saves.filter(pl.col("known_revision").is_not_null()).join(entered, on="memory_id", how="semi")
        whole = entered.join(fresh, on="memory_id", how="anti")
        follow = {*known["memory_id"], *whole["memory_id"], *admission.changes}
        reconcile(store, self._space.chunker, self._space.embedder, memory_ids=sorted(follow))
        settle_held(store, news, {one.memory_id for one in admission.decisions if one.refused})
        outcomes = [one.outcome for one in admission.decisions if not one.refused]
        return Settled(
            added=entered.height - known.height,
            changed=known.height,
            retired=len([1 for change in admission.changes.values() if change.record.status == RETIRED]),
            merged=outcomes.count("merge"),
            superseded=outcomes.count("supersede"),
            related=outcomes.count("related"),
            refused=len(admission.decisions) - len(outcomes),
            undone=self._undone,
            decisions=decisions,
        )

    def _standing(self, changes: dict[str, Change], chunks: pl.DataFrame) -> pl.DataFrame:
        """What the memories are now: the columns that admission decides, one row each."""
        counts = dict(chunks.group_by("memory_id").len().iter_rows())
        rows: list[dict[str, Any]] = []
        for name, change in changes.items():
            record = change.record
            own = change.content == record.content
            standing = [part for pair in change.parts for part in pair]
            if record.status != LIVE or standing:
                standing = [record.status, record.replaced_by or "", *standing]
            row = {
                "memory_id": name, "status": record.status, "replaced_by": record.replaced_by,
                "absorbed": list(record.absorbed), "frequency": 1 + len(record.absorbed),
                "content": change.content, "original": None if own else record.content,
                "vector": change.vector,
                "revision": ids.state_revision(record.revision, *standing),
                "chunk_count": self._count(record, change, counts),
            }  # fmt: skip
            rows.append(row)
        kind = pl.Array(pl.Float32, self._store.identity.dimension)
        return pl.DataFrame(
            rows,
            schema={
                "memory_id": pl.String, "status": pl.String, "replaced_by": pl.String,
                "absorbed": pl.List(pl.String), "frequency": pl.Int32, "content": pl.String,
                "original": pl.String, "vector": kind, "revision": pl.String, "chunk_count": pl.Int32,
            },
        )  # fmt: skip

    def _count(self, record: Record, change: Change, counts: dict[str, int]) -> int:
        """Chunks that a memory has in the search table."""
        if record.status == MERGED:
            return 0
        if change.content == record.content and record.memory_id in counts:
            return counts[record.memory_id]
        return self._cut(record.title, change.content).height


def _note(row: dict[str, Any], vector: np.ndarray, *, warned: bool) -> Record:
    """A staged note as admission sees it."""
    return Record(
        memory_id=row["memory_id"],
        revision=row["revision"],
        title=row["title"] or "",
        source=_place(row["source"]),
        content=row["content"] or "",
        content_hash=row["content_hash"] or "",
        vector=vector,
        protected=_protected(row),
        vault=bool(row["origin"]),
        warned=warned,
        released=bool(row["released"]),
    )


def _record(row: dict[str, Any]) -> Record:
    """A row of ``memories`` as admission sees it."""
    merged = row["original"] is not None
    vector = None if row["vector"] is None else np.asarray(row["vector"], dtype=np.float32)
    return Record(
        memory_id=row["memory_id"],
        revision=ids.note_revision(row["revision"]),
        title=row["title"] or "",
        source=_place(row["source"]),
        content=row["original"] if merged else row["content"] or "",
        content_hash=row["content_hash"] or "",
        vector=None if merged else vector,
        status=row["status"],
        replaced_by=row["replaced_by"],
        absorbed=tuple(row["absorbed"] or ()),
        merged_content=row["content"] if merged else None,
        merged_vector=vector if merged else None,
        protected=_protected(row),
        vault=bool(row["origin"]),
    )


def _place(source: str) -> str:
    """Where a note stands, which tells look-alikes apart; a note saved without a key stands nowhere."""
    return "" if source.startswith(KEYLESS) else source


def _protected(row: dict[str, Any]) -> bool:
    return row["importance_tier"] == "critical" or bool(row["source_of_truth"])


def _matrix(vectors: pl.Series, dimension: int) -> np.ndarray:
    """Vectors (n, dimension), float32; a missing one is zero."""
    matrix = np.zeros((len(vectors), dimension), dtype=np.float32)
    there = vectors.is_not_null().to_numpy()
    if there.any():
        matrix[there] = vectors.drop_nulls().cast(pl.Array(pl.Float32, dimension)).to_numpy()
    return matrix


def _tombstones(forgets: pl.DataFrame) -> pl.DataFrame:
    """Rows for what was forgotten before its text was seen, so that an older text cannot enter later."""
    return forgets.select(
        "memory_id", "namespace", "revision", "source", "origin", "principal", "created_at",
        status=pl.lit(RETIRED), content=pl.lit(""), title="source", chunk_count=pl.lit(0, pl.Int32),
        frequency=pl.lit(0, pl.Int32), updated_at="occurred_at", retired_at="occurred_at",
    )  # fmt: skip


__all__ = ["LIVE", "MERGED", "RETIRED", "SUPERSEDED", "Settled", "settle"]
