"""Changes that a short note announces of what another one says (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon import PAST
from slowwave.quality.outdated.asked_words import AskedWords
from slowwave.quality.outdated.change_words import (
    CHANGING,
    GENERIC,
    ORDINALS,
    TABLES,
    content_key,
    covered,
    is_turned,
)
from slowwave.quality.outdated.compared_sentences import (
    ComparedSentences,
    has_other_owner,
    is_elsewhere,
    is_of_first,
    is_of_other_day,
)
from slowwave.quality.outdated.exchanged import answers, exchange_of
from slowwave.quality.outdated.scope import has_other_scope
from slowwave.quality.outdated.short_sentences import LONGEST, ShortSentence, ShortText
from slowwave.quality.outdated.transitions import names_old_value
from slowwave.quality.outdated.values import values_of

_SHORT = 25  # content words of a text whose other sentences count as context
_PARTICIPLE = re.compile(r"\w{2,}ed|ge\w{2,}(?:t|en)")
_NO_QUALIFIERS: Final = (GENERIC - TABLES["size"]) | CHANGING | ORDINALS


def announces_change(
    question: AskedWords,
    older: ShortText,
    newer: ShortText,
    titles: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
) -> bool:
    """Whether a newer text says that what an older one says has changed.

    Args:
        question: What was asked; other things may change.
        older: ShortText with the earlier statement.
        newer: ShortText with the change.
        titles: Keys of the titles of both, which belong to each of their sentences.
    """
    if older.speaker or newer.speaker:  # a turn of a chat is no note
        return False
    pairs = [
        (old, new) for new in news_of(newer) for old in told_of(older)
        if new.cues or old.is_provisional or is_turned(old.states, new.states)
    ]  # fmt: skip
    if not pairs:
        return False
    known = titles[0] | older.keys
    if any(
        (
            names_old_value(old.text, new.text)
            or (_is_exchanged(question, old, new) and not is_of_other_day(question, old, new))
        )
        and not has_other_scope(old.text, new.text, known)
        for old, new in pairs
    ):
        return True
    if are_apart(question, older, newer, titles[0]):
        return False
    context = titles[1] | (newer.keys if len(newer.keys) < _SHORT else frozenset())
    return any(
        ComparedSentences(question, old, new, titles[0], context, newer.former).is_replaced()
        and not is_of_other_day(question, old, new)
        and not has_other_scope(old.text, new.text, known)
        for old, new in pairs
    )


def _is_exchanged(question: AskedWords, old: ShortSentence, new: ShortSentence) -> bool:
    """Whether a newer sentence has another span where the question asks."""
    if question.keys.isdisjoint(new.keys) or old.keys.isdisjoint(new.keys) or new.is_negated:
        return False
    if not new.cues - old.cues - TABLES["new"] or has_other_owner(old, new):
        return False
    found = exchange_of(old, new)
    return found is not None and answers(found, question.keys, question.asks)


def has_narrower_subject(old: ShortSentence, new: ShortSentence, known: Set[str]) -> bool:
    """Whether a newer sentence is about a part, as one boiler of two.

    Args:
        old: Older sentence. A word behind its subject is a verb: "Eva teaches".
        new: Newer sentence. "The cottage boiler" has a word before the one that both share, "Tom's parents"
            one behind the owner.
        known: Keys of the older note and of the question.
    """
    subject = new.subject - _NO_QUALIFIERS
    owned = {second for first, second in new.modifying if first in subject & new.possessed}
    if owned - covered(owned, known) - _NO_QUALIFIERS:
        return True
    own = subject - covered(subject, known)
    verbs = {second for first, second in old.modifying if first in old.subject} if own else set()
    return bool(covered({second for first, second in new.modifying if first in own} - verbs, known))


def are_apart(
    question: AskedWords, older: ShortText, newer: ShortText, title: Set[str] = frozenset()
) -> bool:
    """Whether each of two notes belongs to something else, as flights to two cities do.

    Each has a word of its own that says what it is about: after a preposition, beside a shared word, or as
    the subject. Or only the newer one has, before its subject.

    Args:
        question: What was asked.
        older: Earlier note.
        newer: Later note.
        title: Keys of the title of the earlier one.
    """
    if _is_event(older) and _is_event(newer) and _first_word(older) == _first_word(newer):
        return True
    known = question.keys | title | older.keys
    shared = [(old, new) for old in older.sentences for new in newer.sentences if old.keys & new.keys]
    pairs = [pair for pair in shared if covered(question.keys, pair[0].keys)] or shared
    return bool(pairs) and all(
        has_narrower_subject(old, new, known)
        or _has_other_subject(question, old, new, known, newer.keys)
        or _shares_owner_only(old, new)
        or _is_apart(question, old, new)
        or is_of_first(old.text, new.text)
        or is_elsewhere(old, new, frozenset(one for one in newer.former if covered([one], old.keys)))
        for old, new in pairs
    )


def _is_event(note: ShortText) -> bool:
    """Whether a note is one sentence that begins with what somebody did: "Cycled to work"."""
    word = _first_word(note)
    is_past = word in PAST or _PARTICIPLE.fullmatch(word) is not None
    return is_past and len(note.sentences) == 1 and word not in TABLES["verbs"] | TABLES["decided"]


def _first_word(note: ShortText) -> str:
    """Return the first word of a note in lower case; empty without one."""
    return _first_of(note.sentences[0]) if note.sentences else ""


def _first_of(sentence: ShortSentence) -> str:
    words = sentence.text.casefold().split(maxsplit=1)
    return words[0].strip(",;:.!") if words else ""


def _has_other_subject(
    question: AskedWords, old: ShortSentence, new: ShortSentence, known: Set[str], said: Set[str]
) -> bool:
    """Whether a newer note has another subject than the question or the older note.

    Phones are not laptops. Who does something may be another one.
    """
    if not new.subject - covered(new.subject, known) - _NO_QUALIFIERS:
        return False
    lost = old.subject - covered(old.subject, said)
    if lost - _NO_QUALIFIERS and _first_of(new) in TABLES["verbs"] and new.subject <= new.names:
        return True  # "Switched Mum to 10 mg" changes nothing for Luc
    # With an article the new subject may be who changed it: "the landlord raised the rent".
    is_named = content_key(_first_of(new)) in new.subject
    is_other = is_named and bool(question.keys) and question.asks != "name" and bool(lost - _NO_QUALIFIERS)
    return is_other or bool(lost & question.keys) or (old.says_i and not new.of_speaker)


def _shares_owner_only(old: ShortSentence, new: ShortSentence) -> bool:
    """Whether two sentences are of two things of one owner: *Milo's lesson*, *Milo's class*."""
    owners = old.possessed & new.possessed
    return bool(owners) and not (old.keys & new.keys) - owners - CHANGING


def _is_apart(question: AskedWords, old: ShortSentence, new: ShortSentence) -> bool:
    days = bool(old.days and new.days)
    if days and question.asks != "time" and not old.days & new.days:
        return True
    if days and old.days != new.days and (old.days | new.days) & TABLES["days"]:
        return True
    owners = new.possessed - GENERIC
    # "Cancelled my membership" is of whoever speaks, "my brother cancelled" is not.
    is_of_kin = new.of_kin and not new.says_i and _first_of(new) not in TABLES["verbs"]
    if new.is_more or owners - covered(owners, old.keys) or (old.says_i and is_of_kin):
        return True
    for one, other in ((old, new), (new, old)):  # my manager, and the manager of an office
        if other.of_speaker and not one.of_speaker and one.bound - covered(one.bound, other.keys):
            return True
    return all(_own_qualifiers(question, *pair, new) for pair in ((old, new), (new, old)))


def _own_qualifiers(
    question: AskedWords, one: ShortSentence, other: ShortSentence, new: ShortSentence
) -> frozenset[str]:
    """Return what a sentence says of its subject, and the other one does not."""
    shared = covered({second for _, second in one.modifying}, other.keys)
    found = one.bound | {first for first, second in one.modifying if second in shared}
    if question.asks != "place":
        found |= one.placed
    if question.asks != "name":
        shared = covered({first for first, _ in one.apposed}, other.keys)
        found |= {second for first, second in one.apposed if first in shared}
        found |= frozenset() if new.verbs else one.subject
    found -= _NO_QUALIFIERS
    return found - covered(found, other.keys)


@lru_cache(maxsize=4_096)  # a note is compared with many others
def news_of(note: ShortText) -> tuple[ShortSentence, ...]:
    """Return the sentences of a note that may replace those of another one."""
    return tuple(filter(_may_replace, note.sentences))


@lru_cache(maxsize=4_096)
def told_of(note: ShortText) -> tuple[ShortSentence, ...]:
    """Return the sentences of a note that a newer one may replace."""
    return tuple(filter(_may_be_replaced, note.sentences))


def _may_replace(sentence: ShortSentence) -> bool:
    """Whether a sentence states something that may replace what another one states."""
    if sentence.size > LONGEST or sentence.is_question or sentence.is_unsure or sentence.is_more:
        return False
    return all(value.bound != "part" for value in values_of(sentence.text))  # "two of our hens"


def _may_be_replaced(sentence: ShortSentence) -> bool:
    """Whether a sentence states something that another one may replace."""
    of_listener = sentence.of_listener and not sentence.of_speaker
    return sentence.size <= LONGEST and not sentence.is_question and not of_listener
