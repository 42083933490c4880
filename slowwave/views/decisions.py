"""Decisions in words: two or three lines each, or one whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from slowwave.common.quoting import plain_line
from slowwave.views.moments import since

Row = Mapping[str, Any]
_ARROW = " → "


class DecisionText(NamedTuple):
    """One decision for a list: its id as it may be typed, what it became, and lines about it."""

    name: str
    head: str
    lines: Sequence[str]


def describe_decision(row: Row, name: str, *, now: datetime, width: int) -> DecisionText:
    """One decision in lines that fit.

    Args:
        row: of `slowwave.Memory.decisions`.
        name: its id as it may be typed; empty where nothing was decided yet.
        now: aware.
        width: characters of a line (count).
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
    """What came of a decision, and what of that still holds."""
    marks = {
        "refused": bool(row["refused"]),
        "stored; the gate only warns": row["outcome"] == "complement" and bool(row["reasons"]),
    }
    said = [mark for mark, holds in marks.items() if holds]
    if row["outcome"] == "related" and row.get("proposed"):
        asked = f"{row['proposed']}: a person has to decide"
        said.append("declined" if row.get("undone_at") else asked)
    elif row.get("undone_at"):
        said.append(f"undone: {row['undone_why']}")
    return str(row["outcome"]) + "".join(f" ({mark})" for mark in said)


def whole(row: Row, *, now: datetime) -> list[tuple[str, str]]:
    """Everything that is known of one decision, a name and a text each."""
    similarity = "" if row["similarity"] is None else f"{row['similarity']:.3f}"
    undone = f"{since(row['undone_at'], now)} by {row['undone_by']}" if row.get("undone_at") else ""
    told = {
        "decision": row["decision_id"],
        "became": outcome_of(row),
        "decided": since(row["decided_at"], now),
        "note": f"{_title(row, 'title', '')}  {row['memory_id']}".strip(),
        "beside": f"{_title(row, 'other_title', '')}  {row['other_memory'] or ''}".strip(),
        "cosine": similarity,
        "policy": row["policy"] or "",
        "reasons": ", ".join(row["reasons"]),
        "evidence": row["evidence"] or "",
        "lines that went over": "\n".join(row["appended"] or ()),
        "taken back": undone,
    }
    return [(name, text) for name, text in told.items() if text]


def between(first: str, second: str, room: int) -> str:
    """A note and the other one in a line; what has no room ends in an ellipsis."""
    if not second:
        return _cut(first, room, "…")
    half = (room - len(_ARROW)) // 2
    first = _cut(first, max(room - len(_ARROW) - len(second), half), "…")
    return first + _ARROW + _cut(second, room - len(_ARROW) - len(first), "…")


def _title(row: Row, name: str, identity: str) -> str:
    return plain_line(str(row[name] or "")) or (str(row[identity] or "") if identity else "")


def _cut(text: str, room: int, end: str) -> str:
    """A text that fits, cut between words where that loses little."""
    if len(text) <= room:
        return text
    kept = text[: room - len(end)]
    at = kept.rfind(" ")
    return (kept[:at] if at > len(kept) * 0.7 else kept).rstrip() + end
