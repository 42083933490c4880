"""Junk detection: tool output and restated boot files (rule 1).

Each kind has its own reason. Text is judged by the share of lines that match: a note that quotes a log or a
prompt and comments on it is no junk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.quality._lexicons import FUNCTION_WORDS
from slowwave.quality._patterns import (
    BOOT_NAMES,
    LIKELY_NAMES,
    OPENINGS,
    ORDER,
    OUTPUT,
    OUTSIDE,
    SIGNALS,
    SURE,
)

TOOL_OUTPUT = "tool_output"
BOOT_FILE = "boot_file"

# Minimum share of characters in output lines of a text that is output. A text with an explanation of
# EXPLANATION_CHARACTERS is a note, unless EXPLAINED_SHARE of it is output.
OUTPUT_SHARE = 0.7
EXPLAINED_SHARE = 0.9
EXPLANATION_CHARACTERS = 100
OUTPUT_LINES = 3
OUTPUT_CHARACTERS = 120  # length from which one line of a dump is enough
ALMOST_NO_PROSE = 40  # characters of prose outside of fences below which lines inside of fences count
CELLS = 3  # minimum cells of a row of columns
ALIGNED_SHARE = 0.6  # minimum share of cells aligned with those of the next row
DUMP_ROWS = 5  # minimum lines with the same number of tabs or commas in a table dump

BOOT_POINTS = 3
INSTRUCTION_LINES = 3  # lines of orders to an assistant that count as one signal


_FENCES = ("```", "~~~")

_Flags = npt.NDArray[np.bool_]
_Sizes = npt.NDArray[np.int64]


def junk_reasons(notes: pl.DataFrame) -> list[list[str]]:
    """Return the junk reasons of each note, none for a sound one, in order.

    Tool output (logs, traces, transcripts, dumps) is measured as the share of characters in matching lines.
    Lines inside of fences count only if there is almost no prose outside.

    A boot file or system prompt needs several signals together (`BOOT_POINTS`): its file name, and lines that
    address an assistant. One in a fence with a text about it does not count.

    Args:
        notes: columns source, content.
    """
    return find_junk(notes["content"].to_list(), notes["source"].to_list())


def find_junk(contents: Sequence[str | None], sources: Sequence[str | None]) -> list[list[str]]:
    """Return the `junk_reasons` of notes, given as their contents and sources."""
    lines = _lines(contents)
    alike, signalled = _finding([_ANY_OUTPUT, _ANY_SIGNAL], lines.text)
    kinds = (
        (TOOL_OUTPUT, _tool_output(lines, alike)),
        (BOOT_FILE, _boot_file(lines, signalled, sources)),
    )
    reasons: list[list[str]] = [[] for _ in lines.ends]
    for name, rows in kinds:
        for row in rows:
            reasons[row].append(name)
    return reasons


@dataclass(frozen=True, slots=True)
class _Lines:
    """Non-empty lines of all notes, note by note, without fence lines.

    Attributes:
        text: the lines.
        sizes: characters of each, trimmed.
        fenced: whether it is between fences.
        ends: for each note, the place after its last line.
    """

    text: list[str]
    sizes: _Sizes
    fenced: _Flags
    ends: list[int]

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield each note that has lines: its row, first line, and the place after its last."""
        start = 0
        for row, end in enumerate(self.ends):
            if end > start:
                yield row, start, end
            start = end


def _lines(contents: Sequence[str | None]) -> _Lines:
    text: list[str] = []
    sizes: list[int] = []
    fenced: list[bool] = []
    ends: list[int] = []
    for content in contents:
        inside = False
        for line in (content or "").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
            trimmed = line.strip()
            if trimmed.startswith(_FENCES):
                inside = not inside
            elif trimmed:
                text.append(line)
                sizes.append(len(trimmed))
                fenced.append(inside)
        ends.append(len(text))
    return _Lines(text, np.array(sizes, np.int64), np.array(fenced, bool), ends)


def _finding(patterns: list[pl.Expr], lines: list[str]) -> list[_Flags]:
    """Match patterns against lines, a mask each.

    It runs in this thread, which is faster for a single note.
    """
    matched = pl.Series("line", lines, dtype=pl.String).to_frame().select_seq(patterns)
    return [hits.to_numpy() for hits in matched.get_columns()]


def _finds(name: str, *patterns: str) -> pl.Expr:
    # Each expression is built once: passing a pattern of some kilobytes takes longer than matching it.
    return pl.col("line").str.contains("|".join(f"(?:{pattern})" for pattern in patterns)).alias(name)


# -- tool output -----------------------------------------------------------------------------------

_ANYWHERE = _finds("anywhere", *OUTPUT.values())
_ANY_OUTPUT = _finds("output", *OUTPUT.values(), *OUTSIDE.values())
_SURELY = _finds("sure", *SURE)
# Consecutive words, or a run in a script without spaces.
_SENTENCE = _finds(
    "sentence",
    r"(?:[\p{L}\p{M}'’-]{2,}[,;:]? ){4,}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]{10,}",
)
_SAYS = re.compile(r"[^\W\d_TZ]")  # more than the beginning of another timestamp
_FRAME = re.compile(r"\s*File \"[^\"]+\", line \d")
_INDENTED = re.compile(r"\s{2,}\S")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d")
_HEADING = re.compile(r"\s*#{1,6} ")


def _tool_output(lines: _Lines, alike: _Flags) -> list[int]:
    """Return the rows of notes that are tool output; `alike` marks matching lines."""
    return [
        row
        for row, start, end in lines.spans()
        if _is_output(
            lines.text[start:end], lines.sizes[start:end], lines.fenced[start:end], alike[start:end]
        )
    ]


def _is_output(text: list[str], sizes: _Sizes, inside: _Flags, alike: _Flags) -> bool:
    """Whether one note is output, by its lines: sizes, fences, matches."""
    # Cheap checks first: they decide nearly every note.
    whole = "\n".join(text)
    frames, context = _under_a_frame(text, whole), _in_context(text, whole)
    if not (frames or context or alike.any()):
        return False
    framed, around = _mask(frames, alike), _mask(context, alike)
    output = alike | framed | around
    if max(_share(output, sizes), _share(output[~inside], sizes[~inside])) < OUTPUT_SHARE:
        return False
    prose = ~output & ~inside
    prose[prose] = [not _HEADING.match(text[place]) for place in np.flatnonzero(prose)]
    counted = ~inside
    if sizes[prose].sum() < ALMOST_NO_PROSE:
        counted[:] = True
        if inside.any():  # lines that people write inside fences, too, do not count there
            output &= ~inside | framed | _finding([_ANYWHERE], text)[0]
    hits = sizes[output & counted]
    share = _share(output[counted], sizes[counted])
    if share < OUTPUT_SHARE:
        return False
    if len(hits) < OUTPUT_LINES and hits.max() < OUTPUT_CHARACTERS:
        rest = "".join(text[place] for place in np.flatnonzero(counted & ~output))
        nearly_all = share >= EXPLAINED_SHARE or not _SAYS.search(rest)
        return nearly_all and bool(_finding([_SURELY], text)[0].any())
    if share >= EXPLAINED_SHARE:
        return True
    (is_sentence,) = _finding([_SENTENCE], [text[place] for place in np.flatnonzero(prose)])
    return bool(sizes[prose][is_sentence].sum() < EXPLANATION_CHARACTERS)


def _mask(places: list[int], like: _Flags) -> _Flags:
    mask = np.zeros_like(like)
    mask[places] = True
    return mask


def _share(chosen: _Flags, sizes: _Sizes) -> float:
    return float(sizes[chosen].sum() / max(sizes.sum(), 1))


def _in_context(lines: list[str], whole: str) -> list[int]:
    """Return the lines outside of fences that are output because of their neighbours."""
    found: list[int] = []
    if "@@ -" in whole:
        found += _in_patch(lines)
    for separator, least in (("\t", 2), (",", 3)):
        if len(lines) >= DUMP_ROWS and whole.count(separator) >= least * DUMP_ROWS:
            found += _in_table(lines, separator, least)
    return found + _in_columns(lines) if "  " in whole and len(lines) > 1 else found


def _under_a_frame(lines: list[str], whole: str) -> list[int]:
    """Return the code line that a Python trace shows under each frame."""
    if 'File "' not in whole:
        return []
    return [
        place
        for place, (above, line) in enumerate(pairwise(lines), 1)
        if 'File "' in above and _FRAME.match(above) and _INDENTED.match(line)
    ]


def _in_patch(lines: list[str]) -> list[int]:
    """Return added, removed and unchanged lines from the first hunk on."""
    first = next((at for at, line in enumerate(lines) if line[0] == "@" and _HUNK.match(line)), len(lines))
    return [at for at in range(first, len(lines)) if lines[at][0] in "+-\t "]


def _in_table(lines: list[str], separator: str, least: int) -> list[int]:
    """Return the rows of a table dump: the same number of separators in `DUMP_ROWS` lines.

    Commas with a space after them are punctuation, and people write Markdown tables.
    """
    counts = {
        at: count
        for at, line in enumerate(lines)
        if (count := line.count(separator)) >= least
        and ", " not in line
        and not line.lstrip().startswith("|")
    }
    if len(counts) < DUMP_ROWS:
        return []
    often = Counter(counts.values())
    return [at for at, count in counts.items() if often[count] >= DUMP_ROWS]


def _in_columns(lines: list[str]) -> list[int]:
    """Return the rows of a table in columns: under a capitalised head, or aligned.

    Two spaces after a stop and justified lines are no columns: their cells are clauses and small words.
    """
    rows = [
        (at, cells)
        for at, line in enumerate(lines)
        if "  " in line and len(cells := _cells(line)) >= CELLS  # no row of columns is without it
    ]
    in_table: set[int] = set()
    for (above, first), (below, second) in pairwise(rows):
        headed = above in in_table and lines[rows[0][0]].isupper()
        if below == above + 1 and (headed or lines[above].isupper() or _aligned(first, second)):
            in_table |= {above, below}
    return sorted(in_table)


def _cells(line: str) -> list[tuple[int, int]]:
    """Return the spans of a line's cells, if it may be a row of columns."""
    if "  " not in line.strip():
        return []
    cells = [(cell[0], cell.span()) for cell in _CELL.finditer(line)]
    small = sum(text.casefold() in FUNCTION_WORDS for text, _ in cells)
    ended = any(text.endswith(_CLAUSE_ENDS) for text, _ in cells[:-1])
    return [] if ended or small > 0.2 * len(cells) else [span for _, span in cells]


def _aligned(cells: list[tuple[int, int]], others: list[tuple[int, int]]) -> bool:
    """Whether most cells of two rows begin or end in about the same places."""
    few, many = sorted((cells[1:], others[1:]), key=len)
    under = sum(
        any(abs(begin - other[0]) <= 1 or abs(end - other[1]) <= 1 for other in many) for begin, end in few
    )
    return under >= ALIGNED_SHARE * len(many)


_CLAUSE_ENDS = (".", "!", "?", ",", ";", ":", "。", "，", "！", "？")
_CELL = re.compile(r"\S+(?: \S+)*")


# -- boot files ------------------------------------------------------------------------------------

_SAID = {name: _finds(name, pattern) for name, (_, pattern) in SIGNALS.items()}
_OPENS = {name: re.compile(pattern) for name, pattern in OPENINGS.items()}
_ANY_SIGNAL = _finds("signal", *(pattern for _, pattern in SIGNALS.values()), *OPENINGS.values())
_ORDERS = _finds("orders", ORDER)
_ORDERED = _finds("ordered", ORDER, r"^(?i:your (?:task|job|role|goal)|follow the user|the user )")
_BOOT_NAME, _LIKELY_NAME = re.compile(BOOT_NAMES), re.compile(LIKELY_NAMES)


def _boot_file(lines: _Lines, signalled: _Flags, sources: Sequence[str | None]) -> list[int]:
    """Return the rows of notes that are boot files; `signalled` marks lines with a signal."""
    names = [_points_of_name(source or "") for source in sources]
    boot_files = [row for row, points in enumerate(names) if points >= BOOT_POINTS]
    for row, start, end in lines.spans():
        points = names[row]
        # Orders are one point; the others have to come from signals or the name.
        if points >= BOOT_POINTS or (points < BOOT_POINTS - 1 and not signalled[start:end].any()):
            continue
        inside = lines.fenced[start:end]
        outside = lines.sizes[start:end][~inside].sum()
        counted = ~inside if outside >= EXPLANATION_CHARACTERS else np.ones_like(inside)
        text = [lines.text[start + place] for place in np.flatnonzero(counted)]
        signals = pl.DataFrame({"line": text}, {"line": pl.String}).select(*_SAID.values(), _ORDERS)
        points += _points_of_opening(text)
        points += sum(worth * bool(signals[name].any()) for name, (worth, _) in SIGNALS.items())
        if points + (signals["orders"].sum() >= INSTRUCTION_LINES) >= BOOT_POINTS:
            boot_files.append(row)
    return boot_files


def _points_of_opening(text: list[str]) -> int:
    """Score the first counted line: a prompt opening, or a role with orders."""
    if not text:
        return 0
    first = text[0].strip()
    if _OPENS["prompt"].search(first):
        return BOOT_POINTS
    if not _OPENS["role"].search(first):
        return 0
    sentences = [part for line in text for part in _SENTENCE_END.split(line.strip())]
    return BOOT_POINTS if _finding([_ORDERED], sentences)[0].any() else 0


_SENTENCE_END = re.compile(r"(?<=[.!?:]) +")


def _points_of_name(source: str) -> int:
    name = source.split("#", 1)[0]
    if _BOOT_NAME.search(name):
        return BOOT_POINTS
    return BOOT_POINTS - 1 if _LIKELY_NAME.search(name) else 0
