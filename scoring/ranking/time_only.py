"""Questions that hold only a time, an order or a label: `what did I note last week?` (rule 3.13).

No text fits such a question, so it is answered by the memories of its days. A word beyond those of the lists
``time_*.txt`` is a subject, and the question is searched as any other. A single such word may be a label:
`tickets from August`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Final

from slowwave.scoring.ranking.time_languages import ORDERS, WORD, Language, languages_known
from slowwave.scoring.ranking.time_spans import TimeWords
from slowwave.scoring.ranking.time_words import plain, window_asked
from slowwave.scoring.ranking.words import stems

MAX_CHARACTERS: Final = 120  # of a question that can hold only a time
MAX_UNSPACED: Final = 14  # letters of a time in a language without spaces
MAX_NOTES: Final = 1_899  # that a question asks for by number (count); greater ones may be years
MAX_SUBJECT: Final = 2  # content words beside a label (count)
_LETTER = re.compile(r"\w")
_LABEL = "\N{REPLACEMENT CHARACTER}"  # in place of the word of a label


class _Vocabulary:
    """Words of one language that leave a question without a subject."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.noting = language.noting
        self.single = frozenset(language.listed("single"))
        self.of_notes = language.noting.difference(language.listed("happening"))
        self.looking_ahead = frozenset(language.listed("coming"))
        self.coming = self.looking_ahead.union(language.listed("of"))
        self.all = language.asking
        # A word that is neither here nor in an expression of time is a subject.
        of_time = {word for form in language.every_form() for word in WORD.findall(form)}
        self.known = self.all | of_time | {"-"}  # the dashes of 2026-03-05
        self.longest = sorted(self.all, key=len, reverse=True)
        self.plurals = [ending.partition(" ")[::2] for ending in language.listed("plurals")]
        self._endings = tuple(ending for ending, _ in self.plurals)
        self.linking = frozenset(language.listed("linking"))
        self.types = dict(pair.split(" ") for pair in language.listed("types"))

    @cached_property
    def _orders(self) -> dict[str, re.Pattern[str]]:
        kinds = {order: (order, f"{order}_note") for order in ORDERS}
        return {order: self.language.any_form(*several) for order, several in kinds.items()}

    def order_in(self, text: str) -> TimeWords | None:
        """Return the order by time that a question names: `my last note`."""
        for order, pattern in self._orders.items():
            if found := pattern.search(text):
                return TimeWords(found[0].strip(), order=order)
        return None

    def without_count(self, text: str) -> tuple[str, int]:
        """Return a text without the number of notes beside an order, and that number; 0 if there is none.

        `my last 3 notes` and `the three newest notes` have one, `the last 3 days` has none.
        `my last note` is one note.
        """
        order = self.order_in(text)
        if order is None:
            return text, 0
        before, after = (part.split() for part in text.split(order.words, 1))
        is_of_time = after and after[0].strip("?!., ") in self.language.units  # les 10 derniers jours
        if before and not is_of_time and (count := self._count(before[-1])):
            return " ".join((*before[:-1], order.words, *after)), count
        if after and not self.single.isdisjoint(WORD.findall(after[0])):
            return text, 1
        units = {word for part in after[1:2] for word in WORD.findall(part)} & self.language.units.keys()
        if after and not units and (count := self._count(after[0])):
            return " ".join((*before, order.words, *after[1:])), count
        return text, 0

    def _count(self, word: str) -> int:
        if word.isdecimal():
            return int(word) if len(word) <= len(str(MAX_NOTES)) and int(word) <= MAX_NOTES else 0
        number = self.language.numbers.get(word, 0)
        return number if number > 1 else 0  # "a" is none

    def may_ask(self, text: str, words: frozenset[str]) -> bool:
        """Whether a question has a word of noting, and little else."""
        if not self.language.unspaced:
            return words <= self.known and not words.isdisjoint(self.noting)
        if not any(word in text for word in self.noting):
            return False
        return len(_LETTER.findall(self._unlisted(text)[0])) <= MAX_UNSPACED

    def label_in(self, words: frozenset[str]) -> str:
        """Return the only unlisted word of a question; empty if it has another number."""
        unknown = words - self.known
        return next(iter(unknown)) if len(unknown) == 1 and not self.language.unspaced else ""

    def is_plural(self, word: str) -> bool:
        """Whether a word may be a plural; one with a hash sign asks for all of its tag."""
        return word.startswith("#") or word.endswith(self._endings)

    def labels_of(self, plural: str) -> tuple[str, ...]:
        """Return a word, what may be its singulars, and the type that it names."""
        plural = plural.removeprefix("#")
        stems = ((plural.removesuffix(end), end, singular) for end, singular in self.plurals)
        singulars = [stem + new for stem, end, new in stems if stem + end == plural and len(stem) > 1]
        forms = (form for word in (plural, *singulars) for form in (word, word.replace("ss", "ß")))
        named = [self.types[form] for form in (plural, *singulars) if form in self.types]
        return tuple(dict.fromkeys((*forms, *named)))

    def content_of(self, words: Iterable[str]) -> list[str]:
        """Return the words that are of no time and no question, and link nothing."""
        return [word for word in words if word not in self.known and word not in self.linking]

    def heads(self, word: str, order: str, text: str) -> bool:
        """Whether a word stands behind an order, and is no part of a name: not the last meeting room."""
        after = re.search(rf"(?<!\w){re.escape(order)} {re.escape(word)}(?!\w)\W*(\w*)", text)
        return after is not None and (not after[1] or after[1] in self.linking | self.known)

    def looks_back(self, text: str) -> bool:
        """Whether a text has a word for the past."""
        _, past, _ = self.language.tenses
        return past.search(text) is not None

    def looks_ahead(self, text: str) -> bool:
        """Whether a text has a word for what is to come."""
        ahead, _, _ = self.language.tenses
        return ahead.search(text) is not None or not self.looking_ahead.isdisjoint(WORD.findall(text))

    def rest(self, text: str, *, coming: bool = False) -> frozenset[str] | None:
        """Return the listed words that a text consists of; None if it has others.

        Args:
            text: As of `plain`.
            coming: Whether words for what is to come are listed ones, too.
        """
        if not self.language.unspaced:
            words = frozenset(WORD.findall(text))
            has_digit = any(letter.isdigit() for letter in text)
            listed = self.all | self.coming if coming else self.all
            return words if words <= listed and not has_digit else None
        text, found = self._unlisted(text)
        return None if _LETTER.search(text) else found

    def _unlisted(self, text: str) -> tuple[str, frozenset[str]]:
        """Return a text without the listed words, and those that it had."""
        found = [word for word in self.longest if word in text]
        for word in found:
            text = text.replace(word, " ")
        return text, frozenset(found)


@cache
def _vocabularies() -> tuple[_Vocabulary, ...]:
    return tuple(map(_Vocabulary, languages_known()))


@lru_cache(maxsize=256)
def time_only(question: str, today: date) -> TimeWords | None:
    """Return the days of a question that holds only a time; else None.

    A weekday is the last one before today. An order, as in `my newest note`, has all days until today.

    Args:
        question: Text of the query.
        today: Day of the question.
    """
    if len(question) > MAX_CHARACTERS:
        return None
    text, words = _read(question)
    for vocabulary in _vocabularies():
        if vocabulary.may_ask(text, words):
            asked, rest = _time_and_rest(vocabulary, text, today)
            noting = vocabulary.of_notes if asked and asked.order else vocabulary.noting
            begun = asked is not None and (asked.since is None or asked.since <= today)
            if begun and rest is not None and rest & noting:
                return asked
    return None


@lru_cache(maxsize=256)
def coming_only(question: str, today: date) -> TimeWords | None:
    """Return the days of a question that asks only what they bring; else None: `what is due next week?`.

    They end today or later. Unless all are to come, it has a word for that. A label in the plural narrows it:
    `which tickets are due next week?`.

    Args:
        question: Text of the query.
        today: Day of the question.
    """
    if len(question) > MAX_CHARACTERS:
        return None
    text, words = _read(question)
    for vocabulary in _vocabularies():
        if not vocabulary.looking_ahead or not words <= vocabulary.known | vocabulary.coming:
            continue
        if vocabulary.looks_back(text):
            continue
        asked, rest = _time_and_rest(vocabulary, text, today, coming=True)
        if asked is None or asked.order or asked.since is None or rest is None or rest & vocabulary.of_notes:
            continue
        last = asked.until or date.max
        is_asked = asked.since == today < last or vocabulary.looks_ahead(text)
        if asked.since > today or (last >= today and is_asked):
            return asked._replace(since=max(asked.since, today), until=last)
    label = _labelled(question, today, coming=True)
    if label is None or not label.plural or label.since is None or (label.until or date.max) < today:
        return None
    looks_back = any(one.looks_back(text) for one in _vocabularies())
    if label.since <= today and (looks_back or not any(one.looks_ahead(text) for one in _vocabularies())):
        return None
    return label._replace(since=max(label.since, today), until=label.until or date.max)


def label_only(question: str, today: date) -> TimeWords | None:
    """Return label and days of a question with one unlisted word; else None.

    `my last 3 decisions`, `tickets from August` and `all tickets` are such questions, `my last decision`
    asks for one.

    Args:
        question: Text of the query.
        today: Day of the question.
    """
    if len(question) > MAX_CHARACTERS:
        return None
    label = _labelled(question, today)
    return label if label is not None and (label.since is None or label.since <= today) else None


def possible_labels(question: str) -> frozenset[str]:
    """Return what words of a short question with a subject may be labels of.

    `decisions about the roof`, `last month's roof decisions` and `the last decision about the roof` are such
    questions. A singular needs an order. Whether the word is a label, only the memories say.

    Args:
        question: Text of the query.
    """
    if len(question) > MAX_CHARACTERS:
        return frozenset()
    return frozenset(label for _, _, labels in _label_words(question) for label in labels)


@lru_cache(maxsize=256)
def labels_and_subjects(question: str, today: date) -> tuple[tuple[TimeWords, frozenset[str]], ...]:
    """Return each such word of a question as a label with days, and its subject.

    A subject is the stems of the other words. A singular asks for one memory.

    Args:
        question: Text of the query, with `possible_labels`.
        today: Day of the question.
    """
    text = plain(question)
    words = dict.fromkeys(WORD.findall(text))
    found: dict[tuple[TimeWords, frozenset[str]], None] = {}
    for vocabulary, word, labels in _label_words(question):
        content = vocabulary.content_of(words)
        linking = vocabulary.linking.intersection(words) - vocabulary.all
        masked, _ = _masked(text, [*content, *linking])
        asked, rest = _time_and_rest(vocabulary, masked, today)
        asked = asked or TimeWords("", until=today)
        others = [other for other in content if other != word]
        subject = stems(" ".join(others))  # without those of "not"
        plural = vocabulary.is_plural(word)
        is_newest = asked.order == "newest" and vocabulary.heads(word, asked.words, text)
        is_label = rest is not None and (plural or is_newest)
        if is_label and len(subject) == len(others) and (asked.since is None or asked.since <= today):
            most = asked.most or int(not plural)
            found[asked._replace(labels=labels, plural=plural, most=most), subject] = None
    return tuple(found)


def asks_what_happened(question: str) -> bool:
    """Whether a question is about what happened, and has no word of notes."""
    _, words = _read(question)
    return not any(words & vocabulary.of_notes for vocabulary in _vocabularies())


def days_named(asked: TimeWords) -> str:
    """Return the days of a window as text: a year, a month, a day, or the first and last day."""
    first, last = asked.since or date.min, asked.until or date.max
    if first == last:
        return str(first)
    if first == date.min:
        return f"the days until {last}"
    if last == date.max:
        return f"the days from {first} on"
    month_ends = first.day == 1 and (last + timedelta(days=1)).day == 1
    if month_ends and (first.year, first.month) == (last.year, last.month):
        return f"{first:%Y-%m}"
    if month_ends and first.year == last.year and (first.month, last.month) == (1, 12):
        return f"{first.year}"
    return f"the days from {first} to {last}"


@lru_cache(maxsize=512)
def _labelled(question: str, today: date, *, coming: bool = False) -> TimeWords | None:
    text, words = _read(question)
    if any(words <= vocabulary.known for vocabulary in _vocabularies()):
        return None
    found: list[TimeWords] = []
    for vocabulary in _vocabularies():
        # Decisions that we made: words that link count as listed where the label is not alone otherwise.
        linking = frozenset() if vocabulary.label_in(words) else vocabulary.linking
        expected = vocabulary.coming if coming else frozenset()
        if not (label := vocabulary.label_in(words - linking - expected)):
            continue
        without, is_word = _masked(text, [label])
        without, _ = _masked(without, linking & words)
        asked, rest = _time_and_rest(vocabulary, without, today, coming=coming)
        asked = asked or TimeWords("", until=today)
        if is_word and rest is not None:
            plural = vocabulary.is_plural(label)
            most = asked.most or int(bool(asked.order) and not plural)  # my last decision
            found.append(asked._replace(labels=vocabulary.labels_of(label), plural=plural, most=most))
    if not found:
        return None
    # A word alone may be of any language.
    every = dict.fromkeys(chain(*(asked.labels for asked in found)))
    return found[0]._replace(labels=tuple(every))


def _read(question: str) -> tuple[str, frozenset[str]]:
    """Return the plain text of a question and its words."""
    text = plain(question)
    return text, frozenset(WORD.findall(text))


def _masked(text: str, words: Iterable[str]) -> tuple[str, int]:
    """Return a text without some words, and how many it had."""
    any_of = "|".join(map(re.escape, sorted(words)))
    return re.subn(rf"(?<!\w)(?:{any_of})(?!\w)", _LABEL, text) if any_of else (text, 0)


@lru_cache(maxsize=256)
def _label_words(question: str) -> tuple[tuple[_Vocabulary, str, tuple[str, ...]], ...]:
    """Return words beside one or two of a subject: language, word and what it may be a label of.

    They are plurals, and all words in a question with an order.
    """
    text = plain(question)
    words = dict.fromkeys(WORD.findall(text))
    found = []
    for vocabulary in _vocabularies():
        content = vocabulary.content_of(words)
        if vocabulary.language.unspaced or not 1 < len(content) <= MAX_SUBJECT + 1:
            continue
        orders = vocabulary.order_in(text) is not None
        found += [
            (vocabulary, word, vocabulary.labels_of(word))
            for word in content
            if orders or vocabulary.is_plural(word)
        ]
    return tuple(found)


def _time_and_rest(
    vocabulary: _Vocabulary, text: str, today: date, *, coming: bool = False
) -> tuple[TimeWords | None, frozenset[str] | None]:
    """Return the days or the order that a text asks for, and its listed words; None if it has others."""
    language = vocabulary.language
    uncounted, count = vocabulary.without_count(text)
    looks_ahead = coming and vocabulary.looks_ahead(text)
    window = window_asked(
        uncounted, language, today, day_first=language.name != "en", alone=True, coming=looks_ahead
    )
    if window is not None and window.since is None:
        window = None
    left = uncounted.replace(window.words, " ", 1) if window else uncounted
    order = vocabulary.order_in(left)
    asked = order and order._replace(until=today)
    if window:
        asked = window._replace(order=order.order if order else window.order)
    left = left.replace(order.words, " ", 1) if order else left
    rest = vocabulary.rest(left.replace(_LABEL, " "), coming=coming)
    return asked and asked._replace(most=count), rest
