"""Sensitivity that a note states, wherever its labels stand; the strictest statement counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from slowwave.notes.fields import field_name
from slowwave.notes.label_lines import is_label_line

SENSITIVITY: Final = "sensitivity"
_LEAST_CLOSED: Final = "public"
_DEFAULT: Final = "internal"
_MOST_CLOSED: Final = "secret"
SENSITIVITIES: Final = (_LEAST_CLOSED, _DEFAULT, _MOST_CLOSED)
"""Known sensitivities, the most open first."""

_ALIKE = 0.88  # share of equal letters: `sensitivty` is meant, `sensibility` is not
_STATED = re.compile(
    r"(?:[\s>*,(\"'\-]*|(?P<flow>\s*[{\[](?:.*[{,\[])?[\s\"']*))"
    r"sensitivity[\"'*]*[ \t]*[:=\uff1a]+(?P<value>.*)",
    re.IGNORECASE,
)
_LINES_BELOW = 50  # that are searched for a value
_FENCE = re.compile(r"(?:---|\+\+\+|\.\.\.)[ \t]*$")
_CODE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_MARKS = " \t\"'`[]{}();<>|*_.!-"


def most_closed(words: Iterable[str | None]) -> str:
    """Return the most restrictive sensitivity; missing ones count as internal, unknown ones as secret."""
    known = [_DEFAULT if not word else word if word in SENSITIVITIES else _MOST_CLOSED for word in words]
    return max(known, key=SENSITIVITIES.index)


def words_in_fields(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the sensitivities that labels state: under any spelling of the name, also nested."""
    pending: list[object] = [fields]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if _means_sensitivity(str(key)):
                    yield from _words_of(inner)
                else:
                    pending.append(inner)
        elif isinstance(value, (list, tuple)):
            pending.extend(value)


def words_in_head(head: str) -> Iterator[str]:
    """Yield the sensitivities that the lines of an unreadable block state."""
    lines = head.split("\n")
    for number, line in enumerate(lines):
        if stated := _STATED.match(line):
            yield from _words_of_line(stated, lines[number + 1 : number + _LINES_BELOW])


def words_in_text(text: str) -> Iterator[str]:
    """Yield the sensitivities of blocks in a text: below a line `---`, with nothing but labels between.

    In a text that begins with such a line, other lines may stand between up to the next one.
    Fenced code does not count.
    """
    if SENSITIVITY not in text.casefold():
        return
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip(" \t\ufeff")), 0)
    within = leading = in_code = False
    for number, line in enumerate(lines):
        if _CODE.match(line):
            in_code = not in_code
            within = within and leading
        elif in_code:
            continue
        elif _FENCE.match(line.lstrip("\ufeff")):
            leading = number == first
            within = True
        elif within and (stated := _STATED.match(line)):
            yield from _words_of_line(stated, lines[number + 1 : number + _LINES_BELOW])
        elif not leading and not is_label_line(line):
            within = False


def _means_sensitivity(key: str) -> bool:
    name = field_name(key.strip("\"'` *"))
    if name == SENSITIVITY:
        return True
    return name[:4] == SENSITIVITY[:4] and SequenceMatcher(None, name, SENSITIVITY).ratio() >= _ALIKE


def _words_of(value: object) -> Iterator[str]:
    """Yield the words of a value of any type."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _words_of(key)
            yield from _words_of(inner)
    elif isinstance(value, (list, tuple, set)):
        for inner in value:
            yield from _words_of(inner)
    elif value is not None:
        yield from _split(str(value))


def _split(text: str) -> Iterator[str]:
    folded = "".join(
        letter for letter in unicodedata.normalize("NFKC", text) if unicodedata.category(letter) != "Cf"
    ).casefold()
    for part in re.split(r"[,;/\s]+", re.sub(r"(?:^|\s)#.*", "", folded)):
        if word := part.strip(_MARKS):
            yield word


def _words_of_line(stated: re.Match[str], below: list[str]) -> Iterator[str]:
    """Yield the words of a value as written: on its line, else on the lines below that continue it."""
    value = stated["value"]
    if stated["flow"]:
        value = re.split(r"[,}\]]", value.lstrip("[ "), maxsplit=1)[0]
    words = list(_split(value))
    for line in below if not words else ():
        if (line.strip() and not line.startswith((" ", "\t", "-"))) or _FENCE.match(line):
            break
        words += _split(line)
    yield from words
