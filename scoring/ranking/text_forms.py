"""Forms of times as texts carry them, in each language (rule 3.13)."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from slowwave.scoring.ranking.time_languages import (
    DATED,
    GROUP,
    KINDS,
    WORD,
    YEAR,
    Language,
    keywords,
    languages_known,
    words_in,
)

RELATIVE: Final = (
    "before_yesterday", "yesterday", "after_tomorrow", "tomorrow", "last_week_day", "next_week_day",
    "last_day", "next_day", "last_week", "next_week", "day_ago", "ago", "hence",
)  # fmt: skip
"""Kinds of days and weeks relative to the text's own day, the longer expression first."""
_STATED = set(KINDS) - {"day", "weekday", "past", "some_past", "noted_today", "noted_yesterday"}
_STATED -= {"newest", "oldest"}
_STAMP = re.compile(r"\s*(?:\[[^\]\n]{1,60}\]|\([^)\n]{1,60}\)|(?:19|20)\d\d-\d\d-\d\d[\dtz:., +-]*)")


class _Form(NamedTuple):
    """Form of a relative day.

    A text with it has one of the words, or one of the parts of words.
    """

    kind: str
    pattern: re.Pattern[str]
    words: frozenset[str]
    parts: tuple[str, ...]


class TextForms:
    """Times that a text in one language may say; patterns are compiled when a text first needs them."""

    def __init__(self, language: Language) -> None:
        self.language = language

    @cached_property
    def _statement(self) -> tuple[re.Pattern[str], frozenset[str]]:
        """Return the pattern of a time in a text; without a year, such a text has one of the words."""
        language = self.language
        forms = [*language.listed("says")]
        for kind in KINDS:
            if kind in _STATED:
                forms += [form for form in language.listed(kind) if kind not in DATED or "{year}" in form]
        forms = [form for form in forms if form not in language.listed("year")]
        for marker, kinds in (("on", ("date",)), ("in", ("month", "year"))):
            ways = [way for way in language.listed(marker) if not way.endswith("}") or way[0] != "{"]
            # A form that says a time alone needs no word before it.
            named = [form for kind in kinds for form in language.listed(kind) if form not in forms]
            forms += [way.replace("{time}", form) for way in ways for form in named]
        pattern = GROUP.sub("(?:", language.source_of(f"(?:{'|'.join(forms)})"))
        return re.compile(pattern), language.words_needed(forms)

    def says_when(self, text: str) -> bool:
        """Whether a text says a time, beside the stamp that it may begin with."""
        plain, (pattern, words) = text.casefold(), self._statement
        # Most texts have no such word, and the pattern is slower.
        if not (self.language.unspaced or YEAR.search(plain) or not words.isdisjoint(WORD.findall(plain))):
            return False
        return pattern.search(" ".join(_STAMP.sub("", plain, count=1).split())) is not None

    @cached_property
    def _date_words(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """Return the words of dates, and names that are parts of words."""
        language = self.language
        in_figures = (form for form in language.listed("date_of_text") if "{month}" not in form)
        names = {
            *language.months,
            *keywords(language.feasts),
            *(word for form in in_figures for word in words_in(form)),
        }
        return self._whole_and_parts(names)

    def _whole_and_parts(self, names: Collection[str]) -> tuple[frozenset[str], tuple[str, ...]]:
        if self.language.unspaced or self.language.name == "ar":
            return frozenset(), tuple(names)
        dotted = {name for name in names if name.endswith(".")}
        return frozenset(names).difference(dotted), tuple(name for name in dotted if name[:-1] not in names)

    def may_date(self, text: str, words: Collection[str]) -> bool:
        """Whether a text may carry a date in words; cheaper than the patterns."""
        names, joined = self._date_words
        return not names.isdisjoint(words) or any(name in text for name in joined)

    @cached_property
    def dates(self) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of dates and months with a year."""
        forms = [form for kind in ("date", "month") for form in self.language.listed(kind)]
        dashed = [form.replace("{month} {day},? ", "{month}[ -]{day}(?:,? ?|-)") for form in forms]
        figures = "(?P<year>(?:19|20)\\d\\d)" + (" ?年" if self.language.unspaced else "")
        dated = [form.replace("{year}", figures) for form in dashed if "{year}" in form]
        return tuple(map(self.language.pattern_of, dated))

    @cached_property
    def dates_without_year(self) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of dates without a year."""
        others = ("{year}", "{feast}", "{sure}", "{m}")
        forms = [form for form in self.language.listed("date") if not any(place in form for place in others)]
        return tuple(map(self.language.pattern_of, (*self.language.listed("date_of_text"), *forms)))

    @cached_property
    def _relative(self) -> tuple[_Form, ...]:
        """Return the forms of relative days."""
        language = self.language
        forms = [(kind, form) for kind in RELATIVE for form in language.listed(kind)]
        forms += [("weekday", form) for form in language.listed("weekday")[:1]]
        needed = (self._whole_and_parts(language.words_needed([form])) for _, form in forms)
        return tuple(
            _Form(kind, language.pattern_of(form), *words)
            for (kind, form), words in zip(forms, needed, strict=True)
        )

    @cached_property
    def relative_words(self) -> frozenset[str]:
        """Words of which a text with a relative day has one."""
        return frozenset().union(*(form.words for form in self._relative))

    @cached_property
    def _joined_words(self) -> frozenset[str]:
        return frozenset().union(*(form.parts for form in self._relative))

    def relative_days(self, text: str, words: Collection[str]) -> list[tuple[str, re.Match[str]]]:
        """Return the expressions of relative days in a text, with their kinds; none is within another.

        Args:
            text: In lower case.
            words: Of the text.
        """
        named = self.relative_words.intersection(words)
        joined = set() if text.isascii() else {word for word in self._joined_words if word in text}
        found: list[tuple[str, re.Match[str]]] = []
        for form in self._relative if named or joined else ():
            if form.words.isdisjoint(named) and joined.isdisjoint(form.parts):
                continue
            for match in form.pattern.finditer(text):
                if not any(match.start() < other.end() and other.start() < match.end() for _, other in found):
                    found.append((form.kind, match))
        return found


@lru_cache(maxsize=1)
def text_forms() -> tuple[TextForms, ...]:
    """Return the forms of each language, in the order of `languages_known`."""
    return tuple(map(TextForms, languages_known()))
