"""Text analysis into comparable tokens: numbers, dates, names, negations, content words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from slowwave.quality.divergence.lexicon import FUNCTION_WORDS, NEGATIONS, NEGATIONS_UNSPACED, word_key
from slowwave.quality.divergence.lexicon_numbers import MONTHS
from slowwave.quality.divergence.lexicon_small import BOUNDS, EXCEPT_AFTER, LIGHT, PHRASES
from slowwave.quality.divergence.patterns import (
    ELIDED,
    LABELS,
    LIST_NUMBER,
    MONTH,
    MONTH_CUES,
    PASSIVE,
    PIECE,
    TOKEN,
)  # fmt: skip
from slowwave.quality.divergence.sentences import said_once
from slowwave.quality.divergence.token_collector import Token, TokenCollector
from slowwave.quality.divergence.words import (
    classified,
    clock_key,
    is_camel,
    plain_digits,
    quantity_key,
    spelled_value,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """Analysed text as input of `compare`; immutable by convention."""

    text: str
    tokens: tuple[Token, ...]  # content, in the order of the text
    light: tuple[Token, ...]  # small words: on/off, he/she, only, if, must
    negations: tuple[Token, ...]
    labels: tuple[Token, ...]  # function words that may be names: sensor A, US, IT
    passive: bool
    names_in_code: tuple[Token, ...]  # camelCase, also compared as written
    counts: Counter[str] = field(repr=False)
    light_counts: Counter[str] = field(repr=False)
    forms: frozenset[str] = field(repr=False)


def traits(text: str) -> Traits:
    """Analyse a text for any number of comparisons, in linear time."""
    text = said_once(text)
    scan = _Tokenizer(text)
    counts = Counter(token.key for token in scan.content)
    return Traits(
        text=text,
        tokens=tuple(scan.content),
        light=tuple(scan.light),
        negations=tuple(scan.negations),
        labels=tuple(scan.labels),
        passive=PASSIVE.search(scan.text) is not None,
        names_in_code=tuple(token for token in scan.content if token.kind == "camel"),
        counts=counts,
        light_counts=Counter(token.key for token in scan.light),
        forms=frozenset(token.form for token in scan.content),
    )


_SIGNS = {
    "==": "=", "===": "=", "≠": "!=", "!==": "!=", "≤": "<=", "≥": ">=", "-->": "->", "→": "->", "<--": "<-",
    "←": "<-",
}  # fmt: skip


class _Tokenizer(TokenCollector):
    """Single-pass tokenizer; its steps share state."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._layout = {match.end() for match in LIST_NUMBER.finditer(self.text)}
        self._previous = ""
        self._until = 0  # text before this offset was read as a phrase
        # In a text without lower-case letters, case has no meaning.
        self._shouted = self.text == self.text.upper()
        self._run(TOKEN, 0, len(self.text))
        self.close("")

    def _run(self, pattern: re.Pattern[str], start: int, end: int) -> None:
        for match in pattern.finditer(self.text, start, end):
            word = match[0]
            if word in _HEADS and self._phrase(match):
                continue
            if match.start() < self._until:
                continue
            if word in _IGNORED:
                self._previous = word
                continue
            # Nested groups end before the outer one, so the outer name is last.
            getattr(self, "_on_" + str(match.lastgroup))(match)

    def _phrase(self, match: re.Match[str]) -> bool:
        """Read a phrase as one small word."""
        if match.start() < self._until:
            return False
        for pattern, key in _HEADS[match[0]]:
            if phrase := pattern.match(self.text, match.start()):
                if key == "aspect:used to" and self._previous in _BE:
                    return False  # is used to cut
                self._until = phrase.end()
                self._previous = ""
                if key:
                    self.small(key, phrase)
                return True
        return False

    def _on_url(self, match: re.Match[str]) -> None:
        url = match.group().rstrip(".,;:!?)*_~`").split("://", 1)[-1]
        host, slash, rest = url.partition("/")
        host = host.casefold().removeprefix("www.")
        self.add("u:" + (host + slash + rest).rstrip("/"), "url", match)

    def _on_email(self, match: re.Match[str]) -> None:
        self.add("e:" + match.group().rstrip("._-").casefold(), "identifier", match)

    def _on_path(self, match: re.Match[str]) -> None:
        path_as_written = match.group()
        path = path_as_written.rstrip(".-_").replace("\\", "/")
        rooted = path_as_written[0] in "/\\~." or path_as_written[1:2] == ":"
        parts = [part for part in path.split("/") if part]
        deep = len(parts) > 2 and any(not part.isdigit() for part in parts)
        if rooted or deep or re.search(r"/[^/]*\.[a-zA-Z]\w{0,5}$", path):
            self.add("p:" + path.removeprefix("./").rstrip("/"), "path", match)
        else:
            self._run(PIECE, match.start(), match.end())

    def _on_flag(self, match: re.Match[str]) -> None:
        self.add("i:" + match.group(), "identifier", match)

    _on_file = _on_flag

    def _on_hex(self, match: re.Match[str]) -> None:
        self.add("i:" + match.group().casefold(), "identifier", match)

    _on_ticket = _on_language = _on_hex

    def _on_iso(self, match: re.Match[str]) -> None:
        year, month, day = (int(part) for part in match.group()[:10].split("-"))
        self._date(match, year, month, day)
        if match.group("isotime"):
            self.add(clock_key(match.group("isotime")), "time", match)

    def _on_dmy(self, match: re.Match[str]) -> None:
        written = match.group().casefold()
        month = re.search(MONTH, written, re.IGNORECASE)
        numbers = [int(number) for number in re.findall(r"\d+", written)]
        # A day has one or two digits and a year four, in either order.
        day = next((number for number in numbers if number < 100), None)
        year = next((number for number in numbers if number >= 100), None)
        self._date(match, year, MONTHS[month.group().rstrip(".")] if month else 0, day)

    _on_mdy = _on_dm = _on_md = _on_my = _on_dmy

    def _on_dots(self, match: re.Match[str]) -> None:
        first, second, year = (int(part) for part in re.split(r"[./]", match.group()))
        if "." in match.group() or first > 12:
            self._date(match, year, second, first)
        elif second > 12:
            self._date(match, year, first, second)
        else:  # 3/4/2026 is March or April: equal only to itself
            self.add(f"d:{first}/{second}/{year}", "date", match)

    def _date(self, match: re.Match[str], year: int | None, month: int, day: int | None) -> None:
        """Add a date as month, day and year; a less precise date is no contradiction."""
        self.add(f"m:{month}", "date", match)
        if day is not None:
            self.add(f"md:{month}-{day}", "date", match)
        if year is not None:
            self.add(f"n:{year}", "date", match)

    def _on_clock(self, match: re.Match[str]) -> None:
        self.add(clock_key(match.group()), "time", match)

    def _on_version(self, match: re.Match[str]) -> None:
        written = match.group().casefold().removeprefix("v")
        self.add(("n:" if written.count(".") < 2 else "v:") + written, "version", match)

    def _on_ordinal(self, match: re.Match[str]) -> None:
        self.add(f"o:{match.group()[:-2].lstrip('0')}", "number", match)

    def _on_number(self, match: re.Match[str]) -> None:
        if match.end() + 1 in self._layout and match.group().isdigit():
            return
        currency, unit, scale = match.group("currency"), match.group("unit"), match.group("scale")
        sign = "-" if match.group("sign") is not None else ""
        if currency and unit and unit.casefold() == "m":
            scale, unit = "million", None
        if re.fullmatch(r"[12]\d\d0s", match.group()):
            self.add(f"decade:{match.group()}", "date", match)
            return
        self._bound(match)
        quantity = quantity_key(sign + plain_digits(match.group("digits")), scale, currency or unit)
        self.add("n:" + quantity, "number", match)

    def _bound(self, match: re.Match[str]) -> None:
        """Add the bound of a number: over 10, about 5."""
        before = self.text[max(0, match.start() - 24) : match.start()].rstrip(" $€£~").rpartition(" ")[2]
        if self.text[match.start() - 1 : match.start()] == "~":
            before = "~"
        if _RANGE.search(self.text, max(0, match.start() - 16), match.start()):
            self.small("bound:range", match, match.group())
        if value := BOUNDS.get(before.casefold().strip("(*_")):
            self.small("bound:" + value, match, before)

    def _on_spelled(self, match: re.Match[str]) -> None:
        words = re.findall(r"[a-z]+", match.group().casefold())
        if words == ["one"]:
            self.add("n:1", "one", match)
            return
        self._bound(match)
        quantity = quantity_key(str(spelled_value(words)), match.group("wordscale"), match.group("wordunit"))
        self.add("n:" + quantity, "number", match)

    def _on_pairof(self, match: re.Match[str]) -> None:
        self.add("n:2", "number", match)

    def _on_question(self, match: re.Match[str]) -> None:
        self.small("question:?", match)

    def _on_operator(self, match: re.Match[str]) -> None:
        line = self.text.rfind("\n", 0, match.start()) + 1
        if self.text[line : match.start()].strip(" \t>"):  # not the mark of a quotation or a heading
            sign = match.group().strip()
            sign = _SIGNS.get(sign, sign)
            self.small("operator:" + sign, match, sign)

    def _on_pictograph(self, match: re.Match[str]) -> None:
        if match.group() in _SIGNS:
            self._on_operator(match)
            return
        self.small("sign:" + match.group(), match, match.group())

    def _on_acronym(self, match: re.Match[str]) -> None:
        letters = match.group().replace(".", "").casefold()
        if letters not in {"eg", "ie"}:
            self._word(letters, match, entity=True)

    def _on_unspaced(self, match: re.Match[str]) -> None:
        character = match.group()
        if self.text.startswith(NEGATIONS_UNSPACED, match.start()):
            self.negate(match)
        self.add("c:" + character, "word", match)

    def _on_plain(self, match: re.Match[str]) -> None:
        written = match[0]
        if written.islower():
            kind, key = classified(written)
            if kind == "content":
                self._previous = written
                self.add(key, "word", match, written)
                return
            if kind == "light" and written not in _SPECIAL:
                self._previous = written
                self.small(key, match, written)
                return
        self._word(written.casefold(), match, entity=self._named(written, match))

    def _on_word(self, match: re.Match[str]) -> None:
        written = match.group()
        if written.isalpha():
            self._word(written.casefold(), match, entity=self._named(written, match))
        elif "'" in written:
            self._contraction(written, match)
        else:
            self._identifier(written, match)

    def _identifier(self, written: str, match: re.Match[str]) -> None:
        folded = written.casefold()
        if written.isdecimal():  # between characters of a script without spaces
            self.add("n:" + written, "number", match)
        elif "_" in written or any(character.isdigit() for character in written):
            self.add("i:" + (folded if self._shouted else written).strip("_"), "identifier", match)
        else:  # a word with combining marks
            self._word(folded, match, entity=False)

    def _contraction(self, written: str, match: re.Match[str]) -> None:
        head, _, tail = written.casefold().partition("'")
        if tail == "t" and head.endswith("n"):
            verb = _CONTRACTED.get(head, head[:-1])
            if verb in LIGHT:
                self.small(":".join(LIGHT[verb]), match)
            self.negate(match)
        elif head in ELIDED:
            self._word(tail, match, entity=False)
        elif tail in {"s", "re", "m", "ve", "ll", "d"}:
            self._word(head, match, entity=self._named(written, match))
            if tail in _SHORT:
                self.small(_SHORT[tail], match)
        else:
            self._word(head, match, entity=False)
            self._word(tail, match, entity=False)

    def _word(self, folded: str, match: re.Match[str], *, entity: bool) -> None:
        previous, self._previous = self._previous, folded
        if self._code(match):
            self.add("w:" + word_key(folded), "camel", match, match.group())
            return
        kind, key = classified(folded)
        if kind == "content":
            written = match.group().partition("'")[0]
            if not self._shouted and is_camel(written):
                self.add(key, "camel", match, written)
            else:
                self.add(key, "entity" if entity else "word", match, folded)
        elif kind == "negation" and not self._negation_is_a_name(match):
            if folded == "cannot":
                self.small("modal:can", match)
            self.negate(match)
        elif kind == "negation":
            self.add("w:" + folded, "word", match, folded)
        elif kind == "month" and len(folded) == 3 and previous not in MONTH_CUES:
            self._month_or_word(folded, match)
        elif kind == "month":
            self.add(key, "date", match)
        elif kind in {"date", "number", "time"}:
            self.add(key, kind, match)
        else:
            self._function(folded, kind, key, match)

    def _month_or_word(self, folded: str, match: re.Match[str]) -> None:
        """Add a short word that is no month without a preposition or number: may, mar, dec."""
        if folded in LIGHT:
            self._function(folded, "light", ":".join(LIGHT[folded]), match)
        else:
            self.add("w:" + word_key(folded), "word", match, folded)

    def _function(self, folded: str, kind: str, key: str, match: re.Match[str]) -> None:
        if folded == "a" and match.group() == "A" and not self._shouted and self._named("A", match):
            self.add("w:a", "entity", match, folded)
            return
        if folded in LABELS:
            self.labels.append(Token(folded, "word", *self.span(match), folded))
        if folded == "but" and self.text[: match.start()].rstrip().casefold().endswith(_EXCEPT_AFTER):
            self.small("except:", match)
        elif folded == "some" and self._begins(match) and not _SCENE.match(self.text, match.end()):
            self.small("all:some", match)
        elif folded == "too" and self.text[match.end() : match.end() + 2].strip()[:1].isalpha():
            self.small("bound:too", match)
        elif kind == "light":
            self.small(key, match, folded)

    def _code(self, match: re.Match[str]) -> bool:
        """Whether a word alone in backticks is code, by case or as function word."""
        start, end = match.span()
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        if (before == "\\" or before == "/" or after == "\\") and not self._shouted:
            return not match[0].islower() and not self._begins(match)
        if not before == "`" == after:
            return False
        return not (self._shouted or match[0].islower()) or match[0] in FUNCTION_WORDS

    def _begins(self, match: re.Match[str]) -> bool:
        """Whether a word begins its sentence, and so is its subject."""
        before = self.text[max(0, match.start() - 4) : match.start()].rstrip(" \t\"'(*_[>-")
        return not before or before[-1] in ".!?:;\n\r"

    def _negation_is_a_name(self, match: re.Match[str]) -> bool:
        """Whether "no" denies nothing: a no-fly zone, No. 5."""
        after = self.text[match.end() : match.end() + 3]
        if match.group().casefold() != "no":
            return False
        return (after[:1] == "-" and after[1:2].isalpha()) or (
            after[:1] == "." and after[1:].strip()[:1].isdigit()
        )

    def _named(self, written: str, match: re.Match[str]) -> bool:
        """Whether capitals mark a name, other than a capital that begins a sentence or line."""
        if not written[0].isupper():
            return False
        before = self.text[max(0, match.start() - 4) : match.start()].rstrip(" \t\"'(*_[")
        if len(written) == 1 and re.search(r"[.!?:;\n]\s*$|^\W*$", self.text[: match.start()]):
            return False
        return (len(written) > 1 and written.isupper()) or not (not before or before[-1] in ".!?:;\n\r#>-|•")


_IGNORED = FUNCTION_WORDS - {"but", "too"} - set(LIGHT) - NEGATIONS - LABELS - set(MONTHS)
_SPECIAL = LABELS | set(MONTHS) | {"some", "but", "too"}
_HEADS = PHRASES | {head.capitalize(): of_head for head, of_head in PHRASES.items()}
_EXCEPT_AFTER = tuple(EXCEPT_AFTER)
_BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "am", "get", "gets", "got"])
_CONTRACTED = {"can": "can", "won": "will", "shan": "will"}
_SHORT = {"ll": "modal:will", "re": "tense:present", "m": "tense:present", "ve": "tense:present"}
# "Some dogs are running" is about dogs, "some tests fail" about a part of them.
_SCENE = re.compile(r"[^.!?\n]{0,80}?\b(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:\w+ing|being)\b", re.IGNORECASE)
_RANGE = re.compile(r"\d\s*(?:-|\bto)\s*$")
