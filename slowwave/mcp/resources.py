"""What an assistant can read: a memory, whole, and how the gates stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slowwave.home.visibility import Viewer, sight
from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import KEYS, WORDS, Kind
from slowwave.views import mcp_wording as wording

GATE_DAYS = 14


class Resources:
    """What can be read of the memory of who is calling.

    Args:
        mine: gives that memory.
    """

    def __init__(self, mine: Callable[[], Memory]) -> None:
        self._mine = mine

    def memory(self, memory_id: str) -> str:
        """One memory, whole: its labels, and its text as quoted data."""
        memory = self._mine()
        seen = sight(memory.store, memory.namespace, [memory_id], Viewer.ASSISTANT)
        seen.require(memory_id, memory.namespace)
        return wording.record(memory.get(memory_id))

    def gates(self) -> dict[str, Any]:
        """How the save gate and the learning gate stand, and what the save gate refused lately."""
        memory = self._mine()
        report = memory.gate_report(days=GATE_DAYS)
        return {
            "namespace": memory.namespace,
            "save": {
                "mode": report.mode,
                "enforced": report.enforced,
                "activated_at": report.activated_at,
                "enforces_from": report.enforces_from,
                "since": report.first,
                "notes": report.notes,
                "refused": report.refused,
                "would_be_refused": report.would,
                "notice": memory.gate_notice().words,
                "reasons": report.reasons.drop("example").to_dicts(),
            },
            "learning": _learning(memory),
        }


def _learning(memory: Memory) -> dict[str, Any]:
    """Whether what was selected teaches, and what keeps it from being applied."""
    if not memory.settings.learning.enabled:
        return {"enabled": False, "why": "The setting learning.enabled is off: nothing is learned."}
    return {"enabled": True} | _gate_of(memory, WORDS) | {"search_keys": _gate_of(memory, KEYS)}


def _gate_of(memory: Memory, kind: Kind) -> dict[str, Any]:
    """What keeps a kind of learning from being applied, if anything does."""
    decision = memory.learning.gate(kind)
    lacking = [one.name for one in decision.missing]
    return {
        "gate": "open" if decision.open else "closed",
        "missing": lacking,
        "why": "What selections teach is applied."
        if decision.open
        else "What selections teach is noted and measured, and applied once nothing is missing.",
    }
