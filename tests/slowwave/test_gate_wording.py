from __future__ import annotations

import re
from pathlib import Path

import pytest

from slowwave.quality.structure import KNOWN_WORDS
from slowwave.views.gate_text import REASONS, reason_lines, words_of

ROOT = Path(__file__).parents[2]
_PLACES = (
    *sorted((ROOT / "quality").rglob("*.py")),
    *sorted((ROOT / "slowwave" / "notes").glob("*.py")),
    ROOT / "slowwave" / "vaults" / "scanner.py",
    ROOT / "slowwave" / "lifecycle" / "ingest_pipeline.py",
    ROOT / "slowwave" / "store" / "staging.py",
)
# How a reason is written where it is given: a constant, a fault of the structure, an error of a note.
_GIVEN = re.compile(
    r'^(?:LOW_CONTENT|TOOL_OUTPUT|BOOT_FILE|ECHO|NO_STATEMENT|\w+_DUPLICATE|\w+_REASON)\b[^=\n]*= "(\w+)"'
    r'|faults\.append\("(\w+)"\)|NoteError\(\s*"(\w+)"|"reasons?": \[?"(\w+)"|^ALWAYS_REFUSED.*\{"(\w+)"',
    re.MULTILINE,
)


def given() -> set[str]:
    """Every reason that the sources can give."""
    found = {name for path in _PLACES for one in _GIVEN.findall(path.read_text()) for name in one if name}
    return found | {f"unknown_{column}" for column in KNOWN_WORDS}


def test_every_reason_that_can_be_given_has_words_for_people_and_for_assistants():
    reasons = given()
    assert {"empty_title", "low_quality", "tool_output", "echo", "near_duplicate", "empty"} <= reasons
    assert reasons - set(REASONS) == set()


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_words_say_what_is_wrong_and_what_to_do(reason):
    why, mend = words_of(reason)
    assert len(why.split()) > 2
    assert mend
    assert not (why + mend).endswith(".")
    assert not why.endswith(".")
    assert reason_lines([reason]) == [f"{reason}: {why}; {mend}"]


def test_a_reason_that_this_version_does_not_know_has_words_too():
    assert "release" in words_of("too_loud").fix
    assert reason_lines(["too_loud"])[0].startswith("too_loud: ")
