"""Markdown that GitHub and the site render alike."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

_RICH = re.compile(r"\[/?(?:bold|dim|italic|red|green|yellow|cyan|blue|magenta|/)?(?: [a-z]+)*\]")
_ROLE = re.compile(r":(?:meth|func|class|mod|attr):(?=`)")
_CODE = re.compile(r"(``?.+?``?)")


def prose(text: str) -> str:
    """Convert one paragraph of help or a docstring: no line breaks, colours or accidental HTML."""
    words = " ".join(_ROLE.sub("", _RICH.sub("", text)).split())
    parts = _CODE.split(words.replace("``", "`"))
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([*])|(?<!\w)(_)|(_)(?!\w)", lambda match: "\\" + match[0], text)


def paragraphs(text: str | None) -> str:
    """Convert a whole docstring; paragraphs and lists stay."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(prose(block) for block in blocks if block.strip())


def summary(text: str | None) -> str:
    """Return the first paragraph of a docstring."""
    return paragraphs(text).split("\n\n")[0]


def code(text: object) -> str:
    """Format text as code; empty stays empty."""
    return f"`{text}`" if str(text) else ""


def codes(texts: Iterable[str]) -> str:
    """Format several texts as code."""
    return ", ".join(map(code, texts))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars inside cells are escaped."""
    lines = [_row(head), "|" + "---|" * len(head), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"


def section(level: int, title: str, *parts: str) -> str:
    """Return a heading with its parts, without empty ones."""
    return "\n\n".join(["#" * level + f" {title}", *(part for part in parts if part)])
