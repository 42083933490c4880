"""Memories whose values a newer result of the same search replaces (rule 3.12)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from slowwave.quality.divergence.lexicon import word_key
from slowwave.quality.divergence.lexicon_numbers import MONTHS, UNITS
from slowwave.quality.outdated.statements import IGNORED, Statements, Value, statements_of
from slowwave.quality.titles import is_from_first_words

_SHARED = 2  # minimum words by the values that both statements share
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HEAD = re.compile(
    r"""\A\s*(?:\[(?P<stamp>[^\]\n]{4,40})\]
    |(?:(?:as\ of|since|update|updated|stand|ab)\b[\s:,]*)?
     (?P<date>\d{4}-\d\d-\d\d|\d{1,2}\ [a-z]{3,9}\ \d{4}|[a-z]{3,9}\ \d{1,2},\ \d{4}))""",
    re.IGNORECASE | re.VERBOSE,
)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2}) ([a-z]{3,9}),? (\d{4})\b", re.IGNORECASE)
_MONTH = re.compile(r"\b([a-z]{3,9}) (\d{1,2}), (\d{4})\b", re.IGNORECASE)

_UNITS: Final = frozenset(base for base, _ in UNITS.values())


@dataclass(frozen=True, slots=True)
class DatedPassage:
    """Passage of a memory, with what orders it in time.

    Attributes:
        sensitivity: Label; values are compared within one label only.
        created_at: Date of the note, or the moment of its save.
        updated_at: Moment of its last save.
    """

    memory_id: str
    title: str
    text: str
    sensitivity: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Outdated:
    """Newer memory that replaces a value, and the moment from which it holds."""

    newest: str
    until: datetime


def outdated_memories(question: str, passages: Sequence[DatedPassage]) -> dict[str, Outdated]:
    """Return the newest memory of each one with an outdated value.

    Args:
        question: Text of the query.
        passages: Passages that the search found.
    """
    asked = asked_keys(question)
    if not asked or len(passages) < 2:
        return {}
    groups: defaultdict[tuple[str, str], list[_Compared]] = defaultdict(list)
    for passage in passages:
        found = statements_of(passage.text, asked)
        about = [value for value in found.values if not asked.isdisjoint(value.about)]
        if about:
            news = [value for value in about if _may_replace(value, asked)]
            groups[passage.sensitivity, found.speaker].append(_Compared(passage, found, about, news))
    replaced: defaultdict[str, list[DatedPassage]] = defaultdict(list)
    for group in groups.values():
        if not any(one.news for one in group):
            continue
        dated = sorted(((_order(one.passage), at) for at, one in enumerate(group)))
        for place, (moment, at) in enumerate(dated):
            for later, other in dated[place + 1 :]:
                older, newer = group[at], group[other]
                if newer.news and moment < later and _is_update(older, newer, asked):
                    replaced[older.passage.memory_id].append(newer.passage)
    newest = {memory: newer[-1] for memory, newer in replaced.items()}
    return {memory: Outdated(_last(memory, newest).memory_id, _moment(newest[memory])) for memory in newest}


class _Compared(NamedTuple):
    """Passage with its values: all, those about the question, and those that may replace others."""

    passage: DatedPassage
    found: Statements
    about: list[Value]
    news: list[Value]


def _is_update(older: _Compared, newer: _Compared, asked: Set[str]) -> bool:
    if older.passage.memory_id == newer.passage.memory_id:
        return False
    pairs = ((old, new) for new in newer.news for old in older.about if old.kind == new.kind)
    return any(_replaces(old, new, older.found, newer.found, asked) for old, new in pairs) and _one_subject(
        older.passage, newer.passage
    )


def _may_replace(value: Value, asked: Set[str]) -> bool:
    if value.is_former:
        return False
    return bool(value.cue) or value.is_plain or (value.kind == "number" and asked <= value.sentence)


def _one_subject(passage: DatedPassage, other: DatedPassage) -> bool:
    """Whether titles do not tell two memories apart, as those of two offices do."""
    titles = [one.title for one in (passage, other)]
    if "" in titles or any(is_from_first_words(one.title, one.text) for one in (passage, other)):
        return True
    keys = [asked_keys(title) for title in titles]
    return not (keys[0] - keys[1] and keys[1] - keys[0])


def _last(memory: str, newest: dict[str, DatedPassage]) -> DatedPassage:
    """Return the end of a chain of updates; a chain only goes forward in time."""
    passage = newest[memory]
    while passage.memory_id in newest:
        passage = newest[passage.memory_id]
    return passage


def asked_keys(question: str) -> frozenset[str]:
    """Return the keys of the content words of a question."""
    words = (word.casefold().replace("’", "'").removesuffix("'s") for word in _WORD.findall(question))
    return frozenset(word_key(word) for word in words if len(word) > 1 and word not in IGNORED)


def updates(older: Statements, newer: Statements, asked: Set[str]) -> tuple[Value, Value] | None:
    """Return an outdated value and the one that replaces it, if any.

    Args:
        older: Of the older text.
        newer: Of the newer text.
        asked: Keys of the content words of the question.
    """
    if older.speaker != newer.speaker:
        return None
    for new in newer.values:
        for old in older.values if _may_replace(new, asked) else ():
            if old.kind == new.kind and _replaces(old, new, older, newer, asked):
                return old, new
    return None


def _replaces(old: Value, new: Value, older: Statements, newer: Statements, asked: Set[str]) -> bool:
    if old.value == new.value or old.is_former or not _comparable(old, new) or _has(older, new):
        return False
    if not asked & old.sentence <= new.sentence | new.about or _other_days(old, older, newer):
        return False
    formers = [value for value in newer.values if value.is_former and value.kind == new.kind]
    named = any(_same(value, old) for value in formers)
    if not named and (formers or _has(newer, old)):
        return False
    shared = old.about & new.about
    if named and old.kind != "number":
        return bool(shared & asked)
    head = old.head & new.head
    if not head & asked or not shared - old.noun - new.noun:
        return False
    return _one_attribute(old, new) and (
        _is_cued(old, new) or _is_asked(old, new, asked) or _is_restated(old, new)
    )


def _comparable(old: Value, new: Value) -> bool:
    """Whether two values have owners, names, limits and rates that agree."""
    if old.owner != new.owner or old.owner == "listener":
        return False
    if old.first not in new.sentence | {""} and new.first not in old.sentence | {""}:
        return False
    same_rate = old.rate == new.rate or (not new.rate and new.cue == "to")
    return old.bound == new.bound and same_rate and (old.names <= new.names or new.names <= old.names)


def _one_attribute(old: Value, new: Value) -> bool:
    if old.kind == "name" or (old.kind == "number" and not _same_noun(old, new)):
        return False
    return {old.of} - {""} <= new.head and {new.of} - {""} <= old.head


def _is_cued(old: Value, new: Value) -> bool:
    """Whether a newer sentence says that its value is new."""
    if not new.cue or old.bound:
        return False
    head = old.head & new.head
    counted = old.owner == new.owner == "speaker" and new.noun in (old.noun, frozenset())
    alike = 3 * len(head) >= len(old.head | new.head) or (
        counted and old.kind == "number" and not old.noun <= _UNITS
    )
    what = new.cue[4:] if new.cue.startswith("new ") else ""
    return len(head) >= _SHARED and alike and (not what or what in old.about | old.noun)


def _is_asked(old: Value, new: Value, asked: Set[str]) -> bool:
    """Whether a speaker counts again what the whole question asks."""
    if old.kind != "number" or not old.owner == new.owner == "speaker" or len(asked) <= _SHARED:
        return False
    return asked <= old.sentence & new.sentence and bool(old.noun & asked)


def _is_restated(old: Value, new: Value) -> bool:
    """Whether two short statements differ in nothing but the value."""
    return old.is_plain and new.is_plain and old.sentence == new.sentence


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


def _same_noun(old: Value, new: Value) -> bool:
    """Whether two numbers count the same.

    A modifier of one noun must be in the other sentence, too.
    """
    if not new.noun:
        return bool(old.noun) and old.noun <= new.head
    alike = bool(old.noun) and (old.noun <= new.noun or new.noun <= old.noun)
    modifiers = (old.noun ^ new.noun) - _UNITS
    return alike and modifiers <= old.sentence & new.sentence


def _order(passage: DatedPassage) -> tuple[str, datetime, datetime]:
    """Return what orders a passage in time: its day, its moment, its last save."""
    return _moment(passage).date().isoformat(), passage.created_at, passage.updated_at


def _moment(passage: DatedPassage) -> datetime:
    """Return the date that a passage begins with, or else the moment it came with."""
    return written_date(passage.text) or passage.created_at


def written_date(text: str) -> datetime | None:
    """Return the date that a text begins with; None without one."""
    head = _HEAD.match(text)
    if head is None:
        return None
    text = head["stamp"] or head["date"]
    if match := _ISO.search(text):
        year, month, day = map(int, match.groups())
    elif match := _DAY.search(text):
        day, month, year = int(match[1]), MONTHS.get(match[2].casefold(), 0), int(match[3])
    elif match := _MONTH.search(text):
        month, day, year = MONTHS.get(match[1].casefold(), 0), int(match[2]), int(match[3])
    else:
        return None
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
