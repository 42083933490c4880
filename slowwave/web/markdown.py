"""Markdown of a note as safe HTML: no raw HTML, no images, no links but of the web, mail and memories.

A note is data. Its raw HTML is shown as text, and a link opens without a referrer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from slowwave.common.quoting import printable
from slowwave.notes.markdown import WIKI_LINK, wiki_target
from slowwave.quality.titles import is_cut, is_from_first_words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_SCHEMES: Final = ("http://", "https://", "mailto:")
_LINKS: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LEFT: Final = re.compile(r"\*\*|~~|`+")  # marks that a cut text leaves open
_EDGES: Final = " #\t"
_MARKUP: Final = re.compile(r"[*_`~\[<]")
"""Marks that a cut within them would leave open."""
_HEADING: Final = 160  # maximum characters of a text that is its own heading (count)
_TOP: Final = 3  # level of a note's first heading, below those of the page


def markdown(text: str, addresses: Mapping[str, str] | None = None) -> Markup:
    """Return the HTML of a Markdown text.

    Args:
        text: The text.
        addresses: Address on this site of each target of a wiki link; others stay as written. None: nobody
            looked for them, and a wiki link is its words.
    """
    found = None if addresses is None else {name.casefold(): address for name, address in addresses.items()}
    rendered = _renderer().render(printable(text, keep="\n\t"), {"addresses": found})
    return Markup(rendered)  # noqa: S704 - raw HTML is escaped


def heading(title: str, text: str) -> str:
    """Return the title of a memory, or a short text that its title would cut."""
    whole = text.strip()
    is_short = len(whole) <= _HEADING and "\n" not in whole and not _MARKUP.search(whole)
    return whole if is_short and is_cut(title) and is_from_first_words(title, whole) else title


def body(text: str, title: str) -> str:
    """Return a Markdown text without the beginning that its title repeats: a heading, or the first words."""
    start = len(text) - len(text.lstrip())
    line, end, rest = text[start:].partition("\n")
    plain_line, words = line.strip(_EDGES), title.removesuffix("…").removesuffix("...").rstrip()
    if not words or not plain_line.casefold().startswith(words.casefold()):
        return text
    left = plain_line[len(words) :]
    if not left:
        is_repeated = line.startswith("#") or is_from_first_words(title, text)
        return rest.lstrip("\n") if is_repeated else text
    is_cut = words != title and is_from_first_words(title, text) and not _MARKUP.search(words)
    return f"… {left.lstrip()}{end}{rest}" if is_cut else text


def plain(text: str, title: str = "") -> str:
    """Return the words of a Markdown text in one line, for a preview.

    Args:
        text: A whole text or its beginning.
        title: A beginning that repeats it is left out.
    """
    blocks = []
    for token in _renderer().parse(printable(text, keep="\n\t")):
        if token.type == "inline":
            blocks.append("".join(_words(child) for child in token.children or ()))
        elif token.type in ("fence", "code_block", "html_block"):
            blocks.append(token.content)
    lines = [" ".join(_LEFT.sub("", _LINKS.sub(r"\1", block)).split()) for block in blocks]
    title = " ".join((title or "").split())
    if lines and lines[0].casefold() == title.casefold():
        del lines[0]
    whole = " · ".join(line for line in lines if line)
    return _without_title(whole, title) if is_from_first_words(title, text) else whole


def _without_title(text: str, title: str) -> str:
    """Return what follows the words of a title that its text begins with."""
    words = title.removesuffix("…").removesuffix("...").rstrip()
    rest = text[len(words) :].lstrip(" ·")
    if text[: len(words)].casefold() != words.casefold():
        return text
    return f"… {rest}" if rest and words != title else rest


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
    renderer.inline.ruler.before("link", "wiki_link", _wiki_link)
    return renderer


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Read ``[[target]]`` or ``[[target|words]]``."""
    match, addresses = WIKI_LINK.match(state.src, state.pos), state.env.get("addresses")
    target = wiki_target(match[1]) if match else ""
    if not match or not target:
        return False
    words = match[1].partition("|")[2].strip() or target
    address = "" if addresses is None else addresses.get(target.casefold(), "")
    if addresses is not None and not address:
        return False
    if not silent:
        if address:
            state.push("link_open", "a", 1).attrs = {"href": address}
        state.push("text", "", 0).content = words
        if address:
            state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


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
