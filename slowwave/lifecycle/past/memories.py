"""What the acts came to: the memories of one namespace, with the verdicts that the decision log has."""

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
from slowwave.quality.admission.state_machine import MemoryStateMachine
from slowwave.quality.admission.types import (
    LIVE,
    RETIRED,
    SUPERSEDED,
    UNDONE_BY_HAND,
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
    """What the acts of one namespace came to.

    Args:
        acts: saves, forgets and undos, as rows of ``staged_notes``.
        decisions: the decision log as it is now.
        refusals: the quarantine as it is now.
        known: memory_id and revision of ``memories`` as they are now.
        before: looks at what was live already (``slowwave reconsolidate``) count if they were before this.

    Returns:
        memory_id, namespace, revision, status, replaced_by, the columns of a note, created_at and
        updated_at, as ``memories`` had them; nothing of what was forgotten before its text was seen.
    """
    past = _Past(acts, Log(decisions, refusals, known, set(acts["occurred_at"])))
    for batch in batches(acts, past.log.looks(before)):
        past.happen(batch)
    past.ask_again()
    return past.memories()


@dataclass(slots=True)
class _Text:
    """What the tables have of a memory's text beside what admission knows.

    Attributes:
        at: row of the save that gave it.
        created_at: when the memory was first said, or the date that its text carries.
        updated_at: of the act that changed or retired it last.
    """

    at: int
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True)
class _Refused:
    """A note that was refused as a duplicate and let in when its original was gone."""

    act: PastEvent
    original: str
    revision: str
    there: bool = False
    lost_on: str = ""


class _Past:
    """The acts of one namespace once more; the source of the machine's verdicts, which were made then.

    What differs from deciding is here: a note that was refused is not asked again until its original is gone;
    a decision is carried out when both memories are there, in whatever order the journal has them; and what a
    late note changed is what the log says.
    """

    def __init__(self, acts: pl.DataFrame, log: Log) -> None:
        self.log = log
        self._acts = acts
        self._notes = {
            at: (note_record(row), row["created_at"] if row["dated"] else None)
            for at, row in enumerate(acts.iter_rows(named=True))
            if row["act"] == "save"
        }
        self._memories = Memories()
        self._machine = MemoryStateMachine(self._memories, self)
        self._texts: dict[str, _Text] = {}
        self._tombstones: dict[str, str] = {}  # forgotten before any text was seen
        self._pending: list[LoggedDecision] = []
        self._refused: dict[str, _Refused] = {}
        self._came: list[datetime] = []  # moments of what entered since the last looks
        self._now = datetime.min.replace(tzinfo=UTC)  # of the act that is taken

    def happen(self, batch: Sequence[PastEvent]) -> None:
        """Let one batch happen."""
        day = batch[0].day
        self.ask_again(before=day)
        takes = {"save": self._save, "forget": self._forget, "undo": self._undo, "accept": self._accept,
                 "look": self._look}  # fmt: skip
        for act in (
            sorted(batch, key=lambda act: self._turn(act.memory_id)) if batch[0].kind == "look" else batch
        ):
            takes[act.kind](act)
        self._look_again()
        self._wait_no_longer()
        for refused in self._refused.values():
            self._watch(refused, day)

    def ask_again(self, before: str | None = None) -> None:
        """Let in what repeated a text that was lost on an earlier day, as the night of that day did."""
        for name, refused in list(self._refused.items()):
            if refused.lost_on and (before is None or refused.lost_on < before):
                del self._refused[name]
                self._enter(refused.act)
        self._look_again()
        self._wait_no_longer()

    # -- verdicts --------------------------------------------------------------------------------

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        return not self.log.parted(part.memory_id, part.revision, self._now)

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """It enters, and what held no longer from then on is taken back; what was decided follows."""
        if old is not None:
            self._pending += self._outlasting(old)
        lapsed = [one.decision for one in self.log.reordered(self._now)]
        back = tuple((one.memory_id, one.other or "") for one in lapsed)
        return AdmissionVerdict(AdmissionDecision(note.memory_id, note.revision, "complement"), back)

    def _outlasting(self, old: AdmissionRecord) -> list[LoggedDecision]:
        """The superseding of a memory that did not end with this act, so it was of the text of this act."""
        actor = self._memories.known(old.replaced_by or "")
        if old.status != SUPERSEDED or actor is None:
            return []
        return [
            one
            for one in self.log.supersedes(actor.memory_id, actor.revision, old.memory_id)
            if one.undone_at is None or one.undone_at > self._now
        ]

    # -- acts ------------------------------------------------------------------------------------

    def _save(self, act: PastEvent) -> None:
        if not self.log.refused(act):
            self._enter(act)
        elif (original := self.log.original(act)) is not None:
            self._refused[act.memory_id] = refused = _Refused(act, *original)
            self._watch(refused, act.day)

    def _enter(self, act: PastEvent) -> None:
        name, before = act.memory_id, self._texts.get(act.memory_id)
        if act.revision <= self._revision(name):
            return
        self._tombstones.pop(name, None)
        self._now = act.occurred_at
        note, dated = self._notes[act.at]
        self._machine.save(note)
        created = act.occurred_at if before is None else before.created_at
        self._texts[name] = _Text(act.at, dated or created, act.occurred_at)
        self._came.append(act.occurred_at)
        if (decided := self.log.about(act)) is not None:
            self._effect(decided)

    def _forget(self, act: PastEvent) -> None:
        name, one = act.memory_id, self._memories.known(act.memory_id)
        if act.revision <= self._revision(name) or (one is not None and one.status == RETIRED):
            return
        if one is None:
            self._tombstones.setdefault(name, act.revision)
            return
        self._machine.forget(name, act.revision)
        self._texts[name].updated_at = act.occurred_at

    def _undo(self, act: PastEvent) -> None:
        decided = self.log.by_id.get(act.subject)
        if decided is None or decided.undone_why != UNDONE_BY_HAND:
            return
        self._pending = [one for one in self._pending if one != decided]
        self._machine.undo(decided.decision.memory_id, decided.decision.other or "", decided.undone_why)

    def _accept(self, act: PastEvent) -> None:
        proposed = self.log.by_id.get(act.subject)
        if proposed is not None:
            name = ids.decision_id(proposed.decision.memory_id, proposed.decision.revision, act.subject)
            if (decided := self.log.by_id.get(name)) is not None:
                self._effect(decided, look=True)

    def _look(self, act: PastEvent) -> None:
        self._effect(self.log.by_id[act.subject], look=True)

    def _look_again(self) -> None:
        """What the notes that entered made looked at again, since they came late."""
        found = [decided for moment in sorted(set(self._came)) for decided in self.log.late(moment)]
        self._came = []
        for decided in sorted(found, key=lambda one: self._turn(one.decision.memory_id)):
            self._effect(decided, look=True)

    def _wait_no_longer(self) -> None:
        """Decisions that waited for a memory take effect, or wait on."""
        pending, self._pending = self._pending, []
        for decided in pending:
            self._effect(decided)

    def _effect(self, decided: LoggedDecision, *, look: bool = False) -> None:
        """Let a decision take effect; one about a memory that is not there yet waits for it.

        A night takes in yesterday's notes beside those that were saved since midnight.
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
            return  # a home of before may have it in its log; nobody is shown what it made
        if other is not None and decided.undone_at == self._texts[other.memory_id].updated_at:
            return  # what the other did since, and what ended this, was journalled before it
        # What a late note made looked at again may have been superseded itself by then.
        able = actor.status == LIVE or (
            decision.outcome == "supersede" and actor.status == SUPERSEDED and look
        )
        if other is None or other.status != LIVE or not able:
            self._pending.append(decided)
        else:
            self._memories.carry_out(decision)

    def _watch(self, refused: _Refused, day: str) -> None:
        one = self._memories.known(refused.original)
        there = one is not None and one.status != RETIRED and one.revision == refused.revision
        if refused.there and not there and not refused.lost_on:
            refused.lost_on = day
        refused.there = refused.there or there

    def _revision(self, name: str) -> str:
        one = self._memories.known(name)
        return one.revision if one is not None else self._tombstones.get(name, "")

    def _turn(self, name: str) -> tuple[int, str, str]:
        one = self._memories.known(name)
        return (0, "", name) if one is None else one.turn

    # -- the outcome -----------------------------------------------------------------------------

    def memories(self) -> pl.DataFrame:
        """Rows of ``memories``, as far as searches need them."""
        changes = [self._memories.change(record) for record in self._memories.records.values()]
        states = state_rows(changes).drop("absorbed", "frequency", "original")
        texts = pl.DataFrame(
            [(name, one.at, one.created_at, one.updated_at) for name, one in self._texts.items()],
            schema={
                "memory_id": pl.String,
                "at": pl.UInt32,
                "created_at": _MOMENT,
                "updated_at": _MOMENT,
            },
            orient="row",
        )
        notes = self._acts.with_row_index("at").select("at", "namespace", *NOTE_FIELDS).drop("content")
        made = states.join(texts, on="memory_id", maintain_order="left").join(
            notes, on="at", how="left", maintain_order="left"
        )
        made = made.drop("at").with_columns(pl.lit(None, pl.String).alias(OWN))
        return with_state_labels(made, changes).drop(OWN)
