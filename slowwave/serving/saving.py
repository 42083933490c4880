"""Saving and correcting for a caller, with the protection of memories from assistants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slowwave.home.tenant import Saved
from slowwave.home.visibility import Viewer, access_view
from slowwave.lifecycle.correcting import correction
from slowwave.lifecycle.forgetting import require_replaceable
from slowwave.lifecycle.reading import record_of
from slowwave.memory import Memory
from slowwave.serving.request import MemoryRequest
from slowwave.views import mcp_text as wording
from slowwave.views.answers import Stored
from slowwave.views.gate_text import stored_despite


def save(request: MemoryRequest, note: Mapping[str, Any]) -> Stored:
    """Save a note, and return the outcome.

    Args:
        request: of the caller.
        note: arguments of `Memory.save`.

    Raises:
        ProtectedError: only a person may replace the note of this key.
        SlowwaveError: as of `Memory.save`.
    """
    memory = request.memory
    if request.viewer is Viewer.ASSISTANT and (key := note.get("key")):
        return stored(request, save_replaceable(memory, key, note))
    return stored(request, memory.save_many([note])[0])


def save_replaceable(memory: Memory, key: str, note: Mapping[str, Any]) -> Saved:
    """Save a note under a key, if an assistant may replace it, atomically.

    Raises:
        ProtectedError: only a person may.
    """

    def build() -> Mapping[str, Any]:
        require_replaceable(memory.tenant, key)
        return note

    return memory.save_if_unchanged(key, build)


def correct(
    request: MemoryRequest, memory_id: str, content: str, *, title: str, check: Callable[[str], None],
    labels: Mapping[str, Any] | None = None,
) -> Saved:  # fmt: skip
    """Replace the text of a memory; labels that are not given stay.

    Args:
        request: of the caller.
        memory_id: visible to the caller.
        content: new text.
        title: new title; empty: unchanged.
        check: raises if the current revision is not the one that the caller has read.
        labels: new labels; only a person gives them.

    Raises:
        ProtectedError: an assistant may not replace this memory.
        SlowwaveError: as of `check` or `Memory.save`.
    """
    memory = request.memory

    def build() -> Mapping[str, Any]:
        request.require_visible(memory_id)
        record = record_of(memory.tenant, memory_id)
        check(request.revision(memory_id))
        note = correction(memory.tenant, record, content, title=title, person=request.person)
        if not request.person:
            require_replaceable(memory.tenant, record.source)
        return {**note, **(labels or {})}

    return memory.save_if_unchanged(record_of(memory.tenant, memory_id).source, build)


def stored(request: MemoryRequest, saved: Saved) -> Stored:
    """Return the outcome of a save, without what the caller may not see."""
    memory = request.memory
    despite = stored_despite(memory.gate_policy, memory.home.now()) if saved.reasons else ""
    next_step = wording.after_the_gate(saved, despite, request.calls)
    answer = Stored.model_validate(saved).model_copy(update={"next_step": next_step})
    if request.viewer is not Viewer.ASSISTANT:
        return answer
    others = saved.other, saved.duplicate_of
    if access_view(memory.store, memory.namespace, others, Viewer.ASSISTANT).sees(*others):
        return answer
    hidden = {"duplicate_of": None, "outcome": "", "other": None, "decision_id": None}
    return answer.model_copy(update=hidden)
