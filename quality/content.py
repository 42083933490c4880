"""L2 of the save gate: content quality in six parts (rule 1)."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from quality.density import signal_density

WEIGHTS: Final[dict[str, float]] = {
    "title": 0.15,
    "triggers": 0.20,
    "length": 0.15,
    "anchors": 0.15,
    "metadata": 0.10,
    "density": 0.25,
}
"""Weight of each part in the score (rule 1); they sum to 1."""
PASS_MARK: Final = 0.40
"""Least score that passes (rule 1)."""
LOW_CONTENT: Final = "low_quality"
"""Reason of a verdict on a note whose score is below the pass mark."""

GENERIC_TITLES: Final = frozenset(
    """
    memory|memories|session|note|notes|untitled|context|save|update|new memory|new note|new session
    |saved memory|session notes
    |session summary|quick note|memo|draft|document|new document|untitled note|untitled document
    |title|no title|none|test|todo|misc|inbox|temp|scratch|readme|index|chat|conversation
    |notiz|notizen|neue notiz|unbenannt|ohne titel|erinnerung|sitzung|entwurf|kontext|speichern
    |sans titre|nouvelle note|mémoire|souvenir|séance|contexte|brouillon
    |sin título|nota|notas|nueva nota|memoria|sesión|contexto|borrador|sem título|nova nota|sessão|rascunho
    |senza titolo|nuova nota|sessione|bozza
    |без названия|заметка|новая заметка|память|сессия|черновик|контекст
    |بدون عنوان|ملاحظة|ملاحظة جديدة|ذاكرة|جلسة
    |无标题|未命名|笔记|新笔记|记忆|会话|備忘錄|無題|メモ|新規メモ|ノート|新しいノート
    |セッション|제목 없음|메모|새 메모
    """.replace("\n    ", "").split("|")
)
"""Titles that say nothing (rule 1), compared without case, numbers and marks at their ends."""
_MONTHS = (
    r"jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?"
    r"|dec(ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|(mon|tues|wednes|thurs|fri|satur|sun)day"
)
# A title from which nothing remains once these are taken away is only a date, a time or a number.
_DATE = rf"(\d)(?:st|nd|rd|th|[tz])(\d|\b)|\b(?:{_MONTHS}|am|pm|utc)\b|[\d年月日時分秒时]"
_HEADING = r"(?m)^ {0,3}#{1,6}([ \t]|$)"
# Four marks before three: a regular expression of this kind cannot count.
_FENCE = (
    r"(?ms)^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(?:"
    + "|".join(rf"{mark}[^`\n]*\n.*?(?:^[ \t>]*{mark}+[ \t]*$|\z)" for mark in ("````", "```", "~~~~", "~~~"))
    + ")"
)
_ANCHOR = r"""(?i)\{#[^\s{}]+\}|<a\s[^>]*\b(?:id|name)\s*="""
_LABELS: Final[dict[str, str]] = {
    "memory_type": "note",
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "sensitivity": "internal",
    "state": "accepted",
    "source_kind": "manual",
}
"""The typed labels and the values that they have when nothing was written."""


def content_scores(notes: pl.DataFrame) -> pl.DataFrame:
    """Content quality of notes, part by part (rule 1, L2).

    title: 0 empty, .2 generic, .4 under 10 characters, .6 under 20, .8 under 50, else 1. Characters are
    counted after trimming; a title of only a date or a number is generic.

    triggers: 0, .5, 1 for none, 1-2, 3 and more distinct trigger phrases, tags and aliases, compared without
    case and surrounding space.

    length: .3 under 200 characters after trimming, .7 up to 1,000, 1 above.

    anchors: 0, .5, 1 for none, 1-2, 3 and more of ATX headings, explicit anchors (``{#id}``,
    ``<a id=...>``, ``<a name=...>``) and links to other notes; what is in fenced code does not count.

    metadata: 0 without readable front matter, else .3, .5, 1 for none, 1-2, 3 and more known fields. The
    fields have left the front matter for columns, so they are counted by what they left there: each label
    that is not its default, source_of_truth if true, each of trigger_phrases, tags and aliases that is not
    empty, and a readable date of creation (``created_at``). Other fields do not count, and neither does the
    title, which every note has.

    density: :func:`quality.density.signal_density` of the content.

    Args:
        notes: columns title, content, trigger_phrases, tags, aliases, links (lists), metadata, front_matter
            (ok, none, broken_front_matter), those of the labels, and source_of_truth and created_at if known.

    Returns:
        One row per note in their order: the parts and score, their weighted mean rounded to 2 decimals,
        halves up.
    """
    density = [signal_density(text or "") for text in notes["content"]]
    parts = notes.select(
        title=_title(pl.col("title").fill_null("").str.strip_chars()),
        triggers=_steps(_triggers()),
        length=_length(pl.col("content").fill_null("").str.strip_chars().str.len_chars()),
        anchors=_steps(_anchors()),
        metadata=_metadata(notes.columns),
        density=pl.Series("density", density, dtype=pl.Float64),
    )
    mean = parts.to_numpy() @ np.array([WEIGHTS[part] for part in parts.columns])
    # Sums of tenths are a hair off the half they stand for, and polars divides a batch by a constant
    # differently than a row: so the hair is added, and numpy divides.
    return parts.with_columns(score=pl.Series("score", np.floor(mean * 100 + 0.5 + 1e-9) / 100))


def _steps(count: pl.Expr) -> pl.Expr:
    return pl.when(count == 0).then(0.0).when(count <= 2).then(0.5).otherwise(1.0)


def _title(title: pl.Expr) -> pl.Expr:
    characters = title.str.len_chars()
    return (
        pl.when(title == "")
        .then(0.0)
        .when(_generic(title))
        .then(0.2)
        .when(characters < 10)
        .then(0.4)
        .when(characters < 20)
        .then(0.6)
        .when(characters < 50)
        .then(0.8)
        .otherwise(1.0)
    )


def _generic(title: pl.Expr) -> pl.Expr:
    plain = title.str.to_lowercase().str.replace_all(r"[\s_]+", " ")
    dateless = plain.str.replace_all(_DATE, "").str.replace_all(r"[\d\W_]+", "")
    words = plain.str.replace_all(r"^[\s\d\W_]+|[\s\d\W_]+$", "")
    return (dateless == "") | words.is_in(list(GENERIC_TITLES))


def _length(characters: pl.Expr) -> pl.Expr:
    return pl.when(characters < 200).then(0.3).when(characters <= 1000).then(0.7).otherwise(1.0)


def _items(column: str) -> pl.Expr:
    return pl.col(column).fill_null(pl.lit([], dtype=pl.List(pl.String)))


def _triggers() -> pl.Expr:
    every = pl.concat_list(_items("trigger_phrases"), _items("tags"), _items("aliases"))
    return every.list.eval(
        pl.element().str.strip_chars().str.to_lowercase().replace("", None).drop_nulls().unique()
    ).list.len()


def _anchors() -> pl.Expr:
    prose = pl.col("content").fill_null("").str.replace_all(_FENCE, "")
    links = _items("links").list.drop_nulls().list.n_unique()
    return prose.str.count_matches(_HEADING) + prose.str.count_matches(_ANCHOR) + links


def _metadata(columns: list[str]) -> pl.Expr:
    known = [
        pl.col(name).fill_null(default) != default for name, default in _LABELS.items() if name in columns
    ]
    known += [_items(name).list.len() > 0 for name in ("trigger_phrases", "tags", "aliases")]
    if "source_of_truth" in columns:
        known.append(pl.col("source_of_truth").fill_null(value=False))
    if "created_at" in columns:
        known.append(pl.col("created_at").is_not_null())
    count = pl.sum_horizontal(field.cast(pl.Int64) for field in known)
    written = pl.col("front_matter").fill_null("none") == "ok"
    return pl.when(~written).then(0.0).when(count == 0).then(0.3).when(count <= 2).then(0.5).otherwise(1.0)
