"""Changes that a short note announces of what another one says (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon import PAST
from slowwave.quality.divergence.lexicon_numbers import UNITS
from slowwave.quality.outdated.change_words import CHANGING, GENERIC, ORDINALS, TABLES, content_key, covered
from slowwave.quality.outdated.exchanged import answers, exchange_of
from slowwave.quality.outdated.scope import has_other_scope
from slowwave.quality.outdated.short_sentences import LONGEST, ShortSentence, ShortText, read, sentence_of
from slowwave.quality.outdated.state_questions import OF_STATE
from slowwave.quality.outdated.transitions import names_old_value

_FEW = 4  # content words of a statement whose subject a name alone says
_SHORT = 25  # content words of a text whose other sentences count as context
_MORE = 3  # content words by which a sentence may be longer than the one it restates
_DAYS = 31  # of a month, the largest number that may be an hour or a day
_NAMED_NUMBER = re.compile(r"\b[A-Z][a-z]+ \d")  # Debian 13
_PARTICIPLE = re.compile(r"\w{2,}ed|ge\w{2,}(?:t|en)")
_ASKS: Final = {
    "place": re.compile(r"\b(?:where|wo|wohin|dónde|donde|où|dove|onde)\b", re.IGNORECASE),
    "time": re.compile(
        r"\b(?:when|what time|which day|wann|uhr|cuándo|hora|quand|heure|quando|horas)\b", re.IGNORECASE
    ),
    "name": re.compile(r"\b(?:who|wer|quién|quien|qui|chi|quem|called|named|heißt)\b", re.IGNORECASE),
}
_NO_QUALIFIERS: Final = (GENERIC - TABLES["size"]) | CHANGING | ORDINALS
MEASURES: Final = frozenset(map(content_key, UNITS))
"""Keys of units, which name no subject: not all that takes hours is one thing."""
NO_SUBJECT: Final = GENERIC | CHANGING
_TIMES: Final = frozenset({"clock", "date", "weekday"})


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words of a question for its subject.

    Attributes:
        keys: Of its content words, without those that name no subject.
        names: Of them those with a capital letter.
        values: Its numbers, times and days.
        frames: Kinds of attribute of its words.
        is_past: Whether it asks for what held before.
        asks: Kind of answer that is no qualifier: name, place, time; else empty.
        is_of_state: Whether it asks if something is so.
    """

    keys: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    frames: frozenset[int]
    asks: str
    is_past: bool
    is_of_state: bool


@lru_cache(maxsize=1_024)
def asked_words(text: str) -> AskedWords:
    """Return the words of a question for its subject."""
    sentence = sentence_of(text)
    spaced = f" {text.casefold()} "
    past = any(f" {word} " in spaced for word in TABLES["past"])
    return AskedWords(
        sentence.keys - GENERIC,
        sentence.names,
        sentence.values,
        sentence.frames,
        next((name for name, pattern in _ASKS.items() if pattern.search(text)), ""),
        past,
        bool(OF_STATE.match(text)),
    )


@lru_cache(maxsize=4_096)
def says_of(question: AskedWords, text: str) -> bool:
    """Whether a text has a word that a question asks about, if any."""
    return not question.keys or any(covered(question.keys, one.keys) for one in read(text).sentences)


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
        (old, new) for new in newer.sentences if may_replace(new)
        for old in older.sentences if may_be_replaced(old) and (new.cues or old.is_provisional)
    ]  # fmt: skip
    if not pairs:
        return False
    known = titles[0].union(*(sentence.keys for sentence in older.sentences))
    if any(
        (names_old_value(old.text, new.text) or _is_exchanged(question, old, new))
        and not has_other_scope(old.text, new.text, known)
        for old, new in pairs
    ):
        return True
    if are_apart(question, older, newer, titles[0]):
        return False
    whole = frozenset().union(*(sentence.keys for sentence in newer.sentences))
    context = titles[1] | (whole if len(whole) < _SHORT else frozenset())
    return any(
        _ComparedSentences(question, old, new, titles[0], context, newer.former).is_replaced()
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


def has_other_owner(old: ShortSentence, new: ShortSentence) -> bool:
    """Whether a newer sentence is about somebody else's."""
    if old.of_speaker != new.of_speaker and (new.of_others or new.of_listener) and not new.of_speaker:
        return True
    owners = new.possessed - GENERIC
    return bool(owners - covered(owners, old.keys))


def has_other_unit(old: ShortSentence, new: ShortSentence) -> bool:
    """Whether two sentences count in units or rates that differ."""
    return _differ(old.units, new.units) or _differ(old.rates, new.rates)


def has_narrower_subject(old: ShortSentence, new: ShortSentence, known: Set[str]) -> bool:
    """Whether a newer sentence is about a part, as one boiler of two.

    Args:
        old: Older sentence. A word behind its subject is a verb: "Eva teaches".
        new: Newer sentence. "The cottage boiler" has a word before the one that both share, "Tom's parents"
            one behind the owner.
        known: Keys of the older note and of the question.
    """
    verbs = {second for first, second in old.modifying if first in old.subject}
    subject = new.subject - _NO_QUALIFIERS
    own = subject - covered(subject, known)
    owned = {second for first, second in new.modifying if first in subject & new.possessed}
    return bool(owned - covered(owned, known) - _NO_QUALIFIERS) or any(
        first in own and second not in verbs and covered([second], known) for first, second in new.modifying
    )


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
    known = question.keys.union(title, *(sentence.keys for sentence in older.sentences))
    shared = [(old, new) for old in older.sentences for new in newer.sentences if old.keys & new.keys]
    pairs = [pair for pair in shared if covered(question.keys, pair[0].keys)] or shared
    said = frozenset().union(*(sentence.keys for sentence in newer.sentences))
    return bool(pairs) and all(
        has_narrower_subject(old, new, known)
        or _has_other_subject(question, old, new, known, said)
        or _is_apart(question, old, new)
        for old, new in pairs
    )


def _is_event(note: ShortText) -> bool:
    """Whether a note is one sentence that begins with what somebody did: "Cycled to work"."""
    word = _first_word(note)
    is_past = word in PAST or _PARTICIPLE.fullmatch(word) is not None
    return is_past and len(note.sentences) == 1 and word not in TABLES["verbs"] | TABLES["decided"]


def _first_word(note: ShortText) -> str:
    """Return the first word of a note in lower case; empty without one."""
    words = note.sentences[0].text.casefold().split(maxsplit=1) if note.sentences else []
    return words[0].strip(",;:.!") if words else ""


def _has_other_subject(
    question: AskedWords, old: ShortSentence, new: ShortSentence, known: Set[str], said: Set[str]
) -> bool:
    """Whether a newer note has another subject than is asked for: phones, not laptops."""
    own = new.subject - covered(new.subject, known) - _NO_QUALIFIERS
    asked = old.subject & question.keys
    return bool(own) and (bool(asked - covered(asked, said)) or (old.says_i and not new.of_speaker))


def _is_apart(question: AskedWords, old: ShortSentence, new: ShortSentence) -> bool:
    days = bool(old.days and new.days)
    if days and question.asks != "time" and not old.days & new.days:
        return True
    if days and old.days != new.days and (old.days | new.days) & TABLES["days"]:
        return True
    owners = new.possessed - GENERIC
    if new.is_more or owners - covered(owners, old.keys) or (old.says_i and new.of_kin and not new.says_i):
        return True
    for one, other in ((old, new), (new, old)):  # my manager, and the manager of an office
        if other.of_speaker and not one.of_speaker and one.bound - covered(one.bound, other.keys):
            return True
    return all(_own_qualifiers(question, *pair, new) for pair in ((old, new), (new, old)))


def _own_qualifiers(
    question: AskedWords, one: ShortSentence, other: ShortSentence, new: ShortSentence
) -> frozenset[str]:
    """Return what a sentence says of its subject, and the other one does not."""
    beside = {first for first, second in one.modifying if covered([second], other.keys)}
    found = one.bound | beside
    if question.asks != "place":
        found |= one.placed
    if question.asks != "name":
        found |= {second for first, second in one.apposed if covered([first], other.keys)}
        found |= frozenset() if new.verbs else one.subject
    found -= _NO_QUALIFIERS
    return found - covered(found, other.keys)


def may_replace(sentence: ShortSentence) -> bool:
    """Whether a sentence states something that may replace what another one states."""
    return sentence.size <= LONGEST and not (sentence.is_question or sentence.is_unsure or sentence.is_more)


def may_be_replaced(sentence: ShortSentence) -> bool:
    """Whether a sentence states something that another one may replace."""
    of_listener = sentence.of_listener and not sentence.of_speaker
    return sentence.size <= LONGEST and not sentence.is_question and not of_listener


class _ComparedSentences:
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
        asked = question.keys
        names = question.names | covered(asked, old.names) | covered(asked, new.names)
        self.topic = covered(asked, old_keys)
        self.missing = self.topic - covered(self.topic, new.keys | context)
        self.added = covered(asked, new.keys) - self.topic
        self.is_other_name = not names.isdisjoint(self.missing | self.added)
        self.is_other_value = (question.values & old.values) != (question.values & new.values)
        self.shared = covered(old.keys, new.keys) - NO_SUBJECT - MEASURES
        if old_title:
            self.shared |= covered(old_title, new.keys | context) - NO_SUBJECT
        ended = frozenset(one for one in former if one in old.values or covered([one], old.keys)) - GENERIC
        self.former = ended
        self.former_value = frozenset(one for one in ended if not covered([one], asked))
        self.fresh = new.keys - covered(new.keys, old.keys) - (NO_SUBJECT - new.names)
        self.is_other_unit = has_other_unit(old, new)
        self.has_kind = bool(old.kinds & new.kinds) or (
            (bool(old.kinds & _TIMES) or _may_be_time(old))
            and (bool(new.kinds & _TIMES) or _may_be_time(new))
        )
        self.is_framed = bool(old.frames & new.frames)
        is_framed = not asked and bool(question.frames & old.frames & new.frames)
        self.is_only_framed = is_framed and bool(new.verbs or old.keys & new.keys)
        self.is_moved = (
            question.asks == "place" and bool(asked) and asked == self.topic
            and not TABLES["moved"].isdisjoint(new.verbs) and bool(covered(asked, new.subject))
            and old.bound == new.bound and question.frames <= new.frames
        )  # fmt: skip
        self.subject = old.keys - GENERIC

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
        return not self.is_other_value and not self.is_other_name and not (
            self.added and not self.former_value
        )  # fmt: skip

    def _differs(self) -> bool:
        """Whether the newer sentence brings something new, and the older one has something else."""
        old, new = self.old, self.new
        gone = (old.values - new.values) or (old.keys - covered(old.keys, new.keys) - GENERIC)
        differs = bool((self.fresh or new.values - old.values) and (gone or self.former))
        if not new.is_negated and not differs:
            return False
        if self.is_other_unit and not self.former_value:
            return False
        is_same_value = bool(old.kinds) and self.has_kind and old.values == new.values
        if is_same_value and not new.is_negated and not self.former:
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
        if not covered(old.keys, new.keys) >= old.keys - CHANGING:
            return False
        if len(new.keys - CHANGING) > len(old.keys) + _MORE:
            return False
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
        if self.is_moved:
            return True
        if old.kinds and not self.has_kind and not new.is_negated and not self.former_value:
            return False
        if len(self.shared) > 1 and (self.topic or self.former):
            is_attribute = bool(self.topic - old.names and self.fresh)
            if self.has_kind or self.former or new.is_negated or self.is_framed or is_attribute:
                return True
        if self.topic and (self.former_value or (self.shared and (self.is_framed or self.has_kind))):
            return True
        return bool(self.former_value & (old.names | new.names)) and len(self.subject) <= _FEW

    def _may_lack(self) -> bool:
        """Whether a newer sentence is about the same without a word that is asked for."""
        if len(self.missing) > 1:
            return False
        if self.former_value and len(self.subject) <= _FEW + 1:
            return True
        return len(self.topic) > 2 and self.has_kind and bool(self.new.verbs)


def _differ(units: Set[str], others: Set[str]) -> bool:
    return bool(units and others) and not covered(units, others)


def _may_be_time(sentence: ShortSentence) -> bool:
    """Whether a sentence has a time, or numbers that may be hours or days."""
    return bool(sentence.kinds & _TIMES) or (
        sentence.kinds == {"number"}
        and not sentence.units
        and not _NAMED_NUMBER.search(sentence.text)
        and all(value.isdigit() and int(value) <= _DAYS for value in sentence.values)
    )
