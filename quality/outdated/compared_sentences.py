"""Whether one sentence of a short note replaces what another one states (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from slowwave.quality.divergence.lexicon_numbers import MONTHS, UNITS, WEEKDAY_KEYS
from slowwave.quality.outdated.change_words import (
    CHANGING,
    FUNCTION,
    GENERIC,
    HOME_AND_WORK,
    STATE_KEYS,
    TABLES,
    content_key,
    covered,
    is_turned,
)

if TYPE_CHECKING:
    from slowwave.quality.outdated.asked_words import AskedWords
    from slowwave.quality.outdated.short_sentences import ShortSentence

_FEW = 4  # content words of a statement whose subject a name alone says
_APART = 2  # content words that each of two sentences has for itself, which share only a name
_MORE = 3  # content words by which a sentence may be longer than the one it restates
_DAYS = 31  # of a month, the largest number that may be an hour or a day
_AT_A_TIME = re.compile(
    r"\b(?:at|until|till|from|to|on|by|about|around|after|before|since|um|bis|ab|gegen|vor|nach|seit"
    r"|à|jusqu'à|dès|vers|avant|après|las|hasta|desde|às|até|alle) \d",
    re.IGNORECASE,
)
_DAY_AND_TIME = re.compile(rf"\b(?:{'|'.join(WEEKDAY_KEYS)})\b([^\d.!?;,]{{0,60}})\d", re.IGNORECASE)
_IS_ON_DAY = re.compile(
    rf"\b(?:is|are|ist|sind|est) (?:now |jetzt )?(?:on |am |le )?(?:{'|'.join(WEEKDAY_KEYS)})\b",
    re.IGNORECASE,
)
_HOURS = re.compile(r"\d ?(?:to|until|bis|à|-|–) ?\d", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:(?:is|are|ist|sind|hat) (?:now |jetzt )?(?:open|closed|geöffnet|offen|auf|geschlossen)"
    r"|opens?|closes?|öffnet|schließt)\b(?! (?:house|day|evening))",
    re.IGNORECASE,
)
_OF_DAY: Final = TABLES["now"] | MONTHS.keys() | {
    "morning", "afternoon", "evening", "night", "morgen", "vormittag", "nachmittag", "abend", "matin", "soir",
    "mañana", "tarde", "noche",
}  # fmt: skip
"""Words between a weekday and a time that name no subject: *Thursday evening at 7*."""
_CANCELLED: Final = frozenset({"cancelled", "canceled"})
"""Verbs that end their object, not their subject."""
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|being|got|gets) (?:now |just )?cancell?ed\b", re.IGNORECASE)
_LEAVING: Final = frozenset({"left", "swapped"})
"""Verbs behind whose object *for* names a successor, not a receiver."""
_TIES: Final = frozenset({"left", "joined"})
_NOTED: Final = frozenset(map(content_key, ("today", "yesterday", "heute", "gestern", "hoy", "ayer")))
"""Keys of words that only date a note."""
_TIMES: Final = frozenset({"clock", "date", "weekday"})
_PERIODS: Final = (
    "day", "daily", "week", "weekly", "month", "monthly", "year", "yearly", "tag", "woche", "monat",
    "monatlich", "jahr", "mes", "semana", "año", "mois", "semaine", "jour", "día",
)  # fmt: skip
MEASURES: Final = frozenset(map(content_key, (*UNITS, *_PERIODS)))
"""Keys of units and periods, which name no subject: not all that takes hours is one thing."""
NO_SUBJECT: Final = GENERIC | CHANGING


def is_of_other_day(question: AskedWords, old: ShortSentence, new: ShortSentence) -> bool:
    """Whether each sentence is about a weekday of its own, as opening hours are.

    Such a day is asked for, or stands before a verb: *training on Friday begins at 16:00*. A newer sentence
    may say that the day itself is another one: *the exam is on Friday now*.
    """
    if not (old.days and new.days) or old.days & new.days or (new.cues and _IS_ON_DAY.search(new.text)):
        return False
    if question.values & old.days:
        return True
    if not new.cues and all(_HOURS.search(one.text) for one in (old, new)):
        return True
    return all(_OPEN.search(one.text) or _has_time_of_day(one.text) for one in (old, new))


def _has_time_of_day(text: str) -> bool:
    """Whether a weekday is no part of the time behind it."""
    found = _DAY_AND_TIME.search(text)
    between = found[1].casefold().split() if found else ()
    return any(word.strip(",:-–") not in FUNCTION | _OF_DAY for word in between if word[:1].isalpha())


def has_other_owner(old: ShortSentence, new: ShortSentence) -> bool:
    """Whether a newer sentence is about somebody else's."""
    if old.of_speaker != new.of_speaker and (new.of_others or new.of_listener) and not new.of_speaker:
        return True
    owners = new.possessed - GENERIC
    return is_of_first(old.text, new.text) or bool(owners - covered(owners, old.keys))


def is_of_first(older: str, newer: str) -> bool:
    """Whether a newer sentence is of the older first word's (Tom, Toms Frau)."""
    first = older.split(maxsplit=1)[0] if older[:1].isupper() else ""
    _, owned, rest = newer.partition(f"{first}s ")
    return len(first) > 1 and bool(owned) and rest[:1].isupper()


def is_elsewhere(old: ShortSentence, new: ShortSentence, former: Set[str]) -> bool:
    """Whether a newer sentence has no place of the older one's kind.

    Who lived in Paris lives with Marie now. A name is followed by a name: who worked at Bosch works in the
    paint shop now, but somebody moves to a farm. Who left or joined something else may work where he did.

    Args:
        old: Older sentence.
        new: Newer sentence.
        former: Keys and values of the older sentence that the newer note says have ended.
    """
    if old.frames.isdisjoint(HOME_AND_WORK) or new.frames.isdisjoint(HOME_AND_WORK):
        return False
    if old.placed and not (new.placed or new.verbs):
        return True
    if former - old.subject or new.is_negated or not TABLES["moved"].isdisjoint(new.verbs):
        return False
    named = old.placed or old.names - old.subject
    is_unnamed = bool(named) and named <= old.names and new.names == covered(new.names, old.keys)
    return is_unnamed or (not _TIES.isdisjoint(new.verbs) and old.names.isdisjoint(new.names))


def has_other_unit(old: ShortSentence, new: ShortSentence) -> bool:
    """Whether two sentences count in units or rates that differ."""
    return _differ(old.units, new.units) or _differ(old.rates, new.rates)


class ComparedSentences:
    """Two sentences, and the words of a question that both have.

    The first attributes suffice for most pairs, so each is computed when it is needed.
    """

    def __init__(
        self,
        question: AskedWords,
        old: ShortSentence,
        new: ShortSentence,
        old_title: Set[str],
        context: Set[str],
        former: Set[str],
    ) -> None:
        self.question, self.old, self.new = question, old, new
        self._old_title, self._context = old_title, context
        self._is_turned = is_turned(old.states, new.states)
        self._asked = question.keys - STATE_KEYS if self._is_turned else question.keys
        self._topic = covered(self._asked, old.keys | old_title)
        ended = ((former & old.values) | covered(former, old.keys)) - GENERIC
        if ended:
            ended -= {
                first for first, second in new.modifying if second in self._others
            }  # the Sentry upgrade
        self._former = ended
        self._former_value = ended - covered(ended, self._asked)

    @cached_property
    def _others(self) -> frozenset[str]:
        return self.new.keys - covered(self.new.keys, self.old.keys)

    @cached_property
    def _names(self) -> frozenset[str]:
        asked = (covered(self._asked, one.names) for one in (self.old, self.new))
        return self.question.names.union(*asked)

    @cached_property
    def _attribute(self) -> frozenset[str]:
        return self._topic - self.old.names - self.question.names

    @cached_property
    def _missing(self) -> frozenset[str]:
        return self._topic - covered(self._topic, self.new.keys | self._context)

    @cached_property
    def _added(self) -> frozenset[str]:
        return covered(self._asked, self.new.keys) - self._topic

    @cached_property
    def _shared(self) -> frozenset[str]:
        shared = covered(self.old.keys, self.new.keys) - NO_SUBJECT - MEASURES
        if not self._old_title:
            return shared
        return shared | (covered(self._old_title, self.new.keys | self._context) - NO_SUBJECT)

    @cached_property
    def _fresh(self) -> frozenset[str]:
        return self._others - (NO_SUBJECT - self.new.names)

    @cached_property
    def _has_kind(self) -> bool:
        return bool(self.old.kinds & self.new.kinds) or (_may_be_time(self.old) and _may_be_time(self.new))

    @cached_property
    def _is_framed(self) -> bool:
        frames = self.old.frames & self.new.frames
        return bool(frames) and not is_elsewhere(self.old, self.new, self._former)

    @property
    def _is_only_framed(self) -> bool:
        old, new = self.old, self.new
        if self._asked or not (self.question.frames & old.frames & new.frames and self._is_framed):
            return False
        return bool(new.verbs or old.keys & new.keys)

    @property
    def _is_moved(self) -> bool:
        old, new = self.old, self.new
        return (
            self.question.asks == "place" and bool(self._asked) and self._asked == self._topic
            and not TABLES["moved"].isdisjoint(new.verbs) and bool(covered(self._asked, new.subject))
            and old.bound == new.bound and self.question.frames <= new.frames
        )  # fmt: skip

    @cached_property
    def _subject(self) -> frozenset[str]:
        return self.old.keys - GENERIC

    @property
    def _is_only_named(self) -> bool:
        own_words = self._subject - MEASURES - CHANGING
        apart = min(len(own_words - covered(own_words, self.new.keys)), len(self._fresh - MEASURES))
        return apart >= _APART and self._shared <= covered(self._shared, self.old.names | self._names)

    @cached_property
    def _beside(self) -> frozenset[str]:
        return self._others - NO_SUBJECT - _NOTED

    @property
    def _is_bare_ending(self) -> bool:
        """Whether a newer sentence ends something, and has no other word: *left Slack for Mattermost*."""
        if not self.new.values <= self.old.values:
            return False
        succeeds = not _LEAVING.isdisjoint(self.new.verbs) and self._beside <= self.new.bound & self.new.names
        return not self._beside or succeeds

    @cached_property
    def _is_subject_ended(self) -> bool:
        begins = [*takewhile(lambda word: word not in TABLES["verbs"], self.new.text.casefold().split()[:4])]
        keys = frozenset(map(content_key, begins[:3]))
        return TABLES["saying_i"].isdisjoint(begins) and bool(covered(self._former, keys))

    @cached_property
    def _is_object(self) -> bool:
        """Whether what ended is no subject of the sentence: who cancelled has not ended."""
        is_ending = bool(self.new.verbs & _CANCELLED) and _PASSIVE.search(self.new.text) is None
        return not (is_ending and self._is_subject_ended)

    @cached_property
    def _is_ended(self) -> bool:
        is_whole = bool(self._topic) and self._topic == covered(self._topic, self._former)
        return is_whole and self._is_bare_ending and self._is_object

    @property
    def _is_left(self) -> bool:
        return bool(self._topic and self._former_value) and not self._missing

    @cached_property
    def _is_answer_ended(self) -> bool:
        answer = self._subject - self._topic
        is_whole = bool(self._topic and answer) and answer <= self._former
        return is_whole and self._is_bare_ending and not self._is_subject_ended

    def is_replaced(self) -> bool:
        """Whether the newer sentence is about the same, announces a change, and names another value."""
        if not (self._topic or self._former or self._is_only_framed or self._is_bare()):
            return False  # the two share nothing that is asked for, or has ended
        return self._is_one_subject() and self._differs() and (
            self._is_restated() or (bool(self.new.cues) and (self._is_bare() or self._is_change()))
        )  # fmt: skip

    def _is_one_subject(self) -> bool:
        """Whether owners, names and values of the question agree."""
        old, new = self.old, self.new
        if self.question.values & old.values != self.question.values & new.values:
            return False
        if self._added and not self._former_value:
            return False
        if not self._names.isdisjoint(self._missing | self._added) and not self._is_answer_ended:
            return False
        owners = covered(old.possessed ^ new.possessed, self._topic)
        return not has_other_owner(old, new) and not (covered(owners, old.keys) and covered(owners, new.keys))

    def _differs(self) -> bool:
        """Whether the newer sentence brings something new, and the older one has something else."""
        old, new = self.old, self.new
        gone = (old.values - new.values) or (old.keys - covered(old.keys, new.keys) - GENERIC)
        differs = (
            self._is_turned
            or self._is_ended
            or self._is_answer_ended
            or bool((self._fresh or self._is_left or new.values - old.values) and (gone or self._former))
        )
        if not new.is_negated and not differs:
            return False
        if has_other_unit(old, new) and not self._former_value:
            return False
        is_same_value = bool(old.kinds) and self._has_kind and old.values == new.values
        if is_same_value and not (new.is_negated or self._former or self._is_turned):
            return False
        if new.cues and not new.cues - old.cues and (is_same_value or not self._has_kind):
            return False
        is_denied = new.is_negated and not old.is_negated
        return not is_denied or bool(new.cues - old.cues - TABLES["verbs"]) or bool(self._former) or differs

    def _is_restated(self) -> bool:
        """Whether the newer sentence is the older one with another value."""
        old, new = self.old, self.new
        if not self._topic or self._missing or len(old.keys) < 2:
            return False
        states = STATE_KEYS if self._is_turned else frozenset[str]()
        if not covered(old.keys, new.keys) >= old.keys - CHANGING - states:
            return False
        if len(new.keys - CHANGING) > len(old.keys) + _MORE:
            return False
        if self._is_turned and old.values == new.values and old.days == new.days:
            return True
        if not new.cues:
            return self._has_kind and len(old.values) == 1 == len(new.values)
        return self._has_kind or not old.kinds

    def _is_bare(self) -> bool:
        """Whether a speaker gives a new number of a unit, and no other word: down to 79 kilos now."""
        old, new = self.old, self.new
        core = new.keys - CHANGING - GENERIC
        if not (old.kinds == new.kinds == {"number"} and old.of_speaker and new.of_speaker):
            return False
        return len(core) == 1 and core <= old.keys

    def _is_change(self) -> bool:
        """Whether enough of the subject and of the attribute agree."""
        old, new = self.old, self.new
        if self._missing:
            return self._may_lack()
        if self._is_only_framed and old.of_speaker and new.of_speaker:
            return not old.kinds or self._has_kind
        if self._topic and covered(self._topic, new.renewed):
            return True
        if self._is_moved or self._is_ended:
            return True
        if old.kinds and not self._has_kind and not new.is_negated and not self._former_value:
            return False
        if len(self._shared) > 1 and (self._topic or self._former):
            is_attribute = bool(self._attribute and self._fresh)
            if (
                self._has_kind
                or self._former
                or new.is_negated
                or self._is_framed
                or self._is_turned
                or is_attribute
            ):
                return True
        is_alike = self._is_framed or (self._has_kind and not self._is_only_named)
        is_alike = is_alike and bool(self._topic - MEASURES and self._shared)
        if is_alike or (self._topic and self._former_value):
            return True
        return bool(self._former_value & (old.names | new.names)) and len(self._subject) <= _FEW

    def _may_lack(self) -> bool:
        """Whether a newer sentence is about the same without a word that is asked for."""
        if self._is_answer_ended:
            return True
        if len(self._missing) > 1 and not self._lacks_a_compound():
            return False
        if self._former_value and len(self._subject) <= _FEW + 1:
            return True
        return len(self._topic) > 2 and self._has_kind and bool(self.new.verbs)

    def _lacks_a_compound(self) -> bool:
        """Whether a newer sentence lacks only a compound, and ends or succeeds the rest.

        As *we cancelled LastPass and use Vaultwarden now* does, where a password manager is asked for.
        """
        is_compound = any(self._missing == set(pair) for pair in self.old.modifying)
        has_next = self._beside <= self.new.names and not TABLES["now"].isdisjoint(self.new.cues)
        is_end = self._is_object and self.new.values <= self.old.values
        return is_compound and is_end and (has_next or not self._beside)


def _differ(units: Set[str], others: Set[str]) -> bool:
    return bool(units and others) and not covered(units, others)


def _may_be_time(sentence: ShortSentence) -> bool:
    """Whether a sentence has a time, or numbers that may be hours or days."""
    return bool(sentence.kinds & _TIMES) or (
        sentence.kinds == {"number"}
        and not sentence.units
        and _AT_A_TIME.search(sentence.text) is not None
        and all(value.isdigit() and int(value) <= _DAYS for value in sentence.values)
    )
