"""Newer notes that may replace older ones: not sure enough for a mark, but they rank first (rule 3.12)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from slowwave.quality.outdated.announced import are_apart, has_narrower_subject, news_of, told_of
from slowwave.quality.outdated.asked_words import asked_words
from slowwave.quality.outdated.change_words import TABLES, covered
from slowwave.quality.outdated.compared_sentences import (
    MEASURES,
    NO_SUBJECT,
    has_other_owner,
    has_other_unit,
    is_of_other_day,
)
from slowwave.quality.outdated.cues import announces
from slowwave.quality.outdated.dated_passages import DatedPassage, order_in_time
from slowwave.quality.outdated.question import Question, asked_keys, has_most, lacks_named, still_holds
from slowwave.quality.outdated.scope import has_other_scope
from slowwave.quality.outdated.short_sentences import ShortSentence, is_note, read
from slowwave.quality.titles import is_from_first_words

NOTHING_ASKED: Final = asked_words("")
MIN_SHARED: Final = 2
"""Content words that two notes of one subject share (count)."""


def likely_changes(question: Question, passages: Sequence[DatedPassage]) -> dict[str, str]:
    """Return the newer memory that may replace it, by memory.

    Both are short notes that share words, and the newer one has a word of change. Of several newer ones the
    first of `passages` counts.

    Args:
        question: Of the search. Only one for a value that holds now has such pairs.
        passages: Passages that the search found, best first.
    """
    if not question.kinds or not question.is_present or question.asked.is_past:
        return {}
    notes = [passage for passage in passages if is_note(passage.text)]
    newer = [(order_in_time(note), note) for note in notes if announces(note.text) and not note.is_to_come]
    following: dict[str, str] = {}
    for older in notes if newer else ():
        if older.memory_id in following:
            continue
        moment = order_in_time(older)
        for when, later in newer:
            if (
                when > moment
                and later.memory_id != older.memory_id
                and later.sensitivity == older.sensitivity
                and (
                    has_most(question, older.titled, later.titled)
                    or _is_of_subject(question, older, later)
                    or _is_only_another_value(older, later)
                )
                and not _lacks_a_part(question, older, later)
                and may_change(older, later)
                and not lacks_named(question, older.text, later.text)
                and not still_holds(question, older.titled, later.titled)
            ):
                following[older.memory_id] = later.memory_id
                break
    return following


def may_change(older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a newer note may be about what an older one says.

    Args:
        older: Passage of the older note.
        newer: Passage of a note with a word of change.
    """
    told, news = told_of(read(older.text)), news_of(read(newer.text))
    if not told or not (_says_changed(news) or has_another_value(told, news)):
        return False
    old_keys, new_keys = subject_keys(told), subject_keys(news)
    if not _is_only_another_value(older, newer) and (
        len(covered(old_keys, new_keys)) < MIN_SHARED or _are_told_apart(older, newer)
    ):
        return False
    return any(
        not (
            has_other_owner(old, new)
            or has_other_unit(old, new)
            or is_of_other_day(NOTHING_ASKED, old, new)
            or has_narrower_subject(old, new, old_keys)
        )
        and not has_other_scope(old.text, new.text, old_keys)
        for new in news
        for old in told
    )


def _is_of_subject(question: Question, older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a question names a value, and both notes have one subject.

    As *which customers have the Pro plan* does.
    """
    if not (question.listed or question.asked.is_of_state):
        return False
    asking = [one for one in told_of(read(older.text)) if covered(question.asked.keys, one.keys)]
    keys = subject_keys(news_of(read(newer.text)))
    return any(one.subject and covered(one.subject, keys) for one in asking)


def _is_only_another_value(older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a newer note names nothing that the older one does not, but another value.

    As *choir is on Wednesdays now*, after *choir rehearsal is on Tuesdays*.
    """
    if _is_titled(older) or _is_titled(newer):
        return False
    told, news = told_of(read(older.text)), news_of(read(newer.text))
    keys = subject_keys(news)
    return bool(keys) and keys == covered(keys, subject_keys(told)) and has_another_value(told, news)


def _lacks_a_part(question: Question, older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a newer note lacks an asked word, and has the one behind it.

    As a note on the submission of an abstract does, where the submission of the thesis is asked for.
    """
    keys = asked_keys(newer.titled)
    pairs = [pair for sentence in told_of(read(older.text)) for pair in sentence.modifying]
    asked = covered({first for first, _ in pairs}, question.asked.keys)
    lacking = asked - covered(asked, keys)
    return bool(lacking) and bool(covered({second for first, second in pairs if first in lacking}, keys))


def _says_changed(news: Sequence[ShortSentence]) -> bool:
    """Whether a word of change is no word of events, such as "started"."""
    return any(sentence.cues - TABLES["events"] for sentence in news)


def has_another_value(told: Sequence[ShortSentence], news: Sequence[ShortSentence]) -> bool:
    """Whether a sentence with a word of change has another value of one kind."""
    return any(new.cues and old.kinds & new.kinds and new.values - old.values for old in told for new in news)


@lru_cache(maxsize=8_192)
def subject_keys(sentences: tuple[ShortSentence, ...]) -> frozenset[str]:
    """Return the keys of the words that say what sentences are about."""
    return frozenset().union(*(sentence.keys for sentence in sentences)) - NO_SUBJECT - MEASURES


def _is_titled(passage: DatedPassage) -> bool:
    return bool(passage.title) and not is_from_first_words(passage.title, passage.text)


def _are_told_apart(passage: DatedPassage, other: DatedPassage) -> bool:
    """Whether each of two titles has a word that tells two things apart.

    The other memory lacks that word. Titles of two offices share another one; those of two islands are names
    that their texts lack. Without titles, the texts tell them apart.
    """
    if not all(map(_is_titled, (passage, other))):
        return are_apart(NOTHING_ASKED, read(passage.text), read(other.text))
    return are_titled_apart(passage, other)


def are_titled_apart(passage: DatedPassage, other: DatedPassage) -> bool:
    """Whether two titles that users gave tell two things apart."""
    if not all(map(_is_titled, (passage, other))):
        return False
    titles = [asked_keys(one.title) for one in (passage, other)]
    texts = [asked_keys(one.text) for one in (passage, other)]
    own = [titles[at] - covered(titles[at], titles[1 - at] | texts[1 - at]) for at in (0, 1)]
    if titles[0] & titles[1]:
        return all(own)
    are_names = all(word[:1].isupper() for one in (passage, other) for word in one.title.split())
    return are_names and all(own[at] - covered(own[at], texts[at]) for at in (0, 1))
