"""Words of time in each language: the forms stand in the word lists ``time_*.txt``, one list a language."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache

from slowwave.scoring.wordlists import lines

LANGUAGES = ("en", "de", "es", "fr", "pt", "zh", "hi", "ar", "ja")
_UNSPACED = {"zh", "ja"}
ASKED_INSIDE = {"zh", "ja", "hi"}  # languages in which `when` need not begin a question
_KINDS = (
    "date", "ago", "past", "before_yesterday", "yesterday", "last_week", "last_month", "last_year",
    "this_week", "this_month", "this_year", "after_tomorrow", "tomorrow", "next_week_day", "next_day",
    "next_week", "next_month", "next_year", "hence", "month", "year", "newest", "oldest",
)  # fmt: skip
DATED = ("date", "month", "year")
DAYS_OF_WEEK = 7
WORD = re.compile(r"[^\s\d,.;:!?¿¡()\[\]\"“”？。、؟،]+")
YEAR = re.compile(r"(?:19|20)\d\d")
_STAMP = re.compile(r"\s*(?:\[[^\]\n]{1,60}\]|\([^)\n]{1,60}\)|(?:19|20)\d\d-\d\d-\d\d[\dtz:., +-]*)")
_GROUP = re.compile(r"\(\?P<\w+>")
_EDGE = r"\w\u0900-\u097f"  # vowel signs of Hindi are no word characters of `re`


class Language:
    """Words of time in one language; patterns are compiled when a text first needs them."""

    def __init__(self, name: str) -> None:
        table = dict(line.split(" = ", 1) for line in lines("slowwave.scoring", f"time_{name}"))
        self.name, self._table, self.unspaced = name, table, name in _UNSPACED
        self.months = {word: at for at, word in enumerate(table["months"].split(";"), start=1)}
        pairs = [pair.rsplit(" ", 1) for pair in table["numbers"].split(";")]
        self.numbers = {word: int(value) for word, value in pairs}
        self.units = dict(pair.rsplit(" ", 1) for pair in table["units"].split(";"))
        self.before = {word for word in table.get("before", "").split(";") if word}
        self.after = {word for word in table.get("after", "").split(";") if word}
        # In Chinese, Sunday has two names.
        self.weekdays = {word: at % DAYS_OF_WEEK for at, word in enumerate(table["weekdays"].split(";"))}
        if name == "zh":
            self.weekdays["天"] = self.weekdays["日"]
        self._bound = _any(dict.fromkeys(self.before | self.after, ""))
        plain = [table.get(kind, "") for kind in _KINDS if kind not in DATED]
        words = {word for form in (*plain, table["ahead"], table["when"]) for word in WORD.findall(form)}
        shortest = 2 if name == "hi" else 3
        self.keys = {word for word in words if len(word) >= shortest and "{" not in word} | set(self.months)

    def listed(self, kind: str) -> tuple[str, ...]:
        """Return the forms of a kind as they stand in the list."""
        return tuple(form for form in self._table.get(kind, "").split(";") if form)

    def every_form(self) -> Iterator[str]:
        """Yield every word and form of the list."""
        yield from self._table.values()
        yield from (*self.months, *self.numbers, *self.units, *self.weekdays)

    def patterns(self, kind: str) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of a kind."""
        return tuple(self._whole(form) for form in self.listed(kind))

    @cached_property
    def tenses(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Return the patterns of words for what is to come, and for what is past."""
        return self._whole(_forms(self._table["ahead"])), self._whole(_forms(self._table["behind"]))

    @cached_property
    def when(self) -> re.Pattern[str]:
        """Return the pattern of a question that asks when something is."""
        pattern = self._source(_forms(self._table["when"]))
        return re.compile(pattern if self.name in ASKED_INSIDE else rf"\W*{pattern}")

    @cached_property
    def _statement(self) -> tuple[re.Pattern[str], frozenset[str]]:
        """Return the pattern of a time in a text; without a year, such a text has one of the words."""
        kinds = [self._table.get(kind, "") for kind in _KINDS if kind not in {"past", "newest", "oldest"}]
        forms = [form for kind in (*kinds, self._table["says"]) for form in kind.split(";") if form]
        of_place: dict[str, Collection[str]] = {
            "{month}": self.months, "{weekday}": self.weekdays, "{unit}": self.units, "{year}": (),
        }  # fmt: skip
        words: set[str] = set()
        for form in forms:
            of_form = next((some for place, some in of_place.items() if place in form), None)
            if of_form is None:
                longest = max(reversed(form.split()), key=len)
                of_form = re.findall(r"[a-z]+", longest) if "(?:" in longest else [longest]
            words |= set(of_form)
        pattern = _GROUP.sub("(?:", self._source(f"(?:{'|'.join(forms)})"))
        return re.compile(pattern), frozenset(words)

    def says_when(self, text: str) -> bool:
        """Whether a text says a time, beside the stamp that it may begin with."""
        plain, (pattern, words) = text.casefold(), self._statement
        # Most texts have no such word, and the pattern is slower.
        if not (self.unspaced or YEAR.search(plain) or not words.isdisjoint(WORD.findall(plain))):
            return False
        return pattern.search(" ".join(_STAMP.sub("", plain, count=1).split())) is not None

    @cached_property
    def _places(self) -> dict[str, str]:
        return {
            "n": rf"(?P<n>\d{{1,3}}|{_any(self.numbers)})",
            "unit": rf"(?P<unit>{_any(self.units)})",
            "weekday": rf"(?P<weekday>{_any(self.weekdays)})",
            "month": rf"(?P<month>{_any(self.months)})",
            "day": r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.|º|er)?",
            "year": r"(?P<year>(?:19|20)\d\d)",
        }

    def _whole(self, form: str) -> re.Pattern[str]:
        return re.compile(self._source(form))

    def _source(self, form: str) -> str:
        start, end = ("(?<!\\d)", "(?!\\d)") if self.unspaced else (f"(?<![{_EDGE}])", f"(?![{_EDGE}])")
        return start + form.replace(" {month}", "[ -]{month}").format(**self._places) + end

    @cached_property
    def forms(self) -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
        """Return the patterns of each kind of expression in a question."""
        # A month or year after `before` is as certain as one after `in`.
        lead = f"(?:(?P<bound>{self._bound}) (?:the )?)" if self._bound else ""
        kinds = []
        for kind in _KINDS:
            forms = self._table[kind].split(";") if kind in self._table else []
            if lead and kind in DATED:
                forms = [f"{lead}?{form}" for form in forms]
                forms += [] if kind == "date" else [f"{lead}{{{kind}}}"]
            kinds.append((kind, tuple(self._whole(form) for form in forms)))
        return tuple(kinds)

    @cached_property
    def in_text(self) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of dates and months with a year, as texts carry them."""
        forms = [form for kind in ("date", "month") for form in self._table[kind].split(";")]
        dashed = [form.replace("{month} {day},? ", "{month}[ -]{day}(?:,? ?|-)") for form in forms]
        return tuple(self._whole(form) for form in dashed if "{year}" in form)


def _any(words: dict[str, int] | dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _forms(listed: str) -> str:
    return f"(?:{'|'.join(map(re.escape, listed.split(';')))})"


@lru_cache(maxsize=1)
def languages_known() -> tuple[Language, ...]:
    """Return the languages, each with its forms."""
    return tuple(Language(name) for name in LANGUAGES)
