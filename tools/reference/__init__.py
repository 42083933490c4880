"""Generated reference pages, each derived from the code that it documents.

``python -m tools.reference`` writes them, ``--check`` lists the outdated ones.
"""

from __future__ import annotations

from collections.abc import Callable

from tools.reference import calls, commands, decisions, mcp_tools, night, rooms, settings, tables

MADE_BY = "python -m tools.reference"
NOTE = f"<!-- Made from the code by `{MADE_BY}`. A change here is lost: change the code. -->"

PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/README.md": rooms.page,
    "docs/reference/commands.md": commands.page,
    "docs/reference/settings.md": settings.page,
    "docs/reference/tools.md": mcp_tools.page,
    "docs/reference/tables.md": tables.page,
    "docs/reference/night.md": night.page,
    "docs/reference/night.svg": night.picture,
    "docs/reference/day.md": calls.page,
    "docs/reference/day.svg": calls.picture,
    "docs/reference/rooms.svg": rooms.picture,
    "docs/decisions/README.md": decisions.page,
}
"""Generator of each file, by its path in the repository."""


def made() -> dict[str, str]:
    """Return the text of every file, by its path in the repository."""
    texts = {}
    for path, make in PAGES.items():
        text = make().rstrip() + "\n"
        texts[path] = text if path.endswith(".svg") else text.replace("\n", f"\n\n{NOTE}\n", 1)
    return texts
