"""Excerpts of passages: the part of a text that has the words of a question."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from slowwave.notes.markdown import outline
from slowwave.scoring.ranking.words import stems, text_stems

_START: Final = re.compile(r"(?:\A|(?<=[.!?。！？])\s+|\n+)(?=\S)")  # of a line or sentence
_ELLIPSIS: Final = " …"


class Excerpt(NamedTuple):
    """Part of a text.

    Attributes:
        text: It in one line, with dots where it is cut.
        headings: Path of the text's own headings above a part from within, outermost first; else empty.
    """

    text: str
    headings: tuple[str, ...] = ()


def excerpt(text: str, query: str, size: int) -> Excerpt:
    """Return the part of a text with most of a query's words.

    It is one line. The beginning is returned where no part has more of the query's words. A word counts less
    the more lines and sentences have it.

    Args:
        text: A passage.
        query: The question.
        size: Maximum without the dots at a cut (characters).
    """
    text = text.strip()
    whole = " ".join(text.split())
    if len(whole) <= size:
        return Excerpt(whole)
    starts = [match.end() for match in _START.finditer(text)]
    parts = [" ".join(text[start:].split())[:size] for start in starts]
    asked = stems(query)
    lines = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    common = Counter(word for line in lines for word in asked & text_stems(line))
    weights = [round(sum(1 / common[word] for word in common.keys() & text_stems(part)), 6) for part in parts]
    most = max(weights)
    if weights[0] >= most:
        return Excerpt(whole[:size] + _ELLIPSIS)
    best = [at for at, weight in enumerate(weights) if weight >= most]
    first = next((at for at in best if asked & text_stems(lines[at])), best[0])
    is_end = len(" ".join(text[starts[first] :].split())) <= size
    shown = f"… {parts[first]}{'' if is_end else _ELLIPSIS}"
    return Excerpt(shown, _headings_above(text, starts[first]))


def _headings_above(text: str, place: int) -> tuple[str, ...]:
    path: dict[int, str] = {}
    for heading in outline(text).headings:
        if heading.start <= place:
            path = {level: name for level, name in path.items() if level < heading.level}
            path[heading.level] = heading.text
    return tuple(path.values())
