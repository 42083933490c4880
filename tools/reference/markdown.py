"""Text as Markdown that GitHub and the site read alike."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

_RICH = re.compile(r"\[/?(?:bold|dim|italic|red|green|yellow|cyan|blue|magenta|/)?(?: [a-z]+)*\]")
_ROLE = re.compile(r":(?:meth|func|class|mod|attr):(?=`)")
_CODE = re.compile(r"(``?.+?``?)")


def prose(text: str) -> str:
    """One paragraph of help or of a docstring: no line breaks, no colours, no HTML by accident."""
    words = " ".join(_ROLE.sub("", _RICH.sub("", text)).split())
    parts = _CODE.split(words.replace("``", "`"))
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([*])|(?<!\w)(_)|(_)(?!\w)", lambda found: "\\" + found[0], text)


def paragraphs(text: str | None) -> str:
    """A whole docstring, its paragraphs and lists kept."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(prose(block) for block in blocks if block.strip())


def summary(text: str | None) -> str:
    """The first paragraph of a docstring."""
    return paragraphs(text).split("\n\n")[0]


def code(text: object) -> str:
    """Something as it is typed; empty stays empty."""
    return f"`{text}`" if str(text) else ""


def codes(texts: Iterable[str]) -> str:
    """Several such things."""
    return ", ".join(map(code, texts))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar inside a cell is no border."""
    lines = [_row(head), "|" + "---|" * len(head), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"


def section(level: int, title: str, *parts: str) -> str:
    """A heading and what is below it; parts that are empty are left out."""
    return "\n\n".join(["#" * level + f" {title}", *(part for part in parts if part)])
