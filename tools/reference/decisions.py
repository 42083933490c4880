"""Index of the decision records, from the head of each page."""

from __future__ import annotations

import re
from pathlib import Path

from tools.reference.markdown import table

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"
_LINKS = r"\[\d+\]\(\d{4}-[a-z0-9-]+\.md\)(?:, \[\d+\]\(\d{4}-[a-z0-9-]+\.md\))*"
_HEAD = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n"
    rf"Status: (?P<status>accepted|(?:amended by|superseded by|merged into) {_LINKS})\n"
)
_INTRODUCTION = """\
# Decisions

Decisions that would be hard to reverse, with their reasons, figures and rejected alternatives. Each page
states what holds today.

## How pages change

- A new decision takes the next number. Its title is the decision in the imperative. The file name follows it.
- `Date` is the day of the decision. It does not change.
- *amended by*: a later decision changed a part. The page is edited to the present state and links to it.
- *superseded by*: a later decision replaced the page. Its text stays as it was.
- *merged into*: another page has the content. The number keeps a stub, so that citations still work.
- Numbers are never reused. Earlier texts are in the Git history.

## Index"""


def page() -> str:
    """Return the index: number, title, date and status of every decision.

    Raises:
        ValueError: A page has no such head, or its number is not that of its file name.
    """
    rows = []
    for file in sorted(FOLDER.glob("[0-9]*.md")):
        head = _HEAD.match(file.read_text(encoding="utf-8"))
        if head is None or int(head["number"]) != int(file.name[:4]):
            raise ValueError(
                f"{file.name} has no head of a decision. Begin with '# NUMBER. Title', 'Date: YYYY-MM-DD' "
                "and 'Status: accepted' (or 'amended by', 'superseded by', 'merged into' with links), and "
                "leave a blank line between them."
            )
        rows.append((head["number"], f"[{head['title']}]({file.name})", head["date"], head["status"]))
    return "\n\n".join([_INTRODUCTION, table(["number", "decision", "date", "status"], rows)])
