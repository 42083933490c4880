"""What the acts came to: the memories of one namespace, with the transitions of ``quality.admission``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.common import ids
from slowwave.lifecycle.admission.around import UNDONE_BY_HAND
from slowwave.lifecycle.admission.rows import sensitivities
from slowwave.lifecycle.past.acts import Act, batches
from slowwave.lifecycle.past.decided import Decided, Log
from slowwave.quality.admission import LIVE, MERGED, RETIRED, SUPERSEDED, Labels, merge_lines, unite
from slowwave.store import NOTE_FIELDS
from slowwave.store.labels import OWN, labels_of, with_united

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

    act: Act
    original: str
    revision: str
    there: bool = False
    lost_on: str = ""


class _Past:
    """The memories of one namespace, with the transitions of ``quality.admission`` and no decision anew."""

    def __init__(self, acts: pl.DataFrame, log: Log) -> None:
        self.log = log
        self._acts = acts
        self._contents = acts["content"]
        self._sensitivities = sensitivities(acts)
        self._dated: Mapping[int, datetime] = dict(
            acts.with_row_index().filter("dated").select("index", "created_at").iter_rows()
        )
        self._memories: dict[str, _Memory] = {}
        self._tombstones: dict[str, str] = {}  # forgotten before any text was seen
        self._behind: dict[str, set[str]] = {}
        self._pending: list[Decided] = []
        self._held: dict[str, _Held] = {}
        self._came: list[datetime] = []  # moments of what entered since the last looks

    def happen(self, batch: list[Act]) -> None:
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
        self._look_again()

    # -- acts ------------------------------------------------------------------------------------

    def _save(self, act: Act) -> None:
        if not self.log.refused(act):
            self._enter(act)
        elif (original := self.log.original(act)) is not None:
            self._held[act.memory_id] = held = _Held(act, *original)
            self._watch(held, act.day)

    def _enter(self, act: Act) -> None:
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
        self._came.append(act.occurred_at)
        for lapsed in self.log.reordered(act.occurred_at):
            self._take_back(lapsed)
        created = self._dated.get(act.at, created)
        self._memories[name] = _Memory(act.at, act.revision, created, act.occurred_at, absorbed=absorbed)
        if (decided := self.log.about(act)) is not None:
            self._effect(decided)

    def _forget(self, act: Act) -> None:
        name, one = act.memory_id, self._memories.get(act.memory_id)
        if act.revision <= self._known(name) or (one is not None and one.status == RETIRED):
            return
        if one is None:
            self._tombstones.setdefault(name, act.revision)
            return
        self._leave(name, forgotten=True)
        one.status, one.revision, one.updated_at = RETIRED, act.revision, act.occurred_at

    def _undo(self, act: Act) -> None:
        decided = self.log.by_id.get(act.subject)
        if decided is None or decided.undone_why != UNDONE_BY_HAND:
            return
        self._pending = [one for one in self._pending if one != decided]
        self._take_back(decided)

    def _accept(self, act: Act) -> None:
        proposed = self.log.by_id.get(act.subject)
        if proposed is not None:
            name = ids.decision_id(proposed.memory_id, proposed.revision, act.subject)
            if (decided := self.log.by_id.get(name)) is not None:
                self._effect(decided, look=True)

    def _take_back(self, decided: Decided) -> None:
        actor, other = self._memories.get(decided.memory_id), self._memories.get(decided.other or "")
        if actor is None or other is None:
            return
        if actor.status == MERGED and actor.replaced_by == decided.other:
            self._part(decided.memory_id)
        elif other.status == SUPERSEDED and other.replaced_by == decided.memory_id:
            other.status, other.replaced_by = LIVE, None

    def _look(self, act: Act) -> None:
        self._effect(self.log.by_id[act.subject], look=True)

    def _look_again(self) -> None:
        """What the notes that entered made looked at again, since they came late."""
        found = [decided for moment in sorted(set(self._came)) for decided in self.log.late(moment)]
        self._came = []
        for decided in sorted(found, key=lambda one: self._turn(one.memory_id)):
            self._effect(decided, look=True)

    # -- transitions -----------------------------------------------------------------------------

    def _effect(self, decided: Decided, *, look: bool = False) -> None:
        """Let a decision take effect; one about a memory that is not there yet waits for it.

        A night takes in yesterday's notes beside those that were saved since midnight.
        """
        if decided.outcome not in ("merge", "supersede") or decided.other is None:
            return
        actor, other = self._memories.get(decided.memory_id), self._memories.get(decided.other)
        if actor is None or actor.revision < decided.revision:
            self._pending.append(decided)  # the older note of the two came first
            return
        if actor.revision != decided.revision:
            return
        if other is not None and self._sensitivities[actor.at] != self._sensitivities[other.at]:
            return  # a home of before may have it in its log; nobody is shown what it made
        if other is not None and decided.undone_at == other.updated_at:
            return  # what the other did since, and what ended this, was journalled before it
        # What a late note made looked at again may have been superseded itself by then.
        able = actor.status == LIVE or (
            decided.outcome == "supersede" and actor.status == SUPERSEDED and look
        )
        if other is None or other.status != LIVE or not able:
            self._pending.append(decided)
        elif decided.outcome == "merge":
            actor.status, actor.replaced_by = MERGED, decided.other
            at = len(other.absorbed)
            while at and self._turn(other.absorbed[at - 1]) > self._turn(decided.memory_id):
                at -= 1
            other.absorbed.insert(at, decided.memory_id)
        else:
            other.status, other.replaced_by = SUPERSEDED, decided.memory_id
            self._behind.setdefault(decided.memory_id, set()).add(decided.other)

    def _outlasting(self, old: _Memory, act: Act) -> list[Decided]:
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

    def _turn(self, name: str) -> tuple[int, str, str]:
        """As `slowwave.quality.admission.Record.turn`."""
        one = self._memories.get(name)
        if one is None:
            return 0, "", name
        dated = self._dated.get(one.at)
        moment = ids.revision_moment(one.revision) if dated is None else ids.microseconds(dated)
        return moment, one.revision, name

    # -- the outcome -----------------------------------------------------------------------------

    def _parts(self, one: _Memory) -> Iterator[tuple[str, _Memory]]:
        """What a memory absorbed, and what that had absorbed, in order."""
        for name in one.absorbed:
            yield name, self._memories[name]
            yield from self._parts(self._memories[name])

    def memories(self) -> pl.DataFrame:
        """Rows of ``memories``, as far as searches need them."""
        rows: list[dict[str, Any]] = []
        united: dict[str, Labels] = {}
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
                    "replaced_by": one.replaced_by,
                }
            )  # fmt: skip
            if parts:
                said = labels_of(self._acts.row(one.at, named=True))
                others = [labels_of(self._acts.row(part.at, named=True)) for _, part in parts]
                if (labels := unite(said, others)) != said:
                    united[name] = labels
        frame = pl.DataFrame(
            rows,
            schema={
                "memory_id": pl.String, "at": pl.UInt32, "status": pl.String, "revision": pl.String,
                "content": pl.String, "created_at": _MOMENT, "updated_at": _MOMENT,
                "replaced_by": pl.String,
            },
        )  # fmt: skip
        notes = self._acts.with_row_index("at").select("at", "namespace", *NOTE_FIELDS).drop("content")
        made = frame.join(notes, on="at", how="left", maintain_order="left").drop("at")
        return with_united(made.with_columns(pl.lit(None, pl.String).alias(OWN)), united).drop(OWN)
