"""Heading-aware chunks: retrievable pieces of a note, as exact slices of its content."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slowwave.notes.markdown import Heading, outline, plain_heading
from slowwave.scoring.ranking.word_pieces import text_with_pieces

SMALL_CHUNK = 20
"""Minimum size (words) of a chunk that is retrieved on its own."""
OVERSIZE = 1.2
"""Factor by which a chunk may exceed `max_words` to absorb a small neighbour."""
CONTEXT_CHARACTERS = 160
"""Maximum length of the context line of `indexed_text` (characters)."""
CONTEXT_SEPARATOR = " › "

# The splitter's cost grows with the square of the text it is given, so long texts reach it in pieces:
# at most _WINDOW characters, or _BLOB where there is not even a line break (base64, one-line dumps).
_WINDOW = 16_384
_BLOB = 4_096

_CHARACTERS_PER_WORD = 6

_HEADING_LINE = re.compile(r"\s*#{1,6}(?![^ \t\n])([^\n]*)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Retrievable piece of a note: `content[start:end] == text`, offsets in characters.

    Attributes:
        ordinal: Position in the note, from 0.
        start: Offset of the first character.
        end: Offset after the last character.
        text: The slice itself, without white space around it.
        headings: Heading path in force at the first line that is not a heading, outermost first.
    """

    ordinal: int
    start: int
    end: int
    text: str
    headings: tuple[str, ...]


def size(text: str) -> int:
    """Return the size of a text in words, at least a sixth of its characters.

    Scripts without spaces (Chinese, Japanese, Thai), base64 and minified code have hardly any words to count.
    Their number of characters matches their length for an embedding model.
    """
    return max(len(text.split()), len(text) // _CHARACTERS_PER_WORD)


class Chunker:
    """Splitter of Markdown texts at headings, blocks, sentences and words, in that order of preference.

    Args:
        min_words: Size from which a chunk may end.
        max_words: Size at which it must; up to `OVERSIZE` times that when it absorbs a small neighbour.

    Raises:
        ValueError: If not 1 ≤ min_words ≤ max_words.
    """

    def __init__(self, min_words: int = 100, max_words: int = 150) -> None:
        if not 1 <= min_words <= max_words:
            raise ValueError(
                f"min_words={min_words}, max_words={max_words}: choose 1 <= min_words <= max_words"
            )
        self.min_words = min_words
        self.max_words = max_words
        self._limit = int(max_words * OVERSIZE)

        def capped_size(text: str) -> int:
            # The splitter only compares with max_words: a text too long by its characters
            # alone need not have its words counted, and it asks about very long ones.
            characters = len(text) // _CHARACTERS_PER_WORD
            return characters if characters > max_words else max(len(text.split()), characters)

        from semantic_text_splitter import MarkdownSplitter

        self._splitter = MarkdownSplitter.from_callback(capped_size, (min_words, max_words))

    def split(self, content: str) -> list[Chunk]:
        """Split a note's content into chunks.

        Every character that is not white space is in exactly one chunk, in order. A chunk below `SMALL_CHUNK`
        words (a heading alone, an opening fence) joins the next one, and the last one joins the previous one,
        unless the result exceeds `OVERSIZE` · max_words.

        Args:
            content: Markdown with LF line breaks.

        Returns:
            The chunks; none if the content is blank.
        """
        headings = outline(content).headings
        spans: list[tuple[int, int]] = []
        for start, end in _segments(content, headings):
            for offset, text in self._splitter.chunk_indices(content[start:end]):
                spans.append((start + offset, start + offset + len(text)))
        spans = self._join_small(content, spans)
        paths = _heading_paths(content, headings, spans)
        return [
            Chunk(ordinal, start, end, content[start:end], path)
            for ordinal, ((start, end), path) in enumerate(zip(spans, paths, strict=True))
        ]

    def _join_small(self, content: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        joined: list[tuple[int, int]] = []
        for span in spans:
            if joined and _is_small(content, joined[-1]) and self._fits(content, joined[-1], span):
                joined[-1] = (joined[-1][0], span[1])
            else:
                joined.append(span)
        if len(joined) > 1 and _is_small(content, joined[-1]) and self._fits(content, *joined[-2:]):
            last = joined.pop()
            joined[-1] = (joined[-1][0], last[1])
        return joined

    def _fits(self, content: str, first: tuple[int, int], second: tuple[int, int]) -> bool:
        return size(content[first[0] : second[1]]) <= self._limit


def indexed_text(title: str, headings: Sequence[str], text: str) -> str:
    """Return the text of a chunk for embedding and full-text index (see :func:`found_by`).

    One context line, title › heading › heading, then the chunk. Omitted are headings that equal the title or
    begin the chunk, and a title that begins the chunk. The line is cut at `CONTEXT_CHARACTERS`.

    Args:
        title: Title of the note; may be empty.
        headings: Heading path of the chunk, outermost first.
        text: The chunk.

    Returns:
        Context line, line break and text; the text alone if there is no context.
    """
    title = " ".join(title.split())
    known_headings = {title.casefold()} | {heading.casefold() for heading in _leading_headings(text)}
    beginning = " ".join(text[: 2 * CONTEXT_CHARACTERS].split()).casefold()
    parts = [title] if title and not beginning.startswith(title.rstrip(" …").casefold()) else []
    for heading in headings:
        line = " ".join(heading.split())
        if line and line.casefold() not in known_headings:
            parts.append(line)
    context = CONTEXT_SEPARATOR.join(parts)
    if len(context) > CONTEXT_CHARACTERS:
        context = context[: CONTEXT_CHARACTERS - 1].rstrip() + "…"
    return f"{context}\n{text}" if context else text


def found_by(text: str, context: str | None) -> str:
    """Return the text of a chunk for the full-text index, with pieces of words (`text_with_pieces`).

    Args:
        text: From :func:`indexed_text`.
        context: Of the note, if any. The chunk's own text counts twice beside it.
    """
    own = text_with_pieces(text)
    return f"{own}\n{own}\n{text_with_pieces(context)}" if context else own


def _leading_headings(text: str) -> Iterator[str]:
    position = 0
    while match := _HEADING_LINE.match(text, position):
        yield plain_heading(match[1])
        position = match.end()


def _is_small(content: str, span: tuple[int, int]) -> bool:
    start, end = span
    return (end - start) // _CHARACTERS_PER_WORD < SMALL_CHUNK and size(content[start:end]) < SMALL_CHUNK


def _segments(content: str, headings: list[Heading]) -> Iterator[tuple[int, int]]:
    """Yield pieces of a long text that the splitter handles quickly."""
    start = 0
    while len(content) - start > _WINDOW:
        end = _segment_end(content, headings, start)
        yield start, end
        start = end
    yield start, len(content)


def _segment_end(content: str, headings: list[Heading], start: int) -> int:
    """Return the best cut in the second half of the window: heading, blank line, line, word, or anywhere."""
    low, high = start + _WINDOW // 2, start + _WINDOW
    first = bisect_left(headings, low, key=_start_of)
    last = bisect_right(headings, high, key=_start_of)
    if first < last:
        return min(headings[first:last], key=lambda heading: (heading.level, -heading.start)).start
    for line_break in ("\n\n", "\n"):
        position = content.rfind(line_break, low, high)
        if position >= 0:
            return position + len(line_break)
    low, high = start + _BLOB // 2, start + _BLOB
    position = content.rfind(" ", low, high)
    return position + 1 if position >= 0 else high


def _start_of(heading: Heading) -> int:
    return heading.start


def _heading_paths(
    content: str, headings: list[Heading], spans: list[tuple[int, int]]
) -> Iterator[tuple[str, ...]]:
    """Yield the heading path of each span: the headings before it and those at its beginning."""
    path: list[Heading] = []
    upcoming = 0
    for start, end in spans:
        body = start
        while upcoming < len(headings) and headings[upcoming].start < end:
            heading = headings[upcoming]
            if heading.start > body and not content[body : heading.start].isspace():
                break
            while path and path[-1].level >= heading.level:
                path.pop()
            path.append(heading)
            body = max(body, heading.end)
            upcoming += 1
        yield tuple(heading.text for heading in path if heading.text)
