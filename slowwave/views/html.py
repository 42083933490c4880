"""Pages that need nothing but themselves: no script, nothing from the network, every text escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape as escaped
from string import Template

from slowwave.common.quoting import printable

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>$title</title>
<style>
:root {
  color-scheme: light dark;
  --ink: #24292f; --faint: #656d76; --line: #d8dee4; --ground: #f6f8fa; --card: #fff;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --faint: #8d96a0; --line: #30363d; --ground: #0d1117; --card: #161b22; }
}
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 840px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 32px 0 8px; }
p { margin: 0 0 8px; }
.faint, small { color: var(--faint); font-weight: normal; }
.waits { border-left: 4px solid #e69f00; padding: 6px 12px; background: var(--card); }
img { display: block; box-sizing: border-box; width: 100%; height: auto; margin: 12px 0; }
img { border: 1px solid var(--line); border-radius: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); font-size: 14px; }
th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 600; }
.text { white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.id { font: 12px ui-monospace, monospace; }
$style</style>
</head>
<body>
<main>
<h1>$title</h1>
$body
</main>
</body>
</html>
""")
_KINDS = {"title": "text", "query": "text", "memory": "id"}
Cell = str | tuple[str, str]  # a text, or a text and the class that colours it


def escape(text: str) -> str:
    """A text as a page shows it: neither a mark of HTML nor a character that turns the line around."""
    return escaped(printable(text))


def document(title: str, body: Iterable[str], *, style: str = "") -> str:
    """A whole page.

    Args:
        title: plain text.
        body: HTML; empty parts are left out.
        style: CSS that this page needs beyond that of all.
    """
    parts = "\n".join(filter(None, body))
    return _PAGE.substitute(title=escape(title), body=parts, style=style)


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, numbers: Sequence[int]) -> str:
    """A table with the columns `numbers` set to the right; nothing of no rows, no head of no names."""
    kinds = {at: _KINDS[name] for at, name in enumerate(columns) if name in _KINDS}
    kinds |= dict.fromkeys(numbers, "n")

    def one(tag: str, at: int, cell: Cell) -> str:
        text, own = (cell, "") if isinstance(cell, str) else cell
        kind = f"{kinds.get(at, '')} {own}".strip()
        return f'<{tag} class="{kind}">{escape(text)}</{tag}>' if kind else f"<{tag}>{escape(text)}</{tag}>"

    def line(tag: str, cells: Sequence[Cell]) -> str:
        return f"<tr>{''.join(one(tag, at, cell) for at, cell in enumerate(cells))}</tr>"

    body = [line("td", row) for row in rows]
    lines = "\n".join([line("th", columns), *body] if any(columns) else body)
    return f'<div class="scroll"><table>\n{lines}\n</table></div>' if body else ""


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of class `kind`; nothing of no text."""
    if not text:
        return ""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def image(svg: bytes, alt: str) -> str:
    """A picture inside the page, and what it shows for those who cannot see it."""
    data = base64.b64encode(svg).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
