"""Budget of the code: files that fit in a head, and one class of each name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

# Each framework's users know its own retriever by this name.
IN_TWO_FRAMEWORKS = {"SlowwaveRetriever"}
ROOT = Path(__file__).parents[2]
MAX_LINES = 400
FOLDERS = ("slowwave", "scoring", "quality", "assets", "orchestration", "tools", "examples")
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    # Links in `slowwave/` lead to the four folders at the top.
    if path.resolve() == path
]


def test_there_are_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(FOLDERS)


def test_no_file_is_longer_than_can_be_read_at_once() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in FILES}
    assert {path: lines for path, lines in lengths.items() if lines > MAX_LINES} == {}


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    twice = {
        name: where for name, where in places.items() if len(where) > 1 and name not in IN_TWO_FRAMEWORKS
    }
    assert twice == {}
