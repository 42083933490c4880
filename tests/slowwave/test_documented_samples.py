"""No note that the documentation shows, and no good note of the examples, is refused by an enforcing gate."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave.journal.entry_builders import entries_frame, save_entry
from slowwave.notes.arguments import note_of
from slowwave.notes.folder import iter_vault
from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes
from slowwave.quality.gate import judge
from slowwave.quality.gate_policy import GatePolicy
from slowwave.store import staging

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")])
MOMENT = datetime(2026, 3, 14, tzinfo=UTC)
JUNK = {
    "inbox/Untitled 3.md": "no_statement",
    "inbox/ola.md": "no_statement",
    "inbox/website text.md": "low_quality",
    "inbox/haar log 27 may.md": "tool_output",
    "inbox/image-export.md": "low_quality",
    "inbox/tidalgebra LICENSE.md": "low_quality",
    "inbox/clip harbour portal.md": "low_quality",
}
"""What examples/README.md calls junk."""


def of_python(block: str) -> list[dict[str, Any]]:
    """The arguments of every `save` and the notes of every `save_many` in a piece of Python."""
    found: list[dict[str, Any]] = []
    for call in ast.walk(ast.parse(block)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "save" and call.args and isinstance(call.args[0], ast.Constant):
            labels = {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg}
            found.append({"content": call.args[0].value, **labels})
        elif call.func.attr == "save_many" and call.args and isinstance(call.args[0], ast.List):
            found += ast.literal_eval(call.args[0])
    return found


def of_command(line: str) -> dict[str, Any]:
    words = shlex.split(line, comments=True)
    named = dict(itertools.pairwise(words))
    return {"content": words[words.index("save") + 1], "title": named.get("--title", "")}


def samples() -> list[tuple[str, Note]]:
    found: list[tuple[str, dict[str, Any]]] = []
    read: list[tuple[str, Note]] = []
    for page in PAGES:
        text = page.read_text()
        for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
            if language == "python":
                found += [(page.name, one) for one in of_python(block)]
            elif language in ("markdown", "md", "jsonl"):
                name = f"{page.stem}.{'jsonl' if language == 'jsonl' else 'md'}"
                notes = read_notes(block.encode(), name, max_bytes=1 << 20)
                read += [(page.name, note) for note in notes if isinstance(note, Note)]
        saves = re.findall(r"(?:^|`|\$ )(slowwave save [\"'][^`\n]+)", text, re.MULTILINE)
        found += [(page.name, of_command(line)) for line in saves]
    made = [(name, note_of(one, fallback_key=f"saved/{at}")) for at, (name, one) in enumerate(found)]
    return [*made, *read]


def reasons(notes: list[Note], policy: GatePolicy) -> dict[str, list[str]]:
    entries = [
        save_entry(
            note, namespace="ada", source=note.source, origin="", occurred_at=MOMENT, principal="ada",
            event_id=f"{at:08}",
        )
        for at, note in enumerate(notes)
    ]  # fmt: skip
    staged = staging.stage(entries_frame(entries))
    judged = judge(staged, policy)
    refused = judged["verdict"] == "refuse"
    assert refused.to_list() == [bool(found) for found in judged["reasons"].to_list()]
    return dict(zip(staged["source"], judged["reasons"].to_list(), strict=True))


def test_the_pages_show_notes():
    pages = {page for page, _ in samples()}
    assert {"README.md", "notes.md", "ranking.md"} <= pages


@pytest.mark.parametrize("page", sorted({page for page, _ in samples()}))
def test_what_a_page_saves_is_let_in(page):
    for name, note in samples():
        if name == page:
            assert reasons([note], GatePolicy()) == {note.source: []}, note.content


@pytest.mark.parametrize("page", sorted({page for page, _ in samples()}))
def test_a_page_is_followed_in_a_home_whose_gate_enforces(open_memory, page):
    memory = open_memory(gate={"mode": "enforce"})
    for at, (name, note) in enumerate(samples()):
        if name == page:
            saved = memory.save(note.content, title=note.title, key=f"sample-{at}")
            assert saved.status != "quarantined", (saved.reasons, note.content)


def test_of_the_examples_only_the_junk_is_refused():
    vault = ROOT / "examples" / "vault"
    notes = [
        note
        for file in iter_vault(vault)
        for note in read_notes(file.path.read_bytes(), file.source, max_bytes=1 << 20)
        if isinstance(note, Note)
    ]
    refused = {source: found for source, found in reasons(notes, GatePolicy()).items() if found}
    assert refused.keys() == JUNK.keys()
    for source, reason in JUNK.items():
        assert reason in refused[source], source
