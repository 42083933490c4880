"""Payloads of learning decisions: approval, withdrawal, regression and rollback."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from slowwave.scoring.feedback.learned import RATINGS, SCOPES, SWITCHED, WORDS

APPROVE, WITHDRAW, REGRESSION, ROLLBACK = "approve", "withdraw", "regression", "rollback"
"""Subjects of these entries. The payload has `why` and the `kind` of learning; of a rollback also `scope` and
`value`, of an approval the evidence that was shown."""


def payload_of_decision(why: str, detail: Mapping[str, Any]) -> dict[str, Any]:
    """Build the payload of a learning decision."""
    return {"why": why, **detail}


def why_and_detail(payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the reason of a learning decision, and the other fields."""
    return str(payload.get("why", "")), {name: value for name, value in payload.items() if name != "why"}


def is_sound(action: str, payload: Mapping[str, Any]) -> bool:
    """Whether a learning decision can be carried out."""
    kind = payload.get("kind", WORDS)
    if kind not in SWITCHED:
        return False
    if action == ROLLBACK and kind == RATINGS:
        return False  # ratings are events of their own: switched off, never rolled back
    if action != ROLLBACK:
        return action in (APPROVE, WITHDRAW, REGRESSION)
    scope, value = payload.get("scope"), payload.get("value")
    if scope not in SCOPES or not isinstance(value, str):
        return False
    return scope != "since" or _is_moment(value)


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
