"""Markdown parsing of notes: headings, code, tags and links."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

_STRUCTURE = re.compile(
    # The look-ahead is only for speed: most lines begin with none of these.
    r"\n(?=[ \t>#`~\-*+0-9])(?:"
    r" {0,3}(?P<level>#{1,6})(?![^ \t\n])(?P<title>[^\n]*)"
    r"|[ \t>]*+(?P<marker>(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)?"
    r"(?P<fence>`{3,}+(?![^`\n]*`)|~{3,}+)(?P<info>[^\n]*)"
    r")"
)
_MARKUP = re.compile(r"[#\[`*]")
_CLOSING_HASHES = re.compile(r"(?:^| )#+$")
_HEADING_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_HEADING_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")

# The characters Obsidian ends a tag at: all white space and punctuation except `-`, `_` and `/`.
# What may not stand before it, a word or a link definition (`[1]: #anchor`), is checked after the
# hash: so the scan skips from hash to hash.
_TAG = re.compile(
    r"#(?<!\S#)(?<!\]: #)"
    r"([^\s\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
WIKI_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_MARKDOWN_LINK = re.compile(r"\](?:\([ \t]*|:[ \t]+)(?:<([^<>\n]*)>|([^)\s]+))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_LINKED_SUFFIXES = (".md", ".markdown", ".txt")
_BACKTICKS = re.compile("`+")


class Heading(NamedTuple):
    """ATX heading (`## Title`); `start` is the offset of its first `#`, `end` the end of its line."""

    start: int
    end: int
    level: int
    text: str


class Outline(NamedTuple):
    """Structure of a Markdown text: headings and fenced code, each in order of offset."""

    headings: list[Heading]
    fences: list[tuple[int, int]]


def outline(content: str) -> Outline:
    """Find the ATX headings and fenced code blocks of a Markdown text, in linear time.

    A fence may be indented, quoted or the start of a list item; an unclosed one runs to the end. Headings
    inside fences do not count, nor do underlined (setext) headings.
    """
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    if not any(map(content.__contains__, ("#", "```", "~~~"))):
        return Outline(headings, fences)
    fence = ""
    opened = 0
    # With a line break in front every line starts alike, and the scan can skip from break to break.
    # Position p in the padded text is p - 1 in the content.
    for match in _STRUCTURE.finditer("\n" + content):
        marker = match["fence"]
        if marker is None:
            if not fence:
                start = match.start("level") - 1
                headings.append(
                    Heading(start, match.end() - 1, len(match["level"]), plain_heading(match["title"]))
                )
        elif not fence:
            fence, opened = marker, match.start()
        elif marker.startswith(fence) and not match["info"].strip() and not match["marker"]:
            fences.append((opened, match.end() - 1))
            fence = ""
    if fence:
        fences.append((opened, len(content)))
    return Outline(headings, fences)


def plain_heading(heading: str) -> str:
    """Return heading text without closing hashes and the marks of links, code and emphasis."""
    text = " ".join(heading.split())
    if not _MARKUP.search(text):
        return text
    text = _HEADING_LINK.sub(r"\1", _HEADING_WIKI_LINK.sub(r"\1", _CLOSING_HASHES.sub("", text)))
    return text.replace("`", "").replace("**", "").strip()


def inline_tags(body: str, fences: list[tuple[int, int]]) -> Iterator[str]:
    """Yield Obsidian tags (`#project/home`): after white space, not only digits, not in code."""
    code = _Code(body, fences)
    for match in _TAG.finditer(body):
        tag = match[1].rstrip("/-")
        if any(not (letter.isdigit() or letter in "/-_") for letter in tag) and not code.covers(
            match.start()
        ):
            yield tag


def inline_links(body: str, fences: list[tuple[int, int]]) -> Iterator[str]:
    """Yield targets of wiki and relative Markdown links, in order, not in code."""
    targets = [(match.start(), wiki_target(match[1])) for match in WIKI_LINK.finditer(body)]
    targets += [
        (match.start(), _note_target(match[1] or match[2])) for match in _MARKDOWN_LINK.finditer(body)
    ]
    code = _Code(body, fences)
    for offset, target in sorted(targets):
        if target and not code.covers(offset):
            yield target


def wiki_target(inside: str) -> str:
    """Return the target of what stands in a wiki link, without heading and label."""
    # In a table the bar of [[Target\|label]] is escaped.
    return inside.partition("|")[0].rstrip("\\").partition("#")[0].strip()


def _note_target(url: str | None) -> str:
    """Return the path of a relative link to a note; empty for any other link."""
    path = unquote((url or "").partition("#")[0])
    if _SCHEME.match(path) or path.startswith("/") or not path.lower().endswith(_LINKED_SUFFIXES):
        return ""
    return path


class _Code:
    """Lookup of code at an offset; query in rising order, so that each line is scanned once."""

    def __init__(self, content: str, fences: list[tuple[int, int]]) -> None:
        self._content = content
        self._fences = fences
        self._line_end = -1
        self._spans: list[tuple[int, int]] = []

    def covers(self, offset: int) -> bool:
        """Whether the offset is in a fenced block or a code span."""
        if _covered(self._fences, offset):
            return True
        if offset >= self._line_end:
            start = self._content.rfind("\n", 0, offset) + 1
            end = self._content.find("\n", offset)
            self._line_end = len(self._content) if end < 0 else end
            self._spans = _code_spans(self._content, start, self._line_end)
        return _covered(self._spans, offset)


def _covered(spans: list[tuple[int, int]], offset: int) -> bool:
    before = bisect_right(spans, offset, key=lambda span: span[0])
    return before > 0 and offset < spans[before - 1][1]


def _code_spans(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return code spans: from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _BACKTICKS.finditer(content, start, end)]
    by_length: dict[int, list[int]] = {}
    for index, (first, last) in enumerate(runs):
        by_length.setdefault(last - first, []).append(index)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        first, last = runs[index]
        same = by_length[last - first]
        closing = bisect_right(same, index)
        if closing < len(same):
            index = same[closing]
            spans.append((first, runs[index][1]))
        index += 1
    return spans
