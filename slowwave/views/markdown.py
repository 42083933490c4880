"""Markdown rendering of sections, for files and Dagster's UI."""

from __future__ import annotations

from slowwave.views.section import Mark, Paragraph, Picture, Section, Table, text_of

CHARACTERS = 100  # of a cell
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\[]*_`<"})


def document(shown: Section, level: int = 1) -> str:
    """Render a section and its subsections: paragraphs and tables."""
    blocks = [f"{'#' * level} {shown.title}"]
    for part in shown.parts:
        if isinstance(part, Section):
            blocks.append(document(part, level + 1).rstrip("\n"))
        elif isinstance(part, Table):
            blocks.append(table(part))
        elif isinstance(part, Paragraph):
            blocks.append(part.text)
    return "\n\n".join(blocks) + "\n"


def table(shown: Table) -> str:
    """Render a table; long texts are cut, and a table without rows is "none"."""
    if not shown.rows:
        return "*none*"
    names = [column.name for column in shown.headings]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in shown.rows]
    return "\n".join([*lines, *([f"\n… {shown.more}"] if shown.left_out else [])])


def picture(shown: Picture, most: int) -> str:
    """Embed a picture in Markdown.

    Dagster's UI shows images of Markdown with a data URI; it removes ``<svg>`` and ``<img>`` elements.

    Args:
        shown: the picture.
        most: maximum size (bytes, as base64); a larger one is left out.

    Raises:
        ValueError: see `Picture.address`.
    """
    alt, address = " ".join(shown.alt.split()).translate(_ESCAPED), shown.address
    size = len(address.partition(",")[2])
    if size > most:
        return f"*{alt}: left out, its {size:,} bytes exceed the event log's limit*"
    return f"![{alt}]({address})"


def _cell(value: object) -> str:
    if isinstance(value, Mark):
        value = f"{value.text} {value.note}".rstrip()
    plain = str(value) if isinstance(value, int) else text_of(value)
    text = " ".join(plain.split()).replace("|", "\\|")
    return text if len(text) <= CHARACTERS else text[:CHARACTERS] + " …"
