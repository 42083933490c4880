"""Outcomes of saves as plain data, for the callers that wait for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.lifecycle.admission import AdmissionReport

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry

Outcome = dict[str, Any]
"""Outcome of an event as plain data: of a save the fields of `home.tenant.Saved` but its source."""


def mark_superseded(outcomes: Mapping[str, Outcome], done: AdmissionReport) -> None:
    """Mark notes as superseded that entered and are older than what they contradict."""
    superseding = {
        (row["memory_id"], row["other_memory"]): row["decision_id"]
        for row in done.decisions.iter_rows(named=True)
        if row["outcome"] == "supersede"
    }
    for outcome in outcomes.values():
        status, newer = done.standing.get(outcome.get("memory_id", ""), ("", None))
        if status == "superseded" and outcome["status"] != "quarantined":
            decision = superseding.get((newer, outcome["memory_id"]))
            outcome |= {"status": status, "outcome": status, "other": newer, "decision_id": decision}


def decided(
    space: Workspace, passed: Iterable[tuple[str, str]], settled: AdmissionReport
) -> dict[str, Mapping[str, Any]]:
    """Return the decision on each memory by its id, also decisions of a killed turn.

    Args:
        passed: Memory and revision of each note that passed the gate.
        settled: Report on them.
    """
    by_memory: dict[str, Mapping[str, Any]] = {
        row["memory_id"]: row for row in settled.decisions.iter_rows(named=True)
    }
    if settled.unchanged:
        names = [ids.decision_id(memory, revision) for memory, revision in passed if memory not in by_memory]
        rows = space.store.read_by("decisions", "decision_id", names, also="undone_at IS NULL")
        by_memory |= {row["memory_id"]: row for row in rows.iter_rows(named=True)}
    return by_memory


def _messages_of(decision: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the messages of a decision for the user who saved the note."""
    if decision.get("skipped"):
        return (decision["evidence"],)
    if decision.get("proposed") and decision["outcome"] == "related":
        action = {"merge": "merged into", "supersede": "put in the place of"}[decision["proposed"]]
        return (
            f"Whether it is {action} the memory that it is related to waits for a person: "
            f"`slowwave decisions --waiting` shows both.",
        )
    return ()


def outcomes_of(
    entries: Sequence[Entry],
    verdicts: Iterable[Mapping[str, Any]],
    settled: AdmissionReport,
    decided: Mapping[str, Mapping[str, Any]],
) -> dict[str, Outcome]:
    """Return the outcome of each save by its event id.

    Args:
        entries: The saves.
        verdicts: Of the gate on each of their memories.
        settled: Report on those that passed.
        decided: Decision on each memory by its id.
    """
    by_id = {row["memory_id"]: row for row in verdicts}
    outcomes: dict[str, Outcome] = {}
    for entry in entries:
        memory = ids.memory_id(entry.namespace, entry.subject)
        verdict, decision = by_id[memory], decided.get(memory, {})
        refused = verdict["verdict"] != "pass" or decision.get("refused", False)
        outcome = decision.get("outcome", "")
        outcomes[entry.event_id] = {
            "memory_id": memory,
            "status": "quarantined" if refused else "merged" if outcome == "merge" else "live",
            "reasons": (*verdict["reasons"], *(decision.get("reasons") or ())),
            "duplicate_of": decision["other_memory"] if refused and decision else None,
            "outcome": outcome if outcome != "complement" else "",
            "other": decision.get("other_memory"),
            "decision_id": decision.get("decision_id"),
            "quality": verdict["score"],
            "warnings": settled.warnings + _messages_of(decision),
        }
    return outcomes
