"""Whether one sentence of a short note replaces what another one states (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Set
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
    """Two sentences, and the words of a question that both have."""

    def __init__(
        self,
        question: AskedWords,
        old: ShortSentence,
        new: ShortSentence,
        old_title: Set[str],
        context: Set[str],
        former: Set[str],
    ) -> None:
        self.old, self.new = old, new
        old_keys = old.keys | old_title
        self.is_turned = is_turned(old.states, new.states)
        asked = question.keys - STATE_KEYS if self.is_turned else question.keys
        names = question.names | covered(asked, old.names) | covered(asked, new.names)
        self.topic = covered(asked, old_keys)
        self.attribute = self.topic - old.names - question.names
        self.missing = self.topic - covered(self.topic, new.keys | context)
        self.added = covered(asked, new.keys) - self.topic
        self.is_other_name = not names.isdisjoint(self.missing | self.added)
        self.is_other_value = (question.values & old.values) != (question.values & new.values)
        self.shared = covered(old.keys, new.keys) - NO_SUBJECT - MEASURES
        if old_title:
            self.shared |= covered(old_title, new.keys | context) - NO_SUBJECT
        ended = frozenset(one for one in former if one in old.values or covered([one], old.keys)) - GENERIC
        others = new.keys - covered(new.keys, old.keys)
        ended -= {first for first, second in new.modifying if second in others}  # the Sentry upgrade
        self.former = ended
        self.former_value = frozenset(one for one in ended if not covered([one], asked))
        self.fresh = new.keys - covered(new.keys, old.keys) - (NO_SUBJECT - new.names)
        self.is_other_unit = has_other_unit(old, new)
        self.has_kind = bool(old.kinds & new.kinds) or (_may_be_time(old) and _may_be_time(new))
        is_apart = is_elsewhere(old, new, ended)
        self.is_framed = bool(old.frames & new.frames) and not is_apart
        is_framed = not asked and not is_apart and bool(question.frames & old.frames & new.frames)
        self.is_only_framed = is_framed and bool(new.verbs or old.keys & new.keys)
        self.is_moved = (
            question.asks == "place" and bool(asked) and asked == self.topic
            and not TABLES["moved"].isdisjoint(new.verbs) and bool(covered(asked, new.subject))
            and old.bound == new.bound and question.frames <= new.frames
        )  # fmt: skip
        self.subject = old.keys - GENERIC
        own_words = self.subject - MEASURES - CHANGING
        apart = min(len(own_words - covered(own_words, new.keys)), len(self.fresh - MEASURES))
        self.is_only_named = apart >= _APART and self.shared <= covered(self.shared, old.names | names)
        self.beside = others - NO_SUBJECT - _NOTED
        is_bare = not self.beside or (  # left Slack for Mattermost
            not _LEAVING.isdisjoint(new.verbs) and self.beside <= new.bound & new.names
        )
        begins = list(takewhile(lambda word: word not in TABLES["verbs"], new.text.casefold().split()[:4]))
        is_subject = TABLES["saying_i"].isdisjoint(begins) and bool(
            covered(ended, frozenset(map(content_key, begins[:3])))
        )
        is_ending = bool(new.verbs & _CANCELLED) and _PASSIVE.search(new.text) is None
        self.is_object = not (is_subject and is_ending)  # who cancelled has not ended
        is_whole = bool(self.topic) and self.topic == covered(self.topic, ended)
        self.is_ended = is_whole and is_bare and self.is_object and new.values <= old.values
        self.is_left = bool(self.topic and self.former_value) and not self.missing
        answer = old.keys - self.topic - GENERIC
        is_whole_answer = bool(self.topic and answer) and answer <= ended
        self.is_answer_ended = is_whole_answer and is_bare and not is_subject and new.values <= old.values

    def is_replaced(self) -> bool:
        """Whether the newer sentence is about the same, announces a change, and names another value."""
        return self._is_one_subject() and self._differs() and (
            self._is_restated() or (bool(self.new.cues) and (self._is_bare() or self._is_change()))
        )  # fmt: skip

    def _is_one_subject(self) -> bool:
        """Whether owners, names and values of the question agree."""
        old, new = self.old, self.new
        owners = covered(old.possessed ^ new.possessed, self.topic)
        if has_other_owner(old, new) or (covered(owners, old.keys) and covered(owners, new.keys)):
            return False
        is_other_name = self.is_other_name and not self.is_answer_ended
        return not self.is_other_value and not is_other_name and not (
            self.added and not self.former_value
        )  # fmt: skip

    def _differs(self) -> bool:
        """Whether the newer sentence brings something new, and the older one has something else."""
        old, new = self.old, self.new
        gone = (old.values - new.values) or (old.keys - covered(old.keys, new.keys) - GENERIC)
        differs = (
            self.is_turned
            or self.is_ended
            or self.is_answer_ended
            or bool((self.fresh or self.is_left or new.values - old.values) and (gone or self.former))
        )
        if not new.is_negated and not differs:
            return False
        if self.is_other_unit and not self.former_value:
            return False
        is_same_value = bool(old.kinds) and self.has_kind and old.values == new.values
        if is_same_value and not (new.is_negated or self.former or self.is_turned):
            return False
        if new.cues and not new.cues - old.cues and (is_same_value or not self.has_kind):
            return False
        is_denied = new.is_negated and not old.is_negated
        return not is_denied or bool(new.cues - old.cues - TABLES["verbs"]) or bool(self.former) or differs

    def _is_restated(self) -> bool:
        """Whether the newer sentence is the older one with another value."""
        old, new = self.old, self.new
        if not self.topic or self.missing or len(old.keys) < 2:
            return False
        states = STATE_KEYS if self.is_turned else frozenset[str]()
        if not covered(old.keys, new.keys) >= old.keys - CHANGING - states:
            return False
        if len(new.keys - CHANGING) > len(old.keys) + _MORE:
            return False
        if self.is_turned and old.values == new.values and old.days == new.days:
            return True
        if not new.cues:
            return self.has_kind and len(old.values) == 1 == len(new.values)
        return self.has_kind or not old.kinds

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
        if self.missing:
            return self._may_lack()
        if self.is_only_framed and old.of_speaker and new.of_speaker:
            return not old.kinds or self.has_kind
        if self.topic and covered(self.topic, new.renewed):
            return True
        if self.is_moved or self.is_ended:
            return True
        if old.kinds and not self.has_kind and not new.is_negated and not self.former_value:
            return False
        if len(self.shared) > 1 and (self.topic or self.former):
            is_attribute = bool(self.attribute and self.fresh)
            if (
                self.has_kind
                or self.former
                or new.is_negated
                or self.is_framed
                or self.is_turned
                or is_attribute
            ):
                return True
        is_alike = self.is_framed or (self.has_kind and not self.is_only_named)
        is_alike = is_alike and bool(self.topic - MEASURES and self.shared)
        if is_alike or (self.topic and self.former_value):
            return True
        return bool(self.former_value & (old.names | new.names)) and len(self.subject) <= _FEW

    def _may_lack(self) -> bool:
        """Whether a newer sentence is about the same without a word that is asked for."""
        if self.is_answer_ended:
            return True
        if len(self.missing) > 1 and not self._lacks_a_compound():
            return False
        if self.former_value and len(self.subject) <= _FEW + 1:
            return True
        return len(self.topic) > 2 and self.has_kind and bool(self.new.verbs)

    def _lacks_a_compound(self) -> bool:
        """Whether a newer sentence lacks only a compound, and ends or succeeds the rest.

        As *we cancelled LastPass and use Vaultwarden now* does, where a password manager is asked for.
        """
        is_compound = any(self.missing == set(pair) for pair in self.old.modifying)
        has_next = self.beside <= self.new.names and not TABLES["now"].isdisjoint(self.new.cues)
        is_end = self.is_object and self.new.values <= self.old.values
        return is_compound and is_end and (has_next or not self.beside)


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
