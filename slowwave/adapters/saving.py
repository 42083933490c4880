"""What agents and chains save: as any assistant's, it replaces nothing that only a person may."""

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
"""How a memory stands of which no person has said anything."""


def save(memory: Memory, notes: Sequence[Mapping[str, Any]]) -> list[Saved]:
    """Save notes for an agent; the text of one is lent nothing that a person said of an earlier one.

    Who may see it stays as it was. A note alone is saved under its key in one step with the look at what is
    there; of several all keys are looked at first.

    Args:
        memory: that they are saved in.
        notes: arguments of `Memory.save`.

    Raises:
        ProtectedError: a key is that of what only a person may replace; nothing was saved.
        SlowwaveError: as of `Memory.save_many`.
    """
    keys = [sound_text("key", note["key"]) for note in notes if note.get("key")]
    if len(notes) == len(keys) == 1:
        return [save_replaceable(memory, keys[0], notes[0])]
    for key in sorted(memory.journal.latest(memory.namespace, keys)) if keys else ():
        require_replaceable(memory.tenant, key)
    return memory.save_many([{**_NEW, **note} for note in notes])
