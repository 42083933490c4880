"""Outdated values among memories of one subject, asked by their own words (rule 3.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.statements import sentences_with_values
from slowwave.quality.outdated.updates import DatedPassage, Outdated, update_of
from slowwave.quality.titles import is_from_first_words

SENTENCES: Final = 3  # of a passage that are asked (count)


def outdated_among(passages: Sequence[DatedPassage]) -> dict[str, Outdated]:
    """Return the newest memory of each one with an outdated value.

    The rule is that of a search (`update_of`). A memory is asked with the title that a user gave it
    and with its sentences that have values, so what it says is what the question is about.
    """
    found: dict[str, Outdated] = {}
    for passage in passages:
        for question in _questions(passage):
            update = update_of(passage.memory_id, Question.answered_by(question), passages)
            if update and (passage.memory_id not in found or found[passage.memory_id].until < update.until):
                found[passage.memory_id] = update
    return found


def _questions(passage: DatedPassage) -> Iterator[str]:
    if passage.title and not is_from_first_words(passage.title, passage.text):
        yield passage.title
    yield from sentences_with_values(passage.text)[:SENTENCES]
