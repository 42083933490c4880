"""Newer values among passages of one subject, asked by a memory's own words (rule 3.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.short_sentences import is_note
from slowwave.quality.outdated.statements import sentences_with_values
from slowwave.quality.outdated.updates import DatedPassage, next_value, order_in_time
from slowwave.quality.titles import is_from_first_words

SENTENCES: Final = 3  # of a passage that are asked (count)


def first_newer(own: Sequence[DatedPassage], near: Sequence[DatedPassage]) -> DatedPassage | None:
    """Return the first passage that replaces a value of a memory; None if all its values hold.

    The rule is that of a search. A memory is asked with the title that a user gave it and with its sentences
    that have values, so what it says is what the question is about.

    Args:
        own: Passages of the memory.
        near: Passages of others.
    """
    if not own or not near:
        return None
    passages = [*own, *near]
    asked = dict.fromkeys(question for passage in own for question in _questions(passage))
    newer = (next_value(own[0].memory_id, Question.answered_by(question), passages) for question in asked)
    return min(filter(None, newer), key=order_in_time, default=None)


def may_be_replaced(text: str) -> bool:
    """Whether a passage has something that a newer one may replace: a value, or that it is a short note."""
    return is_note(text) or bool(sentences_with_values(text))


def _questions(passage: DatedPassage) -> Iterator[str]:
    if passage.title and not is_from_first_words(passage.title, passage.text):
        yield passage.title
    yield from sentences_with_values(passage.text)[:SENTENCES]
