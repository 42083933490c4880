"""Calls of :class:`slowwave.Memory` that save notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from slowwave.common.error_translation import api_calls
from slowwave.common.garbage import paused_collection
from slowwave.home.tenant import Saved
from slowwave.telemetry.instrumentation import observe_save

if TYPE_CHECKING:
    from slowwave.journal import Entry
    from slowwave.notes.model import Note

from slowwave.memory.opened import OpenMemory

_CLOSED = (
    "It is secret, because its text, a tag or its metadata says so: assistants do not see it. If that is not "
    "meant, take it out and save again."
)


@api_calls
class SavingMemory(OpenMemory):
    """Calls that save notes."""

    def save(
        self,
        content: str,
        *,
        title: str = "",
        key: str = "",
        follows: str = "",
        **labels: Any,  # noqa: ANN401
    ) -> Saved:
        """Save one note. When this returns, it is durable, and searchable if the save gate accepted it.

        Args:
            content: Markdown or plain text.
            title: default: the first heading, else the first words.
            key: your own id for the note. Saving the same key again replaces the text and its description.
                Sensitivity, importance_tier, retrieval_priority, state and source_of_truth keep the last
                accepted values unless given. A refused note does not change them. Without a key every save is
                a memory of its own.
            follows: key (or source) of the previous note of a conversation or series. It need not exist.
            **labels: context (needed to understand the note, at most 40 words; searchable, but not returned;
                default: the last 20 words of the note that it follows), memory_type, tags, trigger_phrases,
                aliases, sensitivity, importance_tier, retrieval_priority, state, source_kind (default:
                generated; ``manual`` marks a person's text, which is trusted more), source_of_truth,
                created_at, metadata. And `idempotency_key`, your own id of the call: a repeated call saves
                nothing twice.

        Returns:
            The outcome. A note that the save gate refuses is quarantined, not lost.

        Raises:
            ArgumentError: the content is empty or only white space, whatever the gate's mode.
            SlowwaveError: a label is unknown or has the wrong type.
            JournalConflictError: another note was saved with this `idempotency_key`; nothing was saved.
            JournalMovedError: other processes keep saving under that key; nothing was saved.
            JournalError: the journal cannot be written; nothing was saved.
        """
        note = {"content": content, "title": title, "key": key, "follows": follows, **labels}
        return self.save_many([note])[0]

    def save_many(self, notes: Sequence[Mapping[str, Any]]) -> list[Saved]:
        """Save notes in one batch of the save gate and the embedder; outcomes in their order.

        Args:
            notes: mappings with the arguments of :meth:`save`. If notes share a key, each replaces the
                previous one, as single saves do; the earlier ones are reported as ``replaced``.
        """
        return self._save(notes)

    def save_if_unchanged(self, key: str, build: Callable[[], Mapping[str, Any]]) -> Saved:
        """Replace the note under `key` only if it has not changed (optimistic concurrency).

        No other process replaces, forgets or protects that note between the call of `build` and the save.

        Args:
            key: of the note.
            build: checks whether the note may be saved, raises if not, and returns the arguments of
                :meth:`save`. It may run more than once. Of the existing note only the sensitivity is kept,
                unless given.

        Returns:
            The outcome.

        Raises:
            SlowwaveError: as of `build` or :meth:`save`; nothing was saved.
            JournalMovedError: other processes keep saving under that key; nothing was saved.
        """
        from slowwave.common.arguments import sound_text
        from slowwave.lifecycle.write_path import locked_write

        return locked_write(
            self._space, self.namespace, [sound_text("key", key)], lambda last: self._save([build()], last)[0]
        )

    def _save(
        self, notes: Sequence[Mapping[str, Any]], after: Mapping[str, int] | None = None
    ) -> list[Saved]:
        """Save notes; with positions `after`, only if these sources have no newer event."""
        from slowwave.journal.entry_builders import KEYLESS
        from slowwave.lifecycle.source_state import source_names as named_calls
        from slowwave.notes.arguments import KEPT, in_turn, note_of
        from slowwave.notes.sensitivity import SENSITIVITY

        now = self._space.now()
        bare, events = named_calls(notes, self.namespace, self.principal)
        with paused_collection(len(bare)):
            made = [
                note_of(
                    labels, fallback_key=KEYLESS + event, place=f"Note {number}: " if len(bare) > 1 else ""
                )
                for number, (labels, event) in enumerate(zip(bare, events, strict=True), start=1)
            ]
            # For equal keys the last note counts.
            moments = [now + timedelta(microseconds=number) for number in range(len(made))]
            kept_labels = KEPT if after is None else (SENSITIVITY,)
            saved: list[Saved] = []
            with self._space.call(), observe_save(now, events) as tell:
                for piece in in_turn(made, bare, kept_labels):
                    parts = notes[piece], bare[piece], made[piece], events[piece], moments[piece]
                    batch = _Batch(*parts, kept_labels, after)
                    saved += self._apply(self._write(batch))
                saved = _replaced(_told_if_closed(saved, made, bare))
                tell(saved)
            return saved

    def _write(self, batch: _Batch) -> list[Entry]:
        """Append the events of a batch, with labels kept from earlier notes of their keys."""
        from slowwave.journal.entry_builders import KEYLESS, context_sources, in_context, save_entry
        from slowwave.lifecycle.source_state import SourceState, read_source_state, stored_spelling
        from slowwave.lifecycle.write_path import append, optimistic_write
        from slowwave.notes.arguments import as_they_stand, leaves_open

        sources = {
            note.source
            for note, labels in zip(batch.made, batch.bare, strict=True)
            if leaves_open(labels, batch.kept) and not note.source.startswith(KEYLESS)
        }
        context_names = context_sources(batch.made)

        def write(state: SourceState, after: Mapping[str, int]) -> list[Entry]:
            standing = as_they_stand(batch.made, batch.bare, state.stands, batch.kept)
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
                    in_context(standing, state.newest), batch.events, batch.moments, strict=True
                )
            ]
            return append(
                self._space, stored_spelling(self._space.journal, batch.notes, entries), after=after
            )

        if batch.after is not None:
            return write(read_source_state(self._space, self.namespace, sources, context_names), batch.after)
        return optimistic_write(self._space, self.namespace, sources, context_names, write)

    def _apply(self, entries: Sequence[Entry]) -> list[Saved]:
        """Apply events now, with the stages of the nightly job; return the outcomes."""
        from slowwave.lifecycle.write_path import apply

        return [
            Saved(**_fields(outcome), source=entry.subject)
            for entry, outcome in zip(entries, apply(self._space, entries), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Notes of a call that are written together: as given, without names, and as notes."""

    notes: Sequence[Mapping[str, Any]]
    bare: Sequence[Mapping[str, Any]]
    made: Sequence[Note]
    events: Sequence[str]
    moments: Sequence[datetime]
    kept: Collection[str]
    after: Mapping[str, int] | None


def _told_if_closed(
    outcomes: Sequence[Saved], notes: Sequence[Note], given: Sequence[Mapping[str, Any]]
) -> list[Saved]:
    """Add a warning to notes that their own text, tags or metadata make secret."""
    from slowwave.home.visibility import is_open

    return [
        saved
        if is_open(note.sensitivity) or not is_open(labels.get("sensitivity"))
        else replace(saved, warnings=(*saved.warnings, _CLOSED))
        for saved, note, labels in zip(outcomes, notes, given, strict=False)  # none is applied if one waits
    ]


def _replaced(outcomes: Sequence[Saved]) -> list[Saved]:
    """Mark notes that a later note of the same call, with the same key, replaced."""
    accepted = [outcome.status != "quarantined" for outcome in outcomes]
    last = {outcome.memory_id: at for at, outcome in enumerate(outcomes, start=1) if accepted[at - 1]}
    done = []
    for at, saved in enumerate(outcomes, start=1):
        by = last.get(saved.memory_id, at)
        if not accepted[at - 1] or by == at:
            done.append(saved)
            continue
        why = f"Note {by} of the same call has the same key {saved.source!r} and replaced this text."
        done.append(replace(saved, status="replaced", warnings=(*saved.warnings, why)))
    return done


def _fields(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome with tuples instead of the lists that another process sends."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in outcome.items()}
