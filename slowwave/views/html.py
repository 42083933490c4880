"""HTML rendering of sections: one self-contained page, no script, all texts escaped."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from slowwave.common.quoting import printable
from slowwave.errors import SlowwaveError
from slowwave.views.section import Column, Mark, Part, text_of

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_TEMPLATE = "page.html.jinja"
_NAMED = {"title": "text", "query": "text", "memory": "id"}
"""Kinds of columns by name."""


def page(title: str, parts: Iterable[Part], *, style: str = "") -> str:
    """Render a whole page.

    Args:
        title: plain text.
        parts: content; tables without rows and paragraphs without text are left out.
        style: additional CSS.

    Raises:
        SlowwaveError: Jinja2 is not installed.
    """
    from markupsafe import Markup

    return _template().render(title=title, parts=parts, style=Markup(style))  # noqa: S704 - of this program


@cache
def _template() -> Template:
    try:
        return template_environment("slowwave.views", "").get_template(_TEMPLATE)
    except ImportError as error:
        raise SlowwaveError(f"{error}. Pages need it: pip install '.[plots]' in its folder.") from None


def template_environment(package: str, folder: str) -> Environment:
    """Return the Jinja2 environment of a folder of templates; all texts are escaped.

    Args:
        package: that has them.
        folder: of the package.

    Raises:
        ImportError: Jinja2 is not installed.
    """
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader(package, folder), autoescape=True, finalize=_escaped)
    environment.globals.update(kind_of=lambda part: type(part).__name__, column_class=_class, cell_text=_text)
    environment.filters.update(lines=_lines, commands=_commands)
    return environment


def _lines(text: str) -> object:
    """Escape a text of several lines, keeping the line breaks."""
    from markupsafe import Markup

    return Markup(escape(printable(text, keep="\n\t")))  # noqa: S704 - it has just been escaped


def _commands(text: str) -> object:
    """Escape a sentence, with text between backticks as code."""
    from markupsafe import Markup

    parts = escape(printable(text)).split("`")
    if len(parts) % 2 == 0:
        return Markup("`".join(parts))  # noqa: S704 - it has just been escaped
    marked = [f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts)]
    return Markup("".join(marked))  # noqa: S704 - it has just been escaped


def _escaped(value: object) -> object:
    """Escape a value: HTML, control and bidirectional characters."""
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return Markup(escape(printable(str(value))))  # noqa: S704 - it has just been escaped


def _class(column: Column) -> str:
    return "n" if column.kind == "number" else column.kind or _NAMED.get(column.name, "")


def _text(value: object) -> str:
    if not isinstance(value, Mark):
        return text_of(value)
    return f"{value.text} {value.note}" if value.note else value.text
