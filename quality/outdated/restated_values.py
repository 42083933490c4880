"""Values that users state again while they ask for something else: the newer one ranks first (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from itertools import pairwise
from typing import Final, NamedTuple

from slowwave.quality.divergence.lexicon import PAST, word_key
from slowwave.quality.outdated.change_words import TABLES, covered
from slowwave.quality.outdated.dated_passages import DatedPassage, order_in_time
from slowwave.quality.outdated.question import TIMES, Question, asked_keys, lacks_named
from slowwave.quality.outdated.relation import has_other_unit, has_unit
from slowwave.quality.outdated.scope import has_other_scope
from slowwave.quality.outdated.statements import asks, statements_of
from slowwave.quality.outdated.values import Value

SHARE: Final = 0.6
"""Least share of the asked words of an older turn that a newer one has."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)?")
_OTHERS: Final = frozenset({"he", "she", "his", "her", "er", "sein", "seine", "il", "elle", "él", "ella"})
_FOR: Final = frozenset({("for",), ("für",), ("pour",), ("para",)})
_I_AM: Final = frozenset({("i", "am"), ("ich", "bin"), ("je", "suis"), ("yo", "soy")})
_ENDED = 4  # most letters of a word in -ed that is no participle: "need" (count)
_JOINING: Final = frozenset({"and", "but", "so", "because", "und", "aber", "weil", "et", "y"})
_PAST: Final = frozenset({"had", "used", "hatte", "hatten", "avais", "avait", "tenía"})


class _AskingTurn(NamedTuple):
    """Turn of a chat in which somebody asks, and its values that may answer."""

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
    if not question.kinds or question.asked.is_past or not (question.is_present or question.is_perfect):
        return {}
    turns = [turn for passage in passages if (turn := _turn(question, passage)).values]
    following: dict[str, str] = {}
    for older in turns:
        for newer in turns:
            if (
                newer.moment > older.moment
                and newer.speaker == older.speaker
                and newer.passage.sensitivity == older.passage.sensitivity
                and _has_enough(question, query, older.passage.text, newer.passage.text)
                and _has_another_value(question, older, newer)
                and not newer.passage.is_to_come
            ):
                following.setdefault(older.passage.memory_id, newer.passage.memory_id)
                break
    return following


def _turn(question: Question, passage: DatedPassage) -> _AskingTurn:
    """Read a passage; one in which nobody asks has no values."""
    found = statements_of(passage.text) if asks(passage.text) else None
    values = tuple(
        one
        for one in (found.values if found else ())
        if one.kind != "statement" and one.kind in question.kinds and not one.is_former
    )
    counted = tuple(one for one in values if not one.noun.isdisjoint(question.counted))
    return _AskingTurn(order_in_time(passage), passage, found.speaker if found else "", counted or values)


def _has_another_value(question: Question, older: _AskingTurn, newer: _AskingTurn) -> bool:
    """Whether a newer turn has a value that may replace one of an older turn.

    Each turn lacks the value of the other.
    """
    if older.passage.memory_id == newer.passage.memory_id:
        return False
    told, news = ({(one.kind, one.value) for one in turn.values} for turn in (older, newer))
    known = asked_keys(older.passage.text) | question.keys
    return any(
        old.kind == new.kind
        and _are_alike(old, new, question)
        and not has_other_scope(old.sentence.text, new.sentence.text, known)
        for new in newer.values
        if (new.kind, new.value) not in told and _holds(new, known)
        for old in older.values
        if (old.kind, old.value) not in news
    )


def _are_alike(old: Value, new: Value, question: Question) -> bool:
    """Whether two values have one limit, rate and unit, and count what is asked for.

    Chickens are not their years, nor two of them. Without a word of change the newer one is not somebody
    else's, of a deed (*I paid on 3 March*) or of the speaker (*I am 182 cm*), unless the older one is, too.
    """
    if old.bound != new.bound or len({old.rate, new.rate} - {""}) > 1 or has_other_unit(old, new):
        return False
    if _counts_others(old, new, question):
        return False
    if _is_others(new, question) and not _is_others(old, question) and not new.cue:
        return False
    return bool(new.cue) or not any(is_so(new) and not is_so(old) for is_so in (_is_deed, _is_me))


def _counts_others(old: Value, new: Value, question: Question) -> bool:
    """Whether a newer number counts something else: *is 9*, *has 3 bikes*."""
    if not new.noun:
        return False
    if question.counted:
        return new.noun.isdisjoint(question.counted)
    known = question.keys | asked_keys(" ".join(old.clause))
    return not old.noun and not has_unit(new) and new.noun.isdisjoint(known)


def _is_others(value: Value, question: Question) -> bool:
    """Whether *he* or *she* is the subject, and nobody who is asked for (*my son*)."""
    owned = asked_keys(" ".join(after for word, after in pairwise(value.clause) if word in TABLES["my"]))
    is_asked = bool(question.names) or bool(owned & question.keys)
    return not _OTHERS.isdisjoint(value.clause) and not is_asked


def _is_deed(value: Value) -> bool:
    return (
        value.kind in TIMES
        and value.clause[-1:] not in _FOR
        and any(word in PAST or (word.endswith("ed") and len(word) > _ENDED) for word in value.clause)
    )


def _is_me(value: Value) -> bool:
    return value.clause[-2:] in _I_AM or value.clause[-1:] == ("i'm",)


def _holds(value: Value, known: AbstractSet[str]) -> bool:
    """Whether a value is said to hold now, and not of somebody else: *my neighbour has 14*."""
    if value.is_unsettled or not _PAST.isdisjoint(value.clause):
        return False
    words = value.clause
    is_first = value.first != "" and value.first == word_key("".join(words[:1]))
    if is_first and not value.cue and value.first not in known:  # Tom has 14
        return False
    joined = max((place + 1 for place, word in enumerate(words) if word in _JOINING), default=0)
    words = words[joined:]
    at = next((place for place, word in enumerate(words) if word in TABLES["my"]), len(words))
    owned = asked_keys(" ".join(words[at + 1 : at + 2]))
    return at > 1 or not owned or bool(covered(owned, known))


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
