"""Memories whose values a newer result of the same search replaces (rule 3.12)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final, NamedTuple

from slowwave.quality.outdated.announced import announces_change, are_apart
from slowwave.quality.outdated.asked_words import says_of
from slowwave.quality.outdated.change_words import covered
from slowwave.quality.outdated.cues import announces
from slowwave.quality.outdated.dated_passages import DatedPassage, is_from_text, order_in_time
from slowwave.quality.outdated.question import ANY, Question, asked_keys, has_most, lacks_named, still_holds
from slowwave.quality.outdated.relation import may_replace, replaces
from slowwave.quality.outdated.scope_words import SCOPE
from slowwave.quality.outdated.short_sentences import MAX_CHARACTERS, is_note, read, sentence_of
from slowwave.quality.outdated.statements import (
    Statements,
    asks,
    may_have_values,
    sentences_with_values,
    statements_of,
)
from slowwave.quality.outdated.tokens import tokens_of
from slowwave.quality.outdated.transitions import names_old_value
from slowwave.quality.outdated.values import Value
from slowwave.quality.titles import is_from_first_words

MAX_VALUES = 12  # of a passage that are compared with those of another (count)
SENTENCES: Final = 3  # of a passage that are asked (count)


@dataclass(frozen=True, slots=True)
class Outdated:
    """Newer memory that replaces a value.

    Attributes:
        newest: The last of a chain of them.
        until: Moment from which the next value holds.
        following: The first of the chain.
    """

    newest: str
    until: datetime
    following: str


def outdated_memories(
    question: Question, passages: Sequence[DatedPassage], further: Sequence[DatedPassage] = ()
) -> dict[str, Outdated]:
    """Return the newer memories of each one with an outdated value.

    Args:
        question: Of the search.
        passages: Passages that the search found.
        further: More of them that rank lower; they count if they say that something changed.
    """
    following = _following(question, passages, further)
    if question.names_subject:
        following = _by_their_own_words(question, passages) | following
    return {
        memory: Outdated(last_of(memory, following).memory_id, after.moment, after.memory_id)
        for memory, after in following.items()
        if not still_holds(question, _whole(memory, passages), after.titled)
    }


def _whole(memory: str, passages: Sequence[DatedPassage]) -> str:
    return "\n".join(passage.titled for passage in passages if passage.memory_id == memory)


def _by_their_own_words(question: Question, passages: Sequence[DatedPassage]) -> dict[str, DatedPassage]:
    """Return the first passage that replaces a value of each memory about the subject.

    A question is often too short, or in other words, to compare two texts by. So it asks for what each memory
    says of its subject.
    """
    comparable = [one for one in passages if is_note(one.text) or may_have_values(one.text)]
    # A word that no text has, as "servers" of "which servers", tells none of them apart.
    subject = question.subject & frozenset().union(*(asked_keys(one.titled) for one in comparable))
    several = comparable if len(comparable) > 1 else ()
    about = [one for one in several if _is_about(subject, asked_keys(one.titled))]
    following: dict[str, DatedPassage] = {}
    for memory in dict.fromkeys(passage.memory_id for passage in about):
        own = [passage for passage in about if passage.memory_id == memory]
        all_of_it = _whole(memory, own)
        first = min(map(order_in_time, own))
        # One that a question repeats (do we still use VetOffice?) is asked for what it says.
        shared = covered(question.subject, asked_keys(all_of_it))
        is_repeated = question.asked.is_of_state and question.subject <= shared
        others = [
            passage
            for passage in (comparable if is_repeated else about)
            if passage.memory_id != memory and order_in_time(passage) > first
            if is_repeated or has_most(question, all_of_it, passage.titled)
            if is_repeated or not lacks_named(question, all_of_it, passage.titled)
        ]
        if newer := first_newer(own, others, about=subject):
            following[memory] = newer
    return following


def _is_about(subject: AbstractSet[str], keys: AbstractSet[str]) -> bool:
    """Whether a text has at least half of the words for a subject."""
    return 2 * len(subject & keys) >= len(subject)


def first_newer(
    own: Sequence[DatedPassage], near: Sequence[DatedPassage], about: AbstractSet[str] = frozenset()
) -> DatedPassage | None:
    """Return the first passage that replaces a value of a memory; None if all its values hold.

    The rule is that of a search. A memory is asked with the title that a user gave it and with its sentences
    that have values, so what it says is what the question is about.

    Args:
        own: Passages of the memory.
        near: Passages of others.
        about: Keys of words of which each question has one; empty: any question.
    """
    first = min(map(order_in_time, own), default=None)
    later = [passage for passage in near if first is not None and order_in_time(passage) > first]
    if not later:
        return None
    passages = [*own, *later]
    asked = dict.fromkeys(said for passage in own for said in _questions(passage))
    newer = (
        next_value(own[0].memory_id, Question.answered_by(said), passages)
        for said in asked
        if not about or about & asked_keys(f"{own[0].title} {said}")
    )
    return min(filter(None, newer), key=order_in_time, default=None)


def may_be_replaced(text: str) -> bool:
    """Whether a newer passage may replace one: it has a value or is a short note."""
    return is_note(text) or bool(sentences_with_values(text))


def _questions(passage: DatedPassage) -> Iterator[str]:
    if passage.title and not is_from_first_words(passage.title, passage.text):
        yield passage.title
    yield from sentences_with_values(passage.text)[:SENTENCES]


def next_value(memory_id: str, question: Question, passages: Sequence[DatedPassage]) -> DatedPassage | None:
    """Return the first passage that replaces a value of one memory; None if all hold."""
    return _following(question, passages, (), of=memory_id).get(memory_id)


def _following(
    question: Question, passages: Sequence[DatedPassage], further: Sequence[DatedPassage], of: str = ""
) -> dict[str, DatedPassage]:
    """Return the first passage that replaces something, by the older memory; `of` is one of these, or all."""
    following = _replaced_values(question, passages, further, of)
    short, lower = ([one for one in found if is_note(one.text)] for found in (passages, further))
    notes = {passage.memory_id: passage for passage in short}
    following = {
        memory: newer for memory, newer in following.items()
        if not (memory in notes and _are_apart(question, notes[memory], newer))
    }  # fmt: skip
    for memory, newer in _announced_changes(question, short, lower, of).items():
        _keep_first(following, memory, newer)
    return following


def _keep_first(following: dict[str, DatedPassage], memory: str, newer: DatedPassage) -> None:
    """Note a newer passage of a memory, unless an earlier one is known."""
    following[memory] = min(following.get(memory, newer), newer, key=order_in_time)


def _announced_changes(
    question: Question, short: Sequence[DatedPassage], lower: Sequence[DatedPassage], of: str
) -> dict[str, DatedPassage]:
    """Return the first short note that announces a change, by the older note."""
    following: dict[str, DatedPassage] = {}
    if question.asked.is_past or not (question.kinds or question.asked.is_of_state):
        return following
    telling = {passage.memory_id for passage in (*short, *lower) if announces(passage.text)}
    if not telling:
        return following
    passages = sorted(((order_in_time(one), one) for one in (*short, *lower)), key=itemgetter(0))
    for moment, older in passages:
        if (of and older.memory_id != of) or all(older is not one for one in short):
            continue
        is_about = any(says_of(question.asked, text) for text in (older.text, older.title))
        for later, newer in passages:
            if moment >= later or not telling & {older.memory_id, newer.memory_id}:
                continue
            has_said = is_about or read(newer.text).former or names_old_value(older.text, newer.text)
            is_change = has_said and _is_announced(older, newer, question)
            if is_change and (of or has_most(question, older.titled, newer.titled, or_none=True)):
                _keep_first(following, older.memory_id, newer)
                break
    return following


def _is_announced(older: DatedPassage, newer: DatedPassage, question: Question) -> bool:
    if older.memory_id == newer.memory_id or older.sensitivity != newer.sensitivity:
        return False
    if _left_to_values(question, older, newer) or lacks_named(question, older.titled, newer.titled):
        return False
    return (
        _one_subject(older, newer)
        and announces_change(
            question.asked, read(older.text), read(newer.text), (_title(older), _title(newer))
        )
        and not newer.is_to_come
    )


def _are_apart(question: Question, passage: DatedPassage, other: DatedPassage) -> bool:
    """Whether two short notes are about two things.

    Turns of a chat, which ask, are left to their values, and so is a note that names what it replaces, unless
    it lacks the subject or a name that is asked for.
    """
    if len(other.text) > MAX_CHARACTERS or asks(passage.text) or asks(other.text):
        return False
    older, newer = read(passage.text), read(other.text)
    if _values_in(other.text, former=True) & _values_in(passage.text, former=False):
        asked = (
            (one.subject & question.asked.keys) | (one.names & question.asked.names)
            for one in older.sentences
        )
        if frozenset().union(*asked) <= frozenset().union(*(one.keys for one in newer.sentences)):
            return False
    return are_apart(question.asked, older, newer, _title(passage))


def _left_to_values(question: Question, older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether only the values of two turns that ask say what changed.

    So it is where a number or a time is asked for, or nothing.
    """
    return (question.is_own or question.kinds < ANY) and asks(older.text) and asks(newer.text)


def _title(passage: DatedPassage) -> frozenset[str]:
    """Return the keys of a title that its text does not begin with."""
    if not passage.title or is_from_text(passage.title, passage.text):
        return frozenset()
    return sentence_of(passage.title).keys


def _replaced_values(
    question: Question, passages: Sequence[DatedPassage], further: Sequence[DatedPassage], of: str
) -> dict[str, DatedPassage]:
    """Return the first passage with a newer value, by the older passage."""
    following: dict[str, DatedPassage] = {}
    if not question.keys or not question.kinds or len(passages) + len(further) < 2:
        return following
    groups: defaultdict[str, list[_Compared]] = defaultdict(list)
    for near, ones in ((True, passages), (False, further)):
        for passage in ones:
            found = statements_of(passage.text, question.keys, changes=not near, counted=question.counted)
            about = [value for value in found.values if not question.keys.isdisjoint(value.about)]
            about = about[:MAX_VALUES]
            ended = {value.kind for value in found.values if value.is_former}  # what it replaces
            news = [
                value
                for value in about
                if may_replace(value, question, near=near) or (value.kind in ended and not value.is_former)
            ][:MAX_VALUES]
            if about if near else news:
                one = _Compared(passage, found, about if near else [], news)
                groups[passage.sensitivity].append(one)
    for group in groups.values():
        if any(one.news for one in group):
            _compare(group, question, following, of)
    return following


def _compare(
    group: Sequence[_Compared], question: Question, following: dict[str, DatedPassage], of: str
) -> None:
    """Note the first newer passage of each memory with an outdated value."""
    dated = sorted(((order_in_time(one.passage), one) for one in group), key=itemgetter(0))
    for place, (moment, older) in enumerate(dated):
        if not older.about or (of and older.passage.memory_id != of):
            continue
        for later, newer in dated[place + 1 :]:
            if newer.news and moment < later and _is_update(older, newer, question):
                _keep_first(following, older.passage.memory_id, newer.passage)
                break


class _Compared(NamedTuple):
    """Passage with its values: all, those about the question, and those that may replace others."""

    passage: DatedPassage
    found: Statements
    about: list[Value]
    news: list[Value]


def _is_update(older: _Compared, newer: _Compared, question: Question) -> bool:
    speakers = {older.found.speaker, newer.found.speaker} - {""}
    if older.passage.memory_id == newer.passage.memory_id or len(speakers) > 1:
        return False
    if newer.found.speaker in SCOPE["fiction"] | SCOPE["trial"]:
        return False
    pairs = [(old, new) for new in newer.news for old in older.about if old.kind == new.kind]
    if not pairs or not (
        _one_subject(older.passage, newer.passage) or _is_named(older.passage, newer.passage)
    ):
        return False
    if lacks_named(question, older.passage.titled, newer.passage.titled):
        return False
    hits = (pair for pair in pairs if replaces(*pair, older.found, newer.found, question))
    if not newer.about:
        whole = statements_of(newer.passage.text, question.keys)
        hits = (pair for pair in hits if replaces(*pair, older.found, whole, question))
    return any(hits) and not newer.passage.is_to_come


def _one_subject(passage: DatedPassage, other: DatedPassage) -> bool:
    """Whether titles do not tell two memories apart, as those of two offices do."""
    titles = [one.title for one in (passage, other)]
    if "" in titles or any(is_from_text(one.title, one.text) for one in (passage, other)):
        return True
    keys = [asked_keys(title) for title in titles]
    return not (keys[0] - keys[1] and keys[1] - keys[0])


def _is_named(older: DatedPassage, newer: DatedPassage) -> bool:
    """Whether a text names a value that it replaces, under a like title.

    Titles are alike if they differ in values and words of change alone.
    """
    ended = _values_in(newer.text, former=True) | _values_in(newer.title, former=True)
    if not ended & _values_in(older.text, former=False):
        return False
    words = [{token.key for token in tokens_of(one.title)} - {""} for one in (older, newer)]
    return words[0] <= words[1] or words[1] <= words[0]


def _values_in(text: str, *, former: bool) -> set[tuple[str, str]]:
    """Return kind and value of what a text says has ended, or of what holds."""
    return {(one.kind, one.value) for one in statements_of(text).values if one.is_former is former}


def last_of(memory: str, newest: dict[str, DatedPassage]) -> DatedPassage:
    """Return the end of a chain of updates; a chain only goes forward in time."""
    passage = newest[memory]
    while passage.memory_id in newest:
        passage = newest[passage.memory_id]
    return passage
