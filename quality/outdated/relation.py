"""Two values of one attribute, of which the newer replaces the older (rule 3.12)."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from slowwave.quality.divergence.lexicon import word_key
from slowwave.quality.divergence.lexicon_numbers import UNITS
from slowwave.quality.outdated.compared_sentences import is_of_other_day
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.scope import has_other_scope
from slowwave.quality.outdated.short_sentences import sentence_of
from slowwave.quality.outdated.statements import Statements
from slowwave.quality.outdated.tokens import FORMERLY, GENERAL, TABLES
from slowwave.quality.outdated.values import Sentence, Value

_UNITS: Final = frozenset(base for base, _ in UNITS.values())
_WORKING: Final = frozenset(map(word_key, ("work", "arbeitet", "travaille", "trabaja", "job")))
_MOVING: Final = TABLES["moving"]
_IS: Final = TABLES["copula"] | {"it", "that", "are"}
_GENERAL_WEIGHT = 0.25
_SHORT = 26  # words of a short sentence, every one of which counts (count)
_NAMED = 0.34  # minimum share of a question in both, if the newer names what the older one says
_STATED = 0.6  # minimum share of a question in both of two whole sentences
_BOTH = 2  # minimum words of the question in the older, or of both sentences (count)
_TAIL = 6  # most words of a value after the verb (count)
_COVERED = 0.55  # minimum share of what a question asks and a short older sentence says
_COVERED_LONG = 0.2  # the same of a long one


def may_replace(value: Value, question: Question, *, near: bool = True) -> bool:
    """Whether a value can be a newer one at all.

    Args:
        value: Of a text.
        question: Of the search.
        near: Whether the text is among the best of the search.
    """
    if value.is_former or value.is_unsettled:
        return False
    if value.kind == "statement":
        changes = bool(value.cue) or (near and value.sentence.is_plain)
        return changes and question.is_present and "statement" in question.kinds
    if value.cue or (near and value.sentence.is_plain):
        return True
    return value.kind == "number" and bool(value.noun & question.counted)


def replaces(old: Value, new: Value, older: Statements, newer: Statements, question: Question) -> bool:
    """Whether a value of a newer text replaces one of an older text."""
    if not _is_newer_value(old, new, older, newer, question):
        return False
    if is_of_other_day(question.asked, sentence_of(old.sentence.text), sentence_of(new.sentence.text)):
        return False
    known = frozenset().union(*(value.sentence.content for value in older.values))
    return not has_other_scope(old.sentence.text, new.sentence.text, known)


def _is_newer_value(old: Value, new: Value, older: Statements, newer: Statements, question: Question) -> bool:
    if old.value == new.value or old.is_former or not _agree(old, new):
        return False
    if (question.digits & old.sentence.digits) - new.sentence.digits:
        return False
    if old.kind == "statement":
        return _is_other_statement(old, new, question)
    if _has(older, new) or _other_days(old, older, newer):
        return False
    formers = [value for value in newer.values if value.is_former and value.kind == new.kind]
    named = any(_same(value, old) for value in formers)
    if not named and (formers or _has(newer, old)):
        return False
    if named and old.kind != "number":
        return new.kind in question.kinds and bool(old.about & new.about & question.keys)
    if not _one_attribute(old, new, question):
        return False
    if _is_restated(old, new, question):
        return True
    return new.kind in question.kinds and (_is_cued(old, new, question) or _is_counted(old, new, question))


def _agree(old: Value, new: Value) -> bool:
    """Whether two values have owners, names, limits and rates that agree."""
    if (old.owner != new.owner and old.owner and new.owner) or old.owner == "listener":
        return False
    if (old.owner != new.owner) and not new.cue:
        return False
    if old.first not in new.sentence.content | {""} and new.first not in old.sentence.content | {""}:
        return False
    same_rate = old.rate == new.rate or (bool(new.cue) and "" in (new.rate, old.rate))
    if old.bound != new.bound and not ("aim" in (old.bound, new.bound) and _is_told_anew(new)):
        return False
    alike = old.kind == "statement" or old.names <= new.names or new.names <= old.names
    return same_rate and alike


def _is_told_anew(value: Value) -> bool:
    """Whether a value is said to be another one now: *it's 55 now*, but not *I have 55 now*."""
    return bool(value.cue) and not _IS.isdisjoint(value.clause[-1:])


def _weight(keys: Set[str]) -> float:
    return sum(_GENERAL_WEIGHT if key in GENERAL else 1.0 for key in keys)


def _covers(old: Sentence, new: Sentence, question: Question) -> bool:
    """Whether a newer sentence has enough of what the question and an older one share."""
    asked = question.keys & old.content
    hits = asked & new.content
    if not FORMERLY.isdisjoint(asked - hits) or _is_other_thing(old, new, asked - hits, question.keys):
        return False
    missing = (question.keys & new.content) - old.content
    short = old.size <= _SHORT and new.size <= _SHORT
    share = _weight(hits) / max(_weight(asked), 0.1)
    if short:
        return bool(hits) and share >= _COVERED and _weight(hits) / max(_weight(hits | missing), 0.1) >= 0.5
    return _weight(hits) >= 1.25 and share >= _COVERED_LONG


def _is_other_thing(old: Sentence, new: Sentence, missing: Set[str], asked: Set[str]) -> bool:
    """Whether another word stands beside a shared one.

    As "payment service" instead of "login service", or "Tom's parents" instead of "Tom".
    """
    subject, known = old.content & asked, old.content | asked
    if any(not subject.isdisjoint(pair) and not known.issuperset(pair) for pair in new.owned):
        return True
    lost = {word for word, beside in old.links if beside in missing - GENERAL and word in new.content}
    if not lost:
        return False
    return any(word in lost and beside not in old.content for word, beside in new.links)


def _one_attribute(old: Value, new: Value, question: Question) -> bool:
    if old.kind == "name" or (old.kind == "number" and not _same_noun(old, new, question)):
        return False
    for value in (old, new):
        near = value.about if value.sentence.size <= _SHORT else value.head
        if not (near | value.noun) & (question.keys | question.units):
            return False
    return {old.of} - {""} <= new.head and {new.of} - {""} <= old.head


def has_unit(value: Value) -> bool:
    """Whether a number has a unit, as hours or euros."""
    return bool(value.noun & _UNITS)


def has_other_unit(old: Value, new: Value) -> bool:
    """Whether two numbers with nouns have other units: years, and a count."""
    return bool(old.noun and new.noun) and old.noun & _UNITS != new.noun & _UNITS


def _counts(old: Value, new: Value, question: Question) -> bool:
    """Whether two numbers count what a question counts, if it does."""
    counted = question.counted
    if not counted:
        return True
    if old.noun and not old.noun & counted:
        return False
    if new.noun and not new.noun & counted:
        return False
    return (old.noun & counted) - new.noun <= new.sentence.content | _UNITS or not new.noun


def _same_noun(old: Value, new: Value, question: Question) -> bool:
    """Whether two numbers count the same."""
    if not _counts(old, new, question):
        return False
    if not new.noun:
        return (
            bool(new.cue)
            and bool(old.noun)
            and not old.noun <= _UNITS
            and bool(old.noun & (new.head | question.keys))
        )
    if not old.noun:
        return False
    units = old.noun & _UNITS, new.noun & _UNITS
    if units[0] != units[1]:
        return False
    alike = old.noun <= new.noun or new.noun <= old.noun
    modifiers = (old.noun ^ new.noun) - _UNITS
    if alike and (modifiers <= question.keys or modifiers <= old.sentence.content & new.sentence.content):
        return True
    return bool(new.cue) and bool(old.noun & new.noun & question.keys)


def _is_cued(old: Value, new: Value, question: Question) -> bool:
    """Whether a newer sentence says that its value is new."""
    if not new.cue:
        return False
    what = new.cue[4:] if new.cue.startswith("new ") else ""
    if what and what not in old.about | old.noun | question.keys:
        return False
    return _covers(old.sentence, new.sentence, question)


def _is_counted(old: Value, new: Value, question: Question) -> bool:
    """Whether a speaker counts again what a question asks for."""
    if old.kind != "number" or old.is_unsettled or not old.owner == new.owner == "speaker":
        return False
    if old.sentence.periods != new.sentence.periods or old.names != new.names:
        return False
    counted = old.noun & new.noun & question.counted
    also = (question.keys & old.sentence.content & new.sentence.content) - old.noun - new.noun
    return bool(counted) and bool(also) and _covers(old.sentence, new.sentence, question)


def _is_restated(old: Value, new: Value, question: Question) -> bool:
    """Whether two short statements differ in nothing but the value."""
    both = old.sentence.is_plain and new.sentence.is_plain and old.sentence.content == new.sentence.content
    return both and question.keys & old.sentence.content <= new.sentence.content


def _is_other_statement(old: Value, new: Value, question: Question) -> bool:
    """Whether a sentence says that what an older one says is other now."""
    if old.sentence.kinds & new.sentence.kinds:
        return False
    if _is_same_beginning(old, new, question):
        return True
    if old.sentence.change or old.sentence.kinds or not new.cue:
        return False
    asked = question.keys & old.sentence.content
    hits = asked & new.sentence.content
    if not hits or _is_other_thing(old.sentence, new.sentence, asked - hits, question.keys):
        return False
    if new.sentence.former & old.sentence.content:
        return _weight(hits) >= _NAMED * _weight(question.keys)
    if new.cue.startswith("new "):
        return new.cue[4:] in hits and _weight(hits) >= _STATED * _weight(question.keys)
    if not _WORKING.isdisjoint(asked - hits) and not _MOVING.isdisjoint(new.value.split()):
        return False
    shared = old.sentence.content & new.sentence.content
    if len(asked | shared) < _BOTH or _weight(question.keys - asked) > 1:
        return False
    return _weight(hits) >= 1 and _weight(hits) >= _STATED * _weight(question.keys)


def _is_same_beginning(old: Value, new: Value, question: Question) -> bool:
    """Whether two short sentences say what one thing is: "My dentist is Dr Lang", "My dentist is Dr May"."""
    words, others = old.value.split(), new.value.split()
    changed = next((at for at, pair in enumerate(zip(words, others, strict=False)) if pair[0] != pair[1]), 0)
    verb = next((at for at in range(changed - 1, 0, -1) if words[at] in TABLES["copula"]), 0)
    tails = [{*one[verb + 1 :]} for one in (words, others)]
    if not verb or not 0 < min(map(len, tails)) <= max(map(len, tails)) <= _TAIL:
        return False
    if any(word.endswith("ing") for tail in tails for word in tail) or not TABLES["also"].isdisjoint(
        tails[1]
    ):
        return False
    about = {word_key(word) for word in words[: verb + 1]}
    return question.keys - {word_key(words[verb])} <= about and len(question.keys) > 0


def _other_days(old: Value, older: Statements, newer: Statements) -> bool:
    """Whether two texts name different weekdays beside another value, as opening hours do."""
    days = [{value.value for value in one.values if value.kind == "weekday"} for one in (older, newer)]
    return old.kind != "weekday" and days[0] != days[1]


def _same(value: Value, other: Value) -> bool:
    return value.kind == other.kind and value.value == other.value


def _has(statements: Statements, value: Value) -> bool:
    """Whether a text has the same value of the same noun."""
    return any(
        _same(other, value) and (not value.noun or not other.noun or bool(other.noun & value.noun))
        for other in statements.values
    )
