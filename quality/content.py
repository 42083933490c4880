"""Content score: L2 of the save gate (rule 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from slowwave.quality.density import signal_densities
from slowwave.quality.gate_policy import Formula
from slowwave.quality.statement import states_something
from slowwave.quality.titles import is_from_first_words
from slowwave.scoring.wordlists import lines

WEIGHTS: Final[dict[str, float]] = {
    "title": 0.15,
    "triggers": 0.20,
    "length": 0.15,
    "anchors": 0.15,
    "metadata": 0.10,
    "density": 0.25,
}
"""Weight of each part in the seeds' score (rule 1); the sum is 1."""
DESCRIBING: Final = ("title", "triggers", "anchors", "metadata")
"""Parts that describe a note; in `applicable` they raise the score by their weight in `WEIGHTS`."""
STATEMENT: Final = "statement"
"""Part of `applicable` only: whether the text states something."""
LIFT: Final = 0.25
"""Maximum increase by description, as a share of the density. Too little to let filler pass."""
LOW_CONTENT: Final = "low_quality"
"""Reason for a score below the minimum."""

GENERIC_TITLES: Final = frozenset(lines("slowwave.quality", "generic_titles"))
"""Generic titles (rule 1), compared without case, numbers and marks at their ends."""
_MONTHS = (
    r"jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?"
    r"|dec(ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|(mon|tues|wednes|thurs|fri|satur|sun)day"
)
# A title without letters after removing these is only a date, a time or a number.
_DATE = re.compile(rf"\d(?:st|nd|rd|th|[tz])(?:\d|\b)|\b(?:{_MONTHS}|am|pm|utc)\b|[\d年月日時分秒时]")
_LETTER = re.compile(r"[^\W\d_]")
_SPACES = re.compile(r"[\s_]+")
_HEADING = re.compile(r"\n {0,3}#{1,6}(?=[ \t\n]|\Z)")
_FENCE = re.compile(
    r"(?ms)^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(?:"
    + "|".join(rf"{mark}[^`\n]*\n.*?(?:^[ \t>]*{mark}+[ \t]*$|\Z)" for mark in ("````", "```", "~~~~", "~~~"))
    + ")"
)
_ANCHOR = re.compile(r"""(?i)\{#[^\s{}]+\}|<a\s[^<>]*\b(?:id|name)\s*=""")
_LABELS: Final[dict[str, str]] = {
    "memory_type": "note",
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "sensitivity": "internal",
    "state": "accepted",
    "source_kind": "manual",
}
"""Typed labels with their defaults."""
_LISTS: Final = ("trigger_phrases", "tags", "aliases")
CONTENT_FIELDS: Final = (
    "title", "content", *_LISTS, "links", "front_matter", *_LABELS, "source_of_truth", "created_at"
)  # fmt: skip
"""Columns that the score reads; the labels, source_of_truth and created_at may be missing."""


def parts_of(notes: pl.DataFrame, formula: Formula) -> np.ndarray:
    """Score the content quality of notes, part by part (rule 1, L2).

    title: 0 empty, .2 generic, .4 under 10 characters, .6 under 20, .8 under 50, else 1. Characters are
    counted after trimming; a title of only a date or a number is generic.

    triggers: 0, .5, 1 for none, 1-2, 3 and more distinct trigger phrases, tags and aliases, compared without
    case and surrounding space.

    length: .3 under 200 characters after trimming, .7 up to 1,000, 1 above.

    anchors: 0, .5, 1 for none, 1-2, 3 and more of ATX headings, explicit anchors (``{#id}``, ``<a id=...>``,
    ``<a name=...>``) and links to other notes; fenced code does not count.

    metadata: 0 without readable front matter, else .3, .5, 1 for none, 1-2, 3 and more known fields. Fields
    are counted in their columns: each label that is not its default, source_of_truth if true, each of
    trigger_phrases, tags and aliases that is not empty, and a readable ``created_at``. Other fields and the
    title do not count.

    density: :func:`slowwave.quality.density.signal_densities` of the content.

    The formula `seeds` gives their weighted mean. The default, `applicable`, gives the density of the
    content, and 0 if it states nothing (:func:`quality.statement.states_something`). The weighted mean of
    title, triggers, anchors and metadata raises it by up to `LIFT`. So a better description never lowers the
    score, and a title does not let filler pass. A part that does not apply lowers nothing: a title that is
    missing or only the first words of the text, no triggers, no anchors, no front matter. Length never
    applies, because it shows no quality.

    Args:
        notes: columns title, content, trigger_phrases, tags, aliases, links (lists), metadata, front_matter
            (ok, none, broken_front_matter), those of the labels, and source_of_truth and created_at if known.
        formula: formula of the score.

    Returns:
        One row a note, in order: the parts in the order of `WEIGHTS`; for `applicable` then `STATEMENT` (1 or
        0), and nan for a part that does not apply; last the score, rounded half up to 2 decimals.
    """
    fields = [name for name in CONTENT_FIELDS if name in notes.columns]
    return score_notes(notes.select(fields).rows(named=True), formula)


def score_notes(notes: Sequence[Mapping[str, Any]], formula: Formula) -> np.ndarray:
    """Score notes as `parts_of`, given as mappings with its columns."""
    count = _parts if formula == "seeds" else _applicable
    densities = signal_densities([note["content"] or "" for note in notes])
    parts = np.array([count(*pair) for pair in zip(notes, densities, strict=True)], np.float64)
    parts = parts.reshape(-1, len(WEIGHTS) + (formula == "applicable"))
    if formula == "applicable":
        described = np.nan_to_num(parts[:, _DESCRIBED]) @ _DESCRIBES
        density = parts[:, _DENSITY]
        mean = np.minimum(density * (1 + LIFT * described * density), 1.0) * parts[:, -1]
    else:
        mean = parts @ np.array(list(WEIGHTS.values()))
    # Float sums of tenths are slightly off, and a batch is summed in another order than a row: so a tiny
    # amount is added before rounding.
    return np.column_stack([parts, np.floor(mean * 100 + 0.5 + 1e-9) / 100])


_PLACES = list(WEIGHTS)
_DENSITY = _PLACES.index("density")
_DESCRIBED = [_PLACES.index(name) for name in DESCRIBING]
_DESCRIBES = np.array([WEIGHTS[name] for name in DESCRIBING]) / sum(WEIGHTS[name] for name in DESCRIBING)


def _applicable(note: Mapping[str, Any], density: float) -> tuple[float | None, ...]:
    """Return a note's applicable parts (else None), and whether it states something."""
    content = note["content"] or ""
    title = (note["title"] or "").strip()
    if is_from_first_words(title, content):
        title = ""
    return (
        _title(title) if title else None, _steps(_triggers(note)) or None, None,
        _steps(_anchors(note)) or None, _metadata(note) or None, density,
        states_something(content, title="" if not title or is_generic_title(title) else title),
    )  # fmt: skip


def _parts(note: Mapping[str, Any], density: float) -> tuple[float, ...]:
    content = note["content"] or ""
    return (
        _title((note["title"] or "").strip()),
        _steps(_triggers(note)),
        _length(len(content.strip())),
        _steps(_anchors(note)),
        _metadata(note),
        density,
    )


def _steps(count: int) -> float:
    return 0.0 if count == 0 else 0.5 if count <= 2 else 1.0


def _title(title: str) -> float:
    if not title:
        return 0.0
    if is_generic_title(title):
        return 0.2
    return next((part for part, below in ((0.4, 10), (0.6, 20), (0.8, 50)) if len(title) < below), 1.0)


def is_generic_title(title: str) -> bool:
    """Whether a title is generic: empty, *note*, *untitled*, a date, a number."""
    plain = _SPACES.sub(" ", title.lower())
    first, last = _LETTER.search(plain), _LETTER.search(plain[::-1])
    if first is None or last is None:
        return True
    if plain[first.start() : len(plain) - last.start()] in GENERIC_TITLES:
        return True
    return _LETTER.search(_DATE.sub("", plain)) is None


def _length(characters: int) -> float:
    return 0.3 if characters < 200 else 0.7 if characters <= 1000 else 1.0


def _triggers(note: Mapping[str, Any]) -> int:
    every = {item.strip().lower() for name in _LISTS for item in note[name] or () if item}
    return len(every - {""})


def _anchors(note: Mapping[str, Any]) -> int:
    content = note["content"] or ""
    prose = _FENCE.sub("", content) if "```" in content or "~~~" in content else content
    headings = len(_HEADING.findall(f"\n{prose}")) if "#" in prose else 0
    anchors = len(_ANCHOR.findall(prose)) if "{#" in prose or "<a" in prose.lower() else 0
    return headings + anchors + len(set(note["links"] or ()) - {None})


def _metadata(note: Mapping[str, Any]) -> float:
    if note["front_matter"] != "ok":
        return 0.0
    fields_set = sum(note.get(name) not in {None, default} for name, default in _LABELS.items())
    fields_set += sum(bool(note[name]) for name in _LISTS)
    fields_set += bool(note.get("source_of_truth")) + (note.get("created_at") is not None)
    return 0.3 if fields_set == 0 else 0.5 if fields_set <= 2 else 1.0
