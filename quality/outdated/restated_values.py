"""Values that users state again while they ask for something else: the newer one ranks first (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from slowwave.quality.divergence.lexicon import word_key
from slowwave.quality.outdated.change_words import TABLES, covered
from slowwave.quality.outdated.question import Question, asked_keys, lacks_named
from slowwave.quality.outdated.statements import statements_of
from slowwave.quality.outdated.updates import DatedPassage, order_in_time
from slowwave.quality.outdated.values import Value

SHARE: Final = 0.6
"""Least share of the asked words of an older turn that a newer one has."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)?")


class _AskingTurn(NamedTuple):
    """Turn of a chat in which somebody asks and tells a value beside it."""

    moment: tuple[date, datetime, datetime]
    passage: DatedPassage
    speaker: str
    values: tuple[Value, ...]


def restated_values(question: Question, query: str, passages: Sequence[DatedPassage]) -> dict[str, str]:
    """Return the newer memory that may have the value that is asked for, by memory.

    Of several newer ones the first of `passages` counts.

    Args:
        question: Of the search. Only one for a value that holds now has such pairs.
        query: Its text.
        passages: Passages that the search found, best first.
    """
    if not question.kinds or question.asked.is_past:
        return {}
    turns = [turn for passage in passages if (turn := _turn(question, passage)).values]
    following: dict[str, str] = {}
    for older in turns:
        for newer in turns:
            if (
                newer.moment > older.moment
                and _has_another_value(older, newer)
                and _has_enough(question, query, older.passage.text, newer.passage.text)
                and not newer.passage.is_to_come
            ):
                following.setdefault(older.passage.memory_id, newer.passage.memory_id)
                break
    return following


def _turn(question: Question, passage: DatedPassage) -> _AskingTurn:
    """Read a passage; one in which nobody asks has no values."""
    said = statements_of(passage.text) if _asks(passage.text) else None
    values = said.values if said else ()
    answers = (one for one in values if one.kind != "statement" and one.kind in question.kinds)
    return _AskingTurn(
        order_in_time(passage), passage, said.speaker if said else "",
        tuple(one for one in answers if not one.is_former),
    )  # fmt: skip


@lru_cache(maxsize=4_096)  # a turn is compared in many searches
def _asks(text: str) -> bool:
    """Whether somebody asks in a text, and speaks of themselves."""
    return "?" in text and not TABLES["speaker"].isdisjoint(map(str.casefold, _WORD.findall(text)))


def _has_another_value(older: _AskingTurn, newer: _AskingTurn) -> bool:
    """Whether each of two turns of one speaker has a value that the other lacks.

    Their limits must agree: what is aimed at is not what is reached.
    """
    if (
        len({older.speaker, newer.speaker} - {""}) > 1
        or older.passage.sensitivity != newer.passage.sensitivity
    ):
        return False
    told, news = ({(one.kind, one.value): one.bound for one in turn.values} for turn in (older, newer))
    bounds = {told[value] for value in told.keys() - news.keys()}
    return not bounds.isdisjoint(news[value] for value in news.keys() - told.keys())


def _has_enough(question: Question, query: str, older: str, newer: str) -> bool:
    """Whether a newer text has enough of what is asked and an older one says.

    It may not lack a word before one that both have: the *festival* cut.
    """
    found = covered(question.subject, asked_keys(newer))
    asked = covered(question.subject, asked_keys(older))
    lacking = asked - found
    if not found or len(asked & found) < SHARE * len(asked):
        return False
    words = [word_key(word) for word in _WORD.findall(query.casefold())]
    is_other = any(first in lacking and second in asked & found for first, second in pairwise(words))
    return not is_other and not lacks_named(question, older, newer)
