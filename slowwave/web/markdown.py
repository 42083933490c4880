"""Markdown of a note as safe HTML: no raw HTML, no images, no links but of the web and of mail.

A note is data. Its raw HTML is shown as text, and a link opens without a referrer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from slowwave.common.quoting import printable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SCHEMES: Final = ("http://", "https://", "mailto:")
_LINKS: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LEFT: Final = re.compile(r"\*\*|~~|`+")  # marks that a cut text leaves open
_TOP: Final = 3  # level of a note's first heading, below those of the page


def markdown(text: str) -> Markup:
    """Return the HTML of a Markdown text."""
    return Markup(_renderer().render(printable(text, keep="\n\t")))  # noqa: S704 - raw HTML is escaped


def plain(text: str, title: str = "") -> str:
    """Return the words of a Markdown text in one line, for a preview.

    Args:
        text: A whole text or its beginning.
        title: A first block that repeats it is left out.
    """
    blocks = []
    for token in _renderer().parse(printable(text, keep="\n\t")):
        if token.type == "inline":
            blocks.append("".join(_words(child) for child in token.children or ()))
        elif token.type in ("fence", "code_block", "html_block"):
            blocks.append(token.content)
    lines = [" ".join(_LEFT.sub("", _LINKS.sub(r"\1", block)).split()) for block in blocks]
    if len(lines) > 1 and lines[0].casefold() == " ".join((title or "").split()).casefold():
        del lines[0]
    return " · ".join(line for line in lines if line)


def _words(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    renderer.validateLink = _is_link  # type: ignore[method-assign]
    for name in ("heading_open", "heading_close"):
        renderer.add_render_rule(name, _lower_heading)
    for name in ("th_open", "td_open"):
        renderer.add_render_rule(name, _plain_cell)
    renderer.add_render_rule("link_open", _link)
    return renderer


def _is_link(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)


def _lower_heading(self: Any, tokens: Sequence[Token], at: int, options: Any, _: Any) -> str:  # noqa: ANN401
    tokens[at].tag = f"h{min(int(tokens[at].tag[1]) + _TOP - 1, 6)}"
    return str(self.renderToken(tokens, at, options, _))


def _plain_cell(self: Any, tokens: Sequence[Token], at: int, options: Any, _: Any) -> str:  # noqa: ANN401
    tokens[at].attrs.pop("style", None)  # the page forbids inline styles
    return str(self.renderToken(tokens, at, options, _))


def _link(self: Any, tokens: Sequence[Token], at: int, options: Any, _: Any) -> str:  # noqa: ANN401
    tokens[at].attrs["rel"] = "noopener noreferrer nofollow"
    return str(self.renderToken(tokens, at, options, _))
