"""Words of time in each language: the forms stand in the word lists ``time_*.txt``, one list a language."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from slowwave.scoring.wordlists import lines

LANGUAGES = ("en", "de", "es", "fr", "pt", "zh", "hi", "ar", "ja")
_UNSPACED = {"zh", "ja"}
ASKED_INSIDE = {"zh", "ja", "hi"}  # languages in which `when` need not begin a question
_PLAIN = (
    "before_yesterday", "yesterday", "last_week", "last_month", "last_quarter", "last_year", "this_week",
    "this_month", "this_quarter", "this_year", "this_day", "after_tomorrow", "tomorrow", "next_week",
    "next_month", "next_quarter", "next_year", "before_last_week", "before_last_month", "before_last_year",
    "after_next_week",
)  # fmt: skip
COUNTED = ("ago", "past", "some_ago", "some_past", "day_ago", "hence", "next_some", "calendar_week")
_NAMED = (
    "last_named_month", "last_season", "this_season", "before_last_day", "last_day", "last_week_day",
    "next_week_day", "next_day",
)  # fmt: skip
DATED = ("date", "month", "year", "quarter", "half", "season", "decade")
OF_NOTES = ("noted_today", "noted_yesterday")
"""Kinds that are a time only in a question about notes, or after a bound."""
ORDERS = ("newest", "oldest")
KINDS = (*_PLAIN, *COUNTED, *_NAMED, *DATED, "day", "weekday", *OF_NOTES, *ORDERS)
_NUMERIC = {
    "date": (
        "{full}-{m}-{d}", "{full}/{m}/{d}", r"(?P<maybe>){full}\.{m}\.{d}",
        r"{d}\.{m}\.{full}", "{d}-{m}-{full}", "(?P<slashed>){d}/{m}/{full}", "{m}/{d}/{full}",
    ),
    "month": ("(?P<maybe>){full}-{mm}", "{m}/{full}", r"(?P<maybe>){mm}\.{full}"),
}  # fmt: skip
"""Dates in figures. A day or month may be first before slashes; some may be a version or number."""
WEEKS = ("first_week", "second_week", "third_week", "fourth_week", "final_week")
HALVES = ("first_half", "second_half")
_PLACED = {
    "before": ("bound", "before"), "after": ("bound", "after"), "since": ("bound", "since"),
    "until": ("bound", "until"), "day_before": ("bound", "day before"), "day_after": ("bound", "day after"),
    "early": ("part", "early"), "mid": ("part", "mid"), "late": ("part", "late"),
    "week_of": ("part", "week"), **{name: ("part", name) for name in (*WEEKS, *HALVES)},
    "in": ("in", ""), "on": ("on", ""),
}  # fmt: skip
_SHORT_KEYS = {"kw", "cw"}  # calendar weeks
_WITHIN = ("in", "im", "des", "en", "em")
DAYS_OF_WEEK = 7
SATURDAY = 5
WORD = re.compile(r"[^\s\d,.;:!?¿¡()\[\]\"“”？。、؟،/–—]+")
YEAR = re.compile(r"(?:19|20)\d\d")
_PIECE = re.compile(r"[^\W\d_]+")
FIGURES = re.compile(r"(?:19|20)\d\d|\bq[1-4]\b|\d0er|\d\.(?!\d)")
"""Figures of a time, in a text that may have no word of it."""
GROUP = re.compile(r"\(\?P<(\w+)>")
_PLACE = re.compile(r"\{(\w+)\}")
_PLURAL = re.compile(r"\{(?:weekday|short)\}(?=\w)")
_DIGIT = re.compile(r"\d")
_AROUND = re.compile(r"\(\?<?[!=][^)]*\)")
_SIGNS = re.compile(r"\{\w+\}|[|\\<!{}]")
_EDGE = r"\w\u0900-\u097f"  # vowel signs of Hindi are no word characters of `re`


def _day_of_year(text: str) -> tuple[int, int]:
    """Return month and day of the text of a feast: 12-25."""
    month, day = text.split("-")
    return int(month), int(day)


class Marker(NamedTuple):
    """Words beside a time that change it: a bound, a part of a period, or a preposition."""

    kind: str
    name: str
    lead: re.Pattern[str] | None
    tail: re.Pattern[str] | None


class Between(NamedTuple):
    """Words around two times that make a range; `first` and `last` are those of a mere day on that side."""

    lead: re.Pattern[str] | None
    link: re.Pattern[str]
    tail: re.Pattern[str] | None
    first: re.Pattern[str]
    last: re.Pattern[str]


class Language:
    """Words of time in one language; patterns are compiled when a text first needs them."""

    def __init__(self, name: str) -> None:
        table = dict(line.split(" = ", 1) for line in lines("slowwave.scoring", f"time_{name}"))
        self.name, self._table, self.unspaced = name, table, name in _UNSPACED
        self._start = "(?<!\\d)" if self.unspaced else f"(?<![{_EDGE}])"
        if name == "ar":  # `and` is a letter of the next word
            self._start = f"(?:{self._start}|(?<=(?<![{_EDGE}])و))"
        self._end = "(?!\\d)" if self.unspaced else f"(?![{_EDGE}])"
        # A list may go round again, with other names in the same order.
        self.months = {word: at % 12 + 1 for at, word in enumerate(table["months"].split(";"))}
        # `sept.` of the list needs its dot; `oct` may have one.
        short_months = {
            word: int(value)
            for name, value in self._pairs("short_months") for word in (name, f"{name.rstrip('.')}.")
        }  # fmt: skip
        self.months |= short_months
        self.weekdays = {word: at % DAYS_OF_WEEK for at, word in enumerate(table["weekdays"].split(";"))}
        self.weekends = frozenset(self.listed("weekends"))
        self.weekdays |= dict.fromkeys(self.weekends, SATURDAY)
        short = enumerate(self.listed("short_weekdays"))
        self.short_weekdays = {word: at % DAYS_OF_WEEK for at, word in short}
        self.brief = self.weekends.union(short_months, self.short_weekdays.keys() - self.weekdays.keys())
        self.numbers = {word: int(value) for word, value in self._pairs("numbers")}
        self.units = dict(self._pairs("units"))
        self.seasons = {word: int(value) for word, value in self._pairs("seasons")}
        self.decades = {word: int(value) for word, value in self._pairs("decades")}
        feasts = (name.rsplit(" ", 1) for name in self.listed("feasts"))
        self.feasts = {name: tuple(map(_day_of_year, days.split(".."))) for name, days in feasts}
        self.ordinals = {word: int(value) for word, value in self._pairs("ordinals")}
        self.relative_years = {
            word: at for at, kind in ((-1, "last_year"), (0, "this_year"), (1, "next_year"))
            for word in self.listed(kind)
        }  # fmt: skip
        plain = [table.get(kind, "") for kind in KINDS if kind not in DATED]
        bounds = [table[bound] for bound in ("before", "after", "since", "until", "decade")]
        listed = (*plain, *bounds, table["ahead"], table["when"])
        words = {word for form in listed for word in words_in(form)}
        shortest = 2 if name == "hi" else 3
        names = {word for name in (*self.months, *self.seasons, *self.decades) for word in WORD.findall(name)}
        days = {*self.weekdays, *self.short_weekdays}
        self.names = frozenset(names.union(days, (f"{day}s" for day in days), keywords(self.feasts)))
        long = {word for word in words if len(word) >= shortest or word in _SHORT_KEYS}
        self.keys = long.union(self.names, keywords(self.units))
        self.noting = frozenset(self.listed("noting"))
        self.of_words = self.noting.union(self.listed("of")).difference(self.listed("behind"))
        self.asking = self.noting | frozenset(self.listed("asking"))
        beside = {
            word for kind in (*_PLACED, "between") for form in self.listed(kind) for word in words_in(form)
        }
        self.own = self.keys | self.asking | beside

    def _pairs(self, kind: str) -> Iterator[tuple[str, str]]:
        for form in self.listed(kind):
            word, value = form.rsplit(" ", 1)
            yield word, value

    def listed(self, kind: str) -> tuple[str, ...]:
        """Return the forms of a kind as they stand in the list."""
        return tuple(form for form in self._table.get(kind, "").split(";") if form)

    def every_form(self) -> Iterator[str]:
        """Yield every word and form of the list that may be in a time."""
        other = (
            "plurals",
            "types",
            "linking",
            "counted",
            "present",
            "coming",
        )  # of labels, and of what is counted
        forms = (form for kind, form in self._table.items() if kind not in other)
        yield from (" ".join(words_in(form)) for form in forms)
        yield from (*self.months, *self.numbers, *self.units, *self.weekdays, *self.seasons, *self.ordinals)
        yield from (f"{day}s" for day in self.weekdays)

    @cached_property
    def tenses(self) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
        """Return the patterns of words for the future, the past, and either."""
        ahead, behind, present = (self._table.get(kind, "") for kind in ("ahead", "behind", "present"))
        return (
            self.pattern_of(forms_of(ahead)),
            self.pattern_of(forms_of(behind)),
            self.pattern_of(forms_of(present) if present else "(?!)"),
        )

    @cached_property
    def day_of(self) -> re.Pattern[str]:
        """Return the pattern of a weekday right before its period: the last Friday of, Monday of."""
        days, ordinals, of = _any(self.weekdays), _any(self.ordinals), _any({*self.listed("of"), *_WITHIN})
        return re.compile(
            rf"(?<!\w)(?:(?P<ordinal>{ordinals}) )?(?P<weekday>{days}) (?:{of}) (?:the |this )?$"
        )

    @cached_property
    def when(self) -> re.Pattern[str]:
        """Return the pattern of a question that asks when something is."""
        pattern = self.source_of(forms_of(self._table["when"]))
        return re.compile(pattern if self.name in ASKED_INSIDE else rf"\W*{pattern}")

    def words_needed(self, forms: Iterable[str]) -> frozenset[str]:
        """Return words of the forms, one of which any text without figures has."""
        of_place: dict[str, Collection[str]] = {
            "{month}": self.months, "{weekday}": self.weekdays, "{weekend}": self.weekends,
            "{short}": self.short_weekdays, "{unit}": self.units, "{season}": self.seasons,
            "{tens}": self.decades, "{feast}": self.feasts, "{year}": (),
        }  # fmt: skip
        of_place = {place: keywords(some) for place, some in of_place.items()}
        words: set[str] = set()
        for form in forms:
            whole = _PLURAL.sub("", form)
            of_form = next((some for place, some in of_place.items() if place in whole), None)
            if of_form is None:
                longest = max(reversed(_PLACE.sub(" ", _AROUND.sub("", form)).split()), key=len, default="")
                of_form = re.findall(r"[^\W\d]+", longest) if "(?" in longest else [longest]
            words |= set(of_form)
        return frozenset(words)

    @cached_property
    def _words_of_times(self) -> frozenset[str]:
        return self.words_needed(form for kind in KINDS for form in self.listed(kind))

    def may_name(self, text: str, words: Collection[str]) -> bool:
        """Whether a text may have one of the times; cheaper than their pattern."""
        return self.unspaced or not self._words_of_times.isdisjoint(words) or _DIGIT.search(text) is not None

    @cached_property
    def _places(self) -> dict[str, str]:
        year = r"(?:19|20)\d\d" + (" ?年" if self.unspaced else "")
        return {
            "n": rf"(?P<n>\d{{1,3}}|{_any(self.numbers)})",
            "unit": rf"(?P<unit>{_any(self.units)})",
            "weekday": rf"(?P<weekday>{_any(self.weekdays)})",
            "short": rf"(?P<weekday>{_any(self.short_weekdays)})\.?",
            "weekend": rf"(?P<weekday>{_any(self.weekends)})",
            "feast": rf"(?P<feast>{_any(self.feasts)})",
            "month": rf"(?P<month>{_any(self.months)})",
            "season": rf"(?P<season>{_any(self.seasons)})",
            "ordinal": rf"(?P<ordinal>{_any(self.ordinals)})",
            "quarter": r"(?P<quarter>[1-4])",
            "half": "(?P<half>[12])",
            "sure": "(?P<sure>)",
            "decade": r"(?P<decade>(?:19|20)?\d0)",
            "long_decade": r"(?P<decade>(?:19|20)\d0)",
            "tens": rf"(?P<tens>{_any(self.decades)})",
            "day": rf"(?P<day>\d{{1,2}}){_DAY_ENDS}",
            "d": r"(?P<day>\d{1,2})",
            "m": r"(?P<m>0?[1-9]|1[0-2])",
            "mm": r"(?P<m>0[1-9]|1[0-2])",
            "year": rf"(?P<year>{year}|{_any(self.relative_years)})",
            "full": r"(?P<year>(?:19|20)\d\d)",
        }

    def any_form(self, *kinds: str) -> re.Pattern[str]:
        """Return a pattern of the forms of some kinds; each list has one or more."""
        return re.compile("|".join(self.source_of(form) for kind in kinds for form in self.listed(kind)))

    def pattern_of(self, form: str) -> re.Pattern[str]:
        """Return the pattern of a form as a whole word."""
        return re.compile(self.source_of(form))

    def source_of(self, form: str) -> str:
        """Return the source of that pattern."""
        return self._start + form.replace(" {month}", "[ -]{month}").format(**self._places) + self._end

    @cached_property
    def times(self) -> tuple[re.Pattern[str], tuple[tuple[str, dict[str, str]], ...]]:
        """Return one pattern of every time, and each form's kind and groups."""
        forms = [(kind, form) for kind in KINDS for form in self.listed(kind)]
        # Of forms that begin at the same place, the first one counts.
        forms.sort(key=lambda one: (-len(_PLACE.findall(one[1])), -len(_AROUND.sub("", one[1]))))
        figures = [(kind, form) for kind, several in _NUMERIC.items() for form in several]
        sources, groups = [], []
        for at, (kind, form) in enumerate([*figures, *forms]):
            source = form.replace(" {month}", "[ -]{month}").format(**self._places)
            if at < len(figures):
                source = rf"(?<![\da-z_./-]){source}(?![\da-z_/年-]|\.\d)"
            groups.append((kind, {name: f"{name}_{at}" for name in GROUP.findall(source)}))
            own = GROUP.sub(rf"(?P<\g<1>_{at}>", source)
            sources.append(f"(?P<f_{at}>{own})")
        return re.compile(f"{self._start}(?:{'|'.join(sources)}){self._end}"), tuple(groups)

    @cached_property
    def markers(self) -> tuple[Marker, ...]:
        """Return the words before and after a time that change it."""
        found = []
        for listed, (kind, name) in _PLACED.items():
            for form in self.listed(listed):
                lead, tail = form.split("{time}")
                found.append(Marker(kind, name, self._lead(lead), self._tail(tail)))
        return tuple(found)

    @cached_property
    def between(self) -> tuple[Between, ...]:
        """Return the words around two times that make a range."""
        found = []
        for form in self.listed("between"):
            lead, link, tail = form.split("{time}")
            day = rf"(?P<day>\d{{1,2}}){_DAY_ENDS}"
            first = re.compile(rf"{self._start}{lead}{day}{link}\Z")
            last = re.compile(rf"{link}{day}{tail}(?:,? (?P<year>{YEAR.pattern}))?{self._end}")
            found.append(Between(self._lead(lead), re.compile(link), self._tail(tail), first, last))
        return tuple(found)

    @cached_property
    def joined(self) -> re.Pattern[str]:
        """Return the words between two times that are asked for together."""
        return re.compile(
            rf" (?:{'|'.join(self.listed('joined')) or '(?!)'}) (?:in |on |the |im |am |en |em |au )?"
        )

    def _lead(self, words: str) -> re.Pattern[str] | None:
        return re.compile(rf"{self._start if not self.unspaced else ''}(?:{words})\Z") if words else None

    def _tail(self, words: str) -> re.Pattern[str] | None:
        return re.compile(f"(?:{words}){'' if self.unspaced else self._end}") if words else None


_DAY_ENDS: Final = r"(?:st|nd|rd|th|\.|º|er|日|号|號)?"


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, also those within `mid-March` and `l'année`."""
    words = WORD.findall(text)
    return frozenset(words).union(*(_PIECE.findall(word) for word in words if "-" in word or "'" in word))


def words_in(form: str) -> list[str]:
    """Return the words of a form, without its places and signs."""
    return WORD.findall(_SIGNS.sub(" ", form))


def _any(words: Collection[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def keywords(names: Iterable[str]) -> set[str]:
    """Return the longest word of each name, which any text with that name has."""
    return {max(WORD.findall(name), key=len, default=name) for name in names}


def forms_of(listed: str) -> str:
    """Return the source of a pattern of the phrases in a list."""
    return f"(?:{'|'.join(map(re.escape, listed.split(';')))})"


@lru_cache(maxsize=1)
def counted_words() -> frozenset[str]:
    """Return the words of all languages before which a number is no year."""
    return frozenset(word for language in languages_known() for word in language.listed("counted"))


@lru_cache(maxsize=1)
def languages_known() -> tuple[Language, ...]:
    """Return the languages, each with its forms."""
    return tuple(Language(name) for name in LANGUAGES)
