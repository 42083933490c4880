"""Saving for agents and chains, with the protection of memories from assistants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from slowwave.common.arguments import sound_text
from slowwave.home.tenant import Saved
from slowwave.lifecycle.forgetting import require_replaceable
from slowwave.memory import Memory
from slowwave.notes.arguments import STANDING
from slowwave.notes.model import Note
from slowwave.serving.saving import save_replaceable

_NEW: Final = {name: getattr(Note(source="", title="", content=""), name) for name in STANDING}
"""Labels of a memory that no person has set."""


def save(memory: Memory, notes: Sequence[Mapping[str, Any]]) -> list[Saved]:
    """Save notes for an agent; labels that a person set for a key do not carry over.

    The sensitivity stays. A single note is saved atomically with the check of its key; of several notes all
    keys are checked first.

    Args:
        memory: to save in.
        notes: arguments of `Memory.save`.

    Raises:
        ProtectedError: only a person may replace the note of a key; nothing was saved.
        SlowwaveError: as of `Memory.save_many`.
    """
    keys = [sound_text("key", note["key"]) for note in notes if note.get("key")]
    if len(notes) == len(keys) == 1:
        return [save_replaceable(memory, keys[0], notes[0])]
    for key in sorted(memory.journal.latest(memory.namespace, keys)) if keys else ():
        require_replaceable(memory.tenant, key)
    return memory.save_many([{**_NEW, **note} for note in notes])
