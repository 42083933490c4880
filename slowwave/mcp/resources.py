"""Resources for assistants: one memory, and the status of the gates."""

from __future__ import annotations

from typing import Any

from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import KEYS, WORDS, Kind
from slowwave.serving.request import MemoryRequest
from slowwave.views import mcp_text as wording

GATE_DAYS = 14


def memory_text(request: MemoryRequest, memory_id: str) -> str:
    """Return one memory in full: its labels, and its text as quoted data."""
    return wording.record(request.record(memory_id))


def gate_status(request: MemoryRequest) -> dict[str, Any]:
    """Return the status of the save gate and the learning gate, with recent refusals."""
    memory = request.memory
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
    """Return the status of the learning gate and its missing conditions."""
    if not memory.settings.learning.enabled:
        return {"enabled": False, "why": "The setting learning.enabled is off: nothing is learned."}
    return {"enabled": True} | _gate_of(memory, WORDS) | {"search_keys": _gate_of(memory, KEYS)}


def _gate_of(memory: Memory, kind: Kind) -> dict[str, Any]:
    """Return the status of one kind of learning, with its missing conditions."""
    decision = memory.learning.gate(kind)
    missing = [condition.name for condition in decision.missing]
    return {
        "gate": "open" if decision.open else "closed",
        "missing": missing,
        "why": "What selections teach is applied."
        if decision.open
        else "What selections teach is recorded and measured. It is applied once nothing is missing.",
    }
