"""Saving notes: the calls of :class:`slowwave.Memory` that write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from slowwave.common.error_translation import api_calls
from slowwave.home.tenant import Saved
from slowwave.telemetry.instrumentation import observe_save

if TYPE_CHECKING:
    from slowwave.journal import Entry
    from slowwave.notes.model import Note

from slowwave.memory.opened import OpenMemory


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
        from slowwave.lifecycle.write_path import locked_write

        return locked_write(
            self._space, self.namespace, [sound_text("key", key)], lambda last: self._save([said()], last)[0]
        )

    def _save(
        self, notes: Sequence[Mapping[str, Any]], after: Mapping[str, int] | None = None
    ) -> list[Saved]:
        """Save notes; with places `after`, if nothing was said of these sources since."""
        from slowwave.journal.entry_builders import KEYLESS
        from slowwave.lifecycle.source_state import source_names as named_calls
        from slowwave.notes.arguments import KEPT, SENSITIVITY, in_turn, note_of

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
        with self._space.call(), observe_save(now, events) as tell:
            for piece in in_turn(made, bare, kept):
                parts = notes[piece], bare[piece], made[piece], events[piece], moments[piece]
                asked = _Asked(*parts, kept, after)
                saved += self._take_in(self._write(asked))
            saved = _replaced(saved)
            tell(saved)
        return saved

    def _write(self, asked: _Asked) -> list[Entry]:
        """Write the acts of a piece of a call, with what they take from what was said before."""
        from slowwave.journal.entry_builders import KEYLESS, context_sources, in_context, save_entry
        from slowwave.lifecycle.source_state import SourceState, read_source_state, stored_spelling
        from slowwave.lifecycle.write_path import append, optimistic_write
        from slowwave.notes.arguments import as_they_stand, leaves_open

        sources = {
            note.source
            for note, labels in zip(asked.made, asked.bare, strict=True)
            if leaves_open(labels, asked.kept) and not note.source.startswith(KEYLESS)
        }
        others = context_sources(asked.made)

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
            return append(
                self._space, stored_spelling(self._space.journal, asked.notes, entries), after=after
            )

        if asked.after is not None:
            return write(read_source_state(self._space, self.namespace, sources, others), asked.after)
        return optimistic_write(self._space, self.namespace, sources, others, write)

    def _take_in(self, entries: Sequence[Entry]) -> list[Saved]:
        """Run the night's stages on these acts, now; what became of each."""
        from slowwave.lifecycle.write_path import apply

        return [
            Saved(**_fields(became), source=entry.subject)
            for entry, became in zip(entries, apply(self._space, entries), strict=True)
        ]


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
