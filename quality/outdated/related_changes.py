"""Newer notes that tell of a change in other words than the question (rule 3.12)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from slowwave.quality.outdated.announced import are_apart, told_of
from slowwave.quality.outdated.change_words import FUNCTION, TABLES, adds, content_key, covered
from slowwave.quality.outdated.compared_sentences import MEASURES, NO_SUBJECT, has_other_owner
from slowwave.quality.outdated.dated_passages import DatedPassage, order_in_time
from slowwave.quality.outdated.likely_changes import (
    NOTHING_ASKED,
    are_titled_apart,
    has_another_value,
    subject_keys,
)
from slowwave.quality.outdated.question import (
    Question,
    asked_keys,
    has_most,
    lacks_named,
    names_in,
    still_holds,
)
from slowwave.quality.outdated.scope import has_other_scope
from slowwave.quality.outdated.short_sentences import ShortSentence, is_note, read
from slowwave.quality.outdated.tokens import CHANGES, DAY_KEYS, FORMERLY, GENERAL, IGNORED, MONTH_KEYS

MIN_CHARACTERS: Final = 70
"""Characters of a newer note. In a shorter one every word says what it is about: the other rules decide."""
_OF_NO_CHANGE: Final = (TABLES["events"] - TABLES["amount"]) | TABLES["new"] | {"instead"}
"""Words that also stand where nothing changed: *a new service*, *factories instead of classes*."""
_WORD = re.compile(r"(?<!\w)[^\W\d_]{3,}(?!\w)")
_ANY_WORD = re.compile(r"[^\W_]+")
_LEFT_OUT: Final = FUNCTION | IGNORED | CHANGES | DAY_KEYS.keys() | MONTH_KEYS.keys()
_NO_KEYS: Final = NO_SUBJECT | MEASURES | GENERAL


def asks_what_holds(question: Question) -> bool:
    """Whether a question is about what holds, by its tense and words."""
    return question.is_present and not question.asked.is_past and question.keys.isdisjoint(FORMERLY)


def may_tell_alone(text: str) -> bool:
    """Whether a short note has a word of change, and is not too short."""
    return len(text) >= MIN_CHARACTERS and is_note(text) and any(one.cues for one in _changing(text))


@lru_cache(maxsize=4_096)  # a memory is found by many searches
def words_of_subject(text: str) -> str:
    """Return the words that another text about the same thing shares.

    No numbers, days, units, function words, words of change, or words that name no subject.
    """
    found = (word for word in _WORD.findall(text) if word.casefold() not in _LEFT_OUT)
    return " ".join(word for word in found if content_key(word.casefold()) not in _NO_KEYS)


def tells_of_change(question: Question, older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a newer note tells of a change of what an older one says.

    It needs no word of the question. *Rent* finds *the flat at Lenz's is 940 a month*, and this one *Letter
    from Lenz, he is sorry: from the first of May it goes up to 985, water included*.

    Args:
        question: Of the search; it asks what holds now.
        older: Short note that the search found.
        newer: Passage that shares rare words with it.
    """
    return (
        newer.memory_id != older.memory_id
        and newer.sensitivity == older.sensitivity
        and may_tell_alone(newer.text)
        and order_in_time(newer) > order_in_time(older)
        and not newer.is_to_come
        and _is_about_it(question, older, newer)
        and not lacks_named(_without_nouns(question), older.titled, newer.titled)
        and not still_holds(question, older.titled, newer.titled)
    )


def _without_nouns(question: Question) -> Question:
    """Return a question without nouns that only look like names."""
    return replace(question, keys=question.keys - question.nouns, names=question.names - question.nouns)


def _is_about_it(question: Question, older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a newer note tells of a change of this very thing."""
    told, news = told_of(read(older.text)), _changing(newer.text)
    if not any(new.cues - _OF_NO_CHANGE for new in news) and not has_another_value(told, news):
        return False
    if _is_of_others(question, older, newer) or are_titled_apart(older, newer):
        return False
    if has_most(question, older.titled, newer.titled) and are_apart(
        NOTHING_ASKED, read(older.text), read(newer.text)
    ):
        return False
    shared = covered(*(asked_keys(words_of_subject(one.titled)) for one in (older, newer)))
    if any(all(has_other_owner(old, new) for old in told) for new in news if covered(new.keys, shared)):
        return False
    known = subject_keys(told)
    return any(not has_other_scope(old.text, new.text, known) for new in news for old in told)


def _is_of_others(question: Question, older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a newer note lacks a name that is asked for.

    One that shares a name with the older note may lack it.
    """
    old, new = asked_keys(older.titled), asked_keys(newer.titled)
    named = covered(question.names - question.nouns, old)
    return bool(named - covered(named, new)) and not names_in(older.titled) & new


@lru_cache(maxsize=4_096)
def _changing(text: str) -> tuple[ShortSentence, ...]:
    """Return the sentences that may tell of a change.

    Some also say what stays: *455, still with heating*.
    """
    return tuple(
        sentence
        for sentence in read(text).sentences
        if not sentence.is_question
        and not sentence.is_unsure
        and not adds(
            [word for word in _ANY_WORD.findall(sentence.text.casefold()) if word not in TABLES["kept"]]
        )
    )
