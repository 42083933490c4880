"""Sections as Markdown: for files, their parts for Dagster's page."""

from __future__ import annotations

from slowwave.views.section import Mark, Paragraph, Picture, Section, Table, text_of

CHARACTERS = 100  # of a cell
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\[]*_`<"})


def document(shown: Section, level: int = 1) -> str:
    """A section with those in it; of their parts paragraphs and tables."""
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
    """A table; long texts are cut, and one without rows says so."""
    if not shown.rows:
        return "*none*"
    names = [one.name for one in shown.headings]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in shown.rows]
    return "\n".join([*lines, *([f"\n… {shown.more}"] if shown.left_out else [])])


def picture(shown: Picture, most: int) -> str:
    """A picture inside the text.

    Dagster's page draws images of Markdown whose address is a data URI; an ``<svg>`` or ``<img>`` in the
    text it removes.

    Args:
        shown: the picture.
        most: what is larger is left out (bytes, as base64).

    Raises:
        ValueError: see `Picture.address`.
    """
    alt, address = " ".join(shown.alt.split()).translate(_ESCAPED), shown.address
    size = len(address.partition(",")[2])
    if size > most:
        return f"*{alt}: left out, it would take {size:,} bytes of the event log*"
    return f"![{alt}]({address})"


def _cell(value: object) -> str:
    if isinstance(value, Mark):
        value = f"{value.text} {value.note}".rstrip()
    plain = str(value) if isinstance(value, int) else text_of(value)
    text = " ".join(plain.split()).replace("|", "\\|")
    return text if len(text) <= CHARACTERS else text[:CHARACTERS] + " …"
