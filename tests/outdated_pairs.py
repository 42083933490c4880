"""Two notes and a question: what the rule of outdated values says of them (rule 3.12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.likely_changes import likely_changes
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.updates import outdated_memories

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def marks(question: str, older: str, newer: str) -> tuple[bool, bool]:
    """Return whether an older note is marked, and whether the newer one goes before it without a mark."""
    passages = [
        DatedPassage(name, "", text, "", NOW - timedelta(days=ago), NOW - timedelta(days=ago))
        for name, text, ago in (("older", older, 170), ("newer", newer, 25))
    ]
    asked = Question.of(question)
    return "older" in outdated_memories(asked, passages), "older" in likely_changes(asked, passages)
