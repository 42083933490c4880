"""The memory as it stood at the end of a day, rebuilt from what is kept for ever.

LanceDB's old versions are cleaned up after some days. The journal keeps every act, the decision log and the
quarantine what became of it; so the acts happen once more, in the order in which they were taken, and nothing
is decided again: each note gets the verdict and the decision that it got then. What they leave behind is cut
and embedded as :mod:`slowwave.reconcile` does it, and searched by the same :class:`slowwave.search.Searcher`.

An act counts for the day that it is dated, also where the night took it in after midnight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl

from quality.admission import LIVE, MERGED, RETIRED, SUPERSEDED, merge_lines
from scoring.ranking import MemoryState
from scoring.ranking.triggers import TriggerIndex
from slowwave import ids, stages
from slowwave.admission.around import UNDONE_BY_HAND
from slowwave.errors import SlowwaveError
from slowwave.quarantine import RESOLVED
from slowwave.reconcile import labelled
from slowwave.search.knowledge import StoredKnowledge
from slowwave.search.searcher import Searcher
from slowwave.store import NOTE_FIELDS, Store, quote
from slowwave.store.database import compact

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.workspace import Workspace

KINDS = ("save", "forget", "undo")

_DECISION = (
    "decision_id", "memory_id", "revision", "other_memory", "outcome", "refused", "decided_at", "undone_at",
    "undone_why",
)  # fmt: skip
_REFUSAL = ("memory_id", "revision", "duplicate_of", "duplicate_revision", "status")
_MOMENT = pl.Datetime("us", "UTC")
_STEP = timedelta(microseconds=1)  # between the notes of one save_many()


class _Knowledge:
    """Trigger phrases and what use had taught, as of a day."""

    def __init__(self, store: Store, memories: Mapping[str, pl.DataFrame], day: date) -> None:
        self._triggers = {
            namespace: TriggerIndex(dict(rows.select("memory_id", "trigger_phrases").iter_rows()))
            for namespace, rows in memories.items()
        }
        self._taught = StoredKnowledge(store, until=day)

    def triggered(self, namespace: str, query: str) -> Mapping[str, tuple[str, float]]:
        """See `slowwave.search.knowledge.Knowledge`."""
        return self._triggers[namespace].match(query) if namespace in self._triggers else {}

    def states(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, MemoryState]:
        """See `slowwave.search.knowledge.Knowledge`."""
        return self._taught.states(namespace, memory_ids)


def past_searcher(space: Workspace, day: date) -> Searcher:
    """What finds candidates in the memory as it stood at the end of a day (UTC): the one that finds today's.

    All namespaces are rebuilt, because BM25 weighs a word by how rare it is in the whole home. That costs
    about as much as reading them; keep the searcher for further searches of the same day.

    Raises:
        SlowwaveError: the day is still to come.
    """
    namespaces = space.journal.days(KINDS)["namespace"].unique().sort().to_list()
    memories = {namespace: _memories(space, namespace, day) for namespace in namespaces}
    identity = space.store.identity
    store = Store("memory://", model=identity.model, dimension=identity.dimension)
    for namespace, rows in memories.items():
        store.upsert("chunks", _chunks(space, namespace, rows))
    compact(store.table("chunks"))  # takes the rows into the text index
    return Searcher(store, space.embedder, _Knowledge(space.store, memories, day))


def chunks_as_of(space: Workspace, namespace: str, day: date) -> pl.DataFrame:
    """Rows of ``chunks`` of a namespace as they stood at the end of a day (UTC), by chunk id.

    Memories that are today what they were then have the rows that they have today. The others are cut again,
    with the vectors that their texts had; if the chunk settings or the embedding model have changed since,
    theirs are those of today.

    Raises:
        SlowwaveError: the day is still to come.
    """
    return _chunks(space, namespace, _memories(space, namespace, day))


def _memories(space: Workspace, namespace: str, day: date) -> pl.DataFrame:
    today = datetime.now(UTC).date()
    if day > today:
        raise SlowwaveError(
            f"{day} is still to come (today is {today}, UTC). Ask for today or for a day of the past."
        )
    store, mine = space.store, f"namespace = {quote(namespace)}"
    acts = _acts(space.journal, namespace, day)
    return memories_as_of(
        acts,
        store.read("decisions", mine, columns=_DECISION),
        store.read("quarantine", mine, columns=_REFUSAL),
        store.read("memories", mine, columns=["memory_id", "revision"]),
        before=datetime.combine(day, time(), UTC) + timedelta(days=1),
    ).filter(pl.col("status") != MERGED)


def _chunks(space: Workspace, namespace: str, memories: pl.DataFrame) -> pl.DataFrame:
    store, mine = space.store, f"namespace = {quote(namespace)}"
    now = store.read("chunks", mine).join(memories, on=["memory_id", "revision"], how="semi")
    kept = now.filter(pl.len().over("memory_id") == pl.col("chunk_count"))
    others = memories.join(kept, on="memory_id", how="anti")
    cut = stages.cut(others, space.chunker, space.embedder.name)
    embedded = stages.embed(store, space.embedder, cut, look_up_from=1, tables=("embedded_chunks", "chunks"))
    made = labelled(embedded, others).select(kept.columns)
    return pl.concat([kept, made]).sort("chunk_id")


def _acts(journal: Journal, namespace: str, day: date) -> pl.DataFrame:
    """Every act on the memories of a namespace up to a day, as rows of ``staged_notes``."""
    days = journal.days(KINDS).filter((pl.col("namespace") == namespace) & (pl.col("day") <= day.isoformat()))
    entries = journal.read(kinds=KINDS, days=days["day"].to_list(), namespace=namespace)
    # A stage keeps the last act of a day; of a day of its own each one is the last.
    staged = stages.stage(entries.with_columns(day="event_id"))
    readable = staged.filter(pl.col("act").is_in(KINDS))
    return readable.with_columns(day=pl.col("occurred_at").dt.strftime("%Y-%m-%d"))


def memories_as_of(
    acts: pl.DataFrame,
    decisions: pl.DataFrame,
    refusals: pl.DataFrame,
    known: pl.DataFrame,
    *,
    before: datetime,
) -> pl.DataFrame:
    """What the acts of one namespace came to.

    Args:
        acts: saves, forgets and undos, as rows of ``staged_notes``.
        decisions: the decision log as it is now.
        refusals: the quarantine as it is now.
        known: memory_id and revision of ``memories`` as they are now.
        before: looks at what was live already (``slowwave reconsolidate``) count if they were before this.

    Returns:
        memory_id, namespace, revision, status, the columns of a note, created_at and updated_at, as
        ``memories`` had them; nothing of what was forgotten before its text was seen.
    """
    past = _Past(acts, _Log(decisions, refusals, known))
    for batch in _batches(acts, past.log.looks(before)):
        past.happen(batch)
    past.ask_again()
    return past.memories()


# -- in which order ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Act:
    """One act, or a later look at a memory.

    Attributes:
        at: its row among the acts; of a look -1.
        subject: of an undo the decision.
    """

    at: int
    kind: str
    day: str
    memory_id: str
    revision: str
    subject: str
    occurred_at: datetime


def _batches(acts: pl.DataFrame, looks: list[_Act]) -> list[list[_Act]]:
    """The acts as they were taken: one after the other, and what was taken at once as one batch.

    The journal's order is the order of arrival. Together went the notes of one save_many(), which are a
    microsecond apart, and those of one look at a vault, which have its moment; within a batch the order and
    what counts are those of `slowwave.admission`.
    """
    vault = pl.col("origin").fill_null("") != ""
    step = pl.when(vault).then(timedelta()).otherwise(_STEP)
    together = (
        (vault == vault.shift())
        & (pl.col("occurred_at").diff() == step)
        & (pl.col("day") == pl.col("day").shift())
        & (vault | ((pl.col("act") == "save") & (pl.col("act").shift() == "save")))
    )
    order = pl.col("act").replace_strict({"forget": 0, "save": 1, "undo": 2}, return_dtype=pl.Int8)
    rows = (
        acts.with_row_index("at")
        .sort("seq")
        .with_columns(group=(~together.fill_null(value=False)).cum_sum(), order=order)
        .sort("revision")
        .unique(["group", "memory_id"], keep="last", maintain_order=True)
        .sort("group", "order", "created_at", "memory_id")
    )
    columns = ("at", "act", "day", "memory_id", "revision", "source", "occurred_at")
    batches = [
        [_Act(*row) for row in part.select(columns).iter_rows()]
        for _, part in rows.group_by("group", maintain_order=True)
    ]
    for moment in sorted({look.occurred_at for look in looks}):  # each after all that happened before it
        place = max((at for at, batch in enumerate(batches) if batch[0].occurred_at <= moment), default=-1)
        batches.insert(place + 1, [look for look in looks if look.occurred_at == moment])
    return batches


# -- what was decided ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Decided:
    """What became of one version of a note: a row of the decision log."""

    memory_id: str
    revision: str
    other: str | None
    outcome: str
    undone_at: datetime | None
    undone_why: str | None


class _Log:
    """What is known of the verdicts and decisions of the time."""

    def __init__(self, decisions: pl.DataFrame, refusals: pl.DataFrame, known: pl.DataFrame) -> None:
        self.by_id: dict[str, _Decided] = {}
        self._about: dict[tuple[str, str], _Decided] = {}
        self._happened: dict[tuple[str, str], list[_Decided]] = {}
        self._looks: list[tuple[str, datetime]] = []
        entered = {(name, ids.note_revision(state)) for name, state in known.iter_rows()}
        for row in decisions.select(_DECISION).iter_rows(named=True):
            decided = _Decided(
                row["memory_id"], row["revision"], row["other_memory"], row["outcome"], row["undone_at"],
                row["undone_why"],
            )  # fmt: skip
            self.by_id[row["decision_id"]] = decided
            text = decided.memory_id, decided.revision
            if row["refused"]:
                continue
            self._happened.setdefault(text, []).append(decided)
            if row["decision_id"] == ids.decision_id(*text):
                self._about[text] = decided
                entered.add(text)
            else:
                self._looks.append((row["decision_id"], row["decided_at"]))
        self._refused: dict[tuple[str, str], tuple[str, str] | None] = {}
        for name, revision, original, text, status in refusals.select(_REFUSAL).iter_rows():
            let_in_later = original and (status == RESOLVED or (name, revision) in entered)
            if let_in_later:
                self._refused[name, revision] = (original, text)
            elif (name, revision) not in entered:
                self._refused[name, revision] = None

    def refused(self, act: _Act) -> bool:
        """Whether this note was kept out when it came."""
        return (act.memory_id, act.revision) in self._refused

    def original(self, act: _Act) -> tuple[str, str] | None:
        """Memory and revision that a refused note repeats, if it may have been let in when that was gone."""
        return self._refused.get((act.memory_id, act.revision))

    def about(self, act: _Act) -> _Decided | None:
        """What was decided about a note that was let in."""
        return self._about.get((act.memory_id, act.revision))

    def parted(self, memory_id: str, revision: str, moment: datetime) -> bool:
        """Whether a merge of this text was dissolved because of what the target said from that moment on."""
        return any(
            one.outcome == "merge" and one.undone_at == moment and one.undone_why == "changed"
            for one in self._happened.get((memory_id, revision), ())
        )

    def supersedes(self, memory_id: str, revision: str, other: str) -> list[_Decided]:
        """The decisions with which this text of a memory superseded the other."""
        decided = self._happened.get((memory_id, revision), ())
        return [one for one in decided if one.outcome == "supersede" and one.other == other]

    def looks(self, before: datetime) -> list[_Act]:
        """Decisions of looks at what was live already, as acts."""
        return [
            _Act(-1, "look", at.date().isoformat(), one.memory_id, one.revision, name, at)
            for name, at in self._looks
            if at < before and (one := self.by_id[name])
        ]


# -- what they came to ---------------------------------------------------------------------------


@dataclass(slots=True)
class _Memory:
    """One memory while the acts happen: where its text is, and its standing among the others.

    Attributes:
        at: row of the save that gave its text.
        revision: of its text; once it is retired, of the act that did it.
    """

    at: int
    revision: str
    created_at: datetime
    updated_at: datetime
    status: str = LIVE
    replaced_by: str | None = None
    absorbed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Held:
    """A note that was refused as a duplicate and let in when its original was gone."""

    act: _Act
    original: str
    revision: str
    there: bool = False
    lost_on: str = ""


class _Past:
    """The memories of one namespace, with the transitions of ``quality.admission`` and no decision anew."""

    def __init__(self, acts: pl.DataFrame, log: _Log) -> None:
        self.log = log
        self._acts = acts
        self._contents = acts["content"]
        self._dated: Mapping[int, datetime] = dict(
            acts.with_row_index().filter("dated").select("index", "created_at").iter_rows()
        )
        self._memories: dict[str, _Memory] = {}
        self._tombstones: dict[str, str] = {}  # forgotten before any text was seen
        self._behind: dict[str, set[str]] = {}
        self._pending: list[_Decided] = []
        self._held: dict[str, _Held] = {}

    def happen(self, batch: list[_Act]) -> None:
        """Let one batch happen."""
        day = batch[0].day
        self.ask_again(before=day)
        takes = {"save": self._save, "forget": self._forget, "undo": self._undo, "look": self._look}
        for act in sorted(batch, key=self._age) if batch[0].kind == "look" else batch:
            takes[act.kind](act)
        pending, self._pending = self._pending, []
        for decided in pending:
            self._effect(decided)
        for held in self._held.values():
            self._watch(held, day)

    def ask_again(self, before: str | None = None) -> None:
        """Let in what repeated a text that was lost on an earlier day, as the night of that day did."""
        for name, held in list(self._held.items()):
            if held.lost_on and (before is None or held.lost_on < before):
                del self._held[name]
                self._enter(held.act)

    # -- acts ------------------------------------------------------------------------------------

    def _save(self, act: _Act) -> None:
        if not self.log.refused(act):
            self._enter(act)
        elif (original := self.log.original(act)) is not None:
            self._held[act.memory_id] = held = _Held(act, *original)
            self._watch(held, act.day)

    def _enter(self, act: _Act) -> None:
        name, old = act.memory_id, self._memories.get(act.memory_id)
        if act.revision <= self._known(name):
            return
        self._tombstones.pop(name, None)
        created, absorbed = act.occurred_at, list[str]()
        if old is not None:
            for part in list(old.absorbed):
                if self.log.parted(part, self._memories[part].revision, act.occurred_at):
                    self._part(part)
            created, absorbed = old.created_at, old.absorbed
            self._pending += self._outlasting(old, act)
            self._leave(name)
        created = self._dated.get(act.at, created)
        self._memories[name] = _Memory(act.at, act.revision, created, act.occurred_at, absorbed=absorbed)
        if (decided := self.log.about(act)) is not None:
            self._effect(decided)

    def _forget(self, act: _Act) -> None:
        name, one = act.memory_id, self._memories.get(act.memory_id)
        if act.revision <= self._known(name) or (one is not None and one.status == RETIRED):
            return
        if one is None:
            self._tombstones.setdefault(name, act.revision)
            return
        self._leave(name, forgotten=True)
        one.status, one.revision, one.updated_at = RETIRED, act.revision, act.occurred_at

    def _undo(self, act: _Act) -> None:
        decided = self.log.by_id.get(act.subject)
        if decided is None or decided.undone_why != UNDONE_BY_HAND:
            return
        self._pending = [one for one in self._pending if one != decided]
        actor, other = self._memories.get(decided.memory_id), self._memories.get(decided.other or "")
        if actor is None or other is None:
            return
        if actor.status == MERGED and actor.replaced_by == decided.other:
            self._part(decided.memory_id)
        elif other.status == SUPERSEDED and other.replaced_by == decided.memory_id:
            other.status, other.replaced_by = LIVE, None

    def _look(self, act: _Act) -> None:
        self._effect(self.log.by_id[act.subject])

    # -- transitions -----------------------------------------------------------------------------

    def _effect(self, decided: _Decided) -> None:
        """Let a decision take effect; one about a memory that is not there yet waits for it.

        A night takes in yesterday's notes beside those that were saved since midnight.
        """
        if decided.outcome not in ("merge", "supersede") or decided.other is None:
            return
        actor, other = self._memories.get(decided.memory_id), self._memories.get(decided.other)
        if actor is None or actor.revision != decided.revision:
            return
        if other is not None and decided.undone_at == other.updated_at:
            return  # what the other did since, and what ended this, was journalled before it
        if other is None or other.status != LIVE or actor.status != LIVE:
            self._pending.append(decided)
        elif decided.outcome == "merge":
            actor.status, actor.replaced_by = MERGED, decided.other
            other.absorbed.append(decided.memory_id)
        else:
            other.status, other.replaced_by = SUPERSEDED, decided.memory_id
            self._behind.setdefault(decided.memory_id, set()).add(decided.other)

    def _outlasting(self, old: _Memory, act: _Act) -> list[_Decided]:
        """The superseding of a memory that did not end with this act, so it was of the text of this act."""
        actor = self._memories.get(old.replaced_by or "")
        if old.status != SUPERSEDED or actor is None:
            return []
        return [
            one
            for one in self.log.supersedes(old.replaced_by or "", actor.revision, act.memory_id)
            if one.undone_at is None or one.undone_at > act.occurred_at
        ]

    def _leave(self, name: str, *, forgotten: bool = False) -> None:
        """Dissolve what a memory did to others, and what others did to it."""
        one = self._memories[name]
        # What a superseded memory had superseded stays behind when it is forgotten.
        freed = () if forgotten and one.status == SUPERSEDED else self._behind.pop(name, ())
        if one.status == MERGED:
            self._part(name)
        one.status, one.replaced_by = LIVE, None
        for behind in freed:
            other = self._memories[behind]
            if other.status == SUPERSEDED and other.replaced_by == name:
                other.status, other.replaced_by = LIVE, None
        for part in list(one.absorbed) if forgotten else ():
            self._part(part)

    def _part(self, name: str) -> None:
        """Take a merged memory out of the one that absorbed it."""
        merged = self._memories[name]
        self._memories[merged.replaced_by or ""].absorbed.remove(name)
        merged.status, merged.replaced_by = LIVE, None

    def _watch(self, held: _Held, day: str) -> None:
        one = self._memories.get(held.original)
        there = one is not None and one.status != RETIRED and one.revision == held.revision
        if held.there and not there and not held.lost_on:
            held.lost_on = day
        held.there = held.there or there

    def _known(self, name: str) -> str:
        one = self._memories.get(name)
        return one.revision if one is not None else self._tombstones.get(name, "")

    def _age(self, act: _Act) -> tuple[datetime, str]:
        one = self._memories.get(act.memory_id)
        return act.occurred_at if one is None else one.created_at, act.memory_id

    # -- the outcome -----------------------------------------------------------------------------

    def _parts(self, one: _Memory) -> Iterator[tuple[str, _Memory]]:
        """What a memory absorbed, and what that had absorbed, in order."""
        for name in one.absorbed:
            yield name, self._memories[name]
            yield from self._parts(self._memories[name])

    def memories(self) -> pl.DataFrame:
        """Rows of ``memories``, as far as searches need them."""
        rows: list[dict[str, Any]] = []
        for name, one in self._memories.items():
            parts = list(self._parts(one))
            content = self._contents[one.at] or ""
            for _, part in parts:
                content, _ = merge_lines(content, self._contents[part.at] or "")
            standing = [text for part, state in parts for text in (part, state.revision)]
            if one.status != LIVE or standing:
                standing = [one.status, one.replaced_by or "", *standing]
            state = one.revision if one.status == RETIRED else ids.state_revision(one.revision, *standing)
            rows.append(
                {
                    "memory_id": name, "at": one.at, "status": one.status, "revision": state,
                    "content": content, "created_at": one.created_at, "updated_at": one.updated_at,
                }
            )  # fmt: skip
        frame = pl.DataFrame(
            rows,
            schema={
                "memory_id": pl.String, "at": pl.UInt32, "status": pl.String, "revision": pl.String,
                "content": pl.String, "created_at": _MOMENT, "updated_at": _MOMENT,
            },
        )  # fmt: skip
        notes = self._acts.with_row_index("at").select("at", "namespace", *NOTE_FIELDS).drop("content")
        return frame.join(notes, on="at", how="left", maintain_order="left").drop("at")
