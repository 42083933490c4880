"""Past memories of one namespace: its events, applied with the recorded decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from slowwave.common import ids
from slowwave.lifecycle.admission.rows import note_record, state_rows, with_state_labels
from slowwave.lifecycle.past.events import PastEvent, batches
from slowwave.lifecycle.past.log import Log, LoggedDecision
from slowwave.quality.admission.memories import Memories
from slowwave.quality.admission.reasons import UNDONE_BY_HAND
from slowwave.quality.admission.state_machine import MemoryStateMachine
from slowwave.quality.admission.statuses import LIVE, RETIRED, SUPERSEDED
from slowwave.quality.admission.types import (
    AdmissionDecision,
    AdmissionRecord,
    AdmissionVerdict,
)
from slowwave.store import NOTE_FIELDS
from slowwave.store.labels import OWN

_MOMENT = pl.Datetime("us", "UTC")


def memories_as_of(
    acts: pl.DataFrame,
    decisions: pl.DataFrame,
    refusals: pl.DataFrame,
    known: pl.DataFrame,
    *,
    before: datetime,
) -> pl.DataFrame:
    """Return the memories that the events of one namespace resulted in.

    Args:
        acts: Saves, forgets and undos, as rows of ``staged_notes``.
        decisions: Present decision log.
        refusals: Present quarantine.
        known: Present memory_id and revision of ``memories``.
        before: Reconsolidation runs (``slowwave reconsolidate``) count if they were before this.

    Returns:
        memory_id, namespace, revision, status, replaced_by, the columns of a note, created_at and
        updated_at, as in ``memories``; no memories forgotten before their text was seen.
    """
    past = _Past(acts, Log(decisions, refusals, known, set(acts["occurred_at"])))
    for batch in batches(acts, past.log.looks(before)):
        past.apply_batch(batch)
    past.admit_orphans()
    return past.memories()


@dataclass(slots=True)
class _Text:
    """Columns of a memory's text that admission does not know.

    Attributes:
        at: Row of its save.
        created_at: First save of the memory, or the date that its text carries.
        updated_at: Moment of the last event that changed or hid it; of a text that was brought back, of its
            save.
        event_at: Moment of the last event.
        said_at: Moment of the save of its text, if that is not `created_at`.
    """

    at: int
    created_at: datetime
    updated_at: datetime
    event_at: datetime
    said_at: datetime | None


@dataclass(slots=True)
class _Refused:
    """Note that was refused as a duplicate and entered when its original was gone."""

    act: PastEvent
    original: str
    revision: str
    existed: bool = False
    lost_on: str = ""


class _Past:
    """Replay of one namespace's events; gives the state machine its recorded verdicts.

    It differs from deciding in three ways. A refused note is not judged again until its original is gone. A
    decision is carried out once both memories exist, in whatever order the journal has them. The effects of
    a late note are those in the log.
    """

    def __init__(self, acts: pl.DataFrame, log: Log) -> None:
        self.log = log
        self._acts = acts
        self._notes = {
            at: (note_record(row), row["created_at"] if row["dated"] else None, row.get("saved_at"))
            for at, row in enumerate(acts.iter_rows(named=True))
            if row["act"] == "save"
        }
        self._memories = Memories()
        self._machine = MemoryStateMachine(self._memories, self)
        self._texts: dict[str, _Text] = {}
        self._tombstones: dict[str, str] = {}  # forgotten before any text was seen
        self._pending: list[LoggedDecision] = []
        self._refused: dict[str, _Refused] = {}
        self._came: list[datetime] = []  # moments of the notes that entered since the last `_apply_late`
        self._now = datetime.min.replace(tzinfo=UTC)  # of the event being applied

    def apply_batch(self, batch: Sequence[PastEvent]) -> None:
        """Apply one batch."""
        day = batch[0].day
        self.admit_orphans(before=day)
        takes = {"save": self._save, "forget": self._forget, "undo": self._undo, "accept": self._accept,
                 "look": self._apply_look}  # fmt: skip
        for act in (
            sorted(batch, key=lambda act: self._turn(act.memory_id)) if batch[0].kind == "look" else batch
        ):
            takes[act.kind](act)
        self._apply_late()
        self._apply_pending()
        for refused in self._refused.values():
            self._track_original(refused, day)

    def admit_orphans(self, before: str | None = None) -> None:
        """Admit refused notes whose original was gone on an earlier day.

        That day's nightly job did the same.
        """
        for name, refused in list(self._refused.items()):
            if refused.lost_on and (before is None or refused.lost_on < before):
                del self._refused[name]
                self._enter(refused.act)
        self._apply_late()
        self._apply_pending()

    # -- verdicts --------------------------------------------------------------------------------

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        return not self.log.parted(part.memory_id, part.revision, self._now)

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """Return the verdict: the note enters, and decisions that ended then are undone.

        The recorded decision on it follows.
        """
        if old is not None:
            self._pending += self._outlasting(old)
        lapsed = [logged.decision for logged in self.log.reordered(self._now)]
        back = tuple((decision.memory_id, decision.other or "") for decision in lapsed)
        return AdmissionVerdict(AdmissionDecision(note.memory_id, note.revision, "complement"), back)

    def _outlasting(self, old: AdmissionRecord) -> list[LoggedDecision]:
        """Return the decisions superseding a memory that did not end with this event.

        They were about the text of this event.
        """
        actor = self._memories.known(old.replaced_by or "")
        if old.status != SUPERSEDED or actor is None:
            return []
        return [
            logged
            for logged in self.log.supersedes(actor.memory_id, actor.revision, old.memory_id)
            if logged.undone_at is None or logged.undone_at > self._now
        ]

    # -- events ------------------------------------------------------------------------------------

    def _save(self, act: PastEvent) -> None:
        if not self.log.refused(act):
            self._enter(act)
        elif (original := self.log.original(act)) is not None:
            self._refused[act.memory_id] = refused = _Refused(act, *original)
            self._track_original(refused, act.day)

    def _enter(self, act: PastEvent) -> None:
        name, before = act.memory_id, self._texts.get(act.memory_id)
        if act.revision <= self._revision(name):
            return
        self._tombstones.pop(name, None)
        self._now = act.occurred_at
        note, dated, saved_at = self._notes[act.at]
        self._machine.save(note)
        created = act.occurred_at if before is None else before.created_at
        updated, said_at = saved_at or act.occurred_at, None
        if before is not None and dated is None and not note.vault:
            is_same = note.content_hash == self._notes[before.at][0].content_hash
            said_at = before.said_at if is_same else updated
        self._texts[name] = _Text(act.at, dated or created, updated, act.occurred_at, said_at)
        self._came.append(act.occurred_at)
        if (decided := self.log.about(act)) is not None:
            self._apply_decision(decided)

    def _forget(self, act: PastEvent) -> None:
        name, record = act.memory_id, self._memories.known(act.memory_id)
        if act.revision <= self._revision(name) or (record is not None and record.status == RETIRED):
            return
        if record is None:
            self._tombstones.setdefault(name, act.revision)
            return
        self._machine.forget(name, act.revision)
        self._texts[name].updated_at = self._texts[name].event_at = act.occurred_at

    def _undo(self, act: PastEvent) -> None:
        decided = self.log.by_id.get(act.subject)
        if decided is None or decided.undone_why != UNDONE_BY_HAND:
            return
        self._pending = [logged for logged in self._pending if logged != decided]
        self._machine.undo(decided.decision.memory_id, decided.decision.other or "", decided.undone_why)

    def _accept(self, act: PastEvent) -> None:
        proposed = self.log.by_id.get(act.subject)
        if proposed is not None:
            name = ids.decision_id(proposed.decision.memory_id, proposed.decision.revision, act.subject)
            if (decided := self.log.by_id.get(name)) is not None:
                self._apply_decision(decided, look=True)

    def _apply_look(self, act: PastEvent) -> None:
        self._apply_decision(self.log.by_id[act.subject], look=True)

    def _apply_late(self) -> None:
        """Apply the decisions that notes which came late caused."""
        caused = [decided for moment in sorted(set(self._came)) for decided in self.log.late(moment)]
        self._came = []
        for decided in sorted(caused, key=lambda logged: self._turn(logged.decision.memory_id)):
            self._apply_decision(decided, look=True)

    def _apply_pending(self) -> None:
        """Apply pending decisions whose memories exist now; keep the others pending."""
        pending, self._pending = self._pending, []
        for decided in pending:
            self._apply_decision(decided)

    def _apply_decision(self, decided: LoggedDecision, *, look: bool = False) -> None:
        """Apply a decision, or keep it pending until both memories exist.

        A nightly job ingests yesterday's notes beside those saved since midnight.
        """
        decision = decided.decision
        if decision.outcome not in ("merge", "supersede") or decision.other is None:
            return
        actor, other = self._memories.known(decision.memory_id), self._memories.known(decision.other)
        if actor is None or actor.revision < decision.revision:
            self._pending.append(decided)  # the older note of the two came first
            return
        if actor.revision != decision.revision:
            return
        if other is not None and actor.sensitivity != other.sensitivity:
            return  # an earlier version may have logged it; its result is never shown
        if other is not None and decided.undone_at == self._texts[other.memory_id].event_at:
            return  # the other memory's later event, which ended this, was journalled before it
        # A memory reconsidered for a late note may have been superseded itself by then.
        able = actor.status == LIVE or (
            decision.outcome == "supersede" and actor.status == SUPERSEDED and look
        )
        if other is None or other.status != LIVE or not able:
            self._pending.append(decided)
        else:
            self._memories.carry_out(decision)

    def _track_original(self, refused: _Refused, day: str) -> None:
        record = self._memories.known(refused.original)
        exists = record is not None and record.status != RETIRED and record.revision == refused.revision
        if refused.existed and not exists and not refused.lost_on:
            refused.lost_on = day
        refused.existed = refused.existed or exists

    def _revision(self, name: str) -> str:
        record = self._memories.known(name)
        return record.revision if record is not None else self._tombstones.get(name, "")

    def _turn(self, name: str) -> tuple[int, str, str]:
        record = self._memories.known(name)
        return (0, "", name) if record is None else record.turn

    # -- the outcome -----------------------------------------------------------------------------

    def memories(self) -> pl.DataFrame:
        """Return rows of ``memories``, with the columns that searches need."""
        changes = [self._memories.change(record) for record in self._memories.records.values()]
        states = state_rows(changes).drop("absorbed", "frequency", "original")
        texts = pl.DataFrame(
            [
                (name, one.at, one.created_at, one.updated_at, one.said_at)
                for name, one in self._texts.items()
            ],
            schema={
                "memory_id": pl.String,
                "at": pl.UInt32,
                "created_at": _MOMENT,
                "updated_at": _MOMENT,
                "said_at": _MOMENT,
            },
            orient="row",
        )
        notes = self._acts.with_row_index("at").select("at", "namespace", *NOTE_FIELDS).drop("content")
        made = states.join(texts, on="memory_id", maintain_order="left").join(
            notes, on="at", how="left", maintain_order="left"
        )
        made = made.drop("at").with_columns(pl.lit(None, pl.String).alias(OWN))
        return with_state_labels(made, changes).drop(OWN)
