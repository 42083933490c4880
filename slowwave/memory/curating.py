"""The class :class:`slowwave.Memory`, with its calls about single memories and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from typing_extensions import deprecated

from slowwave.common import ids
from slowwave.common.error_translation import api_calls
from slowwave.errors import SlowwaveError
from slowwave.home.tenant import MemoryRecord, Saved

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

    It is thread-safe, and any number of processes may have the same home open.

    Args:
        settings: of the home.
        namespace: the tenant; no call ever reads or writes another one.
        principal: user recorded with every event.
        space: the open workspace, if there is one; `close` closes it for all who share it.
    """

    def get(self, memory_id: str) -> MemoryRecord:
        """Return a memory by its id, whatever its status, with its newer value.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.lifecycle.newer_values import with_newer_value
        from slowwave.lifecycle.reading import record_of

        return with_newer_value(self.tenant, record_of(self.tenant, memory_id))

    def forget(self, memory_id: str, *, viewer: Viewer | None = None) -> bool:
        """Hide a memory from searches (soft delete). :meth:`unforget` undoes it.

        Its text stays in the history. Memories that it superseded or absorbed become searchable again.
        :meth:`erase` deletes irreversibly.

        Args:
            memory_id: from save() or search().
            viewer: an assistant may not forget hidden, critical or canonical memories and sources of truth;
                None is the owner.

        Returns:
            Whether anything changed; False if it was already forgotten.

        Raises:
            NotFoundError: this namespace has no such memory.
            ProtectedError: only a person may forget it.
        """
        from slowwave.home.visibility import Viewer, access_view
        from slowwave.journal.entry_builders import forget_entry
        from slowwave.lifecycle.forgetting import require_forgettable
        from slowwave.lifecycle.reading import record_of
        from slowwave.lifecycle.write_path import append, apply, locked_write

        if viewer is not None:
            view = access_view(self.store, self.namespace, [memory_id], viewer, forgotten=True)
            view.require(memory_id, self.namespace)
        source = record_of(self.tenant, memory_id).source

        def forget(last: Mapping[str, int] | None) -> bool:
            record = record_of(self.tenant, memory_id)
            if viewer is Viewer.ASSISTANT:
                require_forgettable(self.tenant, record)
            if record.status == "retired":
                return False
            entry = forget_entry(
                namespace=self.namespace,
                source=source,
                origin="",
                occurred_at=self._space.now(),
                principal=self.principal,
            )
            apply(self._space, append(self._space, [entry], after=last))
            return True

        if viewer is not Viewer.ASSISTANT:  # the owner needs no check, so the write may queue
            return forget(None)
        return locked_write(self._space, self.namespace, [source], forget)

    def repetitions(self, memory_id: str) -> dict[str, str]:
        """Return title and status of memories that may say the same, by id."""
        from slowwave.lifecycle.repetitions import labels_of, repetitions, same_text

        named = repetitions(self._space, self.namespace, [memory_id])
        return labels_of(
            self._space, self.namespace, named | same_text(self._space, self.namespace, memory_id)
        )

    def unforget(self, memory_id: str) -> bool:
        """Undo :meth:`forget`: the memory is searchable again, without the save gate.

        Returns:
            Whether anything changed; False if it was not forgotten.

        Raises:
            NotFoundError: this namespace has no such memory, or its text was erased.
        """
        from slowwave.lifecycle.forgetting import remember_entry
        from slowwave.lifecycle.reading import record_of
        from slowwave.lifecycle.write_path import append_and_apply

        record = record_of(self.tenant, memory_id)
        if record.status != "retired":
            return False
        append_and_apply(self._space, remember_entry(self._space, record, principal=self.principal))
        return True

    remember = deprecated("Use Memory.unforget.")(unforget)

    def plan_erasure(self, *memory_ids: str, source: str = "", everything: bool = False) -> Plan:
        """Return the plan of :meth:`erase`: memories with titles, and counts per place.

        Args:
            *memory_ids: these memories, and those with exactly the same text.
            source: all whose source (vault path or key) begins with this.
            everything: the whole namespace with its journal and vaults.

        Raises:
            ErasureError: nothing was named, or more than one kind.
            NotFoundError: this namespace has nothing of this name.
        """
        from slowwave.maintenance.erasure.running import plan

        return plan(self._space, self.namespace, memory_ids, source=source, everything=everything)

    def erase(self, *memory_ids: str, source: str = "", everything: bool = False, why: str = "") -> Erased:
        """Erase memories irreversibly: texts, vectors, searches that returned them, learned data.

        Every checkpoint of the home is deleted, too. The journal keeps the fact, time, user and `why`, but no
        text.

        Args:
            *memory_ids: as of :meth:`plan_erasure`.
            source: as of :meth:`plan_erasure`.
            everything: as of :meth:`plan_erasure`.
            why: reason; it is kept, so do not repeat erased text.

        Raises:
            ErasureError: nothing was named, or more than one kind.
            NotFoundError: this namespace has nothing of this name.
            JournalError: the journal cannot be written. `slowwave erase --finish` completes a begun erasure.
        """
        planned = self.plan_erasure(*memory_ids, source=source, everything=everything)
        return self.execute_erasure(planned, why=why)

    def execute_erasure(self, planned: Plan, *, why: str = "") -> Erased:
        """Carry out a plan of :meth:`plan_erasure`."""
        from slowwave.maintenance.erasure.running import erase

        return erase(self._space, planned, principal=self.principal, why=why)

    to_erase = deprecated("Use Memory.plan_erasure.")(plan_erasure)
    erase_planned = deprecated("Use Memory.execute_erasure.")(execute_erasure)

    # -- the save gate ---------------------------------------------------------------------------

    def gate_report(self, *, days: int) -> GateReport:
        """Report notes that the save gate refused, or would refuse if it enforced, by reason.

        Args:
            days: number of days, including today.
        """
        from slowwave.lifecycle.gate_report import gate_report

        return gate_report(self._space, self.namespace, days=days, as_of=self._space.now())

    def gate_notice(self) -> Notice:
        """Return when the save gate starts to enforce and what that affects, as text."""
        from slowwave.lifecycle.gate_notice import notice

        return notice(self._space, self._space.now(), self.namespace)

    def gate_preview(self, *, days: int | None = None, reason: str = "") -> pl.DataFrame:
        """Return notes accepted with a warning that enforcement would refuse.

        Args:
            days: number of days; None: since the gate was activated.
            reason: only with this reason.
        """
        from slowwave.lifecycle.gate_report import gate_preview

        return gate_preview(self._space, self.namespace, days=days, reason=reason, as_of=self._space.now())

    would_refuse = deprecated("Use Memory.gate_preview.")(gate_preview)

    # -- decisions -------------------------------------------------------------------------

    def decisions(
        self, *, memory_id: str = "", outcome: str = "", waiting: bool = False, limit: int = 50
    ) -> list[dict[str, Any]]:
        """Return reconsolidation decisions, newest first.

        Titles and evidence of secret memories are hidden, unless the memory is named here.

        Args:
            memory_id: only decisions about or against this memory.
            outcome: only duplicate, merge, supersede, related or complement; changed: merged, superseded, or
                refused as a duplicate; empty: all but complements without a similar memory; any: all.
            waiting: only decisions that wait for a person, each with the effects of :meth:`accept` and
                :meth:`decline`.
            limit: maximum number.
        """
        from slowwave.lifecycle import decisions
        from slowwave.lifecycle.pending_decisions import listed

        if waiting:
            if outcome:
                raise SlowwaveError(
                    "Waiting decisions have no outcome yet. Give either waiting or an outcome, not both."
                )
            return listed(self.tenant, memory_id=memory_id, limit=limit)

        return decisions.listed(
            self._space, self.namespace, memory_id=memory_id, outcome=outcome, limit=limit
        )

    def history(self, memory_id: str, *, viewer: Viewer | None = None) -> list[dict[str, Any]]:
        """Return all events of a memory, oldest first: texts, verdicts, decisions.

        Args:
            memory_id: from save() or search().
            viewer: hides what this viewer may not see; None is the owner.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.home.visibility import Viewer
        from slowwave.lifecycle import decisions

        return decisions.history(self._space, self.namespace, memory_id, viewer=viewer or Viewer.OWNER)

    def accept(self, decision_id: str, *, viewer: Viewer | None = None) -> dict[str, Any]:
        """Carry out a merge or superseding that waits for a person.

        Args:
            decision_id: from ``decisions(waiting=True)``.
            viewer: as of :meth:`undo`.

        Returns:
            The resulting decision; :meth:`undo` undoes it.

        Raises:
            NotFoundError: this namespace has no such decision.
            SlowwaveError: it does not wait (any more); nothing was changed.
        """
        from slowwave.lifecycle.pending_decisions import settle

        return settle(self.tenant, decision_id, accept=True, viewer=viewer)

    def decline(self, decision_id: str, *, viewer: Viewer | None = None) -> dict[str, Any]:
        """Decline a waiting decision: both memories stay unchanged, and it is not proposed again.

        Args:
            decision_id: from ``decisions(waiting=True)``.
            viewer: as of :meth:`undo`.

        Raises:
            NotFoundError: this namespace has no such decision.
            SlowwaveError: it does not wait (any more); nothing was changed.
        """
        from slowwave.lifecycle.pending_decisions import settle

        return settle(self.tenant, decision_id, accept=False, viewer=viewer)

    def undo(self, decision_id: str, *, viewer: Viewer | None = None) -> dict[str, Any]:
        """Undo a merge, a superseding or a relation: both memories get their previous state.

        They are never merged or superseded by each other again. Undoing the refusal of a duplicate releases
        it.

        Args:
            decision_id: from save() or decisions().
            viewer: decisions about memories hidden from this viewer are unknown; None is the owner.

        Returns:
            The decision with its current state.

        Raises:
            NotFoundError: this namespace has no such decision.
            SlowwaveError: it was undone already, or it changed nothing.
            ProtectedError: an assistant asks, and the decision waits for a person or a person made it.
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
        """Return refused notes, newest first; texts of secret and unreadable ones are hidden.

        Args:
            status: held, resolved, discarded, or empty for all.
            reason: only with this reason.
            limit: maximum number; None is all.
        """
        from slowwave.lifecycle.quarantine import listed

        return listed(self._space, self.namespace, status=status, reason=reason, limit=limit)

    def release(self, quarantine_id: str) -> Saved:
        """Release a refused note unchanged. Only its namespace is still validated.

        Raises:
            NotFoundError: this namespace has no such refused note.
            SlowwaveError: it was settled already, or it is unreadable.
        """
        from slowwave.lifecycle.quarantine import held, release_entry
        from slowwave.lifecycle.write_path import append, apply

        row = held(self.store, self.namespace, quarantine_id)
        now = self._space.now()
        entries = [release_entry(self.journal, row, occurred_at=now, principal=self.principal)]
        if row["duplicate_of"]:  # the two are never merged from now on
            entries.append(self._undo_entry(ids.decision_id(row["memory_id"], row["revision"]), now))
        written = append(self._space, entries)  # idempotent after a killed release
        saved = self._apply(written[:1])[0]
        for entry in written[1:]:
            apply(self._space, [entry])
        return saved

    def discard(self, *quarantine_ids: str, reason: str = "") -> list[dict[str, Any]]:
        """Discard refused notes: they are listed and counted no more. :meth:`restore_discarded` undoes it.

        Args:
            *quarantine_ids: from quarantine(); all or none are discarded.
            reason: instead, all that were refused for it.
        """
        from slowwave.lifecycle.discarding import discard

        return discard(self.tenant, quarantine_ids, reason=reason)

    def restore_discarded(self, *quarantine_ids: str, reason: str = "") -> list[dict[str, Any]]:
        """Undo :meth:`discard`: the notes are in quarantine again. Results and errors are the same."""
        from slowwave.lifecycle.discarding import restore

        return restore(self.tenant, quarantine_ids, reason=reason)

    def _undo_entry(self, decision_id: str, now: datetime) -> Entry:
        from slowwave.journal.entry_builders import word_entry

        return word_entry(
            "undo", decision_id, namespace=self.namespace, occurred_at=now, principal=self.principal
        )

    def count(self) -> int:
        """Count the live memories of this namespace."""
        return self.store.count("memories", self.tenant.mine("status = 'live'"))
