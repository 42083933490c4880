"""Reconsolidation decisions as text: two or three lines each, or one in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from slowwave.common.quoting import plain_line
from slowwave.views.moments import since

Row = Mapping[str, Any]
_ARROW = " → "
_ACCEPTED_BY = "accepted by "
_WHY = {
    "duplicate": "The note repeats a memory, so it was refused",
    "merge": "The note says what a memory says, so it became part of it",
    "supersede": "The note is newer and says something else, so it replaces the memory",
    "related": "Both are about the same subject, and both stay",
    "waiting": "A person has to decide, since a protected memory would change",
    "complement": "No other memory says the same, so the note stays as it is",
}


class DecisionText(NamedTuple):
    """One decision for a list: short id, heading and lines."""

    name: str
    head: str
    lines: Sequence[str]


def describe_decision(row: Row, name: str, *, now: datetime, width: int) -> DecisionText:
    """Return a decision in lines that fit.

    Args:
        row: of `slowwave.Memory.decisions`.
        name: its short id; empty if nothing was decided yet.
        now: aware.
        width: of a line (characters).
    """
    room = max(width - 2, 40)
    head = [outcome_of(row)]
    if row["similarity"] is not None:
        head.append(f"cosine {row['similarity']:.3f}")
    if row.get("decided_at") is not None:
        head.append(since(row["decided_at"], now))
    lines = [between(_title(row, "title", "memory_id"), _title(row, "other_title", "other_memory"), room)]
    if why := plain_line(", ".join(filter(None, [*row["reasons"], row["evidence"]]))):
        lines.append(_cut(why, room, " …"))
    return DecisionText(name, " · ".join(head), [f"  {line}" for line in lines])


def outcome_of(row: Row) -> str:
    """Return the outcome of a decision with its state."""
    marks = {
        "refused": bool(row["refused"]),
        "stored; the gate only warns": row["outcome"] == "complement" and bool(row["reasons"]),
    }
    marks_ = [mark for mark, holds in marks.items() if holds]
    if row["outcome"] == "related" and row.get("proposed"):
        pending = f"{row['proposed']}: a person has to decide"
        marks_.append("declined" if row.get("undone_at") else pending)
    elif row.get("undone_at"):
        marks_.append(f"undone: {row['undone_why']}")
    return str(row["outcome"]) + "".join(f" ({mark})" for mark in marks_)


def by_whom(row: Row, saved_by: str) -> str:
    """Return who made a decision: a person, or a rule at the save of a user.

    Args:
        row: of `slowwave.Memory.decisions`.
        saved_by: user who saved the note; empty if unknown or not to be shown.
    """
    accepted, _, rest = (row["evidence"] or "").partition("; ")
    if rest and accepted.startswith(_ACCEPTED_BY):
        return f"accepted by {accepted.removeprefix(_ACCEPTED_BY) or 'unknown'}"
    return f"by a rule, when {saved_by or 'an unknown user'} saved the note"


def why_in_words(row: Row) -> str:
    """Return why a decision was made: its rule in words, then the evidence."""
    evidence = row["evidence"] or ""
    if evidence.startswith(_ACCEPTED_BY):
        evidence = evidence.partition("; ")[2]
    outcome = "duplicate" if row["refused"] else str(row["outcome"])
    if outcome == "related" and row.get("proposed"):
        outcome = "waiting"
    return ": ".join(filter(None, [_WHY.get(outcome, ""), plain_line(evidence)]))


def whole(row: Row, *, now: datetime) -> list[tuple[str, str]]:
    """Return all fields of a decision as (name, text)."""
    similarity = "" if row["similarity"] is None else f"{row['similarity']:.3f}"
    undone = f"{since(row['undone_at'], now)} by {row['undone_by']}" if row.get("undone_at") else ""
    fields = {
        "decision": row["decision_id"],
        "outcome": outcome_of(row),
        "decided": since(row["decided_at"], now),
        "note": f"{_title(row, 'title', '')}  {row['memory_id']}".strip(),
        "other": f"{_title(row, 'other_title', '')}  {row['other_memory'] or ''}".strip(),
        "cosine": similarity,
        "policy": row["policy"] or "",
        "reasons": ", ".join(row["reasons"]),
        "evidence": row["evidence"] or "",
        "copied lines": "\n".join(row["appended"] or ()),
        "undone": undone,
    }
    return [(name, text) for name, text in fields.items() if text]


def between(first: str, second: str, room: int) -> str:
    """Return a note and the other one in a line; each is cut to fit."""
    if not second:
        return _cut(first, room, "…")
    half = (room - len(_ARROW)) // 2
    first = _cut(first, max(room - len(_ARROW) - len(second), half), "…")
    return first + _ARROW + _cut(second, room - len(_ARROW) - len(first), "…")


def _title(row: Row, name: str, identity: str) -> str:
    return plain_line(str(row[name] or "")) or (str(row[identity] or "") if identity else "")


def _cut(text: str, room: int, end: str) -> str:
    """Return a text that fits, cut between words if that loses little."""
    if len(text) <= room:
        return text
    kept = text[: room - len(end)]
    at = kept.rfind(" ")
    return (kept[:at] if at > len(kept) * 0.7 else kept).rstrip() + end
