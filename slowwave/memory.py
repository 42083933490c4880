"""The memory that an application imports: save, search, get, forget.

```python
import slowwave

memory = slowwave.open("~/assistant", namespace="default")
memory.save("We deploy on Thursday since 2 March; Friday is for repairs only.", title="Deploy day")
for result in memory.search("when do we deploy?"):
    print(result.score, result.title, result.text)
```

It is one file because it is one page for applications: more than half of it is what its calls promise, and
each hands on to the room that does the work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from slowwave.common import ids
from slowwave.common.boundary import public, public_calls
from slowwave.errors import SlowwaveError
from slowwave.home.tenant import MemoryRecord, Saved, Tenant
from slowwave.settings import Settings, load
from slowwave.telemetry.acts import feeding_back, saving, searching

if TYPE_CHECKING:
    import polars as pl

    from slowwave.embedding import Embedder
    from slowwave.evaluation.judging.labels import Judged
    from slowwave.feedback import Concluded, MemoryStats, Observed, Rated
    from slowwave.home.visibility import Viewer
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry, Journal
    from slowwave.learning.review import Learning
    from slowwave.lifecycle.gate_notice import Notice
    from slowwave.lifecycle.gate_report import GateReport
    from slowwave.notes import Note
    from slowwave.quality.gate_policy import GatePolicy
    from slowwave.scoring.ranking import RankingPolicy
    from slowwave.search import Result, SearchResponse
    from slowwave.search.wakeup import Packet
    from slowwave.store import Store
    from slowwave.upkeep.erasure import Erased, Plan

_NAMESPACE = re.compile(r"\w[\w\-./]*")


@public_calls
class Memory:
    """One namespace of a Slowwave home. Open it with :func:`slowwave.open`.

    It is safe to use from several threads, and any number of processes may have the same home open.

    Args:
        settings: of the home.
        namespace: the tenant; no call ever reads or writes another one.
        principal: who acts, recorded with every act.
        space: the parts of that home where they are open already; `close` closes them for all who share them.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        namespace: str,
        principal: str = "application",
        space: Workspace | None = None,
    ) -> None:
        if not _NAMESPACE.fullmatch(namespace):
            raise SlowwaveError(
                f"Namespace {namespace!r}: begin with a letter or digit, then letters, digits, '_', '-', "
                f"'.' and '/'."
            )
        from slowwave.home.workspace import Workspace

        self.namespace = namespace
        self.principal = principal
        self._space = space or Workspace(settings, namespace=namespace)
        self.tenant = Tenant(self._space, namespace, principal)

    # -- parts -----------------------------------------------------------------------------------

    @property
    def home(self) -> Workspace:
        """The home, for what is not about one namespace: its clock, tables, journal, models and policies."""
        return self._space

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._space.settings

    @property
    def store(self) -> Store:
        """The tables."""
        return self._space.store

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self._space.journal

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return self._space.embedder

    @property
    def policy(self) -> RankingPolicy:
        """The ranking policy in force."""
        return self._space.policy

    @property
    def gate_policy(self) -> GatePolicy:
        """The save gate's settings, and from when it refuses."""
        self._space.look_at_gate()
        return self._space.gate_policy

    def prepare(self) -> None:
        """Open now what calls open when they first need it: tables, journal, embedding model, policies."""
        from slowwave.lifecycle.served import served_in
        from slowwave.search.searcher import searcher_in

        served_in(self._space), searcher_in(self._space)
        _ = self.store, self.journal, self.policy, self.gate_policy

    def close(self) -> None:
        """Release the journal's connections and the search thread."""
        self._space.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- saving ----------------------------------------------------------------------------------

    def save(
        self,
        content: str,
        *,
        title: str = "",
        key: str = "",
        follows: str = "",
        **labels: Any,  # noqa: ANN401
    ) -> Saved:
        """Save one note; when this returns it is durable, and searchable if it was let in.

        Args:
            content: Markdown or plain text.
            title: else the first heading, else the first words.
            key: your own name for it: saving the same key again replaces the text and what describes it. Its
                sensitivity, importance_tier, retrieval_priority, state and source_of_truth stay as they were
                let in last unless others are named; what was refused opens nothing and changes nothing else.
                Without a key every save is a memory of its own.
            follows: key (or source) of what this one comes after, in a conversation or a series. It need not
                be known.
            **labels: context (what has to be known to understand the note, at most 40 words: it is found by
                these, too, and they are not shown; without one the last 20 words of what it follows),
                memory_type, tags, trigger_phrases, aliases, sensitivity, importance_tier,
                retrieval_priority, state, source_kind (generated unless said otherwise: ``manual`` is what a
                person wrote, and is trusted more), source_of_truth, created_at, metadata. And `request`, your
                own name for this call: made again under that name, it saves nothing twice.

        Returns:
            What became of it. A note that the gate refuses is quarantined, not lost.

        Raises:
            ArgumentError: the content is empty or only white space, whatever the gate's mode.
            SlowwaveError: a label is not known or has the wrong type.
            JournalConflictError: another note was saved with this `request`; nothing was saved.
            JournalMovedError: others keep saving under that key; nothing was saved.
            JournalError: the journal cannot be written; nothing was saved.
        """
        note = {"content": content, "title": title, "key": key, "follows": follows, **labels}
        return self.save_many([note])[0]

    def save_many(self, notes: Sequence[Mapping[str, Any]]) -> list[Saved]:
        """Save notes at once: same rules, one gate batch, one embedding batch; results in their order.

        Args:
            notes: mappings with the arguments of :meth:`save`. Of notes with the same key each replaces the
                one before it, as single saves do; the earlier ones are reported as ``replaced``.
        """
        return self._save(notes)

    def save_over(self, key: str, said: Callable[[], Mapping[str, Any]]) -> Saved:
        """Save a note in the place of what has its key, if that is still what was looked at.

        Nothing comes between what `said` looks at and the save: no other process replaces, forgets or
        protects what has this key meanwhile.

        Args:
            key: of the note.
            said: looks whether the note may be saved, raises if not, and returns the arguments of
                :meth:`save`. It may be called more than once. As it looks at what is there, nothing but the
                sensitivity is kept of that unless it is named.

        Returns:
            What became of it.

        Raises:
            SlowwaveError: what `said` raises, or as of :meth:`save`; nothing was saved.
            JournalMovedError: others keep saving under that key; nothing was saved.
        """
        from slowwave.common.arguments import sound_text
        from slowwave.lifecycle.intake import guarded

        return guarded(
            self._space, self.namespace, [sound_text("key", key)], lambda last: self._save([said()], last)[0]
        )

    def _save(
        self, notes: Sequence[Mapping[str, Any]], after: Mapping[str, int] | None = None
    ) -> list[Saved]:
        """Save notes; with places `after`, if nothing was said of these sources since."""
        from slowwave.journal.acts import KEYLESS
        from slowwave.lifecycle.repeating import named as named_calls
        from slowwave.notes.arguments import note_of
        from slowwave.notes.standing import KEPT, SENSITIVITY, in_turn

        now = self._space.now()
        bare, events = named_calls(notes, self.namespace, self.principal)
        made = [
            note_of(labels, number, fallback_key=KEYLESS + event)
            for number, (labels, event) in enumerate(zip(bare, events, strict=True), start=1)
        ]
        # Of equal keys the last one counts.
        moments = [now + timedelta(microseconds=number) for number in range(len(made))]
        kept = KEPT if after is None else (SENSITIVITY,)
        saved: list[Saved] = []
        with self._space.call(), saving(now, events) as tell:
            for piece in in_turn(made, bare, kept):
                parts = notes[piece], bare[piece], made[piece], events[piece], moments[piece]
                asked = _Asked(*parts, kept, after)
                saved += self._take_in(self._write(asked))
            saved = _replaced(saved)
            tell(saved)
        return saved

    def _write(self, asked: _Asked) -> list[Entry]:
        """Write the acts of a piece of a call, with what they take from what was said before."""
        from slowwave.journal.acts import KEYLESS, in_context, lenders, save_entry
        from slowwave.lifecycle.intake import upon, written
        from slowwave.lifecycle.known import SourceState, known_of
        from slowwave.lifecycle.repeating import as_written
        from slowwave.notes.standing import as_they_stand, leaves_open

        sources = {
            note.source
            for note, labels in zip(asked.made, asked.bare, strict=True)
            if leaves_open(labels, asked.kept) and not note.source.startswith(KEYLESS)
        }
        others = lenders(asked.made)

        def write(known: SourceState, after: Mapping[str, int]) -> list[Entry]:
            standing = as_they_stand(asked.made, asked.bare, known.stands, asked.kept)
            entries = [
                save_entry(
                    note,
                    namespace=self.namespace,
                    source=note.source,
                    origin="",
                    occurred_at=moment,
                    principal=self.principal,
                    event_id=event,
                )
                for note, event, moment in zip(
                    in_context(standing, known.newest), asked.events, asked.moments, strict=True
                )
            ]
            return written(self._space, as_written(self.journal, asked.notes, entries), after=after)

        if asked.after is not None:
            return write(known_of(self._space, self.namespace, sources, others), asked.after)
        return upon(self._space, self.namespace, sources, others, write)

    def _take_in(self, entries: Sequence[Entry]) -> list[Saved]:
        """Run the night's stages on these acts, now; what became of each."""
        from slowwave.lifecycle.intake import take_in

        return [
            Saved(**_fields(became), source=entry.subject)
            for entry, became in zip(entries, take_in(self._space, entries), strict=True)
        ]

    # -- searching -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        memory_type: str | Sequence[str] = (),
        tier: str | Sequence[str] = (),
        tags: str | Sequence[str] = (),
        sensitivity: str | Sequence[str] = (),
        source: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        superseded: bool = False,
        as_of: date | None = None,
        project: str = "",
        explain: bool = False,
        log: bool = True,
    ) -> SearchResponse:
        """The memories of this namespace that answer a query, best first.

        When nothing that is found is near enough to be an answer, there are no results and the response says
        that it `abstained`; whenever there are none it says why (`nothing`).

        Args:
            query: a question or words, at most 4,000 characters.
            limit: how many memories.
            memory_type: only of this type, or one of these.
            tier: only of this importance tier, or one of these.
            tags: only with this tag, or one of these.
            sensitivity: only of this, or one of these; what is ``secret`` is only found when asked for here.
            source: only what comes from a source that begins with this.
            since: only what was created then or later (with a time zone).
            until: only what was created before then.
            superseded: also what a newer memory has superseded.
            as_of: a past day (UTC): what the memory would have answered at its end. Not in the journal.
            project: what the search is for: the project's outcome will be credited to what it brought.
            explain: with an account of every score, and of what was found and is not shown.
            log: write it to the journal; without, nothing can be said of its results later.

        Returns:
            Results with score and confidence. The search and what it showed are in the journal; when that
            cannot be written the search answers all the same and says so in `warnings`.

        Raises:
            SlowwaveError: the query is empty or too long, `limit` is negative, or a filter has the wrong type
                or names a label that nobody knows.
        """
        from slowwave.search import Filters
        from slowwave.search.run import search

        filters = Filters.of(
            memory_type=memory_type, tier=tier, tags=tags, sensitivity=sensitivity, source=source,
            since=since, until=until, superseded=superseded,
        )  # fmt: skip
        with self._space.call(), searching(self._space.now) as tell:
            found = search(
                self._space, self.namespace, query,
                limit=limit, filters=filters, as_of=as_of, explain=explain, principal=self.principal,
                project=project, log=log,
            )  # fmt: skip
            tell(
                search_id=found.search_id, results=len(found.results), abstained=found.abstained,
                seconds=found.timings.total / 1e3,
            )  # fmt: skip
        return found

    def explain(  # noqa: D417 - the filters are those of `search`
        self,
        query: str,
        *,
        limit: int = 3,
        memory_type: str | Sequence[str] = (),
        tier: str | Sequence[str] = (),
        tags: str | Sequence[str] = (),
        sensitivity: str | Sequence[str] = (),
        source: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        superseded: bool = False,
        as_of: date | None = None,
        project: str = "",
    ) -> SearchResponse:
        """Search, and say how every score came about; `str(result.explanation)` is that account in lines.

        Args:
            query: a question or words, at most 4,000 characters.
            limit: how many memories.
            filters: every other argument is as `search` takes it.

        Returns:
            What `search` returns, each result with its `explanation`, and what was found and is `not_shown`.

        Raises:
            SlowwaveError: as `search`.
        """
        return self.search(
            query, limit=limit, memory_type=memory_type, tier=tier, tags=tags, sensitivity=sensitivity,
            source=source, since=since, until=until, superseded=superseded, as_of=as_of, project=project,
            explain=True,
        )  # fmt: skip

    def wakeup(self, *, budget: int = 2_000, secret: bool = False) -> Packet:
        """What an assistant should know when a session starts, before anything was asked.

        A section per memory type, constraints and decisions first, each with its best memories; importance
        tier, retrieval priority, effectiveness and recency decide which. A section gets the room that those
        before it leave over; the last item may be cut, and says so. Every item shows its confidence.

        Args:
            budget: tokens that the packet may take (an estimate, 4 characters of English each), 50 or more.
            secret: with secret memories.

        Raises:
            SlowwaveError: the budget is too small.
        """
        from slowwave.search.wakeup import wakeup

        return wakeup(self._space, self.namespace, budget=budget, as_of=self._space.now(), secret=secret)

    # -- feedback --------------------------------------------------------------------------------

    def feedback(
        self, search_id: str, result: str | int | Result, rating: str, *, viewer: Viewer | None = None
    ) -> Rated:
        """Say how one result of a search served. It counts from the next night on.

        The last rating of a principal on a result of a search is the one that counts, and of one principal
        only the newest few ratings of a memory do.

        Args:
            search_id: of the search.
            result: a result of it, its rank (from 1), its memory's id or one of its chunks' ids.
            rating: helpful, neutral or unhelpful.
            viewer: who says so: what that one may not see was not shown; None is the owner.

        Raises:
            NotFoundError: this namespace has no such search, or it did not show such a result.
            FeedbackError: an unknown rating.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.search.feedback import rate

        now = self._space.now()
        with feeding_back("feedback", now) as tell:
            rated = rate(
                self._space, self.namespace, search_id, result, rating,
                principal=self.principal, now=now, viewer=viewer,
            )  # fmt: skip
            tell(search_id=rated.search_id, event_id=rated.event_id, new=rated.new)
        return rated

    def observe(
        self,
        search_id: str,
        response: str,
        *,
        cited: Collection[str | int | Result] = (),
        similarity: Callable[[str, str], float] | None = None,
        viewer: Viewer | None = None,
    ) -> Observed:
        """Look at the answer that a search was for: which of the memories that it was shown did it use?

        A memory is used when more than 30 % of the longer words that were shown of it are in the answer, or
        when the answer names its id. The answer itself is not kept. Looking at it again changes nothing.

        Args:
            search_id: of the search.
            response: text of the answer.
            cited: results that were used with certainty (as for :meth:`feedback`).
            similarity: of two texts in [0, 1]; asked where words alone do not decide.
            viewer: who says so: what that one may not see was not shown; None is the owner.

        Raises:
            NotFoundError: this namespace has no such search, or it did not show what is cited.
            FeedbackError: the response is empty.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.search.feedback import observe

        now = self._space.now()
        with feeding_back("observation", now) as tell:
            seen = observe(
                self._space, self.namespace, search_id, response, cited=cited, similarity=similarity,
                principal=self.principal, now=now, viewer=viewer,
            )  # fmt: skip
            tell(search_id=seen.search_id, event_id=seen.event_id, new=seen.new)
        return seen

    def outcome(self, project: str, outcome: str) -> Concluded:
        """Say how a project ended: credited to what its searches brought since its outcome before.

        Args:
            project: that searches were made for.
            outcome: success or failure.

        Raises:
            NotFoundError: no search of this namespace was for that project.
            FeedbackError: an unknown outcome.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.search.feedback import conclude

        now = self._space.now()
        with feeding_back("outcome", now) as tell:
            ended = conclude(self._space, self.namespace, project, outcome, principal=self.principal, now=now)
            tell(event_id=ended.event_id, new=ended.new)
        return ended

    def stats(self, memory_id: str) -> MemoryStats:
        """What use says of a memory: who used it, what was said of it, and what that comes to.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.feedback.stats import stats

        return stats(self._space, self.get(memory_id), as_of=self._space.now())

    @property
    def learning(self) -> Learning:
        """What selections have taught this namespace: its gate, its terms, approval and rollback."""
        from slowwave.learning.review import Learning

        return Learning(self._space, self.namespace, self.principal)

    def judge(
        self, query: str, memory_id: str, grade: int | None, *, state: str = "graded", explanation: str = ""
    ) -> Judged:
        """Label by hand how well a memory answers a query. The last word of a principal on a pair counts.

        Args:
            query: as it was asked; without regard to case and white space.
            memory_id: from save() or search().
            grade: 0 not relevant, 1 about the subject, 2 answers in part, 3 answers; None in other states.
            state: graded, unrateable (no grade can be given) or later (look at it again).
            explanation: why.

        Raises:
            NotFoundError: this namespace has no such memory.
            JudgmentError: an empty query, an unknown state, or a grade out of range.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.evaluation.judging.labels import label

        return label(
            self._space, self.namespace, query, memory_id, grade, state=state, explanation=explanation,
            principal=self.principal, now=self._space.now(),
        )  # fmt: skip

    # -- one memory ------------------------------------------------------------------------------

    def get(self, memory_id: str) -> MemoryRecord:
        """A memory by its id, whatever its status.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.lifecycle.reading import record_of

        return record_of(self.tenant, memory_id)

    def forget(self, memory_id: str, *, viewer: Viewer | None = None) -> bool:
        """Take a memory out of every search. Its text stays in the history; :meth:`remember` brings it back.

        What it superseded or absorbed can be found again. :meth:`erase` leaves nothing of it.

        Args:
            memory_id: from save() or search().
            viewer: who asks: an assistant may not forget what it may not see, nor what is critical,
                canonical or a source of truth; None is the owner.

        Returns:
            Whether anything changed: False where it was forgotten already.

        Raises:
            NotFoundError: this namespace has no such memory.
            ProtectedError: an assistant asks for what only a person may forget.
        """
        from slowwave.home.visibility import Viewer, sight
        from slowwave.journal.acts import forget_entry
        from slowwave.lifecycle.forgetting import require_forgettable
        from slowwave.lifecycle.intake import guarded, take_in, written

        if viewer is not None:
            sight(self.store, self.namespace, [memory_id], viewer).require(memory_id, self.namespace)
        source = self.get(memory_id).source

        def forget(last: Mapping[str, int] | None) -> bool:
            known = self.get(memory_id)
            if viewer is Viewer.ASSISTANT:
                require_forgettable(self.tenant, known)
            if known.status == "retired":
                return False
            act = forget_entry(
                namespace=self.namespace,
                source=source,
                origin="",
                occurred_at=self._space.now(),
                principal=self.principal,
            )
            take_in(self._space, written(self._space, [act], after=last))
            return True

        if viewer is not Viewer.ASSISTANT:  # an owner looks at nothing first, and may queue
            return forget(None)
        return guarded(self._space, self.namespace, [source], forget)

    def remember(self, memory_id: str) -> bool:
        """Take :meth:`forget` back: the memory says again what it said, and is asked nothing by the gate.

        Returns:
            Whether anything changed: False where it was not forgotten.

        Raises:
            NotFoundError: this namespace has no such memory, or its text was erased.
        """
        from slowwave.lifecycle.forgetting import remember_entry
        from slowwave.lifecycle.intake import happen

        known = self.get(memory_id)
        if known.status != "retired":
            return False
        happen(self._space, remember_entry(self._space, known, principal=self.principal))
        return True

    def to_erase(self, *memory_ids: str, source: str = "", everything: bool = False) -> Plan:
        """What :meth:`erase` would take away: memories with their titles, and how much in which place.

        Args:
            *memory_ids: these memories, and those that say exactly what one of them says.
            source: all whose source (vault path or key) begins with this.
            everything: all that this namespace has, its journal and vaults.

        Raises:
            ErasureError: nothing was named, or more than one kind of thing.
            NotFoundError: this namespace has nothing of this name.
        """
        from slowwave.upkeep.erasure.running import plan

        return plan(self._space, self.namespace, memory_ids, source=source, everything=everything)

    def erase(self, *memory_ids: str, source: str = "", everything: bool = False, why: str = "") -> Erased:
        """Take memories away for good: texts, vectors, searches that showed them, what they taught.

        There is no way back: every checkpoint of the home goes, too. The journal keeps that something was
        erased, when, by whom and `why`, and none of its text.

        Args:
            *memory_ids: as for :meth:`to_erase`.
            source: as for :meth:`to_erase`.
            everything: as for :meth:`to_erase`.
            why: in words that do not repeat what is erased; they stay.

        Raises:
            ErasureError: nothing was named, or more than one kind of thing.
            NotFoundError: this namespace has nothing of this name.
            JournalError: the journal cannot be written. What was begun, `slowwave erase --finish` finishes.
        """
        planned = self.to_erase(*memory_ids, source=source, everything=everything)
        return self.erase_planned(planned, why=why)

    def erase_planned(self, planned: Plan, *, why: str = "") -> Erased:
        """Carry out what :meth:`to_erase` has shown."""
        from slowwave.upkeep.erasure.running import erase

        return erase(self._space, planned, principal=self.principal, why=why)

    # -- the save gate ---------------------------------------------------------------------------

    def gate_report(self, *, days: int) -> GateReport:
        """What the save gate refused, or would refuse if it did more than warn, by reason.

        Args:
            days: that are counted, today with them (count).
        """
        from slowwave.lifecycle.gate_report import gate_report

        return gate_report(self._space, self.namespace, days=days, as_of=self._space.now())

    def gate_notice(self) -> Notice:
        """When the save gate begins to refuse and what that comes to, in words."""
        from slowwave.lifecycle.gate_notice import notice

        return notice(self._space, self._space.now(), self.namespace)

    def would_refuse(self, *, days: int | None = None, reason: str = "") -> pl.DataFrame:
        """The notes that entered while the save gate only warned, and that it would have refused.

        Args:
            days: only of so many days (count); None: since the gate was activated.
            reason: only with this reason.
        """
        from slowwave.lifecycle.gate_report import would_refuse

        return would_refuse(self._space, self.namespace, days=days, reason=reason, as_of=self._space.now())

    # -- what was decided ------------------------------------------------------------------------

    def decisions(
        self, *, memory_id: str = "", outcome: str = "", waiting: bool = False, limit: int = 50
    ) -> list[dict[str, Any]]:
        """The decision log, the newest first: what became of notes beside what was known.

        Of a secret memory that is not named here it has neither title nor evidence.

        Args:
            memory_id: only decisions about or against this memory.
            outcome: only duplicate, merge, supersede, related or complement; changed: what was merged,
                superseded, or refused as a duplicate; empty: all but complements that nothing was found
                beside; any: all.
            waiting: only those that wait for a person's word, each with what :meth:`accept` and
                :meth:`decline` would do.
            limit: how many.
        """
        from slowwave.lifecycle import decisions
        from slowwave.lifecycle.waiting import listed

        if waiting:
            if outcome:
                raise SlowwaveError("What waits has no outcome yet: give waiting or an outcome, not both.")
            return listed(self.tenant, memory_id=memory_id, limit=limit)

        return decisions.listed(
            self._space, self.namespace, memory_id=memory_id, outcome=outcome, limit=limit
        )

    def history(self, memory_id: str, *, viewer: Viewer | None = None) -> list[dict[str, Any]]:
        """Everything that ever happened to a memory, the oldest first: texts, verdicts, decisions.

        Args:
            memory_id: from save() or search().
            viewer: who is to see it: what that one may not see is hidden; None is the owner.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.home.visibility import Viewer
        from slowwave.lifecycle import decisions

        return decisions.history(self._space, self.namespace, memory_id, viewer=viewer or Viewer.OWNER)

    def accept(self, decision_id: str, *, viewer: Viewer | None = None) -> dict[str, Any]:
        """Let the merge or superseding happen that waits for a person's word.

        Args:
            decision_id: from ``decisions(waiting=True)``.
            viewer: as for :meth:`undo`.

        Returns:
            The decision that came of it; :meth:`undo` takes it back.

        Raises:
            NotFoundError: this namespace has no such decision.
            SlowwaveError: it does not wait, or not any more; nothing was changed.
        """
        from slowwave.lifecycle.waiting import settle

        return settle(self.tenant, decision_id, accept=True, viewer=viewer)

    def decline(self, decision_id: str, *, viewer: Viewer | None = None) -> dict[str, Any]:
        """Leave the two memories of a decision that waits as they are, and never ask about them again.

        Args:
            decision_id: from ``decisions(waiting=True)``.
            viewer: as for :meth:`undo`.

        Raises:
            NotFoundError: this namespace has no such decision.
            SlowwaveError: it does not wait, or not any more; nothing was changed.
        """
        from slowwave.lifecycle.waiting import settle

        return settle(self.tenant, decision_id, accept=False, viewer=viewer)

    def undo(self, decision_id: str, *, viewer: Viewer | None = None) -> dict[str, Any]:
        """Take a merge, a superseding or a relation back: both memories are what they were before.

        The two are never merged or superseded by each other again. Undoing the refusal of a duplicate
        releases it.

        Args:
            decision_id: from save() or decisions().
            viewer: who asks: a decision about what that one may not see is not there; None is the owner.

        Returns:
            The decision, as it stands now.

        Raises:
            NotFoundError: this namespace has no such decision.
            SlowwaveError: it was taken back already, or it changed nothing.
            ProtectedError: an assistant asks, and it waits for a person or is a person's word.
        """
        from slowwave.home.visibility import Viewer
        from slowwave.lifecycle import decisions
        from slowwave.lifecycle.forgetting import require_undoable
        from slowwave.lifecycle.intake import happen

        row = decisions.undoable(self._space, self.namespace, decision_id, viewer)
        if viewer is Viewer.ASSISTANT:
            require_undoable(row)
        if row["refused"]:
            self.release(f"{row['memory_id']}:{row['revision']}")
        else:
            happen(self._space, self._undo_entry(decision_id, self._space.now()))
        return decisions.one(self._space, self.namespace, decision_id)

    def quarantine(
        self, *, status: str = "held", reason: str = "", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """What was refused, the newest first; of what is secret or could not be read no text is listed.

        Args:
            status: held, resolved, or empty for both.
            reason: only with this reason.
            limit: how many; None is all.
        """
        from slowwave.lifecycle.quarantine import listed

        return listed(self._space, self.namespace, status=status, reason=reason, limit=limit)

    def release(self, quarantine_id: str) -> Saved:
        """Let in a note that was refused, as it is: nothing is asked of it any more but a valid namespace.

        Raises:
            NotFoundError: this namespace holds no such note.
            SlowwaveError: it was settled already, or it could not be read.
        """
        from slowwave.lifecycle.intake import take_in, written
        from slowwave.lifecycle.quarantine import held, release_entry

        row = held(self.store, self.namespace, quarantine_id)
        now = self._space.now()
        acts = [release_entry(self.journal, row, occurred_at=now, principal=self.principal)]
        if row["duplicate_of"]:  # the two are kept apart from now on
            acts.append(self._undo_entry(ids.decision_id(row["memory_id"], row["revision"]), now))
        there = written(self._space, acts)  # as a release before it wrote them, if that one was killed
        saved = self._take_in(there[:1])[0]
        for act in there[1:]:
            take_in(self._space, [act])
        return saved

    def _undo_entry(self, decision_id: str, now: datetime) -> Entry:
        from slowwave.journal.acts import word_entry

        return word_entry(
            "undo", decision_id, namespace=self.namespace, occurred_at=now, principal=self.principal
        )

    def count(self) -> int:
        """Live memories of this namespace."""
        return self.store.count("memories", self.tenant.mine("status = 'live'"))


@public
def open_memory(
    path: Path | str | None = None,
    *,
    namespace: str,
    principal: str = "application",
    **settings: Any,  # noqa: ANN401 - groups of settings
) -> Memory:
    """Open a memory; a new home is made where there is none.

    Args:
        path: home folder; when not given ``SLOWWAVE_HOME``, else the nearest ``.slowwave`` upwards.
        namespace: the tenant, always required.
        principal: who acts.
        **settings: groups of settings to override, for instance ``embedding={"model": "wordllama-256"}``.

    Raises:
        SettingsError: a setting has a value that is not allowed.
        ModelError: the home belongs to another embedding model.
    """
    return Memory(load(path, **settings), namespace=namespace, principal=principal)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Notes of a call that are written together: as they were given, without their names, and as notes."""

    notes: Sequence[Mapping[str, Any]]
    bare: Sequence[Mapping[str, Any]]
    made: Sequence[Note]
    events: Sequence[str]
    moments: Sequence[datetime]
    kept: Collection[str]
    after: Mapping[str, int] | None


def _replaced(outcomes: Sequence[Saved]) -> list[Saved]:
    """What became of the notes of one call, also by those that came after them under the same key."""
    let_in = [one.status != "quarantined" for one in outcomes]
    last = {one.memory_id: at for at, one in enumerate(outcomes, start=1) if let_in[at - 1]}
    done = []
    for at, saved in enumerate(outcomes, start=1):
        by = last.get(saved.memory_id, at)
        if not let_in[at - 1] or by == at:
            done.append(saved)
            continue
        why = f"Note {by} of the same call has the same key, {saved.source!r}: it replaced this text."
        done.append(replace(saved, status="replaced", warnings=(*saved.warnings, why)))
    return done


def _fields(became: Mapping[str, Any]) -> dict[str, Any]:
    """What became of an act, with tuples where another process sent lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in became.items()}
