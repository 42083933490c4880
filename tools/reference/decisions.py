"""The list of the decisions, from their first lines."""

from __future__ import annotations

import re
from pathlib import Path

from tools.reference.markdown import table

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"


def page() -> str:
    """The page."""
    rows = []
    for file in sorted(FOLDER.glob("[0-9]*.md")):
        first = file.read_text(encoding="utf-8").splitlines()[0]
        found = re.fullmatch(r"# 0*(\d+)\.? (.+)", first)
        if found is None:
            raise ValueError(f"{file.name} begins with {first!r}. Begin with '# NUMBER. What was decided'.")
        rows.append((found[1], f"[{found[2]}]({file.name})"))
    return "\n\n".join(
        [
            "# Decisions",
            "What would be hard to take back, and why it was decided so. A page is not changed when the "
            "times do: another one follows it.",
            table(["", "decision"], rows),
        ]
    )
