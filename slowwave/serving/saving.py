"""Saving and correcting for a caller: an assistant replaces nothing that only a person may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slowwave.home.tenant import Saved
from slowwave.home.visibility import Viewer, access_view
from slowwave.lifecycle.correcting import correction
from slowwave.lifecycle.forgetting import require_replaceable
from slowwave.memory import Memory
from slowwave.serving.request import MemoryRequest
from slowwave.views import mcp_text as wording
from slowwave.views.answers import Stored


def save(request: MemoryRequest, note: Mapping[str, Any]) -> Stored:
    """Save a note, and say what became of it.

    Args:
        request: Of the caller.
        note: Arguments of `Memory.save`.

    Raises:
        ProtectedError: The key is that of what only a person may replace.
        SlowwaveError: As of `Memory.save`.
    """
    memory = request.memory
    if request.viewer is Viewer.ASSISTANT and (key := note.get("key")):
        return stored(request, save_replaceable(memory, key, note))
    return stored(request, memory.save_many([note])[0])


def save_replaceable(memory: Memory, key: str, note: Mapping[str, Any]) -> Saved:
    """Save a note under a key in one step with the look whether an assistant may replace what has it.

    Raises:
        ProtectedError: Only a person may.
    """

    def build() -> Mapping[str, Any]:
        require_replaceable(memory.tenant, key)
        return note

    return memory.save_over(key, build)


def correct(
    request: MemoryRequest, memory_id: str, content: str, *, title: str, check: Callable[[str], None]
) -> Saved:
    """Replace what a memory says; its labels stay.

    Args:
        request: Of the caller.
        memory_id: Of the memory; the caller may see it.
        content: New text.
        title: New title; empty: as it is.
        check: Raises where the present revision is not the one that the caller has read.

    Raises:
        ProtectedError: An assistant corrects what only a person may replace.
        SlowwaveError: What `check` raises, or as of `Memory.save`.
    """
    memory = request.memory

    def build() -> Mapping[str, Any]:
        request.require_visible(memory_id)
        record = memory.get(memory_id)
        check(request.revision(memory_id))
        note = correction(memory.tenant, record, content, title=title, person=request.person)
        if not request.person:
            require_replaceable(memory.tenant, record.source)
        return note

    return memory.save_over(memory.get(memory_id).source, build)


def stored(request: MemoryRequest, saved: Saved) -> Stored:
    """Return what became of a note, without what the caller may not see."""
    memory = request.memory
    next_step = wording.after_the_gate(saved, memory.gate_policy.enforces_from, request.calls)
    answer = Stored.model_validate(saved).model_copy(update={"next_step": next_step})
    if request.viewer is not Viewer.ASSISTANT:
        return answer
    others = saved.other, saved.duplicate_of
    if access_view(memory.store, memory.namespace, others, Viewer.ASSISTANT).sees(*others):
        return answer
    hidden = {"duplicate_of": None, "outcome": "", "other": None, "decision_id": None}
    return answer.model_copy(update=hidden)
