"""Sensitivity that a note states, wherever its labels stand; the strictest statement counts.

In a block of labels any value counts, and an unknown one is secret. In the text only a line or an inline
field that says `secret` counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from slowwave.notes.fields import field_name
from slowwave.notes.label_lines import is_label_line

SENSITIVITY: Final = "sensitivity"
_LEAST_CLOSED: Final = "public"
_DEFAULT: Final = "internal"
_MOST_CLOSED: Final = "secret"
SENSITIVITIES: Final = (_LEAST_CLOSED, _DEFAULT, _MOST_CLOSED)
"""Known sensitivities, the most open first."""

CLOSING_TAGS: Final = frozenset({_MOST_CLOSED, "private", "confidential"})
"""Tags of a record of another application that close it, as `sensitivity/secret` does."""

_ALIKE = 0.88  # share of equal letters: `sensitivty` is meant, `sensibility` is not
_LINES_BELOW = 50  # that are searched for a value
_FENCE = re.compile(r"(?:---|\+\+\+|;;;|\.\.\.)[ \t]*(?:json|toml|ya?ml)?[ \t]*$", re.IGNORECASE)
_CODE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_MARKS = " \t\"'`[]{}();<>|*_.!-=~#:/^"

_ODD = re.compile("[\xad\u0130\u200b-\u200f\u2060\ufeff\uff33\uff53]")  # letters that `_normal` changes
_HALF = re.compile(r"sensi[a-z]{3,9}|[a-z]{3,6}tivity")
_FLAGS = frozenset({_MOST_CLOSED, "confidential"})  # labels that close if they are true
_TRUE = frozenset({"true", "yes", "1"})
_MAX_WORDS = 60  # characters of a value that says no more than a sensitivity

# Patterns for lines as `_normal` returns them.
_TAG = re.compile(r"</?(?:b|i|u|p|em|tt|td|th|tr|div|code|font|mark|span|strong)(?:\s[^<>]*)?>")
_COMMENT = re.compile(r"(?:^|\s)#+(?:\s.*)?$|(?<=[^\W_])\s{1,99}#.*$")
_NAMED = re.compile(r"(?P<before>[\W_]*)(?P<name>[^\W\d_]{8,14})(?P<between>[\W_]*)(?P<value>.*)")
_GAP = r"[\W_]{0,20}"  # bounded, so that long lines take linear time
_MORE = r"(?:[\W_]{0,9}(?:level|label|class|classification|status|type|marking))?"
_ENDS = r"(?![^\W_])(?=[\W_]*$|\s*[,;.|(){}\[\]#<>\"'*])"
_SAYS = rf"sensitivity{_MORE}{_GAP}[:=|/]{_GAP}secret{_ENDS}"
_SAID_AT_ALL = re.compile(rf"(?<![^\W_]){_SAYS}")
_SAID_AT_FIRST = re.compile(rf"[\W_]*(?:\d+[.)]\s+|!\w+\][+\-]?\s+)?{_SAYS}")
_SAID_BESIDE = re.compile(
    rf"(?:[;|]\s*{_SAYS}|[{{,]\s*[\"']?sensitivity[\"']?\s*:\s*[\"']?secret[\"']?\s*[,}}])"
)
_SAID_ALONE = re.compile(rf"[\W_]*sensitivity{_MORE}[\W_]+secret[\W_]*")
_INLINE = re.compile(
    r"(?:^[\W_]*|[\[(]\s*)sensitivity[*_`\"']*\s*::+(?P<value>[^\])]*)"
    r"|(?:^|\s)#sensitivity[/:=_-]+(?P<tag>secret)(?![^\W_])"
)


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
            texts = [text for text in value.values() if isinstance(text, str) and len(text) < _MAX_WORDS]
            values = {_normal(text).strip(_MARKS) for text in texts}
            if {SENSITIVITY, _MOST_CLOSED} <= values:  # {name: sensitivity, value: secret}
                yield _MOST_CLOSED
            for key, inner in value.items():
                name = field_name(_normal(str(key)).strip(_MARKS))
                if _means_sensitivity(name):
                    yield from _words_of(inner)
                    continue
                if name.removeprefix("is_") in _FLAGS and _normal(str(inner)).strip(_MARKS) in _TRUE:
                    yield _MOST_CLOSED
                    continue
                in_name = SENSITIVITY in name.split("_")
                in_name = in_name or name.startswith(SENSITIVITY) or name.endswith(SENSITIVITY)
                if in_name and _MOST_CLOSED in _words_of(inner):
                    yield _MOST_CLOSED
                pending.append(inner)
        elif isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, str) and len(value) < _MAX_WORDS and _SAID_ALONE.fullmatch(_normal(value)):
            yield _MOST_CLOSED


def closing_words(fields: Mapping[str, object], tags: Iterable[str], text: str) -> Iterator[str]:
    """Yield the sensitivities that a record states: in its fields, as a tag, or in its text.

    Args:
        fields: Properties or metadata, also nested.
        tags: Tags, categories or labels.
        text: Text, with front matter or not.
    """
    yield from words_in_fields(fields)
    for tag in tags:
        bare = _normal(tag).strip(_MARKS)
        if bare in CLOSING_TAGS or _SAID_ALONE.fullmatch(bare):
            yield _MOST_CLOSED
    yield from words_in_text(text)


def may_state(text: str) -> bool:
    """Whether a text can state a sensitivity at all: a fast check.

    A word with one wrong letter has one half of the name.
    """
    lower = text.lower()
    if SENSITIVITY in lower:
        return True
    may_be_near = SENSITIVITY[:5] in lower or SENSITIVITY[5:] in lower
    if may_be_near and any(map(_means_sensitivity, set(_HALF.findall(lower)))):
        return True
    if text.isascii():
        return False
    return SENSITIVITY[2:] in lower or SENSITIVITY[:-2] in lower or _ODD.search(text) is not None


def words_in_head(head: str) -> Iterator[str]:
    """Yield the sensitivities that the lines of a block state, readable or not."""
    lines = head.splitlines()
    for number in range(len(lines)):
        yield from _words_in_line(lines, number)


def words_in_text(text: str) -> Iterator[str]:
    """Yield the sensitivities that a text states: in blocks of labels, in inline fields, as a line.

    A block is below a line `---`, with nothing but labels between. In a text that begins with such a line,
    other lines may stand between up to the next one. Fenced code does not count, but at the beginning.
    """
    if not may_state(text):
        return
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if line.strip(" \t\ufeff")), 0)
    within = leading = False
    code = 0  # line after the fence of the code, if within it
    for number, line in enumerate(lines):
        if _CODE.match(line):
            within = leading = number == first
            code = 0 if leading or code else number + 1
        elif code:
            continue
        elif _FENCE.match(line.lstrip("\ufeff")):
            leading = number == first
            within = True
        elif within and (leading or is_label_line(line)) and (words := [*_words_in_line(lines, number)]):
            yield from words
        elif _states_secret(line):
            yield _MOST_CLOSED
        elif not leading and not is_label_line(line):
            within = False
    if code:  # a fence that nothing closes is no code
        yield from words_in_text("\n".join(lines[code:]))


def _words_in_line(lines: list[str], number: int) -> Iterator[str]:
    """Yield the words of a label on this line of a block; its value may be on the lines below."""
    line = _COMMENT.sub("", _normal(lines[number]))
    named = _NAMED.match(line)
    if named is None or not _means_sensitivity(named["name"]) or not set(":=|") & set(named["between"]):
        if _SAID_AT_ALL.search(line) or _SAID_ALONE.fullmatch(line):
            yield _MOST_CLOSED
        return
    flow = set("[{") & set(named["before"])
    value = re.split(r"[,}\]]", named["value"], maxsplit=1)[0] if flow else named["value"]
    words = list(_split(value))
    for below in lines[number + 1 : number + _LINES_BELOW] if not words else ():
        if (below.strip() and not below.startswith((" ", "\t", "-"))) or _FENCE.match(below):
            break
        words += _split(_COMMENT.sub("", _normal(below)))
    yield from words


def _states_secret(line: str) -> bool:
    """Whether a line of a text says that the note is secret: as an inline field, a tag, or its own line."""
    normal = _normal(line)
    if SENSITIVITY not in normal:
        return False
    if _SAID_AT_FIRST.match(normal) or _SAID_ALONE.fullmatch(normal) or _SAID_BESIDE.search(normal):
        return True
    fields = [_MOST_CLOSED if found["tag"] else found["value"] for found in _INLINE.finditer(normal)]
    return any(most_closed([_DEFAULT, *_split(value)]) == _MOST_CLOSED for value in fields)


@lru_cache(maxsize=1024)
def _means_sensitivity(name: str) -> bool:
    """Whether a label's name in lower case is `sensitivity` or a near misspelling."""
    if name == SENSITIVITY:
        return True
    if abs(len(name) - len(SENSITIVITY)) > 2 or name[-1:] != SENSITIVITY[-1]:
        return False
    return SequenceMatcher(None, name, SENSITIVITY).ratio() >= _ALIKE


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
        yield from _split(_COMMENT.sub("", _normal(str(value))))


def _normal(text: str) -> str:
    """Return a line in lower case, without HTML tags, accents, unseen characters and full-width forms."""
    if text.isascii():
        return _TAG.sub("", text.lower())
    parts = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in parts if unicodedata.category(letter) not in ("Cf", "Mn"))
    return _TAG.sub("", bare.casefold())


def _split(normal: str) -> Iterator[str]:
    for part in re.split(r"[,;/\s]+", normal):
        if word := part.strip(_MARKS):
            yield word
