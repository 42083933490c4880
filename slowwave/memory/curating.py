"""The class that applications import, with its calls about single memories and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.error_translation import api_call, api_calls
from slowwave.errors import SlowwaveError
from slowwave.home.tenant import MemoryRecord, Saved
from slowwave.settings import load

if TYPE_CHECKING:
    import polars as pl

    from slowwave.home.visibility import Viewer
    from slowwave.journal import Entry
    from slowwave.lifecycle.gate_notice import Notice
    from slowwave.lifecycle.gate_report import GateReport
    from slowwave.maintenance.erasure import Erased, Plan

from slowwave.memory.searching import SearchingMemory


@api_calls
class Memory(SearchingMemory):
    """One namespace of a Slowwave home. Open it with :func:`slowwave.open`.

    It is safe to use from several threads, and any number of processes may have the same home open.

    Args:
        settings: of the home.
        namespace: the tenant; no call ever reads or writes another one.
        principal: who acts, recorded with every act.
        space: the parts of that home where they are open already; `close` closes them for all who share them.
    """

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
        from slowwave.home.visibility import Viewer, access_view
        from slowwave.journal.entry_builders import forget_entry
        from slowwave.lifecycle.forgetting import require_forgettable
        from slowwave.lifecycle.write_path import append, apply, locked_write

        if viewer is not None:
            access_view(self.store, self.namespace, [memory_id], viewer).require(memory_id, self.namespace)
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
            apply(self._space, append(self._space, [act], after=last))
            return True

        if viewer is not Viewer.ASSISTANT:  # an owner looks at nothing first, and may queue
            return forget(None)
        return locked_write(self._space, self.namespace, [source], forget)

    def remember(self, memory_id: str) -> bool:
        """Take :meth:`forget` back: the memory says again what it said, and is asked nothing by the gate.

        Returns:
            Whether anything changed: False where it was not forgotten.

        Raises:
            NotFoundError: this namespace has no such memory, or its text was erased.
        """
        from slowwave.lifecycle.forgetting import remember_entry
        from slowwave.lifecycle.write_path import append_and_apply

        known = self.get(memory_id)
        if known.status != "retired":
            return False
        append_and_apply(self._space, remember_entry(self._space, known, principal=self.principal))
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
        from slowwave.maintenance.erasure.running import plan

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
        from slowwave.maintenance.erasure.running import erase

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
        from slowwave.lifecycle.pending_decisions import listed

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
        from slowwave.lifecycle.pending_decisions import settle

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
        from slowwave.lifecycle.pending_decisions import settle

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
        from slowwave.lifecycle.write_path import append_and_apply

        row = decisions.undoable(self._space, self.namespace, decision_id, viewer)
        if viewer is Viewer.ASSISTANT:
            require_undoable(row)
        if row["refused"]:
            self.release(f"{row['memory_id']}:{row['revision']}")
        else:
            append_and_apply(self._space, self._undo_entry(decision_id, self._space.now()))
        return decisions.get_decision(self._space, self.namespace, decision_id)

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
        from slowwave.lifecycle.quarantine import held, release_entry
        from slowwave.lifecycle.write_path import append, apply

        row = held(self.store, self.namespace, quarantine_id)
        now = self._space.now()
        acts = [release_entry(self.journal, row, occurred_at=now, principal=self.principal)]
        if row["duplicate_of"]:  # the two are kept apart from now on
            acts.append(self._undo_entry(ids.decision_id(row["memory_id"], row["revision"]), now))
        there = append(self._space, acts)  # as a release before it wrote them, if that one was killed
        saved = self._take_in(there[:1])[0]
        for act in there[1:]:
            apply(self._space, [act])
        return saved

    def _undo_entry(self, decision_id: str, now: datetime) -> Entry:
        from slowwave.journal.entry_builders import word_entry

        return word_entry(
            "undo", decision_id, namespace=self.namespace, occurred_at=now, principal=self.principal
        )

    def count(self) -> int:
        """Live memories of this namespace."""
        return self.store.count("memories", self.tenant.mine("status = 'live'"))


@api_call
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
